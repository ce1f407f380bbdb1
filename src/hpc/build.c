/* SPDX-License-Identifier: BSD-2-Clause */
/* See build.h: adding inputs.  A group of records is an owner of an input. */
#include "hpc/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hpc/describe.h"
#include "hpc/expand.h"

void build_init(struct build *b, const struct build_opts *opts)
{
	*b = (struct build){.opts = *opts};
	contexts_init(&b->contexts);
	records_init(&b->records, opts->dir->aside, opts->buffer_bytes);
}

void build_release(struct build *b)
{
	contexts_release(&b->contexts);
	build_metrics_release(&b->metrics);
	identities_release(&b->identities);
	vec_release(&b->identity_of);
	records_release(&b->records);
	timelines_release(&b->timelines);
	vec_each (in, &b->inputs)
		free(in->nodes);
	vec_release(&b->inputs);
	str_release(&b->description);
	free(b->title);
	*b = (struct build){0};
}

/* What is being added. */
struct adding {
	struct build *b;
	const struct profile *p;
	struct query q;
	uint32_t host, first_group;
	uint16_t input;
	uint16_t *metric; /* by column */
	bool *used;	  /* by context */
	uint32_t *trace_identity;
};

/* Whose the samples of OWNER are.  Threads are known by pid and tid: a thread that changes its name
 * stays one. */
static uint32_t identity_of(struct adding *a, owner_id owner, uint32_t pid, uint32_t tid)
{
	const struct owner *o = &a->p->owners.v[owner];
	const struct identity key = {
		.host = a->host,
		.rank = identity_rank(profile_str(a->p, o->label), profile_str(a->p, o->cgroup)),
		.pid = pid,
		.tid = tid,
		.group = tid ? 0 : a->first_group + owner + 1,
	};

	return identities_intern(&a->b->identities, &key);
}

static int add_value(struct adding *a, const struct value *v, struct err *err)
{
	struct build *b = a->b;
	uint32_t *identity = &b->identity_of.v[a->first_group + v->owner];
	const struct owner *o = &a->p->owners.v[v->owner];
	struct record r = {.ctx = v->ctx, .input = a->input};
	unsigned col;

	if (!v->count || !query_counts_value(&a->q, v, &col))
		return 0;
	if (*identity == HPC_NONE)
		*identity = identity_of(a, v->owner, o->pid, o->tid);
	r.group = a->first_group + v->owner;
	r.metric = a->metric[col];
	r.n = build_metric_count(&a->q.cols[col], v->count);
	a->used[v->ctx] = true;
	return records_add(&b->records, &r, err);
}

/* Finds out whose lines the traces are, and what contexts they name. */
static void add_traces(struct adding *a)
{
	for (size_t i = 0; i < a->p->traces.n; i++) {
		const struct trace *t = &a->p->traces.v[i];
		bool any = false;

		a->trace_identity[i] = HPC_NONE;
		if (i == 0 || (a->q.wanted && !a->q.wanted[t->owner]))
			continue;
		vec_each (point, &t->points)
			if (a->q.col_of[point->event] < a->q.n_cols && point->ctx)
				any = a->used[point->ctx] = true;
		if (any)
			a->trace_identity[i] = identity_of(a, t->owner, t->pid, t->tid);
		a->b->has_traces |= any;
	}
}

static int add_all(struct adding *a, const char *path, struct err *err)
{
	struct build *b = a->b;
	struct build_input *in;
	int rc;

	for (unsigned c = 0; c < a->q.n_cols; c++) {
		rc = build_metrics_intern(&b->metrics, a->p, &a->q.cols[c], err);
		if (rc < 0)
			return rc;
		a->metric[c] = (uint16_t)rc;
	}
	for (owner_id o = 0; o < a->p->owners.n; o++)
		vec_push(&b->identity_of, HPC_NONE);
	vec_each (v, &a->p->values) {
		rc = add_value(a, v, err);
		if (rc)
			return rc;
	}
	add_traces(a);
	in = vec_add(&b->inputs);
	in->nodes = expand_contexts(&b->contexts, &a->q, a->used);
	in->n_nodes = a->p->ctxs.n;
	timelines_add(&b->timelines, &a->q, in->nodes, a->trace_identity);
	describe_input(&b->description, &a->q, path);
	if (!b->title)
		b->title = describe_title(a->p, path);
	return 0;
}

int build_add(struct build *b, const struct profile *p, struct resolver *r, const char *path,
	      const struct select *select, struct err *err)
{
	struct adding a = {.b = b,
			   .p = p,
			   .input = (uint16_t)b->inputs.n,
			   .first_group = (uint32_t)b->identity_of.n};
	int rc;

	if (b->inputs.n == UINT16_MAX)
		return err_set(err, -E2BIG, "more than %d inputs", UINT16_MAX);
	rc = query_init(&a.q, p, r, select, err);
	if (rc)
		return rc;
	a.host = identities_host(&b->identities, profile_str(p, p->meta.host));
	a.metric = xcalloc(a.q.n_cols + 1, sizeof(*a.metric));
	a.used = xcalloc(p->ctxs.n + 1, sizeof(*a.used));
	a.trace_identity = xcalloc(p->traces.n + 1, sizeof(*a.trace_identity));
	rc = add_all(&a, path, err);
	query_release(&a.q);
	free(a.metric);
	free(a.used);
	free(a.trace_identity);
	return rc;
}
