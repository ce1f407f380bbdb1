# A program whose hot procedure was edited above its loop, and in it: the loop's line is the old one.
build() { gcc -c -g -O1 -fcf-protection=none prog.c && gcc -o prog prog.o -Wl,--build-id; }
# Samples in the line of work that has $1, and some in its first.
record_it() {
	line=$(grep -n "$1" prog.c | cut -d: -f1)
	at=$(objdump -d -l --no-show-raw-insn prog | awk -v l="prog.c:$line\$" '
		/>:$/ { f = /<work>:/ } /^\// { on = $1 ~ l } f && on && /^ / { sub(":", "", $1); print $1; exit }')
	{
		echo "host vax
event 1000000 chains
exec 10 make
mmap 10 1000 1000 1000 $PWD/prog $(readelf -n prog | awk '/Build ID/ { print $3 }')"
		work=$(sym work)
		for i in $(seq 200); do echo "sample 10 10 $i u $at user $at"; done
		for i in $(seq 20); do echo "sample 10 10 $i u $work user $work"; done
		echo round
	} | mkperf >perf.data
	dwell import --db $2 perf.data >/dev/null 2>&1
}
cat >prog.c <<'X'
volatile unsigned sink;

__attribute__((noinline)) unsigned work(unsigned n)
{
	unsigned h = 7;

	for (unsigned i = 0; i < n; i++)
		h = h * 31 + (h >> 7) + sink;
	return h;
}

int main(int argc, char **argv)
{
	return work(argc * 1000);
}
X
build
record_it 'h \* 31' old
sed -i 's/^	unsigned h = 7;/	unsigned h = 7;\n\n	sink += n;\n	if (n > 100)\n		sink = h;/; s/h \* 31/h * 37/' prog.c
build
record_it 'h \* 37' new
dwell diff --by line --all --no-header old new
# A line that was not there before is new.
rm -r new
record_it 'sink += n' new
dwell diff --by line --all --no-header old new
