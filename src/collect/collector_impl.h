/* SPDX-License-Identifier: BSD-2-Clause */
/* What collector_open.c makes and collector.c runs. */
#ifndef COLLECT_COLLECTOR_IMPL_H
#define COLLECT_COLLECTOR_IMPL_H

#include "collect/account.h"
#include "collect/collector.h"
#include "collect/log.h"
#include "collect/offcpu/offcpu.h"
#include "collect/record_order.h"
#include "collect/ring.h"
#include "collect/tracer.h"

struct collector {
	struct collector_opts opts;
	struct profile *profile;
	enum engine engine;
	char why_not_bpf[256];
	char why_not_pinned[256], why_no_calls[256];
	bool user_only;
	bool inner_pidns; /* the kernel's own task list has other pids than ours */
	bool watches;	  /* clocks of a command sample CPUs, and the log leaves others out */
	cpu_list cpus;
	struct log *log; /* engine bpf */
	uint32_t n_log_cpus;
	uint64_t *heads;	     /* n_log_cpus: up to where this cycle folds */
	uint64_t *folded;	     /* n_log_cpus: up to where was folded */
	bool in_log[LOG_MAX_EVENTS]; /* this event's samples come through the log */
	struct event_spec specs[LOG_MAX_EVENTS];
	event_id events[LOG_MAX_EVENTS]; /* in the profile */
	opened_list samplers;		 /* the events asked for */
	opened_list sideband;		 /* dummy events that own the rings */
	opened_list leavings;		 /* sample threads that leave their CPU: open_leavings */
	uint64_t leavings_type;		 /* their sample_type */
	uint64_t n_leavings;		 /* samples of them since they were paid for */
	uint64_t leavings_paid_ns;	 /* up to when they are, see pay_leavings */
	bool leavings_off;		 /* until then */
	VEC(struct ring) rings;		 /* one per online CPU */
	uint64_t applied_ns;		 /* CLOCK_MONOTONIC: the sideband is applied up to then */
	struct wr pending;		 /* drained records not yet applied */
	struct wr spare;		 /* the other one of two buffers */
	struct record_order order;	 /* of pending, by time */
	struct images images;
	struct procs procs;
	struct kernel_map kernel;
	struct call_paths calls;
	struct image_ids image_ids; /* when the log is pinned */
	struct fold fold;
	struct tracer tracer;
	struct offcpu *offcpu;			 /* NULL: not asked for */
	uint64_t n_ring_samples[LOG_MAX_EVENTS]; /* read from rings */
	uint64_t n_ring_lost[LOG_MAX_EVENTS];	 /* found their ring full; known at the end */
	uint64_t n_lost_records;		 /* of any kind, as the rings tell it on the way */
	uint64_t idle_start_ns, idle_ns;	 /* of all CPUs, when sampling began, and since */
	uint64_t start_ns;			 /* when it began, CLOCK_MONOTONIC */
	struct account told[LOG_MAX_EVENTS];	 /* what the profile was told so far */
	uint64_t account_ns;			 /* when it was told that */
	uint32_t slot;				 /* the one that counts */
	uint64_t n_late_layouts;
	int cycle_ms;
	int wake_fd;	      /* collector_wake_by */
	uint64_t draws;	      /* state of the drawing of periods */
	uint64_t draw_due_ns; /* when the next ones are drawn */
	uint64_t n_drawn;     /* descriptors that had their turn */
};

/* Steps of collector_open, which a replay (bench/bench_replay.c) does alone: a collector that has
 * no descriptors, its log for N_CPUS CPUs, and how often it has to be drained. */
struct collector *collector_new(const struct collector_opts *opts, struct profile *p);
int collector_open_log(struct collector *c, uint32_t n_cpus, struct err *err);
void collector_set_cycle(struct collector *c);

/* What every event of the sideband asks for: records of mappings, names, births and deaths. */
struct perf_event_attr collector_sideband_attr(void);

/* Takes the layouts that have come, and moves what was counted in their stand-ins. */
void collector_take_layouts(struct collector *c);

/* The descriptor that owns the ring of CPU; NULL for none. */
const struct opened *collector_ring_owner(const struct collector *c, int cpu);

/* Whether event I samples CPUs for a command, see bpf/watch.bpf.h.  Other events than clocks cost
 * an interrupt wherever they happen, and are sampled by task. */
static inline bool collector_watches(const struct collector *c, uint32_t i)
{
	return c->watches && c->opts.events[i].is_clock;
}

#endif
