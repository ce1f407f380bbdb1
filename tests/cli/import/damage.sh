# A file that was cut off, and one whose bytes were changed: refused with the place, or taken as far as they go.
make_perf_data
try() { echo "$ dwell import $*"; dwell import "$@" 2>&1; echo "status $?"; }
n=$(stat -c %s perf.data)
head -c $((n - 100)) perf.data >cut
try --db db cut
try --force --db db cut
# In the middle of a record, of what came through a pipe.
perf_records | mkperf pipe >piped
head -c $(($(stat -c %s piped) - 130)) piped >piped.cut
try --db db piped.cut
try --force --db db piped.cut
dwell prof --no-header --db db --by image
# A record that says it is of no bytes.
first=0x$(dwell import --dump perf.data 2>/dev/null | awk '/SAMPLE/ { sub(/:.*/, "", $1); print $1; exit }')
echo "first sample at $first"
cp perf.data zero
printf '\0\0' | dd of=zero bs=1 seek=$(($first + 6)) conv=notrunc 2>/dev/null
try --db db zero
try --force --db db zero
# A list of callers that is longer than its record.
cp perf.data long
printf '\377' | dd of=long bs=1 seek=$(($first + 40)) conv=notrunc 2>/dev/null
try --db db long
try --force --db db long
# Readers of the file itself have the same flag, and say the same.
read_it() { echo "$ dwell $*"; dwell "$@" 2>&1; echo "status $?"; }
read_it prof --no-header --db cut --by image
read_it prof --no-header --db cut --by image --force
