/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile to segment bytes: docs/formats/segment.md "Blocks".  What is written, in which order
 * and under which numbers, is segment_rank.c's. */
#include "formats/segment.h"

#include <errno.h>
#include <string.h>

#include "formats/segment_block.h"
#include "formats/segment_accesses.h"
#include "formats/segment_minutes.h"
#include "formats/segment_rank.h"

/* Under way: the numbers and the bytes. */
struct encoder {
	const struct profile *p;
	const struct segment_origin *origin; /* or NULL */
	struct segment_ranks k;
	struct block_writer w;
};

#define ORDER(a, b)                                                                                \
	do {                                                                                       \
		if ((a) != (b))                                                                    \
			return (a) < (b) ? -1 : 1;                                                 \
	} while (0)

/* Blocks; each fills columns in the order docs/formats/segment.md lists them. */

#define COLUMN(i) (&e->w.columns[i])

static int put_strings(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->k.strings;

	for (uint32_t i = 0; i < k->n; i++) {
		const char *s = e->p->strings.v[k->order[i]];
		size_t n = strlen(s);

		wr_uleb(COLUMN(0), n);
		wr_bytes(COLUMN(1), s, n);
	}
	return block_add(&e->w, SEGMENT_STRINGS, SEGMENT_REQUIRED, k->n, 2, err);
}

static unsigned fact_key(const struct user_fact *u)
{
	return (unsigned)u->is_counter << 8 | u->number;
}

static int by_fact_key(const void *x, const void *y)
{
	const struct user_fact *const *a = x, *const *b = y;

	ORDER(fact_key(*a), fact_key(*b));
	return 0;
}

static int put_meta(struct encoder *e, struct err *err)
{
	const struct profile_meta *m = &e->p->meta;
	const uint32_t *str = e->k.strings.rank;
	const uint64_t fields[] = {str[m->host],   str[m->platform], str[m->kernel],
				   str[m->engine], str[m->command],  m->start_wall_ns,
				   m->end_wall_ns, m->n_cpus};

	_vec_ VEC(const struct user_fact *) facts = {0};
	uint32_t n = n_elems(fields);

	for (unsigned i = 0; i < n_elems(fields); i++)
		wr_uleb(COLUMN(0), fields[i]);
	if (e->p->user_facts.n || e->origin) {
		wr_uleb(COLUMN(0), e->p->user_facts.n);
		n++;
	}
	vec_each (u, &e->p->user_facts)
		vec_push(&facts, u);
	vec_sort(&facts, by_fact_key);
	vec_each (u, &facts) {
		wr_uleb(COLUMN(0), fact_key(*u));
		wr_uleb(COLUMN(0), str[(*u)->name]);
		wr_uleb(COLUMN(0), str[(*u)->meaning]);
		n += 3;
	}
	if (e->origin) {
		const struct segment_origin *o = e->origin;
		const uint64_t from[] = {o->recording,	     o->number,	      o->first_generation,
					 o->last_generation, o->log,	      o->n_replaced,
					 o->first_replaced,  o->last_replaced};

		for (unsigned i = 0; i < n_elems(from); i++)
			wr_uleb(COLUMN(0), from[i]);
		n += n_elems(from);
	}
	return block_add(&e->w, SEGMENT_META, 0, n, 1, err);
}

