/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes what journal_counts.h describes.
 *
 * Values are gone over once; each names its owner and context, which get the record's next numbers
 * when they are named first and are described then, after what they name themselves.  So everything
 * is described before it is used, and the time is that of what is fresh. */
#include "formats/journal_counts.h"

#include <string.h>

#include "formats/journal_sections.h"
#include "model/container.h"
#include "model/fresh.h"
#include "model/script.h"

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
		const uint64_t sums[] = {b.count,    b.n_predicted, b.n_mispredicted, b.cycles,
					 b.n_cycles, b.n_newest,    b.n_oldest,	      b.n_again};

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
