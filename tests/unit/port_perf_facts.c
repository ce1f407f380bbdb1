/* SPDX-License-Identifier: BSD-2-Clause */
/* What samples of a perf.data file tell of their instructions: which decoder reads which event,
 * and whose the records in AUX data are. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "facts_t.h"
#include "formats/facts/ibs.h"
#include "perfdata_t.h"
#include "port/perf_in.h"
#include "t.h"

#define TYPE  (PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME | PERFDATA_S_ID | PERFDATA_S_CPU)
#define FLAGS (1ull << PERFDATA_A_SAMPLE_ID_ALL)

struct loaded {
	struct profile p;
	struct perf_in_result r;
	int rc;
};

static struct loaded load_with(struct pd_file *f, const struct perf_in_opts *opts)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	struct loaded l = {0};
	struct err err = {0};
	char path[40];

	pd_finish(f);
	file_write_all(fd, f->out.v, f->out.n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	profile_init(&l.p);
	l.rc = perf_in_load(path, opts, &l.p, &l.r, &err);
	if (l.rc < 0)
		t_fail_("%s\n", err.msg);
	else if (!opts->accesses_alone) /* those that are loose are in no index */
		profile_check(&l.p);
	close(fd);
	pd_release(f);
	return l;
}

static struct loaded load(struct pd_file *f)
{
	const struct perf_in_opts o = {.split = OWNER_TID, .no_files = true};

	return load_with(f, &o);
}

static void unload(struct loaded *l)
{
	perf_in_result_release(&l->r);
	profile_release(&l->p);
}

/* The facts of all samples of EVENT at IP (svma: no mapping) as one. */
static struct sample_facts facts_at(const struct loaded *l, const char *event, uint64_t ip,
				    unsigned *ret_n)
{
	const struct profile *p = &l->p;
	struct sample_facts f = {0};

	*ret_n = 0;
	vec_each (v, &p->values) {
		const struct vector *k = &p->vectors.v[v->vector];

		if (strcmp(profile_str(p, p->events.v[v->event].name), event) != 0 ||
		    profile_leaf(p, v->ctx)->svma != ip)
			continue;
		f.known = k->known;
		f.value = k->value;
		if (k->counter)
			facts_set_counter(&f, k->counter, v->sum);
		else
			*ret_n += (unsigned)v->count;
	}
	return f;
}

static void machine(struct pd_file *f, const char *arch, const char *cpu, uint32_t type,
		    const char *pmu)
{
	pd_string(f, &f->sections[PERFDATA_F_ARCH], arch);
	pd_string(f, &f->sections[PERFDATA_F_CPUID], cpu);
	pd_32(f, &f->sections[PERFDATA_F_PMU_MAPPINGS], 1);
	pd_32(f, &f->sections[PERFDATA_F_PMU_MAPPINGS], type);
	pd_string(f, &f->sections[PERFDATA_F_PMU_MAPPINGS], pmu);
}

static struct wr *begin_sample(struct pd_file *f, unsigned e, uint16_t misc, uint64_t time,
			       uint64_t ip)
{
	struct wr *w = pd_begin(f, PERFDATA_SAMPLE, misc);

	pd_64(f, w, ip);
	pd_32(f, w, 7);
	pd_32(f, w, 7);
	pd_64(f, w, time);
	pd_64(f, w, f->events[e].id);
	pd_64(f, w, 3);
	return w;
}

/* An IBS sample with OP_DATA DATA and OP_DATA3 DATA3. */
static void ibs_sample(struct pd_file *f, uint64_t time, uint64_t ip, uint64_t data, uint64_t data3)
{
	struct wr *w = begin_sample(f, 0, PERFDATA_MODE_USER, time, ip);

	pd_32(f, w, 4 + 7 * 8);
	pd_32(f, w, 0x3df); /* all but the branch target */
	for (unsigned i = 0; i < 7; i++)
		pd_64(f, w, i == IBS_OP_DATA ? data : i == IBS_OP_DATA3 ? data3 : 0);
	pd_end(f);
}

