/* SPDX-License-Identifier: BSD-2-Clause */
/* Archives, as tar(1) reads them. */
#include "base/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "scratch_t.h"
#include "t.h"

static bool add(int fd, const char *path, const char *text)
{
	struct err err = {""};
	int rc = tar_add(fd, path, text, strlen(text), &err);

	if (rc)
		t_fail_("%s", err.msg);
	return rc == 0;
}

TEST(what_tar_reads_is_what_was_added)
{
	char dirs[300], longer[400], block[513];
	struct err err = {""};
	int fd;

	REQUIRE(scratch_open(""));
	fd = open(scratch_path("x.tar"), O_WRONLY | O_CREAT, 0644);
	memset(block, 'b', 512);
	block[512] = '\0';
	/* A path of 100 + '/' + more, which needs the prefix. */
	memset(dirs, 'd', 150);
	memcpy(dirs + 150, "/name", 6);
	memset(longer, 'l', 399);
	longer[399] = '\0';
	REQUIRE(add(fd, "top/empty", "") && add(fd, "top/one", "x") &&
		add(fd, "top/block", block) && add(fd, dirs, "far"));
	EXPECT_EQ(tar_add(fd, longer, "", 0, &err), -ENAMETOOLONG);
	EXPECT(*err.msg);
	EXPECT_EQ(tar_end(fd, &err), 0);
	close(fd);
	EXPECT(scratch_run("tar xf x.tar"));
	EXPECT(scratch_run("test -f top/empty && ! test -s top/empty"));
	EXPECT(scratch_run("test \"$(cat top/one)\" = x"));
	EXPECT(scratch_run("test $(wc -c <top/block) = 512 && ! tr -d b <top/block | grep ."));
	EXPECT(scratch_run("test \"$(cat d*/name)\" = far"));
	EXPECT(scratch_run("test $(tar tf x.tar | wc -l) = 4"));
	scratch_close();
}

TEST(a_disk_that_is_full)
{
	int fd = open("/dev/full", O_WRONLY);
	struct err err = {""};

	REQUIRE(fd >= 0);
	EXPECT_EQ(tar_add(fd, "a", "b", 1, &err), -ENOSPC);
	EXPECT_EQ(tar_end(fd, &err), -ENOSPC);
	EXPECT(*err.msg);
	close(fd);
}
