# Places become functions, loops, lines, inlined functions and instructions; calls, marks, the kernel and what is
# not known; in both layouts, with and without instructions, read by a reader of its own.
make_nest() {
	sed 's/^    /\t/' >nest.c <<-'END'
		volatile int x;
		static inline __attribute__((always_inline)) int sum(int k)
		{
		    int s = 0;

		    for (int i = 0; i < k; i++)
		    	s += x;
		    return s;
		}
		__attribute__((noinline)) int work(int k)
		{
		    int s = 0;

		    for (int i = 0; i < k; i++) {
		    	x = i;
		    	s += sum(i);
		    }
		    return s;
		}
		void _start(void)
		{
		    for (;;)
		    	work(10);
		}
	END
	gcc -g -O1 -fcf-protection=none -fno-asynchronous-unwind-tables -nostdlib -static -no-pie -Wl,--build-id -o nest nest.c
}
insn() { objdump -d --no-show-raw-insn nest | sed -n "/<$1>:/,/^\$/s/^ *\([0-9a-f]*\):.*$2.*/\1/p" | head -n 1; }
address() { symbols=$(list_symbols nest) && sym "$1"; }
make_nest
call=$(printf %x $((0x$(insn _start 'call.*work') + 4)))
make_db <<END
meta vax 880000000 60 nest -v
event cycles 1000
owner - - comm=nest
image file $PWD/nest
sample $(address work) 1
frame $call
sample $(insn work 'add .*,%[a-z]*') 40
sample $(insn work 'mov .*# .*<x>') 5
frame $(insn work 'mov .*# .*<x>') guessed
image kernel [kernel]
sample ffffffff81000010 3
path
image mark [truncated: no mapping]
frame 0
image file $PWD/nest
frame $call
image file /usr/lib/gone.so
sample 500 7
path
image unknown -
sample 7f0000001234 2
owner idle - comm=swapper/0
image kernel [kernel]
sample ffffffff81000000 90
END
export DWELLDB=db
dwell hpc -o released
dwell hpc -o listed --instructions
dwell hpc -o page --layout page --jobs 3
sums() {
	python3 "$CLI/../hpc/hpcdb.py" $how text tree values >$how.txt || cat $how.txt
	# All but instructions.
	sed -n '/^  /{/instruction\|not listed/d;s/^ *//p}' $how.txt | sed '/^entry\|[] ]function\|^line\|^loop/!d' | grep : | sort >$how.sums
}
for how in released listed page; do sums; done
cat released.txt
# Instructions beside what their line calls, and in the page layout above it.
sed -n '/^entry/,/^THREAD/p' listed.txt
sed -n '/^\[call\]/,/^THREAD/p' page.txt
# Every function, loop and line has the same values in all three. The page's roots are functions.
wc -l <released.sums
diff released.sums listed.sums
sed 's/^\[call\] function\( main thread\|\):/entry:/' page.sums | sort >page.same
sed 's/^entry [01] [a-z]* [a-z]*:/entry:/' released.sums | sort | diff - page.same
# Read back, into the same layout and through the other one, with and without instructions: no sum is lost.
for how in released:copy listed:short page:again copy:both; do
	dwell hpc $([ $how != copy:both ] || echo --layout page) -o ${how#*:} ${how%:*} >/dev/null
	how=${how#*:}
	sums
done
for how in copy short again; do diff released.sums $how.sums; done
diff both.sums page.sums
# Nothing of this depends on the number of threads.
dwell hpc -o jobs --jobs 2 >/dev/null
for file in meta.db profile.db cct.db metrics/default.yaml; do cmp released/$file jobs/$file; done
# Instructions are in meta.db or they are not; all else is the same.
for file in profile.db cct.db metrics/default.yaml; do cmp released/$file listed/$file; done
ls released/src"$PWD"
# What stands in a database speaks to who has nothing but that.
grep -n 'src/[a-z]*/\|docs/\|tests/' released/FORMATS.md released/metrics/METRICS.yaml.ex
grep -c 'the directory it is in is the database' released/FORMATS.md
