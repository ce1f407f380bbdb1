/* SPDX-License-Identifier: BSD-2-Clause */
/* The directories of the symbol cache: which entry is kept under which name, and which is
 * believed. See symcache.h.
 *
 * For example, of a program with build-id aa..., its stripped copy and a forged file of user 1000:
 *
 *     aa.../symbols-11...-31...   from the program: .symtab
 *     aa.../symbols-11...-32...   from the stripped copy: .dynsym
 *     aa.../claimed-22...-33...   from the forged file, which has another digest
 *     aa.../claimed-11...-34...   from one that has the program's frame information too
 *
 * The program's places are named by the first, the forged file's (with digest 22...) by the
 * third. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/str.h"
#include "resolve/symcache.h"

static const struct cache_names names = {
	.believed = SYMCACHE_FILE "-", .claimed = "claimed-", .plain = SYMCACHE_FILE};

int symcache_open_dir(const char *dir, const struct build_id *id, bool make, struct err *err)
{
	char hex[2 * BUILD_ID_MAX + 1];
	_fd_ int parent = -1;
	int fd;

	if (id->n_bytes == 0)
		return err_set(err, -ENOENT, "image without identity");
	build_id_format(id, hex);
	if (make && file_mkdirs(dir, err) < 0)
		return -EIO;
	parent = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return err_errno(err, -errno, "%s", dir);
	if (make && (fd = file_mkdirat(parent, hex)) < 0)
		return err_errno(err, fd, "%s/%s: mkdir", dir, hex);
	fd = openat(parent, hex, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_errno(err, -errno, "%s/%s", dir, hex) : fd;
}

/* --- names --- */

static struct cache_entry entry_of(const struct symcache_info *info)
{
	struct entry_key key;

	if (!image_digest_known(info->layout.digest))
		return (struct cache_entry){.name = SYMCACHE_FILE};
	memcpy(key.digest, info->layout.digest, sizeof(key.digest));
	memcpy(key.content, info->content, sizeof(key.content));
	return cache_entry_named(&names, info->is_claimed, &key);
}

int symcache_list(const char *dir, const struct build_id *id, cache_entries *ret, struct err *err)
{
	_fd_ int fd = symcache_open_dir(dir, id, false, err);
	int rc = fd < 0 ? fd : cache_entries_list(fd, &names, ret);

	return rc < 0 && fd >= 0 ? err_errno(err, rc, "%s", dir) : rc;
}

/* What a plain name holds is replaced; the others are named by their content. */
uint64_t symcache_stamp(const char *dir, const struct build_id *id)
{
	_fd_ int fd = symcache_open_dir(dir, id, false, NULL);
	cache_entries entries = {0};
	uint64_t ret = 0;
	struct stat st;

	if (fd >= 0)
		cache_entries_list(fd, &names, &entries);
	vec_each (e, &entries) {
		uint64_t one = hash_str(e->name);

		if (!image_digest_known(e->key.digest) &&
		    fstatat(fd, e->name, &st, AT_SYMLINK_NOFOLLOW) >= 0)
			one = hash_pair(hash_pair(one, st.st_ino),
					(uint64_t)st.st_mtim.tv_sec * 1000000000 +
						(uint64_t)st.st_mtim.tv_nsec);
		ret += one;
	}
	vec_release(&entries);
	return ret;
}

/* Leaves only those that may be IM's: of an image without a digest the entry without one, if
 * PLAIN. -ENOTUNIQ when nobody knows. */
static int symcache_dir_choose(cache_entries *all, const struct image *im, bool plain)
{
	const bool exact = image_digest_known(im->digest);
	const uint8_t *only = NULL;
	size_t n = 0;

	vec_each (e, all) {
		if (!exact && plain && !image_digest_known(e->key.digest)) {
			all->v[0] = *e;
			all->n = 1;
			return 0;
		}
	}
	vec_each (e, all) {
		if (exact ? !image_digest_same(e->key.digest, im->digest)
			  : !image_digest_known(e->key.digest))
			continue;
		if (only && !image_digest_same(e->key.digest, only))
			return -ENOTUNIQ;
		all->v[n] = *e;
		only = all->v[n++].key.digest;
	}
	all->n = n;
	return n ? 0 : -ENOENT;
}

static int symcache_dir_find(const char *dir, const struct image *im, bool plain,
			     cache_entries *ret, struct err *err)
{
	int rc = symcache_list(dir, &im->build_id, ret, err);

	if (rc < 0)
		return rc;
	rc = symcache_dir_choose(ret, im, plain);
	if (rc == -ENOTUNIQ)
		return err_set(err, rc, "symbol cache: two images have this build-id");
	return rc < 0 ? err_set(err, rc, "symbol cache: no entry") : 0;
}

bool symcache_has(const char *dir, const struct image *im)
{
	cache_entries entries = {0};
	bool has = symcache_dir_find(dir, im, true, &entries, NULL) >= 0;

	vec_release(&entries);
	return has;
}

bool symcache_has_believed(const char *dir, const struct image *im)
{
	cache_entries entries = {0};
	bool has =
		symcache_dir_find(dir, im, true, &entries, NULL) >= 0 && !entries.v[0].is_claimed;

	vec_release(&entries);
	return has;
}

/* --- entries --- */

