/* SPDX-License-Identifier: BSD-2-Clause */
/* See stat_recording.h.
 *
 * An event that is sampled counts itself: the kernel's count of all is kept beside the samples, and
 * is exact.  How it falls on processes only samples say: each stands for a period, and N of them
 * are off by 1/sqrt(N).  A period of 1 makes each happening a sample, so that these numbers are
 * exact, too; where some reached nobody, each process may lack them.
 *
 *     event         period  samples  its own count   all      process of 30 samples
 *     page-faults        1      250            250   250      30
 *     instructions    1000      250        251,300   251,300  30,000 +- 18.26 % */
#include "cmd/stat_recording.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "cmd/source_cmd.h"
#include "events/ratio.h"
#include "query/samples/owners.h"
#include "view/about.h"

#define MOST_PROCESSES 20 /* in a table */

/* What was counted of one event. */
struct event_amount {
	double amount; /* in the event's units */
	double samples;
	bool is_exact;
	double missed; /* each happening was to be a sample, and so many are none */
};

struct process_counts {
	uint32_t pid;
	bool has_pid;
	const char *comm;
	double samples; /* of the comm that most of them have */
	double key;	/* rows are in its falling order */
	size_t number;
	struct event_amount *events; /* one for each of the profile's */
};

struct recording_counts {
	struct source *source;
	const struct profile *profile;
	struct arena arena;
	struct event_amount *all; /* one for each of the profile's events */
	VEC(struct process_counts) processes;
	struct index by_pid;
};

static bool is_same_pid(const void *owner, uint32_t i, const void *key)
{
	const struct recording_counts *r = owner;
	const struct owner *o = key;

	return r->processes.v[i].pid == o->pid;
}

static struct process_counts *process_of(struct recording_counts *r, const struct owner *o)
{
	const uint64_t hash = hash_u64(o->pid);
	uint32_t i = index_find(&r->by_pid, hash, is_same_pid, r, o);

	if (i == INDEX_NONE) {
		i = (uint32_t)r->processes.n;
		vec_push(&r->processes,
			 (struct process_counts){
				 .pid = o->pid,
				 .has_pid = owner_is_known(o, OWNER_KEY_PID),
				 .number = i,
				 .events = arena_calloc(&r->arena, r->profile->events.n + 1,
							sizeof(struct event_amount))});
		index_add(&r->by_pid, hash, i);
	}
	return &r->processes.v[i];
}

/* Whether each happening of E is to be a sample. */
static bool counts_each(const struct event *e)
{
	return e->period == 1 && !e->freq_hz && event_duty(e) == 1;
}

/* Adds V to A, with AMOUNT of its event E. */
static void amount_add(struct event_amount *a, const struct event *e, const struct value *v,
		       double amount)
{
	a->amount += amount;
	a->samples += (double)v->count;
	if (!counts_each(e))
		return;
	a->missed = e->total > e->n_reached ? (double)(e->total - e->n_reached) : 0;
	a->is_exact = a->missed == 0;
}

/* How far A may be off, in percent; 0: it is exact, or nobody knows. */
static double error_of(const struct event_amount *a)
{
	if (a->is_exact || a->samples == 0)
		return 0;
	return a->missed > 0 ? 100 * a->missed / a->amount : 100 / sqrt(a->samples);
}

static void take_value(struct recording_counts *r, const struct value *v)
{
	const struct profile *p = r->profile;
	const struct owner *o = &p->owners.v[v->owner];
	const struct event *e = &p->events.v[v->event];
	const double amount = (double)value_weight(p, v) / event_duty(e);
	struct process_counts *k;

	if (!value_is_samples(p, v) || o->flags & OWNER_IDLE ||
	    (r->source->query->wanted && !r->source->query->wanted[v->owner]))
		return;
	k = process_of(r, o);
	amount_add(&k->events[v->event], e, v, amount);
	amount_add(&r->all[v->event], e, v, amount);
	if (!k->comm || (double)v->count > k->samples) {
		k->comm = owner_text(p, o, OWNER_KEY_COMM);
		k->samples = (double)v->count;
	}
}

/* The event's own count of all, where it is known and of no other samples than these. */
static void take_totals(struct recording_counts *r)
{
	for (size_t i = 0; i < r->profile->events.n; i++) {
		const struct event *e = &r->profile->events.v[i];

		if (!e->total || r->source->query->wanted)
			continue;
		r->all[i].amount = (double)e->total / event_duty(e);
		r->all[i].is_exact = event_duty(e) == 1;
	}
}

