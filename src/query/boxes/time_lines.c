/* SPDX-License-Identifier: BSD-2-Clause */
/* See time_lines.h. */
#include "query/boxes/time_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "query/source.h"

/* Clocks of other kinds than the kernel's say nothing of the time between samples. */
#define USUAL_PERIOD_NS 1000000

const char *time_state_name(enum time_state s)
{
	static const char *const names[N_TIME_STATES] = {"running", "runnable", "blocked"};

	return names[s];
}

/* What a point tells. */
enum point_kind { POINT_SAMPLE, POINT_READY, POINT_BLOCKED, POINT_WOKE };

struct wake {
	uint64_t time_ns;
	uint32_t thread, node;
};

struct line_maker {
	struct time_lines *l;
	struct thread_lines *t;
	bool all;
	uint64_t period_ns;
	const char *event; /* the last one seen, of KIND */
	enum point_kind kind;
	uint32_t *node_of; /* by context, + 1 */
	size_t n_contexts;
	VEC(struct wake) wakes;
};

/* --- places --- */

static uint32_t name_number(struct line_maker *m, const char *name)
{
	return text_list_number(&m->l->names, picture_text(&m->l->arena, name));
}

static uint32_t add_node(struct line_maker *m, uint32_t parent, const char *name)
{
	struct time_node node = {parent, name_number(m, name)};

	vec_push(&m->l->nodes, node);
	return (uint32_t)m->l->nodes.n - 1;
}

static uint32_t *node_slot(struct line_maker *m, uint32_t context)
{
	if (context >= m->n_contexts) {
		size_t n = ((size_t)context + 1) * 2;

		m->node_of = xrealloc(m->node_of, n, sizeof(*m->node_of));
		memset(m->node_of + m->n_contexts, 0, (n - m->n_contexts) * sizeof(*m->node_of));
		m->n_contexts = n;
	}
	return &m->node_of[context];
}

/* The node of CONTEXT; its callers come first. */
static uint32_t context_node(struct line_maker *m, uint32_t context)
{
	VEC(uint32_t) path = {0};
	uint32_t parent = 0;

	while (context && !*node_slot(m, context)) {
		vec_push(&path, context);
		context = m->t->ops->caller(m->t, context);
	}
	if (context)
		parent = *node_slot(m, context) - 1;
	while (path.n) {
		const uint32_t c = path.v[--path.n];

		parent = add_node(m, parent, m->t->ops->frame(m->t, c));
		*node_slot(m, c) = parent + 1;
	}
	vec_release(&path);
	return parent;
}

static uint32_t point_node(struct line_maker *m, const struct thread_line_point *p)
{
	uint32_t *slot;

	if (m->t->ops->frame)
		return context_node(m, p->context);
	slot = node_slot(m, p->context);
	if (!*slot) {
		uint32_t node = add_node(m, 0, p->procedure ? p->procedure : p->path);

		*node_slot(m, p->context) = node + 1;
		return node;
	}
	return *slot - 1;
}

/* --- points --- */

static enum point_kind kind_of_event(struct line_maker *m, const char *event)
{
	if (event == m->event)
		return m->kind;
	m->event = event;
	m->kind = !event			   ? POINT_SAMPLE
		  : strcmp(event, "runnable") == 0 ? POINT_READY
		  : strcmp(event, "blocked") == 0  ? POINT_BLOCKED
		  : strcmp(event, "woken") == 0	   ? POINT_WOKE
						   : POINT_SAMPLE;
	return m->kind;
}

/* The period of the kernel's clocks, when samples are of one (perf_event_open(2)). */
static uint64_t find_period(const struct source *s)
{
	const struct profile *p = s && s->query ? s->query->profile : NULL;

	for (size_t i = 0; p && i < p->events.n; i++) {
		const char *name = profile_str(p, p->events.v[i].name);

		if (str_starts(name, "cpu-clock") || str_starts(name, "task-clock"))
			return p->events.v[i].period;
	}
	return USUAL_PERIOD_NS;
}

