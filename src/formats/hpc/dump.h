/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of an HPCToolkit database as text: every structure in the order of the file's own
 * pointers, a line for each field with its offset.  The text is stable: golden files hold it.
 *
 *     00000000 header
 *     00000000   magic HPCTOOLKITmeta
 *     0000000e   majorVersion 4
 *     00000090 General Properties
 *     00000090   pTitle 0xa0 "loops"
 *     00000300 {Ctx} 12 */
#ifndef FORMATS_HPC_DUMP_H
#define FORMATS_HPC_DUMP_H

#include "base/err.h"
#include "base/str.h"
#include "formats/hpc/hpc.h"

struct hpc_dump {
	/* Takes a line, without its newline; a negative errno ends the dump, which returns it. */
	int (*line)(void *user, const char *text);
	void *user;
	int failed; /* what line returned */
	struct str text, quoted;
};

/* A structure at OFFSET begins.  INDEX is its number in its array, or HPC_NONE. */
void hpc_dump_structure(struct hpc_dump *d, uint64_t offset, const char *structure, uint32_t index);

/* A field of it. */
void hpc_dump_field(struct hpc_dump *d, uint64_t offset, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void hpc_dump_release(struct hpc_dump *d);

/* S between quotes, with \ and control bytes escaped; lives until the next call with D. */
const char *hpc_dump_quote(struct hpc_dump *d, const char *s);

/* Dumps a meta.db as far as it can be read. */
int hpc_meta_dump(struct hpc_dump *d, const void *bytes, size_t n_bytes, const char *name,
		  struct err *err);

/* Dump a profile.db, cct.db or trace.db as far as it can be read. */
int hpc_profile_dump(struct hpc_dump *d, const void *bytes, size_t n_bytes, const char *name,
		     struct err *err);
int hpc_cct_dump(struct hpc_dump *d, const void *bytes, size_t n_bytes, const char *name,
		 struct err *err);
int hpc_trace_dump(struct hpc_dump *d, const void *bytes, size_t n_bytes, const char *name,
		   struct err *err);

#endif
