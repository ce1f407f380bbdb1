/* SPDX-License-Identifier: BSD-2-Clause */
/* See merge.h.  One run is in memory at a time. */
#include "store/merge.h"

#include <stdlib.h>

#include "model/prune.h"
#include "store/edges.h"
#include "store/snapshot.h"

struct merger {
	struct store *s;
	struct snapshot snap;
	const struct profile *p; /* NULL: nothing, or it is stored already */
	bool last, void_journal;
	VEC(struct manifest_segment) old; /* as NEW had them */
	struct manifest *new;
};

/* Where the segment comes from that holds RUN, and P if WITH_P. */
static struct segment_origin origin_of_run(const struct merger *g, const struct segment_run *run,
					   bool with_p)
{
	const uint64_t journal = g->s->m.journal + (with_p && g->void_journal);
	struct segment_origin o = {.recording = g->s->m.recording};
	bool known = true;

	for (size_t i = run->first; i < run->first + run->n; i++) {
		const uint64_t number = commit_segment_number(g->old.v[i].name);
		struct segment_origin from;

		segment_get_origin(g->snap.maps.v[i].bytes, g->snap.maps.v[i].n_bytes, &from);
		known &= from.recording == o.recording;
		if (from.last_generation &&
		    (!o.first_generation || from.first_generation < o.first_generation))
			o.first_generation = from.first_generation;
		if (from.last_generation > o.last_generation)
			o.last_generation = from.last_generation;
		if (!o.n_replaced || number < o.first_replaced)
			o.first_replaced = number;
		if (number > o.last_replaced)
			o.last_replaced = number;
		o.n_replaced++;
	}
	if (with_p && g->void_journal) {
		o.first_generation = o.first_generation ? o.first_generation : journal;
		o.last_generation = journal;
	}
	if (run->n == g->old.n) { /* in place of all: every generation so far */
		o.first_generation = journal ? 1 : 0;
		o.last_generation = journal;
	} else if (!known) {
		o.recording = 0; /* the times alone tell it from others */
	}
	return o;
}

/* All of RUN, and P if WITH_P, in ALL, pruned: until the last time by what has come since the run's
 * first segment, which is what the merge before this one made.  Tells in *RET_CHANGED whether
 * anything was. */
static int load_run(struct merger *g, const struct segment_run *run, bool with_p,
		    struct profile *all, bool *ret_changed, struct err *err)
{
	prune_sums before = {0};
	uint64_t *was;
	int rc = 0;

	for (size_t i = 0; i < run->n && rc >= 0; i++) {
		rc = snapshot_load_segment(&g->snap, run->first + i, all, NULL, err);
		if (i == 0 && g->s->prune > 0 && !g->last)
			prune_sum(all, &before);
	}
	if (rc >= 0 && with_p)
		profile_merge(all, g->p);
	was = xcalloc(all->events.n + 1, sizeof(*was));
	if (rc >= 0) {
		profile_n_pruned(all, was);
		profile_prune(all, g->s->prune, &before);
		*ret_changed = manifest_add_pruned(g->new, all, was);
	}
	free(was);
	vec_release(&before);
	return rc;
}

static int merge_run(struct merger *g, const struct segment_run *run, bool with_p, struct err *err)
{
	const struct segment_origin o = origin_of_run(g, run, with_p);
	struct profile all;
	bool changed = false;
	int rc;

	profile_init(&all);
	rc = load_run(g, run, with_p, &all, &changed, err);
	if (rc >= 0 && (run->n + with_p > 1 || changed))
		rc = commit_add_segment(g->s, g->new, &all, &o, err);
	else if (rc >= 0)
		vec_push(&g->new->segments, g->old.v[run->first]);
	profile_release(&all);
	return rc;
}

int commit_merge(struct store *s, const struct profile *p, bool last, bool void_journal,
		 struct manifest *new, struct err *err)
{
	const uint64_t now_ns = store_now_ns(s);
	struct merger g = {.s = s, .p = p, .last = last, .void_journal = void_journal, .new = new};
	segment_runs runs = {0};
	bool with_p = false;
	int rc = snapshot_open(&g.snap, s->dir_fd, err);

	if (rc < 0)
		return rc;
	vec_each (seg, &new->segments)
		vec_push(&g.old, *seg);
	new->segments.n = 0;
	edges_runs(&s->m, now_ns, &runs);
	for (size_t i = 0; i < runs.n && rc >= 0; i++) {
		const struct segment_run *r = &runs.v[i];

		with_p = p && i + 1 == runs.n &&
			 edges_same(g.old.v[g.old.n - 1].start_wall_ns, p->meta.start_wall_ns,
				    now_ns);
		if (r->n + with_p > 1 || (last && s->prune > 0))
			rc = merge_run(&g, r, with_p, err);
		else
			vec_push(&new->segments, g.old.v[r->first]);
	}
	if (rc >= 0 && p && !with_p) {
		const struct segment_origin o =
			origin_of_run(&g, &(struct segment_run){g.old.n, 0}, true);

		rc = commit_add_segment(s, new, p, &o, err);
	}
	snapshot_close(&g.snap);
	vec_release(&runs);
	vec_release(&g.old);
	if (rc < 0)
		commit_remove_new(s, new);
	return rc;
}
