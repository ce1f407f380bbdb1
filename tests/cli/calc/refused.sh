# What calc cannot know, it says.
make_calc_db
dwell calc walk --db db || echo "exit $?"
dwell calc nobody --db db --counts counts || echo "exit $?"
dwell calc walk --db db --counts counts --mcpu pdp11 --no-header | head -n 4
PATH=/nowhere "$BUILD/dwell" calc walk --db db --counts counts | grep 'best case'
dwell calc walk --db db --counts counts --conf sure || echo "exit $?"
dwell calc --db db || echo "exit $?"
dwell calc walk --db db --counts counts --cutoff 101 || echo "exit $?"
dwell calc --procedures walk,_start --db db --counts counts --json || echo "exit $?"
dwell calc --procedures walk,_start --db db --counts counts --mcpu skylake | grep ' in '
# Branch stacks alone tell nothing of how often; with cycles between branches they do.
branches() {
	echo "host vax"
	echo "event 1000000 branches"
	echo "exec 10 calc"
	echo "mmap 10 401000 1000 1000 $PWD/calc $(readelf -n calc | awk '/Build ID/ { print $3 }')"
	turn=$(at 18):$(at 5):p$1
	for i in $(seq 300); do
		echo "branches 10 10 $i $(at 9) $turn $turn $(at 11):$(at 16):p$1 $turn $(at 11):$(at 16):m$1 $turn"
	done
}
branches '' | mkperf >perf.data
dwell calc walk --db perf.data --mcpu skylake --no-header | tail -n 3
dwell calc walk --db perf.data --mcpu skylake | grep -E 'no exec|nanoseconds'
dwell stalls --db perf.data --mcpu skylake || echo "exit $?"
branches :20 | mkperf >perf.data
dwell calc walk --db perf.data --mcpu skylake --mhz 2000 --conf low --no-header
# Nothing is kept below what others may write to.
mkdir -m 777 shared && chmod 777 shared
XDG_CACHE_HOME=$PWD/shared dwell calc walk --db db --counts counts --mcpu skylake --no-header | head -n 1
find shared
