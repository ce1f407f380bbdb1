/* SPDX-License-Identifier: BSD-2-Clause */
/* The registry of facts, what is derived from them, and how they are counted. */
#include "model/fact.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/str.h"

#include "t.h"

static struct sample_facts set(struct sample_facts f, unsigned bit, bool value)
{
	facts_set(&f, bit, value);
	return f;
}

static struct sample_facts settled(struct sample_facts f)
{
	facts_settle(&f);
	return f;
}

TEST(registry_is_in_order_and_names_are_unique)
{
	uint64_t bits = 0;
	int last = -1;

	for (size_t i = 0; i < n_facts; i++) {
		const struct fact *f = &fact_table[i];
		bool counter = f->kind == FACT_COUNTER;

		if (i && counter != (fact_table[i - 1].kind == FACT_COUNTER))
			last = 0; /* counter 0 is none */
		EXPECT_EQ(f->number, last + 1);
		last = f->number;
		bits += !counter;
		EXPECT_EQ((counter ? fact_find_counter : fact_find_bit)(NULL, f->name,
									strlen(f->name)),
			  f->number);
		EXPECT_STR((counter ? fact_counter_name : fact_bit_name)(NULL, f->number), f->name);
		EXPECT(f->kind != FACT_TRAP || FACT_TRAPS & FACT_MASK(f->number));
		EXPECT(f->kind != FACT_BIT || !(FACT_TRAPS & FACT_MASK(f->number)));
		EXPECT(*f->meaning && *f->ibs_op && *f->ibs_fetch && *f->pebs && *f->spe);
		EXPECT(counter || !*f->unit);
	}
	EXPECT_EQ(bits, FACT_USER_BIT);
	EXPECT_EQ(last + 1, N_FACT_COUNTERS);
}

TEST(names_are_told_apart_by_kind)
{
	EXPECT_EQ(fact_find_bit(NULL, "replays", 7), FACT_REPLAYS);
	EXPECT_EQ(fact_find_counter(NULL, "replays", 7), FACT_REPLAYS_COUNTER);
	EXPECT_EQ(fact_find_counter(NULL, "retired", 7), -1);
	EXPECT_EQ(fact_find_bit(NULL, "retdelay", 8), -1);
	EXPECT_EQ(fact_find_bit(NULL, "retire", 6), -1);
	EXPECT_EQ(fact_find_bit(NULL, "takenx", 5), FACT_TAKEN);
	EXPECT(!fact_bit_name(NULL, FACT_USER_BIT));
	EXPECT(!fact_counter_name(NULL, 0));
}

TEST(a_recording_names_facts_of_its_own)
{
	struct profile p;

	profile_init(&p);
	vec_push(&p.user_facts,
		 (struct user_fact){.name = profile_intern_str(&p, "wc"), .number = FACT_USER_BIT});
	vec_push(&p.user_facts, (struct user_fact){.name = profile_intern_str(&p, "wc"),
						   .number = FACT_USER_COUNTER,
						   .is_counter = true});
	EXPECT_EQ(fact_find_bit(&p, "wc", 2), FACT_USER_BIT);
	EXPECT_EQ(fact_find_counter(&p, "wc", 2), FACT_USER_COUNTER);
	EXPECT_STR(fact_bit_name(&p, FACT_USER_BIT), "wc");
	EXPECT_STR(fact_counter_name(&p, FACT_USER_COUNTER), "wc");
	EXPECT_EQ(fact_find_bit(NULL, "wc", 2), -1);
	profile_release(&p);
}

