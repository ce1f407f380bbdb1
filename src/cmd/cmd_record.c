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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "cmd/cmd.h"
#include "daemon/facts_file.h"
#include "cmd/record_account.h"
#include "cmd/record_calls.h"
#include "events/parse.h"
#include "events/rate.h"
#include "daemon/readers.h"
#include "daemon/recorder.h"
#include "query/source.h"
#include "store/store.h"

struct options {
	bool all;
	opt_list pids, events, operands;
	const char *cgroup, *label, *db, *engine, *by, *call_graph, *unwind_memory, *trace_memory,
		*walk_at, *facts, *group;
	uint64_t freq_hz, period, duration_ns, log_slots, min_block_ns;
	bool off_cpu, calls, trace, wakers;
};

/* A command waiting to be executed. */
struct child {
	pid_t pid;   /* 0: none */
	int go_fd;   /* a byte lets the command start, closing it calls it off */
	int fail_fd; /* the errno of an exec that failed comes out here */
	bool ended;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

/* --- the command --- */

static int child_prepare(struct child *ch, const opt_list *argv, struct err *err)
{
	int go[2], fail[2], e;
	char **args;
	char byte;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(fail, O_CLOEXEC) < 0)
		return err_errno(err, -errno, "pipe");
	ch->pid = fork();
	if (ch->pid < 0)
		return err_errno(err, -errno, "fork");
	if (ch->pid == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(126);
		args = xcalloc(argv->n + 1, sizeof(*args));
		for (size_t i = 0; i < argv->n; i++)
			args[i] = (char *)argv->v[i];
		execvp(args[0], args);
		e = errno;
		_exit(write(fail[1], &e, sizeof(e)) == sizeof(e) ? 127 : 126);
	}
	close(go[0]);
	close(fail[1]);
	ch->go_fd = go[1];
	ch->fail_fd = fail[0];
	return 0;
}

/* Lets the command run; fails when it cannot be executed. */
static int child_start(struct child *ch, const char *name, struct err *err)
{
	int e;
	ssize_t n;

	if (write(ch->go_fd, "", 1) != 1)
		return err_errno(err, -errno, "cannot start %s", name);
	do
		n = read(ch->fail_fd, &e, sizeof(e));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(e))
		return 0;
	return err_errno(err, -e, "cannot run %s", name);
}

static bool child_ended(struct child *ch)
{
	if (ch->pid && !ch->ended && waitpid(ch->pid, NULL, WNOHANG) == ch->pid)
		ch->ended = true;
	return ch->ended;
}

/* Calls off a command that was not started; waits for one that runs. */
static void child_finish(struct child *ch)
{
	if (ch->pid <= 0)
		return;
	close(ch->go_fd);
	close(ch->fail_fd);
	if (!ch->ended)
		waitpid(ch->pid, NULL, 0);
}

/* --- options --- */

