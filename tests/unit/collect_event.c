/* SPDX-License-Identifier: BSD-2-Clause */
/* Every form of -e and every error, on made-up sysfs and tracefs trees. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "events/group.h"
#include "events/list.h"
#include "events/parse.h"
#include "events/rate.h"
#include "t.h"
#include "tree_t.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define PMUS "bus/event_source/devices/"

/* A machine with an Intel-like core PMU, AMD's IBS and Arm's SPE; contents without newline. */
static const struct {
	const char *path, *text;
} tree[] = {
	{PMUS "cpu/type", "4"},
	{PMUS "cpu/format/event", "config:0-7"},
	{PMUS "cpu/format/umask", "config:8-15"},
	{PMUS "cpu/format/inv", "config:23"},
	{PMUS "cpu/format/cmask", "config:24-31"},
	{PMUS "cpu/format/ldlat", "config1:0-15"},
	{PMUS "cpu/format/broken", "confog:1"},
	{PMUS "cpu/format/backward", "config:9-3"},
	{PMUS "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"},
	{PMUS "cpu/events/mem-loads.unit", "loads"},
	{PMUS "cpu/events/needy", "event=0x1,umask=?"},
	{PMUS "cpu/events/slots", "event=0x00,umask=0x4"},
	{PMUS "cpu/events/topdown-retiring", "event=0x00,umask=0x80"},
	{PMUS "cpu/events/topdown-be-bound", "event=0x00,umask=0x83"},
	{PMUS "ibs_op/type", "9"},
	{PMUS "ibs_op/format/cnt_ctl", "config:19"},
	{PMUS "cpu_atom/type", "10"},
	{PMUS "cpu_atom/cpus", "4-7"},
	{PMUS "cpu_atom/format/event", "config:0-7,32-35"},
	{PMUS "uncore_imc/type", "11"},
	{PMUS "uncore_imc/format/event", "config:0-7"},
	{PMUS "uncore_imc/events/mem-loads", "event=0x4"},
	{PMUS "arm_spe_0/type", "12"},
	{PMUS "arm_spe_0/format/ts_enable", "config:0"},
	{PMUS "arm_spe_0/format/load_filter", "config:33"},
	{PMUS "arm_spe_0/format/min_latency", "config2:0-11"},
	{PMUS "arm_spe_0/format/event_filter", "config1:0-63"},
	{PMUS "arm_spe_0/format/inv_event_filter", "config3:0-63"},
	{PMUS "odd/type", "not a number"},
	{"kernel/tracing/events/sched/sched_switch/id", "314"},
	{"kernel/tracing/events/sched/sched_waking/id", "315"},
	{"kernel/tracing/events/sched/enable", "0"},
	{"kernel/tracing/events/syscalls/sys_enter_read/id", "700"},
	{"kernel/tracing/events/enable", "0"},
	{"hybrid/" PMUS "cpu_core/type", "4"},
	{"hybrid/" PMUS "cpu_core/cpus", "0-3"},
	{"hybrid/" PMUS "cpu_atom/type", "10"},
	{"hybrid/" PMUS "cpu_atom/cpus", "4-7"},
	{"proc/sys/kernel/perf_event_max_sample_rate", "50000"},
};

static char sysfs[] = "/tmp/dwell-event-XXXXXX", proc[64];
static struct event_env env;

/* What the made-up machine's kernel answers. */
static int fake_probe(const struct event_spec *spec)
{
	if (spec->attr.type == PERF_TYPE_HARDWARE &&
	    spec->attr.config == PERF_COUNT_HW_STALLED_CYCLES_BACKEND)
		return -ENOENT;
	if (spec->attr.precise_ip > 2)
		return -EOPNOTSUPP;
	if (spec->attr.type == 11 && spec->attr.sample_period)
		return -EINVAL;
	return 0;
}

static int probe_nothing(const struct event_spec *spec)
{
	return spec->attr.type == PERF_TYPE_SOFTWARE ? 0 : -ENOENT;
}

static int probe_denied(const struct event_spec *spec)
{
	return -EACCES;
}

/* Makes the tree once. */
static bool set_up(void)
{
	bool is_new;

	if (!tree_make_once(sysfs, &is_new) || !is_new)
		return tree_made_;
	for (size_t i = 0; i < n_elems(tree); i++) {
		_mem_ char *line = xasprintf("%s\n", tree[i].text);

		if (!tree_put(sysfs, tree[i].path, line))
			return false;
	}
	snprintf(proc, sizeof(proc), "%s/proc", sysfs);
	env = (struct event_env){.sysfs = sysfs, .proc = proc, .probe = fake_probe};
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	return true;
}

