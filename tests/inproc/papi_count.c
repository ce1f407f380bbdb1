/* SPDX-License-Identifier: BSD-2-Clause */
/* libdwell-papi around PAPI_profil(): the library, events, event sets, counting, options, the
 * machine and the program; overflows. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "papi_t.h"

static void begin(void)
{
	EXPECT_EQ(PAPI_library_init(PAPI_VER_CURRENT), PAPI_VER_CURRENT);
}

/* Runs FN in a process of its own, which fails by exiting with the line. */
static int in_child(int (*fn)(void))
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		_exit(fn());
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("# line %d: %s\n", __LINE__, #cond);                                \
			fflush(stdout);                                                            \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

/* The library. */

TEST(layouts_are_those_of_papi_7_0)
{
	EXPECT_EQ(sizeof(PAPI_sprofil_t), 32);
	EXPECT_EQ(offsetof(PAPI_sprofil_t, pr_scale), 24);
	EXPECT_EQ(sizeof(PAPI_exe_info_t), 2096);
	EXPECT_EQ(sizeof(PAPI_address_map_t), 1072);
	EXPECT_EQ(sizeof(PAPI_event_info_t), 6680);
	EXPECT_EQ(sizeof(PAPI_hw_info_t), 1480);
	EXPECT_EQ(sizeof(PAPI_component_info_t), 2272);
	EXPECT_EQ(sizeof(PAPI_option_t), 264);
	EXPECT_EQ(PAPI_TOT_CYC, (int)0x8000003b);
	EXPECT_EQ(PAPI_FP_OPS, (int)0x80000066);
	EXPECT_EQ(PAPI_VER_CURRENT, 0x07000000);
}

static int before_init(void)
{
	int set = PAPI_NULL, code;

	CHECK(PAPI_is_initialized() == PAPI_NOT_INITED);
	CHECK(PAPI_create_eventset(&set) == PAPI_ENOINIT);
	CHECK(PAPI_query_event(PAPI_TOT_CYC) == PAPI_ENOINIT);
	CHECK(PAPI_event_name_to_code(CLOCK, &code) == PAPI_ENOINIT);
	CHECK(PAPI_thread_init(NULL) == PAPI_ENOINIT);
	CHECK(PAPI_register_thread() == PAPI_ENOINIT);
	CHECK(PAPI_get_executable_info() == NULL);
	CHECK(PAPI_start(0) == PAPI_ENOEVST);
	CHECK(PAPI_library_init(0x05000000) == PAPI_EINVAL);
	CHECK(PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT);
	CHECK(PAPI_is_initialized() == PAPI_LOW_LEVEL_INITED);
	CHECK(PAPI_create_eventset(&set) == PAPI_OK);
	CHECK(PAPI_add_named_event(set, CLOCK) == PAPI_OK);
	CHECK(PAPI_start(set) == PAPI_OK);
	PAPI_shutdown(); /* stops it and takes it away */
	CHECK(PAPI_is_initialized() == PAPI_NOT_INITED);
	CHECK(PAPI_stop(set, NULL) == PAPI_ENOEVST);
	CHECK(PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT);
	return 0;
}

TEST(nothing_works_before_library_init_or_after_shutdown)
{
	PAPI_shutdown();
	EXPECT_EQ(in_child(before_init), 0);
}

static int heard;

static int hear(int code)
{
	heard = code;
	return code;
}

TEST(errors_have_words_and_are_told)
{
	PAPI_option_t o = {.debug = {.level = PAPI_VERB_ECONT, .handler = hear}};

	begin();
	for (int code = 0; code > -PAPI_NUM_ERRORS; code--)
		EXPECT(PAPI_strerror(code) && *PAPI_strerror(code));
	EXPECT(PAPI_strerror(1) == NULL);
	EXPECT(PAPI_strerror(-PAPI_NUM_ERRORS) == NULL);
	EXPECT_EQ(PAPI_set_opt(PAPI_DEBUG, &o), PAPI_OK);
	EXPECT_EQ(PAPI_start(4711), PAPI_ENOEVST);
	EXPECT_EQ(heard, PAPI_ENOEVST);
	EXPECT_EQ(PAPI_set_debug(PAPI_QUIET), PAPI_OK);
	heard = 0;
	EXPECT_EQ(PAPI_start(4711), PAPI_ENOEVST);
	EXPECT_EQ(heard, 0);
	EXPECT_EQ(PAPI_set_debug(3), PAPI_EINVAL);
	o.debug.handler = NULL;
	o.debug.level = PAPI_QUIET;
	EXPECT_EQ(PAPI_set_opt(PAPI_DEBUG, &o), PAPI_OK);
}

/* Events. */

TEST(names_and_codes_go_both_ways)
{
	static const char *const names[] = {"PAPI_REF_CYC", "perf::TASK-CLOCK", "perf::PAGE-FAULTS",
					    "perf::CONTEXT-SWITCHES", "task-clock"};
	char name[PAPI_MAX_STR_LEN];
	int code, again;

	begin();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		REQUIRE(PAPI_event_name_to_code(names[i], &code) == PAPI_OK);
		REQUIRE(PAPI_event_code_to_name(code, name) == PAPI_OK);
		EXPECT(strcmp(name, names[i]) == 0 || i == 4);
		EXPECT_EQ(PAPI_event_name_to_code(name, &again), PAPI_OK);
		EXPECT_EQ(code, again);
		EXPECT_EQ(PAPI_query_event(code), PAPI_OK);
		EXPECT_EQ(PAPI_query_named_event(name), PAPI_OK);
		EXPECT_EQ(PAPI_get_event_component(code), 0);
	}
	/* the kernel's names are the same events */
	EXPECT_EQ(PAPI_event_name_to_code("perf::PERF_COUNT_SW_TASK_CLOCK", &code), PAPI_OK);
	EXPECT_EQ(PAPI_event_name_to_code("perf::TASK-CLOCK", &again), PAPI_OK);
	EXPECT_EQ(code, again);
	EXPECT_EQ(PAPI_event_name_to_code("no-such-event", &code), PAPI_ENOEVNT);
	EXPECT_EQ(PAPI_event_code_to_name(PAPI_NATIVE_MASK | 0xffff, name), PAPI_ENOEVNT);
	EXPECT_EQ(PAPI_event_code_to_name(PAPI_END, name), PAPI_ENOTPRESET);
	EXPECT_EQ(PAPI_query_event(17), PAPI_ENOTPRESET);
	EXPECT_EQ(PAPI_event_name_to_code(NULL, &code), PAPI_EINVAL);
	EXPECT_EQ(PAPI_event_code_to_name(PAPI_TOT_CYC, NULL), PAPI_EINVAL);
}

