# Cache lines that threads contend for, and who uses them; all lines; longer ones; of one thread there is no contention.
make_memory_data memory_samples
dwell mem perf.data --by line
dwell mem perf.data --by line --all --no-header -n 4
dwell mem perf.data --by line --line-bytes 128 --no-header
dwell mem perf.data --by line --tid 10 --no-header || echo "exit $?"
dwell import --db db perf.data >log 2>&1
dwell mem db --by line --json | tr '{' '\n' | grep '"number"'
# A narrow screen keeps who writes where.
COLUMNS=80 dwell mem perf.data --by line --no-header | sed 's,\.\.\..*/a.out,a.out,'
