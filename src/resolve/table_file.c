/* SPDX-License-Identifier: BSD-2-Clause */
/* See table_file.h. */
#include "resolve/table_file.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"

static const uint8_t magic[8] = {'d', 'w', 'e', 'l', 'l', 't', 'b', TABLE_FILE_VERSION};

#define VERSION_AT (sizeof(magic) - 1)

/* The checksum of a file that begins with the eight bytes of M. */
static uint64_t sum_of(const uint8_t *m, const uint8_t *body, size_t n)
{
	return hash_pair(hash_bytes(m, sizeof(magic)), hash_bytes(body, n));
}

static void put_of(struct wr *w, const struct table_file_of *of)
{
	wr_le64(w, of->stamp.dev);
	wr_le64(w, of->stamp.ino);
	wr_le64(w, of->stamp.size);
	wr_le64(w, of->stamp.ctime_s);
	wr_le32(w, of->stamp.ctime_ns);
	wr_le32(w, of->uid);
}

static struct table_file_of get_of(struct rd *r)
{
	struct table_file_of of;

	of.stamp.dev = rd_le64(r);
	of.stamp.ino = rd_le64(r);
	of.stamp.size = rd_le64(r);
	of.stamp.ctime_s = rd_le64(r);
	of.stamp.ctime_ns = rd_le32(r);
	of.uid = rd_le32(r);
	return of;
}

void table_file_put(const struct table_file_of *of, const uint8_t *answer, size_t n, struct wr *ret)
{
	struct wr body = {0};

	put_of(&body, of);
	wr_bytes(&body, answer, n);
	wr_bytes(ret, magic, sizeof(magic));
	wr_le64(ret, sum_of(magic, body.v, body.n));
	wr_bytes(ret, body.v, body.n);
	wr_release(&body);
}

/* Reads the head, *RET_OF among it, and leaves R at the answer. */
static int begin(struct rd *r, struct table_file_of *ret_of, struct err *err)
{
	const uint8_t *m = rd_bytes(r, sizeof(magic));
	const uint64_t sum = rd_le64(r);
	const bool whole = !r->bad && sum == sum_of(m, r->p, rd_left(r));

	if (!m || memcmp(m, magic, sizeof(magic) - 1) != 0 || r->bad)
		return err_set(err, -EBADMSG, "not a kept unwind table");
	/* Up to version 2 the sum was of the body alone. */
	if (m[VERSION_AT] != TABLE_FILE_VERSION &&
	    (whole || (m[VERSION_AT] <= 2 && sum == hash_bytes(r->p, rd_left(r)))))
		return err_set(err, -EPROTONOSUPPORT, "a kept unwind table of another version");
	if (!whole)
		return err_set(err, -EBADMSG, "a kept unwind table is damaged");
	*ret_of = get_of(r);
	if (r->bad)
		return err_set(err, -EBADMSG, "a kept unwind table is too short");
	return 0;
}

int table_file_get(const uint8_t *bytes, size_t n, const struct table_file_of *of,
		   struct unwind_table *ret, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	struct table_file_of is;
	int rc = begin(&r, &is, err);

	if (rc < 0)
		return rc;
	if (!file_stamp_same(&is.stamp, &of->stamp) || is.uid != of->uid)
		return err_set(err, -ESTALE, "a kept unwind table is of another file");
	return answer_get_table(r.p, rd_left(&r), ret, err);
}

int table_file_check(const uint8_t *bytes, size_t n, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	struct table_file_of of;
	struct unwind_table t;
	int rc = begin(&r, &of, err);

	if (rc >= 0)
		rc = answer_get_table(r.p, rd_left(&r), &t, err);
	if (rc >= 0)
		unwind_table_release(&t);
	return rc;
}
