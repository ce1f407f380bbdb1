/* SPDX-License-Identifier: BSD-2-Clause */
/* See threads.h. */
#include "query/samples/threads.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/lower_bound.h"
#include "base/str.h"

struct threads_kept {
	struct query *q;
	const char **paths; /* by context: each is put together once */
};

static const struct trace *trace_of(const struct thread_line *l)
{
	return l->line;
}

static bool wants_point(const struct query *q, const struct trace_point *point)
{
	return q->col_of[point->event] < q->n_cols;
}

typedef VEC(uint32_t) number_list;

static int parse_numbers(const opt_list *texts, number_list *ret, struct err *err)
{
	vec_each (text, texts) {
		for (const char *at = *text;; at++) {
			size_t n = strcspn(at, ",");
			char digits[24] = "";
			uint64_t x;

			if (n < sizeof(digits))
				memcpy(digits, at, n);
			if (str_parse_u64(digits, 10, &x) < 0 || x > UINT32_MAX)
				return err_set(err, -EINVAL, "'%.*s' is not the number of a thread",
					       (int)n, at);
			vec_push(ret, (uint32_t)x);
			at += n;
			if (!*at)
				break;
		}
	}
	return 0;
}

static bool listed(const number_list *l, uint32_t x)
{
	vec_each (i, l)
		if (*i == x)
			return true;
	return l->n == 0;
}

/* The first and last moment of a line, by all that is known. */
static void extent(const struct trace *t, uint64_t *first, uint64_t *last)
{
	*first = t->start_ns;
	*last = t->end_ns > t->start_ns ? t->end_ns : t->start_ns;
	if (!t->points.n)
		return;
	if (!*first || t->points.v[0].time_ns < *first)
		*first = t->points.v[0].time_ns;
	if (t->points.v[t->points.n - 1].time_ns > *last)
		*last = t->points.v[t->points.n - 1].time_ns;
}

static void find_range(const struct profile *p, const struct thread_line_opts *o,
		       struct thread_lines *ret)
{
	uint64_t end = 0;

	vec_each (t, &p->traces) {
		uint64_t first, last;

		ret->n_dropped += t->n_dropped;
		extent(t, &first, &last);
		if (first && (!ret->zero_ns || first < ret->zero_ns))
			ret->zero_ns = first;
		if (last > end)
			end = last;
	}
	ret->has_no_date = !p->meta.start_wall_ns;
	ret->from_ns = ret->zero_ns + (o->has_from ? o->from_ns : 0);
	ret->to_ns = o->has_to ? ret->zero_ns + o->to_ns : end + 1;
}

static size_t points_before(const struct trace *t, uint64_t time_ns)
{
	return lower_bound(k, 0, t->points.n, t->points.v[k].time_ns < time_ns);
}

static string_id thread_name(const struct owner *o)
{
	return o->thread_name ? o->thread_name : o->comm;
}

/* A thread that takes another name, as exec does, has a trace for each; an old number may be that
 * of a new thread. */
struct thread_life {
	uint32_t pid, tid, number;
	uint64_t begin_ns;
};

