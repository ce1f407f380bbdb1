/* SPDX-License-Identifier: BSD-2-Clause */
/* See journal_counts.h.
 *
 * Values are gone over once; each names its owner and context, which get the record's next numbers
 * when they are named first and are described then, after what they name themselves.  So everything
 * is described before it is used, and the time is that of what is fresh. */
#include "formats/journal_counts.h"

#include <errno.h>
#include <string.h>

#include "model/fact.h"
#include "model/fresh.h"
#include "model/container.h"
#include "model/script.h"

/* What a value says besides its context and count: */
#define VALUE_KEY  1u /* owner, vector and event follow: they are not those of the value before */
#define VALUE_SUM  2u /* a sum follows */
#define VALUE_BITS 2  /* these take so many bits */

/* Sections behind the values.  A reader passes over one it does not know, unless its number is odd:
 * then it refuses the record. */
enum {
	SECTION_BRANCHES = 2,
	SECTION_MINUTES = 4,
	SECTION_ACCESSES = 6,
	SECTION_CONTAINERS = 8,
	SECTION_SCRIPTS = 9,
	SECTION_THREAD_NAMES = 11
};

static void names_reset(struct journal_names *n)
{
	vec_each (id, &n->ids)
		n->number.v[*id] = 0;
	n->ids.n = n->bytes.n = 0;
}

static void names_release(struct journal_names *n)
{
	vec_release(&n->number);
	vec_release(&n->ids);
	wr_release(&n->bytes);
}

void journal_writer_release(struct journal_writer *w)
{
	names_release(&w->strings);
	names_release(&w->images);
	names_release(&w->owners);
	names_release(&w->vectors);
	names_release(&w->places);
	names_release(&w->ctxs);
	vec_release(&w->chain);
	wr_release(&w->values);
	wr_release(&w->branches);
	wr_release(&w->minutes);
	wr_release(&w->accesses);
	wr_release(&w->thread_names);
	wr_release(&w->scripts);
	wr_release(&w->containers);
	vec_release(&w->put_containers);
	wr_release(&w->body);
}

/* The number of ID, from FIRST on; *RET_NEW: it has none yet, and gets one by names_add. */
static inline bool names_find(struct journal_names *n, uint32_t id, uint32_t *ret)
{
	uint32_t number = *vec_at(&n->number, id);

	*ret = number - 1;
	return number;
}

static uint32_t names_add(struct journal_names *n, uint32_t id, uint32_t first)
{
	vec_push(&n->ids, id);
	return (n->number.v[id] = first + (uint32_t)n->ids.n) - 1;
}

/* Writing.  The zero elements of strings, owners, vectors and contexts have the number 0 in every
 * record. */

static uint32_t put_string(struct journal_writer *w, const struct profile *p, string_id id)
{
	uint32_t number;
	size_t n;

	if (!id || names_find(&w->strings, id, &number))
		return id ? number : 0;
	n = strlen(p->strings.v[id]);
	wr_uleb(&w->strings.bytes, n);
	wr_bytes(&w->strings.bytes, p->strings.v[id], n);
	return names_add(&w->strings, id, 1);
}

static uint32_t put_image(struct journal_writer *w, const struct profile *p, image_id id)
{
	const struct image *im = &p->images.v[id];
	struct wr *b = &w->images.bytes;
	uint32_t number;

	if (names_find(&w->images, id, &number))
		return number;
	wr_uleb(b, im->kind);
	wr_uleb(b, im->flags);
	wr_uleb(b, strlen(im->path));
	wr_bytes(b, im->path, strlen(im->path));
	wr_uleb(b, im->text_start);
	wr_uleb(b, im->text_bytes);
	wr_u8(b, im->build_id.n_bytes);
	wr_bytes(b, im->build_id.bytes, im->build_id.n_bytes);
	if (w->sections) {
		bool known = image_digest_known(im->digest);

		wr_u8(b, known ? IMAGE_DIGEST_BYTES : 0);
		wr_bytes(b, im->digest, known ? IMAGE_DIGEST_BYTES : 0);
	}
	return names_add(&w->images, id, 0);
}

/* Says what is known of the container that CGROUP lies in, once in a record. */
static void put_container(struct journal_writer *w, const struct profile *p, string_id cgroup)
{
	const struct container *c = w->sections ? profile_container_of(p, cgroup) : NULL;
	uint32_t *is_put;

	if (!c || !container_has_texts(c))
		return;
	is_put = vec_at(&w->put_containers, (size_t)(c - p->containers.v));
	if (*is_put)
		return;
	*is_put = 1;
	for (size_t i = 0; i < CONTAINER_N_TEXTS; i++)
		wr_uleb(&w->containers, put_string(w, p, c->text[i]));
	w->n_containers++;
}

static uint32_t put_owner(struct journal_writer *w, const struct profile *p, owner_id id)
{
	const struct owner *o = &p->owners.v[id];
	const string_id strings[] = {o->exe, o->comm, o->cgroup, o->label};
	const uint32_t others[] = {o->uid + 1, o->pid, o->tid, o->flags};
	uint32_t number;

	if (!id || names_find(&w->owners, id, &number))
		return id ? number : 0;
	for (unsigned i = 0; i < n_elems(strings); i++)
		wr_uleb(&w->owners.bytes, put_string(w, p, strings[i]));
	for (unsigned i = 0; i < n_elems(others); i++)
		wr_uleb(&w->owners.bytes, others[i]);
	number = names_add(&w->owners, id, 1);
	put_container(w, p, o->cgroup);
	if (w->sections && o->thread_name) {
		wr_uleb(&w->thread_names, number);
		wr_uleb(&w->thread_names, put_string(w, p, o->thread_name));
		w->n_thread_names++;
	}
	return number;
}

static uint32_t put_vector(struct journal_writer *w, const struct profile *p, vector_id id)
{
	const struct vector *v = &p->vectors.v[id];
	uint32_t number;

	if (!id || names_find(&w->vectors, id, &number))
		return id ? number : 0;
	wr_uleb(&w->vectors.bytes, v->known);
	wr_uleb(&w->vectors.bytes, v->value);
	wr_uleb(&w->vectors.bytes, v->counter);
	return names_add(&w->vectors, id, 1);
}

/* Says what place ID, whose number is NUMBER, means in a script. */
static void put_script(struct journal_writer *w, const struct profile *p, place_id id,
		       uint32_t number)
{
	const struct script *s = p->scripts.n ? profile_find_script(p, id) : NULL;

	if (!s || !w->sections)
		return;
	wr_uleb(&w->scripts, number);
	wr_uleb(&w->scripts, put_string(w, p, s->language));
	wr_uleb(&w->scripts, put_string(w, p, s->name));
	wr_uleb(&w->scripts, s->line);
	w->n_scripts++;
}

static uint32_t put_place(struct journal_writer *w, const struct profile *p, place_id id)
{
	const struct place *k = &p->places.v[id];
	struct wr *b = &w->places.bytes;
	uint32_t number;

	if (names_find(&w->places, id, &number))
		return number;
	wr_uleb(b, put_image(w, p, k->image));
	wr_sleb(b, (int64_t)k->svma); /* a kernel's are small, too, then */
	wr_uleb(b, k->flags);
	number = names_add(&w->places, id, 0);
	put_script(w, p, id, number);
	return number;
}

static uint32_t put_ctx(struct journal_writer *w, const struct profile *p, ctx_id id)
{
	uint32_t number = 0;

	w->chain.n = 0; /* those without a number, ID first */
	for (; id && !names_find(&w->ctxs, id, &number); id = p->ctxs.v[id].parent, number = 0)
		vec_push(&w->chain, id);
	while (w->chain.n) {
		ctx_id next = w->chain.v[--w->chain.n];

		wr_uleb(&w->ctxs.bytes, number);
		wr_uleb(&w->ctxs.bytes, put_place(w, p, p->ctxs.v[next].place));
		number = names_add(&w->ctxs, next, 1);
	}
	return number;
}

