/* SPDX-License-Identifier: BSD-2-Clause */
/* What Linux's perf recorded, into the model: samples with their call paths, whose they are, when
 * they were, and what was lost. */
#ifndef PORT_PERF_IN_H
#define PORT_PERF_IN_H

#include "base/err.h"
#include "base/str.h"
#include "machine/procs.h"
#include "formats/facts/fact_defs.h"
#include "model/profile.h"

struct perf_in_result;

struct perf_in_opts {
	enum owner_split split;
	const char *label;	  /* of the samples; NULL: none */
	const char *symfs;	  /* files are looked for below it; NULL: where they were */
	const char *const *paths; /* more files and directories to look in */
	size_t n_paths;
	bool no_files;	     /* look for no images: places are file offsets */
	bool use_debuginfod; /* only has an effect when $DEBUGINFOD_URLS is set */
	bool accesses;	     /* samples that tell the address of their data add accesses */
	bool accesses_alone; /* what samples tell besides is not wanted */
	size_t most_loose;   /* of those so many are kept one by one; 0: perf_access.h's number */
	bool force;	     /* keep what can be read of a damaged file */
	size_t trace_bytes;  /* time lines of at most so many bytes; 0: none */
	/* Called when all was read: tells where the symbols of images that were found are to be
	 * kept, as for struct resolver_opts.  NULL: they are not. */
	int (*open_cache)(void *ctx, const struct perf_in_result *r, const char **ret_dir,
			  struct err *err);
	void *ctx;
	struct fact_defs *facts; /* to be taken besides; they get their numbers.  NULL: none */
	struct str *dump;	 /* all records as text; NULL: not wanted */
};

struct perf_in_result {
	char *host; /* as the file names it; "" when it does not */
	char *cpu;  /* machine/cpu_id.h; "" when it does not tell */
	uint64_t n_samples, n_lost;
	uint64_t n_unknown;	 /* samples nobody could attribute to an image */
	uint64_t n_bytes;	 /* of records, decompressed */
	uint64_t most_bytes;	 /* that waited to be put in order */
	int64_t clock_offset_ns; /* from the samples' clock to the time since 1970; 0: unknown */
	struct str notes;	 /* lines about what should be known of the result */
};

/* Whether the file or directory PATH is one of perf's: 1 or 0, or a negative errno. */
int perf_in_probe(const char *path);

/* Adds the recording PATH to P.  Release *RET with perf_in_result_release, also after a failure,
 * when P may hold a part.  -EBADMSG, -ENODATA: damaged or truncated, with the offset; with FORCE
 * only when nothing can be read, and the notes say what was passed over. */
int perf_in_load(const char *path, const struct perf_in_opts *opts, struct profile *p,
		 struct perf_in_result *ret, struct err *err);
void perf_in_result_release(struct perf_in_result *r);

#endif