static int compare_lives(const void *a, const void *b)
{
	const struct thread_life *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Returns for each trace of P when the next of the same pid and tid begins, UINT64_MAX where none
 * does. */
static uint64_t *find_next_lives(const struct profile *p)
{
	struct thread_life *lives = xcalloc(p->traces.n, sizeof(*lives));
	uint64_t *next = xcalloc(p->traces.n, sizeof(*next)), last;

	for (uint32_t i = 0; i < p->traces.n; i++) {
		const struct trace *t = &p->traces.v[i];

		lives[i] = (struct thread_life){.pid = t->pid, .tid = t->tid, .number = i};
		extent(t, &lives[i].begin_ns, &last);
		next[i] = UINT64_MAX;
	}
	qsort(lives, p->traces.n, sizeof(*lives), compare_lives);
	for (size_t i = 1; i < p->traces.n; i++)
		if (lives[i].pid == lives[i - 1].pid && lives[i].tid == lives[i - 1].tid)
			next[lives[i - 1].number] = lives[i].begin_ns;
	free(lives);
	return next;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Adds the line of T, whose next begins at NEXT_NS. */
static void add_thread(const struct query *q, const struct trace *t, uint64_t next_ns,
		       struct thread_lines *ret)
{
	const struct profile *p = q->profile;
	const uint64_t last = t->points.n ? t->points.v[t->points.n - 1].time_ns : 0;
	const uint64_t end_ns = next_ns == UINT64_MAX ? t->end_ns : most(next_ns, last);
	struct thread_line new = {
		.name = profile_str(p, thread_name(&p->owners.v[t->owner])),
		.pid = t->pid,
		.tid = t->tid,
		.number = (uint32_t)(t - p->traces.v),
		.born_ns = t->start_ns,
		.ended_ns = end_ns,
		.start_ns = t->start_ns > ret->from_ns ? t->start_ns : ret->from_ns,
		.end_ns = end_ns ? least(end_ns, ret->to_ns) : ret->to_ns,
		.n_dropped = t->n_dropped,
		.first = points_before(t, ret->from_ns),
		.line = (void *)t,
	};

	new.n = points_before(t, ret->to_ns) - new.first;
	if (!new.n &&new.end_ns < new.start_ns)
		return;
	for (size_t i = new.first; i < new.first + new.n; i++)
		new.n_points += wants_point(q, &t->points.v[i]);
	ret->n_points += new.n_points;
	vec_push(&ret->lines, new);
}

/* A number that names nothing is most likely a mistake. */
static int check_listed(const struct profile *p, const number_list *l, bool tids, struct err *err)
{
	vec_each (x, l) {
		bool found = false;

		vec_each (t, &p->traces)
			found |= t != p->traces.v && (tids ? t->tid : t->pid) == *x;
		if (!found)
			return err_set(err, -ENOENT,
				       "there is no time line of %s %" PRIu32
				       "; `dwell trace` lists those there are",
				       tids ? "thread" : "process", *x);
	}
	return 0;
}

static void add_frame(struct query *q, place_id place, struct str *ret)
{
	const struct place *k = &q->profile->places.v[place];
	const struct image *im = &q->profile->images.v[k->image];
	struct procedure proc;

	if (im->kind == IMAGE_MARK)
		str_add(ret, im->path);
	else if (im->kind == IMAGE_UNKNOWN)
		str_add(ret, "[unknown]");
	else if (resolver_find(q->resolver, im, k->svma, &proc))
		str_add(ret, proc.name);
	else
		str_addf(ret, "%s+%#" PRIx64, str_basename(im->path), k->svma);
}

/* The call path of CTX, innermost first: at most DEPTH frames (0: all). */
static void add_path(struct query *q, ctx_id ctx, unsigned depth, struct str *ret)
{
	const struct ctx *v = q->profile->ctxs.v;

	for (unsigned n = 0; ctx; ctx = v[ctx].parent) {
		if (n)
			str_add(ret, " < ");
		if (depth && n++ == depth) {
			str_add(ret, "...");
			return;
		}
		n += !depth;
		add_frame(q, v[ctx].place, ret);
	}
}

static uint64_t thread_time(const struct thread_line *l, uint64_t i)
{
	return trace_of(l)->points.v[i].time_ns;
}

static bool thread_wants(const struct thread_lines *t, const struct thread_line *l, uint64_t i)
{
	const struct threads_kept *k = t->kept;

	return wants_point(k->q, &trace_of(l)->points.v[i]);
}

static void thread_point(struct thread_lines *t, const struct thread_line *l, uint64_t i,
			 struct thread_line_point *ret)
{
	struct threads_kept *k = t->kept;
	const struct trace_point *p = &trace_of(l)->points.v[i];
	struct str s = {0};

	if (!k->paths)
		k->paths = xcalloc(k->q->profile->ctxs.n, sizeof(*k->paths));
	if (!k->paths[p->ctx]) {
		add_path(k->q, p->ctx, t->depth, &s);
		k->paths[p->ctx] = arena_strdup(&t->arena, str_get(&s));
		str_release(&s);
	}
	*ret = (struct thread_line_point){
		.time_ns = p->time_ns,
		.event = k->q->cols[k->q->col_of[p->event]].name,
		.path = k->paths[p->ctx],
		.context = p->ctx,
	};
}

static const char *thread_frame(struct thread_lines *t, uint32_t context)
{
	struct threads_kept *k = t->kept;
	struct str s = {0};
	const char *kept;

	add_frame(k->q, k->q->profile->ctxs.v[context].place, &s);
	kept = arena_strdup(&t->arena, str_get(&s));
	str_release(&s);
	return kept;
}

static uint32_t thread_caller(struct thread_lines *t, uint32_t context)
{
	const struct threads_kept *k = t->kept;

	return k->q->profile->ctxs.v[context].parent;
}

static bool thread_is_block(const struct thread_lines *t, const struct thread_line *l, uint64_t i)
{
	const struct threads_kept *k = t->kept;
	const struct event *e = &k->q->profile->events.v[trace_of(l)->points.v[i].event];

	return *event_measures(k->q->profile, e);
}

static void threads_release(struct thread_lines *t)
{
	struct threads_kept *k = t->kept;

	if (k)
		free(k->paths);
	free(k);
}

static const struct thread_line_ops thread_ops = {
	.time = thread_time,
	.wants = thread_wants,
	.is_block = thread_is_block,
	.point = thread_point,
	.frame = thread_frame,
	.caller = thread_caller,
	.release = threads_release,
};

/* A path of more frames is wider than a screen. */
#define USUAL_DEPTH 4

int threads_find(struct query *q, const struct thread_line_opts *opts, struct thread_lines *ret,
		 struct err *err)
{
	const struct profile *p = q->profile;
	number_list pids = {0}, tids = {0};
	struct threads_kept *k;
	uint64_t *next;
	int rc;

	*ret = (struct thread_lines){
		.ops = &thread_ops,
		.by_process = true,
		.depth = opts->has_depth ? opts->depth : USUAL_DEPTH,
	};
	if (p->traces.n < 2)
		return err_set(err, -ENOENT,
			       "no time lines were recorded; `dwell record --trace` records them");
	k = ret->kept = xcalloc(1, sizeof(*k));
	k->q = q;
	rc = parse_numbers(&opts->pids, &pids, err);
	if (rc >= 0)
		rc = parse_numbers(&opts->tids, &tids, err);
	if (rc >= 0)
		rc = check_listed(p, &pids, false, err);
	if (rc >= 0)
		rc = check_listed(p, &tids, true, err);
	find_range(p, opts, ret);
	if (rc >= 0 && ret->from_ns >= ret->to_ns)
		rc = err_set(err, -EINVAL, "--range: it ends before it begins");
	next = find_next_lives(p);
	for (size_t i = 1; i < p->traces.n && rc >= 0; i++) {
		const struct trace *t = &p->traces.v[i];

		if (listed(&pids, t->pid) && listed(&tids, t->tid) &&
		    (!q->wanted || q->wanted[t->owner]))
			add_thread(q, t, next[i], ret);
	}
	free(next);
	vec_release(&pids);
	vec_release(&tids);
	return rc;
}
