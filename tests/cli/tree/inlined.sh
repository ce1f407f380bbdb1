# Calls that the compiler inlined, at each level.
make_inlined() {
	sed 's/^    /\t/' >inl.c <<-'END'
		volatile int x;
		static inline __attribute__((always_inline)) int leaf(int k)
		{
		    x += k;
		    return x * 3;
		}
		static inline __attribute__((always_inline)) int mid(int k)
		{
		    return leaf(k) + 1;
		}
		__attribute__((noinline)) int outer(int k)
		{
		    x = 1;
		    return mid(k);
		}
		void _start(void)
		{
		    outer(3);
		    for (;;)
		    	x++;
		}
	END
	gcc -g -O1 -fcf-protection=none -fno-asynchronous-unwind-tables -nostdlib -static -no-pie -Wl,--build-id -o inl inl.c
}
address_of() { symbols=$(list_symbols inl) && sym "$1"; }
# The first instruction that adds into x is leaf's.
make_inlined
add=$(objdump -d --no-show-raw-insn inl | sed -n '/<outer>:/,/ret/s/^ *\([0-9a-f]*\):\tadd .*/\1/p' | head -n 1)
make_db <<END
event cycles 1000
image file $PWD/inl
frame $(address_of _start)
sample $add 30
sample $(address_of outer) 5
END
export DWELLDB=db
try() { echo "$ $*"; dwell tree --no-header "$@"; }
try
try --no-inline
try --by line
try --by line --no-inline
try --callers
try --flat
try --focus '^mid$'
try --ignore leaf
try --by image --focus leaf
dwell export --folded
dwell export --folded --no-inline
