make_traces_db || exit
dwell trace --db db --json --pid 11 --range ..0.0507 --width 8
