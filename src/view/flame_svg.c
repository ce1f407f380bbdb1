/* SPDX-License-Identifier: BSD-2-Clause */
/* A flame graph as a picture without scripts, for documents and for sites that show SVG.  What the
 * pointer is on is told by <title>.  A row's boxes under half a pixel become one grey box as wide
 * as they are together. */
#include "query/boxes/boxes.h"

#include <inttypes.h>
#include <stdlib.h>

#define WIDTH	    1200
#define EDGE	    10	/* left and right of the boxes */
#define ROW	    17	/* pixels of a level */
#define CHAR_WIDTH  6.7 /* of the font at 11 pixels, the widest of those below */
#define LEAST	    0.5 /* pixels */
#define MOST_LEVELS 400

/* Every fill in a dark document: CSS goes before a fill attribute (SVG 2, 6.6).  These are the
 * fills of src/web/ui/flame_kinds.mjs. */
static const char dark_style[] =
	"<style>@media (prefers-color-scheme:dark){svg{fill:#f4f5f7}[fill='#ffffff']{fill:#16181d}"
	"[fill='#f6c177']{fill:#7a4a10}[fill='#f7e39a']{fill:#5f5410}[fill='#a3c4f3']{fill:#24497f}"
	"[fill='#a8dba8']{fill:#205c2c}[fill='#dcc7b0']{fill:#57483a}[fill='#e3b7d9']{fill:#6b2f5f}"
	"[fill='#c9b8f2']{fill:#47377f}[fill='#9ad7d4']{fill:#115a57}[fill='#d5d9e0']{fill:#414856}"
	"[fill='#c4c4c4']{fill:#4a4a4a}"
	"[fill='#f28d7f']{fill:#8f2f22}[fill='#dfe2e7']{fill:#3b414c}[fill='#f7b9a8']{fill:#7d4033}"
	"[fill='#ef8f78']{fill:#9c2f1c}[fill='#f0a040']{fill:#7a4a00}[fill='#b5d0f5']{fill:#33507c}"
	"[fill='#84b0ee']{fill:#1f55a5}[fill='#5fc4c0']{fill:#0f5f5c}}</style>\n";

static const struct {
	const char *fill, *what;
} colours[N_FLAME_KINDS] = {
	[FLAME_NATIVE] = {"#f6c177", "native"},
	[FLAME_INLINED] = {"#f7e39a", "inlined"},
	[FLAME_KERNEL] = {"#a3c4f3", "kernel"},
	[FLAME_GENERATED] = {"#a8dba8", "generated"},
	[FLAME_SCRIPT] = {"#c9b8f2", "Python, Java, ..."},
	[FLAME_NAMELESS] = {"#dcc7b0", "no symbol"},
	[FLAME_MARK] = {"#e3b7d9", "path cut off"},
	[FLAME_WAIT] = {"#9ad7d4", "waiting"},
	[FLAME_OWNER] = {"#d5d9e0", "owner"},
	[FLAME_SMALL] = {"#c4c4c4", "too small"},
};

/* How a box of the second set differs; src/web/ui/flame_kinds.mjs has the same colours. */
static const struct {
	const char *fill, *what;
} change_colours[N_FLAME_CHANGES] = {
	[FLAME_SAME] = {"#dfe2e7", "no change beyond chance"},
	[FLAME_GREW] = {"#f7b9a8", "grew"},
	[FLAME_GREW_MUCH] = {"#ef8f78", "grew by half or more"},
	[FLAME_NEW] = {"#f0a040", "new"},
	[FLAME_SHRANK] = {"#b5d0f5", "shrank"},
	[FLAME_SHRANK_MUCH] = {"#84b0ee", "shrank by a third or more"},
	[FLAME_GONE] = {"#5fc4c0", "gone"},
};

/* What threads did in wall time, from left to right in a box; src/web/ui/flame_kinds.mjs has the
 * same colours. */