TEST(exactly_one_trap_bit)
{
	struct sample_facts f = {0}, g;

	/* An op that missed the TLB, was misaligned and mispredicted. */
	f = set(set(f, FACT_NOTRAP, true), FACT_RETIRED, true);
	f = set(set(f, FACT_MISPREDICT, true), FACT_UNALIGNTRAP, true);
	f = set(set(f, FACT_DTBMISS, true), FACT_MISPREDICTED, true);
	g = settled(f);
	EXPECT_EQ(g.value & FACT_TRAPS, FACT_MASK(FACT_UNALIGNTRAP));
	EXPECT_EQ(g.known & FACT_TRAPS, f.known & FACT_TRAPS);
	EXPECT(facts_has(&g, FACT_MISPREDICTED));
	EXPECT(g.known & FACT_MASK(FACT_VALID));
	EXPECT(!facts_has(&g, FACT_VALID));
	g = settled(set(f, FACT_UNALIGNTRAP, false));
	EXPECT_EQ(g.value & FACT_TRAPS, FACT_MASK(FACT_DTBMISS));
	EXPECT(g.known & FACT_MASK(FACT_UNALIGNTRAP));
	g = settled(set(set(f, FACT_UNALIGNTRAP, false), FACT_DTBMISS, false));
	EXPECT_EQ(g.value & FACT_TRAPS, FACT_MASK(FACT_MISPREDICT));
}

TEST(no_trap_is_a_trap_bit_too)
{
	struct sample_facts f = {0}, g;

	f = set(set(f, FACT_MISPREDICT, false), FACT_RETIRED, true);
	g = settled(f);
	EXPECT(!(g.known & FACT_MASK(FACT_NOTRAP))); /* the machine does not tell of others */
	EXPECT(!(g.known & FACT_MASK(FACT_VALID)));
	g = settled(set(f, FACT_NOTRAP, true));
	EXPECT_EQ(g.value & FACT_TRAPS, FACT_MASK(FACT_NOTRAP));
	EXPECT(facts_has(&g, FACT_VALID));
	g = settled(set(f, FACT_MISPREDICT, true)); /* one trap is enough to know */
	EXPECT(g.known & FACT_MASK(FACT_NOTRAP));
	EXPECT(!facts_has(&g, FACT_NOTRAP));
	EXPECT(g.known & FACT_MASK(FACT_VALID));
	EXPECT(!facts_has(&g, FACT_VALID));
}

TEST(an_exception_of_unknown_kind)
{
	struct sample_facts f = {0};

	f = set(set(f, FACT_EXCEPTION, true), FACT_MISPREDICT, false);
	f = settled(set(f, FACT_NOTRAP, true));
	EXPECT_EQ(f.value & FACT_TRAPS, 0);
	EXPECT(f.known & FACT_MASK(FACT_NOTRAP));
	f = set(set((struct sample_facts){0}, FACT_EXCEPTION, true), FACT_DFAULTTRAP, true);
	f = settled(f);
	EXPECT_EQ(f.value & FACT_TRAPS, FACT_MASK(FACT_DFAULTTRAP));
}

TEST(taken_is_defined_for_predicted_conditional_branches)
{
	struct sample_facts f = set((struct sample_facts){0}, FACT_TAKEN, true), g;

	g = settled(f);
	EXPECT(facts_has(&g, FACT_TAKEN)); /* nothing says that it is no conditional branch */
	g = settled(set(f, FACT_COND, true));
	EXPECT(facts_has(&g, FACT_TAKEN));
	g = settled(set(f, FACT_COND, false));
	EXPECT(!((g.known | g.value) & FACT_MASK(FACT_TAKEN)));
	g = settled(set(f, FACT_BRANCH, false));
	EXPECT(!((g.known | g.value) & FACT_MASK(FACT_TAKEN)));
	g = settled(set(set(f, FACT_COND, true), FACT_CBRMISPREDICT, true));
	EXPECT(!((g.known | g.value) & FACT_MASK(FACT_TAKEN)));
	g = settled(set(set(f, FACT_COND, true), FACT_CBRMISPREDICT, false));
	EXPECT(facts_has(&g, FACT_TAKEN));
}

