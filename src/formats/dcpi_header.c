/* SPDX-License-Identifier: BSD-2-Clause */
/* The ASCII header of a DCPI profile file: lines, their values, epochs.
 *
 * Every line is kept as the bytes it was; the values readers need are parsed into fields beside.
 * The grammar is dcpiformat(4)'s (docs/formats/dcpi.md, "The header"): a line is `word blank+
 * value`, and a word that the page gives a form to must have that form - it is never taken as an
 * unknown line. */
#include "formats/dcpi.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/str.h"

enum form { FORM_VERSION, FORM_HEX, FORM_ADDRESS, FORM_DIGITS, FORM_TIME, FORM_REST };

/* dcpiformat(4), <required> and <optional>.  `version` and `tstart` are in the grammar of the page
 * as distributed with DCPI for Windows NT; the OpenVMS page lost them.  text_start is the word
 * dcpicat(1) prints for the same thing. */
static const struct keyword {
	const char *word;
	enum dcpi_key key;
	enum form form;
} keywords[] = {
	{"version", DCPI_VERSION, FORM_VERSION},  {"image", DCPI_IMAGE, FORM_HEX},
	{"epoch", DCPI_EPOCH, FORM_TIME},	  {"platform", DCPI_PLATFORM, FORM_REST},
	{"event", DCPI_EVENT, FORM_REST},	  {"period", DCPI_PERIOD, FORM_DIGITS},
	{"tstart", DCPI_TSTART, FORM_ADDRESS},	  {"text_start", DCPI_TSTART, FORM_ADDRESS},
	{"tsize", DCPI_TSIZE, FORM_DIGITS},	  {"cpuspeed", DCPI_CPUSPEED, FORM_DIGITS},
	{"cpuamask", DCPI_CPUAMASK, FORM_HEX},	  {"cpuimplv", DCPI_CPUIMPLV, FORM_DIGITS},
	{"cpucount", DCPI_CPUCOUNT, FORM_DIGITS}, {"path", DCPI_PATH, FORM_REST},
};

