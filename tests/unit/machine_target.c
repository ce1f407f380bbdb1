/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters of a group, on this very thread. */
#include "machine/target.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "t.h"

static const struct event_spec clock = {
	.name = (char *)"task-clock:u",
	.attr = {.type = PERF_TYPE_SOFTWARE,
		 .config = PERF_COUNT_SW_TASK_CLOCK,
		 .exclude_kernel = 1,
		 .exclude_hv = 1},
};

/* For how long the only descriptor of LIST has counted. */
static uint64_t counted_ns(const opened_list *list)
{
	struct opened_count c = {0};

	EXPECT(opened_read(&list->v[0], &c));
	return c.running_ns;
}

TEST(members_count_with_their_leader)
{
	opened_list leader = {0}, member = {0};
	struct target t = {.kind = TARGET_PIDS};
	_vec_ cpu_list cpus = {0};
	struct err err = {""};
	uint64_t before;

	vec_push(&t.pids, (uint32_t)getpid());
	if (target_open(&t, &clock, 0, SPREAD_TASKS, &cpus, &leader, &err) < 0) {
		vec_release(&t.pids);
		SKIP("no events can be opened here");
		return;
	}
	EXPECT_EQ(target_open_member(&t, &clock, SPREAD_TASKS, &cpus, &leader, &member, &err), 0);
	REQUIRE(member.n == 1);
	EXPECT_EQ(counted_ns(&member), 0); /* alone it would have begun */
	opened_enable_one(&leader.v[0]);
	do
		before = counted_ns(&member);
	while (!before);
	opened_disable_one(&leader.v[0]);
	before = counted_ns(&member);
	for (volatile unsigned i = 0; i < 1000000; i++)
		;
	EXPECT_EQ(counted_ns(&member), before);
	opened_close(&member);
	opened_close(&leader);
	vec_release(&t.pids);
}

TEST(a_member_needs_its_leader_there)
{
	opened_list none = {0}, member = {0};
	struct target t = {.kind = TARGET_PIDS};
	_vec_ cpu_list cpus = {0};
	struct err err = {""};

	vec_push(&t.pids, (uint32_t)getpid());
	EXPECT_EQ(target_open_member(&t, &clock, SPREAD_TASKS, &cpus, &none, &member, &err),
		  -ESRCH);
	EXPECT_EQ(member.n, 0);
	opened_close(&member);
	vec_release(&t.pids);
}