static bool has_counters(void)
{
	int code = 0;

	return PAPI_event_name_to_code("perf::CYCLES", &code) == PAPI_OK &&
	       PAPI_query_event(code) == PAPI_OK;
}

/* "On machines without hardware counters": the clock is the clock; cycles are an estimate that says
 * so, when it is asked for; the others are not there. */
TEST(presets_are_honest)
{
	PAPI_event_info_t info;
	int n = 0, code = PAPI_PRESET_MASK;

	begin();
	EXPECT_EQ(PAPI_query_event(PAPI_REF_CYC), PAPI_OK);
	EXPECT_EQ(PAPI_get_event_info(PAPI_REF_CYC, &info), PAPI_OK);
	EXPECT_STR(info.symbol, "PAPI_REF_CYC");
	EXPECT_STR(info.derived, "NOT_DERIVED");
	EXPECT_EQ(info.count, 1);
	if (!has_counters()) {
		EXPECT_STR(info.name[0], "perf::TASK-CLOCK");
		EXPECT(strstr(info.note, "CPU time") == info.note);
		EXPECT_EQ(PAPI_query_event(PAPI_TOT_CYC), PAPI_ENOEVNT);
		EXPECT_EQ(PAPI_query_event(PAPI_TOT_INS), PAPI_ENOEVNT);
		EXPECT_EQ(PAPI_query_event(PAPI_BR_INS), PAPI_ENOEVNT);
		EXPECT_EQ(PAPI_query_event(PAPI_L3_TCM), PAPI_ENOEVNT);
		setenv("DWELL_PAPI_ESTIMATE", "1", 1);
		EXPECT_EQ(PAPI_query_event(PAPI_TOT_CYC), PAPI_OK);
		EXPECT_EQ(PAPI_get_event_info(PAPI_TOT_CYC, &info), PAPI_OK);
		EXPECT(strstr(info.note, "Estimated") == info.note);
		EXPECT_EQ(PAPI_query_event(PAPI_TOT_INS), PAPI_ENOEVNT);
		setenv("DWELL_PAPI_ESTIMATE", "0", 1);
		EXPECT_EQ(PAPI_query_event(PAPI_TOT_CYC), PAPI_ENOEVNT);
		unsetenv("DWELL_PAPI_ESTIMATE");
	}
	EXPECT_EQ(PAPI_query_event(PAPI_FP_INS), PAPI_ENOEVNT);
	EXPECT_EQ(PAPI_get_event_info(PAPI_FP_INS, &info), PAPI_OK);
	EXPECT_EQ(info.count, 0);
	EXPECT_EQ(PAPI_enum_event(&code, PAPI_ENUM_FIRST), PAPI_OK);
	EXPECT_EQ(code, PAPI_L1_DCM);
	do {
		n++;
	} while (PAPI_enum_event(&code, PAPI_ENUM_EVENTS) == PAPI_OK);
	EXPECT_EQ(n, PAPI_END_idx);
	code = PAPI_PRESET_MASK;
	for (n = 0; PAPI_enum_event(&code, PAPI_PRESET_ENUM_AVAIL) == PAPI_OK; n++)
		EXPECT_EQ(PAPI_query_event(code), PAPI_OK);
	EXPECT(n >= 1);
}

/* Cycles are counted by the clock of the timers. */
TEST(cycles_of_the_clock_are_cpu_time)
{
	int set = PAPI_NULL, code;
	uint16_t n = 0;
	long long v[2], mhz = PAPI_get_opt(PAPI_CLOCKRATE, NULL), t;

	begin();
	if (has_counters())
		SKIP("this machine counts cycles");
	REQUIRE(PAPI_event_name_to_code(CLOCK, &code) == PAPI_OK);
	REQUIRE(PAPI_create_eventset(&set) == PAPI_OK);
	REQUIRE(PAPI_add_event(set, PAPI_REF_CYC) == PAPI_OK);
	REQUIRE(PAPI_add_event(set, code) == PAPI_OK);
	REQUIRE(PAPI_profil(&n, 2, NULL, 2, set, PAPI_REF_CYC, 5000000, 0) == PAPI_OK);
	REQUIRE(PAPI_start(set) == PAPI_OK);
	t = PAPI_get_virt_cyc();
	burn(0.2);
	t = PAPI_get_virt_cyc() - t;
	REQUIRE(PAPI_stop(set, v) == PAPI_OK);
	mhz = PAPI_get_opt(PAPI_CLOCKRATE, NULL);
	EXPECT(mhz > 100);
	EXPECT(llabs(v[0] - v[1] * mhz / 1000) < v[0] / 50);
	/* the same time, but for interrupts and what the hypervisor took */
	EXPECT(v[0] > t - t / 5 && v[0] < t + t / 2);
	EXPECT_TICKS(all_ticks(set, PAPI_REF_CYC, n), v[0], 5000000);
	drop(&set);
}

