/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/prune.h"

#include <stdlib.h>

#include "gen.h"
#include "model/trace.h"

static bool same(const struct profile *a, const struct profile *b)
{
	char *x = profile_dump(a), *y = profile_dump(b);
	bool eq = strcmp(x, y) == 0;

	if (!eq)
		printf("# %.1500s\n# instead of\n# %.1500s\n", x, y);
	free(x);
	free(y);
	return eq;
}

/* A place of its own for each letter. */
static place_id letter(struct profile *p, char c)
{
	image_id image = profile_intern_image(p, &(struct image){.kind = IMAGE_FILE, .path = "/x"});

	if (c == '*')
		image = profile_intern_image(
			p, &(struct image){.kind = IMAGE_MARK, .path = PRUNE_MARK});
	else if (c == '?')
		image = profile_intern_image(
			p, &(struct image){.kind = IMAGE_MARK, .path = "[truncated: test]"});
	return profile_intern_place(p, image, c == '*' || c == '?' ? 0 : (uint64_t)c, 0);
}

/* The context of PATH, a letter for each place, outermost first. */
static ctx_id path(struct profile *p, const char *path)
{
	ctx_id c = 0;

	for (; *path; path++)
		c = profile_intern_ctx(p, c, letter(p, *path));
	return c;
}

static event_id event(struct profile *p, const char *name, bool in_ns)
{
	return profile_intern_event(
		p, &(struct event){.name = profile_intern_str(p, name),
				   .unit = profile_intern_str(p, in_ns ? "ns" : ""),
				   .period = in_ns ? 1 : 1000});
}

struct given {
	const char *path;
	uint64_t n;
};

static void make(struct profile *p, const struct given *g, size_t n)
{
	profile_init(p);
	for (size_t i = 0; i < n; i++)
		profile_add_value(p, &(struct value){.ctx = path(p, g[i].path),
						     .event = event(p, "cycles", false),
						     .count = g[i].n});
}

static void check(const struct given *before, size_t n_before, double share,
		  const struct given *after, size_t n_after, uint64_t n_pruned)
{
	struct profile p, want;
	uint64_t n[1];

	make(&p, before, n_before);
	make(&want, after, n_after);
	profile_prune(&p, share, NULL);
	profile_check(&p);
	EXPECT(same(&p, &want));
	profile_n_pruned(&p, n);
	EXPECT_EQ(n[0], n_pruned);
	profile_release(&p);
	profile_release(&want);
}

#define CHECK(share, n_pruned, before, after)                                                      \
	check(before, n_elems(before), share, after, n_elems(after), n_pruned)

TEST(rare_callers_become_a_mark_below_the_last_that_is_not_rare)
{
	const struct given before[] = {
		{"abcX", 90}, {"adeX", 3}, {"adfX", 2}, {"adY", 1}, {"abcgY", 4}};
	const struct given after[] = {{"abcX", 90}, {"a*X", 5}, {"a*Y", 1}, {"abc*Y", 4}};

	CHECK(0.1, 10, before, after);
}

TEST(a_rare_place_below_a_frequent_caller_stays)
{
	const struct given all[] = {{"abX", 99}, {"abY", 1}, {"Z", 1}};

	CHECK(0.5, 0, all, all);
	CHECK(0, 0, all, all);
}

TEST(nothing_is_above_a_mark_at_the_root_and_other_marks_stay)
{
	const struct given before[] = {{"bcX", 1}, {"dcX", 1}, {"X", 98}, {"?eX", 1}, {"?efX", 1}};
	const struct given some[] = {{"*X", 2}, {"X", 98}, {"?eX", 1}, {"?e*X", 1}};
	const struct given more[] = {{"*X", 2}, {"X", 98}, {"?*X", 2}};

	CHECK(0.015, 3, before, some);
	CHECK(0.5, 4, before, more);
}

TEST(pruning_again_puts_no_mark_below_a_mark)
{
	const struct given before[] = {{"ab*X", 3},  {"ab*Y", 1}, {"acX", 2},
				       {"adX", 100}, {"a*X", 1},  {"*X", 1}};
	const struct given after[] = {{"a*X", 6}, {"a*Y", 1}, {"adX", 100}, {"*X", 1}};

	CHECK(0.5, 8, before, after);
}