static bool has_event(const struct source *s, const char *name)
{
	const struct profile *p = s && s->query ? s->query->profile : NULL;

	for (size_t i = 0; p && i < p->events.n; i++)
		if (strcmp(profile_str(p, p->events.v[i].name), name) == 0)
			return true;
	return false;
}

/* --- spans --- */

/* The thread that spans are made of. */
struct thread_maker {
	struct time_thread *th;
	uint64_t at_ns;	 /* what lies before has its spans */
	uint32_t node;	 /* where it was last, when it ran */
	bool is_blocked; /* since at_ns, at NODE */
	bool is_there;	 /* at_ns is known to be a moment of its life */
};

static void add_span(struct line_maker *m, struct thread_maker *k, uint64_t end_ns,
		     enum time_state state, uint32_t node)
{
	struct time_span *last = k->th->n ? &m->l->spans.v[m->l->spans.n - 1] : NULL;

	if (end_ns <= k->at_ns)
		return;
	k->th->in_state_ns[state] += end_ns - k->at_ns;
	if (last && last->end_ns == k->at_ns && last->state == state && last->node == node &&
	    state != TIME_BLOCKED) {
		last->end_ns = end_ns;
	} else {
		vec_push(&m->l->spans, (struct time_span){.begin_ns = k->at_ns,
							  .end_ns = end_ns,
							  .state = state,
							  .node = node});
		k->th->n++;
	}
	k->at_ns = end_ns;
}

/* Up to TIME_NS the thread was neither sampled nor known to block. */
static void fill_gap(struct line_maker *m, struct thread_maker *k, uint64_t time_ns, bool ran_last)
{
	if (!k->is_there || time_ns <= k->at_ns)
		return;
	if (k->is_blocked)
		add_span(m, k, time_ns, TIME_BLOCKED, k->node); /* nobody said when it ended */
	else if (time_ns - k->at_ns < m->period_ns + m->period_ns / 2)
		add_span(m, k, time_ns, TIME_RUNNING, ran_last ? k->node : 0);
	else if (m->l->has_states)
		add_span(m, k, time_ns, TIME_RUNNABLE, 0);
}

static void take_sample(struct line_maker *m, struct thread_maker *k, uint64_t time_ns,
			uint32_t node)
{
	uint64_t begin = time_ns > m->period_ns ? time_ns - m->period_ns : 0;

	if (begin < m->l->from_ns)
		begin = m->l->from_ns;
	/* Two samples a little more than a period apart are of one run. */
	if (k->is_there && begin > k->at_ns && begin - k->at_ns > m->period_ns / 2)
		fill_gap(m, k, begin, false);
	else if (k->is_there && begin > k->at_ns)
		begin = k->at_ns;
	if (begin > k->at_ns)
		k->at_ns = begin;
	add_span(m, k, time_ns, TIME_RUNNING, node);
	k->node = node;
	k->is_blocked = false;
	k->is_there = true;
}

static void take_point(struct line_maker *m, struct thread_maker *k, uint32_t thread,
		       const struct thread_line_point *p)
{
	const enum point_kind kind = kind_of_event(m, p->event);
	const uint64_t time_ns = p->time_ns;

	if (kind == POINT_WOKE) {
		vec_push(&m->wakes, (struct wake){time_ns, thread, point_node(m, p)});
	} else if (kind == POINT_READY) {
		if (k->is_blocked)
			add_span(m, k, time_ns, TIME_BLOCKED, k->node);
		if (k->at_ns < time_ns)
			k->at_ns = time_ns;
		k->is_blocked = false;
		k->is_there = true;
		k->node = 0;
	} else if (kind == POINT_BLOCKED) {
		fill_gap(m, k, time_ns, true);
		if (k->at_ns < time_ns)
			k->at_ns = time_ns;
		k->is_blocked = k->is_there = true;
		k->node = point_node(m, p);
	} else {
		take_sample(m, k, time_ns, point_node(m, p));
	}
}

/* HPCToolkit's points say where a thread is from then on. */
static void take_place(struct line_maker *m, struct thread_maker *k,
		       const struct thread_line_point *p)
{
	if (k->is_there && k->node)
		add_span(m, k, p->time_ns, TIME_RUNNING, k->node);
	if (k->at_ns < p->time_ns)
		k->at_ns = p->time_ns;
	k->is_there = true;
	k->node = p->procedure && strcmp(p->procedure, "[not running]") == 0 ? 0 : point_node(m, p);
}