static uint64_t double_bits(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

static int put_events(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->k.events;
	/* Without flags the block is as version 1 has it. */
	unsigned n_columns = 8;

	for (uint32_t i = 0; i < k->n; i++)
		if (e->p->events.v[i].flags)
			n_columns = 10;
	for (uint32_t i = 0; i < k->n; i++) {
		const struct event *v = &e->p->events.v[k->order[i]];
		const uint64_t fields[] = {e->k.strings.rank[v->name],
					   e->k.strings.rank[v->unit],
					   v->period,
					   v->freq_hz,
					   v->enabled_ns,
					   v->running_ns,
					   v->total,
					   v->n_reached,
					   v->flags,
					   double_bits(v->weight_squares)};

		for (unsigned c = 0; c < n_columns; c++)
			wr_uleb(COLUMN(c), fields[c]);
	}
	return block_add(&e->w, SEGMENT_EVENTS, SEGMENT_REQUIRED, k->n, n_columns, err);
}

static int put_images(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->k.images;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct image *v = &e->p->images.v[k->order[i]];
		string_id path = profile_intern_str((struct profile *)e->p, v->path);

		wr_uleb(COLUMN(0), v->kind);
		wr_uleb(COLUMN(1), v->flags);
		wr_uleb(COLUMN(2), e->k.strings.rank[path]);
		wr_uleb(COLUMN(3), v->text_start);
		wr_uleb(COLUMN(4), v->text_bytes);
		wr_uleb(COLUMN(5), v->build_id.n_bytes);
		wr_bytes(COLUMN(6), v->build_id.bytes, v->build_id.n_bytes);
		if (!e->k.digests)
			continue;
		wr_uleb(COLUMN(7), image_digest_known(v->digest));
		if (image_digest_known(v->digest))
			wr_bytes(COLUMN(8), v->digest, sizeof(v->digest));
	}
	return block_add(&e->w, SEGMENT_IMAGES, SEGMENT_REQUIRED, k->n, e->k.digests ? 9 : 7, err);
}

static int put_places(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->k.places;
	uint32_t image = 0;
	uint64_t svma = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct place *v = &e->p->places.v[k->order[i]];
		uint32_t im = e->k.images.rank[v->image];

		if (im != image)
			svma = 0;
		wr_uleb(COLUMN(0), im - image);
		wr_uleb(COLUMN(1), v->svma - svma);
		wr_uleb(COLUMN(2), v->flags);
		image = im;
		svma = v->svma;
	}
	return block_add(&e->w, SEGMENT_PLACES, SEGMENT_REQUIRED, k->n, 3, err);
}

static int put_owners(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->k.owners;
	const uint32_t *str = e->k.strings.rank;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct owner *v = &e->p->owners.v[k->order[i]];
		const uint32_t fields[] = {str[v->exe], str[v->comm], str[v->cgroup], str[v->label],
					   v->uid + 1,	v->pid,	      v->tid,	      v->flags};

		for (unsigned c = 0; c < n_elems(fields); c++)
			wr_uleb(COLUMN(c), fields[c]);
		if (e->k.thread_names) {
			for (unsigned c = SEGMENT_OWNER_JOB; c < SEGMENT_OWNER_THREAD_NAME; c++)
				wr_uleb(COLUMN(c), 0);
			wr_uleb(COLUMN(SEGMENT_OWNER_THREAD_NAME), str[v->thread_name]);
		}
	}
	return e->k.thread_names
		       ? block_add(&e->w, SEGMENT_OWNERS, SEGMENT_REQUIRED | SEGMENT_ALL_COLUMNS,
				   k->n, SEGMENT_OWNER_COLUMNS, err)
		       : block_add(&e->w, SEGMENT_OWNERS, SEGMENT_REQUIRED, k->n, 8, err);
}

static int put_vectors(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->k.vectors;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct vector *v = &e->p->vectors.v[k->order[i]];

		wr_uleb(COLUMN(0), v->known);
		wr_uleb(COLUMN(1), v->value);
		wr_uleb(COLUMN(2), v->counter);
	}
	return block_add(&e->w, SEGMENT_VECTORS, SEGMENT_REQUIRED, k->n, 3, err);
}

/* The first child of a parent is told from what followed the parent's place last time: code mostly
 * calls what it called before.  Observed on 3,400 stacks of a compiler: 1.20 bytes a context, 1.54
 * with the place's number itself. */
static int put_ctxs(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->k.ctxs;
	uint32_t *follower = xcalloc(e->k.places.n + 1, sizeof(*follower));
	uint32_t parent = 0, next = 0; /* smallest place the next child of PARENT can have */

	for (uint32_t i = 0; i < e->k.places.n; i++)
		follower[i] = i;
	for (uint32_t i = 0; i < k->n; i++) {
		const struct ctx *v = &e->p->ctxs.v[k->order[i]];
		uint32_t up = k->rank[v->parent], place = e->k.places.rank[v->place];

		wr_uleb(COLUMN(0), up - parent);
		if (up == parent) {
			wr_uleb(COLUMN(1), place - next);
		} else {
			uint32_t *f = &follower[e->k.places.rank[e->p->ctxs.v[v->parent].place]];

			wr_sleb(COLUMN(1), (int64_t)place - *f);
			*f = place;
		}
		parent = up;
		next = place + 1;
	}
	free(follower);
	return block_add(&e->w, SEGMENT_CONTEXTS, SEGMENT_REQUIRED, k->n, 2, err);
}

