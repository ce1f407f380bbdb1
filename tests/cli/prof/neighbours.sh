# Callers and callees of a procedure.
make_paths_db
export DWELLDB=db
try() { echo "$ $*"; "$@" 2>&1; }
try dwell prof --callers hot
try dwell prof -no_header --callers hot prog
try dwell prof -no_header --callees hot
try dwell prof -no_header --callees 0x401020
try dwell prof -no_header --callees _start
try dwell prof -no_header --callers cold --comm make
try dwell prof -no_header --callers '[no symbol]'
try dwell prof -no_header --callees '[truncated: no_table]'
try dwell prof -no_header --csv --callers cold --keep 60
dwell prof --json --callees hot --event cycles | sed -n '/"of"/,$p'
try dwell prof --callers hit
try dwell prof --callers zzzzzzzzzzz
try dwell prof --callers hot --callees hot
try dwell prof --callers hot --by comm
make_usual_db
try dwell prof --callers hot
:
