/* SPDX-License-Identifier: BSD-2-Clause */
/* What perf recorded, in the model: whose samples they are and where, callers, counts, losses. */
#include <errno.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "model/trace.h"
#include "perf_load_t.h"
#include "port/perf_date.h"
#include "t.h"

/* Threads have names of their own, processes what their parents mapped and then their own. */
TEST(processes)
{
	struct pd_file f = {0};
	struct loaded l;

	pd_event(&f, &attr, 7);
	pd_comm(&f, 10, 10, "shell", false, 1);
	pd_mmap2(&f, 10, 0x1000, 0x1000, 0, "/bin/shell", NULL, 1);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 10, 2, 0x1010, NULL, 0);
	pd_fork(&f, PERFDATA_FORK, 10, 11, 10, 10, 3);
	pd_comm(&f, 10, 11, "worker", false, 4);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 11, 5, 0x1010, NULL, 0);
	pd_fork(&f, PERFDATA_FORK, 20, 20, 10, 11, 6);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 20, 20, 7, 0x1020, NULL, 0); /* as its parent */
	pd_comm(&f, 20, 20, "make", true, 8);
	pd_mmap2(&f, 20, 0x1000, 0x2000, 0x3000, "/bin/make", NULL, 9);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 20, 20, 10, 0x1020, NULL, 0);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 20, 20, 10, 0x9999, NULL, 0); /* nothing is there */
	pd_fork(&f, PERFDATA_EXIT, 20, 20, 10, 10, 11);
	pd_fork(&f, PERFDATA_FORK, 20, 20, 10, 10, 12); /* the number once more */
	pd_sample(&f, 0, PERFDATA_MODE_USER, 20, 20, 13, 0x1020, NULL, 0);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 99, 99, 13, 0x1020, NULL, 0); /* nobody told */
	pd_sample(&f, 0, PERFDATA_MODE_KERNEL, 0, 0, 14, 0xffffffff81000010, NULL, 0);
	l = load(&f, NULL);
	EXPECT_EQ(l.rc, 0);
	EXPECT_EQ(l.r.n_samples, 8);
	EXPECT_EQ(l.r.n_unknown, 3);
	expect_value(&l, "/bin/shell|shell|||4294967295|10|10|0 file:/bin/shell+0x10/0", 1);
	expect_value(&l, "/bin/shell|worker|||4294967295|10|11|0 file:/bin/shell+0x10/0", 1);
	expect_value(&l, "/bin/shell|worker|||4294967295|20|20|0 file:/bin/shell+0x20/0", 1);
	expect_value(&l, "/bin/make|make|||4294967295|20|20|0 file:/bin/make+0x3020/0", 1);
	expect_value(&l, "/bin/make|make|||4294967295|20|20|0 unknown:[unknown]+0x9999/0", 1);
	expect_value(&l, "/bin/shell|shell|||4294967295|20|20|0 file:/bin/shell+0x20/0", 1);
	expect_value(&l, "|:99|||4294967295|99|99|0 unknown:[unknown]+0x1020/0", 1);
	expect_value(&l, "|swapper|||4294967295|0|0|3 unknown:[unknown]+0xffffffff81000010/0", 1);
	unload(&l);
}

/* A process's program is never its parent's when perf tells of it only because it was there, and
 * never a library. */
TEST(programs)
{
	struct perfdata_attr a = attr;
	struct pd_file f = {0};
	struct loaded l;

	a.flags |= 1ull << PERFDATA_A_COMM_EXEC;
	pd_event(&f, &a, 7);
	pd_comm(&f, 10, 10, "init", false, 0);
	pd_mmap2(&f, 10, 0x1000, 0x1000, 0, "/sbin/init", NULL, 0);
	/* What perf tells of what was there before it, by versions with and without the mark. */
	pd_fork(&f, PERFDATA_FORK, 20, 20, 10, 10, 0);
	pd_comm(&f, 20, 20, "cat", false, 0);
	pd_mmap2(&f, 20, 0x1000, 0x1000, 0, "/bin/cat", NULL, 0);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 20, 20, 7, 0x1010, NULL, 0);
	pd_fork(&f, PERFDATA_FORK, 21, 21, 10, 10, 0);
	f.data.v[f.record + 5] |= PERFDATA_MISC_FORK_EXEC >> 8;
	pd_comm(&f, 21, 21, "kthread", false, 0);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 21, 21, 7, 0x1010, NULL, 0);
	/* A program seen from when it loaded something on. */
	pd_comm(&f, 22, 22, "late", false, 0);
	pd_mmap2(&f, 22, 0x1000, 0x1000, 0, "/usr/lib/ld-2.17.so", NULL, 0);
	pd_mmap2(&f, 22, 0x2000, 0x1000, 0, "/usr/lib/libm.so.6", NULL, 0);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 22, 22, 7, 0x1010, NULL, 0);
	pd_mmap2(&f, 22, 0x3000, 0x1000, 0, "/usr/bin/late", NULL, 8);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 22, 22, 9, 0x1010, NULL, 0);
	/* A name is not an execution. */
	pd_comm(&f, 22, 22, "renamed", false, 10);
	pd_mmap2(&f, 22, 0x4000, 0x1000, 0, "/usr/bin/other", NULL, 11);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 22, 22, 12, 0x1010, NULL, 0);
	l = load(&f, NULL);
	expect_value(&l, "/bin/cat|cat|||4294967295|20|20|0 file:/bin/cat+0x10/0", 1);
	expect_value(&l, "|kthread|||4294967295|21|21|0 unknown:[unknown]+0x1010/0", 1);
	expect_value(&l, "|late|||4294967295|22|22|0 file:/usr/lib/ld-2.17.so+0x10/0", 1);
	expect_value(&l, "/usr/bin/late|late|||4294967295|22|22|0 file:/usr/lib/ld-2.17.so+0x10/0",
		     1);
	expect_value(&l,
		     "/usr/bin/late|renamed|||4294967295|22|22|0 file:/usr/lib/ld-2.17.so+0x10/0",
		     1);
	unload(&l);
}

/* Kernels before 3.16 do not say that a new name is that of a new program. */
TEST(programs_of_old_kernels)
{
	struct pd_file f = {0};
	struct loaded l;

	pd_event(&f, &attr, 7);
	pd_comm(&f, 10, 10, "sh", false, 1);
	pd_mmap2(&f, 10, 0x1000, 0x1000, 0, "/bin/sh", NULL, 2);
	pd_fork(&f, PERFDATA_FORK, 20, 20, 10, 10, 3);
	pd_comm(&f, 20, 20, "cat", false, 4);
	pd_mmap2(&f, 20, 0x1000, 0x1000, 0, "/bin/cat", NULL, 5);
	pd_mmap2(&f, 20, 0x9000, 0x1000, 0, "/lib/libc-2.17.so", NULL, 6);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 20, 20, 7, 0x1010, NULL, 0);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 10, 8, 0x1010, NULL, 0);
	l = load(&f, NULL);
	expect_value(&l, "/bin/cat|cat|||4294967295|20|20|0 file:/bin/cat+0x10/0", 1);
	expect_value(&l, "/bin/sh|sh|||4294967295|10|10|0 file:/bin/sh+0x10/0", 1);
	unload(&l);
}

/* The kernel's list: callers at their calls, where it was interrupted as it is. */
TEST(callers)
{
	struct perfdata_attr a = attr;
	const uint64_t user[] = {PERFDATA_CONTEXT_USER, 0x1010, 0x1101, 0x1201};
	const uint64_t both[] = {PERFDATA_CONTEXT_KERNEL,
				 0xffffffff91000010,
				 0xffffffff91000101,
				 PERFDATA_CONTEXT_USER,
				 0x1010,
				 0x1101};
	const uint64_t broken[] = {PERFDATA_CONTEXT_USER, 0x1010, (uint64_t)-4000, 0x1201};
	const uint64_t precise[] = {PERFDATA_CONTEXT_KERNEL, 0xffffffff91000010,
				    PERFDATA_CONTEXT_USER, 0x1018, 0x1101};
	const struct build_id id = {2, {0xab, 0xcd}};
	struct pd_file f = {0};
	struct loaded l;

	a.sample_type |= PERFDATA_S_CALLCHAIN;
	pd_event(&f, &a, 7);
	pd_add_build_id(&f, PERFDATA_MODE_KERNEL, &id, "[kernel.kallsyms]");
	pd_mmap_kernel(&f, 0xffffffff91000000, 0x1000000, 0xffffffff91000000,
		       "[kernel.kallsyms]_text");
	pd_comm(&f, 10, 10, "p", true, 1);
	pd_mmap2(&f, 10, 0x1000, 0x1000, 0, "/p", NULL, 1);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 10, 2, 0x1010, user, 4);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 10, 3, 0x1010, user, 4);
	pd_sample(&f, 0, PERFDATA_MODE_KERNEL, 10, 10, 4, 0xffffffff91000010, both, 6);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 10, 5, 0x1010, broken, 4);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 10, 5, 0x1010, NULL, 0);
	/* exclude_callchain_kernel: the kernel's part is not there. */
	pd_sample(&f, 0, PERFDATA_MODE_KERNEL, 10, 10, 6, 0xffffffff91000020, user, 4);
	pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 10, 7, 0x1030, precise, 5);
	l = load(&f, NULL);
	EXPECT_EQ(l.rc, 0);
	expect_value(&l, "10|10|0 file:/p+0x200/1;file:/p+0x100/1;file:/p+0x10/0", 2);
	expect_value(&l,
		     "10|10|0 file:/p+0x200/1;file:/p+0x100/1;file:/p+0x10/0;"
		     "kernel:abcd+0xffffffff81000020/0",
		     1);
	expect_value(&l, "10|10|0 file:/p+0x100/1;file:/p+0x30/0", 1);
	expect_value(&l,
		     "10|10|0 file:/p+0x100/1;file:/p+0x10/0;kernel:abcd+0xffffffff81000100/0;"
		     "kernel:abcd+0xffffffff81000010/0",
		     1);
	expect_value(&l, "10|10|0 mark:[truncated: chain lost]+0/0;file:/p+0x10/0", 1);
	expect_value(&l, "10|10|0 file:/p+0x10/0", 1);
	unload(&l);
}

static void put_deferred(struct pd_file *f, uint32_t tid, uint64_t cookie, const uint64_t *ips,
			 size_t n, uint64_t time)
{
	struct wr *w = pd_begin(f, PERFDATA_CALLCHAIN_DEFERRED, PERFDATA_MODE_USER);

	pd_64(f, w, cookie);
	pd_64(f, w, n);
	for (size_t i = 0; i < n; i++)
		pd_64(f, w, ips[i]);
	pd_id(f, f->events[0].attr.sample_type, 10, tid, time, f->events[0].id);
}

/* A thread's callers that came when it went back to user code belong to all of its samples with
 * that cookie, and to nobody else's. */
TEST(callers_that_come_later)
{
	const uint64_t alone[] = {PERFDATA_CONTEXT_USER_DEFERRED, 77};
	const uint64_t kernel[] = {PERFDATA_CONTEXT_KERNEL, 0xffffffff91000010,
				   PERFDATA_CONTEXT_USER_DEFERRED, 78};
	const uint64_t user[] = {PERFDATA_CONTEXT_USER, 0x1010, 0x1101, 0x1201};

	for (int big = 0; big < 2; big++) {
		struct perfdata_attr a = attr;
		struct pd_file f = {.big_endian = big};
		struct loaded l;

		a.sample_type |= PERFDATA_S_CALLCHAIN;
		pd_event(&f, &a, 7);
		for (uint32_t tid = 10; tid < 14; tid++)
			pd_comm(&f, 10, tid, "p", tid == 10, 1);
		pd_mmap2(&f, 10, 0x1000, 0x1000, 0, "/p", NULL, 1);
		pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 10, 2, 0x1010, alone, 2);
		pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 11, 3, 0x1020, alone, 2);
		pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 10, 4, 0x1010, alone, 2);
		pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 13, 4, 0x1040, alone, 2);
		put_deferred(&f, 10, 77, user, 4, 5);
		put_deferred(&f, 11, 76, user, 4, 5); /* another cookie */
		put_deferred(&f, 12, 77, user, 4, 5); /* nobody waits */
		pd_sample(&f, 0, PERFDATA_MODE_KERNEL, 10, 12, 6, 0xffffffff91000010, kernel, 4);
		put_deferred(&f, 12, 78, user, 4, 7);
		l = load(&f, NULL);
		EXPECT_EQ(l.rc, 0);
		EXPECT_EQ(l.r.n_samples, 5);
		expect_value(&l, "10|10|0 file:/p+0x200/1;file:/p+0x100/1;file:/p+0x10/0", 2);
		expect_value(&l, "10|11|0 mark:[truncated: chain lost]+0/0;file:/p+0x20/0", 1);
		expect_value(&l, "10|13|0 mark:[truncated: chain lost]+0/0;file:/p+0x40/0", 1);
		expect_value(&l,
			     "10|12|0 file:/p+0x200/1;file:/p+0x100/1;file:/p+0x10/0;"
			     "unknown:[unknown]+0xffffffff91000010/0",
			     1);
		unload(&l);
	}
}

