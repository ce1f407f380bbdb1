/* SPDX-License-Identifier: BSD-2-Clause */
/* See gperf.h.
 *
 * Words: 0, how many words of header follow, version, period in microseconds, spare ones; then
 * records: samples, how many addresses, the addresses; 0, 1, 0 is the end of them. */
#include "formats/gperf.h"

#include <errno.h>

#include "formats/text_lines.h"

#define VERSION	     0
#define HEADER_WORDS 3 /* version, period, padding; there may be more */
#define MOST_HEADER  64

/* How the words of a file are written. */
struct gperf_words {
	unsigned n_bytes;
	bool big_endian;
};

static uint64_t read_word(struct rd *r, const struct gperf_words *w)
{
	const uint8_t *p = rd_bytes(r, w->n_bytes);
	uint64_t v = 0;

	for (unsigned i = 0; p && i < w->n_bytes; i++)
		v |= (uint64_t)p[i] << 8 * (w->big_endian ? w->n_bytes - 1 - i : i);
	return v;
}

/* The first words tell how words are written: 0, a small number, a version below 3. */
static bool find_words(const uint8_t *bytes, size_t n, struct gperf_words *ret)
{
	static const struct gperf_words kinds[] = {{8, false}, {8, true}, {4, false}, {4, true}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct rd r = rd_init(bytes, n);
		const uint64_t zero = read_word(&r, &kinds[i]), header = read_word(&r, &kinds[i]);
		const uint64_t version = read_word(&r, &kinds[i]);
		const uint64_t period = read_word(&r, &kinds[i]);

		if (r.bad || zero || header < HEADER_WORDS || header > MOST_HEADER || version > 2 ||
		    !period)
			continue;
		*ret = kinds[i];
		return true;
	}
	return false;
}

bool gperf_probe(const uint8_t *bytes, size_t n)
{
	struct gperf_words w;

	return find_words(bytes, n, &w);
}

/* Reads "START-END PERMS OFFSET DEVICE INODE PATH", hexadecimal: a line of /proc/PID/maps
 * (proc(5)).  False when it is no mapping of a file. */
static bool read_map(struct text_line l, struct gperf_map *ret)
{
	text_line_skip(&l, ' ');
	if (!text_line_number(&l, 16, &ret->start) || !text_line_starts(&l, "-"))
		return false;
	text_line_skip(&l, '-');
	if (!text_line_number(&l, 16, &ret->end) || l.n < 6 || l.text[0] != ' ')
		return false;
	l.text += 6; /* " r-xp " */
	l.n -= 6;
	if (!text_line_number(&l, 16, &ret->off))
		return false;
	for (unsigned i = 0; i < 2; i++) { /* device, inode */
		text_line_skip(&l, ' ');
		while (l.n && *l.text != ' ') {
			l.text++;
			l.n--;
		}
	}
	text_line_skip(&l, ' ');
	ret->path = l.text;
	ret->n_path = l.n;
	return l.n && ret->start < ret->end;
}

static int read_samples(struct rd *r, const struct gperf_words *w, struct gperf *ret,
			struct err *err)
{
	for (;;) {
		struct gperf_sample s = {.n = read_word(r, w), .first = ret->pcs.n};
		const uint64_t n = read_word(r, w);

		if (r->bad || n > rd_left(r) / w->n_bytes)
			return err_set(err, -ENODATA, "it ends within a sample, at byte %zu",
				       rd_off(r));
		s.n_pcs = (size_t)n;
		for (size_t i = 0; i < s.n_pcs; i++)
			vec_push(&ret->pcs, read_word(r, w));
		if (!s.n && s.n_pcs == 1 && !ret->pcs.v[s.first]) {
			ret->pcs.n = s.first;
			return 0;
		}
		if (!s.n || !s.n_pcs)
			return err_set(err, -EBADMSG, "a sample of nothing, at byte %zu",
				       rd_off(r));
		vec_push(&ret->samples, s);
	}
}

int gperf_parse(const uint8_t *bytes, size_t n, struct gperf *ret, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	uint64_t header, version;
	struct gperf_words w;
	struct text_line l;
	int rc;

	*ret = (struct gperf){0};
	if (!find_words(bytes, n, &w))
		return err_set(err, -EBADMSG, "does not begin as a CPU profile of gperftools");
	read_word(&r, &w);
	header = read_word(&r, &w);
	version = read_word(&r, &w);
	ret->period_us = read_word(&r, &w);
	if (version != VERSION)
		return err_set(err, -EPROTONOSUPPORT, "version %u; %u is read", (unsigned)version,
			       VERSION);
	for (uint64_t i = 2; i < header; i++)
		read_word(&r, &w);
	if (r.bad)
		return err_set(err, -ENODATA, "it ends within the header");
	rc = read_samples(&r, &w, ret, err);
	while (rc >= 0 && text_line_next(&r, &l)) {
		struct gperf_map m;

		if (read_map(l, &m))
			vec_push(&ret->maps, m);
	}
	return rc;
}

void gperf_release(struct gperf *g)
{
	vec_release(&g->samples);
	vec_release(&g->pcs);
	vec_release(&g->maps);
}
