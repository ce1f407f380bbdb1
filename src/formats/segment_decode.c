/* SPDX-License-Identifier: BSD-2-Clause */
/* Segment bytes to a profile: docs/formats/segment.md "Blocks".
 *
 * The dictionaries are read into a scratch profile's arrays (no indexes: the file's own numbers are
 * the ids), the values are walked once only to be checked, and only then everything is merged.
 * Every dictionary must be in its stated order, without doubles; so what is read is what an encoder
 * wrote. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/segment_block.h"
#include "formats/segment_accesses.h"
#include "formats/segment_minutes.h"
#include "model/fact.h"
#include "model/trace.h"

struct decoder {
	struct profile p; /* dictionaries under the file's ids */
	struct block_list list;
};

static int end_columns(const struct block *b, struct block_column *c, unsigned n, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; i < n && rc >= 0; i++)
		if (c[i].rd.bad || rd_left(&c[i].rd))
			rc = block_err(err, -EBADMSG, b, "column %u is %s than %u elements", i,
				       c[i].rd.bad ? "shorter" : "longer", b->n_items);
	return rc;
}

#define BAD(...) block_err(err, -EBADMSG, b, __VA_ARGS__)

/* The readers of each block: C are its columns, P gets the elements. */

static int get_strings(struct profile *p, const struct block *b, struct block_column *c,
		       struct err *err)
{
	const char *last = "";

	for (uint32_t i = 0; i < b->n_items; i++) {
		uint64_t n = column_next(&c[0]);
		const uint8_t *s = n <= rd_left(&c[1].rd) ? rd_bytes(&c[1].rd, (size_t)n) : NULL;
		const char *copy;

		if (c[0].rd.bad || !s || memchr(s, 0, (size_t)n))
			return BAD("string %u is malformed", i + 1);
		copy = arena_strndup(&p->arena, (const char *)s, (size_t)n);
		if (strcmp(copy, last) <= 0)
			return BAD("string %u is out of order", i + 1);
		vec_push(&p->strings, copy);
		last = copy;
	}
	return 0;
}

static string_id get_str(const struct profile *p, struct block_column *c)
{
	uint32_t id = column_next_u32(c);

	if (id >= p->strings.n)
		c->rd.bad = true;
	return c->rd.bad ? 0 : id;
}

/* The recording's own bits and counters; tells how many elements they were. */
static int get_user_facts(struct profile *p, struct block_column *c, uint32_t *ret_n)
{
	uint64_t n = column_next(c);

	if (n > FACT_N_USER_BITS + FACT_N_USER_COUNTERS)
		return -EBADMSG;
	*ret_n = 1 + 3 * (uint32_t)n;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t key = column_next(c);
		bool is_counter = key >> 8;
		unsigned number = key & 0xff;
		struct user_fact u = {.name = get_str(p, c)};
		const char *name = profile_str(p, u.name);
		unsigned first = is_counter ? FACT_USER_COUNTER : FACT_USER_BIT;

		u.meaning = get_str(p, c);
		if (key >= 512 || number < first ||
		    number >= (is_counter ? (unsigned)FACT_MAX_COUNTERS : N_FACT_BITS) || !*name ||
		    (is_counter ? fact_counter_name : fact_bit_name)(p, number))
			return -EBADMSG;
		vec_each (old, &p->user_facts)
			if (old->is_counter == is_counter && old->name == u.name)
				return -EBADMSG;
		u.is_counter = is_counter;
		u.number = (uint8_t)number;
		vec_push(&p->user_facts, u);
	}
	return 0;
}

static int get_meta(struct profile *p, const struct block *b, struct block_column *c,
		    struct err *err)
{
	struct profile_meta *m = &p->meta;
	uint32_t n = 0;

	m->host = get_str(p, c);
	m->platform = get_str(p, c);
	m->kernel = get_str(p, c);
	m->engine = get_str(p, c);
	m->command = get_str(p, c);
	m->start_wall_ns = column_next(c);
	m->end_wall_ns = column_next(c);
	m->n_cpus = column_next_u32(c);
	if (b->n_items > 8 && get_user_facts(p, c, &n) < 0)
		return BAD("the names of facts are not what they should be");
	for (uint32_t i = 8 + n; i < b->n_items && !c->rd.bad && !c->zero; i++)
		column_next(c); /* the origin, and fields of a newer minor version */
	return 0;
}