/* PAPI's own way to say what a preset is. */
static int with_csv(void)
{
	char path[] = "/tmp/papi-csv-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");
	PAPI_event_info_t info;

	fputs("# of a test\nCPU,perf\nPRESET, PAPI_TOT_INS, NOT_DERIVED, perf::CPU-CLOCK\n"
	      "PRESET,PAPI_FP_INS,NOT_DERIVED,no-such-event\nPRESET,PAPI_BR_INS,DERIVED_ADD,"
	      "perf::CPU-CLOCK,perf::TASK-CLOCK\nPRESET,PAPI_NONE,NOT_DERIVED,perf::CPU-CLOCK\n"
	      "PRESET\nPRESET,PAPI_TOT_CYC,NOT_DERIVED,perf::PERF_COUNT_SW_TASK_CLOCK",
	      f);
	fclose(f);
	setenv("PAPI_CSV_EVENT_FILE", path, 1);
	CHECK(PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT);
	unlink(path);
	CHECK(PAPI_query_event(PAPI_TOT_INS) == PAPI_OK);
	CHECK(PAPI_get_event_info(PAPI_TOT_INS, &info) == PAPI_OK);
	CHECK(strcmp(info.name[0], "perf::CPU-CLOCK") == 0);
	CHECK(PAPI_query_event(PAPI_FP_INS) == PAPI_ENOEVNT);
	CHECK(PAPI_get_event_info(PAPI_TOT_CYC, &info) == PAPI_OK);
	CHECK(strstr(info.note, "Estimated") == NULL);
	return 0;
}

TEST(a_file_says_what_presets_are)
{
	PAPI_shutdown();
	EXPECT_EQ(in_child(with_csv), 0);
}

TEST(native_events_are_listed)
{
	PAPI_event_info_t info;
	int code = PAPI_NATIVE_MASK, n = 0;
	bool faults = false;

	begin();
	REQUIRE(PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, 0) == PAPI_OK);
	do {
		n++;
		EXPECT_EQ(PAPI_get_event_info(code, &info), PAPI_OK);
		EXPECT_EQ(info.event_code, (unsigned)code);
		faults |= strcmp(info.symbol, "perf::PAGE-FAULTS") == 0;
	} while (PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, 0) == PAPI_OK);
	EXPECT(n >= 7 && faults);
	EXPECT_EQ(PAPI_enum_cmp_event(&code, PAPI_NTV_ENUM_UMASKS, 0), PAPI_ENOEVNT);
	EXPECT_EQ(PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, 1), PAPI_ENOCMP);
}

/* Event sets. */

TEST(event_sets_hold_events)
{
	int set = PAPI_NULL, codes[3], list[4], n, other;

	begin();
	REQUIRE(PAPI_event_name_to_code(CLOCK, &codes[0]) == PAPI_OK);
	REQUIRE(PAPI_event_name_to_code("perf::CPU-CLOCK", &codes[1]) == PAPI_OK);
	REQUIRE(PAPI_event_name_to_code("perf::PAGE-FAULTS", &codes[2]) == PAPI_OK);
	EXPECT_EQ(PAPI_create_eventset(NULL), PAPI_EINVAL);
	REQUIRE(PAPI_create_eventset(&set) == PAPI_OK);
	EXPECT_EQ(PAPI_create_eventset(&set), PAPI_EINVAL); /* it is one */
	EXPECT_EQ(PAPI_start(set), PAPI_EINVAL);	    /* empty */
	EXPECT_EQ(PAPI_add_events(set, codes, 3), PAPI_OK);
	EXPECT_EQ(PAPI_num_events(set), 3);
	EXPECT_EQ(PAPI_add_event(set, codes[0]), PAPI_ECNFLCT);
	EXPECT_EQ(PAPI_add_event(set, PAPI_FP_INS), PAPI_ENOEVNT);
	EXPECT_EQ(PAPI_add_event(set, 17), PAPI_EINVAL);
	n = 4;
	EXPECT_EQ(PAPI_list_events(set, list, &n), PAPI_OK);
	EXPECT(n == 3 && list[0] == codes[0] && list[2] == codes[2]);
	n = 0;
	EXPECT_EQ(PAPI_list_events(set, NULL, &n), PAPI_OK);
	EXPECT_EQ(n, 3);
	EXPECT_EQ(PAPI_remove_event(set, codes[1]), PAPI_OK);
	EXPECT_EQ(PAPI_remove_event(set, codes[1]), PAPI_EINVAL);
	n = 2;
	EXPECT_EQ(PAPI_list_events(set, list, &n), PAPI_OK);
	EXPECT(n == 2 && list[1] == codes[2]);
	REQUIRE(PAPI_start(set) == PAPI_OK);
	EXPECT_EQ(PAPI_start(set), PAPI_EISRUN);
	EXPECT_EQ(PAPI_add_event(set, codes[1]), PAPI_EISRUN);
	EXPECT_EQ(PAPI_remove_event(set, codes[0]), PAPI_EISRUN);
	EXPECT_EQ(PAPI_cleanup_eventset(set), PAPI_EISRUN);
	other = set;
	EXPECT_EQ(PAPI_destroy_eventset(&other), PAPI_EISRUN);
	EXPECT_EQ(PAPI_stop(set, NULL), PAPI_OK);
	EXPECT_EQ(PAPI_stop(set, NULL), PAPI_ENOTRUN);
	EXPECT_EQ(PAPI_destroy_eventset(&other), PAPI_EINVAL); /* not empty */
	other = PAPI_NULL;
	EXPECT_EQ(PAPI_destroy_eventset(&other), PAPI_ENOEVST);
	drop(&set);
	EXPECT_EQ(PAPI_num_events(0x7fffffff), PAPI_ENOEVST);
}

