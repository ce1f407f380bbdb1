/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.db and cct.db of random tensors: what is read is what was written, value by value; cct.db
 * is profile.db transposed, whatever the threads and the memory. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "hpc/write/out.h"
#include "hpc_tensor_t.h"
#include "hpc/write/cct.h"
#include "hpc/write/profile.h"

static void compare_profile(const struct tensor *t, const struct hpc_profile *p)
{
	uint32_t n_ctxs = 0;
	uint64_t n = 0;
	struct hpc_id ids[3], want[3];
	int n_ids = (int)tensor_ids(p->index, want);

	EXPECT_EQ(hpc_profile_ids(p, ids, 3, NULL), n_ids);
	for (int i = 0; i < n_ids; i++)
		EXPECT(ids[i].kind == want[i].kind && ids[i].flags == want[i].flags &&
		       ids[i].logicalId == want[i].logicalId &&
		       ids[i].physicalId == want[i].physicalId);
	EXPECT_EQ(p->isSummary, p->index == 0);
	for (uint32_t c = 0; c < t->n_ctxs; c++) {
		struct hpc_ctx_values found;
		uint64_t before = n;

		EXPECT_EQ(hpc_profile_find_ctx(p, c, &found, NULL), 0);
		EXPECT_EQ(hpc_profile_ctx_from(p, c), n_ctxs);
		for (uint16_t m = 0; m < t->n_metrics; m++) {
			double want_value = *tensor_at(t, p->index, c, m), value = 77;
			uint16_t id = (uint16_t)(m * t->metric_step);

			EXPECT_EQ(hpc_profile_value(p, c, id, &value, NULL), 0);
			EXPECT(value == want_value);
			EXPECT(hpc_ctx_values_find(&found, id) == want_value);
			if (want_value != 0) {
				struct hpc_value v = hpc_ctx_value(&found, n - before);

				EXPECT(v.metricId == id && v.value == want_value);
				n++;
			}
		}
		EXPECT_EQ(found.n, n - before);
		if (n != before) {
			struct hpc_ctx_values at = {0};

			EXPECT_EQ(hpc_profile_ctx(p, n_ctxs++, &at, NULL), 0);
			EXPECT_EQ(at.ctxId, c);
			EXPECT(at.values == found.values && at.n == found.n);
		}
	}
	EXPECT_EQ(p->nValues, n);
	EXPECT_EQ(p->nCtxs, n_ctxs);
	EXPECT_EQ(p->pValues % 2, 0);
	EXPECT_EQ(p->pCtxIndices % 4, 0);
}

static void compare_profiles(const struct tensor *t, const struct hpc_profile_db *db)
{
	EXPECT_EQ(db->nProfiles, t->n_profiles);
	for (uint32_t i = 0; i < t->n_profiles; i++) {
		struct hpc_profile p;
		struct err err = {0};

		EXPECT_EQ(hpc_profile_open(&p, db, i, &err), 0);
		EXPECT_STR(err.msg, "");
		compare_profile(t, &p);
	}
}

/* The values of one metric in one context, against T. */
static uint64_t compare_metric(const struct tensor *t, const struct hpc_cct *c, uint16_t m)
{
	uint16_t id = (uint16_t)(m * t->metric_step);
	double *spread = xmalloc((t->n_profiles + 1) * sizeof(double));
	struct hpc_metric_values mv = {0};
	uint64_t n = 0;

	EXPECT_EQ(hpc_cct_find_metric(c, id, &mv, NULL), 0);
	EXPECT_EQ(mv.metricId, id);
	spread[t->n_profiles] = 5;
	hpc_metric_values_spread(&mv, spread, t->n_profiles);
	EXPECT(spread[t->n_profiles] == 5);
	for (uint32_t p = 0; p < t->n_profiles; p++) {
		double want = p ? *tensor_at(t, p, c->ctxId, m) : 0, value = 77;

		EXPECT(spread[p] == want);
		EXPECT(hpc_metric_values_find(&mv, p) == want);
		EXPECT_EQ(hpc_cct_value(c->db, c->ctxId, id, p, &value, NULL), 0);
		EXPECT(value == want);
		if (want != 0) {
			struct hpc_profile_value v = hpc_metric_value(&mv, n++);

			EXPECT(v.profIndex == p && v.value == want);
		}
	}
	EXPECT_EQ(mv.n, n);
	free(spread);
	return n;
}

