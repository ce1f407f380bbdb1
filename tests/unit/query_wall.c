/* SPDX-License-Identifier: BSD-2-Clause */
/* Wall-clock time: the sum of each owner's is that of its three states, to the nanosecond, and its
 * running part goes where its samples are. */
#include "query/samples/wall.h"

#include "t.h"

enum { CLOCK, RUNNING, RUNNABLE, BLOCKED, N_EVENTS };
#define N_OWNERS 5
#define N_CTXS	 12

struct world {
	struct profile p;
	event_id events[N_EVENTS];
	owner_id owners[N_OWNERS];
	ctx_id ctxs[N_CTXS];
};

static void world_init(struct world *w)
{
	static const char *const names[] = {"cpu-clock", "running", "runnable", "blocked"};
	image_id image;

	profile_init(&w->p);
	image = profile_intern_image(&w->p, &(struct image){.kind = IMAGE_ANON, .path = "a"});
	for (unsigned e = 0; e < N_EVENTS; e++)
		w->events[e] = profile_intern_event(
			&w->p, &(struct event){.name = profile_intern_str(&w->p, names[e]),
					       .unit = profile_intern_str(&w->p, "ns"),
					       .period = e == CLOCK ? 1000000 : 1});
	for (unsigned o = 0; o < N_OWNERS; o++)
		w->owners[o] = profile_intern_owner(
			&w->p, &(struct owner){.pid = 1 + o, .uid = OWNER_UID_UNKNOWN});
	for (unsigned c = 0; c < N_CTXS; c++)
		w->ctxs[c] = profile_flat_ctx(&w->p, profile_intern_place(&w->p, image, 16 * c, 0));
}

static void add(struct world *w, unsigned owner, unsigned ctx, unsigned event, uint64_t count)
{
	vec_push(&w->p.values, ((struct value){.owner = w->owners[owner],
					       .ctx = w->ctxs[ctx],
					       .event = w->events[event],
					       .count = event == CLOCK ? count : 1,
					       .sum = event == CLOCK ? 0 : count}));
}

/* The wall time of OWNER in CTX, or everywhere with N_CTXS. */
static uint64_t wall_ns(const struct world *w, unsigned owner, unsigned ctx)
{
	uint64_t ns = 0;

	vec_each (v, &w->p.values)
		if (strcmp(profile_str(&w->p, w->p.events.v[v->event].name), WALL_EVENT) == 0 &&
		    v->owner == w->owners[owner] && (ctx == N_CTXS || v->ctx == w->ctxs[ctx]))
			ns += v->sum;
	return ns;
}

/* Owner 0 ran 4000 ns, sampled in two contexts; owner 1 ran 9 ns and was never sampled. */
static void world_running(struct world *w)
{
	world_init(w);
	add(w, 0, 1, CLOCK, 30);
	add(w, 0, 2, CLOCK, 10);
	add(w, 0, 0, RUNNING, 4000);
	add(w, 1, 0, RUNNING, 9);
}

TEST(running_time_is_where_the_samples_are)
{
	struct world w;

	world_running(&w);
	add(&w, 0, 3, RUNNABLE, 7);
	add(&w, 0, 4, BLOCKED, 100);
	add(&w, 0, 1, BLOCKED, 5);
	add(&w, 2, 1, CLOCK, 8); /* nobody's time: an idle task */
	wall_add(&w.p, false);
	EXPECT_EQ(wall_ns(&w, 0, 0), 0);
	EXPECT_EQ(wall_ns(&w, 0, 1), 3005);
	EXPECT_EQ(wall_ns(&w, 0, 2), 1000);
	EXPECT_EQ(wall_ns(&w, 0, 3), 7);
	EXPECT_EQ(wall_ns(&w, 0, 4), 100);
	EXPECT_EQ(wall_ns(&w, 1, 0), 9);
	EXPECT_EQ(wall_ns(&w, 2, N_CTXS), 0);
	profile_release(&w.p);
}

/* Nanoseconds of RUNNING at context CTX of an owner. */
static uint64_t running_ns(const struct world *w, unsigned o, unsigned ctx)
{
	uint64_t sum = 0;

	vec_each (v, &w->p.values)
		if (v->event == w->events[RUNNING] && v->owner == w->owners[o] &&
		    v->ctx == w->ctxs[ctx])
			sum += v->sum;
	return sum;
}

TEST(running_time_goes_where_wall_time_does)
{
	struct world w;

	world_running(&w);
	wall_add(&w.p, true);
	EXPECT_EQ(running_ns(&w, 0, 0), 0);
	EXPECT_EQ(running_ns(&w, 0, 1), 3000);
	EXPECT_EQ(running_ns(&w, 0, 2), 1000);
	EXPECT_EQ(running_ns(&w, 1, 0), 9);
	EXPECT_EQ(wall_ns(&w, 0, N_CTXS), 4000);
	profile_release(&w.p);
}

TEST(nothing_is_lost_by_rounding)
{
	struct t_rng r = {7};

	for (unsigned round = 0; round < 200; round++) {
		uint64_t want[N_OWNERS] = {0};
		struct world w;

		world_init(&w);
		for (unsigned i = 0; i < 60; i++) {
			unsigned o = (unsigned)t_below(&r, N_OWNERS),
				 e = (unsigned)t_below(&r, N_EVENTS);
			uint64_t n = 1 + t_below(&r, e == CLOCK ? 1000 : 1ULL << 50);

			add(&w, o, (unsigned)t_below(&r, N_CTXS), e, n);
			want[o] += e == CLOCK ? 0 : n;
		}
		wall_add(&w.p, false);
		for (unsigned o = 0; o < N_OWNERS; o++)
			EXPECT_EQ(wall_ns(&w, o, N_CTXS), want[o]);
		profile_release(&w.p);
	}
}

TEST(without_states_there_is_no_wall_time)
{
	struct world w;
	event_id n;

	profile_init(&w.p);
	n = (event_id)w.p.events.n;
	wall_add(&w.p, false);
	EXPECT_EQ(w.p.events.n, n);
	profile_release(&w.p);
}