TEST(counts_are_read_added_and_reset)
{
	int code, set = set_with(CLOCK, &code);
	long long a = 0, b = 0, sum = 1000, cyc = 0;

	REQUIRE(PAPI_start(set) == PAPI_OK);
	burn(0.02);
	EXPECT_EQ(PAPI_read(set, &a), PAPI_OK);
	EXPECT(a >= 18 * MS && a < 200 * MS);
	EXPECT_EQ(PAPI_accum(set, &sum), PAPI_OK);
	EXPECT(sum >= a + 1000 && sum < a + 1000 + 20 * MS);
	EXPECT_EQ(PAPI_read(set, &b), PAPI_OK);
	EXPECT(b < a); /* accum begins again */
	burn(0.02);
	EXPECT_EQ(PAPI_reset(set), PAPI_OK);
	EXPECT_EQ(PAPI_read(set, &b), PAPI_OK);
	EXPECT(b < 20 * MS);
	b = 1000000000000;
	EXPECT_EQ(PAPI_write(set, &b), PAPI_OK);
	EXPECT_EQ(PAPI_read_ts(set, &b, &cyc), PAPI_OK);
	EXPECT(b >= 1000000000000 && b < 1000000000000 + 20 * MS && cyc > 0);
	EXPECT_EQ(PAPI_stop(set, &a), PAPI_OK);
	EXPECT(a >= b);
	EXPECT_EQ(PAPI_read(set, &b), PAPI_OK); /* what it stopped at */
	EXPECT_EQ(a, b);
	EXPECT_EQ(PAPI_reset(set), PAPI_OK);
	EXPECT_EQ(PAPI_read(set, &b), PAPI_OK);
	EXPECT_EQ(b, 0);
	EXPECT_EQ(PAPI_read(set, NULL), PAPI_EINVAL);
	REQUIRE(PAPI_start(set) == PAPI_OK); /* from 0 */
	EXPECT_EQ(PAPI_stop(set, &a), PAPI_OK);
	EXPECT(a < 20 * MS);
	drop(&set);
}

/* Cycles that are counted in nanoseconds are shown, added and written as cycles. */
TEST(cycles_of_the_clock_are_read_and_written)
{
	int set = PAPI_NULL;
	long long v = 123456789, w;

	begin();
	REQUIRE(PAPI_create_eventset(&set) == PAPI_OK);
	REQUIRE(PAPI_add_event(set, PAPI_REF_CYC) == PAPI_OK);
	REQUIRE(PAPI_start(set) == PAPI_OK);
	EXPECT_EQ(PAPI_write(set, &v), PAPI_OK);
	EXPECT_EQ(PAPI_read(set, &w), PAPI_OK);
	EXPECT(w >= v - 10 && w < v + 100 * MS);
	EXPECT_EQ(PAPI_stop(set, NULL), PAPI_OK);
	drop(&set);
}

static int work_and_pause(void)
{
	burn(0.05);
	usleep(300000);
	burn(0.05);
	return 0;
}

TEST(another_process_is_counted_when_attached)
{
	int code, set = set_with(CLOCK, &code), state;
	pid_t child = fork();
	long long v = 0;

	if (child == 0)
		_exit(work_and_pause());
	REQUIRE(PAPI_attach(set, (unsigned long)child) == PAPI_OK);
	EXPECT_EQ(PAPI_state(set, &state), PAPI_OK);
	EXPECT(state & PAPI_ATTACHED);
	REQUIRE(PAPI_start(set) == PAPI_OK);
	waitpid(child, NULL, 0);
	EXPECT_EQ(PAPI_stop(set, &v), PAPI_OK);
	EXPECT(v >= 45 * MS && v < 1000 * (long long)MS);
	EXPECT_EQ(PAPI_detach(set), PAPI_OK);
	EXPECT_EQ(PAPI_detach(set), PAPI_EINVAL);
	REQUIRE(PAPI_attach(set, 0x7ffffff0) == PAPI_OK);
	EXPECT_EQ(PAPI_start(set), PAPI_EINVAL); /* no such thread */
	EXPECT_EQ(PAPI_state(set, &state), PAPI_OK);
	EXPECT(state & PAPI_STOPPED);
	drop(&set);
}

TEST(inherited_counts_are_of_threads_too)
{
	int code, set = set_with(CLOCK, &code);
	PAPI_option_t o = {.inherit = {.eventset = set, .inherit = PAPI_INHERIT_ALL}};
	long long v = 0;

	EXPECT_EQ(PAPI_set_opt(PAPI_INHERIT, &o), PAPI_OK);
	REQUIRE(PAPI_start(set) == PAPI_OK);
	EXPECT_EQ(in_child(work_and_pause), 0);
	EXPECT_EQ(PAPI_stop(set, &v), PAPI_OK);
	EXPECT(v >= 90 * MS);
	drop(&set);
}

/* Options, machine, program, time. */

