/* SPDX-License-Identifier: BSD-2-Clause */
/* See collector.h. */
#include "collect/collector.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "collect/log.h"
#include "collect/offcpu.h"
#include "collect/procfs.h"
#include "collect/record.h"
#include "collect/ring.h"
#include "collect/tracer.h"

/* Longest time between two cycles; and the share of a log one cycle may fill. */
#define CYCLE_MS      1000
#define LOG_FILL_PART 4

/* How long requests for tables wait after some that brought nothing. */
#define DEAF_NS 5000000ull

#define SIDEBAND_EVENT UINT32_MAX

/* A drained record and its time: sorting moves no more than that. */
struct pending_record {
	uint64_t time_ns;
	const uint8_t *bytes;
};

struct collector {
	struct collector_opts opts;
	struct profile *profile;
	enum engine engine;
	char why_not_bpf[256];
	bool user_only;
	bool inner_pidns; /* the kernel's own task list has other pids than ours */
	cpu_list cpus;
	struct log *log; /* engine bpf */
	uint32_t n_log_cpus;
	uint64_t *heads;	     /* n_log_cpus: up to where this cycle folds */
	bool in_log[LOG_MAX_EVENTS]; /* this event's samples come through the log */
	struct event_spec specs[LOG_MAX_EVENTS];
	event_id events[LOG_MAX_EVENTS];  /* in the profile */
	opened_list samplers;		  /* the events asked for */
	opened_list sideband;		  /* dummy events that own the rings */
	VEC(struct ring) rings;		  /* one per online CPU */
	struct wr pending;		  /* drained records not yet applied */
	struct wr spare;		  /* the other one of two buffers */
	VEC(struct pending_record) order; /* of pending, by time */
	struct images images;
	struct procs procs;
	struct kernel_map kernel;
	struct call_paths calls;
	struct fold fold;
	struct tracer tracer;
	struct offcpu *offcpu;			 /* NULL: not asked for */
	uint64_t n_ring_samples[LOG_MAX_EVENTS]; /* read from rings */
	uint64_t n_ring_lost[LOG_MAX_EVENTS];	 /* found their ring full; known at the end */
	uint64_t n_lost_records;		 /* of any kind, as the rings tell it on the way */
	uint64_t idle_start_ns;			 /* of all CPUs, when sampling began */
	int cycle_ms;
};

const char *collector_why_not_bpf(const struct collector *c)
{
	return c->why_not_bpf;
}

bool collector_user_only(const struct collector *c)
{
	return c->user_only;
}

const struct images *collector_images(const struct collector *c)
{
	return &c->images;
}

const struct procs *collector_procs(const struct collector *c)
{
	return &c->procs;
}

