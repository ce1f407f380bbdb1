/* SPDX-License-Identifier: BSD-2-Clause */
/* See tui.h.  Views stand on a stack: Enter puts one on top, Escape takes it off again.  A view is
 * filled when it comes to the top, when a key changed it, when the screen has another width and
 * when a new set came; keys that only move draw what is there. */
#include "tui/tui.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/plural.h"
#include "base/text.h"
#include "tui/term.h"
#include "tui/views.h"

#define MOST_VIEWS 16
#define MOST_TYPED 200

/* What is typed in the last line. */
enum prompt { PROMPT_NONE, PROMPT_SEARCH, PROMPT_SET, PROMPT_OPEN };

struct tui {
	const struct tui_opts *o;
	struct tui_set now, before;  /* source NULL: not there */
	struct compared_set *opened; /* shown instead of `now`; NULL: nobody named one */
	struct compared_set other;   /* of a stored set, once somebody named it */
	char *other_text;
	struct view views[MOST_VIEWS];
	unsigned n_views;
	enum prompt prompt;
	struct str typed;
	char *search; /* NULL: nothing was searched */
	char notice[512];
	bool held, done;
	bool stale; /* the top view is to be filled */
};

static struct view *top_view(struct tui *t)
{
	return &t->views[t->n_views - 1];
}

static void tui_say(struct tui *t, const char *text)
{
	snprintf(t->notice, sizeof(t->notice), "%s", text);
}

/* --- what is shown --- */

static bool shows_live(const struct tui *t)
{
	return t->o->feed && !t->opened;
}

static struct tui_set shown_set(const struct tui *t)
{
	return t->opened ? (struct tui_set){.source = t->opened->source} : t->now;
}

static const char *shown_name(const struct tui *t)
{
	return t->opened ? t->opened->text : t->o->about;
}

/* --- views --- */

/* Fills the top view, with MOST_ROWS rows when it is a table (0: all). */
static void fill_rows(struct tui *t, unsigned most_rows)
{
	const bool live = shows_live(t);
	const struct view_input in = {
		.source = shown_set(t).source,
		.other = live ? t->before.source : t->other.source,
		.names = {live ? "the second before" : t->other_text, live ? "now" : shown_name(t)},
		.width = term_columns(),
		.most_rows = most_rows,
		.colour = term_has_colour(),
		.live = live,
	};
	struct err err = {0};

	t->stale = false;
	if (in.source && view_fill(top_view(t), &in, &err) < 0)
		tui_say(t, err.msg);
	else if (top_view(t)->missing.msg[0])
		tui_say(t, top_view(t)->missing.msg);
}

static void fill_top(struct tui *t)
{
	fill_rows(t, 0);
}

/* Fills the top view for somebody who looks on.  Until a key comes, a table of a second needs the
 * rows on the screen only. */
static void fill_screen(struct tui *t)
{
	fill_rows(t, shows_live(t) && !top_view(t)->pane.moved ? term_rows() : 0);
}

/* Puts a view on the stack; the oldest but the first goes when it is full. */
static struct view *push_view(struct tui *t, enum view_kind kind)
{
	if (t->n_views == MOST_VIEWS) {
		view_release(&t->views[1]);
		memmove(t->views + 1, t->views + 2, (MOST_VIEWS - 2) * sizeof(*t->views));
		t->n_views--;
	}
	t->views[t->n_views] = (struct view){.kind = kind};
	t->stale = true;
	return &t->views[t->n_views++];
}

static void pop_view(struct tui *t)
{
	if (t->n_views < 2)
		return;
	view_release(&t->views[--t->n_views]);
	t->stale = true;
}

/* Puts a view of the row under the cursor on the stack; takes it off again when there is none. */
static void push_row_view(struct tui *t, enum view_kind kind)
{
	const struct pane_row *r = pane_row(&top_view(t)->pane);
	char *procedure = r && r->procedure ? xstrdup(r->procedure) : NULL;
	char *image = r && r->image ? xstrdup(r->image) : NULL;
	struct view *v;

	if (!procedure) {
		tui_say(t, "no procedure is in this row");
		free(image);
		return;
	}
	v = push_view(t, kind);
	v->procedure = procedure;
	v->image = image;
	fill_top(t);
	if (!top_view(t)->pane.text.n)
		pop_view(t);
}