struct loss_row {
	uint32_t name, event;
	uint64_t n;
};

static int by_loss(const void *a, const void *b)
{
	const struct loss_row *x = a, *y = b;

	ORDER(x->name, y->name);
	ORDER(x->event, y->event);
	return 0;
}

static int put_losses(struct encoder *e, struct err *err)
{
	_vec_ VEC(struct loss_row) rows = {0};

	vec_each (l, &e->p->losses)
		vec_push(&rows, (struct loss_row){e->k.strings.rank[l->name],
						  e->k.events.rank[l->event], l->n});
	vec_sort(&rows, by_loss);
	vec_each (row, &rows) {
		wr_uleb(COLUMN(0), row->name);
		wr_uleb(COLUMN(1), row->event);
		wr_uleb(COLUMN(2), row->n);
	}
	return block_add(&e->w, SEGMENT_LOSSES, SEGMENT_REQUIRED, (uint32_t)rows.n, 3, err);
}

/* One block of values [FROM, END) of the sorted ones.  A column's delta counts only while the
 * columns before it stay the same; where one of them moves, it starts again from 0. */
static int put_values(struct encoder *e, size_t from, size_t end, struct err *err)
{
	uint32_t event = 0, vector = 0, owner = 0, next_ctx = 0;

	for (size_t i = from; i < end; i++) {
		const struct value *v = &e->p->values.v[e->k.values[i]];
		uint32_t ev = e->k.events.rank[v->event], ve = e->k.vectors.rank[v->vector];
		uint32_t ow = e->k.owners.rank[v->owner], cx = e->k.ctxs.rank[v->ctx];

		if (ev != event)
			vector = owner = next_ctx = 0;
		if (ve != vector)
			owner = next_ctx = 0;
		if (ow != owner)
			next_ctx = 0;
		wr_uleb(COLUMN(0), ev - event);
		wr_uleb(COLUMN(1), ve - vector);
		wr_uleb(COLUMN(2), ow - owner);
		wr_uleb(COLUMN(3), cx - next_ctx);
		wr_uleb(COLUMN(4), v->count - 1);
		wr_uleb(COLUMN(5), v->sum);
		event = ev;
		vector = ve;
		owner = ow;
		next_ctx = cx + 1;
	}
	return block_add(&e->w, SEGMENT_VALUES, SEGMENT_REQUIRED, (uint32_t)(end - from), 6, err);
}

static int put_traces(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->k.traces;
	uint32_t owner = 0, pid = 0;
	uint64_t start = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct trace *t = &e->p->traces.v[k->order[i]];
		uint32_t ow = e->k.owners.rank[t->owner];

		if (ow != owner)
			pid = 0;
		wr_uleb(COLUMN(0), ow - owner);
		wr_uleb(COLUMN(1), t->pid - pid);
		wr_sleb(COLUMN(2), (int64_t)t->tid - t->pid);
		wr_sleb(COLUMN(3), (int64_t)(t->start_ns - start));
		wr_uleb(COLUMN(4), t->end_ns ? t->end_ns - t->start_ns + 1 : 0);
		wr_uleb(COLUMN(5), t->n_dropped);
		owner = ow;
		pid = t->pid;
		start = t->start_ns;
	}
	return block_add(&e->w, SEGMENT_TRACES, 0, k->n, 6, err);
}

/* A point with the file's numbers. */
struct point_row {
	uint64_t time_ns;
	uint32_t ctx, event;
};

static int by_point(const void *a, const void *b)
{
	const struct point_row *x = a, *y = b;

	ORDER(x->time_ns, y->time_ns);
	ORDER(x->event, y->event);
	ORDER(x->ctx, y->ctx);
	return 0;
}

