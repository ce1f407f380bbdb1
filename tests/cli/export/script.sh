# The text of `perf script`: call paths without times, and samples with times in their order.
make_paths_db
dwell export --perf-script -o a.txt db
grep -c '^[a-z]' a.txt
awk '/^[a-z]/ { print; block = 1; next } /^$/ { print ""; next } { print }' a.txt | sed 's/[0-9a-f]\{6,16\} /ADDRESS /' |
	awk 'BEGIN { RS = "" } !seen[$0]++ { print $0 "\n" }'
echo "-- with times:"
make_perf_data
dwell export --perf-script -o b.txt perf.data
grep '^[a-z]' b.txt