static void compare_cct(const struct tensor *t, const struct hpc_cct_db *db)
{
	for (uint32_t i = 0; i < t->n_ctxs + 2; i++) {
		struct err err = {0};
		struct hpc_cct c;
		uint64_t n = 0;
		uint32_t n_metrics = 0;

		EXPECT_EQ(hpc_cct_open(&c, db, i, &err), 0);
		EXPECT_STR(err.msg, "");
		for (uint16_t m = 0; i < t->n_ctxs && m < t->n_metrics; m++) {
			uint64_t k = compare_metric(t, &c, m);
			struct hpc_metric_values at = {0};

			n += k;
			if (k) {
				EXPECT_EQ(hpc_cct_metric(&c, n_metrics++, &at, NULL), 0);
				EXPECT_EQ(at.metricId, m * t->metric_step);
				EXPECT_EQ(at.n, k);
			}
		}
		EXPECT_EQ(c.nValues, n);
		EXPECT_EQ(c.nMetrics, n_metrics);
		EXPECT_EQ(n ? c.pValues % 4 : 0, 0);
		EXPECT_EQ(n ? c.pMetricIndices % 4 : 0, 0);
	}
}

/* Reads NAME of D as a cct.db and compares; also with BEFORE, the same file written otherwise,
 * which it frees. */
static uint8_t *check_cct(const struct tensor *t, const struct tensor_dir *d, uint8_t *before,
			  size_t *n_before)
{
	struct err err = {0};
	struct hpc_cct_db db;
	size_t n;
	uint8_t *bytes = tensor_load(d, "cct.db", &n);

	if (bytes && hpc_cct_db_open(&db, bytes, n, "cct.db", &err) == 0)
		compare_cct(t, &db);
	EXPECT_STR(err.msg, "");
	EXPECT(!before || (n == *n_before && memcmp(before, bytes, n) == 0));
	free(before);
	*n_before = n;
	return bytes;
}

static int sum_of_one(void *user, uint64_t *v, size_t n)
{
	return 0;
}

/* One of one process: ranges are sought in each profile, however small they are. */
static const struct hpc_share alone = {.size = 1, .sum = sum_of_one};

static void transpose(const struct tensor *t, const struct tensor_dir *d,
		      const struct hpc_profile_db *db)
{
	static const struct hpc_cct_options options[] = {
		{0},
		{.memory_bytes = 1},
		{.memory_bytes = 300, .n_threads = 3},
		{.n_threads = 2},
		{.memory_bytes = 1, .share = &alone},
		{.memory_bytes = 300, .n_threads = 3, .share = &alone}};
	uint8_t *cct = NULL;
	size_t n = 0;

	for (size_t i = 0; i < n_elems(options); i++) {
		struct err err = {0};

		EXPECT_EQ(hpc_cct_build(d->fd, "cct.db", db, t->n_ctxs, &options[i], &err), 0);
		EXPECT_STR(err.msg, "");
		cct = check_cct(t, d, cct, &n);
	}
	free(cct);
}

/* Transposes a mapped file whose values are read, not looked at where they are mapped. */
static void transpose_mapped(const struct tensor *t, const struct tensor_dir *d)
{
	int fd = openat(d->fd, "profile.db", O_RDONLY);
	const struct hpc_cct_options options[] = {
		{.fd = fd},
		{.fd = fd, .memory_bytes = 1},
		{.fd = fd, .memory_bytes = 300, .n_threads = 3},
		{.fd = fd, .memory_bytes = 1, .share = &alone},
		{.fd = fd, .memory_bytes = 300, .n_threads = 3, .share = &alone}};
	struct hpc_profile_db db;
	uint8_t *cct = NULL;
	struct file_map map;
	struct err err = {0};
	size_t n = 0;

	REQUIRE(fd > 0 && file_map_fd(&map, fd, "profile.db", &err) == 0);
	EXPECT_EQ(hpc_profile_db_open(&db, map.bytes, map.n_bytes, "profile.db", &err), 0);
	for (size_t i = 0; i < n_elems(options); i++) {
		EXPECT_EQ(hpc_cct_build(d->fd, "cct.db", &db, t->n_ctxs, &options[i], &err), 0);
		EXPECT_STR(err.msg, "");
		cct = check_cct(t, d, cct, &n);
	}
	free(cct);
	file_map_close(&map);
	close(fd);
}

