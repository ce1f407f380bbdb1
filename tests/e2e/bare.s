# SPDX-License-Identifier: BSD-2-Clause
# Code by hand, without frame information:
#   by_hand(n)   a frame pointer, and a loop below it
#   no_pointer(n)   none: rbp is used for something else, which lies on the stack too
#   readable(n)   saves registers above its frame pointer and aligns the stack
# The jumps through a register hide from a reader of the first two what comes to their returns.
	.text
	.globl	by_hand
	.type	by_hand, @function
by_hand:
	push	%rbp
	mov	%rsp, %rbp
	sub	$64, %rsp
	lea	1f(%rip), %rax
	jmp	*%rax
1:	call	loop_by_hand
	leave
	ret
	.size	by_hand, . - by_hand

	.type	loop_by_hand, @function
loop_by_hand:
	push	%rbp
	mov	%rsp, %rbp
	lea	1f(%rip), %rax
	jmp	*%rax
1:	imul	$3, %rax, %rax
	dec	%rdi
	jnz	1b
	pop	%rbp
	ret
	.size	loop_by_hand, . - loop_by_hand

	.globl	no_pointer
	.type	no_pointer, @function
no_pointer:
	push	%rbp
	lea	8(%rsp), %rbp
	lea	1f(%rip), %rax
	jmp	*%rax
1:	imul	$3, %rax, %rax
	dec	%rdi
	jnz	1b
	pop	%rbp
	ret
	.size	no_pointer, . - no_pointer

	.globl	readable
	.type	readable, @function
	.p2align 4
readable:
	push	%r12
	push	%rbx
	push	%rbp
	mov	%rsp, %rbp
	sub	$200, %rsp
	and	$-64, %rsp
	mov	%rdi, %rbx
	test	%rdi, %rdi
	jz	2f
1:	imul	$3, %rax, %rax
	dec	%rbx
	jnz	1b
2:	mov	%rbp, %rsp
	pop	%rbp
	pop	%rbx
	pop	%r12
	ret
	.size	readable, . - readable
	.section .note.GNU-stack,"",@progbits
