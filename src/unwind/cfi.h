/* SPDX-License-Identifier: BSD-2-Clause */
/* Call frame information as its sections have it: records, programs, expressions.  Private to this
 * folder; build.h is what others use. */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rd.h"
#include "base/vec.h"
#include "unwind/build.h"
#include "unwind/table.h"

/* The registers rules speak of, whatever their numbers on the machine. */
enum cfi_column { CFI_FP, CFI_BX, CFI_SP, CFI_RA, CFI_N_COLUMNS };

/* What an expression amounts to, as far as it is understood. */
enum cfi_form {
	CFI_OTHER, /* not understood, or not there */
	CFI_CONST, /* off */
	CFI_REG,   /* register reg + off */
	CFI_DEREF, /* the word at register reg + off, plus add */
	CFI_CFA,   /* CFA + off */
	/* On the way to a PLT stub's: ip & 15; that >= off; 8 times that; sp + 8 + that. */
	CFI_IP_LOW,
	CFI_IP_GE,
	CFI_IP_GE_8,
	CFI_PLT,
};

struct cfi_value {
	uint8_t form, reg;
	int64_t off, add;
};

/* Where a register's value in the caller is. */
enum cfi_how {
	CFI_UNSPECIFIED, /* nothing was said: it is kept */
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_AT,	 /* the word at `at`, of form CFI_CFA or CFI_REG */
	CFI_IS,	 /* `at` itself */
	CFI_LOST /* somewhere that is not understood */
};

struct cfi_place {
	uint8_t how;
	struct cfi_value at;
};

struct cfi_state {
	struct cfi_value cfa;	/* CFI_REG, CFI_DEREF, CFI_PLT; CFI_OTHER */
	struct cfi_value plain; /* the last register and offset it had; CFI_OTHER: none yet */
	struct cfi_place columns[CFI_N_COLUMNS];
	bool signed_ra;
	uint8_t ra_reg; /* the DWARF number that column CFI_RA has: the CIE's choice */
};

struct cfi_cie {
	uint64_t off; /* in the section */
	uint64_t code_align;
	int64_t data_align;
	const uint8_t *program; /* initial instructions */
	uint32_t n_program;
	uint8_t encoding, n_segment_bytes;
	bool has_data, is_signal;
	struct cfi_state start; /* after the initial instructions */
};

struct cfi_fde {
	uint64_t svma, n_bytes; /* the code it speaks of */
	const uint8_t *program;
	uint32_t n_program;
	uint32_t cie; /* in cfi_frames.cies */
};

/* What a section has. */
struct cfi_frames {
	const struct unwind_input *in;
	const struct unwind_section *section;
	bool is_eh;
	VEC(struct cfi_cie) cies; /* by ascending offset */
	uint32_t last_cie;	  /* the one found last: neighbours mostly have the same */
	uint32_t n_damaged;	  /* records that cannot be read */
};

/* Reads the CIEs of section S of IN, .eh_frame when IS_EH, else .debug_frame.  Both must live as
 * long as F.  Never fails: what cannot be read is counted. */
void cfi_frames_read(struct cfi_frames *f, const struct unwind_input *in,
		     const struct unwind_section *s, bool is_eh);
void cfi_frames_release(struct cfi_frames *f);

/* Calls FN for each FDE of code, in the section's order; its record lies at OFF of the section.
 * They are not kept: there may be a hundred thousand. */
typedef void cfi_fde_fn(void *owner, uint64_t off, const struct cfi_fde *fde);
void cfi_frames_each_fde(struct cfi_frames *f, cfi_fde_fn *fn, void *owner);

/* Reads the one at OFF again, which cfi_frames_each_fde handed out. */
struct cfi_fde cfi_frames_fde(struct cfi_frames *f, uint64_t off);

/* Reads an address encoded as ENCODING says (DW_EH_PE_*), whose first byte lies at FIELD_SVMA; 0 is
 * nowhere.  What cannot be read makes R bad. */
uint64_t cfi_read_pointer(struct rd *r, uint8_t encoding, const struct unwind_input *in,
			  uint64_t field_svma);

/* Signed LEB128 of DWARF (rd_sleb reads another kind). */
static inline int64_t cfi_read_sleb(struct rd *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t b = rd_u8(r);

		v |= shift < 64 ? (uint64_t)(b & 0x7f) << shift : 0;
		if (b & 0x80)
			continue;
		if (shift < 57 && b & 0x40)
			v |= ~0ull << (shift + 7);
		return r->bad ? 0 : (int64_t)v;
	}
	r->bad = true;
	return 0;
}

/* Runs the initial instructions of C into C->start; -EBADMSG when they are damaged. */
int cfi_run_start(const struct cfi_frames *f, struct cfi_cie *c);

/* Takes over a row: from svma START to END the state is S, or damaged when S is NULL. */
typedef void cfi_row_fn(void *owner, uint64_t start, uint64_t end, const struct cfi_state *s);

/* Runs the program of FDE and hands out its rows, ascending, without gaps from the first to the
 * last address of the FDE.  Returns 0, or -EBADMSG when rows are damaged. */
int cfi_run(const struct cfi_frames *f, const struct cfi_fde *fde, cfi_row_fn *row, void *owner);

/* What the expression of N bytes at BYTES amounts to; its stack begins with the CFA
 * when WITH_CFA. */
struct cfi_value cfi_eval(const uint8_t *bytes, size_t n, uint16_t machine, bool with_cfa);

/* The rule for state S of code whose CIE is marked as a signal's trampoline when IS_SIGNAL. */
struct unwind_rule cfi_rule(const struct cfi_state *s, uint16_t machine, bool is_signal);

/* DWARF numbers (x86-64 psABI figure 3.36; AADWARF64 4.1). */
#define X86_BX	   3
#define X86_SP	   7
#define X86_IP	   16
#define AARCH64_LR 30

static inline uint8_t cfi_sp(uint16_t machine)
{
	return machine == EM_AARCH64 ? 31 : X86_SP;
}

static inline uint8_t cfi_fp(uint16_t machine)
{
	return machine == EM_AARCH64 ? 29 : 6;
}

#endif