/* What the hardware kept of the calls stands in for the user's part of the list. */
TEST(calls_of_the_hardware)
{
	struct perfdata_attr a = attr;
	struct pd_file f = {0};
	struct loaded l;
	struct wr *w;

	a.sample_type |= PERFDATA_S_CALLCHAIN | PERFDATA_S_BRANCH_STACK;
	a.branch_sample_type = PERFDATA_B_CALL_STACK;
	pd_event(&f, &a, 7);
	pd_comm(&f, 10, 10, "p", true, 1);
	pd_mmap2(&f, 10, 0x1000, 0x1000, 0, "/p", NULL, 1);
	w = pd_begin(&f, PERFDATA_SAMPLE, PERFDATA_MODE_USER);
	pd_64(&f, w, 0x1010);
	pd_32(&f, w, 10);
	pd_32(&f, w, 10);
	pd_64(&f, w, 2);
	pd_64(&f, w, 7);
	pd_64(&f, w, 3);
	pd_64(&f, w, PERFDATA_CONTEXT_USER);
	pd_64(&f, w, 0x1010);
	pd_64(&f, w, 0x1fff); /* what a lost frame pointer gives */
	pd_64(&f, w, 2);
	for (uint64_t i = 1; i <= 2; i++) {
		pd_64(&f, w, 0x1000 + i * 0x100); /* from: the call */
		pd_64(&f, w, 0x1008);
		pd_64(&f, w, 0);
	}
	pd_end(&f);
	l = load(&f, NULL);
	EXPECT_EQ(l.rc, 0);
	expect_value(&l, "10|10|0 file:/p+0x200/0;file:/p+0x100/0;file:/p+0x10/0", 1);
	unload(&l);
}

/* All branches of a sample's stack are kept, with how often each was seen and mispredicted. */
TEST(branches)
{
	static const uint64_t stacks[2][4][3] = {{{0x1100, 0x1200, 1 | 7 << 4},
						  {0x1204, 0x1100, 2 | 3 << 4},
						  {0x1100, 0x1200, 2},
						  {0x1204, 0x1100, 0}},
						 {{0x1300, 0xffffffff81000010, 0},
						  {0x1100, 0x1200, 2 | 5 << 4},
						  {0, 0, 0},
						  {0, 0, 0}}};

	for (int big = 0; big < 2; big++) {
		struct perfdata_attr a = attr;
		struct pd_file f = {.big_endian = big};
		struct loaded l;

		a.sample_type |= PERFDATA_S_BRANCH_STACK;
		pd_event(&f, &a, 7);
		pd_comm(&f, 10, 10, "p", true, 1);
		pd_mmap2(&f, 10, 0x1000, 0x1000, 0, "/p", NULL, 1);
		for (unsigned i = 0; i < 2; i++) {
			struct wr *w = pd_begin(&f, PERFDATA_SAMPLE, PERFDATA_MODE_USER);

			pd_64(&f, w, 0x1010);
			pd_32(&f, w, 10);
			pd_32(&f, w, 10);
			pd_64(&f, w, 2 + i);
			pd_64(&f, w, 7);
			pd_64(&f, w, 4);
			for (unsigned k = 0; k < 4; k++) {
				uint64_t flags = stacks[i][k][2];

				pd_64(&f, w, stacks[i][k][0]);
				pd_64(&f, w, stacks[i][k][1]);
				/* Bit fields begin at the top there. */
				if (big)
					flags = (flags & 1) << 63 | (flags >> 1 & 1) << 62 |
						(flags >> 4 & 0xffff) << 44;
				pd_64(&f, w, flags);
			}
			pd_end(&f);
		}
		l = load(&f, NULL);
		EXPECT_EQ(l.rc, 0);
		EXPECT_EQ(l.r.n_samples, 2);
		EXPECT_EQ(l.p.branches.n, 3);
		vec_each (b, &l.p.branches) {
			const struct place *from = &l.p.places.v[b->from];

			EXPECT_STR(profile_str(&l.p, l.p.owners.v[b->owner].comm), "p");
			if (from->svma == 0x100) {
				EXPECT_EQ(l.p.places.v[b->to].svma, 0x200);
				EXPECT_EQ(b->count, 3);
				EXPECT_EQ(b->n_mispredicted, 1);
				EXPECT_EQ(b->n_predicted, 2);
				EXPECT_EQ(b->cycles, 12);
				EXPECT_EQ(b->n_cycles, 2);
				EXPECT_EQ(b->n_newest, 1);
				EXPECT_EQ(b->n_oldest, 1);
				EXPECT_EQ(b->n_again, 0); /* the newest has no run */
			} else if (from->svma == 0x204) {
				EXPECT_EQ(b->count, 2);
				EXPECT_EQ(b->cycles, 3);
				EXPECT_EQ(b->n_newest, 0);
				EXPECT_EQ(b->n_oldest, 1);
				EXPECT_EQ(b->n_again, 2);
			} else {
				EXPECT_EQ(from->svma, 0x300);
				EXPECT_EQ(b->n_mispredicted + b->n_predicted + b->n_cycles, 0);
				EXPECT_EQ(b->n_newest, 1);
				EXPECT_EQ(b->n_oldest, 0);
			}
		}
		unload(&l);
	}
}

