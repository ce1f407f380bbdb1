/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.db written, by many threads at once.
 *
 *     00  header
 *     30  Profile Info section: header, then {PI} of profiles 0, 1, ... at 40
 *         Identifier Tuple section
 *         value blocks of profiles 1, 2, ..., 0: values, then context indices
 *         footer
 *
 * The sections come first, since viewers keep their places in 32 bits; what can be large follows. A
 * block is encoded while its values are added (hpc_profile_block_add), so a put is one pwrite.
 * Blocks, {PI}s and tuples come in one order (see out.h), hence the latter two are gathered in
 * small buffers.  The header of the file and {PI} 0 are written at the end, the footer last; a
 * settled file has both for the time being. */
#include "hpc/write/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "formats/hpc/frame.h"
#include "hpc/write/out.h"

enum { SZ_VAL = 10, SZ_IDX = 12, SZ_TUPLE_HDR = 8, SZ_ID = 16 };
enum { AT_INFOS = 0x30, AT_PI = 0x40, SZ_PI_MAX = 0x30 };

/* A profile that waits for the others of its deal. */
struct pending {
	uint32_t index;
	struct hpc_id *ids;
	size_t n_ids;
	struct hpc_profile_block block;
};

struct hpc_profile_writer {
	struct hpc_out out;
	VEC(struct pending) pending;
	VEC(struct hpc_profile_block) spare; /* memory of blocks that were put */
	enum hpc_layout layout;
	uint32_t n_profiles;
	unsigned szProfile;
	uint64_t at_tuples, sz_tuples; /* what is reserved for them */
	struct hpc_out_run infos, tuples;
	uint8_t summary[SZ_PI_MAX]; /* {PI} 0 */
};

void hpc_profile_block_grow(struct hpc_profile_block *b)
{
	if (b->n_values == b->cap_values) {
		b->cap_values = b->cap_values * 2 + 1024;
		b->values = xrealloc(b->values, b->cap_values, SZ_VAL);
	}
	if (b->n_ctxs == b->cap_ctxs) {
		b->cap_ctxs = b->cap_ctxs < UINT32_MAX / 2 ? b->cap_ctxs * 2 + 256 : UINT32_MAX;
		b->ctxIndices = xrealloc(b->ctxIndices, b->cap_ctxs, SZ_IDX);
	}
}

void hpc_profile_block_append(struct hpc_profile_block *b, const struct hpc_profile_block *more)
{
	size_t n_values = b->n_values + more->n_values, n_ctxs = (size_t)b->n_ctxs + more->n_ctxs;

	if (n_values > b->cap_values) {
		b->cap_values = n_values + n_values / 2;
		b->values = xrealloc(b->values, b->cap_values, SZ_VAL);
	}
	if (n_ctxs > b->cap_ctxs) {
		b->cap_ctxs = (uint32_t)(n_ctxs + n_ctxs / 2);
		b->ctxIndices = xrealloc(b->ctxIndices, b->cap_ctxs, SZ_IDX);
	}
	if (more->n_values)
		memcpy(b->values + SZ_VAL * b->n_values, more->values, SZ_VAL * more->n_values);
	for (uint32_t i = 0; i < more->n_ctxs; i++) {
		const uint8_t *from = more->ctxIndices + SZ_IDX * (size_t)i;
		uint8_t *to = b->ctxIndices + SZ_IDX * ((size_t)b->n_ctxs + i);

		hpc_put32(to, hpc_le32(from));
		hpc_put64(to + 4, hpc_le64(from + 4) + b->n_values);
	}
	b->n_values = n_values;
	b->n_ctxs = (uint32_t)n_ctxs;
}

void hpc_profile_block_reset(struct hpc_profile_block *b)
{
	b->n_values = 0;
	b->n_ctxs = 0;
}

void hpc_profile_block_release(struct hpc_profile_block *b)
{
	free(b->values);
	free(b->ctxIndices);
	*b = (struct hpc_profile_block){0};
}

/* Profiles that are dealt at a time: some deals for each process. */
static unsigned deal_of(const struct hpc_share *share, uint32_t n_profiles)
{
	unsigned n = n_profiles / (8 * share->size);

	return n < 1 ? 1 : n > 16 ? 16 : n;
}

unsigned hpc_profile_owner(const struct hpc_share *share, uint32_t index, uint32_t n_profiles)
{
	return hpc_share_owner(share, index - 1, n_profiles - 1, deal_of(share, n_profiles));
}

