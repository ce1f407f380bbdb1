/* SPDX-License-Identifier: BSD-2-Clause */
/* See debian_package.h.  All lists together are some megabytes: one pass looks for all paths.  A list
 * may have /lib/x for what is /usr/lib/x today (merged /usr), so the end that both have is searched
 * for, and looking ends with the last path found. */
#include "resolve/debian_package.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"

/* Whether the N bytes of LIST have PATH as a line, or without the /usr before it. */
static bool list_has(const char *list, size_t n, const char *path)
{
	static const char usr[] = "/usr";
	const size_t skip = str_starts(path, "/usr/") ? sizeof(usr) - 1 : 0;
	const size_t length = strlen(path + skip);
	const char *at = list, *end = list + n;

	while (length && (at = memmem(at, (size_t)(end - at), path + skip, length))) {
		const char *behind = at + length, *line = at;

		if (skip && (size_t)(at - list) >= skip && memcmp(at - skip, usr, skip) == 0)
			line -= skip;
		if ((line == list || line[-1] == '\n') && (behind == end || *behind == '\n'))
			return true;
		at = behind;
	}
	return false;
}

/* Returns how many more of PATHS have their package. */
static size_t look_in_list(const char *list, size_t n_bytes, const char *file,
			   const char *const *paths, size_t n, char **ret)
{
	const size_t name = strcspn(file, ":") < strlen(file) - strlen(".list")
				    ? strcspn(file, ":")
				    : strlen(file) - strlen(".list");
	size_t n_found = 0;

	for (size_t i = 0; i < n; i++) {
		if (ret[i])
			continue;
		if (list_has(list, n_bytes, paths[i])) {
			ret[i] = xstrndup(file, name);
			n_found++;
		}
	}
	return n_found;
}

void debian_packages_find(const char *dir, const char *const *paths, size_t n, char **ret)
{
	DIR *d = n ? opendir(dir) : NULL;
	const struct dirent *e;
	size_t n_left = n;

	for (size_t i = 0; i < n; i++)
		ret[i] = NULL;
	while (d && n_left && (e = readdir(d))) {
		struct file_map map;

		if (!str_ends(e->d_name, ".list") ||
		    file_map_open(&map, dirfd(d), e->d_name, false, NULL) < 0)
			continue;
		n_left -= look_in_list((const char *)map.bytes, map.n_bytes, e->d_name, paths, n,
				       ret);
		file_map_close(&map);
	}
	if (d)
		closedir(d);
}