/* A group that reads its members' counts: each counts at a sample's place what it has counted since
 * the sample before, so that the ratio of two is that of their counts. */
TEST(counts_of_a_group)
{
	const uint64_t counts[5][3] = {{100, 1000, 2000},
				       {200, 2000, 3000},
				       {300, 3000, 3000},
				       {300, 3500, 5000},
				       {50, 3600, 5001}}; /* the clock began anew */
	const uint64_t ips[5] = {0x1010, 0x2020, 0x2020, 0x1010, 0x3030};
	struct pd_file f = {0};
	struct loaded l;

	for (uint64_t i = 0; i < 3; i++) {
		struct perfdata_attr a = attr;

		a.type = i ? 0 : 1; /* cpu-clock, cycles, instructions */
		a.config = i ? i - 1 : 0;
		a.period = i ? 0 : 1000000; /* members do not sample */
		a.sample_type |= PERFDATA_S_READ;
		a.read_format = PERFDATA_R_GROUP | PERFDATA_R_ID;
		pd_event(&f, &a, 7 + i);
	}
	for (unsigned i = 0; i < 5; i++) {
		struct wr *w = pd_begin(&f, PERFDATA_SAMPLE, PERFDATA_MODE_USER);

		pd_64(&f, w, ips[i]);
		pd_32(&f, w, 10);
		pd_32(&f, w, 10);
		pd_64(&f, w, 2 + i);
		pd_64(&f, w, 7);
		pd_64(&f, w, 3);
		for (unsigned k = 0; k < 3; k++) {
			pd_64(&f, w, counts[i][k]);
			pd_64(&f, w, 7 + k);
		}
		pd_end(&f);
	}
	l = load(&f, NULL);
	EXPECT_EQ(l.rc, 0);
	EXPECT_EQ(l.p.events.n, 3);
	/* Intervals, whose sum is time. */
	EXPECT_STR(event_measures(&l.p, &l.p.events.v[0]), "ns");
	EXPECT(strstr(l.text, "unknown:[unknown]+0x2020/0 0/0/0 2 200\n"));
	EXPECT(strstr(l.text, "unknown:[unknown]+0x3030/0 0/0/0 1 50\n"));
	expect_value(&l, "value cycles:1:0 |:10|||4294967295|10|10|0 unknown:[unknown]+0x1010/0",
		     1500);
	expect_value(&l,
		     "value instructions:1:0 |:10|||4294967295|10|10|0 unknown:[unknown]+0x1010/0",
		     4000);
	expect_value(&l, "value cycles:1:0 |:10|||4294967295|10|10|0 unknown:[unknown]+0x2020/0",
		     2000);
	expect_value(&l,
		     "value instructions:1:0 |:10|||4294967295|10|10|0 unknown:[unknown]+0x2020/0",
		     1000);
	expect_value(&l,
		     "value instructions:1:0 |:10|||4294967295|10|10|0 unknown:[unknown]+0x3030/0",
		     1);
	EXPECT_EQ(profile_n_samples(&l.p, 1), 3600);
	unload(&l);
}

/* Losses are the event's whose id they tell; samples of nobody's are told of. */
TEST(losses)
{
	struct pd_file f = {0};
	struct perfdata_attr b = attr;
	struct loaded l;
	struct wr *w;

	b.config = 2;
	pd_event(&f, &attr, 7);
	pd_event(&f, &b, 8);
	w = pd_begin(&f, PERFDATA_LOST, 0);
	pd_64(&f, w, 8);
	pd_64(&f, w, 5);
	pd_id(&f, attr.sample_type, 1, 1, 2, 7);
	w = pd_begin(&f, PERFDATA_LOST_SAMPLES, 0);
	pd_64(&f, w, 6);
	pd_id(&f, attr.sample_type, 1, 1, 2, 7);
	pd_sample(&f, 1, PERFDATA_MODE_USER, 1, 1, 3, 0x10, NULL, 0);
	f.events[1].id = 99;
	pd_sample(&f, 1, PERFDATA_MODE_USER, 1, 1, 3, 0x10, NULL, 0);
	f.events[1].id = 8;
	l = load(&f, NULL);
	EXPECT_EQ(l.rc, 0);
	EXPECT(strstr(l.text, "loss ring_full page-faults:1000000:0 5\n"));
	EXPECT(strstr(l.text, "loss lost_samples cpu-clock:1000000:0 6\n"));
	EXPECT(strstr(str_get(&l.r.notes), "1 sample is of events that it does not describe"));
	EXPECT_EQ(l.r.n_samples, 1);
	EXPECT_EQ(l.r.n_lost, 11);
	unload(&l);
}

