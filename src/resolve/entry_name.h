/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of what a database keeps of an image: PREFIX, the image's digest, "-", and the hash of the
 * bytes it was made from, both in hex.  See symcache.h and kept_dir.h.
 *
 * Two prefixes go together: one of what root or the recorder's user wrote, which is believed, and
 * one of what somebody else claims. */
#ifndef RESOLVE_ENTRY_NAME_H
#define RESOLVE_ENTRY_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/image.h"

#define ENTRY_CONTENT_BYTES 16
#define ENTRY_NAME_MAX	    80

struct entry_key {
	uint8_t digest[IMAGE_DIGEST_BYTES], content[ENTRY_CONTENT_BYTES];
};

void entry_name_format(const char *prefix, const struct entry_key *key, char ret[ENTRY_NAME_MAX]);

/* Reads exactly what entry_name_format writes, of an image with a digest. */
bool entry_name_parse(const char *name, const char *prefix, struct entry_key *ret);

/* An entry as its name tells. */
struct cache_entry {
	char name[ENTRY_NAME_MAX];
	bool is_claimed;
	struct entry_key key; /* zeros: of a plain name */
};
typedef VEC(struct cache_entry) cache_entries;

struct cache_names {
	const char *believed, *claimed; /* prefixes */
	const char *plain;		/* a whole name; NULL: there is none */
};

/* Lists the entries of the directory FD (borrowed) that have such names, those that are believed
 * first.  0 or -errno; vec_release them. */
int cache_entries_list(int fd, const struct cache_names *names, cache_entries *ret);

/* The entry of KEY. */
struct cache_entry cache_entry_named(const struct cache_names *names, bool is_claimed,
				     const struct entry_key *key);

#endif
