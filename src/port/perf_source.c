/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_source.h.
 *
 * Bytes lie in chunks of PERF_CHUNK_BYTES, aligned to their size, so that a record's chunk follows
 * from its address.  A record never lies in two chunks: a piece of one at the end of a chunk is
 * copied to the next.  A lane is a row of such chunks: one holds the file, another what was
 * decompressed.  A chunk is used again when its lane and all records that wait in it have let go of
 * it.
 *
 * Example: a file whose records begin at 0x100 and have 40 bytes each.
 *     step 1   lane_reserve: chunk A, from = to = 64 (PERF_CHUNK_FIRST).  Room 1048576 - 64.
 *              read: to = 1048576.  26,212 records are taken; from = 1048544, off = 0x100 +
 *              1,048,480.  32 bytes are left, too few for the record they begin.
 *     step 2   A has less room than PERFDATA_MAX_RECORD.  lane_reserve: chunk B; the 32 bytes go to
 *              B's 64..96, from = 64, to = 96.  A is let go of, and lives on while a record in it
 *              waits in the queue.  read: 1,048,480 more bytes; the record is whole, in B.
 * A record COMPRESSED in between is inflated into the other lane, whose records are taken at once,
 * all at the file offset of that COMPRESSED record. */
#include "port/perf_source.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* More of it nobody's kernel has. */
#define MOST_TRACING_BYTES (64u << 20)

/* Makes room for one record at the least behind what L holds. */
static void lane_reserve(struct perf_source *s, struct perf_lane *l)
{
	struct perf_chunk *next;

	if (l->chunk && PERF_CHUNK_BYTES - l->to > PERFDATA_MAX_RECORD)
		return;
	next = perf_chunk_new(&s->reading->queue);
	if (l->chunk) {
		memcpy(perf_chunk_bytes(next) + PERF_CHUNK_FIRST,
		       perf_chunk_bytes(l->chunk) + l->from, l->to - l->from);
		perf_chunk_unref(&s->reading->queue, l->chunk);
	}
	l->to = PERF_CHUNK_FIRST + (l->to - l->from);
	l->from = PERF_CHUNK_FIRST;
	l->chunk = next;
}

/* So many records are decoded before another thread could begin. */
#define FEW_RECORDS 32768

static int hand_over(void *reading, const uint8_t *p, uint64_t off, struct err *err)
{
	struct perf_reading *r = reading;
	struct perfdata_head head;
	int rc;

	perfdata_read_head(r->pd, p, &head);
	rc = r->h->record(r->h, &head, p, off, err);
	if (rc < 0)
		__atomic_store_n(&r->refused, true, __ATOMIC_RELAXED);
	return rc;
}

static void expect_soon(void *reading, const uint8_t *p)
{
	const struct perf_reading *r = reading;

	if (r->h->expect)
		r->h->expect(r->h, p);
}

int perf_reading_deliver(void *reading, const uint8_t *p, uint64_t off, struct err *err)
{
	struct perf_reading *r = reading;

	if (r->h->may_be_apart && ++r->n_delivered == FEW_RECORDS)
		r->pipe = perf_pipe_new(&r->queue, hand_over, expect_soon, r);
	return r->pipe ? perf_pipe_add(r->pipe, p, off, err) : hand_over(r, p, off, err);
}

/* What TYPE changes is read where records are decoded, which waits for it. */
static int hold(struct perf_reading *r, uint32_t type, struct err *err)
{
	if (!r->pipe || type == PERFDATA_FINISHED_ROUND || type == PERFDATA_COMPRESSED ||
	    type == PERFDATA_COMPRESSED2)
		return 0;
	return perf_pipe_wait(r->pipe, err);
}

static int inflate_record(struct perf_source *s, const struct perfdata_record *r, uint64_t off,
			  struct err *err);

