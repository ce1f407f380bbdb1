/* SPDX-License-Identifier: BSD-2-Clause */
/* cct.db made out of profile.db: a sparse tensor transposed from (profile, context, metric) to
 * (context, metric, profile), in bounded memory, by many threads.
 *
 * 1. Count.  The context indices of all profiles (not their values) say how many bytes each context
 *    will need below.  Threads share the profiles.
 *    Where profiles are many and small their values go to a file between on the way
 *    (cct_parts.c).
 * 2. Cut the contexts into ranges of some megabytes.
 * 3. For each range, threads taking one after the other:
 *    a. Gather.  Visit the range in each profile, where the range before ended (or read its parts
 * of the file between), and copy each context's values as they are, behind the profile's number, to
 * where the context gathers them: a "run".  Profiles come in order, so a context's runs are sorted
 * by profile.  A range is contiguous in each profile and a run in its context, so memory is met in
 * stretches. b. Measure.  Count the values of each context by metric, which gives the sizes of its
 * block and its metric indices. c. Take the next place in the file for the whole range (see out.h),
 * then sort each context's values by metric (a counting sort, stable, hence by profile within each
 * metric) to a buffer that goes to the file when it is full.
 *
 * Each value is read once (its bytes are touched once more where it was gathered) and written once.
 * The file does not depend on how contexts were cut.
 *
 *     00  header, reserved up to 30
 *     30  Context Info section: header, then {CI} of contexts 0, 1, ... at 40
 *         value blocks of contexts 0, 1, ...: values, then metric indices
 *         footer */
#include "hpc/write/cct_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpc/frame.h"
#include "hpc/write/cct.h"

enum { SZ_CVAL = 12, SZ_CIDX = 10 }; /* and of cct.db */
enum { AT_INFO = 0x30, AT_CI = 0x40, SZ_CI = 0x20 };

enum {
	RANGE_CTXS_MAX = 1 << 16, /* bounds what a thread keeps beyond the gathered values */
	OUT_BYTES = 1 << 20,
	RANGE_BYTES = 32 << 20, /* a range has, if there is memory, */
	RANGE_BYTES_MIN = 1 << 16,
	RANGES_A_WORKER = 4, /* there are at least, so that all are busy */
	VISIT_VALUES = 128,  /* a visit to a profile should find */
};

/* Observed: hpcviewer keeps places of sections as int. */
#define N_CTXS_MAX ((INT32_MAX - AT_CI) / SZ_CI)

