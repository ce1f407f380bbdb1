/* SPDX-License-Identifier: BSD-2-Clause */
/* An unwind table as it is kept on disk, for the next recorder that meets the same file.
 *
 * The bytes are those of an answer (answer.h) behind a head: which file the table was made of, by
 * its stamp and owner, the key of the answer, and a checksum of all.  Whoever reads them checks
 * both and then the table itself, like an answer, so that a damaged or forged file is refused.
 * Little-endian. */
#ifndef RESOLVE_TABLE_FILE_H
#define RESOLVE_TABLE_FILE_H

#include "base/file_stamp.h"
#include "resolve/answer.h"
#include "resolve/entry_name.h"

/* The directory of a database where they are. */
#define TABLE_CACHE_DIR "tables"

/* To be raised whenever tables are built in another way: older ones are then made again. */
#define TABLE_FILE_VERSION 12

/* No file is larger: one that is was made so, and takes long to hash. */
#define TABLE_FILE_MOST ((size_t)64 << 20)

/* The file that a table was made of. */
struct table_file_of {
	struct file_stamp stamp;
	uint32_t uid; /* who owns it */
};

/* Appends the table of file OF to RET: ANSWER are the N bytes that answer_put_table writes. */
void table_file_put(const struct table_file_of *of, const uint8_t *answer, size_t n,
		    struct wr *ret);

/* Reads all N bytes as the table of file OF.  Release RET with unwind_table_release.
 * -EPROTONOSUPPORT: another version; -ESTALE: of another file; -EBADMSG: damaged. */
int table_file_get(const uint8_t *bytes, size_t n, const struct table_file_of *of,
		   struct unwind_table *ret, struct err *err);

/* What else is known of a file that it takes reading much of it to know. */
struct file_note {
	struct image_layout layout;
	bool has_content; /* `content` is known, as in struct kept_info */
	uint8_t content[ENTRY_CONTENT_BYTES];
};

/* Notes are kept as tables are. */
void table_file_put_note(const struct table_file_of *of, const struct file_note *note,
			 struct wr *ret);
int table_file_get_note(const uint8_t *bytes, size_t n, const struct table_file_of *of,
			struct file_note *ret, struct err *err);

/* What the caller makes of the whole machine and knows by KEY: N bytes, kept as tables are. */
void table_file_put_machine(uint64_t key, const uint8_t *bytes, size_t n, struct wr *ret);

/* The bytes that were kept by KEY, in place: *RET points into BYTES.  Errors as table_file_get. */
int table_file_get_machine(const uint8_t *bytes, size_t n, uint64_t key, const uint8_t **ret,
			   size_t *ret_n, struct err *err);

/* Whether all N bytes are a whole table of, or note about, some file or the machine.
 * -EPROTONOSUPPORT: of another version; -EBADMSG: damaged. */
int table_file_check(const uint8_t *bytes, size_t n, struct err *err);

#endif