/* With times each thread has a line, in the wall clock's time where the file tells it. */
TEST(time_lines)
{
	const struct perf_in_opts o = {.split = OWNER_GROUP, .trace_bytes = 1 << 20};
	struct pd_file f = {0};
	struct loaded l;
	struct wr *w = &f.sections[PERFDATA_F_CLOCK_DATA];

	pd_event(&f, &attr, 7);
	pd_32(&f, w, 1);
	pd_32(&f, w, 1);
	pd_64(&f, w, 5000000000000000000);
	pd_64(&f, w, 1000);
	pd_comm(&f, 10, 10, "p", false, 1000);
	for (uint64_t i = 0; i < 5; i++)
		pd_sample(&f, 0, PERFDATA_MODE_USER, 10, 10 + i % 2, 2000 + i, 0x10, NULL, 0);
	l = load(&f, &o);
	EXPECT_EQ(l.rc, 0);
	EXPECT_EQ(trace_n_points(&l.p), 5);
	EXPECT_EQ(l.p.meta.end_wall_ns, 5000000000000001004);
	EXPECT(strstr(l.text, "|10|10@0 05000000000000001002 cpu-clock:1000000:0 "));
	unload(&l);
}

/* A sample too short for its fields is an error with its place, or with `force` a loss. */
TEST(a_short_sample)
{
	struct pd_file f = {0};
	struct loaded l;

	for (unsigned force = 0; force < 2; force++) {
		const struct perf_in_opts o = {.force = force};

		pd_event(&f, &attr, 7);
		pd_sample(&f, 0, PERFDATA_MODE_USER, 1, 1, 3, 0x10, NULL, 0);
		pd_64(&f, pd_begin(&f, PERFDATA_SAMPLE, PERFDATA_MODE_USER), 0x10);
		pd_end(&f);
		l = load(&f, &o);
		if (force) {
			EXPECT_EQ(l.rc, 0);
			EXPECT(strstr(l.text, "loss damaged cpu-clock:1000000:0 1\n"));
			EXPECT_EQ(l.r.n_samples, 1);
		} else {
			EXPECT(l.rc < 0);
			EXPECT(strstr(l.err.msg, "the record SAMPLE at 0x128 is too short"));
		}
		unload(&l);
	}
}

/* A section of no bytes says nothing, which is no damage.  A damaged one takes nothing of the
 * records with it. */
TEST(sections)
{
	const struct perf_in_opts force = {.force = true};

	for (int damaged = 0; damaged < 3; damaged++) {
		struct pd_file f = {.empty = 1ull << PERFDATA_F_CPUDESC |
					     1ull << PERFDATA_F_AUXTRACE};
		struct loaded l;

		pd_event(&f, &attr, 7);
		if (damaged)
			pd_32(&f, &f.sections[PERFDATA_F_HOSTNAME], 1000);
		pd_string(&f, &f.sections[PERFDATA_F_OSRELEASE], "6.1.0");
		pd_sample(&f, 0, PERFDATA_MODE_USER, 1, 1, 3, 0x10, NULL, 0);
		l = load(&f, damaged == 2 ? &force : NULL);
		if (damaged == 1) {
			EXPECT_EQ(l.rc, -EBADMSG);
			EXPECT(strstr(l.err.msg, "its section HOSTNAME is damaged (at 0x"));
			EXPECT(strstr(l.err.msg, "; --force takes what can be read"));
		} else {
			EXPECT_EQ(l.rc, 0);
			EXPECT_EQ(l.r.n_samples, 1);
			EXPECT(strstr(l.text, "6.1.0")); /* what is behind it is taken */
			EXPECT(!strstr(str_get(&l.r.notes), "only"));
			EXPECT(!!strstr(str_get(&l.r.notes), "is damaged (at 0x") == !!damaged);
		}
		unload(&l);
	}
}

/* Through a pipe tracepoints come with numbers; the tracing data has their names. */
TEST(names_of_tracepoints)
{
	for (int big = 0; big < 2; big++) {
		struct perfdata_attr a = {.type = 2,
					  .config = 1329,
					  .period = 1,
					  .sample_type = attr.sample_type,
					  .flags = attr.flags};
		struct pd_file f = {.pipe = true, .big_endian = big};
		struct wr tracing = {0};
		struct loaded l;

		pd_event(&f, &a, 7);
		pd_tracing(&f, &tracing);
		pd_32(&f, pd_begin(&f, PERFDATA_TRACING_DATA, 0), (uint32_t)tracing.n);
		pd_end(&f);
		wr_bytes(&f.data, tracing.v, tracing.n);
		wr_release(&tracing);
		pd_sample(&f, 0, PERFDATA_MODE_USER, 1, 1, 3, 0x10, NULL, 0);
		l = load(&f, NULL);
		EXPECT_EQ(l.rc, 0);
		EXPECT_EQ(l.p.events.n, 1);
		EXPECT_STR(profile_str(&l.p, l.p.events.v[0].name), "probe_p:main");
		unload(&l);
	}
}