static int get_events(struct profile *p, const struct block *b, struct block_column *c,
		      struct err *err)
{
	for (uint32_t i = 0; i < b->n_items; i++) {
		struct event e = {
			.name = get_str(p, &c[0]),
			.unit = get_str(p, &c[1]),
			.period = column_next(&c[2]),
			.freq_hz = column_next(&c[3]),
			.enabled_ns = column_next(&c[4]),
			.running_ns = column_next(&c[5]),
			.total = column_next(&c[6]),
			.n_reached = column_next(&c[7]),
			.flags = column_next_u32(&c[8]),
		};
		const uint64_t squares = column_next(&c[9]);

		memcpy(&e.weight_squares, &squares, sizeof(squares));
		if (!(e.weight_squares >= 0 && e.weight_squares < INFINITY))
			return BAD("event %u has weights that are no numbers", i);

		if (!e.period)
			return BAD("event %u has no period", i);
		vec_push(&p->events, e);
	}
	return 0;
}

static int get_images(struct profile *p, const struct block *b, struct block_column *c,
		      struct err *err)
{
	for (uint32_t i = 0; i < b->n_items; i++) {
		uint64_t kind = column_next(&c[0]), n;
		struct image im = {
			.flags = column_next_u32(&c[1]),
			.path = p->strings.v[get_str(p, &c[2])],
			.text_start = column_next(&c[3]),
			.text_bytes = column_next(&c[4]),
		};
		const uint8_t *id;

		n = column_next(&c[5]);
		id = n <= BUILD_ID_MAX ? column_bytes(&c[6], (size_t)n) : NULL;
		if (kind >= N_IMAGE_KINDS)
			return block_err(err, -EPROTONOSUPPORT, b,
					 "image %u is of kind %" PRIu64 ", newer than this program",
					 i, kind);
		if (n && !id)
			return BAD("image %u has a malformed build-id", i);
		im.kind = (enum image_kind)kind;
		im.build_id.n_bytes = (uint8_t)n;
		if (n)
			memcpy(im.build_id.bytes, id, (size_t)n);
		if (column_next(&c[7])) {
			const uint8_t *digest = column_bytes(&c[8], sizeof(im.digest));

			if (!digest || !image_digest_known(digest))
				return BAD("image %u has a malformed digest", i);
			memcpy(im.digest, digest, sizeof(im.digest));
		}
		vec_push(&p->images, im);
	}
	return 0;
}

static int get_places(struct profile *p, const struct block *b, struct block_column *c,
		      struct err *err)
{
	struct place k = {0};

	vec_reserve(&p->places, c[1].zero ? 1 : b->n_items);
	for (uint32_t i = 0; i < b->n_items; i++) {
		struct place last = k;
		uint32_t step = column_next_u32(&c[0]);
		uint64_t delta = column_next(&c[1]);

		k.image += step;
		k.svma = step ? delta : k.svma + delta;
		k.flags = column_next_u32(&c[2]);
		if (k.image < last.image || k.image >= p->images.n)
			return BAD("place %u names an image that is not there", i);
		if (i && !step && (k.svma < last.svma || (!delta && k.flags <= last.flags)))
			return BAD("place %u is out of order", i);
		vec_push(&p->places, k);
	}
	return 0;
}

static int get_owners(struct profile *p, const struct block *b, struct block_column *c,
		      struct err *err)
{
	for (uint32_t i = 0; i < b->n_items; i++) {
		struct owner o = {
			.exe = get_str(p, &c[0]),
			.comm = get_str(p, &c[1]),
			.cgroup = get_str(p, &c[2]),
			.label = get_str(p, &c[3]),
			.uid = column_next_u32(&c[4]) - 1,
			.pid = column_next_u32(&c[5]),
			.tid = column_next_u32(&c[6]),
			.flags = column_next_u32(&c[7]),
		};

		for (unsigned k = SEGMENT_OWNER_JOB; k < SEGMENT_OWNER_THREAD_NAME; k++)
			if (column_next(&c[k]))
				return block_err(err, -EPROTONOSUPPORT, b,
						 "owner %u has a job, container or unit, which is "
						 "newer than this program",
						 i + 1);
		o.thread_name = get_str(p, &c[SEGMENT_OWNER_THREAD_NAME]);
		vec_push(&p->owners, o);
	}
	return 0;
}

