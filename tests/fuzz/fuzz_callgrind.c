/* SPDX-License-Identifier: BSD-2-Clause */
/* callgrind's files: one of our own, and one with what others write. */
#include "importer_fuzz.h"

static const char others[] = "# callgrind format\npositions: instr bb line\nevents: Ir Dr\n"
			     "fl=(1) a.c\nfn=(1) main\n0x400 0x400 10 5 -1\n+4 * +1 0x10\t2\n"
			     "jfi=(2) b.h\njcnd=3/4 +8 * +2\n* * *\nfi=(2)\n+4 +8 -1 7\n"
			     "cfn=(1)\ncalls=1 0x400\n* * * 7\npart: 2\nevents: Dr Ir\n9 9 9 1\n";

IMPORTER_TARGET_AND("file of callgrind", stacks_t_file("callgrind", ret_n), others)
