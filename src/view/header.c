/* SPDX-License-Identifier: BSD-2-Clause */
/* See header.h. */
#include "view/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/plural.h"
#include "query/samples/name_notes.h"

static void format_time(uint64_t wall_ns, char ret[40])
{
	time_t t = (time_t)(wall_ns / 1000000000);
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(ret, 40, "%Y-%m-%dT%H:%M:%SZ", &tm))
		ret[0] = '\0';
}

void header_json_column(struct json *j, const struct set_rows *set)
{
	json_key(j, "event");
	json_str(j, set->event);
	if (set->kind == ESTIMATE_EVENT)
		return;
	json_key(j, "column");
	json_str(j, set->name);
}

void header_json_recording(struct json *j, const struct profile *p)
{
	const struct profile_meta *m = &p->meta;
	const struct {
		const char *key;
		string_id s;
	} texts[] = {{"host", m->host},
		     {"platform", m->platform},
		     {"kernel", m->kernel},
		     {"engine", m->engine},
		     {"command", m->command}};
	char time[40];

	json_key(j, "recording");
	json_begin(j, '{');
	for (size_t i = 0; i < n_elems(texts); i++) {
		if (!texts[i].s)
			continue;
		json_key(j, texts[i].key);
		json_str(j, profile_str(p, texts[i].s));
	}
	if (m->start_wall_ns) {
		json_key(j, "start");
		format_time(m->start_wall_ns, time);
		json_str(j, time);
	}
	if (m->end_wall_ns) {
		json_key(j, "end");
		format_time(m->end_wall_ns, time);
		json_str(j, time);
	}
	json_end(j, '}');
}

static void add_part(struct str *line, const char *text)
{
	if (!text || !*text)
		return;
	if (line->n)
		str_add(line, ", ");
	text_show(line, text);
}

void header_add_recording(struct str *line, const struct profile *p)
{
	const struct profile_meta *m = &p->meta;
	char part[64];

	add_part(line, profile_str(p, m->host));
	if (m->start_wall_ns) {
		time_t t = (time_t)(m->start_wall_ns / 1000000000);
		struct tm tm;

		if (gmtime_r(&t, &tm) && strftime(part, sizeof(part), "%Y-%m-%d %H:%M:%S UTC", &tm))
			add_part(line, part);
	}
	if (m->end_wall_ns > m->start_wall_ns && m->start_wall_ns) {
		snprintf(part, sizeof(part), "%.1f s",
			 (double)(m->end_wall_ns - m->start_wall_ns) / 1e9);
		add_part(line, part);
	}
	add_part(line, profile_str(p, m->command));
}

void header_add_unknown(struct str *line, const struct set_side *side)
{
	if (side->n_open)
		str_addf(line, ", unknown of %" PRIu64 " more", side->n_open);
	if (side->n_killed)
		str_addf(line, ", %" PRIu64 " killed early are left out", side->n_killed);
}

void header_json_unknown(struct json *j, const struct set_side *side)
{
	json_key(j, "unknown");
	json_u64(j, side->n_open);
	json_key(j, "killed_early");
	json_u64(j, side->n_killed);
}

static void text_recording(struct emit *e, const struct profile *p)
{
	_str_ struct str line = {0};

	header_add_recording(&line, p);
	if (line.n)
		emit_text(e, "%s\n", line.v);
}

static void emit_losses(struct emit *e, const struct query *q, bool quiet)
{
	_vec_ named_losses sums = {0};
	struct json *j = emit_json(e);
	_str_ struct str line = {0};

	query_losses(q, &sums);
	if (j) {
		json_key(j, "losses");
		json_begin(j, '{');
	}
	vec_each (s, &sums) {
		if (j) {
			json_key(j, s->name);
			json_u64(j, s->n);
		}
		str_add(&line, line.n ? ", " : "lost: ");
		text_show(&line, s->name);
		str_addf(&line, " %llu", (unsigned long long)s->n);
	}
	if (j)
		json_end(j, '}');
	if (line.n && !quiet)
		emit_text(e, "%s\n", line.v);
}

