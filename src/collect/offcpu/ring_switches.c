/* SPDX-License-Identifier: BSD-2-Clause */
/* See ring_switches.h.  Records: linux/perf_event.h, PERF_RECORD_SWITCH; of events on threads they
 * tell of their own thread only. */
#include "collect/offcpu/ring_switches.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/vec.h"
#include "collect/bpf/record.h"

struct ring_thread {
	uint32_t tid;
	enum thread_state state; /* THREAD_GONE: not watched */
	bool guessed;		 /* the state is from /proc: the first record knows better */
	uint64_t task, since_ns;
	uint64_t chain, chain_ns; /* of its last sample */
	struct switch_sum sums[SWITCH_N_SUMS];
};

struct ring_switches {
	struct ring_switches_to to;
	uint64_t min_block_ns;
	uint64_t stop_ns; /* 0: goes on */
	uint64_t n_lost;
	VEC(struct ring_thread) threads;
	struct index by_tid;
};

struct ring_switches *ring_switches_new(uint64_t min_block_ns, const struct ring_switches_to *to)
{
	struct ring_switches *rs = xcalloc(1, sizeof(*rs));

	rs->to = *to;
	rs->min_block_ns = min_block_ns;
	return rs;
}

void ring_switches_free(struct ring_switches *rs)
{
	if (!rs)
		return;
	vec_release(&rs->threads);
	index_release(&rs->by_tid);
	free(rs);
}

static bool thread_has_tid(const void *owner, uint32_t i, const void *key)
{
	return ((const struct ring_switches *)owner)->threads.v[i].tid == *(const uint32_t *)key;
}

/* The thread TID that is watched, or NULL. */
static struct ring_thread *find_thread(struct ring_switches *rs, uint32_t tid)
{
	uint32_t i = index_find(&rs->by_tid, hash_u64(tid), thread_has_tid, rs, &tid);

	return i == INDEX_NONE || rs->threads.v[i].state == THREAD_GONE ? NULL : &rs->threads.v[i];
}

static void add_sum(struct ring_thread *t, enum switch_kind kind, uint64_t ns)
{
	t->sums[kind].ns += ns;
	t->sums[kind].n++;
}

static void add_block(struct ring_switches *rs, struct ring_thread *t, uint64_t ns)
{
	if (ns < rs->min_block_ns)
		add_sum(t, SWITCH_SHORT, ns);
	else if (!t->chain)
		add_sum(t, SWITCH_MISSED, ns);
	else
		rs->to.block(rs->to.ctx, &(struct switch_slot){.task = t->task,
							       .kind_n = SWITCH_BLOCKED | 1 << 8,
							       .ns = ns,
							       .since_ns = t->since_ns,
							       .chain = t->chain});
}

/* Thread T was in its state up to TIME_NS. */
static void close_interval(struct ring_switches *rs, struct ring_thread *t, uint64_t time_ns)
{
	uint64_t ns = time_ns > t->since_ns ? time_ns - t->since_ns : 0;

	if (t->state == THREAD_BLOCKED)
		add_block(rs, t, ns);
	else
		add_sum(t, t->state == THREAD_RUNNING ? SWITCH_RUNNING : SWITCH_RUNNABLE, ns);
	t->since_ns += ns;
}

static void tell_thread(struct ring_switches *rs, struct ring_thread *t)
{
	struct switch_told told = {.task = t->task};

	memcpy(told.sums, t->sums, sizeof(told.sums));
	memset(t->sums, 0, sizeof(t->sums));
	rs->to.sums(rs->to.ctx, &told);
}

void ring_switches_begin(struct ring_switches *rs, uint64_t task, uint64_t time_ns, bool runs)
{
	uint32_t tid = LOG_TID(task);
	uint32_t i = index_find(&rs->by_tid, hash_u64(tid), thread_has_tid, rs, &tid);

	if (rs->stop_ns && time_ns > rs->stop_ns)
		return;
	if (i == INDEX_NONE) {
		i = (uint32_t)rs->threads.n;
		vec_add(&rs->threads);
		index_add(&rs->by_tid, hash_u64(tid), i);
	}
	rs->threads.v[i] = (struct ring_thread){.tid = tid,
						.state = runs ? THREAD_RUNNING : THREAD_BLOCKED,
						.guessed = true,
						.task = task,
						.since_ns = time_ns};
}

static void end_thread(struct ring_switches *rs, struct ring_thread *t, uint64_t time_ns)
{
	close_interval(rs, t, time_ns);
	tell_thread(rs, t);
	t->state = THREAD_GONE;
}

void ring_switches_end(struct ring_switches *rs, uint32_t tid, uint64_t time_ns)
{
	struct ring_thread *t = find_thread(rs, tid);

	if (!t || (rs->stop_ns && time_ns > rs->stop_ns))
		return;
	if (t->guessed)
		t->state = THREAD_RUNNING;
	end_thread(rs, t, time_ns);
}

void ring_switches_sample(struct ring_switches *rs, uint32_t tid, uint64_t time_ns, uint64_t chain)
{
	struct ring_thread *t = find_thread(rs, tid);

	if (!t)
		return;
	t->chain = chain;
	t->chain_ns = time_ns;
}

void ring_switches_apply(struct ring_switches *rs, const struct perf_record *r)
{
	struct ring_thread *t = find_thread(rs, r->tid);

	if (!t || (rs->stop_ns && r->time_ns > rs->stop_ns))
		return;
	if (t->guessed && r->leaves)
		t->state = THREAD_RUNNING;
	else if (t->guessed && t->state == THREAD_RUNNING)
		t->state = THREAD_RUNNABLE;
	t->guessed = false;
	if (r->leaves == (t->state == THREAD_RUNNING)) {
		if (r->leaves && t->chain_ns < t->since_ns) /* the sample is an older one's */
			t->chain = 0;
		close_interval(rs, t, r->time_ns);
	} else if (r->time_ns > t->since_ns) {
		rs->n_lost++;
		t->chain = 0;
		t->since_ns = r->time_ns;
	}
	t->state = !r->leaves ? THREAD_RUNNING : r->preempted ? THREAD_RUNNABLE : THREAD_BLOCKED;
}

void ring_switches_tell(struct ring_switches *rs)
{
	vec_each (t, &rs->threads)
		if (t->state != THREAD_GONE)
			tell_thread(rs, t);
}

void ring_switches_stop(struct ring_switches *rs, uint64_t time_ns)
{
	rs->stop_ns = time_ns;
}

void ring_switches_settle(struct ring_switches *rs)
{
	vec_each (t, &rs->threads)
		if (t->state != THREAD_GONE)
			end_thread(rs, t, rs->stop_ns);
}

uint64_t ring_switches_lost(const struct ring_switches *rs)
{
	return rs->n_lost;
}
