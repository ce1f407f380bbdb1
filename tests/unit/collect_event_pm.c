/* SPDX-License-Identifier: BSD-2-Clause */
/* What `pm` opens, on made-up machines: AMD's, Intel's, Arm's, and those that tell nothing. */
#include "events/pm.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "events/parse.h"
#include "events/rate.h"
#include "model/fact.h"
#include "t.h"
#include "tree_t.h"

#define AMD(machine)                                                                               \
	{machine, "ibs_op/type", "9"}, {machine, "ibs_op/format/cnt_ctl", "config:19"},            \
		{machine, "ibs_fetch/type", "8"},                                                  \
	{                                                                                          \
		machine, "ibs_fetch/format/rand_en", "config:57"                                   \
	}
#define INTEL(machine, pmu, type, precise)                                                         \
	{machine, pmu "/type", type}, {machine, pmu "/format/event", "config:0-7"},                \
		{machine, pmu "/format/umask", "config:8-15"},                                     \
		{machine, pmu "/format/ldlat", "config1:0-15"},                                    \
	{                                                                                          \
		machine, pmu "/caps/max_precise", precise                                          \
	}

/* Machine, file below its PMUs, content. */
static const struct {
	const char *machine, *path, *text;
} tree[] = {
	AMD("zen"),
	AMD("zen5"),
	{"zen5", "ibs_op/format/swfilt", "config2:0"},
	{"zen5", "ibs_fetch/format/swfilt", "config2:0"},
	{"old", "ibs_op/type", "9"}, /* cannot count ops, has no fetch PMU */
	INTEL("skl", "cpu", "4", "3"),
	{"skl", "cpu/caps/branches", "32"},
	{"skl", "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"},
	INTEL("spr", "cpu", "4", "3"),
	{"spr", "cpu/caps/branches", "32"},
	{"spr", "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"},
	{"spr", "cpu/events/mem-loads-aux", "event=0x3,umask=0x82"},
	INTEL("hybrid", "cpu_core", "4", "3"),
	{"hybrid", "cpu_core/cpus", "0-3"},
	INTEL("hybrid", "cpu_atom", "10", "2"),
	{"hybrid", "cpu_atom/cpus", "4-7"},
	INTEL("vm", "cpu", "4", "0"),
	{"arm", "arm_spe_0/type", "12"},
	{"bare", "software/type", "1"},
};

static char top[] = "/tmp/dwell-pm-XXXXXX";

static bool set_up(void)
{
	bool is_new;

	if (!tree_make_once(top, &is_new) || !is_new)
		return tree_made_;
	for (size_t i = 0; i < n_elems(tree); i++) {
		_mem_ char *name =
			xasprintf("%s/bus/event_source/devices/%s", tree[i].machine, tree[i].path);
		_mem_ char *line = xasprintf("%s\n", tree[i].text);

		if (!tree_put(top, name, line))
			return false;
	}
	return true;
}

static bool old_kernel; /* without PERF_SAMPLE_WEIGHT_STRUCT */

