/* SPDX-License-Identifier: BSD-2-Clause */
/* See save.h.  A thread takes the next profile, adds its records to contexts of its own, carries
 * them up, and puts them.  The writer places blocks in the order of profiles, and sums are of whole
 * numbers: so the bytes are the same however many threads there are. */
#include "hpc/save.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "hpc/propagate.h"
#include "hpc/write/profile.h"

struct saving {
	struct build *b;
	const struct ctx_tree *tree;
	const struct profile_groups *groups;
	struct hpc_profile_writer *writer;
	pthread_mutex_t lock; /* of what follows */
	uint32_t next, n_done;
	uint64_t n_values;
	int rc;
	struct err err;
};

/* Which scopes a metric has, and their ids. */
struct columns {
	unsigned n;
	struct column {
		uint16_t scope, id;
	} v[N_METRIC_SCOPES];
};

struct worker {
	struct saving *s;
	const struct columns *columns; /* by metric */
	struct propagate p;
	struct records_reader reader;
	struct database_reader database;
	struct hpc_profile_block block;
	pthread_t thread;
};

int build_progress(const struct build *b, const char *what, uint64_t done, uint64_t all,
		   struct err *err)
{
	int rc = b->opts.progress ? b->opts.progress(b->opts.user, what, done, all) : 0;

	return rc < 0 ? err_set(err, rc, "interrupted") : 0;
}

const struct hpc_share *build_share(const struct build *b)
{
	return b->opts.ranks ? &b->opts.ranks->share : NULL;
}

const struct database *build_database(const struct build *b, const struct identity *id)
{
	vec_each (d, &b->databases)
		if ((*d)->number + 1 == id->db)
			return *d;
	return NULL;
}

struct hpc_record build_numbered(const struct build *b, const struct hpc_record *r,
				 uint32_t profile)
{
	const struct build_input *in = &b->inputs.v[r->input];
	const bool is_weight = r->event & RECORD_WEIGHT;
	const struct build_event *e = &in->events[r->event & ~RECORD_WEIGHT];

	return (struct hpc_record){.n = build_event_count(e, is_weight, r->n),
				   .group = profile,
				   .ctx = in->nodes[r->ctx],
				   .event = e->metric,
				   .input = RECORD_NUMBERED};
}

static int add_group(struct worker *w, uint32_t group, struct err *err)
{
	const struct hpc_record *r;
	int n;

	records_begin(&w->reader, group);
	while ((n = records_next(&w->reader, &r, err)) > 0)
		for (int i = 0; i < n; i++) {
			struct hpc_record own = r[i];

			if (own.input != RECORD_NUMBERED)
				own = build_numbered(w->s->b, &r[i], 0);
			propagate_add(&w->p, own.ctx, own.event, own.n);
		}
	return n;
}

/* The ids of the scopes that metric M has, in their order; how many. */
static unsigned find_columns(const struct build_metrics *ms, unsigned m,
			     struct column ret[N_METRIC_SCOPES])
{
	unsigned n = 0;

	for (unsigned s = 0; s < N_METRIC_SCOPES; s++)
		if (build_metric_has(&ms->v.v[m], s))
			ret[n++] = (struct column){(uint16_t)s, prop_metric_id(ms, m, s)};
	return n;
}

static void fill_cell(struct worker *w, uint32_t ctxId, unsigned m, const struct cell *cell)
{
	const struct build_metric *metric = &w->s->b->metrics.v.v[m];
	const struct columns *columns = &w->columns[m];
	uint64_t last = 0;
	double value = 0;

	for (unsigned i = 0; i < columns->n; i++) {
		uint64_t n = cell->in[columns->v[i].scope];

		if (!n)
			continue;
		if (n != last) /* what calls nothing has the same in all scopes */
			value = build_metric_value(metric, n);
		last = n;
		hpc_profile_block_add(&w->block, ctxId, columns->v[i].id, value);
	}
}

static void fill_block(struct worker *w)
{
	for (size_t i = 0; i < w->p.touched.n; i++)
		for (unsigned m = 0; m < w->p.n_metrics; m++)
			fill_cell(w, w->p.touched.v[i], m, propagate_cell(&w->p, i, m));
}

/* Profile number I, of a recording. */
static int fill_profile(struct worker *w, uint32_t i, struct err *err)
{
	struct saving *s = w->s;
	int rc = 0;

	for (uint32_t g = s->groups->first[i]; g < s->groups->first[i + 1] && rc == 0; g++)
		rc = add_group(w, s->groups->groups[g], err);
	if (rc != 0)
		return rc;
	propagate_finish(&w->p);
	fill_block(w);
	propagate_reset(&w->p);
	return 0;
}

