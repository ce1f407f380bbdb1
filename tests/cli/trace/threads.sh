make_traces_db || exit
dwell trace --db db
echo
dwell trace --db db --width 10 --comm worker --event cycles --no-header
echo
dwell trace --db db --width 0 --pid 9 --no-header