TEST(registers)
{
	struct perfdata_attr a = {
		.type = 9, .period = 1000, .sample_type = TYPE | PERFDATA_S_RAW, .flags = FLAGS};
	struct sample_facts f;
	struct pd_file file = {0};
	struct loaded l;
	struct wr *w;
	unsigned n;

	pd_event(&file, &a, 1);
	machine(&file, "x86_64", "AuthenticAMD,25,1,1", 9, "ibs_op");
	ibs_sample(&file, 10, 0x1000, 0x00100002, 0);
	ibs_sample(&file, 20, 0x1000, 0x00100002, 0); /* the same again */
	ibs_sample(&file, 30, 0x1000, 0x00110002, 0);
	/* Zen 3: its second cache cannot be told without a miss buffer. */
	ibs_sample(&file, 40, 0x2000, 0, 1 | 1 << 17 | 1 << 7 | 1 << 16 | 77ull << 32);
	ibs_sample(&file, 50, 0x3000, 1ull << 38, 0); /* no address */
	w = begin_sample(&file, 0, PERFDATA_MODE_USER, 60, 0x4000);
	pd_32(&file, w, 12);
	pd_32(&file, w, 0x3df);
	pd_64(&file, w, 0);
	pd_end(&file);
	l = load(&file);
	EXPECT_EQ(l.r.n_samples, 6);
	f = facts_at(&l, "pmu-9:0", 0x1000, &n);
	EXPECT_EQ(n, 3);
	EXPECT_FACTS(&f, FACT_MASK(FACT_RETIRED) | FACT_MASK(FACT_LOAD),
		     "retired !load inflight=49 comptoret=6");
	f = facts_at(&l, "pmu-9:0", 0x2000, &n);
	EXPECT_FACTS(&f, FACT_MASK(FACT_L1HIT) | FACT_MASK(FACT_L2HIT),
		     "!l1hit inflight=0 latency=77 comptoret=0");
	f = facts_at(&l, "pmu-9:0", 0x3000, &n);
	EXPECT(n == 1 && !f.known);
	f = facts_at(&l, "pmu-9:0", 0x4000, &n);
	EXPECT(n == 1 && !f.known);
	EXPECT(strstr(str_get(&l.r.notes), "1 sample has less registers"));
	EXPECT(strstr(str_get(&l.r.notes), "of 1 sample the hardware could not tell"));
	unload(&l);
}

/* These bytes mean nothing when they are another PMU's. */
TEST(raw_parts_of_others)
{
	struct perfdata_attr a = {
		.type = 2, .period = 1, .sample_type = TYPE | PERFDATA_S_RAW, .flags = FLAGS};
	struct sample_facts f;
	struct pd_file file = {0};
	struct loaded l;
	unsigned n;

	pd_event(&file, &a, 1);
	machine(&file, "x86_64", "GenuineIntel,6,170,4", 9, "ibs_op");
	ibs_sample(&file, 10, 0x1000, 0x00100002, 0);
	l = load(&file);
	f = facts_at(&l, "tracepoint:0", 0x1000, &n);
	EXPECT(n == 1 && !f.known && !f.counters_known);
	unload(&l);
}

/* A retirement in the same cycle is told as 0, but only where the event tells it at all. */
TEST(retirement_delays)
{
	const uint64_t weights[] = {0, 5ull << 48, 0};
	struct perfdata_attr a = {.type = 4,
				  .period = 1000,
				  .sample_type = TYPE | PERFDATA_S_WEIGHT_STRUCT,
				  .flags = FLAGS | 3ull << PERFDATA_A_PRECISE};
	struct sample_facts f;
	struct pd_file file = {0};
	struct loaded l;
	unsigned n;

	pd_event(&file, &a, 1);
	machine(&file, "x86_64", "GenuineIntel,6,170,4", 4, "cpu");
	for (unsigned i = 0; i < 3; i++) {
		struct wr *w = begin_sample(&file, 0, PERFDATA_MODE_USER | PERFDATA_MISC_EXACT_IP,
					    10 + i, 0x1000 * (i + 1));

		pd_64(&file, w, weights[i]);
		pd_end(&file);
	}
	l = load(&file);
	f = facts_at(&l, "r0", 0x1000, &n);
	EXPECT_FACTS(&f, ~0ull, "retired");
	f = facts_at(&l, "r0", 0x2000, &n);
	EXPECT_FACTS(&f, ~0ull, "retired retdelay=5");
	f = facts_at(&l, "r0", 0x3000, &n);
	EXPECT_FACTS(&f, ~0ull, "retired retdelay=0");
	unload(&l);
}

/* Arm's records: a branch at PC of context TID. */
static void spe_record(struct wr *w, uint64_t pc, uint32_t tid)
{
	wr_u8(w, 0x4a);
	wr_u8(w, 0x01);
	wr_u8(w, 0x42);
	wr_u8(w, 0x42);
	if (tid) {
		wr_u8(w, 0x64);
		wr_le32(w, tid);
	}
	wr_u8(w, 0xb0);
	wr_le64(w, pc);
	wr_u8(w, 0x98);
	wr_le16(w, 9);
	wr_u8(w, 0x01);
}