int hpc_profile_create(struct hpc_profile_writer **ret, int dirfd, const char *name,
		       enum hpc_layout layout, uint32_t n_profiles, uint64_t n_ids, struct err *err)
{
	return hpc_profile_create_shared(ret, dirfd, name, layout, n_profiles, n_ids, NULL, err);
}

int hpc_profile_create_shared(struct hpc_profile_writer **ret, int dirfd, const char *name,
			      enum hpc_layout layout, uint32_t n_profiles, uint64_t n_ids,
			      const struct hpc_share *share, struct err *err)
{
	unsigned szProfile = layout == HPC_PAGE ? 0x28 : 0x30;
	uint64_t sz_infos = (uint64_t)n_profiles * szProfile, sz_tuples;
	struct hpc_profile_writer *w;
	int rc;

	if (n_profiles == 0)
		return err_set(err, -EINVAL, "%s: must have a summary profile", name);
	sz_tuples = (uint64_t)(n_profiles - 1) * SZ_TUPLE_HDR + n_ids * SZ_ID;
	/* Observed: hpcviewer keeps places of sections as int. */
	if (n_ids > INT32_MAX / SZ_ID || AT_PI + sz_infos + sz_tuples > INT32_MAX)
		return err_set(err, -E2BIG,
			       "%s: %u profiles and %" PRIu64
			       " identifications do not fit sections of 2 GB",
			       name, n_profiles, n_ids);
	w = xcalloc(1, sizeof(*w));
	w->layout = layout;
	w->n_profiles = n_profiles;
	w->szProfile = szProfile;
	w->at_tuples = AT_PI + sz_infos;
	w->sz_tuples = sz_tuples;
	rc = hpc_out_open(&w->out, dirfd, name, w->at_tuples + sz_tuples, share, n_profiles - 1,
			  err);
	if (rc < 0) {
		hpc_profile_abandon(w);
		return rc;
	}
	w->out.also = w->at_tuples;
	w->out.deal = share ? deal_of(share, n_profiles) : 1;
	*ret = w;
	return 0;
}

/* The bytes of B as they stand in the file: values, padding, context indices.  *RET_GAP is the
 * distance from the values to the indices. */
static size_t join_block(struct hpc_profile_block *b, size_t *ret_gap)
{
	size_t gap = (b->n_values * SZ_VAL + 3) & ~(size_t)3; /* {Idx}xN*(4) */
	size_t n = gap + (size_t)b->n_ctxs * SZ_IDX;

	if (n > b->cap_values * SZ_VAL) {
		b->cap_values = (n + SZ_VAL - 1) / SZ_VAL;
		b->values = xrealloc(b->values, b->cap_values, SZ_VAL);
	}
	if (b->n_ctxs) {
		memset(b->values + b->n_values * SZ_VAL, 0, gap - b->n_values * SZ_VAL);
		memcpy(b->values + gap, b->ctxIndices, (size_t)b->n_ctxs * SZ_IDX);
	}
	*ret_gap = gap;
	return n;
}

/* FORMATS.md 4.0, "profile.db Profile Info section" {PI}; the released one has flags at 0x28. */
static void encode_info(uint8_t pi[SZ_PI_MAX], const struct hpc_profile_block *b, uint64_t at,
			size_t gap, uint64_t pIdTuple, bool isSummary)
{
	memset(pi, 0, SZ_PI_MAX);
	hpc_put64(pi, b->n_values);
	hpc_put64(pi + 0x08, at);
	hpc_put32(pi + 0x10, b->n_ctxs);
	hpc_put64(pi + 0x18, at + gap);
	hpc_put64(pi + 0x20, pIdTuple);
	hpc_put32(pi + 0x28, isSummary);
}

/* Within the turn of the profile.  *RET_P is where the tuple stands, 0 for none. */
static int put_ids(struct hpc_profile_writer *w, const struct hpc_id *ids, size_t n_ids,
		   uint64_t *ret_p, struct err *err)
{
	uint8_t tuple[SZ_TUPLE_HDR] = {0}, id[SZ_ID];
	uint64_t at = w->out.also;
	int rc;

	*ret_p = 0;
	if (n_ids == 0)
		return 0;
	*ret_p = at;
	hpc_put16(tuple, (uint16_t)n_ids);
	rc = hpc_out_gather(&w->out, &w->tuples, at, tuple, sizeof(tuple), err);
	at += sizeof(tuple);
	for (size_t i = 0; i < n_ids && rc >= 0; i++, at += sizeof(id)) {
		memset(id, 0, sizeof(id));
		id[0] = ids[i].kind;
		hpc_put16(id + 2, ids[i].flags);
		hpc_put32(id + 4, ids[i].logicalId);
		hpc_put64(id + 8, ids[i].physicalId);
		rc = hpc_out_gather(&w->out, &w->tuples, at, id, sizeof(id), err);
	}
	w->out.also = at;
	return rc;
}

