/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/path_rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vec.h"
#include "t.h"

TEST(rules)
{
	static const struct {
		const char *rule, *path, *there;
	} cases[] = {
		{"/build=/src", "/build/a/b.c", "/src/a/b.c"},
		{"/build/=/src", "/build//a.c", "/src/a.c"},
		{"/build=/src", "/builds/a.c", NULL},
		{"/build=/src", "build/a.c", NULL},
		{"/build=/src", "/", NULL},
		{"/=/root", "/lib/x.so", "/root/lib/x.so"},
		{"/a/*/c=/x", "/a/b/c/d", "/x/d"},
		{"/a/*/c=/x", "/a/c", NULL},
		{"/a\\=b\\\\c=/x=y", "/a=b\\c/d", "/x=y/d"},
		{"/a/f=/x/g", "/a/f", "/x/g"},
		{"/a\\b=x", "/a\\b/c", "x/c"},
		{"/a=", "/a/b", ""},
	};

	for (size_t i = 0; i < n_elems(cases); i++) {
		char *there = path_rule_apply(cases[i].rule, cases[i].path);

		printf("# %s\n", cases[i].rule);
		if (cases[i].there)
			EXPECT_STR(there ? there : "(none)", cases[i].there);
		else
			EXPECT(!there);
		free(there);
	}
}

TEST(what_is_no_rule)
{
	static const char *const bad[] = {"", "=", "/a", "/a=", "=/b", "a=/b"};

	for (size_t i = 0; i < n_elems(bad); i++)
		EXPECT(path_rule_check(bad[i], NULL) == -EINVAL);
	EXPECT(path_rule_check("/a=b", NULL) == 0);
	EXPECT(path_rule_is("/a=") && path_rule_is("/a=/b"));
	EXPECT(!path_rule_is("a=/b") && !path_rule_is("/a"));
}

/* The first rule that leads to a regular file counts, or the one that says it is not there. */
TEST(files_are_found)
{
	char dir[] = "/tmp/dwell-rules.XXXXXX", path[64], rule[80];
	const char *const rules[] = {"/src=/nowhere", "plain", rule, "/=", "/src=/etc/passwd"};
	char *there;
	FILE *f;

	REQUIRE(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a=.c", dir);
	snprintf(rule, sizeof(rule), "/src/=%s", dir);
	f = fopen(path, "w");
	REQUIRE(f && fclose(f) == 0);
	EXPECT(!path_rule_is(path));
	EXPECT(!path_rules_find(NULL, 0, path));
	EXPECT(!path_rules_find(rules, 2, "/src/a=.c"));
	there = path_rules_find(rules, 3, "/src/a=.c");
	EXPECT_STR(there ? there : "", path);
	free(there);
	EXPECT(!path_rules_find(rules, 3, "/src"));
	there = path_rules_find(rules, 5, "/src");
	EXPECT_STR(there ? there : "(none)", "");
	free(there);
	unlink(path);
	rmdir(dir);
}
