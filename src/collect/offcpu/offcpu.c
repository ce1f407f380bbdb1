/* SPDX-License-Identifier: BSD-2-Clause */
/* See offcpu.h. */
#include "collect/offcpu/offcpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/offcpu/ring_switches.h"
#include "machine/procfs.h"

/* The slots of one CPU's log hold 140,000 blocks a second at OFFCPU_CYCLE_MS.  All logs together
 * take 96 MiB at the most. */
#define N_SLOTS	    32768u
#define ALL_N_SLOTS (2u << 20)

struct offcpu {
	struct switches *switches;
	struct ring_switches *rings; /* in place of them; NULL: not */
	struct profile *profile;
	struct procs *procs;
	struct kernel_map *kernel;
	struct chains *chains;
	struct tracer *tracer;
	uint32_t n_cpus;
	uint64_t *heads;		 /* n_cpus */
	event_id events[SWITCH_N_KINDS]; /* several kinds are one event's */
	ctx_id marks[SWITCH_N_SUMS];
	ctx_id still_blocked;
	uint64_t begin_ns, end_ns;
	VEC(struct switch_told) told; /* of threads that live on */
	VEC(struct switch_end) ends;  /* of threads that live at the end */
};

static event_id add_event(struct profile *p, const char *name)
{
	return profile_intern_event(p, &(struct event){.name = profile_intern_str(p, name),
						       .unit = profile_intern_str(p, "ns"),
						       .period = 1});
}

static void add_marks(struct offcpu *o, uint64_t min_block_ns, bool paths)
{
	char text[64];

	o->marks[SWITCH_RUNNING] = profile_mark_ctx(o->profile, "[running]");
	o->marks[SWITCH_RUNNABLE] = profile_mark_ctx(o->profile, "[waiting for a CPU]");
	snprintf(text, sizeof(text), "[blocked less than %g ms]", (double)min_block_ns / 1e6);
	o->marks[SWITCH_SHORT] = profile_mark_ctx(o->profile, text);
	o->marks[SWITCH_MISSED] = profile_mark_ctx(
		o->profile, paths ? "[blocked, stack missed]" : "[blocked, path not allowed]");
	o->still_blocked = profile_mark_ctx(o->profile, "[truncated: still blocked]");
}

static owner_id owner_of(struct offcpu *o, uint64_t task)
{
	uint32_t proc = procs_look_up(o->procs, LOG_TGID(task), LOG_GENERATION(task));

	return proc == PROC_NONE ? 0 : procs_owner(o->procs, proc, LOG_TID(task));
}

static void offcpu_add(struct offcpu *o, owner_id owner, enum switch_kind kind, ctx_id ctx,
		       uint64_t n, uint64_t ns)
{
	if (!n && !ns)
		return;
	profile_add_value(o->profile, &(struct value){.owner = owner,
						      .ctx = ctx,
						      .event = o->events[kind],
						      .count = n,
						      .sum = ns});
	o->profile->events.v[o->events[kind]].n_reached += n;
}

/* The context of kernel address IP, called by CALLERS. */
static ctx_id kernel_ctx(struct offcpu *o, ctx_id callers, uint64_t ip)
{
	place_id place;

	if (!kernel_map_place(o->kernel, ip, &place))
		place = profile_unknown_kernel_place(o->profile);
	return profile_intern_ctx(o->profile, callers, place);
}

static void trace_moment(struct offcpu *o, const struct switch_slot *s, owner_id owner,
			 uint64_t time_ns, enum switch_kind kind, ctx_id path)
{
	tracer_add(o->tracer, LOG_TGID(s->task), LOG_TID(s->task), owner, time_ns, path,
		   o->events[kind]);
}

/* A block is two points: where it began, and when the thread was ready to run.  Who ended it has a
 * point at that very moment, so that readers find the waker by the time. */
static void trace_slot(struct offcpu *o, const struct switch_slot *s, owner_id owner,
		       enum switch_kind kind, ctx_id path)
{
	const uint64_t end_ns = s->since_ns + s->ns;

	if (kind == SWITCH_BLOCKED) {
		trace_moment(o, s, owner, s->since_ns, kind, path);
		trace_moment(o, s, owner, end_ns, SWITCH_RUNNABLE, o->marks[SWITCH_RUNNABLE]);
	} else if (kind == SWITCH_WOKEN) {
		trace_moment(o, s, owner, end_ns, kind, path);
	}
}

