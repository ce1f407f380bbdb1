# Samples chosen by whose they are.
make_owners_db
export DWELLDB=db
try() { echo "$ $*"; "$@" 2>&1; }
try dwell prof -no_header --by image --comm cc1
try dwell prof -no_header --by image --comm 'c*,make' --comm kworker/0:1
try dwell prof -no_header --by image --pid 10,12
try dwell prof -no_header --by image --tid 13 --pid 10
try dwell prof -no_header --by image --uid root
try dwell prof -no_header --by image --uid 1000 --label green
try dwell prof -no_header --by image --cgroup build.slice/two
try dwell prof -no_header --by image --cgroup /build.slice
try dwell prof -no_header --by image --cgroup '*/o?e'
try dwell prof -no_header --by image --exe make
try dwell prof -no_header --by image --exe '/usr/lib/*'
try dwell prof -no_header --by image --exe '[kernel]'
try dwell prof -no_header --by image --label '[no label]' --comm make
try dwell prof -no_header --by image --comm make --pid 11
try dwell prof --comm c1
try dwell prof --pid 10,99
try dwell prof --pid make
try dwell prof --uid nosuchuser
try dwell prof --uid 7
try dwell prof --label green,blue
try dwell top -no_header --csv --comm make prog
try dwell list -no_header -asm --comm make hot prog
try dwell cat --csv --comm cc1
dwell export --dcpi -o tree --comm make >/dev/null
try dwell prof -no_header --by image --db tree
try dwell prof -no_header --by image --db tree --label green
try dwell prof --db tree --comm make
try dwell prof --db tree --pid 10
make_db <<-END
	meta vax 880000100 60 make
	event cycles 1000
	image file $PWD/prog
	owner - - comm=cc1 uid=1000
	sample $(sym hot) 1
END
try dwell prof --pid 10
try dwell prof --tid 10
:
