/* SPDX-License-Identifier: BSD-2-Clause */
/* See kernel_cache.h. */
#include "resolve/kernel_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

/* The directory in fresh memory, made first when MAKE; NULL: it is not there, or not this user's
 * alone. */
static char *cache_path(bool make)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const bool has_cache = cache && cache[0] == '/';
	_mem_ char *path = NULL;
	struct stat st;

	if (!has_cache && (!home || home[0] != '/'))
		return NULL;
	path = has_cache ? xasprintf("%s/dwell/kernels", cache)
			 : xasprintf("%s/.cache/dwell/kernels", home);
	if (make && file_is_own_folder(path)) {
		const mode_t old = umask(077);

		file_mkdirs(path, NULL);
		umask(old);
	}
	if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_mode & 077)
		return NULL;
	return take_ptr(&path);
}

bool kernel_cache_open(struct symcache *c, const struct image *im)
{
	_mem_ char *path = cache_path(false);

	return path && symcache_open(c, path, im, NULL) >= 0;
}

/* A kernel that is kept. */
struct kept_kernel {
	char name[256];
	int64_t written_s;
};

static int by_time(const void *a, const void *b)
{
	const struct kept_kernel *x = a, *y = b;

	return x->written_s != y->written_s ? (x->written_s < y->written_s ? -1 : 1)
					    : strcmp(x->name, y->name);
}

/* Removes the kernels that were kept first, until there are KERNEL_CACHE_MOST. */
static void trim(const char *path)
{
	_vec_ VEC(struct kept_kernel) all = {0};
	DIR *dir = opendir(path);

	for (const struct dirent *d; dir && (d = readdir(dir));) {
		struct kept_kernel *k;
		struct build_id id;
		struct stat st;

		if (build_id_parse(d->d_name, &id) < 0 ||
		    fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		k = vec_add(&all);
		snprintf(k->name, sizeof(k->name), "%s", d->d_name);
		k->written_s = st.st_mtime;
	}
	vec_sort(&all, by_time);
	for (size_t i = 0; i + KERNEL_CACHE_MOST < all.n; i++) {
		_mem_ char *file = xasprintf("%s/" SYMCACHE_FILE, all.v[i].name);

		if (unlinkat(dirfd(dir), file, 0) >= 0)
			unlinkat(dirfd(dir), all.v[i].name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

void kernel_cache_save(const struct symcache_info *info, const struct symtab *st)
{
	_mem_ char *path = cache_path(true);

	if (path && symcache_save(path, info, st, NULL) >= 0)
		trim(path);
}
