/* SPDX-License-Identifier: BSD-2-Clause */
/* Expressions: values against C's own arithmetic, and what is said of those that are none. */
#include "query/rows/expr.h"
#include "t.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char *const names[] = {"a", "b", "CPUTIME (sec)", "$$", "x:y.z_1"};
static const double values[] = {3, 4, 0.5, 7, 2};

static int find(void *ctx, const char *name, size_t n, struct err *err)
{
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
			return (int)i;
	return err_set(err, -ENOENT, "no '%.*s'", (int)n, name);
}

static void expect_value(const char *text, double want)
{
	struct expr *x = NULL;
	struct err err = {""};
	double got;

	EXPECT_EQ(expr_parse(&x, text, find, NULL, &err), 0);
	EXPECT_STR(err.msg, "");
	if (!x)
		return;
	got = expr_eval(x, values);
	EXPECT(got == want || (isnan(got) && isnan(want)));
	expr_free(x);
}

static void expect_error(const char *text, int rc, const char *msg)
{
	struct expr *x = NULL;
	struct err err = {""};

	EXPECT_EQ(expr_parse(&x, text, find, NULL, &err), rc);
	EXPECT_STR(err.msg, msg);
	EXPECT(x == NULL);
}

TEST(expr_values)
{
	expect_value("1", 1);
	expect_value(" 1 + 2 * 3 ", 7);
	expect_value("(1+2)*3", 9);
	expect_value("10 - 4 - 3", 3);
	expect_value("16 / 4 / 2", 2);
	expect_value("2 ** 3 ** 2", 512);
	expect_value("2^-1", 0.5);
	expect_value("-2 ** 2", -4);
	expect_value("--a", 3);
	expect_value("-a + +b", 1);
	expect_value("1.5e2 * .5", 75);
	expect_value("a / b", 0.75);
	expect_value("\"CPUTIME (sec)\" * 2", 1);
	expect_value("'CPUTIME (sec)'+'a'", 3.5);
	expect_value("($$^2)", 49);
	expect_value("x:y.z_1*a", 6);
	expect_value("min(a, b, 2)", 2);
	expect_value("max(a, b, 2)", 4);
	expect_value("sum(a, b, 2, 1)", 10);
	expect_value("sqrt(a*a + b*b)", 5);
	expect_value("abs(a - b) + floor(1.5) + ceil(1.5)", 4);
	expect_value("log2(8) + log10(100) + log(exp(2))", 7);
	expect_value("1 / 0", INFINITY);
	expect_value("0 / 0", NAN);
	expect_value("sum(1,sum(1,sum(1,sum(1,sum(1,sum(1,sum(1,sum(1,sum(1,sum(1,sum(1,sum(1,"
		     "sum(1,sum(1,sum(1,sum(1,sum(1,sum(1,2))))))))))))))))))",
		     20);
}

TEST(expr_errors)
{
	char deep[2000] = "";

	expect_error("", -EINVAL, ": expected a number, a name or '(' at the end");
	expect_error("1 +", -EINVAL, "1 +: expected a number, a name or '(' at the end");
	expect_error("(1", -EINVAL, "(1: expected ')' at the end");
	expect_error("1 2", -EINVAL, "1 2: expected an operator at '2'");
	expect_error("a $ b", -EINVAL, "a $ b: expected an operator at '$ b'");
	expect_error("nothing + 1", -ENOENT, "no 'nothing'");
	expect_error("'open", -EINVAL, "'open: expected a closing quote for the one at ''open'");
	expect_error("sqrt(1, 2)", -EINVAL, "sqrt(1, 2): sqrt takes one argument");
	expect_error("min()", -EINVAL, "min(): expected a number, a name or '(' at ')'");
	expect_error("sin(1)", -EINVAL,
		     "sin(1): expected a function (min, max, sum, sqrt, abs, exp, log, log2, "
		     "log10, floor, ceil) at 'sin(1)'");
	expect_error("1e999", -EINVAL, "1e999: expected a number at '1e999'");
	memset(deep, '(', 1000);
	expect_error(deep, -E2BIG, "the expression is nested too deep");
}