/* The points of one line after the other, a block whenever SEGMENT_VALUES_MAX are together. */
static int put_points(struct encoder *e, struct err *err)
{
	uint32_t n = 0, line = 0;
	int rc = 0;

	for (uint32_t i = 0; i < e->k.traces.n && rc >= 0; i++) {
		const struct trace *t = &e->p->traces.v[e->k.traces.order[i]];
		uint64_t time = t->start_ns;
		_vec_ VEC(struct point_row) rows = {0};
		uint32_t ctx = 0;

		vec_reserve(&rows, t->points.n);
		vec_each (point, &t->points)
			vec_push(&rows,
				 (struct point_row){point->time_ns, e->k.ctxs.rank[point->ctx],
						    e->k.events.rank[point->event]});
		vec_sort(&rows, by_point);
		vec_each (row, &rows) {
			wr_uleb(COLUMN(0), i - line);
			wr_uleb(COLUMN(1), row->time_ns - time);
			wr_uleb(COLUMN(2), row->event);
			wr_sleb(COLUMN(3), (int64_t)row->ctx - ctx);
			line = i;
			time = row->time_ns;
			ctx = row->ctx;
			if (++n < SEGMENT_VALUES_MAX)
				continue;
			rc = block_add(&e->w, SEGMENT_POINTS, 0, n, 4, err);
			if (rc < 0)
				break;
			time = t->start_ns;
			n = line = ctx = 0;
		}
	}
	return rc < 0 ? rc : block_add(&e->w, SEGMENT_POINTS, 0, n, 4, err);
}

/* One block of branches [FROM, END) of the sorted ones. */
static int put_some_branches(struct encoder *e, uint32_t from, uint32_t end, struct err *err)
{
	uint32_t event = 0, owner = 0, place = 0;

	for (uint32_t i = from; i < end; i++) {
		const struct branch *b = &e->p->branches.v[e->k.branches.order[i]];
		uint32_t ev = e->k.events.rank[b->event], ow = e->k.owners.rank[b->owner];
		uint32_t at = e->k.places.rank[b->from], to = e->k.places.rank[b->to];

		if (ev != event)
			owner = place = 0;
		if (ow != owner)
			place = 0;
		wr_uleb(COLUMN(0), ev - event);
		wr_uleb(COLUMN(1), ow - owner);
		wr_uleb(COLUMN(2), at - place);
		wr_sleb(COLUMN(3), (int64_t)to - at);
		wr_uleb(COLUMN(4), b->count);
		wr_uleb(COLUMN(5), b->n_predicted);
		wr_uleb(COLUMN(6), b->n_mispredicted);
		wr_uleb(COLUMN(7), b->cycles);
		wr_uleb(COLUMN(8), b->n_cycles);
		wr_uleb(COLUMN(9), b->n_newest);
		wr_uleb(COLUMN(10), b->n_oldest);
		wr_uleb(COLUMN(11), b->n_again);
		event = ev;
		owner = ow;
		place = at;
	}
	return block_add(&e->w, SEGMENT_BRANCHES, 0, end - from, SEGMENT_BRANCH_COLUMNS, err);
}

static int put_scripts(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->k.scripts;
	const uint32_t *str = e->k.strings.rank;
	uint32_t place = 0, line = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct script *s = &e->p->scripts.v[k->order[i]];
		uint32_t at = e->k.places.rank[s->place];
		string_id file =
			profile_intern_str((struct profile *)e->p,
					   e->p->images.v[e->p->places.v[s->place].image].path);

		wr_uleb(COLUMN(0), at - place);
		wr_uleb(COLUMN(1), str[s->language]);
		wr_uleb(COLUMN(2), str[file]);
		wr_uleb(COLUMN(3), str[s->name]);
		wr_sleb(COLUMN(4), (int64_t)s->line - line);
		place = at;
		line = s->line;
	}
	return block_add(&e->w, SEGMENT_SCRIPTS, SEGMENT_REQUIRED, k->n, 5, err);
}