/* What a thread does where a range begins, its last points before that tell. */
static void take_earlier(struct line_maker *m, const struct thread_line *line,
			 struct thread_maker *k, uint32_t thread)
{
	uint64_t i = line->first > 2 ? line->first - 2 : 0;

	if (!m->l->by_process)
		return; /* the first of the line is the one it was in */
	for (; i < line->first; i++) {
		struct thread_line_point p;

		m->t->ops->point(m->t, line, i, &p);
		if (kind_of_event(m, p.event) != POINT_WOKE)
			take_point(m, k, thread, &p);
	}
}

static void make_thread(struct line_maker *m, const struct thread_line *line)
{
	struct time_thread th = {
		.name = picture_text(&m->l->arena, line->name),
		.pid = line->pid,
		.tid = line->tid,
		.born_ns = line->born_ns,
		.ended_ns = line->ended_ns,
		.n_dropped = line->n_dropped,
		.first = m->l->spans.n,
	};
	struct thread_maker k = {
		.th = &th, .at_ns = line->start_ns, .is_there = line->born_ns != 0};
	const uint32_t number = (uint32_t)m->l->threads.n;

	if (k.at_ns < m->l->from_ns)
		k.at_ns = m->l->from_ns;
	take_earlier(m, line, &k, number);
	for (uint64_t i = line->first; i < line->first + line->n; i++) {
		struct thread_line_point p;

		if (!m->all && m->t->ops->wants && !m->t->ops->wants(m->t, line, i))
			continue;
		m->t->ops->point(m->t, line, i, &p);
		m->l->n_points++;
		if (m->l->by_process)
			take_point(m, &k, number, &p);
		else
			take_place(m, &k, &p);
	}
	if (!m->l->by_process && k.is_there && k.node)
		add_span(m, &k, line->end_ns, TIME_RUNNING, k.node);
	else if ((line->ended_ns || k.is_blocked) && k.is_there)
		fill_gap(m, &k, line->end_ns, true);
	vec_push(&m->l->threads, th);
}

/* --- wakers --- */

