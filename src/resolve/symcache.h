/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbols kept under the database: DIR/<build-id>/symbols, one file per image
 * (docs/formats/symbols.md).
 *
 * A cached symtab is used where it is mapped: opening one checks the header and the tables, names
 * are checked 64 KiB at a time when first looked at. */
#ifndef RESOLVE_SYMCACHE_H
#define RESOLVE_SYMCACHE_H

#include "base/err.h"
#include "base/file.h"
#include "base/wr.h"
#include "model/image.h"
#include "resolve/symtab.h"
#include "resolve/symtab_elf.h"

#define SYMCACHE_FILE "symbols"

struct symcache_info {
	enum image_kind kind;
	enum symtab_source source;  /* what the symbols were read from */
	struct image_layout layout; /* with the build-id */
	const char *path;	    /* as the image was called when it was saved */
};

struct symcache {		   /* must stay where it was opened */
	struct symcache_info info; /* .path lives as long as this */
	struct symtab symtab;
	struct file_map map;
	uint8_t *checked;    /* one byte a block of names: 0 not yet, 1 good, 2 damaged */
	const uint8_t *sums; /* le64 of each block */
	char *path;
};

/* Writes INFO and ST under DIR, over an older entry.  Makes the directory.  INFO must have a
 * build-id. */
int symcache_save(const char *dir, const struct symcache_info *info, const struct symtab *st,
		  struct err *err);

/* Opens the entry of ID; symcache_close it.  -ENOENT: none; -EBADMSG, -ENODATA: damaged;
 * -EPROTONOSUPPORT: written by a newer version; -ESTALE: it is of another image. */
int symcache_open(struct symcache *c, const char *dir, const struct build_id *id, struct err *err);
void symcache_close(struct symcache *c);

/* Takes the file's pages out of this process's memory; they come back when they are looked at. */
void symcache_rest(const struct symcache *c);

/* Tells whether there is an entry of ID, without looking into it. */
bool symcache_has(const char *dir, const struct build_id *id);

/* The codec alone, for whom the bytes are somewhere else: BYTES must outlive C. */
void symcache_format(const struct symcache_info *info, const struct symtab *st, struct wr *ret);
int symcache_parse(struct symcache *c, const uint8_t *bytes, size_t n, struct err *err);

/* Puts the right checksums into the file of N bytes at BYTES, as far as its header makes sense; for
 * tests that damage what lies behind them. */
void symcache_seal(uint8_t *bytes, size_t n);

/* Checks what opening does not: every name, and that addresses ascend.  0 or -EBADMSG. */
int symcache_check(struct symcache *c, struct err *err);

#endif
