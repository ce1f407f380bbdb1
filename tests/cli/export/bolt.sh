# Branch stacks as perf2bolt and llvm-bolt of LLVM 16 read them: both take the profile for the program's own.
command -v perf2bolt-16 >/dev/null || { echo "no perf2bolt-16 (package bolt-16)"; exit 77; }
# Of 40 rounds each second one jumps over an instruction.
cat >rounds.s <<'END'
	.text
	.globl _start
	.type _start, @function
_start:	call hot
	mov $60, %eax
	xor %edi, %edi
	syscall
	.size _start, .-_start
	.type hot, @function
hot:	mov $40, %esi
at_top:	test $1, %esi
at_over: jne at_odd
	inc %eax
at_odd:	dec %esi
at_back: jne at_top
	ret
	.size hot, .-hot
	.section .note.GNU-stack, "", @progbits
END
gcc -c rounds.s && ld -q -Ttext=0x401000 --build-id -o rounds rounds.o
eval "$(nm rounds | awk '$3 ~ /^at_/ { print $3 "=" $1 }')"
strip -w -K hot -K _start rounds
over=$at_over:$at_odd:p back=$at_back:$at_top:p
stack="$back $over $back $back $over $back $back $over $back $back $over $back $back $over $back"
{
	printf 'host vax\nevent 1000000 branches\nexec 10 rounds\n'
	echo "mmap 10 401000 1000 1000 $PWD/rounds $(readelf -n rounds | awk '/Build ID/ { print $3 }')"
	echo "branches 10 10 15 $at_top $stack"
} | mkperf >perf.data
dwell export --bolt -o a.fdata perf.data
dwell export --bolt-pre -o a.preagg perf.data
ln -s "$(command -v perf2bolt-16)" perf2bolt # its name tells it what to do
./perf2bolt -pa -p a.preagg -o b.fdata rounds 2>&1 | grep -E "mismatching|out of range" | sed 's/^[^:]*: //'
cat a.fdata
echo "-- what perf2bolt makes of them, which knows the jumps not taken:"
cat b.fdata
for f in a b; do
	llvm-bolt-16 rounds -data=$f.fdata -o $f.out -reorder-blocks=ext-tsp 2>&1 |
		grep -E "execution profile|stale|invalid|modified layout" | sed 's/^[^:]*: //'
	./$f.out && echo "it runs"
done