static int open_at(struct symcache *c, int fd, const struct build_id *id,
		   const struct cache_entry *e, struct err *err)
{
	struct cache_entry is;
	struct file_map map;
	int rc = file_map_open(&map, fd, e->name, true, err);

	if (rc < 0)
		return rc;
	rc = symcache_parse_map(c, &map, err);
	c->map = map;
	if (rc >= 0) {
		is = entry_of(&c->info);
		if (!build_id_same(&c->info.layout.build_id, id) || strcmp(is.name, e->name) != 0)
			rc = err_set(err, -ESTALE, "symbol cache: entry of another image");
	}
	if (rc < 0)
		symcache_close(c);
	return rc;
}

int symcache_save(const char *dir, const struct symcache_info *info, const struct symtab *st,
		  struct err *err)
{
	const struct cache_entry e = entry_of(info);
	_fd_ int fd = symcache_open_dir(dir, &info->layout.build_id, true, err);
	cache_entries there = {0};
	unsigned n_claimed = 0;
	struct symcache old;
	struct wr w = {0};
	bool same = false;
	int rc;

	if (fd < 0)
		return fd;
	if (image_digest_known(e.key.digest)) {
		rc = cache_entries_list(fd, &names, &there);
		vec_each (t, &there) {
			same |= strcmp(t->name, e.name) == 0;
			n_claimed +=
				t->is_claimed && image_digest_same(t->key.digest, e.key.digest);
		}
		vec_release(&there);
		if (rc < 0)
			return err_errno(err, rc, "%s", dir);
		if (same && open_at(&old, fd, &info->layout.build_id, &e, NULL) >= 0) {
			symcache_close(&old);
			return 0;
		}
		if (!same && e.is_claimed && n_claimed >= SYMCACHE_MOST_CLAIMED)
			return err_set(err, -ENOSPC,
				       "%s: more than %u files claim to be this image", info->path,
				       SYMCACHE_MOST_CLAIMED);
	}
	symcache_format(info, st, &w);
	rc = file_replace_lazily(fd, e.name, w.v, w.n, err);
	wr_release(&w);
	return rc;
}

int symcache_open_entry(struct symcache *c, const char *dir, const struct build_id *id,
			const struct cache_entry *entry, struct err *err)
{
	_fd_ int fd = symcache_open_dir(dir, id, false, err);

	return fd < 0 ? fd : open_at(c, fd, id, entry, err);
}

int symcache_remove(const char *dir, const struct build_id *id, const struct cache_entry *entry)
{
	_fd_ int fd = symcache_open_dir(dir, id, false, NULL);

	return fd < 0 ? fd : unlinkat(fd, entry->name, 0) < 0 ? -errno : 0;
}

/* The tables lie one behind the other (docs/formats/symbols.md, 4). */
static bool has_same_symbols(const struct symtab *a, const struct symtab *b)
{
	return a->n == b->n && a->n_pool == b->n_pool &&
	       memcmp(a->starts, b->starts, (size_t)a->n * 17) == 0 &&
	       memcmp(a->pool, b->pool, a->n_pool) == 0;
}

static bool entry_has_symbols(int fd, const struct build_id *id, const struct cache_entry *e,
			      const struct symtab *st)
{
	struct symcache c;
	bool same;

	if (open_at(&c, fd, id, e, NULL) < 0)
		return false;
	same = has_same_symbols(&c.symtab, st);
	symcache_close(&c);
	return same;
}

/* The one with the most complete symbols among the first N, which are believed alike.  Entries of
 * two contents may say the same: older programs hashed otherwise. */
static int find_best(int fd, const struct build_id *id, const cache_entries *entries, size_t n,
		     bool *ret_disputed, struct err *err)
{
	enum symtab_source most = SYMTAB_NONE;
	int best = -1, rc = 0;

	*ret_disputed = false;
	for (size_t i = 0; i < n; i++) {
		struct symcache c;

		rc = open_at(&c, fd, id, &entries->v[i], err);
		if (rc < 0)
			continue;
		if (best >= 0 && c.info.source == most)
			*ret_disputed |= !entry_has_symbols(fd, id, &entries->v[best], &c.symtab);
		if (best < 0 || c.info.source > most) {
			*ret_disputed = false;
			best = (int)i;
			most = c.info.source;
		}
		symcache_close(&c);
	}
	return best >= 0 ? best : rc;
}

static int open_found(struct symcache *c, const char *dir, const struct image *im, bool plain,
		      struct err *err)
{
	_fd_ int fd = symcache_open_dir(dir, &im->build_id, false, err);
	cache_entries entries = {0};
	size_t n_believed = 0;
	bool disputed = false;
	int rc = fd < 0 ? fd : symcache_dir_find(dir, im, plain, &entries, err), best = 0;

	vec_each (e, &entries)
		n_believed += !e->is_claimed;
	if (rc >= 0 && n_believed > 1)
		best = find_best(fd, &im->build_id, &entries, n_believed, &disputed, err);
	else if (rc >= 0 && !n_believed && entries.n > 1)
		best = find_best(fd, &im->build_id, &entries, entries.n, &disputed, err);
	if (rc >= 0)
		rc = best < 0 ? best : open_at(c, fd, &im->build_id, &entries.v[best], err);
	/* What root's files say differently is a copy that was stripped in another way. */
	if (rc >= 0)
		c->is_disputed = disputed && !n_believed;
	vec_release(&entries);
	return rc;
}

int symcache_open(struct symcache *c, const char *dir, const struct image *im, struct err *err)
{
	int rc = open_found(c, dir, im, true, err);

	/* The plain entry may be damaged where another, made since, is whole. */
	return rc == -EBADMSG || rc == -ENODATA ? open_found(c, dir, im, false, err) : rc;
}