static size_t put_values(struct journal_writer *w, const struct profile *p)
{
	owner_id owner = 0;
	vector_id vector = 0;
	event_id event = 0;
	uint32_t next = 1;
	size_t n = 0;

	profile_each_fresh (p, i) {
		const struct value v = profile_fresh(p, i);
		bool key = v.owner != owner || v.vector != vector || v.event != event;
		uint32_t ctx;

		if (!value_counts(&v))
			continue;
		ctx = put_ctx(w, p, v.ctx);
		wr_sleb(&w->values, ((int64_t)ctx - next) * (1 << VALUE_BITS) +
					    (v.sum ? VALUE_SUM : 0) + (key ? VALUE_KEY : 0));
		wr_uleb(&w->values, v.count);
		if (key) {
			wr_uleb(&w->values, put_owner(w, p, v.owner));
			wr_uleb(&w->values, put_vector(w, p, v.vector));
			wr_uleb(&w->values, v.event);
		}
		if (v.sum)
			wr_uleb(&w->values, v.sum);
		owner = v.owner;
		vector = v.vector;
		event = v.event;
		next = ctx + 1;
		n++;
	}
	return n;
}

/* Fills W's branches: how many, and each. */
static void put_branches(struct journal_writer *w, const struct profile *p)
{
	size_t n = 0;

	w->branches.n = 0;
	for (size_t i = 0; i < p->branches.n; i++)
		n += profile_fresh_branch(p, i).count != 0;
	wr_uleb(&w->branches, n);
	for (size_t i = 0; i < p->branches.n; i++) {
		const struct branch b = profile_fresh_branch(p, i);
		const uint64_t sums[] = {b.count, b.n_predicted, b.n_mispredicted, b.cycles,
					 b.n_cycles};

		if (!b.count)
			continue;
		wr_uleb(&w->branches, put_owner(w, p, b.owner));
		wr_uleb(&w->branches, b.event);
		wr_uleb(&w->branches, put_place(w, p, b.from));
		wr_uleb(&w->branches, put_place(w, p, b.to));
		for (unsigned k = 0; k < n_elems(sums); k++)
			wr_uleb(&w->branches, sums[k]);
	}
}

/* Fills W's accesses: how many, and each. */
static void put_accesses(struct journal_writer *w, const struct profile *p)
{
	size_t n = 0;

	w->accesses.n = 0;
	for (size_t i = 0; i < p->accesses.n; i++)
		n += profile_fresh_access(p, i).count != 0;
	wr_uleb(&w->accesses, n);
	for (size_t i = 0; i < p->accesses.n; i++) {
		const struct access a = profile_fresh_access(p, i);
		const uint64_t rest[] = {a.pid,	       a.tid,	 a.node,  a.cpu_node,
					 a.latency_of, a.source, a.count, a.latency};

		if (!a.count)
			continue;
		wr_uleb(&w->accesses, put_owner(w, p, a.owner));
		wr_uleb(&w->accesses, a.event);
		wr_uleb(&w->accesses, put_place(w, p, a.place));
		wr_uleb(&w->accesses, put_place(w, p, a.data));
		wr_uleb(&w->accesses, put_vector(w, p, a.vector));
		for (unsigned k = 0; k < n_elems(rest); k++)
			wr_uleb(&w->accesses, rest[k]);
	}
}

/* Fills W's minutes: how many, and each. */
static void put_minutes(struct journal_writer *w, const struct profile *p)
{
	size_t n = 0;

	w->minutes.n = 0;
	for (size_t i = 0; i < p->moments.n; i++)
		n += profile_fresh_moment(p, i).count != 0;
	wr_uleb(&w->minutes, n);
	for (size_t i = 0; i < p->moments.n; i++) {
		const struct moment m = profile_fresh_moment(p, i);

		if (!m.count)
			continue;
		wr_uleb(&w->minutes, m.minute);
		wr_uleb(&w->minutes, put_owner(w, p, m.owner));
		wr_uleb(&w->minutes, m.event);
		wr_uleb(&w->minutes, m.count);
	}
}

bool journal_needs_sections(const struct profile *p)
{
	if (p->branches.n || p->accesses.n || p->moments.n || p->scripts.n || p->containers.n)
		return true;
	vec_each (im, &p->images)
		if (image_digest_known(im->digest))
			return true;
	vec_each (o, &p->owners)
		if (o->thread_name)
			return true;
	return false;
}

static void put_meta(struct journal_writer *w, struct wr *b, const struct profile *p)
{
	const struct profile_meta *m = &p->meta;
	const string_id strings[] = {m->host, m->platform, m->kernel, m->engine, m->command};

	for (unsigned i = 0; i < n_elems(strings); i++)
		wr_uleb(b, put_string(w, p, strings[i]));
	wr_uleb(b, m->start_wall_ns);
	wr_uleb(b, m->end_wall_ns);
	wr_uleb(b, m->n_cpus);
	wr_uleb(b, p->user_facts.n);
	vec_each (u, &p->user_facts) {
		wr_uleb(b, (unsigned)u->is_counter << 8 | u->number);
		wr_uleb(b, put_string(w, p, u->name));
		wr_uleb(b, put_string(w, p, u->meaning));
	}
}

