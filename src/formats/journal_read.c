/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads what journal_counts.h describes, into a scratch profile's arrays, whose ids are the
 * record's numbers.  A failed read sets the cursor's `bad`. */
#include "formats/journal_counts.h"

#include <errno.h>
#include <string.h>

#include "formats/journal_sections.h"
#include "model/container.h"
#include "model/fact.h"

static uint32_t get_u32(struct rd *r)
{
	uint64_t x = rd_uleb(r);

	r->bad |= x > UINT32_MAX;
	return (uint32_t)x;
}

/* A number below N. */
static uint32_t get_number(struct rd *r, size_t n)
{
	uint64_t x = rd_uleb(r);

	if (x < n)
		return (uint32_t)x;
	r->bad = true;
	return 0;
}

/* A text of the profile's arena; "" when it is malformed. */
static const char *get_text(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 1);
	const uint8_t *s = rd_bytes(r, n);

	if (!s || memchr(s, 0, n)) {
		r->bad = true;
		return "";
	}
	return arena_strndup(&p->arena, (const char *)s, n);
}

static void get_strings(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 1);

	for (size_t i = 0; i < n && !r->bad; i++)
		vec_push(&p->strings, get_text(p, r));
}

static bool is_user_fact(const struct profile *p, const struct user_fact *u, uint32_t key)
{
	unsigned first = u->is_counter ? FACT_USER_COUNTER : FACT_USER_BIT;
	unsigned end = u->is_counter ? (unsigned)FACT_MAX_COUNTERS : N_FACT_BITS;

	if (key >= 512 || u->number < first || u->number >= end || !*profile_str(p, u->name) ||
	    (u->is_counter ? fact_counter_name : fact_bit_name)(p, u->number))
		return false;
	vec_each (old, &p->user_facts)
		if (old->is_counter == u->is_counter && old->name == u->name)
			return false;
	return true;
}

static void get_meta(struct profile *p, struct rd *r)
{
	struct profile_meta *m = &p->meta;
	string_id *const strings[] = {&m->host, &m->platform, &m->kernel, &m->engine, &m->command};
	size_t n;

	for (unsigned i = 0; i < n_elems(strings); i++)
		*strings[i] = get_number(r, p->strings.n);
	m->start_wall_ns = rd_uleb(r);
	m->end_wall_ns = rd_uleb(r);
	m->n_cpus = get_u32(r);
	n = rd_count(r, 3);
	for (size_t i = 0; i < n && !r->bad; i++) {
		uint32_t key = get_u32(r);
		struct user_fact u = {.is_counter = key >> 8, .number = (uint8_t)key};

		u.name = get_number(r, p->strings.n);
		u.meaning = get_number(r, p->strings.n);
		if (r->bad || !is_user_fact(p, &u, key))
			r->bad = true;
		else
			vec_push(&p->user_facts, u);
	}
}

static void get_events(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 8);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct event e = {.name = get_number(r, p->strings.n)};

		e.unit = get_number(r, p->strings.n);
		e.period = rd_uleb(r);
		e.freq_hz = rd_uleb(r);
		e.enabled_ns = rd_uleb(r);
		e.running_ns = rd_uleb(r);
		e.total = rd_uleb(r);
		e.n_reached = rd_uleb(r);
		r->bad |= !e.period;
		vec_push(&p->events, e);
	}
}

static void get_losses(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 3);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct loss l = {.name = get_number(r, p->strings.n)};

		l.event = get_number(r, p->events.n);
		l.n = rd_uleb(r);
		vec_push(&p->losses, l);
	}
}

static void get_digest(struct image *im, struct rd *r)
{
	uint8_t n = rd_u8(r);
	const uint8_t *digest = n == IMAGE_DIGEST_BYTES ? rd_bytes(r, n) : NULL;

	if (digest)
		memcpy(im->digest, digest, sizeof(im->digest));
	r->bad |= n && (!digest || !image_digest_known(im->digest));
}

