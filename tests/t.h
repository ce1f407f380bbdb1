/* SPDX-License-Identifier: BSD-2-Clause */
/* Unit tests: TEST(name) { ... } registers itself; EXPECT() records a failure and goes on,
 * REQUIRE() ends the test.  One program per file of tests, TAP on stdout (t_main.c). */
#ifndef TESTS_T_H
#define TESTS_T_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct t_case {
	const char *name;
	void (*run)(void);
};

extern int t_failed;	       /* failed expectations of the running test */
extern const char *t_skip_why; /* set by SKIP */

/* A pointer in a section of its own: an array whatever the alignment of the struct. */
#define TEST(id)                                                                                   \
	static void t_run_##id(void);                                                              \
	static const struct t_case t_case_##id = {#id, t_run_##id};                                \
	__attribute__((used,                                                                       \
		       section("t_registry"))) static const struct t_case *const t_ptr_##id =      \
		&t_case_##id;                                                                      \
	static void t_run_##id(void)

#define t_fail_(...)                                                                               \
	(t_failed++, printf("# %s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), putchar('\n'))

#define EXPECT(cond)                                                                               \
	do {                                                                                       \
		if (!(cond))                                                                       \
			t_fail_("expected %s", #cond);                                             \
	} while (0)

#define REQUIRE(cond)                                                                              \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			t_fail_("required %s", #cond);                                             \
			return;                                                                    \
		}                                                                                  \
	} while (0)

#define EXPECT_EQ(a, b)                                                                            \
	do {                                                                                       \
		long long a_ = (long long)(a), b_ = (long long)(b);                                \
		if (a_ != b_)                                                                      \
			t_fail_("%s is %lld (%#llx), expected %s = %lld (%#llx)", #a, a_, a_, #b,  \
				b_, b_);                                                           \
	} while (0)

#define EXPECT_STR(a, b)                                                                           \
	do {                                                                                       \
		const char *a_ = (a), *b_ = (b);                                                   \
		if (!a_ || !b_ || strcmp(a_, b_) != 0)                                             \
			t_fail_("%s is \"%s\", expected \"%s\"", #a, a_ ? a_ : "(null)",           \
				b_ ? b_ : "(null)");                                               \
	} while (0)

#define SKIP(why)                                                                                  \
	do {                                                                                       \
		t_skip_why = (why);                                                                \
		return;                                                                            \
	} while (0)

/* A seeded generator for property tests (xorshift64*). */
struct t_rng {
	uint64_t s;
};
uint64_t t_rand(struct t_rng *r);
uint64_t t_below(struct t_rng *r, uint64_t n); /* 0 .. n-1 */

/* Whether $T_QUICK is set: `make check` does a part of what takes long and is much of one kind;
 * `make test` does all of it. */
bool t_quick(void);

/* How many cases a property test runs: $T_CASES, else OTHERWISE, a quarter of it when t_quick. */
unsigned t_cases(unsigned otherwise);

#endif
