/* SPDX-License-Identifier: BSD-2-Clause */
/* Arm's Statistical Profiling Extension: packets, records, garbage, and what they tell. */
#include "formats/facts/arm_spe.h"

#include <stdlib.h>

#include "base/wr.h"
#include "facts_t.h"
#include "t.h"

#define B(i) (1ull << (i))

static const struct arm_spe_machine unknown, n1 = {.sources = true},
					     v1 = {.sources = true, .v1p1 = true};

/* A load of the kernel that hit the first cache, closed by a timestamp. */
static const uint8_t load[] = {
	0xb0, 0x10, 0x20, 0x30, 0x00, 0x00, 0x80, 0xff, 0xa0, /* PC, EL1 */
	0x00, 0x00,					      /* padding */
	0x65, 0x92, 0x10, 0x00, 0x00,			      /* context */
	0x49, 0x00,					      /* load */
	0x52, 0x16, 0x00,				      /* retired, L1 and TLB asked */
	0x99, 0x04, 0x00,				      /* issue */
	0x98, 0x0c, 0x00,				      /* total */
	0xb2, 0x28, 0x6b, 0x09, 0x03, 0x00, 0x80, 0xff, 0x12, /* VA, tagged */
	0x9a, 0x01, 0x00,				      /* translation */
	0x43, 0x00,					      /* source: L1 */
	0x71, 0x2e, 0x65, 0x2f, 0x6a, 0x0a, 0x00, 0x00, 0x00,
};

/* A conditional branch of a program that was not taken, closed by an end. */
static const uint8_t branch[] = {
	0x4a, 0x01, 0x42, 0x42, 0xb0, 0x20, 0x41, 0xc0, 0xad, 0xff, 0xff, 0x00, 0x80, 0x01,
};

static struct sample_facts facts(const uint8_t *bytes, size_t n, const struct arm_spe_machine *m)
{
	struct arm_spe_reader r = arm_spe_reader_init(bytes, n);
	struct arm_spe_record one;
	struct sample_facts f = {0};

	if (arm_spe_next(&r, &one))
		arm_spe_facts(&one, m, &f);
	facts_settle(&f);
	return f;
}

/* Facts of an operation of CLASS with these events (two bytes). */
static struct sample_facts op(uint8_t class, uint8_t subclass, uint16_t events, int source,
			      const struct arm_spe_machine *m)
{
	uint8_t b[16] = {0x48 | class, subclass, 0x52, (uint8_t)events, (uint8_t)(events >> 8)};
	size_t n = 5;

	if (source >= 0) {
		b[n++] = 0x43;
		b[n++] = (uint8_t)source;
	}
	b[n++] = 0x01;
	return facts(b, n, m);
}

TEST(a_record)
{
	struct arm_spe_reader r = arm_spe_reader_init(load, sizeof(load));
	struct arm_spe_record one;

	REQUIRE(arm_spe_next(&r, &one));
	EXPECT_EQ(one.has, ARM_SPE_PC | ARM_SPE_CONTEXT | ARM_SPE_OP | ARM_SPE_EVENTS |
				   ARM_SPE_ISSUE | ARM_SPE_TOTAL | ARM_SPE_VA | ARM_SPE_XLAT |
				   ARM_SPE_SOURCE | ARM_SPE_TIME);
	EXPECT_EQ(one.pc, 0xffff800000302010);
	EXPECT_EQ(one.el, 1);
	EXPECT_EQ(one.context, 0x1092);
	EXPECT_EQ(one.va, 0xffff800003096b28);
	EXPECT_EQ(one.total, 12);
	EXPECT_EQ(one.issue, 4);
	EXPECT_EQ(one.xlat, 1);
	EXPECT_EQ(one.time, 44731163950);
	EXPECT(!arm_spe_next(&r, &one));
	EXPECT_EQ(r.n_garbage, 0);
	EXPECT(r.p == r.end);
}

TEST(a_load)
{
	struct sample_facts f = facts(load, sizeof(load), &v1);

	EXPECT_FACTS(&f, ~0ull,
		     "retired !cbrmispredict valid notrap !mispredict !unaligntrap load !store "
		     "l1hit !l2hit !l3hit !dram !remote !l2tlbmiss !locked !snoophit !branch !cond "
		     "!call !return !indirect !mispredicted !misaligned !exception inflight=12 "
		     "tlblatency=1 issuelatency=4");
	f = facts(load, sizeof(load), &unknown); /* the events tell the level too */
	EXPECT(facts_has(&f, FACT_L1HIT));
	EXPECT(!(f.known & (B(FACT_MISALIGNED) | B(FACT_SNOOPHIT))));
}

