/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell top`: what the machine does now.  With --db, -n, --json or whatever else chooses from what
 * is stored it is `dwell hot`, as it was before there was a live one. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cmd/cmd_hot.h"
#include "cmd/record_target.h"
#include "cmd/top_stored.h"
#include "daemon/layouts.h"
#include "daemon/live.h"
#include "daemon/readers.h"
#include "daemon/record_options.h"
#include "tui/tui.h"
#include "view/prof.h"

#define TEXT_ROWS 20 /* of each table where there is no terminal */

struct top_args {
	struct hot_args hot;
	struct record_options record;
	const char *cgroup;
	uint64_t delay_ns, intervals;
	bool live; /* of a database: what its daemon samples */
	/* What comes of it: */
	struct record_plan plan;
	struct live_opts now;
	struct str about;
};

static volatile sig_atomic_t interrupted;

static void top_on_signal(int sig)
{
	interrupted = sig;
}

/* --- what is sampled --- */

/* The options that choose from what is stored. */
static bool wants_stored(const struct cmd *c, const struct top_args *a)
{
	const struct select *s = &c->select;

	return s->db || s->epochs || s->host || s->since || s->until || s->columns.n ||
	       s->sort_set || s->errors || a->hot.n != UINT64_MAX || a->hot.names.n ||
	       a->hot.no_header || a->hot.source.derived.n || a->hot.source.stats.n ||
	       a->hot.source.threads.n || a->hot.source.taxonomy || a->hot.source.all_metrics ||
	       c->json || c->csv;
}

/* What is sampled, in ABOUT's words. */
static int choose_target(struct cmd *c, struct top_args *a)
{
	struct target *t = &a->now.collect.target;
	opt_list *pids = &c->select.owners[OWNER_KEY_PID];

	if (pids->n && a->cgroup)
		return err_set(&c->err, -EINVAL, "-p and -G exclude each other");
	t->cgroup_fd = -1;
	if (a->cgroup) {
		t->kind = TARGET_CGROUP;
		t->cgroup_fd = record_open_cgroup(a->cgroup, &c->err);
		str_addf(&a->about, "cgroup %s", a->cgroup);
		return t->cgroup_fd < 0 ? t->cgroup_fd : 0;
	}
	if (pids->n) {
		int rc = record_parse_pids(pids, t, &c->err);

		t->kind = TARGET_PIDS;
		str_add(&a->about, "process");
		vec_each (pid, pids)
			str_addf(&a->about, " %s", *pid);
		pids->n = 0; /* what they start is shown as well */
		return rc;
	}
	t->kind = TARGET_ALL;
	str_add(&a->about, "all");
	return 0;
}

static int top_plan(struct cmd *c, struct top_args *a)
{
	const char *why;
	int rc = record_plan_init(&a->plan, &a->record, 0, &why, &c->err);

	if (rc < 0)
		return rc;
	rc = choose_target(c, a);
	record_plan_apply(&a->plan, &a->record, &a->now.collect);
	if (a->record.calls || a->record.call_graph)
		a->now.collect.calls = a->plan.calls;
	a->now.select = &c->select;
	return rc;
}

/* --- the terminal --- */

static void feed_wait(void *ctx, int timeout_ms, int fd)
{
	live_wait(ctx, timeout_ms, fd);
}

static int feed_take(void *ctx, struct tui_set *ret, struct err *err)
{
	struct live_second *second;
	int rc = live_take(ctx, &second, err);

	if (rc >= 0)
		*ret = (struct tui_set){second->source, second->seconds, second};
	return rc;
}

static void feed_let_go(void *ctx, struct tui_set *set)
{
	live_second_free(set->own);
}

static int top_screen(struct cmd *c, const struct top_args *a, const struct tui_feed *feed)
{
	const struct tui_opts o = {.feed = feed, .select = &c->select, .about = str_get(&a->about)};

	return tui_run(&o, &c->err);
}

/* --- text --- */

static int top_print(struct cmd *c, struct source *second)
{
	const struct flat_opts o = {
		.by = {.keys = {ROW_KEY_PROCEDURE}, .n = 1},
		.level = SCOPE_PROCEDURE,
		.inclusive = true,
		.keep_pct = 100,
		.most = TEXT_ROWS,
	};
	const struct prof_opts po = {0};
	struct flat f;
	int rc = source_flat(second, &o, &f, &c->err);

	if (rc >= 0)
		prof_emit(&c->emit, &f, &po);
	flat_release(&f);
	str_addc(&c->out, '\n');
	if (rc >= 0)
		rc = file_write_all(STDOUT_FILENO, c->out.v, c->out.n);
	str_reset(&c->out);
	return rc;
}

static int top_text(struct cmd *c, const struct top_args *a, const struct tui_feed *feed)
{
	struct sigaction sa = {.sa_handler = top_on_signal}, dfl = {.sa_handler = SIG_DFL};
	uint64_t due_ns = clock_mono_ns() + a->delay_ns;
	int rc = 0;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	for (uint64_t n = 0; n < a->intervals && !interrupted && rc >= 0;) {
		const uint64_t now = clock_mono_ns();
		struct tui_set second = {0};

		if (now < due_ns) {
			feed->wait(feed->ctx, (int)((due_ns - now + 999999) / 1000000), -1);
			continue;
		}
		due_ns = now + a->delay_ns;
		rc = feed->take(feed->ctx, &second, &c->err);
		if (rc != 0)
			continue;
		rc = top_print(c, second.source);
		feed->let_go(feed->ctx, &second);
		n++;
	}
	sigaction(SIGINT, &dfl, NULL);
	sigaction(SIGTERM, &dfl, NULL);
	return rc == -EPIPE ? 0 : rc < 0 ? rc : interrupted;
}

static int top_feed(struct cmd *c, const struct top_args *a, const struct tui_feed *feed)
{
	return a->intervals ? top_text(c, a, feed) : top_screen(c, a, feed);
}

/* --- a daemon's database --- */

/* What is sampled, and how, is the daemon's affair. */
static int refuse_recording(struct cmd *c, const struct top_args *a)
{
	const struct record_options *r = &a->record;

	if (a->cgroup || r->events.n || r->freq_hz || r->period || r->engine || r->call_graph ||
	    r->calls)
		return err_set(
			&c->err, -EINVAL,
			"--live --db: -G, -e, -F, -c, -g, --call-graph and --engine say what "
			"is sampled, which the daemon does; --cgroup and --event choose");
	if (c->select.epochs || c->select.since || c->select.until || c->json || c->csv)
		return err_set(&c->err, -EINVAL,
			       "--live shows what is sampled now: it excludes --epoch, --since, "
			       "--until, --json and --csv");
	return 0;
}

static int top_follow(struct cmd *c, struct top_args *a)
{
	struct top_stored *t;
	int rc = refuse_recording(c, a);

	if (rc >= 0)
		rc = top_stored_new(c, &t, &c->err);
	if (rc >= 0) {
		const struct tui_feed feed = {
			.ctx = t,
			.wait = top_stored_wait,
			.take = top_stored_take,
			.let_go = top_stored_let_go,
			.refresh_ms = (unsigned)(a->delay_ns / 1000000),
		};

		str_addf(&a->about, "%s", c->select.db);
		rc = top_feed(c, a, &feed);
		top_stored_free(t);
	}
	return rc > 0 ? 128 + rc : rc;
}

/* --- all --- */

static int top_live(struct cmd *c, struct top_args *a)
{
	struct live *l = NULL;
	int rc;

	file_raise_limit();
	rc = top_plan(c, a);
	if (rc >= 0)
		rc = readers_start(true, &c->err);
	if (rc >= 0)
		rc = live_start(&a->now, &l, &c->err);
	if (rc >= 0) {
		const struct tui_feed feed = {
			.ctx = l,
			.wait = feed_wait,
			.take = feed_take,
			.let_go = feed_let_go,
			.refresh_ms = (unsigned)(a->delay_ns / 1000000),
		};

		rc = top_feed(c, a, &feed);
	}
	live_stop(l);
	readers_end();
	layouts_end();
	if (a->now.collect.target.cgroup_fd > 0)
		close(a->now.collect.target.cgroup_fd);
	vec_release(&a->now.collect.target.pids);
	record_plan_release(&a->plan);
	return rc > 0 ? 128 + rc : rc;
}

/* What both kinds of live tables ask for. */
static int top_check(struct cmd *c, const struct top_args *a)
{
	if (a->live && a->hot.names.n)
		return err_set(&c->err, -EINVAL, "--live takes no image: '%s'", a->hot.names.v[0]);
	if (!a->intervals && !cmd_has_terminal())
		return err_set(&c->err, -ENOTTY,
			       "stdin and stdout must be a terminal; --intervals N prints N "
			       "tables, and `dwell hot` what was recorded");
	if (a->delay_ns < 100000000 || a->delay_ns > 3600ull * 1000000000)
		return err_set(&c->err, -EINVAL, "-d: must be 100ms to 1h");
	return 0;
}

static int top_show(struct cmd *c, struct top_args *a)
{
	int rc;

	if (a->live)
		cmd_take_source(c, &a->hot.names);
	if (!a->live && wants_stored(c, a)) {
		a->hot.n = a->hot.n == UINT64_MAX ? HOT_ROWS : a->hot.n;
		return hot_run(c, &a->hot);
	}
	rc = top_check(c, a);
	if (rc < 0)
		return rc;
	cmd_want_one_event(c, &a->hot.source);
	return a->live && c->select.db ? top_follow(c, a) : top_live(c, a);
}

int cmd_top(struct cmd *c)
{
	struct top_args a = {.hot.n = UINT64_MAX, .delay_ns = 1000000000};
	struct opt row[N_RECORD_OPTIONS];
	int rc;

	record_options_rows(&a.record, row);
	row[OPT_RECORD_EVENT].names = "e";

	const struct opt table[] = {
		{"G", OPT_STR, &a.cgroup, "CGROUP", "only the processes of a cgroup, now"},
		row[OPT_RECORD_EVENT],
		row[OPT_RECORD_FREQ],
		row[OPT_RECORD_COUNT],
		row[OPT_RECORD_CALLS],
		row[OPT_RECORD_CALL_GRAPH],
		row[OPT_RECORD_ENGINE],
		{"d delay", OPT_DURATION, &a.delay_ns, "TIME", "a new table so often (default 1s)"},
		{"live", OPT_FLAG, &a.live, NULL,
		 "with --db: what the daemon that records into DB samples now"},
		{"intervals", OPT_U64, &a.intervals, "N", "print N tables as text, then end"},
		HOT_OPTIONS(c, &a.hot),
		{0},
	};

	rc = cmd_parse(c, "[OPTIONS] [DB] [IMAGE...]", table, false, &a.hot.names);
	if (rc == 0)
		rc = top_show(c, &a);
	hot_args_release(&a.hot);
	record_options_release(&a.record);
	str_release(&a.about);
	return rc;
}
