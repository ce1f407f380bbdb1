/* SPDX-License-Identifier: BSD-2-Clause */
/* See table_cache.h.  A table's file is named by a hash of the identity of the file it
 * describes. */
#include "daemon/table_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/str.h"
#include "resolve/file_symbols.h"
#include "resolve/table_file.h"

/* What waits in memory for the directory to be made. */
#define MOST_WAITING_BYTES ((size_t)16 << 20)

/* Behind the name of a note, and of what is of the whole machine. */
#define NOTE_SUFFIX    ".note"
#define MACHINE_SUFFIX ".machine"

/* The time of use of a file is noted anew after so long. */
#define USE_NOTED_S (24 * 3600)

#define NAME_BYTES 40
#define DISK_BLOCK 4096 /* that a small file takes */

struct waiting_table {
	char name[NAME_BYTES];
	struct wr bytes;
};

static struct {
	char *db;  /* NULL: nothing is kept */
	int dir;   /* -1: not there (yet) */
	bool kept; /* table_cache_keep was called */
	VEC(struct waiting_table) waiting;
	size_t n_waiting_bytes;
	uint64_t n_hits, n_saved;
} cache = {.dir = -1};

/* The directory, if it is this user's alone; -1. */
static int open_dir(const char *db)
{
	_mem_ char *path = xasprintf("%s/" TABLE_CACHE_DIR, db);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & 077)) {
		close(fd);
		return -1;
	}
	return fd;
}

void table_cache_start(const char *db)
{
	table_cache_end();
	cache.db = xstrdup(db);
	cache.dir = open_dir(db);
}

/* Tables can be made again and samples cannot: the disk's last bytes are for samples. */
static void write_table(const char *name, const struct wr *bytes)
{
	if (bytes->n > TABLE_FILE_MOST || !file_has_room(cache.dir, TABLE_CACHE_BYTES + bytes->n))
		return;
	if (file_replace_hidden(cache.dir, name, bytes->v, bytes->n, NULL) >= 0)
		cache.n_saved++;
}

void table_cache_keep(void)
{
	_mem_ char *path = cache.db ? xasprintf("%s/" TABLE_CACHE_DIR, cache.db) : NULL;

	if (!path || cache.kept)
		return;
	cache.kept = true;
	if (cache.dir < 0) {
		mode_t old = umask(077);
		int rc = mkdir(path, 0700);

		umask(old);
		if (rc >= 0)
			cache.dir = open_dir(cache.db);
	}
	vec_each (w, &cache.waiting) {
		if (cache.dir >= 0)
			write_table(w->name, &w->bytes);
		wr_release(&w->bytes);
	}
	vec_release(&cache.waiting);
	cache.n_waiting_bytes = 0;
}

/* A kept table, for table_cache_trim. */
struct kept_table {
	char name[NAME_BYTES];
	uint64_t used_s, n_bytes;
};

static int by_use(const void *a, const void *b)
{
	const struct kept_table *x = a, *y = b;

	return x->used_s != y->used_s ? (x->used_s < y->used_s ? -1 : 1) : strcmp(x->name, y->name);
}

/* When there are more than MOST bytes, removes those that were not used for the longest time, a
 * quarter more than must be.  Returns the number of those removed. */
