/* SPDX-License-Identifier: BSD-2-Clause */
/* Where slots went.  Counts and shares are those that perf stat printed, published by others. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "events/topdown.h"
#include "t.h"

static void expect(const char *const *names, size_t n, const char *cpu, const double *counts,
		   const double *pct)
{
	_str_ struct str why = {0};
	struct topdown_events t;
	struct topdown r;

	EXPECT(topdown_find(names, n, cpu, &t, &why) == 0);
	EXPECT(why.n == 0);
	EXPECT(topdown_of(&t, counts, &r));
	for (unsigned p = 0; p < TOPDOWN_N_PARTS; p++)
		EXPECT(fabs(100 * r.share[p] - pct[p]) < 0.0500001);
}

static const char *const slots[] = {"slots", "topdown-bad-spec", "topdown-be-bound",
				    "topdown-fe-bound", "topdown-retiring"};

TEST(slots_are_shared_out_as_perf_does)
{
	/* Ice Lake, `perf stat -a`, linux-perf-users; then a ray tracer, of one process. */
	expect(slots, 5, "", (const double[]){71229087, 5066320, 35080387, 22769750, 8336760},
	       (const double[]){11.7, 7.1, 32.0, 49.2, 0});
	expect(slots, 5, "GenuineIntel-6-154-3",
	       (const double[]){144275900080, 11881544712, 3206197698, 39039361198, 90526054952},
	       (const double[]){62.6, 8.2, 27.0, 2.2, 0});
}

/* Zen 4: perf stat -M PipelineL1, as published.  Zen 5 has 8 slots a cycle. */
TEST(amd_counts_dispatch_slots)
{
	static const char *const names[] = {"de_src_op_disp.all",
					    "ls_not_halted_cyc",
					    "ex_ret_ops",
					    "de_no_dispatch_per_slot.smt_contention",
					    "de_no_dispatch_per_slot.no_ops_from_frontend",
					    "de_no_dispatch_per_slot.backend_stalls"};
	const double counts[] = {219730483625., 44116386583., 214351198437., 0,
				 5543991665.,	39403115284.};

	expect(names, 6, "AuthenticAMD,25,97,2", counts, (const double[]){81.0, 2.0, 2.1, 14.9, 0});
	expect(names, 6, "AuthenticAMD,26,68,0", counts, (const double[]){60.7, 1.5, 1.6, 11.2, 0});
}

/* Yasin's formula by hand: 4 slots a cycle, 400 in all; 100 retired, 120 issued, 5 cycles of
 * recovery are (120 - 100 + 20) / 400. */
TEST(four_counters_do_where_there_are_no_slots)
{
	static const char *const names[] = {
		"cycles:u", "skl::UOPS_ISSUED:ANY:u", "UOPS_RETIRED.RETIRE_SLOTS:u",
		"cpu/idq_uops_not_delivered.core/u", "int_misc.recovery_cycles:u"};
	static const char *const kernels[] = {"topdown-total-slots", "topdown-slots-issued",
					      "topdown-slots-retired", "topdown-fetch-bubbles",
					      "topdown-recovery-bubbles"};

	expect(names, 5, "", (const double[]){100, 120, 100, 60, 5},
	       (const double[]){25, 10, 15, 50, 0});
	expect(kernels, 5, "", (const double[]){400, 120, 100, 60, 20},
	       (const double[]){25, 10, 15, 50, 0});
	/* 101 %: what counters disagree on is no part of its own. */
	expect(kernels, 5, "", (const double[]){400, 320, 300, 64, 20},
	       (const double[]){75, 10, 16, 0, 0});
}

static void expect_missing(const char *const *names, size_t n, int rc, const char *says)
{
	_str_ struct str why = {0};
	struct topdown_events t;

	EXPECT(topdown_find(names, n, "", &t, &why) == rc);
	EXPECT(strstr(str_get(&why), says) != NULL);
}

TEST(what_is_missing_is_named)
{
	static const char *const sides[] = {"slots:k", "topdown-bad-spec:u", "topdown-be-bound:u",
					    "topdown-fe-bound:u", "topdown-retiring:u"};
	static const char *const clocks[] = {"cycles", "instructions", "slotsy"};

	expect_missing(slots, 4, -ENODATA, "the events of Intel's slots lack topdown-retiring");
	expect_missing(sides, 5, -ENODATA, "lack slots");
	expect_missing(clocks, 3, -ENOENT, "its events were not counted");
	expect_missing(NULL, 0, -ENOENT, "its events were not counted");
}

TEST(without_slots_there_are_no_shares)
{
	_str_ struct str why = {0};
	struct topdown_events t;
	struct topdown r;

	EXPECT(topdown_find(slots, 5, "", &t, &why) == 0);
	EXPECT(!topdown_of(&t, (const double[]){5, 0, 0, 0, 0}, &r));
}
