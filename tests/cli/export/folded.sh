# Folded stacks: suffixes, names made safe, where they go, and of databases without call paths.
make_prog && make_db <<-END
	event cycles 1000
	owner - - comm=a;b exe=$PWD/prog
	image file $PWD/prog
	frame 401000
	sample $(sym hot) 40
	image jit /tmp/perf-1.map
	frame 7f0000001000
	image kernel [kernel]
	sample ffffffff81000040 9
	image bpf bpf_prog;x
	sample 10 1
	path
	image mark [truncated: no-table]
	frame 0
	image file $PWD/$(printf 'odd\033name')
	frame 10
	image unknown -
	sample 7000 3
	owner - - comm=$(printf 'tab\001x')
	path
	image file $PWD/prog
	sample $(sym cold) 2
	event imiss 10
	sample $(sym cold) 7
END
export DWELLDB=db
try() { echo "$ $*"; "$@" 2>&1; echo "= $?"; }
try dwell export --folded
try dwell export --folded --event imiss -o -
try dwell export --folded kernel
try dwell export --folded --comm 'a*' -o stacks
cat stacks
try dwell export --folded -o /dev/stderr kernel
try dwell export --folded -o nowhere/stacks
try dwell export --folded -o .
try dwell export --folded --dcpi -o tree
try dwell export --folded nosuchimage
ls
# Each line is frames without ';' and a number: what readers of the format rely on.
dwell export --folded | grep -Evc '^[^;]+(;[^;]+)* [0-9]+$'
# A database without call paths, and without commands.
make_usual_db
try dwell export --folded
dwell export --dcpi -o tree >/dev/null
try dwell export --folded --db tree
try dwell export --folded --event imiss kernel
