/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell epochs`: what recordings a database has. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/flush_first.h"
#include "store/store.h"

static const struct emit_col columns[] = {
	{.key = "epoch", .type = EMIT_STR},
	{.key = "host", .type = EMIT_STR},
	{.key = "state", .type = EMIT_STR},
	{.key = "start", .type = EMIT_STR},
	{.key = "seconds", .type = EMIT_FIXED, .decimals = 1},
	{.key = "samples", .type = EMIT_U64},
	{.key = "lost", .type = EMIT_U64},
	{.key = "pruned", .type = EMIT_U64},
	{.key = "bytes", .type = EMIT_U64},
	{.key = "label", .type = EMIT_STR},
	{.key = "events", .type = EMIT_STR},
	{.key = "db", .type = EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
};

struct epochs_run {
	struct cmd *c;
	struct arena arena; /* texts of rows */
	const char *db;
	size_t n;
};

static const char *start_of(struct epochs_run *run, uint64_t wall_ns)
{
	time_t t = (time_t)(wall_ns / 1000000000);
	struct tm tm;
	char text[40];

	if (!wall_ns || !gmtime_r(&t, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return NULL;
	return arena_strdup(&run->arena, text);
}

static int show(void *ctx, const struct store_recording *r)
{
	struct epochs_run *run = ctx;
	struct arena *a = &run->arena;
	uint64_t n_samples = 0, n_lost = 0, n_pruned = 0;
	struct str events = {0};

	for (size_t i = 0; i < r->n_events; i++) {
		n_samples += r->events[i].n_samples;
		n_pruned += r->events[i].n_pruned;
		str_addf(&events, "%s%s", i ? "+" : "", r->events[i].name);
	}
	for (size_t i = 0; i < r->n_losses; i++)
		n_lost += r->losses[i].n;
	run->n++;
	emit_row(&run->c->emit,
		 (struct emit_cell[]){
			 {.s = arena_strdup(a, r->epoch)},
			 {.s = arena_strdup(a, r->host)},
			 {.s = r->live ? "live" : arena_strdup(a, r->state)},
			 {.s = start_of(run, r->start_wall_ns)},
			 {.d = (double)(r->end_wall_ns - r->start_wall_ns) / 1e9,
			  .none = r->end_wall_ns < r->start_wall_ns || !r->start_wall_ns},
			 {.u = n_samples},
			 {.u = n_lost},
			 {.u = n_pruned},
			 {.u = r->n_bytes},
			 {.s = *r->label ? arena_strdup(a, r->label) : NULL},
			 {.s = arena_strdup(a, str_get(&events))},
			 {.s = run->db},
		 });
	str_release(&events);
	return 0;
}

static int list(struct cmd *c, const char *path, const struct store_selection *sel)
{
	struct epochs_run run = {.c = c};
	store_paths dbs = {0};
	int rc = store_members(path, &dbs, &c->err);

	if (!rc && !dbs.n)
		rc = err_set(&c->err, -EINVAL, "%s: no dwell database", path);
	emit_begin(&c->emit);
	emit_table(&c->emit, "rows", columns, n_elems(columns));
	for (size_t i = 0; i < dbs.n && !rc; i++) {
		run.db = dbs.v[i];
		cmd_flush_first(c, run.db);
		rc = store_list(dbs.v[i], sel, show, &run, &c->err);
	}
	emit_table_end(&c->emit);
	emit_end(&c->emit);
	arena_release(&run.arena);
	store_paths_release(&dbs);
	if (!rc && !run.n) {
		cmd_notice(c, "no epochs in %s", path);
		rc = CMD_NOTHING;
	}
	return rc;
}

int cmd_epochs(struct cmd *c)
{
	struct store_selection sel = {0};
	const char *db = NULL, *since = NULL, *until = NULL;
	const struct opt table[] = {
		{"db", OPT_STR, &db, "DB",
		 "database (default $DWELLDB, $DCPIDB, ~/.local/share/dwell)"},
		{"epoch", OPT_STR, &sel.epochs, "E[,E...]",
		 "epochs: all (default), latest, NAME, FROM..TO"},
		{"since", OPT_STR, &since, "TIME",
		 "epochs with samples since then: 2d (ago), or a date of UTC"},
		{"until", OPT_STR, &until, "TIME", "epochs that began by then"},
		{"host", OPT_STR, &sel.host, "NAME",
		 "only recordings of this host; patterns are allowed"},
		CMD_NO_FLUSH(c),
		{0},
	};
	opt_list operands = {0};
	int rc = cmd_parse(c, "[OPTIONS] [DB]", table, false, &operands);
	char *path;

	if (!rc && operands.n > (db ? 0 : 1))
		rc = err_set(&c->err, -EINVAL, "needs one database");
	if (!rc && since)
		rc = select_parse_time(since, 0, &sel.since_wall_ns, &c->err);
	if (!rc && until)
		rc = select_parse_time(until, 0, &sel.until_wall_ns, &c->err);
	if (!rc) {
		db = operands.n ? operands.v[0] : db;
		sel.epochs = sel.epochs ? sel.epochs : "all";
		path = db ? xstrdup(db) : store_default_path();
		rc = list(c, path, &sel);
		free(path);
	}
	vec_release(&operands);
	return rc;
}