static void auxtrace_info(struct pd_file *f, uint32_t type)
{
	struct wr *w = pd_begin(f, PERFDATA_AUXTRACE_INFO, 0);

	pd_32(f, w, type);
	pd_32(f, w, 0);
	pd_64(f, w, 8);
	pd_end(f);
}

/* Data of CPU 3's buffer from OFF on. */
static void auxtrace(struct pd_file *f, uint64_t off, const struct wr *data, uint32_t tid)
{
	struct wr *w = pd_begin(f, PERFDATA_AUXTRACE, 0);

	pd_64(f, w, data->n);
	pd_64(f, w, off);
	pd_64(f, w, 1);
	pd_32(f, w, 0);
	pd_32(f, w, tid);
	pd_32(f, w, tid == UINT32_MAX ? 3 : UINT32_MAX);
	pd_32(f, w, 0);
	pd_end(f);
	wr_bytes(&f->data, data->v, data->n);
}

static void aux(struct pd_file *f, uint64_t off, uint64_t n, uint32_t pid, uint64_t time)
{
	struct wr *w = pd_begin(f, PERFDATA_AUX, 0);

	pd_64(f, w, off);
	pd_64(f, w, n);
	pd_64(f, w, 0);
	pd_id(f, TYPE, pid, pid, time, 1);
}

static void begin_spe(struct pd_file *f)
{
	struct perfdata_attr a = {.type = 8, .period = 1024, .sample_type = TYPE, .flags = FLAGS};

	pd_event(f, &a, 1);
	machine(f, "aarch64", "0x00000000413fd0c1", 8, "arm_spe_0");
	auxtrace_info(f, 4);
	pd_comm(f, 7, 7, "one", true, 1);
	pd_mmap2(f, 7, 0x400000, 0x1000, 0, "/bin/one", NULL, 2);
	pd_comm(f, 8, 8, "two", true, 3);
	pd_mmap2(f, 8, 0x400000, 0x1000, 0, "/bin/two", NULL, 4);
}

static void expect(const struct loaded *l, const char *text)
{
	char *all = profile_dump(&l->p);

	if (!strstr(all, text))
		t_fail_("no \"%s\" in:\n%s", text, all);
	free(all);
}

TEST(aux_data_waits_for_its_record)
{
	struct pd_file file = {0};
	struct wr data = {0};
	struct loaded l;

	begin_spe(&file);
	spe_record(&data, 0x400010, 7);
	spe_record(&data, 0x400020, 8);
	auxtrace(&file, 0, &data, UINT32_MAX);
	/* When this data was filled process 7 had become another program. */
	pd_comm(&file, 7, 7, "three", true, 10);
	pd_mmap2(&file, 7, 0x400000, 0x1000, 0, "/bin/three", NULL, 11);
	aux(&file, 0, data.n, 8, 20);
	pd_comm(&file, 7, 7, "four", true, 30);
	pd_mmap2(&file, 7, 0x400000, 0x1000, 0, "/bin/four", NULL, 31);
	l = load(&file);
	EXPECT_EQ(l.r.n_samples, 2);
	EXPECT_EQ(l.p.events.v[0].n_reached, 2);
	expect(&l, "/bin/three+0x10");
	expect(&l, "/bin/two+0x20");
	unload(&l);
	wr_release(&data);
}

TEST(records_cut_between_pieces)
{
	for (size_t cut = 1; cut < 36; cut++) {
		struct pd_file file = {0};
		struct wr data = {0}, a = {0}, b = {0};
		struct loaded l;

		begin_spe(&file);
		spe_record(&data, 0x400010, 7);
		spe_record(&data, 0x400020, 8);
		wr_bytes(&a, data.v, cut);
		wr_bytes(&b, data.v + cut, data.n - cut);
		auxtrace(&file, 100, &a, UINT32_MAX);
		auxtrace(&file, 100 + cut, &b, UINT32_MAX);
		aux(&file, 100, cut, 8, 20);
		aux(&file, 100 + cut, data.n - cut, 8, 30);
		l = load(&file);
		EXPECT_EQ(l.r.n_samples, 2);
		EXPECT(!l.r.notes.n);
		unload(&l);
		wr_release(&data);
		wr_release(&a);
		wr_release(&b);
	}
}