/* The kernel gives -1 for a task that is gone: it is no process or thread of that number. */
TEST(tasks_that_are_gone)
{
	const struct perf_in_opts o = {.split = OWNER_TID, .trace_bytes = 1 << 20};
	struct pd_file f = {0};
	struct loaded l;

	pd_event(&f, &attr, 7);
	pd_sample(&f, 0, PERFDATA_MODE_KERNEL, UINT32_MAX, UINT32_MAX, 3, 0x10, NULL, 0);
	pd_sample(&f, 0, PERFDATA_MODE_KERNEL, 10, UINT32_MAX, 3, 0x10, NULL, 0);
	l = load(&f, &o);
	expect_value(&l, "|:-1|||4294967295|0|0|0 unknown:[unknown]+0x10/0", 1);
	expect_value(&l, "|:-1|||4294967295|10|0|0 unknown:[unknown]+0x10/0", 1);
	EXPECT_EQ(trace_n_points(&l.p), 0);
	unload(&l);
}

/* When a recording was made: what it says itself, else the time of the file perf wrote, but not
 * that of a copy. */
TEST(dates)
{
	const uint64_t s = 1000000000;
	const struct perf_date own = {true, 100 * s, 90 * s}, copy = {true, 100 * s, 100 * s},
			       kept = {true, 100 * s, 200 * s}, pipe = {false, 100 * s, 0};
	struct perfdata_event realtime = {.attr = {.flags = 1ull << PERFDATA_A_USE_CLOCKID}};
	struct perfdata pd = {0};
	struct utsname u;
	int64_t off = 0;

	EXPECT_EQ(uname(&u), 0);
	EXPECT(perf_date_offset(&own, &pd, 2 * s, 10 * s, &off));
	EXPECT_EQ(off, 90 * (int64_t)s);
	EXPECT(perf_date_offset(&kept, &pd, 2 * s, 10 * s, &off));
	EXPECT_EQ(off, 90 * (int64_t)s);
	EXPECT(perf_date_offset(&pipe, &pd, 2 * s, 10 * s, &off));
	EXPECT(!perf_date_offset(&copy, &pd, 2 * s, 10 * s, &off)); /* too fast */
	EXPECT(!perf_date_offset(&copy, &pd, 10 * s, 10 * s,
				 &off)); /* no host, too short to tell */
	EXPECT(!perf_date_offset(&copy, &pd, 0, 0, &off));
	EXPECT(perf_date_offset(&kept, &pd, 10 * s, 10 * s, &off));
	pd.first_ns = pd.last_ns = 9 * s; /* one sample among records of 8 s */
	EXPECT(!perf_date_offset(&copy, &pd, 2 * s, 10 * s, &off));
	pd.first_ns = pd.last_ns = 0;
	pd.host = u.nodename;
	EXPECT(perf_date_offset(&own, &pd, 2 * s, 10 * s, &off));
	EXPECT(perf_date_offset(&copy, &pd, 10 * s, 10 * s, &off));
	pd.host = (char[]){"elsewhere"};
	EXPECT(!perf_date_offset(&own, &pd, 2 * s, 10 * s, &off));
	EXPECT(!perf_date_offset(&copy, &pd, 10 * s, 10 * s, &off));
	EXPECT(perf_date_offset(&kept, &pd, 10 * s, 10 * s, &off));
	pd.written_s = 1234; /* simpleperf */
	EXPECT(perf_date_offset(&copy, &pd, 2 * s, 10 * s, &off));
	EXPECT_EQ(off, 1224 * (int64_t)s);
	vec_push(&pd.events, realtime); /* perf record -k realtime: CLOCK_REALTIME is 0 */
	EXPECT(perf_date_offset(&copy, &pd, 2 * s, 10 * s, &off));
	EXPECT_EQ(off, 0);
	pd.has_clock = true;
	pd.wall_ns = 5000 * s;
	pd.clock_ns = s;
	EXPECT(perf_date_offset(&copy, &pd, 2 * s, 10 * s, &off));
	EXPECT_EQ(off, 4999 * (int64_t)s);
	vec_release(&pd.events);
}

