/* SPDX-License-Identifier: BSD-2-Clause */
/* The wire format of Protocol Buffers, as far as profiles need it
 * (https://protobuf.dev/programming-guides/encoding/).
 *
 * A message is a sequence of fields: a key, which is the field's number and its wire type as a
 * varint, and a value.  A writer appends fields to a struct wr; a message inside of a message is
 * written to a struct wr of its own first.  A reader steps through the fields and takes those it
 * knows.
 *
 *     pb_put_u64(&w, 2, 300)      10 ac 02
 *     pb_put_text(&w, 1, "ab")    0a 02 61 62 */
#ifndef FORMATS_PROTOBUF_H
#define FORMATS_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rd.h"
#include "base/wr.h"

enum pb_type { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

/* Fields that are 0 or empty are what a reader assumes of a field that is not there: these
 * functions leave them out. */
void pb_put_u64(struct wr *w, uint32_t field, uint64_t v);
void pb_put_i64(struct wr *w, uint32_t field, int64_t v); /* int64: 10 bytes when negative */
void pb_put_bool(struct wr *w, uint32_t field, bool v);
void pb_put_fixed64(struct wr *w, uint32_t field, uint64_t v);
void pb_put_text(struct wr *w, uint32_t field, const char *text);

/* Appends a field of N bytes, even of none: elements of a repeated field count when empty. */
void pb_put_bytes(struct wr *w, uint32_t field, const void *bytes, size_t n);

/* Appends MESSAGE as a field and empties MESSAGE, whose memory stays. */
void pb_put_message(struct wr *w, uint32_t field, struct wr *message);

/* Appends N numbers as one packed field; nothing when N is 0. */
void pb_put_packed(struct wr *w, uint32_t field, const uint64_t *v, size_t n);

/* A field that was read. */
struct pb_field {
	uint32_t number;
	enum pb_type type;
	uint64_t value;	 /* of PB_VARINT, PB_FIXED64, PB_FIXED32 */
	struct rd bytes; /* of PB_BYTES: a message, text, or packed numbers */
};

/* Reads the next field of R.  False at the end of R, and when the bytes are none: then R is bad. */
bool pb_next(struct rd *r, struct pb_field *ret);

/* Takes the next number of a repeated field F, packed or not: true while there is one.  A field
 * whose bytes end within a number makes F->bytes bad. */
bool pb_next_number(struct pb_field *f, uint64_t *ret);

#endif
