/* SPDX-License-Identifier: BSD-2-Clause */
/* See hosts.h. */
#include "query/compare/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "query/compare/means.h"

/* Numbers of rows by host that are held at a time. */
#define MOST_CELLS ((size_t)4 << 20)

struct host_names {
	VEC(const char *) names;
	struct index index;
};

static bool same_host(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct host_names *)owner)->names.v[i], key) == 0;
}

static uint32_t host_number(struct host_names *h, const char *name)
{
	uint32_t i = index_find(&h->index, hash_str(name), same_host, h, name);

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)h->names.n;
	vec_push(&h->names, name);
	index_add(&h->index, hash_str(name), i);
	return i;
}

/* The samples of V that set K compares; 0: it does not. */
static double samples_of_value(const struct set_side *side, const struct value *v)
{
	unsigned col;

	if (!v->ctx || !query_counts_value(side->q, v, &col))
		return 0;
	vec_each (e, &side->columns)
		if ((*e)->part.event == col)
			return (double)v->count *
			       (double)(side->q->cols[col].period ? side->q->cols[col].period : 1);
	return 0;
}

static void add_totals(struct set_hosts *h, const struct set_side *side, unsigned k)
{
	vec_each (v, &side->q->profile->values)
		h->totals[k][h->of_owner[k][v->owner]] += samples_of_value(side, v);
}

/* Whether hosts of R's sets can be told apart. */
static bool has_hosts(const struct set_rows *r)
{
	if (r->kind != ESTIMATE_EVENT || *r->measures || r->level == SCOPE_LINE)
		return false;
	for (unsigned k = 0; k < 2; k++)
		if (r->sides[k].source->kind != SOURCE_FLEET || !r->sides[k].q)
			return false;
	return true;
}

static void choose_test(struct set_hosts *h)
{
	for (unsigned i = 0; i < h->n_hosts; i++) {
		h->n_pairs += h->totals[0][i] > 0 && h->totals[1][i] > 0;
		for (unsigned k = 0; k < 2; k++)
			h->n_in[k] += h->totals[k][i] > 0;
	}
	if (h->n_pairs >= 2 && 2 * h->n_pairs >= h->n_in[0] && 2 * h->n_pairs >= h->n_in[1])
		h->test = HOSTS_PAIRED;
	else if (h->n_in[0] >= 2 && h->n_in[1] >= 2)
		h->test = HOSTS_WELCH;
}

void set_hosts_init(struct set_hosts *h, const struct set_rows *r)
{
	struct host_names names = {0};

	*h = (struct set_hosts){.test = HOSTS_NO_TEST};
	if (!has_hosts(r))
		return;
	for (unsigned k = 0; k < 2; k++) {
		const struct profile *p = r->sides[k].q->profile;

		h->of_owner[k] = xcalloc(p->owners.n + 1, sizeof(*h->of_owner[k]));
		for (owner_id o = 0; o < p->owners.n; o++)
			h->of_owner[k][o] =
				host_number(&names, profile_str(p, p->owners.v[o].host));
	}
	h->n_hosts = (unsigned)names.names.n;
	for (unsigned k = 0; k < 2; k++) {
		h->totals[k] = xcalloc(h->n_hosts + 1, sizeof(double));
		add_totals(h, &r->sides[k], k);
	}
	choose_test(h);
	vec_release(&names.names);
	index_release(&names.index);
}

void set_hosts_release(struct set_hosts *h)
{
	for (unsigned k = 0; k < 2; k++) {
		free(h->of_owner[k]);
		free(h->totals[k]);
	}
	*h = (struct set_hosts){.test = HOSTS_NO_TEST};
}

/* Fills CELLS, a number for each host, of the rows that have numbers in NUMBER_OF. */
static void add_cells(const struct set_hosts *h, const struct set_side *side, unsigned k,
		      const uint32_t *number_of, double *cells)
{
	const struct profile *p = side->q->profile;

	vec_each (v, &p->values) {
		const uint32_t row =
			v->ctx ? side->row_of_place[p->ctxs.v[v->ctx].place] : UINT32_MAX;

		if (row != UINT32_MAX && number_of[row] != UINT32_MAX)
			cells[(size_t)number_of[row] * h->n_hosts + h->of_owner[k][v->owner]] +=
				samples_of_value(side, v);
	}
}

/* The test of one row, whose samples by host are IN. */
static double test_hosts(const struct set_hosts *h, const double *const in[2], bool absolute,
			 const double work[2], double *room)
{
	double *lists[] = {room, room + h->n_hosts};
	size_t n[2] = {0, 0};

	for (unsigned i = 0; i < h->n_hosts; i++) {
		double x[2];

		for (unsigned k = 0; k < 2; k++)
			x[k] = in[k][i] / (absolute ? work[k] : h->totals[k][i]);
		if (h->test == HOSTS_PAIRED && h->totals[0][i] > 0 && h->totals[1][i] > 0)
			lists[0][n[0]++] = x[1] - x[0];
		for (unsigned k = 0; k < 2; k++)
			if (h->test == HOSTS_WELCH && h->totals[k][i] > 0)
				lists[k][n[k]++] = x[k];
	}
	return h->test == HOSTS_PAIRED ? paired_means_p(lists[0], n[0])
				       : two_means_p(lists[0], n[0], lists[1], n[1]);
}

/* Tests rows from *AT on, as many as there is room for. */
static void test_some(const struct set_hosts *h, const struct set_rows *r, const bool *wanted,
		      bool absolute, const double work[2], double *p, size_t *at)
{
	const size_t most = 1 + MOST_CELLS / (h->n_hosts + 1);
	uint32_t *number_of = xcalloc(r->rows.n + 1, sizeof(*number_of)), n = 0;
	double *cells[2], *room = xcalloc(2 * (size_t)h->n_hosts + 1, sizeof(*room));
	const size_t first = *at;

	memset(number_of, 0xff, (r->rows.n + 1) * sizeof(*number_of));
	for (; *at < r->rows.n && n < most; ++*at)
		if (wanted[*at])
			number_of[*at] = n++;
	for (unsigned k = 0; k < 2; k++) {
		cells[k] = xcalloc((size_t)n * h->n_hosts + 1, sizeof(double));
		add_cells(h, &r->sides[k], k, number_of, cells[k]);
	}
	for (size_t i = first; i < *at; i++) {
		const size_t cell = (size_t)number_of[i] * h->n_hosts;

		if (wanted[i])
			p[i] = test_hosts(h,
					  (const double *const[]){cells[0] + cell, cells[1] + cell},
					  absolute, work, room);
	}
	free(cells[0]);
	free(cells[1]);
	free(room);
	free(number_of);
}

void set_hosts_test(const struct set_hosts *h, const struct set_rows *r, const bool *wanted,
		    bool absolute, const double work[2], double *p)
{
	for (size_t at = 0; at < r->rows.n;)
		test_some(h, r, wanted, absolute, work, p, &at);
}
