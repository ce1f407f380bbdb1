/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts of a sampled instruction: the registry of bits and counters.
 *
 * Hardware that picks an instruction and follows it (AMD IBS, Intel PEBS with LBR, Arm SPE) tells
 * what became of it.  This registry says so in the same words for every machine: those of ProfileMe
 * (the first 25 bits and 5 counters) and those that newer hardware added.  A fact has a name, a
 * meaning, and a source for each machine.
 *
 * What a machine cannot measure is *unknown*, never false: beside the value mask there is a known
 * mask.  The place of a name tells bits from counters: `replays` is a trap bit, `any:replays` a
 * counter.
 *
 * Numbers are stored in segments (struct vector): new ones are added, none is ever changed.  The
 * meaning of a number from FACT_USER_BIT or FACT_USER_COUNTER on is the recording's own
 * (profile.user_facts); merging profiles gives equal names equal numbers. */
#ifndef MODEL_FACT_H
#define MODEL_FACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"

enum fact_bit {
	/* Bits of dcpiprofileme(1). */
	FACT_RETIRED,
	FACT_TAKEN,
	FACT_CBRMISPREDICT,
	FACT_VALID,
	FACT_NYP,
	FACT_LDSTORDER,
	FACT_MAP_STALL,
	FACT_EARLY_KILL,
	FACT_LATE_KILL,
	/* Its trap bits: of one sample at most one is set. */
	FACT_NOTRAP,
	FACT_MISPREDICT,
	FACT_REPLAYS,
	FACT_UNALIGNTRAP,
	FACT_DTBMISS,
	FACT_DTB2MISS3,
	FACT_DTB2MISS4,
	FACT_ITBMISS,
	FACT_ARITHTRAP,
	FACT_FPDISABLEDTRAP,
	FACT_MT_FPCRTRAP,
	FACT_DFAULTTRAP,
	FACT_IACVTRAP,
	FACT_OPCDECTRAP,
	FACT_INTERRUPT,
	FACT_MCHKTRAP,
	/* Beyond that page. */
	FACT_LOAD,
	FACT_STORE,
	FACT_L1HIT,
	FACT_L2HIT,
	FACT_L3HIT,
	FACT_DRAM,
	FACT_REMOTE,
	FACT_L1TLBMISS,
	FACT_L2TLBMISS,
	FACT_LOCKED,
	FACT_SNOOPHIT,
	FACT_SNOOPHITM,
	FACT_BRANCH,
	FACT_COND,
	FACT_CALL,
	FACT_RETURN,
	FACT_INDIRECT,
	FACT_MISPREDICTED,
	FACT_MISALIGNED,
	FACT_EXCEPTION,
	FACT_FETCHCOMPLETE,
	FACT_ICMISS,
	FACT_L1ITLBMISS,
	FACT_L2ITLBMISS,
	FACT_SWPREFETCH,
	FACT_INTX,
	FACT_TXABORT,
	FACT_PAGE2M,
	FACT_PAGE1G,
	FACT_USER_BIT, /* the first of ten that a recording may name */
	N_FACT_BITS = 64,
};

enum fact_counter {
	FACT_NO_COUNTER, /* a vector that counts samples */
	/* Counters of dcpiprofileme(1). */
	FACT_RETDELAY,
	FACT_INFLIGHT,
	FACT_RETIRES,
	FACT_BCMISSES,
	FACT_REPLAYS_COUNTER,
	/* Beyond that page. */
	FACT_LATENCY,
	FACT_TLBLATENCY,
	FACT_FETCHLATENCY,
	FACT_ITLBLATENCY,
	FACT_WEIGHT,
	FACT_COMPTORET,
	FACT_ISSUELATENCY,
	FACT_MEMREQS,
	FACT_BRCYCLES,
	FACT_ACCESSBYTES,
	N_FACT_COUNTERS,	/* those that have a meaning here */
	FACT_USER_COUNTER = 24, /* the first of eight that a recording may name */
	FACT_MAX_COUNTERS = 32,
};

