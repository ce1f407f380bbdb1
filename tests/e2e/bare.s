# SPDX-License-Identifier: BSD-2-Clause
# Code by hand, without frame information:
#   by_hand(n)   a frame pointer, and a loop below it
#   no_pointer(n)   none: rbp is used for something else, which lies on the stack too
	.text
	.globl	by_hand
	.type	by_hand, @function
by_hand:
	push	%rbp
	mov	%rsp, %rbp
	sub	$64, %rsp
	call	loop_by_hand
	leave
	ret
	.size	by_hand, . - by_hand

	.type	loop_by_hand, @function
loop_by_hand:
	push	%rbp
	mov	%rsp, %rbp
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
1:	imul	$3, %rax, %rax
	dec	%rdi
	jnz	1b
	pop	%rbp
	ret
	.size	no_pointer, . - no_pointer
	.section .note.GNU-stack,"",@progbits