/* Prints how many samples had rare callers that were pruned, unless there are none. */
static void emit_pruned(struct emit *e, const struct query *q, bool quiet)
{
	struct json *j = emit_json(e);
	_str_ struct str line = {0};

	for (unsigned i = 0; i < q->n_events; i++) {
		const struct query_col *c = &q->cols[i];

		if (!c->n_pruned)
			continue;
		if (j && !line.n) {
			json_key(j, "pruned");
			json_begin(j, '{');
		}
		if (j) {
			json_key(j, c->name);
			json_u64(j, c->n_pruned);
		}
		str_addf(&line, "%s%.2f %% of ", line.n ? ", " : "pruned: rare callers of ",
			 100 * (double)c->n_pruned / (double)c->n_samples);
		text_show(&line, c->name);
	}
	if (j && line.n)
		json_end(j, '}');
	if (line.n && !quiet)
		emit_text(e, "%s\n", line.v);
}

static struct emit_cell header_share(uint64_t part, uint64_t whole)
{
	if (!whole)
		return (struct emit_cell){.none = true};
	return (struct emit_cell){.d = 100 * (double)part / (double)whole};
}

static bool has_guests(const struct query *q)
{
	bool any = false;

	for (unsigned i = 0; i < q->n_events; i++)
		any |= q->cols[i].n_guest != 0;
	return any;
}

static bool has_times(const struct query *q)
{
	bool any = false;

	for (unsigned i = 0; i < q->n_events; i++)
		any |= *q->cols[i].measures != '\0';
	return any;
}

static void emit_events(struct emit *e, const struct query *q)
{
	const bool idle = q->n_cols && q->cols[0].n_idle, scaled = query_is_scaled(q);
	const bool guest = has_guests(q);
	const int timed = has_times(q) ? EMIT_IN_JSON : EMIT_IN_NONE;
	const struct emit_col cols[] = {
		{"name", "event", EMIT_STR, .cut = TEXT_END},
		{"period", NULL, EMIT_U64},
		{"freq_hz", NULL, EMIT_U64, .in = EMIT_IN_JSON},
		{"unit", NULL, EMIT_STR, .in = timed},
		{"amount", NULL, EMIT_U64, .in = timed},
		{"samples", NULL, EMIT_U64},
		{"duty", NULL, EMIT_REAL, .in = EMIT_IN_JSON | (scaled ? EMIT_IN_TABLE : 0)},
		{"lost", NULL, EMIT_U64},
		{"not_delivered", NULL, EMIT_U64},
		{"idle", NULL, EMIT_U64, .in = EMIT_IN_JSON | (idle ? EMIT_IN_TABLE : 0)},
		{"kernel", NULL, EMIT_U64, .in = EMIT_IN_JSON},
		{"guest", NULL, EMIT_U64, .in = guest ? EMIT_IN_JSON : EMIT_IN_NONE},
		{"unknown", NULL, EMIT_U64, .in = EMIT_IN_JSON},
		{"user_pct", "user", EMIT_PERCENT, .in = EMIT_IN_TABLE},
		{"kernel_pct", "kernel", EMIT_PERCENT, .in = EMIT_IN_TABLE},
		{"guest_pct", "guest", EMIT_PERCENT, .in = guest ? EMIT_IN_TABLE : EMIT_IN_NONE},
	};

	emit_table(e, "events", cols, n_elems(cols));
	for (unsigned i = 0; i < q->n_events; i++) {
		const struct query_col *c = &q->cols[i], *w = &q->cols[c->weight];

		emit_row(e, (struct emit_cell[]){
				    {.s = c->name},
				    {.u = c->period},
				    {.u = c->freq_hz},
				    {.s = *c->measures ? c->measures : NULL},
				    {.u = w->n_samples, .none = !*c->measures},
				    {.u = *c->measures ? c->n_intervals : c->n_samples + c->n_idle},
				    {.d = c->duty},
				    {.u = c->n_lost},
				    {.u = c->not_delivered},
				    {.u = c->n_idle},
				    {.u = c->n_kernel},
				    {.u = c->n_guest},
				    {.u = c->n_unknown},
				    header_share(w->n_samples - w->n_kernel - w->n_guest,
						 w->n_samples),
				    header_share(w->n_kernel, w->n_samples),
				    header_share(w->n_guest, w->n_samples),
			    });
	}
	emit_table_end(e);
}

