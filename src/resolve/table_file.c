/* SPDX-License-Identifier: BSD-2-Clause */
/* See table_file.h. */
#include "resolve/table_file.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"

#define MAGIC_BYTES 8
#define VERSION_AT  (MAGIC_BYTES - 1)

static const uint8_t magic[MAGIC_BYTES] = {'d', 'w', 'e', 'l', 'l', 't', 'b', TABLE_FILE_VERSION};
static const uint8_t note_magic[MAGIC_BYTES] = {'d', 'w', 'e', 'l',
						'l', 'n', 't', TABLE_FILE_VERSION};

static const uint8_t machine_magic[MAGIC_BYTES] = {'d', 'w', 'e', 'l',
						   'l', 'm', 'c', TABLE_FILE_VERSION};

/* The checksum of a file that begins with the eight bytes of M. */
static uint64_t sum_of(const uint8_t *m, const uint8_t *body, size_t n)
{
	return hash_pair(hash_bytes(m, MAGIC_BYTES), hash_bytes(body, n));
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

static void put_file(struct wr *ret, const uint8_t *m, const struct wr *body)
{
	wr_bytes(ret, m, MAGIC_BYTES);
	wr_le64(ret, sum_of(m, body->v, body->n));
	wr_bytes(ret, body->v, body->n);
}

void table_file_put(const struct table_file_of *of, const uint8_t *answer, size_t n, struct wr *ret)
{
	struct wr body = {0};
	uint8_t key[UNWIND_KEY_BYTES];

	answer_table_key(answer, n, key);
	put_of(&body, of);
	wr_bytes(&body, key, sizeof(key));
	wr_bytes(&body, answer, n);
	put_file(ret, magic, &body);
	wr_release(&body);
}

void table_file_put_note(const struct table_file_of *of, const struct file_note *note,
			 struct wr *ret)
{
	struct wr body = {0};

	put_of(&body, of);
	wr_u8(&body, note->has_content);
	wr_bytes(&body, note->content, sizeof(note->content));
	answer_put_layout(&note->layout, &body);
	put_file(ret, note_magic, &body);
	wr_release(&body);
}

/* Which "file" the machine is, by KEY. */
static struct table_file_of machine_of(uint64_t key)
{
	return (struct table_file_of){.stamp = {.ino = key}};
}

void table_file_put_machine(uint64_t key, const uint8_t *bytes, size_t n, struct wr *ret)
{
	const struct table_file_of of = machine_of(key);
	struct wr body = {0};

	put_of(&body, &of);
	wr_bytes(&body, bytes, n);
	put_file(ret, machine_magic, &body);
	wr_release(&body);
}

/* Reads the head of a file that begins with WANTED, *RET_OF among it, and leaves R behind it. */
static int begin(struct rd *r, const uint8_t *wanted, struct table_file_of *ret_of, struct err *err)
{
	const bool is_large = rd_left(r) > TABLE_FILE_MOST;
	const uint8_t *m = rd_bytes(r, MAGIC_BYTES);
	const uint64_t sum = rd_le64(r);
	const bool whole = !r->bad && !is_large && sum == sum_of(m, r->p, rd_left(r));

	if (!m || memcmp(m, wanted, VERSION_AT) != 0 || r->bad)
		return err_set(err, -EBADMSG, "not a kept unwind table");
	if (is_large)
		return err_set(err, -EBADMSG, "a kept unwind table is larger than any is");
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

static int get_table(struct rd *r, struct unwind_table *ret, struct err *err)
{
	const uint8_t *key = rd_bytes(r, UNWIND_KEY_BYTES);

	return key ? answer_get_table(r->p, rd_left(r), key, ret, err)
		   : err_set(err, -EBADMSG, "a kept unwind table is too short");
}

static int get_note(struct rd *r, struct file_note *ret, struct err *err)
{
	const uint8_t has_content = rd_u8(r), *content = rd_bytes(r, sizeof(ret->content));
	struct file_note note = {.has_content = has_content};

	if (!content || has_content > 1 || !answer_get_layout(r, &note.layout) || rd_left(r))
		return err_set(err, -EBADMSG, "a kept note about a file is damaged");
	memcpy(note.content, content, sizeof(note.content));
	*ret = note;
	return 0;
}

/* Begins what is kept of file OF. */
static int begin_of(struct rd *r, const uint8_t *wanted, const struct table_file_of *of,
		    struct err *err)
{
	struct table_file_of is;
	int rc = begin(r, wanted, &is, err);

	if (rc >= 0 && (!file_stamp_same(&is.stamp, &of->stamp) || is.uid != of->uid))
		rc = err_set(err, -ESTALE, "a kept unwind table is of another file");
	return rc;
}

int table_file_get(const uint8_t *bytes, size_t n, const struct table_file_of *of,
		   struct unwind_table *ret, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	int rc = begin_of(&r, magic, of, err);

	return rc < 0 ? rc : get_table(&r, ret, err);
}

int table_file_get_note(const uint8_t *bytes, size_t n, const struct table_file_of *of,
			struct file_note *ret, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	int rc = begin_of(&r, note_magic, of, err);

	return rc < 0 ? rc : get_note(&r, ret, err);
}

int table_file_get_machine(const uint8_t *bytes, size_t n, uint64_t key, const uint8_t **ret,
			   size_t *ret_n, struct err *err)
{
	const struct table_file_of of = machine_of(key);
	struct rd r = rd_init(bytes, n);
	int rc = begin_of(&r, machine_magic, &of, err);

	if (rc >= 0) {
		*ret = r.p;
		*ret_n = rd_left(&r);
	}
	return rc;
}

int table_file_check(const uint8_t *bytes, size_t n, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	struct table_file_of of;
	struct unwind_table t;
	struct file_note note;
	int rc;

	if (n >= MAGIC_BYTES && memcmp(bytes, note_magic, VERSION_AT) == 0) {
		rc = begin(&r, note_magic, &of, err);
		return rc < 0 ? rc : get_note(&r, &note, err);
	}
	if (n >= MAGIC_BYTES && memcmp(bytes, machine_magic, VERSION_AT) == 0)
		return begin(&r, machine_magic, &of, err);
	rc = begin(&r, magic, &of, err);
	if (rc >= 0)
		rc = get_table(&r, &t, err);
	if (rc >= 0)
		unwind_table_release(&t);
	return rc;
}
