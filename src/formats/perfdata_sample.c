/* SPDX-License-Identifier: BSD-2-Clause */
/* See perfdata.h: what a sample carries, in the order the kernel writes it (perf_output_sample,
 * kernel/events/core.c; the comment of PERF_RECORD_SAMPLE in
 * linux/perf_event.h has AUX too early). */
#include "formats/perfdata_impl.h"

#include <errno.h>

/* The word at P. */
static uint64_t word_of(const uint8_t *p, bool big_endian)
{
	struct rd r = rd_init(p, 8);

	return rd_64(&r, big_endian);
}

uint64_t perfdata_word(const struct perfdata_words *w, uint32_t i)
{
	return i < w->n ? word_of(w->p + (size_t)i * 8, w->big_endian) : 0;
}

/* Words of each counter of FORMAT. */
static unsigned words_per_count(uint64_t format)
{
	return 1 + !!(format & PERFDATA_R_ID) + !!(format & PERFDATA_R_LOST);
}

struct perfdata_counts perfdata_read_counts(struct rd *r, uint64_t format, bool be)
{
	struct perfdata_counts c = {.format = format, .n = 1};
	uint64_t n = 1;
	uint64_t value = 0;

	if (format & PERFDATA_R_GROUP)
		n = rd_64(r, be);
	else
		value = rd_64(r, be);
	if (format & PERFDATA_R_ENABLED)
		c.enabled_ns = rd_64(r, be);
	if (format & PERFDATA_R_RUNNING)
		c.running_ns = rd_64(r, be);
	c.single = value;
	if (!(format & PERFDATA_R_GROUP)) {
		c.values = rd_words(r, words_per_count(format) - 1u, be);
		return c;
	}
	if (n > PERFDATA_MAX_RECORD) {
		r->bad = true;
		n = 0;
	}
	c.n = (uint32_t)n;
	c.values = rd_words(r, n * words_per_count(format), be);
	if (!c.values.p)
		c.n = 0;
	return c;
}

struct perfdata_count perfdata_count(const struct perfdata_counts *c, uint32_t i)
{
	bool group = c->format & PERFDATA_R_GROUP;
	uint32_t at = group ? i * words_per_count(c->format) : 0;
	struct perfdata_count ret = {.value = group ? perfdata_word(&c->values, at++) : c->single};

	if (c->format & PERFDATA_R_ID) {
		ret.has_id = true;
		ret.id = perfdata_word(&c->values, at++);
	}
	if (c->format & PERFDATA_R_LOST)
		ret.lost = perfdata_word(&c->values, at);
	return ret;
}

/* Bit fields of struct perf_branch_entry as a big-endian machine lays them out: mispred, predicted,
 * in_tx, abort, cycles (16), type (4), spec (2), new_type (4), priv (3), from the top. */
static uint64_t turn_branch_flags(uint64_t v)
{
	static const uint8_t widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3};
	uint64_t ret = 0;
	unsigned at = 0;

	for (size_t i = 0; i < n_elems(widths); i++) {
		uint64_t field = v >> (64 - at - widths[i]) & ((1ull << widths[i]) - 1);

		ret |= field << at;
		at += widths[i];
	}
	return ret;
}

uint32_t perfdata_branches(const struct perfdata_sample *s, uint32_t first, uint32_t most,
			   struct perfdata_branch *ret)
{
	const uint32_t all = s->branches.n / 3;
	const uint32_t n = first >= all ? 0 : most < all - first ? most : all - first;
	const bool be = s->branches.big_endian;

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *p = s->branches.p + ((size_t)first + i) * 24;

		ret[i] = (struct perfdata_branch){word_of(p, be), word_of(p + 8, be),
						  word_of(p + 16, be)};
		if (be)
			ret[i].flags = turn_branch_flags(ret[i].flags);
	}
	return n;
}

struct perfdata_branch perfdata_branch(const struct perfdata_sample *s, uint32_t i)
{
	struct perfdata_branch b = {0};

	perfdata_branches(s, i, 1, &b);
	return b;
}

static void read_branches(struct rd *r, const struct perfdata_attr *a, bool be,
			  struct perfdata_sample *s)
{
	uint64_t n = rd_64(r, be);

	if (a->branch_sample_type & PERFDATA_B_HW_INDEX)
		s->hw_idx = rd_64(r, be);
	if (n > PERFDATA_MAX_RECORD) {
		r->bad = true;
		return;
	}
	s->branches = rd_words(r, n * 3, be);
	if (a->branch_sample_type & PERFDATA_B_COUNTERS)
		s->branch_counters = rd_words(r, n, be);
}

static void read_regs(struct rd *r, uint64_t mask, bool be, uint64_t *ret_abi,
		      struct perfdata_words *ret)
{
	*ret_abi = rd_64(r, be);
	if (*ret_abi)
		*ret = rd_words(r, (uint64_t)__builtin_popcountll(mask), be);
}

/* The copy of a stack has the size that was asked for; only so much of it as the size behind it
 * says was the stack's. */
static void read_stack(struct rd *r, bool be, struct perfdata_sample *s)
{
	uint64_t n = rd_64(r, be), used;

	s->stack = rd_piece(r, n);
	if (!n)
		return;
	used = rd_64(r, be);
	if (used < s->stack.n)
		s->stack.n = (size_t)used;
}