/* Begins anew with a view of KIND. */
static struct view *only_view(struct tui *t, enum view_kind kind)
{
	while (t->n_views)
		view_release(&t->views[--t->n_views]);
	return push_view(t, kind);
}

/* --- the set --- */

static void let_go(struct tui *t, struct tui_set *set)
{
	if (set->source && t->o->feed)
		t->o->feed->let_go(t->o->feed->ctx, set);
	*set = (struct tui_set){0};
}

static int take_set(struct tui *t, struct err *err)
{
	struct tui_set next = {0};
	int rc = t->o->feed->take(t->o->feed->ctx, &next, err);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	if (t->held) {
		let_go(t, &next);
		return 0;
	}
	let_go(t, &t->before);
	t->before = t->now;
	t->now = next;
	if (!shows_live(t))
		return 0;
	t->stale = true;
	*t->notice = '\0';
	return 0;
}

static void free_set(struct compared_set *set)
{
	if (!set)
		return;
	free((char *)(uintptr_t)set->text);
	set->text = NULL;
	compared_set_close(set);
	free(set);
}

/* Shows SET, or what was there before a stored one (NULL). */
static void show_opened(struct tui *t, struct compared_set *set)
{
	only_view(t, VIEW_TABLE);
	free_set(t->opened);
	t->opened = set;
}

/* Shows the stored set that TEXT names, until Escape. */
static void open_set(struct tui *t, const char *text)
{
	struct compared_set *set = xcalloc(1, sizeof(*set));
	struct select base = *t->o->select;
	char *copy = xstrdup(text);
	struct err err = {0};

	base.notice = NULL;
	if (compared_set_open(set, copy, &base, &err) >= 0) {
		show_opened(t, set);
		return;
	}
	tui_say(t, err.msg);
	compared_set_close(set);
	free(set);
	free(copy);
}

/* Opens the set that TEXT names and shows what changed from it to the one that is shown. */
static void compare_with(struct tui *t, const char *text)
{
	char *copy = xstrdup(text);
	struct compared_set set = {0};
	struct select base = *t->o->select;
	struct err err = {0};
	int rc;

	base.notice = NULL;
	rc = compared_set_open(&set, copy, &base, &err);
	compared_set_close(&set);
	if (rc < 0) {
		tui_say(t, err.msg);
		free(copy);
		return;
	}
	compared_set_close(&t->other);
	free(t->other_text);
	t->other_text = copy;
	/* It must stay where it is. */
	rc = compared_set_open(&t->other, t->other_text, &base, &err);
	if (rc < 0) {
		tui_say(t, err.msg);
		return;
	}
	push_view(t, VIEW_CHANGES);
	fill_top(t);
	if (!top_view(t)->pane.text.n)
		pop_view(t);
}

/* --- drawing --- */

/* What came of the samples of the column that rows are sorted by. */
static void add_account(struct str *s, const struct tui_set *set)
{
	const struct query *q = set->source->query;
	const struct query_col *c;
	double all;

	if (!q || !q->n_events)
		return;
	c = &q->cols[q->sort < q->n_events ? q->sort : 0];
	all = (double)(c->n_samples + c->n_idle);
	str_add(s, ": ");
	text_show(s, c->name);
	if (*c->measures)
		str_addf(s, " %.3f s", (double)c->n_samples / 1e9);
	else
		str_addf(s, " %.0f sample%s", all, plural_s((uint64_t)all));
	if (set->seconds > 0)
		str_addf(s, " in %.1f s", set->seconds);
	if (c->n_idle)
		str_addf(s, ", %.1f %% idle", 100 * (double)c->n_idle / all);
	str_addf(s, ", %llu lost", (unsigned long long)c->n_lost);
	if (c->not_delivered)
		str_addf(s, ", %llu not delivered", (unsigned long long)c->not_delivered);
}

static void draw_status(struct tui *t)
{
	_str_ struct str s = {0};
	const struct tui_set set = shown_set(t);

	text_show(&s, shown_name(t));
	if (set.source)
		add_account(&s, &set);
	else
		str_add(&s, ": waiting for the first samples");
	if (t->held && shows_live(t))
		str_add(&s, "  [held]");
	if (t->opened)
		str_add(&s, "  [Esc: back]");
	term_line(0, str_get(&s), s.n, 0, TERM_BAR);
}