struct good {
	const char *text, *name;
	enum event_kind kind;
	uint32_t type;
	uint64_t config, period;
	const char *excluded; /* letters of u k h G H that are left out */
	unsigned precise;
};

static void expect_good(const struct good *g)
{
	struct event_spec s = {0};
	struct err err = {""};
	int rc = event_parse(&env, g->text, &s, &err);

	if (rc < 0) {
		t_fail_("%s: %s", g->text, err.msg);
		return;
	}
	if (strcmp(s.name, g->name) != 0 || s.kind != g->kind || s.attr.type != g->type ||
	    s.attr.config != g->config || s.period != g->period || s.attr.precise_ip != g->precise)
		t_fail_("%s: name %s kind %d type %u config %#llx period %llu precise %u", g->text,
			s.name, s.kind, s.attr.type, (unsigned long long)s.attr.config,
			(unsigned long long)s.period, s.attr.precise_ip);
	if (s.attr.exclude_user != !!strchr(g->excluded, 'u') ||
	    s.attr.exclude_kernel != !!strchr(g->excluded, 'k') ||
	    s.attr.exclude_hv != !!strchr(g->excluded, 'h') ||
	    s.attr.exclude_guest != !!strchr(g->excluded, 'G') ||
	    s.attr.exclude_host != !!strchr(g->excluded, 'H'))
		t_fail_("%s: exclude user %u kernel %u hv %u guest %u host %u", g->text,
			s.attr.exclude_user, s.attr.exclude_kernel, s.attr.exclude_hv,
			s.attr.exclude_guest, s.attr.exclude_host);
	EXPECT_EQ(s.attr.size, sizeof(s.attr));
	EXPECT_EQ(s.is_clock, s.attr.type == PERF_TYPE_SOFTWARE && s.attr.config < 2);
	EXPECT_STR(s.unit, s.is_clock ? "ns" : "");
	event_spec_release(&s);
}

