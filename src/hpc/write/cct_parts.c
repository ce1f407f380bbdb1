/* SPDX-License-Identifier: BSD-2-Clause */
/* cct.db out of a profile.db of many small profiles (see cct.c): while contexts are counted,
 * values go to a nameless file, in parts of so many contexts each, so that a range of contexts is
 * gathered from its parts, which are read from their beginning to their end, instead of from some
 * few bytes of each profile.
 *
 * A thread gathers the values of each part in a buffer, which becomes a chunk of the file when it
 * is full.  As a thread's profiles come in order its chunks have them in order, and those of all
 * threads are merged by profile.
 *
 * A run here is profile, context and number of values (u32 each), then the values. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "hpc/write/cct_impl.h"

enum {
	RUN = 12,		/* what stands before a run's values */
	CHUNK_BYTES = 32 << 10, /* of a part, that are written at a time; a larger run is alone */
	PARTS_MAX = 512,
	PARTS_A_RANGE = 8, /* parts are smaller, as few are read for two ranges then */
	AHEAD = 8,	   /* runs by which memory is fetched ahead */
};

int cct_parts_open(struct cct_build *b, int dirfd, uint64_t n_bytes, uint64_t range_bytes,
		   struct err *err)
{
	uint64_t n = n_bytes / range_bytes * PARTS_A_RANGE + 1;

	n = n < PARTS_MAX ? n : PARTS_MAX;
	while (b->n_ctxs >> b->part_shift >= n)
		b->part_shift++;
	b->n_parts = (b->n_ctxs >> b->part_shift) + 1;
	b->parts_fd = file_open_nameless(dirfd, ".", err);
	return b->parts_fd < 0 ? b->parts_fd : 0;
}

void cct_parts_close(struct cct_build *b, struct cct_worker *workers)
{
	for (unsigned i = 0; i < b->n_threads; i++) {
		for (unsigned q = 0; workers[i].parts && q < b->n_parts; q++) {
			free(workers[i].parts[q].bytes);
			vec_release(&workers[i].parts[q].chunks);
		}
		free(workers[i].parts);
	}
	if (b->n_parts && b->parts_fd >= 0)
		close(b->parts_fd);
}

static int write_chunk(struct cct_worker *w, struct cct_part *part, const void *bytes, size_t n)
{
	uint64_t at = atomic_fetch_add(&w->b->parts_end, n);
	int rc = file_pwrite_all(w->b->parts_fd, bytes, n, at);

	if (rc < 0)
		return err_errno(&w->err, rc, "temporary file of %s: write", w->b->out.name);
	vec_push(&part->chunks, (struct cct_chunk){at, (uint32_t)n});
	return 0;
}

static uint8_t *put_run(uint8_t *to, uint32_t profile, uint32_t ctxId, const uint8_t *values,
			uint32_t n)
{
	hpc_put32(to, profile);
	hpc_put32(to + 4, ctxId);
	hpc_put32(to + 8, n);
	cct_copy_values(to + RUN, values, n);
	return to + RUN + (size_t)CCT_PROFILE_VAL * n;
}

int cct_parts_add(struct cct_worker *w, uint32_t profile, uint32_t ctxId, const uint8_t *values,
		  uint32_t n)
{
	struct cct_part *part = &w->parts[ctxId >> w->b->part_shift];
	size_t size = RUN + (size_t)CCT_PROFILE_VAL * n;
	uint8_t *alone;
	int rc = 0;

	if (part->n + size > CHUNK_BYTES && part->n) {
		rc = write_chunk(w, part, part->bytes, part->n);
		part->n = 0;
	}
	if (rc < 0)
		return rc;
	if (size > CHUNK_BYTES) {
		alone = xmalloc(size);
		put_run(alone, profile, ctxId, values, n);
		rc = write_chunk(w, part, alone, size);
		free(alone);
		return rc;
	}
	if (!part->bytes)
		part->bytes = xmalloc(CHUNK_BYTES);
	put_run(part->bytes + part->n, profile, ctxId, values, n);
	part->n += (uint32_t)size;
	return 0;
}

