/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile as canonical text, and the checker of its rules: what tests compare and assert. */
#include "model/profile.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/container.h"
#include "model/trace.h"

static void add_place(struct str *s, const struct profile *p, place_id id)
{
	const struct place *k = &p->places.v[id];
	const struct image *i = &p->images.v[k->image];
	char hex[2 * BUILD_ID_MAX + 1];

	build_id_format(&i->build_id, hex);
	str_addf(s, "%s:%s+%#" PRIx64 "/%u", image_kind_name(i->kind), *hex ? hex : i->path,
		 k->svma, k->flags);
	if (image_digest_known(i->digest)) {
		str_hex(i->digest, IMAGE_DIGEST_BYTES, hex);
		str_addf(s, "#%s", hex);
	}
}

/* Outermost first. */
static void add_ctx(struct str *s, const struct profile *p, ctx_id c)
{
	if (!c)
		return;
	if (p->ctxs.v[c].parent) {
		add_ctx(s, p, p->ctxs.v[c].parent);
		str_add(s, ";");
	}
	add_place(s, p, p->ctxs.v[c].place);
}

static void add_owner(struct str *s, const struct profile *p, owner_id id)
{
	const struct owner *o = &p->owners.v[id];
	const struct container *c = profile_container_of(p, o->cgroup);

	str_addf(s, "%s|%s|%s|%s|%u|%u|%u|%u", profile_str(p, o->exe), profile_str(p, o->comm),
		 profile_str(p, o->cgroup), profile_str(p, o->label), o->uid, o->pid, o->tid,
		 o->flags);
	if (o->thread_name)
		str_addf(s, "|%s", profile_str(p, o->thread_name));
	for (size_t i = CONTAINER_ID + 1; c && container_has_texts(c) && i < CONTAINER_N_TEXTS; i++)
		str_addf(s, "%s%s", i == CONTAINER_ID + 1 ? "|in " : " ",
			 profile_str(p, c->text[i]));
}

static void add_event(struct str *s, const struct profile *p, event_id id)
{
	const struct event *e = &p->events.v[id];

	str_addf(s, "%s:%" PRIu64 ":%" PRIu64, profile_str(p, e->name), e->period, e->freq_hz);
}

