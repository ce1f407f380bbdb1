/* SPDX-License-Identifier: BSD-2-Clause */
/* What flow.c, jump tables and the machines share; not for other files. */
#ifndef RESOLVE_FLOW_IMPL_H
#define RESOLVE_FLOW_IMPL_H

#include "resolve/flow.h"

enum flow_kind {
	FLOW_INSN_PLAIN,
	FLOW_INSN_JUMP,
	FLOW_INSN_BRANCH,
	FLOW_INSN_CALL,
	FLOW_INSN_RETURN,
	FLOW_INSN_TRAP,
	FLOW_INSN_BAD, /* no instruction */
};

struct flow_insn {
	uint64_t target; /* svma of a direct jump, branch or call; only if has_target */
	uint8_t n_bytes;
	bool has_target;
	bool is_padding; /* stands between code: nop, trap of one byte */
	enum flow_kind kind;
};

/* What is known of a value. */
enum flow_value_kind {
	FLOW_CONST,  /* addend */
	FLOW_LINEAR, /* scale * X + addend, X being an unknown called id; 0 + 1 * X when it was read
			from memory at `table`, if that is not 0 */
	FLOW_LOADED, /* (entry << shift) + addend, entry: table[X], stride bytes apart */
};

struct flow_value {
	enum flow_value_kind kind;
	uint8_t entry_bytes; /* 1, 2, 4, 8 */
	uint8_t shift;
	bool is_signed;	 /* how the entry is widened */
	bool is_indexed; /* LINEAR, an address: addend is where a table is, not a field's offset */
	uint64_t id;
	uint64_t scale; /* of LINEAR; of LOADED the stride */
	uint64_t addend;
	uint64_t table; /* svma of LOADED's entry for X = 0 */
};

#define FLOW_N_REGS   33 /* arm64: 31 is the zero register, 32 the stack pointer */
#define FLOW_N_BOUNDS 64
#define FLOW_N_SLOTS  32

/* The values after the instructions of a way through the code. */
struct flow_values {
	struct flow_value regs[FLOW_N_REGS];
	uint64_t next_id;
	struct {
		uint64_t id, n;	 /* X < n; 0: no longer known */
	} bounds[FLOW_N_BOUNDS]; /* a ring */
	unsigned n_bounds;
	struct {
		uint64_t id; /* of what was in memory there before */
		struct flow_value value;
	} slots[FLOW_N_SLOTS]; /* a ring: what was written to memory */
	unsigned n_slots;
	uint64_t sp_id;	   /* of the stack pointer at the beginning */
	bool has_compared; /* the last comparison was of `compared` with `with` */
	uint64_t compared, with;
};

/* One machine. */
struct flow_machine {
	uint8_t sp; /* the stack pointer's register */
	/* Decodes the instruction at P (N bytes, at least one). */
	void (*decode)(const void *engine, const uint8_t *p, size_t n, uint64_t svma,
		       struct flow_insn *ret);
	/* Executes it.  TAKEN: a branch that jumps. */
	void (*step)(const void *engine, struct flow_values *v, const uint8_t *p, size_t n,
		     uint64_t svma, bool taken);
	/* Where the indirect jump at P goes. */
	struct flow_value (*target)(const void *engine, struct flow_values *v, const uint8_t *p,
				    size_t n, uint64_t svma);
};

extern const struct flow_machine flow_x86, flow_arm64;

/* Makes the decoder of x86; free it. */
void *flow_x86_new(uint16_t machine);

/* flow_table.c: arithmetic with values. */
void flow_values_init(struct flow_values *v, uint8_t sp);
/* A as an unknown, for those who cannot use an entry of a table. */
struct flow_value flow_value_named(struct flow_value a);
struct flow_value flow_value_const(uint64_t value);
struct flow_value flow_value_fresh(struct flow_values *v);
struct flow_value flow_value_add(struct flow_values *v, struct flow_value a, struct flow_value b);
struct flow_value flow_value_shift(struct flow_values *v, struct flow_value a, unsigned n_bits);
/* The N_BYTES (1, 2, 4, 8) in memory at ADDRESS. */
struct flow_value flow_value_load(struct flow_values *v, struct flow_value address,
				  unsigned n_bytes, bool is_signed);
/* The low N_BYTES of A, widened. */
struct flow_value flow_value_extend(struct flow_value a, unsigned n_bytes, bool is_signed);
/* VALUE was written to memory at ADDRESS. */
void flow_value_store(struct flow_values *v, struct flow_value address, struct flow_value value);
/* A & MASK. */
struct flow_value flow_value_mask(struct flow_values *v, struct flow_value a, uint64_t mask);
/* A is compared with the number WITH. */
void flow_value_compare(struct flow_values *v, struct flow_value a, uint64_t with);
/* The last comparison said that A is at most, or less than, the number. */
void flow_value_at_most(struct flow_values *v, bool less);

/* Reads entry I of the table that is behind TARGET into *RET; false when it cannot be read. */
bool flow_table_entry(const struct flow_code *code, const struct flow_value *target, uint64_t i,
		      uint64_t *ret);
/* How many entries there are; 0: not known. */
uint64_t flow_table_bound(const struct flow_values *v, const struct flow_value *target);

#endif
