/* SPDX-License-Identifier: BSD-2-Clause */
/* See debian_package.h.  All lists together are some megabytes: one pass looks for all paths.  A list
 * may have /lib/x for what is /usr/lib/x today (merged /usr). */
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

/* Whether the N bytes of LIST have PATH as a line. */
static bool list_has(const char *list, size_t n, const char *path)
{
	const size_t length = strlen(path);
	const char *at = list, *end = list + n;

	while (length && (at = memmem(at, (size_t)(end - at), path, length))) {
		const char *behind = at + length;

		if ((at == list || at[-1] == '\n') && (behind == end || *behind == '\n'))
			return true;
		at = behind;
	}
	return false;
}

static void look_in_list(const char *list, size_t n_bytes, const char *file,
			 const char *const *paths, size_t n, char **ret)
{
	const size_t name = strcspn(file, ":") < strlen(file) - strlen(".list")
				    ? strcspn(file, ":")
				    : strlen(file) - strlen(".list");

	for (size_t i = 0; i < n; i++) {
		if (ret[i])
			continue;
		if (list_has(list, n_bytes, paths[i]) ||
		    (str_starts(paths[i], "/usr/") && list_has(list, n_bytes, paths[i] + 4)))
			ret[i] = xstrndup(file, name);
	}
}

void debian_packages_find(const char *dir, const char *const *paths, size_t n, char **ret)
{
	DIR *d = n ? opendir(dir) : NULL;
	const struct dirent *e;

	for (size_t i = 0; i < n; i++)
		ret[i] = NULL;
	while (d && (e = readdir(d))) {
		struct file_map map;

		if (!str_ends(e->d_name, ".list") ||
		    file_map_open(&map, dirfd(d), e->d_name, false, NULL) < 0)
			continue;
		look_in_list((const char *)map.bytes, map.n_bytes, e->d_name, paths, n, ret);
		file_map_close(&map);
	}
	if (d)
		closedir(d);
}