TEST(legal_events)
{
	enum { SW = PERF_TYPE_SOFTWARE, HW = PERF_TYPE_HARDWARE, RAW = PERF_TYPE_RAW };
	static const struct good table[] = {
		{"cpu-clock", "cpu-clock", EVENT_SOFTWARE, SW, 0, 0, "", 0},
		{"cpu-clock:250000", "cpu-clock", EVENT_SOFTWARE, SW, 0, 250000, "", 0},
		{"task-clock:u", "task-clock:u", EVENT_SOFTWARE, SW, 1, 0, "kh", 0},
		{"faults", "page-faults", EVENT_SOFTWARE, SW, 2, 0, "", 0},
		{"cs:k:7", "context-switches:k", EVENT_SOFTWARE, SW, 3, 7, "uh", 0},
		{"migrations", "cpu-migrations", EVENT_SOFTWARE, SW, 4, 0, "", 0},
		{"minor-faults", "minor-faults", EVENT_SOFTWARE, SW, 5, 0, "", 0},
		{"major-faults", "major-faults", EVENT_SOFTWARE, SW, 6, 0, "", 0},
		{"alignment-faults", "alignment-faults", EVENT_SOFTWARE, SW, 7, 0, "", 0},
		{"emulation-faults", "emulation-faults", EVENT_SOFTWARE, SW, 8, 0, "", 0},
		{"dummy", "dummy", EVENT_SOFTWARE, SW, 9, 0, "", 0},
		{"bpf-output", "bpf-output", EVENT_SOFTWARE, SW, 10, 0, "", 0},
		{"cgroup-switches", "cgroup-switches", EVENT_SOFTWARE, SW, 11, 0, "", 0},
		{"cycles", "cycles", EVENT_HARDWARE, HW, 0, 0, "", 0},
		{"cpu-cycles:u:100003", "cycles:u", EVENT_HARDWARE, HW, 0, 100003, "kh", 0},
		{"cycles:uk", "cycles:uk", EVENT_HARDWARE, HW, 0, 0, "h", 0},
		{"cycles:h", "cycles:h", EVENT_HARDWARE, HW, 0, 0, "uk", 0},
		{"cycles:up", "cycles:up", EVENT_HARDWARE, HW, 0, 0, "khG", 1},
		{"cycles:pp", "cycles:pp", EVENT_HARDWARE, HW, 0, 0, "G", 2},
		{"cycles:G", "cycles:G", EVENT_HARDWARE, HW, 0, 0, "H", 0},
		{"cycles:Hp", "cycles:Hp", EVENT_HARDWARE, HW, 0, 0, "G", 1},
		{"cycles:GH", "cycles:GH", EVENT_HARDWARE, HW, 0, 0, "", 0},
		{"instructions", "instructions", EVENT_HARDWARE, HW, 1, 0, "", 0},
		{"branch-instructions", "branches", EVENT_HARDWARE, HW, 4, 0, "", 0},
		{"ref-cycles", "ref-cycles", EVENT_HARDWARE, HW, 9, 0, "", 0},
		{"L1-dcache-load-misses", "L1-dcache-load-misses", EVENT_CACHE, 3, 0x10000, 0, "",
		 0},
		{"L1-dcache-loads:u", "L1-dcache-loads:u", EVENT_CACHE, 3, 0, 0, "kh", 0},
		{"LLC-store-misses", "LLC-store-misses", EVENT_CACHE, 3, 0x10102, 0, "", 0},
		{"dTLB-prefetches", "dTLB-prefetches", EVENT_CACHE, 3, 0x203, 0, "", 0},
		{"branch-load-misses", "branch-load-misses", EVENT_CACHE, 3, 0x10005, 0, "", 0},
		{"node-loads", "node-loads", EVENT_CACHE, 3, 6, 0, "", 0},
		{"r1a8", "r1a8", EVENT_RAW, RAW, 0x1a8, 0, "", 0},
		{"r1A8:u", "r1A8:u", EVENT_RAW, RAW, 0x1a8, 0, "kh", 0},
		{"rffffffffffffffff:9", "rffffffffffffffff", EVENT_RAW, RAW, UINT64_MAX, 9, "", 0},
		{"sched:sched_switch", "sched:sched_switch", EVENT_TRACEPOINT, 2, 314, 0, "", 0},
		{"sched:sched_switch:1000", "sched:sched_switch", EVENT_TRACEPOINT, 2, 314, 1000,
		 "", 0},
		{"sched:sched_switch:k", "sched:sched_switch:k", EVENT_TRACEPOINT, 2, 314, 0, "uh",
		 0},
		{"syscalls:sys_enter_read:u:5", "syscalls:sys_enter_read:u", EVENT_TRACEPOINT, 2,
		 700, 5, "kh", 0},
		{"cpu/event=0x3c,umask=0x0/u", "cpu/event=0x3c,umask=0x0/u", EVENT_PMU, RAW, 0x3c,
		 0, "kh", 0},
		{"cpu/event=60,umask=0x1,cmask=2,inv/pp:1000",
		 "cpu/event=60,umask=0x1,cmask=2,inv/pp", EVENT_PMU, RAW, 0x0280013c, 1000, "G", 2},
		{"cpu/event=0x3c/:u:7", "cpu/event=0x3c/u", EVENT_PMU, RAW, 0x3c, 7, "kh", 0},
		{"cpu/r1a8/", "cpu/r1a8/", EVENT_PMU, RAW, 0x1a8, 0, "", 0},
		{"cpu/config=0x1a8/", "cpu/config=0x1a8/", EVENT_PMU, RAW, 0x1a8, 0, "", 0},
		{"cpu/event=1,period=77/", "cpu/event=1,period=77/", EVENT_PMU, RAW, 1, 77, "", 0},
		{"cpu/event=1,period=77/:78", "cpu/event=1,period=77/", EVENT_PMU, RAW, 1, 78, "",
		 0},
		{"cpu/event=1,name=mine/u", "mine", EVENT_PMU, RAW, 1, 0, "kh", 0},
		{"cpu//", "cpu//", EVENT_PMU, RAW, 0, 0, "", 0},
		{"cpu/mem-loads/", "cpu/mem-loads/", EVENT_PMU, RAW, 0x1cd, 0, "", 0},
		{"mem-loads:p", "mem-loads:p", EVENT_PMU, RAW, 0x1cd, 0, "G", 1},
		{"cpu/needy,umask=0x20/", "cpu/needy,umask=0x20/", EVENT_PMU, RAW, 0x2001, 0, "",
		 0},
		{"cpu/cycles/", "cpu/cycles/", EVENT_PMU, HW, 0, 0, "", 0},
		{"cpu_atom/instructions/", "cpu_atom/instructions/", EVENT_PMU, HW,
		 UINT64_C(10) << 32 | 1, 0, "", 0},
		{"cpu_atom/event=0xabc/", "cpu_atom/event=0xabc/", EVENT_PMU, 10, 0xa000000bc, 0,
		 "", 0},
		{"ibs_op/cnt_ctl=1/:100000", "ibs_op/cnt_ctl=1/", EVENT_PMU, 9, 1 << 19, 100000, "",
		 0},
		{"INST_RETIRED:ANY_P", "INST_RETIRED:ANY_P", EVENT_PFM, RAW, 0xc0, 0, "", 0},
		{"skl::inst_retired.any_p:u:100003", "skl::inst_retired.any_p:u", EVENT_PFM, RAW,
		 0xc0, 100003, "kh", 0},
		{"UOPS_ISSUED:ANY:c=1", "UOPS_ISSUED:ANY:c=1", EVENT_PFM, RAW, 0x100010e, 0, "", 0},
		{"BR_INST_RETIRED:pp", "BR_INST_RETIRED:pp", EVENT_PFM, RAW, 0xc4, 0, "G", 2},
	};

	REQUIRE(set_up());
	for (size_t i = 0; i < n_elems(table); i++)
		expect_good(&table[i]);
}

