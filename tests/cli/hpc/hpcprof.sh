# Options as hpcprof has them.
make_traces_db
try() { echo "$ $*"; dwell hpc "$@"; echo "status $?"; }
try --db db -n "Of hpcprof" -M stats --no-traces --no-source -j2 -o out
ls out
grep -cE "min|max" out/metrics/default.yaml
try --db db -M extrema -o extrema
ls extrema | grep trace
try --db db -S prog.hpcstruct -o other
try --db db -R old=/new -o other
try --db db --replace-prefix=/old -o other
ls -d other 2>/dev/null
echo "-- programs and sources that lie elsewhere:"
mkdir elsewhere
mv prog prog.c elsewhere
rm -rf db/images
functions() { dwell tree --depth 9 --json "$1" | jq -r '.rows[].name' | grep -E '^(main|hot|.no symbol.)$' | sort -u; }
dwell hpc --db db -o without >/dev/null 2>&1
functions without
ls -d without/src 2>/dev/null
rm -rf db/images
dwell hpc --db db -R "$PWD=$PWD/elsewhere" -o with >/dev/null 2>&1
functions with
find with/src -name prog.c | sed "s,with/src$PWD,SRC,"
echo "-- a line of hpcrun begins where the thread does not run yet:"
mkhpc runs measured
dwell hpc --foreign -o lines runs >/dev/null 2>&1
dwell trace --json --from 0 --depth 0 --db lines | jq -c '.points[] | [.time_ns, .procedure]'
