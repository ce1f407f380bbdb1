/* SPDX-License-Identifier: BSD-2-Clause */
/* The database: what recorders write and every reader loads.
 *
 *     DB/VERSION                              says that this is a database, and its version
 *     DB/epochs/<YYYYMMDDHHMMSS>/<host>/      one *recording* each: MANIFEST, segments, journal
 *     DB/hosts/<host>                         the host's newest epoch, and those not finished
 *     DB/images/                              symbols kept by build-id (written by resolve)
 *
 * A recorder holds one struct store.  It collects into a profile of its own and hands over
 *     store_journal(): what came since the last journal record, cheap, about once a second, and
 *     store_flush():   everything since the last flush, which also makes the journal void.
 * What was handed over is never lost and never counted twice, wherever the recorder is killed: a
 * reader sees the state before or after each call.  Readers take no locks. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/journal.h"
#include "model/profile.h"

/* Returns $DWELLDB, else $DCPIDB, else ~/.local/share/dwell, also for root (the system daemon is
 * told /var/lib/dwell by its unit).  Free it. */
char *store_default_path(void);

/* True when PATH is a dwell database of any version, or an empty directory that can become one.  It
 * tells kinds of `--db` apart. */
bool store_is_db(const char *path);

/* Lists the databases that PATH means: PATH itself, or, when it is none, those right below it
 * (databases of many machines side by side on a shared file system).  RET's paths are its own
 * memory, in order of name; RET may be empty.  -ENOENT, -ENOTDIR and the like when PATH cannot be
 * read. */
typedef VEC(char *) store_paths;
int store_members(const char *path, store_paths *ret, struct err *err);
void store_paths_release(store_paths *l);

/* How many epochs DB has, by any host, and the names of the first and the last. */
struct store_epochs {
	size_t n;
	char first[15], last[15]; /* "" when there are none */
};
int store_epochs(const char *db, struct store_epochs *ret, struct err *err);

/* DB/images, made when CREATE (the database must exist).  Free it; NULL after a failure. */
char *store_images_dir(const char *db, bool create, struct err *err);

/* Writing. */

/* Makes PATH a database when it is not there or an empty directory.  Its owner and the members of
 * GROUP (a name or a number; NULL: nobody else) may read a new database and all that is ever
 * written in it, whatever the umask is.  The permissions of a database that is there stay.
 * -EINVAL: there is no such group; other errors as store_create. */
int store_make(const char *path, const char *group, struct err *err);

struct store;

struct store_opts {
	const char *host;	 /* NULL: this machine's name */
	const char *label;	 /* NULL: none */
	const char *cpu;	 /* of the machine that was recorded (machine/cpu_id.h) */
	const char *job;	 /* that the recording is a part of (job.c); NULL: none */
	bool job_is_series;	 /* it goes on with the last recordings called so, or begins anew */
	uint64_t job_gap_ns;	 /* since their end, at most */
	int64_t clock_offset_ns; /* wall clock minus CLOCK_MONOTONIC at the start */
	uint64_t now_wall_ns;	 /* what the epoch is named after; 0: the clock */
	unsigned compact_at;	 /* segments that a flush merges into one; 0: 16 */
	/* A log's number, which no other log has: sequence numbers count that log's samples.
	 * RANGES of it are stored elsewhere already. */
	uint64_t log;
	const struct seq_range *ranges;
	size_t n_ranges;
};

/* Makes a new epoch with one recording in it, and the database DB when it is not there.  Recovers
 * this host's interrupted recordings on the way.  The recording stays locked until store_close or
 * the end of the process.  Errors: -EPROTONOSUPPORT: a newer database; -EPERM: the directory is not
 * ours or is not safe to write to; any errno of making files. */
int store_create(const char *db, const struct store_opts *o, struct store **ret, struct err *err);

/* Takes over HOST's (NULL: this machine's) newest interrupted recording, so that a restarted daemon
 * goes on where it died: its journal is turned into a segment.  -ENOENT when there is none. */
int store_resume(const char *db, const char *host, struct store **ret, struct err *err);

/* The name of the epoch being written. */
const char *store_epoch(const struct store *s);