static const char *const form_names[] = {
	[FORM_VERSION] = "pdb-MAJOR.MINOR",
	[FORM_HEX] = "hex digits",
	[FORM_ADDRESS] = "a 64-bit address in hex digits",
	[FORM_DIGITS] = "digits (64 bits at most)",
	[FORM_TIME] = "a time such as 9805191724",
	[FORM_REST] = "text",
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Epochs. */

static bool two_digits(const char *s, int least, int most, int *ret)
{
	*ret = (s[0] - '0') * 10 + (s[1] - '0');
	return *ret >= least && *ret <= most;
}

int dcpi_parse_time(const char *s, uint64_t *ret_s)
{
	static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	size_t n = strlen(s);
	struct tm tm = {0};
	int year, century = 0;

	if (strspn(s, "0123456789") != n || (n != 10 && n != 12 && n != 14))
		return -EINVAL;
	if (n > 10) {
		two_digits(s, 0, 99, &century);
		s += 2;
	}
	two_digits(s, 0, 99, &year);
	year += n > 10 ? century * 100 : year < 70 ? 2000 : 1900;
	if (year < 1970 || !two_digits(s + 2, 1, 12, &tm.tm_mon) ||
	    !two_digits(s + 4, 1, days[tm.tm_mon - 1], &tm.tm_mday) ||
	    !two_digits(s + 6, 0, 23, &tm.tm_hour) || !two_digits(s + 8, 0, 59, &tm.tm_min) ||
	    (n == 14 && !two_digits(s + 10, 0, 59, &tm.tm_sec)))
		return -EINVAL;
	if (tm.tm_mon == 2 && tm.tm_mday == 29 &&
	    (year % 4 != 0 || (year % 100 == 0 && year % 400 != 0)))
		return -EINVAL;
	tm.tm_mon--;
	tm.tm_year = year - 1900;
	*ret_s = (uint64_t)timegm(&tm);
	return 0;
}

void dcpi_format_time(uint64_t seconds, unsigned n_digits, char ret[15])
{
	const uint64_t most = 253402300799; /* 9999-12-31 23:59:59 */
	time_t t = (time_t)(seconds < most ? seconds : most);
	char full[40];
	struct tm tm;

	gmtime_r(&t, &tm);
	snprintf(full, sizeof(full), "%04d%02d%02d%02d%02d%02d", tm.tm_year + 1900, tm.tm_mon + 1,
		 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (n_digits == 10)
		snprintf(ret, 15, "%.10s", full + 2);
	else
		snprintf(ret, 15, "%.*s", (int)(n_digits == 12 ? 12 : 14), full);
}

unsigned dcpi_time_digits(uint64_t seconds)
{
	return seconds < 3155760000 ? 10 : 14; /* before 2070 */
}

/* Values. */

static int parse_version(const char *s, unsigned *ret_major, unsigned *ret_minor)
{
	char major[12], minor[12];
	size_t n_major, n_minor;
	uint64_t a, b;

	if (str_starts(s, "pdb-"))
		s += 4;
	n_major = strspn(s, "0123456789");
	if (s[n_major] != '.' || n_major >= sizeof(major))
		return -EINVAL;
	n_minor = strspn(s + n_major + 1, "0123456789");
	if (n_minor >= sizeof(minor) || s[n_major + 1 + n_minor])
		return -EINVAL;
	snprintf(major, sizeof(major), "%.*s", (int)n_major, s);
	snprintf(minor, sizeof(minor), "%.*s", (int)n_minor, s + n_major + 1);
	if (str_parse_u64(major, 10, &a) < 0 || str_parse_u64(minor, 10, &b) < 0 ||
	    a > UINT32_MAX || b > UINT32_MAX)
		return -EINVAL;
	*ret_major = (unsigned)a;
	*ret_minor = (unsigned)b;
	return 0;
}

static bool all_of(const char *s, const char *set)
{
	return *s && s[strspn(s, set)] == '\0';
}

static uint64_t *number_field(struct dcpi_file *f, enum dcpi_key key)
{
	switch (key) {
	case DCPI_PERIOD:
		return &f->period;
	case DCPI_TSTART:
		return &f->tstart;
	case DCPI_TSIZE:
		return &f->tsize;
	case DCPI_CPUSPEED:
		return &f->cpuspeed;
	case DCPI_EPOCH:
		return &f->epoch_s;
	default:
		return NULL;
	}
}

/* Checks VALUE against K's form and sets K's field; false when it has another form. */
static bool take_value(struct dcpi_file *f, const struct keyword *k, const char *value)
{
	uint64_t number = 0, *to = number_field(f, k->key);

	switch (k->form) {
	case FORM_VERSION:
		return parse_version(value, &f->major, &f->minor) >= 0;
	case FORM_HEX:
		if (!all_of(value, "0123456789abcdefABCDEF"))
			return false;
		break;
	case FORM_ADDRESS:
		if (str_starts(value, "0x"))
			value += 2;
		if (!all_of(value, "0123456789abcdefABCDEF") ||
		    str_parse_u64(value, 16, &number) < 0)
			return false;
		break;
	case FORM_DIGITS:
		if (!all_of(value, "0123456789") || str_parse_u64(value, 10, &number) < 0)
			return false;
		break;
	case FORM_TIME:
		if (dcpi_parse_time(value, &number) < 0)
			return false;
		break;
	case FORM_REST:
		break;
	}
	if (to)
		*to = number;
	if (k->key == DCPI_IMAGE)
		f->image = value;
	if (k->key == DCPI_PLATFORM)
		f->platform = value;
	if (k->key == DCPI_EVENT)
		f->event = value;
	return true;
}

/* Lines. */

static const struct keyword *find_keyword(const char *word, size_t n)
{
	for (size_t i = 0; i < n_elems(keywords); i++)
		if (strlen(keywords[i].word) == n && memcmp(keywords[i].word, word, n) == 0)
			return &keywords[i];
	return NULL;
}

/* Appends the N bytes at TEXT, which have no newline; NUMBER is the line's, for the message. */
static int add_line(struct dcpi_file *f, const char *text, size_t n, size_t number, struct err *err)
{
	struct dcpi_line line = {.key = DCPI_UNKNOWN, .n = n};
	const struct keyword *k;
	size_t at;

	while (line.n_word < n && !is_blank(text[line.n_word]))
		line.n_word++;
	for (at = line.n_word; at < n && is_blank(text[at]); at++)
		;
	if (!line.n_word || at == n)
		return err_set(err, -EBADMSG,
			       "line %zu of the header is not `keyword value` (this is no DCPI "
			       "profile, or it was damaged)",
			       number);
	line.text = arena_strndup(&f->arena, text, n);
	line.value = line.text + at;
	k = find_keyword(text, line.n_word);
	if (k) {
		if (memchr(text, '\0', n) || !take_value(f, k, line.value))
			return err_set(err, -EBADMSG,
				       "line %zu of the header: `%s` needs %s, not \"%.60s\"",
				       number, k->word, form_names[k->form], line.value);
		line.key = k->key;
	}
	vec_push(&f->lines, line);
	return 0;
}

static const char *key_word(enum dcpi_key key)
{
	for (size_t i = 0; i < n_elems(keywords); i++)
		if (keywords[i].key == key)
			return keywords[i].word;
	return "?";
}

/* "For each kind of line that falls under <required>, the profile header should contain exactly one
 * occurrence of that line." - dcpiformat(4) */
static int check_required(const struct dcpi_file *f, struct err *err)
{
	size_t n[DCPI_UNKNOWN + 1] = {0};

	vec_each (line, &f->lines)
		n[line->key]++;
	for (enum dcpi_key k = 0; k < DCPI_CPUAMASK; k++) {
		if (n[k] > 1)
			return err_set(err, -EBADMSG,
				       "the header has %zu `%s` lines, and must have one", n[k],
				       key_word(k));
		if (n[k] == 0 && k != DCPI_VERSION && k != DCPI_TSTART)
			return err_set(err, -EBADMSG, "the header has no `%s` line", key_word(k));
	}
	return 0;
}

/* Whether the line is the header's last: "samples" <space>* */
static bool is_terminator(const char *line, size_t n)
{
	if (n < 7 || memcmp(line, "samples", 7) != 0)
		return false;
	for (size_t i = 7; i < n; i++)
		if (!is_blank(line[i]))
			return false;
	return true;
}

static void reset(struct dcpi_file *f)
{
	memset(f, 0, sizeof(*f));
	f->image = f->platform = f->event = "";
	f->minor = 7; /* the version dcpiformat(4) documents, for a header that names none */
	f->stride = 1;
}

static int read_lines(struct dcpi_file *f, const char *text, size_t n, size_t *ret_body,
		      struct err *err)
{
	size_t at = 0, number = 1;
	int r;

	for (;; number++) {
		const char *nl = at < n ? memchr(text + at, '\n', n - at) : NULL;
		size_t len;

		if (!nl)
			return err_set(
				err, -ENODATA,
				"no `samples` line ends the header (this is no DCPI profile, or it "
				"was cut short)");
		len = (size_t)(nl - (text + at));
		if (is_terminator(text + at, len)) {
			f->n_pad = len - 7;
			f->pad = arena_strndup(&f->arena, text + at + 7, f->n_pad);
			f->keep_pad = true;
			*ret_body = at + len + 1;
			return 0;
		}
		if (len >= 7 && memcmp(text + at, "samples", 7) == 0 && is_blank(text[at + 7]))
			return err_set(err, -EBADMSG,
				       "line %zu of the header: only blanks may follow `samples`",
				       number);
		r = add_line(f, text + at, len, number, err);
		if (r < 0)
			return r;
		at += len + 1;
	}
}

int dcpi_read_header(struct dcpi_file *f, const void *bytes, size_t n_bytes, size_t *ret_body,
		     struct err *err)
{
	size_t body = 0;
	int r;

	reset(f);
	r = read_lines(f, bytes, n_bytes, &body, err);
	if (r >= 0 && f->major == 0)
		r = check_required(f, err);
	if (r < 0) {
		dcpi_release(f);
		return r;
	}
	*ret_body = body;
	return 0;
}

bool dcpi_probe(const void *bytes, size_t n)
{
	const size_t most = 64 * 1024; /* a header is a few hundred bytes */
	struct dcpi_file f;
	size_t body;
	bool known;

	if (n > most)
		n = most;
	reset(&f);
	known = read_lines(&f, bytes, n, &body, NULL) >= 0;
	if (known) {
		known = false;
		vec_each (line, &f.lines)
			known = known || line->key == DCPI_IMAGE;
	}
	dcpi_release(&f);
	return known;
}

void dcpi_init(struct dcpi_file *f, unsigned minor, unsigned stride)
{
	assert(stride == 1 || stride == 4);
	reset(f);
	dcpi_set_version(f, minor);
	f->stride = stride;
}

void dcpi_add_line(struct dcpi_file *f, const char *word, const char *value)
{
	_mem_ char *text = xasprintf("%-9s %s", word, *value ? value : "unknown");
	size_t n_word = strlen(word), n = strlen(text);
	struct err err;
	int r;

	/* "%-9s " leaves at least one blank: the value begins behind the padding. */
	for (size_t i = n_word < 9 ? 10 : n_word + 1, first = i; i < n; i++)
		if (text[i] == '\n' || (i == first && is_blank(text[i])))
			text[i] = '?';
	r = add_line(f, text, n, f->lines.n + 1, &err);
	assert(r >= 0);
	(void)r;
	f->keep_pad = false;
}

void dcpi_add_linef(struct dcpi_file *f, const char *word, const char *fmt, ...)
{
	_mem_ char *value = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&value, fmt, ap) < 0)
		value = xstrdup("");
	va_end(ap);
	dcpi_add_line(f, word, value);
}

