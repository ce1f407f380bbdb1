# Live or stored: without a terminal live needs --intervals, and what chooses from what is stored is `dwell hot`.
make_usual_db
try() {
	echo "$ $*"
	"$@" 2>&1 </dev/null
	echo "exit $?"
}
try dwell top
try dwell top --intervals 1 -p 0
try dwell top --intervals 1 -p 1 -G none
try dwell top --intervals 1 -d 10ms
try dwell top --intervals 1 -G no/such/cgroup
try dwell tui --db db
try dwell tui nothing
dwell hot --db db >hot
for o in "--db db" "db" "--db db -n 20" "-i db --epoch latest"; do
	dwell top $o | cmp - hot && echo "top $o: as hot"
done