static const struct {
	const char *fill, *what;
} state_colours[3] = {
	{"#f6c177", "running"},
	{"#f28d7f", "waiting for a CPU"},
	{"#a3c4f3", "blocked"},
};

struct svg_writer {
	const struct flame *f;
	struct str *out;
	double per_pixel;	      /* of a box's amount */
	uint64_t *runnable, *blocked; /* with has_states: by box, with what is below it */
	uint32_t n_levels;
	bool used[N_FLAME_KINDS];
	bool used_change[N_FLAME_CHANGES];
};

/* S, safe text, as character data.  XML 1.0 "Char" has no U+FFFE and U+FFFF. */
static void add_xml(struct str *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '<')
			str_add(out, "&lt;");
		else if (s[i] == '>')
			str_add(out, "&gt;");
		else if (s[i] == '&')
			str_add(out, "&amp;");
		else if (s[i] == '"')
			str_add(out, "&quot;");
		else if (i + 2 < n && (unsigned char)s[i] == 0xef &&
			 (unsigned char)s[i + 1] == 0xbf && (unsigned char)s[i + 2] >= 0xbe)
			str_add(out, "?"), i += 2;
		else
			str_addc(out, s[i]);
	}
}

/* The bytes of the first N_CHARS characters of S. */
static size_t first_chars(const char *s, size_t n_chars)
{
	size_t i = 0;

	while (s[i] && n_chars--)
		do
			i++;
		while (((unsigned char)s[i] & 0xc0) == 0x80);
	return i;
}