TEST(what_is_frequent_for_one_event_is_kept_for_all)
{
	struct profile p, want;

	for (int i = 0; i < 2; i++) {
		struct profile *q = i ? &want : &p;
		event_id cycles, off;

		make(q, (const struct given[]){{"aX", 100}}, 1);
		cycles = event(q, "cycles", false);
		off = event(q, "off-cpu", true);
		/* Once for long, often for short: time is what counts. */
		profile_add_value(q, &(struct value){.ctx = path(q, "bcX"),
						     .event = off,
						     .count = 1,
						     .sum = 1000000});
		profile_add_value(q, &(struct value){.ctx = path(q, i ? "*Y" : "dcY"),
						     .event = off,
						     .count = 50,
						     .sum = 1000});
		profile_add_value(
			q, &(struct value){.ctx = path(q, "bcX"), .event = cycles, .count = 1});
	}
	profile_prune(&p, 0.1, NULL);
	profile_check(&p);
	EXPECT(same(&p, &want));
	profile_release(&p);
	profile_release(&want);
}

TEST(what_has_its_share_of_what_is_new_is_kept)
{
	const struct given before[] = {{"abX", 1000}, {"acX", 3}};
	struct profile p, want;
	prune_sums old = {0};

	make(&p, before, n_elems(before));
	prune_sum(&p, &old);
	EXPECT_EQ(old.n, 1);
	EXPECT_EQ(old.v[0], 1003);
	for (int i = 0; i < 2; i++) {
		struct profile more;

		make(&more, (const struct given[]){{"adX", 5}, {"aeX", 4}, {"abX", 91}}, 3);
		profile_merge(&p, &more);
		profile_release(&more);
		profile_prune(&p, 0.05, &old);
		profile_check(&p);
		prune_sum(&p, &old);
	}
	make(&want, (const struct given[]){{"abX", 1182}, {"adX", 10}, {"a*X", 11}}, 3);
	EXPECT(same(&p, &want));
	profile_prune(&p, 0.05, NULL);
	profile_release(&want);
	make(&want, (const struct given[]){{"abX", 1182}, {"a*X", 21}}, 2);
	EXPECT(same(&p, &want));
	vec_release(&old);
	profile_release(&p);
	profile_release(&want);
}

/* Everything but callers, as text. */
static char *flat(const struct profile *p)
{
	struct profile q;
	struct profile_map m;
	char *text;

	profile_init(&q);
	m = profile_merge_dicts(&q, p);
	vec_each (v, &p->values) {
		struct value w = *v;

		if (!value_counts(v))
			continue;
		w.owner = m.owners[v->owner];
		w.vector = m.vectors[v->vector];
		w.event = m.events[v->event];
		w.ctx = v->ctx ? profile_flat_ctx(&q, m.places[p->ctxs.v[v->ctx].place]) : 0;
		profile_add_value(&q, &w);
	}
	vec_each (t, &p->traces) {
		struct trace key = *t;
		trace_id id;

		key.owner = m.owners[t->owner];
		id = profile_intern_trace(&q, &key);
		vec_each (point, &t->points)
			trace_add_point(
				&q, id,
				&(struct trace_point){
					point->time_ns,
					point->ctx
						? profile_flat_ctx(
							  &q, m.places[p->ctxs.v[point->ctx].place])
						: 0,
					m.events[point->event]});
	}
	profile_map_release(&m);
	text = profile_dump(&q);
	profile_release(&q);
	return text;
}

static void check_marks(const struct profile *p)
{
	bool *marked = prune_marked(p);

	for (size_t i = 1; marked && i < p->ctxs.n; i++) {
		const struct ctx *c = &p->ctxs.v[i];

		if (marked[c->parent])
			EXPECT(!prune_is_mark(&p->images.v[p->places.v[c->place].image]));
	}
	free(marked);
}

TEST(sums_of_everything_but_callers_stay_and_pruning_again_changes_nothing)
{
	struct t_rng r = {77};
	unsigned n = t_cases(200), n_changed = 0;

	for (unsigned i = 0; i < n; i++) {
		double share = 1.0 / (double)(2 + t_below(&r, 200));
		struct profile p, more;
		char *before, *after, *paths, *pruned, *again;

		gen_profile(&r, &p, 1 + (unsigned)t_below(&r, 200));
		before = flat(&p);
		paths = profile_dump(&p);
		profile_prune(&p, share, NULL);
		profile_check(&p);
		check_marks(&p);
		after = flat(&p);
		EXPECT_STR(after, before);
		pruned = profile_dump(&p);
		n_changed += strcmp(paths, pruned) != 0;
		profile_prune(&p, share, NULL);
		again = profile_dump(&p);
		EXPECT_STR(again, pruned);
		free(before);
		free(after);
		free(paths);
		free(pruned);
		free(again);
		gen_profile(&r, &more, 50); /* and what comes later */
		profile_merge(&p, &more);
		before = flat(&p);
		profile_prune(&p, 2 * share, NULL);
		profile_check(&p);
		check_marks(&p);
		after = flat(&p);
		EXPECT_STR(after, before);
		free(before);
		free(after);
		profile_release(&p);
		profile_release(&more);
	}
	EXPECT(n_changed > n / 4);
}
