/* SPDX-License-Identifier: BSD-2-Clause */
/* See pm.h.  Only the machine's own description of its PMUs is asked; what is chosen must
 * open.
 *
 * AMD: ibs_op, counting dispatched ops where it can (cnt_ctl; else cycles), and ibs_fetch, with the
 * registers as raw data (Linux, arch/x86/events/amd/ibs.c; Documentation/admin-guide/perf has
 * nothing on it, perf-amd-ibs(1) has).  They know no rings of privilege but by the software filter
 * of newer kernels (swfilt).
 *
 * Intel: instructions, precise, with the newest branch and the three weights; :pp rather than :ppp
 * where retdelay is wanted, for the fixed counter that :ppp needs does not tell it
 * (arch/x86/events/intel/ds.c, PEBS_TIMING_INFO).  Beside it the loads' event, which alone tells
 * where data came from: it picks loads, not instructions, and has its own period. */
#include "events/pm.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "events/check.h"
#include "events/pmu.h"
#include "model/fact.h"

struct chooser {
	const struct event_env *env;
	struct event_specs *specs;
	uint32_t without;  /* counters that the mode leaves out */
	const char *level; /* "u", "k" or "" */
	uint64_t period;
	struct err *err;
	int rc;
};

bool event_pm_is(const char *text)
{
	size_t n = strcspn(text, ":");

	return (n == 2 || (n == 3 && strchr("023", text[2]))) && str_starts(text, "pm");
}

/* What the mode takes of the page's counters (dcpiprofileme(1), "COUNTER NAMES"). */
static int take_mode(struct chooser *c, char mode)
{
	switch (mode) {
	case '2':
		return err_set(c->err, -EOPNOTSUPP,
			       "it counts what retires, and misses of the board cache, while an "
			       "instruction is in flight: no machine of today tells; use pm");
	case '0':
	case '3':
		c->without = 1u << FACT_RETDELAY;
		return 0;
	default:
		return 0;
	}
}

/* Text behind "pm" and its mode. */
static int take_rest(struct chooser *c, const char *p)
{
	if (str_starts(p, ":u") || str_starts(p, ":k")) {
		c->level = p[1] == 'u' ? "u" : "k";
		p += 2;
	}
	if (!*p)
		return 0;
	if (*p != ':' || str_parse_u64(p + 1, 10, &c->period) < 0 || !c->period ||
	    c->period > INT64_MAX)
		return err_set(c->err, -EINVAL,
			       "behind pm and :u or :k there can be a period, not \"%s\"", p);
	return 0;
}

static bool has(const struct chooser *c, const char *pmu, const char *file)
{
	_mem_ char *text = event_pmu_text(c->env, pmu, file);

	return text != NULL;
}

static void exclude(const struct chooser *c, struct event_spec *s)
{
	s->attr.exclude_kernel = *c->level == 'u';
	s->attr.exclude_user = *c->level == 'k';
	s->attr.exclude_hv = *c->level != '\0';
}

static void pm_add(struct chooser *c, struct event_spec *s, const char *name)
{
	free(s->name); /* a term's */
	s->name = *c->level ? xasprintf("%s%s%s", name, strchr(name, '/') ? "" : ":", c->level)
			    : xstrdup(name);
	s->unit = "";
	s->period = c->period;
	s->without_counters = c->without;
	vec_push(c->specs, *s);
}

/* One of AMD's. */
static int add_ibs(struct chooser *c, const char *pmu, const char *term, enum event_facts facts)
{
	struct event_spec s = {.attr.size = sizeof(s.attr), .facts = facts};
	_mem_ char *format = xasprintf("format/%s", term);
	bool can_filter = has(c, pmu, "format/swfilt");
	int rc;

	if (c->period % 16)
		return err_set(c->err, -EINVAL, "periods of %s are multiples of 16", pmu);
	if (*c->level && !can_filter)
		return err_set(c->err, -EOPNOTSUPP,
			       "this kernel cannot limit %s to user or kernel code (it has no "
			       "swfilt): leave the :%s",
			       pmu, c->level);
	rc = event_pmu_encode(c->env, pmu, has(c, pmu, format) ? term : "", &s, c->err);
	if (rc < 0)
		return rc;
	if (*c->level) {
		struct event_spec filter = {.attr.size = sizeof(s.attr)};

		rc = event_pmu_encode(c->env, pmu, "swfilt", &filter, c->err);
		free(filter.name);
		if (rc < 0)
			return rc;
		s.attr.config |= filter.attr.config;
		s.attr.config1 |= filter.attr.config1;
		s.attr.config2 |= filter.attr.config2;
		exclude(c, &s);
		s.attr.exclude_hv = 0; /* perf_ibs_init takes user and kernel alone */
	}
	s.attr.sample_type = PERF_SAMPLE_RAW;
	pm_add(c, &s, pmu);
	return 0;
}

