/* SPDX-License-Identifier: BSD-2-Clause */
/* Bits and counters that a user adds: the text, its errors, and what becomes of them when they are
 * stored and merged. */
#include "formats/facts/fact_defs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/str.h"
#include "formats/facts/ibs.h"
#include "formats/segment.h"
#include "t.h"

static int parse(struct fact_defs *d, const char *text, struct err *err)
{
	return fact_defs_parse(d, "f", text, strlen(text), err);
}

TEST(definitions)
{
	uint64_t op[IBS_OP_N_REGS] = {
		[IBS_OP_DATA3] = 1 << 13 | 5ull << 26, [IBS_OP_DATA4] = ~0ull};
	struct sample_facts f = {0};
	struct fact_defs d;
	struct err err = {""};
	struct profile p;

	profile_init(&p);
	REQUIRE(parse(&d,
		      "# more of AMD's\n"
		      "\n"
		      "bit wc = ibs_op.data3[13] \"write combining\"   # it is\n"
		      "\tcounter open = ibs_op.data3 [31 : 26]\r\n"
		      "counter whole=ibs_op.data4[63:0]\"all of it\"\n"
		      "bit fetched = ibs_fetch.ctl[48]\n"
		      "counter wc = data_src[45:43]",
		      &err) == 0);
	REQUIRE(d.v.n == 5);
	EXPECT_STR(d.v.v[0].meaning, "write combining");
	EXPECT_EQ(fact_defs_name(&d, &p, &err), 0);
	EXPECT_EQ(d.v.v[0].number, FACT_USER_BIT);
	EXPECT_EQ(d.v.v[1].number, FACT_USER_COUNTER);
	EXPECT_EQ(d.v.v[4].number, FACT_USER_COUNTER + 2);
	EXPECT_EQ(fact_defs_name(&d, &p, &err), 0); /* the same again */
	EXPECT_EQ(p.user_facts.n, 5);
	EXPECT_EQ(fact_find_counter(&p, "wc", 2), FACT_USER_COUNTER + 2);
	fact_defs_apply(&d, FACT_SOURCE_IBS_OP, op, &f);
	EXPECT_EQ(f.known, FACT_MASK(FACT_USER_BIT));
	EXPECT_EQ(f.value, FACT_MASK(FACT_USER_BIT));
	EXPECT_EQ(f.counters_known, 3u << FACT_USER_COUNTER);
	EXPECT_EQ(f.counters[FACT_USER_COUNTER], 5);
	EXPECT_EQ(f.counters[FACT_USER_COUNTER + 1], -1);
	fact_defs_apply(NULL, FACT_SOURCE_IBS_OP, op, &f);
	fact_defs_release(&d);
	profile_release(&p);
}

TEST(errors_show_the_place)
{
	static const struct {
		const char *text, *message, *where;
	} cases[] = {
		{"bit", "f:1:4: a name of letters, digits and _ is missing", "bit\n   ^"},
		{"bit wc", "f:1:7: = is missing", "bit wc\n      ^"},
		{"\nbit wc = ibs_op.data9[1]", "f:2:10: no such field"},
		{"bit wc = data_src", "[BIT] or [HIGH:LOW] is missing"},
		{"bit wc = data_src[64]", "f:1:19: bits are numbered 0 to 63",
		 "bit wc = data_src[64]\n                  ^"},
		{"bit wc = data_src[x]", "the number of a bit is missing"},
		{"bit wc = data_src[1", "f:1:20: ] is missing"},
		{"bit wc = data_src[1:0]", "a bit is one bit"},
		{"counter wc = data_src[0:1]", "the highest bit comes first"},
		{"bit wc = data_src[1] \"x", "the text does not end"},
		{"bit wc = data_src[1] x", "f:1:22: nothing may follow here but a comment"},
		{"bits wc = data_src[1]", "f:1:1: a line begins with bit or counter"},
		{"bit retired = data_src[1]", "f:1:5: this name means something already"},
		{"counter replays = data_src[1]", "means something already"},
		{"bit trap = data_src[1]", "means something already"},
		{"bit a = data_src[1]\nbit a = data_src[2]", "f:2:5: this name is defined twice"},
		{"bit 1a = data_src[1]", "a name of letters"},
		{"bit a.b = data_src[1]", "a name of letters"},
	};

	for (size_t i = 0; i < n_elems(cases); i++) {
		struct err err = {""};
		struct fact_defs d;

		EXPECT_EQ(parse(&d, cases[i].text, &err), -EINVAL);
		if (!strstr(err.msg, cases[i].message))
			t_fail_("\"%s\" is not in \"%s\"\n", cases[i].message, err.msg);
		if (cases[i].where)
			EXPECT_STR(err.where, cases[i].where);
		fact_defs_release(&d);
	}
}

