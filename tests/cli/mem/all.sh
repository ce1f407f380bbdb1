# Where data came from, where addresses were translated, how long it took, and what was accessed: of a file of perf's and
# of the database that keeps it, which still knows names when the program is gone; as JSON.
make_memory_data memory_samples
dwell mem perf.data
dwell import --db db perf.data >log 2>&1
dwell mem perf.data --no-header >before
rm a.out
dwell mem --db db --no-header >after
grep -v thread before | sed 's/ *[0-9.]*% */ /' | sort >a
diff before after && echo the same
dwell mem --db db --json --no-header | tr ',' '\n' | grep -A9 '"tlbs"'