static int get_vectors(struct profile *p, const struct block *b, struct block_column *c,
		       struct err *err)
{
	for (uint32_t i = 0; i < b->n_items; i++) {
		struct vector v = {
			.known = column_next(&c[0]),
			.value = column_next(&c[1]),
			.counter = column_next_u32(&c[2]),
		};

		vec_push(&p->vectors, v);
	}
	return 0;
}

static int get_ctxs(struct profile *p, const struct block *b, struct block_column *c,
		    struct err *err)
{
	uint32_t *follower = xcalloc(p->places.n + 1, sizeof(*follower));
	uint64_t parent = 0, place = 0, next = 0;
	int rc = 0;

	for (uint32_t i = 0; i < p->places.n; i++)
		follower[i] = i;
	for (uint32_t i = 0; i < b->n_items && rc >= 0; i++) {
		uint32_t step = column_next_u32(&c[0]);
		uint64_t x = column_next(&c[1]);

		parent += step;
		if (parent >= p->ctxs.n) {
			rc = BAD("context %u names a parent that is not there", i + 1);
		} else if (step) { /* below a context, so it has a place */
			uint32_t *f = &follower[p->ctxs.v[parent].place];

			place = *f + (x >> 1 ^ -(x & 1));
			*f = (uint32_t)place;
		} else {
			place = next + x;
		}
		if (rc >= 0 && place >= p->places.n)
			rc = BAD("context %u names a place that is not there", i + 1);
		if (rc >= 0)
			vec_push(&p->ctxs, (struct ctx){(ctx_id)parent, (place_id)place});
		next = place + 1;
	}
	free(follower);
	return rc;
}

static int get_losses(struct profile *p, const struct block *b, struct block_column *c,
		      struct err *err)
{
	for (uint32_t i = 0; i < b->n_items; i++) {
		struct loss l = {
			.name = get_str(p, &c[0]),
			.event = column_next_u32(&c[1]),
			.n = column_next(&c[2]),
		};

		if (l.event >= p->events.n)
			return BAD("loss %u names an event that is not there", i);
		vec_push(&p->losses, l);
	}
	return 0;
}

/* Reads the values of B; with MAP, gives them to SINK under the mapped ids. */
static int walk_values(const struct profile *p, const struct block *b,
		       const struct profile_map *map, struct value_sink *sink, struct err *err)
{
	struct block_column c[6];
	uint64_t event = 0, vector = 0, owner = 0, ctx = 0, next_ctx = 0;
	int rc = block_columns(b, c, n_elems(c), err);

	for (uint32_t i = 0; i < b->n_items && rc >= 0; i++) {
		uint32_t d_event = column_next_u32(&c[0]), d_vector = column_next_u32(&c[1]);
		uint32_t d_owner = column_next_u32(&c[2]);
		struct value v;

		event += d_event;
		vector = (d_event ? 0 : vector) + d_vector;
		owner = (d_event || d_vector ? 0 : owner) + d_owner;
		ctx = (d_event || d_vector || d_owner ? 0 : next_ctx) + column_next_u32(&c[3]);
		next_ctx = ctx + 1;
		if (event >= p->events.n || vector >= p->vectors.n || owner >= p->owners.n ||
		    ctx >= p->ctxs.n) {
			rc = BAD("value %u names an element that is not there", i);
			break;
		}
		v.count = column_next(&c[4]) + 1;
		v.sum = column_next(&c[5]);
		if (!map)
			continue;
		v.event = map->events[event];
		v.vector = map->vectors[vector];
		v.owner = map->owners[owner];
		v.ctx = map->ctxs[ctx];
		sink->put(sink, &v);
	}
	if (rc >= 0)
		rc = end_columns(b, c, n_elems(c), err);
	columns_release(c, n_elems(c));
	return rc;
}

/* The lines alone; the decoder's trace 0 stays empty, so line I of the file is trace I + 1. */
static int get_traces(struct profile *p, const struct block *b, struct block_column *c,
		      struct err *err)
{
	uint64_t owner = 0, pid = 0, start = 0;

