/* SPDX-License-Identifier: BSD-2-Clause */
/* What an instruction needs and makes: registers it reads and writes, and whether it is one of the
 * kinds that may wait long.  For finding which instruction another may have waited for. */
#ifndef RESOLVE_INSN_USES_H
#define RESOLVE_INSN_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct insn_uses {
	/* Bit N: general register N (0 to 31), vector register N - 32 (32 to 62); bit 63: flags.
	 * A part of a register counts for all of it. */
	uint64_t reads, writes;
	bool loads, stores; /* memory, but for stack pushes and pops of calls and returns */
	bool tls;	    /* addressed from the thread's own base (a segment of x86) */
	bool stack;	    /* addressed from the stack pointer */
	bool divides;	    /* or takes a square root */
	bool locks;	    /* an atomic access, or a fence */
	bool is_known;	    /* false: nothing is known, and nothing above means anything */
};

/* Looks at the instruction of N bytes at BYTES, of MACHINE (elf.h EM_*).  Only x86 is known. */
struct insn_uses insn_uses_of(uint16_t machine, const uint8_t *bytes, size_t n);

#endif