static int add_amd(struct chooser *c)
{
	int rc = add_ibs(c, "ibs_op", "cnt_ctl", EVENT_FACTS_IBS_OP);

	if (rc >= 0 && has(c, "ibs_fetch", "type"))
		rc = add_ibs(c, "ibs_fetch", "rand_en", EVENT_FACTS_IBS_FETCH);
	return rc;
}

/* Asks for FIELDS in S's samples.  A kernel before 5.12 does not know the three weights: without
 * them then. */
static void ask_fields(struct chooser *c, struct event_spec *s, uint64_t fields)
{
	struct event_spec probe = *s;

	s->attr.sample_type = fields;
	if (fields & PERF_SAMPLE_BRANCH_STACK)
		s->attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE |
					     (*c->level != 'k' ? PERF_SAMPLE_BRANCH_USER : 0) |
					     (*c->level != 'u' ? PERF_SAMPLE_BRANCH_KERNEL : 0);
	probe.attr.sample_type = s->attr.sample_type;
	probe.attr.branch_sample_type = s->attr.branch_sample_type;
	probe.attr.sample_period = 1 << 20;
	if (c->env->probe && c->env->probe(&probe) == -EINVAL)
		s->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
}

static int add_precise(struct chooser *c, const char *pmu, const char *terms, unsigned precise,
		       uint64_t fields)
{
	struct event_spec s = {.attr.size = sizeof(s.attr), .facts = EVENT_FACTS_FIELDS};
	_mem_ char *name = xasprintf("%s/%s/%s", pmu, terms, precise > 2 ? "ppp" : "pp");
	int rc = event_pmu_encode(c->env, pmu, terms, &s, c->err);

	if (rc < 0)
		return rc;
	s.attr.precise_ip = precise & 3;
	s.attr.exclude_guest = 1; /* whose state the hardware does not record */
	exclude(c, &s);
	ask_fields(c, &s, fields);
	pm_add(c, &s, name);
	return 0;
}

/* The CPUs of one kind. */
static void add_intel(const char *pmu, void *arg)
{
	struct chooser *c = arg;
	_mem_ char *max_precise = event_pmu_text(c->env, pmu, "caps/max_precise");
	_mem_ char *branches = event_pmu_text(c->env, pmu, "caps/branches");
	unsigned precise = c->without & 1u << FACT_RETDELAY ? 3 : 2;
	uint64_t max = 0, n_branches = 0;

	if (c->rc < 0 || !event_pmu_is_core(c->env, pmu) || !max_precise ||
	    str_parse_u64(max_precise, 10, &max) < 0 || max < 2)
		return;
	if (branches)
		str_parse_u64(branches, 10, &n_branches);
	if (precise > max)
		precise = (unsigned)max;
	c->rc = add_precise(c, pmu, "instructions", precise,
			    PERF_SAMPLE_WEIGHT_STRUCT |
				    (n_branches ? (uint64_t)PERF_SAMPLE_BRANCH_STACK : 0));
	/* Where loads need an event beside them (mem-loads-aux) they are left out. */
	if (c->rc == 0 && has(c, pmu, "events/mem-loads") && !has(c, pmu, "events/mem-loads-aux"))
		c->rc = add_precise(c, pmu, "mem-loads", 2,
				    PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC);
}

static int pm_choose(struct chooser *c)
{
	size_t n_before = c->specs->n;

	if (has(c, "ibs_op", "type"))
		return add_amd(c);
	event_pmu_each(c->env, add_intel, c);
	if (c->rc < 0 || c->specs->n > n_before)
		return c->rc;
	if (has(c, "arm_spe_0", "type"))
		return err_set(
			c->err, -EOPNOTSUPP,
			"Arm's SPE is here, but dwell does not open it yet: record with perf "
			"(perf record -e arm_spe_0//) and import that");
	return err_set(
		c->err, -EOPNOTSUPP,
		"this machine tells nothing of sampled instructions: no AMD IBS (a PMU "
		"ibs_op), no Intel PEBS (caps/max_precise of the PMU cpu), no Arm SPE (a PMU "
		"arm_spe_0); virtual machines seldom have them");
}

int event_pm_parse(const struct event_env *env, const char *text, struct event_specs *specs,
		   struct err *err)
{
	struct chooser c = {.env = env, .specs = specs, .level = "", .err = err};
	size_t n_before = specs->n, n = strcspn(text, ":");
	int rc = take_mode(&c, n == 3 ? text[2] : '\0');

	if (rc >= 0)
		rc = take_rest(&c, text + n);
	if (rc >= 0)
		rc = pm_choose(&c);
	for (size_t i = n_before; i < specs->n && rc >= 0; i++) {
		rc = event_check_supported(env, &specs->v[i], err);
		if (rc < 0)
			err_prefix(err, rc, "%s", specs->v[i].name);
	}
	while (rc < 0 && specs->n > n_before)
		event_spec_release(&specs->v[--specs->n]);
	return rc;
}
