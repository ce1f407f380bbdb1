/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/plain_file.h"
#include "t.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many times PATH is opened, other than with O_PATH, while plain_file_open answers *RET. */
static size_t n_opens(const char *path, int flags, int *ret)
{
	struct inotify_event events[16];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	ssize_t n;

	EXPECT(watch >= 0);
	EXPECT(inotify_add_watch(watch, path, IN_OPEN) >= 0);
	*ret = plain_file_open(path, flags);
	n = read(watch, events, sizeof(events));
	close(watch);
	return n < 0 ? 0 : (size_t)n / sizeof(*events);
}

TEST(only_plain_files_are_opened)
{
	char dir[] = "/tmp/dwell-test-XXXXXX", file[64], fifo[64], link[64], byte = 0;
	int fd;

	REQUIRE(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	REQUIRE(fd >= 0 && write(fd, "x", 1) == 1);
	close(fd);
	REQUIRE(mkfifo(fifo, 0600) == 0 && symlink("file", link) == 0);

	EXPECT_EQ(n_opens(file, 0, &fd), 1);
	REQUIRE(fd >= 0);
	EXPECT(read(fd, &byte, 1) == 1 && byte == 'x');
	EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	EXPECT_EQ(n_opens(fifo, 0, &fd), 0);
	EXPECT_EQ(fd, -EINVAL);
	EXPECT_EQ(n_opens(dir, 0, &fd), 0);
	EXPECT_EQ(fd, -EINVAL);
	fd = plain_file_open(link, 0);
	EXPECT(fd >= 0);
	close(fd);
	EXPECT_EQ(plain_file_open(link, O_NOFOLLOW), -EINVAL);
	EXPECT_EQ(plain_file_open("/nowhere/at/all", 0), -ENOENT);
	unlink(link);
	unlink(fifo);
	unlink(file);
	rmdir(dir);
}
