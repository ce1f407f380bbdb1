/* SPDX-License-Identifier: BSD-2-Clause */
/* See kept_dir.h. */
#include "resolve/kept_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "resolve/symcache.h"

static const struct cache_names names = {.believed = "code-", .claimed = "claimedcode-"};

/* --- names --- */

static struct cache_entry entry_named(const struct kept_info *info)
{
	struct entry_key key;

	memcpy(key.digest, info->digest, sizeof(key.digest));
	memcpy(key.content, info->content, sizeof(key.content));
	return cache_entry_named(&names, info->is_claimed, &key);
}

int kept_list(const char *dir, const struct build_id *id, cache_entries *ret, struct err *err)
{
	_fd_ int fd = symcache_open_dir(dir, id, false, err);
	int rc = fd < 0 ? fd : cache_entries_list(fd, &names, ret);

	return rc < 0 && fd >= 0 ? err_errno(err, rc, "%s", dir) : rc;
}

/* --- entries --- */

static int open_entry_at(struct kept_code *k, int fd, const struct build_id *id,
			 const struct cache_entry *e, struct err *err)
{
	struct file_map map;
	int rc = file_map_open(&map, fd, e->name, true, err);

	if (rc < 0)
		return rc;
	rc = kept_code_parse(k, map.bytes, map.n_bytes, err);
	if (rc < 0) {
		file_map_close(&map);
		return rc;
	}
	k->file = map;
	if (!build_id_same(&k->info.build_id, id) ||
	    strcmp(entry_named(&k->info).name, e->name) != 0) {
		kept_code_release(k);
		return err_set(err, -ESTALE, "kept code: of another image");
	}
	return 0;
}

int kept_open_entry(struct kept_code *k, const char *dir, const struct build_id *id,
		    const struct cache_entry *e, struct err *err)
{
	_fd_ int fd = symcache_open_dir(dir, id, false, err);

	return fd < 0 ? fd : open_entry_at(k, fd, id, e, err);
}

int kept_remove(const char *dir, const struct build_id *id, const struct cache_entry *e)
{
	_fd_ int fd = symcache_open_dir(dir, id, false, NULL);

	return fd < 0 ? fd : unlinkat(fd, e->name, 0) < 0 ? -errno : 0;
}

int kept_open(struct kept_code *k, const char *dir, const struct image *im, struct err *err)
{
	_fd_ int fd = symcache_open_dir(dir, &im->build_id, false, err);
	const bool exact = image_digest_known(im->digest);
	const struct cache_entry *only = NULL, *best = NULL;
	struct kept_code found = {0};
	cache_entries entries = {0};
	int rc = fd < 0 ? fd : cache_entries_list(fd, &names, &entries);

	vec_each (e, &entries) {
		struct kept_code one;

		if (exact && !image_digest_same(e->key.digest, im->digest))
			continue;
		if (only && !image_digest_same(only->key.digest, e->key.digest)) {
			rc = err_set(err, -ENOTUNIQ, "kept code: two images have this build-id");
			break;
		}
		only = e;
		if ((best && !best->is_claimed && e->is_claimed) ||
		    open_entry_at(&one, fd, &im->build_id, e, NULL) < 0)
			continue;
		if (best && one.procs.n <= found.procs.n) {
			kept_code_release(&one);
			continue;
		}
		kept_code_release(&found);
		found = one;
		best = e;
	}
	if (rc >= 0 && !best)
		rc = err_set(err, -ENOENT, "no code was kept");
	vec_release(&entries);
	if (rc >= 0)
		*k = found;
	else
		kept_code_release(&found);
	return rc;
}

/* --- the bound --- */

struct kept_file {
	char path[400];
	struct timespec written;
	uint64_t n_bytes;
};
typedef VEC(struct kept_file) kept_files;

