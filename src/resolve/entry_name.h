/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of what a database keeps of an image: PREFIX, the image's digest, "-", and the hash of the
 * bytes it was made from, both in hex.  See symcache.h and kept_dir.h. */
#ifndef RESOLVE_ENTRY_NAME_H
#define RESOLVE_ENTRY_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "model/image.h"

#define ENTRY_CONTENT_BYTES 16
#define ENTRY_NAME_MAX	    80

struct entry_key {
	uint8_t digest[IMAGE_DIGEST_BYTES], content[ENTRY_CONTENT_BYTES];
};

void entry_name_format(const char *prefix, const struct entry_key *key, char ret[ENTRY_NAME_MAX]);

/* Reads exactly what entry_name_format writes, of an image with a digest. */
bool entry_name_parse(const char *name, const char *prefix, struct entry_key *ret);

/* Calls ADD with the name of each entry of the directory FD (borrowed); 0 or -errno. */
int entry_names_list(int fd, void (*add)(void *ctx, const char *name), void *ctx);

#endif
