/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbols kept under the database, in DIR/<build-id>/ (docs/formats/symbols.md).
 *
 * An entry is called after what it is of and what it was made from:
 *
 *     symbols-DIGEST-CONTENT   of the image with that digest; made from bytes of hash CONTENT, of a
 *                              file that only root or the recorder's own user may write
 *     claimed-DIGEST-CONTENT   from a file of somebody else
 *     symbols                  of an image without a digest: a kernel, generated code, all that
 *                              version 0.1.0 kept
 *
 * So no file's symbols replace another's.  When several files claim to be one image, one that is
 * root's or the recorder's is believed before all others.
 *
 * A cached symtab is used where it is mapped: opening one checks the header and the tables, names
 * are checked 64 KiB at a time when first looked at. */
#ifndef RESOLVE_SYMCACHE_H
#define RESOLVE_SYMCACHE_H

#include "base/err.h"
#include "base/file.h"
#include "base/vec.h"
#include "base/wr.h"
#include "model/image.h"
#include "resolve/entry_name.h"
#include "resolve/symtab.h"
#include "resolve/symtab_elf.h"

#define SYMCACHE_FILE "symbols"

#define SYMCACHE_CONTENT_BYTES ENTRY_CONTENT_BYTES

/* Entries from files of other users that are kept of one image; more are refused. */
#define SYMCACHE_MOST_CLAIMED 8

struct symcache_info {
	enum image_kind kind;
	enum symtab_source source;  /* what the symbols were read from */
	struct image_layout layout; /* with the build-id */
	const char *path;	    /* as the image was called when it was saved */
	bool is_claimed;	    /* others may write the file that it was made from */
	uint8_t content[SYMCACHE_CONTENT_BYTES]; /* hash of the bytes it was made from */
};

struct symcache {		   /* must stay where it was opened */
	struct symcache_info info; /* .path lives as long as this */
	struct symtab symtab;
	struct file_map map;
	bool is_disputed;    /* another user's file says something else, and neither is root's */
	uint8_t *checked;    /* one byte a block of names: 0 not yet, 1 good, 2 damaged */
	const uint8_t *sums; /* le64 of each block */
	char *path;
};

/* Opens the directory DIR/<build-id> of ID, which is made first when MAKE; no symbolic link in its
 * place is followed.  Returns a descriptor. */
int symcache_open_dir(const char *dir, const struct build_id *id, bool make, struct err *err);

/* Writes INFO and ST under DIR.  Makes the directory.  INFO must have a build-id.  Does nothing
 * when an entry from the same bytes is there; without a digest it replaces the older entry.
 * -ENOSPC: SYMCACHE_MOST_CLAIMED are there already. */
int symcache_save(const char *dir, const struct symcache_info *info, const struct symtab *st,
		  struct err *err);

/* Opens the best entry of IM; symcache_close it.  An image without a digest gets the entry without
 * one, else those of the only image with its build-id.  -ENOENT: none; -ENOTUNIQ: two images have
 * its build-id, and nobody knows which it is; -EBADMSG, -ENODATA: damaged; -EPROTONOSUPPORT:
 * written by a newer version; -ESTALE: it is of another image than its name says. */
int symcache_open(struct symcache *c, const char *dir, const struct image *im, struct err *err);
void symcache_close(struct symcache *c);

/* Takes the file's pages out of this process's memory; they come back when they are looked at. */
void symcache_rest(const struct symcache *c);

/* Tells whether there is an entry of IM, without looking into it; and whether one is made from a
 * file of root's or the recorder's. */
bool symcache_has(const char *dir, const struct image *im);
bool symcache_has_believed(const char *dir, const struct image *im);

/* Returns a number that is another one whenever the entries of build-id ID are others; 0:
 * there is none. */
uint64_t symcache_stamp(const char *dir, const struct build_id *id);

/* Lists the entries of build-id ID, those that are believed first; "symbols" has a key of zeros.
 * 0 or -errno; vec_release them. */
int symcache_list(const char *dir, const struct build_id *id, cache_entries *ret, struct err *err);

/* Opens the entry of ID that is called NAME; errors as symcache_open. */
int symcache_open_entry(struct symcache *c, const char *dir, const struct build_id *id,
			const struct cache_entry *entry, struct err *err);

/* Removes that entry; 0 or -errno. */
int symcache_remove(const char *dir, const struct build_id *id, const struct cache_entry *entry);

/* The codec alone, for callers that have the bytes elsewhere: BYTES must outlive C. */
void symcache_format(const struct symcache_info *info, const struct symtab *st, struct wr *ret);
int symcache_parse(struct symcache *c, const uint8_t *bytes, size_t n, struct err *err);

/* Parses a mapped file.  Pages that were only checked are given back to the system. */
int symcache_parse_map(struct symcache *c, const struct file_map *map, struct err *err);

/* Puts the right checksums into the file of N bytes at BYTES, as far as its header makes sense;
 * for tests that damage what lies behind them. */
void symcache_seal(uint8_t *bytes, size_t n);

/* Checks what opening does not: every name, and that addresses ascend.  0 or -EBADMSG. */
int symcache_check(struct symcache *c, struct err *err);

#endif
