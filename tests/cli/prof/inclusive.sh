# Inclusive counts of a recording with call paths.
make_paths_db
export DWELLDB=db
try() { echo "$ $*"; "$@" 2>&1; }
try dwell prof
try dwell prof -no_header --by procedure
try dwell prof -no_header --by procedure --event imiss+cycles
try dwell prof -no_header --by procedure --no-inclusive
try dwell prof -no_header --by procedure --sort inclusive
try dwell prof -no_header --by procedure --sort imiss,inclusive
try dwell prof -no_header --by comm,procedure
try dwell prof -no_header --by comm
try dwell prof -no_header --pid 11 prog
try dwell prof -no_header --csv --by procedure --pid 10
dwell prof --json --by image --event cycles lib.so | sed -n '/rows/,$p'
try dwell prof --sort inclusive --keep 50
try dwell prof --sort inclusive --no-inclusive
:
