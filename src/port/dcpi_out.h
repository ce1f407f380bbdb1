/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a profile as a DCPI tree: DIR/EPOCH/HOST/ with a profile file for each image, event, label
 * and 4 GiB of addresses.  docs/formats/dcpi.md, "The tree", says what each line of the files
 * holds. */
#ifndef PORT_DCPI_OUT_H
#define PORT_DCPI_OUT_H

#include "base/err.h"
#include "model/profile.h"
#include "port/dcpi_flat.h"
#include "port/dcpi_kept.h"

struct dcpi_out_opts {
	unsigned minor;			  /* 6 or 7: the version written is 0.06 or 0.07 */
	unsigned stride;		  /* bytes per count, 1 or 4 */
	const struct dcpi_filter *filter; /* what to write; NULL for everything */
	const struct dcpi_kept *kept;	  /* header lines to go on; NULL: none */
	bool lazily; /* without waiting for the disk: it can be written again from elsewhere */
};

struct dcpi_out_stats {
	size_t n_files, n_bytes;
	uint64_t n_samples;
	/* What the format has no room for: samples with callers, samples of which more than the
	 * label is known whose they are,
	 * samples with a weight of their own. */
	uint64_t n_with_callers, n_with_owner, n_weighted;
};

/* Writes P into directory DIR (made when it is not there).  Names of files depend on what is in
 * them alone, so that writing a profile that has grown replaces its files.  Everything is encoded
 * before the first file is written: -E2BIG (naming image and address) when a count does not fit the
 * format leaves DIR as it was; each file is replaced atomically.  Header lines of a file that is
 * there already and that P has no place for stay (dcpi_kept.h).  Nothing is written outside
 * DIR/EPOCH/HOST, and symbolic links there are not followed (-ELOOP, -ENOTDIR). */
int dcpi_out_save(const struct profile *p, const struct dcpi_out_opts *o, const char *dir,
		  struct dcpi_out_stats *ret, struct err *err);

#endif
