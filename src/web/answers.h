/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers to questions of another process, each made by a child.
 *
 * `dwell web` is two processes.  The one that speaks HTTP (pages.h) has no rights.  The other one,
 * which may read the database, never sees a byte from the network but a question's words, and lets
 * a child answer each: a question can at worst end its own child.
 *
 * A question is one message of the socket between them: a number and who asks (4 bytes each, of
 * this machine's order), then words, each ended by NUL; with it come two descriptors, to which the
 * child writes its answer and its message.  When the child has ended its number and exit status go
 * back, 4 bytes each; 128 and a signal's number for one that was killed.
 *
 * Those who ask take turns: whoever asks one question waits for one of each of the others, however
 * many these have asked before.
 *
 * A message that is a number alone, without descriptors, takes that question back: its child is
 * killed, or never made.  So a browser that closes in the middle costs nothing from then on.
 *
 * How much memory a question takes is known from the last ones of its name.  A child is started
 * beside others while all together are expected to stay within a bound: questions of a small
 * database run side by side, those of a month one after the other.  A question whose name is new is
 * expected to take what the largest took, the very first one all there is. */
#ifndef WEB_ANSWERS_H
#define WEB_ANSWERS_H

#include <stddef.h>

#include "base/err.h"

#define ANSWERS_MAX_WORDS 64
#define ANSWERS_MAX_BYTES 8192

struct answers_opts {
	unsigned most;	 /* children at a time; further questions wait */
	unsigned cpu_s;	 /* CPU time of one */
	unsigned wall_s; /* after which one is ended whatever it does */
	size_t memory;	 /* address space of one */
	size_t together; /* memory of all that run, as far as it can be told beforehand */
};

/* Answers one question: runs in a child whose stdout and stderr are the question's descriptors.
 * Returns the exit status. */
typedef int answers_fn(void *ctx, unsigned n_words, char **words);

/* Answers what comes through the socket FD (SOCK_SEQPACKET), until the other side closes it or
 * *STOP.  No other threads may run. */
int answers_serve(int fd, const struct answers_opts *opts, answers_fn *answer, void *ctx,
		  const volatile int *stop, struct err *err);

#endif