TEST(options_are_kept)
{
	int code, set = set_with(CLOCK, &code);
	PAPI_option_t o = {0};

	EXPECT_EQ(PAPI_get_opt(PAPI_DEF_ITIMER, &o), PAPI_OK);
	EXPECT(o.itimer.itimer_num == ITIMER_PROF && o.itimer.ns == 10 * MS);
	o.itimer = (PAPI_itimer_option_t){ITIMER_REAL, 14, 0, 0};
	EXPECT_EQ(PAPI_set_opt(PAPI_DEF_ITIMER, &o), PAPI_OK);
	memset(&o, 0, sizeof(o));
	EXPECT_EQ(PAPI_get_opt(PAPI_DEF_ITIMER, &o), PAPI_OK);
	EXPECT(o.itimer.itimer_num == ITIMER_REAL && o.itimer.itimer_sig == 14);
	o.itimer = (PAPI_itimer_option_t){ITIMER_PROF, 27, 0, 0};
	EXPECT_EQ(PAPI_set_opt(PAPI_DEF_ITIMER, &o), PAPI_OK);
	o.itimer.itimer_num = 77;
	EXPECT_EQ(PAPI_set_opt(PAPI_DEF_ITIMER, &o), PAPI_EINVAL);
	EXPECT_EQ(PAPI_multiplex_init(), PAPI_OK);
	EXPECT_EQ(PAPI_get_multiplex(set), 0);
	EXPECT_EQ(PAPI_set_multiplex(set), PAPI_OK);
	EXPECT_EQ(PAPI_get_multiplex(set), 1);
	EXPECT_EQ(PAPI_set_domain(PAPI_DOM_ALL), PAPI_OK);
	EXPECT_EQ(PAPI_get_opt(PAPI_DEFDOM, &o), PAPI_DOM_ALL);
	EXPECT_EQ(PAPI_get_opt(PAPI_DEFDOM, NULL), PAPI_DOM_ALL);
	EXPECT_EQ(o.defdomain.domain, PAPI_DOM_ALL);
	EXPECT_EQ(PAPI_set_domain(PAPI_DOM_USER), PAPI_OK);
	EXPECT_EQ(PAPI_set_domain(0), PAPI_EINVAL);
	EXPECT_EQ(PAPI_set_granularity(PAPI_GRN_THR), PAPI_OK);
	EXPECT_EQ(PAPI_get_opt(PAPI_DEFGRN, NULL), PAPI_GRN_THR);
	EXPECT_EQ(PAPI_set_granularity(PAPI_GRN_SYS), PAPI_OK);
	EXPECT_EQ(PAPI_get_opt(PAPI_DEFGRN, &o), PAPI_GRN_SYS);
	EXPECT_EQ(PAPI_set_granularity(PAPI_GRN_THR), PAPI_OK);
	EXPECT_EQ(PAPI_set_granularity(PAPI_GRN_PROC), PAPI_ECMP);
	EXPECT_EQ(PAPI_get_component_info(0)->attach_must_ptrace, 1);
	EXPECT(PAPI_get_component_info(0)->available_granularities & PAPI_GRN_SYS);
	EXPECT_EQ(PAPI_get_opt(PAPI_LIB_VERSION, NULL), PAPI_VERSION);
	EXPECT(PAPI_get_cmp_opt(PAPI_MAX_MPX_CTRS, NULL, 0) >= 32);
	EXPECT_EQ(PAPI_get_cmp_opt(PAPI_MAX_MPX_CTRS, NULL, 1), PAPI_ENOCMP);
	EXPECT_EQ(PAPI_set_opt(PAPI_USER_EVENTS_FILE, &o), PAPI_ENOSUPP);
	EXPECT_EQ(PAPI_num_hwctrs(), PAPI_num_cmp_hwctrs(0));
	EXPECT_EQ(PAPI_num_components(), 1);
	EXPECT_EQ(PAPI_get_component_index("perf_event"), 0);
	EXPECT_EQ(PAPI_get_component_index("cuda"), PAPI_ENOCMP);
	REQUIRE(PAPI_get_component_info(0) != NULL);
	EXPECT(PAPI_get_component_info(0)->num_preset_events >= 1);
	EXPECT_EQ(PAPI_assign_eventset_component(set, 0), PAPI_OK);
	EXPECT_EQ(PAPI_get_eventset_component(set), 0);
	REQUIRE(PAPI_start(set) == PAPI_OK); /* multiplexed */
	burn(0.01);
	long long v = 0;
	EXPECT_EQ(PAPI_stop(set, &v), PAPI_OK);
	EXPECT(v >= 9 * MS && v < 200 * MS);
	drop(&set);
}

TEST(the_machine_and_the_program_are_known)
{
	const PAPI_hw_info_t *hw;
	const PAPI_exe_info_t *exe;
	const PAPI_shlib_info_t *libs;
	PAPI_dmem_info_t mem;
	PAPI_option_t o;
	bool libc = false;

	begin();
	hw = PAPI_get_hardware_info();
	exe = PAPI_get_executable_info();
	libs = PAPI_get_shared_lib_info();
	REQUIRE(hw && exe && libs);
	EXPECT_EQ(hw->totalcpus, sysconf(_SC_NPROCESSORS_CONF));
	EXPECT(hw->cpu_max_mhz > 100 && hw->vendor_string[0] && hw->sockets > 0);
	EXPECT((char *)exe->address_info.text_start <= (char *)burn);
	EXPECT((char *)exe->address_info.text_end > (char *)burn);
	EXPECT((char *)exe->address_info.data_start < (char *)exe->address_info.bss_end);
	EXPECT(strstr(exe->fullname, "papi_count") != NULL);
	for (int i = 0; i < libs->count; i++)
		libc |= strstr(libs->map[i].name, "libc.so") &&
			(char *)libs->map[i].text_start < (char *)libs->map[i].text_end;
	EXPECT(libc);
	EXPECT_EQ(PAPI_get_opt(PAPI_EXEINFO, &o), PAPI_OK);
	EXPECT(o.exe_info == exe);
	EXPECT_EQ(PAPI_get_dmem_info(&mem), PAPI_OK);
	EXPECT(mem.resident > 100 && mem.size >= mem.resident && mem.pagesize >= 4096);
	EXPECT_EQ(PAPI_get_dmem_info(NULL), PAPI_EINVAL);
}

TEST(timers_run)
{
	long long real = PAPI_get_real_usec(), cyc = PAPI_get_real_cyc(), virt;

	begin();
	usleep(20000);
	EXPECT(PAPI_get_real_usec() - real >= 20000);
	EXPECT(PAPI_get_real_nsec() / 1000 - real >= 20000);
	EXPECT((double)(PAPI_get_real_cyc() - cyc) / PAPI_get_opt(PAPI_CLOCKRATE, NULL) > 19000);
	virt = PAPI_get_virt_nsec();
	usleep(20000);
	EXPECT(PAPI_get_virt_nsec() - virt < 15 * MS);
	burn(0.02);
	EXPECT(PAPI_get_virt_nsec() - virt >= 18 * MS);
	EXPECT(PAPI_get_virt_usec() >= virt / 1000);
}

/* Threads. */

static void *keep(void *arg)
{
	unsigned long tids[8];
	int n = 8;
	void *p = NULL;

	if (PAPI_register_thread() || PAPI_set_thr_specific(PAPI_USR1_TLS, arg) ||
	    PAPI_get_thr_specific(PAPI_USR1_TLS, &p) || p != arg || PAPI_list_threads(tids, &n) ||
	    n != 2)
		return arg;
	return NULL;
}

