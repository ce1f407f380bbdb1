# One event is shown unless others are asked for; of threads' states wall time, or narrow columns of one row.
make_prog
{
	printf 'event cpu-clock 1000000\nowner - - comm=x\nimage file %s\nframe 401007\nsample %s 3\npath\n' "$PWD/prog" "$(sym hot)"
	printf 'image mark [truncated: no unwind table]\nframe 0\nimage file %s\nsample %s 1\n' "$PWD/prog" "$(sym cold)"
	printf 'event page-faults 1\nsample %s 5\n' "$(sym cold)"
	printf 'time running\npath\nimage mark [running]\nsample 0 4000000\n'
	printf 'time runnable\nimage mark [waiting for a CPU]\nsample 0 1000000\n'
	printf 'time blocked\nimage file /usr/lib/x.so\nframe 1000\nsample 2000 5000000000\n'
} | make_db
export DWELLDB=db
try() { echo "$ dwell $*"; dwell "$@"; }
try prof
try prof --no-header --sort page-faults
for columns in 80 120 200; do
	echo "--- $columns"
	export COLUMNS=$columns
	try prof --no-header --event states
	try prof --no-header --event wall+running+runnable+blocked
	try tree --no-header --event states
	try prof --no-header --event all
done
unset COLUMNS
try prof --no-header --event runnable --by comm
try tree --no-header --event cpu-clock
try prof --no-header --event cpu-clock
try prof --no-header --event blocked --callees '[no symbol]'
# JSON and CSV have all that was recorded, as it was.
dwell prof --csv | cut -d, -f1-8
dwell prof --csv --event states --by comm
