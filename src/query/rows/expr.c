/* SPDX-License-Identifier: BSD-2-Clause */
/* See expr.h.  The parser descends through the grammar and leaves steps for a stack machine, whose
 * deepest stack is known when it is done. */
#include "query/rows/expr.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define DEEPEST 200 /* brackets, signs and powers within each other */

enum op { OP_NUMBER, OP_VAR, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_POW, OP_NEG, OP_CALL };

static double fn_sum(double a, double b)
{
	return a + b;
}

static const struct function {
	const char *name;
	double (*one)(double);
	double (*two)(double, double); /* takes any number of arguments, two by two */
} functions[] = {
	{"min", NULL, fmin},	{"max", NULL, fmax},	{"sum", NULL, fn_sum}, {"sqrt", sqrt, NULL},
	{"abs", fabs, NULL},	{"exp", exp, NULL},	{"log", log, NULL},    {"log2", log2, NULL},
	{"log10", log10, NULL}, {"floor", floor, NULL}, {"ceil", ceil, NULL},
};

struct step {
	enum op op;
	union {
		double number;
		int var;
		struct {
			const struct function *f;
			uint32_t n; /* arguments */
		} call;
	};
};

struct expr {
	VEC(struct step) steps;
	size_t deepest;
};

struct parser {
	struct expr *x;
	const char *text, *at;
	expr_find_fn *find;
	void *ctx;
	struct err *err;
	unsigned depth;
	size_t on_stack;
};

static int parse_sum(struct parser *p);
static int parse_signed(struct parser *p);

static int expr_expected(struct parser *p, const char *what)
{
	if (!*p->at)
		return err_set(p->err, -EINVAL, "%s: expected %s at the end", p->text, what);
	return err_set(p->err, -EINVAL, "%s: expected %s at '%.20s'", p->text, what, p->at);
}

static void skip_blanks(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t')
		p->at++;
}

/* Takes TOKEN when it is next. */
static bool expr_take(struct parser *p, const char *token)
{
	size_t n = strlen(token);

	skip_blanks(p);
	if (strncmp(p->at, token, n) != 0)
		return false;
	p->at += n;
	return true;
}

static void add_step(struct parser *p, struct step s, size_t n_taken)
{
	vec_push(&p->x->steps, s);
	p->on_stack = p->on_stack - n_taken + 1;
	if (p->on_stack > p->x->deepest)
		p->x->deepest = p->on_stack;
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == ':' || c == '$';
}

static int add_var(struct parser *p, const char *name, size_t n)
{
	int var = p->find(p->ctx, name, n, p->err);

	if (var < 0)
		return var;
	add_step(p, (struct step){.op = OP_VAR, .var = var}, 0);
	return 0;
}

static int parse_quoted(struct parser *p)
{
	const char *end = strchr(p->at + 1, *p->at), *name = p->at + 1;

	if (!end)
		return expr_expected(p, "a closing quote for the one");
	p->at = end + 1;
	return add_var(p, name, (size_t)(end - name));
}

/* The arguments of F, whose bracket is open. */
static int parse_call(struct parser *p, const struct function *f)
{
	uint32_t n = 0;
	int rc;

	do {
		rc = parse_sum(p);
		n++;
	} while (rc >= 0 && expr_take(p, ","));
	if (rc < 0)
		return rc;
	if (!expr_take(p, ")"))
		return expr_expected(p, "')'");
	if (f->one && n != 1)
		return err_set(p->err, -EINVAL, "%s: %s takes one argument", p->text, f->name);
	add_step(p, (struct step){.op = OP_CALL, .call = {f, n}}, n);
	return 0;
}

static int parse_name(struct parser *p)
{
	const char *name = p->at;
	size_t n = 0;

	while (is_name_char(name[n]))
		n++;
	p->at += n;
	if (expr_take(p, "(")) {
		for (size_t i = 0; i < n_elems(functions); i++)
			if (strlen(functions[i].name) == n &&
			    memcmp(functions[i].name, name, n) == 0)
				return parse_call(p, &functions[i]);
		p->at = name;
		return expr_expected(p,
				     "a function (min, max, sum, sqrt, abs, exp, log, log2, log10, "
				     "floor, ceil)");
	}
	return add_var(p, name, n);
}

static int parse_number(struct parser *p)
{
	char *end;
	double v = strtod(p->at, &end);

	if (end == p->at || !isfinite(v))
		return expr_expected(p, "a number");
	p->at = end;
	add_step(p, (struct step){.op = OP_NUMBER, .number = v}, 0);
	return 0;
}

