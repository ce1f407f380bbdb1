/* SPDX-License-Identifier: BSD-2-Clause */
/* MANIFEST as text and as a struct: docs/formats/manifest.md.  Numbers above 2^63-1, which jansson
 * cannot hold, are written as strings of digits; both forms are read. */
#include "store/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "model/fresh.h"
#include "model/prune.h"

/* Writing. */

static void put_u64(struct json *j, const char *key, uint64_t v)
{
	char digits[24];

	json_key(j, key);
	if (v <= INT64_MAX) {
		json_u64(j, v);
		return;
	}
	snprintf(digits, sizeof(digits), "%" PRIu64, v);
	json_str(j, digits);
}

static void put_str(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_str(j, s);
}

static void put_segment(struct json *j, const struct manifest_segment *s)
{
	char digest[17];

	snprintf(digest, sizeof(digest), "%016" PRIx64, s->digest);
	json_begin(j, '{');
	put_str(j, "name", s->name);
	put_u64(j, "bytes", s->n_bytes);
	put_str(j, "digest", digest);
	put_u64(j, "start_wall_ns", s->start_wall_ns);
	put_u64(j, "end_wall_ns", s->end_wall_ns);
	json_end(j, '}');
}

static void put_event(struct json *j, const struct store_event *e)
{
	json_begin(j, '{');
	put_str(j, "name", e->name);
	put_str(j, "unit", e->unit);
	put_u64(j, "period", e->period);
	put_u64(j, "freq_hz", e->freq_hz);
	put_u64(j, "samples", e->n_samples);
	if (e->n_pruned)
		put_u64(j, "pruned", e->n_pruned);
	put_u64(j, "enabled_ns", e->enabled_ns);
	put_u64(j, "running_ns", e->running_ns);
	put_u64(j, "total", e->total);
	put_u64(j, "reached", e->n_reached);
	json_end(j, '}');
}

