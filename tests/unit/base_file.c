/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file.h"
#include "t.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int countdown;

static int fail_nth(enum file_op op, size_t n)
{
	if (countdown-- > 0)
		return 0;
	return op == FILE_WRITE && n > 1 ? 1 : -EIO;
}

static int n_entries(const char *dir)
{
	DIR *d = opendir(dir);
	int n = -2; /* . and .. */

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

TEST(replace_is_all_or_nothing)
{
	char dir[] = "/tmp/dwell-test-XXXXXX", path[64], *text;
	struct err err;
	int fd;

	REQUIRE(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	snprintf(path, sizeof(path), "%s/f", dir);
	EXPECT_EQ(file_replace(fd, "f", "old", 3, &err), 0);
	file_fault = fail_nth;
	for (int i = 0; i < 3; i++) { /* write, fsync, rename; the directory's fsync comes after */
		countdown = i;
		EXPECT(file_replace(fd, "f", "newer", 5, &err) < 0);
		EXPECT_EQ(n_entries(dir), 1);
		REQUIRE(file_load(path, 100, &text, NULL, &err) == 0);
		EXPECT_STR(text, "old");
		free(text);
	}
	file_fault = NULL;
	EXPECT_EQ(file_replace(fd, "f", "newer", 5, &err), 0);
	REQUIRE(file_load(path, 100, &text, NULL, &err) == 0);
	EXPECT_STR(text, "newer");
	free(text);
	EXPECT_EQ(file_load(path, 3, &text, NULL, &err), -E2BIG);
	unlink(path);
	rmdir(dir);
	close(fd);
}

TEST(whose_folder_it_is)
{
	char dir[] = "/tmp/dwell-test-XXXXXX", path[80];

	REQUIRE(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/to/be/made/", dir);
	EXPECT(file_is_own_folder(dir));
	EXPECT(file_is_own_folder(path));
	EXPECT(!file_is_own_folder(dir + 1));
	EXPECT(!file_is_own_folder("/tmp/dwell-test-nowhere")); /* others may write to /tmp */
	EXPECT(!file_is_own_folder(NULL));
	chmod(dir, 0777);
	EXPECT(!file_is_own_folder(path));
	chmod(dir, 0700);
	if (geteuid() == 0) {
		REQUIRE(chown(dir, 1, 1) >= 0);
		EXPECT(!file_is_own_folder(dir) && !file_is_own_folder(path));
	}
	rmdir(dir);
}
