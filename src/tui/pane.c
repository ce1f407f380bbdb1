/* SPDX-License-Identifier: BSD-2-Clause */
/* See pane.h. */
#include "tui/pane.h"

#include <string.h>

#include "tui/term.h"

void pane_clear(struct pane *p)
{
	str_reset(&p->text);
	p->lines.n = p->rows.n = 0;
	p->head = p->n_rows = 0;
	arena_release(&p->arena);
}

void pane_release(struct pane *p)
{
	str_release(&p->text);
	vec_release(&p->lines);
	vec_release(&p->rows);
	arena_release(&p->arena);
	*p = (struct pane){0};
}

/* Lines that scroll. */
static size_t n_below(const struct pane *p)
{
	return p->lines.n - p->head;
}

static void clamp(struct pane *p)
{
	const size_t n = n_below(p);

	if (p->cursor >= n)
		p->cursor = n ? n - 1 : 0;
	if (p->top >= n)
		p->top = n ? n - 1 : 0;
}

void pane_settle(struct pane *p, size_t rows_at, size_t rows_end)
{
	const char *text = str_get(&p->text);

	p->lines.n = 0;
	for (size_t at = 0; at < p->text.n;) {
		const char *end = memchr(text + at, '\n', p->text.n - at);

		if (at < rows_at)
			p->head++;
		else if (at < rows_end)
			p->n_rows++;
		vec_push(&p->lines, at);
		at = end ? (size_t)(end - text) + 1 : p->text.n;
	}
	clamp(p);
}

void pane_find_row(struct pane *p, uint64_t id)
{
	vec_each (r, &p->rows) {
		if (r->id != id)
			continue;
		p->cursor = (size_t)(r - p->rows.v);
		return;
	}
}

const struct pane_row *pane_row(const struct pane *p)
{
	return p->cursor < p->rows.n ? &p->rows.v[p->cursor] : NULL;
}

void pane_go(struct pane *p, size_t at)
{
	p->cursor = at;
	p->moved = at != 0;
	clamp(p);
}

void pane_move(struct pane *p, long n)
{
	if (n < 0 && (size_t)-n > p->cursor)
		pane_go(p, 0);
	else
		pane_go(p, p->cursor + (size_t)n);
}

/* Line I behind the head, without its end. */
static const char *line_text(const struct pane *p, size_t i, size_t *ret_n)
{
	const size_t at = p->lines.v[i];
	const size_t end = i + 1 < p->lines.n ? p->lines.v[i + 1] : p->text.n;

	*ret_n = end - at - (end > at && p->text.v[end - 1] == '\n');
	return p->text.v + at;
}

static bool has_text(const struct pane *p, size_t i, const char *text)
{
	const size_t n = strlen(text);
	size_t n_line;
	const char *s = line_text(p, p->head + i, &n_line);

	for (size_t k = 0; k + n <= n_line; k++)
		if (strncasecmp(s + k, text, n) == 0)
			return true;
	return false;
}

bool pane_search(struct pane *p, const char *text, bool forward, bool with_this)
{
	const size_t n = n_below(p);

	for (size_t k = with_this ? 0 : 1; k <= n && n; k++) {
		const size_t i = (forward ? p->cursor + k : p->cursor + n - k) % n;

		if (!has_text(p, i, text))
			continue;
		pane_go(p, i);
		return true;
	}
	return false;
}

void pane_draw(struct pane *p, unsigned first, unsigned height)
{
	/* On a low screen the end of the head stays, which has the columns' names. */
	const unsigned most = height / 2 ? height / 2 : height;
	const unsigned head = p->head < most ? (unsigned)p->head : most;
	const unsigned room = height - head;
	unsigned row = first;
	size_t n;

	clamp(p);
	if (p->cursor < p->top)
		p->top = p->cursor;
	if (room && p->cursor >= p->top + room)
		p->top = p->cursor - room + 1;
	for (unsigned i = 0; i < head; i++) {
		const char *s = line_text(p, p->head - head + i, &n);

		term_line(row++, s, n, p->skip, TERM_PLAIN);
	}
	for (unsigned i = 0; i < room; i++) {
		const size_t at = p->top + i;
		const char *s = at < n_below(p) ? line_text(p, p->head + at, &n) : "";

		term_line(row++, s, at < n_below(p) ? n : 0, p->skip,
			  at == p->cursor && at < n_below(p) ? TERM_CURSOR : TERM_PLAIN);
	}
}
