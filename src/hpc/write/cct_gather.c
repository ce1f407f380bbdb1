/* SPDX-License-Identifier: BSD-2-Clause */
/* cct.db out of profile.db, first half: reading (see cct.c). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/file.h"
#include "hpc/write/cct_impl.h"
#include "formats/hpc/frame.h"

enum {
	ENTRIES = 4096,			      /* {Idx} read at a time */
	VALUES_BYTES = 10 * (UINT16_MAX + 1), /* values read at a time; those of a context fit */
	SKIPS = 8, /* times that entries are read to get to a range before it is sought */
	AHEAD = 8, /* contexts by which memory is fetched ahead */
};

void cct_worker_init(struct cct_worker *w, struct cct_build *b)
{
	w->b = b;
	w->per_ctx = xcalloc(b->n_ctxs + 1u, sizeof(*w->per_ctx));
	if (b->n_parts)
		w->parts = xcalloc(b->n_parts, sizeof(*w->parts));
	else
		w->reached = xcalloc((size_t)b->db->nProfiles + 1, sizeof(*w->reached));
	if (!b->o.fd)
		return;
	w->entries = xmalloc((size_t)CCT_PROFILE_IDX * (ENTRIES + 1));
	w->values = xmalloc(VALUES_BYTES);
}

void cct_worker_release(struct cct_worker *w)
{
	free(w->reached);
	free(w->entries);
	free(w->values);
	free(w->per_ctx);
	free(w->runs);
	free(w->ci);
	free(w->next);
	vec_release(&w->indices);
	vec_release(&w->block);
	vec_release(&w->metrics);
}

/* N bytes of profile.db at OFF, which lie in it: where they are, or read to BUFFER. NULL when they
 * cannot be read. */
static const uint8_t *read_piece(struct cct_worker *w, uint64_t off, size_t n, uint8_t *buffer)
{
	const struct cct_build *b = w->b;
	int rc;

	if (!b->o.fd) /* where nothing is, OFF can be anything */
		return b->db->bytes + (n ? off : 0);
	rc = file_pread_all(b->o.fd, buffer, n, off);
	if (rc >= 0)
		return buffer;
	err_errno(&w->err, rc, "%s: read", b->db->name);
	return NULL;
}

/* Some contexts of a profile that follow each other. */
struct entries {
	const struct hpc_profile *p;
	const uint8_t *idx; /* their {Idx} */
	uint32_t first, n;  /* from number FIRST on */
	uint64_t end;	    /* of the last one's values */
	int64_t last;	    /* the ctxId before the next one that is looked at; -1: not known */
};

/* Reads up to MAX entries of E's profile from number FIRST on. */
static int read_entries(struct cct_worker *w, struct entries *e, uint32_t first, uint32_t max)
{
	const struct hpc_profile *p = e->p;
	uint32_t n = p->nCtxs - first, more;

	if (w->b->o.fd && max > ENTRIES)
		max = ENTRIES;
	e->first = first;
	e->n = n < max ? n : max;
	more = n > e->n; /* the next one says where the last one ends */
	e->end = p->nValues;
	e->idx = read_piece(w, p->pCtxIndices + (uint64_t)CCT_PROFILE_IDX * first,
			    (size_t)CCT_PROFILE_IDX * (e->n + more), w->entries);
	if (!e->idx)
		return -EIO;
	if (more)
		e->end = hpc_le64(e->idx + (size_t)CCT_PROFILE_IDX * e->n + 4);
	return 0;
}