TEST(a_long_line_is_shown_in_part)
{
	struct err err = {""};
	struct fact_defs d;
	char text[400];

	memset(text, ' ', sizeof(text));
	memcpy(text, "bit a = data_src[1]", 19);
	memcpy(text + 300, "wrong", 5);
	EXPECT_EQ(fact_defs_parse(&d, "f", text, sizeof(text), &err), -EINVAL);
	EXPECT(strstr(err.msg, "f:1:301: nothing may follow") && strstr(err.where, "wrong"));
	fact_defs_release(&d);
}

TEST(there_is_room_for_ten_and_eight)
{
	struct err err = {""};
	struct str s = {0};
	struct fact_defs d;

	for (unsigned i = 0; i < FACT_N_USER_BITS; i++)
		str_addf(&s, "bit b%u = data_src[%u]\n", i, i);
	for (unsigned i = 0; i < FACT_N_USER_COUNTERS; i++)
		str_addf(&s, "counter b%u = data_src[%u]\n", i, i);
	EXPECT_EQ(parse(&d, str_get(&s), &err), 0);
	fact_defs_release(&d);
	str_add(&s, "bit one = data_src[1]\n");
	EXPECT_EQ(parse(&d, str_get(&s), &err), -E2BIG);
	EXPECT(strstr(err.msg, "more than 10 bits"));
	fact_defs_release(&d);
	str_release(&s);
}

/* A profile with one sample for which NAME is known and set, and counts 7 of it. */
static void fill(struct profile *p, const char *names, const char *name)
{
	struct sample_facts f = {0};
	struct fact_defs d;
	struct event e = {.period = 1};
	ctx_id ctx;

	profile_init(p);
	REQUIRE(parse(&d, names, NULL) == 0);
	REQUIRE(fact_defs_name(&d, p, NULL) == 0);
	fact_defs_release(&d);
	facts_set(&f, FACT_RETIRED, true);
	facts_set(&f, (unsigned)fact_find_bit(p, name, strlen(name)), true);
	facts_set_counter(&f, (unsigned)fact_find_counter(p, name, strlen(name)), 7);
	e.name = profile_intern_str(p, "e");
	ctx = profile_flat_ctx(p, profile_unknown_place(p, 1, 0));
	facts_add(p, 0, ctx, profile_intern_event(p, &e), &f, 1);
}

/* Samples of P that have bit NAME and no other of the users', and the sum of counter NAME. */
static void expect(const struct profile *p, const char *name, unsigned n, unsigned sum)
{
	int bit = fact_find_bit(p, name, strlen(name)),
	    counter = fact_find_counter(p, name, strlen(name));
	uint64_t n_found = 0, sum_found = 0;

	REQUIRE(bit >= 0 && counter >= 0);
	vec_each (v, &p->values) {
		const struct vector *k = &p->vectors.v[v->vector];

		if (k->known != (FACT_MASK(FACT_RETIRED) | FACT_MASK(bit)))
			continue;
		n_found += k->counter ? 0 : v->count;
		sum_found += (int)k->counter == counter ? v->sum : 0;
	}
	EXPECT_EQ(n_found, n);
	EXPECT_EQ(sum_found, sum);
}

