/* SPDX-License-Identifier: BSD-2-Clause */
/* The counts of a journal's record: what a profile has counted since its last mark, in no order and
 * not compressed, because it is read once at most.  docs/formats/journal.md "Counts". */
#ifndef FORMATS_JOURNAL_COUNTS_H
#define FORMATS_JOURNAL_COUNTS_H

#include "base/err.h"
#include "base/rd.h"
#include "base/wr.h"
#include "model/profile.h"

/* Elements of a dictionary that a record names, in order of their first naming. */
struct journal_names {
	VEC(uint32_t) number; /* by the profile's id: the record's + 1, 0 none yet */
	VEC(uint32_t) ids;
	struct wr bytes; /* what the record says of them */
};

/* Room to write a record in; zero-initialised it is ready.  Kept from one record to the next it
 * costs no allocations. */
struct journal_writer {
	struct journal_names strings, images, owners, vectors, places, ctxs;
	VEC(ctx_id) chain;
	struct wr branches, minutes, accesses;
	struct wr thread_names; /* owner and string, n_thread_names times */
	size_t n_thread_names;
	struct wr scripts; /* place, language, name and line, n_scripts times */
	size_t n_scripts;
	struct wr containers; /* CONTAINER_N_TEXTS strings, n_containers times */
	size_t n_containers;
	VEC(uint32_t) put_containers; /* by container: 1 when it is among them */
	bool sections;		      /* of the form that has them */
	struct wr values, body;
};

void journal_writer_release(struct journal_writer *w);

/* Appends what is fresh in P (model/fresh.h), which has no time lines, to OUT. */
void journal_put_counts(struct journal_writer *w, struct wr *out, const struct profile *p,
			bool sections);

/* Whether P has what only the form with sections can say. */
bool journal_needs_sections(const struct profile *p);

/* Adds the counts in the bytes at R to INTO, values to SINK instead when there is one.  After a
 * failure nothing has been added: -EBADMSG malformed, -EPROTONOSUPPORT newer than this program. */
int journal_get_counts(struct rd *r, bool sections, struct profile *into, struct value_sink *sink,
		       struct err *err);

#endif