/* Profile number I. */
static int save_profile(struct worker *w, uint32_t i, struct err *err)
{
	struct saving *s = w->s;
	const struct identities *all = &s->b->identities;
	const struct identity *id = &all->v.v[i];
	const struct database *d = build_database(s->b, id);
	struct hpc_id own[BUILD_MAX_IDS], *ids = own;
	size_t n_ids;
	int rc;

	hpc_profile_block_reset(&w->block);
	if (d) {
		rc = database_new_tuple(d, all, i, &w->database, err);
		ids = w->database.ids.v;
		n_ids = w->database.ids.n;
		if (rc == 0)
			rc = database_values(d, id->profile, &w->database, &w->block, err);
	} else {
		n_ids = identities_tuple(all, i, own);
		rc = fill_profile(w, i, err);
	}
	return rc != 0 ? rc : hpc_profile_put(s->writer, i + 1, ids, n_ids, &w->block, err);
}

/* The first failure stops all. */
static void save_fail(struct saving *s, int rc, const struct err *err)
{
	if (s->rc >= 0) {
		s->rc = rc;
		s->err = *err;
	}
	hpc_profile_cancel(s->writer);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct saving *s = w->s;
	const struct hpc_share *share = build_share(s->b);
	struct err err = {0};

	pthread_mutex_lock(&s->lock);
	while (s->rc >= 0 && s->next < s->groups->n) {
		uint32_t i = s->next++;
		int rc;

		if (share && hpc_profile_owner(share, i + 1, s->groups->n + 1) != share->rank)
			continue;
		pthread_mutex_unlock(&s->lock);
		rc = save_profile(w, i, &err);
		pthread_mutex_lock(&s->lock);
		s->n_values += w->block.n_values;
		s->n_done++;
		if (rc == 0)
			rc = build_progress(s->b, "threads", share ? i + 1 : s->n_done,
					    s->groups->n, &err);
		if (rc != 0)
			save_fail(s, rc, &err);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void run_workers(struct saving *s)
{
	unsigned n = s->b->opts.n_threads ? s->b->opts.n_threads : 1, n_started = 1;
	const struct build_metrics *ms = &s->b->metrics;
	struct columns *columns = xcalloc(ms->v.n + 1, sizeof(*columns));
	struct worker *workers;

	for (unsigned m = 0; m < ms->v.n; m++)
		columns[m].n = find_columns(ms, m, columns[m].v);
	if (n > s->groups->n)
		n = s->groups->n ? s->groups->n : 1;
	workers = xcalloc(n, sizeof(*workers));
	for (unsigned i = 0; i < n; i++) {
		workers[i].s = s;
		workers[i].columns = columns;
		propagate_init(&workers[i].p, s->tree, (unsigned)s->b->metrics.v.n);
		records_reader_init(&workers[i].reader, &s->b->records);
	}
	/* Where a thread is not to be had the others do its work. */
	while (n_started < n &&
	       pthread_create(&workers[n_started].thread, NULL, work, &workers[n_started]) == 0)
		n_started++;
	work(&workers[0]);
	for (unsigned i = 1; i < n_started; i++)
		pthread_join(workers[i].thread, NULL);
	for (unsigned i = 0; i < n; i++) {
		propagate_release(&workers[i].p);
		records_reader_release(&workers[i].reader);
		hpc_profile_block_release(&workers[i].block);
		database_reader_release(&workers[i].database);
	}
	free(workers);
	free(columns);
}

int save_profiles(struct build *b, const struct ctx_tree *tree, const struct profile_groups *groups,
		  uint64_t n_ids, struct hpc_profile_writer **ret, struct err *err)
{
	struct saving s = {.b = b, .tree = tree, .groups = groups};
	int rc;

	vec_each (id, &b->identities.v)
		n_ids += id->db ? 0 : identity_most_ids(id);
	rc = hpc_profile_create_shared(&s.writer, b->opts.dir->fd, "profile.db", b->opts.layout,
				       groups->n + 1, n_ids, build_share(b), err);
	if (rc < 0)
		return rc;
	pthread_mutex_init(&s.lock, NULL);
	run_workers(&s);
	rc = s.rc;
	if (rc < 0 && err)
		*err = s.err;
	pthread_mutex_destroy(&s.lock);
	b->n_values = s.n_values;
	if (rc >= 0)
		rc = hpc_profile_settle(s.writer, err);
	if (rc < 0)
		hpc_profile_abandon(s.writer);
	else
		*ret = s.writer;
	return rc;
}
