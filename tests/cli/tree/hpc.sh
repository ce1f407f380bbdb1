# HPCToolkit databases, both layouts: levels, forms, patterns, threads, statistics.
try() { echo "$ dwell tree $*"; dwell tree --percent-limit 0 "$@" || echo "= $?"; }
for layout in released page; do
	mkhpc $layout $layout
	try $layout
done
export DWELLDB=released
unset DWELLDB
cd released
try --no-header --db . --by loop --event CPUTIME
try --no-header --by line . --event CPUTIME
try --no-header --by address . --event cycles
try --no-header --callers . --event CPUTIME
try --no-header --flat . --sort cycles,exclusive
try --no-header --flat --by line . --event CPUTIME
try --no-header --by image . --event CPUTIME
try --no-header --by file . --event CPUTIME
try --focus inner . --event CPUTIME
try --ignore solve . --event CPUTIME
try --no-header --fold-recursion . --event CPUTIME
try --no-header --no-inline . --event CPUTIME
try --thread rank=0 . --event CPUTIME
try --no-header --thread 2 --thread rank=1,thread=0 . --event CPUTIME
try --no-header --depth 3 --stat mean,max,stddev . --event CPUTIME
try --no-header --depth 3 --derive 'GHz = cycles / "CPUTIME (sec)" / 1e9' . --event CPUTIME
try --no-header --depth 2 --derive 'rate = cycles / cputime' --sort rate . --event CPUTIME
echo '$ dwell tree, rows below 20 percent hidden'
dwell tree --no-header --percent-limit 20 . --event CPUTIME
