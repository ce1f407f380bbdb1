/* SPDX-License-Identifier: BSD-2-Clause */
/* struct dwell_regions from inside, for those who write it to files. */
#ifndef INPROC_REGIONS_H
#define INPROC_REGIONS_H

#include <stddef.h>
#include <sys/profil.h>

#include "inproc/mapped.h"

/* Text that is, or was, mapped in one piece. */
struct text {
	uint64_t start, end, off, dev, ino; /* as mapped */
	struct loaded_code code;
	char *path;
	void *counts;
	size_t n_counts, n_bytes;
	bool gone; /* unloaded */
};

struct dwell_regions {
	unsigned flags, elem_bytes, bucket_bytes;
	uint64_t start_ns;
	uint64_t n_unplaced_before; /* ticks without a place before it was made */
	struct text *texts;
	size_t n_texts, n_room;
	struct prof *profs;
};

uint64_t text_count(const struct dwell_regions *r, const struct text *t, size_t i);

#endif
