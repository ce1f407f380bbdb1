/* SPDX-License-Identifier: BSD-2-Clause */
/* The jitdumps of the processes that are recorded, as a source of frames: where collect, which
 * knows who mapped which dump, and resolve, which reads them, meet. */
#ifndef DAEMON_DUMPS_H
#define DAEMON_DUMPS_H

#include "base/vec.h"
#include "collect/procs.h"
#include "resolve/resolver.h"

struct dump;

struct dumps {
	struct frame_source source;
	VEC(struct dump *) v;
};

/* The source to add to the collector; it lives in D, which must stay where it is. */
struct frame_source *dumps_init(struct dumps *d);
void dumps_release(struct dumps *d);

/* Saves the procedures of every dump that had samples, with what was written since. */
void dumps_save(struct dumps *d, const struct procs *ps, struct resolver *r);

/* Saves and forgets those that had no sample since the last call: they are read again from their
 * start should there be one. */
void dumps_settle(struct dumps *d, const struct procs *ps, struct resolver *r);

#endif
