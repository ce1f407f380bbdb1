# Wrong usage, and nothing to show.
make_tree_db
export DWELLDB=db
try() { echo "$ $*"; "$@"; echo "= $?"; }
try dwell tree --by procedure,line 2>&1
try dwell tree --by procedures 2>&1
try dwell tree --by comm, 2>&1
try dwell tree --callers --flat 2>&1
try dwell tree --percent-limit 101 2>&1
try dwell tree --focus '(' 2>&1
try dwell tree --ignore '[' 2>&1
try dwell tree --focus nothing_is_called_so --no-header 2>&1
try dwell tree --sort nothing,inclusive 2>&1
try dwell tree prog 2>&1
try dwell tree --db nowhere 2>&1
make_db <<END
event cycles 1
image file prog
sample 1000 3
END
try dwell tree --by pid 2>&1
