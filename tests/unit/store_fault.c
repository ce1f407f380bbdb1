/* SPDX-License-Identifier: BSD-2-Clause */
/* Every write, fsync and rename of a recording's life fails once, and the recorder is killed once
 * before each.  After either, readers must find exactly what was stored before or after the call
 * that was hit, and recovery must leave neither half a file nor a changed count. */
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "store_t.h"

enum fault { FAULT_EIO, FAULT_SHORT, FAULT_KILL };

#define KILLED 9

/* Shared with the child: what a reader may find.  Before a call `after` is set to what it makes of
 * it, behind it `before` follows. */
struct oracle {
	uint64_t before, after;
	unsigned n_steps; /* seen so far */
	bool failed;	  /* a call reported an error */
};

static struct oracle *oracle;
static unsigned fault_at;
static enum fault fault_kind;

static int fault_hook(enum file_op op, size_t n)
{
	if (oracle->n_steps++ != fault_at)
		return 0;
	if (fault_kind == FAULT_KILL)
		_exit(KILLED);
	return fault_kind == FAULT_SHORT && op == FILE_WRITE && n > 1 ? (int)(n / 2) : -EIO;
}

/* All samples, 0 when there is no recording or no database yet; -1 after a failed load. */
static int64_t total_or_none(const struct scratch *t)
{
	struct err err = {0};
	struct profile p;
	int64_t n = 0;
	int rc;

	profile_init(&p);
	rc = store_load(t->db, &(struct store_selection){.epochs = "all"}, &p, NULL, &err);
	for (size_t i = 0; i < p.values.n && rc >= 0; i++)
		n += (int64_t)p.values.v[i].count;
	if (rc < 0 && rc != -ENOENT)
		t_fail_("load: %s", err.msg);
	profile_release(&p);
	return rc < 0 && rc != -ENOENT ? -1 : n;
}

/* A call that failed changed nothing. */
static void check_unchanged(const struct scratch *t, const char *call, const struct err *err)
{
	int64_t n = total_or_none(t);

	oracle->failed = true;
	if (n != (int64_t)oracle->before)
		t_fail_("%s failed, and left %lld samples instead of %llu", call, (long long)n,
			(unsigned long long)oracle->before);
	EXPECT(*err->msg && !strchr(err->msg, '\n'));
}

/* The recorder under test: it tries each call again after a failure, as the real one does. */
struct recorder {
	const struct scratch *t;
	struct store *s;
	uint64_t flushed, unflushed; /* samples; those not flushed include the journaled ones */
};

static void add(struct recorder *r, uint64_t n, bool journal)
{
	struct profile p;
	struct err err = {0};

	t_profile(&p, n);
	r->unflushed += n;
	if (journal) {
		oracle->after = oracle->before + n;
		while (store_journal(r->s, &p, NULL, 0, &err) < 0)
			check_unchanged(r->t, "journal", &err);
		oracle->before = oracle->after;
	}
	profile_release(&p);
}

static void flush(struct recorder *r)
{
	struct profile p;
	struct err err = {0};

	t_profile(&p, r->unflushed);
	oracle->after = r->flushed + r->unflushed;
	while (store_flush(r->s, &p, NULL, 0, &err) < 0)
		check_unchanged(r->t, "flush", &err);
	oracle->before = oracle->after;
	r->flushed += r->unflushed;
	r->unflushed = 0;
	profile_release(&p);
}

static void replace(struct recorder *r)
{
	struct profile p;
	struct err err = {0};

	t_profile(&p, r->flushed + r->unflushed);
	oracle->after = r->flushed + r->unflushed;
	while (store_replace(r->s, &p, &err) < 0)
		check_unchanged(r->t, "replace", &err);
	oracle->before = oracle->after;
	r->flushed += r->unflushed;
	r->unflushed = 0;
	profile_release(&p);
}

/* What a daemon does: journals everything, and makes segments of that. */
static void flush_journal(struct recorder *r)
{
	struct err err = {0};

	while (store_flush_journal(r->s, &err) < 0)
		check_unchanged(r->t, "flush_journal", &err);
	r->flushed += r->unflushed;
	r->unflushed = 0;
}

static void use_log(struct recorder *r)
{
	struct err err = {0};

	while (store_use_log(r->s, 99, NULL, 0, &err) < 0)
		check_unchanged(r->t, "use_log", &err);
	r->flushed += r->unflushed;
	r->unflushed = 0;
}

static void record(const struct scratch *t)
{
	struct recorder r = {.t = t};
	struct store_opts o = {.host = "alpha", .compact_at = 4};
	struct err err = {0};

	while (store_create(t->db, &o, &r.s, &err) < 0)
		check_unchanged(t, "create", &err);
	add(&r, 5, true);
	add(&r, 7, true);
	flush(&r);
	for (int i = 0; i < 4; i++) { /* the last of them merges */
		add(&r, 11, i % 2);
		add(&r, 2, false);
		flush(&r);
	}
	add(&r, 3, false);
	flush(&r);
	add(&r, 4, true);
	replace(&r);
	add(&r, 9, true);
	flush_journal(&r);
	add(&r, 1, true);
	use_log(&r);
	for (int i = 0; i < 3; i++) { /* the last of them merges */
		add(&r, 6, true);
		flush_journal(&r);
	}
	add(&r, 13, true);
	if (store_close(r.s, &err) < 0)
		check_unchanged(t, "close", &err);
}

