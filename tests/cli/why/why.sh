# What a program waits for, and which of its procedures for one thing.
make_calc_db facts
dwell why --db db --event cycles --counts counts --mcpu skylake
dwell why --db db --event cycles --counts counts --mcpu skylake --stall 'd-cache miss' --no-header
dwell why --db db --event cycles --counts counts --mcpu skylake --stall D --csv
dwell why --db db --event cycles --counts counts --mcpu skylake --json | jq -c '.rows[0]'
# Any row of the table can be asked for, and DCPI's names.
for kind in 'busy units' Execution '?' 'Total stall' 'Unexplained gain' 'FU dependency' Slotting; do
	dwell why --db db --event cycles --counts counts --mcpu skylake --no-header --stall "$kind" | tail -n 3
done
for kind in 'IMUL busy' Other 'Net sampling error'; do dwell why --db db --event cycles --counts counts --stall "$kind" || echo "exit $?"; done
dwell why --db db --event cycles --counts counts --stall tea || echo "exit $?"
dwell why --db db --event mem-loads --counts counts || echo "exit $?"
ln -s "$BUILD/dwell" dcpiwhatcg
./dcpiwhatcg -db db -event cycles -counts counts -mcpu skylake -conf_high "$PWD/calc" | grep Total
