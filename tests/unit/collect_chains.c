/* SPDX-License-Identifier: BSD-2-Clause */
/* Chains of callers into contexts: each frame where it belongs, nothing cut without a mark, and the
 * flat profile the same as without them. */
#include "collect/calls/chains.h"

#include <errno.h>

#include "base/str.h"
#include "collect/fold.h"
#include "collect_world.h"
#include "t.h"

#define MODULE 0xffffffffc0000000ull

static struct {
	struct world world;
	struct chains chains;
	struct fold fold;
	event_id events[2];
	unsigned n_learnt;
} w;

static bool learn_module(void *ctx, uint64_t ip)
{
	if (w.n_learnt++)
		return false;
	kernel_map_add(&w.world.kernel,
		       &(struct kernel_range){.start = MODULE,
					      .end = MODULE + PAGE,
					      .image = {.kind = IMAGE_MODULE, .path = "mod"}});
	return true;
}

static void begin(void)
{
	static const struct image_layout vdso = {
		.build_id = {.n_bytes = 1, .bytes = {7}}, .n_loads = 1, .loads = {{0, 0, PAGE}}};

	world_init(&w.world, world_no_file, &vdso);
	w.n_learnt = 0;
	w.world.kernel.learn = learn_module;
	for (unsigned i = 0; i < 2; i++)
		w.events[i] = profile_intern_event(
			&w.world.profile,
			&(struct event){
				.name = profile_intern_str(&w.world.profile, i ? "one" : "zero"),
				.period = 1});
	chains_init(&w.chains, &w.world.profile, &w.world.procs, &w.world.images, &w.world.kernel);
	fold_init(&w.fold, &w.world.profile, &w.world.procs, &w.world.images, &w.world.kernel,
		  w.events);
	w.fold.chains = &w.chains;
	world_map(&w.world, CODE, 100, PAGE, NULL, "/nonexistent/prog");
	world_map(&w.world, ANON, 1, 0, NULL, "//anon");
}

static void end(void)
{
	fold_release(&w.fold);
	chains_release(&w.chains);
	world_release(&w.world);
}

static void learn(uint64_t hash, enum chain_cause cause, uint32_t n, uint32_t n_kernel,
		  const uint64_t *frames)
{
	chains_add(&w.chains, &(struct log_chain){.hash = hash,
						  .tgid = PID,
						  .cause = cause,
						  .n_frames = n,
						  .n_kernel = n_kernel,
						  .frames = frames});
}

/* "OUTERMOST > ... > INNERMOST" with a "?" behind guessed ones; "" for the root. */
static void show(ctx_id ctx, struct str *s)
{
	const struct place *p;

	if (!ctx)
		return;
	show(w.world.profile.ctxs.v[ctx].parent, s);
	p = profile_leaf(&w.world.profile, ctx);
	str_addf(s, "%s%s", s->n ? " > " : "", w.world.profile.images.v[p->image].path);
	if (w.world.profile.images.v[p->image].kind != IMAGE_MARK)
		str_addf(s, "+%llx", (unsigned long long)p->svma);
	if (p->flags & PLACE_GUESSED)
		str_addc(s, '?');
}

#define EXPECT_CTX(ctx, text)                                                                      \
	do {                                                                                       \
		struct str s_ = {0};                                                               \
		show(ctx, &s_);                                                                    \
		EXPECT_STR(str_get(&s_), text);                                                    \
		str_release(&s_);                                                                  \
	} while (0)

static uint32_t number_of(const char *path)
{
	vec_each (c, &w.world.images.codes)
		if (strcmp(profile_str(&w.world.profile, c->path), path) == 0)
			return images_add_number(&w.world.images,
						 (uint32_t)(c - w.world.images.codes.v));
	return 0;
}

#define FRAME(number, off) ((uint64_t)(number) << FRAME_IMAGE_SHIFT | (off))

TEST(every_kind_of_frame)
{
	uint32_t prog;

	begin();
	prog = number_of("/nonexistent/prog");
	EXPECT_EQ(prog, IMAGE_NUMBER_VDSO + 1);
	learn(11, CHAIN_COMPLETE, 6, 2,
	      (uint64_t[]){KERNEL + 8, MODULE + 9, FRAME(IMAGE_NUMBER_VDSO, 0x10), ANON + 5,
			   FRAME(prog, 0x40) | FRAME_GUESSED, CODE + 0x50});
	EXPECT_CTX(chains_count(&w.chains, 11, 0),
		   "/nonexistent/prog+1050 > /nonexistent/prog+40? > [anon] prog+7f0000000005 > "
		   "[vdso]+10 > mod+9 > [kernel]+ffffffff81000008");
	EXPECT_EQ(w.n_learnt, 1);
	EXPECT_EQ(w.chains.counts[0].by_cause[CHAIN_COMPLETE], 1);
	EXPECT_EQ(w.chains.counts[0].n_guessed, 1);
	EXPECT_EQ(w.chains.n_frames, 6);

	/* Known: what comes under the same hash later changes nothing. */
	learn(11, CHAIN_TOO_DEEP, 1, 0, (uint64_t[]){CODE});
	EXPECT_EQ(w.chains.n_used, 1);
	EXPECT(chains_known(&w.chains, 11));
	EXPECT(!chains_known(&w.chains, 12));
	end();
}