	for (uint32_t i = 0; i < b->n_items; i++) {
		uint32_t d_owner = column_next_u32(&c[0]);
		uint64_t tid, end;
		struct trace t;

		owner += d_owner;
		pid = (d_owner ? 0 : pid) + column_next_u32(&c[1]);
		tid = pid + column_next_signed(&c[2]);
		start += column_next_signed(&c[3]);
		end = column_next(&c[4]);
		if (owner >= p->owners.n)
			return BAD("trace %u names an owner that is not there", i);
		if (pid > UINT32_MAX || tid > UINT32_MAX)
			return BAD("trace %u has a malformed thread number", i);
		t = (struct trace){.owner = (owner_id)owner,
				   .pid = (uint32_t)pid,
				   .tid = (uint32_t)tid,
				   .start_ns = start,
				   .end_ns = end ? start + (end - 1) : 0,
				   .n_dropped = column_next(&c[5])};
		if (t.end_ns < start && end)
			return BAD("trace %u ends before it starts", i);
		vec_push(&p->traces, t);
	}
	return 0;
}

/* Reads the points of B; with MAP, adds them to the traces TRACES of INTO. */
static int walk_points(const struct profile *p, const struct block *b,
		       const struct profile_map *map, const trace_id *traces, struct profile *into,
		       struct err *err)
{
	struct block_column c[4];
	uint64_t line = 1, time = 0, ctx = 0, event;
	int rc = block_columns(b, c, n_elems(c), err);

	for (uint32_t i = 0; i < b->n_items && rc >= 0; i++) {
		uint32_t step = column_next_u32(&c[0]);
		uint64_t d_time = column_next(&c[1]);

		line += step;
		event = column_next_u32(&c[2]);
		ctx = (!i || step ? 0 : ctx) + column_next_signed(&c[3]);
		if (line >= p->traces.n || event >= p->events.n || ctx >= p->ctxs.n) {
			rc = BAD("point %u names an element that is not there", i);
		} else if (!i || step) {
			time = p->traces.v[line].start_ns + d_time;
		} else if (time + d_time < time) {
			rc = BAD("point %u is out of order", i);
		} else {
			time += d_time;
		}
		if (map && rc >= 0)
			trace_add_point(
				into, traces[line],
				&(struct trace_point){time, map->ctxs[ctx], map->events[event]});
	}
	if (rc >= 0)
		rc = end_columns(b, c, n_elems(c), err);
	columns_release(c, n_elems(c));
	return rc;
}

/* Reads the branches of B; with MAP, adds them to INTO. */
static int walk_branches(const struct profile *p, const struct block *b,
			 const struct profile_map *map, struct profile *into, struct err *err)
{
	struct block_column c[SEGMENT_BRANCH_COLUMNS];
	uint64_t event = 0, owner = 0, from = 0, to;
	int rc = block_columns(b, c, n_elems(c), err);

	for (uint32_t i = 0; i < b->n_items && rc >= 0; i++) {
		uint32_t d_event = column_next_u32(&c[0]), d_owner = column_next_u32(&c[1]);
		struct branch x;

		event += d_event;
		owner = (d_event ? 0 : owner) + d_owner;
		from = (d_event || d_owner ? 0 : from) + column_next_u32(&c[2]);
		to = from + column_next_signed(&c[3]);
		x = (struct branch){
			.count = column_next(&c[4]),
			.n_predicted = column_next(&c[5]),
			.n_mispredicted = column_next(&c[6]),
			.cycles = column_next(&c[7]),
			.n_cycles = column_next(&c[8]),
			.n_newest = column_next(&c[9]),
			.n_oldest = column_next(&c[10]),
			.n_again = column_next(&c[11]),
		};
		if (event >= p->events.n || owner >= p->owners.n || from >= p->places.n ||
		    to >= p->places.n)
			rc = BAD("branch %u names an element that is not there", i);
		else if (!x.count)
			rc = BAD("branch %u was never taken", i);
		if (rc < 0 || !map)
			continue;
		x.event = map->events[event];
		x.owner = map->owners[owner];
		x.from = map->places[from];
		x.to = map->places[to];
		profile_add_branch(into, &x);
	}
	if (rc >= 0)
		rc = end_columns(b, c, n_elems(c), err);
	columns_release(c, n_elems(c));
	return rc;
}

