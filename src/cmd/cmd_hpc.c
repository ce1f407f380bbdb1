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
#include "base/str.h"
#include "cmd/cmd.h"
#include "hpc/build.h"
#include "query/input.h"

struct hpc_args {
	const char *output, *layout, *title;
	bool no_sources, force;
	uint64_t n_jobs;
	opt_list inputs;
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

static int parse(struct cmd *c, struct hpc_args *a, struct build_opts *o)
{
	const struct opt table[] = {
		{"o output", OPT_STR, &a->output, "DIR",
		 "where to write (default hpctoolkit-NAME-database)"},
		{"layout", OPT_STR, &a->layout, "released|page",
		 "which of the layouts called 4.0 (default: released)"},
		{"title", OPT_STR, &a->title, "TEXT", "title (default: the command)"},
		{"no-sources", OPT_FLAG, &a->no_sources, NULL, "copy no source files"},
		{"force", OPT_FLAG, &a->force, NULL, "replace a database that is there"},
		{"jobs j", OPT_U64, &a->n_jobs, "N", "threads (default: as many as CPUs)"},
		{0},
	};
	int rc = cmd_parse(c, "[-o DIR] [OPTIONS] [DB...]", table, false, &a->inputs);

	if (rc)
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
	return 0;
}

static unsigned n_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
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

static int add_input(struct cmd *c, struct build *b, const char *db)
{
	struct select s = c->select;
	struct input in;
	int rc;

	s.db = db ? db : s.db;
	if (s.db && hpc_db_probe(s.db))
		return add_database(c, b, s.db);
	s.traces = true;
	build_begin(b, &in.profile);
	rc = input_open_into(&in, &s, wants_all(&s) ? &b->sink : NULL, &c->err);
	if (rc)
		return rc;
	rc = build_add(b, in.resolver, in.path, &s, &c->err);
	if (rc)
		err_prefix(&c->err, rc, "%s", in.path);
	input_close(&in);
	return rc;
}

static int build_all(struct cmd *c, const struct hpc_args *a, struct build *b)
{
	int rc = 0;

	for (size_t i = 0; i < a->inputs.n && !rc; i++)
		rc = interrupted ? err_set(&c->err, -EINTR, "interrupted")
				 : add_input(c, b, a->inputs.v[i]);
	if (!a->inputs.n)
		rc = add_input(c, b, NULL);
	if (!rc)
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

static void say_result(struct cmd *c, const char *output, const struct build *b)
{
	str_addf(&c->out,
		 "%s: %zu thread%s, %zu contexts, %zu metric%s, %" PRIu64 " values, %" PRIu32
		 " source file%s\n",
		 output, b->identities.v.n, b->identities.v.n == 1 ? "" : "s", b->contexts.nodes.n,
		 b->metrics.v.n, b->metrics.v.n == 1 ? "" : "s", b->n_values, b->n_copied,
		 b->n_copied == 1 ? "" : "s");
}

int cmd_hpc(struct cmd *c)
{
	struct hpc_args a = {0};
	struct progress progress = {.shown = isatty(STDERR_FILENO)};
	struct new_dir dir = {.fd = -1};
	struct build_opts o = {.dir = &dir, .progress = on_progress, .user = &progress};
	struct build b;
	char *output = NULL;
	int rc = parse(c, &a, &o);

	if (!rc) {
		output = a.output ? xstrdup(a.output) : default_output(c, &a);
		o.n_threads = a.n_jobs ? (unsigned)a.n_jobs : n_cpus();
		catch_signals();
		rc = new_dir_begin(&dir, output, "meta.db", a.force, &c->err);
		if (!rc) {
			build_init(&b, &o);
			rc = build_all(c, &a, &b);
			if (!rc)
				rc = interrupted ? err_set(&c->err, -EINTR, "interrupted")
						 : new_dir_commit(&dir, &c->err);
			clear_progress(&progress);
			if (!rc)
				say_result(c, output, &b);
			build_release(&b);
		}
		new_dir_end(&dir);
	}
	vec_release(&a.inputs);
	free(output);
	return rc;
}
