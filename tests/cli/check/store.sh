# A dwell database, and what is none.
make_tree_db
try() { echo "$ $*"; "$@"; echo "= $?"; }
try dwell check db 2>&1
segment=$(find db -name '*.seg' | head -1)
printf 'x' | dd of="$segment" bs=1 seek=100 conv=notrunc 2>/dev/null
try dwell check db 2>&1
mkdir none
echo text >none/file
try dwell check none 2>&1
try dwell check nowhere 2>&1
try dwell check 2>&1
try dwell check db none 2>&1
try dwell check --db db 2>&1
