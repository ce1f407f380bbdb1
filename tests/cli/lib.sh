# Sourced before every command line test.

# Compiles ./prog here: see make_prog.
compile_prog() {
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
	gcc -c -g -O1 -fcf-protection=none -fno-asynchronous-unwind-tables -fno-tree-vectorize "$@" prog.c &&
		gcc -c start.s more.s &&
		ld -Ttext=0x401000 --build-id -o prog start.o prog.o more.o
}

# Makes ./prog, whose addresses are fixed: _start at 0x401000, then cold, hot, and twice `same`.  The build compiled it
# (prog/meson.build), in a directory whose name is as long as a test's: that is written over.
make_prog() {
	case $PWD in
	/tmp/dwell-cli.??????)
		cp "$BUILD"/tests/cli/prog/* . && sed -i "s|/tmp/dwell-cli.XXXXXX|$PWD|g" prog prog.o
		;;
	*) compile_prog ;;
	esac
	symbols=$(list_symbols prog)
}

# " NAME=ADDRESS" of each symbol of FILE.  Not by nm: it loads LLVM for each file (bfd-plugins), 28 ms instead of 1.
list_symbols() {
	readelf -sW "$1" | awk '$2 ~ /^[0-9a-f]+$/ && $8 { sub(/^0+/, "", $2); printf " %s=%s", $8, $2 }'
}

# The address of a symbol of ./prog, without 0x; of what was compiled again, when `symbols` is empty.
sym() {
	symbol=${symbols:=$(list_symbols prog)}
	symbol=${symbol#*" $1="}
	echo "${symbol%% *}"
}

# What perf recorded of two processes in prog, whose build-id it tells, a library that is not there, and a thread.
perf_records() {
	cat <<-END
		host vax
		event 1000000 chains
		exec 10 make
		mmap 10 401000 1000 1000 $PWD/prog $(readelf -n prog | awk '/Build ID/ { print $3 }')
		mmap 10 7f0000000000 2000 0 /usr/lib/gone.so 0123456789abcdef0123456789abcdef01234567
		comm 10 11 worker
		sample 10 10 10 u 401035 user 401035 401007
		sample 10 10 20 u 401035 user 401035 401007
		sample 10 11 25 u $(sym cold) user $(sym cold) 401020
		lost 4
		round
		sample 10 10 30 u 7f0000001234 user 7f0000001234 401007
		fork 20 20 10 35
		sample 20 20 40 u 401048
		sample 20 20 50 u 5000
		odd 93
		round
	END
}

make_perf_data() {
	make_prog && perf_records | mkperf "$@" >perf.data
}

# Makes prog, and perf.data of branch stacks of a process that runs it: stdin has them (see mkperf.c).
make_branches() {
	make_prog
	{
		printf 'host vax\nevent 1000000 branches\nexec 10 make\n'
		echo "mmap 10 401000 1000 1000 $PWD/prog $(readelf -n prog | awk '/Build ID/ { print $3 }')"
		cat
	} | mkperf >perf.data
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

# A database of the samples of several processes in prog and libc.so.6 (not there), all of one event.
make_owners_db() {
	make_prog && make_db <<-END
		meta vax 880000000 60 make
		event cycles 1000
		image file $PWD/prog
		owner - - comm=cc1 exe=/usr/lib/gcc/cc1 cgroup=/build.slice/one uid=1000 pid=11 tid=11
		sample $(sym hot) 40
		sample $(sym cold) 2
		owner - green comm=cc1 exe=/usr/lib/gcc/cc1 cgroup=/build.slice/two uid=1000 pid=12 tid=12
		sample $(sym hot) 20
		sample 401048 3
		owner - green comm=make exe=/usr/bin/make cgroup=/build.slice uid=0 pid=10 tid=10
		sample $(sym hot) 5
		image file /usr/lib/libc.so.6
		sample 1000 7
		owner - - comm=make exe=/usr/bin/make cgroup=/build.slice uid=0 pid=10 tid=13
		sample 1000 1
		image kernel [kernel]
		owner kernel - comm=kworker/0:1 cgroup=/ uid=0 pid=9 tid=9
		sample ffffffff81000000 4
		owner idle - comm=swapper/0 cgroup=/ uid=0
		sample ffffffff81000000 90
	END
}

# A database with time lines: a process of two threads in prog, and one that was there from the start.
make_traces_db() {
	make_prog && make_db <<-END
		meta vax 880000000 1 make
		event cycles 1000
		image file $PWD/prog
		owner - - comm=worker exe=$PWD/prog
		sample $(sym hot) 40
		thread 11 11 1000 0
		point 3000 $(sym cold)
		point 2000 401035
		path
		frame 401007
		frame 401040
		thread 11 12 50000 90000 7
		point 50500 401035
		point 50600 401035
		point 50700 $(sym cold)
		point 89999 40102e
		owner - - comm=old exe=/usr/bin/old
		image file /usr/lib/gone.so
		thread 9 9 0 70000
		path
		point 60000 1234
		event imiss 10
		point 65000 1234
	END
}

# A database with call paths of two processes in prog, lib.so (not there) and the kernel: recursion, a
# path that is cut off, and samples without callers.
make_paths_db() {
	make_prog && make_db <<-END
		meta vax 880000000 60 make
		event cycles 1000
		owner - - comm=cc1 pid=11
		image file $PWD/prog
		sample $(sym hot) 5
		frame 401005
		sample $(sym hot) 40
		frame 401020
		sample $(sym cold) 10
		image file /usr/lib/lib.so
		frame 500
		sample 600 4
		image file $PWD/prog
		frame 401021
		sample 401035 3
		frame $(sym cold)
		sample 401035 2
		image kernel [kernel]
		sample ffffffff81000000 6
		path
		owner - - comm=make pid=10
		image mark [truncated: no_table]
		frame 0
		image file $PWD/prog
		frame 401022
		sample $(sym cold) 20
		event imiss 10
		sample 401035 7
		event cycles 1000
		path
		owner idle - comm=swapper/0
		image kernel [kernel]
		frame ffffffff81000004
		sample ffffffff81000000 50
	END
}

# A database of call paths through prog, a library that is not there and the kernel, of two events: some
# recursive, one guessed, one truncated, some without callers.
make_tree_db() {
	make_prog && make_db <<-END
		meta vax 880000000 60 make
		event cycles 1000
		owner - - comm=prog exe=$PWD/prog uid=1000 pid=11 tid=11
		image file $PWD/prog
		frame 401000
		frame $(sym cold)
		sample $(sym hot) 40
		sample 40102e 20
		frame 401020
		sample $(sym hot) 8
		frame 401020
		sample 40102e 4
		path
		frame 401000
		sample $(sym cold) 6
		image file /usr/lib/gone.so
		frame 1234 guessed
		image kernel [kernel]
		frame ffffffff81000000
		sample ffffffff81000040 9
		path
		image mark [truncated: no-table]
		frame 0
		image file $PWD/prog
		frame 401048
		sample $(sym hot) 1
		path
		sample 401048 2
		event imiss 10
		frame 401000
		sample $(sym cold) 5
		loss ring_full 4
		event cycles 1000
		owner - green comm=make exe=/usr/bin/make uid=0 pid=12 tid=13
		sample $(sym hot) 10
		owner idle - comm=swapper/0
		path
		image kernel [kernel]
		frame ffffffff81000100
		sample ffffffff00000000 9
	END
}

# What make_diff_dbs and its users put into a database: HOST LABEL, then samples in hot (twice), cold and gone.so.
recording() {
	cat <<-END
		meta $1 880000000 60 make
		event cycles 1000
		image file $PWD/prog
		owner - $2 comm=$1
		sample $(sym hot) $3
		sample 401035 $4
		sample $(sym cold) $5
		image file /usr/lib/gone.so
		sample 1234 $6
		image kernel [kernel]
		owner idle -
		sample ffffffff00000000 400
	END
}

# Two databases, old and new: in the second cold grew, hot shrank, gone.so is as it was.
make_diff_dbs() {
	make_prog
	recording vax before 500 480 12 30 | make_db
	mv db old
	{
		recording alpha after 1000 990 320 66
		echo loss ring_full 4
	} | make_db
	mv db new
}

# A recording of database $1 by host $2 that began $3 hours after 2021-01-01 00:00 and lasted one, with $4 samples.
epoch_of() {
	mkdb "$1" <<-END
		recording $2 $((1609459200 + $3 * 3600))
		meta $2 $((1609459200 + $3 * 3600)) 3600 server
		event cycles 1000
		image file /usr/bin/server
		sample 1000 $4
	END
}

# Makes ./a.out: main at 0x401000 (a loop that loads at 401007 and branches back at 40100f), then work and
# idle_wait.  Its source lines are those of main.s.
make_a_out() {
	cat >main.s <<-'END2'
			.text
			.globl main
			.type main, @function
		main:	xor %eax, %eax
			mov $1000, %ecx
		1:	mov (%rdi), %rdx
			add %rdx, %rax
			dec %ecx
			jne 1b
			call work
			ret
			.size main, .-main
			.type work, @function
		work:	imul %rax, %rax
			mov %rax, (%rdi)
			ret
			.size work, .-work
			.type idle_wait, @function
		idle_wait: pause
			ret
			.size idle_wait, .-idle_wait
			.section .note.GNU-stack, "", @progbits
	END2
	gcc -c -g main.s && ld -Ttext=0x401000 -e main --build-id -o a.out main.o
}

# A database as `dcpid -slot pm` made them: samples of instructions in a.out and a library that is not
# there, with what became of each; and of cycles, which say nothing more.
make_pm_db() {
	make_a_out && make_db <<-END2
		meta vax 880000000 60 a.out
		event pm 65536 400 200
		image file $PWD/a.out
		facts retired valid notrap !early_kill !taken !cbrmispredict !nyp !map_stall !ldstorder retdelay=2 inflight=20
		sample 401000 10
		sample 401002 8
		sample 40100a 90
		sample 401016 40
		facts retired valid notrap !early_kill !taken !cbrmispredict nyp !map_stall !ldstorder retdelay=60 inflight=90
		sample 401007 70
		facts !retired !valid dtbmiss !early_kill !cbrmispredict !nyp !map_stall !ldstorder retdelay=0 inflight=30
		sample 401007 12
		facts !retired !valid replays !early_kill !cbrmispredict !nyp !map_stall ldstorder retdelay=0 inflight=12
		sample 401007 5
		facts retired !valid mispredict !early_kill cbrmispredict !nyp !map_stall !ldstorder retdelay=9 inflight=25
		sample 40100f 30
		facts retired valid notrap !early_kill taken !cbrmispredict !nyp !map_stall !ldstorder retdelay=1 inflight=21
		sample 40100f 60
		facts early_kill !valid !notrap !map_stall
		sample 40100f 7
		sample 401017 2
		facts retired valid notrap !early_kill !taken !cbrmispredict !nyp map_stall !ldstorder retdelay=5 inflight=33
		sample 401017 25
		image file /usr/lib/gone.so
		facts retired valid notrap !early_kill !taken !cbrmispredict !nyp !map_stall !ldstorder retdelay=3 inflight=22
		sample 1234 16
		event cycles 60000 400 200
		facts
		image file $PWD/a.out
		sample 401007 300
		sample 40100f 80
		sample 401017 40
		image file /usr/lib/gone.so
		sample 1234 33
		sample 1300 11
	END2
}

# A database of two populations, as IBS makes them: ops, of which traps other than those of loads and
# branches are unknown, and fetches, of which retiring is.
make_ibs_db() {
	make_a_out && make_db <<-END2
		meta zen 880000000 60 a.out
		event ibs_op 1000 100 100
		image file $PWD/a.out
		facts retired !mispredict !dtbmiss !taken inflight=40
		sample 401000 100
		facts retired !mispredict dtbmiss inflight=300 latency=250
		sample 401007 50
		facts retired
		sample 40100a 20
		facts retired mispredicted !dtbmiss inflight=60
		sample 40100f 25
		event ibs_fetch 500 100 50
		facts !icmiss fetchcomplete fetchlatency=3
		sample 401000 200
		facts icmiss fetchcomplete fetchlatency=44
		sample 401007 30
		facts !fetchcomplete
		sample 401017 10
	END2
}

# A database of such samples with callers: work called by main, and on its own.
make_pm_paths_db() {
	make_a_out && make_db <<-END2
		meta vax 880000000 60 a.out
		event ibs_op 1000 100 100
		image file $PWD/a.out
		owner - - comm=a.out
		facts retired dtbmiss inflight=100
		frame 401011
		sample 401017 20
		facts retired !dtbmiss inflight=10
		sample 401017 60
		path
		sample 401007 15
		facts retired
		sample 40101e 5
	END2
}

# One of each kind of source that dwell reads, and what it does not: each is named like its column in dwell(1).
make_all_sources() {
	make_traces_db
	epoch_of db alpha 9 3
	mkdir many
	cp -r db many/one
	epoch_of many/two alpha 1 7
	dwell export --dcpi -o tree --db db >/dev/null
	cp "$(grep -rl prog tree | sort | head -n 1)" file
	perf_records | sed "s/401000 1000 1000/401000 1000 0/" | mkperf >perf
	perf_records | mkperf pipe >pipe
	mkhpc hpc released
	mkhpc runs measured
	mkhist hist "$PWD/prog" "$(sym hot)"
	dwell export --pprof -o pprof --db db >/dev/null
	mkdir empty
	echo text >text
}

# Runs dwell with these arguments on screens of 80, 120 and 200 columns, and tells of lines that do not fit.
on_screens() {
	: >narrower
	for columns in 80 120 200; do
		echo "--- $columns: dwell $*"
		COLUMNS=$columns dwell "$@" >seen 2>&1
		if cmp -s seen narrower; then echo "the same"; else cat seen; fi
		cp seen narrower
		awk -v most=$columns 'length($0) > most { print "too wide: " length($0) }' seen
	done
}

# Runs COMMAND ($2) on a terminal on which KEYS ($1) are typed.  script(1) waits for two seconds when its input ends;
# a pipe that this shell holds open as well does not end.
type_into() {
	[ -p .keys ] || mkfifo .keys
	exec 7<>.keys
	printf %s "$1" >&7
	script -qec "$2" /dev/null <&7
	type_into_rc=$?
	exec 7>&-
	return $type_into_rc
}

# A program of one loop that reads memory and divides, a database with its cycles, and how often it ran, as callgrind
# counts it.  With FACTS what the hardware told of its loads, with RETIRED samples of instructions that retired.
make_calc_db() {
	cat >calc.s <<-'END'
			.text
			.globl _start
			.type _start, @function
		_start:	call walk
			hlt
			.size _start, .-_start
			.type walk, @function
		walk:	mov $100, %esi
		1:	mov (%rdi,%rax,8), %rax
			test $1, %al
			je 2f
			div %rcx
		2:	dec %esi
			jne 1b
			ret
			.size walk, .-walk
			.section .note.GNU-stack, "", @progbits
	END
	gcc -c -g calc.s && ld -Ttext=0x401000 --build-id -o calc calc.o
	symbols=$(list_symbols calc)
	at=$((0x$(sym walk)))
	at() { printf '%x' $((at + $1)); }
	{
		printf '# callgrind format\npositions: instr line\nevents: Ir\nob=%s/calc\nfn=walk\n' "$PWD"
		printf '0x%s 1 10\n0x%s 1 1000\n0x%s 1 1000\n' "$(at 0)" "$(at 5)" "$(at 9)"
		printf '0x%s 1 1000\n0x%s 1 400\n0x%s 1 1000\n0x%s 1 1000\n0x%s 1 10\n' "$(at 11)" "$(at 13)" "$(at 16)" "$(at 18)" "$(at 20)"
	} >counts
	{
		cat <<-END
			meta vax 880000000 60 calc
			event cycles 1000
			image file $PWD/calc
			sample $(at 5) 1
			sample $(at 9) 90
			sample $(at 13) 6
			sample $(at 16) 40
			sample $(at 18) 2
		END
		[ "${1:-}" != facts ] || cat <<-END
			event mem-loads 10
			facts load !l1hit dram !l1tlbmiss !l2tlbmiss retired
			sample $(at 5) 60
			facts load l1hit !l2hit !l3hit !dram !l1tlbmiss !l2tlbmiss retired
			sample $(at 5) 40
		END
		[ "${1:-}" != retired ] || cat <<-END
			event inst_retired.prec_dist 10
			facts retired
			sample $(at 5) 1000
			sample $(at 9) 1000
			sample $(at 11) 1000
			sample $(at 13) 400
			sample $(at 16) 1000
			sample $(at 18) 1000
		END
	} | make_db
}

# A program of assembly, NAME.s, as NAME; a database with one sample at each instruction of its procedure PROC, each of which
# ran 10 times by callgrind's counts.
make_even_db() {
	gcc -c "$1.s" && ld -Ttext=0x401000 --build-id -o "$1" "$1.o"
	objdump -d --no-show-raw-insn "$1" | awk -v proc="<$2>:" '
		/^[0-9a-f]/ { on = $2 == proc }
		on && /^ / { sub(":", "", $1); print $1 }' >addresses
	{
		printf '# callgrind format\npositions: instr line\nevents: Ir\nob=%s\nfn=%s\n' "$PWD/$1" "$2"
		sed 's/.*/0x& 1 10/' addresses
	} >counts
	{
		printf 'meta vax 880000000 60 %s\nevent cycles 1000\nimage file %s\n' "$1" "$PWD/$1"
		sed 's/.*/sample & 1/' addresses
	} | make_db
}

