/* SPDX-License-Identifier: BSD-2-Clause */
/* Checking an HPCToolkit database: where problems go. */
#ifndef FORMATS_HPC_CHECK_CHECK_H
#define FORMATS_HPC_CHECK_CHECK_H

#include "formats/hpc/frame.h"
#include "formats/hpc/hpc.h"

struct hpc_meta;
struct hpc_profile_db;
struct hpc_cct_db;
struct hpc_trace_db;

struct hpc_problem {
	const char *file;      /* "meta.db", as the checker was told */
	uint64_t offset;       /* of the field in the file */
	const char *structure; /* as the format's description calls it: "{Ctx}" */
	const char *field;     /* "pChildren"; "" when it is the whole structure */
	const char *text;      /* what is wrong */
};

struct hpc_check {
	/* Called for each problem; all of it is borrowed. */
	void (*report)(void *user, const struct hpc_problem *p);
	void *user;
	uint64_t n_problems;
};

/* Reports a problem. */
void hpc_problem(struct hpc_check *c, const char *file, uint64_t offset, const char *structure,
		 const char *field, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* Checks header and footer; false, and a problem, when the rest of the file cannot be checked. */
bool hpc_check_frame(struct hpc_check *c, const struct hpc_frame *f, const uint8_t *bytes, size_t n,
		     const char *name);

/* Checks all that the format demands of a meta.db and reports every break of it.  Memory is bounded
 * by the file's size. */
void hpc_check_meta(struct hpc_check *c, const void *bytes, size_t n_bytes, const char *name);

/* Check a profile.db, cct.db or trace.db against all that the format demands and report every break
 * of it. */
void hpc_check_profile(struct hpc_check *c, const void *bytes, size_t n_bytes, const char *name);
void hpc_check_cct(struct hpc_check *c, const void *bytes, size_t n_bytes, const char *name);
void hpc_check_trace(struct hpc_check *c, const void *bytes, size_t n_bytes, const char *name);

/* The files of a database, open; TRACE is NULL when there is none. */
struct hpc_files {
	const struct hpc_meta *meta;
	const struct hpc_profile_db *profiles;
	const struct hpc_cct_db *cct;
	const struct hpc_trace_db *trace;
};

/* Checks what the files say of each other and what their values mean.  Only for files in which the
 * checks above found nothing. */
void hpc_check_database(struct hpc_check *c, const struct hpc_files *f);

#endif
