/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of DCPI's readers that dwell's commands do not have, for programs called by their
 * names. */
#ifndef CMD_DCPI_WORDS_H
#define CMD_DCPI_WORDS_H

#include "base/err.h"
#include "base/opts.h"
#include "base/vec.h"

typedef VEC(char *) dcpi_args;

struct dcpi_words {
	dcpi_args argv;	 /* what the command is to be told; a NULL is behind argv.n */
	dcpi_args notes; /* what to say of options that do nothing */
};

/* Puts the line of PROGRAM, one of DCPI's names, into the words of our commands: options of its
 * page are replaced, noted or refused, all others stay.  -EINVAL: an option that cannot be, with
 * what to use instead.  Release W even then. */
int dcpi_words_read(struct dcpi_words *w, const char *program, int argc, char **argv,
		    struct err *err);
void dcpi_words_release(struct dcpi_words *w);

#endif
