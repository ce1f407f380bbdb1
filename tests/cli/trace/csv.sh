make_traces_db || exit
dwell trace --db db --csv
dwell trace --db db --csv --tid 12 --depth 0
