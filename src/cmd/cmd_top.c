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
	/* What comes of it: */
	struct record_plan plan;
	struct live_opts live;
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
	struct target *t = &a->live.collect.target;
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
	str_add(&a->about, "all processes");
	return 0;
}

static int top_plan(struct cmd *c, struct top_args *a)
{
	const char *why;
	int rc = record_plan_init(&a->plan, &a->record, 0, &why, &c->err);

	if (rc < 0)
		return rc;
	rc = choose_target(c, a);
	record_plan_apply(&a->plan, &a->record, &a->live.collect);
	if (a->record.calls || a->record.call_graph)
		a->live.collect.calls = a->plan.calls;
	a->live.select = &c->select;
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

static int top_screen(struct cmd *c, const struct top_args *a, struct live *l)
{
	const struct tui_feed feed = {
		.ctx = l,
		.wait = feed_wait,
		.take = feed_take,
		.let_go = feed_let_go,
		.refresh_ms = (unsigned)(a->delay_ns / 1000000),
	};
	const struct tui_opts o = {
		.feed = &feed, .select = &c->select, .about = str_get(&a->about)};

	return tui_run(&o, &c->err);
}

/* --- text --- */

static int top_print(struct cmd *c, struct live_second *second)
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
	int rc = source_flat(second->source, &o, &f, &c->err);

	if (rc >= 0)
		prof_emit(&c->emit, &f, &po);
	flat_release(&f);
	str_addc(&c->out, '\n');
	if (rc >= 0)
		rc = file_write_all(STDOUT_FILENO, c->out.v, c->out.n);
	str_reset(&c->out);
	return rc;
}

static int top_text(struct cmd *c, const struct top_args *a, struct live *l)
{
	struct sigaction sa = {.sa_handler = top_on_signal}, dfl = {.sa_handler = SIG_DFL};
	uint64_t due_ns = clock_mono_ns() + a->delay_ns;
	int rc = 0;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	for (uint64_t n = 0; n < a->intervals && !interrupted && rc >= 0;) {
		const uint64_t now = clock_mono_ns();
		struct live_second *second;

		if (now < due_ns) {
			live_wait(l, (int)((due_ns - now + 999999) / 1000000), -1);
			continue;
		}
		due_ns = now + a->delay_ns;
		rc = live_take(l, &second, &c->err);
		if (rc < 0)
			break;
		rc = top_print(c, second);
		live_second_free(second);
		n++;
	}
	sigaction(SIGINT, &dfl, NULL);
	sigaction(SIGTERM, &dfl, NULL);
	return rc == -EPIPE ? 0 : rc < 0 ? rc : interrupted;
}

/* --- all --- */

static int top_live(struct cmd *c, struct top_args *a)
{
	struct live *l = NULL;
	int rc;

	if (!a->intervals && !cmd_has_terminal())
		return err_set(&c->err, -ENOTTY,
			       "stdin and stdout must be a terminal; --intervals N prints N "
			       "tables, and `dwell hot` what was recorded");
	if (a->delay_ns < 100000000 || a->delay_ns > 3600ull * 1000000000)
		return err_set(&c->err, -EINVAL, "-d: must be 100ms to 1h");
	cmd_want_one_event(c, &a->hot.source);
	file_raise_limit();
	rc = top_plan(c, a);
	if (rc >= 0)
		rc = readers_start(true, &c->err);
	if (rc >= 0)
		rc = live_start(&a->live, &l, &c->err);
	if (rc >= 0)
		rc = a->intervals ? top_text(c, a, l) : top_screen(c, a, l);
	live_stop(l);
	readers_end();
	layouts_end();
	if (a->live.collect.target.cgroup_fd > 0)
		close(a->live.collect.target.cgroup_fd);
	vec_release(&a->live.collect.target.pids);
	record_plan_release(&a->plan);
	return rc > 0 ? 128 + rc : rc;
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
		{"intervals", OPT_U64, &a.intervals, "N", "print N tables as text, then end"},
		HOT_OPTIONS(c, &a.hot),
		{0},
	};

	rc = cmd_parse(c, "[OPTIONS] [DB] [IMAGE...]", table, false, &a.hot.names);
	if (rc == 0 && wants_stored(c, &a)) {
		a.hot.n = a.hot.n == UINT64_MAX ? HOT_ROWS : a.hot.n;
		rc = hot_run(c, &a.hot);
	} else if (rc == 0) {
		rc = top_live(c, &a);
	}
	hot_args_release(&a.hot);
	record_options_release(&a.record);
	str_release(&a.about);
	return rc;
}