static int compare_metrics(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* Counts the values of one context, whose runs are [P, END), by metric; appends its {Idx}s and sets
 * its {CI}, whose pointers are relative to the range's first block.  FORMATS.md 4.0,
 * "Context-Major Sparse Value Block". */
static void measure_ctx(struct cct_worker *w, const uint8_t *p, const uint8_t *end, uint8_t *ci)
{
	uint64_t n = 0;
	uint8_t *idx;

	w->metrics.n = 0;
	while (p < end) {
		uint32_t n_values = hpc_le32(p + 4);

		p += CCT_RUN;
		n += n_values;
		for (; n_values; n_values--, p += CCT_PROFILE_VAL) {
			uint16_t metricId = hpc_le16(p);

			if (w->next[metricId]++ == 0)
				vec_push(&w->metrics, metricId);
		}
	}
	memset(ci, 0, SZ_CI);
	if (!n)
		return;
	vec_sort(&w->metrics, compare_metrics);
	w->n_block_bytes = (w->n_block_bytes + 3) & ~(uint64_t)3; /* {Val}'s u32 */
	hpc_put64(ci, n);
	hpc_put64(ci + 0x08, w->n_block_bytes);
	hpc_put16(ci + 0x10, (uint16_t)w->metrics.n);
	hpc_put64(ci + 0x18, w->n_block_bytes + SZ_CVAL * n);
	w->n_block_bytes += SZ_CVAL * n + SZ_CIDX * w->metrics.n;

	vec_reserve(&w->indices, SZ_CIDX * w->metrics.n);
	idx = w->indices.v + w->indices.n;
	w->indices.n += SZ_CIDX * w->metrics.n;
	n = 0;
	vec_each (m, &w->metrics) {
		hpc_put16(idx, *m);
		hpc_put64(idx + 2, n);
		n += w->next[*m];
		w->next[*m] = 0;
		idx += SZ_CIDX;
	}
}

/* Writes the values of one context, sorted by metric, to OUT.  NEXT says for each metric where its
 * next value goes. */
static void sort_ctx(const uint8_t *p, const uint8_t *end, uint64_t *next, uint8_t *out)
{
	while (p < end) {
		uint32_t profIndex = hpc_le32(p), n_values = hpc_le32(p + 4);

		p += CCT_RUN;
		for (; n_values; n_values--, p += CCT_PROFILE_VAL) {
			uint8_t *v = out + SZ_CVAL * next[hpc_le16(p)]++;

			hpc_put32(v, profIndex);
			memcpy(v + 4, p + 2, 8);
		}
	}
}

/* Shows the values of context CTXID, whose {CI} is CI, to who wants to know them. */
static void show_ctx(const struct cct_worker *w, uint32_t range, uint32_t ctxId, const uint8_t *ci,
		     const uint8_t *values, const uint8_t *idx)
{
	const struct hpc_cct_options *o = &w->b->o;
	const struct hpc_cct_db db = {.name = w->b->out.name};
	const struct hpc_cct c = {
		.db = &db,
		.ctxId = ctxId,
		.nValues = hpc_le64(ci),
		.nMetrics = hpc_le16(ci + 0x10),
		.values = values,
		.metricIndices = idx,
	};

	if (o->values)
		o->values(o->to, range, &c);
}

/* Writes the blocks of range NUMBER at AT in the file. */
static int write_blocks(struct cct_worker *w, uint32_t number, uint64_t at)
{
	const struct cct_range *r = &w->b->ranges.v[number];
	const uint8_t *runs = w->runs, *idx = w->indices.v;
	uint64_t done = 0; /* bytes of the range that are in the file */

	w->block.n = 0;
	for (uint32_t c = r->from; c < r->to; c++) {
		const uint8_t *ci = w->ci + (size_t)SZ_CI * (c - r->from), *end;
		uint64_t n = hpc_le64(ci), rel = hpc_le64(ci + 0x08);
		size_t sz_indices = (size_t)SZ_CIDX * hpc_le16(ci + 0x10);
		size_t need = rel - done + SZ_CVAL * n + sz_indices;

		if (!n)
			continue;
		if (need > w->block.cap || need > OUT_BYTES) {
			int rc = hpc_out_write(&w->b->out, at + done, w->block.v, w->block.n,
					       &w->err);

			if (rc < 0)
				return rc;
			done += w->block.n;
			w->block.n = 0;
			need = rel - done + SZ_CVAL * n + sz_indices;
			vec_reserve(&w->block, need);
		}
		memset(w->block.v + w->block.n, 0, rel - done - w->block.n);
		for (size_t i = 0; i < sz_indices; i += SZ_CIDX)
			w->next[hpc_le16(idx + i)] = hpc_le64(idx + i + 2);
		end = w->runs + w->per_ctx[c];
		sort_ctx(runs, end, w->next, w->block.v + (rel - done));
		for (size_t i = 0; i < sz_indices; i += SZ_CIDX)
			w->next[hpc_le16(idx + i)] = 0;
		memcpy(w->block.v + (need - sz_indices), idx, sz_indices);
		show_ctx(w, number, c, ci, w->block.v + (rel - done), idx);
		w->block.n = need;
		idx += sz_indices;
		runs = end;
	}
	return hpc_out_write(&w->b->out, at + done, w->block.v, w->block.n, &w->err);
}

static int report_progress(struct cct_worker *w, const struct cct_range *r)
{
	struct cct_build *b = w->b;
	int rc = 0;

	pthread_mutex_lock(&b->out.lock);
	b->done_bytes += r->n_bytes;
	if (b->o.progress)
		rc = b->o.progress(b->o.user, b->done_bytes, b->all_bytes);
	pthread_mutex_unlock(&b->out.lock);
	return rc < 0 ? err_set(&w->err, rc, "%s: given up", b->out.name) : 0;
}

static int do_range(struct cct_worker *w, uint32_t number)
{
	const struct cct_range *r = &w->b->ranges.v[number];
	struct hpc_out *out = &w->b->out;
	const uint8_t *runs;
	uint64_t at;
	int rc = cct_gather(w, r);

	if (rc < 0)
		return rc;
	w->indices.n = 0;
	w->n_block_bytes = 0;
	runs = w->runs;
	for (uint32_t c = r->from; c < r->to; c++) {
		/* Without values there are no runs. */
		const uint8_t *end = w->runs ? w->runs + w->per_ctx[c] : NULL;

		measure_ctx(w, runs, end, w->ci + (size_t)SZ_CI * (c - r->from));
		runs = end;
	}
	rc = hpc_out_begin_turn(out, number, &w->err);
	if (rc < 0)
		return rc;
	/* An empty range must not even align what follows. */
	at = hpc_out_take(out, w->n_block_bytes, w->n_block_bytes ? 4 : 1);
	hpc_out_end_turn(out);
	rc = write_blocks(w, number, at);
	for (uint32_t c = 0; c < r->to - r->from; c++) {
		uint8_t *ci = w->ci + (size_t)SZ_CI * c;

		if (hpc_le64(ci)) {
			hpc_put64(ci + 0x08, hpc_le64(ci + 0x08) + at);
			hpc_put64(ci + 0x18, hpc_le64(ci + 0x18) + at);
		}
	}
	if (rc >= 0)
		rc = hpc_out_write(out, AT_CI + (uint64_t)SZ_CI * r->from, w->ci,
				   (size_t)SZ_CI * (r->to - r->from), &w->err);
	return rc < 0 ? rc : report_progress(w, r);
}

static void *transpose(void *arg)
{
	struct cct_worker *w = arg;
	struct cct_build *b = w->b;

	w->ci = xmalloc((size_t)SZ_CI * (b->n_ctxs < RANGE_CTXS_MAX ? b->n_ctxs : RANGE_CTXS_MAX));
	w->next = xcalloc(UINT16_MAX + 1, sizeof(*w->next));
	vec_reserve(&w->block, OUT_BYTES);
	for (;;) {
		uint32_t number = atomic_fetch_add(&b->next_range, 1);

		if (number >= b->ranges.n)
			return NULL;
		if (!hpc_out_is_mine(&b->out, number))
			continue;
		w->rc = do_range(w, number);
		if (w->rc < 0) {
			hpc_out_fail(&b->out, w->rc, NULL, "%s", w->err.msg);
			return NULL;
		}
	}
}

/* Runs F in all workers and waits for them. */
static int cct_run(struct cct_build *b, struct cct_worker *workers, void *(*f)(void *),
		   struct err *err)
{
	unsigned n = 1;

	while (n < b->n_threads && pthread_create(&workers[n].thread, NULL, f, &workers[n]) == 0)
		n++;
	f(&workers[0]); /* also when no thread could be made */
	while (n > 1)
		pthread_join(workers[--n].thread, NULL);
	return hpc_out_failed(&b->out, err);
}

/* One more than the largest ctxId of all profiles but the summary. */
static int find_n_ctxs(const struct hpc_profile_db *db, uint32_t *ret, struct err *err)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < db->nProfiles; i++) {
		struct hpc_profile p;
		struct hpc_ctx_values c;
		int rc = hpc_profile_open(&p, db, i, err);

		if (rc >= 0 && !p.isSummary && p.nCtxs) {
			rc = hpc_profile_ctx(&p, p.nCtxs - 1, &c, err);
			if (rc >= 0 && c.ctxId >= n)
				n = (uint64_t)c.ctxId + 1;
		}
		if (rc < 0)
			return rc;
	}
	*ret = n > N_CTXS_MAX ? N_CTXS_MAX + 1 : (uint32_t)n;
	return 0;
}

