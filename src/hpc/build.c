/* SPDX-License-Identifier: BSD-2-Clause */
/* See build.h: adding inputs.
 *
 * Values that come through the sink are records at once: what their contexts, events and owners are
 * in the database is known later, and looked up when records are read. */
#include "hpc/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hpc/describe.h"
#include "hpc/expand.h"

static void incoming_release(struct build_incoming *in)
{
	vec_release(&in->used);
	vec_release(&in->own);
	vec_release(&in->owners);
	vec_release(&in->n_samples);
	*in = (struct build_incoming){0};
}

/* What R counts of V: samples, or what they weigh where that is known.  What is known can change
 * with the next segment, so each record says which it is. */
static void count_value(const struct profile *p, const struct value *v, struct hpc_record *r)
{
	const bool weighs = v->sum && event_has_weights(p, &p->events.v[v->event]);

	r->n = weighs ? v->sum : v->count;
	r->event = (uint16_t)(v->event | (weighs ? RECORD_WEIGHT : 0));
}

/* Makes room for the dictionaries as they are by now. */
static void incoming_grow(struct build_incoming *in)
{
	const struct profile *p = in->profile;

	while (in->used.n < p->ctxs.n) {
		vec_push(&in->used, false);
		vec_push(&in->own, false);
	}
	while (in->owners.n < p->owners.n)
		vec_push(&in->owners, false);
	while (in->n_samples.n < p->events.n)
		vec_push(&in->n_samples, 0);
}

static bool in_part(const struct build_incoming *in, owner_id owner)
{
	return owner % in->n_parts == in->part;
}

static void build_put(struct value_sink *sink, const struct value *v)
{
	struct build *b = (struct build *)((char *)sink - offsetof(struct build, sink));
	struct build_incoming *in = &b->incoming;
	struct hpc_record r = {.ctx = v->ctx};

	if (!value_is_samples(in->profile, v))
		return;
	if (in->profile->owners.v[v->owner].flags & OWNER_IDLE) {
		vec_push(&in->profile->values, *v);
		return;
	}
	if (v->ctx >= in->used.n || v->owner >= in->owners.n || v->event >= in->n_samples.n)
		incoming_grow(in);
	count_value(in->profile, v, &r);
	if (!r.n || !v->ctx || in->rc < 0)
		return;
	in->n_samples.v[v->event] += v->count;
	in->used.v[v->ctx] = true;
	if (!in_part(in, v->owner))
		return;
	in->own.v[v->ctx] = true;
	in->owners.v[v->owner] = true;
	r.group = in->first_group + v->owner;
	r.input = (uint16_t)b->inputs.n;
	in->rc = records_add(&b->records, &r, &in->err);
}

void build_init(struct build *b, const struct build_opts *opts)
{
	*b = (struct build){.opts = *opts, .sink = {build_put, .traces = true}};
	contexts_init(&b->contexts);
	build_metrics_init(&b->metrics);
	records_init(&b->records, opts->dir->aside, opts->buffer_bytes);
}

void build_texts_release(struct build *b)
{
	vec_each (text, &b->texts) {
		free(text->title);
		free(text->text);
	}
	vec_release(&b->texts);
	vec_release(&b->extents);
}

void build_release(struct build *b)
{
	contexts_release(&b->contexts);
	build_metrics_release(&b->metrics);
	identities_release(&b->identities);
	vec_release(&b->identity_of);
	records_release(&b->records);
	timelines_release(&b->timelines);
	vec_each (in, &b->inputs) {
		free(in->nodes);
		free(in->events);
	}
	vec_release(&b->inputs);
	vec_each (d, &b->databases) {
		database_close(*d);
		free(*d);
	}
	vec_release(&b->databases);
	build_texts_release(b);
	incoming_release(&b->incoming);
	*b = (struct build){0};
}