static void round_trip(struct t_rng *r, const struct tensor_dir *d, enum hpc_layout layout)
{
	struct hpc_profile_db db;
	struct err err = {0};
	struct tensor t;
	uint8_t *once, *again;
	size_t n, n_again;

	tensor_random(&t, r);
	EXPECT_EQ(tensor_write_profiles(&t, d->fd, "profile.db", layout, 1, &err), 0);
	EXPECT_EQ(tensor_write_profiles(&t, d->fd, "profile2.db", layout, 3, &err), 0);
	EXPECT_STR(err.msg, "");
	once = tensor_load(d, "profile.db", &n);
	again = tensor_load(d, "profile2.db", &n_again);
	REQUIRE(once && again);
	EXPECT(n == n_again && memcmp(once, again, n) == 0);
	EXPECT_EQ(hpc_profile_db_open(&db, once, n, "profile.db", &err), 0);
	EXPECT_STR(err.msg, "");
	EXPECT_EQ(db.layout, layout);
	compare_profiles(&t, &db);
	transpose(&t, d, &db);
	transpose_mapped(&t, d);
	free(once);
	free(again);
	tensor_release(&t);
}

TEST(random_tensors_come_back_and_transposed)
{
	struct t_rng r = {41};
	struct tensor_dir d;

	REQUIRE(tensor_dir_open(&d));
	for (unsigned i = 0; i < t_cases(60); i++)
		round_trip(&r, &d, i % 2 ? HPC_PAGE : HPC_RELEASED);
	tensor_dir_close(&d);
}

/* A context larger than the output buffer, and more contexts than a range takes. */
TEST(large_contexts_and_many_contexts)
{
	struct hpc_profile_block b = {0};
	struct hpc_profile_writer *w;
	struct hpc_profile_db db;
	struct hpc_cct_db cct;
	struct tensor_dir d;
	struct err err = {0};
	uint8_t *bytes, *transposed;
	size_t n;

	REQUIRE(tensor_dir_open(&d));
	REQUIRE(hpc_profile_create(&w, d.fd, "profile.db", HPC_RELEASED, 4, 0, &err) == 0);
	for (uint32_t p = 1; p < 4; p++) {
		hpc_profile_block_reset(&b);
		for (uint32_t m = 0; m < 60000; m++)
			hpc_profile_block_add(&b, 0, (uint16_t)m, p + m);
		for (uint32_t c = 1; c < 200000; c += p)
			hpc_profile_block_add(&b, c, 7, p * c);
		EXPECT_EQ(hpc_profile_put(w, p, NULL, 0, &b, &err), 0);
	}
	hpc_profile_block_reset(&b);
	EXPECT_EQ(hpc_profile_put(w, 0, NULL, 0, &b, &err), 0);
	EXPECT_EQ(hpc_profile_finish(w, &err), 0);
	hpc_profile_block_release(&b);
	bytes = tensor_load(&d, "profile.db", &n);
	REQUIRE(bytes && hpc_profile_db_open(&db, bytes, n, "profile.db", &err) == 0);
	EXPECT_EQ(hpc_cct_build(d.fd, "cct.db", &db, 0, NULL, &err), 0);
	EXPECT_STR(err.msg, "");
	transposed = tensor_load(&d, "cct.db", &n);
	REQUIRE(transposed && hpc_cct_db_open(&cct, transposed, n, "cct.db", &err) == 0);
	EXPECT_EQ(cct.nCtxs, 200000);
	for (uint32_t c = 0; c < 200000; c += c < 100 ? 1 : 997)
		for (uint32_t p = 0; p < 4; p++) {
			double value = 0, want = c == 0 ? p + 7 : p && (c - 1) % p == 0 ? p * c : 0;

			EXPECT_EQ(hpc_cct_value(&cct, c, 7, p, &value, &err), 0);
			EXPECT(value == (p ? want : 0));
		}
	free(bytes);
	free(transposed);
	tensor_dir_close(&d);
}
