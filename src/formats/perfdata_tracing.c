/* SPDX-License-Identifier: BSD-2-Clause */
/* See perfdata.h: the names of tracepoints, out of what the kernel's tracing says of them.
 *
 * A file tells the names of its events in EVENT_DESC; what perf writes to a pipe has the
 * tracepoints' numbers alone, and their descriptions in the tracing data (Linux,
 * tools/perf/util/trace-event-read.c):
 *
 *   17 08 44 "tracing" "0.6" NUL   u8 big-endian, u8 size of long, u32 size of page
 *   "header_page" NUL, u64 n, n bytes; "header_event" NUL, u64 n, n bytes
 *   u32 N; (u64 n, n bytes) x N                        of the function tracer
 *   u32 N; (system NUL; u32 M; (u64 n, n bytes) x M) x N
 *
 * and more that nothing here needs.  Each of the last is a text that begins
 *
 *   name: sched_switch
 *   ID: 316 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "formats/perfdata_impl.h"

/* A NUL-terminated text at the front of R, which is stepped over. */
static const char *word(struct rd *r)
{
	size_t n = strnlen((const char *)r->p, rd_left(r));

	if (n == rd_left(r)) {
		r->bad = true;
		r->p = r->end;
		return "";
	}
	return (const char *)rd_bytes(r, n + 1);
}

/* The rest of the line of TEXT that begins with KEY, in fresh memory; NULL: there is none. */
static char *line_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0)
			return xstrndup(line + n, strcspn(line + n, "\n"));
	}
	return NULL;
}

static void perfdata_tracing_add(struct perfdata *pd, const char *system,
				 const struct perfdata_bytes *b)
{
	_mem_ char *text = xstrndup((const char *)b->p, b->n);
	_mem_ char *name = line_of(text, "name: "), *id = line_of(text, "ID: ");

	if (name && id && *name)
		vec_push(&pd->tracepoints,
			 (struct perfdata_tracepoint){.id = strtoull(id, NULL, 10),
						      .name = xasprintf("%s:%s", system, name)});
}

/* "header_page" or the like, NUL, u64 n, n bytes. */
static void skip_header(struct rd *r, bool be)
{
	word(r);
	rd_piece(r, rd_64(r, be));
}

int perfdata_read_tracing(struct perfdata *pd, const uint8_t *bytes, size_t n, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	const uint8_t *magic = rd_bytes(&r, 10);
	uint32_t n_files, n_systems;
	bool be;

	if (!magic || memcmp(magic, "\x17\x08\x44tracing", 10) != 0)
		return err_set(err, -EBADMSG, "its tracing data is none");
	word(&r); /* the version */
	be = rd_u8(&r);
	rd_u8(&r);
	rd_32(&r, be);
	skip_header(&r, be);
	skip_header(&r, be);
	n_files = rd_32(&r, be);
	for (uint32_t i = 0; i < n_files && !r.bad; i++)
		rd_piece(&r, rd_64(&r, be));
	n_systems = rd_32(&r, be);
	for (uint32_t i = 0; i < n_systems && !r.bad; i++) {
		const char *system = word(&r);
		uint32_t n_events = rd_32(&r, be);

		for (uint32_t k = 0; k < n_events && !r.bad; k++) {
			struct perfdata_bytes b = rd_piece(&r, rd_64(&r, be));

			if (!r.bad)
				perfdata_tracing_add(pd, system, &b);
		}
	}
	return r.bad ? err_set(err, -EBADMSG, "its tracing data is damaged") : 0;
}
