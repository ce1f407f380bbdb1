/* SPDX-License-Identifier: BSD-2-Clause */
/* See topdown.h.
 *
 * Sources of the formulas:
 * - Intel's slots (Ice Lake and later): the kernel tells slots times a share, so that the shares
 *   are each event over the sum of the four: Linux 6.1, tools/perf/util/stat-shadow.c,
 *   td_metric_ratio.
 * - Topdown events of Intel's cores before that, as the kernel names them
 *   (arch/x86/events/intel/core.c, td_snb_events): the same file, td_retiring and others.
 * - The four counters: A. Yasin, "A Top-Down Method for Performance Analysis and Counters
 *   Architecture", ISPASS 2014, tables 1 and 2, for cores that start 4 operations a cycle.
 * - AMD's pipeline utilization (Zen 4 and 5): Linux, tools/perf/pmu-events/arch/x86/amdzen4 and
 *   amdzen5, pipeline.json; 6 slots a cycle, 8 from family 0x1a on. */
#include "events/topdown.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"

const char *const topdown_names[TOPDOWN_N_PARTS] = {"Retiring", "Bad speculation", "Front end",
						    "Back end", "Other thread of the core"};
const char *const topdown_keys[TOPDOWN_N_PARTS] = {"retiring", "bad_speculation", "frontend",
						   "backend", "smt"};

#define MOST_NAMES 4

enum formula { METRICS, KERNELS, COUNTERS, AMD, N_FORMULAS };

/* Each event with the names it has; the kernel's or the vendor's first. */
static const struct {
	const char *called;
	const char *events[TOPDOWN_MOST_EVENTS][MOST_NAMES];
} formulas[N_FORMULAS] = {
	[METRICS] = {"Intel's slots",
		     {{"slots", "topdown.slots"},
		      {"topdown-retiring"},
		      {"topdown-bad-spec"},
		      {"topdown-fe-bound"},
		      {"topdown-be-bound"}}},
	[KERNELS] = {"Intel's topdown events",
		     {{"topdown-total-slots"},
		      {"topdown-slots-issued"},
		      {"topdown-slots-retired"},
		      {"topdown-fetch-bubbles"},
		      {"topdown-recovery-bubbles"}}},
	[COUNTERS] = {"Intel's counters of 4 slots a cycle",
		      {{"cpu_clk_unhalted.thread", "cpu_clk_unhalted.thread_p", "cycles",
			"cpu-cycles"},
		       {"uops_issued.any"},
		       {"uops_retired.retire_slots"},
		       {"idq_uops_not_delivered.core"},
		       {"int_misc.recovery_cycles"}}},
	[AMD] = {"AMD's dispatch slots",
		 {{"ls_not_halted_cyc", "cycles_not_in_halt", "cycles", "cpu-cycles"},
		  {"ex_ret_ops", "retired_ops"},
		  {"de_src_op_disp.all"},
		  {"de_no_dispatch_per_slot.no_ops_from_frontend"},
		  {"de_no_dispatch_per_slot.backend_stalls"},
		  {"de_no_dispatch_per_slot.smt_contention"}}},
};

/* --- names --- */

/* ".", ":", "-" and "_" part words: libpfm4 writes UOPS_ISSUED:ANY for uops_issued.any. */
static char topdown_letter(char c)
{
	return strchr(".:-_", c) && c ? '_' : (char)tolower((unsigned char)c);
}

/* NAME without its unit: "cpu/slots/u", "skl::UOPS_ISSUED:ANY". */
static const char *bare(const char *name)
{
	const char *unit = strstr(name, "::"), *slash = strchr(name, '/');

	return unit ? unit + 2 : slash ? slash + 1 : name;
}

/* Whether NAME is WORD; *RET_MODIFIERS is what follows: ":u", "". */
static bool is_called(const char *name, const char *word, const char **ret_modifiers)
{
	size_t i = 0;

	for (name = bare(name); word[i]; i++)
		if (topdown_letter(name[i]) != topdown_letter(word[i]))
			return false;
	*ret_modifiers = name + i;
	return !name[i] || name[i] == ':' || name[i] == '/';
}

/* Whose events A and B count: of the user's side, the kernel's, guests'; others change no count. */
static bool same_side(const char *a, const char *b)
{
	static const char sides[] = "ukhHG";

	for (const char *s = sides; *s; s++)
		if (!strchr(a, *s) != !strchr(b, *s))
			return false;
	return true;
}

/* Finds event E of formula F that counts as SIDE does (NULL: any); its number, or N. */
static size_t find_event(const char *const *names, size_t n, unsigned f, unsigned e,
			 const char **side)
{
	for (unsigned k = 0; k < MOST_NAMES && formulas[f].events[e][k]; k++)
		for (size_t i = 0; i < n; i++) {
			const char *modifiers;

			if (!is_called(names[i], formulas[f].events[e][k], &modifiers) ||
			    (*side && !same_side(*side, modifiers)))
				continue;
			*side = modifiers;
			return i;
		}
	return n;
}

