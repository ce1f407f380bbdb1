/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands behind the name of N things: "1 line", "2 lines"; and with the verb: "1 line is", "2
 * lines are". */
#ifndef BASE_PLURAL_H
#define BASE_PLURAL_H

#include <stdint.h>

static inline const char *plural_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static inline const char *plural_are(uint64_t n)
{
	return n == 1 ? " is" : "s are";
}

#endif