/* What is restricted to user code is what the new name says. */
TEST(user_code_alone)
{
	static const char *const table[][2] = {
		{"cycles", "cycles:u"},
		{"cycles:uk", "cycles:u"},
		{"cycles:pp", "cycles:ppu"},
		{"cycles:kpu", "cycles:pu"},
		{"cycles:GH", "cycles:GHu"},
		{"page-faults", "page-faults:u"},
		{"cpu/event=0x3c,umask=0x0/", "cpu/event=0x3c,umask=0x0/u"},
		{"cpu/event=0x3c/p", "cpu/event=0x3c/pu"},
		{"INST_RETIRED:ANY_P", "INST_RETIRED:ANY_P:u"},
		{"INST_RETIRED:ANY_P:p", "INST_RETIRED:ANY_P:pu"},
	};

	REQUIRE(set_up());
	for (size_t i = 0; i < n_elems(table); i++) {
		struct event_spec s, named;

		REQUIRE(event_parse(&env, table[i][0], &s, NULL) == 0);
		event_spec_user_only(&s);
		EXPECT_STR(s.name, table[i][1]);
		REQUIRE(event_parse(&env, s.name, &named, NULL) == 0);
		EXPECT_STR(named.name, s.name);
		EXPECT(memcmp(&named.attr, &s.attr, sizeof(s.attr)) == 0);
		event_spec_release(&named);
		event_spec_release(&s);
	}
}

TEST(config_words)
{
	struct event_spec s;

	REQUIRE(set_up());
	REQUIRE(event_parse(&env, "mem-loads", &s, NULL) == 0);
	EXPECT_EQ(s.attr.config1, 3);
	event_spec_release(&s);
	/* a value given beside an alias wins, on either side of it */
	REQUIRE(event_parse(&env, "cpu/mem-loads,ldlat=50/", &s, NULL) == 0);
	EXPECT_EQ(s.attr.config1, 50);
	EXPECT_EQ(s.attr.config, 0x1cd);
	event_spec_release(&s);
	REQUIRE(event_parse(&env,
			    "arm_spe_0/ts_enable,load_filter=1,min_latency=0xfff,event_filter="
			    "0xffffffffffffffff,inv_event_filter=6/",
			    &s, NULL) == 0);
	EXPECT_EQ(s.attr.type, 12);
	EXPECT_EQ(s.attr.config, 1 | UINT64_C(1) << 33);
	EXPECT_EQ(s.attr.config1, UINT64_MAX);
	EXPECT_EQ(s.attr.config2, 0xfff);
	EXPECT_EQ(s.config3, 6);
	event_spec_release(&s);
	REQUIRE(event_parse(&env, "cpu/event=1,freq=500/", &s, NULL) == 0);
	EXPECT_EQ(s.freq_hz, 500);
	event_spec_release(&s);
}

static void expect_bad(const char *text, int code, const char *says)
{
	struct event_specs specs = {0};
	struct err err = {""};
	int rc = event_list_parse(&env, text, &specs, &err);

	if (rc != code || !strstr(err.msg, says) || strchr(err.msg, '\n') || specs.n)
		t_fail_("%s: %d \"%s\", expected %d \"%s\"", text, rc, err.msg, code, says);
	event_specs_release(&specs);
}

