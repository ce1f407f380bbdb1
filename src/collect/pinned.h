/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs that outlive their recorder.
 *
 * A log's arrays and the links of its programs are pinned in a directory of a BPF file system
 * (BASE/<number of the log, 16 hex digits>/, see pin_dir.h and pin_place.h), with a note that says
 * what the events are: as long as the files are there the events count, whoever is alive.  The next
 * recorder opens what a dead one left with pinned_open, which gives a log like any other;
 * pinned_stop ends its sampling for good, and pinned_remove lets go of it once everything in it is
 * stored. */
#ifndef COLLECT_PINNED_H
#define COLLECT_PINNED_H

#include "base/err.h"
#include "base/vec.h"
#include "collect/log.h"
#include "collect/calls/old_chains.h"
#include "collect/pin_place.h"

/* What a dead recorder's log holds. */
struct pinned_event {
	char name[128], unit[16];
	uint64_t period, freq_hz;
};

struct pinned_note {
	uint32_t n_events; /* 1 .. LOG_MAX_EVENTS */
	bool calls;	   /* with call paths */
	struct pinned_event events[LOG_MAX_EVENTS];
};

#define PINNED_NOTE_BYTES 8192

/* The note as text and back; a note comes from whoever can write to the BPF file system, so it is
 * read like any outside bytes.  -EBADMSG, -EPROTONOSUPPORT. */
void pinned_note_format(const struct pinned_note *n, char ret[PINNED_NOTE_BYTES]);
int pinned_note_parse(const char *text, size_t n_bytes, struct pinned_note *ret, struct err *err);

/* Opens the directory for the logs of the database in directory DB, FS/dwell/<device>-<inode>,
 * which is made when MAKE.  Logs of a removed database whose inode DB has now are removed, unless
 * somebody holds them.  -ENOENT; -EPERM when somebody else's is there. */
int pinned_base_open(const struct pin_dir *fs, const char *db, bool make, struct pin_dir *ret,
		     struct err *err);

/* Removes BASE, which is in FS, when no log is in it. */
void pinned_base_remove(const struct pin_dir *fs, const struct pin_dir *base);

/* Holds BASE for the daemon of database DB, whose path is kept there, until BASE is closed or the
 * process ends.  -EBUSY when another process holds it. */
int pinned_base_hold(const struct pin_dir *base, const char *db, struct err *err);

/* The directories for logs in FS, of all databases.  Each has the path of its database, "" when
 * that was 0.1.0's, which kept none. */
struct pinned_home {
	struct pin_dir base;
	char *db;
	bool there; /* the path still means the same directory */
	bool held;  /* by a daemon that lives */
};
typedef VEC(struct pinned_home) pinned_homes;
void pinned_find_homes(const struct pin_dir *fs, pinned_homes *ret);

/* Whether H, which has the device and inode of the database PATH, is of one that
 * had them before. */
bool pinned_is_stale(const struct pinned_home *h, const char *path);
void pinned_homes_release(pinned_homes *h);

/* Pins L, whose number is NUMBER, below BASE, before its events are enabled.  With
 * call paths IDS tells what images' numbers stand for.  On failure nothing is left. */
int pinned_make(struct log *l, const struct pinned_note *note, const struct image_ids *ids,
		const struct pin_dir *base, uint64_t number, struct err *err);

/* The numbers of the logs below BASE, except that of EXCEPT. */
typedef VEC(uint64_t) pinned_list;
void pinned_find(const struct pin_dir *base, uint64_t except, pinned_list *ret);

/* The array that says which log of BASE samples (log.h), made when it is not there.  Returns its
 * descriptor. */
int pinned_live(const struct pin_dir *base, struct err *err);

/* Whether log NUMBER asks the array LIVE_FD if it is to sample.  Those of 0.1.0 ask nobody. */
bool pinned_takes_turns(const struct pin_dir *base, uint64_t number, int live_fd);

/* Opens one.  *RET_CHAINS are its call paths, NULL when there are none; it may be NULL
 * itself.  -ENOENT when it was never
 * complete: it never sampled. */
int pinned_open(const struct pin_dir *base, uint64_t number, struct log **ret,
		struct old_chains **ret_chains, struct pinned_note *ret_note, struct err *err);

/* Keeps the N bytes at TEXT, at most PINNED_MOST_LABELS, beside the log, in place of what was kept
 * there before: labels of processes (labels.h). */
#define PINNED_MOST_LABELS (1u << 20)
int pinned_put_labels(const struct pin_dir *base, uint64_t number, const char *text, size_t n,
		      struct err *err);

/* What is kept there, *RET_N bytes in fresh memory; -ENOENT when there is nothing. */
int pinned_get_labels(const struct pin_dir *base, uint64_t number, char **ret, size_t *ret_n);

/* Ends its sampling.  Runs that had begun may change its arrays for some microseconds more. */
int pinned_stop(const struct pin_dir *base, uint64_t number, struct err *err);

/* Lets go of it. */
int pinned_remove(const struct pin_dir *base, uint64_t number, struct err *err);

#endif
