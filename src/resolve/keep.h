/* SPDX-License-Identifier: BSD-2-Clause */
/* Which code is to be kept, and keeping it (kept_dir.h): at the end of a recording, at the flushes
 * of a daemon, and by imports. */
#ifndef RESOLVE_KEEP_H
#define RESOLVE_KEEP_H

#include "model/sampled.h"
#include "resolve/kept_dir.h"

typedef VEC(struct kept_range) kept_ranges;

/* What is known of the file that code is kept of. */
struct keep_file {
	bool is_believed; /* file_symbols_believed */
	bool is_hidden;	  /* its owner hides it from some */
};

/* Appends to RET the procedures of IM around the N PLACES, which are IM's and ascend, of which DIR
 * keeps no code yet; their symbols must be kept there.  Tells whether DIR keeps other code of
 * IM. */
bool keep_wanted(const char *dir, const struct image *im, const struct sampled_place *places,
		 size_t n, kept_ranges *ret);

/* Whether other code of the image is kept (HAS_KEPT) and RANGES, which keep_wanted found for the
 * same N PLACES, have hardly any samples: neither one of them of the N_SAMPLES of all images, nor
 * all together.  Reading a file's debug information costs as much for one procedure as for many,
 * and each recording meets some that none met before.  False where no samples are counted. */
bool keep_is_little(const struct sampled_place *places, size_t n, const kept_ranges *ranges,
		    bool has_kept, uint64_t n_samples);

/* Keeps RANGES of the file FD (borrowed), which is IM's, in this process, which is its user's: with
 * the lines of its separate debug file, wherever that lies. */
int keep_now(const char *dir, const struct image *im, int fd, const kept_ranges *ranges,
	     struct err *err);

/* Opens, before a child gives up its rights, the debug file that a question may need, and the file
 * that dwz moved parts of it to: those that root installed for everybody, the first of them below
 * /usr/lib/debug.  -1: there is none.  Their lines are believed as the code is.  RET.code is not
 * touched. */
void keep_open_debug(const uint8_t *question, size_t n, struct kept_files *ret);

/* Keeps code in two parts: a child makes bytes of the file's RANGES, as a question has them, and
 * whoever asked keeps them.  LINES and CONTENT: as kept_code_read.  IS_KNOWN: the file is known to
 * have IM's digest.  keep_question stops at MOST bytes and returns how many ranges it has.
 * keep_take_known spares the child, which has the file at FD, hashing it for what is known.
 * RET_CONTENT is the file's content; it may be NULL. */
size_t keep_question(const struct image *im, bool is_known, const uint8_t *content,
		     const kept_ranges *ranges, bool lines, size_t most, struct wr *ret);
void keep_take_known(int fd, const uint8_t *question, size_t n);
int keep_answer(struct kept_files files, const uint8_t *question, size_t n, struct wr *ret,
		struct err *err);
int keep_bytes(const char *dir, const struct image *im, struct keep_file file, const uint8_t *bytes,
	       size_t n, uint8_t *ret_content, struct err *err);

/* Tells whether the file at FD may be read by everybody: it, and each directory that leads to it.
 * No file system is asked; what is not known is hidden. */
bool keep_is_hidden(int fd);

#endif
