/* SPDX-License-Identifier: BSD-2-Clause */
/* See summary_formula.h. */
#include "formats/hpc/summary_formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { DEPTH_MAX = 64 }; /* of parentheses and signs, against formulas made to overflow the stack */

struct formula {
	const char *at;
	double x;
	unsigned depth;
	bool bad;
};

static double summary_formula_sum(struct formula *f);

static void skip_spaces(struct formula *f)
{
	while (isspace((unsigned char)*f->at))
		f->at++;
}

static bool summary_formula_take(struct formula *f, char c)
{
	skip_spaces(f);
	if (*f->at != c)
		return false;
	f->at++;
	return true;
}

static double summary_formula_number(struct formula *f)
{
	char *end;
	double v = 0;

	if (isdigit((unsigned char)*f->at) || *f->at == '.') {
		v = strtod(f->at, &end);
		f->bad |= end == f->at;
		f->at = end;
	} else {
		f->bad = true;
	}
	return v;
}

static double atom(struct formula *f)
{
	double v;

	if (f->bad || f->depth == DEPTH_MAX) {
		f->bad = true;
		return 0;
	}
	f->depth++;
	if (summary_formula_take(f, '(')) {
		v = summary_formula_sum(f);
		f->bad |= !summary_formula_take(f, ')');
	} else if (summary_formula_take(f, '-')) {
		v = -atom(f);
	} else if (summary_formula_take(f, '$')) {
		v = f->x;
		f->bad |= !summary_formula_take(f, '$');
	} else {
		v = summary_formula_number(f);
	}
	f->depth--;
	return v;
}

static double power(struct formula *f)
{
	double v = atom(f);

	if (!f->bad && summary_formula_take(f, '^')) {
		if (++f->depth > DEPTH_MAX)
			f->bad = true;
		else
			v = pow(v, power(f));
		f->depth--;
	}
	return v;
}

static double product(struct formula *f)
{
	double v = power(f);

	while (!f->bad)
		if (summary_formula_take(f, '*'))
			v *= power(f);
		else if (summary_formula_take(f, '/'))
			v /= power(f);
		else
			break;
	return v;
}

static double summary_formula_sum(struct formula *f)
{
	double v = product(f);

	while (!f->bad)
		if (summary_formula_take(f, '+'))
			v += product(f);
		else if (summary_formula_take(f, '-'))
			v -= product(f);
		else
			break;
	return v;
}

bool hpc_summary_eval(const char *text, double x, double *ret)
{
	struct formula f = {.at = text, .x = x};
	double v = summary_formula_sum(&f);

	skip_spaces(&f);
	if (f.bad || *f.at)
		return false;
	*ret = v;
	return true;
}