TEST(killed_early_leaves_little)
{
	struct sample_facts f = set((struct sample_facts){0}, FACT_EARLY_KILL, true);

	f = set(set(f, FACT_NYP, true), FACT_RETIRED, false);
	f = set(set(f, FACT_MAP_STALL, true), FACT_NOTRAP, true);
	facts_set_counter(&f, FACT_RETDELAY, 5);
	facts_settle(&f);
	EXPECT_EQ(f.known, FACT_MASK(FACT_EARLY_KILL) | FACT_MASK(FACT_VALID) |
				   FACT_MASK(FACT_NOTRAP) | FACT_MASK(FACT_MAP_STALL));
	EXPECT_EQ(f.value,
		  FACT_MASK(FACT_EARLY_KILL) | FACT_MASK(FACT_NOTRAP) | FACT_MASK(FACT_MAP_STALL));
	EXPECT_EQ(f.counters_known, 0);
}

TEST(settling_twice_changes_nothing)
{
	uint64_t x = 88172645463325252ull;

	for (int i = 0; i < 2000; i++) {
		struct sample_facts f = {0}, g;

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		f.known = x;
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		f.value = x;
		f = settled(f);
		g = settled(f);
		EXPECT_EQ(f.known, g.known);
		EXPECT_EQ(f.value, g.value);
		EXPECT(!(f.value & ~f.known));
		EXPECT(__builtin_popcountll(f.value & FACT_TRAPS) <= 1);
	}
}

TEST(samples_are_counted_once_and_counters_beside_them)
{
	struct sample_facts f = set((struct sample_facts){0}, FACT_RETIRED, true);
	struct event e = {.period = 100};
	struct profile p;
	event_id event;
	place_id place;
	ctx_id ctx;
	unsigned n_samples = 0;

	profile_init(&p);
	e.name = profile_intern_str(&p, "ibs_op");
	event = profile_intern_event(&p, &e);
	place = profile_unknown_place(&p, 0x1000, 0);
	ctx = profile_flat_ctx(&p, place);
	facts_set_counter(&f, FACT_INFLIGHT, 7);
	facts_set_counter(&f, FACT_LATENCY, 0);
	facts_settle(&f);
	facts_add(&p, 0, ctx, event, &f, 1);
	facts_set_counter(&f, FACT_INFLIGHT, 10);
	facts_add(&p, 0, ctx, event, &f, 3);
	EXPECT_EQ(p.values.n, 3);
	vec_each (v, &p.values) {
		const struct vector *k = &p.vectors.v[v->vector];

		EXPECT_EQ(k->known, FACT_MASK(FACT_RETIRED));
		EXPECT_EQ(v->count, 4);
		EXPECT_EQ(v->sum, k->counter == FACT_INFLIGHT ? 37 : 0);
		EXPECT(k->counter == 0 || k->counter == FACT_INFLIGHT ||
		       k->counter == FACT_LATENCY);
		n_samples += value_is_samples(&p, v);
	}
	EXPECT_EQ(n_samples, 1);
	EXPECT_EQ(profile_n_samples(&p, event), 4);
	profile_check(&p);
	profile_release(&p);
}

/* docs/design/facts.md has a row for each, and no others. */
TEST(documented)
{
	char *text;
	size_t n, n_rows = 0;

	REQUIRE(file_load(T_GOLDEN "/../../docs/design/facts.md", 1 << 20, &text, &n, NULL) == 0);
	for (size_t i = 0; i < n_facts; i++) {
		const struct fact *f = &fact_table[i];
		bool counter = f->kind == FACT_COUNTER;
		char *row = xasprintf("\n| `%s` | %s |%s%s%s %s | %s | %s | %s |\n", f->name,
				      f->meaning, counter ? " " : "", f->unit, counter ? " |" : "",
				      f->ibs_op, f->ibs_fetch, f->pebs, f->spe);

		if (!strstr(text, row))
			t_fail_("no row%s", row);
		free(row);
	}
	for (const char *p = text; (p = strstr(p, "\n| `")); p++)
		n_rows++;
	EXPECT_EQ(n_rows, n_facts);
	free(text);
}