/* Tells of an image of a kind that only a newer program knows. */
static bool get_images(struct profile *p, struct rd *r, bool digests)
{
	size_t n = rd_count(r, 6);
	bool known = true;

	for (size_t i = 0; i < n && !r->bad; i++) {
		uint64_t kind = rd_uleb(r);
		struct image im = {.flags = get_u32(r)};
		const uint8_t *id;

		im.path = get_text(p, r);
		im.text_start = rd_uleb(r);
		im.text_bytes = rd_uleb(r);
		im.build_id.n_bytes = rd_u8(r);
		id = im.build_id.n_bytes <= BUILD_ID_MAX ? rd_bytes(r, im.build_id.n_bytes) : NULL;
		r->bad |= !id;
		if (id)
			memcpy(im.build_id.bytes, id, im.build_id.n_bytes);
		if (digests)
			get_digest(&im, r);
		known &= kind < N_IMAGE_KINDS;
		im.kind = kind < N_IMAGE_KINDS ? (enum image_kind)kind : IMAGE_UNKNOWN;
		vec_push(&p->images, im);
	}
	return known;
}

static void get_owners(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 8);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct owner o = {.exe = get_number(r, p->strings.n)};

		o.comm = get_number(r, p->strings.n);
		o.cgroup = get_number(r, p->strings.n);
		o.label = get_number(r, p->strings.n);
		o.uid = get_u32(r) - 1;
		o.pid = get_u32(r);
		o.tid = get_u32(r);
		o.flags = get_u32(r);
		vec_push(&p->owners, o);
	}
}

static void get_vectors(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 3);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct vector v = {.known = rd_uleb(r)};

		v.value = rd_uleb(r);
		v.counter = get_u32(r);
		vec_push(&p->vectors, v);
	}
}

static void get_places(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 3);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct place k = {.image = get_number(r, p->images.n)};

		k.svma = (uint64_t)rd_sleb(r);
		k.flags = get_u32(r);
		vec_push(&p->places, k);
	}
}

static void get_ctxs(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 2);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct ctx c = {.parent = get_number(r, p->ctxs.n)};

		c.place = get_number(r, p->places.n);
		vec_push(&p->ctxs, c);
	}
}

static void get_values(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 2);
	struct value v = {0};
	uint64_t next = 1;

	for (size_t i = 0; i < n && !r->bad; i++) {
		int64_t x = rd_sleb(r);
		uint64_t ctx = next + (uint64_t)(x >> VALUE_BITS);

		v.count = rd_uleb(r);
		if (x & VALUE_KEY) {
			v.owner = get_number(r, p->owners.n);
			v.vector = get_number(r, p->vectors.n);
			v.event = get_number(r, p->events.n);
		}
		v.sum = x & VALUE_SUM ? rd_uleb(r) : 0;
		v.ctx = (ctx_id)ctx;
		if (!ctx || ctx >= p->ctxs.n || v.event >= p->events.n || !value_counts(&v))
			r->bad = true;
		next = ctx + 1;
		vec_push(&p->values, v);
	}
}

static void get_branches(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 12);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct branch b = {.owner = get_number(r, p->owners.n)};

		b.event = get_number(r, p->events.n);
		b.from = get_number(r, p->places.n);
		b.to = get_number(r, p->places.n);
		b.count = rd_uleb(r);
		b.n_predicted = rd_uleb(r);
		b.n_mispredicted = rd_uleb(r);
		b.cycles = rd_uleb(r);
		b.n_cycles = rd_uleb(r);
		b.n_newest = rd_uleb(r);
		b.n_oldest = rd_uleb(r);
		b.n_again = rd_uleb(r);
		r->bad |= !b.count;
		vec_push(&p->branches, b);
	}
	r->bad |= rd_left(r) != 0;
}

static void get_accesses(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 13);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct access a = {.owner = get_number(r, p->owners.n)};

		a.event = get_number(r, p->events.n);
		a.place = get_number(r, p->places.n);
		a.data = get_number(r, p->places.n);
		a.vector = get_number(r, p->vectors.n);
		a.pid = get_u32(r);
		a.tid = get_u32(r);
		a.node = get_u32(r);
		a.cpu_node = get_u32(r);
		a.latency_of = get_u32(r);
		a.source = get_u32(r);
		a.count = rd_uleb(r);
		a.latency = rd_uleb(r);
		r->bad |= !a.count || a.latency_of > 64 || p->vectors.v[a.vector].counter;
		vec_push(&p->accesses, a);
	}
	r->bad |= rd_left(r) != 0;
}

static void get_minutes(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 4);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct moment m = {.minute = get_u32(r)};

		m.owner = get_number(r, p->owners.n);
		m.event = get_number(r, p->events.n);
		m.count = rd_uleb(r);
		r->bad |= !m.count;
		vec_push(&p->moments, m);
	}
	r->bad |= rd_left(r) != 0;
}