void collector_add_source(struct collector *c, struct frame_source *s)
{
	frame_source_add(&c->procs, s);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Idle and waiting time of all CPUs since boot: proc(5), /proc/stat, "cpu" line, 4th and 5th field,
 * in clock ticks. */
static uint64_t idle_ns(void)
{
	unsigned long long idle = 0, iowait = 0;
	char *text;

	if (file_load("/proc/stat", 1 << 24, &text, NULL, NULL) < 0)
		return 0;
	if (sscanf(text, "cpu %*u %*u %*u %llu %llu", &idle, &iowait) != 2)
		idle = iowait = 0;
	free(text);
	return (idle + iowait) * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Opening. */

/* Largest power of two that is at most N, at least MIN. */
static uint32_t power_of_two(uint32_t n, uint32_t min)
{
	uint32_t p = min;

	while (p * 2 <= n)
		p *= 2;
	return p;
}

static int open_log(struct collector *c, struct err *err)
{
	struct log_opts o = {.n_events = c->opts.n_events, .n_cpus = cpus_possible()};
	int rc;

	/* 64 Ki slots (1 MiB) a CPU on small machines, never more than 64 MiB in all. */
	o.n_slots = c->opts.n_slots ? c->opts.n_slots
				    : power_of_two((64u << 20) / 16 / o.n_cpus < 65536
							   ? (64u << 20) / 16 / o.n_cpus
							   : 65536,
						   1024);
	o.n_spill = power_of_two(o.n_slots / 16, 64);
	c->inner_pidns = procfs_inner_pidns(&o.pidns_dev, &o.pidns_ino);
	c->n_log_cpus = o.n_cpus;
	c->heads = xcalloc(o.n_cpus, sizeof(*c->heads));
	o.times = c->opts.trace;
	call_paths_log_opts(&c->calls, &c->opts.tables, &o);
	rc = log_open(&o, &c->log, err);
	if (rc == -EPERM || rc == -EACCES)
		return err_set(err, rc, "the bpf engine needs root, or CAP_BPF and CAP_PERFMON");
	if (rc >= 0)
		call_paths_use_log(&c->calls, c->log, &c->opts.tables);
	return rc;
}

/* A ring of N_PAGES, or of what kernel.perf_event_mlock_kb leaves of them. */
static int add_ring(struct collector *c, int fd, size_t n_pages, struct err *err)
{
	int rc = -EPERM;

	vec_add(&c->rings);
	for (; rc == -EPERM && n_pages >= 8; n_pages /= 2)
		rc = ring_open(&c->rings.v[c->rings.n - 1], fd, n_pages, err);
	return rc;
}

/* Events that tell of mappings, names, births and deaths, into a ring per CPU. */
static int open_sideband(struct collector *c, enum spread spread, struct err *err)
{
	struct event_spec dummy = {.name = (char *)"events"};
	struct perf_event_attr *a = &dummy.attr;
	struct target all = {.kind = TARGET_ALL},
		      *t = spread == SPREAD_CPUS ? &all : &c->opts.target;
	size_t n_pages = (geteuid() == 0 ? 256 : 128) * call_paths_ring_factor(&c->calls);
	int rc;

	a->size = sizeof(*a);
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_DUMMY;
	a->sample_type = RECORD_SAMPLE_TYPE;
	a->sample_id_all = a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = 1;
	a->ksymbol = spread == SPREAD_CPUS && t->kind == TARGET_ALL;
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC;
	a->exclude_kernel = 1; /* it samples nothing; this is what lets any user open it */
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
			rc = add_ring(c, o->fd, n_pages, err);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static const struct opened *ring_owner(const struct collector *c, int cpu)
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
		owner = ring_owner(c, o->cpu);
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
	enum spread spread;
	int rc;

	*spec = c->opts.events[i];
	c->in_log[i] = c->engine == ENGINE_BPF && spec->attr.type != PERF_TYPE_TRACEPOINT;
	spread = !tasks ? SPREAD_CPUS : c->in_log[i] ? SPREAD_TASKS : SPREAD_TASK_CPUS;
	spec->attr.sample_type = RECORD_SAMPLE_TYPE;
	spec->attr.sample_id_all = 1;
	spec->attr.use_clockid = 1;
	spec->attr.clockid = CLOCK_MONOTONIC;
	if (!c->in_log[i])
		call_paths_event(&c->calls, &spec->attr);
	rc = target_open(&c->opts.target, spec, i, spread, &c->cpus, &c->samplers, err);
	if ((rc == -EACCES || rc == -EPERM) && tasks && !spec->attr.exclude_kernel) {
		/* perf_event_paranoid 2: a user may sample the user code of her own processes. */
		spec->attr.exclude_kernel = 1;
		rc = target_open(&c->opts.target, spec, i, spread, &c->cpus, &c->samplers, err);
		c->user_only = rc == 0;
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

/* How often to drain: a log must never be more than a part full at the rates asked for. */
static int choose_cycle_ms(const struct collector *c, uint32_t n_slots)
{
	double hz = 0, ms;

	for (uint32_t i = 0; i < c->opts.n_events; i++) {
		const struct event_spec *s = &c->opts.events[i];

		hz += s->attr.freq			     ? (double)s->attr.sample_freq
		      : s->is_clock && s->attr.sample_period ? 1e9 / (double)s->attr.sample_period
							     : 10000;
	}
	ms = hz > 0 ? n_slots / hz * 1000 / LOG_FILL_PART : CYCLE_MS;
	return ms < 10 ? 10 : ms > CYCLE_MS ? CYCLE_MS : (int)ms;
}

static int open_offcpu(struct collector *c, struct err *err)
{
	const struct target *t = &c->opts.target;
	struct offcpu_opts o = {.min_block_ns = c->opts.min_block_ns};

	if (c->engine != ENGINE_BPF)
		return err_set(err, -EOPNOTSUPP, "--off-cpu needs the bpf engine: %s",
			       *c->why_not_bpf ? c->why_not_bpf : "another one was asked for");
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

static int open_all(struct collector *c, struct err *err)
{
	bool tasks = c->opts.target.kind == TARGET_PIDS || c->opts.target.kind == TARGET_COMMAND;
	struct err why;
	int rc;

	c->engine = ENGINE_RING;
	if (c->opts.engine != ENGINE_RING) {
		rc = open_log(c, &why);
		if (rc < 0 && c->opts.engine == ENGINE_BPF)
			return err_set(err, rc, "%s", why.msg);
		if (rc < 0)
			snprintf(c->why_not_bpf, sizeof(c->why_not_bpf), "%.250s", why.msg);
		else
			c->engine = ENGINE_BPF;
	}
	call_paths_use_rings(&c->calls, &c->opts.tables);
	rc = open_sideband(c, c->engine == ENGINE_BPF || !tasks ? SPREAD_CPUS : SPREAD_TASK_CPUS,
			   err);
	for (uint32_t i = 0; i < c->opts.n_events && rc >= 0; i++)
		rc = open_event(c, i, err);
	if (c->opts.off_cpu && rc >= 0)
		rc = open_offcpu(c, err);
	return rc;
}

int collector_open(const struct collector_opts *opts, struct profile *p, struct collector **ret,
		   struct err *err)
{
	struct collector *c = xcalloc(1, sizeof(*c));
	int rc;

	c->opts = *opts;
	c->profile = p;
	images_init(&c->images, p, opts->probe, opts->vdso);
	procs_init(&c->procs, p, &c->images, wall_ns());
	c->procs.split = opts->split;
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
	cpus_online(&c->cpus);
	rc = open_all(c, err);
	if (rc < 0) {
		collector_close(c);
		return rc;
	}
	c->cycle_ms = choose_cycle_ms(c, c->opts.n_slots ? c->opts.n_slots : 16384);
	if (c->offcpu && c->cycle_ms > OFFCPU_CYCLE_MS)
		c->cycle_ms = OFFCPU_CYCLE_MS;
	*ret = c;
	return 0;
}

void collector_close(struct collector *c)
{
	if (!c)
		return;
	opened_close(&c->samplers);
	offcpu_close(c->offcpu);
	call_paths_release(&c->calls); /* tables lie in the log's memory */
	log_close(c->log);
	vec_each (r, &c->rings)
		ring_close(r);
	vec_release(&c->rings);
	opened_close(&c->sideband);
	wr_release(&c->pending);
	wr_release(&c->spare);
	vec_release(&c->order);
	fold_release(&c->fold);
	tracer_release(&c->tracer);
	procs_release(&c->procs);
	images_release(&c->images);
	kernel_map_release(&c->kernel);
	vec_release(&c->cpus);
	free(c->heads);
	free(c);
}

/* Running. */

static void add_task(void *ctx, const struct task_record *t)
{
	struct collector *c = ctx;

	procs_add_task(&c->procs, t);
}

/* Programs loaded before the sideband was open, by ourselves. */
static void add_program(void *ctx, uint64_t start, uint64_t end, const char *name)
{
	struct collector *c = ctx;

	kernel_map_add(&c->kernel,
		       &(struct kernel_range){.start = start,
					      .end = end,
					      .image = {.kind = IMAGE_BPF, .path = name}});
}

static int list_processes(struct collector *c, struct err *err)
{
	/* The idle tasks, which no list shows: one tgid 0 for all CPUs. */
	procs_add_task(&c->procs,
		       &(struct task_record){.comm = "swapper", .n_threads = 1, .is_kernel = 1});
	c->procs.v.v[procs_current(&c->procs, 0)].exact = false;
	c->procs.v.v[procs_current(&c->procs, 0)].any_exec = true;
	if (c->engine == ENGINE_BPF)
		log_each_program(c->log, add_program, c);
	if (c->engine == ENGINE_BPF && !c->inner_pidns)
		return log_each_task(c->log, add_task, c, err);
	if (c->opts.target.kind == TARGET_ALL || c->opts.target.kind == TARGET_CGROUP)
		procs_scan(&c->procs);
	else
		vec_each (pid, &c->opts.target.pids)
			procs_scan_one(&c->procs, *pid);
	return 0;
}

int collector_start(struct collector *c, struct err *err)
{
	int rc;

	/* In this order every process that is sampled is known: from the list, or by its records.
	 */
	opened_enable(&c->sideband);
	rc = list_processes(c, err);
	if (c->offcpu && rc >= 0)
		rc = offcpu_start(c->offcpu, err);
	c->idle_start_ns = idle_ns();
	if (c->opts.target.kind != TARGET_COMMAND)
		opened_enable(&c->samplers);
	c->profile->meta.start_wall_ns = wall_ns();
	c->profile->meta.n_cpus = (uint32_t)c->cpus.n;
	c->profile->meta.engine =
		profile_intern_str(c->profile, c->engine == ENGINE_BPF ? "bpf" : "ring");
	return rc;
}

void collector_on_unknown_kernel(struct collector *c, void (*learn)(void *ctx), void *ctx)
{
	c->kernel.learn = learn;
	c->kernel.learn_ctx = ctx;
}

void collector_add_kernel(struct collector *c, const struct kernel_range *r)
{
	kernel_map_add(&c->kernel, r);
}

static int by_time(const void *a, const void *b)
{
	const struct pending_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static const struct opened *sampler_by_id(const struct collector *c, uint64_t id)
{
	vec_each (o, &c->samplers)
		if (o->id == id)
			return o;
	return NULL;
}

/* A sample of the ring engine belongs to the life its process has at that time. */
static void apply_sample(struct collector *c, const struct record *r)
{
	/* A child's inherited event writes its parent's id (primary_event_id). */
	const struct opened *o = sampler_by_id(c, r->id);
	uint32_t proc = procs_current(&c->procs, r->pid);
	struct log_sample s = {.ip = r->ip, .tgid = r->pid, .tid = r->tid, .time_ns = r->time_ns};

	if (!o)
		return;
	s.event = o->event;
	if (proc == PROC_NONE && procs_scan_one(&c->procs, r->pid))
		proc = procs_current(&c->procs, r->pid);
	if (proc != PROC_NONE)
		s.generation = c->procs.v.v[proc].generation;
	c->n_ring_samples[s.event]++;
	c->procs.time_ns = r->time_ns;
	s.chain = call_paths_of_record(&c->calls, r, proc);
	fold_add(&c->fold, &s);
}

static void apply(struct collector *c, const struct record *r)
{
	switch (r->kind) {
	case RECORD_SAMPLE:
		apply_sample(c, r);
		break;
	case RECORD_LOST:
		c->n_lost_records += r->lost;
		c->procs.lost = true;
		break;
	case RECORD_KSYMBOL:
		fold_forget(&c->fold);
		if (!r->unregistered)
			kernel_map_add(&c->kernel,
				       &(struct kernel_range){
					       .start = r->addr,
					       .end = r->addr + r->n_bytes,
					       .image = {.kind = IMAGE_BPF, .path = r->name}});
		break;
	default:
		if (c->tracer.profile && r->kind == RECORD_FORK)
			tracer_begin(&c->tracer, r->tid, r->time_ns);
		if (c->tracer.profile && r->kind == RECORD_EXIT)
			tracer_end(&c->tracer, r->tid, r->time_ns);
		fold_pause(&c->fold);
		procs_apply(&c->procs, r);
	}
}

/* Applies everything in the rings that happened up to UNTIL_NS, in order of time over all CPUs.
 * What is newer waits: another CPU's ring may hold something older that came after it was drained.
 */
static void apply_sideband(struct collector *c, uint64_t until_ns)
{
	struct wr later = c->spare;
	struct record rec;
	struct rd rd;

	c->order.n = later.n = 0;

	vec_each (r, &c->rings)
		ring_drain(r, &c->pending);
	rd = rd_init(c->pending.v, c->pending.n);
	while (rd_left(&rd)) {
		struct pending_record p = {.bytes = rd.p};

		if (record_time(&rd, &p.time_ns) < 0)
			break;
		vec_push(&c->order, p);
	}
	vec_sort(&c->order, by_time);
	vec_each (p, &c->order) {
		rd = rd_init(p->bytes, (size_t)(c->pending.v + c->pending.n - p->bytes));
		if (p->time_ns > until_ns) {
			record_time(&rd, &rec.time_ns);
			wr_bytes(&later, p->bytes, rd_off(&rd));
		} else if (record_read(&rd, &rec) == 0) {
			apply(c, &rec);
		}
	}
	c->spare = c->pending;
	c->pending = later;
}

/* Queues what the walker asks for.  Files that nobody knows are those of processes that began a
 * moment ago: the sideband tells of them. */
static bool serve_requests(struct collector *c)
{
	bool served = call_paths_serve(&c->calls);

	if (call_paths_asked(&c->calls)) {
		apply_sideband(c, now_ns());
		served |= call_paths_serve_again(&c->calls);
	}
	return served;
}

void collector_wait(struct collector *c, int timeout_ms)
{
	const uint64_t wait_ms = (uint64_t)(timeout_ms < c->cycle_ms ? timeout_ms : c->cycle_ms);
	const uint64_t end_ns = now_ns() + wait_ms * 1000000;
	const int request_fd = call_paths_request_fd(&c->calls);
	VEC(struct pollfd) fds = {0};
	uint64_t deaf_until_ns = 0;

	/* The walker's requests are served on the way, and after each table those that came
	 * meanwhile; after one that brought nothing new, which may come again and again, others
	 * wait a little. */
	vec_push(&fds, (struct pollfd){.fd = request_fd, .events = POLLIN});
	vec_each (o, &c->sideband)
		if (ring_owner(c, o->cpu) == o)
			vec_push(&fds, (struct pollfd){.fd = o->fd, .events = POLLIN});
	for (uint64_t now = now_ns(); now < end_ns; now = now_ns()) {
		bool deaf = now < deaf_until_ns;
		uint64_t left_ns = (deaf && deaf_until_ns < end_ns ? deaf_until_ns : end_ns) - now;
		bool built = call_paths_build(&c->calls);
		int n;

		fds.v[0].fd = deaf ? -1 : request_fd;
		n = poll(fds.v, fds.n, built ? 0 : (int)((left_ns + 999999) / 1000000));
		if (n == 0 && (deaf || built))
			continue;
		if (n != 1 || !(fds.v[0].revents & POLLIN))
			break;
		if (!serve_requests(c))
			deaf_until_ns = now_ns() + DEAF_NS;
	}
	vec_release(&fds);
}

static void cycle(struct collector *c, uint64_t until_ns)
{
	uint32_t n = c->log ? c->n_log_cpus : 0;
	uint64_t now;

	for (uint32_t cpu = 0; cpu < n; cpu++)
		c->heads[cpu] = log_head(c->log, cpu);
	if (c->offcpu)
		offcpu_note_heads(c->offcpu);
	call_paths_fetch(&c->calls);
	now = now_ns();
	apply_sideband(c, until_ns ? until_ns : now);
	c->procs.time_ns = now;
	call_paths_learn(&c->calls);
	for (uint32_t cpu = 0; cpu < n; cpu++) {
		for (uint64_t at = log_tail(c->log, cpu); at != c->heads[cpu]; at++) {
			struct log_sample s = log_get(c->log, cpu, at);

			if (s.time_ns)
				c->procs.time_ns = s.time_ns;
			fold_add(&c->fold, &s);
		}
		log_set_tail(c->log, cpu, c->heads[cpu]);
	}
	if (c->offcpu)
		offcpu_drain(c->offcpu);
	fold_pause(&c->fold);
	call_paths_end_cycle(&c->calls);
	procs_end_cycle(&c->procs);
}

void collector_cycle(struct collector *c)
{
	cycle(c, 0);
}

void collector_take_sums(struct collector *c)
{
	if (c->offcpu)
		offcpu_take_sums(c->offcpu);
}

void collector_flush(struct collector *c)
{
	fold_flush(&c->fold);
}

/* Settling. */

static void add_spilled(void *ctx, const struct spill_slot *s)
{
	struct collector *c = ctx;

	fold_add_spilled(&c->fold, s);
}

/* The event's own count: reads every descriptor.  An event on one thread and one CPU counts as
 * enabled while its thread runs on any CPU, so of each thread one CPU's descriptor tells that time.
 */
static void read_counts(struct collector *c)
{
	bool tasks = c->opts.target.kind == TARGET_PIDS || c->opts.target.kind == TARGET_COMMAND;

	vec_each (o, &c->samplers) {
		struct event *e = &c->profile->events.v[c->events[o->event]];
		struct opened_count n;

		if (!opened_read(o, &n))
			continue;
		e->total += n.value;
		if (!tasks || o->cpu < 0 || o->cpu == c->cpus.v[0])
			e->enabled_ns += n.enabled_ns;
		e->running_ns += n.running_ns;
		c->n_ring_lost[o->event] += n.lost;
	}
}

/* What the program or the rings counted, beside what became of it. */
static void settle_event(struct collector *c, uint32_t i, uint64_t idle)
{
	struct event *e = &c->profile->events.v[c->events[i]];
	const struct event_spec *spec = &c->specs[i];
	struct log_counts k = {0};
	uint64_t kept = c->fold.n_samples[i];

	if (c->in_log[i])
		k = log_counts(c->log, i);
	else
		k.reached = c->n_ring_samples[i] + c->n_ring_lost[i];
	e->n_reached += k.reached;
	profile_add_loss(c->profile, "spill_full", c->events[i], k.dropped);
	profile_add_loss(c->profile, "ring_full", c->events[i], c->n_ring_lost[i]);
	kept += k.dropped + c->n_ring_lost[i];
	/* Nothing should be left over; if something is, it has a name too. */
	if (k.reached > kept)
		profile_add_loss(c->profile, "unaccounted", c->events[i], k.reached - kept);
	/* A clock's count goes on while a CPU idles, but its samples do not come reliably then; and
	 * it goes on in code the event excludes, so that it promises nothing there. */
	if (spec->is_clock && (spec->attr.exclude_kernel || spec->attr.exclude_user))
		e->total = 0;
	else if (spec->is_clock && c->opts.target.kind == TARGET_ALL)
		e->total -= idle < e->total ? idle : e->total;
	if (e->freq_hz && e->n_reached && e->total >= e->n_reached)
		e->period = e->total / e->n_reached;
}

void collector_stop(struct collector *c)
{
	uint64_t idle;

	opened_disable(&c->samplers);
	if (c->offcpu)
		offcpu_stop(c->offcpu);
	idle = idle_ns() - c->idle_start_ns;
	c->profile->meta.end_wall_ns = wall_ns();
	cycle(c, UINT64_MAX);
	if (c->log)
		log_each_spilled(c->log, add_spilled, c);
	if (c->offcpu)
		offcpu_settle(c->offcpu);
	fold_flush(&c->fold);
	read_counts(c);
	for (uint32_t i = 0; i < c->opts.n_events; i++)
		settle_event(c, i, idle);
}

struct chain_counts collector_chain_counts(const struct collector *c, event_id event)
{
	struct chain_counts sum = {0};

	for (uint32_t i = 0; i < c->opts.n_events; i++) {
		const struct chain_counts *n = &c->calls.chains.counts[i];

		if (c->events[i] != event)
			continue;
		for (int k = 0; k < CHAIN_N_CAUSES; k++)
			sum.by_cause[k] += n->by_cause[k];
		sum.n_guessed += n->n_guessed;
	}
	if (c->offcpu && offcpu_blocked(c->offcpu) == event)
		sum = c->calls.chains.counts[CHAINS_BLOCKED];
	return sum;
}

struct collector_stats collector_stats(const struct collector *c)
{
	struct collector_stats s = {.n_unknown = c->fold.n_unknown,
				    .n_keys = c->fold.n_used,
				    .n_lost_records = c->n_lost_records,
				    .n_chains = c->calls.chains.n_used,
				    .n_chain_frames = c->calls.chains.n_frames,
				    .n_contexts = c->profile->ctxs.n - 1};

	for (uint32_t i = 0; i < c->opts.n_events; i++) {
		s.n_samples += c->fold.n_samples[i];
		s.n_lost += c->n_ring_lost[i];
		if (c->in_log[i])
			s.n_lost += log_counts(c->log, i).dropped;
	}
	if (c->log)
		s.n_chains_lost = log_chains_lost(c->log);
	if (c->calls.has_unwinds)
		s.tables = unwinds_stats(&c->calls.unwinds);
	return s;
}