static int probe(const struct event_spec *s)
{
	if (old_kernel && s->attr.sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		return -EINVAL;
	/* perf_ibs_init: periods are multiples of 16, and without the filter
	 * nothing is excluded. */
	if ((s->attr.type == 8 || s->attr.type == 9) && s->facts >= EVENT_FACTS_IBS_OP) {
		if (s->attr.sample_period % 16)
			return -EINVAL;
		if ((s->attr.exclude_user || s->attr.exclude_kernel || s->attr.exclude_hv) &&
		    (s->attr.exclude_hv || !(s->attr.config2 & 1)))
			return -EINVAL;
	}
	return 0;
}

/* Events of TEXT on MACHINE; their number, or the error. */
static int choose(const char *machine, const char *text, struct event_specs *specs, struct err *err)
{
	_mem_ char *sysfs = xasprintf("%s/%s", top, machine);
	struct event_env env = {.sysfs = sysfs, .proc = "/proc", .probe = probe};
	int rc = event_list_parse(&env, text, specs, err);

	return rc < 0 ? rc : (int)specs->n;
}

static void expect_error(const char *machine, const char *text, int rc, const char *message)
{
	struct event_specs specs = {0};
	struct err err = {""};

	EXPECT_EQ(choose(machine, text, &specs, &err), rc);
	if (!strstr(err.msg, message))
		t_fail_("%s: \"%s\" is not in \"%s\"\n", text, message, err.msg);
	EXPECT_EQ(specs.n, 0);
	event_specs_release(&specs);
}

TEST(amd)
{
	struct event_specs specs = {0};
	struct err err = {""};

	REQUIRE(set_up());
	REQUIRE(choose("zen", "pm:262144", &specs, &err) == 2);
	EXPECT_STR(specs.v[0].name, "ibs_op");
	EXPECT_STR(specs.v[1].name, "ibs_fetch");
	EXPECT_EQ(specs.v[0].facts, EVENT_FACTS_IBS_OP);
	EXPECT_EQ(specs.v[1].facts, EVENT_FACTS_IBS_FETCH);
	EXPECT_EQ(specs.v[0].attr.type, 9);
	EXPECT_EQ(specs.v[0].attr.config, 1 << 19);
	EXPECT_EQ(specs.v[1].attr.type, 8);
	EXPECT_EQ(specs.v[1].attr.config, 1ull << 57);
	for (unsigned i = 0; i < 2; i++) {
		const struct perf_event_attr *a = &specs.v[i].attr;

		EXPECT_EQ(a->sample_type, PERF_SAMPLE_RAW);
		EXPECT_EQ(specs.v[i].period, 262144);
		EXPECT(!a->exclude_user && !a->exclude_kernel && !a->exclude_hv &&
		       !a->exclude_guest && !a->exclude_idle && !a->precise_ip);
	}
	event_specs_release(&specs);

	REQUIRE(choose("zen5", "cpu-clock+pm:k", &specs, &err) == 3);
	EXPECT_STR(specs.v[1].name, "ibs_op:k");
	EXPECT_EQ(specs.v[1].attr.config2, 1);
	EXPECT(specs.v[1].attr.exclude_user && !specs.v[1].attr.exclude_kernel);
	event_specs_release(&specs);

	REQUIRE(choose("old", "pm", &specs, &err) == 1);
	EXPECT_EQ(specs.v[0].attr.config, 0);
	event_specs_release(&specs);

	expect_error("zen", "pm:u", -EOPNOTSUPP, "cannot limit ibs_op to user or kernel code");
}

TEST(intel)
{
	struct event_specs specs = {0};
	struct err err = {""};

	REQUIRE(set_up());
	REQUIRE(choose("skl", "pm", &specs, &err) == 2);
	EXPECT_STR(specs.v[0].name, "cpu/instructions/pp");
	EXPECT_EQ(specs.v[0].attr.type, PERF_TYPE_HARDWARE);
	EXPECT_EQ(specs.v[0].attr.config, PERF_COUNT_HW_INSTRUCTIONS);
	EXPECT_EQ(specs.v[0].attr.precise_ip, 2);
	EXPECT_EQ(specs.v[0].attr.sample_type,
		  PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_BRANCH_STACK);
	EXPECT_EQ(specs.v[0].attr.branch_sample_type,
		  PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_USER |
			  PERF_SAMPLE_BRANCH_KERNEL);
	EXPECT_EQ(specs.v[0].facts, EVENT_FACTS_FIELDS);
	EXPECT_STR(specs.v[1].name, "cpu/mem-loads/pp");
	EXPECT_EQ(specs.v[1].attr.type, 4);
	EXPECT_EQ(specs.v[1].attr.config, 0x1cd);
	EXPECT_EQ(specs.v[1].attr.config1, 3);
	EXPECT_EQ(specs.v[1].attr.sample_type, PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC);
	event_specs_release(&specs);

	REQUIRE(choose("spr", "pm:u:1000003", &specs, &err) == 1); /* loads need an event beside */
	EXPECT_STR(specs.v[0].name, "cpu/instructions/ppu");
	EXPECT(specs.v[0].attr.exclude_kernel && specs.v[0].attr.exclude_hv &&
	       !specs.v[0].attr.exclude_user);
	EXPECT(!(specs.v[0].attr.branch_sample_type & PERF_SAMPLE_BRANCH_KERNEL));
	EXPECT_EQ(specs.v[0].period, 1000003);
	event_specs_release(&specs);

	REQUIRE(choose("hybrid", "pm", &specs, &err) == 2);
	EXPECT_STR(specs.v[0].name, "cpu_atom/instructions/pp");
	EXPECT_EQ(specs.v[0].attr.config, 10ull << 32 | PERF_COUNT_HW_INSTRUCTIONS);
	EXPECT(!(specs.v[0].attr.sample_type & PERF_SAMPLE_BRANCH_STACK));
	EXPECT_STR(specs.v[1].name, "cpu_core/instructions/pp");
	event_specs_release(&specs);

	old_kernel = true;
	REQUIRE(choose("skl", "pm", &specs, &err) == 2);
	EXPECT_EQ(specs.v[0].attr.sample_type, PERF_SAMPLE_BRANCH_STACK);
	EXPECT_EQ(specs.v[1].attr.sample_type, PERF_SAMPLE_DATA_SRC);
	old_kernel = false;
	event_specs_release(&specs);
}

TEST(modes)
{
	struct event_specs specs = {0};
	struct err err = {""};

	REQUIRE(set_up());
	REQUIRE(choose("skl", "pm0", &specs, &err) == 2); /* no retdelay: more precise */
	EXPECT_EQ(specs.v[0].attr.precise_ip, 3);
	EXPECT_EQ(specs.v[0].without_counters, 1u << FACT_RETDELAY);
	event_specs_release(&specs);
	REQUIRE(choose("zen", "pm3", &specs, &err) == 2);
	EXPECT_EQ(specs.v[0].without_counters, 1u << FACT_RETDELAY);
	event_specs_release(&specs);
	REQUIRE(choose("zen", "pm", &specs, &err) == 2);
	EXPECT_EQ(specs.v[0].without_counters, 0);
	event_specs_release(&specs);
	expect_error("zen", "pm2", -EOPNOTSUPP, "no machine of today tells");
}

TEST(what_cannot_be)
{
	REQUIRE(set_up());
	expect_error("arm", "pm", -EOPNOTSUPP, "perf record -e arm_spe_0//");
	expect_error("bare", "pm", -EOPNOTSUPP, "tells nothing of sampled instructions");
	expect_error("vm", "pm", -EOPNOTSUPP, "tells nothing of sampled instructions");
	expect_error("zen", "pm:262145", -EINVAL, "multiples of 16");
	expect_error("zen", "pm:", -EINVAL, "a period");
	expect_error("zen", "pm:x", -EINVAL, "a period");
	expect_error("zen", "pm:0", -EINVAL, "a period");
	expect_error("zen", "pm:u:", -EINVAL, "a period");
	expect_error("zen", "cpu-clock+pm:9", -EINVAL, "(character 11 of");
	expect_error("zen", "pm1", -ENOENT, "");
}

TEST(rates)
{
	struct event_specs specs = {0};
	struct err err = {""};
	struct event_env env = {.sysfs = top, .proc = "/proc"};

	REQUIRE(set_up());
	REQUIRE(choose("zen", "pm:262144", &specs, &err) == 2);
	EXPECT_EQ(event_rate_set(&env, &specs.v[0], &(struct event_rate){0}, &err), 0);
	EXPECT_EQ(specs.v[0].attr.sample_period, 262144);
	EXPECT(!specs.v[0].attr.freq);
	event_specs_release(&specs);
	REQUIRE(choose("zen", "pm", &specs, &err) == 2);
	EXPECT_EQ(event_rate_set(&env, &specs.v[0], &(struct event_rate){0}, &err), 0);
	EXPECT_EQ(specs.v[0].attr.sample_freq, EVENT_DEFAULT_HZ);
	EXPECT(specs.v[0].attr.freq);
	event_specs_release(&specs);
}
