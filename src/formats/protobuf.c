/* SPDX-License-Identifier: BSD-2-Clause */
/* See protobuf.h. */
#include "formats/protobuf.h"

static void put_key(struct wr *w, uint32_t field, enum pb_type type)
{
	wr_uleb(w, (uint64_t)field << 3 | type);
}

void pb_put_u64(struct wr *w, uint32_t field, uint64_t v)
{
	if (!v)
		return;
	put_key(w, field, PB_VARINT);
	wr_uleb(w, v);
}

void pb_put_i64(struct wr *w, uint32_t field, int64_t v)
{
	pb_put_u64(w, field, (uint64_t)v);
}

void pb_put_bool(struct wr *w, uint32_t field, bool v)
{
	pb_put_u64(w, field, v);
}

void pb_put_fixed64(struct wr *w, uint32_t field, uint64_t v)
{
	if (!v)
		return;
	put_key(w, field, PB_FIXED64);
	wr_le64(w, v);
}

void pb_put_bytes(struct wr *w, uint32_t field, const void *bytes, size_t n)
{
	put_key(w, field, PB_BYTES);
	wr_uleb(w, n);
	wr_bytes(w, bytes, n);
}

void pb_put_text(struct wr *w, uint32_t field, const char *text)
{
	if (*text)
		pb_put_bytes(w, field, text, strlen(text));
}

void pb_put_message(struct wr *w, uint32_t field, struct wr *message)
{
	pb_put_bytes(w, field, message->v, message->n);
	message->n = 0;
}

static size_t uleb_bytes(uint64_t v)
{
	size_t n = 1;

	for (; v >= 0x80; v >>= 7)
		n++;
	return n;
}

void pb_put_packed(struct wr *w, uint32_t field, const uint64_t *v, size_t n)
{
	size_t n_bytes = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		n_bytes += uleb_bytes(v[i]);
	put_key(w, field, PB_BYTES);
	wr_uleb(w, n_bytes);
	for (size_t i = 0; i < n; i++)
		wr_uleb(w, v[i]);
}

bool pb_next(struct rd *r, struct pb_field *ret)
{
	struct pb_field f = {0};
	uint64_t key;

	if (r->bad || !rd_left(r))
		return false;
	key = rd_uleb(r);
	f.number = (uint32_t)(key >> 3);
	f.type = (enum pb_type)(key & 7);
	if (key >> 32 || !f.number)
		r->bad = true;
	switch (f.type) {
	case PB_VARINT:
		f.value = rd_uleb(r);
		break;
	case PB_FIXED64:
		f.value = rd_le64(r);
		break;
	case PB_FIXED32:
		f.value = rd_le32(r);
		break;
	case PB_BYTES: {
		const size_t n = rd_count(r, 1);
		const uint8_t *bytes = rd_bytes(r, n);

		if (!r->bad)
			f.bytes = rd_init(bytes, n);
		break;
	}
	default: /* groups are deprecated, 6 and 7 are nothing */
		r->bad = true;
	}
	if (r->bad)
		return false;
	*ret = f;
	return true;
}

bool pb_next_number(struct pb_field *f, uint64_t *ret)
{
	if (f->type != PB_BYTES) { /* one number: it is taken once */
		*ret = f->value;
		if (f->bytes.p)
			return false;
		f->bytes = rd_init("", 0);
		return true;
	}
	if (f->bytes.bad || !rd_left(&f->bytes))
		return false;
	*ret = rd_uleb(&f->bytes);
	return !f->bytes.bad;
}