/* No context: the thread of the buffer, of ITRACE_START, of the record. */
TEST(whose_records_without_context_are)
{
	struct pd_file file = {0};
	struct wr one = {0}, two = {0}, *w;
	struct loaded l;

	begin_spe(&file);
	spe_record(&one, 0x400010, 0);
	spe_record(&two, 0x400020, 4711); /* nobody has that number */
	auxtrace(&file, 0, &one, 8);
	aux(&file, 0, one.n, 8, 10);
	pd_round(&file);
	auxtrace(&file, 0, &two, UINT32_MAX);
	w = pd_begin(&file, PERFDATA_ITRACE_START, 0);
	pd_32(&file, w, 7);
	pd_32(&file, w, 7);
	pd_id(&file, TYPE, 7, 7, 20, 1);
	aux(&file, 0, two.n, 8, 30);
	l = load(&file);
	EXPECT_EQ(l.r.n_samples, 2);
	expect(&l, "/bin/two+0x10");
	expect(&l, "/bin/one+0x20");
	unload(&l);
	wr_release(&one);
	wr_release(&two);
}

TEST(what_no_record_names_and_what_is_no_packet)
{
	struct pd_file file = {0};
	struct wr data = {0};
	struct loaded l;

	begin_spe(&file);
	spe_record(&data, 0x400010, 7);
	wr_u8(&data, 0xff);
	spe_record(&data, 0x400020, 7); /* damaged */
	spe_record(&data, 0x400030, 7);
	auxtrace(&file, 0, &data, UINT32_MAX);
	l = load(&file);
	EXPECT_EQ(l.r.n_samples, 2);
	EXPECT(strstr(str_get(&l.r.notes), "1 byte of AUX data is no packets, 1 record damaged"));
	unload(&l);
	wr_release(&data);
}

TEST(aux_data_of_others_is_left_alone)
{
	struct pd_file file = {0};
	struct wr data = {0};
	struct loaded l;

	begin_spe(&file);
	auxtrace_info(&file, 1); /* Intel PT */
	spe_record(&data, 0x400010, 7);
	auxtrace(&file, 0, &data, UINT32_MAX);
	aux(&file, 0, data.n, 7, 10);
	l = load(&file);
	EXPECT_EQ(l.r.n_samples, 0);
	unload(&l);
	wr_release(&data);
}

static void access_sample(struct pd_file *f, uint64_t time, uint64_t addr)
{
	struct wr *w = pd_begin(f, PERFDATA_SAMPLE, PERFDATA_MODE_USER);

	pd_64(f, w, 0x1000);
	pd_32(f, w, 7);
	pd_32(f, w, 7);
	pd_64(f, w, time);
	pd_64(f, w, addr);
	pd_64(f, w, f->events[0].id);
	pd_64(f, w, 3);
	pd_end(f);
}

/* Eleven accesses to two addresses in turn; the first is accessed six times. */
static struct loaded load_accesses(size_t most_loose)
{
	const struct perfdata_attr a = {
		.type = 1, .period = 1000, .sample_type = TYPE | PERFDATA_S_ADDR, .flags = FLAGS};
	const struct perf_in_opts o = {.split = OWNER_TID,
				       .no_files = true,
				       .accesses = true,
				       .accesses_alone = most_loose > 0,
				       .most_loose = most_loose};
	struct pd_file file = {0};

	pd_event(&file, &a, 1);
	for (unsigned i = 0; i < 11; i++)
		access_sample(&file, 10 + i, i % 2 ? 0x5000 : 0x4000);
	return load_with(&file, &o);
}

static uint64_t accesses_to(const struct loaded *l, uint64_t svma)
{
	uint64_t n = 0;

	vec_each (a, &l->p.accesses)
		n += l->p.places.v[a->data].svma == svma ? a->count : 0;
	return n;
}

/* Those behind the first few are joined where they are equal, and all are there once. */
TEST(accesses_are_kept_alone_and_then_joined)
{
	static const struct {
		size_t most_loose, n;
	} cases[] = {{0, 2}, {1, 3}, {4, 6}, {10, 11}, {11, 11}, {100, 11}};

	for (size_t i = 0; i < n_elems(cases); i++) {
		struct loaded l = load_accesses(cases[i].most_loose);

		EXPECT_EQ(l.p.accesses.n, cases[i].n);
		EXPECT_EQ(accesses_to(&l, 0x4000), 6);
		EXPECT_EQ(accesses_to(&l, 0x5000), 5);
		unload(&l);
	}
}
