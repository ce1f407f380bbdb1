/* SPDX-License-Identifier: BSD-2-Clause */
/* The language of sample sets: what is accepted, what it says of samples, and what is said of what
 * is no sample set. */
#include "query/sets/profileme.h"
#include "t.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "model/fact.h"

/* What is known of a sample: "retired !trap". */
static struct vector facts(const char *text)
{
	struct vector v = {0};
	char *copy = xstrdup(text), *rest, *word;

	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		const bool negative = *word == '!';
		int bit = fact_find_bit(NULL, word + negative, strlen(word + negative));

		if (bit < 0)
			printf("# %s\n", word);
		EXPECT(bit >= 0);
		v.known |= FACT_MASK(bit);
		v.value |= negative ? 0 : FACT_MASK(bit);
	}
	free(copy);
	return v;
}

static void expect_truth(const char *set, const char *sample, enum truth want)
{
	const struct vector v = facts(sample);
	pm_columns c = {0};
	struct err err = {""};
	enum truth got;

	EXPECT_EQ(pm_columns_parse(&c, "--pm", set, NULL, &err), 0);
	EXPECT_STR(err.msg, "");
	if (!err.msg[0]) {
		EXPECT_EQ(c.n, 1);
		got = pm_set_truth(&c.v[0].item.set, v.known, v.value);
		if (got != want)
			printf("# %s of %s\n", set, sample);
		EXPECT_EQ(got, want);
	}
	pm_columns_release(&c);
}

TEST(truth_of_known)
{
	expect_truth("any", "", TRUTH_YES);
	expect_truth("retired", "retired", TRUTH_YES);
	expect_truth("retired", "!retired", TRUTH_NO);
	expect_truth("!retired", "!retired", TRUTH_YES);
	expect_truth("/retired", "!retired", TRUTH_YES);
	expect_truth("\\!retired", "!retired", TRUTH_YES);
	expect_truth("!!retired", "retired", TRUTH_YES);
	expect_truth("trap", "!notrap", TRUTH_YES);
	expect_truth("!trap", "notrap", TRUTH_YES);
	expect_truth("taken^!mispredict", "taken !mispredict", TRUTH_YES);
	expect_truth("taken^!mispredict", "taken mispredict", TRUTH_NO);
	expect_truth("load|store", "!load store", TRUTH_YES);
	/* "^" binds closer than "|". */
	expect_truth("load|store^taken", "load !store !taken", TRUTH_YES);
	expect_truth("(load|store)^taken", "load !store !taken", TRUTH_NO);
	expect_truth("!(load|store)", "!load !store", TRUTH_YES);
	expect_truth(" ! ( load | store ) ^ taken ", "!load !store taken", TRUTH_YES);
}

TEST(truth_of_unknown)
{
	expect_truth("retired", "", TRUTH_UNKNOWN);
	expect_truth("!retired", "", TRUTH_UNKNOWN);
	expect_truth("retired^taken", "!taken", TRUTH_NO);
	expect_truth("retired^taken", "taken", TRUTH_UNKNOWN);
	expect_truth("retired|taken", "taken", TRUTH_YES);
	expect_truth("retired|taken", "!taken", TRUTH_UNKNOWN);
	/* It follows although it is not known why. */
	expect_truth("load|!load", "", TRUTH_YES);
	expect_truth("(load|taken)^(!load|taken)^!taken|taken", "", TRUTH_UNKNOWN);
	expect_truth("(load^taken)|(!load^taken)", "taken", TRUTH_YES);
	expect_truth("(load^taken)|(!load^taken)", "!taken", TRUTH_NO);
	/* A machine that tells one trap from none may not see the others. */
	expect_truth("replays", "notrap", TRUTH_UNKNOWN);
	expect_truth("!replays", "mispredict", TRUTH_UNKNOWN);
}

static void expect_error(const char *text, int rc, const char *msg, const char *where)
{
	pm_columns c = {0};
	struct err err = {""};

	EXPECT_EQ(pm_columns_parse(&c, "--pm", text, NULL, &err), rc);
	EXPECT_STR(err.msg, msg);
	EXPECT_STR(err.where, where);
	pm_columns_release(&c);
}

TEST(columns)
{
	pm_columns c = {0};
	struct err err = {""};

	REQUIRE(pm_columns_parse(&c, "--pm", "default + retired :retdelay:: retired^ /trap + any",
				 NULL, &err) == 0);
	REQUIRE(c.n == 3);
	EXPECT(c.v[0].is_default && !c.v[1].is_default);
	EXPECT(c.v[1].is_ratio && !c.v[2].is_ratio);
	EXPECT_EQ(c.v[1].item.counter, FACT_RETDELAY);
	EXPECT_EQ(c.v[1].per_item.counter, FACT_NO_COUNTER);
	EXPECT_STR(c.v[1].text, "retired:retdelay::retired^/trap");
	EXPECT_STR(c.v[1].item.text, "retired:retdelay");
	EXPECT_STR(c.v[1].per_item.text, "retired^/trap");
	EXPECT_STR(c.v[2].text, "any");
	EXPECT_EQ(pm_columns_parse(&c, "--sp", "any:replays::replays", NULL, &err), 0);
	REQUIRE(c.n == 4);
	EXPECT_EQ(c.v[3].item.counter, FACT_REPLAYS_COUNTER);
	pm_columns_release(&c);
}

