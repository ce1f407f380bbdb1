/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/vec.h"
#include "resolve/source.h"
#include "t.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/dwell-test-XXXXXX";

static void make_dir(void)
{
	if (strstr(dir, "XXXXXX"))
		EXPECT(mkdtemp(dir));
}

__attribute__((destructor)) static void remove_dir(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	if (!strstr(dir, "XXXXXX") && system(cmd) != 0)
		abort();
}

static const char *put(const char *name, const char *text, size_t n)
{
	static char path[128];
	FILE *f;

	make_dir();
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	fwrite(text, 1, n, f);
	fclose(f);
	return path;
}

static void expect_line(const struct source_text *s, uint32_t line, const char *expected)
{
	size_t n = 0;
	const char *text = source_line(s, line, &n);
	char copy[128];

	REQUIRE(text && n < sizeof(copy));
	memcpy(copy, text, n);
	copy[n] = '\0';
	EXPECT_STR(copy, expected);
}

TEST(lines_are_cleaned_and_counted)
{
	static const char text[] = "first\r\n\tsecond\n\n\x1b[31mred\x7f \0 \xc3\xa4 \xc2\x9b \xff "
				   "\xe2\x82\xac \xed\xa0\x80 \r.\nlast";
	struct sources *s = sources_new();
	const struct source_text *f;
	size_t n;

	f = sources_load(s, put("a.c", text, sizeof(text) - 1), 0, NULL, NULL);
	REQUIRE(f);
	EXPECT_EQ(f->n_lines, 5);
	EXPECT(f->mtime_wall_ns > 1500000000000000000u);
	expect_line(f, 1, "first");
	expect_line(f, 2, "\tsecond");
	expect_line(f, 3, "");
	expect_line(f, 4, "?[31mred? ? \xc3\xa4 ?? ? \xe2\x82\xac ??? ?.");
	expect_line(f, 5, "last");
	EXPECT(!source_line(f, 0, &n));
	EXPECT(!source_line(f, 6, &n));
	EXPECT(sources_load(s, put("a.c", "changed", 7), 0, NULL, NULL) == f);
	f = sources_load(s, put("empty.c", "", 0), 0, NULL, NULL);
	REQUIRE(f);
	EXPECT_EQ(f->n_lines, 0);
	sources_free(s);
}

TEST(rules_replace_whole_components)
{
	struct sources *s = sources_new();
	char rule[128], path[128];
	const struct source_text *f;
	struct err err;

	put("b.c", "here\n", 5);
	snprintf(rule, sizeof(rule), "/build/dwell-0.1/=%s", dir);
	EXPECT_EQ(sources_map(s, "/build=/nowhere", NULL), 0);
	EXPECT_EQ(sources_map(s, rule, NULL), 0);
	EXPECT_EQ(sources_map(s, "no rule", &err), -EINVAL);
	EXPECT_EQ(sources_map(s, "=/to", &err), -EINVAL);
	f = sources_load(s, "/build/dwell-0.1/b.c", 0, NULL, NULL);
	REQUIRE(f);
	snprintf(path, sizeof(path), "%s/b.c", dir);
	EXPECT_STR(f->path, path);
	EXPECT(!sources_load(s, "/build/dwell-0.10/b.c", 0, NULL, NULL));
	EXPECT(sources_load(s, path, 0, NULL, NULL));
	sources_free(s);
}

TEST(what_is_no_file_is_refused)
{
	struct sources *s = sources_new();
	struct err err;
	char path[128];
	int code;

	make_dir();
	snprintf(path, sizeof(path), "%s/fifo", dir);
	REQUIRE(mkfifo(path, 0600) == 0);
	EXPECT(!sources_load(s, path, 0, &code, &err));
	EXPECT_EQ(code, -EINVAL);
	EXPECT(!sources_load(s, dir, 0, &code, &err));
	EXPECT_EQ(code, -EINVAL);
	EXPECT(!sources_load(s, "/dev/zero", 0, &code, &err));
	EXPECT_EQ(code, -EINVAL);
	snprintf(path, sizeof(path), "%s/huge", dir);
	put("huge", "", 0);
	REQUIRE(truncate(path, (off_t)SOURCE_MAX_BYTES + 1) == 0);
	EXPECT(!sources_load(s, path, 0, &code, &err));
	EXPECT_EQ(code, -E2BIG);
	EXPECT(!sources_load(s, "/nowhere/at/all.c", 0, &code, &err));
	EXPECT_EQ(code, -ENOENT);
	/* The second time from memory, with the same message. */
	EXPECT(!sources_load(s, "/nowhere/at/all.c", 0, &code, &err));
	EXPECT_EQ(code, -ENOENT);
	EXPECT(strstr(err.msg, "/nowhere/at/all.c"));
	sources_free(s);
}

/* A file of root's that another user's binary names: only that user's rights count. */
TEST(root_does_not_lend_its_rights)
{
	const uid_t user = 12345;
	struct sources *s = sources_new(), *mapped = sources_new();
	struct err err = {0};
	const char *path;
	char rule[300], out[300];
	int code = 0;

	if (geteuid() != 0)
		return;
	path = put("secret.c", "secret\n", 7);
	chmod(path, 0640);
	chmod(dir, 0755);
	EXPECT(!sources_load(s, path, user, &code, &err));
	EXPECT_EQ(code, -EACCES);
	EXPECT(strstr(err.msg, "--source-map"));
	EXPECT(!sources_load(s, path, UID_ANYBODY, NULL, NULL));
	EXPECT(sources_load(s, path, 0, NULL, NULL)); /* nobody else's word: it is shown */
	EXPECT_EQ(geteuid(), 0);
	EXPECT_EQ(access("/etc/shadow", R_OK), 0); /* root is root again */
	sources_free(s);

	/* What everybody may read is shown, but not behind a directory that is closed. */
	s = sources_new();
	chmod(path, 0644);
	EXPECT(sources_load(s, path, user, NULL, NULL));
	sources_free(s);
	s = sources_new();
	chmod(dir, 0700);
	EXPECT(!sources_load(s, path, user, NULL, NULL));
	sources_free(s);

	/* What root names is shown, and nothing outside of it. */
	snprintf(rule, sizeof(rule), "/b=%s", dir);
	EXPECT_EQ(sources_map(mapped, rule, NULL), 0);
	EXPECT(sources_load(mapped, "/b/secret.c", user, NULL, NULL));
	snprintf(out, sizeof(out), "/b/../%s/secret.c", strrchr(dir, '/') + 1);
	EXPECT(!sources_load(mapped, out, user, &code, NULL));
	EXPECT_EQ(code, -EXDEV);
	snprintf(out, sizeof(out), "%s/link.c", dir);
	EXPECT_EQ(symlink("/etc/shadow", out), 0);
	EXPECT(!sources_load(mapped, "/b/link.c", user, NULL, NULL));
	sources_free(mapped);
	chmod(dir, 0755);
}
