# Focus, ignore, hidden rows, depth.
make_tree_db
export DWELLDB=db
try() { echo "$ $*"; dwell tree --event cycles "$@" | sed '1,/^$/d'; }
try --focus '^hot$'
try --focus gone --ignore nothing
try --ignore 'hot|kernel' --callers
try --ignore '^\[truncated'
try --focus cold --ignore hot --flat
try --percent-limit 10
try --percent-limit 10 --callers
try --percent-limit 50 --flat --sort exclusive
try --percent-limit 100
try --percent-limit 0 --callers --depth 1
try --depth 2
