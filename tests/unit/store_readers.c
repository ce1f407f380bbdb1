/* SPDX-License-Identifier: BSD-2-Clause */
/* One process writes, journals and compacts in a loop while others load: every load must give a
 * state that was committed, and never an older one than the load before. */
#include "store/store.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_t.h"

#define N_READERS 3
#define N_CALLS	  600 /* of store_journal and store_flush */
#define STEP	  7   /* samples each call adds, so that only its multiples are ever committed */

struct shared {
	_Atomic uint64_t done;	  /* samples committed for certain */
	_Atomic uint64_t started; /* samples of the call under way included */
	_Atomic bool over;
	_Atomic unsigned n_loads;
};

static void writer(const struct scratch *t, struct store *s, struct shared *sh)
{
	struct profile step, unflushed;
	struct err err = {0};

	t_profile(&step, STEP);
	profile_init(&unflushed);
	for (int i = 0; i < N_CALLS; i++) {
		profile_merge(&unflushed, &step);
		atomic_fetch_add(&sh->started, STEP);
		if (i % 3 == 2) {
			EXPECT_EQ(store_flush(s, &unflushed, NULL, 0, &err), 0);
			profile_reset_values(&unflushed);
		} else {
			EXPECT_EQ(store_journal(s, &step, NULL, 0, &err), 0);
		}
		if (i % 20 == 19)
			EXPECT_EQ(store_compact(s, &err), 0);
		atomic_fetch_add(&sh->done, STEP);
	}
	EXPECT_EQ(store_close(s, &err), 0);
	EXPECT_STR(err.msg, "");
	profile_release(&step);
	profile_release(&unflushed);
}

static void reader(const struct scratch *t, struct shared *sh)
{
	int64_t last = 0;
	bool over;

	do {
		int64_t at_least = (int64_t)sh->done, n, at_most;

		over = sh->over;
		n = t_total(t, NULL);
		at_most = (int64_t)sh->started;
		EXPECT(n >= at_least && n <= at_most);
		EXPECT_EQ(n % STEP, 0);
		EXPECT(n >= last);
		last = n;
		atomic_fetch_add(&sh->n_loads, 1);
	} while (!over && !t_failed);
	EXPECT_EQ(last, N_CALLS * STEP);
}

TEST(readers_see_only_committed_states)
{
	struct scratch t = scratch_new();
	struct shared *sh =
		mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct store *s = t_create(&t, "alpha");
	int status;

	REQUIRE(s);
	fflush(NULL);
	for (int i = 0; i < N_READERS; i++) {
		if (fork() == 0) {
			reader(&t, sh);
			fflush(NULL);
			_exit(t_failed != 0);
		}
	}
	writer(&t, s, sh);
	sh->over = true;
	while (wait(&status) > 0)
		EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	printf("# %u loads\n", sh->n_loads);
	EXPECT(sh->n_loads > N_READERS); /* they did run beside the writer */
	munmap(sh, sizeof(*sh));
	scratch_release(&t);
}