static void add_slot(void *ctx, const struct switch_slot *s)
{
	struct offcpu *o = ctx;
	enum switch_kind kind = (enum switch_kind)(s->kind_n & 0xff);
	string_id labels = 0;
	owner_id owner;
	ctx_id path;

	if (kind >= SWITCH_N_KINDS)
		return;
	if (kind >= SWITCH_BLOCKED && s->leaf) {
		labels = chains_labels(o->chains, s->chain);
		path = kernel_ctx(o, chains_count(o->chains, s->chain, CHAINS_BLOCKED), s->leaf);
	} else {
		kind = kind == SWITCH_BLOCKED ? SWITCH_MISSED : kind;
		path = o->marks[kind];
	}
	owner = s->task ? owner_of(o, s->task) : 0;
	if (labels)
		owner = procs_owner_labelled(o->procs, owner, labels);
	offcpu_add(o, owner, kind, path, s->kind_n >> 8, s->ns);
	if (o->tracer && s->task)
		trace_slot(o, s, owner, kind, path);
}

static void add_told(struct offcpu *o, const struct switch_told *t, owner_id owner)
{
	for (unsigned kind = 0; kind < SWITCH_N_SUMS; kind++)
		offcpu_add(o, owner, (enum switch_kind)kind, o->marks[kind], t->sums[kind].n,
			   t->sums[kind].ns);
}

/* Chains of samples are whole paths: the kernel's part is left out. */
static void add_ring_block(void *ctx, const struct switch_slot *s)
{
	struct offcpu *o = ctx;
	owner_id owner = owner_of(o, s->task);
	ctx_id path = chains_count(o->chains, s->chain, CHAINS_BLOCKED);

	offcpu_add(o, owner, SWITCH_BLOCKED, path, 1, s->ns);
	if (o->tracer)
		trace_slot(o, s, owner, SWITCH_BLOCKED, path);
}

static void add_ring_sums(void *ctx, const struct switch_told *t)
{
	struct offcpu *o = ctx;

	add_told(o, t, owner_of(o, t->task));
}

int offcpu_open(const struct offcpu_opts *opts, struct chains *chains, struct offcpu **ret,
		struct err *err)
{
	struct profile *p = chains->profile;
	struct switches_opts so = opts->switches;
	struct offcpu *o = xcalloc(1, sizeof(*o));
	int rc;

	so.n_slots = N_SLOTS;
	while (so.n_slots > 1024 && (uint64_t)so.n_slots * so.n_cpus > ALL_N_SLOTS)
		so.n_slots /= 2;
	so.wakers = opts->wakers;
	so.walk = opts->walk;
	so.min_block_ns = opts->min_block_ns ? opts->min_block_ns : OFFCPU_MIN_BLOCK_NS;
	o->profile = p;
	o->procs = chains->procs;
	o->kernel = chains->kernel;
	o->chains = chains;
	o->tracer = opts->tracer;
	o->n_cpus = so.n_cpus;
	o->heads = xcalloc(so.n_cpus, sizeof(*o->heads));
	if (opts->rings)
		o->rings = ring_switches_new(
			so.min_block_ns,
			&(struct ring_switches_to){add_ring_block, add_ring_sums, o});
	rc = opts->rings ? 0 : switches_open(&so, &o->switches, err);
	if (rc < 0) {
		offcpu_close(o);
		return rc;
	}
	o->events[SWITCH_RUNNING] = add_event(p, "running");
	o->events[SWITCH_RUNNABLE] = add_event(p, "runnable");
	o->events[SWITCH_BLOCKED] = add_event(p, "blocked");
	o->events[SWITCH_SHORT] = o->events[SWITCH_MISSED] = o->events[SWITCH_BLOCKED];
	o->events[SWITCH_WOKEN] = so.wakers ? add_event(p, "woken") : o->events[SWITCH_BLOCKED];
	add_marks(o, so.min_block_ns, !opts->rings || opts->paths);
	*ret = o;
	return 0;
}

void offcpu_close(struct offcpu *o)
{
	if (!o)
		return;
	ring_switches_free(o->rings);
	switches_close(o->switches);
	vec_release(&o->told);
	vec_release(&o->ends);
	free(o->heads);
	free(o);
}

event_id offcpu_blocked(const struct offcpu *o)
{
	return o->events[SWITCH_BLOCKED];
}

int offcpu_start(struct offcpu *o, struct err *err)
{
	o->begin_ns = clock_mono_ns();
	return o->rings ? 0 : switches_start(o->switches, &o->begin_ns, err);
}

struct watching {
	struct offcpu *offcpu;
	uint32_t tgid, generation;
};

static void watch_thread(void *ctx, uint32_t tid)
{
	const struct watching *w = ctx;

	ring_switches_begin(w->offcpu->rings, LOG_TASK(w->tgid, tid, w->generation),
			    w->offcpu->begin_ns, procfs_runs(w->tgid, tid));
}

static uint32_t generation_of(const struct offcpu *o, uint32_t tgid)
{
	uint32_t proc = procs_current(o->procs, tgid);

	return proc == PROC_NONE ? 0 : o->procs->v.v[proc].generation;
}

