# What cannot be counted is said in one line; the table fits the screen.
try() { "$@"; echo "exit $?"; }
try dwell stat
try dwell stat -r 0 -- true
try dwell stat -r 2 -p 1
try dwell stat -a -p 1
try dwell stat -p x
try dwell stat -p 4194304
try dwell stat -e cpu-clock:1000 -- true
try dwell stat -e nosuch -- true
try dwell stat -e page-faults -- ./nosuch
try dwell stat -e page-faults -o dir/file -- true
dwell stat -e task-clock -- true 2>/dev/null || { echo "cannot count here"; exit 77; }
for columns in 40 60 80; do
	TERM=xterm type_into '' "stty rows 24 cols $columns; dwell stat -r 2 -- true" | tr -d '\r' >seen
	grep -c '^task-clock' seen
	awk -v most=$columns 'length($0) > most { print "too wide: " $0 }' seen
done
dwell stat --csv -e task-clock,page-faults -r 2 -- true | sed 's/[0-9][0-9.e+-]*/N/g'
