/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples as the kernel writes them to a ring, with what they tell of their instruction: from the
 * bytes to the profile's values. */
#include "daemon/sample_facts.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/wr.h"
#include "collect/fold.h"
#include "collect_world.h"
#include "facts_t.h"
#include "t.h"

#define FIELDS (PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC)

/* A sample with EXTRA fields; each in the kernel's order (perf_output_sample). */
static struct wr sample_bytes(uint64_t extra, uint64_t ip, const uint64_t *regs, unsigned n_regs,
			      uint64_t branch_from)
{
	struct wr w = {0};
	uint16_t n;

	wr_le32(&w, PERF_RECORD_SAMPLE);
	wr_le16(&w, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
	wr_le16(&w, 0);
	wr_le64(&w, 1);
	wr_le64(&w, ip);
	wr_le32(&w, PID);
	wr_le32(&w, PID);
	wr_le64(&w, 99);
	if (extra & PERF_SAMPLE_CALLCHAIN) {
		wr_le64(&w, 2);
		wr_le64(&w, (uint64_t)PERF_CONTEXT_USER);
		wr_le64(&w, ip);
	}
	if (extra & PERF_SAMPLE_RAW) {
		wr_le32(&w, 4 + n_regs * 8);
		wr_le32(&w, 0x3df);
		for (unsigned i = 0; i < n_regs; i++)
			wr_le64(&w, regs[i]);
	}
	if (extra & PERF_SAMPLE_BRANCH_STACK) {
		wr_le64(&w, 2);
		wr_le64(&w, branch_from);
		wr_le64(&w, 0x77);
		wr_le64(&w, 1 | 1ull << 20); /* mispredicted, conditional */
		for (unsigned i = 0; i < 3; i++)
			wr_le64(&w, 0x5555);
	}
	if (extra & PERF_SAMPLE_REGS_USER) {
		wr_le64(&w, PERF_SAMPLE_REGS_ABI_64);
		for (unsigned i = 0; i < RECORD_N_REGS; i++)
			wr_le64(&w, i);
	}
	if (extra & PERF_SAMPLE_STACK_USER) {
		wr_le64(&w, 8);
		wr_le64(&w, 0x1122);
		wr_le64(&w, 8);
	}
	if (extra & PERF_SAMPLE_WEIGHT_STRUCT)
		wr_le64(&w, 200ull | 30ull << 32 | 4ull << 48);
	if (extra & PERF_SAMPLE_DATA_SRC) /* a load, hit the second cache, and the TLB's */
		wr_le64(&w, 2 | (2 | 0x20) << 5 | 2ull << 19 | (2ull | 8) << 26);
	n = (uint16_t)w.n;
	memcpy(w.v + 6, &n, 2);
	return w;
}

static struct sample_facts facts_of(struct sample_facts_reader *reader, enum event_facts kind,
				    uint64_t extra, const struct wr *w, bool *ret_any)
{
	const struct event_spec spec = {.facts = kind};
	struct rd rd = rd_init(w->v, w->n);
	struct sample_facts f = {0};
	struct record_facts rf;
	struct perf_record r;

	*ret_any = false;
	EXPECT_EQ(record_read(&rd, &r), 0);
	EXPECT_EQ(r.kind, RECORD_SAMPLE);
	EXPECT(r.exact);
	if (record_read_facts(&r, extra, &rf) == 0)
		*ret_any = reader->reader.read(&reader->reader, 0, &spec, &r, &rf, &f);
	return f;
}

TEST(fields)
{
	struct sample_facts_reader reader;
	bool any;

	sample_facts_init(&reader, "/nonexistent");
	for (unsigned stack = 0; stack < 3; stack++) {
		uint64_t extra = FIELDS | (stack == 1	? RECORD_STACK_FP
					   : stack == 2 ? RECORD_STACK_COPY
							: 0);
		struct wr w = sample_bytes(extra, 0x1000, NULL, 0, 0x1000);
		struct sample_facts f = facts_of(&reader, EVENT_FACTS_FIELDS, extra, &w, &any);

		EXPECT(any);
#ifdef __x86_64__
		EXPECT_FACTS(&f, ~0ull,
			     "retired cbrmispredict !valid !notrap mispredict !dtbmiss !dtb2miss3 "
			     "!dtb2miss4 load !store !l1hit l2hit !l3hit !dram !remote !l1tlbmiss "
			     "!l2tlbmiss !locked !snoophit !snoophitm branch cond !call !return "
			     "!indirect mispredicted !swprefetch !intx retdelay=4 inflight=30 "
			     "latency=200");
#endif
		wr_release(&w);
		w = sample_bytes(extra, 0x1000, NULL, 0, 0x2000); /* another's branch */
		f = facts_of(&reader, EVENT_FACTS_FIELDS, extra, &w, &any);
		EXPECT(any && !(f.known & FACT_MASK(FACT_BRANCH)) && facts_has(&f, FACT_LOAD));
		wr_release(&w);
	}
}

TEST(registers)
{
	const uint64_t regs[] = {0, 0x1000, 0x00150003 | 1ull << 37, 0, 0, 0, 0};
	struct wr w = sample_bytes(PERF_SAMPLE_RAW | RECORD_STACK_FP, 0x1000, regs, 7, 0);
	struct sample_facts_reader reader;
	struct sample_facts f;
	bool any;

	sample_facts_init(&reader, "/nonexistent");
	f = facts_of(&reader, EVENT_FACTS_IBS_OP, PERF_SAMPLE_RAW | RECORD_STACK_FP, &w, &any);
	EXPECT(any);
	EXPECT_FACTS(&f, FACT_MASK(FACT_BRANCH) | FACT_MASK(FACT_COND) | FACT_MASK(FACT_TAKEN),
		     "!taken branch cond inflight=21 comptoret=3");
	f = facts_of(&reader, EVENT_FACTS_IBS_FETCH, PERF_SAMPLE_RAW | RECORD_STACK_FP, &w, &any);
	EXPECT(any && f.known & FACT_MASK(FACT_FETCHCOMPLETE) &&
	       !(f.known & FACT_MASK(FACT_BRANCH)));
	wr_release(&w);
	w = sample_bytes(PERF_SAMPLE_RAW, 0x1000, regs, 4, 0); /* too few */
	facts_of(&reader, EVENT_FACTS_IBS_OP, PERF_SAMPLE_RAW, &w, &any);
	EXPECT(!any);
	wr_release(&w);
}

/* Cut at every byte: nothing outside is read, and nothing is made up. */
TEST(cut_samples)
{
	const uint64_t extra = FIELDS | RECORD_STACK_COPY;
	struct wr w = sample_bytes(extra, 0x1000, NULL, 0, 0x1000);
	struct sample_facts_reader reader;

	sample_facts_init(&reader, "/nonexistent");
	for (size_t n = 40; n < w.n; n++) {
		struct wr cut = {.v = malloc(n), .n = n, .cap = n};
		uint16_t size = (uint16_t)n;
		bool any;

		memcpy(cut.v, w.v, n);
		memcpy(cut.v + 6, &size, 2);
		facts_of(&reader, EVENT_FACTS_FIELDS, extra, &cut, &any);
		EXPECT(!any);
		wr_release(&cut);
	}
	wr_release(&w);
}

TEST(machines)
{
	char dir[] = "/tmp/dwell-facts-XXXXXX", path[64];
	struct sample_facts_reader reader;
	FILE *f;

	REQUIRE(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/cpuinfo", dir);
	f = fopen(path, "w");
	REQUIRE(f);
	fputs("processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
	      "model name\t: AMD EPYC 9654\n",
	      f);
	fclose(f);
	sample_facts_init(&reader, dir);
	EXPECT_EQ(reader.amd.family, 25);
	EXPECT_EQ(reader.amd.model, 17);
	unlink(path);
	rmdir(dir);
	sample_facts_init(&reader, dir);
	EXPECT_EQ(reader.amd.family, 0);
}

TEST(into_the_profile)
{
	struct world world;
	struct fold fold;
	event_id event;
	struct sample_facts f = {0};
	const struct log_sample s = {.ip = CODE + 5, .tgid = PID, .tid = PID, .event = 0};
	unsigned n_samples = 0, n_counters = 0;

	world_init(&world, world_no_file, NULL);
	event = profile_intern_event(
		&world.profile,
		&(struct event){.name = profile_intern_str(&world.profile, "ibs_op"),
				.period = 16});
	fold_init(&fold, &world.profile, &world.procs, &world.images, &world.kernel, &event);
	world_map(&world, CODE, 100, PAGE, NULL, "/nonexistent/prog");
	facts_set(&f, FACT_RETIRED, true);
	facts_set_counter(&f, FACT_INFLIGHT, 20);
	for (unsigned i = 0; i < 3; i++)
		fold_add_facts(&fold, &s, &f);
	fold_add(&fold, &s); /* one that tells nothing */
	fold_flush(&fold);
	EXPECT_EQ(fold.n_samples[0], 4);
	EXPECT_EQ(profile_n_samples(&world.profile, event), 4);
	vec_each (v, &world.profile.values) {
		const struct vector *k = &world.profile.vectors.v[v->vector];

		EXPECT_EQ(profile_leaf(&world.profile, v->ctx)->svma, PAGE + 5);
		EXPECT_EQ(v->count, k->known ? 3 : 1);
		EXPECT_EQ(v->sum, k->counter ? 60 : 0);
		n_samples += !k->counter;
		n_counters += k->counter == FACT_INFLIGHT;
	}
	EXPECT(n_samples == 2 && n_counters == 1);
	profile_check(&world.profile);
	fold_release(&fold);
	world_release(&world);
}