static void add_hints(struct tui *t, struct str *s)
{
	const struct view *v = top_view(t);
	struct source *source = shown_set(t).source;

	view_add_title(v, s);
	if (source && (v->kind == VIEW_TABLE || v->kind == VIEW_TREE)) {
		str_add(s, " by ");
		view_add_sort(v, source, s);
	}
	str_add(s, v->kind == VIEW_CODE	   ? "  ? help  a source, code, both  / search  Esc back"
		   : v->kind == VIEW_HELP  ? "  Esc back  q end"
		   : v->kind == VIEW_TABLE ? "  ? help  Enter code  t tree  s sort  q end"
		   : v->kind == VIEW_TREE  ? "  ? help  Enter code  +/- fold  p table  q end"
					   : "  ? help  Enter code  / search  Esc back");
}

/* Appends what the last lines say: what is typed, what is said, or which keys there are.  Returns
 * the cursor's column, -1: none. */
static int add_last(struct tui *t, struct str *s)
{
	_str_ struct str said = {0};

	if (t->prompt != PROMPT_NONE) {
		str_add(s, t->prompt == PROMPT_SEARCH ? "/"
			   : t->prompt == PROMPT_OPEN
				   ? "open (epoch, database or label=L; Enter: latest): "
				   : "changes from (epoch, database or label=L): ");
		text_show(s, str_get(&t->typed));
		return (int)text_width(str_get(s));
	}
	if (*t->notice) {
		text_show(&said, t->notice);
		text_fold(s, str_get(&said), term_columns() < 20 ? 20 : term_columns(), 2);
	} else {
		add_hints(t, s);
	}
	return -1;
}

