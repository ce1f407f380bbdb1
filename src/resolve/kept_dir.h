/* SPDX-License-Identifier: BSD-2-Clause */
/* Kept code under the database, in DIR/<build-id>/, beside the symbols (symcache.h):
 *
 *     code-DIGEST-CONTENT          of the image with that digest, of a file that only root or the
 *                                  recorder's user may write; CONTENT is the hash of its code
 *     claimedcode-DIGEST-CONTENT   of a file of somebody else
 *
 * A file is replaced when more procedures are to be kept.  All files together are bounded: those
 * that were written longest ago go. */
#ifndef RESOLVE_KEPT_DIR_H
#define RESOLVE_KEPT_DIR_H

#include "resolve/kept_code.h"

/* All kept code of a database takes no more bytes than these. */
#define KEPT_MOST_BYTES (256ull << 20)

/* Files of other users that are kept of one image; more are refused. */
#define KEPT_MOST_CLAIMED 4

/* Adds K to what DIR has of its image and content.  K's info must have a build-id and a digest.  A
 * hidden one can be read by the owner of the database alone.  MOST_BYTES: KEPT_MOST_BYTES.  1: it
 * was written; 0: all of it was there; -ENOSPC: too many files claim to be the image. */
int kept_save(const char *dir, struct kept_code *k, uint64_t most_bytes, struct err *err);

/* Opens the best that DIR has of IM: believed files first, then the one with most procedures.
 * -ENOENT: nothing; -ENOTUNIQ: nobody knows which image IM is. */
int kept_open(struct kept_code *k, const char *dir, const struct image *im, struct err *err);

/* Lists the files of build-id ID, those that are believed first; vec_release them. */
int kept_list(const char *dir, const struct build_id *id, cache_entries *ret, struct err *err);

/* Opens one of them, and checks all of it.  -ESTALE: it is of another image than its name says. */
int kept_open_entry(struct kept_code *k, const char *dir, const struct build_id *id,
		    const struct cache_entry *e, struct err *err);
int kept_remove(const char *dir, const struct build_id *id, const struct cache_entry *e);

#endif
