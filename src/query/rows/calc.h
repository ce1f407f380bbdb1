/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the cycles of one procedure go: executing, waiting as the code itself has it wait, or
 * stalled, and what may have stalled it.
 *
 *     cycles of an instruction      samples of it, each of its period
 *   = executions x best             what it costs at best, by a model of the CPU (port/best_case.h)
 *   + stall                         what it took beyond that (or gained: less)
 *
 * What an instruction costs at best is its share of what the CPU can begin in a cycle (execution)
 * and what it waits for units and results (static).  What it took beyond may be of several
 * causes.  Each is a candidate until it is ruled out: by the kind of the instruction and of those
 * it waits for, and by what the hardware told of samples there.  For example
 *
 *     mov  (%rdi), %rax   of 40 samples with facts 12 were served by memory
 *     add  %rax, %rbx     30 cycles an execution, 1 at best: 29 stalled, by the cache (measured)
 *     je   ...            9 cycles, 1 at best; candidates: none, so 8 are unexplained
 *
 * A sample of an event that is not precise stands at the instruction behind the one that it
 * waited for: the interrupt comes when that one is done.  So it is charged to the one before it
 * in its block; one at the first instruction of a block stays there, since what came before is
 * not known.
 *
 * What a block took beyond its best is shared out among its instructions by how far each is above
 * its own best; a block that took less than the model says is a gain, that is, an error of the
 * model.
 *
 * A cause's low number are the cycles of which it is the only candidate, its high one all of
 * which it is one.  Nothing is a candidate without a source: MEASURED, or else the model. */
#ifndef QUERY_ROWS_CALC_H
#define QUERY_ROWS_CALC_H

#include "query/rows/blocks.h"
#include "port/best_case.h"

enum calc_cause {
	CALC_ICACHE,
	CALC_ITLB,
	CALC_DCACHE,
	CALC_DTLB,
	CALC_SHARED,	 /* another core had the line, changed */
	CALC_FORWARDING, /* a load that an older store held up */
	CALC_SPLIT,	 /* an access that is not aligned */
	CALC_STORES,	 /* room for stores that are under way */
	CALC_SYNC,	 /* atomic accesses and fences */
	CALC_BRANCH,	 /* a mispredicted branch */
	CALC_REPLAY,
	CALC_DIVIDER,
	CALC_N_CAUSES,
};

struct calc_cause_info {
	const char *name; /* for people, and for --stall */
	char letter;
};
extern const struct calc_cause_info calc_causes[CALC_N_CAUSES];

#define CALC_UNEXPLAINED '?'

struct calc_opts {
	const struct exact_counts *exact; /* as for blocks_gather */
	struct best_case_opts model;
	double mhz;		    /* of the CPU, for events that measure time; 0: not known */
	enum count_confidence conf; /* blocks whose counts are less sure are left out */
};

struct calc_insn {
	const struct listing_insn *insn;
	uint32_t block;		   /* in blocks of struct calc */
	double samples;		   /* that stand there */
	double cycles;		   /* of those charged to it */
	double cpi;		   /* cycles for each execution; NAN: not known */
	double best;		   /* cycles of it at best; NAN: not known */
	double stall;		   /* all cycles beyond best, of all executions; 0 or more */
	uint32_t causes, measured; /* bits of enum calc_cause; MEASURED are some of CAUSES */
	uint32_t culprit;	   /* in insns: who is blamed; INSN_NONE */
	bool is_tallied;	   /* its block's count is sure enough, and it has a model */
};

struct calc_block {
	uint64_t start, end;	 /* svma */
	uint32_t first, n_insns; /* in insns */
	uint32_t n_loops;
	double executions; /* NAN: not known */
	enum count_confidence confidence;
	double cycles, best;	       /* of all executions; BEST NAN: no model */
	bool repeats;		       /* it jumps to itself */
	const struct mca_block *model; /* NULL: none */
};

/* A way from one block to another, or to itself. */
struct calc_edge {
	uint32_t from, to; /* in blocks of struct calc */
	double executions; /* NAN: not known */
};

/* Cycles; all of tallied instructions. */
struct calc_tally {
	double samples;	    /* tallied */
	double all_samples; /* of the procedure, whatever is known of them */
	double all_cycles;
	double cycles;	     /* = execution + statics + dynamic - gain */
	double instructions; /* executed */
	double execution;
	double statics[MCA_N_BOUNDS];
	double low[CALC_N_CAUSES], high[CALC_N_CAUSES];
	double dynamic, unexplained, gain;
	double overrated; /* cycles of blocks that the model says are slower than they were */
};

struct calc {
	VEC(struct calc_insn) insns;   /* ascending */
	VEC(struct calc_block) blocks; /* ascending */
	VEC(struct calc_edge) edges;   /* ascending by FROM */
	struct calc_tally tally;
	const char *basis_text; /* what executions are of */
	const char *unit;  /* of cycles: "cycles", or "ns" where the CPU's clock is not known */
	const char *event; /* whose samples they are */
	bool is_precise;   /* samples stand at what they waited for */
	bool has_executions, has_model, has_facts;
	struct err why_no_executions, why_no_model;
	struct blocks counts;
	struct mca model;
};

/* Analyses L's procedure, by the first of COLUMNS whose event measures time or cycles.  -ENODATA:
 * no event does, or nothing tells how often code ran; -ENOTSUP: there is no code, or it cannot be
 * followed.  What is missing otherwise is said in RET.  calc_release RET in any case. */
int calc_gather(const struct listing *l, const struct columns *columns, const struct calc_opts *o,
		struct calc *ret, struct err *err);
void calc_release(struct calc *c);

/* Adds the numbers of FROM to TO. */
void calc_tally_add(struct calc_tally *to, const struct calc_tally *from);

#endif