static unsigned n_lines_of(const char *text)
{
	unsigned n = 1;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

/* Draws TEXT into lines FIRST to the last. */
static void draw_last(const struct tui *t, const char *text, unsigned first)
{
	for (unsigned row = first; row < term_rows(); row++) {
		const size_t n = strcspn(text, "\n");

		term_line(row, text, n, 0, t->prompt != PROMPT_NONE ? TERM_PLAIN : TERM_BAR);
		text += n + (text[n] == '\n');
	}
}

static void tui_draw(struct tui *t)
{
	const unsigned rows = term_rows();
	_str_ struct str last = {0};
	unsigned n_last;
	int cursor;

	if (t->stale)
		fill_screen(t);
	draw_status(t);
	cursor = add_last(t, &last);
	n_last = n_lines_of(str_get(&last));
	if (n_last > 1 && n_last > rows / 2) /* on a low screen its end is cut */
		n_last = rows > 3 ? rows / 2 : 1;
	if (rows > 1 + n_last)
		pane_draw(&top_view(t)->pane, 1, rows - 1 - n_last);
	draw_last(t, str_get(&last), rows - n_last);
	term_show(cursor);
}

/* --- keys --- */

static void search(struct tui *t, bool forward, bool with_this)
{
	if (!t->search)
		tui_say(t, "/ searches");
	else if (!pane_search(&top_view(t)->pane, t->search, forward, with_this))
		snprintf(t->notice, sizeof(t->notice), "'%s' is not there", t->search);
}

static void end_prompt(struct tui *t)
{
	const enum prompt p = t->prompt;
	const char *text = str_get(&t->typed);

	t->prompt = PROMPT_NONE;
	if (p == PROMPT_SEARCH && *text) {
		free(t->search);
		t->search = xstrdup(text);
	}
	if (p == PROMPT_SEARCH)
		search(t, true, true);
	else if (p == PROMPT_OPEN)
		open_set(t, *text ? text : "latest");
	else if (*text)
		compare_with(t, text);
	else
		snprintf(t->notice, sizeof(t->notice), "no samples were named to compare with");
}

/* Takes away the last character of S, which may have several bytes. */
static void drop_character(struct str *s)
{
	while (s->n && ((unsigned char)s->v[s->n - 1] & 0xc0) == 0x80)
		s->n--;
	if (s->n)
		s->n--;
	if (s->v)
		s->v[s->n] = '\0';
}

/* Appends character C as UTF-8. */
static void add_character(struct str *s, unsigned c)
{
	if (c < 0x80) {
		str_addc(s, (char)c);
		return;
	}
	if (c >= 0x10000)
		str_addc(s, (char)(0xf0 | c >> 18));
	if (c >= 0x800)
		str_addc(s, (char)(c >= 0x10000 ? 0x80 | (c >> 12 & 0x3f) : 0xe0 | c >> 12));
	str_addc(s, (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6));
	str_addc(s, (char)(0x80 | (c & 0x3f)));
}

static void type_key(struct tui *t, int key)
{
	if (key == TERM_ENTER)
		end_prompt(t);
	else if (key == TERM_ESCAPE || (key == TERM_BACKSPACE && !t->typed.n))
		t->prompt = PROMPT_NONE;
	else if (key == TERM_BACKSPACE)
		drop_character(&t->typed);
	else if (key >= ' ' && key < TERM_UP && t->typed.n < MOST_TYPED)
		add_character(&t->typed, (unsigned)key);
}

static void begin_prompt(struct tui *t, enum prompt p)
{
	t->prompt = p;
	str_reset(&t->typed);
}

/* Opens or closes the row under the cursor.  Closing a row that has nothing open goes to the row
 * that it is below. */
static void fold_row(struct tui *t, bool open)
{
	struct view *v = top_view(t);
	const struct pane_row *r = pane_row(&v->pane);

	if (v->kind != VIEW_TREE || !r)
		return;
	if (r->can_fold) {
		v->pane.moved = true;
		folds_set(&v->folds, r->id, open);
		t->stale = true;
	}
}

static void fold_all(struct tui *t, bool open)
{
	struct view *v = top_view(t);

	if (v->kind != VIEW_TREE)
		return;
	folds_set_all(&v->folds, open);
	t->stale = true;
}

static void scroll_sideways(struct tui *t, int n)
{
	struct pane *p = &top_view(t)->pane;

	if (n < 0)
		p->skip = p->skip > (unsigned)-n ? p->skip + (unsigned)n : 0;
	else
		p->skip += (unsigned)n;
}

static void change_set(struct tui *t)
{
	if (!shows_live(t)) {
		if (t->o->select)
			begin_prompt(t, PROMPT_SET);
		return;
	}
	push_view(t, VIEW_CHANGES); /* the next second fills it, if this is the first */
}

/* Keys that put another view there. */
static bool view_key(struct tui *t, int key)
{
	struct view *v = top_view(t);

	switch (key) {
	case 'p':
		if (v->kind == VIEW_TABLE && shown_set(t).source)
			view_next_by(v, shown_set(t).source);
		else
			v = only_view(t, VIEW_TABLE);
		pane_go(&v->pane, 0);
		t->stale = true;
		return true;
	case 't':
	case 'u':
		v = only_view(t, VIEW_TREE);
		v->form = key == 't' ? TREE_DOWN : TREE_CALLERS;
		/* Rows of callers overlap: many have much. */
		if (v->form == TREE_CALLERS)
			folds_set_all(&v->folds, false);
		return true;
	case 'c':
		if (v->kind == VIEW_NEIGHBOURS) {
			v->neighbour = v->neighbour == NEIGHBOUR_CALLERS ? NEIGHBOUR_CALLEES
									 : NEIGHBOUR_CALLERS;
			pane_go(&v->pane, 0);
			t->stale = true;
		} else {
			push_row_view(t, VIEW_NEIGHBOURS);
		}
		return true;
	case TERM_ENTER:
		push_row_view(t, VIEW_CODE);
		return true;
	case 'd':
		change_set(t);
		return true;
	case 'o':
		if (t->o->select)
			begin_prompt(t, PROMPT_OPEN);
		return true;
	case '?':
	case 'h':
	case TERM_F1:
		if (v->kind != VIEW_HELP)
			push_view(t, VIEW_HELP);
		return true;
	case TERM_ESCAPE:
	case TERM_BACKSPACE:
		if (t->n_views == 1 && t->opened)
			show_opened(t, NULL);
		else
			pop_view(t);
		return true;
	default:
		return false;
	}
}

/* Keys that move in the view. */
static bool move_key(struct tui *t, int key)
{
	struct view *v = top_view(t);
	struct pane *p = &v->pane;
	const long page = term_rows() > p->head + 4 ? (long)(term_rows() - p->head - 3) : 1;

	switch (key) {
	case TERM_UP:
	case 'k':
		pane_move(p, -1);
		return true;
	case TERM_DOWN:
	case 'j':
		pane_move(p, 1);
		return true;
	case TERM_PAGE_UP:
	case 'B' & 0x1f:
		pane_move(p, -page);
		return true;
	case TERM_PAGE_DOWN:
	case 'F' & 0x1f:
		pane_move(p, page);
		return true;
	case TERM_HOME:
	case 'g':
		pane_go(p, 0);
		return true;
	case TERM_END:
	case 'G':
		pane_go(p, SIZE_MAX);
		return true;
	case TERM_LEFT:
	case TERM_RIGHT:
		if (v->kind == VIEW_TREE)
			fold_row(t, key == TERM_RIGHT);
		else
			scroll_sideways(t, key == TERM_RIGHT ? 8 : -8);
		return true;
	default:
		return false;
	}
}

/* Keys that change the view. */
static void change_key(struct tui *t, int key)
{
	/* Source where there is some, instructions, both. */
	static const enum list_mode next_mode[] = {
		[LIST_BEST] = LIST_ASM, [LIST_ASM] = LIST_BOTH, [LIST_BOTH] = LIST_BEST};
	struct view *v = top_view(t);

	switch (key) {
	case 's':
		if (shown_set(t).source && view_next_sort(v, shown_set(t).source))
			t->stale = true;
		break;
	case 'a':
		if (v->kind != VIEW_CODE)
			break;
		v->mode = next_mode[v->mode];
		t->stale = true;
		break;
	case '+':
	case '-':
		fold_row(t, key == '+');
		break;
	case ' ': {
		const struct pane_row *r = pane_row(&v->pane);

		if (r)
			fold_row(t, r->is_folded);
		break;
	}
	case 'E':
	case 'C':
		fold_all(t, key == 'E');
		break;
	case '/':
		begin_prompt(t, PROMPT_SEARCH);
		break;
	case 'n':
	case 'N':
		search(t, key == 'n', false);
		break;
	case 'z':
		if (shows_live(t))
			t->held = !t->held;
		break;
	case 'L' & 0x1f:
		term_redraw();
		break;
	case 'q':
	case TERM_F10:
		t->done = true;
		break;
	default:
		break;
	}
}

static void take_key(struct tui *t, int key)
{
	if (key == TERM_RESIZE) {
		t->stale = true;
		return;
	}
	*t->notice = '\0';
	if (t->stale || top_view(t)->is_short) /* keys are for the rows that the keys before made */
		fill_top(t);
	if (t->prompt != PROMPT_NONE)
		type_key(t, key);
	else if (!move_key(t, key) && !view_key(t, key))
		change_key(t, key);
}

/* --- all --- */

static void tui_wait(const struct tui *t, uint64_t due_ns)
{
	const uint64_t now = clock_mono_ns();
	const int ms = due_ns > now ? (int)((due_ns - now + 999999) / 1000000) : 0;
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};

	if (t->o->feed)
		t->o->feed->wait(t->o->feed->ctx, ms, STDIN_FILENO);
	else
		poll(&fd, 1, -1);
}

