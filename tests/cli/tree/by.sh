# What rows are.
make_tree_db
export DWELLDB=db
try() { echo "$ $*"; dwell tree --no-header --event cycles "$@"; }
try --by comm
try --by label,comm --callers
try --by tid,pid --flat
try --by uid --depth 2
try --by image
try --by line
try --by exe,address
try --by sym --comm make
try --by dso --flat