/* Decides how large ranges are, and whether values go through a file between: when ranges find but
 * some few values in each profile (measured: docs/design/hpctoolkit-databases.md). */
static int plan(struct cct_build *b, int dirfd, struct err *err)
{
	uint64_t share = b->o.memory_bytes / b->n_threads, n_values = 0, n_bytes = 0, least;
	uint64_t n_workers = (uint64_t)b->n_threads * (b->o.share ? b->o.share->size : 1);

	for (uint32_t i = 0; i < b->db->nProfiles; i++) {
		struct hpc_profile p;
		int rc = hpc_profile_open(&p, b->db, i, err);

		if (rc < 0)
			return rc;
		n_values += p.isSummary ? 0 : p.nValues;
		n_bytes += p.isSummary ? 0 : CCT_RUN * p.nCtxs + CCT_PROFILE_VAL * p.nValues;
	}
	least = n_bytes / (RANGES_A_WORKER * n_workers);
	b->range_bytes = least < RANGE_BYTES ? least : RANGE_BYTES;
	if (b->range_bytes < RANGE_BYTES_MIN)
		b->range_bytes = RANGE_BYTES_MIN;
	if (b->range_bytes > share)
		b->range_bytes = share ? share : 1;
	if (b->o.share ||
	    n_values / VISIT_VALUES >= n_bytes / b->range_bytes * (b->db->nProfiles - 1))
		return 0;
	return cct_parts_open(b, dirfd, n_bytes, b->range_bytes, err);
}

static void cut_ranges(struct cct_build *b)
{
	uint64_t share = b->range_bytes;
	struct cct_range r = {0};

	for (uint32_t c = 0; c < b->n_ctxs; c++) {
		if (c > r.from &&
		    (r.n_bytes + b->n_bytes[c] > share || c - r.from == RANGE_CTXS_MAX)) {
			vec_push(&b->ranges, r);
			r = (struct cct_range){.from = c};
		}
		r.n_bytes += b->n_bytes[c];
		r.to = c + 1;
	}
	if (b->n_ctxs)
		vec_push(&b->ranges, r);
}