TEST(threads_are_known_until_they_end)
{
	PAPI_all_thr_spec_t all = {0};
	pthread_t t;
	void *failed;
	int n = 0, mine = 7;
	unsigned long tid;

	PAPI_shutdown();
	begin();
	EXPECT_EQ(PAPI_register_thread(), PAPI_OK);
	EXPECT_EQ(PAPI_set_thr_specific(PAPI_USR1_TLS, &mine), PAPI_OK);
	REQUIRE(pthread_create(&t, NULL, keep, &n) == 0);
	pthread_join(t, &failed);
	EXPECT(!failed);
	EXPECT_EQ(PAPI_list_threads(NULL, &n), PAPI_OK);
	EXPECT_EQ(n, 1);
	EXPECT_EQ(PAPI_list_threads(&tid, &n), PAPI_OK);
	EXPECT_EQ(tid, syscall(SYS_gettid));
	all = (PAPI_all_thr_spec_t){1, &tid, &failed};
	EXPECT_EQ(PAPI_get_thr_specific(PAPI_USR1_TLS | PAPI_TLS_ALL_THREADS, (void **)&all),
		  PAPI_OK);
	EXPECT(all.num == 1 && failed == &mine);
	EXPECT_EQ(PAPI_get_thr_specific(99, &failed), PAPI_EINVAL);
	EXPECT_EQ(PAPI_unregister_thread(), PAPI_OK);
	EXPECT_EQ(PAPI_list_threads(NULL, &n), PAPI_OK);
	EXPECT_EQ(n, 0);
	EXPECT_EQ(PAPI_lock(PAPI_USR1_LOCK), PAPI_OK);
	EXPECT_EQ(PAPI_unlock(PAPI_USR1_LOCK), PAPI_OK);
	EXPECT_EQ(PAPI_lock(2), PAPI_EINVAL);
}

/* Overflows. */

static volatile int n_told, told_set;
static volatile long long told_vector;
static void *volatile told_at;
static volatile long long read_in_handler;

static void on_overflow(int set, void *address, long long vector, void *context)
{
	long long v[2];

	n_told++;
	told_set = set;
	told_vector |= vector;
	told_at = address;
	if (context && PAPI_read(set, v) == PAPI_OK)
		read_in_handler = v[0];
}

static void forget(void)
{
	n_told = 0;
	told_vector = 0;
	told_at = NULL;
	read_in_handler = 0;
}

TEST(overflows_are_told)
{
	int code, set = set_with(CLOCK, &code), state, index[2], n = 2;
	long long v;

	forget();
	REQUIRE(PAPI_overflow(set, code, MS, 0, on_overflow) == PAPI_OK);
	EXPECT_EQ(PAPI_state(set, &state), PAPI_OK);
	EXPECT_EQ(state, PAPI_STOPPED | PAPI_OVERFLOWING);
	REQUIRE(PAPI_start(set) == PAPI_OK);
	burn_at_one_place(0.1);
	REQUIRE(PAPI_stop(set, &v) == PAPI_OK);
	EXPECT(n_told > 50 && n_told <= v / MS);
	EXPECT_EQ(told_set, set);
	EXPECT_EQ(told_vector, 1);
	EXPECT(!HAVE_ONE_PLACE || told_at == the_place() || n_told < 90);
	EXPECT(read_in_handler >= 50 * MS && read_in_handler <= v);
	EXPECT_EQ(PAPI_get_overflow_event_index(set, 1, index, &n), PAPI_OK);
	EXPECT(n == 1 && index[0] == 0);
	EXPECT_EQ(PAPI_get_overflow_event_index(set, 0, index, &n), PAPI_EINVAL);
	EXPECT_EQ(PAPI_overflow(set, code, 0, 0, on_overflow), PAPI_OK);
	EXPECT_EQ(PAPI_state(set, &state), PAPI_OK);
	EXPECT_EQ(state, PAPI_STOPPED);
	forget();
	REQUIRE(PAPI_start(set) == PAPI_OK);
	burn(0.02);
	REQUIRE(PAPI_stop(set, &v) == PAPI_OK);
	EXPECT_EQ(n_told, 0);
	drop(&set);
}

TEST(overflows_of_two_events_and_by_software)
{
	int code, other, set = set_with(CLOCK, &code);
	long long v[2];

	forget();
	REQUIRE(PAPI_event_name_to_code("perf::CPU-CLOCK", &other) == PAPI_OK);
	REQUIRE(PAPI_add_event(set, other) == PAPI_OK);
	REQUIRE(PAPI_overflow(set, code, MS, 0, on_overflow) == PAPI_OK);
	EXPECT_EQ(PAPI_overflow(set, other, MS, PAPI_OVERFLOW_FORCE_SW, on_overflow), PAPI_ECNFLCT);
	REQUIRE(PAPI_overflow(set, other, MS, 0, on_overflow) == PAPI_OK);
	REQUIRE(PAPI_start(set) == PAPI_OK);
	burn(0.1);
	REQUIRE(PAPI_stop(set, v) == PAPI_OK);
	EXPECT_EQ(told_vector, 3);
	EXPECT_EQ(PAPI_overflow(set, code, 0, 0, NULL), PAPI_OK);
	EXPECT_EQ(PAPI_overflow(set, other, 0, 0, NULL), PAPI_OK);
	forget();
	REQUIRE(PAPI_overflow(set, other, MS, PAPI_OVERFLOW_FORCE_SW, on_overflow) == PAPI_OK);
	REQUIRE(PAPI_start(set) == PAPI_OK);
	burn(0.2);
	REQUIRE(PAPI_stop(set, v) == PAPI_OK);
	EXPECT_EQ(told_vector, 2);
	EXPECT(n_told >= 5 && n_told <= v[1] / (10 * MS) + 1);
	drop(&set);
}