TEST(malformed_events)
{
	REQUIRE(set_up());
	expect_bad("", -EINVAL, "event \"\": an event is missing");
	expect_bad("cycles+", -EINVAL, "(character 8 of \"cycles+\"): an event is missing");
	expect_bad(",cycles", -EINVAL, "missing");
	expect_bad("cycles:", -EINVAL, "nothing behind the last \":\"");
	expect_bad("cycles:ux", -EINVAL, "\"x\" is not one of u k h p G H");
	expect_bad("cycles:pppp", -EINVAL, "at most ppp");
	expect_bad("cycles:u:k", -EINVAL, "is no modifier");
	expect_bad("cycles:0", -EINVAL, "a period is at least 1");
	expect_bad("cycles:99999999999999999999", -EINVAL, "too large");
	expect_bad("cycles:9223372036854775808", -EINVAL, "too large");
	expect_bad("cpu-clock:p", -EINVAL, "no precise form");
	expect_bad("sched:sched_switch:p", -EINVAL, "no precise form");
	expect_bad("r11112222333344445", -EINVAL, "at most 16 hex digits");
	expect_bad("cpu/event=1", -EINVAL, "the second \"/\"");
	expect_bad("cpu/event=1/x", -EINVAL, "\"x\" is no modifier");
	expect_bad("cpu/event=/", -EINVAL, "needs a number, not \"\"");
	expect_bad("cpu/event=zz/", -EINVAL, "needs a number, not \"zz\"");
	expect_bad("cpu/event=0x100/", -EINVAL, "holds at most 0xff");
	expect_bad("cpu/inv=2/", -EINVAL, "holds at most 0x1");
	expect_bad("cpu/event=1,,umask=1/", -EINVAL, "empty or malformed term");
	expect_bad("cpu/../../x/", -EINVAL, "malformed term");
	expect_bad("cpu/broken=1/", -EINVAL, "not understood: \"confog:1\"");
	expect_bad("cpu/backward=1/", -EINVAL, "not understood: \"config:9-3\"");
	expect_bad("cpu/needy/", -EINVAL, "add umask=NUMBER");
	expect_bad("cpu/period=0/", -EINVAL, "period must not be 0");
	expect_bad("cpu/config/", -EINVAL, "config= needs a number");
	expect_bad("cpu/name=/", -EINVAL, "name= needs a name");
	expect_bad("odd/x=1/", -EINVAL, "not understood: \"not a number\"");
	expect_bad("mem:0x1000:rw", -EINVAL, "breakpoints");
	expect_bad("sched:*", -EINVAL, "one tracepoint at a time");
	expect_bad("cycles,cycles", -EINVAL, "named twice");
	expect_bad("cycles,cpu-cycles:5", -EINVAL, "named twice");
}

TEST(unknown_events_suggest_the_nearest)
{
	REQUIRE(set_up());
	expect_bad("cylces", -ENOENT, "did you mean \"cycles\"?");
	expect_bad("cpu-clok:u", -ENOENT, "did you mean \"cpu-clock\"?");
	expect_bad("page-fualts,cs", -ENOENT, "did you mean \"page-faults\"?");
	expect_bad("L1-dcache-lod-misses", -ENOENT, "did you mean \"L1-dcache-load-misses\"?");
	expect_bad("L1-icache-stores", -ENOENT, "unknown event");
	expect_bad("mem-load", -ENOENT, "did you mean \"mem-loads\"?");
	expect_bad("sched:sched_swich", -ENOENT, "did you mean \"sched:sched_switch\"?");
	expect_bad("shed:sched_switch", -ENOENT, "did you mean \"sched:sched_switch\"?");
	expect_bad("INST_RETIRD", -ENOENT, "did you mean \"INST_RETIRED\"?");
	expect_bad("cycles+zzzzzzzzzzz", -ENOENT, "(character 8 of");
	expect_bad("INST_RETIRED:ANY_Q", -EINVAL, "did you mean \"INST_RETIRED:ANY_P\"?");
	expect_bad("cpu/umsk=1/", -ENOENT, "did you mean \"umask\"?");
	expect_bad("cpux/umask=1/", -ENOENT, "no PMU \"cpux\"; did you mean \"cpu\"?");
	expect_bad("/umask=1/", -ENOENT, "no PMU \"\"");
	expect_bad("../cpu/umask=1/", -ENOENT, "no PMU \"..\"");
}

