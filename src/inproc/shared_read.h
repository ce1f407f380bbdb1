/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads histogram files (shared.h), which may be anybody's: everything is checked on opening.
 * Allocates nothing. */
#ifndef INPROC_SHARED_READ_H
#define INPROC_SHARED_READ_H

#include "base/rd.h"
#include "inproc/shared.h"

struct shared_view {
	const uint8_t *bytes;
	struct shared_header header; /* its texts end in NUL */
	uint32_t n_images;
};

/* Opens the N BYTES, which stay the caller's.  -ENODATA cut short, -EPROTONOSUPPORT newer, -EBADMSG
 * otherwise not such a file; *RET_WHY says what is wrong. */
int shared_view_open(struct shared_view *v, const void *bytes, size_t n, const char **ret_why);

struct shared_image {
	struct loaded_code code; /* without its svma */
	const char *path;	 /* ends in NUL */
};

/* Goes through the images: begin with shared_images.  False at the end. */
struct rd shared_images(const struct shared_view *v);
bool shared_next_image(struct rd *at, struct shared_image *ret);

struct shared_count {
	uint32_t image; /* from 1 */
	uint64_t svma, n;
};

/* Goes through the slots in use: *AT begins as 0.  False at the end. */
bool shared_next_count(const struct shared_view *v, uint64_t *at, struct shared_count *ret);

#endif
