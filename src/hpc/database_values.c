/* SPDX-License-Identifier: BSD-2-Clause */
/* See database.h: values, tuples and lines of a database under their new numbers.
 *
 * A profile's contexts come in the order of its own ids and are wanted in that of the new ones;
 * unless both are the same they are sorted.  Contexts, or metrics, that have become one are added
 * up. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "hpc/database.h"
#include "hpc/write/profile.h"

struct ctx_entry {
	uint32_t ctxId; /* the new one */
	uint32_t i;	/* which of the profile's contexts */
};

void database_reader_release(struct database_reader *r)
{
	vec_release(&r->ids);
	vec_release(&r->values);
	free(r->entries);
	free(r->scratch);
	*r = (struct database_reader){0};
}

int database_tuple(const struct database *d, uint32_t index, struct database_reader *r,
		   struct err *err)
{
	struct hpc_profile p;
	int n = hpc_profile_open(&p, &d->db.profiles, index, err);

	if (n)
		return n;
	for (;;) {
		n = hpc_profile_ids(&p, r->ids.v, r->ids.cap, err);
		if (n < 0)
			return n;
		r->ids.n = (size_t)n <= r->ids.cap ? (size_t)n : 0;
		if (r->ids.n == (size_t)n)
			break;
		vec_reserve(&r->ids, (size_t)n);
	}
	return 0;
}

int database_new_tuple(const struct database *d, const struct identities *ids, uint32_t i,
		       struct database_reader *r, struct err *err)
{
	bool wants_rank = ids->ranks[i].logicalId != NO_RANK;
	bool has_rank = false; /* the input's tuple: where, it stays */
	_mem_ struct hpc_id *old = NULL;
	size_t n_old;
	int rc = database_tuple(d, ids->v.v[i].profile, r, err);

	if (rc != 0)
		return rc;
	n_old = r->ids.n;
	old = xmemdup(r->ids.v, n_old * sizeof(*old));
	r->ids.n = 0;
	for (size_t k = 0; k < n_old; k++)
		has_rank |= d->kinds[old[k].kind] == HPC_ID_RANK;
	for (size_t k = 0; k < n_old; k++) {
		struct hpc_id id = old[k];

		id.kind = d->kinds[id.kind];
		if (id.kind == HPC_N_ID_KINDS || (id.kind == HPC_ID_RANK && !wants_rank))
			continue;
		if (id.kind == HPC_ID_RANK || (id.kind != HPC_ID_NODE && wants_rank && !has_rank)) {
			vec_push(&r->ids, identities_rank_id(ids, i));
			wants_rank = false;
			if (id.kind == HPC_ID_RANK)
				continue;
		}
		if (id.kind == HPC_ID_NODE && (id.flags & HPC_ID_IS_PHYSICAL))
			id.logicalId = identities_node(ids, id.physicalId);
		vec_push(&r->ids, id);
	}
	if (wants_rank)
		vec_push(&r->ids, identities_rank_id(ids, i));
	return 0;
}

static int database_values_unknown(const struct database *d, const struct hpc_profile *p,
				   const char *what, uint32_t id, struct err *err)
{
	return err_set(err, -EBADMSG, "%s: profile %u has values of %s %u, which is nowhere else",
		       d->db.profile_file.path, p->index, what, id);
}

/* Adds value V, one of its metrics that may be there by now. */
static int add_value(const struct database *d, const struct hpc_profile *p,
		     struct database_reader *r, struct hpc_value v, struct err *err)
{
	size_t at = r->values.n;

	if (v.metricId >= d->n_props || d->prop_ids[v.metricId] == DATABASE_NO_PROP)
		return database_values_unknown(d, p, "metric", v.metricId, err);
	if (!isfinite(v.value))
		return err_set(err, -EBADMSG, "%s: profile %u has a value that is no number",
			       d->db.profile_file.path, p->index);
	if (d->prop_ids[v.metricId] == DATABASE_LEFT_OUT)
		return 0;
	v.metricId = d->prop_ids[v.metricId];
	while (at > 0 && r->values.v[at - 1].metricId > v.metricId)
		at--;
	if (at > 0 && r->values.v[at - 1].metricId == v.metricId) {
		r->values.v[at - 1].value += v.value;
		return 0;
	}
	vec_reserve(&r->values, 1);
	memmove(r->values.v + at + 1, r->values.v + at, (r->values.n - at) * sizeof(v));
	r->values.v[at] = v;
	r->values.n++;
	return 0;
}

