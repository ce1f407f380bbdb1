# Tables on screens of 80, 120 and 200 columns: what fits is whole, what does not gives way where it says least.
make_prog && make_db <<-END
	meta vax 880000000 60 /usr/bin/server --with=a --command=line --that-is=longer --than=most --screens=are --and=goes --on=and --on
	event cycles 1000 400 400 70000
	owner - - comm=server exe=/usr/lib/x86_64-linux-gnu/a/rather/long/path/to/server cgroup=/system.slice/server.service pid=1 tid=1
	image file $PWD/prog
	frame 401007
	sample $(sym hot) 40
	path
	sample $(sym cold) 2
	image file /usr/lib/x86_64-linux-gnu/some/where/deep/below/libnot-there-any-more.so.6.0.32
	sample 1234 8
	loss ring_full 4
	event a-rather-long-name-of-an-event 10 400 100
	sample 1234 3
END
screens() {
	for columns in 80 120 200; do
		echo "--- $columns: dwell $*"
		COLUMNS=$columns dwell "$@" --db db >seen
		cat seen
		awk -v most=$columns 'length($0) > most { print "too wide: " length($0) }' seen
	done
}
screens prof --event cycles+a-rather-long-name-of-an-event
screens prof --no-header --by comm,exe,cgroup,procedure --event cycles
screens prof --no-header --event cycles --full-names
screens top --no-header --event cycles+a-rather-long-name-of-an-event
screens epochs
screens tree --no-header --by address --event cycles+a-rather-long-name-of-an-event
COLUMNS=24 dwell prof --db db --no-header --event cycles
# Data is what it was, whatever the screen.
for format in --json --csv; do
	COLUMNS=40 dwell prof --db db $format >narrow
	dwell prof --db db $format | cmp - narrow && echo "$format: the same"
done