/* Says what is wrong with entry K. */
static int refuse_entry(struct cct_worker *w, const struct entries *e, uint32_t k)
{
	const struct cct_build *b = w->b;
	const uint8_t *idx = e->idx + (size_t)CCT_PROFILE_IDX * k;
	uint64_t at = e->p->pCtxIndices + (uint64_t)CCT_PROFILE_IDX * (e->first + k);
	uint32_t ctxId = hpc_le32(idx);

	if ((int64_t)ctxId <= e->last)
		return hpc_bad(&w->err, b->db->name, at, "{Idx}", "ctxId",
			       "%u comes after %" PRId64, ctxId, e->last);
	if (ctxId >= b->n_ctxs)
		return hpc_bad(&w->err, b->db->name, at, "{Idx}", "ctxId", "%u, but there are %u",
			       ctxId, b->n_ctxs);
	return hpc_bad(&w->err, b->db->name, at + 4, "{Idx}", "startIndex",
		       "%" PRIu64 " begins no range of %" PRIu64 " values with distinct metrics",
		       hpc_le64(idx + 4), e->p->nValues);
}

struct entry {
	uint32_t ctxId;
	uint64_t start, n; /* values */
};

/* Entry K of E, which hpc_profile_ctx would decode too; this is the heart of the transposition,
 * where a value may cost some nanoseconds.  -EBADMSG when it is damaged. */
static inline int look_at(struct cct_worker *w, struct entries *e, uint32_t k, struct entry *ret)
{
	const uint8_t *idx = e->idx + (size_t)CCT_PROFILE_IDX * k;
	uint64_t end = k + 1 < e->n ? hpc_le64(idx + CCT_PROFILE_IDX + 4) : e->end;

	ret->ctxId = hpc_le32(idx);
	ret->start = hpc_le64(idx + 4);
	ret->n = end - ret->start;
	if ((int64_t)ret->ctxId <= e->last || ret->ctxId >= w->b->n_ctxs || end > e->p->nValues ||
	    ret->start > end || ret->n > UINT16_MAX + 1u)
		return refuse_entry(w, e, k);
	e->last = ret->ctxId;
	return 0;
}

/* Looks at the entries of E from number K on that are in range R and whose values fit a buffer:
 * *RET_END is the one behind the last. */
static int look_at_some(struct cct_worker *w, struct entries *e, uint32_t k,
			const struct cct_range *r, uint32_t *ret_end)
{
	uint64_t n = 0;
	struct entry it;

	for (; k < e->n; k++) {
		int64_t last = e->last;
		int rc = look_at(w, e, k, &it);

		if (rc < 0)
			return rc;
		n += it.n;
		if (it.ctxId >= r->to || CCT_PROFILE_VAL * n > VALUES_BYTES) {
			e->last = last;
			break;
		}
	}
	*ret_end = k;
	return 0;
}

/* The number of the first value of entry K, or of the first one behind E. */
static uint64_t start_of(const struct entries *e, uint32_t k)
{
	return k < e->n ? hpc_le64(e->idx + (size_t)CCT_PROFILE_IDX * k + 4) : e->end;
}

/* The values of entries [K, END), which were looked at. */
static const uint8_t *values_of(struct cct_worker *w, const struct entries *e, uint32_t k,
				uint32_t end)
{
	uint64_t start = start_of(e, k);

	return read_piece(w, e->p->pValues + CCT_PROFILE_VAL * start,
			  CCT_PROFILE_VAL * (start_of(e, end) - start), w->values);
}

/* Counts entries [K, END) of E, and adds their values to the file between if there is one. */
static int count_some(struct cct_worker *w, const struct entries *e, uint32_t k, uint32_t end)
{
	const uint8_t *values = w->b->n_parts ? values_of(w, e, k, end) : NULL;
	uint64_t next = start_of(e, k);
	int rc = 0;

	if (w->b->n_parts && !values)
		return -EIO;
	for (; k < end && rc >= 0; k++) {
		uint32_t ctxId = hpc_le32(e->idx + (size_t)CCT_PROFILE_IDX * k);
		uint64_t start = next, n;

		next = start_of(e, k + 1);
		n = next - start;
		if (!n)
			continue;
		w->per_ctx[ctxId] += CCT_RUN + CCT_PROFILE_VAL * n;
		if (!values)
			continue;
		rc = cct_parts_add(w, e->p->index, ctxId, values, (uint32_t)n);
		values += CCT_PROFILE_VAL * n;
	}
	return rc;
}

