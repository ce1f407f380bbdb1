/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell diff A B [IMAGE...]`: what changed between two sets of samples, and whether it is more
 * than chance. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "query/compare/sets.h"
#include "view/diff.h"

struct diff_args {
	struct diff_opts opts;
	struct diff_view view;
	opt_list operands, images;
	const char *by, *per;
	double fail_above_pct; /* NaN: never */
	double alpha;	       /* NaN: not given */
};

static int diff_parse(struct cmd *c, struct diff_args *a)
{
	const struct opt table[] = {
		{"by", OPT_STR, &a->by, "WHAT",
		 "rows are image, procedure (default), line or address", .words = SET_ROWS_WORDS},
		{"absolute", OPT_FLAG, &a->opts.absolute, NULL,
		 "compare amounts, not shares of all samples"},
		{"per", OPT_STR, &a->per, "UNIT",
		 "compare amounts for the same work: an event that counts it, or NUMBER,NUMBER"},
		{"all", OPT_FLAG, &a->view.all, NULL, "rows too that may differ by chance"},
		{"alpha", OPT_DOUBLE, &a->alpha, "P",
		 "the chance that any row shown did not change (default 0.05)"},
		{"min", OPT_DOUBLE, &a->view.min_pct, "PCT",
		 "hide rows that changed by less than PCT percent of all"},
		{"fail-above", OPT_DOUBLE, &a->fail_above_pct, "PCT",
		 "exit status 1 when a row shown grew by more than PCT percent of all"},
		{"no-header", OPT_FLAG, &a->view.no_header, NULL, "the table alone"},
		{0},
	};
	int rc;

	a->alpha = NAN;
	a->fail_above_pct = NAN;
	a->by = "procedure";
	rc = cmd_parse(c, "[OPTIONS] A B [IMAGE...]", table, false, &a->operands);
	if (rc == 0)
		rc = set_rows_parse_by(a->by, &a->opts.level, &c->err);
	if (rc != 0)
		return rc;
	if (a->operands.n < 2)
		return err_set(&c->err, -EINVAL,
			       "needs two sets: databases, epochs, or words such as label=L; see "
			       "--help");
	a->opts.alpha = isnan(a->alpha) ? 0.05 : a->alpha;
	if (a->opts.alpha <= 0 || a->opts.alpha > 1)
		return err_set(&c->err, -EINVAL, "--alpha: must be above 0, and 1 at most");
	if (a->view.min_pct < 0)
		return err_set(&c->err, -EINVAL, "--min: must not be negative");
	for (size_t i = 2; i < a->operands.n; i++)
		vec_push(&a->images, a->operands.v[i]);
	a->opts.images = &a->images;
	a->view.alpha = a->opts.alpha;
	a->view.absolute = a->opts.absolute;
	a->view.names[0] = a->operands.v[0];
	a->view.names[1] = a->operands.v[1];
	return 0;
}

/* Finds how much work each set did, as --per says. */
static int find_work(struct cmd *c, struct diff_args *a, const struct compared_set *sets)
{
	const char *comma = strchr(a->per, ',');
	char *end = NULL;
	int rc = 0;

	a->opts.per[0] = strtod(a->per, &end);
	if (comma && end == comma) {
		a->opts.per[1] = strtod(comma + 1, &end);
		if (*end || !(a->opts.per[0] > 0) || !(a->opts.per[1] > 0) ||
		    !isfinite(a->opts.per[0]) || !isfinite(a->opts.per[1]))
			return err_set(&c->err, -EINVAL,
				       "--per %s: two numbers above 0, of A and of B, such as "
				       "1000,1250",
				       a->per);
		a->view.unit = "unit";
	} else if (end != a->per && !*end) {
		return err_set(&c->err, -EINVAL,
			       "--per %s: a number for each set, such as %s,%s, or an event",
			       a->per, a->per, a->per);
	} else {
		for (unsigned k = 0; k < 2 && rc >= 0; k++)
			rc = compared_set_count(&sets[k], a->per, &a->opts.per[k], &c->err);
		a->view.unit = a->per;
	}
	a->opts.absolute = a->view.absolute = true;
	a->view.per[0] = a->opts.per[0];
	a->view.per[1] = a->opts.per[1];
	return rc;
}

/* CMD_NOTHING, with a notice, when a row grew by more than --fail-above. */
static int judge(struct cmd *c, const struct diff *d, const struct diff_args *a)
{
	size_t n = 0;
	const struct diff_row *worst = NULL;

	vec_each (r, &d->rows) {
		/* Never for what may be chance, though --all shows it. */
		if (!r->is_significant || !diff_shows(&a->view, r) ||
		    !(100 * r->least_growth > a->fail_above_pct))
			continue;
		worst = n++ ? worst : r;
	}
	if (!n)
		return 0;
	cmd_notice(c, "%s grew by %.2f%% of all%s",
		   worst->row->procedure ? worst->row->procedure : worst->row->image,
		   100 * worst->least_growth, n > 1 ? ", and others by more than allowed" : "");
	return CMD_NOTHING;
}

static int diff_show(struct cmd *c, const struct diff *d, const struct diff_args *a)
{
	if (d->set.is_metric && !isnan(a->alpha))
		return err_set(&c->err, -EINVAL,
			       "--alpha: chance is not known for metrics; --min hides small "
			       "changes");
	diff_emit(&c->emit, d, &a->view);
	return judge(c, d, a);
}

int cmd_diff(struct cmd *c)
{
	struct diff_args a = {0};
	struct compared_set sets[2] = {{0}};
	struct diff d;
	int rc = diff_parse(c, &a);

	c->select.hosts = true; /* of fleets: each is an observation */
	c->select.own_images = a.opts.level == SCOPE_IMAGE;
	c->select.own_procedures = a.opts.level == SCOPE_PROCEDURE;
	if (rc == 0)
		rc = compared_sets_open(sets, a.operands.v, &c->select, &c->err);
	if (rc >= 0 && a.per)
		rc = find_work(c, &a, sets);
	if (rc >= 0) {
		a.view.is_same = compared_sets_same(&sets[0], &sets[1]);
		if (a.view.is_same)
			cmd_notice(c, "A and B are the same recording");
		rc = diff_init(&d, sets[0].source, sets[1].source, &a.opts, &c->err);
		if (rc == 0) {
			rc = diff_show(c, &d, &a);
			diff_release(&d);
		}
	}
	for (unsigned k = 0; k < 2; k++)
		compared_set_close(&sets[k]);
	vec_release(&a.operands);
	vec_release(&a.images);
	return rc;
}