TEST(a_branch)
{
	struct sample_facts f = facts(branch, sizeof(branch), &unknown);

	EXPECT_FACTS(&f,
		     B(FACT_BRANCH) | B(FACT_COND) | B(FACT_TAKEN) | B(FACT_RETIRED) |
			     B(FACT_VALID) | B(FACT_CBRMISPREDICT) | B(FACT_LOAD) | B(FACT_L1HIT),
		     "retired !taken !cbrmispredict valid !load !l1hit branch cond");
	f = op(2, 1, B(1) | B(7), -1, &unknown);
	EXPECT_STR(facts_trap(&f), "mispredict");
	EXPECT(facts_has(&f, FACT_CBRMISPREDICT) && !(f.known & B(FACT_TAKEN)));
	f = op(2, 1, B(1), -1, &unknown);
	EXPECT(facts_has(&f, FACT_TAKEN));
	f = op(2, 2 | 2 << 3, B(1), -1, &unknown); /* a return: not conditional */
	EXPECT_FACTS(
		&f, B(FACT_TAKEN) | B(FACT_COND) | B(FACT_CALL) | B(FACT_RETURN) | B(FACT_INDIRECT),
		"!cond !call return indirect");
	f = op(2, 0, B(1), -1, &unknown); /* older cores do not tell */
	EXPECT(!(f.known & (B(FACT_CALL) | B(FACT_RETURN))));
}

TEST(what_did_not_end_well)
{
	struct sample_facts f;

	f = op(1, 0, B(1) | B(2) | B(5), -1, &v1); /* a walk, of tables of unknown depth */
	EXPECT_STR(facts_trap(&f), "trap");
	EXPECT(facts_has(&f, FACT_L2TLBMISS) && facts_has(&f, FACT_L1TLBMISS));
	EXPECT(!(f.known & (B(FACT_DTB2MISS3) | B(FACT_DTB2MISS4) | B(FACT_DTBMISS))));
	EXPECT(f.known & B(FACT_VALID) && !facts_has(&f, FACT_VALID));
	f = op(1, 1, B(1) | B(11), -1, &v1);
	EXPECT_STR(facts_trap(&f), "unaligntrap");
	f = op(1, 1, B(1) | B(11), -1, &n1);
	EXPECT_STR(facts_trap(&f), "unaligntrap");
	f = op(1, 1, B(1), -1, &n1); /* it may not have that event */
	EXPECT(!(f.known & B(FACT_UNALIGNTRAP)));
	f = op(1, 0, B(0) | B(2), -1, &v1);
	EXPECT_STR(facts_trap(&f), "trap");
	EXPECT_FACTS(&f,
		     B(FACT_RETIRED) | B(FACT_VALID) | B(FACT_EXCEPTION) | B(FACT_EARLY_KILL) |
			     B(FACT_LATE_KILL),
		     "!retired !valid exception");
}

TEST(levels)
{
	const uint64_t bits = B(FACT_L1HIT) | B(FACT_L2HIT) | B(FACT_L3HIT) | B(FACT_DRAM) |
			      B(FACT_REMOTE) | B(FACT_SNOOPHIT);
	const uint16_t missed = B(1) | B(2) | B(3);
	struct sample_facts f;

	f = op(1, 0, missed, 8, &n1);
	EXPECT_FACTS(&f, bits, "!l1hit l2hit !l3hit !dram !remote !snoophit");
	f = op(1, 0, missed, 12, &n1);
	EXPECT_FACTS(&f, bits, "!l1hit !l2hit !l3hit !dram !remote snoophit");
	f = op(1, 0, missed, 13, &n1);
	EXPECT_FACTS(&f, bits, "!l1hit !l2hit !l3hit !dram remote !snoophit");
	f = op(1, 0, missed, 14, &n1);
	EXPECT_FACTS(&f, bits, "!l1hit !l2hit !l3hit dram !remote !snoophit");
	f = op(1, 0, missed, 14, &unknown); /* numbers of another maker */
	EXPECT_FACTS(&f, bits, "!l1hit");
	f = op(1, 0, missed | B(8) | B(10), -1, &unknown);
	EXPECT_FACTS(&f, bits, "!l1hit l3hit remote");
	f = op(1, 0, missed | B(8) | B(9), -1, &unknown);
	EXPECT_FACTS(&f, bits, "!l1hit !l3hit");
	f = op(1, 0x06, B(1), -1, &unknown); /* atomic */
	EXPECT_FACTS(&f, B(FACT_LOAD) | B(FACT_STORE) | B(FACT_LOCKED), "load !store locked");
}

