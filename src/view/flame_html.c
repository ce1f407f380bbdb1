/* SPDX-License-Identifier: BSD-2-Clause */
/* A flame graph as one HTML page (page.h).
 *
 * The data block, integers in LEB128 but for the first two:
 *
 *     u32   bytes of the JSON text below, little endian
 *     u32   boxes
 *     JSON  what the picture is of, and its frames by column
 *     up    for each box in preorder, how many levels it is above a child of the box before
 *     frame for each box
 *     self  for each box
 *     small for each box whose frame's kind is "small", how many it stands for
 *
 * When two sets are compared (the JSON has "sides"), self is the second's, and between self and
 * small stand
 *
 *     was    for each box, what it had itself in the first
 *     change for each box, a number of "changes"
 *
 * A picture of wall time (the JSON has "states") has instead
 *
 *     runnable for each box, the part of self in which threads waited for a CPU
 *     blocked  for each box, the part of self in which they were blocked
 *
 * A picture of more than MANY_BOXES (the JSON has "outline") has an outline in that place, so
 * that something is drawn before all is read: the larger boxes, and what is small below each as
 * one.  The whole is a data block of its own: how many boxes it has (u32), and "up", "frame" and so
 * on.
 *
 * What the page of dwell web is given are two blocks of the first kind, each behind its length
 * (u32), because the outline is sent before the whole is there; or the whole's alone. */
#include "query/boxes/boxes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "query/boxes/picture_text.h"
#include "view/flame_page.h"
#include "view/page.h"

static void json_list(struct json *j, const char *key, const struct text_list *l)
{
	json_key(j, key);
	json_begin(j, '[');
	vec_each (t, &l->texts)
		json_str(j, *t);
	json_end(j, ']');
}

/* Short names by frame, of those that have one. */
static void json_labels(struct json *j, const struct flame *f)
{
	json_key(j, "label");
	json_begin(j, '{');
	vec_each (fr, &f->frames) {
		char number[24];

		if (strcmp(fr->label, fr->name) == 0)
			continue;
		snprintf(number, sizeof(number), "%zu", (size_t)(fr - f->frames.v));
		json_key(j, number);
		json_str(j, fr->label);
	}
	json_end(j, '}');
}

static void json_frames(struct json *j, const struct flame *f)
{
	struct text_list images = {0}, files = {0};

	json_key(j, "name");
	json_begin(j, '[');
	vec_each (fr, &f->frames)
		json_str(j, fr->name);
	json_end(j, ']');
	json_labels(j, f);
	json_key(j, "kind");
	json_begin(j, '[');
	vec_each (fr, &f->frames)
		json_u64(j, fr->kind);
	json_end(j, ']');
	json_key(j, "image");
	json_begin(j, '[');
	vec_each (fr, &f->frames)
		json_u64(j, text_list_number(&images, fr->image));
	json_end(j, ']');
	json_key(j, "file");
	json_begin(j, '[');
	vec_each (fr, &f->frames)
		json_u64(j, text_list_number(&files, fr->file));
	json_end(j, ']');
	json_key(j, "line");
	json_begin(j, '[');
	vec_each (fr, &f->frames)
		json_u64(j, fr->line);
	json_end(j, ']');
	json_list(j, "images", &images);
	json_list(j, "files", &files);
	text_list_release(&images);
	text_list_release(&files);
}

