/* SPDX-License-Identifier: BSD-2-Clause */
/* See entry_name.h. */
#include "resolve/entry_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

#define DIGEST_DIGITS  (2 * IMAGE_DIGEST_BYTES)
#define CONTENT_DIGITS (2 * ENTRY_CONTENT_BYTES)

void entry_name_format(const char *prefix, const struct entry_key *key, char ret[ENTRY_NAME_MAX])
{
	char digest[DIGEST_DIGITS + 1], content[CONTENT_DIGITS + 1];

	str_hex(key->digest, sizeof(key->digest), digest);
	str_hex(key->content, sizeof(key->content), content);
	snprintf(ret, ENTRY_NAME_MAX, "%s%s-%s", prefix, digest, content);
}

bool entry_name_parse(const char *name, const char *prefix, struct entry_key *ret)
{
	char digest[DIGEST_DIGITS + 1] = "", content[CONTENT_DIGITS + 1] = "",
				    again[ENTRY_NAME_MAX];
	const size_t n = strlen(prefix);

	if (!str_starts(name, prefix) || strlen(name) != n + DIGEST_DIGITS + 1 + CONTENT_DIGITS)
		return false;
	memcpy(digest, name + n, DIGEST_DIGITS);
	memcpy(content, name + n + DIGEST_DIGITS + 1, CONTENT_DIGITS);
	if (str_unhex(digest, ret->digest, sizeof(ret->digest)) != IMAGE_DIGEST_BYTES ||
	    str_unhex(content, ret->content, sizeof(ret->content)) != ENTRY_CONTENT_BYTES ||
	    !image_digest_known(ret->digest))
		return false;
	entry_name_format(prefix, ret, again); /* capitals are another name */
	return strcmp(again, name) == 0;
}

struct cache_entry cache_entry_named(const struct cache_names *names, bool is_claimed,
				     const struct entry_key *key)
{
	struct cache_entry e = {.is_claimed = is_claimed, .key = *key};

	entry_name_format(is_claimed ? names->claimed : names->believed, key, e.name);
	return e;
}

static void cache_entry_add(const struct cache_names *names, const char *name, cache_entries *ret)
{
	struct cache_entry e = {.is_claimed = str_starts(name, names->claimed)};
	const char *prefix = e.is_claimed ? names->claimed : names->believed;

	if (!(names->plain && strcmp(name, names->plain) == 0) &&
	    !entry_name_parse(name, prefix, &e.key))
		return;
	snprintf(e.name, sizeof(e.name), "%.*s", ENTRY_NAME_MAX - 1, name);
	vec_push(ret, e);
}

static int cache_entry_by_belief(const void *a, const void *b)
{
	const struct cache_entry *x = a, *y = b;

	return x->is_claimed != y->is_claimed ? x->is_claimed - y->is_claimed
					      : strcmp(x->name, y->name);
}

int cache_entries_list(int fd, const struct cache_names *names, cache_entries *ret)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	struct dirent *file;

	if (!d) {
		int rc = -errno;

		if (again >= 0)
			close(again);
		return rc;
	}
	while ((file = readdir(d)))
		cache_entry_add(names, file->d_name, ret);
	closedir(d);
	vec_sort(ret, cache_entry_by_belief);
	return 0;
}
