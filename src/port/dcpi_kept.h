/* SPDX-License-Identifier: BSD-2-Clause */
/* Header lines that a profile has no place for, kept for whoever writes the same files again.
 *
 * dcpiformat(4): "all programs that modify profile files should preserve all <unknown> header lines
 * when writing out the modified profile."  They are kept by what their file is of: an image, an
 * event (SET:COUNTER) and a label.  Kept are unknown lines, cpuspeed, cpuamask, cpuimplv, and all
 * paths; not our own lines (dwell-...) and what follows from the samples. */
#ifndef PORT_DCPI_KEPT_H
#define PORT_DCPI_KEPT_H

#include "base/arena.h"
#include "base/str.h"
#include "formats/dcpi.h"
#include "model/profile.h"

struct dcpi_kept_line {
	image_id image; /* ids of the profile that was read */
	string_id event, label;
	const char *text;
	size_t n_text;
};

/* Starts zeroed. */
struct dcpi_kept {
	struct arena arena;
	VEC(struct dcpi_kept_line) lines;
};

/* Keeps the lines of F, which was read as IMAGE, F's event and LABEL of P. */
void dcpi_kept_add(struct dcpi_kept *k, struct profile *p, image_id image, const char *label,
		   const struct dcpi_file *f);

/* Keeps the N bytes of one line. */
void dcpi_kept_add_line(struct dcpi_kept *k, struct profile *p, image_id image, const char *event,
			const char *label, const char *text, size_t n);

/* Adds to F what is kept (K may be NULL) for IMAGE, EVENT and LABEL of P and is not there yet. */
void dcpi_kept_put(const struct dcpi_kept *k, const struct profile *p, image_id image,
		   const char *event, string_id label, struct dcpi_file *f);

/* Adds to F the lines of OLD, the file it replaces. */
void dcpi_kept_put_old(const struct dcpi_file *old, struct dcpi_file *f);

void dcpi_kept_release(struct dcpi_kept *k);

#endif
