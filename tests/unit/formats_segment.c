/* SPDX-License-Identifier: BSD-2-Clause */
#include "formats/segment.h"

#include <errno.h>
#include <stdlib.h>

#include "gen.h"

static bool same(const struct profile *a, const struct profile *b)
{
	char *x = profile_dump(a), *y = profile_dump(b);
	bool eq = strcmp(x, y) == 0;

	free(x);
	free(y);
	return eq;
}

static struct wr encode(const struct profile *p)
{
	struct wr w = {0};
	struct err err = {0};

	EXPECT_EQ(segment_encode(&w, p, &err), 0);
	return w;
}

/* Adds the segment of FROM to INTO. */
static void through_bytes(struct profile *into, const struct profile *from)
{
	struct wr w = encode(from);
	struct err err = {0};

	EXPECT_EQ(segment_decode(w.v, w.n, into, NULL, &err), 0);
	EXPECT_STR(err.msg, "");
	wr_release(&w);
}

TEST(decoding_gives_back_what_was_encoded)
{
	struct t_rng r = {21};
	unsigned n = t_cases(400);

	for (unsigned i = 0; i < n; i++) {
		struct profile a, b;

		gen_profile(&r, &a, (unsigned)t_below(&r, i % 20 ? 60 : 2000));
		profile_init(&b);
		through_bytes(&b, &a);
		profile_check(&b);
		EXPECT(same(&a, &b));
		profile_release(&a);
		profile_release(&b);
	}
}

/* The strings of the meta block are "first wins": made equal so that order cannot show. */
static void plain_meta(struct profile *p)
{
	p->meta.host = p->meta.platform = 0;
}

TEST(merging_segments_is_associative_and_commutative)
{
	struct t_rng r = {22};
	unsigned n = t_cases(200);

	for (unsigned i = 0; i < n; i++) {
		struct profile p[3], left, right, pair;

		for (int k = 0; k < 3; k++) {
			gen_profile(&r, &p[k], (unsigned)t_below(&r, 40));
			plain_meta(&p[k]);
		}
		profile_init(&left);  /* (0 + 1) + 2 */
		profile_init(&pair);  /* 2 + 1 */
		profile_init(&right); /* (2 + 1) + 0 */
		for (int k = 0; k < 3; k++)
			through_bytes(&left, &p[k]);
		through_bytes(&pair, &p[2]);
		through_bytes(&pair, &p[1]);
		through_bytes(&right, &pair);
		through_bytes(&right, &p[0]);
		EXPECT(same(&left, &right));
		for (int k = 0; k < 3; k++)
			profile_release(&p[k]);
		profile_release(&left);
		profile_release(&right);
		profile_release(&pair);
	}
}

/* Adds what SRC holds to DST in another order: dictionaries get other ids. */
static void add_backwards(struct profile *dst, const struct profile *src)
{
	for (size_t i = src->strings.n; i-- > 0;)
		profile_intern_str(dst, src->strings.v[i]);
	for (size_t i = src->owners.n; i-- > 0;) {
		struct owner o = src->owners.v[i];

		o.exe = profile_intern_str(dst, profile_str(src, o.exe));
		o.comm = profile_intern_str(dst, profile_str(src, o.comm));
		o.cgroup = profile_intern_str(dst, profile_str(src, o.cgroup));
		o.label = profile_intern_str(dst, profile_str(src, o.label));
		profile_intern_owner(dst, &o);
	}
	for (size_t i = src->vectors.n; i-- > 0;)
		profile_intern_vector(dst, &src->vectors.v[i]);
	for (size_t i = src->images.n; i-- > 0;)
		profile_intern_image(dst, &src->images.v[i]);
	for (size_t i = src->places.n; i-- > 0;) {
		const struct place *k = &src->places.v[i];

		profile_intern_place(dst, profile_intern_image(dst, &src->images.v[k->image]),
				     k->svma, k->flags);
	}
	profile_merge(dst, src);
}

TEST(equal_profiles_give_equal_bytes)
{
	struct t_rng r = {23};
	unsigned n = t_cases(200);

	for (unsigned i = 0; i < n; i++) {
		struct profile a, b;
		struct wr x, y;

		gen_profile(&r, &a, (unsigned)t_below(&r, 80));
		profile_init(&b);
		add_backwards(&b, &a);
		x = encode(&a);
		y = encode(&b);
		EXPECT(x.n == y.n && memcmp(x.v, y.v, x.n) == 0);
		wr_release(&x);
		wr_release(&y);
		profile_release(&a);
		profile_release(&b);
	}
}
