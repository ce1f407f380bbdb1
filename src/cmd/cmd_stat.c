/* SPDX-License-Identifier: BSD-2-Clause */
/* dwell stat: how often events happen while a command runs, without samples.
 *
 * A command's counters begin at its exec and go with all it starts; a run counts once its first
 * process has ended.  Where events take turns on the hardware, counts are scaled to the whole time,
 * and "counted" says for how much of it.  What `perf stat record` counted, and what a recording's
 * events did, is shown in the same way. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/out_file.h"
#include "base/screen.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/record_target.h"
#include "cmd/stat_recording.h"
#include "events/group.h"
#include "events/parse.h"
#include "events/ratio.h"
#include "machine/cpu_id.h"
#include "port/perf_counts.h"
#include "view/topdown.h"

/* Those of perf stat. */
#define DEFAULT_EVENTS                                                                             \
	"task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,"     \
	"branch-misses"

/* What is not told by an end that can be waited for is looked at so often. */
#define LOOK_MS 100

struct stat_event {
	const char *name; /* of one that was read from a file; see row_name */
	const char *unit;
	bool is_clock;
	struct event_spec *spec;   /* NULL: it was read from a file */
	opened_list opened;	   /* of the run that is under way */
	const char *why_not;	   /* it is not counted; NULL: it is */
	struct runs runs;	   /* scaled counts */
	uint64_t enabled, running; /* ns, of all runs */
};