static int count_profile(struct cct_worker *w, uint32_t index)
{
	const struct cct_range all = {.to = w->b->n_ctxs};
	struct hpc_profile p;
	struct entries e = {.p = &p, .last = -1};
	int rc = hpc_profile_open(&p, w->b->db, index, &w->err);

	if (rc < 0 || p.isSummary)
		return rc;
	while (rc >= 0 && e.first + e.n < p.nCtxs) {
		uint32_t end = 0;

		rc = read_entries(w, &e, e.first + e.n, p.nCtxs);
		for (uint32_t k = 0; rc >= 0 && k < e.n; k = end) {
			rc = look_at_some(w, &e, k, &all, &end);
			if (rc >= 0)
				rc = count_some(w, &e, k, end);
		}
	}
	return rc;
}

/* What was looked at of a mapped file, which are the infos of profiles, goes back to the system: it
 * stays in the page cache. */
static void give_back(const struct cct_build *b)
{
	if (b->o.fd)
		madvise((void *)b->db->bytes, b->db->n_bytes, MADV_DONTNEED);
}

void *cct_count(void *arg)
{
	struct cct_worker *w = arg;
	struct cct_build *b = w->b;

	for (;;) {
		uint32_t from = atomic_fetch_add(&b->next_profile, CCT_SHARE);

		if (from >= b->db->nProfiles || hpc_out_failed(&b->out, NULL))
			break;
		if (!hpc_out_is_mine(&b->out, from / CCT_SHARE))
			continue;
		for (uint32_t i = from; i < b->db->nProfiles && i < from + CCT_SHARE; i++) {
			w->rc = count_profile(w, i);
			if (w->rc < 0)
				break;
		}
		if (w->rc < 0)
			break;
	}
	if (w->rc >= 0)
		w->rc = cct_parts_flush(w);
	if (w->rc < 0)
		hpc_out_fail(&b->out, w->rc, NULL, "%s", w->err.msg);
	give_back(b);
	return NULL;
}

/* Makes W's buffer hold N bytes; large pages spare the gathering most of its TLB misses. */
static void reserve_runs(struct cct_worker *w, size_t n)
{
	const size_t huge = 2 << 20;

	if (n <= w->cap_runs)
		return;
	free(w->runs);
	w->cap_runs = (n + huge - 1) & ~(huge - 1);
	w->runs = aligned_alloc(huge, w->cap_runs);
	if (!w->runs)
		w->runs = xmalloc(w->cap_runs);
	madvise(w->runs, w->cap_runs, MADV_HUGEPAGE);
}

int cct_changed(struct cct_worker *w)
{
	return err_set(&w->err, -EBADMSG, "%s: changes while it is read", w->b->db->name);
}

/* Prefetches the memory that contexts some steps behind entry K will be gathered to. */
static inline void fetch_ahead(const struct cct_worker *w, const struct entries *e, uint32_t k,
			       uint32_t to)
{
	if (k + 2 * AHEAD < e->n) {
		const uint8_t *idx = e->idx + (size_t)CCT_PROFILE_IDX * k;
		uint32_t far = hpc_le32(idx + (size_t)CCT_PROFILE_IDX * 2 * AHEAD);
		uint32_t near = hpc_le32(idx + (size_t)CCT_PROFILE_IDX * AHEAD);

		__builtin_prefetch(&w->per_ctx[far < to ? far : 0], 1);
		__builtin_prefetch(w->runs + w->per_ctx[near < to ? near : 0], 1);
	}
}

/* Finds where range R begins in the profile, from what E holds on; *RET_K is the entry in E, the
 * end of E when there is none.  What lies between are ranges of other threads. */
