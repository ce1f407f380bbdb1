/* SPDX-License-Identifier: BSD-2-Clause */
/* See keep.h. */
#include "resolve/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_stamp.h"
#include "base/rd.h"
#include "base/root_file.h"
#include "resolve/symcache.h"

void keep_wanted(const char *dir, const struct image *im, const uint64_t *svmas, size_t n,
		 kept_ranges *ret)
{
	struct symcache symbols;
	struct kept_code kept;
	bool has_kept;
	uint64_t end = 0;

	if (im->kind != IMAGE_FILE || im->flags & IMAGE_OFFSETS || !im->build_id.n_bytes ||
	    symcache_open(&symbols, dir, im, NULL) < 0)
		return;
	has_kept = kept_open(&kept, dir, im, NULL) >= 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = symtab_find(&symbols.symtab, svmas[i]);
		struct procedure p;

		if (svmas[i] < end || at == PROC_NONE ||
		    (has_kept && kept_code_find(&kept, svmas[i])))
			continue;
		p = symtab_get(&symbols.symtab, at);
		if (p.start < end)
			continue;
		vec_push(ret, (struct kept_range){p.start, p.end});
		end = p.end;
	}
	if (has_kept)
		kept_code_release(&kept);
	symcache_close(&symbols);
}

static int save_kept(const char *dir, const struct image *im, struct keep_file file,
		     struct kept_code *k, struct err *err)
{
	if (!build_id_same(&k->info.build_id, &im->build_id) ||
	    !image_digest_fits(k->info.digest, im->digest))
		return err_set(err, -ESTALE, "%s: the file is not the one that was profiled",
			       im->path);
	k->info.path = im->path;
	k->info.is_claimed = !file.is_believed;
	k->info.is_hidden = file.is_hidden;
	return kept_save(dir, k, KEPT_MOST_BYTES, err);
}

int keep_now(const char *dir, const struct image *im, int fd, const kept_ranges *ranges,
	     struct keep_file file, struct err *err)
{
	struct kept_code k;
	int rc = kept_code_read(fd, im->digest, ranges->v, ranges->n, true, &k, err);

	if (rc < 0)
		return rc;
	rc = save_kept(dir, im, file, &k, err);
	kept_code_release(&k);
	return rc;
}

size_t keep_question(const struct image *im, const kept_ranges *ranges, bool lines, size_t most,
		     struct wr *ret)
{
	uint64_t end = 0;
	size_t n = 0;

	wr_bytes(ret, im->digest, sizeof(im->digest));
	wr_u8(ret, lines);
	vec_each (r, ranges) {
		if (ret->n + 20 > most)
			break;
		wr_uleb(ret, r->start - end);
		wr_uleb(ret, r->end - r->start);
		end = r->end;
		n++;
	}
	return n;
}

int keep_answer(int fd, const uint8_t *question, size_t n, struct wr *ret, struct err *err)
{
	struct rd r = rd_init(question, n);
	const uint8_t *digest = rd_bytes(&r, IMAGE_DIGEST_BYTES);
	const bool lines = rd_u8(&r);
	kept_ranges ranges = {0};
	struct kept_code k;
	uint64_t end = 0;
	int rc;

	while (rd_left(&r) && !r.bad) {
		struct kept_range range = {.start = end + rd_uleb(&r)};

		range.end = end = range.start + rd_uleb(&r);
		vec_push(&ranges, range);
	}
	rc = r.bad ? -EINVAL : kept_code_read(fd, digest, ranges.v, ranges.n, lines, &k, err);
	if (rc >= 0) {
		kept_code_format(&k, ret);
		kept_code_release(&k);
	}
	vec_release(&ranges);
	return rc;
}

int keep_bytes(const char *dir, const struct image *im, struct keep_file file, const uint8_t *bytes,
	       size_t n, struct err *err)
{
	struct kept_code k;
	int rc = kept_code_parse(&k, bytes, n, err);

	if (rc < 0)
		return rc;
	rc = save_kept(dir, im, file, &k, err);
	kept_code_release(&k);
	return rc;
}

/* --- who may read a file --- */

static bool is_public(int fd, uint32_t bit)
{
	struct file_stamp stamp;
	struct file_facts facts;

	return file_stamp_get(fd, &stamp, &facts) >= 0 && facts.mode & bit;
}

/* Whether PATH, as this process sees it, is the file at FD. */
static bool leads_to(const char *path, int fd)
{
	_fd_ int there = root_file_open_cached(NULL, path, 0);
	struct file_stamp a, b;

	return there >= 0 && file_stamp_get(there, &a, NULL) >= 0 &&
	       file_stamp_get(fd, &b, NULL) >= 0 && file_stamp_same(&a, &b);
}

bool keep_is_hidden(int fd)
{
	char self[40], path[PATH_MAX];
	ssize_t n;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, path, sizeof(path) - 1);
	if (n <= 0 || path[0] != '/' || !is_public(fd, S_IROTH))
		return true;
	path[n] = '\0';
	if (!leads_to(path, fd))
		return true;
	for (char *at = strrchr(path, '/'); at; at = strrchr(path, '/')) {
		_fd_ int dir = -1;

		at[at == path] = '\0';
		dir = root_file_open_cached(NULL, path, O_DIRECTORY);
		if (dir < 0 || !is_public(dir, S_IXOTH))
			return true;
		if (at == path)
			break;
	}
	return false;
}
