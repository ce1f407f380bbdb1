/* SPDX-License-Identifier: BSD-2-Clause */
/* See threads.h. */
#include "query/hpc/threads.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fills column COL of all profiles: N_COLS numbers for each, from AMOUNTS on. */
static int fill(struct hpc_query *q, const uint32_t *ids, size_t n, enum hpc_amount amount,
		unsigned col, double *amounts, bool *any, struct err *err)
{
	const size_t n_cols = q->cols.n;
	const double *values;
	int rc = hpc_query_by_thread(q, ids, n, amount, col, &values, err);

	for (uint32_t i = 1; rc >= 0 && i < q->db->profiles.nProfiles; i++) {
		amounts[2 * n_cols * i] = values[i];
		any[i] |= values[i] != 0;
	}
	return rc;
}

static double sort_key(const struct hpc_query *q, const struct hpc_thread_row *r)
{
	double v = r->inclusive[q->columns.sort];

	return isnan(v) ? -INFINITY : v;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct hpc_thread_row *x = a, *y = b;
	double kx = sort_key(arg, x), ky = sort_key(arg, y);

	if (kx != ky)
		return kx > ky ? -1 : 1;
	return x->profile < y->profile ? -1 : x->profile > y->profile;
}

int hpc_threads_find(struct hpc_threads *t, struct hpc_query *q, const uint32_t *ids, size_t n,
		     struct err *err)
{
	const size_t n_cols = q->cols.n, n_profiles = q->db->profiles.nProfiles;
	bool *any = xcalloc(n_profiles + 1, sizeof(*any));
	int rc = 0;

	*t = (struct hpc_threads){0};
	t->amounts = xcalloc((n_profiles + 1) * 2 * n_cols, sizeof(double));
	t->inclusive = xcalloc(n_cols + 1, sizeof(*t->inclusive));
	t->exclusive = xcalloc(n_cols + 1, sizeof(*t->exclusive));
	for (unsigned c = 0; c < n_cols && rc >= 0; c++) {
		if (!q->cols.v[c].metric)
			continue;
		rc = fill(q, ids, n, AMOUNT_INCLUSIVE, c, t->amounts + c, any, err);
		if (rc >= 0)
			rc = fill(q, ids, n, AMOUNT_EXCLUSIVE, c, t->amounts + n_cols + c, any,
				  err);
	}
	for (uint32_t i = 1; rc >= 0 && i < n_profiles; i++) {
		double *inclusive = t->amounts + 2 * n_cols * i, *exclusive = inclusive + n_cols;

		if (!any[i])
			continue;
		cols_evaluate(&q->columns, inclusive);
		cols_evaluate(&q->columns, exclusive);
		vec_push(&t->rows, (struct hpc_thread_row){i, inclusive, exclusive});
		for (size_t c = 0; c < n_cols; c++) {
			hpc_moments_add(&t->inclusive[c], inclusive[c]);
			hpc_moments_add(&t->exclusive[c], exclusive[c]);
		}
	}
	free(any);
	return rc;
}

void hpc_threads_sort(struct hpc_threads *t, const struct hpc_query *q)
{
	if (t->rows.n > 1)
		qsort_r(t->rows.v, t->rows.n, sizeof(*t->rows.v), compare_rows, (void *)q);
}

void hpc_threads_release(struct hpc_threads *t)
{
	vec_release(&t->rows);
	free(t->inclusive);
	free(t->exclusive);
	free(t->amounts);
	*t = (struct hpc_threads){0};
}

int hpc_parse_contexts(const char *text, ctx_list *ret, struct err *err)
{
	for (const char *s = text;; s++) {
		char *end;
		unsigned long long id;

		errno = 0;
		id = strtoull(s, &end, 10);
		if (*s < '0' || *s > '9' || errno || id > UINT32_MAX || (*end && *end != '+'))
			return err_set(err, -EINVAL,
				       "--context %s: must be ids of contexts, such as 12+15, as "
				       "`dwell tree --json` has them",
				       text);
		vec_push(ret, (uint32_t)id);
		s = end;
		if (!*s)
			return 0;
	}
}
