/* SPDX-License-Identifier: BSD-2-Clause */
/* MANIFEST: what of a recording's files counts.  JSON, described in docs/formats/manifest.md; it is
 * replaced by one rename, and that rename is what makes a flush or a compaction happen.  Version 2
 * is written; version 1 is read as well. */
#ifndef STORE_MANIFEST_H
#define STORE_MANIFEST_H

#include "base/arena.h"
#include "base/str.h"
#include "store/store.h"

#define MANIFEST_NAME	 "MANIFEST"
#define MANIFEST_FORMAT	 "dwell-manifest"
#define MANIFEST_VERSION 2
#define MANIFEST_MAX	 (64u << 20) /* bytes a reader takes */

#define STATE_RECORDING	  "recording"
#define STATE_FINISHED	  "finished"
#define STATE_INTERRUPTED "interrupted"

struct manifest_segment {
	const char *name; /* plain file name ending in .seg */
	uint64_t n_bytes, digest;
	uint64_t start_wall_ns, end_wall_ns;
};

struct manifest_cpu {
	uint32_t cpu;
	uint64_t last_seq;
};

/* What is stored of one log.  Among CPUS are its sums, as sources (store.h). */
struct manifest_log {
	uint64_t number; /* 0: that of the recorder that made the recording */
	enum store_log_state state;
	VEC(struct manifest_cpu) cpus;
};

struct manifest {
	struct arena arena; /* all strings */
	const char *host, *label, *state;
	const char *cpu; /* of the machine (machine/cpu_id.h); "": not known */
	const char *job; /* that the recording is a part of; "" for none */
	int64_t clock_offset_ns;
	uint64_t generation; /* one more with every MANIFEST of this recording */
	uint64_t
		journal; /* journals up to this generation are void: their content is in segments */
	uint64_t next_segment; /* number of the next segment file */
	uint64_t recording;    /* what the recording's segments say they belong to; 0: not known */
	bool sealed; /* it was read with a digest that holds, or written by this program */
	VEC(struct manifest_segment) segments;
	VEC(struct store_event) events; /* sums over segments */
	VEC(struct store_loss) losses;
	VEC(struct manifest_log) logs; /* the journal's ranges are of the last one */
};

/* Parses the N bytes of TEXT.  RET is to be released only after success.  -EBADMSG malformed,
 * -EPROTONOSUPPORT newer. */
int manifest_parse(struct manifest *ret, const char *text, size_t n, struct err *err);
void manifest_format(const struct manifest *m, struct str *out);
void manifest_release(struct manifest *m);

/* Computes the digest of a MANIFEST's text anew, in place, when it has one: for tests that damage
 * what the digest would otherwise protect. */
void manifest_seal(char *text, size_t n);

/* Puts this program's version in place of the one that TEXT, which may be anything, says.  True:
 * the digest holds now and did not before, which proves that nothing but the version was damaged.
 * False: TEXT is as it was. */
bool manifest_mend_version(char *text, size_t n);

/* A copy with an arena of its own. */
void manifest_copy(struct manifest *to, const struct manifest *from);

/* Adds P's events, samples and losses to M's sums. */
void manifest_add_profile(struct manifest *m, const struct profile *p);

/* Adds to what M says is pruned what is pruned in P, less what was, WAS: numbers of samples by P's
 * events.  Tells whether that is anything. */
bool manifest_add_pruned(struct manifest *m, const struct profile *p, const uint64_t *was);

/* Notes that the source CPU of the log that is recorded into, the last one, is stored up to
 * LAST_SEQ. */
void manifest_add_seq(struct manifest *m, uint32_t cpu, uint64_t last_seq);

/* The entry of log NUMBER; NULL when there is none. */
struct manifest_log *manifest_find_log(const struct manifest *m, uint64_t number);

/* Puts L in place of all that is known of that log; a log that was not known becomes the last
 * entry, or the first one. */
void manifest_put_log(struct manifest *m, const struct store_log *l);
void manifest_put_log_first(struct manifest *m, const struct store_log *l);

/* Forgets log NUMBER. */
void manifest_drop_log(struct manifest *m, uint64_t number);

#endif