static int perf_source_take(struct perf_source *s, struct perf_lane *l,
			    const struct perfdata_head *head, const uint8_t *p, struct err *err)
{
	struct perfdata_record r;
	uint64_t time;
	int rc;

	if (perfdata_is_timed(head->type)) {
		s->reading->stats->n_records++;
		if (!s->reading->pd->events.n)
			return err_set(err, -EBADMSG, "a record comes before its event");
		time = s->reading->ordered ? perfdata_time(s->reading->pd, head, p) : 0;
		if (!time || time == UINT64_MAX)
			return perf_reading_deliver(s->reading, p, l->off, err);
		s->newest = time > s->newest ? time : s->newest;
		return perf_queue_add(&s->reading->queue, l->chunk, time, p, head->size, l->off,
				      err);
	}
	rc = hold(s->reading, head->type, err);
	if (rc >= 0)
		rc = perfdata_take_record(s->reading->pd, head, p, err);
	if (rc >= 0 && s->reading->h->own)
		rc = s->reading->h->own(s->reading->h, head, p, l->off, err);
	if (rc < 0)
		return rc;
	switch (head->type) {
	case PERFDATA_FINISHED_ROUND:
		return perf_queue_round(&s->reading->queue, err);
	case PERFDATA_ATTR:
		s->reading->ordered = s->reading->pd->sample_id_all;
		return 0;
	case PERFDATA_COMPRESSED:
	case PERFDATA_COMPRESSED2:
	case PERFDATA_AUXTRACE:
	case PERFDATA_TRACING_DATA:
		if (perfdata_read_record(s->reading->pd, head, p, &r) < 0)
			return err_set(err, -EBADMSG, "a record %s is too short",
				       perfdata_type_name(head->type));
		break;
	default:
		s->reading->stats->n_unknown += !perfdata_type_name(head->type);
		return 0;
	}
	if (head->type == PERFDATA_COMPRESSED || head->type == PERFDATA_COMPRESSED2) {
		if (l != &s->file)
			return err_set(err, -EBADMSG, "compressed records are compressed again");
		return inflate_record(s, &r, l->off, err);
	}
	if (l != &s->file)
		return err_set(err, -EBADMSG, "a compressed record has data behind it");
	s->payload.n = perfdata_payload(s->reading->pd, head, p);
	s->payload.done = 0;
	s->payload.record = r;
	return 0;
}

/* Takes the whole records that L holds, up to the first with data behind it. */
static int perf_source_parse(struct perf_source *s, struct perf_lane *l, struct err *err)
{
	while (l->to - l->from >= 8 && !s->payload.n) {
		const uint8_t *p = perf_chunk_bytes(l->chunk) + l->from;
		struct perfdata_head head;
		int rc = perfdata_read_head(s->reading->pd, p, &head);

		if (rc < 0)
			return err_set(err, rc, "the record at %#" PRIx64 " cannot be of %u bytes",
				       l->off, head.size);
		if (head.size > l->to - l->from)
			return 0;
		rc = perf_source_take(s, l, &head, p, err);
		if (rc < 0)
			return err && err->msg[0] &&
					       !__atomic_load_n(&s->reading->refused,
								__ATOMIC_RELAXED)
				       ? err_prefix(err, rc, "at %#" PRIx64, l->off)
				       : rc;
		s->reading->stats->n_bytes += head.size;
		l->from += head.size;
		l->off += l == &s->file ? head.size : 0;
	}
	return 0;
}

static int inflate_record(struct perf_source *s, const struct perfdata_record *r, uint64_t off,
			  struct err *err)
{
	struct perfdata_bytes in = r->bytes;
	struct perf_lane *l = &s->inflated;
	size_t room, n = 0;
	int rc = 0;

	if (!s->inflate)
		s->inflate = perfdata_inflate_new();
	l->off = off;
	do {
		lane_reserve(s, l);
		room = PERF_CHUNK_BYTES - l->to;
		if (perfdata_inflate(s->inflate, &in, perf_chunk_bytes(l->chunk) + l->to, room,
				     &n) < 0)
			return err_set(err, -EBADMSG, "it is not compressed as it says");
		l->to += n;
		rc = perf_source_parse(s, l, err);
	} while (rc == 0 && (in.n || n == room) && n);
	return rc;
}

