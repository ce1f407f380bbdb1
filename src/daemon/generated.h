/* SPDX-License-Identifier: BSD-2-Clause */
/* What JIT compilers tell of their code, jitdumps and perf maps, as a source of frames: where
 * collect, which knows whose they are, and resolve, which reads them, meet. */
#ifndef DAEMON_GENERATED_H
#define DAEMON_GENERATED_H

#include "base/vec.h"
#include "machine/procs.h"
#include "resolve/image_symbols.h"

struct teller; /* a dump or a map that is followed */

struct generated {
	struct frame_source source;
	VEC(struct teller *) dumps; /* by number in struct images; NULL: not looked at yet */
	uint32_t cycle;		    /* the last in which somebody was asked, and */
	uint64_t cycle_end_ns;	    /* until when it waits */
	VEC(struct teller *) maps;  /* by number in jits of struct procs */
};

/* The source to add to the collector; it lives in G, which must stay where it is. */
struct frame_source *generated_init(struct generated *g);
void generated_release(struct generated *g);

/* Saves the procedures of all code that had samples, with what was told since,
 * where SYMBOLS says. */
void generated_save(struct generated *g, const struct procs *ps, struct symbol_sources *symbols);

/* Saves and forgets that which had no sample since the last call: it is read again from the start
 * should there be one. */
void generated_settle(struct generated *g, const struct procs *ps, struct symbol_sources *symbols);

#endif
