/* SPDX-License-Identifier: BSD-2-Clause */
/* One DCPI file, or dcpicat's text, into the model: the part of dcpi_in.h that knows no trees. */
#ifndef PORT_DCPI_LOAD_H
#define PORT_DCPI_LOAD_H

#include "port/dcpi_in.h"
#include "port/dcpi_pieces.h"

/* A number that a file says of its event as a whole, as far as it was taken. */
struct dcpi_fact {
	event_id event;
	uint32_t what; /* number of the dwell-event value, or 4 + the loss's name */
	uint64_t n;
};

struct dcpi_load {
	struct profile *p;
	struct dcpi_select sel;	     /* of it the labels, events and stride */
	VEC(struct dcpi_fact) facts; /* of this epoch and host; empty it before another */
	VEC(const char *) skipped;   /* events left out by the selection, in p's strings */
	size_t n_taken;		     /* profiles that were selected */
	dcpi_pieces pieces;	     /* of sample sets; settle them before another epoch or host */
};

/* Adds the file PATH (relative to DIRFD) to L->p, as of the epoch that began at EPOCH_S (0: as its
 * header says).  Errors as dcpi_in_load, without the path in the message. */
int dcpi_load_file(struct dcpi_load *l, int dirfd, const char *path, bool nofollow,
		   uint64_t epoch_s, struct err *err);

/* A few of the N names V for a message; free it. */
char *dcpi_some_of(const char *const *v, size_t n);

#endif