static int get_scripts(struct profile *p, const struct block *b, struct block_column *c,
		       struct err *err)
{
	uint64_t place = 0, line = 0;

	for (uint32_t i = 0; i < b->n_items; i++) {
		uint32_t step = column_next_u32(&c[0]);
		struct script s = {.language = get_str(p, &c[1])};
		string_id file = get_str(p, &c[2]);

		place += step;
		s.name = get_str(p, &c[3]);
		line += column_next_signed(&c[4]);
		if ((i && !step) || place >= p->places.n ||
		    p->images.v[p->places.v[place].image].kind != IMAGE_SCRIPT)
			return BAD("script place %u names a place that is none", i);
		if (strcmp(p->strings.v[file], p->images.v[p->places.v[place].image].path) != 0)
			return BAD("script place %u is in another file than its image", i);
		if (line > UINT32_MAX)
			return BAD("script place %u has a malformed line", i);
		s.place = (place_id)place;
		s.line = (uint32_t)line;
		vec_push(&p->scripts, s);
	}
	return 0;
}

static int get_containers(struct profile *p, const struct block *b, struct block_column *c,
			  struct err *err)
{
	string_id last = 0;

	for (uint32_t i = 0; i < b->n_items; i++) {
		struct container new;

		for (unsigned k = 0; k < CONTAINER_N_TEXTS; k++)
			new.text[k] = get_str(p, &c[k]);
		if (new.text[CONTAINER_ID] <= last)
			return BAD("container %u has no id, or is out of order", i);
		last = new.text[CONTAINER_ID];
		vec_push(&p->containers, new);
	}
	return 0;
}

/* The dictionary blocks, in the order they must come. */
static const struct {
	unsigned n_columns;
	int (*get)(struct profile *p, const struct block *b, struct block_column *c,
		   struct err *err);
} readers[] = {
	[SEGMENT_STRINGS] = {2, get_strings},
	[SEGMENT_META] = {1, get_meta},
	[SEGMENT_EVENTS] = {10, get_events},
	[SEGMENT_IMAGES] = {9, get_images},
	[SEGMENT_PLACES] = {3, get_places},
	[SEGMENT_OWNERS] = {SEGMENT_OWNER_COLUMNS, get_owners},
	[SEGMENT_VECTORS] = {3, get_vectors},
	[SEGMENT_CONTEXTS] = {2, get_ctxs},
	[SEGMENT_LOSSES] = {3, get_losses},
	[SEGMENT_TRACES] = {6, get_traces},
	[SEGMENT_CONTAINERS] = {CONTAINER_N_TEXTS, get_containers},
	[SEGMENT_SCRIPTS] = {5, get_scripts},
};

static int read_dictionary(struct profile *p, const struct block *b, struct err *err)
{
	struct block_column c[BLOCK_MAX_COLUMNS];
	unsigned n = readers[b->type].n_columns;
	int rc = block_columns(b, c, n, err);

	if (rc >= 0)
		rc = readers[b->type].get(p, b, c, err);
	if (rc >= 0)
		rc = end_columns(b, c, n, err);
	columns_release(c, n);
	return rc;
}

static bool is_trace_block(const struct block *b)
{
	return b->type == SEGMENT_TRACES || b->type == SEGMENT_POINTS;
}

static bool may_repeat(unsigned type)
{
	return type == SEGMENT_VALUES || type == SEGMENT_POINTS || type == SEGMENT_BRANCHES ||
	       type == SEGMENT_ACCESSES;
}

/* Columns of blocks that this program knows. */
static unsigned n_known_columns(unsigned type)
{
	switch (type) {
	case SEGMENT_VALUES:
		return 6;
	case SEGMENT_POINTS:
		return 4;
	case SEGMENT_BRANCHES:
		return SEGMENT_BRANCH_COLUMNS;
	case SEGMENT_MINUTES:
		return SEGMENT_MINUTES_COLUMNS;
	case SEGMENT_ACCESSES:
		return SEGMENT_ACCESS_COLUMNS;
	default:
		return readers[type].n_columns;
	}
}