TEST(unsupported_events_say_what_works)
{
	struct event_env bare;

	REQUIRE(set_up());
	expect_bad("stalled-cycles-backend", -EOPNOTSUPP, "cpu-clock");
	expect_bad("cycles:ppp", -EOPNOTSUPP, "use :pp");
	expect_bad("uncore_imc/mem-loads/", -EOPNOTSUPP, "count it but not sample it");
	bare = env;
	env.probe = probe_nothing;
	expect_bad("cycles", -EOPNOTSUPP, "the nearest that works is cpu-clock");
	expect_bad("INST_RETIRED:ANY_P", -EOPNOTSUPP, "the nearest that works is cpu-clock");
	env = bare;
}

TEST(tracefs_not_mounted_or_closed)
{
	struct event_env was;

	REQUIRE(set_up());
	was = env;
	env.tracefs = "/nonexistent";
	expect_bad("sched:sched_switch", -ENOENT, "mount -t tracefs tracefs /nonexistent");
	env = was;
}

TEST(lists_keep_order_and_what_was_there)
{
	struct event_specs specs = {0};
	struct err err = {""};

	REQUIRE(set_up());
	EXPECT_EQ(event_list_parse(&env, "cycles:u+cpu/event=1,umask=2/:5,sched:sched_waking+cs",
				   &specs, &err),
		  0);
	REQUIRE(specs.n == 4);
	EXPECT_STR(specs.v[0].name, "cycles:u");
	EXPECT_STR(specs.v[1].name, "cpu/event=1,umask=2/");
	EXPECT_EQ(specs.v[1].period, 5);
	EXPECT_STR(specs.v[2].name, "sched:sched_waking");
	EXPECT_STR(specs.v[3].name, "context-switches");
	EXPECT_EQ(event_list_parse(&env, "instructions,nonesuch_at_all", &specs, &err), -ENOENT);
	EXPECT_EQ(specs.n, 4);
	event_specs_release(&specs);
}

/* Whether the list TEXT, settled, is of these groups: for each event the number of its leader. */
static bool has_leaders(const char *text, const char *leaders)
{
	struct event_specs specs = {0};
	struct err err = {""};
	bool same = event_list_parse(&env, text, &specs, &err) == 0 &&
		    event_groups_settle(&specs, &err) == 0 && specs.n == strlen(leaders);

	for (size_t i = 0; same && i < specs.n; i++)
		same = event_group_leader(&specs, i) == (size_t)(leaders[i] - '0');
	if (!same)
		printf("# %s: %s\n", text, err.msg);
	event_specs_release(&specs);
	return same;
}

TEST(groups_are_counted_together)
{
	struct event_specs specs = {0};
	struct err err = {""};

	REQUIRE(set_up());
	EXPECT(has_leaders("cycles,instructions", "01"));
	EXPECT(has_leaders("cs,{cycles,instructions},{faults+cpu/event=1,umask=2/},migrations",
			   "011335"));
	/* Intel's metrics follow their slots, which lead wherever they stand. */
	EXPECT(has_leaders("topdown-retiring,slots,cycles,topdown-be-bound", "1121"));
	EXPECT(has_leaders("{topdown-retiring,slots},cycles", "112"));
	EXPECT(has_leaders("slots:u,topdown-retiring:u,slots,topdown-be-bound", "0022"));
	EXPECT_EQ(event_list_parse(&env, "{cycles:p,instructions}:u", &specs, &err), 0);
	REQUIRE(specs.n == 2);
	EXPECT_STR(specs.v[0].name, "cycles:pu");
	EXPECT_EQ(specs.v[0].attr.precise_ip, 1);
	EXPECT(specs.v[0].attr.exclude_kernel && !specs.v[0].attr.exclude_user);
	EXPECT_STR(specs.v[1].name, "instructions:u");
	EXPECT(specs.v[1].attr.exclude_kernel);
	EXPECT_EQ(event_list_parse(&env, "topdown-retiring", &specs, &err), 0);
	EXPECT_EQ(event_groups_settle(&specs, &err), -EINVAL);
	EXPECT_STR(err.msg,
		   "topdown-retiring: is counted beside slots only: -e slots,topdown-retiring");
	event_specs_release(&specs);
}

