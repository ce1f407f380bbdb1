/* SPDX-License-Identifier: BSD-2-Clause */
/* See copies.h. */
#include "hpc/copies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path_rules.h"
#include "base/plain_file.h"
#include "base/str.h"

/* PATH without ".", ".." and double slashes, and without the first slash; NULL when it is not
 * absolute or nothing is left. */
static char *normal_path(const char *path)
{
	struct str s = {0};

	if (*path != '/')
		return NULL;
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && strncmp(path, "..", 2) == 0) {
			while (s.n && s.v[--s.n] != '/')
				;
			if (s.v)
				s.v[s.n] = '\0';
		} else if (n && !(n == 1 && *path == '.')) {
			str_addc(&s, '/');
			str_addn(&s, path, n);
		}
		path += n + (path[n] == '/');
	}
	if (!s.n) {
		str_release(&s);
		return NULL;
	}
	return s.v;
}

/* The bytes of PATH in fresh memory, NULL when it is not to be copied. */
static char *copies_load(const char *path, size_t *ret_n)
{
	_fd_ int fd = plain_file_open(path, 0);
	_mem_ char *bytes = NULL;
	size_t n = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > COPIES_MAX_FILE)
		return NULL;
	if (geteuid() == 0 && !(st.st_mode & S_IROTH))
		return NULL;
	bytes = xmalloc((size_t)st.st_size + 1);
	while (n < (size_t)st.st_size) {
		ssize_t got = read(fd, bytes + n, (size_t)st.st_size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (n < (size_t)st.st_size || memchr(bytes, 0, n))
		return NULL;
	*ret_n = n;
	return take_ptr(&bytes);
}

/* The bytes of a source file, whose PATH is a normal one, from where they may be had. */
static char *copies_find(const char *path, const struct file_source *from,
			 const char *const *databases, const struct copies_rules *rules,
			 size_t *ret_n)
{
	_mem_ char *moved = NULL;
	char *bytes = NULL;

	if (from->copy) {
		_mem_ char *copy = xasprintf("%s/src%s", databases[from->copy - 1], path);

		bytes = copies_load(copy, ret_n);
	}
	moved = bytes ? NULL : path_rules_find(rules->texts, rules->n, path);
	if (moved && *moved)
		bytes = copies_load(moved, ret_n);
	return bytes || !from->local ? bytes : copies_load(path, ret_n);
}

int copies_save(struct contexts *c, const struct new_dir *dir, const char *const *databases,
		const struct copies_rules *rules, uint32_t *ret_n, struct err *err)
{
	size_t left = COPIES_MAX_ALL;

	*ret_n = 0;
	for (size_t i = 0; i < c->files.n; i++) {
		struct hpc_file *file = &c->files.v[i];
		_mem_ char *path = normal_path(file->path);
		size_t n = 0;
		_mem_ char *bytes =
			path ? copies_find(path, &c->sources.v[i], databases, rules, &n) : NULL;
		_mem_ char *copy = path ? xasprintf("src%s", path) : NULL;
		int rc;

		if (!bytes || n > left)
			continue;
		left -= n;
		rc = new_dir_write(dir, copy, bytes, n, err);
		if (rc == -EEXIST) /* two paths of one file: the copy is there */
			rc = 0;
		if (rc < 0)
			return rc;
		file->path = arena_strdup(&c->text, copy);
		file->flags |= HPC_FILE_COPIED;
		++*ret_n;
	}
	return 0;
}