static size_t table_cache_trim(uint64_t most)
{
	size_t n_removed = 0;
	VEC(struct kept_table) all = {0};
	uint64_t n_bytes = 0;
	int fd = dup(cache.dir);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	for (const struct dirent *d; dir && (d = readdir(dir));) {
		struct kept_table *k;
		struct stat st;

		if (d->d_name[0] == '.' || strlen(d->d_name) >= NAME_BYTES ||
		    fstatat(cache.dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		k = vec_add(&all);
		snprintf(k->name, sizeof(k->name), "%s", d->d_name);
		k->used_s = (uint64_t)st.st_mtime;
		k->n_bytes = ((uint64_t)st.st_size + DISK_BLOCK - 1) / DISK_BLOCK * DISK_BLOCK;
		n_bytes += k->n_bytes;
	}
	if (n_bytes > most) {
		vec_sort(&all, by_use);
		vec_each (k, &all) {
			if (n_bytes <= most / 4 * 3)
				break;
			if (unlinkat(cache.dir, k->name, 0) < 0)
				continue;
			n_bytes -= k->n_bytes;
			n_removed++;
		}
	}
	vec_release(&all);
	if (dir)
		closedir(dir);
	return n_removed;
}

bool table_cache_give_way(int rc)
{
	return (rc == -ENOSPC || rc == -EDQUOT) && cache.dir >= 0 && table_cache_trim(0) > 0;
}

void table_cache_end(void)
{
	if (cache.dir >= 0 && cache.n_saved)
		table_cache_trim(TABLE_CACHE_BYTES);
	vec_each (w, &cache.waiting)
		wr_release(&w->bytes);
	vec_release(&cache.waiting);
	if (cache.dir >= 0)
		close(cache.dir);
	free(cache.db);
	memset(&cache, 0, sizeof(cache));
	cache.dir = -1;
}

/* Which file is at FD, and the name its table (SUFFIX is empty) or its note has; false when nothing
 * is kept of it. */
static bool table_cache_name(int fd, const char *suffix, struct table_file_of *ret,
			     char name[NAME_BYTES])
{
	struct file_facts facts;
	const uint64_t *words;
	uint64_t a, b;

	*ret = (struct table_file_of){0};
	if (!cache.db || file_stamp_get(fd, &ret->stamp, &facts) < 0 || !facts.is_regular)
		return false;
	if (geteuid() == 0 && (facts.uid != 0 || facts.mode & (S_IWGRP | S_IWOTH)))
		return false;
	ret->uid = facts.uid;
	words = (const uint64_t[]){ret->stamp.dev, ret->stamp.ino, ret->stamp.size,
				   ret->stamp.ctime_s,
				   (uint64_t)ret->stamp.ctime_ns << 32 | ret->uid};
	a = hash_bytes(words, 5 * sizeof(*words));
	b = hash_pair(a, ret->stamp.ino);
	snprintf(name, NAME_BYTES, "%016llx%016llx%s", (unsigned long long)a, (unsigned long long)b,
		 suffix);
	return true;
}

/* Notes that the file at FD was used. */
static void note_use(int fd, const struct stat *st)
{
	if (time(NULL) - st->st_mtime > USE_NOTED_S && futimens(fd, NULL) < 0)
		errno = 0; /* it goes a little sooner */
}

/* Maps what is kept under NAME and notes that it was used; -ENOENT. */
static int map_kept(const char *name, struct file_map *ret)
{
	struct stat st;
	_fd_ int file = openat(cache.dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (file < 0 || fstat(file, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_mode & 077 || file_map_fd(ret, file, name, NULL) < 0)
		return -ENOENT;
	note_use(file, &st);
	return 0;
}

/* Loads the table, or the note (TABLE is NULL), of the file at FD. */
static int load_kept(int fd, struct unwind_table *table, struct file_note *note)
{
	struct table_file_of of;
	struct file_map m = {0};
	char name[NAME_BYTES];
	int rc;

	if (cache.dir < 0 || !table_cache_name(fd, table ? "" : NOTE_SUFFIX, &of, name) ||
	    map_kept(name, &m) < 0)
		return -ENOENT;
	rc = table ? table_file_get(m.bytes, m.n_bytes, &of, table, NULL)
		   : table_file_get_note(m.bytes, m.n_bytes, &of, note, NULL);
	file_map_close(&m);
	if (rc < 0) { /* damaged: it is made again */
		unlinkat(cache.dir, name, 0);
		return -ENOENT;
	}
	return 0;
}

int table_cache_load(int fd, struct unwind_table *ret)
{
	int rc = load_kept(fd, ret, NULL);

	cache.n_hits += rc >= 0;
	return rc;
}

bool table_cache_load_note(int fd, struct file_note *ret)
{
	return load_kept(fd, NULL, ret) >= 0;
}

bool table_cache_knows(int fd, const struct image *im, struct file_note *ret)
{
	return table_cache_load_note(fd, ret) && image_digest_same(ret->layout.digest, im->digest);
}

/* Whether what is to be kept of the file at FD may be, and under which name. */
static bool may_keep(int fd, const struct file_stamp *read, bool nosuid, const char *suffix,
		     struct table_file_of *ret, char name[NAME_BYTES])
{
	return table_cache_name(fd, suffix, ret, name) && file_stamp_same(&ret->stamp, read) &&
	       (!cache.kept || cache.dir >= 0) &&
	       (geteuid() != 0 || file_symbols_believed_on(fd, nosuid));
}

/* Writes W, or has it wait for the directory. */
static void keep_waiting(struct waiting_table w)
{
	if (cache.kept) {
		write_table(w.name, &w.bytes);
	} else if (cache.n_waiting_bytes + w.bytes.n <= MOST_WAITING_BYTES) {
		cache.n_waiting_bytes += w.bytes.n;
		vec_push(&cache.waiting, w);
		return;
	}
	wr_release(&w.bytes);
}

void table_cache_save(int fd, const struct file_stamp *read, bool nosuid, const uint8_t *answer,
		      size_t n)
{
	struct waiting_table w = {0};
	struct table_file_of of;

	if (!may_keep(fd, read, nosuid, "", &of, w.name))
		return;
	table_file_put(&of, answer, n, &w.bytes);
	keep_waiting(w);
}

void table_cache_save_note(int fd, const struct file_stamp *read, bool nosuid,
			   const struct file_note *note)
{
	struct waiting_table w = {0};
	struct table_file_of of;

	if (!may_keep(fd, read, nosuid, NOTE_SUFFIX, &of, w.name))
		return;
	table_file_put_note(&of, note, &w.bytes);
	keep_waiting(w);
}

static void machine_name(uint64_t key, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%016llx" MACHINE_SUFFIX, (unsigned long long)key);
}

bool table_cache_load_machine(uint64_t key, struct file_map *map, const uint8_t **ret,
			      size_t *ret_n)
{
	char name[NAME_BYTES];

	machine_name(key, name);
	if (cache.dir < 0 || map_kept(name, map) < 0)
		return false;
	if (table_file_get_machine(map->bytes, map->n_bytes, key, ret, ret_n, NULL) >= 0)
		return true;
	file_map_close(map);
	unlinkat(cache.dir, name, 0);
	return false;
}

void table_cache_save_machine(uint64_t key, const uint8_t *bytes, size_t n)
{
	struct waiting_table w = {0};

	if (!cache.db || (cache.kept && cache.dir < 0))
		return;
	machine_name(key, w.name);
	table_file_put_machine(key, bytes, n, &w.bytes);
	keep_waiting(w);
}

uint64_t table_cache_hits(void)
{
	return cache.n_hits;
}