void offcpu_watch(struct offcpu *o, uint32_t tgid)
{
	struct watching w = {o, tgid, generation_of(o, tgid)};

	if (o->rings)
		procfs_each_tid(tgid, watch_thread, &w);
}

void offcpu_before(struct offcpu *o, const struct perf_record *r)
{
	if (!o->rings)
		return;
	if (r->kind == RECORD_SWITCH)
		ring_switches_apply(o->rings, r);
	else if (r->kind == RECORD_EXIT || (r->kind == RECORD_COMM && r->exec))
		ring_switches_end(o->rings, r->tid, r->time_ns);
}

void offcpu_after(struct offcpu *o, const struct perf_record *r)
{
	if (o->rings && (r->kind == RECORD_FORK || (r->kind == RECORD_COMM && r->exec)))
		ring_switches_begin(o->rings, LOG_TASK(r->pid, r->tid, generation_of(o, r->pid)),
				    r->time_ns, true);
}

void offcpu_sample(struct offcpu *o, const struct perf_record *sample, uint64_t chain)
{
	if (o->rings)
		ring_switches_sample(o->rings, sample->tid, sample->time_ns, chain);
}

void offcpu_note_heads(struct offcpu *o)
{
	for (uint32_t cpu = 0; cpu < o->n_cpus; cpu++)
		o->heads[cpu] = switches_head(o->switches, cpu);
}

static void keep_told(void *ctx, const struct switch_told *t)
{
	struct offcpu *o = ctx;

	vec_push(&o->told, *t);
}

void offcpu_take_sums(struct offcpu *o)
{
	if (o->switches)
		switches_tell(o->switches, keep_told, o, NULL);
}

void offcpu_drain(struct offcpu *o)
{
	vec_each (t, &o->told)
		add_told(o, t, owner_of(o, t->task));
	o->told.n = 0;
	for (uint32_t cpu = 0; cpu < o->n_cpus; cpu++)
		switches_drain(o->switches, cpu, o->heads[cpu], add_slot, o);
	if (o->rings)
		ring_switches_tell(o->rings);
}

static void keep_end(void *ctx, const struct switch_end *e)
{
	struct offcpu *o = ctx;

	vec_push(&o->ends, *e);
}

void offcpu_stop(struct offcpu *o)
{
	if (!o->rings) {
		switches_stop(o->switches, &o->end_ns, keep_end, o, NULL);
		return;
	}
	o->end_ns = clock_mono_ns();
	ring_switches_stop(o->rings, o->end_ns);
}

static void add_end(struct offcpu *o, const struct switch_end *e)
{
	owner_id owner = owner_of(o, e->told.task);
	bool is_kernel = o->profile->owners.v[owner].flags & OWNER_KERNEL;
	ctx_id path = is_kernel ? 0 : o->still_blocked;

	add_told(o, &e->told, owner);
	if (!e->block_ns)
		return;
	if (e->leaf)
		path = kernel_ctx(o, chains_count(o->chains, e->chain, CHAINS_BLOCKED), e->leaf);
	for (uint32_t i = e->n_frames < SWITCH_MAX_FRAMES ? e->n_frames : SWITCH_MAX_FRAMES;
	     i-- > e->skip;)
		path = kernel_ctx(o, path, e->frames[i] - 1);
	offcpu_add(o, owner, SWITCH_BLOCKED, path ? path : o->marks[SWITCH_MISSED], 1, e->block_ns);
}

void offcpu_settle(struct offcpu *o)
{
	struct switches_lost lost = {0};

	if (o->rings) {
		ring_switches_settle(o->rings);
		lost.n_intervals = ring_switches_lost(o->rings);
	} else {
		lost = switches_lost(o->switches);
	}
	vec_each (e, &o->ends)
		add_end(o, e);
	profile_add_loss(o->profile, "switch_log_full", o->events[SWITCH_RUNNING],
			 lost.n_intervals);
	profile_add_loss(o->profile, "threads_not_watched", o->events[SWITCH_RUNNING],
			 lost.n_threads);
	o->profile->events.v[o->events[SWITCH_RUNNING]].n_reached +=
		lost.n_intervals + lost.n_threads;
	if (o->events[SWITCH_WOKEN] != o->events[SWITCH_BLOCKED]) {
		profile_add_loss(o->profile, "waker_missed", o->events[SWITCH_WOKEN],
				 lost.n_wakers);
		o->profile->events.v[o->events[SWITCH_WOKEN]].n_reached += lost.n_wakers;
	}
	for (unsigned kind = SWITCH_RUNNING; kind < SWITCH_N_KINDS; kind++) {
		struct event *e = &o->profile->events.v[o->events[kind]];

		e->enabled_ns = e->running_ns = o->end_ns - o->begin_ns;
	}
}
