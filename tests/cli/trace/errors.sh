make_traces_db || exit
dwell trace --db db --tid 77
dwell trace --db db --tid x
dwell trace --db db --pid 1,70000000000
dwell trace --db db --range 3
dwell trace --db db --range 2..1
dwell trace --db db --range a..
dwell trace --db db --width 20000
dwell trace --db db prog
rm -r db
make_usual_db
dwell trace --db db
