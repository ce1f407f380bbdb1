/* SPDX-License-Identifier: BSD-2-Clause */
/* See tracer.h. */
#include "collect/tracer.h"

void tracer_init(struct tracer *t, struct profile *p, size_t max_bytes, int64_t clock_offset_ns)
{
	*t = (struct tracer){.profile = p, .clock_offset_ns = clock_offset_ns};
	p->trace_bytes_max = max_bytes;
}

void tracer_release(struct tracer *t)
{
	vec_release(&t->threads);
	index_release(&t->thread_ix);
	*t = (struct tracer){0};
}

static bool thread_same(const void *owner, uint32_t i, const void *key)
{
	return ((const struct tracer *)owner)->threads.v[i].tid == *(const uint32_t *)key;
}

static struct tracer_thread *find_thread(struct tracer *t, uint32_t tid)
{
	uint64_t h = hash_u64(tid);
	uint32_t i = index_find(&t->thread_ix, h, thread_same, t, &tid);

	if (i == INDEX_NONE) {
		i = (uint32_t)t->threads.n;
		vec_push(&t->threads, (struct tracer_thread){.tid = tid});
		index_add(&t->thread_ix, h, i);
	}
	return &t->threads.v[i];
}

static uint64_t wall(const struct tracer *t, uint64_t time_ns)
{
	return time_ns ? time_ns + (uint64_t)t->clock_offset_ns : 0;
}

void tracer_begin(struct tracer *t, uint32_t tid, uint64_t time_ns)
{
	struct tracer_thread *th = find_thread(t, tid);

	th->before = th->now;
	th->now = (struct tracer_life){.start_ns = time_ns};
}

/* Tells the line of LIFE when it ended, if it has: no earlier than it was told before. */
static void end_line(struct tracer *t, const struct tracer_life *life)
{
	struct trace *line = &t->profile->traces.v[life->line];
	uint64_t end_ns = life->end_ns > life->last_ns ? life->end_ns : life->last_ns;

	if (life->end_ns && life->has_line && life->line && wall(t, end_ns) > line->end_ns)
		line->end_ns = wall(t, end_ns);
}

void tracer_end(struct tracer *t, uint32_t tid, uint64_t time_ns)
{
	struct tracer_thread *th = find_thread(t, tid);

	th->now.end_ns = time_ns;
	end_line(t, &th->now);
}

void tracer_add(struct tracer *t, uint32_t pid, uint32_t tid, owner_id owner, uint64_t time_ns,
		ctx_id ctx, event_id event)
{
	struct tracer_thread *th = find_thread(t, tid);
	struct tracer_life *life = time_ns < th->now.start_ns ? &th->before : &th->now;

	if (!life->has_line || life->owner != owner) {
		struct trace key = {.owner = owner,
				    .pid = pid,
				    .tid = tid,
				    .start_ns = wall(t, life->start_ns)};

		life->line = profile_intern_trace(t->profile, &key);
		life->owner = owner;
		life->has_line = true;
		life->last_ns = 0;
		end_line(t, life);
	}
	if (time_ns > life->last_ns) {
		life->last_ns = time_ns;
		end_line(t, life);
	}
	trace_add_point(
		t->profile, life->line,
		&(struct trace_point){.time_ns = wall(t, time_ns), .ctx = ctx, .event = event});
}
