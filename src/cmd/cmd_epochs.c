/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell epochs`: what recordings a database has. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/flush_first.h"
#include "fleet/load.h"
#include "port/dcpi_in.h"
#include "port/histograms.h"
#include "query/samples/minutes.h"
#include "query/source.h"
#include "store/store.h"
#include "view/minutes.h"

static const struct emit_col columns[] = {
	{.key = "epoch", .type = EMIT_STR},
	{.key = "host", .type = EMIT_STR, .cut = TEXT_END},
	{.key = "state", .type = EMIT_STR},
	{.key = "start", .type = EMIT_STR, .spare = 3},
	{.key = "seconds", .type = EMIT_FIXED, .decimals = 1},
	{.key = "samples", .type = EMIT_U64},
	{.key = "lost", .type = EMIT_U64, .spare = 1},
	{.key = "pruned", .type = EMIT_U64, .spare = 2},
	{.key = "bytes", .type = EMIT_U64},
	{.key = "label", .type = EMIT_STR, .cut = TEXT_END},
	{.key = "events", .type = EMIT_STR, .cut = TEXT_END},
	{.key = "job", .type = EMIT_STR, .in = EMIT_IN_JSON},
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

static int epochs_show(void *ctx, const struct store_recording *r)
{
	struct epochs_run *run = ctx;
	struct arena *a = &run->arena;
	uint64_t n_samples = 0, n_lost = 0, n_pruned = 0;
	_str_ struct str events = {0};

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
			 {.s = *r->job ? arena_strdup(a, r->job) : NULL},
			 {.s = run->db},
		 });
	return 0;
}

/* Does so for a DCPI tree. */
struct tree_run {
	struct epochs_run *run;
	struct histograms left;
	uint64_t n_bytes;
};

static int add_bytes(void *ctx, const struct dcpi_recording *r, const char *name)
{
	struct tree_run *t = ctx;
	struct stat st;

	if (fstatat(r->fd, name, &st, AT_SYMLINK_NOFOLLOW) >= 0)
		t->n_bytes += (uint64_t)st.st_size;
	return 0;
}

static void tell_problem(void *ctx, const char *where, const char *why)
{
	cmd_notice(ctx, "%s: %s; it is left out", where, why);
}

static int show_of_tree(void *ctx, const struct dcpi_recording *r)
{
	struct tree_run *t = ctx;
	struct epochs_run *run = t->run;
	struct arena *a = &run->arena;
	const struct dcpi_select sel = {.epochs = r->epoch,
					.host = r->host,
					.beside = t->left.tree,
					.problem = tell_problem,
					.problem_ctx = run->c};
	uint64_t n_samples = 0, n_lost = 0;
	_str_ struct str events = {0};
	struct profile p;
	int rc;

	profile_init(&p);
	t->n_bytes = 0;
	rc = dcpi_in_load(run->db, &sel, &p, &run->c->err);
	if (rc >= 0)
		rc = dcpi_in_each_file(r, add_bytes, t, &run->c->err);
	vec_each (v, &p.values)
		n_samples += value_is_samples(&p, v) ? v->count : 0;
	vec_each (l, &p.losses)
		n_lost += l->n;
	vec_each (e, &p.events)
		str_addf(&events, "%s%s", events.n ? "+" : "", profile_str(&p, e->name));
	run->n += rc >= 0;
	if (rc >= 0)
		emit_row(&run->c->emit,
			 (struct emit_cell[]){
				 {.s = arena_strdup(a, r->epoch)},
				 {.s = arena_strdup(a, r->host)},
				 {.s = "dcpi"},
				 {.s = start_of(run, p.meta.start_wall_ns)},
				 {.d = (double)(p.meta.end_wall_ns - p.meta.start_wall_ns) / 1e9,
				  .none = p.meta.end_wall_ns < p.meta.start_wall_ns},
				 {.u = n_samples},
				 {.u = n_lost},
				 {.u = 0},
				 {.u = t->n_bytes},
				 {.s = NULL},
				 {.s = arena_strdup(a, str_get(&events))},
				 {.s = NULL},
				 {.s = run->db},
			 });
	profile_release(&p);
	return rc;
}

static int list_tree(struct epochs_run *run, const struct store_selection *sel)
{
	struct dcpi_select d = {.epochs = sel->epochs,
				.host = sel->host,
				.problem = tell_problem,
				.problem_ctx = run->c};
	struct tree_run t = {.run = run};
	int rc;

	if (sel->since_wall_ns || sel->until_wall_ns)
		return err_set(
			&run->c->err, -EINVAL,
			"%s: of a DCPI tree --epoch FROM..TO chooses, not --since and --until",
			run->db);
	cmd_flush_first(run->c, run->db);
	rc = histograms_open(&t.left, run->db, &run->c->err);
	if (rc != 0)
		return rc;
	d.beside = t.left.tree;
	rc = dcpi_in_each(run->db, &d, show_of_tree, &t, &run->c->err);
	histograms_close(&t.left);
	return rc < 0 ? rc : 0;
}

static void show_of_fleet(void *ctx, const struct fleet_recording *r)
{
	struct epochs_run *run = ctx;
	struct arena *a = &run->arena;

	run->n++;
	emit_row(&run->c->emit, (struct emit_cell[]){
					{.s = arena_strdup(a, r->epoch)},
					{.s = arena_strdup(a, r->host)},
					{.s = "shipped"},
					{.s = start_of(run, r->start_ns)},
					{.d = (double)(r->end_ns - r->start_ns) / 1e9,
					 .none = r->end_ns < r->start_ns},
					{.u = r->n_samples},
					{.none = true},
					{.none = true},
					{.none = true},
					{.s = NULL},
					{.s = NULL},
					{.s = NULL},
					{.s = run->db},
				});
}

static int list_fleet(struct epochs_run *run, const struct store_selection *sel)
{
	const struct fleet_selection f = {
		.host = sel->host,
		.epoch = strcmp(sel->epochs, "all") == 0 ? NULL : sel->epochs,
		.since_ns = sel->since_wall_ns,
		.until_ns = sel->until_wall_ns,
	};

	return fleet_list(run->db, &f, show_of_fleet, run, &run->c->err);
}

static int list(struct cmd *c, const char *path, const struct store_selection *sel)
{
	struct epochs_run run = {.c = c};
	store_paths dbs = {0};
	const enum source_kind kind = source_kind_of(path);
	const bool is_tree = kind & (SOURCE_DCPI_TREE | SOURCE_HISTOGRAMS);
	int rc = is_tree || kind == SOURCE_FLEET
			 ? 0
			 : source_check_kind(path, SOURCE_STORE | SOURCE_STORES, "dwell epochs",
					     "dwell databases and DCPI trees", &c->err);

	if (rc == 0 && !is_tree && kind != SOURCE_FLEET)
		rc = store_members(path, &dbs, &c->err);
	if (rc == 0 && !dbs.n && !is_tree && kind != SOURCE_FLEET)
		rc = err_set(&c->err, -EINVAL, "%s: no dwell database", path);
	emit_begin(&c->emit);
	emit_rows_by(&c->emit, "recording");
	emit_table(&c->emit, "rows", columns, n_elems(columns));
	run.db = path;
	if (is_tree)
		rc = list_tree(&run, sel);
	else if (rc == 0 && kind == SOURCE_FLEET)
		rc = list_fleet(&run, sel);
	for (size_t i = 0; i < dbs.n && rc == 0; i++) {
		run.db = dbs.v[i];
		cmd_flush_first(c, run.db);
		rc = store_list(dbs.v[i], sel, epochs_show, &run, &c->err);
	}
	emit_table_end(&c->emit);
	emit_end(&c->emit);
	arena_release(&run.arena);
	store_paths_release(&dbs);
	if (rc == 0 && !run.n) {
		cmd_notice(c, "no epochs in %s", path);
		rc = CMD_NOTHING;
	}
	return rc;
}

static int show_minutes(struct cmd *c, uint64_t most_steps)
{
	struct minutes m;
	int rc = source_kind_of(c->select.db) == SOURCE_FLEET
			 ? err_set(&c->err, -EINVAL,
				   "--minutes: a fleet's database has no minutes; without it "
				   "epochs are listed")
		 : most_steps > UINT32_MAX
			 ? err_set(&c->err, -ERANGE, "--steps: at most %u", UINT32_MAX)
			 : minutes_open(&m, &c->select, (uint32_t)most_steps, &c->err);

	if (rc < 0)
		return rc;
	minutes_show(&c->emit, &m, most_steps > 0);
	rc = m.counts.n ? 0 : CMD_NOTHING;
	minutes_close(&m);
	return rc;
}

int cmd_epochs(struct cmd *c)
{
	struct store_selection sel = {0};
	const char *db = NULL, *since = NULL, *until = NULL;
	bool by_minute = false;
	uint64_t most_steps = 0;
	const struct opt table[] = {
		{"db i input", OPT_STR, &db, "DB",
		 "database (default $DWELLDB, $DCPIDB, ~/.local/share/dwell)"},
		{"epoch", OPT_STR, &sel.epochs, "E[,E...]",
		 "epochs: all (default), latest, NAME, FROM..TO"},
		{"since", OPT_STR, &since, "TIME",
		 "epochs with samples since then: 2d (ago), or a date of UTC"},
		{"until", OPT_STR, &until, "TIME", "epochs that began by then"},
		{"host", OPT_STR, &sel.host, "NAME",
		 "only recordings of this host; patterns are allowed"},
		{"minutes", OPT_FLAG, &by_minute, NULL,
		 "how many samples each owner has in each minute"},
		{"steps", OPT_U64, &most_steps, "N",
		 "with --minutes: join minutes, so that there are at most N times"},
		CMD_NO_FLUSH(c),
		{0},
	};
	_vec_ opt_list operands = {0};
	int rc = cmd_parse(c, "[OPTIONS] [DB]", table, false, &operands);
	char *path;

	if (rc == 0 && most_steps && !by_minute)
		rc = err_set(&c->err, -EINVAL, "--steps goes with --minutes");
	if (rc == 0 && operands.n > (db ? 0 : 1))
		rc = err_set(&c->err, -EINVAL, "needs one database");
	if (rc == 0 && since)
		rc = select_parse_time(since, 0, &sel.since_wall_ns, &c->err);
	if (rc == 0 && until)
		rc = select_parse_time(until, 0, &sel.until_wall_ns, &c->err);
	if (rc == 0) {
		db = operands.n ? operands.v[0] : db;
		sel.epochs = sel.epochs ? sel.epochs : "all";
		path = db ? xstrdup(db) : store_default_path();
		c->select.db = path;
		c->select.epochs = sel.epochs;
		c->select.host = sel.host;
		c->select.since = since;
		c->select.until = until;
		rc = by_minute ? show_minutes(c, most_steps) : list(c, path, &sel);
		free(path);
	}
	return rc;
}