/* Names the events that are not shown because nobody named one. */
static void emit_other_events(struct emit *e, const struct query *q)
{
	const struct profile *p = q->profile;
	struct name_list l = {0};
	struct str names = {0};

	for (event_id k = 0; k < p->events.n && q->is_one_event; k++) {
		bool shown = false;

		for (unsigned i = 0; i < q->n_events; i++)
			shown |= q->cols[i].event == k;
		if (!shown)
			name_list_add(&l, profile_str(p, p->events.v[k].name));
	}
	text_show(&names, l.text);
	if (l.n)
		emit_text(e, "also recorded: %s (--event NAME, or all)\n", str_get(&names));
	str_release(&names);
}

/* What is to be said of one side of a sample set's column. */
struct set_facts {
	const char *name, *event;
	uint64_t population, hits, open, unmeasured, killed, doubtful;
	bool never;
};

static uint64_t all_of(const struct query *q, uint32_t col)
{
	return col == NO_COL ? 0 : q->cols[col].n_samples;
}

static struct set_facts facts_of(const struct query *q, const char *name,
				 const struct estimate_part *p)
{
	struct set_facts f = {
		.name = name,
		.event = q->cols[p->event].name,
		.population = q->cols[p->event].n_samples,
		.hits = all_of(q, p->hits),
		.open = all_of(q, p->open),
		.killed = all_of(q, p->killed),
		.doubtful = all_of(q, p->doubtful),
		.never = p->never,
	};

	if (p->total != NO_COL)
		f.unmeasured = f.hits - all_of(q, p->measured);
	return f;
}

static void json_set(struct json *j, const struct set_facts *f)
{
	const struct {
		const char *key;
		uint64_t n;
	} counts[] = {{"samples", f->population},  {"in", f->hits},
		      {"unknown", f->open},	   {"not_measured", f->unmeasured},
		      {"killed_early", f->killed}, {"in_killed_early", f->doubtful}};

	json_begin(j, '{');
	json_key(j, "set");
	json_str(j, f->name);
	json_key(j, "event");
	json_str(j, f->event);
	for (size_t i = 0; i < n_elems(counts); i++) {
		json_key(j, counts[i].key);
		json_u64(j, counts[i].n);
	}
	json_end(j, '}');
}

/* The line about F where its numbers do not mean all that they seem to; false: there is none. */
static bool describe_open(struct str *s, const struct set_facts *f)
{
	if (!f->never && !f->open && !f->unmeasured)
		return false;
	if (f->never || f->open) {
		if (f->never)
			str_add(s, "none");
		else
			str_addf(s, "%" PRIu64, f->open);
		str_addf(s, " of %" PRIu64 " sample%s of ", f->population, plural_s(f->population));
		text_show(s, f->event);
		str_add(s, f->never ? " tells " : " may be in ");
		text_show(s, f->name);
	}
	if (f->unmeasured) {
		str_addf(s, "%s%" PRIu64 " sample%s ", s->n ? "; " : "", f->unmeasured,
			 plural_s(f->unmeasured));
		str_add(s, f->open || f->never ? "in it" : "of ");
		if (!f->open && !f->never)
			text_show(s, f->event);
		str_add(s, f->unmeasured == 1 ? " lacks the counter" : " lack the counter");
		if (!f->open && !f->never) {
			str_add(s, " of ");
			text_show(s, f->name);
		}
	}
	return true;
}