/* Names of tracepoints are all that is wanted of tracing data: without them events have numbers. */
static void keep_tracing(struct perf_source *s, const uint8_t *piece, size_t n)
{
	if (s->tracing.n + n > MOST_TRACING_BYTES)
		return;
	vec_reserve(&s->tracing, n);
	memcpy(s->tracing.v + s->tracing.n, piece, n);
	s->tracing.n += n;
	if (s->payload.n > n)
		return;
	perfdata_read_tracing(s->reading->pd, s->tracing.v, s->tracing.n, NULL);
	s->tracing.n = 0;
}

/* Passes what follows a record on. */
static void pass_payload(struct perf_source *s)
{
	struct perf_lane *l = &s->file;
	size_t n = l->to - l->from;

	if (n > s->payload.n)
		n = (size_t)s->payload.n;
	if (s->reading->h->aux && s->payload.record.head.type == PERFDATA_AUXTRACE)
		s->reading->h->aux(s->reading->h, &s->payload.record,
				   perf_chunk_bytes(l->chunk) + l->from, n, s->payload.done);
	if (n && s->payload.record.head.type == PERFDATA_TRACING_DATA)
		keep_tracing(s, perf_chunk_bytes(l->chunk) + l->from, n);
	s->payload.n -= n;
	s->payload.done += n;
	l->from += n;
	l->off += n;
}

/* Where perf's standard error went to the same file. */
static bool is_message(const uint8_t *p, size_t n)
{
	static const char text[] = "[ perf record: ";

	return n >= sizeof(text) - 1 && memcmp(p, text, sizeof(text) - 1) == 0;
}

/* What must be so at the end of the file. */
static int check_end(struct perf_source *s, struct err *err)
{
	struct perf_lane *l = &s->file;
	size_t n = l->to - l->from;

	if (s->left && s->left != UINT64_MAX)
		return err_set(err, -ENODATA,
			       "it ends at %#" PRIx64 ", %" PRIu64 " bytes before its records do",
			       l->off + n, s->left);
	if (s->reading->pd->pipe && is_message(perf_chunk_bytes(l->chunk) + l->from, n)) {
		s->reading->stats->message = true;
		return 0;
	}
	if (n || s->payload.n)
		return err_set(err, -ENODATA, "at %#" PRIx64 ": it ends in a record", l->off);
	if (s->inflated.to != s->inflated.from)
		return err_set(err, -ENODATA, "its compressed records end in a record");
	return 0;
}

int perf_source_step(struct perf_source *s, struct err *err)
{
	struct perf_lane *l = &s->file;
	size_t want;
	ssize_t n = 0;
	int rc;

	lane_reserve(s, l);
	want = PERF_CHUNK_BYTES - l->to;
	if (want > s->left)
		want = (size_t)s->left;
	if (want) {
		do {
			n = read(s->fd, perf_chunk_bytes(l->chunk) + l->to, want);
		} while (n < 0 && errno == EINTR);
		if (n < 0)
			return err_errno(err, -errno, "cannot be read");
	}
	l->to += (size_t)n;
	s->left -= s->left == UINT64_MAX ? 0 : (uint64_t)n;
	do {
		pass_payload(s);
		rc = perf_source_parse(s, l, err);
	} while (rc == 0 && s->payload.n && l->from < l->to);
	s->ended = !n;
	return rc == 0 && s->ended ? check_end(s, err) : rc;
}

void perf_source_init(struct perf_source *s, struct perf_reading *r, int fd, uint64_t off,
		      uint64_t n)
{
	*s = (struct perf_source){.reading = r, .fd = fd, .left = n, .file.off = off};
}

static void release_lane(struct perf_source *s, struct perf_lane *l)
{
	if (l->chunk)
		perf_chunk_unref(&s->reading->queue, l->chunk);
	l->chunk = NULL;
}

void perf_source_release(struct perf_source *s)
{
	release_lane(s, &s->file);
	release_lane(s, &s->inflated);
	vec_release(&s->tracing);
	perfdata_inflate_free(s->inflate);
}
