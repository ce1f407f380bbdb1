# Sourced before every command line test.

# Makes ./prog, whose addresses are fixed: _start at 0x401000, then cold, hot, and twice `same`.
make_prog() {
	sed 's/^    /\t/' >prog.c <<-'END'
		int n;

		void cold(void)
		{
		    n = 1;
		}

		/* The loop. */
		int hot(int k)
		{
		    int s = 0;

		    for (int i = 0; i < k; i++) {
		    	s += i ^ n;
		    }
		    return s;
		}
	END
	cat >start.s <<-'END'
			.text
			.globl _start
			.type _start, @function
		_start:	mov $10, %edi
			call hot
			hlt
			.size _start, .-_start
			.type same, @function
		same:	nop
			ret
			.size same, .-same
			.section .note.GNU-stack, "", @progbits
	END
	cat >more.s <<-'END'
			.text
			.type same, @function
		same:	nop
			nop
			ret
			.size same, .-same
			.skip 16, 0x90
			.section .note.GNU-stack, "", @progbits
	END
	gcc -c -g -O1 -fcf-protection=none -fno-asynchronous-unwind-tables -fno-tree-vectorize prog.c &&
		gcc -c start.s more.s &&
		ld -Ttext=0x401000 --build-id -o prog start.o prog.o more.o
}

# The address of a symbol of ./prog, without 0x.
sym() {
	nm prog | awk -v name="$1" '$3 == name { sub(/^0+/, "", $1); print $1; exit }'
}

# Makes database ./db from a description on stdin (see mkdb.c).
make_db() {
	mkdb db
}

# A database of two events with samples in prog, an image that does not exist, and idle time.
make_usual_db() {
	make_prog && make_db <<-END
		meta vax 880000000 60 make
		event cycles 1000 400 400 70000
		image file $PWD/prog
		sample $(sym hot) 5
		sample 40102e 30
		sample 401035 10
		sample $(sym cold) 2
		sample 401048 4
		image file /usr/lib/gone.so
		sample 1234 8
		image unknown -
		sample 7f0000001234 3
		loss ring_full 4
		event imiss 10 400 100
		image file $PWD/prog
		sample $(sym hot) 3
		owner - green
		event cycles 1000
		sample 401035 1
		owner idle -
		image kernel [kernel]
		sample ffffffff00000000 9
	END
}