static void add_text(struct str *out, double x, double y, const char *text, size_t room)
{
	size_t n = first_chars(text, room);

	if (text[n] && room < 4)
		return;
	str_addf(out, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
	if (text[n]) {
		add_xml(out, text, first_chars(text, room - 2));
		str_add(out, "..");
	} else {
		add_xml(out, text, n);
	}
	str_add(out, "</text>");
}

static void add_amount(struct str *out, const struct flame *f, uint64_t n)
{
	if (*f->unit == 'n')
		str_addf(out, "%.3f s", (double)n / 1e9);
	else if (f->scale != 1)
		str_addf(out, "%.6g", (double)n * f->scale);
	else
		str_addf(out, "%" PRIu64 " %s", n, n == 1 && *f->unit == 's' ? "sample" : f->unit);
	if (f->total)
		str_addf(out, ", %.2f %%", 100 * (double)n / (double)f->total);
}

/* What two sets have of a box. */
static void add_sides(struct str *out, const struct flame *f, const struct flame_box *b)
{
	double share[2];

	for (unsigned k = 0; k < 2; k++)
		share[k] = 100 * (double)b->side_total[k] / (double)f->sides[k].total;
	str_addf(out, "A %.2f %%, B %.2f %% (%+.2f)", share[0], share[1], share[1] - share[0]);
}

static void add_title(struct svg_writer *w, const struct flame_frame *fr, const struct flame_box *b)
{
	str_add(w->out, "<title>");
	if (fr->kind == FLAME_SMALL)
		str_addf(w->out, "%" PRIu32 " box%s too small to draw", b->n_small,
			 b->n_small == 1 ? "" : "es");
	else
		add_xml(w->out, fr->name, strlen(fr->name));
	if (*fr->image) {
		str_add(w->out, " [");
		add_xml(w->out, fr->image, strlen(fr->image));
		str_add(w->out, "]");
	}
	if (fr->kind == FLAME_INLINED)
		str_add(w->out, " (inlined)");
	str_add(w->out, ": ");
	if (w->f->is_diff)
		add_sides(w->out, w->f, b);
	else
		add_amount(w->out, w->f, b->total);
	str_add(w->out, "</title>");
}

static double level_y(const struct svg_writer *w, uint32_t depth)
{
	return 40 + (double)(w->n_levels - 1 - depth) * ROW;
}

static void add_fill(struct svg_writer *w, double x, double y, double width, const char *fill)
{
	if (width > 0)
		str_addf(w->out,
			 "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>",
			 x, y, width, ROW - 1, fill);
}

/* Fills box B in parts of what its threads did. */
static void add_state_fills(struct svg_writer *w, const struct flame_box *b, double x, double y,
			    double width)
{
	const size_t i = (size_t)(b - w->f->boxes.v);
	const uint64_t waits = w->runnable[i], blocks = w->blocked[i];
	const uint64_t part[3] = {b->total > waits + blocks ? b->total - waits - blocks : 0, waits,
				  blocks};

	for (unsigned k = 0; k < 3; k++) {
		double share = width * (double)part[k] / (double)b->total;

		add_fill(w, x, y, share, state_colours[k].fill);
		x += share;
	}
}

static void add_rect(struct svg_writer *w, const struct flame_frame *fr, const struct flame_box *b,
		     uint64_t at)
{
	const double x = EDGE + (double)at * w->per_pixel, y = level_y(w, b->depth),
		     width = (double)b->total * w->per_pixel;
	const size_t room = width > 10 ? (size_t)((width - 6) / CHAR_WIDTH) : 0;
	const bool by_change = w->f->is_diff && fr->kind != FLAME_SMALL;
	const double drawn = width > 0.6 ? width - 0.3 : width;

	w->used[fr->kind] = true;
	w->used_change[b->change] = true;
	str_add(w->out, "<g>");
	add_title(w, fr, b);
	if (w->f->has_states && fr->kind != FLAME_SMALL)
		add_state_fills(w, b, x, y, drawn);
	else
		add_fill(w, x, y, drawn,
			 by_change ? change_colours[b->change].fill : colours[fr->kind].fill);
	if (room)
		add_text(w->out, x + 3, y + 12, fr->kind == FLAME_SMALL ? "too small" : fr->label,
			 room);
	str_add(w->out, "</g>\n");
}

/* --- which boxes are drawn --- */

/* Boxes of one parent that are too small, until a larger one comes, as one box. */
struct svg_run {
	uint64_t at;
	struct flame_box sum;
};

static void end_run(struct svg_writer *w, struct svg_run *r)
{
	static const struct flame_frame small = {FLAME_SMALL, "", "", "", "", 0};

	if (r->sum.n_small && (double)r->sum.total * w->per_pixel >= LEAST)
		add_rect(w, &small, &r->sum, r->at);
	*r = (struct svg_run){0};
}

static void add_to_run(struct svg_run *r, const struct flame_box *b, uint64_t at)
{
	if (!r->sum.n_small)
		r->at = at;
	r->sum.depth = b->depth;
	r->sum.total += b->total;
	r->sum.n_small += b->n_small ? b->n_small : 1;
	for (unsigned k = 0; k < 2; k++)
		r->sum.side_total[k] += b->side_total[k];
}

/* Goes through the boxes, each with the amount left of it, and draws those that are wide enough. */
static void add_boxes(struct svg_writer *w)
{
	const struct flame *f = w->f;
	uint64_t *at = xcalloc((size_t)w->n_levels + 2, sizeof(*at));
	struct svg_run *run = xcalloc((size_t)w->n_levels + 2, sizeof(*run));
	uint32_t deepest = 0;

	for (size_t i = 0; i < f->boxes.n; i++) {
		const struct flame_box *b = &f->boxes.v[i];
		const uint32_t d = b->depth;

		for (; deepest > d; deepest--)
			end_run(w, &run[deepest]);
		deepest = d;
		if ((double)b->total * w->per_pixel >= LEAST && d < w->n_levels) {
			end_run(w, &run[d]);
			add_rect(w, &f->frames.v[b->frame], b, at[d]);
			at[d + 1] = at[d];
			at[d] += b->total;
			continue;
		}
		if (d < w->n_levels) {
			add_to_run(&run[d], b, at[d]);
			at[d] += b->total;
		}
		while (i + 1 < f->boxes.n && f->boxes.v[i + 1].depth > d)
			i++;
	}
	for (; deepest > 0; deepest--)
		end_run(w, &run[deepest]);
	end_run(w, &run[0]);
	free(at);
	free(run);
}

/* --- what stands around them --- */

static double add_key(struct svg_writer *w, double x, double y, const char *fill, const char *what)
{
	str_addf(w->out,
		 "<rect x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"12\" fill=\"%s\"/>"
		 "<text x=\"%.0f\" y=\"%.0f\">%s</text>\n",
		 x, y, fill, x + 17, y + 10, what);
	return x + 30 + (double)strlen(what) * CHAR_WIDTH;
}

static void add_legend(struct svg_writer *w, double y)
{
	double x = EDGE;

	const bool other = w->f->is_diff || w->f->has_states;

	for (unsigned k = 0; w->f->has_states && k < n_elems(state_colours); k++)
		x = add_key(w, x, y, state_colours[k].fill, state_colours[k].what);
	for (unsigned k = 0; k < N_FLAME_KINDS; k++)
		if (w->used[k] && (!other || k == FLAME_SMALL))
			x = add_key(w, x, y, colours[k].fill, colours[k].what);
	for (unsigned k = 0; w->f->is_diff && k < N_FLAME_CHANGES; k++)
		if (w->used_change[k])
			x = add_key(w, x, y, change_colours[k].fill, change_colours[k].what);
}

/* Adds up what threads did in each box and below it. */
static void sum_states(struct svg_writer *w)
{
	const size_t n = w->f->boxes.n;
	VEC(size_t) path = {0};

	w->runnable = xcalloc(n + 1, sizeof(*w->runnable));
	w->blocked = xcalloc(n + 1, sizeof(*w->blocked));
	for (size_t i = 0; i < n; i++) {
		const struct flame_box *b = &w->f->boxes.v[i];

		path.n = b->depth;
		vec_push(&path, i);
		vec_each (k, &path) {
			w->runnable[*k] += b->runnable;
			w->blocked[*k] += b->blocked;
		}
	}
	vec_release(&path);
}

void flame_svg(struct str *out, const struct flame *f)
{
	struct svg_writer w = {.f = f, .out = out};
	uint32_t deepest = 0;
	double height;

	w.per_pixel = f->shown ? (WIDTH - 2 * EDGE) / (double)f->shown : 0;
	if (f->has_states)
		sum_states(&w);
	vec_each (b, &f->boxes)
		if ((double)b->total * w.per_pixel >= LEAST && b->depth > deepest)
			deepest = b->depth;
	w.n_levels = deepest + 1 < MOST_LEVELS ? deepest + 1 : MOST_LEVELS;
	height = 40 + (double)w.n_levels * ROW + 50;
	str_addf(out,
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
		 "viewBox=\"0 0 %d %.0f\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, "
		 "monospace\" font-size=\"11\" fill=\"#1a1a1a\">\n",
		 WIDTH, height, WIDTH, height);
	str_add(out, dark_style);
	str_add(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
	add_text(out, EDGE, 16, f->title, (WIDTH - 2 * EDGE) / 7);
	str_addf(out, "\n<text x=\"%d\" y=\"31\">", EDGE);
	add_xml(out, f->event, strlen(f->event));
	str_add(out, ": ");
	if (f->is_diff)
		str_add(out, "shares of A and B together");
	else
		add_amount(out, f, f->shown);
	str_add(out, f->callers ? "; above each procedure who called it" : "");
	if (f->max_depth)
		str_addf(out, "; at most %" PRIu32 " levels", f->max_depth);
	if (deepest >= MOST_LEVELS)
		str_addf(out, "; %" PRIu32 " deeper levels are not drawn",
			 deepest + 1 - MOST_LEVELS);
	str_add(out, "</text>\n");
	add_boxes(&w);
	add_legend(&w, height - 38);
	str_addf(out,
		 "<text x=\"%d\" y=\"%.0f\">Boxes under half a pixel are one grey box.</text>\n",
		 EDGE, height - 10);
	str_add(out, "</svg>\n");
	free(w.runnable);
	free(w.blocked);
}
