/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_stream.h.
 *
 * Bytes lie in chunks of CHUNK_BYTES, aligned to their size, so that a record's chunk follows from
 * its address; a record never lies in two, because the piece of one at the end of a chunk is copied
 * to the next.  A lane is such a row of chunks: one holds the file, another what was decompressed.
 * A chunk is used again when its lane and all records that wait in it have let go of it. */
#include "port/perf_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "port/perf_queue.h"

/* What a file may say of itself besides its records. */
#define MOST_SECTION_BYTES (256ull << 20)

struct lane {
	struct perf_chunk *chunk;
	size_t from, to; /* what was not read yet */
	uint64_t off;	 /* in the file, of what is at `from` */
};

struct stream {
	int fd;
	const char *path;
	struct perfdata *pd;
	struct perf_handler *h;
	struct perf_stream_stats *stats;
	struct perf_queue queue;
	struct perfdata_inflate *inflate;
	struct lane file, inflated;
	uint64_t left; /* bytes of records that are still to be read from the file; UINT64_MAX: all
			*/
	uint64_t at;   /* the file's offset */
	/* Bytes in the file that follow a record. */
	struct {
		uint64_t n, done;
		struct perfdata_record record;
	} payload;
	bool ordered;
};

/* Reading. */

static int read_some(struct stream *s, void *to, size_t n, size_t *ret_n, struct err *err)
{
	ssize_t got;

	do {
		got = read(s->fd, to, n);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_errno(err, -errno, "cannot be read");
	*ret_n = (size_t)got;
	return 0;
}

static int read_all(struct stream *s, void *to, size_t n, size_t *ret_n, struct err *err)
{
	int rc = 0;

	for (*ret_n = 0; *ret_n < n;) {
		size_t got = 0;

		rc = read_some(s, (uint8_t *)to + *ret_n, n - *ret_n, &got, err);
		if (rc < 0 || !got)
			break;
		*ret_n += got;
	}
	return rc;
}

/* Loads a part of the file into fresh memory. */
static int load_section(struct stream *s, const struct perfdata_section *sec, const char *what,
			uint8_t **ret, struct err *err)
{
	size_t n = (size_t)sec->n_bytes, got = 0;
	struct stat st;
	uint8_t *b;

	if (fstat(s->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, -ESPIPE, "it is no file; perf can write to pipes with -o -");
	if (sec->off > (uint64_t)st.st_size || n > (uint64_t)st.st_size - sec->off)
		return err_set(err, -ENODATA, "it ends before its %s", what);
	if (n > MOST_SECTION_BYTES)
		return err_set(err, -E2BIG, "its %s are too large", what);
	b = xmalloc(n + 1);
	while (got < n) {
		ssize_t k = pread(s->fd, b + got, n - got, (off_t)(sec->off + got));

		if (k <= 0) {
			free(b);
			return err_set(err, -ENODATA, "it ends in its %s", what);
		}
		got += (size_t)k;
	}
	*ret = b;
	return 0;
}

static int load_events(struct stream *s, struct err *err)
{
	struct perfdata_section *ids = NULL;
	uint8_t *b;
	int rc = load_section(s, &s->pd->attrs, "events", &b, err);

	if (rc < 0)
		return rc;
	rc = perfdata_read_attrs(s->pd, b, (size_t)s->pd->attrs.n_bytes, &ids, err);
	free(b);
	for (uint32_t i = 0; rc == 0 && i < s->pd->events.n; i++) {
		rc = load_section(s, &ids[i], "ids of events", &b, err);
		if (rc == 0) {
			rc = perfdata_read_ids(s->pd, i, b, (size_t)ids[i].n_bytes, err);
			free(b);
		}
	}
	free(ids);
	return rc < 0 ? rc : perfdata_set_layout(s->pd, err);
}

/* The facts behind the data. */
static int load_sections(struct stream *s, struct err *err)
{
	struct perfdata_section where[PERFDATA_MAX_FEATURES];
	size_t n = perfdata_n_sections(s->pd) * 16;
	struct perfdata_section table = {s->pd->data.off + s->pd->data.n_bytes, n};
	uint8_t *b;
	int rc;

	if (!n)
		return 0;
	rc = load_section(s, &table, "table of sections", &b, err);
	if (rc < 0)
		return rc;
	rc = perfdata_read_sections(s->pd, b, n, where, err);
	free(b);
	for (uint32_t i = 0; rc == 0 && i < PERFDATA_MAX_FEATURES; i++) {
		if (!(s->pd->features[i / 64] >> i % 64 & 1))
			continue;
		rc = load_section(s, &where[i], "sections", &b, err);
		if (rc < 0)
			break;
		rc = perfdata_read_feature(s->pd, i, b, (size_t)where[i].n_bytes, NULL, err);
		if (rc == 0 && s->h->section)
			rc = s->h->section(s->h, i, b, (size_t)where[i].n_bytes, err);
		free(b);
	}
	return rc;
}

/* Lanes. */

/* Makes room for one record at the least behind what L holds. */
static void lane_reserve(struct stream *s, struct lane *l)
{
	struct perf_chunk *next;

	if (l->chunk && PERF_CHUNK_BYTES - l->to > PERFDATA_MAX_RECORD)
		return;
	next = perf_chunk_new(&s->queue);
	if (l->chunk) {
		memcpy(next->bytes + PERF_CHUNK_FIRST, l->chunk->bytes + l->from, l->to - l->from);
		perf_chunk_unref(&s->queue, l->chunk);
	}
	l->to = PERF_CHUNK_FIRST + (l->to - l->from);
	l->from = PERF_CHUNK_FIRST;
	l->chunk = next;
}

static int deliver(void *ctx, const uint8_t *p, uint64_t off, struct err *err)
{
	struct stream *s = ctx;
	struct perfdata_head head;

	perfdata_read_head(s->pd, p, &head);
	return s->h->record(s->h, &head, p, off, err);
}

static int inflate_record(struct stream *s, const struct perfdata_record *r, uint64_t off,
			  struct err *err);

static int take(struct stream *s, struct lane *l, const struct perfdata_head *head,
		const uint8_t *p, struct err *err)
{
	struct perfdata_record r;
	uint64_t time;
	int rc;

	if (perfdata_is_timed(head->type)) {
		s->stats->n_records++;
		if (!s->pd->events.n)
			return err_set(err, -EBADMSG, "a record comes before its event");
		time = s->ordered ? perfdata_time(s->pd, head, p) : 0;
		if (!time || time == UINT64_MAX)
			return deliver(s, p, l->off, err);
		return perf_queue_add(&s->queue, l->chunk, time, p, head->size, l->off, err);
	}
	rc = perfdata_take_record(s->pd, head, p, err);
	if (rc == 0 && s->h->own)
		rc = s->h->own(s->h, head, p, l->off, err);
	if (rc < 0)
		return rc;
	switch (head->type) {
	case PERFDATA_FINISHED_ROUND:
		return perf_queue_round(&s->queue, err);
	case PERFDATA_ATTR:
		s->ordered = s->pd->sample_id_all;
		return 0;
	case PERFDATA_COMPRESSED:
	case PERFDATA_COMPRESSED2:
	case PERFDATA_AUXTRACE:
	case PERFDATA_TRACING_DATA:
		if (perfdata_read_record(s->pd, head, p, &r) < 0)
			return err_set(err, -EBADMSG, "a record %s is too short",
				       perfdata_type_name(head->type));
		break;
	default:
		s->stats->n_unknown += !perfdata_type_name(head->type);
		return 0;
	}
	if (head->type == PERFDATA_COMPRESSED || head->type == PERFDATA_COMPRESSED2) {
		if (l != &s->file)
			return err_set(err, -EBADMSG, "compressed records are compressed again");
		return inflate_record(s, &r, l->off, err);
	}
	if (l != &s->file)
		return err_set(err, -EBADMSG, "a compressed record has data behind it");
	s->payload.n = perfdata_payload(s->pd, head, p);
	s->payload.done = 0;
	s->payload.record = r;
	return 0;
}

/* Takes the whole records that L holds, up to the first with data behind it. */
static int parse(struct stream *s, struct lane *l, struct err *err)
{
	while (l->to - l->from >= 8 && !s->payload.n) {
		const uint8_t *p = l->chunk->bytes + l->from;
		struct perfdata_head head;
		int rc = perfdata_read_head(s->pd, p, &head);

		if (rc < 0)
			return err_set(err, rc, "the record at %#" PRIx64 " cannot be of %u bytes",
				       l->off, head.size);
		if (head.size > l->to - l->from)
			return 0;
		rc = take(s, l, &head, p, err);
		if (rc < 0)
			return err && err->msg[0] ? err_prefix(err, rc, "at %#" PRIx64, l->off)
						  : rc;
		s->stats->n_bytes += head.size;
		l->from += head.size;
		l->off += l == &s->file ? head.size : 0;
	}
	return 0;
}

static int inflate_record(struct stream *s, const struct perfdata_record *r, uint64_t off,
			  struct err *err)
{
	struct perfdata_bytes in = r->bytes;
	struct lane *l = &s->inflated;
	size_t room, n = 0;
	int rc = 0;

	if (!s->inflate)
		s->inflate = perfdata_inflate_new();
	l->off = off;
	do {
		lane_reserve(s, l);
		room = PERF_CHUNK_BYTES - l->to;
		if (perfdata_inflate(s->inflate, &in, l->chunk->bytes + l->to, room, &n) < 0)
			return err_set(err, -EBADMSG, "it is not compressed as it says");
		l->to += n;
		rc = parse(s, l, err);
	} while (rc == 0 && (in.n || n == room) && n);
	return rc;
}

/* Passes what follows a record on. */
static void pass_payload(struct stream *s)
{
	struct lane *l = &s->file;
	size_t n = l->to - l->from;

	if (n > s->payload.n)
		n = (size_t)s->payload.n;
	if (s->h->aux && s->payload.record.head.type == PERFDATA_AUXTRACE)
		s->h->aux(s->h, &s->payload.record, l->chunk->bytes + l->from, n, s->payload.done);
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

static int read_records(struct stream *s, struct err *err)
{
	struct lane *l = &s->file;
	size_t n = 1;
	int rc = 0;

	l->off = s->at;
	while (rc == 0 && n) {
		size_t want;

		lane_reserve(s, l);
		want = PERF_CHUNK_BYTES - l->to;
		if (want > s->left)
			want = (size_t)s->left;
		rc = want ? read_some(s, l->chunk->bytes + l->to, want, &n, err) : 0;
		if (rc < 0)
			break;
		if (!want)
			n = 0;
		l->to += n;
		s->left -= s->left == UINT64_MAX ? 0 : n;
		do {
			pass_payload(s);
			rc = parse(s, l, err);
		} while (rc == 0 && s->payload.n && l->from < l->to);
	}
	if (rc < 0)
		return rc;
	if (s->left && s->left != UINT64_MAX)
		return err_set(err, -ENODATA,
			       "it ends at %#" PRIx64 ", %" PRIu64 " bytes before its records do",
			       l->off + (l->to - l->from), s->left);
	if (s->pd->pipe && is_message(l->chunk->bytes + l->from, l->to - l->from)) {
		s->stats->message = true;
		return 0;
	}
	if (l->to != l->from || s->payload.n)
		return err_set(err, -ENODATA, "at %#" PRIx64 ": it ends in a record", l->off);
	if (s->inflated.to != s->inflated.from)
		return err_set(err, -ENODATA, "its compressed records end in a record");
	return 0;
}

static void release_lane(struct stream *s, struct lane *l)
{
	if (l->chunk)
		perf_chunk_unref(&s->queue, l->chunk);
	l->chunk = NULL;
}

/* Damage ends the reading; with FORCE it is not an error. */
static int forgive(bool force, int rc, struct err *why, const struct err *err)
{
	if (!force || (rc != -EBADMSG && rc != -ENODATA))
		return rc;
	if (why && !why->msg[0] && err)
		*why = *err;
	return 0;
}

static int begin(struct stream *s, bool force, struct err *why, struct err *err)
{
	uint8_t b[PERFDATA_HEADER_BYTES];
	struct err damage = {0};
	size_t n = 0;
	int rc = read_all(s, b, PERFDATA_PIPE_HEADER_BYTES, &n, err);

	if (rc < 0)
		return rc;
	rc = perfdata_read_header(s->pd, b, n, &damage);
	if (rc == -ENODATA && n == PERFDATA_PIPE_HEADER_BYTES) {
		size_t more = 0;

		perfdata_release(s->pd);
		rc = read_all(s, b + n, sizeof(b) - n, &more, err);
		if (rc < 0)
			return rc;
		damage.msg[0] = 0;
		rc = perfdata_read_header(s->pd, b, n + more, &damage);
	}
	if (rc < 0)
		return err_set(err, rc, "%s", damage.msg);
	s->at = PERFDATA_PIPE_HEADER_BYTES;
	s->left = UINT64_MAX;
	if (s->pd->pipe)
		return 0;
	rc = load_events(s, err);
	if (rc < 0)
		return rc;
	s->ordered = s->pd->sample_id_all;
	s->stats->unfinished = !s->pd->data.n_bytes && s->pd->data.off;
	if (s->stats->unfinished) {
		struct stat st;

		if (fstat(s->fd, &st) == 0 && (uint64_t)st.st_size > s->pd->data.off) {
			err_set(err, -ENODATA,
				"perf was not finished with it: its size is not told");
			rc = forgive(force, -ENODATA, why, err);
			if (rc < 0)
				return rc;
		}
	} else {
		s->left = s->pd->data.n_bytes;
		rc = load_sections(s, err);
		rc = forgive(force, rc, why, err);
		if (rc < 0)
			return rc;
	}
	s->at = s->pd->data.off;
	if (lseek(s->fd, (off_t)s->at, SEEK_SET) < 0)
		return err_errno(err, -errno, "cannot be read");
	return 0;
}

int perf_stream_read(int fd, const char *path, struct perfdata *pd, struct perf_handler *h,
		     bool force, struct perf_stream_stats *ret, struct err *ret_why,
		     struct err *err)
{
	struct stream s = {.fd = fd, .path = path, .pd = pd, .h = h, .stats = ret};
	struct err damage = {0};
	int rc;

	*ret = (struct perf_stream_stats){0};
	*pd = (struct perfdata){0};
	perf_queue_init(&s.queue, deliver, &s);
	rc = begin(&s, force, ret_why, err);
	if (rc == 0) {
		rc = read_records(&s, &damage);
		if (rc < 0 && err)
			*err = damage;
		rc = forgive(force, rc, ret_why, &damage);
		if (rc == 0)
			rc = perf_queue_end(&s.queue, err);
	}
	ret->n_late = s.queue.n_late;
	ret->no_marks = s.queue.forced;
	ret->most_waiting = s.queue.most_bytes;
	release_lane(&s, &s.file);
	release_lane(&s, &s.inflated);
	perf_queue_release(&s.queue);
	perfdata_inflate_free(s.inflate);
	return rc;
}
