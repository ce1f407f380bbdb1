/* SPDX-License-Identifier: BSD-2-Clause */
/* See shared_read.h; the fields are those of docs/formats/histogram.md, in order. */
#include "inproc/shared_read.h"

#include <errno.h>
#include <string.h>

#define LAST_SECOND 253402300799 /* of the year 9999 */

static bool get_text(struct rd *r, char *to, size_t n)
{
	const uint8_t *p = rd_bytes(r, n);

	if (!p || !memchr(p, 0, n))
		return false;
	memcpy(to, p, n);
	return true;
}

static bool get_header(struct rd *r, struct shared_header *h)
{
	const uint8_t *pages;

	h->flags = rd_le32(r);
	h->n_bytes = rd_le64(r);
	h->records_off = rd_le64(r);
	h->records_end = rd_le64(r);
	h->slots_off = rd_le64(r);
	h->n_slots = rd_le64(r);
	h->n_used = rd_le64(r);
	h->period = rd_le64(r);
	h->start_ns = rd_le64(r);
	h->end_ns = rd_le64(r);
	h->epoch_s = rd_le64(r);
	h->n_outside = rd_le64(r);
	h->n_no_room = rd_le64(r);
	h->n_moved = rd_le64(r);
	h->n_missed = rd_le64(r);
	h->pid = rd_le32(r);
	h->bucket_bytes = rd_le32(r);
	h->is_clock = rd_le32(r);
	h->unused = rd_le32(r);
	if (!get_text(r, h->event, sizeof(h->event)) || !get_text(r, h->host, sizeof(h->host)) ||
	    !get_text(r, h->command, sizeof(h->command)))
		return false;
	pages = rd_bytes(r, sizeof(h->pages));
	if (pages)
		memcpy(h->pages, pages, sizeof(h->pages));
	h->n_unplaced = h->minor >= 1 ? rd_le64(r) : 0;
	return pages;
}

static const char *check_layout(const struct shared_header *h, size_t n)
{
	if (h->flags)
		return "flags nobody knows";
	if (h->n_bytes != n)
		return "its size is not what it says";
	if (h->records_off < SHARED_HEADER_BYTES || h->records_end < h->records_off ||
	    h->slots_off < h->records_end || h->slots_off > n)
		return "images outside of the file";
	if (!h->n_slots || h->n_slots & (h->n_slots - 1) || h->n_slots > SHARED_MAX_SLOTS ||
	    h->n_slots != (n - h->slots_off) / SHARED_SLOT_BYTES)
		return "slots outside of the file";
	if (!h->period)
		return "a tick of no length";
	if (h->epoch_s > LAST_SECOND)
		return "a time beyond the year 9999";
	return NULL;
}

/* The image at R, NULL when there is none that makes sense. */
static const char *get_image(struct rd *r, struct shared_image *ret)
{
	size_t left = rd_left(r);
	uint32_t n_bytes = rd_le32(r);
	const uint8_t *id, *path;
	uint64_t n_path;

	ret->code = (struct loaded_code){.kind = rd_u8(r), .flags = rd_u8(r), .n_id = rd_le16(r)};
	ret->code.text_start = rd_le64(r);
	ret->code.text_bytes = rd_le64(r);
	id = rd_bytes(r, CODE_ID_MAX);
	rd_le32(r);
	n_path = rd_le64(r);
	if (r->bad || n_bytes > left || n_bytes < SHARED_RECORD_BYTES || n_bytes % 8 ||
	    n_path >= n_bytes - SHARED_RECORD_BYTES)
		return NULL;
	path = rd_bytes(r, n_bytes - SHARED_RECORD_BYTES);
	if (!path || memchr(path, 0, n_path + 1) != path + n_path || ret->code.kind > CODE_ANON ||
	    ret->code.n_id > CODE_ID_MAX)
		return NULL;
	memcpy(ret->code.id, id, CODE_ID_MAX);
	ret->path = (const char *)path;
	return ret->path;
}

static int shared_read_bad(int code, const char *what, const char **ret_why)
{
	*ret_why = what;
	return code;
}

int shared_view_open(struct shared_view *v, const void *bytes, size_t n, const char **ret_why)
{
	struct rd r = rd_init(bytes, n);
	struct shared_view w = {.bytes = bytes};
	const uint8_t *magic = rd_bytes(&r, sizeof(w.header.magic));
	struct shared_count count;
	const char *why;
	uint64_t at = 0;

	if (!magic || memcmp(magic, SHARED_MAGIC, sizeof(w.header.magic)) != 0)
		return shared_read_bad(-EBADMSG, "not a histogram file", ret_why);
	w.header.major = rd_le16(&r);
	w.header.minor = rd_le16(&r);
	if (w.header.major != SHARED_MAJOR)
		return shared_read_bad(-EPROTONOSUPPORT, "of a version this program does not know",
				       ret_why);
	if (n < SHARED_HEADER_BYTES)
		return shared_read_bad(-ENODATA, "cut short", ret_why);
	if (!get_header(&r, &w.header))
		return shared_read_bad(-EBADMSG, "a text without an end", ret_why);
	why = check_layout(&w.header, n);
	if (why)
		return shared_read_bad(-EBADMSG, why, ret_why);
	r = shared_images(&w);
	for (struct shared_image im; rd_left(&r); w.n_images++)
		if (!get_image(&r, &im) || w.n_images + 1 >= 1u << SHARED_IMAGE_BITS)
			return shared_read_bad(-EBADMSG, "an image that makes no sense", ret_why);
	while (shared_next_count(&w, &at, &count))
		if (!count.image || count.image > w.n_images)
			return shared_read_bad(-EBADMSG, "ticks of an image that is not there",
					       ret_why);
	*v = w;
	return 0;
}

struct rd shared_images(const struct shared_view *v)
{
	return rd_init(v->bytes + v->header.records_off,
		       v->header.records_end - v->header.records_off);
}

bool shared_next_image(struct rd *at, struct shared_image *ret)
{
	return rd_left(at) && get_image(at, ret);
}

static bool page_in_use(const struct shared_header *h, uint64_t slot)
{
	uint64_t page = slot / SHARED_PAGE_SLOTS;

	return h->pages[page / 8] >> page % 8 & 1;
}

bool shared_next_count(const struct shared_view *v, uint64_t *at, struct shared_count *ret)
{
	while (*at < v->header.n_slots) {
		struct rd r;
		uint64_t key;

		if (!page_in_use(&v->header, *at)) {
			*at = (*at | (SHARED_PAGE_SLOTS - 1)) + 1;
			continue;
		}
		r = rd_init(v->bytes + v->header.slots_off + *at * SHARED_SLOT_BYTES,
			    SHARED_SLOT_BYTES);
		key = rd_le64(&r);
		ret->image = (uint32_t)(key >> SHARED_SVMA_BITS);
		ret->svma = key & ((1ull << SHARED_SVMA_BITS) - 1);
		ret->n = rd_le64(&r);
		(*at)++;
		if (key && ret->n)
			return true;
	}
	return false;
}
