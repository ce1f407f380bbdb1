# What is no picture.
try() { echo "$ $*"; dwell flame "$@" 2>&1; echo "= $?"; }
echo 'event cycles 1000' | make_db
try --db db
try --db db -o picture.png
try --db nothing
[ -e flame.html ] && echo "a file was written"
rm -r db
make_tree_db
export DWELLDB=db
try --focus nowhere
try --percent-limit 101
try --focus '('
try cold
try -o no/such/dir.html
try -o one.html db