void manifest_format(const struct manifest *m, struct str *out)
{
	struct json j = json_init(out, 2);

	json_begin(&j, '{');
	put_str(&j, "format", MANIFEST_FORMAT);
	put_u64(&j, "version", MANIFEST_VERSION);
	put_u64(&j, "generation", m->generation);
	put_str(&j, "host", m->host);
	put_str(&j, "label", m->label);
	put_str(&j, "state", m->state);
	json_key(&j, "clock_offset_ns");
	json_i64(&j, m->clock_offset_ns);
	put_u64(&j, "journal", m->journal);
	put_u64(&j, "next_segment", m->next_segment);
	if (m->log)
		put_u64(&j, "log", m->log);
	json_key(&j, "segments");
	json_begin(&j, '[');
	vec_each (s, &m->segments)
		put_segment(&j, s);
	json_end(&j, ']');
	json_key(&j, "events");
	json_begin(&j, '[');
	vec_each (e, &m->events)
		put_event(&j, e);
	json_end(&j, ']');
	json_key(&j, "losses");
	json_begin(&j, '[');
	vec_each (l, &m->losses) {
		json_begin(&j, '{');
		put_str(&j, "name", l->name);
		put_u64(&j, "event", l->event);
		put_u64(&j, "n", l->n);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_key(&j, "cpus");
	json_begin(&j, '[');
	vec_each (c, &m->cpus) {
		json_begin(&j, '{');
		put_u64(&j, "cpu", c->cpu);
		put_u64(&j, "last_seq", c->last_seq);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
	str_addc(out, '\n');
}

/* Reading: fields that are not there are 0 or ""; of the wrong type are an error, kept in `bad`. */

struct parser {
	struct manifest *m;
	const char *bad; /* the first malformed field */
};

static uint64_t get_u64(struct parser *p, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	uint64_t n = 0;

	if (!v)
		return 0;
	if (json_is_integer(v) && json_integer_value(v) >= 0)
		return (uint64_t)json_integer_value(v);
	if (!json_is_string(v) || str_parse_u64(json_string_value(v), 10, &n) < 0)
		p->bad = p->bad ? p->bad : key;
	return n;
}

static const char *get_str(struct parser *p, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (v && !json_is_string(v))
		p->bad = p->bad ? p->bad : key;
	return arena_strdup(&p->m->arena, json_is_string(v) ? json_string_value(v) : "");
}

/* The array KEY; NULL (of size 0 for jansson) when it is not there. */
static const json_t *get_array(struct parser *p, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (v && !json_is_array(v))
		p->bad = p->bad ? p->bad : key;
	return json_is_array(v) ? v : NULL;
}

/* A name that stays inside the directory, and that only we give. */
static bool segment_name_valid(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits > 0 && digits < 32 && strcmp(name + digits, ".seg") == 0;
}

static void get_segments(struct parser *p, const json_t *root)
{
	const json_t *a = get_array(p, root, "segments"), *o;
	size_t i;

	json_array_foreach(a, i, o)
	{
		struct manifest_segment s = {.name = get_str(p, o, "name"),
					     .n_bytes = get_u64(p, o, "bytes"),
					     .start_wall_ns = get_u64(p, o, "start_wall_ns"),
					     .end_wall_ns = get_u64(p, o, "end_wall_ns")};

		if (!segment_name_valid(s.name))
			p->bad = p->bad ? p->bad : "name";
		if (str_parse_u64(get_str(p, o, "digest"), 16, &s.digest) < 0)
			p->bad = p->bad ? p->bad : "digest";
		vec_push(&p->m->segments, s);
	}
}

static void get_sums(struct parser *p, const json_t *root)
{
	const json_t *events = get_array(p, root, "events"), *losses = get_array(p, root, "losses");
	const json_t *cpus = get_array(p, root, "cpus"), *o;
	struct manifest *m = p->m;
	size_t i;

	json_array_foreach(events, i, o)
	{
		vec_push(&m->events, (struct store_event){.name = get_str(p, o, "name"),
							  .unit = get_str(p, o, "unit"),
							  .period = get_u64(p, o, "period"),
							  .freq_hz = get_u64(p, o, "freq_hz"),
							  .enabled_ns = get_u64(p, o, "enabled_ns"),
							  .running_ns = get_u64(p, o, "running_ns"),
							  .total = get_u64(p, o, "total"),
							  .n_reached = get_u64(p, o, "reached"),
							  .n_samples = get_u64(p, o, "samples"),
							  .n_pruned = get_u64(p, o, "pruned")});
	}
	json_array_foreach(losses, i, o)
	{
		uint64_t event = get_u64(p, o, "event");

		if (event >= m->events.n)
			p->bad = p->bad ? p->bad : "event";
		vec_push(&m->losses, (struct store_loss){get_str(p, o, "name"), (uint32_t)event,
							 get_u64(p, o, "n")});
	}
	json_array_foreach(cpus, i, o)
	{
		uint64_t cpu = get_u64(p, o, "cpu");

		if (cpu > UINT32_MAX)
			p->bad = p->bad ? p->bad : "cpu";
		vec_push(&m->cpus, (struct manifest_cpu){(uint32_t)cpu, get_u64(p, o, "last_seq")});
	}
}

static int parse_root(struct manifest *m, const json_t *root, struct err *err)
{
	struct parser p = {.m = m};
	uint64_t version;
	const json_t *offset;

	if (strcmp(get_str(&p, root, "format"), MANIFEST_FORMAT) != 0)
		return err_set(err, -EBADMSG, "not a dwell MANIFEST");
	version = get_u64(&p, root, "version");
	if (version > MANIFEST_VERSION)
		return err_set(err, -EPROTONOSUPPORT,
			       "MANIFEST version %" PRIu64 " is newer than this program's (%d)",
			       version, MANIFEST_VERSION);
	m->generation = get_u64(&p, root, "generation");
	m->host = get_str(&p, root, "host");
	m->label = get_str(&p, root, "label");
	m->state = get_str(&p, root, "state");
	offset = json_object_get(root, "clock_offset_ns");
	m->clock_offset_ns = json_integer_value(offset);
	m->journal = get_u64(&p, root, "journal");
	m->next_segment = get_u64(&p, root, "next_segment");
	m->log = get_u64(&p, root, "log");
	get_segments(&p, root);
	get_sums(&p, root);
	if (p.bad || version == 0)
		return err_set(err, -EBADMSG, "malformed \"%s\"", p.bad ? p.bad : "version");
	return 0;
}

int manifest_parse(struct manifest *ret, const char *text, size_t n, struct err *err)
{
	json_error_t e;
	json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);
	struct manifest m = {0};
	int rc;

	if (!root)
		return err_set(err, -EBADMSG, "line %d: %s", e.line, e.text);
	rc = parse_root(&m, root, err);
	json_decref(root);
	if (rc < 0)
		manifest_release(&m);
	else
		*ret = m;
	return rc;
}

void manifest_release(struct manifest *m)
{
	arena_release(&m->arena);
	vec_release(&m->segments);
	vec_release(&m->events);
	vec_release(&m->losses);
	vec_release(&m->cpus);
	memset(m, 0, sizeof(*m));
}

void manifest_copy(struct manifest *to, const struct manifest *from)
{
	*to = (struct manifest){
		.clock_offset_ns = from->clock_offset_ns,
		.generation = from->generation,
		.journal = from->journal,
		.next_segment = from->next_segment,
		.log = from->log,
	};
	to->host = arena_strdup(&to->arena, from->host);
	to->label = arena_strdup(&to->arena, from->label);
	to->state = arena_strdup(&to->arena, from->state);
	vec_each (s, &from->segments) {
		vec_push(&to->segments, *s);
		to->segments.v[to->segments.n - 1].name = arena_strdup(&to->arena, s->name);
	}
	vec_each (e, &from->events) {
		struct store_event x = *e;

		x.name = arena_strdup(&to->arena, e->name);
		x.unit = arena_strdup(&to->arena, e->unit);
		vec_push(&to->events, x);
	}
	vec_each (l, &from->losses)
		vec_push(&to->losses,
			 (struct store_loss){arena_strdup(&to->arena, l->name), l->event, l->n});
	vec_each (c, &from->cpus)
		vec_push(&to->cpus, *c);
}

/* Sums. */

/* The number in M of the event with E's identity (see profile_intern_event). */
static uint32_t intern_event(struct manifest *m, const char *name, const char *unit,
			     const struct event *e)
{
	struct store_event *x;

	vec_each (old, &m->events)
		if (strcmp(old->name, name) == 0 && strcmp(old->unit, unit) == 0 &&
		    old->freq_hz == e->freq_hz && (e->freq_hz || old->period == e->period))
			return (uint32_t)(old - m->events.v);
	x = vec_add(&m->events);
	x->name = arena_strdup(&m->arena, name);
	x->unit = arena_strdup(&m->arena, unit);
	x->period = e->period;
	x->freq_hz = e->freq_hz;
	return (uint32_t)m->events.n - 1;
}

static void add_loss(struct manifest *m, const char *name, uint32_t event, uint64_t n)
{
	vec_each (l, &m->losses) {
		if (l->event == event && strcmp(l->name, name) == 0) {
			l->n += n;
			return;
		}
	}
	vec_push(&m->losses, (struct store_loss){arena_strdup(&m->arena, name), event, n});
}

/* Adds what is pruned in P, whose events have the numbers IDS in M. */
static void add_pruned(struct manifest *m, const struct profile *p, const uint32_t *ids)
{
	uint64_t *n = xcalloc(p->events.n + 1, sizeof(*n));

	profile_n_pruned(p, n);
	for (event_id i = 0; i < p->events.n; i++)
		m->events.v[ids[i]].n_pruned += n[i];
	free(n);
}

void manifest_set_pruned(struct manifest *m, const struct profile *all)
{
	uint32_t *ids = xcalloc(all->events.n + 1, sizeof(*ids));

	for (event_id i = 0; i < all->events.n; i++) {
		const struct event *e = &all->events.v[i];

		ids[i] = intern_event(m, profile_str(all, e->name), profile_str(all, e->unit), e);
	}
	vec_each (e, &m->events)
		e->n_pruned = 0;
	add_pruned(m, all, ids);
	free(ids);
}

void manifest_add_profile(struct manifest *m, const struct profile *p)
{
	uint32_t *ids = xcalloc(p->events.n + 1, sizeof(*ids));

	for (event_id i = 0; i < p->events.n; i++) {
		const struct event *e = &p->events.v[i];
		struct store_event *to;

		ids[i] = intern_event(m, profile_str(p, e->name), profile_str(p, e->unit), e);
		to = &m->events.v[ids[i]];
		to->enabled_ns += e->enabled_ns;
		to->running_ns += e->running_ns;
		to->total += e->total;
		to->n_reached += e->n_reached;
		if (e->freq_hz && to->n_reached && to->total >= to->n_reached)
			to->period = to->total / to->n_reached;
	}
	profile_each_used (p, i)
		if (value_is_samples(p, &p->values.v[i]))
			m->events.v[ids[p->values.v[i].event]].n_samples += p->values.v[i].count;
	add_pruned(m, p, ids);
	vec_each (l, &p->losses)
		add_loss(m, profile_str(p, l->name), ids[l->event], l->n);
	free(ids);
}

void manifest_add_seq(struct manifest *m, uint32_t cpu, uint64_t last_seq)
{
	vec_each (c, &m->cpus) {
		if (c->cpu == cpu) {
			c->last_seq = c->last_seq > last_seq ? c->last_seq : last_seq;
			return;
		}
	}
	vec_push(&m->cpus, (struct manifest_cpu){cpu, last_seq});
}
