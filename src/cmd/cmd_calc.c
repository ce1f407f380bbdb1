/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell calc PROCEDURE [IMAGE]`: cycles of each instruction of a procedure, executed, waited and
 * stalled, and what may have stalled it. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/out_file.h"
#include "base/plural.h"
#include "cmd/calc_args.h"
#include "view/calc.h"

struct calc_cmd {
	struct calc_args args;
	opt_list operands, procedures;
	double cutoff;
	bool several; /* dcpicalc -procedures P1 P2 -- IMAGE */
	const char *image;
	const char *output; /* a page; NULL: text */
};

/* Writes the page of C, of listing L. */
static int calc_save(struct cmd *c, const struct calc_cmd *a, struct source *s,
		     const struct listing *l, const struct calc *calc)
{
	_str_ struct str text = {0};
	int rc;

	calc_page(&text, s, l, calc);
	rc = out_file_save(a->output, text.v, text.n, &c->err);
	if (rc >= 0 && strcmp(a->output, "-") != 0)
		str_addf(&c->out, "%s: %zu block%s, %zu bytes; open it in a browser\n", a->output,
			 calc->blocks.n, plural_s(calc->blocks.n), text.n);
	return rc;
}

static int calc_one(struct cmd *c, struct calc_cmd *a, struct source *s, const char *procedure)
{
	const struct listing_opts o = {.name = procedure, .image = a->image};
	const struct calc_view v = {.no_header = a->args.no_header, .cutoff_pct = a->cutoff};
	struct sources *sources = sources_new();
	struct calc calc = {0};
	struct listing l;
	int rc = source_listing(s, &o, sources, &l, &c->err);

	if (rc >= 0) {
		rc = calc_gather(&l, &s->columns, &a->args.opts, &calc, &c->err);
		if (rc >= 0 && a->output)
			rc = calc_save(c, a, s, &l, &calc);
		else if (rc >= 0)
			calc_emit(&c->emit, s, &l, &calc, &v);
		calc_release(&calc);
		listing_close(&l);
	}
	sources_free(sources);
	return rc;
}

/* One that cannot be analysed does not keep the others back: it is said in its place.  When none
 * can, the last one's reason is the command's. */
static int calc_all(struct cmd *c, struct calc_cmd *a, struct source *s)
{
	int ret = 0;
	size_t n_refused = 0;

	for (size_t i = 0; i < a->procedures.n; i++) {
		int rc;

		if (a->several)
			str_addf(&c->out, "; PROC %s\n", a->procedures.v[i]);
		rc = calc_one(c, a, s, a->procedures.v[i]);
		if (rc >= 0)
			continue;
		if (++n_refused == a->procedures.n)
			return rc;
		str_addf(&c->out, "%s\n", c->err.msg);
		c->told_nothing = true;
		ret = CMD_NOTHING;
	}
	return ret;
}

static int calc_show(struct cmd *c, struct source *s, void *ctx)
{
	struct calc_cmd *a = ctx;
	int rc = source_needs(s, SOURCE_CODE, "calc", &c->err);

	if (rc >= 0)
		rc = source_needs(s, SOURCE_SAMPLES, "calc", &c->err);
	calc_args_fit(&a->args, s);
	return rc >= 0 ? calc_all(c, a, s) : rc;
}

/* dcpicalc(1): the last operand is the image, all others are procedures. */
static int calc_take_several(struct cmd *c, struct calc_cmd *a)
{
	if (a->operands.n < 2)
		return err_set(&c->err, -EINVAL,
			       "-procedures needs procedures and behind -- an image");
	a->image = a->operands.v[--a->operands.n];
	vec_each (p, &a->operands)
		vec_push(&a->procedures, *p);
	return 0;
}

/* Sorts operands into procedures and an image. */
static int calc_take_operands(struct cmd *c, struct calc_cmd *a, const char *more)
{
	cmd_take_source(c, &a->operands);
	if (a->output && strcmp(a->output, "-") != 0 && !str_ends(a->output, ".html"))
		return err_set(&c->err, -EINVAL, "-o '%s': must end in .html, or be -", a->output);
	if (a->output && (more || a->several))
		return err_set(&c->err, -EINVAL, "-o: a page shows one procedure");
	if ((more || a->several) && c->emit.format != EMIT_TABLE)
		return err_set(
			&c->err, -EINVAL,
			"--procedures: several tables are for people; without --json and --csv");
	if (a->several)
		return calc_take_several(c, a);
	if (more) {
		for (char *word, *rest = (char *)more; (word = strsep(&rest, ",")) != NULL;)
			if (*word)
				vec_push(&a->procedures, word);
	} else if (a->operands.n) {
		vec_push(&a->procedures, a->operands.v[0]);
	}
	if (!a->procedures.n)
		return err_set(&c->err, -EINVAL,
			       "needs a procedure; `dwell prof` lists them, the hottest first");
	if (a->operands.n > (more ? 1u : 2u))
		return err_set(&c->err, -EINVAL,
			       "needs one procedure, and at most one image; see --help");
	a->image = a->operands.n > (more ? 0u : 1u) ? a->operands.v[more ? 0 : 1] : NULL;
	return 0;
}

int cmd_calc(struct cmd *c)
{
	struct calc_cmd a = {0};
	char *more = NULL;
	const struct opt table[] = {
		{"cutoff", OPT_DOUBLE, &a.cutoff, "P",
		 "leave out blocks with less than P percent of the time"},
		{"procedures", c->dcpi ? OPT_FLAG : OPT_STR, c->dcpi ? (void *)&a.several : &more,
		 c->dcpi ? NULL : "P[,P...]", "several procedures, one after the other"},
		{"o output", OPT_STR, &a.output, "FILE.html",
		 "draw the blocks and the ways between them, in one file"},
		CALC_OPTIONS(&a.args),
		{0},
	};
	int rc = cmd_parse(c, "[OPTIONS] [DB] PROCEDURE [IMAGE]", table, false, &a.operands);

	if (rc == 0 && (a.cutoff < 0 || a.cutoff > 100))
		rc = err_set(&c->err, -EINVAL, "--cutoff: must be 0 to 100");
	if (rc == 0)
		rc = calc_take_operands(c, &a, more);
	if (rc >= 0)
		rc = calc_args_settle(c, &a.args);
	if (rc >= 0)
		rc = cmd_with_source(c, &a.args.source, calc_show, &a);
	calc_args_release(&a.args);
	vec_release(&a.operands);
	vec_release(&a.procedures);
	return rc;
}
