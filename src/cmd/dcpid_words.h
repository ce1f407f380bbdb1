/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of DCPI's dcpid, for the program called so. */
#ifndef CMD_DCPID_WORDS_H
#define CMD_DCPID_WORDS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"

typedef VEC(char *) dcpid_args;

struct dcpid_words {
	dcpid_args argv;  /* what dwelld is to be told; ends with NULL behind argv.n */
	dcpid_args notes; /* what to say of options that do nothing */
	const char *log;  /* file for messages; NULL: stderr */
	double status_s;  /* say the status so often; 0: never */
	bool quiet, version;
};

/* Puts ARGV into our words: options of dcpid(1) are replaced, noted or refused, all others stay.
 * -EINVAL: an option that cannot be, with the word to use instead.  Release W even then. */
int dcpid_words_read(struct dcpid_words *w, int argc, char **argv, struct err *err);
void dcpid_words_release(struct dcpid_words *w);

#endif