TEST(arguments_of_overflow)
{
	int code, set = set_with(CLOCK, &code);
	uint16_t n;

	EXPECT_EQ(PAPI_overflow(4711, code, MS, 0, on_overflow), PAPI_ENOEVST);
	EXPECT_EQ(PAPI_overflow(set, PAPI_TOT_CYC, MS, 0, on_overflow), PAPI_ENOEVNT);
	EXPECT_EQ(PAPI_overflow(set, code, -1, 0, on_overflow), PAPI_EINVAL);
	EXPECT_EQ(PAPI_overflow(set, code, 0, 0, on_overflow), PAPI_EINVAL);
	EXPECT_EQ(PAPI_overflow(set, code, MS, 0, NULL), PAPI_EINVAL);
	EXPECT_EQ(PAPI_overflow(set, code, MS, 3, on_overflow), PAPI_EINVAL);
	REQUIRE(PAPI_profil(&n, 2, NULL, 2, set, code, MS, 0) == PAPI_OK);
	EXPECT_EQ(PAPI_overflow(set, code, MS, 0, on_overflow), PAPI_ECNFLCT);
	EXPECT_EQ(PAPI_profil(&n, 2, NULL, 2, set, code, 0, 0), PAPI_OK);
	REQUIRE(PAPI_overflow(set, code, MS, 0, on_overflow) == PAPI_OK);
	EXPECT_EQ(PAPI_profil(&n, 2, NULL, 2, set, code, MS, 0), PAPI_ECNFLCT);
	REQUIRE(PAPI_start(set) == PAPI_OK);
	EXPECT_EQ(PAPI_overflow(set, code, MS, 0, on_overflow), PAPI_EISRUN);
	REQUIRE(PAPI_stop(set, NULL) == PAPI_OK);
	drop(&set);
}

static int overflow_in_child(void)
{
	int before = n_told;

	burn(0.1);
	return n_told - before > 30 ? 0 : 1;
}

TEST(overflows_go_on_after_fork)
{
	int code, set = set_with(CLOCK, &code);

	forget();
	REQUIRE(PAPI_overflow(set, code, MS, 0, on_overflow) == PAPI_OK);
	REQUIRE(PAPI_start(set) == PAPI_OK);
	EXPECT_EQ(in_child(overflow_in_child), 0);
	burn(0.1);
	REQUIRE(PAPI_stop(set, NULL) == PAPI_OK);
	EXPECT(n_told > 20);
	drop(&set);
}

/* Without perf events. */

