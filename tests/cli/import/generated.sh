# Code that a compiler made: named by the map or the dump that it left, where these are certain to be its own.
make_perf_data >/dev/null
pid=$((1 << 30 | $$)) # larger than any process has
map=/tmp/perf-$pid.map
trap 'rm -f $map' EXIT
records() {
	cat <<-END
		host $1
		event 1000000 chains
		exec $pid node
		mmap $pid 401000 1000 1000 $PWD/prog $(readelf -n prog | awk '/Build ID/ { print $3 }')
		mmap $pid 7f0000000000 10000 0 //anon
		sample $pid $pid 20 u 7f0000001010 user 7f0000001010 7f0000002008 401007
		sample $pid $pid 30 u 7f0000001010 user 7f0000001010 7f0000002008 401007
		sample $pid $pid 40 u 7f0000002010 user 7f0000002010 401007
		sample $pid $pid 50 u 7f0000003000 user 7f0000003000
		round
	END
}
show() {
	echo "$1:"
	dwell prof --no-header --db $1 --by procedure,image
}
text='7f0000001000 40 JS:*hot a.js:1\n7f0000002000 20 JS:~main a.js:9\n'
printf "$text" >$map
records $(uname -n) | mkperf >here.data
records somewhere.else | mkperf >elsewhere.data
for name in here elsewhere; do dwell import --db $name $name.data >/dev/null && show $name; done
dwell export --folded --no-inline --db here
# The names stay when the map is gone; without it nothing has them.
rm $map
dwell prof --no-header --db here --by procedure | head -2
dwell import --db gone here.data >/dev/null && show gone
# Another machine's, with its files at hand.
mkdir -p root/tmp && printf "$text" >root$map
dwell import --db copied --symfs root elsewhere.data >/dev/null && show copied
