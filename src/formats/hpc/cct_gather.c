/* SPDX-License-Identifier: BSD-2-Clause */
/* cct.db out of profile.db, first half: reading (see cct_write.c). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "formats/hpc/cct_impl.h"
#include "formats/hpc/frame.h"

enum {
	PAGE_BYTES = 1 << 16, /* a multiple of any page's size */
	GIVE_BACK_BYTES = 32 << 20,
	AHEAD = 8, /* contexts by which memory is fetched ahead */
};

/* A walk over the contexts of a profile.  hpc_profile_ctx does the same for one; this is the
 * heart of the transposition, where a value may cost some nanoseconds. */
struct walk {
	const struct hpc_profile *p;
	const uint8_t *idx;	  /* {Idx} of the next context */
	uint32_t left;		  /* contexts to come */
	uint32_t ctxId;		  /* of the one stepped on */
	uint64_t start, n_values; /* its values */
	int64_t last;		  /* the ctxId before */
	bool begun;
};

static void walk_begin(struct walk *it, const struct hpc_profile *p, uint32_t i)
{
	*it = (struct walk){
		.p = p, .idx = p->ctxIndices + (size_t)CCT_PROFILE_IDX * i, .left = p->nCtxs - i};
}

/* Says what is wrong with the {Idx} just stepped on. */
static int walk_refuse(const struct cct_build *b, const struct walk *it, struct err *err)
{
	uint64_t at = (uint64_t)(it->idx - CCT_PROFILE_IDX - b->db->bytes);

	if ((int64_t)it->ctxId <= it->last)
		return hpc_bad(err, b->db->name, at, "{Idx}", "ctxId", "%u comes after %" PRId64,
			       it->ctxId, it->last);
	if (it->ctxId >= b->n_ctxs)
		return hpc_bad(err, b->db->name, at, "{Idx}", "ctxId", "%u, but there are %u",
			       it->ctxId, b->n_ctxs);
	return hpc_bad(err, b->db->name, at + 4, "{Idx}", "startIndex",
		       "%" PRIu64 " begins no range of %" PRIu64 " values with distinct metrics",
		       it->start, it->p->nValues);
}

/* Steps on the next context: 1, or 0 after the last, or -EBADMSG. */
static inline int walk_next(const struct cct_build *b, struct walk *it, struct err *err)
{
	uint64_t end;

	if (it->left == 0)
		return 0;
	it->last = it->begun ? (int64_t)it->ctxId : -1;
	it->begun = true;
	it->ctxId = hpc_le32(it->idx);
	it->start = hpc_le64(it->idx + 4);
	it->idx += CCT_PROFILE_IDX;
	it->left--;
	end = it->left ? hpc_le64(it->idx + 4) : it->p->nValues;
	it->n_values = end - it->start;
	if ((int64_t)it->ctxId <= it->last || it->ctxId >= b->n_ctxs || end > it->p->nValues ||
	    it->n_values > UINT16_MAX + 1u)
		return walk_refuse(b, it, err);
	return 1;
}

static int count_profile(struct cct_worker *w, uint32_t index)
{
	struct hpc_profile p;
	struct walk it;
	int rc = hpc_profile_open(&p, w->b->db, index, &w->err);

	if (rc || p.isSummary)
		return rc;
	walk_begin(&it, &p, 0);
	while ((rc = walk_next(w->b, &it, &w->err)) > 0)
		if (it.n_values)
			w->per_ctx[it.ctxId] += CCT_RUN + CCT_PROFILE_VAL * it.n_values;
	return rc;
}

/* The pages of the mapped file from *FROM to where profile INDEX has its values go back to the
 * system, when they are many; they stay in the page cache.  Profiles need not lie in order, then
 * less is given back. */
static void give_back(const struct cct_build *b, uint32_t index, uint64_t *from)
{
	struct hpc_profile p;
	uint64_t to;

	if (!b->o.mapped || hpc_profile_open(&p, b->db, index, NULL))
		return;
	to = p.pValues & ~(uint64_t)(PAGE_BYTES - 1);
	if (to < *from)
		*from = to;
	if (to - *from < GIVE_BACK_BYTES)
		return;
	madvise((void *)(b->db->bytes + *from), to - *from, MADV_DONTNEED);
	*from = to;
}