# What perf mem recorded of two threads in ./a.out, whose data lie at 0x404000: `counters`, of which each thread has one, in
# one line; `table`, read by both; the stack; the kernel's memory; memory of two nodes.
make_memory_data() {
	cat >data.s <<-'END2'
			.text
			.globl _start
			.type _start, @function
		_start:	mov %rax, counters(%rip)
			mov counters+8(%rip), %rbx
			mov table(%rip), %rcx
			mov %fs:0x10, %rdx
			mov 8(%rsp), %rdx
			ret
			.size _start, .-_start
			.data
			.balign 64
			.type counters, @object
		counters: .skip 64
			.size counters, .-counters
			.type table, @object
		table:	.skip 192
			.size table, .-table
			.skip 23
			.type flag, @object
		flag:	.skip 1
			.size flag, .-flag
			.bss
			.balign 4096
			.type big, @object
		big:	.skip 8192
			.size big, .-big
			.section .note.GNU-stack, "", @progbits
	END2
	gcc -c -g data.s && ld -Ttext=0x401000 -Tdata=0x404000 -Tbss=0x405000 --build-id -o a.out data.o
	{
		cat <<-END2
			host vax
			numa 0-1 2-3
			blocks 134217728 5 a
			event 100 memory
			exec 10 a.out
			mmap 10 401000 1000 1000 $PWD/a.out $(readelf -n a.out | awk '/Build ID/ { print $3 }')
			mmap 10 404000 1000 4000 $PWD/a.out $(readelf -n a.out | awk '/Build ID/ { print $3 }')
			mmap 10 405000 2000 0 //anon
			mmap 10 7ffd00000000 21000 0 [stack]
			mmap 10 7f0000000000 21000 0 //anon
			mmap 10 900000 21000 0 [heap]
			comm 10 11 worker
		END2
		$1
	} | mkperf ${2:-} >perf.data
}