static int parse_pids(const opt_list *lists, struct target *t, struct err *err)
{
	vec_each (list, lists) {
		_mem_ char *copy = xstrdup(*list);
		char *save = NULL;

		for (char *s = strtok_r(copy, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
			uint64_t pid;

			if (str_parse_u64(s, 10, &pid) < 0 || !pid || pid > INT32_MAX)
				return err_set(err, -EINVAL, "-p: '%s' is not a process id", s);
			vec_push(&t->pids, (uint32_t)pid);
		}
	}
	return 0;
}

/* The directory of cgroup NAME: a path, or a path below a cgroup mount. */
static int open_cgroup(const char *name, struct err *err)
{
	static const char *const below[] = {"", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/",
					    "/sys/fs/cgroup/perf_event/"};

	for (size_t i = name[0] == '/' ? 0 : 1; i < n_elems(below); i++) {
		_mem_ char *path = xasprintf("%s%s", below[i], name);
		_mem_ char *procs = xasprintf("%s/cgroup.procs", path);
		int fd = access(procs, F_OK) == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
						  : -1;

		if (fd >= 0)
			return fd;
	}
	return err_set(err, -ENOENT, "no cgroup %s: name a directory of a cgroup file system",
		       name);
}

static int choose_target(const struct options *o, struct target *t, struct child *ch,
			 struct err *err)
{
	unsigned n = o->all + (o->pids.n > 0) + (o->cgroup != NULL);
	int rc;

	if (n > 1)
		return err_set(err, -EINVAL, "-a, -p and -G exclude each other");
	if (!n && !o->operands.n)
		return err_set(err, -EINVAL,
			       "nothing to record: -a, -p PID, -G CGROUP or a command");
	if (o->operands.n) {
		rc = child_prepare(ch, &o->operands, err);
		if (rc < 0)
			return rc;
	}
	t->cgroup_fd = -1;
	if (o->pids.n) {
		t->kind = TARGET_PIDS;
		return parse_pids(&o->pids, t, err);
	}
	if (o->cgroup) {
		t->kind = TARGET_CGROUP;
		t->cgroup_fd = open_cgroup(o->cgroup, err);
		return t->cgroup_fd < 0 ? t->cgroup_fd : 0;
	}
	t->kind = o->all ? TARGET_ALL : TARGET_COMMAND;
	if (!o->all)
		vec_push(&t->pids, (uint32_t)ch->pid);
	return 0;
}

static int choose_events(const struct cmd *c, const struct options *o, struct event_specs *specs,
			 struct err *err)
{
	struct event_rate rate = {.freq_hz = o->freq_hz, .period = o->period};
	const char *why;
	int rc = 0;

	if (o->freq_hz && o->period)
		return err_set(err, -EINVAL, "-F and -c exclude each other");
	vec_each (list, &o->events) {
		rc = event_list_parse(&event_env_host, *list, specs, err);
		if (rc < 0)
			return rc;
	}
	if (!specs->n) {
		rc = event_default(&event_env_host, specs, &why, err);
		if (rc < 0)
			return rc;
		cmd_notice(c, "%s", why);
	}
	if (specs->n > LOG_MAX_EVENTS)
		return err_set(err, -E2BIG, "%zu events: at most %d at once", specs->n,
			       LOG_MAX_EVENTS);
	for (size_t i = 0; i < specs->n && rc >= 0; i++)
		rc = event_rate_set(&event_env_host, &specs->v[i], &rate, err);
	return rc;
}

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
}

/* With -p: has every process gone that was asked for? */
static bool all_gone(const struct target *t)
{
	if (t->kind != TARGET_PIDS)
		return false;
	vec_each (pid, &t->pids)
		if (kill((pid_t)*pid, 0) == 0 || errno != ESRCH)
			return false;
	return true;
}

/* One descriptor per event and CPU or thread, and those of images: more than 1024 on large
 * machines. */
static void raise_open_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

/* Large buffers go back to the system when they are freed, instead of raising the size from which
 * on that happens: a recorder has to stay small between its flushes. */
static void keep_small(void)
{
	mallopt(M_MMAP_THRESHOLD, 256 * 1024);
}