/* From now on perf_event_open(2) fails in this process. */
static bool forbid_events(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static int forbidden(void)
{
	int set = PAPI_NULL, event, faults;
	uint16_t n = 0;
	long long v;

	CHECK(forbid_events());
	CHECK(PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT);
	CHECK(PAPI_event_name_to_code(CLOCK, &event) == PAPI_OK);
	CHECK(PAPI_create_eventset(&set) == PAPI_OK);
	CHECK(PAPI_add_event(set, event) == PAPI_OK);
	CHECK(PAPI_event_name_to_code("perf::MAJOR-FAULTS", &faults) == PAPI_OK);
	CHECK(PAPI_profil(&n, 2, NULL, 2, set, event, 10 * MS, 0) == PAPI_OK);
	CHECK(PAPI_start(set) == PAPI_OK);
	burn(0.3);
	CHECK(PAPI_stop(set, &v) == PAPI_OK);
	CHECK(v >= 270 * MS && v < 2000 * (long long)MS);
	CHECK(n >= v / (10 * MS) - 3 && n <= v / (10 * MS) + 1);
	CHECK(PAPI_profil(&n, 2, NULL, 2, set, event, 0, 0) == PAPI_OK);
	n_told = 0;
	CHECK(PAPI_overflow(set, event, 20 * MS, 0, on_overflow) == PAPI_OK);
	CHECK(PAPI_start(set) == PAPI_OK);
	burn(0.3);
	CHECK(PAPI_stop(set, &v) == PAPI_OK);
	CHECK(n_told > 3 && n_told <= v / (20 * MS));
	return 0;
}

TEST(timers_stand_in_where_perf_events_are_forbidden)
{
	PAPI_shutdown();
	EXPECT_EQ(in_child(forbidden), 0);
}

/* "PAPI_get_component_info" and the number of counters are asked for before PAPI_library_init(),
 * and a component is disabled then. */
static int component_before_init(void)
{
	const PAPI_component_info_t *info;
	int code = 0;

	PAPI_shutdown();
	info = PAPI_get_component_info(0);
	if (!info || strcmp(info->name, "perf_event") != 0 || info->initialized)
		return __LINE__;
	if (PAPI_get_component_info(1) || PAPI_num_hwctrs() < 0)
		return __LINE__;
	if (PAPI_disable_component(0) != PAPI_OK || PAPI_disable_component(1) != PAPI_ENOCMP ||
	    PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return __LINE__;
	if (!PAPI_get_component_info(0)->disabled || PAPI_disable_component(0) != PAPI_ENOINIT ||
	    PAPI_event_name_to_code("perf::TASK-CLOCK", &code) != PAPI_OK ||
	    PAPI_query_event(code) != PAPI_ECMP_DISABLED)
		return __LINE__;
	return 0;
}

TEST(the_component_is_there_before_the_library_is)
{
	begin();
	EXPECT(PAPI_num_hwctrs() > 0);
	EXPECT_EQ(in_child(component_before_init), 0);
}

TEST(codes_without_a_preset_are_no_events)
{
	PAPI_event_info_t info;

	begin();
	EXPECT_EQ(PAPI_get_event_info((int)(PAPI_END | 1), &info), PAPI_ENOEVNT);
}

static int n_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 70000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* What counts is opened once: start and stop only switch it on and off. */
TEST(counters_stay_open)
{
	int code, set = set_with(CLOCK, &code), n;
	long long v = 0, sum = 0;

	REQUIRE(PAPI_start(set) == PAPI_OK);
	n = n_descriptors();
	EXPECT_EQ(PAPI_stop(set, &v), PAPI_OK);
	EXPECT_EQ(n_descriptors(), n);
	for (int i = 0; i < 3; i++) {
		REQUIRE(PAPI_start(set) == PAPI_OK);
		burn(0.01);
		EXPECT_EQ(PAPI_stop(set, &v), PAPI_OK);
		EXPECT(v >= 9 * MS && v < 200 * MS);
		sum += v;
		burn(0.01); /* is not counted */
	}
	EXPECT_EQ(n_descriptors(), n);
	EXPECT(sum >= 27 * MS);
	drop(&set);
	EXPECT_EQ(n_descriptors(), n - 1);
}

/* Nothing is opened when a set of one or of several events starts again.  Each has its own count,
 * from 0 on. */
static int start_without_opening(void)
{
	int code, faults, one = set_with(CLOCK, &code), set = set_with(CLOCK, &code);
	long long v[2], n;

	CHECK(PAPI_event_name_to_code("perf::PAGE-FAULTS", &faults) == PAPI_OK);
	CHECK(PAPI_add_event(set, faults) == PAPI_OK);
	CHECK(PAPI_start(one) == PAPI_OK && PAPI_stop(one, &n) == PAPI_OK);
	CHECK(PAPI_start(set) == PAPI_OK && PAPI_stop(set, v) == PAPI_OK);
	CHECK(forbid_events());
	for (int i = 1; i <= 2; i++) {
		char *pages = mmap(NULL, 100 * 4096, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CHECK(PAPI_start(set) == PAPI_OK);
		for (int k = 0; k < 100 * i / 2; k++)
			((volatile char *)pages)[k * 4096] = 1;
		CHECK(PAPI_read(set, v) == PAPI_OK);
		CHECK(v[1] >= 100 * i / 2 && v[1] < 100 * i / 2 + 20);
		CHECK(PAPI_reset(set) == PAPI_OK);
		burn(0.01);
		CHECK(PAPI_stop(set, v) == PAPI_OK);
		CHECK(v[0] >= 9 * MS && v[0] < 200 * MS && v[1] < 20);
		munmap(pages, 100 * 4096);
	}
	CHECK(PAPI_remove_event(set, code) == PAPI_OK); /* the group is over */
	CHECK(PAPI_start(set) != PAPI_OK);
	CHECK(PAPI_start(one) == PAPI_OK);
	burn(0.01);
	CHECK(PAPI_stop(one, &n) == PAPI_OK && n >= 9 * MS && n < 200 * MS);
	return 0;
}

TEST(starting_again_opens_nothing)
{
	EXPECT_EQ(in_child(start_without_opening), 0);
}

static int count_in_child(void)
{
	int code, set = set_with(CLOCK, &code);
	long long v = 0;

	if (PAPI_start(set) || PAPI_stop(set, NULL))
		return __LINE__;
	for (int fd = 3; fd < 70000; fd++) /* as daemons do */
		close(fd);
	if (open("/dev/null", O_RDONLY) < 0)
		return __LINE__;
	if (PAPI_start(set))
		return __LINE__;
	burn(0.01);
	return PAPI_stop(set, &v) == PAPI_OK && v >= 9 * MS ? 0 : __LINE__;
}

TEST(counters_that_the_program_closed_are_opened_again)
{
	begin();
	EXPECT_EQ(in_child(count_in_child), 0);
}

TEST(rates_are_those_since_the_last_call)
{
	float real, virt, rate;
	long long n;

	begin();
	EXPECT_EQ(PAPI_rate_stop(), PAPI_ENOEVNT);
	EXPECT_EQ(PAPI_flops_rate((int)PAPI_TOT_CYC, &real, &virt, &n, &rate), PAPI_ENOEVNT);
	EXPECT_EQ(PAPI_ipc(NULL, &virt, &n, &rate), PAPI_EINVAL);
	/* instructions are there or not */
	if (PAPI_ipc(&real, &virt, &n, &rate) == PAPI_OK) {
		EXPECT(n == 0 && real == 0);
		burn(0.01);
		EXPECT_EQ(PAPI_ipc(&real, &virt, &n, &rate), PAPI_OK);
		EXPECT(n > 0 && virt >= 0.009f && real >= virt * 0.9f);
		EXPECT_EQ(PAPI_rate_stop(), PAPI_OK);
	}
}

static int regions_in_child(void)
{
	setenv("PAPI_EVENTS", "perf::TASK-CLOCK", 1);
	setenv("PAPI_OUTPUT_DIRECTORY", "/tmp", 0);
	if (PAPI_hl_region_end("outer") != PAPI_EINVAL || PAPI_hl_stop() != PAPI_EINVAL)
		return __LINE__;
	if (PAPI_hl_region_begin("outer"))
		return __LINE__;
	for (int i = 0; i < 2; i++) {
		if (PAPI_hl_region_begin("in \"it\"") || PAPI_hl_read("in \"it\""))
			return __LINE__;
		burn(0.01);
		if (PAPI_hl_region_end("outer") != PAPI_EINVAL || PAPI_hl_region_end("in \"it\""))
			return __LINE__;
	}
	if (PAPI_hl_region_end("outer"))
		return __LINE__;
	exit(0); /* writes the file */
}

TEST(regions_are_written_at_exit)
{
	char dir[] = "/tmp/papi_hl.XXXXXX", command[400];

	REQUIRE(mkdtemp(dir));
	setenv("PAPI_OUTPUT_DIRECTORY", dir, 1);
	begin();
	EXPECT_EQ(in_child(regions_in_child), 0);
	snprintf(
		command, sizeof(command),
		"jq -e '[.threads[].regions[]] | length == 2 and .[0].name == \"outer\" and "
		".[1].parent_region_id == \"0\" and .[1].region_count == \"2\" and "
		"(.[1][\"perf::TASK-CLOCK\"] | tonumber) >= 18000000 and "
		"(.[0][\"perf::TASK-CLOCK\"] | tonumber) >= "
		"(.[1][\"perf::TASK-CLOCK\"] | tonumber)' %s/papi_hl_output/rank_*.json >/dev/null",
		dir);
	EXPECT_EQ(system(command), 0);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	EXPECT_EQ(system(command), 0);
	unsetenv("PAPI_OUTPUT_DIRECTORY");
}
