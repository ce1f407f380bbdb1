try() { "$@"; echo "exit $?"; }
for size in 5 1023K 5G 1Q 1MM -1M M '' 99999999999999999999; do
	try dwell record --unwind-memory "$size" -- true
done
try dwell record --tables-first soon -- true
try dwell record --call-graph lbr -- true
try dwell record --call-graph none -g -- true
try dwell record --call-graph none --off-cpu -- true
try dwell record --db db -e cpu-clock --by label -- true
