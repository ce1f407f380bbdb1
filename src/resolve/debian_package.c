/* SPDX-License-Identifier: BSD-2-Clause */
/* See debian_package.h.  All lists together are some megabytes: one pass looks for all paths.  A
 * list may have /lib/x for what is /usr/lib/x today (merged /usr), so the end that both have is
 * searched for, and looking ends with the last path found.
 *
 * Most packages are named after their files: libLLVM-14.so.1 is libllvm14's, perf is linux-perf's.
 * So the lists that are named like a path's last part are looked at first, for that path alone, and
 * the other lists only for what is left: the large ones last.  Ten lists of a thousand have more
 * than half of all bytes, and are of sources, icons and the like. */
#include "resolve/debian_package.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "base/vec.h"

/* What is looked at in turn. */
enum list_pass { LISTS_LIKELY, LISTS_SMALL, LISTS_LARGE, N_LIST_PASSES };

#define LARGE_BYTES (128 << 10)

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

/* Tells whether a package may have PATH: not in /usr/local or homes (Debian Policy, 9.1.2). */
static bool is_packaged(const char *path)
{
	static const char *const no[] = {"/usr/local/", "/home/", "/root/", "/tmp/", "/var/tmp/"};

	for (size_t i = 0; i < n_elems(no); i++)
		if (str_starts(path, no[i]))
			return false;
	return true;
}

/* Tells whether FILE, the name of a list, has the first four letters of PATH's last part, whatever
 * their case. */
static bool is_likely(const char *file, const char *path)
{
	char begin[5];

	snprintf(begin, sizeof(begin), "%s", str_basename(path));
	return strcasestr(file, begin);
}

/* Tells whether a pass over lists that are LIKELY or not looks for PATH in FILE. */
static bool is_due(const char *file, const char *path, bool likely)
{
	return is_packaged(path) && is_likely(file, path) == likely;
}

/* Looks in FILE, a list of N_BYTES bytes, for those of PATHS that have no package yet and for which
 * FILE is LIKELY or not.  Returns how many it has. */
static size_t look_in_list(const char *list, size_t n_bytes, const char *file, bool likely,
			   const char *const *paths, size_t n, char **ret)
{
	const size_t name = strcspn(file, ":") < strlen(file) - strlen(".list")
				    ? strcspn(file, ":")
				    : strlen(file) - strlen(".list");
	size_t n_found = 0;

	for (size_t i = 0; i < n; i++) {
		if (ret[i] || !is_due(file, paths[i], likely))
			continue;
		if (list_has(list, n_bytes, paths[i])) {
			ret[i] = xstrndup(file, name);
			n_found++;
		}
	}
	return n_found;
}

static bool is_wanted(const char *file, bool likely, const char *const *paths, size_t n,
		      char *const *found)
{
	for (size_t i = 0; i < n; i++)
		if (!found[i] && is_due(file, paths[i], likely))
			return true;
	return false;
}

/* Tells whether the list FILE of D has the size that PASS looks at. */
static bool is_of_pass(DIR *d, const char *file, enum list_pass pass)
{
	struct stat st;

	return pass == LISTS_LIKELY || (fstatat(dirfd(d), file, &st, 0) >= 0 &&
					(st.st_size > LARGE_BYTES) == (pass == LISTS_LARGE));
}

/* Looks in the lists of D that PASS is about.  Returns how many paths they have. */
static size_t look_in_dir(DIR *d, enum list_pass pass, const char *const *paths, size_t n,
			  size_t n_left, char **ret)
{
	const bool likely = pass == LISTS_LIKELY;
	const struct dirent *e;
	size_t n_found = 0;

	rewinddir(d);
	while (n_found < n_left && (e = readdir(d))) {
		struct file_map map;

		if (!str_ends(e->d_name, ".list") || !is_wanted(e->d_name, likely, paths, n, ret) ||
		    !is_of_pass(d, e->d_name, pass) ||
		    file_map_open(&map, dirfd(d), e->d_name, false, NULL) < 0)
			continue;
		n_found += look_in_list((const char *)map.bytes, map.n_bytes, e->d_name, likely,
					paths, n, ret);
		file_map_close(&map);
	}
	return n_found;
}

void debian_packages_find(const char *dir, const char *const *paths, size_t n, char **ret)
{
	size_t n_left = 0;
	DIR *d;

	for (size_t i = 0; i < n; i++) {
		ret[i] = NULL;
		n_left += is_packaged(paths[i]);
	}
	d = n_left ? opendir(dir) : NULL;
	if (!d)
		return;
	for (enum list_pass pass = 0; pass < N_LIST_PASSES && n_left; pass++)
		n_left -= look_in_dir(d, pass, paths, n, n_left, ret);
	closedir(d);
}