static void get_thread_names(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 2);

	for (size_t i = 0; i < n && !r->bad; i++) {
		uint32_t owner = get_number(r, p->owners.n);

		p->owners.v[owner].thread_name = get_number(r, p->strings.n);
		r->bad |= !owner || !p->owners.v[owner].thread_name;
	}
	r->bad |= rd_left(r) != 0;
}

static void get_scripts(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, 4);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct script s = {.place = get_number(r, p->places.n)};

		s.language = get_number(r, p->strings.n);
		s.name = get_number(r, p->strings.n);
		s.line = get_u32(r);
		r->bad |= !p->places.n ||
			  p->images.v[p->places.v[s.place].image].kind != IMAGE_SCRIPT;
		vec_push(&p->scripts, s);
	}
	r->bad |= rd_left(r) != 0;
}

static void get_containers(struct profile *p, struct rd *r)
{
	size_t n = rd_count(r, CONTAINER_N_TEXTS);

	for (size_t i = 0; i < n && !r->bad; i++) {
		struct container c;

		for (unsigned k = 0; k < CONTAINER_N_TEXTS; k++)
			c.text[k] = get_number(r, p->strings.n);
		r->bad |= !c.text[CONTAINER_ID];
		vec_push(&p->containers, c);
	}
	r->bad |= rd_left(r) != 0;
}

/* Tells of a section that only a newer program knows and that is needed. */
static bool get_sections(struct profile *p, struct rd *r)
{
	bool known = true;

	while (rd_left(r) && !r->bad) {
		uint64_t number = rd_uleb(r);
		size_t n = rd_count(r, 1);
		struct rd body = rd_init(rd_bytes(r, n), n);

		if (r->bad)
			break;
		if (number == SECTION_BRANCHES) {
			get_branches(p, &body);
			r->bad |= body.bad;
		} else if (number == SECTION_MINUTES) {
			get_minutes(p, &body);
			r->bad |= body.bad;
		} else if (number == SECTION_ACCESSES) {
			get_accesses(p, &body);
			r->bad |= body.bad;
		} else if (number == SECTION_THREAD_NAMES) {
			get_thread_names(p, &body);
			r->bad |= body.bad;
		} else if (number == SECTION_SCRIPTS) {
			get_scripts(p, &body);
			r->bad |= body.bad;
		} else if (number == SECTION_CONTAINERS) {
			get_containers(p, &body);
			r->bad |= body.bad;
		} else {
			known &= !(number & 1);
		}
	}
	return known;
}

static int get_all(struct profile *p, struct rd *r, bool sections, struct err *err)
{
	bool known, known_sections;

	get_strings(p, r);
	get_meta(p, r);
	get_events(p, r);
	get_losses(p, r);
	known = get_images(p, r, sections);
	get_owners(p, r);
	get_vectors(p, r);
	get_places(p, r);
	get_ctxs(p, r);
	get_values(p, r);
	known_sections = !sections || get_sections(p, r);
	if (r->bad || rd_left(r))
		return err_set(err, -EBADMSG, "the counts are malformed");
	if (!known)
		return err_set(err, -EPROTONOSUPPORT,
			       "an image is of a kind newer than this program");
	if (!known_sections)
		return err_set(err, -EPROTONOSUPPORT,
			       "a section is needed, and newer than this program");
	return 0;
}

static void add_values(const struct profile *from, struct profile *into, struct value_sink *sink)
{
	struct profile_map map = profile_merge_dicts(into, from);

	vec_each (v, &from->values) {
		struct value mapped = *v;

		mapped.owner = map.owners[v->owner];
		mapped.ctx = map.ctxs[v->ctx];
		mapped.vector = map.vectors[v->vector];
		mapped.event = map.events[v->event];
		if (sink)
			sink->put(sink, &mapped);
		else
			profile_add_value(into, &mapped);
	}
	if (!sink || sink->branches)
		profile_merge_branches(into, from, &map);
	if (!sink || sink->accesses)
		profile_merge_accesses(into, from, &map);
	if (!sink || sink->moments)
		profile_merge_moments(into, from, &map);
	profile_map_release(&map);
}

int journal_get_counts(struct rd *r, bool sections, struct profile *into, struct value_sink *sink,
		       struct err *err)
{
	struct profile p;
	int rc;

	profile_init(&p);
	rc = get_all(&p, r, sections, err);
	if (rc >= 0 && into)
		add_values(&p, into, sink);
	profile_release(&p);
	return rc;
}