int dcpi_copy_line(struct dcpi_file *f, const char *text, size_t n)
{
	bool is_line = !memchr(text, '\n', n) && !(n >= 7 && memcmp(text, "samples", 7) == 0 &&
						   (n == 7 || is_blank(text[7])));
	int r = is_line ? add_line(f, text, n, f->lines.n + 1, NULL) : -EBADMSG;

	f->keep_pad = f->keep_pad && r < 0;
	return r;
}

void dcpi_set_line(struct dcpi_file *f, size_t i, const struct dcpi_line *l)
{
	int r = dcpi_copy_line(f, l->text, l->n);

	assert(r >= 0);
	(void)r;
	f->lines.v[i] = f->lines.v[f->lines.n - 1];
	f->lines.n--;
}

void dcpi_set_version(struct dcpi_file *f, unsigned minor)
{
	struct dcpi_line line;
	size_t at = f->lines.n; /* a number: adding a line can move them all */

	assert(minor == 6 || minor == 7);
	for (size_t i = 0; i < f->lines.n; i++)
		if (f->lines.v[i].key == DCPI_VERSION)
			at = i;
	if (at < f->lines.n && f->major == 0 && f->minor == minor)
		return;
	dcpi_add_linef(f, "version", "pdb-0.%02u", minor);
	line = f->lines.v[--f->lines.n];
	if (at == f->lines.n) { /* the first line, where all known headers have it */
		memmove(f->lines.v + 1, f->lines.v, f->lines.n * sizeof(line));
		f->lines.n++;
		at = 0;
	}
	f->lines.v[at] = line;
}

const char *dcpi_find(const struct dcpi_file *f, const char *word)
{
	vec_each (line, &f->lines)
		if (line->n_word == strlen(word) && memcmp(line->text, word, line->n_word) == 0)
			return line->value;
	return NULL;
}