TEST(malformed_groups)
{
	static const struct {
		const char *text, *msg;
	} lists[] = {
		{"{cycles", "event \"cycles\" (character 2 of \"{cycles\"): the \"}\" of its group "
			    "is missing"},
		{"{}", "event \"\" (character 2 of \"{}\"): an event is missing"},
		{"{cycles}x", "event \"cycles\" (character 2 of \"{cycles}x\"): behind \"}\" "
			      "belongs a \",\", or modifiers"},
		{"{cycles}:q", "event \"cycles\" (character 2 of \"{cycles}:q\"): \"q\" is no "
			       "modifier: \"q\" is not one of u k h p G H"},
		{"{cycles,pm}", "event \"pm\" (character 9 of \"{cycles,pm}\"): samples alone have "
				"it, and no group"},
	};

	REQUIRE(set_up());
	for (size_t i = 0; i < n_elems(lists); i++) {
		struct event_specs specs = {0};
		struct err err = {""};

		EXPECT(event_list_parse(&env, lists[i].text, &specs, &err) < 0);
		EXPECT_STR(err.msg, lists[i].msg);
		EXPECT_EQ(specs.n, 0);
		vec_release(&specs);
	}
}

/* Parses TEXT, sets its rate, and returns what event_rate_set returned. */
static int rate_of(const char *text, uint64_t freq_hz, uint64_t period, struct event_spec *s,
		   struct err *err)
{
	int rc = event_parse(&env, text, s, err);

	if (rc == 0)
		rc = event_rate_set(
			&env, s, &(struct event_rate){.freq_hz = freq_hz, .period = period}, err);
	event_spec_release(s);
	return rc;
}

TEST(rates)
{
	static const struct {
		const char *text;
		uint64_t freq_hz, period, want;
		bool freq;
	} table[] = {
		{"cpu-clock", 0, 0, 1000000000 / EVENT_DEFAULT_HZ, false},
		{"cpu-clock", 5200, 0, 192307, false},
		{"cpu-clock", 0, 250000, 250000, false},
		{"cpu-clock:70000", 5200, 0, 70000, false},
		{"cycles", 0, 0, EVENT_DEFAULT_HZ, true},
		{"cycles", 50000, 0, 50000, true},
		{"cycles:7", 0, 9, 7, false},
		{"cpu/event=1,freq=500/", 0, 9, 500, true},
		{"page-faults", 0, 0, 100, false},
		{"page-faults", 400, 0, 400, true},
		{"cs", 0, 0, 1, false},
		{"sched:sched_switch", 0, 0, 1, false},
		{"ibs_op//", 0, 160000, 160000, false},
	};
	struct event_spec s;
	struct err err = {""};

	REQUIRE(set_up());
	for (size_t i = 0; i < n_elems(table); i++) {
		if (rate_of(table[i].text, table[i].freq_hz, table[i].period, &s, &err) < 0)
			t_fail_("%s: %s", table[i].text, err.msg);
		else if (s.attr.freq != table[i].freq || s.attr.sample_period != table[i].want)
			t_fail_("%s: freq %d, %llu", table[i].text, s.attr.freq,
				(unsigned long long)s.attr.sample_period);
	}
	EXPECT_EQ(rate_of("cycles", 50001, 0, &s, &err), -E2BIG);
	EXPECT(strstr(err.msg, "limit of 50000 (sysctl kernel.perf_event_max_sample_rate)"));
	EXPECT_EQ(rate_of("cpu-clock", 50001, 0, &s, &err), -E2BIG);
	EXPECT_EQ(rate_of("cpu-clock", 0, 9999, &s, &err), -E2BIG);
	EXPECT(strstr(err.msg, "no less than 10000"));
	EXPECT_EQ(rate_of("cpu-clock", 0, 15000, &s, &err), -E2BIG);
	EXPECT(strstr(err.msg, "perf_event_max_sample_rate"));
	EXPECT_EQ(rate_of("cycles", 10, 10, &s, &err), -EINVAL);
	EXPECT_EQ(rate_of("cycles", 0, UINT64_MAX, &s, &err), -EINVAL);
	EXPECT_EQ(rate_of("ibs_op//", 0, 100001, &s, &err), -EINVAL);
	EXPECT(strstr(err.msg, "the nearest is 100000"));
}

/* Parses TEXT (NULL: no event named) on machine E and expects NAMES, or the message. */
static void expect_names(const struct event_env *e, const char *text, const char *names)
{
	struct event_specs specs = {0};
	struct str got = {0};
	struct err err = {""};
	const char *why = "";
	int rc = text ? event_list_parse(e, text, &specs, &err)
		      : event_default(e, &specs, &why, &err);

	if (rc < 0)
		str_add(&got, err.msg);
	for (size_t i = 0; i < specs.n; i++)
		str_addf(&got, "%s%s", i ? " " : "", specs.v[i].name);
	EXPECT_STR(str_get(&got), names);
	EXPECT(text || rc < 0 || str_starts(why, "event: c"));
	str_release(&got);
	event_specs_release(&specs);
}

