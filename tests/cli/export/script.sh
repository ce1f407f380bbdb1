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
echo "-- of one event only:"
rm -r db
make_db <<-END
	event cycles 1000
	image file $PWD/prog
	owner - - comm=worker exe=$PWD/prog
	sample $(sym hot) 2
	thread 11 11 1000 0
	point 2000000 $(sym hot)
	point 3000000 $(sym hot)
	event imiss 10
	sample $(sym cold) 5
END
dwell export --perf-script -o c.txt db
dwell export --perf-script --event cycles -o d.txt db
grep '^[a-z]' c.txt d.txt
