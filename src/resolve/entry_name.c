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

int entry_names_list(int fd, void (*add)(void *ctx, const char *name), void *ctx)
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
		add(ctx, file->d_name);
	closedir(d);
	return 0;
}
