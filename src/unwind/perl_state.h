/* SPDX-License-Identifier: BSD-2-Clause */
/* Where Perl keeps its frames; see perl.h.  Included by both compilers. */
#ifndef UNWIND_PERL_STATE_H
#define UNWIND_PERL_STATE_H

#include "unwind/python_state.h"

/* Where things are, in bytes, in builds with threads. */
struct perl_layout {
	__u16 stack, cop;   /* of the interpreter: PL_curstackinfo, PL_curcop */
	__u16 aux_in_array; /* what a package adds to its hash lies behind the array */
};

#define PERL_N_LAYOUTS 4 /* a power of two */

static const struct perl_layout perl_layouts[PERL_N_LAYOUTS] = {
	[INTERPRETER_PERL_5_32 - INTERPRETER_PERL_FIRST] = {0xf0, 0xe0, 1},
	[INTERPRETER_PERL_5_36 - INTERPRETER_PERL_FIRST] = {0xe0, 0xd0, 0},
	[INTERPRETER_PERL_5_40 - INTERPRETER_PERL_FIRST] = {0xe0, 0xd0, 0},
};

#define PERL_LAYOUT(interpreter)                                                                   \
	(&perl_layouts[INTERPRETER_LAYOUT((interpreter)-INTERPRETER_PERL_FIRST, PERL_N_LAYOUTS)])

/* What all these versions share: cop.h, cv.h, gv.h, hv.h, sv.h; words of a PERL_SI, of a
 * PERL_CONTEXT and of bodies, bytes of others. */
#define PERL_STACK_WORDS   6
#define PERL_STACK_FIRST   1 /* si_cxstack */
#define PERL_STACK_PREV	   2
#define PERL_STACK_INDEX   4 /* and si_cxmax */
#define PERL_STACK_TYPE	   5 /* its upper half */
#define PERL_STACK_SORT	   3
#define PERL_CONTEXT_BYTES 0x68
#define PERL_CONTEXT_WORDS 11
#define PERL_CONTEXT_COP   2
#define PERL_CONTEXT_RETOP 6
#define PERL_CONTEXT_CV	   9
#define PERL_CONTEXT_DEPTH 10 /* its lower half */
#define PERL_CONTEXT_SUB   9  /* of its type */
#define PERL_MOST_CONTEXTS 0x100000
#define PERL_COP_LINE	   0x24
#define PERL_COP_FILE	   0x30
#define PERL_CV_STASH	   4
#define PERL_CV_START	   5 /* its first operation */
#define PERL_CV_GV	   7
#define PERL_CV_FILE	   8
#define PERL_CV_FLAGS	   11 /* its upper half */
#define PERL_CV_DEPTH	   12 /* its lower half */
#define PERL_CV_WORDS	   13
#define PERL_CV_NAMED	   0x8000
#define PERL_GV_NAME	   4
#define PERL_GV_STASH	   5
#define PERL_HAS_AUX	   0x02000000
#define PERL_HV_MAX	   3
#define PERL_HV_BYTES	   32 /* of the body, before what a package adds to it */
#define PERL_AUX_COUNT	   28
#define PERL_NO_LINE	   2 /* of is_first */
#define PERL_HEK_TEXT	   8 /* a shared string; its length is the 4 bytes before */

#endif
