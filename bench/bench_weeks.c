/* SPDX-License-Identifier: BSD-2-Clause */
/* What epochs would take on disk as one: without callers, with all, and with rare ones pruned.
 *
 *     bench_weeks DB LABEL PERCENT EPOCH...      LABEL "": all samples
 *
 * Prints a line for each EPOCH, of it and those before it together, of the samples that have LABEL
 * (others are the machine's other work) and are not an idle task's: samples; bytes of a segment
 * flat, with all callers, and pruned as a daemon's last merge does it with --prune PERCENT; samples
 * with callers pruned; distinct places, contexts, and contexts that are left. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/segment.h"
#include "model/prune.h"
#include "store/store.h"

static void need(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "bench_weeks: %s\n", err->msg);
	exit(2);
}

/* SRC's samples of LABEL, FLAT or not; in DST. */
static void keep(struct profile *dst, const struct profile *src, const char *label, bool flat)
{
	struct profile_map m = profile_merge_dicts(dst, src);

	vec_each (v, &src->values) {
		const struct owner *o = &src->owners.v[v->owner];
		struct value w = *v;

		if (!value_counts(v) || o->flags & OWNER_IDLE ||
		    (*label && strcmp(profile_str(src, o->label), label) != 0))
			continue;
		w.owner = m.owners[v->owner];
		w.vector = m.vectors[v->vector];
		w.event = m.events[v->event];
		w.ctx = flat ? profile_flat_ctx(dst, m.places[src->ctxs.v[v->ctx].place])
			     : m.ctxs[v->ctx];
		profile_add_value(dst, &w);
	}
	profile_map_release(&m);
}

/* Bytes of P as a segment, and P as that has it: only what is used. */
static size_t bytes_of(struct profile *p)
{
	struct err err = {0};
	struct profile used;
	struct wr w = {0};
	size_t n;

	need(segment_encode(&w, p, &err), &err);
	profile_init(&used);
	need(segment_decode(w.v, w.n, &used, NULL, &err), &err);
	profile_release(p);
	*p = used;
	n = w.n;
	wr_release(&w);
	return n;
}

int main(int argc, char **argv)
{
	struct profile all;
	struct err err = {0};

	if (argc < 5) {
		fprintf(stderr, "usage: bench_weeks DB LABEL PERCENT EPOCH...\n");
		return 2;
	}
	profile_init(&all);
	for (int i = 4; i < argc; i++) {
		struct profile epoch, flat;
		uint64_t n_pruned[64] = {0};
		size_t n_flat, n_all, n_few, n_ctxs;

		profile_init(&epoch);
		need(store_load(argv[1], &(struct store_selection){.epochs = argv[i]}, &epoch, NULL,
				&err),
		     &err);
		keep(&all, &epoch, argv[2], false);
		profile_release(&epoch);
		profile_init(&flat);
		keep(&flat, &all, "", true);
		n_flat = bytes_of(&flat);
		n_all = bytes_of(&all);
		n_ctxs = all.ctxs.n - 1;
		profile_init(&epoch);
		keep(&epoch, &all, "", false);
		profile_prune(&epoch, atof(argv[3]) / 100, NULL);
		n_few = bytes_of(&epoch);
		if (epoch.events.n <= 64)
			profile_n_pruned(&epoch, n_pruned);
		printf("%" PRIu64 " %zu %zu %zu %" PRIu64 " %zu %zu %zu\n",
		       profile_n_samples(&all, 0), n_flat, n_all, n_few, n_pruned[0], flat.places.n,
		       n_ctxs, epoch.ctxs.n - 1);
		profile_release(&flat);
		profile_release(&epoch);
	}
	profile_release(&all);
	return 0;
}
