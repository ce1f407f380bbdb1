/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/tracer.h"

#include "t.h"

#define OFFSET 1000000

static void make(struct profile *p, struct tracer *t)
{
	profile_init(p);
	profile_intern_event(p, &(struct event){.name = profile_intern_str(p, "x"), .period = 1});
	profile_intern_owner(p, &(struct owner){.uid = 1});
	tracer_init(t, p, 0, OFFSET);
}

/* The only line that begins at START (of the recorder's clock). */
static const struct trace *line_from(const struct profile *p, uint32_t tid, uint64_t start)
{
	const struct trace *found = NULL;

	vec_each (t, &p->traces) {
		if (t == p->traces.v || t->tid != tid || t->start_ns != start)
			continue;
		EXPECT(!found);
		found = t;
	}
	return found;
}

TEST(a_thread_that_was_there_has_no_start)
{
	struct profile p;
	struct tracer t;
	const struct trace *l;

	make(&p, &t);
	tracer_add(&t, 7, 8, 0, 50, 0, 0);
	l = line_from(&p, 8, 0);
	REQUIRE(l);
	EXPECT_EQ(l->pid, 7);
	EXPECT_EQ(l->end_ns, 0);
	EXPECT_EQ(l->points.v[0].time_ns, 50 + OFFSET);
	tracer_release(&t);
	profile_release(&p);
}

/* The sideband of a cycle is applied before its samples: the number may be
 * another thread's then. */
TEST(points_find_the_life_they_are_of)
{
	struct profile p;
	struct tracer t;
	const struct trace *first, *second;

	make(&p, &t);
	tracer_begin(&t, 8, 10);
	tracer_end(&t, 8, 20);
	tracer_begin(&t, 8, 30);
	tracer_add(&t, 7, 8, 0, 35, 0, 0);
	tracer_add(&t, 7, 8, 0, 15, 0, 0);
	tracer_add(&t, 7, 8, 0, 12, 0, 0);
	first = line_from(&p, 8, 10 + OFFSET);
	second = line_from(&p, 8, 30 + OFFSET);
	REQUIRE(first && second);
	EXPECT_EQ(first->points.n, 2);
	EXPECT_EQ(first->end_ns, 20 + OFFSET);
	EXPECT_EQ(second->points.n, 1);
	EXPECT_EQ(second->end_ns, 0);
	tracer_end(&t, 8, 40);
	EXPECT_EQ(second->end_ns, 40 + OFFSET);
	EXPECT_EQ(first->end_ns, 20 + OFFSET);
	profile_check(&p);
	tracer_release(&t);
	profile_release(&p);
}

/* The kernel says a thread's end before its last instruction. */
TEST(a_line_ends_no_earlier_than_its_last_point)
{
	struct profile p;
	struct tracer t;
	const struct trace *l;

	make(&p, &t);
	tracer_begin(&t, 8, 10);
	tracer_add(&t, 7, 8, 0, 15, 0, 0);
	tracer_end(&t, 8, 20);
	tracer_add(&t, 7, 8, 0, 22, 0, 0);
	tracer_add(&t, 7, 8, 0, 21, 0, 0);
	l = line_from(&p, 8, 10 + OFFSET);
	REQUIRE(l);
	EXPECT_EQ(l->end_ns, 22 + OFFSET);
	/* The point may also be read before the end. */
	tracer_begin(&t, 9, 10);
	tracer_add(&t, 7, 9, 0, 22, 0, 0);
	tracer_end(&t, 9, 20);
	l = line_from(&p, 9, 10 + OFFSET);
	REQUIRE(l);
	EXPECT_EQ(l->end_ns, 22 + OFFSET);
	tracer_release(&t);
	profile_release(&p);
}

TEST(another_owner_is_another_line)
{
	struct profile p;
	struct tracer t;
	unsigned n = 0;

	make(&p, &t);
	tracer_begin(&t, 8, 10);
	tracer_add(&t, 8, 8, 0, 15, 0, 0);
	tracer_add(&t, 8, 8, 1, 16, 0, 0); /* it executed another program */
	tracer_add(&t, 8, 8, 0, 14, 0, 0); /* from another CPU's log */
	vec_each (l, &p.traces) {
		n += l->start_ns == 10 + OFFSET;
		if (l->start_ns)
			EXPECT_EQ(l->points.n, l->owner ? 1 : 2);
	}
	EXPECT_EQ(n, 2);
	tracer_release(&t);
	profile_release(&p);
}

TEST(a_thread_without_points_has_no_line)
{
	struct profile p;
	struct tracer t;

	make(&p, &t);
	tracer_begin(&t, 8, 10);
	tracer_end(&t, 8, 20);
	EXPECT_EQ(p.traces.n, 1);
	tracer_release(&t);
	profile_release(&p);
}
