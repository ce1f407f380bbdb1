/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.db, cct.db and trace.db put down by hand: what readers, checks and dumps make of them,
 * whole, cut short and damaged. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "formats/hpc/cct.h"
#include "formats/hpc/check/check.h"
#include "formats/hpc/dump.h"
#include "formats/hpc/profile.h"
#include "formats/hpc/trace.h"
#include "hpc_hand_t.h"
#include "t.h"

static const enum hpc_layout layouts[] = {HPC_RELEASED, HPC_PAGE};
static const struct hand_extra plain = {0}, later = {9, 16, 0x8000};

enum kind { PROFILE, CCT, TRACE, N_KINDS };

static struct wr hand(enum kind k, enum hpc_layout l, const struct hand_extra *x)
{
	return k == PROFILE ? hand_profile(l, x) : k == CCT ? hand_cct(x) : hand_trace(l, x);
}

static void read_profile(enum hpc_layout l, const struct hand_extra *x)
{
	struct wr w = hand_profile(l, x);
	struct hpc_profile_db db;
	struct hpc_profile p;
	struct hpc_ctx_values c;
	struct hpc_id ids[2];
	struct err err = {0};
	double v;

	EXPECT_EQ(hpc_profile_db_open(&db, w.v, w.n, "profile.db", &err), 0);
	EXPECT_STR(err.msg, "");
	REQUIRE(!*err.msg);
	EXPECT_EQ(db.nProfiles, 3);
	EXPECT_EQ(db.minorVersion, x->minor);
	EXPECT_EQ(db.layout, l == HPC_PAGE && x->stride ? HPC_RELEASED : l);
	EXPECT_EQ(hpc_profile_open(&p, &db, 1, &err), 0);
	EXPECT(!p.isSummary && p.nValues == 3 && p.nCtxs == 2);
	EXPECT_EQ(hpc_profile_ctx(&p, 1, &c, &err), 0);
	EXPECT(c.ctxId == 5 && c.n == 1 && hpc_ctx_value(&c, 0).value == 4);
	EXPECT(hpc_profile_value(&p, 0, 2, &v, &err) == 0 && v == -2);
	EXPECT(hpc_profile_value(&p, 0, 3, &v, &err) == 0 && v == 0);
	EXPECT(hpc_profile_value(&p, 4, 1, &v, &err) == 0 && v == 0);
	EXPECT_EQ(hpc_profile_ids(&p, ids, 2, &err), 1);
	EXPECT(ids[0].kind == HPC_ID_THREAD && ids[0].flags == 0);
	EXPECT_EQ(hpc_profile_open(&p, &db, 2, &err), 0);
	EXPECT(p.nValues == 0 && p.nCtxs == 0);
	EXPECT_EQ(hpc_profile_ids(&p, ids, 1, &err), 2); /* only one of them decoded */
	EXPECT(ids[0].kind == HPC_ID_NODE && ids[0].flags & HPC_ID_IS_PHYSICAL);
	EXPECT(ids[0].logicalId == 3 && ids[0].physicalId == 0xabcdef012345);
	EXPECT_EQ(hpc_profile_open(&p, &db, 0, &err), 0);
	EXPECT(hpc_profile_value(&p, 0, 7, &v, &err) == 0 && v == 5.5);
	EXPECT_EQ(hpc_profile_open(&p, &db, 3, &err), -ENOENT);
	wr_release(&w);
}

