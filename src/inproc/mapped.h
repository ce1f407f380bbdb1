/* SPDX-License-Identifier: BSD-2-Clause */
/* The code that is mapped into this process: what the kernel says in /proc/self/maps, and what the
 * ELF headers in memory say of it.  Neither the dynamic linker's locks nor files are touched, so
 * that it may be asked at any time, also of files that are deleted. */
#ifndef INPROC_MAPPED_H
#define INPROC_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

/* One line of /proc/self/maps. */
struct loaded_mapping {
	uint64_t start, end; /* avma */
	uint64_t off;	     /* in the file */
	uint64_t dev, ino;   /* both 0: no file */
	bool is_code;	     /* may be executed */
	const char *path;    /* "" without a file; until the next line */
	uint64_t header;     /* where offset 0 of its file is mapped; 0: not just below */
};

typedef void mapping_fn(void *ctx, const struct loaded_mapping *m);

/* Calls EACH with every mapping, in rising order.  0 or -errno.  One caller at a time. */
int mapped_each(mapping_fn *each, void *ctx);

enum loaded_kind { CODE_FILE, CODE_VDSO, CODE_ANON };

enum code_flags {
	CODE_DELETED = 1u << 0, /* the file was deleted or replaced */
	CODE_OFFSETS = 1u << 1, /* not an ELF file we understand: svma is a file offset */
};

enum { CODE_ID_MAX = 20, CODE_MAX_SEGMENTS = 64 };

/* What is mapped there. */
struct loaded_code {
	enum loaded_kind kind;
	unsigned flags;
	unsigned n_id; /* bytes of the build-id; 0: none */
	uint8_t id[CODE_ID_MAX];
	uint64_t svma;			 /* of the mapping's start; without a file: its avma */
	uint64_t text_start, text_bytes; /* svma and size of the executable part; 0: not known */
};

/* Describes the executable mapping M.  One caller at a time. */
void mapped_describe(const struct loaded_mapping *m, struct loaded_code *ret);

#endif
