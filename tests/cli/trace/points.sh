make_traces_db || exit
dwell trace --db db --tid 12 --width 20
echo
dwell trace --db db --range 0.001..0.06 --depth 1 --no-header
echo
dwell trace --db db --range 0.05.. --tid 12,9 --event imiss --width 0 --no-header