TEST(default_event)
{
	struct event_env e;

	REQUIRE(set_up());
	e = env;
	expect_names(&e, NULL, "cycles");
	e.probe = probe_nothing;
	expect_names(&e, NULL, "cpu-clock");
	/* who may not try is not told that it is missing */
	e.probe = probe_denied;
	expect_names(&e, NULL, "cycles");
}

/* The second kind of CPU has no event for stores. */
static int probe_two_kinds(const struct event_spec *spec)
{
	return spec->attr.type == PERF_TYPE_HW_CACHE && spec->attr.config >> 32 == 10 &&
			       (spec->attr.config & 0xff00) == 0x100
		       ? -ENOENT
		       : 0;
}

/* Before Linux 5.13, config named no PMU. */
static int probe_old_kernel(const struct event_spec *spec)
{
	return spec->attr.config >> 32 ? -ENOENT : 0;
}

TEST(cpus_of_two_kinds)
{
	_mem_ char *hybrid = NULL;
	struct event_specs specs = {0};
	struct event_env e;

	REQUIRE(set_up());
	hybrid = xasprintf("%s/hybrid", sysfs);
	e = env;
	e.sysfs = hybrid;
	e.probe = probe_two_kinds;
	expect_names(&e, NULL, "cpu_atom/cycles/ cpu_core/cycles/");
	expect_names(&e, "cycles:u:5,cs", "cpu_atom/cycles/u cpu_core/cycles/u context-switches");
	expect_names(&e, "L1-dcache-stores", "cpu_core/L1-dcache-stores/");
	expect_names(&e, "cpu_atom/cycles/", "cpu_atom/cycles/");
	expect_names(&e, "cycles,cycles:u",
		     "cpu_atom/cycles/ cpu_core/cycles/ cpu_atom/cycles/u cpu_core/cycles/u");
	expect_names(&e, "cycles,cycles",
		     "event \"cycles\" (character 8 of \"cycles,cycles\"): named twice");
	REQUIRE(event_list_parse(&e, "instructions:7", &specs, NULL) == 0);
	REQUIRE(specs.n == 2);
	EXPECT_EQ(specs.v[0].attr.config, UINT64_C(10) << 32 | 1);
	EXPECT_EQ(specs.v[1].attr.config, UINT64_C(4) << 32 | 1);
	EXPECT_EQ(specs.v[1].period, 7);
	event_specs_release(&specs);
	e.probe = probe_old_kernel;
	expect_names(&e, "cycles", "cycles");
}

struct seen {
	size_t n[EVENT_PFM + 1], n_terms, n_masks, n_unparsed;
	bool alias, unit, pfm_umask;
};

static void see(const struct event_info *info, void *arg)
{
	struct seen *s = arg;
	struct event_spec spec;

	s->n[info->kind]++;
	s->n_terms += info->is_part && info->kind == EVENT_PMU;
	s->n_masks += info->is_part && info->kind == EVENT_PFM;
	s->alias |= strcmp(info->name, "cpu/mem-loads/") == 0;
	s->unit |= strstr(info->name, ".unit") != NULL;
	s->pfm_umask |= strcmp(info->name, "skl::INST_RETIRED:ANY_P") == 0;
	/* what is listed can be typed */
	if (info->is_part || strcmp(info->name, "cpu/needy/") == 0 ||
	    strncmp(info->name, "odd", 3) == 0)
		return;
	if (event_parse(&env, info->name, &spec, NULL) == 0)
		event_spec_release(&spec);
	else
		s->n_unparsed++;
}

TEST(list_names_everything)
{
	struct seen s = {0};

	REQUIRE(set_up());
	event_list(&env, ~0u, see, &s);
	EXPECT_EQ(s.n[EVENT_SOFTWARE], 12);
	EXPECT_EQ(s.n[EVENT_HARDWARE], 10);
	EXPECT_EQ(s.n[EVENT_CACHE], 32);
	EXPECT_EQ(s.n[EVENT_TRACEPOINT], 3);
	EXPECT_EQ(s.n_terms, 15);
	EXPECT_EQ(s.n[EVENT_PMU] - s.n_terms, 6);
	EXPECT(s.n[EVENT_PFM] > 100);
	EXPECT(s.alias);
	EXPECT(!s.unit);
	EXPECT(s.pfm_umask);
	EXPECT(s.n_masks > 10);
	/* stalled-cycles-backend and uncore_imc/mem-loads/, as probed */
	EXPECT_EQ(s.n_unparsed, 2);
}
