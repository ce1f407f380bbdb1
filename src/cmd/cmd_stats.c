/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell stats SET...`: how far many sets of samples are apart. */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/flush_first.h"
#include "query/compare/sets.h"
#include "store/store.h"
#include "view/spread.h"

struct stats_args {
	struct spread_view view;
	enum scope_kind level;
	bool by_image, shares, each;
	const char *by;
	opt_list operands, images;
	store_paths made; /* sets that --each made */
};

static int stats_parse(struct cmd *c, struct stats_args *a)
{
	const struct opt table[] = {
		{"by", OPT_STR, &a->by, "WHAT",
		 "rows are image, procedure (default), line or address", .words = SET_ROWS_WORDS},
		{"i", c->dcpi ? OPT_FLAG : OPT_SAY, &a->by_image,
		 c->dcpi ? NULL : "say --by image; sets are operands", c->dcpi ? "by image" : NULL},
		{"each", OPT_FLAG, &a->each, NULL,
		 "each epoch that is selected is a set of its own; no SETs are named"},
		{"image", OPT_LIST, &a->images, "NAME[,...]", "only rows of these images"},
		{"shares", OPT_FLAG, &a->shares, NULL,
		 "scale all sets to the same number of samples"},
		{"keep", OPT_DOUBLE, &a->view.keep_pct, "P",
		 "only the rows of most samples that hold P percent"},
		{"range", OPT_DOUBLE, &a->view.range_pct, "P",
		 "only rows whose range is P percent of their sum or more"},
		{"no-header", OPT_FLAG, &a->view.no_header, NULL, "the table alone"},
		{0},
	};
	int rc;

	a->view.keep_pct = 100;
	a->by = "procedure";
	rc = cmd_parse(c, "[OPTIONS] SET SET...\n[OPTIONS] --each", table, false, &a->operands);
	if (rc == 0)
		rc = set_rows_parse_by(a->by_image ? "image" : a->by, &a->level, &c->err);
	if (rc == 0 && a->each && a->operands.n)
		rc = err_set(&c->err, -EINVAL, "--each and sets exclude each other");
	if (rc == 0 && !a->each && a->operands.n < 2)
		rc = err_set(
			&c->err, -EINVAL,
			"needs two sets or more (databases, epochs, words such as label=L), or "
			"--each");
	if (rc == 0 && (a->view.keep_pct < 0 || a->view.keep_pct > 100))
		rc = err_set(&c->err, -EINVAL, "--keep: must be 0 to 100");
	return rc;
}

static int add_set(void *ctx, const struct store_recording *r)
{
	struct stats_args *a = ctx;

	vec_push(&a->made, xasprintf("epoch=%s host=%s", r->epoch, r->host));
	return 0;
}

/* Makes a set of each recording selected. */
static int make_sets(struct cmd *c, struct stats_args *a)
{
	struct store_selection sel = {.epochs = c->select.epochs, .host = c->select.host};
	char *db = c->select.db ? xstrdup(c->select.db) : store_default_path();
	int rc = 0;

	if (c->select.since)
		rc = select_parse_time(c->select.since, 0, &sel.since_wall_ns, &c->err);
	if (rc == 0 && c->select.until)
		rc = select_parse_time(c->select.until, 0, &sel.until_wall_ns, &c->err);
	if (rc == 0 && !sel.epochs)
		sel.epochs = "all";
	if (rc == 0)
		rc = source_check_kind(db, SOURCE_STORE | SOURCE_EMPTY, "dwell stats --each",
				       "the epochs of one dwell database", &c->err);
	if (rc == 0) {
		cmd_flush_first(c, db);
		rc = store_list(db, &sel, add_set, a, &c->err);
	}
	if (rc == 0 && a->made.n < 2)
		rc = err_set(&c->err, -ENOENT, "%s: --each needs two epochs or more; %zu selected",
			     db, a->made.n);
	vec_each (s, &a->made)
		vec_push(&a->operands, *s);
	/* Each set says which epoch it is. */
	c->select.since = c->select.until = NULL;
	free(db);
	return rc;
}

static int stats_run(struct cmd *c, struct stats_args *a)
{
	const unsigned n = (unsigned)a->operands.n;
	struct compared_set *sets = xcalloc(n, sizeof(*sets));
	struct source **sources = xcalloc(n, sizeof(struct source *));
	struct spread s;
	size_t n_rows;
	int rc = 0;

	for (unsigned k = 0; k < n && rc == 0; k++) {
		rc = compared_set_open(&sets[k], a->operands.v[k], &c->select, &c->err);
		sources[k] = sets[k].source;
	}
	if (rc == 0)
		rc = spread_init(&s, sources, n, a->level, &a->images, a->shares, &c->err);
	if (rc == 0) {
		a->view.names = a->operands.v;
		if (s.set.kind == ESTIMATE_RATIO && a->view.keep_pct < 100) {
			rc = err_set(&c->err, -EINVAL,
				     "--keep needs rows that add up; those of '%s' do not",
				     s.set.name);
		} else {
			spread_emit(&c->emit, &s, &a->view, &n_rows);
			rc = n_rows ? 0 : CMD_NOTHING;
		}
		spread_release(&s);
	}
	for (unsigned k = 0; k < n; k++)
		compared_set_close(&sets[k]);
	free(sets);
	free(sources);
	return rc;
}

int cmd_stats(struct cmd *c)
{
	struct stats_args a = {.by_image = false};
	int rc = stats_parse(c, &a);

	if (rc == 0 && a.each)
		rc = make_sets(c, &a);
	if (rc == 0)
		rc = stats_run(c, &a);
	store_paths_release(&a.made);
	vec_release(&a.operands);
	vec_release(&a.images);
	return rc;
}