static void read_cct(const struct hand_extra *x)
{
	struct wr w = hand_cct(x);
	struct hpc_metric_values m;
	struct hpc_cct_db db;
	struct hpc_cct c;
	struct err err = {0};
	double v;

	EXPECT_EQ(hpc_cct_db_open(&db, w.v, w.n, "cct.db", &err), 0);
	EXPECT_STR(err.msg, "");
	REQUIRE(!*err.msg);
	EXPECT_EQ(db.nCtxs, 6);
	EXPECT(hpc_cct_open(&c, &db, 0, &err) == 0 && c.nValues == 2 && c.nMetrics == 2);
	EXPECT_EQ(hpc_cct_metric(&c, 1, &m, &err), 0);
	EXPECT(m.metricId == 2 && m.n == 1 && hpc_metric_value(&m, 0).value == -2);
	EXPECT(hpc_cct_value(&db, 5, 1, 1, &v, &err) == 0 && v == 4);
	EXPECT(hpc_cct_value(&db, 5, 1, 2, &v, &err) == 0 && v == 0);
	EXPECT(hpc_cct_value(&db, 5, 0, 1, &v, &err) == 0 && v == 0);
	EXPECT(hpc_cct_open(&c, &db, 3, &err) == 0 && c.nValues == 0);
	EXPECT(hpc_cct_open(&c, &db, UINT32_MAX, &err) == 0 && c.nValues == 0);
	wr_release(&w);
}

static void read_trace(enum hpc_layout l, const struct hand_extra *x)
{
	struct wr w = hand_trace(l, x);
	struct hpc_trace_db db;
	struct hpc_trace t;
	struct err err = {0};

	EXPECT_EQ(hpc_trace_db_open(&db, w.v, w.n, "trace.db", &err), 0);
	EXPECT_STR(err.msg, "");
	REQUIRE(!*err.msg);
	EXPECT(db.nTraces == 2 && db.minTimestamp == 1000 && db.maxTimestamp == 3000);
	EXPECT(hpc_trace_open_profile(&t, &db, 1, &err) == 0 && t.n == 3);
	EXPECT_EQ(hpc_trace_elem(&t, 1).ctxId, 5);
	EXPECT_EQ(hpc_trace_find(&t, 0), 0);
	EXPECT_EQ(hpc_trace_find(&t, 1500), 1);
	EXPECT_EQ(hpc_trace_find(&t, 1501), 2);
	EXPECT_EQ(hpc_trace_find(&t, 2001), 3);
	EXPECT(hpc_trace_open(&t, &db, 1, &err) == 0 && t.n == 0 && t.profIndex == 2);
	EXPECT_EQ(hpc_trace_open(&t, &db, 2, &err), -ENOENT);
	EXPECT_EQ(hpc_trace_open_profile(&t, &db, 3, &err), -ENOENT);
	wr_release(&w);
}

TEST(hand_made_files_are_read)
{
	for (size_t i = 0; i < n_elems(layouts); i++) {
		read_profile(layouts[i], &plain);
		read_trace(layouts[i], &plain);
		read_trace(layouts[i], &later);
	}
	read_profile(HPC_RELEASED, &later);
	read_cct(&plain);
	read_cct(&later);
}

/* A trace.db exactly as FORMATS.md has it: the section's header ends at
 * 0x0d, and headers follow. */
TEST(a_trace_without_times_is_read)
{
	struct wr w = hand_trace(HPC_RELEASED, &plain);
	struct hpc_trace_db db;
	struct hpc_trace t;

	memmove(w.v + 0x30, w.v + 0x40, 0x30); /* {TH}[2] over the times */
	w.v[0x20] = 0x30;
	REQUIRE(hpc_trace_db_open(&db, w.v, w.n, "trace.db", NULL) == 0);
	EXPECT(db.minTimestamp == 0 && db.maxTimestamp == 0);
	EXPECT(hpc_trace_open(&t, &db, 0, NULL) == 0 && t.n == 3);
	wr_release(&w);
}

static int open_any(enum kind k, const void *bytes, size_t n, struct err *err)
{
	struct hpc_profile_db profile;
	struct hpc_cct_db cct;
	struct hpc_trace_db trace;

	return k == PROFILE ? hpc_profile_db_open(&profile, bytes, n, "x.db", err)
	       : k == CCT   ? hpc_cct_db_open(&cct, bytes, n, "x.db", err)
			    : hpc_trace_db_open(&trace, bytes, n, "x.db", err);
}

static void check_any(enum kind k, struct hpc_check *c, const void *bytes, size_t n)
{
	(k == PROFILE ? hpc_check_profile
	 : k == CCT   ? hpc_check_cct
		      : hpc_check_trace)(c, bytes, n, "x.db");
}

