/* SPDX-License-Identifier: BSD-2-Clause */
/* See minutes.h. */
#include "view/minutes.h"

#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/json.h"

#define MINUTE_NS 60000000000ull

/* On tables the last two are there when an owner has them. */
static const struct emit_col columns[] = {
	{.key = "minute", .type = EMIT_STR},
	{.key = "event", .type = EMIT_STR},
	{.key = "samples", .type = EMIT_U64},
	{.key = "comm", .type = EMIT_STR, .cut = TEXT_END},
	{.key = "pid", .type = EMIT_U64, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{.key = "tid", .type = EMIT_STR, .in = EMIT_IN_TABLE},
	{.key = "tid", .type = EMIT_U64, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{.key = "thread_name", .type = EMIT_STR, .in = EMIT_IN_JSON},
	{.key = "exe", .type = EMIT_STR, .in = EMIT_IN_JSON},
	{.key = "cgroup", .type = EMIT_STR, .in = EMIT_IN_JSON},
	{.key = "uid", .type = EMIT_U64, .in = EMIT_IN_JSON},
	{.key = "label", .type = EMIT_STR, .cut = TEXT_END},
	{.key = "from", .type = EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{.key = "until", .type = EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
};

static const char *minute_text(struct arena *a, uint32_t minute)
{
	time_t t = (time_t)minute * 60;
	char text[40];
	struct tm tm;

	if (minute == MINUTE_UNKNOWN || !gmtime_r(&t, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%MZ", &tm))
		return NULL;
	return arena_strdup(a, text);
}

/* The minute of EDGE_NS, an edge of the time that C came in; NULL: not known, or C has a minute. */
static const char *edge_text(struct arena *a, const struct minute_count *c, uint64_t edge_ns)
{
	return c->minute == MINUTE_UNKNOWN && c->end_ns
		       ? minute_text(a, (uint32_t)(edge_ns / MINUTE_NS))
		       : NULL;
}

/* What a table says of samples without a minute. */
static const char *between_text(struct arena *a, const struct minute_count *c)
{
	const char *from = edge_text(a, c, c->start_ns),
		   *until = edge_text(a, c, c->end_ns + MINUTE_NS - 1);
	_str_ struct str s = {0};

	if (!from || !until)
		return "[time not known]";
	/* The day stands there once. */
	str_addf(&s, "[between %s and %s]", from,
		 strncmp(from, until, strlen("2026-01-01T")) == 0 ? until + strlen("2026-01-01T")
								  : until);
	return arena_strdup(a, str_get(&s));
}

static const char *text_or_none(const struct profile *p, string_id id)
{
	return id ? profile_str(p, id) : NULL;
}

static const char *whose(const struct emit *e, struct arena *a, const struct profile *p,
			 const struct minute_count *c)
{
	const struct owner *o = &p->owners.v[c->owner];

	if (o->comm)
		return profile_str(p, o->comm);
	if (e->format != EMIT_TABLE)
		return NULL;
	if (c->minute == MINUTE_UNKNOWN)
		return between_text(a, c);
	return c->owner ? owner_stand_in(o, OWNER_KEY_COMM) : "[others]";
}

static void choose_columns(struct emit_col *ret, const struct minutes *m)
{
	bool has_tid = false, has_label = false;

	vec_each (c, &m->counts) {
		const struct owner *o = &m->in.profile.owners.v[c->owner];

		has_tid |= o->tid != 0;
		has_label |= o->label != 0;
	}
	memcpy(ret, columns, sizeof(columns));
	for (unsigned i = 0; i < n_elems(columns); i++)
		if ((strcmp(ret[i].key, "tid") == 0 && !has_tid) ||
		    (strcmp(ret[i].key, "label") == 0 && !has_label))
			ret[i].in = ret[i].in ? EMIT_IN_NONE : EMIT_IN_JSON | EMIT_IN_CSV;
}

void minutes_show(struct emit *e, const struct minutes *m, bool with_step)
{
	const struct profile *p = &m->in.profile;
	struct emit_col shown[n_elems(columns)];
	struct arena a = {0};

	choose_columns(shown, m);
	emit_begin(e);
	emit_rows_by(e, "minute");
	if (with_step && emit_json(e))
		json_add_u64(emit_json(e), "step_minutes", m->step);
	emit_table(e, "rows", shown, n_elems(shown));
	vec_each (c, &m->counts) {
		const struct owner *o = &p->owners.v[c->owner];
		_mem_ char *tid = o->tid ? owner_number_text(p, o, OWNER_KEY_TID) : NULL;

		emit_row(e, (struct emit_cell[]){
				    {.s = minute_text(&a, c->minute)},
				    {.s = profile_str(p, p->events.v[c->event].name)},
				    {.u = c->n},
				    {.s = whose(e, &a, p, c)},
				    {.u = o->pid, .none = !o->pid},
				    {.s = tid ? arena_strdup(&a, tid) : NULL},
				    {.u = o->tid, .none = !o->tid},
				    {.s = text_or_none(p, o->thread_name)},
				    {.s = text_or_none(p, o->exe)},
				    {.s = text_or_none(p, o->cgroup)},
				    {.u = o->uid, .none = o->uid == OWNER_UID_UNKNOWN},
				    {.s = text_or_none(p, o->label)},
				    {.s = edge_text(&a, c, c->start_ns)},
				    {.s = edge_text(&a, c, c->end_ns + MINUTE_NS - 1)},
			    });
	}
	emit_table_end(e);
	emit_end(e);
	arena_release(&a);
}