static int find_range(struct cct_worker *w, struct entries *e, const struct cct_range *r,
		      uint32_t *ret_k)
{
	uint32_t k = 0, first;
	int rc = 0;

	for (unsigned n = 0; rc >= 0; n++) {
		while (k < e->n && hpc_le32(e->idx + (size_t)CCT_PROFILE_IDX * k) < r->from)
			k++;
		first = e->first + e->n;
		if (k < e->n || first == e->p->nCtxs)
			break;
		if (n == SKIPS)
			first = hpc_profile_ctx_from(e->p, r->from);
		if (first < e->first + e->n)
			return cct_changed(w);
		rc = read_entries(w, e, first, w->n_expected);
		k = 0;
	}
	*ret_k = k;
	return rc;
}

/* Copies the values of entries [K, END) of E to the contexts' places. */
static int gather_some(struct cct_worker *w, const struct cct_range *r, const struct entries *e,
		       uint32_t k, uint32_t end)
{
	const uint8_t *values = values_of(w, e, k, end);
	uint64_t next = start_of(e, k);
	int rc = values ? 0 : -EIO;

	for (; k < end && rc >= 0; k++) {
		uint64_t start = next, n;

		fetch_ahead(w, e, k, r->to);
		next = start_of(e, k + 1);
		n = next - start;
		if (n)
			rc = cct_put_run(w, r, e->p->index,
					 hpc_le32(e->idx + (size_t)CCT_PROFILE_IDX * k), values, n);
		values += CCT_PROFILE_VAL * n;
	}
	return rc;
}

/* Copies what profile INDEX has in range R to the contexts' places. */
static int gather_profile(struct cct_worker *w, const struct cct_range *r, uint32_t index)
{
	struct hpc_profile p;
	struct entries e = {.p = &p, .last = -1};
	uint32_t k = 0, end;
	int rc = hpc_profile_open(&p, w->b->db, index, &w->err);

	if (rc < 0 || p.isSummary || w->reached[index] >= p.nCtxs)
		return rc;
	rc = read_entries(w, &e, w->reached[index], w->n_expected);
	if (rc >= 0)
		rc = find_range(w, &e, r, &k);
	while (rc >= 0 && k < e.n) {
		rc = look_at_some(w, &e, k, r, &end);
		if (rc >= 0 && end > k)
			rc = gather_some(w, r, &e, k, end);
		if (rc < 0 || end == k) /* the next one is another range's */
			break;
		k = end;
		if (k == e.n && e.first + e.n < p.nCtxs) {
			rc = read_entries(w, &e, e.first + e.n, w->n_expected);
			k = 0;
		}
	}
	w->reached[index] = e.first + k;
	return rc;
}

/* How many contexts of a full range a profile is expected to have, at most, on the mean: reading
 * some more costs less than reading twice. */
static uint32_t n_expected(const struct cct_build *b)
{
	uint64_t n =
		b->range_bytes / (CCT_RUN + CCT_PROFILE_VAL) / (b->db->nProfiles + (uint64_t)1);

	return n < ENTRIES - 16 ? (uint32_t)n + 16 : ENTRIES;
}

/* Visits the range in each profile. */
static int visit_profiles(struct cct_worker *w, const struct cct_range *r)
{
	int rc = 0;

	w->n_expected = n_expected(w->b);
	for (uint32_t i = 0; i < w->b->db->nProfiles && rc >= 0; i++) {
		rc = gather_profile(w, r, i);
		if (rc >= 0 && i % 1024 == 1023)
			rc = hpc_out_failed(&w->b->out, &w->err);
	}
	give_back(w->b);
	return rc;
}

int cct_gather(struct cct_worker *w, const struct cct_range *r)
{
	uint64_t at = 0;
	int rc;

	reserve_runs(w, r->n_bytes);
	for (uint32_t c = r->from; c < r->to; c++) {
		w->per_ctx[c] = at;
		at += w->b->n_bytes[c];
	}
	rc = w->b->n_parts ? cct_parts_gather(w, r) : visit_profiles(w, r);
	if (rc < 0)
		return rc;
	at = 0;
	for (uint32_t c = r->from; c < r->to; c++) {
		at += w->b->n_bytes[c];
		if (w->per_ctx[c] != at)
			return cct_changed(w);
	}
	return 0;
}