static int ignore_line(void *user, const char *text)
{
	++*(size_t *)user;
	return 0;
}

/* Everything is looked at by way of the dump. */
static int dump_any(enum kind k, const void *bytes, size_t n, struct err *err)
{
	size_t n_lines = 0;
	struct hpc_dump d = {.line = ignore_line, .user = &n_lines};
	int rc = (k == PROFILE ? hpc_profile_dump
		  : k == CCT   ? hpc_cct_dump
			       : hpc_trace_dump)(&d, bytes, n, "x.db", err);

	hpc_dump_release(&d);
	return rc;
}

TEST(every_truncation_is_refused)
{
	for (enum kind k = 0; k < N_KINDS; k++)
		for (size_t l = 0; l < n_elems(layouts); l++) {
			struct wr w = hand(k, layouts[l], &plain);

			for (size_t n = 0; n < w.n; n++) {
				uint8_t *cut = xmemdup(w.v, n); /* exactly so much */
				struct hpc_check c = {0};
				struct err err = {0};

				EXPECT_EQ(open_any(k, cut, n, &err), -ENODATA);
				EXPECT(str_starts(err.msg, "x.db"));
				check_any(k, &c, cut, n);
				EXPECT(c.n_problems > 0);
				free(cut);
			}
			wr_release(&w);
		}
}

/* Cut short, but with a footer: nothing outside is read, and the check knows. */
TEST(truncations_with_a_footer_are_found)
{
	for (enum kind k = 0; k < N_KINDS; k++)
		for (size_t l = 0; l < n_elems(layouts); l++) {
			struct wr w = hand(k, layouts[l], &plain);

			for (size_t n = 0; n + 8 < w.n; n++) {
				uint8_t *cut = xmalloc(n + 8);
				struct hpc_check c = {0};
				struct err err = {0};
				int rc;

				memcpy(cut, w.v, n);
				memcpy(cut + n, w.v + w.n - 8, 8);
				rc = dump_any(k, cut, n + 8, &err);
				EXPECT(rc == 0 || str_starts(err.msg, "x.db"));
				check_any(k, &c, cut, n + 8);
				/* What a trace ends with is padding. */
				EXPECT(c.n_problems > 0 || (k == TRACE && n + 8 + 4 >= w.n));
				free(cut);
			}
			wr_release(&w);
		}
}

struct wanted {
	const char *structure, *field;
	uint64_t offset;
	bool seen;
};

static void look_for(void *user, const struct hpc_problem *p)
{
	struct wanted *w = user;

	w->seen |= strcmp(p->structure, w->structure) == 0 && strcmp(p->field, w->field) == 0 &&
		   p->offset == w->offset && *p->text;
}

/* The file with N bytes at AT replaced by V has a problem in FIELD of STRUCTURE, at AT_PROBLEM. */
static void damage(enum kind k, enum hpc_layout l, size_t at, unsigned n, uint64_t v,
		   size_t at_problem, const char *structure, const char *field)
{
	struct wanted wanted = {structure, field, at_problem, false};
	struct hpc_check c = {.report = look_for, .user = &wanted}, before = {0};
	struct wr w = hand(k, l, &plain);

	check_any(k, &before, w.v, w.n);
	EXPECT_EQ(before.n_problems, 0);
	for (unsigned i = 0; i < n; i++)
		w.v[at + i] = (uint8_t)(v >> 8 * i);
	check_any(k, &c, w.v, w.n);
	if (!wanted.seen)
		t_fail_("kind %d: %s %s at %#zx is not reported", k, structure, field, at_problem);
	dump_any(k, w.v, w.n, NULL); /* must not crash */
	wr_release(&w);
}

