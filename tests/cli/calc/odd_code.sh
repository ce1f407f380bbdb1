# Code that nobody knows: a byte that is no instruction, and a jump that leads nobody knows where. All blocks have a best
# case all the same.
cat >odd.s <<'END'
	.text
	.globl _start
	.type _start, @function
_start:	call odd
	hlt
	.size _start, .-_start
	.type odd, @function
odd:	push %rbx
	mov %rdi, %rbx
	test %esi, %esi
	je 1f
	imul %rax, %rax
	xbegin 2f
	xend
2:	dec %esi
	jne 2b
	jmp *(%rbx)
1:	.byte 0x06
	nop
	.size odd, .-odd
	.section .note.GNU-stack, "", @progbits
END
make_even_db odd odd
dwell list --blocks odd --db db --counts counts --no-header
dwell calc odd --db db --counts counts --mcpu skylake | sed -n '/^time is/,/^samples  *%/p'