TEST(what_is_missing_is_marked)
{
	begin();
	learn(1, CHAIN_NO_RULE, 1, 0, (uint64_t[]){CODE + 1});
	learn(2, CHAIN_EXITING, 0, 0, NULL);
	EXPECT_CTX(chains_count(&w.chains, 1, 0),
		   "[truncated: no frame information] > /nonexistent/prog+1001");
	EXPECT_CTX(chains_count(&w.chains, 2, 0), "[truncated: process exiting]");
	EXPECT_CTX(chains_count(&w.chains, 3, 1), "[truncated: chain lost]");
	EXPECT_CTX(chains_count(&w.chains, CHAIN_LOST, 1), "[truncated: chain lost]");
	EXPECT_CTX(chains_count(&w.chains, 0, 1), "");
	EXPECT_CTX(chains_count_spilled(&w.chains, 1, 7), "[truncated: log full]");
	EXPECT_EQ(w.chains.counts[0].by_cause[CHAIN_NO_RULE], 1);
	EXPECT_EQ(w.chains.counts[0].by_cause[CHAIN_EXITING], 1);
	EXPECT_EQ(w.chains.counts[1].by_cause[CHAIN_RING_FULL], 2);
	EXPECT_EQ(w.chains.counts[1].by_cause[CHAIN_COMPLETE], 1);
	EXPECT_EQ(w.chains.counts[1].by_cause[CHAIN_LOG_FULL], 7);
	/* No hash of a chain is one of the two that mean something else. */
	learn(0, CHAIN_COMPLETE, 1, 0, (uint64_t[]){CODE});
	learn(CHAIN_LOST, CHAIN_COMPLETE, 1, 0, (uint64_t[]){CODE});
	EXPECT_CTX(chains_count(&w.chains, CHAIN_LOST, 0), "[truncated: chain lost]");
	end();
}

TEST(every_cause_has_its_words)
{
	for (int i = 0; i < CHAIN_N_CAUSES; i++) {
		REQUIRE(chain_cause_name((enum chain_cause)i));
		for (int k = 0; k < i; k++)
			EXPECT(strcmp(chain_cause_name((enum chain_cause)i),
				      chain_cause_name((enum chain_cause)k)) != 0);
	}
}

TEST(what_nobody_knows_is_unknown)
{
	begin();
	learn(1, CHAIN_COMPLETE, 3, 1, (uint64_t[]){KERNEL - 1, 0x1234, FRAME(77, 5)});
	EXPECT_CTX(chains_count(&w.chains, 1, 0), "[unknown]+5 > [unknown]+1234 > [unknown]+0");
	chains_add(&w.chains, &(struct log_chain){.hash = 2, /* a process nobody knows */
						  .tgid = PID - 1,
						  .n_frames = 1,
						  .frames = (uint64_t[]){CODE}});
	EXPECT_CTX(chains_count(&w.chains, 2, 0), "[unknown]+400000");
	end();
}

/* Random chains: contexts beside a naive rendering of the frames, and all samples in the sums. */
TEST(random_chains)
{
	enum { N = 20000, N_CHAINS = 6000, DEEPEST = 40 };
	struct t_rng rng = {.s = 5};
	uint64_t total[CHAIN_N_CAUSES] = {0};

	begin();
	for (unsigned i = 1; i <= N_CHAINS; i++) {
		uint64_t frames[DEEPEST], hash = hash_u64(i);
		uint32_t n = (uint32_t)t_below(&rng, DEEPEST);
		enum chain_cause cause = t_below(&rng, 2)
						 ? CHAIN_COMPLETE
						 : (enum chain_cause)t_below(&rng, CHAIN_N_CAUSES);
		struct str naive = {0};
		struct str got = {0};

		if (cause)
			str_addf(&naive, "[truncated: %s]", chain_cause_name(cause));
		for (uint32_t k = n; k--;) {
			frames[k] = CODE + t_below(&rng, 3);
			str_addf(&naive, "%s/nonexistent/prog+%llx", naive.n ? " > " : "",
				 (unsigned long long)(frames[k] - CODE + PAGE));
		}
		learn(hash, cause, n, 0, frames);
		show(chains_count(&w.chains, hash, 0), &got);
		total[cause]++;
		EXPECT_STR(str_get(&got), str_get(&naive));
		str_release(&got);
		str_release(&naive);
	}
	EXPECT_EQ(w.chains.n_used, N_CHAINS);
	for (unsigned i = 0; i < CHAIN_N_CAUSES; i++)
		EXPECT_EQ(w.chains.counts[0].by_cause[i], total[i]);
	end();
}

