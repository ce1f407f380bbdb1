# Lines of callers without samples of their own are kept as well: a program that was rebuilt has them.
cat >prog.c <<'X'
volatile unsigned sink;

__attribute__((noinline)) void work(unsigned n)
{
	sink = n;
}

int main(int argc, char **argv)
{
	work(argc);
	sink = 0;
	return 0;
}
X
gcc -g -O1 -fcf-protection=none -o prog prog.c -Wl,--build-id
after=$(objdump -d --no-show-raw-insn prog | awk '/call.*<work>/ { getline; sub(":", "", $1); print $1; exit }')
{
	echo "host vax
event 1000000 chains
exec 10 make
mmap 10 1000 1000 1000 $PWD/prog $(readelf -n prog | awk '/Build ID/ { print $3 }')"
	work=$(sym work)
	for i in $(seq 20); do echo "sample 10 10 $i u $work user $work $after"; done
	echo round
} | mkperf >perf.data
dwell import --db db perf.data >/dev/null 2>&1
dwell tree --db db --by line --no-header >before
sed -i '1i /* More. */' prog.c
gcc -g -O1 -fcf-protection=none -o prog prog.c -Wl,--build-id
dwell tree --db db --by line --no-header >after
cmp before after && cat after
