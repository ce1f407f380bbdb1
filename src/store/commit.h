/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording being written, and the one way its state changes: see commit.c. */
#ifndef STORE_COMMIT_H
#define STORE_COMMIT_H

#include "store/db.h"
#include "store/manifest.h"

#define COMPACT_AT 16 /* segments that a flush merges, unless told otherwise */

struct store {
	int dir_fd; /* of the recording; holds its lock */
	char epoch[EPOCH_NAME_LEN + 1];
	struct manifest m; /* as last committed */
	unsigned compact_at;
	double prune;  /* share of contexts that a merge prunes; 0: none */
	bool unsynced; /* the last MANIFEST is in place, but a power failure might undo that */
	/* The journal being written: */
	int journal_fd;		/* -1: none yet */
	uint64_t journal_bytes; /* end of its last whole record */
	struct journal_writer journal_writer;
	struct wr journal_record; /* room for one */
	uint64_t now_ns;	  /* the time, by which segments are merged; 0: the clock's */
	bool journal_broken;	  /* a failed record could not be cut off: nothing may follow it */
};

/* The time, nanoseconds since 1970. */
uint64_t store_now_ns(const struct store *s);

/* Is NAME a file that file_replace left when it was killed? */
bool commit_is_temp(const char *name);

/* Puts NEW in place of the recording's MANIFEST.  Takes NEW over when it is in place at return,
 * which is when it returns 0 (1: in place, but not known to be on disk yet). */
int commit_manifest(struct store *s, struct manifest *new, struct err *err);

/* Makes sure of the MANIFEST in place, then removes what it does not name. */
int commit_settle(struct store *s, struct err *err);

/* Sees to the segments that commits of a killed writer left, once its journal is absorbed: those of
 * which all is stored are removed, others set aside. */
int commit_clean(struct store *s, struct err *err);

/* Closes the journal after a commit that voids it; REMOVE when that commit is on disk. */
void commit_drop_journal(struct store *s, bool remove);

enum commit_how {
	COMMIT_ADD,	/* a segment more */
	COMMIT_MERGE,	/* one segment for each run of them that edges.h tells, P among them */
	COMMIT_LAST,	/* so, and nothing will come any more */
	COMMIT_REPLACE, /* one segment in place of all there are, whose content P holds too */
};

/* Commits P (NULL, but not with REPLACE: nothing).  NEW has what else changes; it is taken over
 * after success. */
int commit_profile(struct store *s, const struct profile *p, enum commit_how how, bool void_journal,
		   struct manifest *new, struct err *err);

/* Commits P with a segment that says it comes from O.  Other arguments and errors as
 * commit_profile. */
int commit_profile_from(struct store *s, const struct profile *p, enum commit_how how,
			bool void_journal, const struct segment_origin *o, struct manifest *new,
			struct err *err);

/* Merges the segments of a finished recording that need not be told apart any more, and prunes them
 * by PRUNE.  The caller holds the database's lock.  Returns whether there were any, or an error. */
int life_age(int epochs_fd, const char *epoch, const char *host, double prune, uint64_t now_ns);

/* Writes P as a new segment that comes from O, and adds it to NEW. */
int commit_add_segment(struct store *s, struct manifest *new, const struct profile *p,
		       const struct segment_origin *o, struct err *err);

/* Removes the segments that NEW names and the MANIFEST in place does not. */
void commit_remove_new(struct store *s, const struct manifest *new);

/* The number of the segment called NAME. */
uint64_t commit_segment_number(const char *name);

/* Moves file NAME of the recording in DIR_FD to its directory LOST_NAME, under another name when it
 * has one of that name already. */
#define LOST_NAME "lost"
int commit_set_aside(int dir_fd, const char *name);

/* Is there anything in P to store: samples, losses, or sums of events? */
bool commit_has_content(const struct profile *p);

#endif
