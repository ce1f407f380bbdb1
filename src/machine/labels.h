/* SPDX-License-Identifier: BSD-2-Clause */
/* Labels of living processes as text that outlives their recorder: one process a line, "PID START
 * LABEL", START as field 22 of /proc/PID/stat, in clock ticks since boot, so that a pid that is
 * used again is another process. */
#ifndef MACHINE_LABELS_H
#define MACHINE_LABELS_H

#include "base/str.h"
#include "machine/procs.h"

#define LABEL_BYTES 256 /* of a label in it, at most, with its NUL */

struct labelled {
	uint32_t pid;
	uint64_t start_ticks;
	char label[LABEL_BYTES];
};

/* Takes the first line of the N bytes at TEXT; returns its length with the newline, or 0 when it is
 * none.  The text comes from whoever can write to the BPF file system. */
size_t labels_parse(const char *text, size_t n, struct labelled *ret);
void labels_format(const struct labelled *l, struct str *out);

/* Adds the lines of PS' processes that live and have a label of their own, of a
 * thousand at most. */
void labels_list(const struct procs *ps, struct str *out);

/* Tells whether the processes with labels, or their labels, are others than those that *MARK stands
 * for, and has it stand for these. */
bool labels_changed(const struct procs *ps, uint64_t *mark);

/* Gives the processes that TEXT tells of and that still live their labels; and, of those that have
 * none then, each the label of the nearest living process it descends from that has one.  Returns
 * how many have one now. */
size_t labels_apply(struct procs *ps, const char *text, size_t n);

#endif
