/* SPDX-License-Identifier: BSD-2-Clause */
/* dwell record: one recording into a new epoch.
 *
 * Options become a target, events and rates; the recorder does the work; progress and the account
 * go to stderr, so that a recorded command's own output stays clean. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "cmd/cmd.h"
#include "daemon/layouts.h"
#include "cmd/record_account.h"
#include "cmd/record_calls.h"
#include "cmd/record_child.h"
#include "cmd/record_target.h"
#include "daemon/readers.h"
#include "daemon/prepare.h"
#include "daemon/record_options.h"
#include "daemon/recorder.h"
#include "query/source.h"
#include "store/store.h"

struct options {
	struct record_words target;
	struct record_options record;
	const char *unwind_memory, *trace_memory, *walk_at, *job;
	uint64_t duration_ns, min_block_ns, tables_first_ns;
	bool off_cpu, trace, wakers, quiet;
};

/* Sampling begins at most so much later for the tables of what runs already. */
#define TABLES_FIRST_NS (200ull * 1000000)

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

/* --- options --- */

/* The label of a command that MPI or Slurm started as one of several: its rank, by which `dwell
 * hpc` tells profiles apart.  NULL when it was not. */
static const char *rank_label(void)
{
	/* Open MPI and those made from it; MPICH and Intel's; PMIx; Slurm (srun(1)). */
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
					    "SLURM_PROCID"};
	static char label[40];

	for (size_t i = 0; i < n_elems(names); i++) {
		const char *rank = getenv(names[i]);

		if (!rank || !*rank || strlen(rank) > 10 || rank[strspn(rank, "0123456789")])
			continue;
		snprintf(label, sizeof(label), "rank=%s", rank);
		return label;
	}
	return NULL;
}

/* --- running --- */

static void show_limits(const struct cmd *c, const struct recorder *r)
{
	const struct collector *col = recorder_collector(r);

	if (*collector_why_not_bpf(col))
		cmd_notice(c, "sampling through perf rings: %s", collector_why_not_bpf(col));
	if (collector_user_only(col))
		cmd_notice(c, "user code only: kernel samples need CAP_PERFMON or "
			      "kernel.perf_event_paranoid below 2");
	if (collector_no_block_paths(col))
		cmd_notice(c, "blocks have times but no call paths: these need CAP_PERFMON or "
			      "kernel.perf_event_paranoid below 2");
	else if (collector_rings_offcpu(col))
		cmd_notice(c, "call paths of blocks have no frames of the kernel: these need the "
			      "bpf engine");
}

/* Large buffers go back to the system when they are freed, instead of raising the size from which
 * on that happens: a recorder has to stay small between its flushes. */
static void keep_small(void)
{
	mallopt(M_MMAP_THRESHOLD, 256 * 1024);
}

static int record_run(struct cmd *c, struct recorder *r, struct record_child *ch,
		      const struct options *o, const struct target *t)
{
	uint64_t start_ns = clock_mono_ns(),
		 end_ns = o->duration_ns ? start_ns + o->duration_ns : UINT64_MAX;
	bool progress = isatty(STDERR_FILENO) && !o->quiet;

	while (!interrupted && clock_mono_ns() < end_ns && !record_child_ended(ch) &&
	       !record_all_gone(t)) {
		uint64_t left_ms = (end_ns - clock_mono_ns()) / 1000000;
		int wait_ms = left_ms > 200 && (progress || ch->pid || o->target.pids.n) ? 200
			      : left_ms > 1000						 ? 1000
					       : (int)left_ms + 1;
		int rc = recorder_step(r, wait_ms, &c->err);

		if (progress)
			record_account_progress(r, start_ns);
		if (rc < 0)
			return rc;
	}
	if (progress)
		fputs("\r\033[K", stderr);
	return recorder_stop(r, &c->err);
}

/* -g and --call-graph, which means CALLS. */
static int choose_calls(const struct options *o, enum call_graph calls, struct collector_opts *co,
			struct err *err)
{
	uint64_t n_bytes = 0;
	int rc;

	if (o->unwind_memory) {
		rc = record_calls_parse_bytes("--unwind-memory", o->unwind_memory, &n_bytes, err);
		if (rc < 0)
			return rc;
		co->tables.n_bytes = (size_t)n_bytes;
	}
	if (calls == CALLS_NONE && (o->record.calls || o->off_cpu))
		return err_set(err, -EINVAL, "--call-graph none: %s needs call paths",
			       o->record.calls ? "-g" : "--off-cpu");
	if (o->record.calls || o->record.call_graph || o->off_cpu)
		co->calls = calls;
	return 0;
}

static void notice(void *ctx, const char *text)
{
	cmd_notice(ctx, "%s", text);
}