#define FACT_MASK(bit)	     (1ull << (bit))
#define FACT_TRAPS	     (((1ull << 16) - 1) << FACT_NOTRAP) /* notrap among them */
#define FACT_N_USER_BITS     (N_FACT_BITS - FACT_USER_BIT)
#define FACT_N_USER_COUNTERS (FACT_MAX_COUNTERS - FACT_USER_COUNTER)

enum fact_kind {
	FACT_BIT,
	FACT_TRAP,
	FACT_COUNTER,
};

struct fact {
	enum fact_kind kind;
	uint8_t number; /* enum fact_bit or enum fact_counter */
	const char *name, *meaning;
	const char *unit; /* of a counter: "cycles", ...; else "" */
	/* Where the machine tells it; "none" where it does not. */
	const char *ibs_op, *ibs_fetch, *pebs, *spe;
};

/* All of them, bits first, in order of their numbers. */
extern const struct fact fact_table[];
extern const size_t n_facts;

/* Returns the number of the bit or trap bit (or of the counter) called NAME, of N bytes.  It is
 * looked for in the registry and, unless P is NULL, among those that P's recordings named.  -1:
 * there is none. */
int fact_find_bit(const struct profile *p, const char *name, size_t n);
int fact_find_counter(const struct profile *p, const char *name, size_t n);

/* The name of a bit or counter; NULL when it has none. */
const char *fact_bit_name(const struct profile *p, unsigned bit);
const char *fact_counter_name(const struct profile *p, unsigned counter);

/* What a machine told of one sample.  Zeroed: nothing.  A decoder makes known every trap bit that
 * this machine measures, and may set several; notrap it sets when it can tell that there was none,
 * whether there was or not. */
struct sample_facts {
	uint64_t known, value;
	uint32_t counters_known; /* bit N: counters[N] */
	uint64_t counters[FACT_MAX_COUNTERS];
	uint64_t weight; /* what a sample weighs (value_weight); 0: not known, or the period */
};

static inline void facts_set(struct sample_facts *f, unsigned bit, bool value)
{
	f->known |= FACT_MASK(bit);
	if (value)
		f->value |= FACT_MASK(bit);
	else
		f->value &= ~FACT_MASK(bit);
}

static inline void facts_set_counter(struct sample_facts *f, unsigned counter, uint64_t value)
{
	f->counters_known |= 1u << counter;
	f->counters[counter] = value;
}

/* Known and set. */
static inline bool facts_has(const struct sample_facts *f, unsigned bit)
{
	return f->known & f->value & FACT_MASK(bit);
}

/* Brings what a decoder said into the form that is counted (docs/design/facts.md):
 * - of trap bits set, only the first by precedence stays: the one that would have ended the
 *   instruction's first try.  From first to last: iacvtrap, itbmiss, OPCDECtrap, fpdisabledtrap,
 *   unaligntrap, dtb2miss4, dtb2miss3, dtbmiss, dfaulttrap, replays, arithtrap, MT_FPCRtrap,
 *   mispredict, mchktrap, interrupt.  Then notrap is known and false.  With `exception` and no trap
 *   bit it is false, too, and it is not known which trap it was;
 * - valid is retired and notrap, known when one of them is false or both are known;
 * - taken is unknown unless the instruction is a conditional branch that was predicted right;
 * - an instruction that was killed early has few known facts: early_kill, fetchcomplete (early_kill
 *   of a fetch), valid, notrap and map_stall.
 * Value bits that are not known become 0, as struct vector wants them. */
void facts_settle(struct sample_facts *f);

/* Adds COUNT samples with the settled facts F to P.  One value counts them; its vector is {known,
 * value, 0}.  Each known counter adds one value with vector {known, value, counter}, the same
 * count, and COUNT times the counter as sum.  So the samples of an event are its values with
 * counter 0 (value_is_samples).  Returns the first value's number, as profile_add_value does. */
uint32_t facts_add(struct profile *p, owner_id owner, ctx_id ctx, event_id event,
		   const struct sample_facts *f, uint64_t count);

#endif