/* FORMATS.md 4.0, "cct.db version 4.0"; observed: hpcprof begins the section at 0x30. */
static int write_head(struct cct_build *b, struct err *err)
{
	uint8_t head[AT_CI] = {0};

	memcpy(head, hpc_cct_frame.magic, 14);
	head[0x0e] = HPC_MAJOR;
	head[0x0f] = HPC_MINOR;
	hpc_put64(head + 0x10, AT_CI - AT_INFO + (uint64_t)SZ_CI * b->n_ctxs);
	hpc_put64(head + 0x18, AT_INFO);
	hpc_put64(head + AT_INFO, AT_CI);
	hpc_put32(head + AT_INFO + 0x08, b->n_ctxs);
	head[AT_INFO + 0x0c] = SZ_CI;
	return hpc_out_write(&b->out, 0, head, sizeof(head), err);
}

/* Adds up what all threads of all processes have counted. */
static int add_counts(struct cct_build *b, const struct cct_worker *workers, struct err *err)
{
	const struct hpc_share *s = b->o.share;

	for (uint32_t c = 0; c < b->n_ctxs; c++)
		for (unsigned i = 0; i < b->n_threads; i++)
			b->n_bytes[c] += workers[i].per_ctx[c];
	if (s && s->sum(s->user, b->n_bytes, b->n_ctxs))
		return hpc_out_fail(&b->out, -EIO, err, "%s: another process failed", b->out.name);
	for (uint32_t c = 0; c < b->n_ctxs; c++)
		b->all_bytes += b->n_bytes[c];
	return 0;
}

static int cct_finish(struct cct_build *b, struct err *err)
{
	bool first = !b->o.share || b->o.share->rank == 0;
	int rc = 0;

	if (first) {
		/* Where the last range ends is known when it is its turn. */
		rc = hpc_out_begin_turn(&b->out, b->ranges.n, err);
		if (rc >= 0)
			pthread_mutex_unlock(&b->out.lock);
	}
	if (rc >= 0)
		rc = hpc_out_meet(&b->out, err);
	if (rc < 0 || !first)
		return rc;
	rc = write_head(b, err);
	return rc < 0 ? rc : hpc_out_finish(&b->out, hpc_cct_frame.footer, err);
}

static int write_cct_build(struct cct_build *b, struct cct_worker *workers, struct err *err)
{
	int rc;

	for (unsigned i = 0; i < b->n_threads; i++)
		cct_worker_init(&workers[i], b);
	b->workers = workers;
	b->n_bytes = xcalloc(b->n_ctxs + 1u, sizeof(uint64_t));
	rc = cct_run(b, workers, cct_count, err);
	if (rc >= 0)
		rc = add_counts(b, workers, err);
	if (rc < 0)
		return rc;
	cut_ranges(b);
	b->out.n_turns = b->ranges.n;
	if (b->o.ranges)
		b->o.ranges(b->o.to, (uint32_t)b->ranges.n);
	rc = cct_run(b, workers, transpose, err);
	return rc < 0 ? rc : cct_finish(b, err);
}

int hpc_cct_build(int dirfd, const char *name, const struct hpc_profile_db *db, uint32_t n_ctxs,
		  const struct hpc_cct_options *o, struct err *err)
{
	struct cct_build b = {.db = db, .n_ctxs = n_ctxs};
	struct cct_worker *workers;
	int rc = 0;

	if (o)
		b.o = *o;
	if (!b.o.memory_bytes)
		b.o.memory_bytes = (size_t)256 << 20;
	b.n_threads = b.o.n_threads ? b.o.n_threads : 1;
	if (!n_ctxs)
		rc = find_n_ctxs(db, &b.n_ctxs, err);
	if (rc >= 0 && b.n_ctxs > N_CTXS_MAX)
		rc = err_set(err, -E2BIG, "%s: more than %d contexts do not fit a section of 2 GB",
			     name, N_CTXS_MAX);
	if (rc >= 0)
		rc = hpc_out_open(&b.out, dirfd, name, AT_CI + (uint64_t)SZ_CI * b.n_ctxs,
				  b.o.share, UINT64_MAX, err);
	if (rc < 0)
		return rc;
	workers = xcalloc(b.n_threads, sizeof(*workers));
	rc = plan(&b, dirfd, err);
	if (rc >= 0)
		rc = write_cct_build(&b, workers, err);
	cct_parts_close(&b, workers);
	hpc_out_close(&b.out);
	for (unsigned i = 0; i < b.n_threads; i++)
		cct_worker_release(&workers[i]);
	free(workers);
	free(b.n_bytes);
	vec_release(&b.ranges);
	return rc;
}