/* Samples counted with callers and without them have equal sums at every place. */
TEST(the_flat_profile_is_the_same)
{
	enum { N_PLACES = 300 };
	struct t_rng rng = {.s = 6};
	uint32_t naive[2][N_PLACES] = {{0}};
	uint64_t callers[2] = {0};

	begin();
	for (unsigned i = 1; i <= 500; i++)
		learn(hash_u64(i), i % 7 ? CHAIN_COMPLETE : CHAIN_UNREADABLE, 3, 0,
		      (uint64_t[]){CODE + t_below(&rng, 9), CODE + t_below(&rng, 9), CODE + 1});
	for (unsigned i = 0; i < 50000; i++) {
		uint32_t at = (uint32_t)t_below(&rng, N_PLACES), event = (uint32_t)t_below(&rng, 2);
		struct log_sample s = {.ip = CODE + at,
				       .tgid = PID,
				       .tid = PID,
				       .event = event,
				       .chain = hash_u64(t_below(&rng, 600))};

		fold_add(&w.fold, &s);
		naive[event][at]++;
		if (i % 9000 == 0)
			fold_flush(&w.fold);
		if (i % 11000 == 0)
			fold_forget(&w.fold);
	}
	fold_flush(&w.fold);
	vec_each (v, &w.world.profile.values) {
		const struct place *p = profile_leaf(&w.world.profile, v->ctx);
		uint64_t at = p->svma - PAGE;

		REQUIRE(at < N_PLACES && v->event < 2);
		EXPECT(naive[v->event][at] >= v->count);
		naive[v->event][at] -= (uint32_t)v->count;
		callers[w.world.profile.ctxs.v[v->ctx].parent != 0] += v->count;
	}
	for (unsigned i = 0; i < N_PLACES; i++)
		EXPECT(naive[0][i] == 0 && naive[1][i] == 0);
	/* One hash in 600 is 0, "no callers"; 99 are of no chain and marked. */
	EXPECT(callers[0] > 20 && callers[0] < 200);
	EXPECT_EQ(callers[0] + callers[1], 50000);
	EXPECT(w.chains.counts[0].by_cause[CHAIN_RING_FULL] > 3000);
	end();
}

TEST(spilled_samples_have_a_mark_for_callers)
{
	begin();
	fold_add_spilled(&w.fold,
			 &(struct spill_slot){.event_used = 1, .off = KERNEL + 4, .count = 6});
	REQUIRE(w.world.profile.values.n == 1);
	EXPECT_CTX(w.world.profile.values.v[0].ctx,
		   "[truncated: log full] > [kernel]+ffffffff81000004");
	EXPECT_EQ(w.chains.counts[0].by_cause[CHAIN_LOG_FULL], 6);
	end();
}

static const struct log_sample late_sample = {.ip = CODE + 7, .tgid = PID, .tid = PID, .chain = 77};

TEST(a_sample_waits_for_a_chain_that_comes_late)
{
	const uint64_t frames[] = {FRAME(IMAGE_NUMBER_VDSO, 0x10)};

	begin();
	chains_expect(&w.chains, 77);
	chains_expect(&w.chains, 77);
	EXPECT(chains_awaits(&w.chains, 77));
	EXPECT(!chains_awaits(&w.chains, 78));
	fold_add(&w.fold, &late_sample);
	fold_take_late(&w.fold);
	fold_flush(&w.fold);
	EXPECT_EQ(w.world.profile.values.n, 0);
	EXPECT_EQ(w.fold.n_samples[0], 0);

	chains_add_late(&w.chains, &(struct log_chain){.hash = 77,
						       .tgid = PID,
						       .cause = CHAIN_NO_TABLE,
						       .n_frames = 1,
						       .frames = frames});
	EXPECT(!chains_awaits(&w.chains, 77));
	fold_take_late(&w.fold);
	fold_flush(&w.fold);
	REQUIRE(w.world.profile.values.n == 1);
	EXPECT_EQ(w.fold.n_samples[0], 1);
	EXPECT_EQ(w.chains.counts[0].by_cause[CHAIN_NO_TABLE], 1);
	EXPECT_EQ(w.chains.late.n, 0); /* one sample has it */
	EXPECT_CTX(chains_count(&w.chains, 77, 0), "[truncated: chain lost]");
	end();
}

TEST(a_chain_that_came_before_its_sample_waits_for_it)
{
	begin();
	chains_expect(&w.chains, 77);
	chains_add_late(&w.chains, &(struct log_chain){.hash = 77, .tgid = PID});
	fold_add(&w.fold, &late_sample);
	fold_flush(&w.fold);
	REQUIRE(w.world.profile.values.n == 1);
	EXPECT_EQ(w.chains.counts[0].by_cause[CHAIN_COMPLETE], 1);
	EXPECT_EQ(w.chains.late.n, 0);
	end();
}
