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
