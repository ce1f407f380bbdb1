# A program whose way is known: what branch stacks and samples of retired instructions make of it is beside how often its
# blocks ran.  It has a loop that is entered at two places, jumps through a table, and calls.
cat >known.s <<'END'
	.text
	.globl _start
	.type _start, @function
_start:	mov $60, %edi
at_calls: call work
at_back:	dec %edi
at_again: jne at_calls
	hlt
	.size _start, .-_start
	.type work, @function
work:	mov $40, %esi
	test $1, %edi
at_in:	jne at_middle
at_top:	dec %esi
at_leave: je at_ret
at_middle: mov %esi, %edx
	and $3, %edx
at_switch: jmp *table(,%rdx,8)
at_two:	inc %eax
at_two_out: jmp at_top
at_one:	inc %ecx
at_none: jmp at_top
at_ret:	ret
	.size work, .-work
	.section .rodata
	.p2align 3
table:	.quad at_none, at_one, at_two, at_none
	.section .note.GNU-stack, "", @progbits
END
gcc -c known.s && ld -Ttext=0x401000 --build-id -o known known.o
nm known | awk '$3 ~ /^at_|^work$/ { print "label", $3, $1 }' >names
objcopy -w --strip-symbol='at_*' known
objdump -d --no-show-raw-insn known | awk '/^ / { sub(":", "", $1); print "insn", $1 }' >>names
# Walks as the program does: `runs` are its jumps, `ran` how often each instruction ran.
cat >walk.awk <<'END'
function jump(from, to,   k) {
	for (k = number[pc]; k <= number[at[from]]; k++) {
		ran[k]++
		if (++steps % 7 == 0)
			retired[k]++
	}
	pc = at[to]
	jumps[++n] = at[from] ":" pc ":p"
	if (n < 16)
		return
	line = "branches 10 10 " n " " pc
	for (k = n; k > n - 16; k--)
		line = line " " jumps[k]
	print line >"stacks"
}
$1 == "label" { sub(/^0+/, "", $3); at[$2] = $3 }
$1 == "insn" { number[$2] = ++insns; address[insns] = $2 }
END {
	pc = address[1]
	for (edi = 60; edi > 0; edi--) {
		jump("at_calls", "work")
		esi = 40
		middle = edi % 2
		if (middle)
			jump("at_in", "at_middle")
		while (middle || --esi > 0) {
			middle = 0
			where = esi % 4 == 1 ? "at_one" : esi % 4 == 2 ? "at_two" : "at_none"
			jump("at_switch", where)
			jump(where == "at_two" ? "at_two_out" : "at_none", "at_top")
		}
		jump("at_leave", "at_ret")
		jump("at_ret", "at_back")
		if (edi > 1)
			jump("at_again", "at_calls")
	}
	for (k = 1; k <= insns; k++)
		if (ran[k]) {
			print "0x" address[k], 1, ran[k] >"counts"
			print "sample", address[k], retired[k] + 0 >"retired"
		}
	print n, "jumps,", steps, "instructions"
}
END
printf '# callgrind format\npositions: instr line\nevents: Ir\nob=%s/known\nfn=all\n' "$PWD" >exact
awk -f walk.awk names
cat counts >>exact
perf_data() {
	printf 'host vax\nevent 1000000 branches\nexec 10 known\n'
	echo "mmap 10 401000 1000 1000 $PWD/known $(readelf -n known | awk '/Build ID/ { print $3 }')"
	cat
}
perf_data <stacks | mkperf >perf.data
{
	printf 'meta vax 880000000 60 known\nevent instructions 7\nimage file %s/known\nfacts retired\n' "$PWD"
	grep -v ' 0$' retired
} | make_db
dwell export --bb --counts exact perf.data | grep -v '^[ip]' >truth
# A line for each block of FILE ($2): how often it ran, its count there by SCALE ($1), and whether that is within 5 %.
beside() {
	dwell export --bb "$2" | grep -v '^[ip]' | join truth - | awk -v scale="$1" '{
		made = $6 / scale
		off = made > $3 ? made - $3 : $3 - made
		total += $3
		right += off <= 0.05 * $3 ? $3 : 0
		print $1, $3 + 0, made, off <= 0.05 * $3 ? "right" : "wrong", $7
	} END { printf "%.1f %% of executions are within 5 %%\n", 100 * right / total }'
}
beside 15 perf.data # between 16 jumps are 15 runs
beside 1 db
# Records that cannot be: empty ones, of the kernel, to the middle of instructions, to and from nowhere, past the end.
awk 'NR % 20 == 0 {
	$(6 + NR % 11) = NR % 3 ? "0:0:-" : "ffffffff81000000:401005:p"
	$(7 + NR % 7) = NR % 8 ? "401021:40103e:m" : "dead00000:beef00000:m"
	if (NR % 9 == 0)
		$20 = "401034:401000:p"
	if (NR % 5 == 0)
		$21 = "8000000000000000:7fffffffffffffff:p"
} { print }' stacks | perf_data | mkperf >odd.data
# What is older in a stack than the first that cannot be is left out: fewer jumps stand for the same path.
jumps() { awk '{ n += NF - 5 - gsub(/ 0:0:-/, "") } END { print n }'; }
grep ^branches stacks >whole
dwell export --bb odd.data 2>&1 >/dev/null | sed 's/^[^:]*: //' | tee left
beside "$(awk -v all="$(jumps <whole)" -v n="$(wc -l <whole)" '{ print (all - $2) / n - 1 }' left)" odd.data 2>/dev/null