static int record_run(struct cmd *c, struct recorder *r, struct child *ch, const struct options *o,
		      const struct target *t)
{
	uint64_t start_ns = clock_mono_ns(),
		 end_ns = o->duration_ns ? start_ns + o->duration_ns : UINT64_MAX;
	bool progress = isatty(STDERR_FILENO);

	while (!interrupted && clock_mono_ns() < end_ns && !child_ended(ch) && !all_gone(t)) {
		uint64_t left_ms = (end_ns - clock_mono_ns()) / 1000000;
		int wait_ms = left_ms > 200 && (progress || ch->pid || o->pids.n) ? 200
			      : left_ms > 1000					  ? 1000
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

/* -g and --call-graph. */
static int choose_calls(const struct options *o, struct collector_opts *co, struct err *err)
{
	static const char *const modes[] = {"auto", "fp", "dwarf", "none", NULL};
	int mode = opts_choose(o->call_graph, modes, "--call-graph", err);
	uint64_t n_bytes = 0;
	int rc;

	if (mode < 0)
		return mode;
	if (o->unwind_memory) {
		rc = record_calls_parse_bytes("--unwind-memory", o->unwind_memory, &n_bytes, err);
		if (rc < 0)
			return rc;
		co->tables.n_bytes = (size_t)n_bytes;
	}
	if (strcmp(modes[mode], "none") == 0) {
		if (o->calls || o->off_cpu)
			return err_set(err, -EINVAL, "--call-graph none: %s needs call paths",
				       o->calls ? "-g" : "--off-cpu");
		return 0;
	}
	if (o->calls || o->call_graph || o->off_cpu)
		co->calls = CALLS_AUTO + (enum call_graph)mode;
	return 0;
}

static void notice(void *ctx, const char *text)
{
	cmd_notice(ctx, "%s", text);
}

static int record(struct cmd *c, const struct options *o, struct recorder_opts *ro,
		  struct child *ch)
{
	struct sigaction sa = {.sa_handler = on_signal}, dfl = {.sa_handler = SIG_DFL};
	struct recorder *r = NULL;
	int rc;

	keep_small();
	raise_open_files(); /* after the fork: a command keeps its own limit */
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	rc = readers_start(false, &c->err);
	if (rc >= 0) {
		readers_on_say(notice, c);
		rc = recorder_start(ro, &r, &c->err);
	}
	if (rc >= 0 && ch->pid)
		rc = child_start(ch, o->operands.v[0], &c->err);
	if (rc >= 0) {
		show_limits(c, r);
		rc = record_run(c, r, ch, o, &ro->collect.target);
	}
	if (rc >= 0 && c->json)
		record_account_emit(&c->out, r, ro->db);
	else if (rc >= 0)
		record_account_show(r, ro->db);
	recorder_free(r);
	readers_end();
	sigaction(SIGINT, &dfl, NULL);
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

	if (o->log_slots &&
	    (o->log_slots < 64 || o->log_slots > 1 << 20 || o->log_slots & (o->log_slots - 1)))
		return err_set(err, -EINVAL,
			       "--log-slots: %" PRIu64 " is not a power of two from 64 to 1048576",
			       o->log_slots);
	for (size_t i = 0; i < n_elems(needs); i++)
		if (needs[i].without)
			return err_set(err, -EINVAL, "%s: needs %s", needs[i].name, needs[i].needs);
	return 0;
}

int cmd_record(struct cmd *c)
{
	static const char *const engines[] = {"auto", "bpf", "ring", NULL};
	static const char *const splits[] = {"group", "pid", "tid", NULL};
	static const char *const walks[] = {"auto", "exit", "switch", NULL};
	struct options o = {0};
	const struct opt table[] = {
		{"a all", OPT_FLAG, &o.all, NULL, "record every process on every CPU"},
		{"p pid", OPT_LIST, &o.pids, "PID[,PID]",
		 "record these processes and what they start"},
		{"G cgroup", OPT_STR, &o.cgroup, "CGROUP", "record the processes of a cgroup"},
		{"e event slot", OPT_LIST, &o.events, "EVENT[:PERIOD][+EVENT...]",
		 "what to sample (dwell events lists them)"},
		{"F freq", OPT_U64, &o.freq_hz, "HZ", "samples per second and CPU"},
		{"c count", OPT_U64, &o.period, "PERIOD", "one sample every PERIOD events"},
		{"d duration", OPT_DURATION, &o.duration_ns, "TIME",
		 "stop after TIME (10, 500ms, 3m)"},
		{"g calls", OPT_FLAG, &o.calls, NULL, "record call paths"},
		{"call-graph", OPT_STR, &o.call_graph, "auto|fp|dwarf|none",
		 "record call paths, found so"},
		{"unwind-memory", OPT_STR, &o.unwind_memory, "SIZE",
		 "memory for unwind tables (default 32M)"},
		{"label", OPT_STR, &o.label, "LABEL", "mark the samples with LABEL"},
		{"by", OPT_STR, &o.by, "group|pid|tid", "keep processes or threads apart"},
		{"engine", OPT_STR, &o.engine, "auto|bpf|ring", "how samples are brought in"},
		{"trace", OPT_FLAG, &o.trace, NULL,
		 "keep the time of each sample: time lines for dwell trace"},
		{"trace-memory", OPT_STR, &o.trace_memory, "SIZE",
		 "what time lines may take in memory, 1M to 4G (default 64M)"},
		{"off-cpu", OPT_FLAG, &o.off_cpu, NULL,
		 "how long threads run, wait for a CPU and are blocked, too"},
		{"min-block", OPT_DURATION, &o.min_block_ns, "TIME",
		 "keep the call paths of blocks this long (default 100us)"},
		{"walk-at", OPT_STR, &o.walk_at, "auto|exit|switch",
		 "follow the stack of a block at its end, or when it begins"},
		{"wakers", OPT_FLAG, &o.wakers, NULL, "with --off-cpu: who ends blocks, too"},
		{"facts", OPT_STR, &o.facts, "FILE",
		 "with -e pm: take these bits and counters of the hardware's words besides"},
		{"group", OPT_STR, &o.group, "GROUP",
		 "let members of GROUP read a new database (default: nobody else)"},
		{"log-slots", OPT_U64, &o.log_slots, "N",
		 "samples a CPU's log holds, 64 to 1048576"},
		{"db", OPT_STR, &o.db, "DB",
		 "database (default $DWELLDB, $DCPIDB, ~/.local/share/dwell)"},
		{0},
	};
	struct recorder_opts ro = {0};
	struct event_specs specs = {0};
	struct fact_defs facts = {0};
	struct child ch = {0};
	struct str command = {0};
	_mem_ char *db = NULL;
	int rc, engine, split, walk;

	rc = cmd_parse(c, "[-a | -p PID | -G CGROUP] [OPTIONS] [--] [COMMAND ARG...]", table, true,
		       &o.operands);
	if (rc)
		return rc;
	engine = opts_choose(o.engine, engines, "--engine", &c->err);
	/* Whoever wants threads' time lines wants their samples told apart, too. */
	split = opts_choose(o.by ? o.by : o.trace ? "tid" : NULL, splits, "--by", &c->err);
	walk = opts_choose(o.walk_at, walks, "--walk-at", &c->err);
	rc = engine < 0 || split < 0 || walk < 0 ? -EINVAL : check_options(&o, &c->err);
	if (rc >= 0 && o.trace_memory) {
		uint64_t n_bytes = 0;

		rc = record_calls_parse_bytes("--trace-memory", o.trace_memory, &n_bytes, &c->err);
		ro.collect.trace_bytes = (size_t)n_bytes;
	}
	if (rc >= 0)
		rc = choose_calls(&o, &ro.collect, &c->err);
	if (rc >= 0)
		rc = facts_file_load(o.facts, &facts, &c->err);
	if (rc >= 0)
		rc = choose_events(c, &o, &specs, &c->err);
	if (rc >= 0)
		rc = choose_target(&o, &ro.collect.target, &ch, &c->err);
	if (rc >= 0) {
		vec_each (word, &o.operands)
			str_addf(&command, "%s%s", command.n ? " " : "", *word);
		db = o.db ? xstrdup(o.db) : store_default_path();
		if (source_kind_of(db) != SOURCE_NOTHING)
			rc = source_check_kind(db, SOURCE_STORE | SOURCE_EMPTY, "dwell record",
					       "a dwell database, or makes a new one", &c->err);
	}
	if (rc >= 0) {
		ro.db = db;
		ro.group = o.group;
		ro.command = str_get(&command);
		ro.facts = &facts;
		ro.collect.events = specs.v;
		ro.collect.n_events = (uint32_t)specs.n;
		ro.collect.engine = (enum engine)engine;
		ro.collect.split = (enum owner_split)split;
		ro.collect.n_slots = (uint32_t)o.log_slots;
		ro.collect.off_cpu = o.off_cpu;
		ro.collect.wakers = o.wakers;
		ro.collect.walk = (enum switch_walk)walk;
		ro.collect.trace = o.trace;
		ro.collect.min_block_ns = o.min_block_ns;
		if (!o.label && o.operands.n)
			o.label = rank_label();
		ro.collect.label = o.label ? o.label : "";
		rc = record(c, &o, &ro, &ch);
	}
	child_finish(&ch);
	if (ro.collect.target.cgroup_fd > 0)
		close(ro.collect.target.cgroup_fd);
	vec_release(&ro.collect.target.pids);
	vec_release(&o.pids);
	vec_release(&o.events);
	vec_release(&o.operands);
	event_specs_release(&specs);
	fact_defs_release(&facts);
	str_release(&command);
	return rc;
}