static int put_now(struct hpc_profile_writer *w, uint32_t index, const struct hpc_id *ids,
		   size_t n_ids, struct hpc_profile_block *b, struct err *err)
{
	uint64_t turn = index ? index - 1 : w->n_profiles - 1, at, pIdTuple;
	uint8_t pi[SZ_PI_MAX];
	size_t gap, n;
	int rc;

	n = join_block(b, &gap);
	rc = hpc_out_begin_turn(&w->out, turn, err);
	if (rc < 0)
		return rc;
	if (n_ids > UINT16_MAX ||
	    (n_ids && w->out.also + SZ_TUPLE_HDR + n_ids * SZ_ID > w->at_tuples + w->sz_tuples)) {
		hpc_out_end_turn(&w->out);
		return hpc_out_fail(&w->out, -E2BIG, err,
				    "%s: more identifications than were announced", w->out.name);
	}
	at = hpc_out_take(&w->out, n, 4);
	rc = put_ids(w, ids, n_ids, &pIdTuple, err);
	encode_info(pi, b, at, gap, pIdTuple, index == HPC_SUMMARY_PROFILE);
	if (index == HPC_SUMMARY_PROFILE)
		memcpy(w->summary, pi, sizeof(pi));
	else if (rc >= 0)
		rc = hpc_out_gather(&w->out, &w->infos, AT_PI + (uint64_t)index * w->szProfile, pi,
				    w->szProfile, err);
	hpc_out_end_turn(&w->out);
	return rc < 0 ? rc : hpc_out_write(&w->out, at, b->values, n, err);
}

