/* SPDX-License-Identifier: BSD-2-Clause */
/* The loaded program and its log: needs root, as the programs do. */
#include "collect/log.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collect/kernel_types.h"
#include "machine/target.h"
#include "t.h"

static int open_clock(int cpu)
{
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
				    .size = sizeof(a),
				    .config = PERF_COUNT_SW_CPU_CLOCK,
				    .sample_period = 1000000,
				    .disabled = 1};

	return (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void spin_ms(long ms)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

/* Sampling starts when it is asked for, after the processes are known; and the event stays its
 * owner's. */
TEST(attaching_enables_nothing)
{
	struct log_opts o = {
		.n_events = 1, .n_cpus = cpus_possible(), .n_slots = 64, .n_spill = 64};
	int cpu = sched_getcpu(), fd;
	struct log *l = NULL;
	struct err err;
	uint64_t count;

	if (geteuid() != 0)
		SKIP("not root");
	REQUIRE(log_open(&o, &l, &err) == 0);
	fd = open_clock(cpu);
	REQUIRE(fd >= 0);
	REQUIRE(log_attach(l, fd, 0, &err) == 0);
	spin_ms(20);
	EXPECT_EQ(read(fd, &count, sizeof(count)), sizeof(count));
	EXPECT_EQ(count, 0);
	EXPECT_EQ(log_counts(l, 0).reached, 0);
	EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	for (int i = 0; i < 100 && log_counts(l, 0).reached == 0; i++)
		spin_ms(10);
	EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	EXPECT(log_counts(l, 0).reached > 0);
	EXPECT_EQ(log_counts(l, 0).reached, log_head(l, (uint32_t)cpu));
	log_close(l);
	EXPECT_EQ(read(fd, &count, sizeof(count)), sizeof(count));
	EXPECT(count > 0);
	EXPECT_EQ(close(fd), 0);
}

/* Programs loaded by types that were made for them have the tags, which are hashes of their
 * instructions, that those loaded by all of the kernel's types have. */

struct tags {
	char names[512][80];
	unsigned n;
};

static void add_tag(void *ctx, uint64_t start, uint64_t end, const char *name)
{
	struct tags *t = ctx;

	for (unsigned i = 0; i < t->n; i++)
		if (strcmp(t->names[i], name) == 0)
			return;
	if (t->n < n_elems(t->names))
		snprintf(t->names[t->n++], sizeof(t->names[0]), "%s", name);
}

static void find_tags(const struct log_opts *o, struct tags *ret)
{
	struct log *l = NULL;
	struct err err;

	*ret = (struct tags){0};
	REQUIRE(log_open(o, &l, &err) == 0);
	REQUIRE(log_watch(l, (uint32_t)getpid(), &err) == 0);
	log_each_program(l, add_tag, ret);
	log_close(l);
}

TEST(made_types_lead_to_the_same_programs)
{
	struct log_opts o = {.n_events = 1,
			     .n_cpus = cpus_possible(),
			     .n_slots = 64,
			     .n_spill = 64,
			     .watch = true,
			     .chains = true,
			     .n_chain_words = 4096,
			     .n_unwind_words = 1 << 16,
			     .n_image_keys = 64};
	struct tags by_all, by_made;
	struct kernel_types types;
	struct wr made = {0};
	struct err err;

	if (geteuid() != 0)
		SKIP("not root");
	EXPECT(log_types_key() != 0);
	REQUIRE(log_types_make(&made, &err) == 0);
	EXPECT(made.n > 500 && made.n < 16384);
	REQUIRE(kernel_types_open(&types, made.v, made.n, &err) == 0);
	EXPECT(types.iter_task > 0);
	find_tags(&o, &by_all);
	o.types = &types;
	find_tags(&o, &by_made);
	EXPECT(by_all.n > 4); /* and functions */
	EXPECT_EQ(by_made.n, by_all.n);
	for (unsigned i = 0; i < by_all.n && i < by_made.n; i++)
		EXPECT_STR(by_made.names[i], by_all.names[i]);
	kernel_types_close(&types);
	EXPECT_EQ(kernel_types_open(&types, made.v, 3, &err), -EBADMSG);
	wr_release(&made);
}