static int compare_processes(const void *a, const void *b)
{
	const struct process_counts *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Rows of processes are in order of the first event. */
static void sort_processes(struct recording_counts *r)
{
	const size_t first = r->source->query->n_cols ? r->source->columns.sort : 0;

	vec_each (k, &r->processes)
		for (size_t i = 0; i < r->profile->events.n; i++)
			if (r->source->query->col_of[i] == first)
				k->key += k->events[i].amount;
	vec_sort(&r->processes, compare_processes);
}

/* --- showing --- */

static const struct emit_col columns[] = {
	{.key = "pid", .type = EMIT_U64},
	{.key = "comm", .title = "process", .type = EMIT_STR, .cut = TEXT_NAME},
	{.key = "event", .type = EMIT_STR, .cut = TEXT_END},
	{.key = "count", .type = EMIT_FIXED},
	{.key = "unit", .title = "", .type = EMIT_STR},
	{.key = "error_pct", .title = "+-", .type = EMIT_PERCENT},
	{.key = "ratio", .title = "", .type = EMIT_FIXED, .decimals = 3},
	{.key = "ratio_unit", .title = "", .type = EMIT_STR, .spare = 1},
	{.key = "exact", .type = EMIT_U64, .in = EMIT_IN_JSON | EMIT_IN_CSV},
};

/* The rows of process K; NULL: of all. */
static void show_one(struct cmd *c, struct recording_counts *r, const struct process_counts *k)
{
	const struct profile *p = r->profile;
	const struct event_amount *amounts = k ? k->events : r->all;
	const double elapsed_ns = (double)(p->meta.end_wall_ns - p->meta.start_wall_ns);
	VEC(struct counted) counts = {0};

	for (size_t i = 0; i < p->events.n; i++) {
		const struct event *e = &p->events.v[i];
		const char *unit = profile_str(p, e->unit);

		vec_push(&counts,
			 (struct counted){.name = profile_str(p, e->name),
					  .is_clock = str_ends(unit, "ns"),
					  .known = amounts[i].samples > 0 || amounts[i].amount > 0,
					  .value = amounts[i].amount});
	}
	for (size_t i = 0; i < p->events.n; i++) {
		const struct event_amount *a = &amounts[i];
		struct ratio ratio;
		const bool has = ratio_of(counts.v, counts.n, i, elapsed_ns, &ratio);

		if (!counts.v[i].known)
			continue;
		emit_row(&c->emit, (struct emit_cell[]){
					   {.u = k ? k->pid : 0, .none = !k || !k->has_pid},
					   {.s = k				? k->comm
						 : c->emit.format == EMIT_TABLE ? "[all]"
										: NULL},
					   {.s = counts.v[i].name},
					   {.d = a->amount},
					   {.s = profile_str(p, p->events.v[i].unit)},
					   {.d = error_of(a), .none = error_of(a) == 0},
					   {.d = has ? ratio.value : 0, .none = !has},
					   {.s = has ? arena_strdup(&r->arena, ratio.unit) : NULL},
					   {.u = a->is_exact},
				   });
	}
	vec_release(&counts);
}

static void show_all(struct cmd *c, struct recording_counts *r)
{
	const size_t n = r->processes.n;
	const size_t shown =
		c->emit.format == EMIT_TABLE && n > MOST_PROCESSES ? MOST_PROCESSES : n;

	emit_begin(&c->emit);
	about_emit(&c->emit, r->source, false);
	emit_text(&c->emit, "counts without +- are exact; others are of samples\n\n");
	emit_rows_by(&c->emit, "process");
	emit_table(&c->emit, "rows", columns, n_elems(columns));
	show_one(c, r, NULL);
	for (size_t i = 0; i < shown; i++)
		show_one(c, r, &r->processes.v[i]);
	emit_table_end(&c->emit);
	if (n > shown)
		emit_text(&c->emit, "%zu more process%s: --json and --csv have all\n", n - shown,
			  n - shown == 1 ? "" : "es");
	emit_end(&c->emit);
}

static int show_recording(struct cmd *c, struct source *s, void *ctx)
{
	struct recording_counts r = {.source = s};
	int rc = source_needs(s, SOURCE_SAMPLES, "stat", &c->err);

	(void)ctx;
	if (rc < 0)
		return rc;
	r.profile = s->query->profile;
	r.all = arena_calloc(&r.arena, r.profile->events.n + 1, sizeof(*r.all));
	vec_each (v, &r.profile->values)
		take_value(&r, v);
	take_totals(&r);
	sort_processes(&r);
	if (r.processes.n)
		show_all(c, &r);
	rc = r.processes.n ? 0 : CMD_NOTHING;
	vec_release(&r.processes);
	index_release(&r.by_pid);
	arena_release(&r.arena);
	return rc;
}

int stat_recording(struct cmd *c, const char *path)
{
	c->select.db = path;
	return cmd_with_source(c, NULL, show_recording, NULL);
}
