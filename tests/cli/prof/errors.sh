make_usual_db
try() { "$@"; echo "exit $?"; }
try dwell prof --db nowhere
try dwell prof --db db -event branches
try dwell prof --db db -label blue
try dwell prof --db db -sort imiss -event cycles
try dwell prof --db db prig
try dwell prof --db db -keep 101
try dwell prof --db db -epoch 1999
try dwell prof --db db -host elsewhere
try dwell prof --db db --by line
try dwell prof --db db --json --csv
try dwell prof --db db --jsn
try dwell prof --db prog.c
mkdir empty
try dwell prof --db empty
