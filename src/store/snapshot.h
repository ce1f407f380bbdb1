/* SPDX-License-Identifier: BSD-2-Clause */
/* One recording as it was at one moment: its MANIFEST, and every file that MANIFEST names, open. */
#ifndef STORE_SNAPSHOT_H
#define STORE_SNAPSHOT_H

#include "base/file.h"
#include "store/manifest.h"

#define JOURNAL_NAME "journal"

struct snapshot {
	struct manifest manifest;
	VEC(struct file_map) maps; /* as many as the MANIFEST's segments */
	int lock_fd; /* holds a shared flock on the MANIFEST: what is open is not removed (gc.h) */
	char *journal; /* bytes of a journal that no MANIFEST has made void, else NULL */
	size_t n_journal;
};

/* Reads the MANIFEST of the recording in DIRFD.  -ENOENT when there is none. */
int snapshot_manifest(int dirfd, struct manifest *ret, struct err *err);

/* Opens the recording in DIRFD.  Writers go on meanwhile; the snapshot is one committed state.
 * -ENOENT: there is no MANIFEST, or the recording is being removed; -EBADMSG: a file is not what
 * the MANIFEST says; -EAGAIN: the writer was faster a thousand times. */
int snapshot_open(struct snapshot *s, int dirfd, struct err *err);

/* Adds all of the snapshot to INTO and SINK, as store_load does.  JOURNAL_ONLY leaves the segments
 * out. */
int snapshot_load(const struct snapshot *s, bool journal_only, struct profile *into,
		  struct value_sink *sink, struct err *err);

/* Adds segment I, and no other, to INTO and SINK. */
int snapshot_load_segment(const struct snapshot *s, size_t i, struct profile *into,
			  struct value_sink *sink, struct err *err);

/* Adds the journal's sequence ranges to M. */
int snapshot_add_seqs(const struct snapshot *s, struct manifest *m, struct err *err);

void snapshot_close(struct snapshot *s);

#endif
