/* SPDX-License-Identifier: BSD-2-Clause */
/* "Did you mean X?": of the words there are, the one most like the one that was written. */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include <string.h>
#include <strings.h>

#include "base/str.h"

struct near {
	const char *wanted; /* what was written; borrowed */
	unsigned below;	    /* words that differ by less are near */
	char found[256];    /* the nearest so far, or "" */
};

/* Words that differ from WANTED in less than BELOW places (str_distance) are near. */
static inline struct near near_to(const char *wanted, unsigned below)
{
	return (struct near){.wanted = wanted, .below = below};
}

/* Considers WORD, which is called NAME in the message.  Letters of the other case are no difference
 * when all else is equal. */
static inline void near_try_as(struct near *n, const char *word, const char *name)
{
	const unsigned d = strcasecmp(word, n->wanted) == 0 ? 0 : str_distance(word, n->wanted);
	const size_t size = strlen(name) + 1;

	if (d >= n->below || size > sizeof(n->found))
		return;
	n->below = d;
	memcpy(n->found, name, size);
}

static inline void near_try(struct near *n, const char *word)
{
	near_try_as(n, word, word);
}

#endif