static int read_block(struct profile *p, const struct block *b, struct err *err)
{
	switch (b->type) {
	case SEGMENT_VALUES:
		return walk_values(p, b, NULL, NULL, err);
	case SEGMENT_POINTS:
		return walk_points(p, b, NULL, NULL, NULL, err);
	case SEGMENT_BRANCHES:
		return walk_branches(p, b, NULL, NULL, err);
	case SEGMENT_MINUTES:
		return segment_walk_minutes(p, b, NULL, NULL, err);
	case SEGMENT_ACCESSES:
		return segment_walk_accesses(p, b, NULL, NULL, err);
	default:
		return read_dictionary(p, b, err);
	}
}

/* Reads and checks all of the segment, or all but traces; nothing outside D changes. */
static int decoder_load(struct decoder *d, const uint8_t *bytes, size_t n, bool traces,
			bool branches, bool accesses, struct err *err)
{
	unsigned last = 0;
	int rc = block_read_all(bytes, n, &d->list, err);

	if (rc < 0)
		return rc;
	profile_init(&d->p);
	vec_each (b, &d->list.blocks) {
		if (!block_type_known(b->type)) {
			if (b->flags & SEGMENT_REQUIRED)
				return block_err(err, -EPROTONOSUPPORT, b,
						 "needed, and newer than this program");
			continue;
		}
		if (b->type < last || (b->type == last && !may_repeat(b->type)))
			return BAD("out of order");
		if (b->flags & SEGMENT_ALL_COLUMNS && b->n_columns > n_known_columns(b->type))
			return block_err(err, -EPROTONOSUPPORT, b,
					 "a column is needed, and newer than this program");
		last = b->type;
		if ((!traces && is_trace_block(b)) || (!branches && b->type == SEGMENT_BRANCHES) ||
		    (!accesses && b->type == SEGMENT_ACCESSES))
			continue;
		rc = read_block(&d->p, b, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void decoder_release(struct decoder *d)
{
	profile_release(&d->p);
	vec_release(&d->list.blocks);
}

struct profile_sink {
	struct value_sink sink;
	struct profile *p;
};

static void add_to_profile(struct value_sink *s, const struct value *v)
{
	profile_add_value(((struct profile_sink *)s)->p, v);
}

/* Adds the lines to INTO and says where each went. */
static trace_id *merge_lines(struct profile *into, const struct profile *src,
			     const struct profile_map *map)
{
	trace_id *ids = xcalloc(src->traces.n, sizeof(*ids));

	for (size_t i = 1; i < src->traces.n; i++) {
		struct trace key = src->traces.v[i];

		key.owner = map->owners[key.owner];
		ids[i] = profile_intern_trace(into, &key);
	}
	return ids;
}

int segment_decode(const uint8_t *bytes, size_t n, struct profile *into, struct value_sink *sink,
		   struct err *err)
{
	struct decoder d = {0};
	struct profile_sink adder = {{.put = add_to_profile}, into};
	const bool branches = !sink || sink->branches, moments = !sink || sink->moments;
	const bool accesses = !sink || sink->accesses;
	int rc = decoder_load(&d, bytes, n, !sink || sink->traces, branches, accesses, err);

	if (rc >= 0) {
		struct profile_map map = profile_merge_dicts(into, &d.p);
		trace_id *traces = merge_lines(into, &d.p, &map);

		vec_each (b, &d.list.blocks) {
			if (b->type == SEGMENT_VALUES)
				walk_values(&d.p, b, &map, sink ? sink : &adder.sink, err);
			else if (b->type == SEGMENT_POINTS && d.p.traces.n > 1)
				walk_points(&d.p, b, &map, traces, into, err);
			else if (b->type == SEGMENT_BRANCHES && branches)
				walk_branches(&d.p, b, &map, into, err);
			else if (b->type == SEGMENT_MINUTES && moments)
				segment_walk_minutes(&d.p, b, &map, into, err);
			else if (b->type == SEGMENT_ACCESSES && accesses)
				segment_walk_accesses(&d.p, b, &map, into, err);
		}
		free(traces);
		profile_map_release(&map);
	}
	decoder_release(&d);
	return rc;
}

int segment_check(const uint8_t *bytes, size_t n, struct err *err)
{
	struct decoder d = {0};
	int rc = decoder_load(&d, bytes, n, true, true, true, err);

	decoder_release(&d);
	return rc;
}

void segment_get_origin(const uint8_t *bytes, size_t n, struct segment_origin *ret)
{
	struct block_list list = {0};
	const struct block *meta = NULL;
	struct block_column c;
	uint64_t n_user = 0, x[8];

	*ret = (struct segment_origin){0};
	if (block_read_all(bytes, n, &list, NULL) >= 0)
		vec_each (b, &list.blocks)
			if (b->type == SEGMENT_META)
				meta = b;
	if (meta && meta->n_items > 8 && block_columns(meta, &c, 1, NULL) >= 0) {
		for (unsigned i = 0; i < 8; i++)
			column_next(&c);
		n_user = column_next(&c);
		for (uint64_t i = 0; i < 3 * n_user && !c.rd.bad; i++)
			column_next(&c);
		if (meta->n_items >= 9 + 3 * n_user + n_elems(x))
			for (unsigned i = 0; i < n_elems(x); i++)
				x[i] = column_next(&c);
		if (!c.rd.bad && meta->n_items >= 9 + 3 * n_user + n_elems(x))
			*ret = (struct segment_origin){.recording = x[0],
						       .number = x[1],
						       .first_generation = x[2],
						       .last_generation = x[3],
						       .log = x[4],
						       .n_replaced = x[5],
						       .first_replaced = x[6],
						       .last_replaced = x[7]};
		columns_release(&c, 1);
	}
	vec_release(&list.blocks);
}

/* Strings that are lost, as many as may be asked for: other blocks tell of
 * build-ids and addresses. */
static void put_lost_strings(struct profile *p)
{
	while (p->strings.n < 65536)
		vec_push(&p->strings, "[damaged]");
}

/* Reads one dictionary or checks one block of values; what a block that does not fit the others has
 * added is taken back. */
static bool salvage_block(struct profile *p, const struct block *b)
{
	const struct profile was = *p;

	if (read_block(p, b, NULL) >= 0)
		return true;
	p->meta = was.meta;
	p->strings.n = was.strings.n;
	p->events.n = was.events.n;
	p->images.n = was.images.n;
	p->places.n = was.places.n;
	p->scripts.n = was.scripts.n;
	p->owners.n = was.owners.n;
	p->containers.n = was.containers.n;
	p->vectors.n = was.vectors.n;
	p->user_facts.n = was.user_facts.n;
	p->ctxs.n = was.ctxs.n;
	p->losses.n = was.losses.n;
	p->traces.n = was.traces.n;
	return false;
}

unsigned segment_salvage(const uint8_t *bytes, size_t n, struct profile *into)
{
	struct decoder d = {0};
	_vec_ VEC(const struct block *) whole = {0};
	struct profile_map map;
	unsigned last = 0, n_kept;
	trace_id *traces;

	profile_init(&d.p);
	block_read_whole(bytes, n, &d.list);
	if (d.list.blocks.n && d.list.blocks.v[0].type != SEGMENT_STRINGS)
		put_lost_strings(&d.p);
	vec_each (b, &d.list.blocks) {
		if (b->type < last || (b->type == last && !may_repeat(b->type)))
			continue;
		if (!salvage_block(&d.p, b))
			continue;
		last = b->type;
		vec_push(&whole, b);
	}
	map = profile_merge_dicts(into, &d.p);
	traces = merge_lines(into, &d.p, &map);
	vec_each (b, &whole) {
		struct profile_sink adder = {{.put = add_to_profile}, into};

		if ((*b)->type == SEGMENT_VALUES)
			walk_values(&d.p, *b, &map, &adder.sink, NULL);
		else if ((*b)->type == SEGMENT_POINTS && d.p.traces.n > 1)
			walk_points(&d.p, *b, &map, traces, into, NULL);
		else if ((*b)->type == SEGMENT_BRANCHES)
			walk_branches(&d.p, *b, &map, into, NULL);
		else if ((*b)->type == SEGMENT_MINUTES)
			segment_walk_minutes(&d.p, *b, &map, into, NULL);
		else if ((*b)->type == SEGMENT_ACCESSES)
			segment_walk_accesses(&d.p, *b, &map, into, NULL);
	}
	n_kept = (unsigned)whole.n;
	free(traces);
	profile_map_release(&map);
	decoder_release(&d);
	return n_kept;
}