int cct_parts_flush(struct cct_worker *w)
{
	int rc = 0;

	for (unsigned q = 0; q < w->b->n_parts; q++) {
		struct cct_part *part = &w->parts[q];

		if (part->n && rc >= 0)
			rc = write_chunk(w, part, part->bytes, part->n);
		free(part->bytes);
		part->bytes = NULL;
		part->n = 0;
	}
	return rc;
}

/* The chunks that one thread has written of a part. */
struct stream {
	const struct cct_part *part;
	size_t chunk; /* the next one */
	uint8_t *bytes;
	size_t cap;
	const uint8_t *at, *end, *ahead;
};

static const uint8_t *next_run(const uint8_t *run)
{
	return run + RUN + (size_t)CCT_PROFILE_VAL * hpc_le32(run + 8);
}

/* Reads the next chunk when one is done with. */
static int cct_parts_fill(struct cct_worker *w, struct stream *s)
{
	const struct cct_chunk *c;
	int rc;

	if (s->at < s->end || s->chunk == s->part->chunks.n)
		return 0;
	c = &s->part->chunks.v[s->chunk++];
	if (c->n > s->cap) {
		s->cap = c->n < CHUNK_BYTES ? CHUNK_BYTES : c->n;
		s->bytes = xrealloc(s->bytes, s->cap, 1);
	}
	rc = file_pread_all(w->b->parts_fd, s->bytes, c->n, c->at);
	if (rc < 0)
		return err_errno(&w->err, rc, "temporary file of %s: read", w->b->out.name);
	s->at = s->ahead = s->bytes;
	s->end = s->bytes + c->n;
	for (unsigned i = 0; i < AHEAD && s->ahead < s->end; i++)
		s->ahead = next_run(s->ahead);
	return 0;
}

/* Copies the stream's next run to its context's place, if that is in range R. */
static int cct_parts_take(struct cct_worker *w, const struct cct_range *r, struct stream *s)
{
	const uint8_t *run = s->at;
	uint32_t ctxId = hpc_le32(run + 4), n = hpc_le32(run + 8);

	s->at = next_run(run);
	if (s->ahead < s->end) {
		uint32_t far = hpc_le32(s->ahead + 4);

		__builtin_prefetch(
			w->runs + w->per_ctx[far >= r->from && far < r->to ? far : ctxId], 1);
		s->ahead = next_run(s->ahead);
	}
	if (ctxId < r->from || ctxId >= r->to)
		return 0;
	return cct_put_run(w, r, hpc_le32(run), ctxId, run + RUN, n);
}

/* Takes all runs of the N streams of one part, by growing profile. */
static int take_all(struct cct_worker *w, const struct cct_range *r, struct stream *streams,
		    unsigned n)
{
	int rc = 0;

	for (unsigned i = 0; i < n && rc >= 0; i++)
		rc = cct_parts_fill(w, &streams[i]);
	while (rc >= 0) {
		struct stream *s = NULL;
		uint32_t profile;

		for (unsigned i = 0; i < n; i++)
			if (streams[i].at < streams[i].end &&
			    (!s || hpc_le32(streams[i].at) < hpc_le32(s->at)))
				s = &streams[i];
		if (!s)
			return 0;
		profile = hpc_le32(s->at);
		while (rc >= 0 && s->at < s->end && hpc_le32(s->at) == profile) {
			rc = cct_parts_take(w, r, s);
			if (rc >= 0)
				rc = cct_parts_fill(w, s);
		}
	}
	return rc;
}

int cct_parts_gather(struct cct_worker *w, const struct cct_range *r)
{
	struct cct_build *b = w->b;
	struct stream *streams = xcalloc(b->n_threads, sizeof(*streams));
	int rc = 0;

	for (uint32_t q = r->from >> b->part_shift; q <= (r->to - 1) >> b->part_shift && rc >= 0;
	     q++) {
		for (unsigned i = 0; i < b->n_threads; i++) {
			streams[i].part = &b->workers[i].parts[q];
			streams[i].chunk = 0;
			streams[i].at = streams[i].end = streams[i].bytes;
		}
		rc = take_all(w, r, streams, b->n_threads);
		if (rc >= 0)
			rc = hpc_out_failed(&b->out, &w->err);
	}
	for (unsigned i = 0; i < b->n_threads; i++)
		free(streams[i].bytes);
	free(streams);
	return rc;
}