static int parse_primary(struct parser *p)
{
	int rc;

	skip_blanks(p);
	if (*p->at == '"' || *p->at == '\'')
		return parse_quoted(p);
	if ((*p->at >= '0' && *p->at <= '9') || *p->at == '.')
		return parse_number(p);
	if (is_name_char(*p->at))
		return parse_name(p);
	if (!expr_take(p, "("))
		return expr_expected(p, "a number, a name or '('");
	rc = parse_sum(p);
	if (rc >= 0 && !expr_take(p, ")"))
		rc = expr_expected(p, "')'");
	return rc;
}

static int parse_power(struct parser *p)
{
	int rc = parse_primary(p);

	if (rc >= 0 && (expr_take(p, "**") || expr_take(p, "^"))) {
		rc = parse_signed(p);
		if (rc >= 0)
			add_step(p, (struct step){.op = OP_POW}, 2);
	}
	return rc;
}

static int parse_signed(struct parser *p)
{
	bool negative = false;
	int rc;

	if (p->depth == DEEPEST)
		return err_set(p->err, -E2BIG, "the expression is nested too deep");
	p->depth++;
	for (;;) {
		if (expr_take(p, "-"))
			negative = !negative;
		else if (!expr_take(p, "+"))
			break;
	}
	rc = parse_power(p);
	if (rc >= 0 && negative)
		add_step(p, (struct step){.op = OP_NEG}, 1);
	p->depth--;
	return rc;
}

static int parse_product(struct parser *p)
{
	int rc = parse_signed(p);

	while (rc >= 0) {
		enum op op;

		skip_blanks(p);
		if (*p->at != '*' && *p->at != '/')
			break;
		op = *p->at++ == '*' ? OP_MUL : OP_DIV;
		rc = parse_signed(p);
		if (rc >= 0)
			add_step(p, (struct step){.op = op}, 2);
	}
	return rc;
}

static int parse_sum(struct parser *p)
{
	int rc = parse_product(p);

	while (rc >= 0) {
		enum op op;

		skip_blanks(p);
		if (*p->at != '+' && *p->at != '-')
			break;
		op = *p->at++ == '+' ? OP_ADD : OP_SUB;
		rc = parse_product(p);
		if (rc >= 0)
			add_step(p, (struct step){.op = op}, 2);
	}
	return rc;
}

int expr_parse(struct expr **ret, const char *text, expr_find_fn *find, void *ctx, struct err *err)
{
	struct parser p = {.text = text, .at = text, .find = find, .ctx = ctx, .err = err};
	int rc;

	p.x = xcalloc(1, sizeof(*p.x));
	rc = parse_sum(&p);
	skip_blanks(&p);
	if (rc >= 0 && *p.at)
		rc = expr_expected(&p, "an operator");
	if (rc < 0)
		expr_free(p.x);
	else
		*ret = p.x;
	return rc;
}

static double call(const struct function *f, const double *args, uint32_t n)
{
	double v = args[0];

	if (f->one)
		return f->one(v);
	for (uint32_t i = 1; i < n; i++)
		v = f->two(v, args[i]);
	return v;
}

static double operate(enum op op, double a, double b)
{
	switch (op) {
	case OP_ADD:
		return a + b;
	case OP_SUB:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_DIV:
		return a / b;
	default:
		return pow(a, b);
	}
}

/* Stacks deeper than this come from the heap. */
#define USUAL_STACK 16

double expr_eval(const struct expr *x, const double *vars)
{
	double usual[USUAL_STACK] = {0}, v;
	double *stack = x->deepest <= USUAL_STACK ? usual : xcalloc(x->deepest, sizeof(*stack));
	size_t n = 0;

	vec_each (s, &x->steps) {
		switch (s->op) {
		case OP_NUMBER:
			stack[n++] = s->number;
			break;
		case OP_VAR:
			stack[n++] = vars[s->var];
			break;
		case OP_NEG:
			stack[n - 1] = -stack[n - 1];
			break;
		case OP_CALL:
			n -= s->call.n;
			stack[n] = call(s->call.f, stack + n, s->call.n);
			n++;
			break;
		default:
			n--;
			stack[n - 1] = operate(s->op, stack[n - 1], stack[n]);
			break;
		}
	}
	v = stack[0];
	if (stack != usual)
		free(stack);
	return v;
}

void expr_free(struct expr *x)
{
	if (x)
		vec_release(&x->steps);
	free(x);
}