void *cct_count(void *arg)
{
	struct cct_worker *w = arg;
	struct cct_build *b = w->b;
	uint64_t given_back = 0;

	for (;;) {
		uint32_t from = atomic_fetch_add(&b->next_profile, CCT_SHARE);

		if (from >= b->db->nProfiles || hpc_out_failed(&b->out, NULL))
			return NULL;
		if (!hpc_out_is_mine(&b->out, from / CCT_SHARE))
			continue;
		for (uint32_t i = from; i < b->db->nProfiles && i < from + CCT_SHARE; i++) {
			w->rc = count_profile(w, i);
			if (w->rc) {
				hpc_out_fail(&b->out, w->rc, NULL, "%s", w->err.msg);
				return NULL;
			}
		}
		give_back(b, from, &given_back);
	}
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

/* The file is not what it was when its contexts were counted. */
static int changed(struct cct_worker *w)
{
	return err_set(&w->err, -EBADMSG, "%s: changes while it is read", w->b->db->name);
}

/* Copies N values; nearly always some few. */
static inline void copy_values(uint8_t *to, const uint8_t *from, uint64_t n)
{
	if (n > 16) {
		memcpy(to, from, CCT_PROFILE_VAL * n);
		return;
	}
	for (; n; n--, to += CCT_PROFILE_VAL, from += CCT_PROFILE_VAL)
		memcpy(to, from, CCT_PROFILE_VAL);
}

/* Has the memory fetched that a context some steps ahead will be gathered to. */
static inline void fetch_ahead(const struct cct_worker *w, const struct walk *it, uint32_t to)
{
	if (it->left > 2 * AHEAD) {
		uint32_t far = hpc_le32(it->idx + (size_t)CCT_PROFILE_IDX * 2 * AHEAD);
		uint32_t near = hpc_le32(it->idx + (size_t)CCT_PROFILE_IDX * AHEAD);

		__builtin_prefetch(&w->per_ctx[far < to ? far : 0], 1);
		__builtin_prefetch(w->runs + w->per_ctx[near < to ? near : 0], 1);
	}
}

/* Copies what profile INDEX has in range R to the contexts' places. */
static int gather_profile(struct cct_worker *w, const struct cct_range *r, uint32_t index)
{
	struct hpc_profile p;
	struct walk it;
	int rc = hpc_profile_open(&p, w->b->db, index, &w->err);

	if (rc || p.isSummary)
		return rc;
	walk_begin(&it, &p, hpc_profile_ctx_from(&p, r->from));
	while ((rc = walk_next(w->b, &it, &w->err)) > 0 && it.ctxId < r->to) {
		uint64_t *at = &w->per_ctx[it.ctxId], n = CCT_RUN + CCT_PROFILE_VAL * it.n_values;
		uint8_t *run = w->runs + *at;

		fetch_ahead(w, &it, r->to);
		if (!it.n_values)
			continue;
		if (it.ctxId < r->from || *at > r->n_bytes || n > r->n_bytes - *at)
			return changed(w);
		hpc_put32(run, index);
		hpc_put32(run + 4, (uint32_t)it.n_values);
		copy_values(run + CCT_RUN, p.values + CCT_PROFILE_VAL * it.start, it.n_values);
		*at += n;
	}
	return rc < 0 ? rc : 0;
}

int cct_gather(struct cct_worker *w, const struct cct_range *r)
{
	uint64_t at = 0, from = 0;

	reserve_runs(w, r->n_bytes);
	for (uint32_t c = r->from; c < r->to; c++) {
		w->per_ctx[c] = at;
		at += w->b->n_bytes[c];
	}
	for (uint32_t i = 0; i < w->b->db->nProfiles; i++) {
		int rc = gather_profile(w, r, i);

		if (!rc && i % 1024 == 1023)
			rc = hpc_out_failed(&w->b->out, &w->err);
		if (rc)
			return rc;
		if (i % CCT_SHARE == CCT_SHARE - 1)
			give_back(w->b, i, &from);
	}
	at = 0;
	for (uint32_t c = r->from; c < r->to; c++) {
		at += w->b->n_bytes[c];
		if (w->per_ctx[c] != at)
			return changed(w);
	}
	return 0;
}
