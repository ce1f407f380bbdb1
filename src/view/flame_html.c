/* SPDX-License-Identifier: BSD-2-Clause */
/* A flame graph as one HTML page.
 *
 * Nothing of what was recorded is ever markup: it is in the data block, zlib's format in base64,
 * and the script puts it on a canvas or into text nodes.  The page's own policy (CSP) lets only the
 * script and the style run whose SHA-256 it names, and lets nothing be fetched.
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
 * Of two sets (the JSON has "sides") self is the second's, and between self and small stand
 *
 *     was    for each box, what it had itself in the first
 *     change for each box, a number of "changes" */
#include "query/boxes/boxes.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/wr.h"
#include "view/flame_page.h"

static void add_base64(struct str *out, const uint8_t *v, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t x = (uint32_t)v[i] << 16 | (i + 1 < n ? (uint32_t)v[i + 1] << 8 : 0) |
			     (i + 2 < n ? v[i + 2] : 0);

		str_addc(out, digits[x >> 18]);
		str_addc(out, digits[x >> 12 & 63]);
		str_addc(out, i + 1 < n ? digits[x >> 6 & 63] : '=');
		str_addc(out, i + 2 < n ? digits[x & 63] : '=');
	}
}

/* --- the data block --- */

/* Texts, each once. */
struct text_list {
	VEC(const char *) texts;
	struct index index;
};

static bool text_same(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct text_list *)owner)->texts.v[i], key) == 0;
}

static uint32_t text_number(struct text_list *l, const char *text)
{
	uint64_t hash = hash_str(text);
	uint32_t i = index_find(&l->index, hash, text_same, l, text);

	if (i != INDEX_NONE)
		return i;
	vec_push(&l->texts, text);
	index_add(&l->index, hash, (uint32_t)l->texts.n - 1);
	return (uint32_t)l->texts.n - 1;
}

static void json_list(struct json *j, const char *key, const struct text_list *l)
{
	json_key(j, key);
	json_begin(j, '[');
	vec_each (t, &l->texts)
		json_str(j, *t);
	json_end(j, ']');
}

static void json_frames(struct json *j, const struct flame *f)
{
	struct text_list images = {0}, files = {0};

	json_key(j, "name");
	json_begin(j, '[');
	vec_each (fr, &f->frames)
		json_str(j, fr->name);
	json_end(j, ']');
	json_key(j, "kind");
	json_begin(j, '[');
	vec_each (fr, &f->frames)
		json_u64(j, fr->kind);
	json_end(j, ']');
	json_key(j, "image");
	json_begin(j, '[');
	vec_each (fr, &f->frames)
		json_u64(j, text_number(&images, fr->image));
	json_end(j, ']');
	json_key(j, "file");
	json_begin(j, '[');
	vec_each (fr, &f->frames)
		json_u64(j, text_number(&files, fr->file));
	json_end(j, ']');
	json_key(j, "line");
	json_begin(j, '[');
	vec_each (fr, &f->frames)
		json_u64(j, fr->line);
	json_end(j, ']');
	json_list(j, "images", &images);
	json_list(j, "files", &files);
	vec_release(&images.texts);
	vec_release(&files.texts);
	index_release(&images.index);
	index_release(&files.index);
}

/* The two sets that are compared. */
static void json_sides(struct json *j, const struct flame *f)
{
	json_key(j, "sides");
	json_begin(j, '[');
	for (unsigned k = 0; k < 2; k++) {
		json_begin(j, '{');
		json_key(j, "name");
		json_str(j, f->sides[k].name);
		json_key(j, "total");
		json_u64(j, f->sides[k].total);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_key(j, "changes");
	json_begin(j, '[');
	for (unsigned k = 0; k < N_FLAME_CHANGES; k++)
		json_str(j, flame_change_name(k));
	json_end(j, ']');
}

static void add_header(struct str *out, const struct flame *f)
{
	struct json j = json_init(out, 0);

	json_begin(&j, '{');
	json_key(&j, "v");
	json_u64(&j, 1);
	json_key(&j, "title");
	json_str(&j, f->title);
	json_key(&j, "event");
	json_str(&j, f->event);
	json_key(&j, "unit");
	json_str(&j, f->unit);
	json_key(&j, "scale");
	json_double(&j, f->scale);
	json_key(&j, "total");
	json_u64(&j, f->total);
	json_key(&j, "least");
	json_u64(&j, f->least);
	json_key(&j, "callers");
	json_bool(&j, f->callers);
	json_key(&j, "account");
	json_str(&j, f->account);
	json_key(&j, "kinds");
	json_begin(&j, '[');
	for (unsigned k = 0; k < N_FLAME_KINDS; k++)
		json_str(&j, flame_kind_name(k));
	json_end(&j, ']');
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
	vec_each (b, &f->boxes)
		if (f->frames.v[b->frame].kind == FLAME_SMALL)
			wr_uleb(w, b->n_small);
}

static void add_data(struct str *out, const struct flame *f)
{
	struct str header = {0};
	struct wr w = {0};
	uint8_t *packed;
	uLongf n;

	add_header(&header, f);
	wr_le32(&w, (uint32_t)header.n);
	wr_le32(&w, (uint32_t)f->boxes.n);
	wr_bytes(&w, header.v, header.n);
	add_boxes(&w, f);
	n = compressBound(w.n);
	packed = xcalloc(n, 1);
	/* It fails only where there is no memory or no room, and there is room. */
	if (compress2(packed, &n, w.v, w.n, 6) != Z_OK)
		abort();
	add_base64(out, packed, n);
	free(packed);
	str_release(&header);
	free(w.v);
}

/* --- the page --- */

static void add_hash(struct str *out, const char *text)
{
	uint8_t hash[SHA256_BYTES];
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, text, strlen(text));
	sha256_end(&s, hash, sizeof(hash));
	str_add(out, "'sha256-");
	add_base64(out, hash, sizeof(hash));
	str_add(out, "'");
}

static void add_escaped(struct str *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '<')
			str_add(out, "&lt;");
		else if (*s == '&')
			str_add(out, "&amp;");
		else
			str_addc(out, *s);
	}
}

void flame_html(struct str *out, const struct flame *f)
{
	str_add(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		     "script-src ");
	add_hash(out, flame_page_script);
	str_add(out, "; style-src ");
	add_hash(out, flame_page_style);
	str_add(out, "; base-uri 'none'; form-action 'none'\">\n"
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		     "<meta name=\"generator\" content=\"dwell flame\">\n<title>");
	add_escaped(out, f->title);
	str_add(out, "</title>\n<style>");
	str_add(out, flame_page_style);
	str_add(out, "</style>\n</head>\n");
	str_add(out, flame_page_body);
	str_add(out, "<script type=\"text/plain\" id=\"data\">");
	add_data(out, f);
	str_add(out, "</script>\n<script>");
	str_add(out, flame_page_script);
	str_add(out, "</script>\n</body>\n</html>\n");
}
