/* SPDX-License-Identifier: BSD-2-Clause */
/* What reading one record of sampled instructions costs: AMD's registers, the fields that PEBS and
 * LBR fill, Arm's packets; to settled facts, and from there to a profile's values.
 *
 *     bench_facts
 *
 * 4096 different records of each kind, over and over; the shortest of 15 rounds, in nanoseconds of
 * CPU time a record, then the median. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/wr.h"
#include "formats/facts/arm_spe.h"
#include "formats/facts/ibs.h"
#include "formats/facts/precise.h"

#define N_RECORDS 4096u
#define N_ROUNDS  15u
#define N_TURNS	  50u

static struct wr records; /* of IBS: RECORD_BYTES each */
static struct precise_sample fields[N_RECORDS];
static struct sample_facts decoded[N_RECORDS];
static uint64_t sink;

#define RECORD_BYTES (4 + 7 * 8)

static uint64_t chance(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13, x ^= x >> 7, x ^= x << 17;
	return x;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void use(struct sample_facts *f)
{
	facts_settle(f);
	sink += f->known ^ f->value;
}

static uint64_t ibs_op(void)
{
	const struct ibs_machine zen4 = {0x19, 0x11};

	for (unsigned i = 0; i < N_RECORDS; i++) {
		struct sample_facts f;
		struct ibs_regs r;

		if (ibs_read_op(records.v + i * RECORD_BYTES, RECORD_BYTES, &r) == 0 &&
		    ibs_op_facts(&r, &zen4, &f))
			use(&f);
	}
	return N_RECORDS;
}

static uint64_t ibs_fetch(void)
{
	const struct ibs_machine zen4 = {0x19, 0x11};

	for (unsigned i = 0; i < N_RECORDS; i++) {
		struct sample_facts f;
		struct ibs_regs r;

		if (ibs_read_fetch(records.v + i * RECORD_BYTES, RECORD_BYTES, &r) == 0 &&
		    ibs_fetch_facts(&r, &zen4, &f))
			use(&f);
	}
	return N_RECORDS;
}

static uint64_t pebs(void)
{
	for (unsigned i = 0; i < N_RECORDS; i++) {
		struct sample_facts f;

		precise_facts(&fields[i], &f);
		use(&f);
	}
	return N_RECORDS;
}

static struct wr packets;

static uint64_t spe(void)
{
	const struct arm_spe_machine v1 = {.sources = true, .v1p1 = true};
	struct arm_spe_reader r = arm_spe_reader_init(packets.v, packets.n);
	struct arm_spe_record one;
	uint64_t n = 0;

	while (arm_spe_next(&r, &one)) {
		struct sample_facts f;

		arm_spe_facts(&one, &v1, &f);
		use(&f);
		n++;
	}
	return n;
}

static struct profile profile;
static ctx_id ctxs[1024];
static event_id event;

static uint64_t add(void)
{
	for (unsigned i = 0; i < N_RECORDS; i++)
		facts_add(&profile, 0, ctxs[i % 1024], event, &decoded[i], 1);
	return N_RECORDS;
}

static void make(void)
{
	for (unsigned i = 0; i < N_RECORDS; i++) {
		uint64_t c = chance();

		wr_le32(&records, 0x3df);
		for (unsigned k = 0; k < 7; k++) /* one in four misses, few do more */
			wr_le64(&records, k == IBS_OP_DATA ? (c & 0x00ff00ff) | (c & 7) << 35
					  : k == IBS_OP_DATA3
						  ? (c >> 20 & 3) | 1 << 17 |
							    (c >> 24 & c >> 25 & 1) << 7 |
							    (c >> 40) << 40
					  : k == IBS_FETCH_CTL ? c | 3ull << 49
							       : chance() & 0xff);
		fields[i] = (struct precise_sample){
			.has = 0x3f,
			.x86 = true,
			.exact = true,
			.ip = 0x1000,
			.branch_from = c & 1 ? 0x1000 : 0x2000,
			.branch_flags = (c >> 1 & 3) | (c >> 3 & 7) << 20,
			.data_src =
				2 | (2 | 8ull << (c >> 6 & 3)) << 5 | 2ull << 19 | (2ull | 8) << 26,
			.weight = c >> 8,
		};
	}
	for (unsigned i = 0; i < N_RECORDS; i++) {
		uint64_t c = chance();

		wr_u8(&packets, 0xb0);
		wr_le64(&packets, 0xa0ff800000000000 | (c & 0xffff));
		wr_u8(&packets, 0x65);
		wr_le32(&packets, (uint32_t)c & 0xffff);
		wr_u8(&packets, c & 1 ? 0x49 : 0x4a);
		wr_u8(&packets, (uint8_t)(c >> 1 & 1));
		wr_u8(&packets, 0x52);
		wr_le16(&packets, (uint16_t)(2 | (c >> 8 & 0xfc)));
		for (unsigned k = 0; k < 3; k++) {
			wr_u8(&packets, (uint8_t)(0x98 + k));
			wr_le16(&packets, (uint16_t)(c >> 16 & 0xff));
		}
		wr_u8(&packets, 0xb2);
		wr_le64(&packets, c);
		wr_u8(&packets, 0x43);
		wr_u8(&packets, 0);
		wr_le16(&packets, 0);
		wr_u8(&packets, 0x71);
		wr_le64(&packets, c);
	}
}

static void make_profile(void)
{
	const struct ibs_machine zen4 = {0x19, 0x11};
	struct event e = {.period = 1};

	profile_init(&profile);
	e.name = profile_intern_str(&profile, "e");
	event = profile_intern_event(&profile, &e);
	for (unsigned i = 0; i < 1024; i++)
		ctxs[i] = profile_flat_ctx(&profile, profile_unknown_place(&profile, i, 0));
	for (unsigned i = 0; i < N_RECORDS; i++) {
		struct ibs_regs r;

		ibs_read_op(records.v + i * RECORD_BYTES, RECORD_BYTES, &r);
		ibs_op_facts(&r, &zen4, &decoded[i]);
		facts_settle(&decoded[i]);
	}
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	static const struct {
		const char *name;
		uint64_t (*run)(void);
	} kinds[] = {{"ibs_op", ibs_op},
		     {"ibs_fetch", ibs_fetch},
		     {"pebs", pebs},
		     {"spe", spe},
		     {"facts_add", add}};

	make();
	make_profile();
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		double ns[N_ROUNDS];

		for (unsigned round = 0; round < N_ROUNDS; round++) {
			uint64_t n = 0, start = cpu_ns();

			for (unsigned i = 0; i < N_TURNS; i++)
				n += kinds[k].run();
			ns[round] = (double)(cpu_ns() - start) / (double)n;
		}
		qsort(ns, N_ROUNDS, sizeof(*ns), ascending);
		printf("%-10s %6.1f ns a record, median %6.1f\n", kinds[k].name, ns[0],
		       ns[N_ROUNDS / 2]);
	}
	fprintf(stderr, "%llx\n", (unsigned long long)sink);
	profile_release(&profile);
	wr_release(&records);
	wr_release(&packets);
	return 0;
}
