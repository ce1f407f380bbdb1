/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile as DCPI sees one: per image, label and event, samples at addresses.  Calling contexts
 * are flattened to their leaf, owners of one label are summed, place flags are let go, vectors too
 * unless asked for. */
#ifndef PORT_DCPI_FLAT_H
#define PORT_DCPI_FLAT_H

#include "model/profile.h"

struct dcpi_row {
	image_id image;
	string_id label;
	event_id event;
	bool idle;	  /* of a CPU's idle task; kept apart only when asked */
	vector_id vector; /* 0 unless they are kept apart */
	uint64_t svma;
	uint64_t n;   /* samples; not 0 */
	uint64_t sum; /* of the vector's counter */
};

enum dcpi_split {
	DCPI_SPLIT_IDLE = 1 << 0,
	DCPI_SPLIT_VECTORS = 1 << 1,
};

typedef VEC(struct dcpi_row) dcpi_rows;

/* What to leave out: arrays by id, true for what is wanted; NULL for everything. */
struct dcpi_filter {
	bool *images, *owners, *events;
};

bool dcpi_wants_event(const struct dcpi_filter *f, event_id event); /* F may be NULL */

/* Appends P's rows to OUT, one for each (image, label, event, idle, vector, svma), ordered by
 * these, vectors by what they say; idle is false and vector 0 throughout unless SPLIT (enum
 * dcpi_split) says otherwise.  With vectors rows of counters are there too.  Samples without any
 * place (context 0) are added to N_PLACELESS[event], as long as P's events (NULL: passed over).  F
 * may be NULL.  P's values may repeat a key. */
void dcpi_flatten(const struct profile *p, const struct dcpi_filter *f, unsigned split,
		  dcpi_rows *out, uint64_t *n_placeless);

/* The end of the rows from I on that have the image and label of row I. */
size_t dcpi_rows_profile_end(const dcpi_rows *rows, size_t i);

/* The image id of IM in hex: its build-id, or when there is none 16 digits hashed from its kind and
 * path. */
void dcpi_image_id(const struct image *im, char ret[2 * BUILD_ID_MAX + 1]);

/* What IM is called: the last part of its path, or its kind's name when that is empty. */
const char *dcpi_image_name(const struct image *im);

#endif
