/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_script.h.
 *
 * The first line has no marks between its parts, and a command's name may have blanks.  So the
 * number of the thread is looked for: the first word of digits, or of two numbers with '/' between,
 * behind the first word. */
#include "formats/perf_script.h"

#define MOST_PROBED 200 /* lines, for a block with a frame */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(struct text_line *l)
{
	while (l->n && is_blank(*l->text)) {
		l->text++;
		l->n--;
	}
}

/* Takes the next word. */
static struct text_line next_word(struct text_line *l)
{
	struct text_line w;

	skip_blanks(l);
	w = (struct text_line){l->text, 0};
	while (w.n < l->n && !is_blank(l->text[w.n]))
		w.n++;
	l->text += w.n;
	l->n -= w.n;
	return w;
}

/* "11" or "10/11". */
static bool parse_ids(struct text_line w, uint64_t *ret_pid, uint64_t *ret_tid)
{
	uint64_t first, second;

	if (!text_line_number(&w, 10, &first))
		return false;
	if (!w.n) {
		*ret_pid = 0;
		*ret_tid = first;
		return true;
	}
	if (*w.text != '/')
		return false;
	w.text++;
	w.n--;
	if (!text_line_number(&w, 10, &second) || w.n)
		return false;
	*ret_pid = first;
	*ret_tid = second;
	return true;
}

static bool is_timestamp(struct text_line w)
{
	uint64_t n;

	if (!text_line_number(&w, 10, &n) || !w.n || *w.text != '.')
		return false;
	w.text++;
	w.n--;
	return text_line_number(&w, 10, &n) && w.n == 1 && *w.text == ':';
}

/* What stands behind the thread: a CPU, a time, a period and an event, each if it is printed. */
static bool parse_rest(struct text_line rest, struct perf_script_head *ret)
{
	struct text_line w = next_word(&rest);

	if (w.n && *w.text == '[')
		w = next_word(&rest);
	if (w.n && is_timestamp(w)) {
		ret->has_time = true;
		w = next_word(&rest);
	}
	if (w.n) {
		struct text_line number = w;
		uint64_t n;

		if (text_line_number(&number, 10, &n) && !number.n) {
			ret->period = n;
			w = next_word(&rest);
		}
	}
	if (!w.n)
		return true;
	if (w.text[w.n - 1] != ':')
		return false;
	ret->event = (struct text_line){w.text, w.n - 1};
	return true;
}

bool perf_script_parse_head(const struct text_line *l, struct perf_script_head *ret)
{
	struct text_line rest = *l, w;

	*ret = (struct perf_script_head){0};
	if (!l->n || is_blank(*l->text) || *l->text == '#')
		return false;
	next_word(&rest);
	ret->comm = (struct text_line){l->text, l->n - rest.n};
	while (rest.n) {
		w = next_word(&rest);
		if (w.n && parse_ids(w, &ret->pid, &ret->tid) && parse_rest(rest, ret))
			return true;
		ret->comm.n = l->n - rest.n;
	}
	return false;
}

/* Cuts "+0x15" off. */
static void cut_offset(struct text_line *symbol)
{
	size_t at = symbol->n;
	struct text_line digits;
	uint64_t n;

	while (at && symbol->text[at - 1] != '+')
		at--;
	if (at < 2 || symbol->n - at < 3 || symbol->text[at] != '0' || symbol->text[at + 1] != 'x')
		return;
	digits = (struct text_line){symbol->text + at + 2, symbol->n - at - 2};
	if (text_line_number(&digits, 16, &n) && !digits.n)
		symbol->n = at - 1;
}

bool perf_script_parse_frame(const struct text_line *l, struct perf_script_frame *ret)
{
	struct text_line rest = *l, w;
	size_t open, depth = 0;

	*ret = (struct perf_script_frame){0};
	w = next_word(&rest);
	if (!w.n || !text_line_number(&w, 16, &ret->ip) || w.n)
		return false;
	skip_blanks(&rest);
	while (rest.n && is_blank(rest.text[rest.n - 1]))
		rest.n--;
	/* The image stands in the last brackets, and its name may have some. */
	open = rest.n;
	if (rest.n && rest.text[rest.n - 1] == ')')
		while (open) {
			const char c = rest.text[--open];

			depth += c == ')';
			depth -= c == '(';
			if (!depth)
				break;
		}
	if (open < rest.n && !depth) { /* else the brackets have no beginning */
		ret->image = (struct text_line){rest.text + open + 1, rest.n - open - 2};
		rest.n = open;
		while (rest.n && is_blank(rest.text[rest.n - 1]))
			rest.n--;
	}
	ret->is_inlined = ret->image.n == 7 && memcmp(ret->image.text, "inlined", 7) == 0;
	ret->symbol = rest;
	cut_offset(&ret->symbol);
	return true;
}

bool perf_script_probe(const uint8_t *bytes, size_t n)
{
	struct rd r = rd_init(bytes, n);
	struct perf_script_frame frame;
	struct perf_script_head head;
	struct text_line l;
	bool in_block = false;

	for (unsigned i = 0; i < MOST_PROBED && text_line_next(&r, &l); i++) {
		if (!l.n || *l.text == '#')
			continue;
		if (!is_blank(*l.text)) {
			if (!perf_script_parse_head(&l, &head))
				return false;
			in_block = head.event.n || head.has_time;
		} else if (!in_block || !perf_script_parse_frame(&l, &frame)) {
			return false;
		} else {
			return true;
		}
	}
	return false;
}
