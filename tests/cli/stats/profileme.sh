# Sample sets, counters and ratios of many sets.
make_prog
pm_db() {
	mkdb "$1" <<-END
		recording vax 880000000
		event pm 1000
		image file $PWD/prog
		facts retired notrap latency=$6
		sample $(sym hot) $2
		facts !retired mispredict latency=4
		sample $(sym hot) $3
		facts retired notrap
		sample $(sym cold) $4
		image file /usr/lib/gone.so
		facts load
		sample 1234 $5
	END
}
pm_db one 500 20 100 3 30
pm_db two 510 60 400 7 30
pm_db three 490 40 100 5 60
try() { echo "$ $*"; "$@"; echo "= $?"; }
try dwell stats --pm retired one two three
try dwell stats --shares --pm retired one two three
try dwell stats -pm retired:latency one two three
try dwell stats --pm mispredict::retired one two three
try dwell stats --pm mispredict::retired --json --by image one two three
try dwell stats --pm retired:latency::retired --csv one two three | tr -d '\r'
try dwell stats --pm retired+trap --sp trap --by image --no-header one two three
try dwell stats --pm retired+trap one two 2>&1
try dwell stats --shares --pm mispredict::retired one two 2>&1
try dwell stats --keep 50 --pm mispredict::retired one two 2>&1
try dwell stats --pm replays one two 2>&1
echo "event pm 1000
image file $PWD/prog
facts load
sample $(sym hot) 50" | mkdb dim
try dwell stats --pm retired one dim
try dwell stats --pm retired --json --by image one dim
try dwell stats --pm retired::any one dim
