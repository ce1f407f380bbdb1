# A program that was rebuilt with lines added above: no line of it vanishes, and what changed is told.
build() { gcc -c -g -O1 -fcf-protection=none -fno-asynchronous-unwind-tables -fno-tree-vectorize prog.c && ld -Ttext=0x401000 --build-id -o prog start.o prog.o more.o && symbols=; }
# $1 samples in the loop, and $2 in cold.
record_it() {
	{
		echo "host vax
event 1000000 chains
exec 10 make
mmap 10 401000 1000 1000 $PWD/prog $(readelf -n prog | awk '/Build ID/ { print $3 }')"
		loop=$(objdump -d prog | awk '/<hot>:/ { f = 1 } f && /xor/ { print $1; exit }' | tr -d :)
		cold=$(sym cold)
		for i in $(seq $1); do echo "sample 10 10 $i u $loop user $loop"; done
		for i in $(seq $2); do echo "sample 10 10 1$i u $cold user $cold"; done
		echo round
	} | mkperf >perf.data
	dwell import --db $3 perf.data >/dev/null 2>&1
}
make_prog
build
record_it 200 10 old
sed -i '1i /* One line. */' prog.c
sed -i '1i /* Another. */\nint more;' prog.c
build
record_it 205 100 new
dwell diff --by line --all --no-header old new
# Without what was kept its lines are not known: then the procedure is one row.
rm old/images/*/code-*
dwell diff --by line --all --no-header old new
