/* SPDX-License-Identifier: BSD-2-Clause */
/* dcpicat's text form.  The header's words and their meaning are dcpicat(1)'s; that `path` may be
 * repeated, and the form of ProfileMe event lines (SET:COUNTER instead of a name), are as
 * HPCToolkit's xprof reads them (src/tool/xprof/ProfileReader.cpp).
 *
 * What the text says twice is checked: an event's TOTAL must be its column's sum, rows must rise
 * and have a column for every event.  So a damaged or cut text does not pass for a profile. */
#include "formats/dcpi_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "formats/dcpi.h"

/* Printing. */

static void add_field(struct str *out, const char *word, const char *value)
{
	size_t start;

	str_addf(out, "%-20s ", word);
	start = out->n;
	str_add(out, *value ? value : "unknown");
	for (size_t i = start; i < out->n; i++)
		if (out->v[i] == '\n')
			out->v[i] = '?';
}

static void add_line(struct str *out, const char *word, const char *value)
{
	add_field(out, word, value);
	str_addc(out, '\n');
}

void dcpi_text_format(const struct dcpi_text *t, struct str *out)
{
	add_line(out, "name", t->name);
	add_line(out, "image", t->image);
	if (t->label)
		add_line(out, "label", t->label);
	vec_each (path, &t->paths)
		add_line(out, "path", *path);
	vec_each (line, &t->others)
		str_addf(out, "%s\n", *line);
	add_line(out, "epoch", t->epoch);
	add_line(out, "platform", t->platform);
	str_addf(out, "%-20s 0x%012" PRIx64 "\n", "text_start", t->text_start);
	str_addf(out, "%-20s 0x%012" PRIx64 "\n", "text_size", t->text_bytes);
	vec_each (e, &t->events) {
		_mem_ char *name =
			xasprintf("%" PRIu64 " %s", e->total, *e->name ? e->name : "unknown");

		add_field(out, "event", name);
		str_addf(out, "%s%s:%" PRIu64 ":%u\n", e->counter ? ":" : "",
			 e->counter ? e->counter : "", e->period, e->duty);
	}
	for (size_t i = 0; i < t->pcs.n; i++) {
		str_addf(out, "0x%012" PRIx64, t->pcs.v[i]);
		for (size_t k = 0; k < t->events.n; k++)
			str_addf(out, " %7" PRIu64, t->counts.v[i * t->events.n + k]);
		str_addc(out, '\n');
	}
}

/* Lines that the text has besides; a speed takes the place of the one that is not known. */
static void add_others(const struct dcpi_text *t, struct dcpi_file *f)
{
	vec_each (line, &t->others) {
		const struct dcpi_line *new;

		if (str_starts(*line, "dwell-stride") ||
		    dcpi_copy_line(f, *line, strlen(*line)) < 0)
			continue;
		new = &f->lines.v[f->lines.n - 1];
		for (size_t i = 0; i + 1 < f->lines.n; i++) {
			if (f->lines.v[i].key != new->key || new->key >= DCPI_CPUAMASK)
				continue;
			if (new->key == DCPI_CPUSPEED)
				f->lines.v[i] = *new;
			f->lines.n--;
			break;
		}
	}
}

static void add_header(const struct dcpi_text *t, const struct dcpi_text_event *e,
		       struct dcpi_file *f)
{
	char epoch[15];
	uint64_t s = 0;

	dcpi_parse_time(t->epoch, &s);
	dcpi_format_time(s, dcpi_time_digits(s), epoch);
	dcpi_add_line(f, "image", t->image);
	dcpi_add_line(f, "epoch", epoch);
	dcpi_add_line(f, "platform", t->platform);
	dcpi_add_linef(f, "event", "%s%s%s", e->name, e->counter ? ":" : "",
		       e->counter ? e->counter : "");
	dcpi_add_linef(f, "period", "%" PRIu64, e->period);
	dcpi_add_linef(f, "tstart", "%012" PRIx64, t->text_start);
	dcpi_add_linef(f, "tsize", "%" PRIu64, t->text_bytes);
	dcpi_add_line(f, "cpuspeed", "0");
	vec_each (path, &t->paths)
		dcpi_add_line(f, "path", *path);
	if (t->label)
		dcpi_add_line(f, "label", t->label);
	add_others(t, f);
	dcpi_add_linef(f, "dwell-stride", "%u", f->stride);
}

