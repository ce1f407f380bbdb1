/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorder's engine room: opens events, drains rings, applies the sideband, folds samples into
 * a profile.  Knows no files of ours, no symbols, no screen.
 *
 * One cycle, which was right every time in the measurements of docs/design/collector.md:
 *   (i)   note the heads of the sample logs;
 *   (ii)  drain the sideband up to now;
 *   (iii) sort it by time over all CPUs and apply it;
 *   (iv)  fold the logs up to the noted heads; forget processes that ended a whole cycle ago.
 * Call paths have their turns in it: call_paths.h.
 *
 * Engine `bpf` logs samples from a BPF program (log.h); engine `ring` reads them from the perf
 * rings that carry the sideband.  Tracepoints always use the rings: the kernel does not run
 * perf_event programs for them. */
#ifndef COLLECT_COLLECTOR_H
#define COLLECT_COLLECTOR_H

#include "collect/account.h"
#include "collect/calls/call_paths.h"
#include "events/spec.h"
#include "collect/fact_reader.h"
#include "collect/fold.h"
#include "machine/kernel_map.h"
#include "machine/labels.h"
#include "collect/pinned.h"
#include "collect/offcpu/switches.h"
#include "machine/target.h"

enum engine { ENGINE_AUTO, ENGINE_BPF, ENGINE_RING };

#define COLLECTOR_TRACE_BYTES (64u << 20)

struct collector_opts {
	struct target target;		 /* the lists in it stay the caller's */
	const struct event_spec *events; /* rates set; borrowed until collector_close */
	uint32_t n_events;		 /* 1 .. LOG_MAX_EVENTS */
	enum engine engine;		 /* AUTO: bpf where it can be had */
	enum owner_split split;
	const char *label;	 /* "" for none */
	uint32_t n_slots;	 /* of a CPU's log, a power of two; 0: chosen by CPU count */
	bool trace;		 /* time lines of threads, in at most trace_bytes: tracer.h */
	size_t trace_bytes;	 /* 0: COLLECTOR_TRACE_BYTES */
	int64_t clock_offset_ns; /* wall clock minus CLOCK_MONOTONIC, for their times */
	bool off_cpu;		 /* how long threads run, wait and are blocked, too: offcpu.h */
	uint64_t min_block_ns;	 /* 0: as offcpu.h has it */
	bool wakers;		 /* with off_cpu */
	enum switch_walk walk;	 /* with off_cpu */
	image_probe_fn *probe;	 /* reads ELF layouts */
	/* PROBE may say -EAGAIN: this waits until END_NS (CLOCK_MONOTONIC) for what it lacks, false
	 * when nothing came.  NULL: it does not. */
	bool (*wait_answers)(uint64_t end_ns);
	const struct image_layout *vdso; /* NULL: none */
	enum call_graph calls;
	struct call_paths_tables tables; /* with calls; its vdso only during collector_open */
	uint64_t early_ns;   /* that tables of running processes may delay the start; 0: none are
				waited for */
	bool calls_optional; /* no calls where BPF programs cannot walk: collector_why_no_calls */
	/* For recorders that run for months: */
	bool keep_folded; /* what was folded is given back by collector_give_back alone */
	uint32_t n_spill; /* slots of a CPU's spill table, a power of two; 0: by n_slots */
	/* Where the log is pinned, as number pin_number (pinned.h); NULL: nowhere.  When that
	 * cannot be, collector_why_not_pinned says so. */
	const struct pin_dir *pin_base;
	uint64_t pin_number;
	/* With pin_number: says which of several logs samples (log_make_live); the descriptor stays
	 * the caller's; 0: this one does. */
	int live_fd;
	const struct exclusions *exclude; /* what is not recorded; NULL: nothing */
	const opt_list *by_pid;		  /* programs whose processes are kept apart; NULL: none */
	struct fact_reader *facts;	  /* of events that have them; NULL: they are let go */
	const struct kernel_types *types; /* during collector_open: log.h; NULL: all are read */
	const uint32_t *slot; /* of each event: only those of one slot count at a time; NULL: all */
};

struct collector;

/* Opens everything, sampling nothing yet; adds events and dictionaries to P, which must outlive the
 * collector.  Returns 0 or what is not allowed or not there, in words. */
int collector_open(const struct collector_opts *opts, struct profile *p, struct collector **ret,
		   struct err *err);
void collector_close(struct collector *c);

/* Why the engine is not bpf ("" when it is, or another was asked for). */
const char *collector_why_not_bpf(const struct collector *c);

/* Why there are no call paths though they were asked for, if that could be; else "". */
const char *collector_why_no_calls(const struct collector *c);

/* Why the log is not pinned, "" when it is or nobody asked for that. */
const char *collector_why_not_pinned(const struct collector *c);

/* True when an event had to be limited to user code to be allowed at all. */
bool collector_user_only(const struct collector *c);

/* With off_cpu: whether its times come from perf's records, of own threads (ring_switches.h), and
 * whether paths of blocks may not be had there. */
bool collector_rings_offcpu(const struct collector *c);
bool collector_no_block_paths(const struct collector *c);

/* Registers S: it will be asked for each address that lies in no file (frame_source.h).  Before
 * collector_start. */
void collector_add_source(struct collector *c, struct frame_source *s);

/* Learns of all processes there are, then starts sampling. */
int collector_start(struct collector *c, struct err *err);

/* The two halves of it, for a recorder that takes another one's place: after collector_prepare
 * every process is known, and collector_go takes but a moment. */
int collector_prepare(struct collector *c, struct err *err);
void collector_go(struct collector *c);

/* Stops the events whose samples come through rings, right before another collector goes: those of
 * the log stop when the other one goes. */
void collector_yield(struct collector *c);