/* The last sequence number of CPU that is stored, by journal or flush; false when none is. */
bool store_last_seq(const struct store *s, uint32_t cpu, uint64_t *ret_seq);

/* The log that is recorded into: the last one that was put or used; 0: none. */
uint64_t store_log(const struct store *s);

/* A recording knows how far several logs are stored: the one it records into, and those that dead
 * recorders left.  The journal's ranges are of the one it records into. */
enum store_log_state {
	STORE_LOG_OWN,	  /* somebody records into it */
	STORE_LOG_TAKEN,  /* its recorder died; some of it may not be stored yet */
	STORE_LOG_STORED, /* all of it is stored: it may be removed */
};

/* Sums of a log are stored as if they were CPUs of it.  The last "sequence number" of CPU
 * SOURCE_REACHED + I is how many samples of event I are stored or lost by name; that of
 * SOURCE_DROPPED + I is how many of them were dropped.  SOURCE_DONE 1 means STORE_LOG_STORED. */
#define STORE_SOURCE_REACHED 0x10000u
#define STORE_SOURCE_DROPPED 0x20000u
#define STORE_SOURCE_DONE    0x30000u

struct store_log {
	uint64_t number;
	enum store_log_state state;
	const struct seq_range *ranges; /* only their last_seq is looked at */
	size_t n_ranges;
};

/* The number of logs that the recording knows, and the number and state of log I.  The last log is
 * the one recorded into. */
size_t store_n_logs(const struct store *s);
struct store_log store_get_log(const struct store *s, size_t i);

/* Replaces all logs that the recording knows by LOGS, in one commit.  The last of them is recorded
 * into from now on.  Flushes the journal first, because its ranges are of the log before. */
int store_put_logs(struct store *s, const struct store_log *logs, size_t n_logs, struct err *err);

/* Stores P, and how far L is stored, in one commit.  L must not be the log recorded into; it is
 * added when it is not known.  The journal goes on counting.  Errors as of store_flush. */
int store_flush_log(struct store *s, const struct profile *p, const struct store_log *l,
		    struct err *err);

/* Forgets log NUMBER.  Call it when nothing of the log is left anywhere. */
int store_drop_log(struct store *s, uint64_t number, struct err *err);

/* From now on sequence numbers count LOG's samples.  Only RANGES of it are stored so far; the
 * ranges of the log before are forgotten.  Flushes the journal first. */
int store_use_log(struct store *s, uint64_t log, const struct seq_range *ranges, size_t n_ranges,
		  struct err *err);

/* Appends to RET how far HOST (NULL: this machine) has stored LOG.  Journals of recordings that
 * were not recovered do not count.  Looks at HOST's recordings from the newest on until one knows
 * the log, so only an unknown log costs a look at all.  Returns 1, or 0 when no recording knows the
 * log, or an error. */
typedef VEC(struct seq_range) seq_ranges;
int store_find_log(const char *db, const char *host, uint64_t log, seq_ranges *ret,
		   struct err *err);

/* Appends to the journal what was collected since the last store_journal or store_flush, and syncs
 * it.  That is what is fresh in P (model/fresh.h), or all of a profile that is not watched.  RANGES
 * (may be none) say which log entries it covers.  After a failure the journal is as before; -EIO
 * also when nothing can be appended any more before a flush. */
int store_journal(struct store *s, const struct profile *p, const struct seq_range *ranges,
		  size_t n_ranges, struct err *err);

/* Stores P, which holds all that was collected since the last flush (journaled or not), and makes
 * the journal void.  After a failure (say, -ENOSPC) earlier data is unharmed and P is not stored:
 * call again with it, or with more added.  The caller resets P's values after success. */
int store_flush(struct store *s, const struct profile *p, const struct seq_range *ranges,
		size_t n_ranges, struct err *err);

/* Replaces all that was stored of the recording by P, which holds all that was collected since it
 * began, and makes the journal void.  For recorders that keep everything; cheaper than merging.
 * Errors as of store_flush. */
int store_replace(struct store *s, const struct profile *p, struct err *err);

/* Makes a segment of the journal's counts; does nothing when the journal is empty.  For recorders
 * that journal everything and keep nothing. */