/* A command waits so long for the unwind tables of its files, where the machine is busy. */
#define PREPARE_NS (500ull * 1000000)

static int record(struct cmd *c, const struct options *o, struct recorder_opts *ro,
		  struct record_child *ch)
{
	struct sigaction sa = {.sa_handler = on_signal}, dfl = {.sa_handler = SIG_DFL};
	struct recorder *r = NULL;
	int rc;

	keep_small();
	file_raise_limit(); /* after the fork: a command keeps its own limit */
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	rc = readers_start(true, &c->err);
	if (rc >= 0) {
		readers_on_say(notice, c);
		if (ch->pid && ro->collect.calls != CALLS_NONE)
			prepare_command(o->target.command.v[0]);
		rc = recorder_start(ro, &r, &c->err);
	}
	if (rc >= 0 && ch->pid)
		prepare_wait(clock_mono_ns() + PREPARE_NS);
	if (rc >= 0 && ch->pid)
		rc = record_child_start(ch, o->target.command.v[0], &c->err);
	if (rc >= 0) {
		show_limits(c, r);
		rc = record_run(c, r, ch, o, &ro->collect.target);
	}
	if (rc >= 0 && c->json)
		record_account_emit(&c->out, r, ro->db);
	else if (rc >= 0 && (!o->quiet || record_account_lost(r)))
		record_account_show(r, ro->db);
	recorder_free(r);
	readers_end();
	layouts_end();
	sigaction(SIGINT, &dfl, NULL);
	sigaction(SIGTERM, &dfl, NULL);
	return rc < 0 ? rc : 0;
}

/* Options that need another one, or a certain value. */
static int check_options(const struct options *o, struct err *err)
{
	const struct {
		const char *name, *needs;
		bool without; /* it is there, and what it needs is not */
	} needs[] = {{"--trace-memory", "--trace", o->trace_memory && !o->trace},
		     {"--wakers", "--off-cpu", o->wakers && !o->off_cpu},
		     {"--min-block", "--off-cpu", o->min_block_ns && !o->off_cpu},
		     {"--walk-at", "--off-cpu", o->walk_at && !o->off_cpu}};

	for (size_t i = 0; i < n_elems(needs); i++)
		if (needs[i].without)
			return err_set(err, -EINVAL, "%s: needs %s", needs[i].name, needs[i].needs);
	return 0;
}

#define MEMORY_BY_PERF                                                                             \
	"perf mem record, or perf record -d, takes addresses of data; `dwell mem perf.data` "      \
	"shows "                                                                                   \
	"them"

/* perf's -d has no value: it takes addresses of data. */
static int say_data(struct cmd *c, int rc)
{
	_mem_ char *said = rc < 0 ? xstrdup(c->err.msg) : NULL;

	if (!said || strncmp(said, "-d: ", 4) != 0)
		return rc;
	return err_set(&c->err, rc, "%s; %s", said, MEMORY_BY_PERF);
}

static int record_parse(struct cmd *c, struct options *o)
{
	struct opt row[N_RECORD_OPTIONS];

	record_options_rows(&o->record, row);
	row[OPT_RECORD_EVENT].names = "e event slot";
	row[OPT_RECORD_BY].help = "keep processes or threads apart (default tid; with -a group)";

	const struct opt table[] = {
		{"a all", OPT_FLAG, &o->target.all, NULL, "record every process on every CPU"},
		{"p pid", OPT_LIST, &o->target.pids, "PID[,PID]",
		 "record these processes and what they start"},
		{"G cgroup", OPT_STR, &o->target.cgroup, "CGROUP",
		 "record the processes of a cgroup"},
		row[OPT_RECORD_EVENT],
		row[OPT_RECORD_FREQ],
		row[OPT_RECORD_COUNT],
		{"d duration", OPT_DURATION, &o->duration_ns, "TIME",
		 "stop after TIME (10, 500ms, 3m)"},
		{"q quiet", OPT_FLAG, &o->quiet, NULL, "no account, unless samples were lost"},
		row[OPT_RECORD_CALLS],
		row[OPT_RECORD_CALL_GRAPH],
		{"unwind-memory", OPT_STR, &o->unwind_memory, "SIZE",
		 "memory for unwind tables (default 32M)"},
		{"tables-first", OPT_DURATION, &o->tables_first_ns, "TIME",
		 "wait for unwind tables of what runs at most so long (default 200ms)"},
		row[OPT_RECORD_LABEL],
		{"job", OPT_STR, &o->job, "NAME",
		 "what job this is a part of (default: see dwell-record(1); '': none)"},
		row[OPT_RECORD_BY],
		row[OPT_RECORD_ENGINE],
		{"trace", OPT_FLAG, &o->trace, NULL,
		 "keep the time of each sample: time lines for dwell trace"},
		{"trace-memory", OPT_STR, &o->trace_memory, "SIZE",
		 "what time lines may take in memory, 1M to 4G (default 64M)"},
		{"off-cpu", OPT_FLAG, &o->off_cpu, NULL,
		 "how long threads run, wait for a CPU and are blocked, too"},
		{"min-block", OPT_DURATION, &o->min_block_ns, "TIME",
		 "keep the call paths of blocks this long (default 100us)"},
		{"walk-at", OPT_STR, &o->walk_at, "auto|exit|switch",
		 "follow the stack of a block at its end, or when it begins"},
		{"wakers", OPT_FLAG, &o->wakers, NULL, "with --off-cpu: who ends blocks, too"},
		row[OPT_RECORD_FACTS],
		row[OPT_RECORD_GROUP],
		row[OPT_RECORD_VERSION_FROM],
		row[OPT_RECORD_TENANT_FROM],
		row[OPT_RECORD_LOG_SLOTS],
		row[OPT_RECORD_DB],
		{"o output", OPT_SAY, NULL, "--db DIR says where the recording is kept", NULL},
		{"data phys-data weight W", OPT_SAY, NULL, MEMORY_BY_PERF, NULL},
		{0},
	};

	return say_data(c, cmd_parse(c, "[-a | -p PID | -G CGROUP] [OPTIONS] [--] [COMMAND ARG...]",
				     table, true, &o->target.command));
}

