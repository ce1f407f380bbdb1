/* SPDX-License-Identifier: BSD-2-Clause */
/* MANIFEST as text and as a struct: docs/formats/manifest.md.  Numbers above 2^63-1, which jansson
 * cannot hold, are written as strings of digits; both forms are read.
 *
 * The digest is the last field.  It covers every byte before its digits, and the bytes behind them
 * are fixed, so that a flipped bit anywhere is noticed. */
#include "store/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "formats/segment_block.h"
#include "model/fresh.h"
#include "model/prune.h"

/* Events that a log's sums are told of; more than a log can have. */
#define MANIFEST_MAX_EVENTS 64

/* Writing. */

static void put_u64_alone(struct json *j, uint64_t v)
{
	char digits[24];

	if (v <= INT64_MAX) {
		json_u64(j, v);
		return;
	}
	snprintf(digits, sizeof(digits), "%" PRIu64, v);
	json_str(j, digits);
}

static void put_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	put_u64_alone(j, v);
}

static void put_str(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_str(j, s);
}

static void put_hex(struct json *j, const char *key, uint64_t v)
{
	char digits[17];

	snprintf(digits, sizeof(digits), "%016" PRIx64, v);
	put_str(j, key, digits);
}

static void put_segment(struct json *j, const struct manifest_segment *s)
{
	json_begin(j, '{');
	put_str(j, "name", s->name);
	put_u64(j, "bytes", s->n_bytes);
	put_hex(j, "digest", s->digest);
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

static const char *const state_names[] = {
	[STORE_LOG_OWN] = "own",
	[STORE_LOG_TAKEN] = "taken",
	[STORE_LOG_STORED] = "stored",
};

/* The sums of L that stand FIRST and behind, as an array by event. */
static void put_log_sums(struct json *j, const char *key, const struct manifest_log *l,
			 uint32_t first)
{
	uint64_t n[MANIFEST_MAX_EVENTS] = {0};
	uint32_t n_events = 0;

	vec_each (c, &l->cpus) {
		if (c->cpu < first || c->cpu - first >= MANIFEST_MAX_EVENTS)
			continue;
		n[c->cpu - first] = c->last_seq;
		if (c->cpu - first >= n_events)
			n_events = c->cpu - first + 1;
	}
	json_key(j, key);
	json_begin(j, '[');
	for (uint32_t i = 0; i < n_events; i++)
		put_u64_alone(j, n[i]);
	json_end(j, ']');
}

static void put_log(struct json *j, const struct manifest_log *l)
{
	json_begin(j, '{');
	put_u64(j, "number", l->number);
	put_str(j, "state", state_names[l->state]);
	json_key(j, "cpus");
	json_begin(j, '[');
	vec_each (c, &l->cpus) {
		if (c->cpu >= STORE_SOURCE_REACHED)
			continue;
		json_begin(j, '{');
		put_u64(j, "cpu", c->cpu);
		put_u64(j, "last_seq", c->last_seq);
		json_end(j, '}');
	}
	json_end(j, ']');
	put_log_sums(j, "stored", l, STORE_SOURCE_REACHED);
	put_log_sums(j, "dropped", l, STORE_SOURCE_DROPPED);
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
	if (m->cpu && *m->cpu)
		put_str(&j, "cpu", m->cpu);
	if (m->job && *m->job)
		put_str(&j, "job", m->job);
	json_key(&j, "clock_offset_ns");
	json_i64(&j, m->clock_offset_ns);
	put_u64(&j, "journal", m->journal);
	put_u64(&j, "next_segment", m->next_segment);
	put_hex(&j, "recording", m->recording);
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
	json_key(&j, "logs");
	json_begin(&j, '[');
	vec_each (l, &m->logs)
		put_log(&j, l);
	json_end(&j, ']');
	put_str(&j, "digest", "0000000000000000");
	json_end(&j, '}');
	str_addc(out, '\n');
	manifest_seal(out->v, out->n);
}

/* The digest. */

#define DIGEST_KEY  "\"digest\": \""
#define DIGEST_TAIL "\"\n}\n" /* all that stands behind the digits */

/* Where the digits of TEXT's digest are; NULL when it does not end with one. */
static const char *digest_digits(const char *text, size_t n)
{
	const size_t n_key = strlen(DIGEST_KEY), n_tail = strlen(DIGEST_TAIL);

	if (n < n_key + 16 + n_tail || memcmp(text + n - n_tail, DIGEST_TAIL, n_tail) != 0 ||
	    memcmp(text + n - n_tail - 16 - n_key, DIGEST_KEY, n_key) != 0)
		return NULL;
	return text + n - n_tail - 16;
}

static void digest_format(const char *text, size_t n, char ret[17])
{
	snprintf(ret, 17, "%016" PRIx64, block_checksum(text, n, 0));
}

void manifest_seal(char *text, size_t n)
{
	const char *digits = digest_digits(text, n);
	char digest[17];

	if (!digits)
		return;
	digest_format(text, (size_t)(digits - text), digest);
	memcpy(text + (digits - text), digest, 16);
}

static bool digest_holds(const char *text, size_t n)
{
	const char *digits = digest_digits(text, n);
	char digest[17];

	if (!digits)
		return false;
	digest_format(text, (size_t)(digits - text), digest);
	return memcmp(digits, digest, 16) == 0;
}

bool manifest_mend_version(char *text, size_t n)
{
	static const char key[] = "\"version\": ";
	char *at = memmem(text, n, key, strlen(key)), was;

	if (!at || digest_holds(text, n))
		return false;
	at += strlen(key);
	was = *at; /* the digest stands behind it */
	*at = '0' + MANIFEST_VERSION;
	if (digest_holds(text, n))
		return true;
	*at = was;
	return false;
}

/* Reading: fields that are not there are 0 or ""; of the wrong type are an error, kept in `bad`. */

struct parser {
	struct manifest *m;
	const char *bad; /* the first malformed field */
};

static uint64_t number_of(struct parser *p, const json_t *v, const char *key)
{
	uint64_t n = 0;

	if (json_is_integer(v) && json_integer_value(v) >= 0)
		return (uint64_t)json_integer_value(v);
	if (!json_is_string(v) || str_parse_u64(json_string_value(v), 10, &n) < 0)
		p->bad = p->bad ? p->bad : key;
	return n;
}

static uint64_t get_u64(struct parser *p, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return v ? number_of(p, v, key) : 0;
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
	const json_t *o;
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
}

static void add_cpu(struct manifest_log *l, uint32_t cpu, uint64_t last_seq)
{
	if (cpu == STORE_SOURCE_DONE && last_seq) {
		l->state = STORE_LOG_STORED;
		return;
	}
	vec_each (c, &l->cpus) {
		if (c->cpu == cpu) {
			c->last_seq = c->last_seq > last_seq ? c->last_seq : last_seq;
			return;
		}
	}
	vec_push(&l->cpus, (struct manifest_cpu){cpu, last_seq});
}

static void get_cpus(struct parser *p, const json_t *from, struct manifest_log *l, uint64_t end)
{
	const json_t *cpus = get_array(p, from, "cpus"), *o;
	size_t i;

	json_array_foreach(cpus, i, o)
	{
		uint64_t cpu = get_u64(p, o, "cpu");

		if (cpu >= end)
			p->bad = p->bad ? p->bad : "cpu";
		else
			add_cpu(l, (uint32_t)cpu, get_u64(p, o, "last_seq"));
	}
}

static void get_log_sums(struct parser *p, const json_t *from, const char *key, uint32_t first,
			 struct manifest_log *l)
{
	const json_t *sums = get_array(p, from, key), *o;
	size_t i;

	if (json_array_size(sums) > MANIFEST_MAX_EVENTS) {
		p->bad = p->bad ? p->bad : key;
		return;
	}
	json_array_foreach(sums, i, o)
	{
		uint64_t n = number_of(p, o, key);

		if (n)
			add_cpu(l, first + (uint32_t)i, n);
	}
}

static void get_logs(struct parser *p, const json_t *root)
{
	const json_t *logs = get_array(p, root, "logs"), *o;
	size_t i;

	json_array_foreach(logs, i, o)
	{
		const char *state = get_str(p, o, "state");
		struct manifest_log *l;
		unsigned k = 0;
		uint64_t number = get_u64(p, o, "number");

		while (k < n_elems(state_names) && strcmp(state, state_names[k]) != 0)
			k++;
		if (k == n_elems(state_names) || manifest_find_log(p->m, number)) {
			p->bad = p->bad ? p->bad : "logs";
			return;
		}
		l = vec_add(&p->m->logs);
		l->number = number;
		l->state = (enum store_log_state)k;
		get_cpus(p, o, l, STORE_SOURCE_REACHED);
		get_log_sums(p, o, "stored", STORE_SOURCE_REACHED, l);
		get_log_sums(p, o, "dropped", STORE_SOURCE_DROPPED, l);
	}
}

/* Version 1 knows one log, whose sums are among its CPUs. */
static void get_only_log(struct parser *p, const json_t *root)
{
	uint64_t number = get_u64(p, root, "log");
	struct manifest_log *l;

	if (!number && !json_array_size(get_array(p, root, "cpus")))
		return;
	l = vec_add(&p->m->logs);
	l->number = number;
	get_cpus(p, root, l, (uint64_t)UINT32_MAX + 1);
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
	m->cpu = json_object_get(root, "cpu") ? get_str(&p, root, "cpu") : "";
	m->job = json_object_get(root, "job") ? get_str(&p, root, "job") : "";
	offset = json_object_get(root, "clock_offset_ns");
	m->clock_offset_ns = json_integer_value(offset);
	m->journal = get_u64(&p, root, "journal");
	m->next_segment = get_u64(&p, root, "next_segment");
	if (str_parse_u64(get_str(&p, root, "recording"), 16, &m->recording) < 0 && version > 1)
		p.bad = "recording";
	get_segments(&p, root);
	get_sums(&p, root);
	if (version == 1)
		get_only_log(&p, root);
	else
		get_logs(&p, root);
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
	if (rc == -EPROTONOSUPPORT) {
		_mem_ char *copy = xmemdup(text, n);

		if (manifest_mend_version(copy, n))
			rc = err_set(err, -EBADMSG,
				     "its version is not the one that its digest covers");
	}
	m.sealed = digest_holds(text, n);
	if (rc >= 0 && !m.sealed &&
	    (json_object_get(root, "digest") ||
	     json_integer_value(json_object_get(root, "version")) > 1))
		rc = err_set(err, -EBADMSG, "its digest does not match");
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
	vec_each (l, &m->logs)
		vec_release(&l->cpus);
	vec_release(&m->logs);
	memset(m, 0, sizeof(*m));
}

void manifest_copy(struct manifest *to, const struct manifest *from)
{
	*to = (struct manifest){
		.clock_offset_ns = from->clock_offset_ns,
		.generation = from->generation,
		.journal = from->journal,
		.next_segment = from->next_segment,
		.recording = from->recording,
		.sealed = from->sealed,
	};
	to->host = arena_strdup(&to->arena, from->host);
	to->label = arena_strdup(&to->arena, from->label);
	to->cpu = arena_strdup(&to->arena, from->cpu ? from->cpu : "");
	to->job = arena_strdup(&to->arena, from->job ? from->job : "");
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
	vec_each (l, &from->logs) {
		struct manifest_log *k = vec_add(&to->logs);

		k->number = l->number;
		k->state = l->state;
		vec_each (c, &l->cpus)
			vec_push(&k->cpus, *c);
	}
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

bool manifest_add_pruned(struct manifest *m, const struct profile *p, const uint64_t *was)
{
	uint64_t *n = xcalloc(p->events.n + 1, sizeof(*n));
	bool any = false;

	profile_n_pruned(p, n);
	for (event_id i = 0; i < p->events.n; i++) {
		const struct event *e = &p->events.v[i];
		uint32_t id = intern_event(m, profile_str(p, e->name), profile_str(p, e->unit), e);

		m->events.v[id].n_pruned += n[i] - was[i];
		any |= n[i] != was[i];
	}
	free(n);
	return any;
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

/* Logs. */

struct manifest_log *manifest_find_log(const struct manifest *m, uint64_t number)
{
	vec_each (l, &m->logs)
		if (l->number == number)
			return l;
	return NULL;
}

void manifest_add_seq(struct manifest *m, uint32_t cpu, uint64_t last_seq)
{
	if (!m->logs.n)
		vec_add(&m->logs);
	add_cpu(&m->logs.v[m->logs.n - 1], cpu, last_seq);
}

static void put_entry(struct manifest *m, const struct store_log *from, bool first)
{
	struct manifest_log *l = manifest_find_log(m, from->number);

	/* Those that nobody records into stand before the one that is recorded into. */
	if (!l && first) {
		vec_add(&m->logs);
		l = m->logs.v;
		memmove(l + 1, l, (m->logs.n - 1) * sizeof(*l));
		*l = (struct manifest_log){0};
	} else if (!l) {
		l = vec_add(&m->logs);
	}
	l->number = from->number;
	l->state = from->state;
	l->cpus.n = 0;
	for (size_t i = 0; i < from->n_ranges; i++)
		add_cpu(l, from->ranges[i].cpu, from->ranges[i].last_seq);
}

void manifest_put_log(struct manifest *m, const struct store_log *l)
{
	put_entry(m, l, false);
}

void manifest_put_log_first(struct manifest *m, const struct store_log *l)
{
	put_entry(m, l, true);
}

void manifest_drop_log(struct manifest *m, uint64_t number)
{
	for (size_t i = 0; i < m->logs.n; i++) {
		if (m->logs.v[i].number != number)
			continue;
		vec_release(&m->logs.v[i].cpus);
		memmove(&m->logs.v[i], &m->logs.v[i + 1], (m->logs.n - i - 1) * sizeof(*m->logs.v));
		m->logs.n--;
		return;
	}
}
