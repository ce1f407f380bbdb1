# Sample sets beside each other: what is in them, what may be, and what has no test.
make_prog

# A recording of event pm: in hot HITS retired samples and MISSES mispredicted, MAYBE that do not tell; the same
# number in cold as COLD; in gone.so OPEN that do not tell.
pm_db() {
	mkdb "$1" <<-END
		recording vax 880000000
		meta vax 880000000 60 make
		event cycles 1000
		image file $PWD/prog
		sample $(sym hot) 900
		event pm 1000
		facts retired notrap load latency=30
		sample $(sym hot) $2
		facts !retired mispredict latency=4
		sample $(sym hot) $3
		facts load
		sample $(sym hot) $4
		facts retired notrap !load
		sample $(sym cold) $5
		image file /usr/lib/gone.so
		facts load
		sample 1234 $6
		image file /usr/lib/dead.so
		facts !retired early_kill
		sample 88 3
	END
}
pm_db old 500 20 4 100 3
pm_db new 520 90 9 400 200
try() { echo "$ $*"; "$@"; echo "= $?"; }
try dwell diff --pm retired old new
try dwell diff --all --absolute --pm retired --by image old new
try dwell diff --all --pm 'load^retired' --csv old new | tr -d '\r'
try dwell diff --json -pm mispredict old new prog
try dwell diff --pm retired+trap --sp trap --no-header old new
try dwell diff --sp trap --no-header old new
try dwell diff --pm default --no-header old new
try dwell diff --pm default+any --no-header --all old new
try dwell diff --pm retired --fail-above 10 --no-header old new 2>&1
try dwell diff --pm retired --fail-above 60 --no-header old new 2>&1
try dwell diff --pm retired --no-header --all old old
try dwell diff --pm retired+trap old new 2>&1
try dwell diff --pm retired:latency old new 2>&1
try dwell diff --pm mispredict::retired old new 2>&1
try dwell diff --pm replays old new 2>&1
try dwell diff --pm 'trap^!mispredict' old new 2>&1
try dwell diff --pm retirde old new 2>&1
try dwell diff --pm retired --event cycles --no-header old new 2>&1
try dwell diff --pm retired --error old new 2>&1
echo "event ibs 10
image file $PWD/prog
facts retired notrap
sample 401035 7" | mkdb ibs
try dwell diff --pm retired old ibs 2>&1
echo "event plain 10
image file $PWD/prog
sample 401035 7" | mkdb plain
try dwell diff --pm retired old plain 2>&1
echo "event pm 10
image file $PWD/prog
facts retired notrap
sample 401035 7
event ibs 10
sample 401035 9" | mkdb both
try dwell diff --pm retired both both 2>&1
try dwell diff --pm retired --event ibs --no-header --all both ibs 2>&1
