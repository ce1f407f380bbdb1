/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_stream.h. */
#include "port/perf_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "port/perf_source.h"

/* What a file may say of itself besides its records. */
#define MOST_SECTION_BYTES (256ull << 20)

struct stream {
	int fd;
	const char *path;
	struct perfdata *pd;
	struct str *damage; /* lines about what was passed over; NULL: damage is an error */
	struct perf_reading reading;
	VEC(struct perf_source) sources; /* in a directory there are several */
	VEC(int) fds;			 /* of all but the first */
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
		return err_set(err, -ENODATA,
			       "it ends at %#" PRIx64 ", and its %s should be at %#" PRIx64,
			       (uint64_t)st.st_size, what, sec->off);
	if (n > MOST_SECTION_BYTES)
		return err_set(err, -EBADMSG, "the %s at %#" PRIx64 " cannot be of %zu bytes", what,
			       sec->off, n);
	b = xmalloc(n + 1);
	while (got < n) {
		ssize_t k = pread(s->fd, b + got, n - got, (off_t)(sec->off + got));

		if (k <= 0) {
			free(b);
			return err_set(err, -ENODATA, "it ends at %#" PRIx64 ", in its %s",
				       sec->off + got, what);
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
	for (uint32_t i = 0; rc >= 0 && i < s->pd->events.n; i++) {
		rc = load_section(s, &ids[i], "ids of events", &b, err);
		if (rc >= 0) {
			rc = perfdata_read_ids(s->pd, i, b, (size_t)ids[i].n_bytes, err);
			free(b);
		}
	}
	free(ids);
	return rc < 0 ? rc : perfdata_set_layout(s->pd, err);
}

/* Damage that somebody may want to have passed over. */
static bool is_damage(int rc)
{
	return rc == -EBADMSG || rc == -ENODATA;
}

/* Passes over damage where that is wanted: 0, with a line of what ERR says and what was done. */
static int forgive(struct stream *s, int rc, const struct err *err, const char *done)
{
	if (!s->damage || !is_damage(rc))
		return rc;
	str_addf(s->damage, "%s: %s\n", err->msg, done);
	return 0;
}

static int load_feature(struct stream *s, uint32_t feature, const struct perfdata_section *where,
			struct err *err)
{
	const char *name = perfdata_feature_name(feature);
	_mem_ uint8_t *b = NULL;
	_mem_ char *what =
		name ? xasprintf("section %s", name) : xasprintf("section %" PRIu32, feature);
	struct perf_handler *h = s->reading.h;
	size_t n = (size_t)where->n_bytes;
	struct err damage = {0};
	int rc = load_section(s, where, what, &b, err);

	if (rc >= 0)
		rc = perfdata_read_feature(s->pd, feature, b, n, NULL, &damage);
	if (rc >= 0 && h->section)
		return h->section(h, feature, b, n, err);
	if (damage.msg[0])
		err_set(err, rc, "%s (at %#" PRIx64 ")", damage.msg, where->off);
	return rc;
}

/* The facts behind the data.  A section of no bytes has none. */
static int load_sections(struct stream *s, struct err *err)
{
	struct perfdata_section where[PERFDATA_MAX_FEATURES];
	size_t n = perfdata_n_sections(s->pd) * 16;
	struct perfdata_section table = {s->pd->data.off + s->pd->data.n_bytes, n};
	struct err damage = {0};
	uint8_t *b;
	int rc;

	if (!n)
		return 0;
	rc = load_section(s, &table, "table of sections", &b, &damage);
	if (rc < 0 && err)
		*err = damage;
	if (rc < 0)
		return forgive(s, rc, &damage, "nothing is known of its machine");
	rc = perfdata_read_sections(s->pd, b, n, where, err);
	free(b);
	for (uint32_t i = 0; rc >= 0 && i < PERFDATA_MAX_FEATURES; i++) {
		damage = (struct err){0};
		if (!where[i].n_bytes)
			continue;
		rc = load_feature(s, i, &where[i], &damage);
		if (rc < 0 && err)
			*err = damage;
		rc = forgive(s, rc, &damage, "it was passed over");
	}
	return rc;
}

static int begin_file(struct stream *s, struct err *err)
{
	uint64_t left = s->pd->data.n_bytes;
	struct stat st;
	int rc = load_events(s, err);

	if (rc < 0)
		return rc;
	s->reading.ordered = s->pd->sample_id_all;
	s->reading.stats->begun = true;
	if (left) {
		rc = load_sections(s, err);
	} else if (fstat(s->fd, &st) >= 0 && (uint64_t)st.st_size > s->pd->data.off) {
		/* perf writes the size when it ends. */
		struct err damage = {0};

		left = UINT64_MAX;
		rc = err_set(&damage, -ENODATA,
			     "perf was not finished with it: where its records end is not told "
			     "(at 0x30)");
		if (err)
			*err = damage;
		rc = forgive(s, rc, &damage, "they were read to the end of the file");
	}
	if (rc < 0)
		return rc;
	if (lseek(s->fd, (off_t)s->pd->data.off, SEEK_SET) < 0)
		return err_errno(err, -errno, "cannot be read");
	perf_source_init(vec_add(&s->sources), &s->reading, s->fd, s->pd->data.off, left);
	return 0;
}

static int perf_stream_begin(struct stream *s, struct err *err)
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
	if (!s->pd->pipe)
		return begin_file(s, err);
	s->reading.stats->begun = true;
	perf_source_init(vec_add(&s->sources), &s->reading, s->fd, PERFDATA_PIPE_HEADER_BYTES,
			 UINT64_MAX);
	return 0;
}

/* Adds the files data.0, data.1, ... beside the one that describes them. */
static int add_files(struct stream *s, struct err *err)
{
	for (unsigned i = 0; s->pd->dir_version; i++) {
		_mem_ char *name = xasprintf("%s/data.%u", s->path, i);
		int fd = open(name, O_RDONLY | O_CLOEXEC);

		if (fd < 0 && errno == ENOENT)
			break;
		if (fd < 0)
			return err_errno(err, -errno, "data.%u", i);
		vec_push(&s->fds, fd);
		perf_source_init(vec_add(&s->sources), &s->reading, fd, 0, UINT64_MAX);
	}
	return 0;
}

/* Reads on in source number I; where damage is passed over it ends there. */
static int perf_stream_step(struct stream *s, size_t i, struct err *err)
{
	struct perf_source *source = &s->sources.v[i];
	struct err damage = {0};
	int rc = perf_source_step(source, &damage);

	if (rc < 0 && i)
		err_prefix(&damage, rc, "data.%zu", i - 1);
	if (rc < 0 && err)
		*err = damage;
	if (rc < 0)
		source->ended = true;
	return forgive(s, rc, &damage, "what is behind was not read");
}

/* Reads on in the file whose records are the oldest; what is older than the newest of each goes
 * out.  Each such file is one CPU's, and in order (Linux, tools/perf/builtin-record.c,
 * record__mmap_read_evlist). */
static int read_merged(struct stream *s, struct err *err)
{
	for (;;) {
		struct perf_source *next = NULL;
		uint64_t limit = UINT64_MAX;
		int rc;

		vec_each (x, &s->sources) {
			if (x->ended)
				continue;
			if (!next || x->newest < next->newest)
				next = x;
		}
		if (!next)
			return 0;
		rc = perf_stream_step(s, (size_t)(next - s->sources.v), err);
		vec_each (x, &s->sources)
			if (!x->ended && x->newest < limit)
				limit = x->newest;
		if (rc >= 0)
			rc = perf_queue_flush(&s->reading.queue, limit, err);
		if (rc < 0)
			return rc;
	}
}

static int read_records(struct stream *s, struct err *err)
{
	int rc = 0;

	if (s->sources.n > 1)
		return read_merged(s, err);
	while (rc >= 0 && !s->sources.v[0].ended)
		rc = perf_stream_step(s, 0, err);
	return rc;
}

/* Waits for records that are being decoded elsewhere: an error there is of an earlier record than
 * the one of RC. */
static int perf_stream_settle(struct stream *s, int rc, struct err *err)
{
	int earlier = s->reading.pipe ? perf_pipe_wait(s->reading.pipe, err) : 0;

	return earlier < 0 ? earlier : rc;
}

int perf_stream_read(int fd, const char *path, struct perfdata *pd, struct perf_handler *h,
		     struct str *damage, struct perf_stream_stats *ret, struct err *err)
{
	struct stream s = {.fd = fd, .path = path, .pd = pd, .damage = damage};
	struct perf_queue *queue = &s.reading.queue;
	int rc;

	*ret = (struct perf_stream_stats){0};
	*pd = (struct perfdata){0};
	s.reading = (struct perf_reading){.pd = pd, .h = h, .stats = ret};
	perf_queue_init(queue, perf_reading_deliver, &s.reading);
	rc = perf_stream_begin(&s, err);
	if (rc >= 0)
		rc = add_files(&s, err);
	if (rc >= 0) {
		rc = read_records(&s, err);
		rc = perf_stream_settle(&s, rc, err);
		if (rc >= 0)
			rc = perf_queue_end(queue, err);
		rc = perf_stream_settle(&s, rc, err);
	}
	ret->forgivable = ret->begun && is_damage(rc);
	perf_pipe_free(s.reading.pipe);
	ret->n_late = queue->n_late;
	ret->no_marks = queue->forced;
	ret->most_waiting = queue->most_bytes;
	vec_each (x, &s.sources)
		perf_source_release(x);
	vec_release(&s.sources);
	vec_each (x, &s.fds)
		close(*x);
	vec_release(&s.fds);
	perf_queue_release(queue);
	return rc;
}
