# The instructions that stall most, and what cannot be analysed.
make_calc_db
dwell stalls --db db --counts counts --mcpu skylake
dwell stalls --db db --counts counts --mcpu skylake -n 1 --no-header
dwell stalls --db db --counts counts --mcpu skylake --length 1000 --csv
dwell stalls --db db --counts counts --mcpu skylake --json | jq -c '{n_refused,row:.rows[0]}'
dwell stalls --db db || echo "exit $?"
dwell stalls --db db -n 0 || echo "exit $?"
ln -s "$BUILD/dwell" dcpitopstalls
./dcpitopstalls -db db -counts counts -mcpu skylake -n 1 "$PWD/calc" | tail -n 1