static void recover(const struct scratch *t)
{
	struct err err = {0};

	if (store_recover(t->db, NULL, &err) < 0)
		check_unchanged(t, "recover", &err);
}

/* Runs JOB in a process of its own with a fault at step AT; returns its exit status. */
static int run_child(void (*job)(const struct scratch *t), const struct scratch *t, unsigned at,
		     enum fault kind)
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	oracle->n_steps = 0;
	pid = fork();
	if (pid == 0) {
		fault_at = at;
		fault_kind = kind;
		file_fault = fault_hook;
		t_failed = 0;
		job(t);
		fflush(NULL);
		_exit(t_failed != 0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Segments of killed commits whose samples nothing else holds. */
static int set_aside(const struct scratch *t)
{
	int n = 0;

	for (unsigned i = 1; i < 40; i++) {
		char suffix[40];

		snprintf(suffix, sizeof(suffix), "/lost/%06u.seg", i);
		n += t_files(t, suffix);
	}
	return n;
}

/* Recovery without faults must bring back what readers saw, and nothing else may lie about. */
static void check_recovered(const struct scratch *t)
{
	struct err err = {0};
	int64_t seen = total_or_none(t);

	EXPECT(seen == (int64_t)oracle->before || seen == (int64_t)oracle->after);
	EXPECT(store_recover(t->db, NULL, &err) >= 0);
	EXPECT_STR(err.msg, "");
	EXPECT_EQ(total_or_none(t), seen);
	EXPECT_EQ(t_files(t, ".tmp"), 0);
	EXPECT_EQ(t_files(t, "journal"), 0);
	EXPECT_EQ(t_files(t, ".seg") - set_aside(t), t_named_segments(t));
	EXPECT_EQ(store_recover(t->db, NULL, &err), 0);
}

static void oracle_new(void)
{
	if (!oracle)
		oracle = mmap(NULL, sizeof(*oracle), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*oracle = (struct oracle){0};
}

static void fault_everywhere(enum fault kind)
{
	unsigned n_hit = 0;

	for (unsigned at = 0;; at++) {
		struct scratch t = scratch_new();
		int status, failed = t_failed;

		oracle_new();
		status = run_child(record, &t, at, kind);
		EXPECT_EQ(status, kind == FAULT_KILL && at < oracle->n_steps ? KILLED : 0);
		check_recovered(&t);
		if (t_failed != failed)
			printf("# with the fault at step %u\n", at);
		n_hit += status == KILLED || oracle->failed;
		scratch_release(&t);
		if (at >= oracle->n_steps)
			break;
	}
	printf("# %u faults\n", n_hit);
	EXPECT(n_hit > 60); /* the whole life was gone through, not a stump of it */
}

TEST(recorder_killed_before_every_step)
{
	fault_everywhere(FAULT_KILL);
}

TEST(every_step_fails_once)
{
	fault_everywhere(FAULT_EIO);
}

TEST(every_write_is_cut_short_once)
{
	fault_everywhere(FAULT_SHORT);
}

/* Leaves a recording whose recorder died with a flush and two journal records. */
static void die_with_journal(const struct scratch *t)
{
	struct recorder r = {.t = t};
	struct err err = {0};

	if (store_create(t->db, &(struct store_opts){.host = "alpha"}, &r.s, &err) < 0)
		_exit(1);
	add(&r, 4, true);
	flush(&r);
	add(&r, 6, true);
	add(&r, 1, true);
	_exit(0);
}

TEST(recovery_killed_or_failing_at_every_step)
{
	static const enum fault kinds[] = {FAULT_KILL, FAULT_EIO, FAULT_SHORT};

	for (unsigned k = 0; k < n_elems(kinds); k++) {
		for (unsigned at = 0;; at++) {
			struct scratch t = scratch_new();
			int failed = t_failed, status;

			oracle_new();
			EXPECT_EQ(run_child(die_with_journal, &t, UINT32_MAX, FAULT_KILL), 0);
			EXPECT_EQ(total_or_none(&t), 11);
			status = run_child(recover, &t, at, kinds[k]);
			EXPECT(status == 0 || status == KILLED);
			EXPECT_EQ(total_or_none(&t), 11);
			check_recovered(&t);
			if (t_failed != failed)
				printf("# with fault %u at step %u\n", kinds[k], at);
			scratch_release(&t);
			if (at >= oracle->n_steps) {
				EXPECT(at > 8);
				break;
			}
		}
	}
}
