# From the root down, from procedures to their callers, and flat.
make_tree_db
export DWELLDB=db
dwell tree --event all
dwell tree --no-header --callers --event all
dwell tree --no-header --flat --event all
dwell tree --no-header --event cycles --fold-recursion
dwell tree --no-header --event cycles --callers --fold-recursion
dwell tree --no-header --event cycles --flat --sort exclusive
dwell tree --no-header --event cycles --callers --sort inclusive
