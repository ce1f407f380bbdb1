/* SPDX-License-Identifier: BSD-2-Clause */
#include "resolve/debian_package.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t.h"

static void list_write(const char *dir, const char *name, const char *text)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	EXPECT(f != NULL);
	fputs(text, f);
	fclose(f);
}

TEST(packages_of_files)
{
	static const char *const paths[] = {"/usr/bin/prog",
					    "/usr/lib/libx.so.1",
					    "/usr/lib/old.so",
					    "/usr/bin/pro",
					    "/usr/bin/last",
					    "/opt/other",
					    ""};
	char dir[] = "/tmp/dwell-packages.XXXXXX", command[200], *got[7];

	EXPECT(mkdtemp(dir) != NULL);
	list_write(dir, "prog.list", "/.\n/usr/bin\n/usr/bin/prog\n/usr/bin/prog2\n/usr/bin/last");
	list_write(dir, "libx1:amd64.list", "/usr/lib/libx.so.1\n");
	list_write(dir, "merged.list", "/lib/old.so\n");
	list_write(dir, "prog.md5sums", "/opt/other\n");
	list_write(dir, "empty.list", "");
	debian_packages_find(dir, paths, 7, got);
	EXPECT_STR(got[0], "prog");
	EXPECT_STR(got[1], "libx1");
	EXPECT_STR(got[2], "merged");
	EXPECT(!got[3]);
	EXPECT_STR(got[4], "prog");
	EXPECT(!got[5] && !got[6]);
	for (unsigned i = 0; i < 7; i++)
		free(got[i]);
	debian_packages_find("/nowhere", paths, 1, got);
	EXPECT(!got[0]);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	EXPECT(system(command) == 0);
}
