/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that remember what was sent, and what is remembered of segments that were pushed to servers
 * which cannot be asked.
 *
 *     dwell-push 1
 *     RECORDING SEGMENT START END SAMPLES FATE     a line for each segment of recordings there are
 *
 * FATE: "pushed", "doubt" (it was sent and no answer came), "refused1" and so on. */
#ifndef FLEET_PUSH_STATE_H
#define FLEET_PUSH_STATE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "store/manifest.h"

/* The user's own file for what goes from database DB to SERVER; to be freed.  NULL: there is no
 * home directory, or it cannot be made. */
char *fleet_state_path(const char *db, const char *server, struct err *err);

/* Replaces the file PATH by the N bytes of TEXT, as file_replace. */
int fleet_state_save(const char *path, const char *text, size_t n, struct err *err);

/* Adds TEXT to the file PATH, synced; where it is not there, or does not begin with HEAD, makes one
 * of HEAD first. */
int fleet_state_append(const char *path, const char *head, const char *text, struct err *err);

enum push_fate { PUSH_NEW, PUSH_DONE, PUSH_DOUBT, PUSH_REFUSED };

struct push_segment {
	uint64_t recording; /* push_recording_id */
	uint64_t number, start_ns, end_ns, n_samples;
	enum push_fate fate;
	unsigned n_refused;
	bool is_there; /* it was seen in this pass */
};

struct push_state {
	char *path;
	VEC(struct push_segment) segments;
};

uint64_t push_recording_id(const char *epoch, const struct manifest *m);

/* Loads PATH, which S owns then.  A file that is not there is an empty one; -EBADMSG: damaged. */
int push_state_load(struct push_state *s, char *path, struct err *err);

/* Saves S.  LAST: all recordings were seen, and lines of what is gone and settled go. */
int push_state_save(struct push_state *s, bool last, struct err *err);
void push_state_release(struct push_state *s);

struct push_segment *push_state_find(struct push_state *s, uint64_t recording, uint64_t number);

#endif