# The samples of that: false sharing of `counters`, and some of everything.
memory_samples() {
	cat <<-END2
		access 10 10 10 401000 404000 store,l1,tlb1 0 1000 0
		access 10 10 11 401000 404000 store,l1,tlb1 0 1000 0
		access 10 11 12 401007 404008 load,l3,hitm,tlb1 300 1000 2
		access 10 11 13 401007 404008 load,far,hitm,remote,tlb2 500 1000 2
		access 10 11 14 401007 404008 load,l1,nosnoop,tlb1 4 1000 2
		access 10 10 20 40100e 404040 load,l2,nosnoop,tlb1 14 8000000 0
		access 10 11 21 40100e 404048 load,lfb,nosnoop,tlb1 20 8000000 2
		access 10 10 22 40100e 405010 load,ram,nosnoop,walk 250 10000000 0
		access 10 10 23 40100e 406010 load,ram,remote,nosnoop,walk 700 8000040 0
		access 10 10 30 401015 7f0000000010 load,l1,tlb1 4
		access 10 10 31 40101e 7f0000000810 load,l1,tlb1 4
		access 10 10 32 40101e 7ffd00000810 load,l1,tlb1 4
		access 10 10 33 40100e 900010 load,io 900
		access 10 10 34 40100e 900020 store,miss 0
		access 10 10 35 40100e ffff888000001040 load,l3,nosnoop,tlb1 40
		access 10 10 36 40100e ffff888000002040 load,l3,nosnoop,tlb1 41
		access 10 10 37 40100e 1234 load 0
		access 10 10 38 40100e 0 load,l1 7
		round
	END2
}
