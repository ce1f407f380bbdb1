# What calc calls the best of each block is what llvm-mca prints for the same instructions: of a block that repeats the
# cycles of a run, of any other those of the front end and its busiest unit.
echo 'mov $100, %esi' >b0
echo '1: imul %rax, %rax; add $1, %rax; dec %esi; jne 1b' >b1
echo 'mulsd %xmm0, %xmm1; addsd %xmm1, %xmm2; mov (%rdi), %rcx; mov %rcx, 8(%rdi); test %cl, %cl; je 2f' >b2
echo 'div %rcx; vaddps %ymm1, %ymm2, %ymm3; vdivps %ymm4, %ymm3, %ymm5' >b3
echo '2: lea (%rax,%rcx), %rdx; shl %cl, %rdx; popcnt %rdx, %rax; ret' >b4
{
	printf '.text\n.globl _start\n.type _start, @function\n_start: call walk\nhlt\n.size _start, .-_start\n'
	printf '.type walk, @function\nwalk:\n'
	cat b0 b1 b2 b3 b4
	printf '.size walk, .-walk\n.section .note.GNU-stack, "", @progbits\n'
} >model.s
make_even_db model walk
for cpu in skylake znver2; do
	n=0
	dwell calc walk --db db --counts counts --mcpu $cpu --json | jq -r '.blocks[] | "\(.instructions) \(.best_cpi)"' |
		while read -r insns best; do
			{ cat b$n && echo '2:'; } | llvm-mca --mcpu=$cpu --iterations=100 2>mca.err >mca
			awk -v n=$n -v cpu=$cpu -v insns="$insns" -v best="$best" '
				/^Instructions:/ { told = $2 / 100 }
				/^Total Cycles:/ { cycles = $3 / 100 }
				/^Block RThroughput:/ { apart = $3 }
				END {
					want = n == 1 ? cycles : apart # the first has what comes before the first run, too
					slack = (n == 1 ? 0.1 : 0.05) + 0.005 * insns
					off = best * insns - want
					same = told == insns && want > 0 && off < slack && -off < slack
					print cpu, "block", n, same ? "is as llvm-mca has it" : "differs: " best * insns " of " insns ", " want " of " told
				}' mca
			n=$((n + 1))
		done
done