static void put_events(struct journal_writer *w, struct wr *b, const struct profile *p)
{
	wr_uleb(b, p->events.n);
	for (event_id i = 0; i < p->events.n; i++) {
		const struct event e = profile_fresh_event(p, i);
		const uint64_t fields[] = {e.period,	 e.freq_hz, e.enabled_ns,
					   e.running_ns, e.total,   e.n_reached};

		wr_uleb(b, put_string(w, p, e.name));
		wr_uleb(b, put_string(w, p, e.unit));
		for (unsigned c = 0; c < n_elems(fields); c++)
			wr_uleb(b, fields[c]);
	}
}

static void put_losses(struct journal_writer *w, struct wr *b, const struct profile *p)
{
	wr_uleb(b, p->losses.n);
	for (size_t i = 0; i < p->losses.n; i++) {
		const struct loss l = profile_fresh_loss(p, i);

		wr_uleb(b, put_string(w, p, l.name));
		wr_uleb(b, l.event);
		wr_uleb(b, l.n);
	}
}

static void put_names(struct wr *out, const struct journal_names *n)
{
	wr_uleb(out, n->ids.n);
	wr_bytes(out, n->bytes.v, n->bytes.n);
}

/* Appends section NUMBER, which is a count N and ITEMS, unless there are none. */
static void put_section(struct wr *out, unsigned number, size_t n, const struct wr *items)
{
	struct wr count = {0};

	if (!n)
		return;
	wr_uleb(&count, n);
	wr_uleb(out, number);
	wr_uleb(out, count.n + items->n);
	wr_bytes(out, count.v, count.n);
	wr_bytes(out, items->v, items->n);
	wr_release(&count);
}

void journal_put_counts(struct journal_writer *w, struct wr *out, const struct profile *p,
			bool sections)
{
	struct journal_names *const all[] = {&w->strings, &w->images, &w->owners,
					     &w->vectors, &w->places, &w->ctxs};
	size_t n_values;

	for (unsigned i = 0; i < n_elems(all); i++)
		names_reset(all[i]);
	w->values.n = w->body.n = w->thread_names.n = w->n_thread_names = 0;
	w->scripts.n = w->n_scripts = 0;
	w->containers.n = w->n_containers = w->put_containers.n = 0;
	w->sections = sections;
	n_values = put_values(w, p);
	if (sections) {
		put_branches(w, p);
		put_minutes(w, p);
		put_accesses(w, p);
	}
	put_meta(w, &w->body, p);
	put_events(w, &w->body, p);
	put_losses(w, &w->body, p);
	put_names(out, &w->strings);
	wr_bytes(out, w->body.v, w->body.n);
	for (unsigned i = 1; i < n_elems(all); i++)
		put_names(out, all[i]);
	wr_uleb(out, n_values);
	wr_bytes(out, w->values.v, w->values.n);
	if (sections && p->branches.n) {
		wr_uleb(out, SECTION_BRANCHES);
		wr_uleb(out, w->branches.n);
		wr_bytes(out, w->branches.v, w->branches.n);
	}
	if (sections && p->moments.n) {
		wr_uleb(out, SECTION_MINUTES);
		wr_uleb(out, w->minutes.n);
		wr_bytes(out, w->minutes.v, w->minutes.n);
	}
	if (sections && p->accesses.n) {
		wr_uleb(out, SECTION_ACCESSES);
		wr_uleb(out, w->accesses.n);
		wr_bytes(out, w->accesses.v, w->accesses.n);
	}
	put_section(out, SECTION_THREAD_NAMES, w->n_thread_names, &w->thread_names);
	put_section(out, SECTION_SCRIPTS, w->n_scripts, &w->scripts);
	put_section(out, SECTION_CONTAINERS, w->n_containers, &w->containers);
}

/* Reading, into a scratch profile's arrays, whose ids are the record's numbers.  A failed read sets
 * the cursor's `bad`. */

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
	size_t n = rd_count(r, 9);

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
