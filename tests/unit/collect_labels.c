/* SPDX-License-Identifier: BSD-2-Clause */
/* Labels that outlive their recorder: as text, and given again to processes that really live. */
#include "machine/labels.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/procfs.h"
#include "procs_t.h"
#include "t.h"

TEST(what_is_no_line_ends_it)
{
	static const char *const bad[] = {
		"",	   "\n",      "1 2 x",	 "1 2\n",	  "1 2 \n",
		"x 2 y\n", "0 2 y\n", "1 x y\n", "4194304 2 y\n", "1  2\n"};
	char text[LABEL_BYTES + 80];
	struct labelled l;

	for (size_t i = 0; i < n_elems(bad); i++)
		EXPECT_EQ(labels_parse(bad[i], strlen(bad[i]), &l), 0);
	EXPECT_EQ(labels_parse("12 345 a b\n9", 12, &l), 11);
	EXPECT(l.pid == 12 && l.start_ticks == 345);
	EXPECT_STR(l.label, "a b");
	for (size_t n = LABEL_BYTES - 2; n < LABEL_BYTES + 40; n++) {
		int k = snprintf(text, sizeof(text), "1 2 %0*d\n", (int)n, 0);

		EXPECT_EQ(labels_parse(text, (size_t)k, &l), n < LABEL_BYTES ? (size_t)k : 0);
	}
	EXPECT_EQ(labels_parse("1 2 a\0b\n", 8, &l), 0);
}

static pid_t child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static const char *label_of(pid_t pid)
{
	return profile_str(&w.profile, w.procs.v.v[procs_current(&w.procs, (uint32_t)pid)].label);
}

/* What a recorder writes is given again by the next one: to the process itself, to those that
 * descend from it, but to no other, nor to one that has its pid now. */
TEST(labels_are_given_again)
{
	struct str text = {0}, other = {0};
	const uint32_t self = (uint32_t)getpid();
	struct labelled l = {.pid = self};
	uint32_t parent = 0;
	uint64_t mark = 0, start = 0;
	pid_t born;

	EXPECT_EQ(procfs_birth(self, &parent, &start), 0);
	EXPECT_EQ(parent, (uint32_t)getppid());

	begin();
	REQUIRE(procs_scan_one(&w.procs, self));
	EXPECT(!labels_changed(&w.procs, &mark));
	REQUIRE(procs_set_label(&w.procs, self, "nightly job"));
	EXPECT(labels_changed(&w.procs, &mark));
	EXPECT(!labels_changed(&w.procs, &mark));
	labels_list(&w.procs, &text);
	EXPECT_EQ(labels_parse(str_get(&text), text.n, &l), text.n);
	EXPECT(l.pid == self && l.start_ticks == start);
	end();

	born = child();
	begin();
	procs_scan_one(&w.procs, self);
	procs_scan_one(&w.procs, parent);
	procs_scan_one(&w.procs, (uint32_t)born);
	EXPECT_EQ(labels_apply(&w.procs, str_get(&text), text.n), 2);
	EXPECT_STR(label_of((pid_t)self), "nightly job");
	EXPECT_STR(label_of(born), "nightly job");
	EXPECT_STR(label_of((pid_t)parent), "");
	end();

	begin();
	procs_scan_one(&w.procs, self);
	l.start_ticks++;
	labels_format(&l, &other);
	EXPECT_EQ(labels_apply(&w.procs, str_get(&other), other.n), 0);
	EXPECT_STR(label_of((pid_t)self), "");
	end();
	kill(born, SIGKILL);
	waitpid(born, NULL, 0);
	str_release(&text);
	str_release(&other);
}