/* What simpleperf says of AUX data has no number before it. */
TEST(aux_data)
{
	static const struct {
		uint32_t type;
		const char *name;
	} kinds[] = {{1, "Intel PT"}, {3, "CoreSight"}, {99, "type 99"}};

	for (size_t i = 0; i < n_elems(kinds); i++) {
		struct pd_file f = {0};
		struct loaded l;
		struct wr *w = &f.sections[PERFDATA_F_AUXTRACE];

		pd_event(&f, &attr, 7);
		pd_64(&f, w, 0x1000);
		pd_64(&f, w, 48);
		w = pd_begin(&f, PERFDATA_AUXTRACE_INFO, 0);
		pd_32(&f, w, kinds[i].type);
		pd_32(&f, w, 0);
		pd_end(&f);
		for (unsigned k = 0; k < 2; k++) {
			w = pd_begin(&f, PERFDATA_AUXTRACE, 0);
			pd_64(&f, w, 16);
			pd_64(&f, w, k * 16);
			pd_64(&f, w, 0);
			pd_64(&f, w, UINT64_MAX);
			pd_64(&f, w, 0);
			pd_end(&f);
			wr_bytes(w, "0123456789abcdef", 16);
		}
		l = load(&f, NULL);
		EXPECT_EQ(l.rc, 0);
		EXPECT(strstr(str_get(&l.r.notes),
			      "32 bytes of AUX data are not decoded: they are of"));
		EXPECT(strstr(str_get(&l.r.notes), kinds[i].name));
		unload(&l);
	}
}

/* The file of perf stat record has counts and no samples: it says so. */
TEST(counts_without_samples)
{
	for (int pipe = 0; pipe < 2; pipe++) {
		struct pd_file f = {.pipe = pipe, .empty = pipe ? 0 : 1ull << PERFDATA_F_STAT};
		struct loaded l;

		pd_event(&f, &attr, 7);
		pd_begin(&f, PERFDATA_STAT_ROUND, 0);
		pd_64(&f, &f.data, 1);
		pd_64(&f, &f.data, 2);
		pd_end(&f);
		l = load(&f, NULL);
		EXPECT_EQ(l.rc, -EINVAL);
		EXPECT(strstr(l.err.msg, "perf stat record"));
		unload(&l);
	}
}

/* Rounds of samples in shuffled order, of threads that begin between; the last record but one is
 * too SHORT for what it has. */
static void put_many(struct pd_file *f, bool is_short)
{
	const uint64_t chain[] = {PERFDATA_CONTEXT_USER, 0x1010, 0x1101, 0x1201};
	struct t_rng r = {7};
	struct perfdata_attr a = attr;
	uint64_t time = 10;

	a.sample_type |= PERFDATA_S_CALLCHAIN;
	pd_event(f, &a, 7);
	pd_comm(f, 10, 10, "p", true, 1);
	pd_mmap2(f, 10, 0x1000, 0x100000, 0, "/p", NULL, 1);
	for (int round = 0; round < 100; round++, time += 2000) {
		for (int i = 0; i < 600; i++)
			pd_sample(f, 0, PERFDATA_MODE_USER, 10, 10 + (uint32_t)t_below(&r, 5),
				  time + t_below(&r, 1000), 0x1010 + t_below(&r, 5000), chain,
				  t_below(&r, 2) ? 4 : 0);
		pd_fork(f, PERFDATA_FORK, 10, 20 + (uint32_t)round, 10, 10, time + 1000);
		pd_comm(f, 10, 10 + (uint32_t)round % 5, "name", false, time + 1500);
		pd_round(f);
	}
	if (!is_short)
		return;
	pd_sample(f, 0, PERFDATA_MODE_USER, 10, 10, time, 0x1010, chain, 4);
	f->data.v[f->record + 40] = 200; /* the length of its list */
	pd_sample(f, 0, PERFDATA_MODE_USER, 10, 10, time + 1, 0x1010, chain, 4);
}

/* Many records are decoded by a thread of their own.  The result and the errors are those of
 * decoding one by one, which is done where their text is wanted. */
TEST(many_records)
{
	for (int is_short = 0; is_short < 2; is_short++) {
		struct str text = {0};
		const struct perf_in_opts one_by_one = {.split = OWNER_TID, .dump = &text};
		struct pd_file f = {0}, g = {0};
		struct loaded a, b;

		put_many(&f, is_short);
		put_many(&g, is_short);
		a = load(&f, NULL);
		b = load(&g, &one_by_one);
		EXPECT_EQ(a.rc, is_short ? -EBADMSG : 0);
		EXPECT_EQ(a.rc, b.rc);
		EXPECT_STR(a.err.msg, b.err.msg);
		if (!is_short) {
			EXPECT_EQ(a.r.n_samples, 60000);
			/* The first line has the file's time. */
			EXPECT(strcmp(strchr(a.text, '\n'), strchr(b.text, '\n')) == 0);
		}
		unload(&a);
		unload(&b);
		str_release(&text);
	}
}
