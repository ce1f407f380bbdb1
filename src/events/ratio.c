/* SPDX-License-Identifier: BSD-2-Clause */
/* See ratio.h. */
#include "events/ratio.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How much of an event there is for one of its base, or for a hundred. */
static const struct {
	const char *name, *base, *unit;
	double scale;
} pairs[] = {
	{"instructions", "cycles", "per cycle", 1},
	{"branch-misses", "branches", "% of branches", 100},
	{"cache-misses", "cache-references", "% of cache-references", 100},
	{"stalled-cycles-frontend", "cycles", "% of cycles", 100},
	{"stalled-cycles-backend", "cycles", "% of cycles", 100},
};

/* Whether NAME is the N bytes of WORD, then MODIFIERS (":u", ""). */
static bool is_called(const char *name, const char *word, size_t n, const char *modifiers)
{
	return strncmp(name, word, n) == 0 && strcmp(name + n, modifiers) == 0;
}

static const struct counted *counted_find(const struct counted *all, size_t n, const char *word,
					  size_t length, const char *modifiers)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].known && all[i].value > 0 &&
		    is_called(all[i].name, word, length, modifiers))
			return &all[i];
	return NULL;
}

/* Nanoseconds that its CPUs ran, as the kernel's clocks say; 0: they were not counted. */
static double clock_of(const struct counted *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].is_clock && all[i].known)
			return all[i].value;
	return 0;
}

/* "L1-dcache-load-misses" beside "L1-dcache-loads". */
static bool miss_ratio(const struct counted *all, size_t n, const struct counted *c,
		       const char *modifiers, struct ratio *ret)
{
	const char *end = strstr(c->name, "-misses");
	const struct counted *base;
	char word[48];

	if (!end || end + strlen("-misses") != modifiers)
		return false;
	snprintf(word, sizeof(word), "%.*ss", (int)(end - c->name), c->name);
	base = counted_find(all, n, word, strlen(word), modifiers);
	if (!base)
		return false;
	ret->value = 100 * c->value / base->value;
	snprintf(ret->unit, sizeof(ret->unit), "%% of %s", word);
	return true;
}

bool ratio_of(const struct counted *all, size_t n, size_t i, double elapsed_ns, struct ratio *ret)
{
	const struct counted *c = &all[i], *base;
	const char *modifiers = c->name + strcspn(c->name, ":");
	const double clock = clock_of(all, n), ns = clock > 0 ? clock : elapsed_ns;

	if (!c->known || ns <= 0 || elapsed_ns <= 0)
		return false;
	if (c->is_clock) {
		ret->value = c->value / elapsed_ns;
		snprintf(ret->unit, sizeof(ret->unit), "CPUs used");
		return true;
	}
	for (size_t k = 0; k < sizeof(pairs) / sizeof(pairs[0]); k++) {
		if (!is_called(c->name, pairs[k].name, strlen(pairs[k].name), modifiers))
			continue;
		base = counted_find(all, n, pairs[k].base, strlen(pairs[k].base), modifiers);
		if (!base)
			break;
		ret->value = pairs[k].scale * c->value / base->value;
		snprintf(ret->unit, sizeof(ret->unit), "%s", pairs[k].unit);
		return true;
	}
	if (is_called(c->name, "cycles", strlen("cycles"), modifiers) && clock > 0) {
		ret->value = c->value / clock;
		snprintf(ret->unit, sizeof(ret->unit), "GHz");
		return true;
	}
	if (miss_ratio(all, n, c, modifiers, ret))
		return true;
	ret->value = c->value / ns * 1e9;
	snprintf(ret->unit, sizeof(ret->unit), clock > 0 ? "a second of CPU" : "a second");
	return true;
}

void runs_add(struct runs *r, double value)
{
	const double off = value - r->mean;

	r->n++;
	r->mean += off / (double)r->n;
	r->m2 += off * (value - r->mean);
}

double runs_error_pct(const struct runs *r)
{
	if (r->n < 2 || r->mean == 0)
		return 0;
	return 100 * sqrt(r->m2 / (double)(r->n - 1) / (double)r->n) / fabs(r->mean);
}
