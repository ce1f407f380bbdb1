/* SPDX-License-Identifier: BSD-2-Clause */
/* What a child that read a user's file says of it, as bytes.
 *
 * The child may have been taken over by the file.  So whoever reads an answer checks every count
 * and every range in it; what passes is no more harmful than what an honest file of the same user
 * could have said.  Little-endian throughout; numbers are LEB128 where not said otherwise.  Both
 * sides are one program: there is no version. */
#ifndef RESOLVE_ANSWER_H
#define RESOLVE_ANSWER_H

#include "base/err.h"
#include "base/rd.h"
#include "base/wr.h"
#include "model/image.h"
#include "unwind/build.h"

void answer_put_layout(const struct image_layout *l, struct wr *ret);

/* Reads what answer_put_layout wrote; false, and RET is not to be used, when it is not sound. */
bool answer_get_layout(struct rd *r, struct image_layout *ret);

void answer_put_table(const struct unwind_table *t, struct wr *ret);

/* Reads all N bytes as an unwind table: blocks ascend and end with the number of rows, rows name
 * rules there are, rules say what a walker knows.  The key is the hash of these bytes, not what the
 * child says: no file can pass for another.  KEY is that hash where it is known (answer_table_key),
 * else NULL.  Release RET with unwind_table_release; -EBADMSG. */
int answer_get_table(const uint8_t *bytes, size_t n, const uint8_t *key, struct unwind_table *ret,
		     struct err *err);
void answer_table_key(const uint8_t *bytes, size_t n, uint8_t ret[UNWIND_KEY_BYTES]);

#endif
