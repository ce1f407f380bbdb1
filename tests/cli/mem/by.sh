# Rows of every kind, how many of them, as CSV.
make_memory_data memory_samples
for by in level tlb latency object page node procedure; do
	echo "--- $by"
	dwell mem perf.data --by $by -n 3 --no-header
done
dwell mem perf.data --by node --csv
dwell mem perf.data --by page --csv -n 0
