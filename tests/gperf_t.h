/* SPDX-License-Identifier: BSD-2-Clause */
/* A CPU profile of gperftools, as docs/formats/gperf.md has it, for tests. */
#ifndef TESTS_GPERF_T_H
#define TESTS_GPERF_T_H

#include <string.h>

#include "base/str.h"
#include "base/wr.h"

/* 3 samples at 0x401035 called from before 0x40100c, in the code of PATH; 4 in no file.  Returns
 * how many bytes the samples and what is before them take. */
static inline size_t gperf_t_make(struct wr *w, unsigned n_bytes, bool big_endian, unsigned version,
				  const char *path)
{
	const uint64_t words[] = {0,	    3, version, 10000,	    0, 3, 2, 0x401035,
				  0x40100c, 4, 1,	0x70001234, 0, 1, 0};
	struct str text = {0};
	size_t n;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (unsigned k = 0; k < n_bytes; k++)
			wr_u8(w, (uint8_t)(words[i] >> 8 * (big_endian ? n_bytes - 1 - k : k)));
	n = w->n;
	str_addf(&text, "00401000-00402000 r-xp 00001000 00:14 1234  %s\n", path);
	str_add(&text, "build=/somewhere\n"
		       "7ffd0000-7ffe0000 rw-p 00000000 00:00 0  [stack]\n"
		       "7ff00000-7ff10000 rw-p 00000000 00:00 0\n");
	wr_bytes(w, text.v, text.n);
	str_release(&text);
	return n;
}

#endif
