/* SPDX-License-Identifier: BSD-2-Clause */
/* See jitread.h. */
#include "resolve/jitread.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/rd.h"
#include "base/vec.h"
#include "resolve/jitdump.h"
#include "resolve/perfmap.h"

/* Bytes read at a time, and for one answer. */
#define WINDOW	  65536
#define MOST_READ ((uint64_t)1 << 20)

#define MOST_NAME 32768

struct reading {
	uint8_t *window; /* WINDOW bytes */
	unsigned flags;
	uint64_t from, at;
	uint8_t tail[JITREAD_TAIL];
	size_t n_tail;
	struct wr records;
};

static void jitread_put(struct wr *w, uint8_t kind, uint64_t time, uint64_t avma, uint64_t n_code,
			uint64_t old_avma, const char *name, size_t n_name)
{
	n_name = n_name < MOST_NAME ? n_name : MOST_NAME;
	wr_u8(w, kind);
	wr_uleb(w, time);
	wr_uleb(w, avma);
	wr_uleb(w, n_code);
	wr_uleb(w, old_avma);
	wr_uleb(w, n_name);
	wr_bytes(w, name, n_name);
}

/* Jitdumps. */

static void put_record(struct reading *g, const struct jitdump *d, const struct jitdump_record *r)
{
	uint64_t time = d->flags & JITDUMP_FLAG_ARCH_TIMESTAMP ? 0 : r->time;

	if (r->kind == JITDUMP_LOAD)
		jitread_put(&g->records, JITREAD_LOAD, time, r->avma, r->n_code, 0, r->name,
			    r->n_name);
	if (r->kind == JITDUMP_MOVE)
		jitread_put(&g->records, JITREAD_MOVE, time, r->avma, r->n_code, r->old_avma, "",
			    0);
}

/* Takes the records that begin in the N bytes of the window; 0, or what is wrong. */
static int read_records(struct reading *g, const struct jitdump *d, size_t n)
{
	const uint64_t from = g->at;

	while (g->at - from < n) {
		size_t at = (size_t)(g->at - from);
		struct jitdump_record r;
		/* What a full window cannot hold will not come with a later one. */
		int rc = jitdump_read_record(d, g->window + at, n - at, n - at >= WINDOW, &r);

		if (rc == -ENODATA)
			return 0;
		if (rc < 0)
			return rc;
		put_record(g, d, &r);
		g->at += r.n_bytes;
	}
	return 0;
}

static int read_dump(struct reading *g, int fd, struct err *err)
{
	struct jitdump d;
	ssize_t n = pread(fd, g->window, JITDUMP_HEADER_BYTES, 0);
	int rc = jitdump_read_header(g->window, n > 0 ? (size_t)n : 0, &d, err);

	g->flags = 0;
	if (rc < 0)
		return rc == -ENODATA ? 0 : rc;
	if (g->at < d.n_bytes)
		g->at = d.n_bytes;
	for (uint64_t before = g->at - 1; g->at != before && g->at - g->from < MOST_READ;) {
		before = g->at;
		n = pread(fd, g->window, WINDOW, (off_t)g->at);
		if (n < 0)
			return err_errno(err, -errno, "jitdump");
		rc = read_records(g, &d, (size_t)n);
		if (rc < 0 && !g->records.n)
			return err_set(err, rc, "jitdump+%#llx: no record",
				       (unsigned long long)g->at);
		if (rc < 0)
			break;
	}
	g->flags = rc < 0 || g->at - g->from >= MOST_READ ? JITREAD_MORE : 0;
	return 0;
}

/* Perf maps. */

/* Takes the lines of the N bytes of the window, and returns how many bytes they have. */
static size_t read_lines(struct reading *g, size_t n, bool last)
{
	const char *text = (const char *)g->window, *p = text, *end = text + n, *eol;

	for (; p < end; p = eol + 1) {
		struct perfmap_entry e;

		eol = memchr(p, '\n', (size_t)(end - p));
		if (!eol && !last)
			break;
		if (perfmap_parse_line(p, eol ? eol : end, &e))
			jitread_put(&g->records, JITREAD_LOAD, 0, e.start, e.end - e.start, 0,
				    e.name, e.n_name);
		if (!eol)
			return n;
	}
	return (size_t)(p - text);
}

static bool was_continued(const struct reading *g, int fd)
{
	uint8_t now[JITREAD_TAIL];

	return pread(fd, now, g->n_tail, (off_t)(g->at - g->n_tail)) == (ssize_t)g->n_tail &&
	       memcmp(now, g->tail, g->n_tail) == 0;
}

static int read_map(struct reading *g, int fd, bool last, struct err *err)
{
	if (!was_continued(g, fd))
		g->from = g->at = g->n_tail = 0;
	g->flags = 0;
	for (;;) {
		ssize_t n = pread(fd, g->window, WINDOW, (off_t)g->at);
		size_t used;

		if (n < 0)
			return err_errno(err, -errno, "perf map");
		/* What fills a window without an end is no line. */
		used = read_lines(g, (size_t)n, n == WINDOW ? false : last);
		if (!used)
			used = n == WINDOW ? WINDOW : 0;
		if (!used)
			return 0;
		g->at += used;
		g->n_tail = used < JITREAD_TAIL ? used : JITREAD_TAIL;
		memcpy(g->tail, g->window + used - g->n_tail, g->n_tail);
		if (g->at - g->from >= MOST_READ)
			break;
	}
	g->flags = JITREAD_MORE;
	return 0;
}

static bool get_question(struct reading *g, struct rd r)
{
	const uint8_t *tail;

	g->flags = rd_u8(&r);
	g->from = g->at = rd_uleb(&r);
	g->n_tail = rd_count(&r, 1);
	tail = rd_bytes(&r, g->n_tail);
	if (r.bad || rd_left(&r) || g->n_tail > JITREAD_TAIL || g->n_tail > g->at ||
	    g->at > INT64_MAX)
		return false;
	memcpy(g->tail, tail, g->n_tail);
	return true;
}

int jitread(int fd, const uint8_t *question, size_t n, struct wr *ret, struct err *err)
{
	_mem_ uint8_t *window = xmalloc(WINDOW);
	struct reading g = {.window = window};
	int rc;

	if (!get_question(&g, rd_init(question, n)))
		return err_set(err, -EINVAL, "not a question about generated code");
	if (g.flags & JITREAD_MAP)
		rc = read_map(&g, fd, g.flags & JITREAD_LAST, err);
	else
		rc = read_dump(&g, fd, err);
	if (rc >= 0) {
		wr_u8(ret, (uint8_t)g.flags);
		wr_uleb(ret, g.at);
		wr_uleb(ret, g.n_tail);
		wr_bytes(ret, g.tail, g.n_tail);
		wr_bytes(ret, g.records.v, g.records.n);
	}
	wr_release(&g.records);
	return rc;
}
