# What has no data addresses, and what cannot be meant, is refused.
make_usual_db
dwell mem --db db || echo "exit $?"
make_memory_data memory_samples
dwell mem perf.data --comm nobody || echo "exit $?"
dwell mem perf.data --by cache || echo "exit $?"
dwell mem perf.data --by line --line-bytes 48 || echo "exit $?"
dwell mem nothing || echo "exit $?"
mkhpc hpc released
dwell mem hpc || echo "exit $?"
