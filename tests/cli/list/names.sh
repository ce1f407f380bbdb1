# Short names of C++, inlined functions, several candidates.
cat >words.cc <<'END'
namespace text {
template <class T> struct Table {
	T n;
	__attribute__((noinline)) void insert(T k) { n += k; }
	inline __attribute__((always_inline)) void grow(T k)
	{
		for (T i = 0; i < k; i++)
			asm volatile("" : "+r"(n));
	}
};
}
static text::Table<int> a;
static text::Table<long> b;
extern "C" void run(int k)
{
	a.grow(k);
	a.insert(k);
	b.insert(k);
}
END
cat >start.s <<'END'
		.text
		.globl _start
		.type _start, @function
_start:	call run
		hlt
		.size _start, .-_start
		.section .note.GNU-stack, "", @progbits
END
g++ -c -g -O1 -fcf-protection=none -fno-asynchronous-unwind-tables words.cc && gcc -c start.s &&
	ld -Ttext=0x401000 --build-id -o words start.o words.o || exit
at() { nm -C words | awk -v name="$1" 'index($0, name) { print $1; exit }'; }
# Where grow's loop is: the jump back.
loop=$(objdump -d words | awk '/<run>:/ { f = 1 } f && /\tj[a-z]+ / { print $1; exit }' | tr -d :)
{
	echo "host vax
event 1000000 chains
exec 10 make
mmap 10 401000 1000 1000 $PWD/words $(readelf -n words | awk '/Build ID/ { print $3 }')"
	for i in 1 2 3 4 5; do echo "sample 10 10 ${i}0 u $loop user $loop"; done
	for i in 1 2 3; do echo "sample 10 10 6$i u $(at 'Table<int>::insert') user $(at 'Table<int>::insert')"; done
	echo "sample 10 10 70 u $(at 'Table<long>::insert') user $(at 'Table<long>::insert')"
	echo round
} >recording && mkperf <recording >perf.data && dwell import --db db perf.data >/dev/null 2>&1
try() { echo "$ dwell list $*"; dwell list --db db "$@"; echo "= $?"; }
try insert
try 'Table<long>::insert' --no-header
try 'insert(long)' --no-header
try insert --no-header 0x1
try grow
try grow --into run --no-header --asm
try grow --into insert
try table
try --json insert | grep -A4 candidates
echo '$ other commands take such names, too'
sed "s/^\\(sample.*user\\) \\(.*\\)/\\1 \\2 $loop/" recording | mkperf >calls.data
dwell import --db calls calls.data >/dev/null 2>&1
dwell prof --db calls --no-header --callers insert
dwell prof --db calls --no-header --callers 'Table<long>::insert'
dwell flame --db db -o x.svg >/dev/null && grep -o '>text::[^<]*<' x.svg
dwell flame --db db -o x.html >/dev/null && "$CLI/flame_data.py" x.html | grep insert
