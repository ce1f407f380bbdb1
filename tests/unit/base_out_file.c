/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/out_file.h"
#include "t.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "hpc/directory.h"

/* Makes a directory of its own the working one. */
static bool enter(char dir[])
{
	return mkdtemp(dir) && chdir(dir) == 0;
}

static int n_entries(void)
{
	DIR *d = opendir(".");
	int n = -2; /* . and .. */

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static bool holds(const char *path, const char *text)
{
	char *got = NULL;
	bool same = file_load(path, 1000, &got, NULL, NULL) == 0 && strcmp(got, text) == 0;

	free(got);
	return same;
}

/* Runs WORK in a process that then kills itself. */
static void killed_after(void (*work)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		work();
		raise(SIGKILL);
	}
	waitpid(pid, NULL, 0);
}

static void write_half(void)
{
	struct out_file o;

	if (out_file_open(&o, "f", NULL) == 0 && write(o.fd, "ha", 2) != 2)
		_exit(1);
}

TEST(a_killed_writer_leaves_nothing_that_the_next_one_does_not_remove)
{
	char dir[] = "/tmp/dwell-test-XXXXXX";
	struct err err;

	REQUIRE(enter(dir));
	killed_after(write_half);
	EXPECT(access("f", F_OK) < 0);
	EXPECT_EQ(n_entries(), 1);
	EXPECT_EQ(out_file_save("f", "whole", 5, &err), 0);
	EXPECT(holds("f", "whole"));
	EXPECT_EQ(n_entries(), 1);
	killed_after(write_half);
	EXPECT(holds("f", "whole"));
	unlink("f");
}

TEST(names_of_drafts)
{
	EXPECT(out_file_is_draft(".f.12.tmp", ".f.", ".tmp"));
	EXPECT(out_file_is_draft("db.tmp-7", "db.tmp-", ""));
	EXPECT(out_file_is_draft(".a.b.12.tmp", NULL, ".tmp"));
	EXPECT(!out_file_is_draft(".f.12.tmp", ".g.", ".tmp"));
	EXPECT(!out_file_is_draft(".f..tmp", ".f.", ".tmp"));
	EXPECT(!out_file_is_draft(".f.12.tmp~", ".f.", ".tmp"));
	EXPECT(!out_file_is_draft("12.tmp", NULL, ".tmp"));
	EXPECT(!out_file_is_draft(".12.tmp", NULL, ".tmp"));
	EXPECT(!out_file_is_draft("", NULL, ".tmp"));
}

TEST(living_writers_are_left_alone)
{
	char dir[] = "/tmp/dwell-test-XXXXXX";
	struct out_file a;
	struct err err;
	pid_t pid;
	int status = 0;

	REQUIRE(enter(dir));
	REQUIRE(out_file_open(&a, "f", &err) == 0);
	EXPECT_EQ(write(a.fd, "first", 5), 5);
	pid = fork(); /* another process, so another name */
	if (pid == 0) {
		close(a.fd);
		_exit(out_file_save("f", "second", 6, NULL) == 0 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(status, 0);
	EXPECT(holds("f", "second"));
	EXPECT_EQ(out_file_commit(&a, &err), 0);
	out_file_close(&a);
	EXPECT(holds("f", "first"));
	EXPECT_EQ(n_entries(), 1);
	/* Names of the user's own that only look like it. */
	EXPECT_EQ(out_file_save(".f.x.tmp", "", 0, &err), 0);
	EXPECT_EQ(out_file_save(".f..tmp", "", 0, &err), 0);
	EXPECT_EQ(out_file_save("f", "third", 5, &err), 0);
	EXPECT_EQ(n_entries(), 3);
}

TEST(links_are_replaced_and_pipes_written)
{
	char dir[] = "/tmp/dwell-test-XXXXXX", text[10] = "";
	struct err err;
	struct stat st;
	int fd;

	REQUIRE(enter(dir));
	EXPECT_EQ(out_file_save("victim", "mine", 4, &err), 0);
	REQUIRE(symlink("victim", "link") == 0);
	REQUIRE(symlink("nowhere", "dangling") == 0);
	EXPECT_EQ(out_file_save("link", "new", 3, &err), 0);
	EXPECT_EQ(out_file_save("dangling", "new", 3, &err), 0);
	EXPECT(holds("victim", "mine"));
	EXPECT(holds("link", "new") && lstat("link", &st) == 0 && S_ISREG(st.st_mode));
	EXPECT(holds("dangling", "new") && access("nowhere", F_OK) < 0);
	REQUIRE(mkfifo("pipe", 0600) == 0);
	fd = open("pipe", O_RDWR);
	EXPECT_EQ(out_file_save("pipe", "hello", 5, &err), 0);
	EXPECT_EQ(read(fd, text, sizeof(text)), 5);
	EXPECT_STR(text, "hello");
	close(fd);
	EXPECT_EQ(out_file_save("/dev/null", "hello", 5, &err), 0);
	EXPECT(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
	EXPECT_EQ(out_file_save(".", "", 0, &err), -EISDIR);
	EXPECT_EQ(out_file_save("none/", "", 0, &err), -EISDIR);
	EXPECT_EQ(out_file_save("victim/x", "", 0, &err), -ENOTDIR);
	/* A file keeps its permissions. */
	REQUIRE(chmod("victim", 0640) == 0);
	EXPECT_EQ(out_file_save("victim", "more", 4, &err), 0);
	EXPECT(stat("victim", &st) == 0 && (st.st_mode & 0777) == 0640);
	EXPECT(holds("victim", "more"));
}

TEST(descriptors_are_written_to)
{
	char dir[] = "/tmp/dwell-test-XXXXXX", path[40];
	struct err err;
	int fd;

	REQUIRE(enter(dir));
	fd = open("f", O_RDWR | O_CREAT | O_APPEND, 0600);
	REQUIRE(write(fd, "old ", 4) == 4);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	EXPECT_EQ(out_file_save(path, "new ", 4, &err), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	EXPECT_EQ(out_file_save(path, "newer", 5, &err), 0);
	EXPECT(holds("f", "old new newer"));
	close(fd);
	EXPECT_EQ(out_file_save(path, "", 0, &err), -EBADF);
}

static void make_half_directory(void)
{
	struct new_dir d;

	if (new_dir_begin(&d, "db", "meta.db", true, NULL) ||
	    new_dir_write(&d, "half", "", 0, NULL))
		_exit(1);
}

TEST(directories_too)
{
	char dir[] = "/tmp/dwell-test-XXXXXX";
	struct new_dir d;
	struct err err;

	REQUIRE(enter(dir));
	killed_after(make_half_directory);
	EXPECT_EQ(n_entries(), 1);
	EXPECT(access("db", F_OK) < 0);
	for (int i = 0; i < 2; i++) {
		REQUIRE(new_dir_begin(&d, "db", "meta.db", true, &err) == 0);
		EXPECT_EQ(n_entries(), i + 1);
		EXPECT_EQ(new_dir_write(&d, "meta.db", i ? "2" : "1", 1, &err), 0);
		EXPECT_EQ(new_dir_commit(&d, &err), 0);
		new_dir_end(&d);
		EXPECT_EQ(n_entries(), 1);
		EXPECT(holds("db/meta.db", i ? "2" : "1"));
	}
	killed_after(make_half_directory);
	EXPECT(holds("db/meta.db", "2"));
}