/* Says that kernel code lies somewhere, from the first cycle on: the kernel, a module, a BPF
 * program. BPF programs loaded later are noticed by themselves. */
void collector_add_kernel(struct collector *c, const struct kernel_range *r);

/* Says where all BPF programs are that are loaded now.  False where the kernel does not tell. */
bool collector_add_programs(struct collector *c);

/* LEARN is called when a kernel address, IP, is in none of the ranges: to add more of them.  It
 * returns whether it did; then IP is looked for again. */
void collector_on_unknown_kernel(struct collector *c, bool (*learn)(void *ctx, uint64_t ip),
				 void *ctx);

/* Waits until the next cycle is due, a ring fills up, or a signal arrives; at most TIMEOUT_MS and
 * the time of one unwind table.  Builds those that are asked for meanwhile. */
void collector_wait(struct collector *c, int timeout_ms);

/* FD, too, ends a wait when it polls readable; -1: none. */
void collector_wake_by(struct collector *c, int fd);

/* Runs one cycle. */
void collector_cycle(struct collector *c);

/* Before the last cycle before a flush: so that what threads that live on did goes into it. */
void collector_take_sums(struct collector *c);

/* Adds everything folded since the last flush to the profile's values.  Waits for layouts of
 * sampled files that were asked for less than COLLECTOR_LAYOUT_NS ago; samples in files whose
 * layout has not come are placed by file offset.  Returns how many such files there are. */
#define COLLECTOR_LAYOUT_NS (2ull * 1000000000)
size_t collector_flush(struct collector *c);

/* Asks for the layouts of all files, and waits for them for COLLECTOR_LAYOUT_NS at most. */
void collector_await_layouts(struct collector *c);

/* Between collector_flush and the profile's being stored: adds what the events counted, and the
 * losses, since the last time, so that reached = values + losses of what was folded. */
void collector_take_account(struct collector *c);

/* With keep_folded: gives everything folded back to the log, once it is stored for good. */
void collector_give_back(struct collector *c);

/* How full the fullest log is, percent. */
unsigned collector_fill_pct(const struct collector *c);

/* Stops sampling, folds what is left, and settles the accounts: the events' sums, and every sample
 * that is in no value as a named loss. */
void collector_stop(struct collector *c);

struct collector_stats {
	uint64_t n_samples;	 /* in values so far */
	uint64_t n_lost;	 /* samples */
	uint64_t n_lost_records; /* of the rings: samples, mappings, births
				  * and deaths of processes */
	uint64_t n_left_out;	 /* mappings beyond what is kept: samples there are unknown */
	uint64_t n_late_layouts; /* files that the last flush stored by offset */
	uint64_t n_unknown;	 /* of n_samples: address or process not known */
	uint64_t n_keys;	 /* distinct (code, owner, event, callers) counted */
	/* With call paths: */
	uint64_t n_chains, n_chain_frames; /* distinct ones, and their frames together */
	uint64_t n_chains_lost;		   /* found their ring full */
	struct log_walks walks;		   /* zero without a log */
	struct call_paths_copies copies;
	uint64_t n_contexts; /* of the profile */
	size_t n_bytes; /* memory of what it met, files and call paths, without the profile's */
	struct unwinds_stats tables;
};
struct collector_stats collector_stats(const struct collector *c);

/* How the call paths of the samples of EVENT, of the profile, came out; zeros
 * without call paths. */
struct chain_counts collector_chain_counts(const struct collector *c, event_id event);

/* How far CPU's log is folded: the number of samples of it since the start. */
uint64_t collector_folded(const struct collector *c, uint32_t cpu);
uint32_t collector_n_log_cpus(const struct collector *c); /* 0 without a log */

/* The account of event number I of the options, as far as the profile was told. */
const struct account *collector_account(const struct collector *c, uint32_t i);

/* The part of its mean within which each of EVENT's periods is drawn: 64 for 1/64; 0: they are all
 * alike, or the kernel adapts them to a frequency. */
uint32_t collector_drawn_part(const struct collector *c, event_id event);

/* With slots: only the events of SLOT count from now on.  Those of slot 0 do at the start. */
void collector_run_slot(struct collector *c, uint32_t slot);

/* Gives C's processes the labels they have in FROM. */
void collector_take_labels(struct collector *c, const struct collector *from);

/* labels_changed, labels_list and labels_apply of its processes (labels.h). */
bool collector_labels_changed(const struct collector *c, uint64_t *mark);
void collector_list_labels(const struct collector *c, struct str *out);
size_t collector_apply_labels(struct collector *c, const char *text, size_t n);

/* Gives TGID, and the processes it starts, LABEL from now on, after applying the sideband; false
 * when there is no such process. */
bool collector_set_label(struct collector *c, uint32_t tgid, const char *label);

/* Adds to the profile what a log holds whose recorder is dead and whose sampling was stopped: the
 * samples from SINCE[CPU] on, the spill table, and the account of each event, of which REACHED and
 * DROPPED samples were stored before.  Before the first cycle.  Returns how many samples that
 * were. */
struct takeover {
	struct log *log;
	struct old_chains *chains; /* NULL: no callers are known */
	const struct pinned_note *note;
	uint64_t stopped_ns;   /* when its sampling ended, CLOCK_MONOTONIC; 0: it never began */
	const uint64_t *since; /* by CPU */
	uint64_t reached[LOG_MAX_EVENTS], dropped[LOG_MAX_EVENTS]; /* by its event's number */
};
uint64_t collector_take_over(struct collector *c, const struct takeover *t);

/* For saving symbols: the mapped files and generated code met so far. */
const struct images *collector_images(const struct collector *c);
const struct procs *collector_procs(const struct collector *c);

#endif