TEST(damage_in_profile_db_is_named)
{
	for (size_t i = 0; i < n_elems(layouts); i++) {
		enum hpc_layout l = layouts[i];
		size_t pi = hand_pi(l, &plain, 1), tuples = hand_pi(l, &plain, 3), b = tuples + 64;

		damage(PROFILE, l, 0, 1, 'h', 0, "header", "magic");
		damage(PROFILE, l, 0x0e, 1, 5, 0x0e, "header", "majorVersion");
		damage(PROFILE, l, 0x10, 8, 1ull << 60, 0x18, "header", "pProfileInfos");
		damage(PROFILE, l, 0x10, 8, 4, 0x10, "header", "szProfileInfos");
		damage(PROFILE, l, 0x28, 8, UINT64_MAX, 0x28, "header", "pIdTuples");
		damage(PROFILE, l, 0x28, 8, 0x40, 0x28, "header", "pIdTuples"); /* overlaps */
		damage(PROFILE, l, 0x30, 8, tuples, 0x30, "Profile Info", "pProfiles");
		damage(PROFILE, l, 0x38, 4, UINT32_MAX, 0x30, "Profile Info", "pProfiles");
		damage(PROFILE, l, 0x38, 4, 0, 0x38, "Profile Info", "nProfiles");
		damage(PROFILE, l, 0x3c, 1, 39, 0x3c, "Profile Info", "szProfile");
		damage(PROFILE, l, pi, 8, 1ull << 60, pi + 8, "{PI}", "pValues");
		damage(PROFILE, l, pi + 8, 8, b + 1, pi + 8, "{PI}", "pValues");
		damage(PROFILE, l, pi + 8, 8, tuples, pi + 8, "{PI}", "pValues");
		damage(PROFILE, l, pi + 0x10, 4, UINT32_MAX, pi + 0x18, "{PI}", "pCtxIndices");
		damage(PROFILE, l, pi + 0x10, 4, 0, pi + 0x10, "{PI}", "nCtxs");
		damage(PROFILE, l, pi + 0x18, 8, b + 68, pi + 0x18, "{PI}", "pCtxIndices");
		damage(PROFILE, l, pi + 0x20, 8, b, pi + 0x20, "{PI}", "pIdTuple");
		damage(PROFILE, l, pi + 0x20, 8, 0, pi + 0x20, "{PI}", "pIdTuple");
		damage(PROFILE, l, tuples, 2, 9, tuples, "[HIT]", "nIds");
		damage(PROFILE, l, tuples + 16, 8, 1, tuples + 16, "{Id}", "physicalId");
		damage(PROFILE, l, b, 2, 3, b + 10, "{Val}", "metricId");
		damage(PROFILE, l, b + 12, 8, 0, b + 12, "{Val}", "value");
		damage(PROFILE, l, b + 32, 4, 5, b + 44, "{Idx}", "ctxId");
		damage(PROFILE, l, b + 36, 8, 1, b + 36, "{Idx}", "startIndex");
		damage(PROFILE, l, b + 48, 8, 1ull << 60, b + 36, "{Idx}", "startIndex");
		damage(PROFILE, l, b + 48, 8, 3, b + 20, "{Val}", "metricId");
		damage(PROFILE, l, b + 80, 1, 'x', b + 80, "footer", "");
	}
	damage(PROFILE, HPC_RELEASED, 0x40 + 0x28, 4, 0, 0x40 + 0x28, "{PI}", "flags");
	damage(PROFILE, HPC_RELEASED, 0x70 + 0x28, 4, 1, 0x70 + 0x28, "{PI}", "flags");
}

