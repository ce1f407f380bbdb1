/* SPDX-License-Identifier: BSD-2-Clause */
/* See collector.h; collector_open.c opens and closes what runs here. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/account.h"
#include "collect/bpf_programs.h"
#include "collect/collector_impl.h"
#include "collect/early_tables.h"
#include "machine/perf_record.h"
#include "collect/schedule.h"

/* How long requests for tables wait after some that brought nothing. */
#define DEAF_NS 5000000ull

const char *collector_why_not_bpf(const struct collector *c)
{
	return c->why_not_bpf;
}

const char *collector_why_no_calls(const struct collector *c)
{
	return c->why_no_calls;
}

const char *collector_why_not_pinned(const struct collector *c)
{
	return c->why_not_pinned;
}

bool collector_user_only(const struct collector *c)
{
	return c->user_only;
}

bool collector_rings_offcpu(const struct collector *c)
{
	return c->offcpu && c->engine == ENGINE_RING;
}

bool collector_no_block_paths(const struct collector *c)
{
	return collector_rings_offcpu(c) && !c->leavings.n;
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

static void add_task(void *ctx, const struct task_record *t)
{
	struct collector *c = ctx;

	/* Who wakes may be anybody. */
	if (c->opts.wakers || target_may_have(&c->opts.target, t->tgid))
		procs_add_task(&c->procs, t);
}

static void add_program(void *ctx, uint64_t start, uint64_t end, const char *name)
{
	struct collector *c = ctx;

	kernel_map_add(&c->kernel, &(struct kernel_range){.start = start,
							  .end = end,
							  .image = {.kind = IMAGE_BPF,
								    .path = name,
								    .text_bytes = end - start}});
}

bool collector_add_programs(struct collector *c)
{
	return bpf_programs_each(add_program, c);
}

static int list_processes(struct collector *c, struct err *err)
{
	/* The idle tasks, which no list shows: one tgid 0 for all CPUs. */
	procs_add_task(&c->procs,
		       &(struct task_record){.comm = "swapper", .n_threads = 1, .is_kernel = 1});
	c->procs.v.v[procs_current(&c->procs, 0)].exact = false;
	c->procs.v.v[procs_current(&c->procs, 0)].any_exec = true;
	if (c->engine == ENGINE_BPF) /* loaded before the sideband was open */
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

static int start_offcpu(struct collector *c, struct err *err)
{
	int rc = offcpu_start(c->offcpu, err);

	/* A command is watched from its exec on. */
	if (rc >= 0 && c->opts.target.kind == TARGET_PIDS)
		vec_each (pid, &c->opts.target.pids)
			offcpu_watch(c->offcpu, *pid);
	opened_enable(&c->leavings);
	return rc;
}

int collector_prepare(struct collector *c, struct err *err)
{
	int rc;

	/* In this order every process that is sampled is known: from the
	 * list, or by its records. */
	opened_enable(&c->sideband);
	rc = list_processes(c, err);
	if (c->opts.early_ns && rc >= 0)
		early_tables(c, c->opts.early_ns);
	if (c->offcpu && rc >= 0)
		rc = start_offcpu(c, err);
	return rc;
}

void collector_go(struct collector *c)
{
	account_begin(c);
	schedule_start(c);
	if (c->log)
		log_go_live(c->log);
	c->profile->meta.start_wall_ns = clock_wall_ns();
	c->profile->meta.n_cpus = (uint32_t)c->cpus.n;
	c->profile->meta.engine =
		profile_intern_str(c->profile, c->engine == ENGINE_BPF ? "bpf" : "ring");
}

void collector_yield(struct collector *c)
{
	vec_each (o, &c->samplers)
		if (!c->in_log[o->event])
			opened_disable_one(o);
}

int collector_start(struct collector *c, struct err *err)
{
	int rc = collector_prepare(c, err);

	collector_go(c);
	return rc;
}

void collector_on_unknown_kernel(struct collector *c, bool (*learn)(void *ctx, uint64_t ip),
				 void *ctx)
{
	c->kernel.learn = learn;
	c->kernel.learn_ctx = ctx;
}

void collector_add_kernel(struct collector *c, const struct kernel_range *r)
{
	kernel_map_add(&c->kernel, r);
}

static const struct opened *sampler_by_id(const struct collector *c, uint64_t id)
{
	vec_each (o, &c->samplers)
		if (o->id == id)
			return o;
	return NULL;
}

static bool is_leaving(const struct collector *c, uint64_t id)
{
	vec_each (o, &c->leavings)
		if (o->id == id)
			return true;
	return false;
}

/* A sample of no event asked for: of a thread that leaves its CPU. */
static void apply_leaving(struct collector *c, struct perf_record *r)
{
	uint32_t proc = procs_current(&c->procs, r->pid);

	if (!is_leaving(c, r->id))
		return;
	r->extra = c->leavings_type;
	c->n_leavings++;
	offcpu_sample(c->offcpu, r, call_paths_of_record(&c->calls, r, proc));
}

static bool read_facts(struct collector *c, const struct perf_record *r, uint32_t event,
		       struct sample_facts *ret)
{
	const struct event_spec *spec = &c->specs[event];
	struct record_facts f;

	if (!spec->facts || !c->opts.facts || record_read_facts(r, r->extra, &f) < 0 ||
	    !c->opts.facts->read(c->opts.facts, event, spec, r, &f, ret))
		return false;
	ret->counters_known &= ~spec->without_counters;
	return true;
}

/* A sample of the ring engine belongs to the life its process has at that time. */
static void apply_sample(struct collector *c, struct perf_record *r)
{
	/* A child's inherited event writes its parent's id (primary_event_id). */
	const struct opened *o = sampler_by_id(c, r->id);
	uint32_t proc = procs_current(&c->procs, r->pid);
	struct log_sample s = {.ip = r->ip, .tgid = r->pid, .tid = r->tid, .time_ns = r->time_ns};
	struct sample_facts facts;

	if (!o) {
		apply_leaving(c, r);
		return;
	}
	s.event = o->event;
	r->extra = c->specs[o->event].attr.sample_type;
	if (proc == PROC_NONE && procs_scan_one(&c->procs, r->pid))
		proc = procs_current(&c->procs, r->pid);
	if (proc != PROC_NONE)
		s.generation = c->procs.v.v[proc].generation;
	c->n_ring_samples[s.event]++;
	c->procs.time_ns = r->time_ns;
	s.chain = call_paths_of_record(&c->calls, r, proc);
	if (read_facts(c, r, o->event, &facts))
		fold_add_facts(&c->fold, &s, &facts);
	else
		fold_add(&c->fold, &s);
}

static void collector_apply(struct collector *c, struct perf_record *r)
{
	switch (r->kind) {
	case RECORD_SAMPLE:
		apply_sample(c, r);
		break;
	case RECORD_LOST:
		/* Rings of their own have nothing but such samples. */
		if (is_leaving(c, r->id) && c->rings.n == 2 * c->cpus.n)
			break;
		c->n_lost_records += r->lost;
		procs_note_lost(&c->procs);
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
	case RECORD_SWITCH:
		if (c->offcpu)
			offcpu_before(c->offcpu, r);
		break;
	default:
		if (c->offcpu)
			offcpu_before(c->offcpu, r);
		if (c->tracer.profile && r->kind == RECORD_FORK)
			tracer_begin(&c->tracer, r->tid, r->time_ns);
		if (c->tracer.profile && r->kind == RECORD_EXIT)
			tracer_end(&c->tracer, r->tid, r->time_ns);
		fold_pause(&c->fold);
		procs_apply(&c->procs, r);
		if (c->offcpu)
			offcpu_after(c->offcpu, r);
	}
}

/* Applies everything in the rings that happened up to UNTIL_NS, in order of time over all CPUs.
 * What is newer waits: another CPU's ring may hold something older that came
 * after it was drained. */
static void apply_sideband(struct collector *c, uint64_t until_ns)
{
	struct wr later = c->spare;
	struct perf_record rec;
	struct rd rd;

	c->order.v.n = later.n = 0;

	vec_each (r, &c->rings)
		ring_drain(r, &c->pending);
	rd = rd_init(c->pending.v, c->pending.n);
	while (rd_left(&rd)) {
		struct pending_record p = {.bytes = rd.p};

		if (record_time(&rd, &p.time_ns) < 0)
			break;
		vec_push(&c->order.v, p);
	}
	record_order_sort(&c->order);
	vec_each (p, &c->order.v) {
		rd = rd_init(p->bytes, (size_t)(c->pending.v + c->pending.n - p->bytes));
		if (p->time_ns > until_ns) {
			record_time(&rd, &rec.time_ns);
			wr_bytes(&later, p->bytes, rd_off(&rd));
		} else if (record_read(&rd, &rec) >= 0) {
			collector_apply(c, &rec);
		}
	}
	if (c->pending.n && call_paths_copies_in_rings(&c->calls))
		memset(c->pending.v, 0, c->pending.n);
	c->spare = c->pending;
	c->pending = later;
	c->applied_ns = until_ns;
}

/* Queues what the walker asks for.  Files that nobody knows are those of processes that began a
 * moment ago: the sideband tells of them. */
static bool serve_requests(struct collector *c)
{
	bool served = call_paths_serve(&c->calls);

	if (call_paths_asked(&c->calls)) {
		apply_sideband(c, clock_mono_ns());
		served |= call_paths_serve_again(&c->calls);
	}
	return served;
}

void collector_wait(struct collector *c, int timeout_ms)
{
	const uint64_t wait_ms = (uint64_t)(timeout_ms < c->cycle_ms ? timeout_ms : c->cycle_ms);
	const uint64_t end_ns = clock_mono_ns() + wait_ms * 1000000;
	const int request_fd = call_paths_request_fd(&c->calls);
	_vec_ VEC(struct pollfd) fds = {0};
	uint64_t deaf_until_ns = 0;

	/* The walker's requests are served on the way, and after each table those that came
	 * meanwhile; after one that brought nothing new, which may come again and again, others
	 * wait a little. */
	vec_push(&fds, (struct pollfd){.fd = request_fd, .events = POLLIN});
	vec_push(&fds, (struct pollfd){.fd = call_paths_answer_fd(&c->calls), .events = POLLIN});
	vec_push(&fds, (struct pollfd){.fd = c->wake_fd, .events = POLLIN});
	vec_each (o, &c->sideband)
		if (collector_ring_owner(c, o->cpu) == o)
			vec_push(&fds, (struct pollfd){.fd = o->fd, .events = POLLIN});
	for (uint64_t now = clock_mono_ns(); now < end_ns; now = clock_mono_ns()) {
		bool deaf = now < deaf_until_ns;
		uint64_t left_ns = (deaf && deaf_until_ns < end_ns ? deaf_until_ns : end_ns) - now;
		bool built = call_paths_build(&c->calls);
		int n;

		if (!built && call_paths_copies_wait(&c->calls)) {
			apply_sideband(c, clock_mono_ns());
			call_paths_walk_copies(&c->calls, c->applied_ns, false);
		}

		fds.v[0].fd = deaf ? -1 : request_fd;
		n = poll(fds.v, fds.n, built ? 0 : (int)((left_ns + 999999) / 1000000));
		if (n == 0 && (deaf || built))
			continue;
		if (n == 1 && fds.v[1].revents) {
			collector_take_layouts(c);
			call_paths_take_answers(&c->calls);
			continue;
		}
		if (n != 1 || !(fds.v[0].revents & POLLIN))
			break;
		if (!serve_requests(c))
			deaf_until_ns = clock_mono_ns() + DEAF_NS;
		image_ids_note(&c->image_ids, &c->images);
	}
}

/* Folds CPU's samples up to the noted head, some at a time, so that the memory their chains are
 * found in is on its way when they are. */
static void fold_log(struct collector *c, uint32_t cpu)
{
	struct log_sample some[16];
	size_t n;

	for (uint64_t at = c->folded[cpu]; at != c->heads[cpu]; at += n) {
		for (n = 0; n < n_elems(some) && at + n != c->heads[cpu]; n++) {
			some[n] = log_get(c->log, cpu, at + n);
			if (some[n].chain)
				chains_prefetch(&c->calls.chains, some[n].chain);
		}
		for (size_t i = 0; i < n; i++) {
			if (some[i].time_ns)
				c->procs.time_ns = some[i].time_ns;
			fold_add(&c->fold, &some[i]);
		}
	}
}

/* Each sample of a thread that leaves its CPU takes some microseconds here and there, and room in a
 * ring: so they are paid for.  Each takes LEAVING_NS from a time that runs on with the clock, of
 * which LEAVINGS_SAVED_NS may be saved up; when nothing is left there are none for so long. */
#define LEAVING_NS	  500000ull
#define LEAVINGS_SAVED_NS 500000000ull

static void pay_leavings(struct collector *c)
{
	uint64_t now = clock_mono_ns();

	if (!c->leavings.n)
		return;
	if (c->leavings_paid_ns + LEAVINGS_SAVED_NS < now)
		c->leavings_paid_ns = now - LEAVINGS_SAVED_NS;
	c->leavings_paid_ns += c->n_leavings * LEAVING_NS / c->cpus.n;
	c->n_leavings = 0;
	if (c->leavings_off == (c->leavings_paid_ns > now))
		return;
	c->leavings_off = !c->leavings_off;
	if (c->leavings_off)
		opened_disable(&c->leavings);
	else
		opened_enable(&c->leavings);
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
	now = clock_mono_ns();
	apply_sideband(c, until_ns ? until_ns : now);
	c->procs.time_ns = now;
	collector_take_layouts(c);
	call_paths_learn(&c->calls);
	call_paths_walk_copies(&c->calls, c->applied_ns, false);
	fold_take_late(&c->fold);
	image_ids_note(&c->image_ids, &c->images);
	for (uint32_t cpu = 0; cpu < n; cpu++) {
		fold_log(c, cpu);
		c->folded[cpu] = c->heads[cpu];
	}
	if (!c->opts.keep_folded)
		collector_give_back(c);
	if (c->offcpu)
		offcpu_drain(c->offcpu);
	fold_pause(&c->fold);
	call_paths_end_cycle(&c->calls);
	procs_end_cycle(&c->procs);
}

void collector_cycle(struct collector *c)
{
	cycle(c, 0);
	pay_leavings(c);
	schedule_vary(c);
}

void collector_take_sums(struct collector *c)
{
	if (c->offcpu)
		offcpu_take_sums(c->offcpu);
}

void collector_take_account(struct collector *c)
{
	c->profile->meta.end_wall_ns = clock_wall_ns();
	account_settle(c, false);
}

uint64_t collector_folded(const struct collector *c, uint32_t cpu)
{
	return c->folded[cpu];
}

uint32_t collector_n_log_cpus(const struct collector *c)
{
	return c->log ? c->n_log_cpus : 0;
}

const struct account *collector_account(const struct collector *c, uint32_t i)
{
	return &c->told[i];
}

void collector_take_labels(struct collector *c, const struct collector *from)
{
	procs_take_labels(&c->procs, &from->procs);
}

bool collector_labels_changed(const struct collector *c, uint64_t *mark)
{
	return labels_changed(&c->procs, mark);
}

void collector_list_labels(const struct collector *c, struct str *out)
{
	labels_list(&c->procs, out);
}

size_t collector_apply_labels(struct collector *c, const char *text, size_t n)
{
	return labels_apply(&c->procs, text, n);
}

bool collector_set_label(struct collector *c, uint32_t tgid, const char *label)
{
	collector_cycle(c);
	return procs_set_label(&c->procs, tgid, label);
}

void collector_wake_by(struct collector *c, int fd)
{
	c->wake_fd = fd;
}

void collector_give_back(struct collector *c)
{
	for (uint32_t cpu = 0; c->log && cpu < c->n_log_cpus; cpu++)
		log_set_tail(c->log, cpu, c->folded[cpu]);
	account_store(c);
}

unsigned collector_fill_pct(const struct collector *c)
{
	uint64_t most = 0;

	for (uint32_t cpu = 0; c->log && cpu < c->n_log_cpus; cpu++) {
		uint64_t n = log_head(c->log, cpu) - log_tail(c->log, cpu);

		most = n > most ? n : most;
	}
	return c->log ? (unsigned)(most * 100 / log_n_slots(c->log)) : 0;
}

/* Settling. */

static void add_spilled(void *ctx, const struct spill_slot *s)
{
	struct collector *c = ctx;

	fold_add_spilled(&c->fold, s);
}

void collector_stop(struct collector *c)
{
	opened_disable(&c->samplers);
	opened_disable(&c->leavings);
	if (c->offcpu)
		offcpu_stop(c->offcpu);
	account_end_idle(c);
	c->profile->meta.end_wall_ns = clock_wall_ns();
	cycle(c, UINT64_MAX);
	if (c->log && log_any_spilled(c->log)) {
		collector_await_layouts(c); /* images are looked for by build-id */
		log_each_spilled(c->log, add_spilled, c);
	}
	if (c->offcpu)
		offcpu_settle(c->offcpu);
	collector_flush(c);
	account_settle(c, true);
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

/* The memory of what grows with what was met. */
static size_t met_bytes(const struct collector *c)
{
	const struct chains *chains = &c->calls.chains;

	return images_bytes(&c->images) + chains->n_slots * sizeof(*chains->slots) +
	       chains->scripts.n_bytes + vec_bytes(&c->calls.unwinds.tables) +
	       vec_bytes(&c->calls.unwinds.number_of);
}

struct collector_stats collector_stats(const struct collector *c)
{
	struct collector_stats s = {.n_unknown = c->fold.n_unknown,
				    .n_keys = c->fold.n_used,
				    .n_lost_records = c->n_lost_records,
				    .n_late_layouts = c->n_late_layouts,
				    .n_left_out = c->procs.n_left_out,
				    .n_chains = c->calls.chains.n_used,
				    .n_chain_frames = c->calls.chains.n_frames,
				    .n_contexts = c->profile->ctxs.n - 1,
				    .n_bytes = met_bytes(c)};

	for (uint32_t i = 0; i < c->opts.n_events; i++) {
		s.n_samples += c->fold.n_samples[i];
		s.n_lost += c->n_ring_lost[i];
		if (c->in_log[i])
			s.n_lost += log_counts(c->log, i).dropped;
	}
	if (c->log) {
		s.n_chains_lost = log_chains_lost(c->log);
		s.walks = log_walks(c->log);
		s.copies = call_paths_count_copies(&c->calls);
	}
	if (c->calls.has_unwinds)
		s.tables = unwinds_stats(&c->calls.unwinds);
	return s;
}
