/* SPDX-License-Identifier: BSD-2-Clause */
/* Expressions of users and of metric descriptions. */
#include <string.h>

#include "fuzz.h"
#include "query/rows/expr.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char *const texts[] = {
		"1 + 2 * (a - 'b c') ** 2 / -3.5e1",
		"max(min(a, b, c), sqrt(\"x y\"), sum(1, 2)) ^ 0.5",
		"($$^2)",
	};

	if (i >= sizeof(texts) / sizeof(*texts))
		return NULL;
	*ret_n = strlen(texts[i]);
	return (uint8_t *)strdup(texts[i]);
}

#define N_VARS 3

static int find(void *ctx, const char *name, size_t n, struct err *err)
{
	const char *text = ctx;

	FUZZ_REQUIRE(name >= text && name + n <= text + strlen(text));
	return (int)(n % N_VARS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const double vars[N_VARS] = {1, -0.5, 1e300};
	char *text = calloc(1, n + 1);
	struct expr *x;
	struct err err;

	memcpy(text, data, n);
	if (expr_parse(&x, text, find, text, &err) == 0) {
		double a = expr_eval(x, vars), b = expr_eval(x, vars);

		FUZZ_REQUIRE(memcmp(&a, &b, sizeof(a)) == 0 || (a != a && b != b));
		expr_free(x);
	} else {
		FUZZ_REQUIRE(err.msg[0]);
	}
	free(text);
	return 0;
}