typedef VEC(struct set_facts) set_list;

/* Both sides of all columns of sample sets, each once. */
static set_list list_sets(const struct query *q, struct arena *arena)
{
	set_list sets = {0};

	vec_each (x, &q->shown) {
		const struct estimate_part *parts[] = {&x->part, &x->per};
		const char *slash = strstr(x->name, "::");

		for (unsigned i = 0; i < (x->kind == ESTIMATE_RATIO ? 2u : 1u); i++) {
			const char *name =
				i	? slash + 2
				: slash ? arena_strndup(arena, x->name, (size_t)(slash - x->name))
					: x->name;
			bool again = x->kind == ESTIMATE_EVENT;

			vec_each (have, &sets)
				again |= strcmp(have->name, name) == 0 &&
					 strcmp(have->event, q->cols[parts[i]->event].name) == 0;
			if (!again)
				vec_push(&sets, facts_of(q, name, parts[i]));
		}
	}
	return sets;
}

static uint64_t killed_of(const struct set_facts *f, bool counted)
{
	return counted ? f->doubtful : f->killed;
}

/* "9 of 375 samples of pm were killed early ...: they are left out of retired, nyp", of the sets of
 * FIRST's event; COUNTED: "... they count in". */
static void emit_killed_of(struct emit *e, const set_list *sets, const struct set_facts *first,
			   bool counted)
{
	struct str names = {0}, s = {0};
	uint64_t most = 0, least = UINT64_MAX;

	for (const struct set_facts *f = first; f < sets->v + sets->n; f++) {
		const uint64_t n = killed_of(f, counted);

		if (!n || strcmp(f->event, first->event) != 0)
			continue;
		most = n > most ? n : most;
		least = n < least ? n : least;
		str_add(&names, names.n ? ", " : "");
		text_show(&names, f->name);
	}
	str_addf(&s, "%s%" PRIu64 " of %" PRIu64 " samples of ", most != least ? "up to " : "",
		 most, first->population);
	text_show(&s, first->event);
	emit_text(e,
		  "%s were killed early, and what is said of them is not reliable: they %s %s%s\n",
		  str_get(&s), counted ? "count in" : "are left out of", str_get(&names),
		  counted ? " (--no-early-kill leaves them out)" : "");
	str_release(&names);
	str_release(&s);
}

static void emit_killed(struct emit *e, const set_list *sets, bool counted)
{
	vec_each (f, sets) {
		bool told = !killed_of(f, counted);

		for (const struct set_facts *g = sets->v; g < f && !told; g++)
			told = killed_of(g, counted) && strcmp(g->event, f->event) == 0;
		if (!told)
			emit_killed_of(e, sets, f, counted);
	}
}

/* The columns of sample sets: of how many samples it is not known whether they count. */
static void emit_sets(struct emit *e, const struct query *q, bool quiet)
{
	struct json *j = emit_json(e);
	struct arena arena = {0};
	set_list sets = {0};
	bool open = false;

	if (!q->has_sets)
		return;
	sets = list_sets(q, &arena);
	if (j) {
		json_key(j, "sets");
		json_begin(j, '[');
		vec_each (f, &sets)
			json_set(j, f);
		json_end(j, ']');
	}
	for (struct set_facts *f = sets.v; !quiet && f < sets.v + sets.n; f++) {
		_str_ struct str s = {0};

		if (describe_open(&s, f)) {
			emit_text(e, "%s\n", s.v);
			open = true;
		}
	}
	if (!quiet) {
		emit_killed(e, &sets, false);
		emit_killed(e, &sets, true);
	}
	if (open)
		emit_text(e, "? is unknown, >N at least N, ~N about N\n");
	vec_each (x, &q->shown)
		if (x->kind == ESTIMATE_RATIO && x->part.event != x->per.event && !quiet) {
			emit_text(e, "ratios between events are of estimates, samples x period / "
				     "duty; only the address joins them\n");
			break;
		}
	vec_release(&sets);
	arena_release(&arena);
}

