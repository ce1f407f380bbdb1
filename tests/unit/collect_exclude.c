/* SPDX-License-Identifier: BSD-2-Clause */
/* DCPI's file of exclusions. */
#include "machine/exclude.h"

#include <errno.h>

#include "t.h"

TEST(images_and_processes)
{
	static const char text[] =
		"# comment\n\n dwelld \nPID 7\nPID\t8\r\n  PID  10-12 # some\ncc1";
	struct exclusions e = {0};
	struct err err;

	/* "PID" and a tab is not DCPI's form: a blank is. */
	EXPECT_EQ(exclusions_parse(&e, text, sizeof(text) - 1, &err), -EINVAL);
	EXPECT_STR(err.msg, "line 5: not the short name of an image");
	exclusions_release(&e);
	EXPECT_EQ(exclusions_parse(&e, "dwelld \nPID 7\n  PID  10-12 # some\ncc1", 37, &err), 0);
	EXPECT(excludes_image(&e, "/usr/bin/dwelld"));
	EXPECT(excludes_image(&e, "cc1"));
	EXPECT(!excludes_image(&e, "/usr/dwelld/x"));
	EXPECT(!excludes_image(&e, "dwelld2"));
	EXPECT(!excludes_image(&e, ""));
	for (uint32_t pid = 0; pid < 20; pid++)
		EXPECT_EQ(excludes_pid(&e, pid), pid == 7 || (pid >= 10 && pid <= 12));
	EXPECT(!excludes_image(NULL, "cc1"));
	EXPECT(!excludes_pid(NULL, 7));
	exclusions_release(&e);
}

TEST(what_is_wrong_is_named)
{
	static const char *const bad[] = {"PID x",	     "PID 1-",	     "PID 3-2",	  "PID -4",
					  "PID 99999999999", "/usr/bin/cc1", "two words", "PID "};
	struct exclusions e = {0};
	struct err err;

	for (size_t i = 0; i < n_elems(bad); i++) {
		int rc = exclusions_parse(&e, bad[i], strlen(bad[i]), &err);

		/* Nothing behind PID: an image of that name. */
		EXPECT_EQ(rc, strcmp(bad[i], "PID ") == 0 ? 0 : -EINVAL);
		EXPECT(rc == 0 || strncmp(err.msg, "line 1: ", 8) == 0);
	}
	EXPECT_EQ(exclusions_parse(&e, "a\0b", 3, &err), -EINVAL);
	exclusions_release(&e);
}