static void add_trace(struct str *s, const struct profile *p, const struct trace *t)
{
	add_owner(s, p, t->owner);
	str_addf(s, "|%u|%u@%" PRIu64, t->pid, t->tid, t->start_ns);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *profile_dump(const struct profile *p)
{
	_vec_ VEC(char *) lines = {0};
	struct str out = {0};

	str_addf(&out, "meta %s %s %s %s %s %" PRIu64 " %" PRIu64 " %u\n",
		 profile_str(p, p->meta.host), profile_str(p, p->meta.platform),
		 profile_str(p, p->meta.kernel), profile_str(p, p->meta.engine),
		 profile_str(p, p->meta.command), p->meta.start_wall_ns, p->meta.end_wall_ns,
		 p->meta.n_cpus);
	for (event_id i = 0; i < p->events.n; i++) {
		const struct event *e = &p->events.v[i];
		struct str s = {0};

		str_add(&s, "event ");
		add_event(&s, p, i);
		str_addf(&s,
			 " unit=%s enabled=%" PRIu64 " running=%" PRIu64 " total=%" PRIu64
			 " reached=%" PRIu64,
			 profile_str(p, e->unit), e->enabled_ns, e->running_ns, e->total,
			 e->n_reached);
		if (e->flags & EVENT_WEIGHTED)
			str_addf(&s, " weighted squares=%.17g", e->weight_squares);
		vec_push(&lines, s.v);
	}
	vec_each (u, &p->user_facts) {
		struct str s = {0};

		str_addf(&s, "fact %s %u %s %s", u->is_counter ? "counter" : "bit", u->number,
			 profile_str(p, u->name), profile_str(p, u->meaning));
		vec_push(&lines, s.v);
	}
	vec_each (l, &p->losses) {
		struct str s = {0};

		str_addf(&s, "loss %s ", profile_str(p, l->name));
		add_event(&s, p, l->event);
		str_addf(&s, " %" PRIu64, l->n);
		vec_push(&lines, s.v);
	}
	vec_each (x, &p->scripts) {
		struct str s = {0};

		str_add(&s, "script ");
		add_place(&s, p, x->place);
		str_addf(&s, " %s %s %u", profile_str(p, x->language), profile_str(p, x->name),
			 x->line);
		vec_push(&lines, s.v);
	}
	vec_each (v, &p->values) {
		const struct vector *k = &p->vectors.v[v->vector];
		struct str s = {0};

		if (!value_counts(v))
			continue;
		str_add(&s, "value ");
		add_event(&s, p, v->event);
		str_add(&s, " ");
		add_owner(&s, p, v->owner);
		str_add(&s, " ");
		add_ctx(&s, p, v->ctx);
		str_addf(&s, " %" PRIx64 "/%" PRIx64 "/%u %" PRIu64 " %" PRIu64, k->known, k->value,
			 k->counter, v->count, v->sum);
		vec_push(&lines, s.v);
	}
	vec_each (m, &p->moments) {
		struct str s = {0};

		str_addf(&s, "minute %" PRIu32 " ", m->minute);
		add_event(&s, p, m->event);
		str_add(&s, " ");
		add_owner(&s, p, m->owner);
		str_addf(&s, " %" PRIu64, m->count);
		vec_push(&lines, s.v);
	}
	vec_each (b, &p->branches) {
		struct str s = {0};

		str_add(&s, "branch ");
		add_event(&s, p, b->event);
		str_add(&s, " ");
		add_owner(&s, p, b->owner);
		add_place(&s, p, b->from);
		add_place(&s, p, b->to);
		str_addf(&s, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, b->count,
			 b->n_predicted, b->n_mispredicted, b->cycles, b->n_cycles);
		if (b->n_newest || b->n_oldest)
			str_addf(&s, " newest %" PRIu64 " oldest %" PRIu64, b->n_newest,
				 b->n_oldest);
		if (b->n_again)
			str_addf(&s, " again %" PRIu64, b->n_again);
		vec_push(&lines, s.v);
	}
	vec_each (a, &p->accesses) {
		struct str s = {0};

		str_add(&s, "access ");
		add_event(&s, p, a->event);
		str_add(&s, " ");
		add_owner(&s, p, a->owner);
		add_place(&s, p, a->place);
		add_place(&s, p, a->data);
		str_addf(&s, " %" PRIx64 "/%" PRIx64 " pid=%" PRIu32 " tid=%" PRIu32,
			 p->vectors.v[a->vector].value, p->vectors.v[a->vector].known, a->pid,
			 a->tid);
		str_addf(&s, " node=%" PRIu32 " cpu_node=%" PRIu32 " latency_of=%" PRIu32, a->node,
			 a->cpu_node, a->latency_of);
		str_addf(&s, " source=%" PRIu32 " %" PRIu64 " %" PRIu64, a->source, a->count,
			 a->latency);
		vec_push(&lines, s.v);
	}
	vec_each (t, &p->traces) {
		struct str s = {0};

		if (!trace_says(p, t))
			continue;
		str_add(&s, "trace ");
		add_trace(&s, p, t);
		str_addf(&s, " end=%" PRIu64 " dropped=%" PRIu64, t->end_ns, t->n_dropped);
		vec_push(&lines, s.v);
		vec_each (point, &t->points) {
			struct str l = {0};

			str_add(&l, "point ");
			add_trace(&l, p, t);
			str_addf(&l, " %020" PRIu64 " ", point->time_ns);
			add_event(&l, p, point->event);
			str_add(&l, " ");
			add_ctx(&l, p, point->ctx);
			vec_push(&lines, l.v);
		}
	}
	vec_sort(&lines, by_text);
	vec_each (line, &lines) {
		str_addf(&out, "%s\n", *line);
		free(*line);
	}
	return out.v;
}

void profile_check(const struct profile *p)
{
	size_t n_flats = 0, n_listed = 0, n_values = 0; /* found in lists */

	assert(p->strings.n && p->owners.n && p->vectors.n && p->ctxs.n);
	assert(p->strings.v[0][0] == '\0');
	vec_each (e, &p->events)
		assert(e->name < p->strings.n && e->unit < p->strings.n && e->period);
	vec_each (k, &p->places)
		assert(k->image < p->images.n);
	vec_each (s, &p->scripts)
		assert(s->place < p->places.n && s->language < p->strings.n &&
		       s->name < p->strings.n);
	vec_each (c, &p->containers)
		for (size_t i = 0; i < CONTAINER_N_TEXTS; i++)
			assert(c->text[i] < p->strings.n);
	vec_each (o, &p->owners)
		assert(o->exe < p->strings.n && o->comm < p->strings.n &&
		       o->cgroup < p->strings.n && o->label < p->strings.n &&
		       o->thread_name < p->strings.n);
	for (size_t i = 1; i < p->ctxs.n; i++) {
		const struct ctx *c = &p->ctxs.v[i];

		assert(c->parent < i && c->place < p->places.n);
		assert(c->parent || p->flats.v[c->place] == i);
		n_flats += !c->parent;
	}
	for (size_t i = 0; i < p->ctx_kin.n; i++) {
		const struct ctx_kin *k = &p->ctx_kin.v[i];

		for (ctx_id c = k->child; c && c != KIN_MANY; c = p->ctx_kin.v[c].next) {
			assert(p->ctxs.v[c].parent == i &&
			       p->ctxs.v[c].place == p->ctx_kin.v[c].place);
			n_listed++;
		}
		for (uint32_t v = k->value; v && v != KIN_MANY; v = p->value_kin.v[v - 1]) {
			assert(p->values.v[v - 1].ctx == i);
			n_values++;
		}
	}
	vec_each (v, &p->values)
		assert(v->owner < p->owners.n && v->ctx < p->ctxs.n && v->vector < p->vectors.n &&
		       v->event < p->events.n);
	vec_each (l, &p->losses)
		assert(l->name < p->strings.n && l->event < p->events.n);
	vec_each (b, &p->branches)
		assert(b->owner < p->owners.n && b->event < p->events.n && b->count &&
		       b->from < p->places.n && b->to < p->places.n);
	vec_each (a, &p->accesses)
		assert(a->owner < p->owners.n && a->event < p->events.n && a->count &&
		       a->place < p->places.n && a->data < p->places.n &&
		       a->vector < p->vectors.n && !p->vectors.v[a->vector].counter);
	vec_each (m, &p->moments)
		assert(m->owner < p->owners.n && m->event < p->events.n && m->count);
	trace_check(p);
	assert(p->moment_ix.n == p->moments.n);
	assert(p->branch_ix.n == p->branches.n);
	assert(p->access_ix.n == p->accesses.n);
	assert(p->string_ix.n == p->strings.n && p->image_ix.n == p->images.n &&
	       p->place_ix.n == p->places.n && p->owner_ix.n == p->owners.n &&
	       p->vector_ix.n == p->vectors.n &&
	       p->ctx_ix.n + n_listed + n_flats == p->ctxs.n - 1 &&
	       p->value_ix.n + n_values == p->values.n);
}