TEST(damage_in_cct_db_is_named)
{
	size_t ci = hand_ci(&plain, 0), ci5 = hand_ci(&plain, 5), b = hand_ci(&plain, 6);

	damage(CCT, 0, 0x10, 8, 1ull << 60, 0x18, "header", "pCtxInfo");
	damage(CCT, 0, 0x10, 8, 4, 0x10, "header", "szCtxInfo");
	damage(CCT, 0, 0x30, 8, b, 0x30, "Context Info", "pCtxs");
	damage(CCT, 0, 0x38, 4, UINT32_MAX, 0x30, "Context Info", "pCtxs");
	damage(CCT, 0, 0x3c, 1, 22, 0x3c, "Context Info", "szCtx");
	damage(CCT, 0, ci, 8, 1ull << 60, ci + 8, "{CI}", "pValues");
	damage(CCT, 0, ci5 + 8, 8, b + 12, ci5 + 8, "{CI}", "pValues"); /* those of context 0 */
	damage(CCT, 0, ci + 0x10, 2, 0xffff, ci + 0x18, "{CI}", "pMetricIndices");
	damage(CCT, 0, ci + 0x10, 2, 0, ci + 0x10, "{CI}", "nMetrics");
	damage(CCT, 0, ci + 0x18, 8, b + 12, ci + 0x18, "{CI}", "pMetricIndices");
	damage(CCT, 0, b, 4, 0, b, "{Val}", "profIndex");
	damage(CCT, 0, b + 4, 8, 0, b + 4, "{Val}", "value");
	damage(CCT, 0, b + 24, 2, 2, b + 34, "{Idx}", "metricId");
	damage(CCT, 0, b + 26, 8, 1, b + 26, "{Idx}", "startIndex");
	damage(CCT, 0, b + 36, 8, 3, b + 26, "{Idx}", "startIndex");
	damage(CCT, 0, b + 36, 8, 2, b + 12, "{Val}", "profIndex");
}

TEST(damage_in_trace_db_is_named)
{
	for (size_t i = 0; i < n_elems(layouts); i++) {
		enum hpc_layout l = layouts[i];
		size_t th = hand_th(l, &plain, 0), s = th - 0x20, b = hand_th(l, &plain, 2);

		damage(TRACE, l, 0x18, 8, 1ull << 60, 0x18, "header", "pHeaders");
		damage(TRACE, l, s + 8, 4, UINT32_MAX, s, "Trace Headers", "pTraces");
		damage(TRACE, l, s + 12, 1, 23, s + 12, "Trace Headers", "szTrace");
		damage(TRACE, l, th, 4, 2, th + 0x18, "{TH}", "profIndex");
		damage(TRACE, l, th + 8, 8, b + 1, th + 16, "{TH}", "pEnd");
		damage(TRACE, l, th + 16, 8, 12ull << 56, th + 16, "{TH}", "pEnd");
		damage(TRACE, l, th + 8, 8, th, th + 8, "{TH}", "pStart"); /* overlaps */
		damage(TRACE, l, b + 12, 8, 999, b + 12, "{Elem}", "timestamp");
		damage(TRACE, l, b + 24, 8, 3001, b + 24, "{Elem}", "timestamp");
	}
}

TEST(newer_major_versions_are_refused)
{
	for (enum kind k = 0; k < N_KINDS; k++) {
		struct wr w = hand(k, HPC_RELEASED, &plain);
		struct err err = {0};

		w.v[0x0e] = 5;
		EXPECT_EQ(open_any(k, w.v, w.n, &err), -EPROTONOSUPPORT);
		EXPECT_STR(err.msg, "x.db+0xe: header majorVersion: 5 is newer than 4");
		wr_release(&w);
	}
}

/* Counts of 2^60 and pointers anywhere: an error that names the place, whatever is read. */
TEST(readers_name_the_place_of_damage)
{
	struct wr w = hand_profile(HPC_RELEASED, &plain);
	struct hpc_profile_db db;
	struct hpc_profile p;
	struct hpc_ctx_values c;
	struct err err = {0};

	REQUIRE(hpc_profile_db_open(&db, w.v, w.n, "p.db", NULL) == 0);
	hpc_put64(w.v + 0x70, 1ull << 60);
	EXPECT_EQ(hpc_profile_open(&p, &db, 1, &err), -EBADMSG);
	EXPECT_STR(err.msg, "p.db+0x78: {PI} pValues: 0x110: 1152921504606846976 values do not lie "
			    "in the file");
	hpc_put64(w.v + 0x70, 3);
	REQUIRE(hpc_profile_open(&p, &db, 1, NULL) == 0);
	hpc_put64(w.v + 0x134, 4);
	EXPECT_EQ(hpc_profile_ctx(&p, 0, &c, &err), -EBADMSG);
	EXPECT_STR(err.msg, "p.db+0x134: {Idx} startIndex: 4 to 2 is no range of 3 values");
	EXPECT_EQ(hpc_profile_ctx(&p, 2, &c, &err), -ENOENT);
	wr_release(&w);
}
