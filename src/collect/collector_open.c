/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening a collector: which engine, the log, the rings, each event's descriptors and where their
 * samples go; and closing it.  Nothing samples yet when collector_open returns. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/calls/log_chains.h"
#include "collect/collector_impl.h"
#include "machine/procfs.h"
#include "machine/perf_record.h"

/* Longest time between two cycles. */
#define CYCLE_MS 1000

/* The share of a log one cycle may fill. */
#define LOG_FILL_PART 4

#define WORDS_OF_CHAIN 32 /* with its head */

#define RING_MIN_PAGES 8

/* The ring for samples of threads that leave their CPU: 256 of them fit into 2 MiB. */
#define LEAVINGS_PAGES	     512
#define LEAVINGS_LEAST_PAGES 16

/* More than what malloc takes from the heap: memory of its own, which mremap makes larger. */
#define HIDDEN_LEAST (1u << 20)

/* In place of an event's number, for the descriptors that sample nothing. */
#define SIDEBAND_EVENT UINT32_MAX

/* Largest power of two that is at most N, at least MIN. */
static uint32_t power_of_two(uint32_t n, uint32_t min)
{
	uint32_t p = min;

	while (p * 2 <= n)
		p *= 2;
	return p;
}

/* The command of a recorder in an inner pid namespace has another pid in the kernel. */
static bool can_watch(const struct collector *c)
{
	bool clocks = false;

	for (uint32_t i = 0; i < c->opts.n_events; i++)
		clocks |= c->opts.events[i].is_clock && !c->opts.events[i].facts;
	return clocks && c->opts.target.kind == TARGET_COMMAND && !c->inner_pidns;
}

int collector_open_log(struct collector *c, uint32_t n_cpus, struct err *err)
{
	struct log_opts o = {
		.n_events = c->opts.n_events, .n_cpus = n_cpus, .types = c->opts.types};
	int rc;

	/* 64 Ki slots (1 MiB) a CPU on small machines, never more than 64 MiB in all. */
	o.n_slots = c->opts.n_slots ? c->opts.n_slots
				    : power_of_two((64u << 20) / 16 / o.n_cpus < 65536
							   ? (64u << 20) / 16 / o.n_cpus
							   : 65536,
						   1024);
	o.n_spill = c->opts.n_spill ? c->opts.n_spill : power_of_two(o.n_slots / 16, 64);
	c->inner_pidns = procfs_inner_pidns(&o.pidns_dev, &o.pidns_ino);
	c->n_log_cpus = o.n_cpus;
	procs_expect_cpus(&c->procs, o.n_cpus);
	if (!c->heads) { /* the first time */
		c->heads = xcalloc(o.n_cpus, sizeof(*c->heads));
		c->folded = xcalloc(o.n_cpus, sizeof(*c->folded));
	}
	o.times = c->opts.trace;
	o.number = c->opts.live_fd > 0 ? c->opts.pin_number : 0;
	o.live_fd = c->opts.live_fd;
	call_paths_log_opts(&c->calls, &c->opts.tables, &o);
	o.watch = can_watch(c);
	rc = log_open(&o, &c->log, err);
	if (rc < 0 && o.watch) { /* a kernel without the tracepoints */
		o.watch = false;
		rc = log_open(&o, &c->log, err);
	}
	if (rc >= 0 && o.watch)
		rc = log_watch(c->log, c->opts.target.pids.v[0], err);
	c->watches = o.watch && rc >= 0;
	if (rc == -EPERM) /* -EACCES: the verifier's, or a security module's; libbpf's words tell */
		return err_set(err, rc, "the bpf engine needs root, or CAP_BPF and CAP_PERFMON");
	if (rc >= 0)
		call_paths_use_log(&c->calls, c->log, &c->opts.tables);
	return rc;
}

struct perf_event_attr collector_sideband_attr(void)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = RECORD_SAMPLE_TYPE,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = 1, /* it samples nothing; this lets any user open it */
	};
}

