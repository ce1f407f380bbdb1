/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell flame`: calling contexts as a picture in one file. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/out_file.h"
#include "base/wr.h"
#include "cmd/source_cmd.h"
#include "query/compare/sets.h"
#include "view/about.h"
#include "query/boxes/boxes.h"

struct flame_args {
	const char *output, *by, *title;
	bool callers, svg, diff, data;
	bool again; /* it is opened once more, for what threads did in wall time */
	opt_list operands;
	double least_pct;
	uint64_t depth;
	char *sort; /* the event of --sort EVENT,WHAT */
	struct source_args source;
	struct tree_opts tree;
};

static int flame_parse(struct cmd *c, struct flame_args *a)
{
	const struct opt table[] = {
		{"output o", OPT_STR, &a->output, "FILE",
		 "NAME.html or NAME.svg (default flame.html); - for a page to stdout"},
		{"diff", OPT_FLAG, &a->diff, NULL,
		 "two sets laid over each other, coloured by what changed"},
		TREE_OPTIONS(&a->tree, &a->by, &a->callers),
		{"percent-limit", OPT_DOUBLE, &a->least_pct, "P",
		 "boxes with less than P percent are one (default 0; with --callers 0.01)"},
		{"data", OPT_FLAG, &a->data, NULL, NULL}, /* for the page of dwell web */
		{"depth", OPT_U64, &a->depth, "N", "only N levels of boxes (default 0: all)"},
		{"title", OPT_STR, &a->title, "TEXT", "what stands above the picture"},
		{"sort s", OPT_STR, &c->select.sort, "EVENT", "the event shown (default: time)"},
		SOURCE_OPTIONS(&a->source),
		{0},
	};
	int rc;

	a->least_pct = -1;
	rc = cmd_parse(c, "[OPTIONS] [DB] [-o FILE]\n--diff [OPTIONS] A B [-o FILE]", table, false,
		       &a->operands);
	if (rc == 0 && !a->diff)
		cmd_take_source(c, &a->operands);
	if (rc == 0 && !a->diff && a->operands.n)
		rc = err_set(&c->err, -EINVAL,
			     "takes no operands; --focus '%s' shows the paths through it",
			     a->operands.v[0]);
	if (rc == 0 && a->diff && a->operands.n != 2)
		rc = err_set(&c->err, -EINVAL,
			     "--diff needs two sets: databases, epochs, or words such as label=L; "
			     "see dwell diff --help");
	if (rc != 0)
		return rc;
	if (a->least_pct > 100)
		return err_set(&c->err, -EINVAL, "--percent-limit: must be 0 to 100");
	a->output = a->output ? a->output : "flame.html";
	a->svg = str_ends(a->output, ".svg");
	if (!a->svg && !str_ends(a->output, ".html") && strcmp(a->output, "-") != 0)
		return err_set(&c->err, -EINVAL, "-o '%s': must end in .html or .svg, or be -",
			       a->output);
	cmd_parse_sort(c, &a->sort, &(bool){false});
	rc = tree_parse_by(a->by ? a->by : "procedure", &a->tree, &c->err);
	cmd_want_hosts(c, &a->tree);
	return rc;
}

/* What stands above the tables of a tree, for the picture. */
static void flame_account(struct str *ret, struct source *s, const struct tree_source *t)
{
	struct emit e = {.out = ret, .format = EMIT_TABLE};
	const struct columns *cols = &t->columns;
	const double whole = cols->cols.n ? cols->cols.v[cols->hide].total : 0;

	emit_begin(&e);
	about_emit(&e, s, false);
	vec_each (sh, &t->shares)
		if (sh->n && whole > 0 && sh->n[cols->hide] > 0)
			emit_text(&e, "%.2f %% %s\n", 100 * sh->n[cols->hide] / whole, sh->text);
	about_images_emit(&e, s, t->images.v, t->images.n);
	emit_end(&e);
}

/* Appends F as a page; one that is too large for mail has fewer boxes. */
static void flame_page(struct str *text, struct flame *f)
{
	flame_html(text, f);
	while (text->n > FLAME_PAGE_BYTES && f->boxes.n > 1000) {
		flame_limit(
			f, (size_t)((double)f->boxes.n * 0.9 * FLAME_PAGE_BYTES / (double)text->n));
		text->n = 0;
		flame_html(text, f);
	}
}

/* Writes a block of F's data at once: an outline is on its way while the whole is made. */
static int flame_save_data(struct cmd *c, const struct flame *f, bool is_outline)
{
	struct wr w = {0};
	int rc;

	flame_data(&w, f, is_outline);
	rc = pager_write((const char *)w.v, w.n, false, 0, &c->err);
	free(w.v);
	return rc;
}

static int flame_save(struct cmd *c, const struct flame_args *a, struct flame *f)
{
	_str_ struct str text = {0};
	int rc;

	if (a->data)
		return flame_save_data(c, f, false);
	if (a->svg)
		flame_svg(&text, f);
	else
		flame_page(&text, f);
	rc = out_file_save(a->output, text.v, text.n, &c->err);
	if (rc >= 0 && strcmp(a->output, "-") != 0)
		str_addf(&c->out, "%s: %zu box%s, %zu bytes; open it in a browser\n", a->output,
			 f->boxes.n, f->boxes.n == 1 ? "" : "es", text.n);
	return rc;
}

/* Fills RET with the boxes of those rows of T, S's, that RO chooses. */
static int flame_of_tree(struct cmd *c, const struct flame_args *a, struct source *s,
			 struct tree_source *t, const struct tree_rows_opts *ro, struct flame *ret)
{
	struct flame_opts fo = {.form = ro->form, .max_depth = ro->max_depth};
	struct str account = {0}, title = {0};
	struct tree_rows rows = {0};
	int rc = tree_rows_init(&rows, t, ro, &c->err);

	if (rc >= 0) {
		flame_account(&account, s, t);
		about_add_recording(&title, s);
		fo.title = a->title && !a->diff ? a->title : str_get(&title);
		fo.account = str_get(&account);
		flame_init(ret, t, &rows, &fo);
	}
	str_release(&account);
	str_release(&title);
	tree_rows_release(&rows);
	return rc;
}

/* Half a pixel of a wide window. */
#define OUTLINE_PCT 0.05

/* Writes the outline of a picture of T, S's, when there will be many boxes: rows, boxes and bytes
 * of all of them take as long again as the tree. */
static int flame_outline_first(struct cmd *c, const struct flame_args *a, struct source *s,
			       struct tree_source *t, struct tree_rows_opts ro)
{
	struct flame f = {0};
	int rc;

	if (!a->data || a->diff || a->callers || ro.least_pct >= OUTLINE_PCT || !t->end ||
	    t->end[0] <= FLAME_MANY)
		return 0;
	ro.least_pct = OUTLINE_PCT;
	rc = flame_of_tree(c, a, s, t, &ro, &f);
	if (rc >= 0)
		rc = flame_save_data(c, &f, true);
	flame_release(&f);
	return rc;
}

/* Fills RET with the flame graph of S, to be released; without samples it has no boxes. */
static int flame_of_source(struct cmd *c, const struct flame_args *a, struct source *s,
			   struct flame *ret)
{
	struct tree_rows_opts ro = {
		.form = a->callers ? TREE_CALLERS : TREE_DOWN,
		.by_inclusive = !a->callers,
		.max_depth = a->depth > UINT32_MAX ? 0 : (uint32_t)a->depth,
		.least_pct = a->least_pct >= 0 ? a->least_pct
			     : a->callers      ? 0.01
					       : 0,
	};
	struct tree_source *t = NULL;
	int rc = source_tree(s, &a->tree, ro.form, &t, &c->err);

	if (rc >= 0 && t->columns.cols.n)
		rc = flame_outline_first(c, a, s, t, ro);
	if (rc >= 0 && t->columns.cols.n)
		rc = flame_of_tree(c, a, s, t, &ro, ret);
	tree_source_close(t);
	return rc;
}

static bool columns_have(const struct columns *cols, const char *name)
{
	vec_each (col, &cols->cols)
		if (strcmp(col->name, name) == 0)
			return true;
	return false;
}

/* Wall time is shown with its parts, and is what is shown of a recording that has them unless
 * something else is asked for.  Returns whether S lacks a column for that. */
static bool wants_states(const struct cmd *c, const struct source *s)
{
	const struct columns *cols = &s->columns;
	const bool asked = c->select.events.n || c->select.columns.n || c->select.sort;
	const bool wall = cols->cols.n && strcmp(cols->cols.v[cols->sort].name, "wall") == 0;

	if (!s->query || s->query->has_sets)
		return false;
	if (wall)
		return !columns_have(cols, "runnable") || !columns_have(cols, "blocked");
	return !asked && columns_have(cols, "running") && columns_have(cols, "runnable") &&
	       columns_have(cols, "blocked");
}

static void ask_for_states(struct cmd *c)
{
	vec_release(&c->select.events);
	vec_push(&c->select.events, "wall+runnable+blocked");
	c->select.sort = "wall";
}

static int flame_show(struct cmd *c, struct source *s, void *ctx)
{
	struct flame_args *a = ctx;
	struct flame f = {0};
	int rc;

	if (!a->again && wants_states(c, s)) {
		a->again = true;
		return 0;
	}
	rc = flame_of_source(c, a, s, &f);

	if (rc == 0)
		rc = f.shown ? flame_save(c, a, &f) : cmd_nothing_in_tree(c, s, &a->tree);
	flame_release(&f);
	return rc;
}

static int flame_save_diff(struct cmd *c, const struct flame_args *a, const struct flame *f)
{
	struct flame both = {0};
	struct str title = {0};
	int rc;

	if (strcmp(f[0].unit, f[1].unit) != 0)
		return err_set(&c->err, -EINVAL,
			       "%s and %s have no unit in common: name an --event", f[0].event,
			       f[1].event);
	text_show(&title, a->title ? a->title : a->operands.v[0]);
	if (!a->title) {
		str_add(&title, " (A), then ");
		text_show(&title, a->operands.v[1]);
		str_add(&title, " (B)");
	}
	flame_diff(&both, &f[0], &f[1], &(struct flame_diff_opts){.title = str_get(&title)});
	rc = flame_save(c, a, &both);
	flame_release(&both);
	str_release(&title);
	return rc;
}

static int flame_compare(struct cmd *c, const struct flame_args *a)
{
	struct compared_set sets[2] = {{0}};
	struct flame f[2] = {{0}};
	int rc = 0;

	for (unsigned k = 0; k < 2 && rc == 0; k++) {
		rc = compared_set_open(&sets[k], a->operands.v[k], &c->select, &c->err);
		if (rc == 0)
			rc = flame_of_source(c, a, sets[k].source, &f[k]);
		if (rc == 0 && !f[k].shown) {
			cmd_notice(c, "no samples in %s", a->operands.v[k]);
			rc = CMD_NOTHING;
		}
	}
	if (rc == 0)
		rc = flame_save_diff(c, a, f);
	for (unsigned k = 0; k < 2; k++) {
		flame_release(&f[k]);
		compared_set_close(&sets[k]);
	}
	return rc;
}

int cmd_flame(struct cmd *c)
{
	struct flame_args a = {0};
	int rc = flame_parse(c, &a);

	if (rc == 0 && a.diff)
		rc = flame_compare(c, &a);
	else if (rc == 0)
		rc = cmd_with_source(c, &a.source, flame_show, &a);
	if (rc == 0 && a.again) {
		ask_for_states(c);
		rc = cmd_with_source(c, &a.source, flame_show, &a);
	}
	source_args_release(&a.source);
	vec_release(&a.operands);
	free(a.sort);
	return rc;
}
