/* SPDX-License-Identifier: BSD-2-Clause */
/* See scripts.h.
 *
 * A record's bytes are those of the sampled process: strings and tables that may say anything.
 * Numbers depend on the process and on a secret of this recording, so what a process says of its
 * code is believed of its own frames alone. */
#include "collect/calls/scripts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/lower_bound.h"
#include "base/rd.h"
#include "base/str.h"
#include "model/script.h"
#include "unwind/chain.h"
#include "unwind/go_labels_state.h"
#include "unwind/hotspot_lines.h"
#include "unwind/python_lines.h"
#include "unwind/script_record.h"

/* What every piece of code takes besides its strings. */
#define CODE_BYTES 160

/* What an image or a place takes of the profile besides its texts, with what finds it. */
#define IMAGE_BYTES (sizeof(struct image) + 32)
#define PLACE_BYTES (sizeof(struct place) + sizeof(struct script) + 32)

struct script_code {
	uint64_t number;
	char *file, *name;
	uint64_t source;      /* its number; 0: not known */
	uint32_t interpreter; /* enum interpreter */
	uint32_t first_line;
	uint32_t n_line_bytes;
	uint8_t *lines;
	string_id labels; /* of a goroutine, when they are placed; else 0 */
	bool is_placed;	  /* these are known, and first_line is one: */
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
	[SCRIPT_NOT_COPIED] = "[Python functions not copied]",
	[SCRIPT_PHP + SCRIPT_NO_STATE] = "[no PHP state]",
	[SCRIPT_PHP + SCRIPT_UNREADABLE] = "[PHP frame unreadable]",
	[SCRIPT_PHP + SCRIPT_NOT_COPIED] = "[PHP functions not copied]",
	[SCRIPT_PERL + SCRIPT_NO_STATE] = "[no Perl state]",
	[SCRIPT_PERL + SCRIPT_UNREADABLE] = "[Perl frame unreadable]",
	[SCRIPT_PERL + SCRIPT_NOT_COPIED] = "[Perl functions not copied]",
	[SCRIPT_RUBY + SCRIPT_NO_STATE] = "[no Ruby state]",
	[SCRIPT_RUBY + SCRIPT_UNREADABLE] = "[Ruby frame unreadable]",
	[SCRIPT_RUBY + SCRIPT_NOT_COPIED] = "[Ruby functions not copied]",
	[SCRIPT_V8 + SCRIPT_UNREADABLE] = "[JavaScript function unreadable]",
	[SCRIPT_HOTSPOT + SCRIPT_UNREADABLE] = SCRIPT_JAVA_UNREADABLE,
	[SCRIPT_GO] = "[labels not told]",
	[SCRIPT_GO + SCRIPT_NO_STATE] = "[labels of this Go not known]",
	[SCRIPT_GO + SCRIPT_UNREADABLE] = "[labels unreadable]",
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

/* Appends the characters of TEXT, UTF-8 as Java writes it, up to a zero; what is no character as a
 * replacement. */
static void add_utf8(struct str *out, struct rd *text)
{
	while (rd_left(text)) {
		uint32_t c = rd_u8(text);
		const unsigned n = c < 0x80 ? 0 : c < 0xc0 ? 4 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 4;

		if (!c)
			return;
		if (n == 4 || rd_left(text) < n) {
			add_char(out, 0xfffd);
			continue;
		}
		c &= n ? 0x7fu >> (n + 1) : 0x7f;
		for (unsigned i = 0; i < n; i++)
			c = c << 6 | (rd_u8(text) & 63);
		add_char(out, c);
	}
}

/* Reads a struct script_text; NULL when it is malformed. */
static char *get_text(struct rd *r)
{
	uint32_t n = rd_le32(r);
	uint16_t kind = rd_le16(r), is_cut = rd_le16(r);
	const uint8_t *bytes = rd_bytes(r, SCRIPT_TEXT_BYTES);
	struct rd text = rd_init(bytes, bytes && n <= SCRIPT_TEXT_BYTES ? n : 0);
	struct str out = {0};

	if (r->bad || n > SCRIPT_TEXT_BYTES || kind < 1 || kind > 4)
		return NULL;
	if (kind == SCRIPT_TEXT_UTF8)
		add_utf8(&out, &text);
	while (kind != SCRIPT_TEXT_UTF8 && rd_left(&text) >= kind)
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

/* Makes of class, method and source file what a reader is shown: the file beside its package, and
 * the method behind its class.  Classes without a name of their own have an address behind it. */
static void name_method(struct script_code *c, const char *source)
{
	char *class = c->file, *method = c->name, *slash;

	for (char *p = class; *p; p++)
		if ((*p == '+' || *p == '/') && p[1] == '0' && p[2] == 'x')
			*p = 0;
	slash = strrchr(class, '/');
	if (!*class)
		c->file = xstrdup("[java]");
	else if (*source)
		c->file = xasprintf("%.*s%s", slash ? (int)(slash - class + 1) : 0, class, source);
	else
		c->file = xstrdup(class);
	for (char *p = class; *p; p++)
		if (*p == '/')
			*p = '.';
	c->name = *class ? xasprintf("%s.%s", class, method) : xasprintf("[%s]", method);
	c->first_line = hotspot_first_line(c->interpreter, c->lines, c->n_line_bytes);
	free(class);
	free(method);
}

/* Puts the class or package IN before the name. */
static void name_in(struct script_code *c, const char *in)
{
	char *name = c->name;

	c->name = *in ? xasprintf("%s::%s", in, name) : xstrdup(*name ? name : "{main}");
	free(name);
}

/* Puts the class IN, which ends with # or a dot, before the method's name: "block in C#m".  What
 * is no method has a name such as "<main>", unlike the operators "<" and "<=>". */
static void name_in_class(struct script_code *c, const char *in)
{
	char *name = c->name, *method = name, *next;

	while ((next = strstr(method, " in ")))
		method = next + strlen(" in ");
	c->name = *method == '<' && isalpha((unsigned char)method[1])
			  ? xstrdup(name)
			  : xasprintf("%.*s%s%s", (int)(method - name), name, in, method);
	free(name);
}

/* A function of V8's own has `undefined` for a script.  What was read for that script's name is the
 * text of this value (src/objects/oddball.h: to_string is where a script has its name). */
static void name_builtin(struct script_code *c)
{
	if (strcmp(c->file, "undefined") != 0)
		return;
	c->file[0] = '\0';
	if (!*c->name) {
		free(c->name);
		c->name = xstrdup("(builtin)");
	}
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
	c->lines = xmemdup(lines, c->n_line_bytes);
	if (INTERPRETER_IS_HOTSPOT(c->interpreter)) {
		name_method(c, more);
	} else if (INTERPRETER_IS_PHP(c->interpreter) || INTERPRETER_IS_PERL(c->interpreter)) {
		name_in(c, more);
	} else if (INTERPRETER_IS_RUBY(c->interpreter)) {
		name_in_class(c, more);
	} else if (*more) {
		char *whole = xasprintf("%s%s", c->name, more);

		free(c->name);
		c->name = whole;
	}
	if (INTERPRETER_IS_V8(c->interpreter))
		name_builtin(c);
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

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends the text of N bytes that begins what R has of MOST, "..." where it is longer. */
static void add_label_text(struct str *out, struct rd *r, uint32_t n, uint32_t most)
{
	const uint8_t *bytes = rd_bytes(r, most);
	struct rd text = rd_init(bytes, bytes ? n < most ? n : most : 0);

	add_utf8(out, &text);
	if (n > most)
		str_add(out, "...");
}

/* Reads what is left of R as the labels of a goroutine that has N: "KEY=VALUE KEY=VALUE", ordered.
 * NULL when they are malformed. */
static char *get_labels(struct rd *r, uint32_t n)
{
	_vec_ VEC(char *) labels = {0};
	struct str out = {0};

	while (rd_left(r) >= sizeof(struct go_label)) {
		const uint32_t n_key = rd_le32(r), n_value = rd_le32(r);
		struct str one = {0};

		add_label_text(&one, r, n_key, GO_KEY_BYTES);
		str_addc(&one, '=');
		add_label_text(&one, r, n_value, GO_VALUE_BYTES);
		vec_push(&labels, one.v);
	}
	if (labels.n)
		qsort(labels.v, labels.n, sizeof(*labels.v), by_text);
	vec_each (text, &labels) {
		str_addf(&out, "%s%s", out.n ? " " : "", *text);
		free(*text);
	}
	if (labels.n < n)
		str_addf(&out, "%s...", out.n ? " " : "");
	return out.v;
}

/* Takes the labels of a goroutine. */
static bool scripts_add_labels(struct scripts *s, struct rd *r, const struct record_head *h)
{
	struct script_code *c;
	const uint8_t *bytes;
	struct rd labels;
	char *text;

	if (scripts_find(s, h->number))
		return true;
	rd_bytes(r, 3 * sizeof(struct script_text));
	bytes = rd_bytes(r, h->n_line_bytes);
	if (r->bad || h->n_line_bytes > SCRIPT_LINE_BYTES)
		return false;
	labels = rd_init(bytes, h->n_line_bytes);
	text = get_labels(&labels, h->first_line);
	if (!text)
		return false;
	c = xcalloc(1, sizeof(*c));
	c->number = h->number;
	c->interpreter = h->interpreter;
	c->file = xstrdup("");
	c->name = text;
	s->n_bytes += CODE_BYTES + strlen(c->name);
	index_add(&s->by_number, c->number, (uint32_t)s->codes.n);
	vec_push(&s->codes, c);
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
	if (h.what == SCRIPT_SOURCE   ? !get_piece(s, &r, &h)
	    : h.what == SCRIPT_LABELS ? !scripts_add_labels(s, &r, &h)
				      : !scripts_add_code(s, &r, &h))
		s->n_damaged++;
	return fits;
}

/* What is said of the language of an interpreter. */
struct script_language {
	const char *language, *no_file, *no_name;
};

static const struct script_language *language_of(uint32_t interpreter)
{
	static const struct script_language python = {"python", "[python]", "[python]"},
					    javascript = {"javascript", "[javascript]",
							  "(anonymous)"},
					    java = {"java", "[java]", "[java]"},
					    php = {"php", "[php]", "{main}"},
					    perl = {"perl", "[perl]", "{main}"},
					    ruby = {"ruby", "[ruby]", "[ruby]"};

	return INTERPRETER_IS_V8(interpreter)	     ? &javascript
	       : INTERPRETER_IS_HOTSPOT(interpreter) ? &java
	       : INTERPRETER_IS_PHP(interpreter)     ? &php
	       : INTERPRETER_IS_PERL(interpreter)    ? &perl
	       : INTERPRETER_IS_RUBY(interpreter)    ? &ruby
						     : &python;
}

place_id scripts_mark(struct profile *p, uint32_t mark)
{
	const char *name = mark < SCRIPT_N_MARKS ? mark_names[mark] : NULL;
	const uint32_t kind = mark - mark % SCRIPT_N_KINDS;
	const struct script_language *l =
		language_of(kind == SCRIPT_PHP	     ? INTERPRETER_PHP_FIRST
			    : kind == SCRIPT_PERL    ? INTERPRETER_PERL_FIRST
			    : kind == SCRIPT_RUBY    ? INTERPRETER_RUBY_FIRST
			    : kind == SCRIPT_V8	     ? INTERPRETER_V8_FIRST
			    : kind == SCRIPT_HOTSPOT ? INTERPRETER_HOTSPOT_FIRST
						     : INTERPRETER_NONE);
	const struct script_function f = {
		.language = l->language, .file = l->no_file, .name = name ? name : mark_names[0]};

	return profile_intern_script(p, profile_intern_script_image(p, &f), script_svma(f.name, 0),
				     &f, 0);
}

static struct script_function code_function(const struct script_code *c)
{
	const struct script_language *l = language_of(c->interpreter);

	return (struct script_function){
		.language = l->language,
		.file = *c->file ? c->file : l->no_file,
		.name = *c->name ? c->name : l->no_name,
		.first_line = c->first_line,
	};
}

/* The line that offset OFF of C, as in a frame, is in. */
static uint32_t code_line(const struct scripts *s, const struct script_code *c, uint32_t off)
{
	if (INTERPRETER_IS_PHP(c->interpreter) || INTERPRETER_IS_PERL(c->interpreter) ||
	    INTERPRETER_IS_RUBY(c->interpreter))
		return off;
	if (INTERPRETER_IS_V8(c->interpreter))
		return scripts_line(s, c->source, off);
	if (INTERPRETER_IS_HOTSPOT(c->interpreter))
		return hotspot_line(c->interpreter, c->lines, c->n_line_bytes, off);
	return python_line(c->interpreter, c->lines, c->n_line_bytes, c->first_line, off);
}

static bool has_room(const struct scripts *s)
{
	return s->n_placed_bytes < SCRIPTS_MOST_PLACED;
}

/* The place in P of code like C that there is no room for. */
static place_id place_beyond(struct profile *p, const struct script_code *c)
{
	const struct script_language *l = language_of(c->interpreter);
	const struct script_function f = {
		.language = l->language, .file = l->no_file, .name = "[more code than is kept]"};

	return profile_intern_script(p, profile_intern_script_image(p, &f), script_svma(f.name, 0),
				     &f, 0);
}

/* What P has in texts, images and places of scripts. */
static size_t placed_bytes(const struct profile *p)
{
	return p->arena.n_bytes + p->images.n * IMAGE_BYTES + p->scripts.n * PLACE_BYTES;
}

/* The place in P of code C, at OFF. */
static place_id place_code(struct scripts *s, struct profile *p, struct script_code *c,
			   uint32_t off)
{
	struct script_function f;
	uint32_t line = 0;

	if (!c->is_placed && INTERPRETER_IS_V8(c->interpreter) && c->first_line)
		c->first_line = scripts_line(s, c->source, c->first_line - 1);
	f = code_function(c);
	if (!c->is_placed) {
		c->image = profile_intern_script_image(p, &f);
		c->start = script_svma(f.name, c->first_line);
		c->is_placed = true;
	}
	if (off != SCRIPT_NO_OFF && has_room(s))
		line = code_line(s, c, off);
	return profile_intern_script(p, c->image, c->start, &f, line);
}

string_id scripts_labels(struct scripts *s, struct profile *p, uint64_t frame)
{
	const uint64_t number = SCRIPT_CODE(frame);
	struct script_code *c = number < SCRIPT_N_MARKS ? NULL : scripts_find(s, number);
	const char *mark = number < SCRIPT_N_MARKS ? mark_names[number] : mark_names[SCRIPT_GO];

	if (!c || !INTERPRETER_IS_GO(c->interpreter))
		return profile_intern_str(p, mark ? mark : mark_names[SCRIPT_GO]);
	if (!c->labels && s->n_labels >= SCRIPTS_MOST_LABELS)
		return profile_intern_str(p, "[more labels than are kept]");
	if (!c->labels) {
		c->labels = profile_intern_str(p, c->name);
		s->n_labels++;
	}
	return c->labels;
}

place_id scripts_place(struct scripts *s, struct profile *p, uint64_t frame)
{
	const uint64_t number = SCRIPT_CODE(frame);
	struct script_code *c = number < SCRIPT_N_MARKS ? NULL : scripts_find(s, number);
	const size_t n_before = placed_bytes(p);
	place_id place;

	if (!c) {
		s->n_unknown += number >= SCRIPT_N_MARKS;
		return scripts_mark(p, number < SCRIPT_N_MARKS ? (uint32_t)number : 0);
	}
	if (!c->is_placed && !has_room(s))
		return place_beyond(p, c);
	place = place_code(s, p, c, SCRIPT_OFF(frame));
	s->n_placed_bytes += placed_bytes(p) - n_before;
	return place;
}
