# An HPCToolkit database as folded stacks: whole numbers that add up to the metric; it has no samples for DCPI's files.
mkhpc db released
try() { echo "$ dwell export $*"; dwell export "$@" 2>&1 || echo "= $?"; }
try --folded db
try --folded --event cycles --no-inline db
try --folded -o lines --event cycles --db db
awk '{ n += $NF } END { print n, "in all" }' lines
try --folded db libc.so.6
try --dcpi -o out db
ls out 2>&1
# Both layouts have the same paths.
mkhpc page page
dwell export --folded page 2>/dev/null >a
dwell export --folded db 2>/dev/null | diff - a && echo both layouts agree
echo "-- as pprof's profile, in nanoseconds:"
dwell export --pprof -o a.pb.gz db
HOME=$PWD PPROF_TMPDIR=$PWD go tool pprof -symbolize=none -top a.pb.gz 2>/dev/null | sed -n "/Showing/,\$p"