int cmd_record(struct cmd *c)
{
	static const char *const walks[] = {"auto", "exit", "switch", NULL};
	struct options o = {.tables_first_ns = TABLES_FIRST_NS};
	struct recorder_opts ro = {0};
	struct record_plan plan = {0};
	struct record_child ch = {0};
	struct str command = {0};
	_mem_ char *db = NULL;
	const char *why = NULL;
	int rc, status, walk;

	c->failure = 125; /* as env(1): other values may be COMMAND's */
	rc = record_parse(c, &o);
	if (rc != 0)
		return rc;
	/* Threads of what was named are told apart; of a whole machine only for time lines. */
	if (!o.record.by && (!o.target.all || o.trace))
		o.record.by = "tid";
	walk = opts_choose(o.walk_at, walks, "--walk-at", &c->err);
	rc = walk < 0 ? walk : check_options(&o, &c->err);
	if (rc >= 0 && o.trace_memory) {
		uint64_t n_bytes = 0;

		rc = record_calls_parse_bytes("--trace-memory", o.trace_memory, &n_bytes, &c->err);
		ro.collect.trace_bytes = (size_t)n_bytes;
	}
	if (rc >= 0)
		rc = record_plan_init(&plan, &o.record, 0, &why, &c->err);
	if (rc >= 0)
		rc = choose_calls(&o, plan.calls, &ro.collect, &c->err);
	if (rc >= 0 && why && !o.quiet)
		cmd_notice(c, "%s", why);
	if (rc >= 0)
		rc = record_choose_target(&o.target, "record", &ro.collect.target, &ch, &c->err);
	if (rc >= 0) {
		vec_each (word, &o.target.command)
			str_addf(&command, "%s%s", command.n ? " " : "", *word);
		db = o.record.db ? xstrdup(o.record.db) : store_default_path();
		if (source_kind_of(db) != SOURCE_NOTHING)
			rc = source_check_kind(db, SOURCE_STORE | SOURCE_EMPTY, "dwell record",
					       "a dwell database, or makes a new one", &c->err);
	}
	if (rc >= 0) {
		ro.db = db;
		ro.group = o.record.group;
		ro.command = str_get(&command);
		ro.facts = &plan.facts;
		if (!o.record.label && o.target.command.n)
			o.record.label = rank_label();
		record_plan_apply(&plan, &o.record, &ro.collect);
		ro.collect.early_ns = o.target.command.n && !o.target.all ? 0 : o.tables_first_ns;
		ro.collect.off_cpu = o.off_cpu;
		ro.collect.wakers = o.wakers;
		ro.collect.walk = (enum switch_walk)walk;
		ro.collect.trace = o.trace;
		ro.collect.min_block_ns = o.min_block_ns;
		ro.job = o.job;
		ro.is_rank = o.target.command.n && rank_label();
		rc = record(c, &o, &ro, &ch);
	}
	status = record_child_finish(&ch);
	if (rc >= 0)
		rc = status;
	else if (ch.failed_exec)
		c->failure = rc == -ENOENT ? 127 : 126;
	record_target_release(&ro.collect.target);
	vec_release(&o.target.pids);
	record_options_release(&o.record);
	vec_release(&o.target.command);
	record_plan_release(&plan);
	str_release(&command);
	return rc;
}
