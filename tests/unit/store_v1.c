/* SPDX-License-Identifier: BSD-2-Clause */
/* What 0.1.0 left is taken over by the recorders of today: tests/golden/v1. */
#include "collect/pinned.h"
#include "store_t.h"

/* T with what tests/golden/v1 has. */
static void unpack(struct scratch *t)
{
	char cmd[200];

	*t = scratch_new();
	snprintf(cmd, sizeof(cmd), "tar xzf %s/v1/v1.tar.gz -C %s", T_GOLDEN, t->dir);
	REQUIRE(system(cmd) == 0);
}

#define LOG	0x229400aa30d702e3ull /* of the daemon that was killed */
#define N_EVENT 65536		      /* the log's sums, see docs/formats/manifest.md */

/* Samples in all recordings, and what their events say reached a recorder. */
struct totals {
	uint64_t n_samples, n_lost, n_reached;
};

static struct totals totals(const struct scratch *t)
{
	struct totals ret = {0};
	struct err err = {0};
	struct profile p;

	profile_init(&p);
	if (store_load(t->db, &(struct store_selection){.epochs = "all"}, &p, NULL, &err) < 0)
		t_fail_("store_load: %s", err.msg);
	for (event_id e = 0; e < p.events.n; e++) {
		ret.n_samples += profile_n_samples(&p, e);
		ret.n_lost += profile_n_lost(&p, e);
		ret.n_reached += p.events.v[e].n_reached;
	}
	profile_release(&p);
	return ret;
}

TEST(a_killed_daemons_recording_goes_on)
{
	struct scratch t;
	struct store *s = NULL;
	struct err err = {0};
	seq_ranges stored = {0};
	struct totals before, after;
	struct profile p;
	uint64_t seq = 0;

	unpack(&t);
	before = totals(&t);
	EXPECT_EQ(store_find_log(t.db, "golden", LOG, &stored, &err), 1);
	EXPECT_EQ(stored.n, 3);
	EXPECT_EQ(store_resume(t.db, "golden", &s, &err), 0);
	EXPECT_STR(err.msg, "");
	REQUIRE(s);
	EXPECT_STR(store_epoch(s), "20261122172741");
	EXPECT_EQ(store_log(s), LOG);
	/* The journal's records are in it, which the MANIFEST did not know of. */
	EXPECT(store_last_seq(s, N_EVENT, &seq));
	EXPECT_EQ(seq, 2875);
	EXPECT(stored.n == 3 && seq > stored.v[2].last_seq);
	t_profile(&p, 5);
	EXPECT_EQ(store_flush(s, &p, NULL, 0, &err), 0);
	profile_release(&p);
	EXPECT_EQ(store_close(s, &err), 0);
	after = totals(&t);
	EXPECT_EQ(before.n_samples, 167 + 374 + 326 + 1946 + 547);
	EXPECT_EQ(after.n_samples, before.n_samples + 5);
	EXPECT_EQ(after.n_lost, before.n_lost);
	EXPECT_EQ(after.n_reached, before.n_reached + 5);
	vec_release(&stored);
	scratch_release(&t);
}

TEST(what_was_killed_is_recovered)
{
	struct scratch t;
	struct err err = {0};
	struct totals before, after;

	unpack(&t);
	before = totals(&t);
	EXPECT_EQ(store_recover(t.db, NULL, &err), 2);
	EXPECT_STR(err.msg, "");
	after = totals(&t);
	EXPECT_EQ(after.n_samples, before.n_samples);
	EXPECT_EQ(after.n_lost, before.n_lost);
	EXPECT_EQ(after.n_reached, before.n_reached);
	EXPECT_EQ(store_recover(t.db, NULL, &err), 0);
	scratch_release(&t);
}

TEST(the_note_of_its_log_is_understood)
{
	struct scratch t;
	struct pinned_note note;
	struct err err = {0};
	char path[80], text[PINNED_NOTE_BYTES] = "";
	FILE *f;

	unpack(&t);
	snprintf(path, sizeof(path), "%s/pins/note", t.dir);
	f = fopen(path, "r");
	REQUIRE(f);
	EXPECT(fread(text, 1, sizeof(text), f) > 0);
	fclose(f);
	EXPECT_EQ(pinned_note_parse(text, sizeof(text), &note, &err), 0);
	EXPECT_EQ(note.n_events, 1);
	EXPECT_EQ(note.calls, true);
	EXPECT_STR(note.events[0].name, "cpu-clock:u");
	EXPECT_STR(note.events[0].unit, "ns");
	EXPECT_EQ(note.events[0].period, 3000017);
	scratch_release(&t);
}
