/* SPDX-License-Identifier: BSD-2-Clause */
/* See shares.h.
 *
 * Example: a flush has 900 samples of nginx.service and 3 of cron.service.
 *
 *     nginx.service   99.7 %   a counter of its own, 900
 *     (other)                  3, also when cron.service has a counter later */
#include "daemon/shares.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/text.h"
#include "model/cgroup_parts.h"
#include "model/container.h"
#include "model/fresh.h"

#define OTHER "(other)"

/* Samples, and the CPU time that they are. */
struct share_amount {
	uint64_t n_samples;
	double cpu_s;
};
typedef VEC(struct share_amount) share_amounts;

/* What is fresh, so that each name is made once, not for each value. */
struct share_fresh {
	share_amounts by_image;	 /* by number */
	share_amounts by_cgroup; /* by the number of its path */
};

/* Sums of one flush, by name. */
struct share_sums {
	struct index ix;
	VEC(struct share_series) all;
	uint64_t n_samples;
};

const char *share_key_name(enum share_key k)
{
	static const char *const names[N_SHARE_KEYS] = {"unit", "container", "image"};

	return names[k];
}

static bool same_name(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct share_sums *)owner)->all.v[i].name, key) == 0;
}

static struct share_series *sum_named(struct share_sums *s, const char *name)
{
	uint32_t i = index_find(&s->ix, hash_str(name), same_name, s, name);

	if (i != INDEX_NONE)
		return &s->all.v[i];
	index_add(&s->ix, hash_str(name), (uint32_t)s->all.n);
	vec_push(&s->all, (struct share_series){.name = xstrdup(name)});
	return &s->all.v[s->all.n - 1];
}

static void add_container(struct str *ret, const struct profile *p, string_id cgroup)
{
	const struct container *c = profile_container_of(p, cgroup);

	if (c && c->text[CONTAINER_NAME])
		str_add(ret, profile_str(p, c->text[CONTAINER_NAME]));
	else
		cgroup_add_container(ret, profile_str(p, cgroup));
}

/* What is counted under K for ID, an image or the path of a cgroup, fit to be shown; "" when there
 * is none. */
static void add_name(struct str *ret, enum share_key k, const struct profile *p, uint32_t id)
{
	_str_ struct str raw = {0};

	if (k == SHARE_IMAGE)
		str_add(&raw, p->images.v[id].path);
	else if (k == SHARE_UNIT)
		cgroup_add_unit(&raw, profile_str(p, id));
	else
		add_container(&raw, p, id);
	if (raw.n > SHARES_MOST_NAME)
		raw.v[SHARES_MOST_NAME] = '\0';
	text_show(ret, str_get(&raw));
}

static void add_amount(share_amounts *to, uint32_t id, uint64_t n_samples, double cpu_s)
{
	struct share_amount *a = vec_at(to, id);

	a->n_samples += n_samples;
	a->cpu_s += cpu_s;
}

static bool is_clock(const char *event)
{
	return str_starts(event, "cpu-clock") || str_starts(event, "task-clock");
}

/* The event of P whose samples are counted: the first of the CPUs' clocks, or the first one. */
static event_id counted_event(const struct profile *p)
{
	for (event_id i = 0; i < p->events.n; i++)
		if (is_clock(profile_str(p, p->events.v[i].name)))
			return i;
	return 0;
}

static bool counts_here(const struct profile *p, const struct value *v)
{
	return v->ctx && v->count && value_is_samples(p, v) &&
	       !(p->owners.v[v->owner].flags & OWNER_IDLE);
}

static struct share_series *find_series(struct shares *s, enum share_key k, const char *name)
{
	vec_each (t, &s->series[k])
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

static struct share_series *make_series(struct shares *s, enum share_key k, const char *name)
{
	vec_push(&s->series[k], (struct share_series){.name = xstrdup(name)});
	return &s->series[k].v[s->series[k].n - 1];
}

/* Adds SUMS to the counters, and gives names that have enough one of their own. */
static void settle_sums(struct shares *s, enum share_key k, const struct share_sums *sums)
{
	vec_each (t, &sums->all) {
		struct share_series *to = find_series(s, k, t->name);
		const bool is_large =
			(double)t->n_samples * 100 >= SHARES_LEAST_PCT * (double)sums->n_samples;

		if (!to && is_large && s->series[k].n < SHARES_MOST)
			to = make_series(s, k, t->name);
		if (!to)
			to = find_series(s, k, OTHER);
		if (!to)
			to = make_series(s, k, OTHER);
		to->n_samples += t->n_samples;
		to->cpu_s += t->cpu_s;
	}
}

static void find_fresh(const struct profile *p, struct share_fresh *ret)
{
	const event_id event = counted_event(p);
	const bool is_time =
		p->events.n && strcmp(profile_str(p, p->events.v[event].unit), "ns") == 0;
	const uint64_t period = p->events.n ? p->events.v[event].period : 0;

	profile_each_fresh (p, i) {
		const struct value v = profile_fresh(p, i);
		double cpu_s = 0;

		if (v.event != event || !counts_here(p, &v))
			continue;
		if (is_time)
			cpu_s = (double)(v.sum ? v.sum : v.count * period) / 1e9;
		add_amount(&ret->by_image, profile_leaf(p, v.ctx)->image, v.count, cpu_s);
		add_amount(&ret->by_cgroup, p->owners.v[v.owner].cgroup, v.count, cpu_s);
	}
}

static void add_by(struct shares *s, enum share_key k, const struct profile *p,
		   const share_amounts *amounts)
{
	struct share_sums sums = {0};

	vec_each (a, amounts) {
		_str_ struct str name = {0};
		struct share_series *to;

		if (a->n_samples)
			add_name(&name, k, p, (uint32_t)(a - amounts->v));
		if (!name.n)
			continue;
		to = sum_named(&sums, name.v);
		to->n_samples += a->n_samples;
		to->cpu_s += a->cpu_s;
		sums.n_samples += a->n_samples;
	}
	settle_sums(s, k, &sums);
	vec_each (t, &sums.all)
		free(t->name);
	vec_release(&sums.all);
	index_release(&sums.ix);
}

void shares_add(struct shares *s, const struct profile *p)
{
	struct share_fresh fresh = {0};

	find_fresh(p, &fresh);
	for (enum share_key k = 0; k < N_SHARE_KEYS; k++)
		add_by(s, k, p, k == SHARE_IMAGE ? &fresh.by_image : &fresh.by_cgroup);
	vec_release(&fresh.by_image);
	vec_release(&fresh.by_cgroup);
}

void shares_release(struct shares *s)
{
	for (enum share_key k = 0; k < N_SHARE_KEYS; k++) {
		vec_each (t, &s->series[k])
			free(t->name);
		vec_release(&s->series[k]);
	}
}
