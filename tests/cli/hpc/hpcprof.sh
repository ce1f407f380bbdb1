# Options as hpcprof has them.
make_traces_db
try() { echo "$ $*"; dwell hpc "$@"; echo "status $?"; }
try --db db -n "Of hpcprof" -M stats --no-traces --no-source -j2 -o out
ls out
grep -cE "min|max" out/metrics/default.yaml
try --db db -M extrema -o extrema
ls extrema | grep trace
try --db db -R /old=/new -o other
try --db db --replace-prefix=/old=/new -o other
try --db db -S prog.hpcstruct -o other
ls -d other 2>/dev/null