static int by_index(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

/* Takes those of deal number DEAL out of what waits when they are all there:
 * RET, which is empty. */
static void take_deal(struct hpc_profile_writer *w, uint64_t deal, size_t size, struct pending *ret,
		      size_t *ret_n)
{
	size_t n = 0, left = 0;

	vec_each (p, &w->pending)
		n += (p->index - 1) / w->out.deal == deal;
	*ret_n = n == size ? n : 0;
	n = 0;
	for (size_t i = 0; *ret_n && i < w->pending.n; i++)
		if ((w->pending.v[i].index - 1) / w->out.deal == deal)
			ret[n++] = w->pending.v[i];
		else
			w->pending.v[left++] = w->pending.v[i];
	if (*ret_n)
		w->pending.n = left;
}

static void pending_release(struct pending *p)
{
	free(p->ids);
	hpc_profile_block_release(&p->block);
}

/* Keeps the profile until the rest of its deal is there; the last one puts all. */
static int put_later(struct hpc_profile_writer *w, uint32_t index, const struct hpc_id *ids,
		     size_t n_ids, struct hpc_profile_block *b, struct err *err)
{
	uint64_t deal = (index - 1) / w->out.deal, left = w->out.n_turns - deal * w->out.deal;
	struct pending own = {.index = index, .n_ids = n_ids, .block = *b}, *all;
	int rc = 0;
	size_t n;

	own.ids = n_ids ? xmemdup(ids, n_ids * sizeof(*ids)) : NULL;
	all = xcalloc(w->out.deal, sizeof(*all));
	pthread_mutex_lock(&w->out.lock);
	*b = w->spare.n ? w->spare.v[--w->spare.n] : (struct hpc_profile_block){0};
	b->n_values = own.block.n_values;
	vec_push(&w->pending, own);
	take_deal(w, deal, left < w->out.deal ? left : w->out.deal, all, &n);
	pthread_mutex_unlock(&w->out.lock);
	qsort(all, n, sizeof(*all), by_index);
	for (size_t i = 0; i < n; i++) {
		if (rc >= 0)
			rc = put_now(w, all[i].index, all[i].ids, all[i].n_ids, &all[i].block, err);
		free(all[i].ids);
		hpc_profile_block_reset(&all[i].block);
	}
	pthread_mutex_lock(&w->out.lock);
	for (size_t i = 0; i < n; i++)
		vec_push(&w->spare, all[i].block);
	pthread_mutex_unlock(&w->out.lock);
	free(all);
	return rc;
}

int hpc_profile_put(struct hpc_profile_writer *w, uint32_t index, const struct hpc_id *ids,
		    size_t n_ids, struct hpc_profile_block *b, struct err *err)
{
	if (index >= w->n_profiles)
		return hpc_out_fail(&w->out, -EINVAL, err, "%s: no place for profile %u",
				    w->out.name, index);
	return w->out.deal > 1 && index != HPC_SUMMARY_PROFILE
		       ? put_later(w, index, ids, n_ids, b, err)
		       : put_now(w, index, ids, n_ids, b, err);
}

void hpc_profile_cancel(struct hpc_profile_writer *w)
{
	hpc_out_fail(&w->out, -ECANCELED, NULL, "%s: given up", w->out.name);
}

/* Writes the header of the file and {PI} 0. */
static int write_head(struct hpc_profile_writer *w, struct err *err)
{
	uint8_t head[AT_PI + SZ_PI_MAX] = {0};

	memcpy(head, hpc_profile_frame.magic, 14);
	head[0x0e] = HPC_MAJOR;
	head[0x0f] = HPC_MINOR;
	hpc_put64(head + 0x10, AT_PI - AT_INFOS + (uint64_t)w->n_profiles * w->szProfile);
	hpc_put64(head + 0x18, AT_INFOS);
	hpc_put64(head + 0x20, w->out.also - w->at_tuples);
	hpc_put64(head + 0x28, w->at_tuples);
	hpc_put64(head + AT_INFOS, AT_PI);
	hpc_put32(head + AT_INFOS + 0x08, w->n_profiles);
	head[AT_INFOS + 0x0c] = (uint8_t)w->szProfile;
	memcpy(head + AT_PI, w->summary, w->szProfile);
	return hpc_out_write(&w->out, 0, head, AT_PI + w->szProfile, err);
}

static bool is_first(const struct hpc_profile_writer *w)
{
	return !w->out.share || w->out.share->rank == 0;
}

/* Waits until all but the summary is written, by whoever writes it. */
static int wait_for_all(struct hpc_profile_writer *w, struct err *err)
{
	int rc = hpc_out_failed(&w->out, err);

	if (rc >= 0)
		rc = hpc_out_flush(&w->out, &w->infos, err);
	if (rc >= 0)
		rc = hpc_out_flush(&w->out, &w->tuples, err);
	if (rc >= 0 && is_first(w) && w->out.share) {
		rc = hpc_out_begin_turn(&w->out, w->n_profiles - 1, err);
		if (rc >= 0)
			pthread_mutex_unlock(&w->out.lock);
	}
	return rc < 0 ? rc : hpc_out_meet(&w->out, err);
}

int hpc_profile_settle(struct hpc_profile_writer *w, struct err *err)
{
	int rc = wait_for_all(w, err);

	if (rc >= 0 && w->out.turn + 1 < w->n_profiles && is_first(w))
		rc = err_set(err, -EINVAL, "%s: %" PRIu64 " of %u profiles were put", w->out.name,
			     w->out.turn, w->n_profiles);
	if (rc >= 0 && is_first(w)) {
		encode_info(w->summary, &(struct hpc_profile_block){0}, 0, 0, 0, true);
		rc = write_head(w, err);
		if (rc >= 0)
			rc = hpc_out_write(&w->out, w->out.end, hpc_profile_frame.footer, 8, err);
	}
	return rc < 0 ? rc : hpc_out_meet(&w->out, err);
}

int hpc_profile_finish(struct hpc_profile_writer *w, struct err *err)
{
	int rc = hpc_out_failed(&w->out, err);

	if (rc >= 0 && is_first(w) && w->out.turn != w->n_profiles)
		rc = err_set(err, -EINVAL, "%s: %" PRIu64 " of %u profiles were put", w->out.name,
			     w->out.turn, w->n_profiles);
	if (rc >= 0)
		rc = hpc_out_flush(&w->out, &w->infos, err);
	if (rc >= 0)
		rc = hpc_out_flush(&w->out, &w->tuples, err);
	if (rc >= 0 && is_first(w))
		rc = write_head(w, err);
	if (rc >= 0 && is_first(w))
		rc = hpc_out_finish(&w->out, hpc_profile_frame.footer, err);
	hpc_profile_abandon(w);
	return rc;
}

void hpc_profile_abandon(struct hpc_profile_writer *w)
{
	if (!w)
		return;
	vec_each (p, &w->pending)
		pending_release(p);
	vec_each (spare, &w->spare)
		hpc_profile_block_release(spare);
	vec_release(&w->pending);
	vec_release(&w->spare);
	hpc_out_close(&w->out);
	free(w);
}
