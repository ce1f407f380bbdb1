/* SPDX-License-Identifier: BSD-2-Clause */
/* Named call paths as a profile.  The model knows places by image and address, and names them by
 * symbols: so each image gets addresses of its own making, and a table of symbols that has the
 * names.
 *
 * Example: hot() with samples at lines 12 and 13, main() with samples at line 20.
 *
 *     svma 0x1000, 0x1001  hot      (one for each line)
 *     svma 0x1010          main
 *
 * An image is known by a hash of its path and its symbols: the same file is the same image each
 * time it is read. */
#ifndef PORT_STACKS_IN_H
#define PORT_STACKS_IN_H

#include "model/profile.h"
#include "port/stacks.h"
#include "resolve/symtab.h"

struct stacks_symbols {
	image_id image; /* of the profile */
	struct symtab symtab;
};

typedef VEC(struct stacks_symbols) stacks_symbol_list;

void stacks_symbols_release(stacks_symbol_list *l);

struct stacks_in_opts {
	const char *name;  /* of images that the file does not name */
	const char *label; /* of the samples; NULL: their own */
	bool keep_pids, keep_tids;
};

/* Adds S to P, which is empty, and the symbols of its images to RET.  What is lost on the way is
 * appended to NOTES, a line each. */
void stacks_to_profile(const struct stacks *s, const struct stacks_in_opts *o, struct profile *p,
		       stacks_symbol_list *ret, struct str *notes);

#endif