int dcpi_text_to_file(const struct dcpi_text *t, size_t event, unsigned minor, unsigned stride,
		      struct dcpi_file *f, struct err *err)
{
	VEC(struct dcpi_count) counts = {0};
	int r;

	dcpi_init(f, minor, stride);
	add_header(t, &t->events.v[event], f);
	for (size_t i = 0; i < t->pcs.n; i++)
		vec_push(&counts,
			 (struct dcpi_count){t->pcs.v[i], t->counts.v[i * t->events.n + event]});
	r = dcpi_add_counts(f, counts.v, counts.n, err);
	vec_release(&counts);
	if (r < 0)
		dcpi_release(f);
	return r;
}

/* Parsing. */

struct dcpi_text_reader dcpi_text_begin(const char *text, size_t n)
{
	if (n == 0)
		text = ""; /* an empty buffer may be NULL, which nothing is added to */
	return (struct dcpi_text_reader){.p = text, .end = text + n, .line = 1};
}

struct line {
	const char *s;
	size_t n, n_word;
	const char *value; /* behind the word and its blanks */
	size_t n_value;
};

/* The line at R's place, blanks at its end left out; false at the end of the text. */
static bool peek(const struct dcpi_text_reader *r, struct line *l)
{
	const char *nl;

	if (r->p == r->end)
		return false;
	nl = memchr(r->p, '\n', (size_t)(r->end - r->p));
	*l = (struct line){.s = r->p, .n = (size_t)((nl ? nl : r->end) - r->p)};
	while (l->n && (str_is_blank(l->s[l->n - 1]) || l->s[l->n - 1] == '\r'))
		l->n--;
	while (l->n_word < l->n && !str_is_blank(l->s[l->n_word]))
		l->n_word++;
	l->value = l->s + l->n_word;
	while (l->value < l->s + l->n && str_is_blank(*l->value))
		l->value++;
	l->n_value = (size_t)(l->s + l->n - l->value);
	return true;
}

static void dcpi_text_step(struct dcpi_text_reader *r)
{
	const char *nl = memchr(r->p, '\n', (size_t)(r->end - r->p));

	r->p = nl ? nl + 1 : r->end;
	r->line++;
}

static bool word_is(const struct line *l, const char *word)
{
	return l->n_word == strlen(word) && memcmp(l->s, word, l->n_word) == 0;
}

static bool is_row(const struct line *l)
{
	return l->n >= 2 && l->s[0] == '0' && l->s[1] == 'x';
}

static int dcpi_text_bad(const struct dcpi_text_reader *r, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int dcpi_text_bad(const struct dcpi_text_reader *r, struct err *err, const char *fmt, ...)
{
	_mem_ char *why = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&why, fmt, ap) < 0)
		why = xstrdup("malformed");
	va_end(ap);
	return err_set(err, -EBADMSG, "line %zu: %s", r->line, why);
}

/* Parses the unsigned number at *P, before END, and steps over it. */
static bool take_number(const char **p, const char *end, unsigned base, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;

	for (; s < end; s++) {
		unsigned digit = (unsigned)(*s - '0');

		if (digit > 9)
			digit = (unsigned)((*s | 0x20) - 'a') < 6
					? (unsigned)((*s | 0x20) - 'a') + 10
					: 99;
		if (digit >= base)
			break;
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v))
			return false;
	}
	if (s == *p)
		return false;
	*p = s;
	*ret = v;
	return true;
}

/* All of S[0 .. N) as a number. */
static bool whole_number(const char *s, size_t n, unsigned base, uint64_t *ret)
{
	const char *p = s;

	return take_number(&p, s + n, base, ret) && p == s + n;
}

static bool is_counter(const char *s)
{
	/* dcpiprofileme(1): modes pm0 .. pm3 count the samples and two counters each. */
	static const char *const names[] = {"count",	"inflight", "retires",
					    "retdelay", "bcmisses", "replays"};

	if (s[0] != 'm' || s[1] < '0' || s[1] > '3')
		return false;
	for (size_t i = 0; i < n_elems(names); i++)
		if (strcmp(s + 2, names[i]) == 0)
			return true;
	return false;
}

char *dcpi_text_split_counter(char *name)
{
	char *colon = strrchr(name, ':');

	if (!colon || colon == name ||
	    (!is_counter(colon + 1) &&
	     (colon[1] != 'm' || !colon[2] || !memchr(name, '@', (size_t)(colon - name)))))
		return NULL;
	*colon = '\0';
	return colon + 1;
}