/* At most so many shared build-ids have a line.  A machine that builds programs has dozens. */
#define MOST_SHARED 3

struct shared_lines {
	struct emit *e;
	size_t n;
};

/* For example "build-id 12ab34cd: /usr/bin/a and /tmp/a are different files, shown apart". */
static void emit_shared(void *ctx, const struct image *const *images, size_t n)
{
	struct shared_lines *s = ctx;
	struct json *j = emit_json(s->e);
	char id[2 * BUILD_ID_MAX + 1];
	struct str line = {0}, shown = {0};

	build_id_format(&images[0]->build_id, id);
	if (j && !s->n) {
		json_key(j, "shared_build_ids");
		json_begin(j, '[');
	}
	s->n++;
	if (j) {
		json_begin(j, '{');
		json_key(j, "build_id");
		json_str(j, id);
		json_key(j, "images");
		json_begin(j, '[');
	}
	str_addf(&line, "build-id %.8s:", id);
	for (size_t i = 0; i < n; i++) {
		if (j)
			json_str(j, images[i]->path);
		str_addf(&line, "%s %s", i == 0 ? "" : i + 1 < n ? "," : " and", images[i]->path);
	}
	str_add(&line,
		image_digest_known(images[0]->digest)
			? " are different files, shown apart"
			: " are different files, shown apart; which of them the first is, is "
			  "not known");
	if (j) {
		json_end(j, ']');
		json_end(j, '}');
	}
	text_show(&shown, line.v);
	if (s->n <= MOST_SHARED)
		emit_text(s->e, "%s\n", shown.v);
	str_release(&line);
	str_release(&shown);
}

static void emit_shared_build_ids(struct emit *e, const struct query *q, bool quiet)
{
	struct shared_lines s = {.e = e};

	if (quiet && !emit_json(e))
		return;
	profile_each_shared(q->profile, emit_shared, &s);
	if (s.n && emit_json(e))
		json_end(emit_json(e), ']');
	if (s.n > MOST_SHARED)
		emit_text(e, "%zu more build-id%s of different files (--json lists them)\n",
			  s.n - MOST_SHARED, s.n == MOST_SHARED + 1 ? "" : "s");
}

void header_emit(struct emit *e, const struct query *q, bool quiet)
{
	struct json *j = emit_json(e);

	if (j)
		header_json_recording(j, q->profile);
	else if (!quiet)
		text_recording(e, q->profile);
	if (j || !quiet)
		emit_events(e, q);
	if (!quiet)
		emit_other_events(e, q);
	emit_losses(e, q, quiet);
	emit_pruned(e, q, quiet);
	emit_shared_build_ids(e, q, quiet);
	emit_sets(e, q, quiet);
	if (!quiet && query_is_scaled(q))
		emit_text(e, "counts are scaled up by 1/duty: events took turns on the counters\n");
	if (!quiet)
		emit_text(e, "\n");
}

/* One line of a note, after an empty one before the first. */
static void emit_note(struct emit *e, const char *note, bool *first)
{
	struct json *j = emit_json(e);
	_str_ struct str shown = {0};

	if (j)
		json_str(j, note);
	text_show(&shown, note);
	emit_text(e, "%s%s\n", *first ? "\n" : "", shown.v);
	*first = false;
}

void notes_emit(struct emit *e, struct query *q, const image_ids *images)
{
	struct json *j = emit_json(e);
	name_notes notes = {0};
	bool first = true;

	if (j) {
		json_key(j, "notes");
		json_begin(j, '[');
	}
	name_notes_find(q, images, &notes);
	vec_each (note, &notes)
		emit_note(e, *note, &first);
	name_notes_release(&notes);
	if (j)
		json_end(j, ']');
}