/* Stable, 11 bits at a time. */
static void sort_entries(struct database_reader *r, size_t n)
{
	for (unsigned shift = 0; shift < 33; shift += 11) {
		struct ctx_entry *swap = r->entries;
		uint32_t at[2049] = {0};

		for (size_t i = 0; i < n; i++)
			at[(r->entries[i].ctxId >> shift & 2047) + 1]++;
		for (unsigned k = 0; k < 2048; k++)
			at[k + 1] += at[k];
		for (size_t i = 0; i < n; i++)
			r->scratch[at[r->entries[i].ctxId >> shift & 2047]++] = r->entries[i];
		r->entries = r->scratch;
		r->scratch = swap;
	}
}

/* Finds out where the profile's contexts go: R's entries. */
static int find_entries(const struct database *d, const struct hpc_profile *p,
			struct database_reader *r, struct err *err)
{
	if (p->nCtxs > r->n_entries) {
		r->n_entries = p->nCtxs;
		r->entries = xrealloc(r->entries, r->n_entries, sizeof(*r->entries));
		r->scratch = xrealloc(r->scratch, r->n_entries, sizeof(*r->scratch));
	}
	for (uint32_t i = 0; i < p->nCtxs; i++) {
		struct hpc_ctx_values c;
		int rc = hpc_profile_ctx(p, i, &c, err);

		if (rc < 0)
			return rc;
		if (c.ctxId >= d->n_ctxs || d->ctxs[c.ctxId] == HPC_NONE)
			return database_values_unknown(d, p, "context", c.ctxId, err);
		r->entries[i] = (struct ctx_entry){d->ctxs[c.ctxId], i};
	}
	if (!d->is_straight)
		sort_entries(r, p->nCtxs);
	return 0;
}

int database_values(const struct database *d, uint32_t index, struct database_reader *r,
		    struct hpc_profile_block *block, struct err *err)
{
	struct hpc_profile p;
	int rc = hpc_profile_open(&p, &d->db.profiles, index, err);

	if (rc >= 0)
		rc = find_entries(d, &p, r, err);
	for (uint32_t i = 0; rc >= 0 && i < p.nCtxs; i++) {
		uint32_t ctxId = r->entries[i].ctxId;
		struct hpc_ctx_values c;

		rc = hpc_profile_ctx(&p, r->entries[i].i, &c, err);
		for (uint64_t k = 0; rc >= 0 && k < c.n; k++)
			rc = add_value(d, &p, r, hpc_ctx_value(&c, k), err);
		if (rc < 0 || (i + 1 < p.nCtxs && r->entries[i + 1].ctxId == ctxId))
			continue;
		vec_each (v, &r->values)
			hpc_profile_block_add(block, ctxId, v->metricId, v->value);
		r->values.n = 0;
	}
	return rc;
}

int database_line(const struct database *d, uint32_t index, struct hpc_trace_elem **ret,
		  size_t *ret_n, struct err *err)
{
	struct hpc_trace t;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (!d->db.has_traces)
		return 0;
	rc = hpc_trace_open_profile(&t, &d->db.traces, index, err);
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	*ret = xcalloc(t.n + 1, sizeof(**ret));
	for (uint64_t i = 0; i < t.n; i++) {
		struct hpc_trace_elem e = hpc_trace_elem(&t, i);

		/* All that lines name were noted when the database was opened. */
		if (e.ctxId < d->n_ctxs && d->ctxs[e.ctxId] != HPC_NONE)
			(*ret)[(*ret_n)++] = (struct hpc_trace_elem){e.timestamp, d->ctxs[e.ctxId]};
	}
	return 0;
}