/* TOTAL NAME[:COUNTER]:PERIOD:DUTY, where NAME may hold blanks and colons (cycles:u). */
static int parse_event(const struct dcpi_text_reader *r, struct dcpi_text *t, const struct line *l,
		       struct err *err)
{
	const char *p = l->value, *end = l->value + l->n_value, *duty, *period;
	struct dcpi_text_event e = {0};
	uint64_t d = 0;
	char *name;

	if (!take_number(&p, end, 10, &e.total) || p == end || !str_is_blank(*p))
		return dcpi_text_bad(r, err,
				     "an event line begins with its total, TOTAL NAME:PERIOD:DUTY");
	while (p < end && str_is_blank(*p))
		p++;
	duty = memrchr(p, ':', (size_t)(end - p));
	period = duty ? memrchr(p, ':', (size_t)(duty - p)) : NULL;
	if (!period || period == p || !whole_number(duty + 1, (size_t)(end - duty - 1), 10, &d) ||
	    d > DCPI_DUTY_ALWAYS ||
	    !whole_number(period + 1, (size_t)(duty - period - 1), 10, &e.period))
		return dcpi_text_bad(
			r, err, "an event line ends with NAME:PERIOD:DUTY, duty at most 10000");
	e.duty = (unsigned)d;
	name = arena_strndup(&t->arena, p, (size_t)(period - p));
	e.counter = dcpi_text_split_counter(name);
	e.name = name;
	vec_push(&t->events, e);
	return 0;
}

static int parse_row(const struct dcpi_text_reader *r, struct dcpi_text *t, const struct line *l,
		     struct err *err)
{
	const char *p = l->s + 2, *end = l->s + l->n;
	uint64_t v;

	if (!take_number(&p, end, 16, &v))
		return dcpi_text_bad(r, err,
				     "a row begins with an address of at most 64 bits, in hex");
	if (t->pcs.n && v <= t->pcs.v[t->pcs.n - 1])
		return dcpi_text_bad(r, err, "address %#" PRIx64 " is not above the row before", v);
	vec_push(&t->pcs, v);
	for (size_t i = 0; i < t->events.n; i++) {
		const char *blank = p;

		while (p < end && str_is_blank(*p))
			p++;
		if (p == blank || !take_number(&p, end, 10, &v))
			return dcpi_text_bad(r, err, "column %zu of %zu is no count", i + 1,
					     t->events.n);
		vec_push(&t->counts, v);
	}
	if (p != end)
		return dcpi_text_bad(r, err,
				     "a row has a count for each of the %zu events, and no more",
				     t->events.n);
	return 0;
}

static int check_totals(const struct dcpi_text_reader *r, const struct dcpi_text *t,
			struct err *err)
{
	for (size_t k = 0; k < t->events.n; k++) {
		const struct dcpi_text_event *e = &t->events.v[k];
		uint64_t sum = 0;

		for (size_t i = k; i < t->counts.n; i += t->events.n)
			if (__builtin_add_overflow(sum, t->counts.v[i], &sum))
				return dcpi_text_bad(r, err, "the counts of %.60s pass 64 bits",
						     e->name);
		if (sum != e->total)
			return dcpi_text_bad(r, err,
					     "the rows above hold %" PRIu64
					     " samples of %.60s, its event line says %" PRIu64,
					     sum, e->name, e->total);
	}
	return 0;
}

static int parse_address(const struct dcpi_text_reader *r, const struct line *l, uint64_t *ret,
			 struct err *err)
{
	const char *s = l->value;
	size_t n = l->n_value;

	if (n > 2 && s[0] == '0' && s[1] == 'x') {
		s += 2;
		n -= 2;
	}
	if (!whole_number(s, n, 16, ret))
		return dcpi_text_bad(r, err, "%.*s needs a number in hex", (int)l->n_word, l->s);
	return 0;
}

static int set_once(const struct dcpi_text_reader *r, struct dcpi_text *t, const struct line *l,
		    const char **to, struct err *err)
{
	if (*to)
		return dcpi_text_bad(r, err, "a second %.*s line", (int)l->n_word, l->s);
	*to = arena_strndup(&t->arena, l->value, l->n_value);
	return 0;
}

struct seen {
	bool text_start, text_bytes;
};

