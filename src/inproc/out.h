/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes on their way into a file, without allocating. */
#ifndef INPROC_OUT_H
#define INPROC_OUT_H

#include <stddef.h>
#include <stdint.h>

struct out {
	int fd;
	int error; /* the first, -errno; nothing is written from then on */
	size_t n, n_all;
	uint8_t bytes[8192];
};

void out_put(struct out *o, const void *bytes, size_t n);
void out_u16(struct out *o, uint64_t x);
void out_u32(struct out *o, uint64_t x);
void out_u64(struct out *o, uint64_t x);

/* At most 255 bytes. */
void out_line(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void out_flush(struct out *o);

/* A file that takes the place of NAME in directory DIRFD when it is whole: out_open begins it under
 * another name, out_close ends it.  0 or -errno; a file that failed is removed. */
struct profile_out {
	struct out out;
	int dirfd;
	char name[256], temporary[272];
};
int out_open(struct profile_out *f, int dirfd, const char *name);
int out_close(struct profile_out *f);

#endif