static int tui_loop(struct tui *t, struct err *err)
{
	const uint64_t every_ns = t->o->feed ? t->o->feed->refresh_ms * 1000000ull : 0;
	uint64_t due_ns = clock_mono_ns() + every_ns;
	bool changed = true;
	int rc = 0;

	while (!t->done && !term_signal() && rc >= 0) {
		int key;

		/* A feed wakes often, to empty its buffers. */
		if (changed)
			tui_draw(t);
		changed = false;
		tui_wait(t, due_ns);
		while (!t->done && (key = term_key()) != TERM_NONE) {
			take_key(t, key);
			changed = true;
		}
		if (t->o->feed && clock_mono_ns() >= due_ns) {
			rc = take_set(t, err);
			due_ns = clock_mono_ns() + every_ns;
			changed = true;
		}
	}
	return rc < 0 ? rc : term_signal();
}

int tui_run(const struct tui_opts *o, struct err *err)
{
	struct tui t = {.o = o, .now = {.source = o->source}};
	int rc = term_open(err);

	if (rc < 0)
		return rc;
	push_view(&t, o->tree ? VIEW_TREE : VIEW_TABLE);
	rc = tui_loop(&t, err);
	term_close();
	while (t.n_views)
		view_release(&t.views[--t.n_views]);
	if (o->feed) {
		let_go(&t, &t.before);
		let_go(&t, &t.now);
	}
	free_set(t.opened);
	compared_set_close(&t.other);
	free(t.other_text);
	free(t.search);
	str_release(&t.typed);
	return rc;
}
