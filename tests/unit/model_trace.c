/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/trace.h"

#include "t.h"

static void make(struct profile *p)
{
	profile_init(p);
	profile_intern_event(p, &(struct event){.name = profile_intern_str(p, "x"), .period = 1});
}

static trace_id line(struct profile *p, uint32_t tid)
{
	return profile_intern_trace(p, &(struct trace){.pid = 1, .tid = tid, .start_ns = 7});
}

static void point(struct profile *p, trace_id t, uint64_t time_ns)
{
	trace_add_point(p, t, &(struct trace_point){.time_ns = time_ns});
}

TEST(lines_are_known_by_thread_and_start)
{
	struct profile p;
	trace_id a, b;

	make(&p);
	a = line(&p, 1);
	b = line(&p, 2);
	EXPECT(a && b && a != b);
	EXPECT_EQ(line(&p, 1), a);
	EXPECT(profile_intern_trace(&p, &(struct trace){.pid = 1, .tid = 1}) != a);
	profile_intern_trace(&p, &(struct trace){.pid = 1, .tid = 1, .start_ns = 7, .end_ns = 90});
	profile_intern_trace(&p, &(struct trace){.pid = 1, .tid = 1, .start_ns = 7, .end_ns = 80});
	EXPECT_EQ(p.traces.v[a].end_ns, 90);
	profile_check(&p);
	profile_release(&p);
}

TEST(points_are_sorted_by_time)
{
	struct profile p;
	trace_id a;

	make(&p);
	a = line(&p, 1);
	for (uint64_t i = 0; i < 100; i++)
		point(&p, a, i * 37 % 100);
	trace_sort(&p);
	for (uint64_t i = 0; i < 100; i++)
		EXPECT_EQ(p.traces.v[a].points.v[i].time_ns, i);
	profile_release(&p);
}

TEST(the_bound_holds_and_what_it_costs_is_counted)
{
	struct profile p;
	uint64_t n = 0;

	make(&p);
	p.trace_bytes_max = 100000;
	for (uint32_t tid = 1; tid <= 3000; tid++) {
		trace_id t = line(&p, tid);

		for (unsigned i = 0; i < tid % 40; i++, n++)
			point(&p, t, i);
	}
	EXPECT(p.trace_bytes <= p.trace_bytes_max);
	EXPECT(p.trace_bytes > p.trace_bytes_max * 3 / 4);
	EXPECT(trace_n_points(&p) > 1000);
	EXPECT_EQ(trace_n_points(&p) + trace_n_dropped(&p), n);
	EXPECT(p.traces.v[0].n_dropped > 0); /* some threads have no line */
	EXPECT_EQ(p.traces.v[0].points.n, 0);
	profile_check(&p);
	profile_reset_values(&p);
	EXPECT_EQ(p.traces.n, 1);
	EXPECT_EQ(trace_n_dropped(&p), 0);
	EXPECT(line(&p, 3000) != 0); /* there is room again */
	profile_check(&p);
	profile_release(&p);
}

TEST(merging_joins_the_points_of_a_thread)
{
	struct profile p, q;
	trace_id t;

	make(&p);
	make(&q);
	point(&p, line(&p, 1), 10);
	line(&q, 9); /* other numbers there */
	point(&q, line(&q, 1), 5);
	profile_intern_trace(&q, &(struct trace){.n_dropped = 4});
	profile_merge(&p, &q);
	t = line(&p, 1);
	EXPECT_EQ(p.traces.v[t].points.n, 2);
	EXPECT_EQ(p.traces.n, 3);
	EXPECT_EQ(trace_n_dropped(&p), 4);
	profile_check(&p);
	profile_release(&p);
	profile_release(&q);
}
