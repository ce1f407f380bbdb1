/* SPDX-License-Identifier: BSD-2-Clause */
/* See page.h. */
#include "view/page.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/sha256.h"

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

/* Adds DATA as the element ID. */
static void add_data(struct str *out, const char *id, const struct wr *data)
{
	uLongf n = compressBound(data->n);
	uint8_t *packed = xcalloc(n, 1);

	/* It fails only where there is no memory or no room, and there is room. */
	if (compress2(packed, &n, data->v, data->n, 6) != Z_OK)
		abort();
	str_addf(out, "<script type=\"text/plain\" id=\"%s\">", id);
	add_base64(out, packed, n);
	str_add(out, "</script>\n");
	free(packed);
}

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

void page_add(struct str *out, const struct page *p, const struct wr *data, const struct wr *whole)
{
	str_add(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		     "script-src ");
	add_hash(out, p->script);
	str_add(out, "; style-src ");
	add_hash(out, p->style);
	str_add(out, "; base-uri 'none'; form-action 'none'\">\n"
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		     "<meta name=\"generator\" content=\"");
	str_add(out, p->generator);
	str_add(out, "\">\n<title>");
	add_escaped(out, p->title);
	str_add(out, "</title>\n<style>");
	str_add(out, p->style);
	str_add(out, "</style>\n</head>\n");
	str_add(out, p->body);
	add_data(out, "data", data);
	str_add(out, "<script>");
	str_add(out, p->script);
	str_add(out, "</script>\n");
	if (whole && whole->n)
		add_data(out, "whole", whole);
	str_add(out, "</body>\n</html>\n");
}
