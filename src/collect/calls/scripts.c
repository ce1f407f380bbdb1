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
#include "base/cleanup.h"
#include "base/lower_bound.h"
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
	uint64_t source;      /* its number; 0: not known */
	uint32_t interpreter; /* enum interpreter */
	uint32_t first_line;
	uint32_t n_line_bytes;
	uint8_t *lines;
	bool is_placed; /* these are known, and first_line is one: */
	image_id image;
	uint64_t start; /* svma */
};

/* Where the lines of a source end, as far as pieces of it came one after another. */
struct script_source {
	uint64_t number;
	uint32_t n_pieces, n_chars;
	VEC(uint32_t) ends; /* characters before each */
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
	vec_each (source, &s->sources)
		vec_release(&source->ends);
	s->codes.n = 0;
	s->sources.n = 0;
	index_clear(&s->by_source);
	s->n_bytes = 0;
	index_clear(&s->by_number);
}

void scripts_release(struct scripts *s)
{
	scripts_forget(s);
	vec_release(&s->codes);
	vec_release(&s->sources);
	index_release(&s->by_source);
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

static bool source_same(const void *owner, uint32_t i, const void *key)
{
	return ((const struct scripts *)owner)->sources.v[i].number == *(const uint64_t *)key;
}

static struct script_source *scripts_source(const struct scripts *s, uint64_t number)
{
	uint32_t i = index_find(&s->by_source, number, source_same, s, &number);

	return i == INDEX_NONE ? NULL : &s->sources.v[i];
}

/* Takes piece PIECE of source NUMBER, of N bytes, KIND a character. */
static void scripts_add_piece(struct scripts *s, uint64_t number, uint32_t piece, uint32_t kind,
			      const uint8_t *bytes, uint32_t n)
{
	struct script_source *source = scripts_source(s, number);
	struct rd text = rd_init(bytes, n);

	if (!source) {
		index_add(&s->by_source, number, (uint32_t)s->sources.n);
		vec_push(&s->sources, ((struct script_source){.number = number}));
		source = &s->sources.v[s->sources.n - 1];
		s->n_bytes += CODE_BYTES;
	}
	if (piece != source->n_pieces) /* another CPU told it, or one was lost */
		return;
	source->n_pieces++;
	while (rd_left(&text) >= kind) {
		uint32_t c = kind == 1 ? rd_u8(&text) : rd_le16(&text);

		if (c == '\n') {
			vec_push(&source->ends, source->n_chars);
			s->n_bytes += sizeof(uint32_t);
		}
		source->n_chars++;
	}
}

/* The line that character POSITION of source NUMBER is in, the first is 1; 0: not known. */
static uint32_t scripts_line(const struct scripts *s, uint64_t number, uint32_t position)
{
	const struct script_source *source = number ? scripts_source(s, number) : NULL;

	if (!source || position >= source->n_chars)
		return 0;
	return lower_bound(i, 0, (uint32_t)source->ends.n, source->ends.v[i] < position) + 1;
}

/* The first fields of a struct script_record. */
struct record_head {
	uint64_t number, source;
	uint32_t what, interpreter, first_line, n_line_bytes, lines_cut;
};

static struct record_head get_head(struct rd *r)
{
	struct record_head h;

	h.number = rd_le64(r);
	h.source = rd_le64(r);
	h.what = rd_le32(r);
	h.interpreter = rd_le32(r);
	h.first_line = rd_le32(r);
	h.n_line_bytes = rd_le32(r);
	h.lines_cut = rd_le32(r);
	rd_le32(r);
	return h;
}

static bool get_record(struct rd *r, const struct record_head *h, struct script_code *c)
{
	_mem_ char *more = NULL;
	const uint8_t *lines;

	c->number = h->number;
	c->source = h->source;
	c->interpreter = h->interpreter;
	c->first_line = h->first_line;
	c->n_line_bytes = h->n_line_bytes;
	c->file = get_text(r);
	c->name = get_text(r);
	more = get_text(r);
	lines = rd_bytes(r, c->n_line_bytes <= SCRIPT_LINE_BYTES ? c->n_line_bytes : 0);
	if (r->bad || !c->file || !c->name || !more || c->n_line_bytes > SCRIPT_LINE_BYTES)
		return false;
	if (*more) {
		char *whole = xasprintf("%s%s", c->name, more);

		free(c->name);
		c->name = whole;
	}
	c->lines = xmemdup(lines, c->n_line_bytes);
	return true;
}

/* Takes a piece of a source. */
static bool get_piece(struct scripts *s, struct rd *r, const struct record_head *h)
{
	const uint8_t *bytes;

	rd_bytes(r, 3 * sizeof(struct script_text));
	bytes = rd_bytes(r, h->n_line_bytes);
	if (r->bad || h->n_line_bytes > SCRIPT_LINE_BYTES ||
	    (h->lines_cut != 1 && h->lines_cut != 2))
		return false;
	scripts_add_piece(s, h->number, h->first_line, h->lines_cut, bytes, h->n_line_bytes);
	return true;
}

static bool scripts_add_code(struct scripts *s, struct rd *r, const struct record_head *h)
{
	struct script_code *c;

	/* Each CPU tells it: its texts are read once. */
	if (scripts_find(s, h->number))
		return true;
	c = xcalloc(1, sizeof(*c));
	if (!get_record(r, h, c)) {
		free(c->file);
		free(c->name);
		free(c->lines);
		free(c);
		return !r->bad;
	}
	s->n_bytes += CODE_BYTES + strlen(c->file) + strlen(c->name) + c->n_line_bytes;
	index_add(&s->by_number, c->number, (uint32_t)s->codes.n);
	vec_push(&s->codes, c);
	return true;
}

bool scripts_add(struct scripts *s, const uint8_t *bytes, size_t n)
{
	struct rd r = rd_init(bytes, n);
	struct record_head h = get_head(&r);
	bool fits = true;

	s->n_told++;
	if (s->n_bytes > SCRIPTS_MOST_BYTES) {
		scripts_forget(s);
		fits = false;
	}
	if (h.what == SCRIPT_SOURCE ? !get_piece(s, &r, &h) : !scripts_add_code(s, &r, &h))
		s->n_damaged++;
	return fits;
}

place_id scripts_mark(struct profile *p, uint32_t mark)
{
	const char *name = mark_names[mark < SCRIPT_N_MARKS ? mark : 0];
	const struct script_function f = {.language = "python", .file = "[python]", .name = name};

	return profile_intern_script(p, profile_intern_script_image(p, &f), script_svma(name, 0),
				     &f, 0);
}

static struct script_function code_function(const struct script_code *c)
{
	const bool is_v8 = c->interpreter >= INTERPRETER_V8_FIRST;

	return (struct script_function){
		.language = is_v8 ? "javascript" : "python",
		.file = is_v8 && !*c->file ? "[javascript]" : c->file,
		.name = is_v8 && !*c->name ? "(anonymous)" : c->name,
		.first_line = c->first_line,
	};
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
	if (!c->is_placed && c->interpreter >= INTERPRETER_V8_FIRST && c->first_line)
		c->first_line = scripts_line(s, c->source, c->first_line - 1);
	f = code_function(c);
	if (!c->is_placed) {
		c->image = profile_intern_script_image(p, &f);
		c->start = script_svma(f.name, c->first_line);
		c->is_placed = true;
	}
	if (SCRIPT_OFF(frame) != SCRIPT_NO_OFF)
		line = python_line(c->interpreter, c->lines, c->n_line_bytes, c->first_line,
				   SCRIPT_OFF(frame));
	return profile_intern_script(p, c->image, c->start, &f, line);
}