static int by_wake(const void *a, const void *b)
{
	const struct wake *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* A block ends at the very moment that its waker's point has. */
static void find_wakers(struct line_maker *m)
{
	vec_sort(&m->wakes, by_wake);
	vec_each (s, &m->l->spans) {
		const struct wake *w = m->wakes.v;
		size_t n;

		if (s->state != TIME_BLOCKED)
			continue;
		n = lower_bound(i, 0, m->wakes.n, w[i].time_ns < s->end_ns);
		if (n < m->wakes.n && w[n].time_ns == s->end_ns) {
			s->waker = w[n].thread + 1;
			s->waker_node = w[n].node;
		}
	}
}

/* --- bounds and order --- */

/* Joins spans shorter than LEAST_NS with the one before; returns how many are left. */
static size_t count_joined(const struct time_lines *l, uint64_t least_ns)
{
	size_t n = 0;

	vec_each (th, &l->threads) {
		uint64_t begin = 0;

		for (size_t i = th->first; i < th->first + th->n; i++) {
			if (i == th->first || l->spans.v[i].begin_ns >= begin + least_ns) {
				begin = l->spans.v[i].begin_ns;
				n++;
			}
		}
	}
	return n;
}

/* The span that has most of a stretch stands for it. */
static void join_spans(struct time_lines *l, uint64_t least_ns)
{
	size_t to = 0;

	vec_each (th, &l->threads) {
		const size_t end = th->first + th->n;
		size_t first = to;

		for (size_t i = th->first; i < end;) {
			struct time_span most = l->spans.v[i], whole = most;
			uint64_t longest = most.end_ns - most.begin_ns;

			for (i++; i < end && l->spans.v[i].begin_ns < whole.begin_ns + least_ns;
			     i++) {
				const struct time_span *s = &l->spans.v[i];

				whole.end_ns = s->end_ns;
				if (s->end_ns - s->begin_ns > longest) {
					longest = s->end_ns - s->begin_ns;
					most = *s;
				}
			}
			most.begin_ns = whole.begin_ns;
			most.end_ns = whole.end_ns;
			l->spans.v[to++] = most;
		}
		th->first = first;
		th->n = to - first;
	}
	l->spans.n = to;
}

/* Forgets nodes and names that no span has any more. */
static void drop_nodes(struct time_lines *l)
{
	uint32_t *place = xcalloc(l->nodes.n + 1, sizeof(*place)), n = 1;
	struct text_list names = {0};

	vec_each (s, &l->spans)
		place[s->node] = place[s->waker_node] = 1;
	for (size_t i = l->nodes.n; i-- > 1;)
		if (place[i])
			place[l->nodes.v[i].parent] = 1;
	text_list_number(&names, l->names.texts.v[l->nodes.v[0].name]);
	for (size_t i = 1; i < l->nodes.n; i++) {
		const struct time_node old = l->nodes.v[i];

		if (!place[i])
			continue;
		l->nodes.v[n] = (struct time_node){
			.parent = old.parent ? place[old.parent] : 0,
			.name = text_list_number(&names, l->names.texts.v[old.name]),
		};
		place[i] = n++;
	}
	place[0] = 0;
	l->nodes.n = n;
	vec_each (s, &l->spans) {
		s->node = place[s->node];
		s->waker_node = place[s->waker_node];
	}
	text_list_release(&l->names);
	l->names = names;
	free(place);
}

static void bound_spans(struct time_lines *l, size_t max)
{
	uint64_t least = (l->to_ns - l->from_ns) / 1000000 + 1;

	if (l->spans.n <= max)
		return;
	while (count_joined(l, least) > max && least < l->to_ns - l->from_ns)
		least *= 2;
	join_spans(l, least);
	drop_nodes(l);
	l->least_ns = least;
}

static int by_time_spent(const void *a, const void *b, void *arg)
{
	const struct time_thread *v = arg;
	const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	for (unsigned s = 0; s < N_TIME_STATES; s++)
		if (v[i].in_state_ns[s] != v[j].in_state_ns[s])
			return v[i].in_state_ns[s] > v[j].in_state_ns[s] ? -1 : 1;
	return i < j ? -1 : 1;
}

/* The hottest first; wakers follow. */
static void order_threads(struct time_lines *l)
{
	const size_t n = l->threads.n;
	uint32_t *order = xcalloc(n + 1, sizeof(*order)), *place = xcalloc(n + 1, sizeof(*place));
	struct time_thread *sorted = xcalloc(n + 1, sizeof(*sorted));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_time_spent, l->threads.v);
	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = l->threads.v[order[i]];
		place[order[i]] = i;
	}
	if (n)
		memcpy(l->threads.v, sorted, n * sizeof(*sorted));
	vec_each (s, &l->spans)
		if (s->waker)
			s->waker = place[s->waker - 1] + 1;
	free(order);
	free(place);
	free(sorted);
}

void time_lines_init(struct time_lines *ret, struct thread_lines *t, bool all, size_t max_spans)
{
	struct line_maker m = {.l = ret, .t = t, .all = all};

	*ret = (struct time_lines){
		.from_ns = t->from_ns,
		.to_ns = t->to_ns,
		.zero_ns = t->zero_ns,
		.n_dropped = t->n_dropped,
		.by_process = t->by_process,
		.has_states = t->by_process && has_event(t->source, "blocked"),
	};
	m.period_ns = find_period(t->source);
	vec_push(&ret->nodes, (struct time_node){0, name_number(&m, "")});
	vec_each (line, &t->lines)
		make_thread(&m, line);
	find_wakers(&m);
	bound_spans(ret, max_spans ? max_spans : TIME_SPANS);
	order_threads(ret);
	vec_release(&m.wakes);
	free(m.node_of);
}

void time_lines_release(struct time_lines *l)
{
	vec_release(&l->threads);
	vec_release(&l->spans);
	vec_release(&l->nodes);
	text_list_release(&l->names);
	arena_release(&l->arena);
}