TEST(machines)
{
	struct arm_spe_machine m = arm_spe_machine_from_midr(0x413fd0c1);

	EXPECT(m.sources && !m.v1p1);
	m = arm_spe_machine_from_midr(0x410fd402);
	EXPECT(m.sources && m.v1p1);
	m = arm_spe_machine_from_midr(0x480fd010); /* not Arm's */
	EXPECT(!m.sources && !m.v1p1);
	m = arm_spe_machine_from_midr(0);
	EXPECT(!m.sources && !m.v1p1);
}

TEST(headers_of_two_bytes_and_alignment)
{
	/* An address with index 8 + 0, then to a multiple of 16, then a branch. */
	uint8_t b[64] = {0x21, 0xb0, 1, 2, 3, 4, 5, 6, 7, 8, 0x23, 0x00};
	struct arm_spe_record one;
	struct arm_spe_reader r;

	memcpy(b + 16, branch, sizeof(branch));
	r = arm_spe_reader_init(b, 16 + sizeof(branch));
	REQUIRE(arm_spe_next(&r, &one));
	EXPECT_EQ(one.pc, 0xffffadc04120);
	EXPECT_EQ(r.n_garbage, 0);
	r = arm_spe_reader_init(b, 16 + sizeof(branch));
	r.at = 11; /* then the multiple is elsewhere: in the middle of the branch */
	arm_spe_next(&r, &one);
	EXPECT(one.pc != 0xffffadc04120 || r.n_garbage || one.subclass != 1);
}

TEST(cut_anywhere)
{
	uint8_t all[sizeof(load) + sizeof(branch)];

	memcpy(all, load, sizeof(load));
	memcpy(all + sizeof(load), branch, sizeof(branch));
	for (size_t cut = 0; cut <= sizeof(all); cut++) {
		struct arm_spe_reader r = arm_spe_reader_init(all, cut);
		struct arm_spe_record one;
		unsigned n = 0;
		size_t at;

		while (arm_spe_next(&r, &one))
			n++;
		EXPECT_EQ(n, (cut >= sizeof(load)) + (cut == sizeof(all)));
		at = (size_t)(r.p - all);
		r = arm_spe_reader_init(all + at, sizeof(all) - at);
		r.at = at;
		while (arm_spe_next(&r, &one))
			n++;
		EXPECT_EQ(n, 2);
		EXPECT_EQ(r.n_garbage, 0);
	}
}

TEST(garbage_is_stepped_over_and_counted)
{
	uint8_t all[3 + sizeof(load) + sizeof(branch)] = {0xff, 0xff, 0xff};
	struct arm_spe_reader r = arm_spe_reader_init(all, sizeof(all));
	struct arm_spe_record one;

	memcpy(all + 3, load, sizeof(load));
	memcpy(all + 3 + sizeof(load), branch, sizeof(branch));
	/* The record in which it was found is left out: it may be of two. */
	REQUIRE(arm_spe_next(&r, &one));
	EXPECT_EQ(one.class, ARM_SPE_BRANCH);
	EXPECT(!arm_spe_next(&r, &one));
	EXPECT_EQ(r.n_garbage, 3);
	EXPECT_EQ(r.n_damaged, 1);
}

TEST(endless_records_are_given_up)
{
	size_t n = 3 * ARM_SPE_MOST_BYTES;
	uint8_t *b = malloc(n + sizeof(branch));
	struct arm_spe_reader r = arm_spe_reader_init(b, n + sizeof(branch));
	struct arm_spe_record one;
	unsigned n_records = 0;

	for (size_t i = 0; i < n; i += 2) {
		b[i] = 0x43;
		b[i + 1] = 0;
	}
	memcpy(b + n, branch, sizeof(branch));
	while (arm_spe_next(&r, &one))
		n_records++;
	EXPECT(n_records <= 1);
	EXPECT(r.n_garbage >= 2 * ARM_SPE_MOST_BYTES);
	EXPECT((size_t)(r.end - r.p) <= ARM_SPE_MOST_BYTES + 16);
	free(b);
}