void build_begin(struct build *b, struct profile *p)
{
	incoming_release(&b->incoming);
	b->incoming.profile = p;
	b->incoming.first_group = (uint32_t)b->identity_of.n;
	b->incoming.n_parts = 1;
}

void build_take_part(struct build *b, unsigned part, unsigned n_parts)
{
	b->incoming.part = part;
	b->incoming.n_parts = n_parts;
}

/* --- the rest of an input --- */

struct adding {
	struct build *b;
	const struct profile *p;
	struct query q;
	uint32_t host;
	uint32_t *trace_identity;
};

/* Whose the samples of OWNER are.  Threads are known by pid and tid: a thread that changes its name
 * stays one. */
static uint32_t identity_of(struct adding *a, owner_id owner, uint32_t pid, uint32_t tid)
{
	const struct owner *o = &a->p->owners.v[owner];
	struct identity key = {
		.host = a->host,
		.rank = identity_rank(profile_str(a->p, o->label), profile_str(a->p, o->cgroup)),
		.core = identity_core(profile_str(a->p, o->label)),
		.pid = pid,
		.tid = tid,
		.input = tid ? 0 : a->b->n_inputs + 1,
		.owner = tid ? 0 : owner,
		.start_ns = a->p->meta.start_wall_ns,
	};

	identity_gpu(profile_str(a->p, o->label), key.gpu);
	return identities_intern(&a->b->identities, &key);
}

/* A value that is in the profile. */
static int add_value(struct adding *a, const struct value *v, struct err *err)
{
	struct build *b = a->b;
	struct build_incoming *in = &b->incoming;
	struct hpc_record r = {
		.group = in->first_group + v->owner, .ctx = v->ctx, .input = (uint16_t)b->inputs.n};
	unsigned col;

	count_value(a->p, v, &r);
	if (!r.n || !query_counts_value(&a->q, v, &col))
		return 0;
	in->used.v[v->ctx] = true;
	if (!in_part(in, v->owner))
		return 0;
	in->own.v[v->ctx] = true;
	in->owners.v[v->owner] = true;
	return records_add(&b->records, &r, err);
}

static void add_events(struct adding *a, struct build_input *in)
{
	struct query *q = &a->q;

	in->events = xcalloc(a->p->events.n + 1, sizeof(*in->events));
	for (event_id e = 0; e < a->p->events.n; e++)
		in->events[e].metric = BUILD_NO_METRIC;
	for (unsigned c = 0; c < q->n_events; c++) {
		uint32_t metric = build_metrics_intern(&a->b->metrics, a->p, &q->cols[c],
						       (uint64_t)a->b->n_inputs << 32 | c);

		in->events[q->cols[c].event] = build_event_of(&q->cols[c], metric);
	}
}