static int put_containers(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->k.containers;

	for (uint32_t i = 0; i < k->n; i++)
		for (unsigned c = 0; c < CONTAINER_N_TEXTS; c++)
			wr_uleb(COLUMN(c),
				e->k.strings.rank[e->p->containers.v[k->order[i]].text[c]]);
	return block_add(&e->w, SEGMENT_CONTAINERS, 0, k->n, CONTAINER_N_TEXTS, err);
}

static int put_branches(struct encoder *e, struct err *err)
{
	const uint32_t n = e->k.branches.n;
	int rc = 0;

	for (uint32_t i = 0; i < n && rc >= 0; i += SEGMENT_VALUES_MAX)
		rc = put_some_branches(
			e, i, n - i < SEGMENT_VALUES_MAX ? n : i + SEGMENT_VALUES_MAX, err);
	return rc;
}

/* What minutes may take of a segment that is stored: a tenth of the rest. */
static size_t minutes_limit(const struct encoder *e)
{
	const size_t tenth = (e->w.out->n - e->w.start) / 10;

	if (!e->origin)
		return SIZE_MAX;
	return tenth > SEGMENT_MINUTES_LEAST ? tenth : SEGMENT_MINUTES_LEAST;
}

static int put_blocks(struct encoder *e, struct err *err)
{
	static int (*const put[])(struct encoder * e, struct err * err) = {
		put_strings, put_meta,	  put_events, put_images, put_places,
		put_owners,  put_vectors, put_ctxs,   put_losses,
	};
	size_t n = e->k.n_values;
	int rc;

	for (size_t i = 0; i < n_elems(put); i++) {
		rc = put[i](e, err);
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < n; i += SEGMENT_VALUES_MAX) {
		rc = put_values(e, i, n - i < SEGMENT_VALUES_MAX ? n : i + SEGMENT_VALUES_MAX, err);
		if (rc < 0)
			return rc;
	}
	if (e->k.traces.n) {
		rc = put_traces(e, err);
		if (rc == 0)
			rc = put_points(e, err);
		if (rc < 0)
			return rc;
	}
	rc = put_branches(e, err);
	if (rc >= 0)
		rc = put_containers(e, err);
	if (rc >= 0)
		rc = segment_put_minutes(&e->w, e->p, &e->k, minutes_limit(e), err);
	if (rc >= 0)
		rc = put_scripts(e, err);
	return rc < 0 ? rc : segment_put_accesses(&e->w, e->p, &e->k, err);
}

/* The lowest version that says what is to be said. */
static void choose_version(const struct encoder *e, uint16_t *ret_major, uint16_t *ret_minor)
{
	const bool containers = e->k.containers.n, accesses = e->k.accesses.n;
	const bool new = e->k.digests || e->k.branches.n || e->k.thread_names || e->k.scripts.n ||
			 containers || accesses;

	*ret_major = new ? 2 : 1;
	*ret_minor = new		  ? (e->k.branches.n ? 3
					     : accesses	     ? 2
							     : containers)
		     : e->origin	  ? 3
		     : e->p->user_facts.n ? 2
		     : e->k.traces.n	  ? 1
					  : 0;
}

int segment_encode(struct wr *out, const struct profile *p, struct err *err)
{
	return segment_encode_from(out, p, NULL, err);
}

int segment_encode_from(struct wr *out, const struct profile *p, const struct segment_origin *o,
			struct err *err)
{
	struct encoder e = {.p = p, .origin = o};
	size_t start = out->n;
	uint16_t major, minor;
	int rc = 0;

	segment_rank(p, &e.k);
	choose_version(&e, &major, &minor);
	/* Very regular data may shrink more than a reader is allowed to expand: then plainly. */
	for (int plain = 0; plain < 2; plain++) {
		uint64_t limit;

		out->n = start;
		block_begin_segment(&e.w, out, major, minor, plain);
		rc = put_blocks(&e, err);
		if (rc < 0) {
			block_writer_release(&e.w);
			out->n = start;
			break;
		}
		block_end_segment(&e.w);
		limit = (uint64_t)(out->n - start) * SEGMENT_EXPANSION + SEGMENT_FREE_BYTES;
		if (e.w.expanded <= limit)
			break;
	}
	segment_ranks_release(&e.k);
	return rc;
}
