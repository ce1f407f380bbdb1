/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of a database begin and end with, and how their readers complain. */
#ifndef FORMATS_HPC_FRAME_H
#define FORMATS_HPC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A section whose header begins with an array: its pointer, a u32 of how many, a u8 of their size.
 * All names are those of the format's description. */
struct hpc_list_kind {
	const char *name;
	const char *sz, *p;	  /* its fields in the file's header */
	size_t at;		  /* of the first of these; the other follows */
	size_t sz_header;	  /* bytes of its own header */
	const char *array, *elem; /* the fields of array and size there */
	uint8_t least_elem;	  /* bytes of an element this code knows */
};

/* What a file's first 16 and last 8 bytes read, and the section that its other contents hang on. */
struct hpc_frame {
	const char *magic;	   /* 14 bytes */
	const char *footer;	   /* 8 bytes */
	size_t sz_header;	   /* bytes of the header this code knows */
	struct hpc_list_kind list; /* meta.db has none */
};

extern const struct hpc_frame hpc_meta_frame, hpc_profile_frame, hpc_cct_frame, hpc_trace_frame;

/* Checks that the N bytes at BYTES have room for header and footer, that both are F's and the major
 * version is known; -EBADMSG, -ENODATA or -EPROTONOSUPPORT when not. */
int hpc_frame_check(const struct hpc_frame *f, const uint8_t *bytes, size_t n, const char *name,
		    uint8_t *ret_major, uint8_t *ret_minor, struct err *err);

/* Whether N elements of STRIDE bytes at P lie within the N_BYTES of a file.  Nothing overflows. */
bool hpc_lies_within(uint64_t n_bytes, uint64_t p, uint64_t n, uint64_t stride);

struct hpc_list {
	uint64_t sz, p; /* bytes and place of the section */
	uint64_t array;
	uint32_t n;
	uint8_t elem; /* bytes from one element to the next */
	uint8_t major, minor;
};

/* Checks the frame F of the N bytes at BYTES (hpc_frame_check), then reads the header of F's
 * section and checks that section and array lie in the file; -EBADMSG when not. */
int hpc_list_open(const struct hpc_frame *f, const uint8_t *bytes, size_t n, const char *name,
		  struct hpc_list *ret, struct err *err);

/* Sets "NAME+OFFSET: STRUCTURE FIELD: ..." (FIELD may be "") and returns -EBADMSG. */
int hpc_bad(struct err *err, const char *name, uint64_t offset, const char *structure,
	    const char *field, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#endif
