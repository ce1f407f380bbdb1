/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles of other tools, as profiles.  A format is a row of one table (importers.c): how it is
 * known, and a function that fills a struct stacks from its bytes. */
#ifndef PORT_IMPORTERS_H
#define PORT_IMPORTERS_H

#include "port/stacks_in.h"
#include "port/stacks_make.h"

/* What an importer is given together with the bytes. */
struct importer_job {
	struct stacks_maker make; /* of the stacks to fill */
	const char *program;	  /* of a file that has addresses only; NULL: not given */
	struct str *notes;	  /* what is left out, a line each */
};

struct importer {
	const char *name; /* as messages call a file: "profile of pprof" */
	bool (*probe)(const uint8_t *bytes, size_t n);
	int (*read)(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err);
	bool is_text; /* lines: what is packed by gzip is not unpacked for it */
};

/* The row for the file PATH; NULL: none, or it cannot be read. */
const struct importer *importer_find(const char *path);

struct importer_opts {
	const char *label;	  /* of the samples; NULL: their own */
	const char *const *paths; /* the first of these that is a program is the file's, if it needs
				     one */
	size_t n_paths;
	bool keep_pids, keep_tids;
};

/* Adds the file PATH, which importer_find knows, to P, which is empty; its symbols to RET.  Nothing
 * is added when it fails: -EBADMSG, -ENODATA, -E2BIG, -EPROTONOSUPPORT or of reading. */
int importer_load(const char *path, const struct importer_opts *o, struct profile *p,
		  stacks_symbol_list *ret, struct str *notes, struct err *err);

/* Reads the N bytes, which I has probed, into S: what importer_load does before it makes a profile.
 * Release S in any case. */
int importer_read(const struct importer *i, const uint8_t *bytes, size_t n, struct stacks *s,
		  const char *program, struct str *notes, struct err *err);

extern const struct importer importers[];
extern const size_t n_importers;

int pprof_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err);
int folded_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err);
int script_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err);
int callgrind_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err);
int gperf_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err);
int gmon_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err);
int speedscope_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err);
int firefox_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err);
int cpuprofile_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err);

#endif