static int oldest_first(const void *a, const void *b)
{
	const struct kept_file *x = a, *y = b;

	if (x->written.tv_sec != y->written.tv_sec)
		return x->written.tv_sec < y->written.tv_sec ? -1 : 1;
	if (x->written.tv_nsec != y->written.tv_nsec)
		return x->written.tv_nsec < y->written.tv_nsec ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Adds the files of the image directory NAME. */
static uint64_t add_files(int images_fd, const char *name, kept_files *ret)
{
	_fd_ int fd = openat(images_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cache_entries entries = {0};
	uint64_t sum = 0;
	struct stat st;

	if (fd >= 0)
		cache_entries_list(fd, &names, &entries);
	vec_each (e, &entries) {
		struct kept_file f;

		if (fstatat(fd, e->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		f = (struct kept_file){.written = st.st_mtim, .n_bytes = (uint64_t)st.st_size};
		snprintf(f.path, sizeof(f.path), "%s/%s", name, e->name);
		sum += f.n_bytes;
		vec_push(ret, f);
	}
	vec_release(&entries);
	return sum;
}

/* The directory whose files were added up last, and how much may be written there until they are
 * again: that costs more than writing one, and grows with them. */
static _Thread_local struct {
	dev_t dev;
	ino_t ino;
	uint64_t most_bytes, left;
} added_up;

/* Other processes write there, too. */
#define ADD_UP_PART 64

/* Whether N bytes, just written, fit into what was left in the directory that ST is of. */
static bool bound_holds(const struct stat *st, uint64_t most_bytes, uint64_t n)
{
	if (st->st_dev != added_up.dev || st->st_ino != added_up.ino ||
	    added_up.most_bytes != most_bytes || n > added_up.left)
		return false;
	added_up.left -= n;
	return true;
}

/* Removes the oldest files below DIR, where N bytes were written, until there are MOST_BYTES at
 * most. */
static void keep_bound(const char *dir, uint64_t most_bytes, uint64_t n)
{
	_fd_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kept_files files = {0};
	struct build_id id;
	struct dirent *e;
	uint64_t sum = 0;
	struct stat st;
	int again;
	DIR *d;

	if (fd < 0 || fstat(fd, &st) < 0 || bound_holds(&st, most_bytes, n))
		return;
	again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = again < 0 ? NULL : fdopendir(again);
	while (d && (e = readdir(d)))
		if (build_id_parse(e->d_name, &id) >= 0)
			sum += add_files(fd, e->d_name, &files);
	if (d)
		closedir(d);
	else if (again >= 0)
		close(again);
	if (sum > most_bytes)
		vec_sort(&files, oldest_first);
	for (size_t i = 0; i < files.n && sum > most_bytes; i++)
		if (unlinkat(fd, files.v[i].path, 0) >= 0)
			sum -= files.v[i].n_bytes;
	vec_release(&files);
	added_up.dev = st.st_dev;
	added_up.ino = st.st_ino;
	added_up.most_bytes = most_bytes;
	added_up.left = sum < most_bytes ? most_bytes - sum : 0;
	if (added_up.left > most_bytes / ADD_UP_PART)
		added_up.left = most_bytes / ADD_UP_PART;
}

static int check_claims(int fd, const struct cache_entry *new, struct err *err)
{
	cache_entries there = {0};
	unsigned n = 0;
	int rc = cache_entries_list(fd, &names, &there);

	vec_each (e, &there)
		n += e->is_claimed && strcmp(e->name, new->name) != 0 &&
		     image_digest_same(e->key.digest, new->key.digest);
	vec_release(&there);
	if (rc >= 0 && new->is_claimed && n >= KEPT_MOST_CLAIMED)
		return err_set(err, -ENOSPC, "more than %u files claim to be this image",
			       KEPT_MOST_CLAIMED);
	return rc;
}

int kept_save(const char *dir, struct kept_code *k, uint64_t most_bytes, struct err *err)
{
	const struct cache_entry e = entry_named(&k->info);
	_fd_ int fd = -1;
	struct kept_code all;
	struct wr w = {0};
	int rc;

	if (!k->procs.n)
		return 0;
	if (!image_digest_known(k->info.digest))
		return err_set(err, -EINVAL, "kept code: image without a digest");
	fd = symcache_open_dir(dir, &k->info.build_id, true, err);
	rc = fd < 0 ? fd : check_claims(fd, &e, err);
	if (rc < 0)
		return rc;
	if (open_entry_at(&all, fd, &k->info.build_id, &e, NULL) < 0) {
		all = (struct kept_code){.info = k->info};
		all.info.path = arena_strdup(&all.arena, k->info.path ? k->info.path : "");
	}
	if (kept_code_merge(&all, k)) {
		kept_code_format(&all, &w);
		rc = all.info.is_hidden ? file_replace_hidden(fd, e.name, w.v, w.n, err)
					: file_replace_lazily(fd, e.name, w.v, w.n, err);
		if (rc >= 0) {
			keep_bound(dir, most_bytes, w.n);
			rc = 1;
		}
	}
	wr_release(&w);
	kept_code_release(&all);
	return rc;
}
