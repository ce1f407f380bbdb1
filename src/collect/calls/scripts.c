/* SPDX-License-Identifier: BSD-2-Clause */
/* See scripts.h.
 *
 * A record's bytes are those of the sampled process: strings and tables that may say anything.
 * Numbers depend on the process and on a secret of this recording, so what a process says of its
 * code is believed of its own frames alone. */
#include "collect/calls/scripts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rd.h"
#include "base/str.h"
#include "model/script.h"
#include "unwind/chain.h"
#include "unwind/python_lines.h"
#include "unwind/script_record.h"

/* What every piece of code takes besides its strings. */
#define CODE_BYTES 160

struct script_code {
	uint64_t number;
	char *file, *name;
	uint32_t interpreter; /* enum interpreter */
	uint32_t first_line;
	uint32_t n_line_bytes;
	uint8_t *lines;
	bool is_placed; /* these are known: */
	image_id image;
	uint64_t start; /* svma */
};

static const char *const mark_names[SCRIPT_N_MARKS] = {
	"[Python code not known]",
	[SCRIPT_NO_STATE] = "[no Python state]",
	[SCRIPT_UNREADABLE] = "[Python frame unreadable]",
	[SCRIPT_UNMATCHED] = "[Python frames unmatched]",
};

static void scripts_forget(struct scripts *s)
{
	vec_each (c, &s->codes) {
		free((*c)->file);
		free((*c)->name);
		free((*c)->lines);
		free(*c);
	}
	s->codes.n = 0;
	s->n_bytes = 0;
	index_clear(&s->by_number);
}

void scripts_release(struct scripts *s)
{
	scripts_forget(s);
	vec_release(&s->codes);
	index_release(&s->by_number);
}

static bool code_same(const void *owner, uint32_t i, const void *key)
{
	return ((const struct scripts *)owner)->codes.v[i]->number == *(const uint64_t *)key;
}

static struct script_code *scripts_find(const struct scripts *s, uint64_t number)
{
	uint32_t i = index_find(&s->by_number, number, code_same, s, &number);

	return i == INDEX_NONE ? NULL : s->codes.v[i];
}

/* Appends C as UTF-8; what cannot be shown, and what is no character, as a replacement. */
static void add_char(struct str *out, uint32_t c)
{
	if (c < 0x20 || c == 0x7f || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = 0xfffd;
	if (c < 0x80) {
		str_addc(out, (char)c);
		return;
	}
	if (c < 0x800) {
		str_addc(out, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			str_addc(out, (char)(0xe0 | c >> 12));
		} else {
			str_addc(out, (char)(0xf0 | c >> 18));
			str_addc(out, (char)(0x80 | (c >> 12 & 63)));
		}
		str_addc(out, (char)(0x80 | (c >> 6 & 63)));
	}
	str_addc(out, (char)(0x80 | (c & 63)));
}

/* Reads a struct script_text; NULL when it is malformed. */
static char *get_text(struct rd *r)
{
	uint32_t n = rd_le32(r);
	uint16_t kind = rd_le16(r), is_cut = rd_le16(r);
	const uint8_t *bytes = rd_bytes(r, SCRIPT_TEXT_BYTES);
	struct rd text = rd_init(bytes, bytes && n <= SCRIPT_TEXT_BYTES ? n : 0);
	struct str out = {0};

	if (r->bad || n > SCRIPT_TEXT_BYTES || (kind != 1 && kind != 2 && kind != 4))
		return NULL;
	while (rd_left(&text) >= kind)
		add_char(&out, kind == 1   ? rd_u8(&text)
			       : kind == 2 ? rd_le16(&text)
					   : rd_le32(&text));
	if (is_cut)
		str_add(&out, "...");
	return out.v ? out.v : xstrdup("");
}

static bool get_record(struct rd *r, struct script_code *c)
{
	const uint8_t *lines;

	c->number = rd_le64(r);
	c->interpreter = rd_le32(r);
	c->first_line = rd_le32(r);
	c->n_line_bytes = rd_le32(r);
	rd_le32(r);
	c->file = get_text(r);
	c->name = get_text(r);
	lines = rd_bytes(r, c->n_line_bytes <= SCRIPT_LINE_BYTES ? c->n_line_bytes : 0);
	if (r->bad || !c->file || !c->name || c->n_line_bytes > SCRIPT_LINE_BYTES)
		return false;
	c->lines = xmemdup(lines, c->n_line_bytes);
	return true;
}

bool scripts_add(struct scripts *s, const uint8_t *bytes, size_t n)
{
	struct rd r = rd_init(bytes, n), head = r;
	struct script_code *c;
	bool fits = true;

	s->n_told++;
	/* Each CPU tells it: its texts are read once. */
	if (scripts_find(s, rd_le64(&head)))
		return true;
	c = xcalloc(1, sizeof(*c));
	if (!get_record(&r, c)) {
		s->n_damaged += r.bad;
		free(c->file);
		free(c->name);
		free(c->lines);
		free(c);
		return true;
	}
	if (s->n_bytes > SCRIPTS_MOST_BYTES) {
		scripts_forget(s);
		fits = false;
	}
	s->n_bytes += CODE_BYTES + strlen(c->file) + strlen(c->name) + c->n_line_bytes;
	index_add(&s->by_number, c->number, (uint32_t)s->codes.n);
	vec_push(&s->codes, c);
	return fits;
}

place_id scripts_mark(struct profile *p, uint32_t mark)
{
	const char *name = mark_names[mark < SCRIPT_N_MARKS ? mark : 0];
	const struct script_function f = {.language = "python", .file = "[python]", .name = name};

	return profile_intern_script(p, profile_intern_script_image(p, &f), script_svma(name, 0),
				     &f, 0);
}

place_id scripts_place(struct scripts *s, struct profile *p, uint64_t frame)
{
	const uint64_t number = SCRIPT_CODE(frame);
	struct script_code *c = number < SCRIPT_N_MARKS ? NULL : scripts_find(s, number);
	struct script_function f;
	uint32_t line = 0;

	if (!c) {
		s->n_unknown += number >= SCRIPT_N_MARKS;
		return scripts_mark(p, number < SCRIPT_N_MARKS ? (uint32_t)number : 0);
	}
	f = (struct script_function){"python", c->file, c->name, c->first_line};
	if (!c->is_placed) {
		c->image = profile_intern_script_image(p, &f);
		c->start = script_svma(c->name, c->first_line);
		c->is_placed = true;
	}
	if (SCRIPT_OFF(frame) != SCRIPT_NO_OFF)
		line = python_line(c->interpreter, c->lines, c->n_line_bytes, c->first_line,
				   SCRIPT_OFF(frame));
	return profile_intern_script(p, c->image, c->start, &f, line);
}