/* Events that tell of mappings, names, births and deaths, into a ring of N_PAGES per CPU. */
static int open_sideband_of(struct collector *c, enum target_spread spread, size_t n_pages,
			    struct err *err)
{
	struct event_spec dummy = {.name = (char *)"events", .attr = collector_sideband_attr()};
	struct perf_event_attr *a = &dummy.attr;
	struct target all = {.kind = TARGET_ALL},
		      *t = spread == SPREAD_CPUS ? &all : &c->opts.target;
	int rc;

	a->context_switch = c->opts.off_cpu && c->engine == ENGINE_RING;
	a->ksymbol = spread == SPREAD_CPUS && t->kind == TARGET_ALL;
	a->watermark = 1;
	a->wakeup_watermark = (uint32_t)(n_pages * (size_t)sysconf(_SC_PAGESIZE) / 2);
	if (spread == SPREAD_CPUS && c->opts.target.kind == TARGET_CGROUP)
		t = &all; /* mappings made before a process moved into the cgroup matter too */
	/* No a->build_id: perf_event_mmap_output() leaves the flag it sets for us in the record it
	 * then writes for others, so that a perf record beside us misreads its own mappings and
	 * aborts (observed: perf 6.1 on Linux 6.18). */
	rc = target_open(t, &dummy, SIDEBAND_EVENT, spread, &c->cpus, &c->sideband, err);
	if (rc < 0)
		return rc;
	/* The first descriptor of a CPU owns its ring, the others write into it. */
	vec_each (cpu, &c->cpus) {
		struct opened *owner = NULL;

		vec_each (o, &c->sideband) {
			if (o->cpu != *cpu)
				continue;
			if (owner) {
				if (ioctl(o->fd, PERF_EVENT_IOC_SET_OUTPUT, owner->fd) < 0)
					return err_errno(err, -errno, "cannot share a perf ring");
				continue;
			}
			owner = o;
			vec_add(&c->rings);
			rc = ring_open(&c->rings.v[c->rings.n - 1], o->fd, n_pages, err);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

/* Makes W, for N bytes out of rings, memory that stands in no core, for copies of stacks.  What
 * shares its first and last page does not either. */
static void hide_from_cores(struct wr *w, size_t n)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start, end;

	vec_reserve(w, n);
	start = (uintptr_t)w->v & ~(page - 1);
	end = ((uintptr_t)w->v + w->cap + page - 1) & ~(page - 1);
	madvise((void *)start, end - start, MADV_DONTDUMP);
}

/* Once, for all that comes: what is larger later has the same memory, or such memory moved. */
static void hide_copies(struct collector *c)
{
	size_t n = HIDDEN_LEAST;

	vec_each (r, &c->rings)
		n += r->n_bytes;
	if (!call_paths_copies_in_rings(&c->calls))
		return;
	hide_from_cores(&c->pending, n);
	hide_from_cores(&c->spare, n);
}

static void close_sideband(struct collector *c)
{
	vec_each (r, &c->rings)
		ring_close(r);
	vec_release(&c->rings);
	opened_close(&c->sideband);
}

/* Rings of one size, the largest that kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK leave for all
 * CPUs: if the first took what it wanted, the last would get none.  The events are opened anew for
 * each size, since the kernel is told when to wake us before it knows a ring's size. */
static int open_sideband(struct collector *c, enum target_spread spread, struct err *err)
{
	size_t n_pages = (geteuid() == 0 ? 256 : 128) * call_paths_ring_factor(&c->calls);
	int rc;

	for (;; n_pages /= 2) {
		rc = open_sideband_of(c, spread, n_pages, err);
		if (rc != -EPERM || !c->rings.n || n_pages <= RING_MIN_PAGES)
			return rc;
		close_sideband(c);
	}
}

const struct opened *collector_ring_owner(const struct collector *c, int cpu)
{
	vec_each (o, &c->sideband)
		if (o->cpu == cpu)
			return o;
	return NULL;
}

/* Connects the descriptors FIRST .. of event I to the log or to their CPU's ring. */
static int connect_event(struct collector *c, uint32_t i, size_t first, struct err *err)
{
	for (size_t k = first; k < c->samplers.n; k++) {
		const struct opened *o = &c->samplers.v[k], *owner;
		int rc;

		if (c->in_log[i]) {
			rc = log_attach(c->log, o->fd, i, err);
			if (rc < 0)
				return rc;
			continue;
		}
		owner = collector_ring_owner(c, o->cpu);
		if (!owner || ioctl(o->fd, PERF_EVENT_IOC_SET_OUTPUT, owner->fd) < 0)
			return err_errno(err, -errno, "cannot share a perf ring");
	}
	return 0;
}

static int open_event(struct collector *c, uint32_t i, struct err *err)
{
	bool tasks = c->opts.target.kind == TARGET_PIDS || c->opts.target.kind == TARGET_COMMAND;
	struct event_spec *spec = &c->specs[i];
	size_t first = c->samplers.n;
	enum target_spread spread;
	int rc;

	*spec = c->opts.events[i];
	c->in_log[i] =
		c->engine == ENGINE_BPF && spec->attr.type != PERF_TYPE_TRACEPOINT && !spec->facts;
	spread = !tasks || collector_watches(c, i) ? SPREAD_CPUS
		 : c->in_log[i]			   ? SPREAD_TASKS
						   : SPREAD_TASK_CPUS;
	spec->attr.sample_type = RECORD_SAMPLE_TYPE | (spec->facts ? spec->attr.sample_type : 0);
	spec->attr.sample_id_all = 1;
	spec->attr.use_clockid = 1;
	spec->attr.clockid = CLOCK_MONOTONIC;
	if (!c->in_log[i])
		call_paths_event(&c->calls, c->rings.v[0].n_bytes, &spec->attr);
	rc = target_open(&c->opts.target, spec, i, spread, &c->cpus, &c->samplers, err);
	if ((rc == -EACCES || rc == -EPERM) && tasks && !spec->attr.exclude_kernel &&
	    spec->facts <= EVENT_FACTS_FIELDS) {
		/* perf_event_paranoid 2: a user may sample the user code of her own processes. */
		spec->attr.exclude_kernel = 1;
		rc = target_open(&c->opts.target, spec, i, spread, &c->cpus, &c->samplers, err);
		c->user_only = rc >= 0;
	}
	return rc < 0 ? rc : connect_event(c, i, first, err);
}

static void add_events(struct collector *c)
{
	for (uint32_t i = 0; i < c->opts.n_events; i++) {
		const struct event_spec *s = &c->opts.events[i];
		struct event e = {
			.name = profile_intern_str(c->profile, s->name),
			.unit = profile_intern_str(c->profile, s->unit),
			.period = s->attr.freq ? 1 : s->attr.sample_period,
			.freq_hz = s->attr.freq ? s->attr.sample_freq : 0,
		};

		c->events[i] = profile_intern_event(c->profile, &e);
	}
}

/* How often to drain: a log must never be more than a part full at the rates asked for, nor a ring
 * of chains, if each sample had a new one. */
static int choose_cycle_ms(const struct collector *c)
{
	double n_samples = c->opts.n_slots ? c->opts.n_slots : c->log ? log_n_slots(c->log) : 16384;
	double hz = 0, ms;

	n_samples /= LOG_FILL_PART;
	if (c->log && log_chains_of(c->log)) {
		double n = (double)log_chains_opts(log_chains_of(c->log))->n_chain_words /
			   WORDS_OF_CHAIN;

		n_samples = n < n_samples ? n : n_samples;
	}
	for (uint32_t i = 0; i < c->opts.n_events; i++) {
		const struct event_spec *s = &c->opts.events[i];

		hz += s->attr.freq			     ? (double)s->attr.sample_freq
		      : s->is_clock && s->attr.sample_period ? 1e9 / (double)s->attr.sample_period
							     : 10000;
	}
	ms = hz > 0 ? n_samples / hz * 1000 : CYCLE_MS;
	return ms < 10 ? 10 : ms > CYCLE_MS ? CYCLE_MS : (int)ms;
}

void collector_set_cycle(struct collector *c)
{
	c->cycle_ms = choose_cycle_ms(c);
	if (c->offcpu && c->cycle_ms > OFFCPU_CYCLE_MS)
		c->cycle_ms = OFFCPU_CYCLE_MS;
}

static int check_labels(const struct collector *c, struct err *err)
{
	if (!c->opts.tables.go_labels)
		return 0;
	if (c->opts.calls == CALLS_NONE)
		return err_set(err, -EINVAL,
			       "--by label needs call paths (-g): labels are read where a "
			       "goroutine's stack was walked");
	if (c->engine != ENGINE_BPF)
		return err_set(err, -EOPNOTSUPP, "--by label needs the bpf engine: %s",
			       *c->why_not_bpf ? c->why_not_bpf : "another one was asked for");
	return 0;
}

/* Gives the leavings of CPU a ring of their own: copies of stacks that fill it cost a path, where
 * records of switches that find a ring full cost time.  They share the other one if none can be
 * locked. */
static int share_leavings_ring(struct collector *c, int cpu, struct err *err)
{
	const struct opened *owner = NULL;
	struct ring ring = {0};
	struct err why;

	vec_each (o, &c->leavings) {
		size_t n_pages = LEAVINGS_PAGES;

		if (o->cpu != cpu)
			continue;
		while (!owner && n_pages >= LEAVINGS_LEAST_PAGES &&
		       ring_open(&ring, o->fd, n_pages, &why) < 0)
			n_pages /= 2;
		if (ring.n_bytes) { /* O's own */
			vec_push(&c->rings, ring);
			ring = (struct ring){0};
			owner = o;
			continue;
		}
		owner = owner ? owner : collector_ring_owner(c, cpu);
		if (!owner || ioctl(o->fd, PERF_EVENT_IOC_SET_OUTPUT, owner->fd) < 0)
			return err_errno(err, -errno, "cannot share a perf ring");
	}
	return 0;
}

/* Opens what samples each thread that leaves its CPU.  The event happens in the kernel: a user
 * who may not sample there cannot have it (perf_exclude_event, kernel/events/core.c), and leavings
 * stays empty. */
static int open_leavings(struct collector *c, struct err *err)
{
	struct event_spec spec = {.name = (char *)"context-switches",
				  .attr = {.size = sizeof(struct perf_event_attr),
					   .type = PERF_TYPE_SOFTWARE,
					   .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
					   .sample_period = 1,
					   .sample_type = RECORD_SAMPLE_TYPE,
					   .sample_id_all = 1,
					   .use_clockid = 1,
					   .clockid = CLOCK_MONOTONIC}};
	struct err why;

	call_paths_event(&c->calls, c->rings.v[0].n_bytes, &spec.attr);
	spec.attr.exclude_callchain_kernel = 1;
	c->leavings_type = spec.attr.sample_type;
	if (target_open(&c->opts.target, &spec, SIDEBAND_EVENT, SPREAD_TASK_CPUS, &c->cpus,
			&c->leavings, &why) < 0)
		opened_close(&c->leavings);
	vec_each (cpu, &c->cpus) {
		int rc = share_leavings_ring(c, *cpu, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The bpf engine watches threads by a program; without it perf's records tell of own ones. */
static int open_ring_offcpu(struct collector *c, struct err *err)
{
	struct offcpu_opts o = {
		.min_block_ns = c->opts.min_block_ns, .rings = true, .tracer = c->fold.tracer};
	bool tasks = c->opts.target.kind == TARGET_PIDS || c->opts.target.kind == TARGET_COMMAND;
	const char *what = !tasks		       ? ""
			   : c->opts.wakers	       ? " --wakers"
			   : c->opts.walk == WALK_AUTO ? NULL
						       : " --walk-at";
	int rc;

	if (what)
		return err_set(err, -EOPNOTSUPP, "--off-cpu%s needs the bpf engine%s: %s", what,
			       tasks ? "" : " but for processes (-p) and a command",
			       *c->why_not_bpf ? c->why_not_bpf : "another one was asked for");
	rc = open_leavings(c, err);
	o.paths = c->leavings.n;
	return rc < 0 ? rc : offcpu_open(&o, &c->calls.chains, &c->offcpu, err);
}

static int open_offcpu(struct collector *c, struct err *err)
{
	const struct target *t = &c->opts.target;
	struct offcpu_opts o = {.min_block_ns = c->opts.min_block_ns};

	if (c->engine != ENGINE_BPF)
		return open_ring_offcpu(c, err);
	if (t->kind == TARGET_CGROUP || c->inner_pidns)
		return err_set(err, -EOPNOTSUPP, "--off-cpu does not work %s",
			       c->inner_pidns ? "in an inner pid namespace" : "with a cgroup");
	o.switches.n_cpus = c->n_log_cpus;
	o.switches.log = c->log;
	o.wakers = c->opts.wakers;
	o.walk = c->opts.walk;
	o.tracer = c->fold.tracer;
	o.switches.pids = t->kind == TARGET_ALL ? NULL : t->pids.v;
	o.switches.n_pids = t->kind == TARGET_ALL ? 0 : (uint32_t)t->pids.n;
	return offcpu_open(&o, &c->calls.chains, &c->offcpu, err);
}

/* Pins the log.  Events whose samples come through rings are not pinned: nothing of them outlives
 * the recorder. */
static void pin_log(struct collector *c)
{
	struct pinned_note note = {.n_events = c->opts.n_events,
				   .calls = c->opts.calls != CALLS_NONE};
	struct err why = {0};

	for (uint32_t i = 0; i < c->opts.n_events; i++) {
		const struct event *e = &c->profile->events.v[c->events[i]];
		struct pinned_event *n = &note.events[i];

		snprintf(n->name, sizeof(n->name), "%s", profile_str(c->profile, e->name));
		snprintf(n->unit, sizeof(n->unit), "%s", profile_str(c->profile, e->unit));
		n->period = e->period;
		n->freq_hz = e->freq_hz;
	}
	if (c->log && note.calls)
		image_ids_open(&c->image_ids);
	if (!c->log)
		err_set(&why, -EOPNOTSUPP, "samples come through perf rings");
	else if (pinned_make(c->log, &note, &c->image_ids, c->opts.pin_base, c->opts.pin_number,
			     &why) < 0)
		image_ids_close(&c->image_ids);
	snprintf(c->why_not_pinned, sizeof(c->why_not_pinned), "%.250s", why.msg);
}

static bool gives_up_calls(const struct collector *c)
{
	return c->opts.calls_optional && c->opts.calls != CALLS_NONE;
}

static void give_up_calls(struct collector *c, const char *why)
{
	call_paths_release(&c->calls);
	c->fold.chains = NULL;
	c->opts.calls = CALLS_NONE;
	snprintf(c->why_no_calls, sizeof(c->why_no_calls), "%.250s", why);
}

/* The log, without call paths where it cannot be had with them. */
static int open_some_log(struct collector *c, struct err *err)
{
	int rc = collector_open_log(c, cpus_possible(), err);

	if (rc < 0 && gives_up_calls(c)) {
		give_up_calls(c, err->msg);
		rc = collector_open_log(c, cpus_possible(), err);
	}
	return rc;
}

static int open_all(struct collector *c, struct err *err)
{
	bool tasks = c->opts.target.kind == TARGET_PIDS || c->opts.target.kind == TARGET_COMMAND;
	struct err why;
	int rc;

	c->engine = ENGINE_RING;
	if (c->opts.engine != ENGINE_RING) {
		rc = open_some_log(c, &why);
		if (rc < 0 && c->opts.engine == ENGINE_BPF)
			return err_set(err, rc, "%s", why.msg);
		if (rc < 0)
			snprintf(c->why_not_bpf, sizeof(c->why_not_bpf), "%.250s", why.msg);
		else
			c->engine = ENGINE_BPF;
	}
	if (c->engine != ENGINE_BPF && gives_up_calls(c))
		give_up_calls(c, "the engine is not bpf");
	call_paths_use_rings(&c->calls, &c->opts.tables);
	rc = check_labels(c, err);
	if (rc >= 0)
		rc = open_sideband(
			c, c->engine == ENGINE_BPF || !tasks ? SPREAD_CPUS : SPREAD_TASK_CPUS, err);
	for (uint32_t i = 0; i < c->opts.n_events && rc >= 0; i++)
		rc = open_event(c, i, err);
	if (c->opts.off_cpu && rc >= 0)
		rc = open_offcpu(c, err);
	if (rc >= 0)
		hide_copies(c);
	if (c->opts.pin_base && rc >= 0)
		pin_log(c);
	return rc;
}

struct collector *collector_new(const struct collector_opts *opts, struct profile *p)
{
	struct collector *c = xcalloc(1, sizeof(*c));

	c->opts = *opts;
	c->profile = p;
	c->wake_fd = -1;
	images_init(&c->images, p, opts->probe, opts->vdso);
	if (opts->wait_answers)
		images_ask(&c->images);
	procs_init(&c->procs, p, &c->images, clock_wall_ns());
	c->procs.split = opts->split;
	c->procs.excluded = opts->exclude;
	c->procs.by_pid = opts->by_pid;
	c->procs.label = profile_intern_str(p, opts->label);
	kernel_map_init(&c->kernel, p);
	add_events(c);
	fold_init(&c->fold, p, &c->procs, &c->images, &c->kernel, c->events);
	call_paths_init(&c->calls, opts->calls, p, &c->procs, &c->images, &c->kernel);
	if (opts->calls != CALLS_NONE)
		c->fold.chains = &c->calls.chains;
	if (opts->trace) {
		tracer_init(&c->tracer, p,
			    opts->trace_bytes ? opts->trace_bytes : COLLECTOR_TRACE_BYTES,
			    opts->clock_offset_ns);
		c->fold.tracer = &c->tracer;
	}
	return c;
}

int collector_open(const struct collector_opts *opts, struct profile *p, struct collector **ret,
		   struct err *err)
{
	struct collector *c = collector_new(opts, p);
	int rc;

	cpus_online(&c->cpus);
	rc = open_all(c, err);
	if (rc < 0) {
		collector_close(c);
		return rc;
	}
	collector_set_cycle(c);
	*ret = c;
	return 0;
}

void collector_close(struct collector *c)
{
	if (!c)
		return;
	opened_close(&c->samplers);
	opened_close(&c->leavings);
	offcpu_close(c->offcpu);
	image_ids_close(&c->image_ids);
	call_paths_release(&c->calls); /* tables lie in the log's memory */
	log_close(c->log);
	close_sideband(c);
	wr_release(&c->pending);
	wr_release(&c->spare);
	record_order_release(&c->order);
	fold_release(&c->fold);
	tracer_release(&c->tracer);
	procs_release(&c->procs);
	images_release(&c->images);
	kernel_map_release(&c->kernel);
	vec_release(&c->cpus);
	free(c->heads);
	free(c->folded);
	free(c);
}
