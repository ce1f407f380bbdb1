/* SPDX-License-Identifier: BSD-2-Clause */
/* The loaded program and its log: needs root, as the programs do. */
#include "collect/log.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
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
