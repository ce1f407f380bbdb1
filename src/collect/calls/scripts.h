/* SPDX-License-Identifier: BSD-2-Clause */
/* The code of interpreters that the walker told of (unwind/script_record.h), and the places its
 * frames mean. */
#ifndef COLLECT_CALLS_SCRIPTS_H
#define COLLECT_CALLS_SCRIPTS_H

#include "base/hash.h"
#include "base/vec.h"
#include "model/profile.h"

/* What is kept of code in all; when there is more, everything is forgotten and told again. */
#define SCRIPTS_MOST_BYTES ((size_t)16 << 20)

/* What the profile keeps of code with samples, all processes together: texts may be as long as a
 * process likes, and there may be new ones in every sample. */
#define SCRIPTS_MOST_PLACED ((size_t)16 << 20)

/* Labels of goroutines that are kept apart: each is an owner of samples for good. */
#define SCRIPTS_MOST_LABELS 4096

struct script_code;
struct script_source;

struct scripts {
	VEC(struct script_code *) codes;
	struct index by_number;
	VEC(struct script_source) sources;
	struct index by_source;
	size_t n_bytes;
	size_t n_placed_bytes;	    /* of the profile */
	size_t n_labels;	    /* kept apart, of all goroutines */
	uint64_t n_told, n_damaged; /* records, ever */
	uint64_t n_unknown;	    /* frames of code that was not told of */
};

void scripts_release(struct scripts *s);

/* Takes the record in N bytes, which may be anything.  False when memory has run out, and all was
 * forgotten: numbers must then be told again. */
bool scripts_add(struct scripts *s, const uint8_t *bytes, size_t n);

/* The place in P of FRAME, a FRAME_IS_SCRIPT.  Of code that is not known, or that comes after
 * SCRIPTS_MOST_PLACED bytes, it is one that says so. */
place_id scripts_place(struct scripts *s, struct profile *p, uint64_t frame);

/* The labels of a goroutine that FRAME, a FRAME_IS_SCRIPT, is the number of, as a text of P:
 * "KEY=VALUE KEY=VALUE", ordered by key.  Of labels that are not known, or that come after
 * SCRIPTS_MOST_LABELS others, it is one that says so. */
string_id scripts_labels(struct scripts *s, struct profile *p, uint64_t frame);

/* The place in P that says what MARK (enum script_mark) does. */
place_id scripts_mark(struct profile *p, uint32_t mark);

#endif