/* Fields that are one word each. */
#define WORDS                                                                                      \
	(PERFDATA_S_IDENTIFIER | PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME |                \
	 PERFDATA_S_ADDR | PERFDATA_S_ID | PERFDATA_S_STREAM_ID | PERFDATA_S_CPU |                 \
	 PERFDATA_S_PERIOD | PERFDATA_S_WEIGHT | PERFDATA_S_WEIGHT_STRUCT | PERFDATA_S_DATA_SRC |  \
	 PERFDATA_S_TRANSACTION | PERFDATA_S_PHYS_ADDR | PERFDATA_S_CGROUP |                       \
	 PERFDATA_S_DATA_PAGE_SIZE | PERFDATA_S_CODE_PAGE_SIZE)

/* The next word; IS_THERE: R is known to hold it. */
static inline uint64_t next_64(struct rd *r, bool be, bool is_there)
{
	uint64_t v;

	if (!is_there)
		return rd_64(r, be);
	memcpy(&v, r->p, sizeof(v));
	r->p += sizeof(v);
	return be ? be64toh(v) : le64toh(v);
}

/* The next two halves of a word, in their order in the file. */
static inline void next_32s(struct rd *r, bool be, bool is_there, uint32_t ret[2])
{
	const uint64_t v = next_64(r, be, is_there);

	ret[be] = (uint32_t)v;
	ret[!be] = (uint32_t)(v >> 32);
}

/* ARE_WORDS: the sample has no fields but WORDS, and R holds all of them. */
static inline __attribute__((always_inline)) void read_fields(struct rd *r,
							      const struct perfdata_attr *a,
							      bool be, bool are_words,
							      struct perfdata_record *ret)
{
	struct perfdata_sample *s = &ret->sample;
	struct perfdata_id *id = &ret->id;
	const uint64_t t = are_words ? a->sample_type & WORDS : a->sample_type;
	uint32_t halves[2];

	s->has = t;
	id->has = (uint32_t)(t & (PERFDATA_S_TID | PERFDATA_S_TIME | PERFDATA_S_ID |
				  PERFDATA_S_STREAM_ID | PERFDATA_S_CPU | PERFDATA_S_IDENTIFIER));
	if (t & PERFDATA_S_IDENTIFIER)
		id->id = next_64(r, be, are_words);
	if (t & PERFDATA_S_IP)
		s->ip = next_64(r, be, are_words);
	if (t & PERFDATA_S_TID) {
		next_32s(r, be, are_words, halves);
		id->pid = halves[0];
		id->tid = halves[1];
	}
	if (t & PERFDATA_S_TIME)
		id->time = next_64(r, be, are_words);
	if (t & PERFDATA_S_ADDR)
		s->addr = next_64(r, be, are_words);
	if (t & PERFDATA_S_ID)
		id->id = next_64(r, be, are_words);
	if (t & PERFDATA_S_STREAM_ID)
		id->stream_id = next_64(r, be, are_words);
	if (t & PERFDATA_S_CPU) {
		next_32s(r, be, are_words, halves);
		id->cpu = halves[0];
	}
	s->period = t & PERFDATA_S_PERIOD		    ? next_64(r, be, are_words)
		    : perfdata_attr_has(a, PERFDATA_A_FREQ) ? 1
							    : a->period;
	if (t & PERFDATA_S_READ)
		s->counts = perfdata_read_counts(r, a->read_format, be);
	if (t & PERFDATA_S_CALLCHAIN) {
		s->has_chain = true;
		s->ips = rd_words(r, rd_64(r, be), be);
	}
	if (t & PERFDATA_S_RAW)
		s->raw = rd_piece(r, rd_32(r, be));
	if (t & PERFDATA_S_BRANCH_STACK)
		read_branches(r, a, be, s);
	if (t & PERFDATA_S_REGS_USER)
		read_regs(r, a->regs_user, be, &s->user_abi, &s->user_regs);
	if (t & PERFDATA_S_STACK_USER)
		read_stack(r, be, s);
	if (t & (PERFDATA_S_WEIGHT | PERFDATA_S_WEIGHT_STRUCT))
		s->weight = next_64(r, be, are_words);
	if (t & PERFDATA_S_DATA_SRC)
		s->data_src = next_64(r, be, are_words);
	if (t & PERFDATA_S_TRANSACTION)
		s->transaction = next_64(r, be, are_words);
	if (t & PERFDATA_S_REGS_INTR)
		read_regs(r, a->regs_intr, be, &s->intr_abi, &s->intr_regs);
	if (t & PERFDATA_S_PHYS_ADDR)
		s->phys_addr = next_64(r, be, are_words);
	if (t & PERFDATA_S_CGROUP)
		s->cgroup = next_64(r, be, are_words);
	if (t & PERFDATA_S_DATA_PAGE_SIZE)
		s->data_page_size = next_64(r, be, are_words);
	if (t & PERFDATA_S_CODE_PAGE_SIZE)
		s->code_page_size = next_64(r, be, are_words);
	if (t & PERFDATA_S_AUX)
		s->aux = rd_piece(r, rd_64(r, be));
}

int perfdata_read_sample(const struct perfdata *pd, struct rd *r, struct perfdata_record *ret)
{
	const struct perfdata_attr *a = &pd->events.v[ret->event].attr;
	const uint64_t t = a->sample_type;

	if (!(t & ~WORDS) && rd_left(r) / 8 >= (size_t)__builtin_popcountll(t))
		read_fields(r, a, pd->big_endian, true, ret);
	else
		read_fields(r, a, pd->big_endian, false, ret);
	return r->bad ? -EBADMSG : 0;
}
