/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording knows of logs, over the death of whoever wrote it: see store/logs.c. */
#include "store/store.h"

#include <errno.h>

#include "store_t.h"

static void journal(struct store *s, unsigned n, uint64_t last_seq)
{
	const struct seq_range range = {.cpu = 1, .last_seq = last_seq};
	struct err err = {0};
	struct profile p;

	t_profile(&p, n);
	EXPECT_EQ(store_journal(s, &p, &range, 1, &err), 0);
	profile_release(&p);
}

static int flush_log(struct store *s, unsigned n, const struct store_log *l)
{
	struct err err = {0};
	struct profile p;
	int rc;

	t_profile(&p, n);
	rc = store_flush_log(s, &p, l, &err);
	profile_release(&p);
	return rc;
}

/* The writer dies, and another one goes on. */
static struct store *die_and_resume(const struct scratch *t, struct store *s)
{
	struct err err = {0};

	store_detach(s);
	s = NULL;
	if (store_resume(t->db, "alpha", &s, &err) < 0)
		t_fail_("store_resume: %s", err.msg);
	return s;
}

static void expect_log(const struct store *s, size_t i, uint64_t number, enum store_log_state state)
{
	REQUIRE(i < store_n_logs(s));
	EXPECT_EQ(store_get_log(s, i).number, number);
	EXPECT_EQ(store_get_log(s, i).state, state);
}

/* The example of store/logs.c: a dead daemon's log 7 is taken over by one that samples into 9. */
TEST(log_of_a_dead_daemon_is_taken_over)
{
	const struct store_log both[] = {{.number = 7, .state = STORE_LOG_TAKEN},
					 {.number = 9, .state = STORE_LOG_OWN}};
	const struct store_log stored = {.number = 7, .state = STORE_LOG_STORED};
	struct scratch t = scratch_new();
	struct err err = {0};
	struct store *s = t_create(&t, "alpha");

	EXPECT_EQ(store_use_log(s, 7, NULL, 0, &err), 0);
	journal(s, 5, 5);
	s = die_and_resume(&t, s);
	EXPECT_EQ(store_n_logs(s), 1);
	EXPECT_EQ(store_put_logs(s, both, 2, &err), 0);
	EXPECT_EQ(store_log(s), 9);
	s = die_and_resume(&t, s);
	expect_log(s, 0, 7, STORE_LOG_TAKEN);
	expect_log(s, 1, 9, STORE_LOG_OWN);

	journal(s, 6, 6); /* of log 9; it goes on counting */
	EXPECT_EQ(flush_log(s, 7, &stored), 0);
	EXPECT_EQ(store_log(s), 9);
	s = die_and_resume(&t, s);
	expect_log(s, 0, 7, STORE_LOG_STORED);
	expect_log(s, 1, 9, STORE_LOG_OWN);
	EXPECT_EQ(store_drop_log(s, 7, &err), 0);
	EXPECT_EQ(store_drop_log(s, 7, &err), 0); /* it is gone already */
	s = die_and_resume(&t, s);
	EXPECT_EQ(store_n_logs(s), 1);
	expect_log(s, 0, 9, STORE_LOG_OWN);
	store_detach(s);
	EXPECT_EQ(t_total(&t, "all"), 5 + 6 + 7);
	scratch_release(&t);
}

/* The journal belongs to the log before: it is flushed before others are put in its place. */
TEST(journal_is_flushed_before_logs_are_put)
{
	const struct store_log other = {.number = 3, .state = STORE_LOG_OWN};
	struct scratch t = scratch_new();
	struct err err = {0};
	struct store *s = t_create(&t, "alpha");

	EXPECT_EQ(store_use_log(s, 2, NULL, 0, &err), 0);
	journal(s, 5, 5);
	EXPECT_EQ(t_files(&t, "/000001.seg"), 0);
	EXPECT_EQ(store_put_logs(s, &other, 1, &err), 0);
	EXPECT_EQ(t_files(&t, "/000001.seg"), 1);
	journal(s, 6, 1);
	store_detach(s);
	EXPECT_EQ(t_total(&t, "all"), 11);
	scratch_release(&t);
}

TEST(log_that_is_recorded_into_is_not_flushed)
{
	const struct store_log own = {.number = 2, .state = STORE_LOG_STORED};
	struct scratch t = scratch_new();
	struct err err = {0};
	struct store *s = t_create(&t, "alpha");

	EXPECT_EQ(store_use_log(s, 2, NULL, 0, &err), 0);
	EXPECT_EQ(flush_log(s, 5, &own), -EINVAL);
	expect_log(s, 0, 2, STORE_LOG_OWN);
	store_detach(s);
	EXPECT_EQ(t_total(&t, "all"), 0);
	scratch_release(&t);
}

/* Nothing to store is still word of the log; one that was not known comes before the own one. */
TEST(empty_log_is_noted)
{
	const struct seq_range range = {.cpu = 2, .last_seq = 40};
	const struct store_log stored = {
		.number = 1, .state = STORE_LOG_STORED, .ranges = &range, .n_ranges = 1};
	struct scratch t = scratch_new();
	struct err err = {0};
	struct store *s = t_create(&t, "alpha");

	EXPECT_EQ(store_use_log(s, 2, NULL, 0, &err), 0);
	EXPECT_EQ(flush_log(s, 0, &stored), 0);
	s = die_and_resume(&t, s);
	expect_log(s, 0, 1, STORE_LOG_STORED);
	expect_log(s, 1, 2, STORE_LOG_OWN);
	EXPECT_EQ(t_files(&t, "/000001.seg"), 0);
	store_detach(s);
	scratch_release(&t);
}