static const char one[] = "bit x = data_src[1] \"an x\"\ncounter x = data_src[1]\n"
			  "bit y = data_src[2]\ncounter y = data_src[2]\n";
static const char other[] = "counter y = data_src[2]\nbit y = data_src[2]\n"
			    "bit z = data_src[3]\ncounter z = data_src[3]\n"
			    "bit x = data_src[1]\ncounter x = data_src[1]\n";

TEST(names_are_joined_when_profiles_are)
{
	struct profile a, b;

	fill(&a, one, "x");
	fill(&b, other, "x"); /* which has another number there */
	EXPECT(fact_find_bit(&a, "x", 1) != fact_find_bit(&b, "x", 1));
	profile_merge(&a, &b);
	expect(&a, "x", 2, 14);
	EXPECT_EQ(a.user_facts.n, 6);
	EXPECT(fact_find_bit(&a, "z", 1) >= FACT_USER_BIT);
	profile_check(&a);
	profile_release(&a);
	profile_release(&b);
}

TEST(without_room_a_fact_is_not_known_any_more)
{
	struct profile a, b;

	fill(&a, one, "x");
	fill(&b, "bit q = data_src[1]\ncounter q = data_src[1]", "q");
	for (unsigned i = 0; i < 10; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%u", i);
		profile_add_user_fact(&a, false, name, "");
		profile_add_user_fact(&a, true, name, "");
	}
	profile_merge(&a, &b);
	expect(&a, "x", 1, 7);
	EXPECT_EQ(fact_find_bit(&a, "q", 1), -1);
	vec_each (v, &a.values) {
		const struct vector *k = &a.vectors.v[v->vector];

		EXPECT(!(k->value & ~k->known));
		EXPECT(k->known == FACT_MASK(FACT_RETIRED) ||
		       k->known == (FACT_MASK(FACT_RETIRED) | FACT_MASK(FACT_USER_BIT)));
	}
	EXPECT_EQ(profile_n_samples(&a, 0), 2);
	profile_release(&a);
	profile_release(&b);
}

TEST(names_are_stored)
{
	struct wr w = {0}, again = {0};
	struct err err = {""};
	struct profile a, b;
	char *x, *y;

	fill(&a, other, "z");
	REQUIRE(segment_encode(&w, &a, &err) == 0);
	EXPECT_EQ(w.v[10] | w.v[11] << 8, 2);
	profile_init(&b);
	EXPECT_EQ(segment_decode(w.v, w.n, &b, NULL, &err), 0);
	expect(&b, "z", 1, 7);
	x = profile_dump(&a);
	y = profile_dump(&b);
	EXPECT_STR(x, y);
	EXPECT(strstr(x, "fact bit 55 z"));
	EXPECT_EQ(segment_encode(&again, &b, &err), 0);
	EXPECT(w.n == again.n && memcmp(w.v, again.v, w.n) == 0);
	/* Into one that has other numbers for the same names. */
	profile_release(&b);
	fill(&b, one, "x");
	EXPECT_EQ(segment_decode(w.v, w.n, &b, NULL, &err), 0);
	expect(&b, "z", 1, 7);
	expect(&b, "x", 1, 7);
	free(x);
	free(y);
	wr_release(&w);
	wr_release(&again);
	profile_release(&a);
	profile_release(&b);
}

/* The line that is shown begins near the place, also where no character does. */
TEST(errors_behind_bytes_that_are_no_text)
{
	for (size_t n = 1; n < 400; n++) {
		struct fact_defs d;
		struct err err = {""};
		struct str text = {0};

		str_add(&text, "bit wc = ibs_op.data3[13] \"");
		for (size_t i = 0; i < n; i++)
			str_addc(&text, (char)0x80);
		str_add(&text, "\" more\n");
		EXPECT(fact_defs_parse(&d, "f", text.v, text.n, &err) < 0);
		EXPECT(strchr(err.where, '^') && strlen(err.where) < sizeof(err.where));
		fact_defs_release(&d);
		str_release(&text);
	}
}