/* The two sets that are compared. */
static void json_sides(struct json *j, const struct flame *f)
{
	json_key(j, "sides");
	json_begin(j, '[');
	for (unsigned k = 0; k < 2; k++) {
		json_begin(j, '{');
		json_add_str(j, "name", f->sides[k].name);
		json_add_u64(j, "total", f->sides[k].total);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_key(j, "changes");
	json_begin(j, '[');
	for (unsigned k = 0; k < N_FLAME_CHANGES; k++)
		json_str(j, flame_change_name(k));
	json_end(j, ']');
}

static void add_header(struct str *out, const struct flame *f, bool is_outline)
{
	struct json j = json_init(out, 0);

	json_begin(&j, '{');
	json_add_u64(&j, "v", 1);
	json_add_str(&j, "title", f->title);
	json_add_str(&j, "event", f->event);
	json_add_str(&j, "unit", f->unit);
	json_add_double(&j, "scale", f->scale);
	json_add_u64(&j, "total", f->total);
	json_add_u64(&j, "least", f->least);
	json_add_u64(&j, "depth", f->max_depth);
	json_add_bool(&j, "callers", f->callers);
	json_add_str(&j, "account", f->account);
	if (is_outline)
		json_add_bool(&j, "outline", true);
	json_key(&j, "kinds");
	json_begin(&j, '[');
	for (unsigned k = 0; k < N_FLAME_KINDS; k++)
		json_str(&j, flame_kind_name(k));
	json_end(&j, ']');
	if (f->has_states)
		json_add_bool(&j, "states", true);
	if (f->is_diff)
		json_sides(&j, f);
	json_frames(&j, f);
	json_end(&j, '}');
}

static void add_boxes(struct wr *w, const struct flame *f)
{
	for (size_t i = 0; i < f->boxes.n; i++)
		wr_uleb(w, i ? f->boxes.v[i - 1].depth + 1 - f->boxes.v[i].depth : 0);
	vec_each (b, &f->boxes)
		wr_uleb(w, b->frame);
	vec_each (b, &f->boxes)
		wr_uleb(w, f->is_diff ? b->side_self[1] : b->self);
	if (f->is_diff) {
		vec_each (b, &f->boxes)
			wr_uleb(w, b->side_self[0]);
		vec_each (b, &f->boxes)
			wr_uleb(w, b->change);
	}
	if (f->has_states) {
		vec_each (b, &f->boxes)
			wr_uleb(w, b->runnable);
		vec_each (b, &f->boxes)
			wr_uleb(w, b->blocked);
	}
	vec_each (b, &f->boxes)
		if (f->frames.v[b->frame].kind == FLAME_SMALL)
			wr_uleb(w, b->n_small);
}

#define OUTLINE_BOXES 5000

/* Adds the header and the boxes of F. */
static void add_block(struct wr *out, const struct flame *f, bool is_outline)
{
	struct str header = {0};

	add_header(&header, f, is_outline);
	wr_le32(out, (uint32_t)header.n);
	wr_le32(out, (uint32_t)f->boxes.n);
	wr_bytes(out, header.v, header.n);
	add_boxes(out, f);
	str_release(&header);
}

/* Adds the header and the boxes of F, or of its outline. */
static void add_first(struct wr *out, struct flame *f)
{
	struct flame outline = {0};
	const bool is_large = f->boxes.n > FLAME_MANY;

	if (is_large)
		flame_outline(f, OUTLINE_BOXES, &outline);
	add_block(out, is_large ? &outline : f, is_large);
	vec_release(&outline.boxes);
}

/* Adds all boxes of F where add_first added an outline. */
static void add_whole(struct wr *out, const struct flame *f)
{
	if (f->boxes.n <= FLAME_MANY)
		return;
	wr_le32(out, (uint32_t)f->boxes.n);
	add_boxes(out, f);
}

void flame_data(struct wr *out, const struct flame *f, bool is_outline)
{
	struct wr block = {0};

	add_block(&block, f, is_outline);
	wr_le32(out, (uint32_t)block.n);
	wr_bytes(out, block.v, block.n);
	free(block.v);
}

void flame_html(struct str *out, struct flame *f)
{
	const struct page page = {
		.title = f->title,
		.generator = "dwell flame",
		.body = flame_page_body,
		.style = flame_page_style,
		.script = flame_page_script,
	};
	struct wr first = {0}, whole = {0};

	add_first(&first, f);
	add_whole(&whole, f);
	page_add(out, &page, &first, &whole);
	free(first.v);
	free(whole.v);
}
