/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store_t.h"

TEST(what_is_flushed_is_loaded)
{
	struct scratch t = scratch_new();
	struct profile p;
	struct store *s;
	struct err err = {0};

	s = t_create(&t, "alpha");
	REQUIRE(s);
	t_profile(&p, 5);
	EXPECT_EQ(store_flush(s, &p, NULL, 0, &err), 0);
	EXPECT_EQ(t_total(&t, NULL), 5);
	EXPECT_EQ(store_flush(s, &p, NULL, 0, &err), 0);
	EXPECT_EQ(t_total(&t, NULL), 10);
	EXPECT_EQ(store_close(s, &err), 0);
	EXPECT_STR(err.msg, "");
	EXPECT_EQ(t_total(&t, NULL), 10);
	EXPECT_EQ(t_files(&t, ".seg"), 1);
	profile_release(&p);
	scratch_release(&t);
}

TEST(what_is_given_up_leaves_nothing_and_takes_nothing)
{
	struct scratch t = scratch_new();
	struct profile p;
	struct store *s = t_create(&t, "alpha");
	struct err err = {0};

	REQUIRE(s);
	store_discard(s);
	EXPECT_EQ(t_files(&t, "MANIFEST"), 0);
	s = t_create(&t, "alpha");
	REQUIRE(s);
	t_profile(&p, 5);
	EXPECT_EQ(store_flush(s, &p, NULL, 0, &err), 0);
	store_discard(s);
	EXPECT_EQ(t_total(&t, NULL), 5);
	profile_release(&p);
	scratch_release(&t);
}

TEST(what_replaces_counts_alone)
{
	struct scratch t = scratch_new();
	struct profile p, q;
	struct store *s = t_create(&t, "alpha");
	struct err err = {0};

	REQUIRE(s);
	t_profile(&p, 5);
	t_profile(&q, 12);
	EXPECT_EQ(store_flush(s, &p, NULL, 0, &err), 0);
	EXPECT_EQ(store_journal(s, &p, NULL, 0, &err), 0);
	EXPECT_EQ(store_replace(s, &q, &err), 0);
	EXPECT_EQ(t_total(&t, NULL), 12);
	EXPECT_EQ(t_files(&t, ".seg"), 1);
	EXPECT_EQ(store_close(s, &err), 0);
	EXPECT_EQ(t_total(&t, NULL), 12);
	profile_release(&p);
	profile_release(&q);
	scratch_release(&t);
}

TEST(journal_counts_until_the_flush_that_covers_it)
{
	struct scratch t = scratch_new();
	struct seq_range range = {.cpu = 1, .first_seq = 10, .last_seq = 19};
	struct profile p, q;
	struct store *s;
	struct err err = {0};
	uint64_t seq = 0;

	s = t_create(&t, "alpha");
	REQUIRE(s);
	t_profile(&p, 5);
	t_profile(&q, 12);
	EXPECT_EQ(store_journal(s, &p, &range, 1, &err), 0);
	EXPECT_EQ(t_total(&t, NULL), 5);
	EXPECT_EQ(store_journal(s, &p, NULL, 0, &err), 0);
	EXPECT_EQ(t_total(&t, NULL), 10);
	EXPECT(store_last_seq(s, 1, &seq));
	EXPECT_EQ(seq, 19);
	EXPECT_EQ(store_flush(s, &q, NULL, 0, &err), 0); /* 5 + 5, and 2 more */
	EXPECT_EQ(t_total(&t, NULL), 12);
	EXPECT_EQ(store_journal(s, &p, NULL, 0, &err), 0);
	EXPECT_EQ(t_total(&t, NULL), 17);
	EXPECT_EQ(store_close(s, &err), 0); /* the journal's last record became a segment */
	EXPECT_EQ(t_total(&t, NULL), 17);
	EXPECT_EQ(t_files(&t, "journal"), 0);
	EXPECT_STR(err.msg, "");
	profile_release(&p);
	profile_release(&q);
	scratch_release(&t);
}