/* Events of F that are there.  The clock comes last: all CPUs have it, so it says the least. */
static unsigned find_events(const char *const *names, size_t n, unsigned f,
			    struct topdown_events *t, unsigned *ret_n_own)
{
	const char *side = NULL;
	unsigned found = 0;

	for (unsigned k = 0; k < TOPDOWN_MOST_EVENTS; k++) {
		const unsigned e = (k + 1) % TOPDOWN_MOST_EVENTS;

		if (!formulas[f].events[e][0])
			continue;
		t->at[e] = find_event(names, n, f, e, &side);
		found += t->at[e] < n;
		*ret_n_own += t->at[e] < n && e;
	}
	return found;
}

static unsigned n_events(unsigned f)
{
	unsigned n = 0;

	while (n < TOPDOWN_MOST_EVENTS && formulas[f].events[n][0])
		n++;
	return n;
}

/* "AuthenticAMD,26,2,1", of another source "AuthenticAMD-26-2-1": the family is decimal
 * (machine/cpu_id.h). */
static unsigned width_of(unsigned formula, const char *cpu)
{
	unsigned family = 0;

	if (formula != AMD)
		return formula == COUNTERS ? 4 : 1;
	return sscanf(cpu, "AuthenticAMD%*1[,-]%u", &family) == 1 && family >= 0x1a ? 8 : 6;
}

static void say_missing(unsigned f, const struct topdown_events *t, size_t n, struct str *why)
{
	const char *before = " lack";

	str_addf(why, "no top-down: the events of %s", formulas[f].called);
	for (unsigned e = 0; e < n_events(f); e++) {
		if (t->at[e] < n)
			continue;
		str_addf(why, "%s %s", before, formulas[f].events[e][0]);
		before = ",";
	}
}

int topdown_find(const char *const *names, size_t n, const char *cpu, struct topdown_events *ret,
		 struct str *why)
{
	struct topdown_events nearest = {0};
	unsigned most = 0;

	for (unsigned f = 0; f < N_FORMULAS; f++) {
		struct topdown_events t = {.formula = f, .width = width_of(f, cpu)};
		unsigned own = 0;

		if (find_events(names, n, f, &t, &own) == n_events(f)) {
			*ret = t;
			return 0;
		}
		if (own > most) {
			most = own;
			nearest = t;
		}
	}
	if (most) {
		say_missing(nearest.formula, &nearest, n, why);
		return -ENODATA;
	}
	str_addf(why, "no top-down: its events were not counted (dwell-why(1) lists them)");
	return -ENOENT;
}

const char *topdown_formula(const struct topdown_events *t)
{
	return formulas[t->formula].called;
}

bool topdown_tells(const struct topdown_events *t, enum topdown_part part)
{
	return part != TOPDOWN_SMT || t->formula == AMD;
}

/* --- numbers --- */

/* What is left of 1.  Counters do not count at one moment: a little below 0 is 0, as perf has it
 * (stat-shadow.c, sanitize_val). */
static double the_rest(const struct topdown *r)
{
	const double rest = 1 - r->share[TOPDOWN_RETIRING] - r->share[TOPDOWN_BAD_SPECULATION] -
			    r->share[TOPDOWN_FRONTEND];

	return rest < 0 && rest >= -0.02 ? 0 : rest;
}

bool topdown_of(const struct topdown_events *t, const double *counts, struct topdown *ret)
{
	struct topdown r = {0};
	double n[TOPDOWN_MOST_EVENTS], whole;

	for (unsigned e = 0; e < n_events(t->formula); e++)
		n[e] = counts[t->at[e]];
	r.slots = n[0] * t->width;
	whole = t->formula == METRICS ? n[1] + n[2] + n[3] + n[4] : r.slots;
	if (!(whole > 0))
		return false;
	r.share[TOPDOWN_RETIRING] = n[t->formula == METRICS || t->formula == AMD ? 1 : 2] / whole;
	r.share[TOPDOWN_FRONTEND] = n[3] / whole;
	switch (t->formula) {
	case METRICS:
		r.share[TOPDOWN_BAD_SPECULATION] = n[2] / whole;
		r.share[TOPDOWN_BACKEND] = n[4] / whole;
		break;
	case AMD:
		r.share[TOPDOWN_BAD_SPECULATION] = (n[2] - n[1]) / whole;
		r.share[TOPDOWN_BACKEND] = n[4] / whole;
		r.share[TOPDOWN_SMT] = n[5] / whole;
		break;
	default:
		/* The paper counts cycles of recovery, the kernel slots. */
		r.share[TOPDOWN_BAD_SPECULATION] = (n[1] - n[2] + n[4] * t->width) / whole;
		r.share[TOPDOWN_BACKEND] = the_rest(&r);
	}
	*ret = r;
	return true;
}
