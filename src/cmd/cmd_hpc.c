/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell hpc [-o DIR] [DB...]`: an HPCToolkit database made of recordings and other such
 * databases. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path_rules.h"
#include "base/plural.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "formats/hpc/metrics_yaml.h"
#include "hpc/build.h"
#include "query/samples/input.h"

struct hpc_args {
	const char *output, *layout, *title;
	bool no_sources, no_traces, instructions, force, foreign;
	uint64_t n_jobs;
	opt_list stats, prefixes, structs, inputs;
};

/* --- interrupts --- */

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

/* Interrupts are noticed between steps, so that what was begun is cleaned up. */
static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < n_elems(signals); i++)
		sigaction(signals[i], &sa, NULL);
}

/* --- progress --- */

struct progress {
	bool shown; /* stderr is a terminal */
	bool on_line;
	uint64_t last_ns;
};

#define BAR 32

static void clear_progress(struct progress *p)
{
	if (p->on_line)
		dprintf(STDERR_FILENO, "\r\033[K");
	p->on_line = false;
}

static int on_progress(void *user, const char *what, uint64_t done, uint64_t all)
{
	struct progress *p = user;
	char bar[BAR + 1] = {0};
	uint64_t now;
	size_t n;

	if (interrupted)
		return -EINTR;
	if (!p->shown || !all)
		return 0;
	now = clock_mono_ns();
	if (done < all && now - p->last_ns < 100000000)
		return 0;
	p->last_ns = now;
	n = (size_t)((double)done / (double)all * BAR);
	memset(bar, '#', n < BAR ? n : BAR);
	dprintf(STDERR_FILENO, "\r%-9s [%-*s] %3.0f %%", what, BAR, bar,
		100.0 * (double)done / (double)all);
	p->on_line = true;
	return 0;
}

/* --- the command --- */

/* What hpcprof's -M calls several statistics; sums are always there. */
static const struct {
	const char *name;
	const char *variants[6];
} stat_groups[] = {
	{"none", {NULL}},
	{"normal", {"mean", "stddev", "cfvar"}},
	{"extrema", {"min", "max"}},
	{"stats", {"sum", "mean", "stddev", "cfvar", "min", "max"}},
};

static bool is_stat_group(const char *s, size_t n, unsigned *ret)
{
	for (size_t i = 0; i < n_elems(stat_groups); i++) {
		if (strlen(stat_groups[i].name) != n || memcmp(stat_groups[i].name, s, n) != 0)
			continue;
		for (size_t k = 0; k < n_elems(stat_groups[i].variants); k++) {
			const char *v = stat_groups[i].variants[k];

			*ret |= v ? hpc_metrics_yaml_variant(v, strlen(v)) : 0;
		}
		return true;
	}
	return false;
}

/* Adds the variants that the comma-separated lists NAMES name to RET. */
static int parse_stats(const opt_list *names, unsigned *ret, struct err *err)
{
	vec_each (list, names)
		for (const char *s = *list, *end; *s; s = *end ? end + 1 : end) {
			unsigned variant;

			end = s + strcspn(s, ",");
			if (is_stat_group(s, (size_t)(end - s), ret))
				continue;
			variant = hpc_metrics_yaml_variant(s, (size_t)(end - s));
			if (!variant)
				return err_set(
					err, -EINVAL,
					"--stat %.*s: must be sum, mean, stddev, cfvar, min, "
					"max, normal, extrema, stats or none",
					(int)(end - s), s);
			*ret |= variant;
		}
	return 0;
}

/* hpcprof's option that has no counterpart is refused with what to do instead. */
static int refuse_others(const struct hpc_args *a, struct err *err)
{
	if (a->structs.n)
		return err_set(
			err, -EINVAL,
			"-S %s: structure files are not read; leave -S out, functions, loops "
			"and lines come from the programs themselves",
			a->structs.v[0]);
	return 0;
}

/* Takes the rules of -R, by which images and source files are looked for. */
static int parse_rules(struct cmd *c, struct hpc_args *a, struct build_opts *o)
{
	vec_each (text, &a->prefixes) {
		int rc = path_rule_check(*text, &c->err);

		if (rc < 0)
			return err_prefix(&c->err, rc, "-R");
		vec_push(&c->select.paths, *text);
	}
	if (a->foreign)
		vec_push(&c->select.paths, "/=");
	o->rules = a->prefixes.v;
	o->n_rules = a->prefixes.n;
	return 0;
}

static int hpc_parse(struct cmd *c, struct hpc_args *a, struct build_opts *o)
{
	const struct opt table[] = {
		{"o output", OPT_STR, &a->output, "DIR",
		 "where to write (default hpctoolkit-NAME-database)"},
		{"layout", OPT_STR, &a->layout, "released|page",
		 "which of the layouts called 4.0 (default: released)"},
		{"n title name", OPT_STR, &a->title, "TEXT", "title (default: the command)"},
		{"instructions", OPT_FLAG, &a->instructions, NULL,
		 "list the instructions in the tree of contexts"},
		{"M stat", OPT_LIST, &a->stats, "S[,S...]",
		 "show beside sums: mean, stddev, cfvar, min, max over threads; normal, extrema, "
		 "stats",
		 .words = "mean stddev cfvar min max normal extrema stats"},
		{"no-sources no-source", OPT_FLAG, &a->no_sources, NULL, "copy no source files"},
		{"no-traces", OPT_FLAG, &a->no_traces, NULL, "write no time lines"},
		{"R replace-prefix", OPT_LIST, &a->prefixes, "FROM=TO",
		 "look for programs and source files at TO whose path begins with FROM"},
		{"foreign", OPT_FLAG, &a->foreign, NULL,
		 "measured elsewhere: programs at the same paths here are others"},
		{"S structure", OPT_LIST, &a->structs, "FILE", "refused: not needed"},
		{"force", OPT_FLAG, &a->force, NULL, "replace a database that is there"},
		{"jobs j", OPT_U64, &a->n_jobs, "N", "threads (default: as many as CPUs)"},
		{0},
	};
	int rc = cmd_parse(c, "[-o DIR] [OPTIONS] [DB...]", table, false, &a->inputs);

	if (rc != 0)
		return rc;
	if (a->layout && strcmp(a->layout, "released") != 0 && strcmp(a->layout, "page") != 0)
		return err_set(&c->err, -EINVAL, "--layout %s: must be released or page",
			       a->layout);
	if (a->n_jobs > 4096)
		return err_set(&c->err, -EINVAL, "--jobs: must be 1 to 4096");
	if (a->inputs.n && c->select.db)
		return err_set(&c->err, -EINVAL, "--db and '%s' both name a database",
			       a->inputs.v[0]);
	o->layout = a->layout && strcmp(a->layout, "page") == 0 ? HPC_PAGE : HPC_RELEASED;
	o->title = a->title;
	o->no_sources = a->no_sources;
	o->no_traces = a->no_traces;
	o->instructions = a->instructions;
	rc = refuse_others(a, &c->err);
	if (rc >= 0)
		rc = parse_rules(c, a, o);
	return rc < 0 ? rc : parse_stats(&a->stats, &o->variants, &c->err);
}

/* The CPUs there are for this process, when others on this machine want as many. */
static unsigned n_cpus(unsigned n_here)
{
	long n_online = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = 1, share = n_online > 0 ? (unsigned)n_online / n_here : 1;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = (unsigned)CPU_COUNT(&set);
	if (n_here > 1 && n > share)
		n = share;
	return n ? n : 1;
}

/* Whether all samples are wanted as they are stored, so that they need not be in memory. */
static bool wants_all(const struct select *s)
{
	bool all = !s->events.n && !s->sort;

	for (unsigned k = 0; k < N_OWNER_KEYS; k++)
		all &= !s->owners[k].n;
	return all;
}

static int add_database(struct cmd *c, struct build *b, const char *path)
{
	if (!wants_all(&c->select))
		return err_set(&c->err, -EINVAL,
			       "%s: HPCToolkit databases are put in whole; --event and the like "
			       "choose among samples",
			       path);
	return build_add_database(b, path, &c->err);
}

/* N_SHARED: processes I, I + N_SHARED, ... share it; 0: it is this one's alone. */
static int add_input(struct cmd *c, struct build *b, const char *db, size_t n_shared)
{
	const struct ranks *r = b->opts.ranks;
	struct select s = c->select;
	struct input in;
	int rc;

	s.db = db ? db : s.db;
	if (s.db && hpc_db_probe(s.db))
		return add_database(c, b, s.db);
	s.traces = !b->opts.no_traces;
	build_begin(b, &in.profile);
	if (n_shared)
		build_take_part(
			b, (unsigned)(r->rank / n_shared),
			(unsigned)((r->size - r->rank % n_shared + n_shared - 1) / n_shared));
	rc = input_open_into(&in, &s, wants_all(&s) ? &b->sink : NULL, &c->err);
	if (rc < 0)
		return rc;
	rc = build_add(b, in.resolver, in.path, &s, &c->err);
	if (rc < 0)
		err_prefix(&c->err, rc, "%s", in.path);
	input_close(&in);
	return rc;
}

/* Adds the I-th of N inputs, DB, as far as it is this process's: of several inputs every process
 * has some; of fewer inputs than processes each has a part of one, but the contexts of a database
 * are one process's. */
static int add_own(struct cmd *c, struct build *b, size_t i, size_t n, const char *db)
{
	const struct ranks *r = b->opts.ranks;
	bool is_database = db && hpc_db_probe(db);

	if (r && (is_database || n >= r->size) && build_owner(b, (uint32_t)i) != r->rank)
		return build_skip(b, is_database ? db : NULL, &c->err);
	if (r && n < r->size && !is_database && r->rank % n != i)
		return build_skip(b, NULL, &c->err);
	return add_input(c, b, db, r && n < r->size ? n : 0);
}

static int build_all(struct cmd *c, const struct hpc_args *a, struct build *b)
{
	size_t n = a->inputs.n ? a->inputs.n : 1;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = interrupted ? err_set(&c->err, -EINTR, "interrupted")
				 : add_own(c, b, i, n, a->inputs.n ? a->inputs.v[i] : c->select.db);
	if (rc == 0)
		rc = build_save(b, &c->err);
	return rc;
}

/* hpctoolkit-NAME-database, as HPCToolkit calls its own: NAME is the input's. */
static char *default_output(const struct cmd *c, const struct hpc_args *a)
{
	const char *db = a->inputs.n ? a->inputs.v[0] : c->select.db;
	size_t n = strlen(db ? db : "dwell"), start;

	db = db ? db : "dwell";
	while (n > 1 && db[n - 1] == '/')
		n--;
	for (start = n; start > 0 && db[start - 1] != '/';)
		start--;
	return xasprintf("hpctoolkit-%.*s-database", (int)(n - start), db + start);
}

/* Whether no profile is one thread's: the recordings did not keep threads apart. */
static bool without_threads(const struct build *b)
{
	vec_each (i, &b->identities.v)
		if (i->db || i->tid)
			return false;
	return b->identities.v.n > 0;
}

static void say_result(struct cmd *c, const char *output, const struct build *b)
{
	if (without_threads(b))
		cmd_notice(
			c,
			"threads were not kept apart: dwell record --by tid, or --trace, gives a "
			"profile a thread");
	str_addf(&c->out,
		 "%s: %zu thread%s, %zu context%s, %zu metric%s, %" PRIu64 " value%s, %" PRIu32
		 " source file%s\n",
		 output, b->identities.v.n, plural_s(b->identities.v.n), b->contexts.nodes.n,
		 plural_s(b->contexts.nodes.n), b->metrics.v.n, plural_s(b->metrics.v.n),
		 b->n_values, plural_s(b->n_values), b->n_copied, plural_s(b->n_copied));
}

/* Begins the new database: number 0 does, the others take part.  All work with as many threads. */
static int hpc_begin(struct cmd *c, const struct hpc_args *a, const char *output,
		     struct new_dir *dir, struct build_opts *o)
{
	const struct ranks *r = o->ranks;
	void *aside = NULL;
	uint64_t n_jobs = 0;
	size_t n = 0;
	int rc = 0;

	o->n_threads = a->n_jobs ? (unsigned)a->n_jobs : n_cpus(r ? r->n_here : 1);
	if (!r || r->rank == 0)
		rc = new_dir_begin(dir, output, "meta.db", a->force, &c->err);
	if (rc < 0 || !r)
		return rc;
	if (r->rank == 0) {
		aside = dir->aside;
		n = strlen(dir->aside) + 1;
		n_jobs = o->n_threads;
	}
	rc = ranks_broadcast(r, 0, &aside, &n, &c->err);
	if (rc >= 0)
		rc = ranks_sum(r, &n_jobs, 1, &c->err);
	o->n_threads = (unsigned)n_jobs;
	if (rc >= 0 && r->rank)
		rc = new_dir_join(dir, aside, &c->err);
	if (r->rank)
		free(aside);
	return rc;
}

/* Puts the database in its place, when all are done. */
static int commit(struct cmd *c, struct new_dir *dir, const struct ranks *r)
{
	uint64_t n_interrupted = interrupted != 0;
	int rc = 0;

	/* The others do so while number 0 writes the rest. */
	if (r && r->rank)
		rc = new_dir_sync(dir, &c->err);
	if (rc >= 0 && r)
		rc = ranks_sum(r, &n_interrupted, 1, &c->err);
	if (rc < 0)
		return rc;
	if (n_interrupted)
		return err_set(&c->err, -EINTR, "interrupted");
	if (!r || r->rank == 0)
		return new_dir_commit(dir, &c->err);
	new_dir_leave(dir);
	return 0;
}

/* One process's failure is all processes': it says why and ends them. */
static void end_all(const struct cmd *c, const struct ranks *r)
{
	fprintf(stderr, "dwell hpc: %s\n", c->err.msg);
	fflush(stderr);
	r->ops->abort(2);
}

int cmd_hpc(struct cmd *c)
{
	struct hpc_args a = {0};
	struct progress progress = {.shown = isatty(STDERR_FILENO)};
	struct new_dir dir = {.fd = -1};
	struct build_opts o = {.dir = &dir, .progress = on_progress, .user = &progress};
	struct ranks ranks = {0};
	struct build b;
	char *output = NULL;
	int rc = hpc_parse(c, &a, &o);

	if (rc == 0) {
		catch_signals();
		rc = ranks_join(&ranks, &c->err);
	}
	if (rc == 0) {
		o.ranks = ranks.ops ? &ranks : NULL;
		progress.shown &= ranks.rank == 0;
		output = a.output ? xstrdup(a.output) : default_output(c, &a);
		rc = hpc_begin(c, &a, output, &dir, &o);
		if (rc == 0) {
			build_init(&b, &o);
			rc = build_all(c, &a, &b);
			if (rc == 0)
				rc = commit(c, &dir, o.ranks);
			clear_progress(&progress);
			if (rc == 0 && ranks.rank == 0)
				say_result(c, output, &b);
			build_release(&b);
		}
		new_dir_end(&dir);
		if (rc != 0 && ranks.ops)
			end_all(c, &ranks);
		ranks_leave(&ranks);
	}
	vec_release(&a.inputs);
	vec_release(&a.stats);
	vec_release(&a.prefixes);
	vec_release(&a.structs);
	free(output);
	return rc;
}