TEST(every_name)
{
	struct err err = {""};

	for (size_t i = 0; i < n_facts; i++) {
		const struct fact *f = &fact_table[i];
		pm_columns c = {0};
		char text[100];

		snprintf(text, sizeof(text), "%s%s", f->kind == FACT_COUNTER ? "any:" : "",
			 f->name);
		EXPECT_EQ(pm_columns_parse(&c, "--pm", text, NULL, &err), 0);
		EXPECT_STR(err.msg, "");
		pm_columns_release(&c);
	}
}

/* The manual describes every bit and counter, each in a paragraph of its own. */
TEST(manual)
{
	struct file_map map;
	struct err err = {""};
	_mem_ char *page = NULL;

	REQUIRE(file_map_open(&map, AT_FDCWD, T_GOLDEN "/../../docs/man/dwell-profileme.7.scd",
			      false, &err) == 0);
	page = xstrndup((const char *)map.bytes, map.n_bytes);
	file_map_close(&map);
	for (size_t i = 0; i < n_facts; i++) {
		struct str line = {0};

		str_add(&line, "\n*");
		for (const char *c = fact_table[i].name; *c; c++)
			str_addf(&line, *c == '_' ? "\\%c" : "%c", *c);
		str_add(&line, "*\n");
		if (!strstr(page, line.v))
			printf("# %s\n", fact_table[i].name);
		EXPECT(strstr(page, line.v) != NULL);
		str_release(&line);
	}
}

TEST(errors)
{
	expect_error("", -EINVAL, "--pm: expected a sample set at the end", "\n^");
	expect_error("retired+", -EINVAL, "--pm: expected a sample set at the end",
		     "retired+\n        ^");
	expect_error("retired^^taken", -EINVAL, "--pm: expected a sample set here",
		     "retired^^taken\n        ^");
	expect_error("(retired", -EINVAL, "--pm: expected ')', '^' or '|' at the end",
		     "(retired\n        ^");
	expect_error("retired taken", -EINVAL, "--pm: expected '^', '|', ':', '::' or '+' here",
		     "retired taken\n        ^");
	expect_error("any:retdelay:inflight", -EINVAL, "--pm: expected '::' or '+' here",
		     "any:retdelay:inflight\n            ^");
	expect_error("a\nb+any", -EINVAL,
		     "--pm: there is no bit 'a'; dwell-profileme(7) lists them", "a?b+any\n^");
	expect_error("default^taken", -EINVAL, "--pm: expected '+' and another column here",
		     "default^taken\n       ^");
	expect_error("!default", -EINVAL, "--pm: default is a column of its own, no sample set",
		     "!default\n ^^^^^^^");
	expect_error("nyp+dtbmis", -EINVAL, "--pm: there is no bit 'dtbmis'; did you mean dtbmiss?",
		     "nyp+dtbmis\n    ^^^^^^");
	expect_error("no_trap", -EINVAL, "--pm: there is no bit 'no_trap'; did you mean notrap?",
		     "no_trap\n^^^^^^^");
	expect_error("opcdectrap", -EINVAL,
		     "--pm: there is no bit 'opcdectrap'; did you mean OPCDECtrap?",
		     "opcdectrap\n^^^^^^^^^^");
	expect_error("xyzzyplugh", -EINVAL,
		     "--pm: there is no bit 'xyzzyplugh'; dwell-profileme(7) lists them",
		     "xyzzyplugh\n^^^^^^^^^^");
	expect_error("inflight", -EINVAL,
		     "--pm: inflight is a counter; say of which samples, as in any:inflight",
		     "inflight\n^^^^^^^^");
	expect_error("any:taken", -EINVAL,
		     "--pm: taken is a bit; behind ':' stands a counter (^ joins bits)",
		     "any:taken\n    ^^^^^");
	expect_error("any:", -EINVAL, "--pm: expected the name of a counter at the end",
		     "any:\n    ^");
	expect_error("retired::any::taken", -EINVAL,
		     "--pm: expected '+' and another column: there is one ratio already, here",
		     "retired::any::taken\n            ^");
}

/* A set that contradicts itself is empty: no sample is in it, whatever is known of it. */
TEST(contradictions)
{
	expect_truth("retired^!retired", "", TRUTH_NO);
	expect_truth("!any", "retired", TRUTH_NO);
	expect_truth("(load|store)^!load^!store", "", TRUTH_NO);
	expect_truth("trap^notrap", "", TRUTH_NO);
	expect_truth("dtbmiss^mispredict", "", TRUTH_NO);
	expect_truth("dtbmiss^mispredict", "dtbmiss", TRUTH_NO);
	expect_truth("!(trap^notrap)", "", TRUTH_YES);
	/* DCPI's files say these two of some samples; where none does, they are unknown. */
	expect_truth("capped", "retired", TRUTH_UNKNOWN);
	expect_truth("!twnzrd^retired", "!retired", TRUTH_NO);
}

TEST(deep)
{
	char text[1000];
	pm_columns c = {0};
	struct err err = {""};

	memset(text, '(', 101);
	strcpy(text + 101, "any");
	EXPECT_EQ(pm_columns_parse(&c, "--pm", text, NULL, &err), -E2BIG);
	EXPECT_STR(err.msg, "--pm: brackets are nested too deep");
	EXPECT(strlen(err.where) < sizeof(err.where));
	pm_columns_release(&c);
	memset(text, '!', 900);
	strcpy(text + 900, "taken");
	EXPECT_EQ(pm_columns_parse(&c, "--pm", text, NULL, &err), 0);
	EXPECT_EQ(pm_set_truth(&c.v[0].item.set, FACT_MASK(FACT_TAKEN), FACT_MASK(FACT_TAKEN)),
		  TRUTH_YES);
	pm_columns_release(&c);
}