static int parse_header_line(const struct dcpi_text_reader *r, struct dcpi_text *t,
			     const struct line *l, struct seen *seen, struct err *err)
{
	uint64_t s;
	int e;

	if (!l->n_word || !l->n_value || memchr(l->s, '\0', l->n))
		return dcpi_text_bad(r, err, "not `word value`, nor a row that begins with 0x");
	if (word_is(l, "image"))
		return set_once(r, t, l, &t->image, err);
	if (word_is(l, "label"))
		return set_once(r, t, l, &t->label, err);
	if (word_is(l, "platform"))
		return set_once(r, t, l, &t->platform, err);
	if (word_is(l, "epoch")) {
		e = set_once(r, t, l, &t->epoch, err);
		if (e >= 0 && dcpi_parse_time(t->epoch, &s) < 0)
			return dcpi_text_bad(r, err, "epoch needs a time such as 199805191724");
		return e;
	}
	if (word_is(l, "path")) {
		vec_push(&t->paths, arena_strndup(&t->arena, l->value, l->n_value));
		return 0;
	}
	if (word_is(l, "text_start")) {
		seen->text_start = true;
		return parse_address(r, l, &t->text_start, err);
	}
	if (word_is(l, "text_size")) {
		seen->text_bytes = true;
		return parse_address(r, l, &t->text_bytes, err);
	}
	if (word_is(l, "event"))
		return parse_event(r, t, l, err);
	if (!word_is(l, "name")) {
		const char *nl = memchr(l->s, '\n', (size_t)(r->end - l->s));

		/* With the blanks at its end, which belong to a header line. */
		vec_push(&t->others,
			 arena_strndup(&t->arena, l->s, (size_t)((nl ? nl : r->end) - l->s)));
	}
	return 0;
}

static int check_header(const struct dcpi_text_reader *r, const struct dcpi_text *t,
			const struct seen *seen, struct err *err)
{
	const char *missing = !t->image		  ? "image"
			      : !t->epoch	  ? "epoch"
			      : !t->platform	  ? "platform"
			      : !seen->text_start ? "text_start"
			      : !seen->text_bytes ? "text_size"
			      : !t->events.n	  ? "event"
						  : NULL;

	return missing ? dcpi_text_bad(r, err, "the header above has no %s line", missing) : 0;
}

static int parse_block(struct dcpi_text_reader *r, struct dcpi_text *t, struct err *err)
{
	struct seen seen = {0};
	struct line l;
	int e;

	while (peek(r, &l) && !l.n)
		dcpi_text_step(r);
	if (!peek(r, &l))
		return 0;
	if (!word_is(&l, "name"))
		return dcpi_text_bad(r, err, "a profile begins with its name line");
	e = parse_header_line(r, t, &l, &seen, err);
	if (e < 0)
		return e;
	t->name = arena_strndup(&t->arena, l.value, l.n_value);
	for (dcpi_text_step(r); peek(r, &l) && l.n && !is_row(&l) && !word_is(&l, "name");
	     dcpi_text_step(r)) {
		e = parse_header_line(r, t, &l, &seen, err);
		if (e < 0)
			return e;
	}
	e = check_header(r, t, &seen, err);
	if (e < 0)
		return e;
	for (; peek(r, &l) && l.n && !word_is(&l, "name"); dcpi_text_step(r)) {
		if (!is_row(&l))
			return dcpi_text_bad(r, err, "a row begins with an address, 0x...");
		e = parse_row(r, t, &l, err);
		if (e < 0)
			return e;
	}
	e = check_totals(r, t, err);
	return e < 0 ? e : 1;
}

int dcpi_text_next(struct dcpi_text_reader *r, struct dcpi_text *t, struct err *err)
{
	int e;

	memset(t, 0, sizeof(*t));
	e = parse_block(r, t, err);
	if (e <= 0)
		dcpi_text_release(t);
	return e;
}

#define MOST_PROBED 65536 /* two lines; a file may be one line of gigabytes */

bool dcpi_text_probe(const char *text, size_t n)
{
	struct dcpi_text_reader r = dcpi_text_begin(text, n < MOST_PROBED ? n : MOST_PROBED);
	struct line l;

	while (peek(&r, &l) && !l.n)
		dcpi_text_step(&r);
	if (!peek(&r, &l) || !word_is(&l, "name") || !l.n_value)
		return false;
	dcpi_text_step(&r);
	return peek(&r, &l) && word_is(&l, "image");
}

void dcpi_text_release(struct dcpi_text *t)
{
	arena_release(&t->arena);
	vec_release(&t->paths);
	vec_release(&t->others);
	vec_release(&t->events);
	vec_release(&t->pcs);
	vec_release(&t->counts);
	memset(t, 0, sizeof(*t));
}
