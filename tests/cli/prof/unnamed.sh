# What has no name says what would name it: a package, debuginfod, a runtime's flag; what found nothing says why.
make_prog
strip -o bare prog
cat >lib.c <<-'END'
	int shown(int n) { return n; }
	static __attribute__((noinline, used)) int hidden(int n) { int s = 0; while (n) s += --n * 3; return s; }
END
gcc -shared -fPIC -O1 -nostdlib -Wl,--build-id -o libpart.so lib.c && strip libpart.so
make_db <<-END
	meta vax 880000000 60 make
	event cycles 1000
	owner - - comm=MainThread exe=/usr/bin/node
	image anon [anon]
	sample 7f0000001000 10
	owner - - comm=java exe=/usr/lib/jvm/java-17/bin/java
	image anon [anon] java
	sample 7f0000002000 10
	owner - - comm=mystery exe=/opt/mystery
	image anon //anon
	sample 7f0000003000 10
	image file $PWD/bare
	sample 401020 8
	image file $PWD/libpart.so
	sample 1010 9
END
unset DEBUGINFOD_URLS
dwell prof --db db --no-header
COLUMNS=80 dwell prof --db db --no-header | tail -n 12
export DEBUGINFOD_URLS=http://127.0.0.1:9
dwell prof --db db --no-header libpart.so | tail -n 1
unset DEBUGINFOD_URLS
dwell tree --db db --focus nothing_is_called_so
echo "= $?"
dwell tree --db db --ignore .
dwell flame --db db --focus nothing_is_called_so -o x.html
echo "= $?"
mkdir empty
dwell prof --db empty
dwell prof
DWELLDB=empty dwell tree
exit 0