static int add_values(struct adding *a, struct err *err)
{
	struct build_incoming *in = &a->b->incoming;

	incoming_grow(in);
	for (unsigned c = 0; c < a->q.n_events; c++) {
		struct query_col *col = &a->q.cols[c];

		/* Those that came through the sink. */
		*(*col->measures ? &col->n_intervals : &col->n_samples) +=
			in->n_samples.v[col->event];
	}
	vec_each (v, &a->p->values) {
		int rc = add_value(a, v, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static void add_owners(struct adding *a)
{
	for (owner_id o = 0; o < a->p->owners.n; o++) {
		const struct owner *owner = &a->p->owners.v[o];
		uint32_t identity = HPC_NONE;

		if (a->b->incoming.owners.v[o])
			identity = identity_of(a, o, owner->pid, owner->tid);
		vec_push(&a->b->identity_of, identity);
	}
}

/* Finds out whose lines the traces are, and what contexts they name. */
static void add_traces(struct adding *a)
{
	struct build_incoming *in = &a->b->incoming;

	for (size_t i = 0; i < a->p->traces.n; i++) {
		const struct trace *t = &a->p->traces.v[i];
		bool any = false, own;

		a->trace_identity[i] = HPC_NONE;
		if (i == 0 || (a->q.wanted && !a->q.wanted[t->owner]))
			continue;
		own = in_part(in, t->owner);
		vec_each (point, &t->points)
			if (a->q.col_of[point->event] < a->q.n_cols && point->ctx) {
				in->used.v[point->ctx] = true;
				in->own.v[point->ctx] |= own;
				any = true;
			}
		if (any && own)
			a->trace_identity[i] = identity_of(a, t->owner, t->pid, t->tid);
		a->b->has_traces |= any && !a->b->opts.no_traces;
	}
}

static int add_all(struct adding *a, const char *path, struct err *err)
{
	struct build *b = a->b;
	struct build_input in = {.n_nodes = a->p->ctxs.n, .n_events = a->p->events.n};
	struct str text = {0};
	int rc;

	add_events(a, &in);
	rc = add_values(a, err);
	if (rc < 0) {
		free(in.events);
		return rc;
	}
	add_owners(a);
	add_traces(a);
	in.nodes = expand_contexts(&b->contexts, &a->q,
				   b->opts.layout == HPC_PAGE ? CALLS_FROM_INSTRUCTION
							      : CALLS_FROM_LINE,
				   b->incoming.used.v, b->incoming.own.v);
	timelines_add(&b->timelines, &a->q, in.nodes, a->trace_identity);
	vec_push(&b->inputs, in);
	if (b->incoming.part == 0) {
		describe_input(&text, &a->q, path);
		vec_push(&b->texts,
			 (struct build_text){b->n_inputs, describe_title(a->p, path), text.v});
	}
	b->n_inputs++;
	return 0;
}

int build_add(struct build *b, struct resolver *r, const char *path, const struct select *select,
	      struct err *err)
{
	const struct profile *p = b->incoming.profile;
	struct adding a = {.b = b, .p = p};
	int rc;

	if (b->incoming.rc < 0) {
		if (err)
			*err = b->incoming.err;
		return b->incoming.rc;
	}
	if (b->inputs.n == RECORD_NUMBERED || p->events.n > UINT16_MAX)
		return err_set(err, -E2BIG, "more than %d inputs, or events in one", UINT16_MAX);
	rc = query_init(&a.q, p, r, select, err);
	if (rc < 0)
		return rc;
	a.host = identities_host(&b->identities, profile_str(p, p->meta.host));
	a.trace_identity = xcalloc(p->traces.n + 1, sizeof(*a.trace_identity));
	rc = add_all(&a, path, err);
	query_release(&a.q);
	free(a.trace_identity);
	return rc;
}

int build_add_database(struct build *b, const char *path, struct err *err)
{
	const struct database_target t = {&b->contexts, &b->metrics, &b->identities};
	struct database *d = xcalloc(1, sizeof(*d));
	struct str text = {0};
	int rc;

	vec_push(&b->databases, d);
	rc = database_open(d, path, b->n_inputs, &t, err);
	if (rc != 0)
		return rc;
	b->has_traces |= d->db.has_traces && !b->opts.no_traces;
	vec_push(&b->extents, (struct build_extent){b->n_inputs, d->n_unlisted, d->n_ids});
	describe_database(&text, &d->db.meta, path);
	vec_push(&b->texts, (struct build_text){b->n_inputs++, xstrdup(d->db.meta.title), text.v});
	return 0;
}

int build_skip(struct build *b, const char *database, struct err *err)
{
	struct database *d;

	if (!database) {
		b->n_inputs++;
		return 0;
	}
	d = xcalloc(1, sizeof(*d));
	vec_push(&b->databases, d);
	return database_open_only(d, database, b->n_inputs++, err);
}

bool build_lists_instructions(const struct build *b)
{
	return b->opts.layout == HPC_PAGE || b->opts.instructions;
}

unsigned build_owner(const struct build *b, uint32_t input)
{
	return b->opts.ranks ? input % b->opts.ranks->size : 0;
}
