/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing a cct.db out of a profile.db, in several threads. */
#ifndef HPC_WRITE_CCT_H
#define HPC_WRITE_CCT_H

#include "formats/hpc/cct.h"

struct hpc_share;

/* How hpc_cct_build goes about it. */
struct hpc_cct_options {
	unsigned n_threads;  /* 0: 1 */
	size_t memory_bytes; /* at most, for values, of all threads together, beside some megabytes
				and 8 bytes a context for each; 0: 256 MiB.  A thread takes 32 MiB
				unless a single context needs more */
	int fd;		     /* of profile.db, whose bytes DB maps: values are read from it, and
				what was looked at of the mapping is given back to the system, lest
				all of the file counts as memory.  0: there is none, or no need */
	/* Called now and then with how much is done, by one thread at a time; a negative value ends
	 * the build, which returns it.  NULL: not called. */
	int (*progress)(void *user, uint64_t done_bytes, uint64_t all_bytes);
	void *user;
	/* For who wants to know all values of each context, as they are in memory anyway: told how
	 * many ranges of contexts there are, then each context that has values.  Those of a range
	 * come by growing ctxId in one thread.  NULL: not called. */
	void (*ranges)(void *to, uint32_t n);
	void (*values)(void *to, uint32_t range, const struct hpc_cct *c);
	void *to;
	/* Processes that do it together, with the same N_THREADS and MEMORY_BYTES: ranges are dealt
	 * to them, number 0 ends the file (out.h).  NULL: one. */
	const struct hpc_share *share;
};

/* Writes NAME in directory DIRFD, a cct.db of N_CTXS contexts, out of all profiles of DB but the
 * summary profile.  N_CTXS of 0 stands for the largest ctxId + 1.  The bytes do not depend on the
 * options.  A file of that name is truncated; the footer comes last; syncs nothing.
 *
 * -EBADMSG when DB is damaged or has a ctxId that is not below N_CTXS. */
int hpc_cct_build(int dirfd, const char *name, const struct hpc_profile_db *db, uint32_t n_ctxs,
		  const struct hpc_cct_options *o, struct err *err);

#endif