int store_flush_journal(struct store *s, struct err *err);

/* Sets SHARE (model/prune.h; 0: no pruning).  From now on each merge of segments prunes contexts
 * with less than SHARE of the samples that came since the last merge.  The last merge, at
 * store_close, compares with all samples. */
void store_set_prune(struct store *s, double share);

/* Merges segments whose times need not be told apart (edges.h).  Call it when nothing more is to
 * come. */
int store_compact(struct store *s, struct err *err);

/* Marks the recording finished, merged into one segment, and frees S whatever the result.  Counts
 * that only the journal holds are stored first.  NULL is fine. */
int store_close(struct store *s, struct err *err);

/* Frees S and writes nothing, as a dying recorder would, so that store_resume can take the
 * recording over (a daemon being restarted).  NULL is fine. */
void store_detach(struct store *s);

/* Removes a recording in which nothing was stored yet, and frees S.  A recording that holds samples
 * stays as it is, interrupted. */
void store_discard(struct store *s);

/* Recovers every interrupted recording of HOST (NULL: all hosts): turns journals into segments and
 * removes files that a killed writer left behind.  Returns how many, or an error. */
int store_recover(const char *db, const char *host, struct err *err);

/* Reading. */

struct store_event {
	const char *name, *unit;
	uint64_t period, freq_hz;
	uint64_t enabled_ns, running_ns, total, n_reached; /* as in struct event */
	uint64_t n_samples;				   /* in values */
	uint64_t n_pruned; /* how many of n_samples lost rare callers (model/prune.h) */
};

struct store_loss {
	const char *name;
	uint32_t event; /* number in the recording's events */
	uint64_t n;
};

/* One recording; everything in it lives until the callback returns. */
struct store_recording {
	const char *epoch, *host;
	const char *state; /* "recording", "finished", or "interrupted" (recovered) */
	bool live;	   /* its recorder is running now */
	const char *label; /* "" for none */
	const char *job;   /* that it is a part of; "" for none */
	int64_t clock_offset_ns;
	uint64_t start_wall_ns, end_wall_ns; /* of the samples; 0 when there are none yet */
	uint64_t n_bytes;		     /* of segments and journal */
	size_t n_segments, n_events, n_losses;
	const struct store_event *events;
	const struct store_loss *losses;
};

/* Which recordings. */
struct store_selection {
	/* NULL: the newest recording and those of its job; where it has none, each host's newest.
	 * Else epochs, separated by commas: "latest" (each host's newest), "all", a name or the
	 * beginning of one ("20261121"), or a range of them, ends included
	 * ("20261101..20261121", "..2026"). */
	const char *epochs;
	const char *host; /* a name, or a pattern as of fnmatch(3); NULL: all */
	/* Only recordings that have samples from this time on (by their MANIFEST), and that began
	 * by that one; of these store_load takes the segments that have some of that time (which
	 * are whole, so that INTO's meta tells what time it is).  0: any.  EPOCHS NULL is "all"
	 * then. */
	uint64_t since_wall_ns, until_wall_ns;
	/* With EPOCHS NULL: told how many of all recordings are chosen, when some are not; NULL:
	 * nobody. */
	void (*left_out)(void *ctx, size_t n_chosen, size_t n_all);
	/* Told of each recording before it is read; NULL: nobody. */
	void (*note)(void *ctx, const char *epoch, const char *host);
	void *note_ctx;
};

typedef int store_list_fn(void *ctx, const struct store_recording *r);

/* Calls FN for each recording selected, oldest epoch first; stops when it returns other than 0 and
 * returns that.  -ENOENT when DB is no database. */
int store_list(const char *db, const struct store_selection *sel, store_list_fn *fn, void *ctx,
	       struct err *err);

/* Adds the recordings selected to INTO.  Values go to SINK when there is one (a key may come
 * several times: once for each segment it is in), else into INTO's values.  Returns how many
 * recordings were read, or -ENOENT when none matches.  After any failure INTO is only good for
 * releasing. */
int store_load(const char *db, const struct store_selection *sel, struct profile *into,
	       struct value_sink *sink, struct err *err);

#endif
