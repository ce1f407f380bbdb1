/* SPDX-License-Identifier: BSD-2-Clause */
/* What the machine does now, second by second, without storing it: a recorder whose profile is read
 * and emptied instead of written.
 *
 *     live_start(&opts, &live, err);
 *     for (;;) {
 *             live_wait(live, 1000, STDIN_FILENO);
 *             live_take(live, &second, err);      what came since the last call, as a source
 *             ... source_flat(second->source, ...) ...
 *             live_second_free(second);
 *     }
 *     live_stop(live);
 *
 * Names are as a recording has them: symbols are read by the same children and lie in a directory
 * of this process's own below $TMPDIR, which live_stop removes, or the next live_start if this
 * process is killed.  Memory is bounded: a second takes what came in it, and the recorder is begun
 * anew when all that it met takes LIVE_MOST_BYTES (sampling_bytes), with call paths twice that. */
#ifndef DAEMON_LIVE_H
#define DAEMON_LIVE_H

#include "collect/collector.h"
#include "query/source.h"

#define LIVE_MOST_BYTES (32u << 20)

struct live_opts {
	struct collector_opts collect; /* as of a recorder; borrowed until live_stop */
	const struct select *select;   /* which samples are shown; borrowed */
};

struct live;

/* One stretch of time: SOURCE has its samples.  Names and rows live as long as it. Free it before
 * live_stop. */
struct live_second {
	struct source *source;
	double seconds; /* how long it was */
};

int live_start(const struct live_opts *o, struct live **ret, struct err *err);

/* Collects for TIMEOUT_MS at most; returns earlier when FD (-1: none) polls readable, a signal
 * arrives or a buffer fills.  Call it again and again: nobody else empties the buffers. */
void live_wait(struct live *l, int timeout_ms, int fd);

/* Takes what came since the last call.  An owner that the selection names and that has no samples
 * now is no error.  -ENOENT: the selection names an event that is not sampled. */
int live_take(struct live *l, struct live_second **ret, struct err *err);
void live_second_free(struct live_second *s);

const struct collector *live_collector(const struct live *l);
void live_stop(struct live *l);

#endif
