/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/opts.h"
#include "t.h"

#include <errno.h>

static bool flag, no_header;
static const char *db;
static uint64_t n, dur;
static opt_list labels, operands;

static const struct opt table[] = {
	{"a all", OPT_FLAG, &flag, NULL, "all of it"},
	{"db", OPT_STR, &db, "DIR", "database"},
	{"label", OPT_LIST, &labels, "L", "a label"},
	{"n", OPT_U64, &n, "N", "number"},
	{"no-header", OPT_FLAG, &no_header, NULL, "no header"},
	{"d", OPT_DURATION, &dur, "T", "time"},
	{"m", OPT_U64, &n, "N", "number or nothing", .no_number_needed = true},
	{"old", OPT_SAY, NULL, "say --all", NULL},
	{0},
};

static int parse(struct err *err, bool stop, int argc, char **argv)
{
	flag = no_header = false;
	db = NULL;
	n = dur = 0;
	vec_release(&labels);
	vec_release(&operands);
	return opts_parse(table, argc, argv, stop, &operands, err);
}

#define PARSE(err, stop, ...)                                                                      \
	({                                                                                         \
		char *argv_[] = {"prog", __VA_ARGS__};                                             \
		parse(err, stop, n_elems(argv_), argv_);                                           \
	})

TEST(one_dash_and_two)
{
	struct err err;

	EXPECT_EQ(PARSE(&err, false, "-db", "x", "--all", "p", "--label=l1", "-label", "l2", "-n",
			"0x10"),
		  0);
	EXPECT(flag && strcmp(db, "x") == 0 && n == 16 && labels.n == 2 && operands.n == 1);
	EXPECT_EQ(PARSE(&err, false, "-d", "1.5", "--", "-a"), 0);
	EXPECT(dur == 1500000000 && operands.n == 1 && !flag);
	EXPECT_EQ(PARSE(&err, true, "-a", "cmd", "-x"), 0);
	EXPECT(flag && operands.n == 2);
}

TEST(numbers_behind_letters)
{
	struct err err;

	EXPECT_EQ(PARSE(&err, false, "-n2", "-d1.5", "p"), 0);
	EXPECT(n == 2 && dur == 1500000000 && operands.n == 1);
	EXPECT_EQ(PARSE(&err, false, "-a2"), -EINVAL);
	EXPECT_EQ(PARSE(&err, false, "-n2x"), -EINVAL);
	EXPECT_EQ(PARSE(&err, false, "-nx"), -EINVAL);
	EXPECT_EQ(PARSE(&err, false, "-x2"), -EINVAL);
}

TEST(underscores_mean_dashes)
{
	struct err err;

	EXPECT_EQ(PARSE(&err, false, "-no_header"), 0);
	EXPECT(no_header);
	EXPECT_EQ(PARSE(&err, false, "--no-header"), 0);
	EXPECT(no_header);
	EXPECT_EQ(PARSE(&err, false, "--no.header"), -EINVAL);
}

TEST(what_is_no_option_says_what_to_type)
{
	struct err err;

	EXPECT(PARSE(&err, false, "-old=3") == -EINVAL);
	EXPECT_STR(err.msg, "-old=3: say --all");
	EXPECT_EQ(PARSE(&err, false, "-m", "--all"), 0);
	EXPECT_EQ(n, 0);
	EXPECT(flag);
	EXPECT_EQ(PARSE(&err, false, "-m"), 0);
	EXPECT_EQ(PARSE(&err, false, "-m", "12"), 0);
	EXPECT_EQ(n, 12);
	EXPECT(PARSE(&err, false, "-m=x") == -EINVAL);
}

TEST(errors_name_the_option)
{
	struct err err;

	EXPECT_EQ(PARSE(&err, false, "--lable", "x"), -EINVAL);
	EXPECT_STR(err.msg, "unknown option --lable; did you mean --label?");
	EXPECT_EQ(PARSE(&err, false, "--db"), -EINVAL);
	EXPECT_STR(err.msg, "--db: needs a value (DIR)");
	EXPECT_EQ(PARSE(&err, false, "-n", "x1"), -EINVAL);
	EXPECT_STR(err.msg, "-n: 'x1' is not a valid number");
}

TEST(words)
{
	static const char *const words[] = {"auto", "bpf", "ring", NULL};
	struct err err = {0};

	EXPECT_EQ(opts_choose(NULL, words, "--engine", &err), 0);
	EXPECT_EQ(opts_choose("ring", words, "--engine", &err), 2);
	EXPECT_EQ(opts_choose("", words, "--engine", &err), -EINVAL);
	EXPECT_STR(err.msg, "--engine: '' is none of auto, bpf, ring");
}

TEST(help_text)
{
	char *s = opts_help(table);

	EXPECT(strstr(s, "  -a, --all                  all of it\n") == s);
	free(s);
}