struct stat {
	struct record_words target;
	const char *events, *output, *input;
	struct perf_counts read; /* of INPUT */
	uint64_t n_runs, duration_ns;
	struct event_specs specs;
	VEC(struct stat_event) rows;
	struct runs elapsed, user, system; /* seconds */
	int status;			   /* of the command's last run */
	bool is_shown;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

/* --- counting --- */

/* Whether SPEC happens in the kernel alone, so that without the kernel's part nothing is left. */
static bool is_of_kernel(const struct event_spec *spec)
{
	const uint64_t config = spec->attr.config;

	if (spec->kind == EVENT_TRACEPOINT)
		return true;
	return spec->kind == EVENT_SOFTWARE &&
	       (config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		config == PERF_COUNT_SW_CPU_MIGRATIONS || config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

/* Opens E on T, beside LEADER's when it is in a group. */
static int open_event(const struct target *t, struct stat_event *e, const struct stat_event *leader,
		      const cpu_list *cpus, struct err *err)
{
	const bool tasks = t->kind == TARGET_PIDS || t->kind == TARGET_COMMAND;
	const enum target_spread spread = tasks ? SPREAD_TASKS : SPREAD_CPUS;

	return leader == e ? target_open(t, e->spec, 0, spread, cpus, &e->opened, err)
			   : target_open_member(t, e->spec, spread, cpus, &leader->opened,
						&e->opened, err);
}

/* Opens row E on T, behind LEADER.  An event that this machine or this user lacks stays without
 * counts, and says why; all else is an error. */
static int open_row(const struct target *t, struct stat_event *e, const struct stat_event *leader,
		    const cpu_list *cpus, struct err *err)
{
	const bool tasks = t->kind == TARGET_PIDS || t->kind == TARGET_COMMAND;
	int rc;

	if (leader->why_not) {
		e->why_not = leader->why_not;
		return 0;
	}
	rc = open_event(t, e, leader, cpus, err);
	if ((rc == -EACCES || rc == -EPERM) && tasks && !e->spec->attr.exclude_kernel &&
	    !e->spec->attr.exclude_user && !is_of_kernel(e->spec)) {
		opened_close(&e->opened);
		event_spec_user_only(e->spec);
		rc = open_event(t, e, leader, cpus, err);
	}
	if (rc == -ENOENT || rc == -EOPNOTSUPP || rc == -ENODEV || rc == -EINVAL)
		e->why_not = "not on this machine";
	else if (rc == -EACCES || rc == -EPERM)
		e->why_not = "not permitted";
	if (!e->why_not)
		return rc;
	opened_close(&e->opened);
	return 0;
}

static int open_rows(struct stat *s, const struct target *t, struct err *err)
{
	_vec_ cpu_list cpus = {0};
	bool any = false;
	int rc = 0;

	cpus_online(&cpus);
	for (unsigned members = 0; members < 2; members++) /* behind all leaders */
		vec_each (e, &s->rows) {
			struct stat_event *leader =
				&s->rows.v[event_group_leader(&s->specs, (size_t)(e - s->rows.v))];

			if ((leader != e) != members)
				continue;
			if (!e->why_not)
				rc = open_row(t, e, leader, &cpus, err);
			if (rc < 0)
				return rc;
			any |= !e->why_not;
		}
	if (!any)
		return err_set(
			err, -EOPNOTSUPP,
			"none of these events can be counted here (dwell events says which can)");
	return 0;
}

static void enable_rows(struct stat *s)
{
	vec_each (e, &s->rows)
		opened_enable(&e->opened);
}

static void disable_rows(struct stat *s)
{
	vec_each (e, &s->rows)
		opened_disable(&e->opened);
}

static void take_counts(struct stat *s)
{
	vec_each (e, &s->rows) {
		double value = 0;
		uint64_t enabled = 0, running = 0;

		if (e->why_not)
			continue;
		vec_each (o, &e->opened) {
			struct opened_count c;

			if (!opened_read(o, &c))
				continue;
			value += c.running_ns ? (double)c.value * (double)c.enabled_ns /
							(double)c.running_ns
					      : (double)c.value;
			enabled += c.enabled_ns;
			running += c.running_ns;
		}
		runs_add(&e->runs, value);
		e->enabled += enabled;
		e->running += running;
	}
	vec_each (e, &s->rows) /* a group's members count while its leader is open */
		opened_close(&e->opened);
}

/* Counters never had room for these, as for a group that is larger than they are. */
static void note_uncounted(struct stat *s)
{
	vec_each (e, &s->rows)
		if (e->enabled && !e->running)
			e->why_not = "not counted";
}

/* --- running --- */

/* Waits until the command or the processes end, the time is over, or somebody interrupts. */
static void wait_for_end(const struct stat *s, const struct target *t, struct record_child *ch,
			 uint64_t start_ns)
{
	const uint64_t end_ns = s->duration_ns ? start_ns + s->duration_ns : UINT64_MAX;
	struct pollfd p = {.fd = ch->pid > 0 ? (int)syscall(SYS_pidfd_open, ch->pid, 0) : -1,
			   .events = POLLIN};

	while (!interrupted && clock_mono_ns() < end_ns && !record_child_ended(ch) &&
	       !record_all_gone(t)) {
		const uint64_t left_ms = (end_ns - clock_mono_ns()) / 1000000 + 1;

		poll(&p, p.fd >= 0, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
	}
	if (p.fd >= 0)
		close(p.fd);
}

static double rusage_seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Counts once.  Returns 0, or a negative errno; S->status is the command's. */
static int run_once(struct cmd *c, struct stat *s)
{
	struct target t = {0};
	struct record_child ch = {0};
	struct rusage before, after;
	uint64_t start_ns = 0, end_ns;
	int rc;

	getrusage(RUSAGE_CHILDREN, &before);
	rc = record_choose_target(&s->target, "count", &t, &ch, &c->err);
	if (rc >= 0)
		rc = open_rows(s, &t, &c->err);
	start_ns = clock_mono_ns();
	if (rc >= 0 && t.kind != TARGET_COMMAND) /* else its exec does */
		enable_rows(s);
	if (rc >= 0 && ch.pid)
		rc = record_child_start(&ch, s->target.command.v[0], &c->err);
	if (rc >= 0)
		wait_for_end(s, &t, &ch, start_ns);
	if (t.kind != TARGET_COMMAND)
		disable_rows(s);
	end_ns = clock_mono_ns();
	if (rc >= 0)
		take_counts(s);
	s->status = record_child_finish(&ch);
	if (ch.failed_exec)
		c->failure = rc == -ENOENT ? 127 : 126;
	getrusage(RUSAGE_CHILDREN, &after);
	runs_add(&s->elapsed, (double)(end_ns - start_ns) / 1e9);
	runs_add(&s->user, rusage_seconds(after.ru_utime) - rusage_seconds(before.ru_utime));
	runs_add(&s->system, rusage_seconds(after.ru_stime) - rusage_seconds(before.ru_stime));
	record_target_release(&t);
	return rc;
}

static int run_all(struct cmd *c, struct stat *s)
{
	struct sigaction sa = {.sa_handler = on_signal}, dfl = {.sa_handler = SIG_DFL};
	int rc = 0;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	for (uint64_t i = 0; i < s->n_runs && rc >= 0 && !interrupted; i++)
		rc = run_once(c, s);
	sigaction(SIGINT, &dfl, NULL);
	sigaction(SIGTERM, &dfl, NULL);
	note_uncounted(s);
	return rc;
}

/* --- showing --- */

static const struct emit_col columns[] = {
	{.key = "event", .type = EMIT_STR},
	{.key = "count", .type = EMIT_FIXED}, /* a mean, where there are several runs */
	{.key = "unit", .title = "", .type = EMIT_STR},
	{.key = "error_pct", .title = "+-", .type = EMIT_PERCENT, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{.key = "ratio", .title = "", .type = EMIT_FIXED, .decimals = 3},
	{.key = "ratio_unit", .title = "", .type = EMIT_STR, .spare = 1},
	{.key = "counted_pct", .title = "counted", .type = EMIT_PERCENT, .spare = 2},
	{.key = "why_not", .type = EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
};
enum { COL_ERROR = 3, COL_COUNTED = 6, N_COLUMNS = n_elems(columns) };

static void add_command(struct str *out, const opt_list *command)
{
	for (size_t i = 0; i < command->n; i++) {
		str_add(out, i ? " " : "");
		text_show(out, command->v[i]);
	}
}

static void show_header(struct cmd *c, const struct stat *s)
{
	_str_ struct str what = {0}, line = {0};
	struct json *j = emit_json(&c->emit);

	add_command(&what, &s->target.command);
	if (s->input)
		text_show(&what, s->read.command);
	if (j && s->input) {
		json_add_str(j, "command", str_get(&what));
		json_add_double(j, "elapsed_s", s->elapsed.mean);
		return;
	}
	if (j) {
		json_add_str(j, "command", what.n ? str_get(&what) : NULL);
		json_add_u64(j, "runs", s->elapsed.n);
		json_add_double(j, "elapsed_s", s->elapsed.mean);
		json_add_double(j, "elapsed_error_pct", runs_error_pct(&s->elapsed));
		json_add_double(j, "user_s", s->user.mean);
		json_add_double(j, "system_s", s->system.mean);
		return;
	}
	str_addf(&line, "%s%s", str_get(&what), what.n ? ": " : "");
	if (s->elapsed.n > 1)
		str_addf(&line, "%zu runs, each %.6f s +- %.2f %%", s->elapsed.n, s->elapsed.mean,
			 runs_error_pct(&s->elapsed));
	else
		str_addf(&line, "%.6f s", s->elapsed.mean);
	if (what.n && !s->input)
		str_addf(&line, "; its processes' CPU time: user %.6f s, kernel %.6f s",
			 s->user.mean, s->system.mean);
	emit_text(&c->emit, "%s\n\n", str_get(&line));
}

/* An event's name may change when it is opened: ":u" where the kernel may not be counted. */
static const char *row_name(const struct stat_event *e)
{
	return e->spec ? e->spec->name : e->name;
}

/* Below the table: what was not counted, and why. */
static void show_missing(struct cmd *c, const struct stat *s)
{
	static const char *const reasons[] = {"not on this machine", "not permitted",
					      "not counted"};

	for (size_t i = 0; i < n_elems(reasons); i++) {
		_str_ struct str names = {0};

		vec_each (e, &s->rows) {
			if (!e->why_not || strcmp(e->why_not, reasons[i]) != 0)
				continue;
			str_add(&names, names.n ? ", " : "");
			text_show(&names, row_name(e)); /* maybe a stranger's file has it */
		}
		if (names.n)
			emit_text(&c->emit, "%s: %s\n", reasons[i], str_get(&names));
	}
}

static void show_rows(struct cmd *c, const struct stat *s)
{
	struct emit_col cols[N_COLUMNS];
	VEC(struct counted) counts = {0};
	struct arena texts = {0};
	bool shared = false;

	vec_each (e, &s->rows) {
		vec_push(&counts, (struct counted){.name = row_name(e),
						   .is_clock = e->is_clock,
						   .known = !e->why_not,
						   .value = e->runs.mean});
		shared |= e->running < e->enabled;
	}
	memcpy(cols, columns, sizeof(cols));
	if (s->elapsed.n > 1)
		cols[COL_ERROR].in = 0;
	if (!shared)
		cols[COL_COUNTED].in = EMIT_IN_JSON | EMIT_IN_CSV;
	emit_rows_by(&c->emit, "event");
	emit_table(&c->emit, "rows", cols, N_COLUMNS);
	vec_each (e, &s->rows) {
		const size_t i = (size_t)(e - s->rows.v);
		struct ratio r;
		const bool has = ratio_of(counts.v, counts.n, i, s->elapsed.mean * 1e9, &r);

		if (e->why_not && c->emit.format == EMIT_TABLE)
			continue;
		emit_row(&c->emit,
			 (struct emit_cell[N_COLUMNS]){
				 {.s = row_name(e)},
				 {.d = e->runs.mean, .none = e->why_not != NULL},
				 {.s = e->unit},
				 {.d = runs_error_pct(&e->runs), .none = e->runs.n < 2},
				 {.d = has ? r.value : 0, .none = !has},
				 {.s = has ? arena_strdup(&texts, r.unit) : NULL},
				 {.d = e->enabled ? 100.0 * (double)e->running / (double)e->enabled
						  : 0,
				  .none = !e->enabled},
				 {.s = e->why_not},
			 });
	}
	emit_table_end(&c->emit);
	arena_release(&texts);
	vec_release(&counts);
}

/* Where the pipeline's slots went, when the events that tell it were counted; what is missing, when
 * some of them were. */
static void show_topdown(struct cmd *c, const struct stat *s)
{
	_str_ struct str why = {0};
	VEC(const char *) names = {0};
	VEC(double) counts = {0};
	struct topdown_events t;
	struct topdown r;
	int rc;

	vec_each (e, &s->rows) {
		if (e->why_not)
			continue;
		vec_push(&names, row_name(e));
		vec_push(&counts, e->runs.mean);
	}
	rc = topdown_find(names.v, names.n, s->input ? s->read.cpu : cpu_id_own(), &t, &why);
	if (rc >= 0 && topdown_of(&t, counts.v, &r))
		topdown_emit_line(&c->emit, &t, &r);
	else if (rc == -ENODATA)
		emit_text(&c->emit, "\n%s\n", str_get(&why));
	vec_release(&names);
	vec_release(&counts);
}

/* The account of a command goes to stderr: its own output stays clean. */
static int show(struct cmd *c, const struct stat *s)
{
	const bool apart = s->target.command.n && !s->output && c->emit.format == EMIT_TABLE;
	int rc = 0;

	if (s->output || apart) {
		c->emit.width = apart ? screen_width(STDERR_FILENO) : 0;
		c->emit.terminal = c->emit.width != 0;
		c->emit.colour = false;
	}
	emit_begin(&c->emit);
	show_header(c, s);
	show_rows(c, s);
	show_missing(c, s);
	show_topdown(c, s);
	emit_end(&c->emit);
	if (s->output)
		rc = out_file_save(s->output, c->out.v, c->out.n, &c->err);
	else if (apart)
		fwrite(c->out.v, 1, c->out.n, stderr);
	if (s->output || apart)
		c->out.n = 0;
	return rc;
}

/* --- the command --- */

/* Fills the rows with what `perf stat record` counted. */
static int read_input(struct stat *s, struct err *err)
{
	int rc = perf_counts_load(s->input, &s->read, err);

	if (rc < 0)
		return rc;
	vec_each (e, &s->read.counts) {
		struct stat_event row = {.name = e->name,
					 .unit = e->is_clock ? "ns" : "",
					 .is_clock = e->is_clock,
					 .why_not = e->known ? NULL : "not counted",
					 .enabled = e->enabled_ns,
					 .running = e->running_ns};

		runs_add(&row.runs, e->value);
		vec_push(&s->rows, row);
	}
	runs_add(&s->elapsed, (double)s->read.elapsed_ns / 1e9);
	return 0;
}

static int check(const struct stat *s, struct err *err)
{
	if (s->input && (s->target.all || s->target.pids.n || s->target.cgroup || s->events ||
			 s->target.command.n))
		return err_set(err, -EINVAL, "-i: shows what a file has, and counts nothing");
	if (!s->n_runs || s->n_runs > 1000000)
		return err_set(err, -EINVAL, "-r: from 1 to 1000000 runs");
	if (s->n_runs > 1 && !s->target.command.n)
		return err_set(err, -EINVAL, "-r: needs a command to run again");
	return 0;
}

static int parse_events(struct stat *s, struct err *err)
{
	struct event_env env = event_env_host;
	int rc;

	env.probe = NULL; /* what cannot be sampled may be counted */
	rc = event_list_parse(&env, s->events ? s->events : DEFAULT_EVENTS, &s->specs, err);
	if (rc >= 0)
		rc = event_groups_settle(&s->specs, err);
	if (rc < 0)
		return rc;
	vec_each (spec, &s->specs) {
		if (spec->period || spec->freq_hz || spec->attr.freq)
			return err_set(err, -EINVAL,
				       "%s: a period is of samples; `dwell record` takes them",
				       spec->name);
		vec_push(&s->rows, (struct stat_event){.spec = spec,
						       .unit = spec->unit,
						       .is_clock = spec->is_clock});
	}
	return 0;
}

/* Reads what -i names.  A directory, or a file of perf's without counts, is a recording, and is
 * shown. */
static int stat_input(struct cmd *c, struct stat *s)
{
	const int rc = read_input(s, &c->err);

	if (rc != -EISDIR && rc != -EINVAL)
		return rc;
	if (s->output)
		return err_set(&c->err, -EINVAL, "-o: counts of a recording go to the screen");
	s->is_shown = true;
	return stat_recording(c, s->input);
}

static int stat_count(struct cmd *c, struct stat *s)
{
	int rc = parse_events(s, &c->err);

	return rc < 0 ? rc : run_all(c, s);
}

int cmd_stat(struct cmd *c)
{
	struct stat s = {.n_runs = 1};
	const struct opt table[] = {
		{"a all", OPT_FLAG, &s.target.all, NULL, "count every process on every CPU"},
		{"p pid", OPT_LIST, &s.target.pids, "PID[,PID]",
		 "count these processes and what they start"},
		{"G cgroup", OPT_STR, &s.target.cgroup, "CGROUP",
		 "count the processes of a cgroup"},
		{"e event", OPT_STR, &s.events, "EVENTS",
		 "what to count (default: clocks, switches, faults, cycles, instructions, "
		 "branches)"},
		{"r repeat", OPT_U64, &s.n_runs, "N",
		 "run the command N times: means and their errors"},
		{"d duration", OPT_DURATION, &s.duration_ns, "TIME",
		 "stop after TIME (10, 500ms, 3m)"},
		{"i input", OPT_STR, &s.input, "FILE",
		 "show what perf stat record wrote to FILE, or what a recording counted"},
		{"o output", OPT_STR, &s.output, "FILE",
		 "where to write, instead of to the screen"},
		{0},
	};
	int rc = cmd_parse(c, "[-a | -p PID | -G CGROUP] [OPTIONS] [--] [COMMAND ARG...]", table,
			   true, &s.target.command);

	if (rc != 0)
		return rc;
	c->failure = 125; /* as env(1): other values may be COMMAND's */
	rc = check(&s, &c->err);
	if (rc >= 0 && s.input)
		rc = stat_input(c, &s);
	else if (rc >= 0)
		rc = stat_count(c, &s);
	if (rc >= 0 && !s.is_shown)
		rc = show(c, &s);
	if (rc >= 0 && !s.is_shown)
		rc = s.status;
	vec_each (e, &s.rows)
		opened_close(&e->opened);
	vec_release(&s.rows);
	event_specs_release(&s.specs);
	perf_counts_release(&s.read);
	vec_release(&s.target.pids);
	vec_release(&s.target.command);
	return rc;
}
