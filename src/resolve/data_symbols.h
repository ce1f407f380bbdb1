/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of one image's variables, which are the names of data addresses.  They are kept apart
 * from the names of code, because only recordings with data addresses need them. */
#ifndef RESOLVE_DATA_SYMBOLS_H
#define RESOLVE_DATA_SYMBOLS_H

#include "base/err.h"
#include "model/image.h"
#include "resolve/symcache.h"

struct data_symbols {
	struct symtab symtab;  /* no entries: nothing is known */
	const char **names;    /* by entry, readable, as asked for */
	struct symcache cache; /* when IS_KEPT: SYMTAB lies in it */
	bool is_kept;
};

/* Fills S, which is zeroed or was filled before, with the variables of the ELF file open at FD
 * (borrowed).  Returns enum symtab_source: where they came from. */
int data_symbols_read(struct data_symbols *s, int fd);

/* Keeps the variables of the file open at FD (borrowed), which is IM, in DIR/<build-id>/; does
 * nothing where it has none or they are there.  0 or a negative errno. */
int data_symbols_save(const char *dir, const struct image *im, int fd, struct err *err);

/* Opens what is kept of IM in DIR; S must stay where it is.  0 or a negative errno. */
int data_symbols_open(struct data_symbols *s, const char *dir, const struct image *im);
void data_symbols_release(struct data_symbols *s);

#endif
