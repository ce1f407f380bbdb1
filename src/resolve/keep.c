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

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file_stamp.h"
#include "base/plain_file.h"
#include "base/rd.h"
#include "base/root_file.h"
#include "resolve/debug_file.h"
#include "resolve/elf_probe.h"
#include "resolve/file_symbols.h"
#include "resolve/image_symbols.h"
#include "resolve/symcache.h"

/* These parts of an image's samples, and of all, are little for procedures together; for one of
 * them this part of all, or so many. */
#define KEEP_IMAGE_PART 20
#define KEEP_PART	100
#define KEEP_ONE_PART	1000
#define KEEP_ONE	3

bool keep_wanted(const char *dir, const struct image *im, const struct sampled_place *places,
		 size_t n, kept_ranges *ret)
{
	struct symcache symbols;
	struct kept_code kept;
	bool has_kept;
	uint64_t end = 0;

	if (im->kind != IMAGE_FILE || im->flags & IMAGE_OFFSETS || !im->build_id.n_bytes ||
	    symcache_open(&symbols, dir, im, NULL) < 0)
		return false;
	has_kept = kept_open(&kept, dir, im, NULL) >= 0;
	for (size_t i = 0; i < n; i++) {
		const uint64_t svma = places[i].svma;
		uint32_t at = svma < end ? PROC_NONE : symtab_find(&symbols.symtab, svma);
		struct procedure p;

		if (svma < end && ret->n)
			ret->v[ret->n - 1].only_lines &= places[i].is_caller;
		if (at == PROC_NONE || (has_kept && kept_code_find(&kept, svma)))
			continue;
		p = symtab_get(&symbols.symtab, at);
		if (p.start < end)
			continue;
		vec_push(ret, (struct kept_range){p.start, p.end, places[i].is_caller});
		end = p.end;
	}
	if (has_kept)
		kept_code_release(&kept);
	symcache_close(&symbols);
	return has_kept;
}

bool keep_is_little(const struct sampled_place *places, size_t n, const kept_ranges *ranges,
		    bool has_kept, uint64_t n_samples)
{
	uint64_t open = 0, all = 0, one = 0, most = 0;
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		for (; at < ranges->n && ranges->v[at].end <= places[i].svma; at++)
			one = 0;
		all += places[i].n;
		if (at == ranges->n || ranges->v[at].start > places[i].svma)
			continue;
		open += places[i].n;
		one += places[i].n;
		most = one > most ? one : most;
	}
	return all && has_kept && (most <= KEEP_ONE || most <= n_samples / KEEP_ONE_PART) &&
	       (open <= all / KEEP_IMAGE_PART || open <= n_samples / KEEP_PART);
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
	     struct err *err)
{
	const struct debug_paths where = {.debug_root = SYMBOLS_DEBUG_ROOT};
	_mem_ char *path = NULL;
	_fd_ int debug = debug_file_open_debug(&where, im, NULL, fd, &path, NULL);
	_fd_ int alt =
		debug >= 0 ? debug_file_open_alt(debug, path) : debug_file_open_alt(fd, im->path);
	struct keep_file file = {file_symbols_believed(fd), keep_is_hidden(fd)};
	struct kept_code k;
	int rc;

	if (debug >= 0) {
		file.is_believed &= file_symbols_believed(debug);
		file.is_hidden |= keep_is_hidden(debug);
	}
	if (alt >= 0) {
		file.is_believed &= file_symbols_believed(alt);
		file.is_hidden |= keep_is_hidden(alt);
	}
	rc = kept_code_read((struct kept_files){fd, debug < 0 ? -1 : debug, alt}, im->digest, NULL,
			    ranges->v, ranges->n, true, &k, err);
	if (rc < 0)
		return rc;
	rc = save_kept(dir, im, file, &k, err);
	kept_code_release(&k);
	return rc;
}

/* Bits of a question. */
enum { KEEP_LINES = 1, KEEP_CONTENT = 2, KEEP_KNOWN = 4 };

size_t keep_question(const struct image *im, bool is_known, const uint8_t *content,
		     const kept_ranges *ranges, bool lines, size_t most, struct wr *ret)
{
	uint64_t end = 0;
	size_t n = 0;

	wr_bytes(ret, im->digest, sizeof(im->digest));
	wr_u8(ret, (lines ? KEEP_LINES : 0) | (content ? KEEP_CONTENT : 0) |
			   (is_known ? KEEP_KNOWN : 0));
	wr_u8(ret, im->build_id.n_bytes);
	wr_bytes(ret, im->build_id.bytes, im->build_id.n_bytes);
	if (content)
		wr_bytes(ret, content, KEPT_CONTENT_BYTES);
	vec_each (r, ranges) {
		if (ret->n + 20 > most)
			break;
		wr_uleb(ret, r->start - end);
		wr_uleb(ret, (r->end - r->start) << 1 | r->only_lines);
		end = r->end;
		n++;
	}
	return n;
}

void keep_take_known(int fd, const uint8_t *question, size_t n)
{
	if (n > IMAGE_DIGEST_BYTES && question[IMAGE_DIGEST_BYTES] & KEEP_KNOWN)
		elf_probe_remember(fd, question);
}

/* The image that a question is about; RET_LINES: whether lines are wanted; RET_CONTENT: the file's
 * content, NULL where it is not known. */
static struct image get_image(struct rd *r, bool *ret_lines, const uint8_t **ret_content)
{
	const uint8_t *digest = rd_bytes(r, IMAGE_DIGEST_BYTES);
	struct image im = {.kind = IMAGE_FILE};
	const uint8_t *id;
	uint8_t bits;

	bits = rd_u8(r);
	*ret_lines = bits & KEEP_LINES;
	*ret_content = NULL;
	im.build_id.n_bytes = rd_u8(r);
	if (im.build_id.n_bytes > BUILD_ID_MAX)
		r->bad = true;
	id = r->bad ? NULL : rd_bytes(r, im.build_id.n_bytes);
	if (bits & KEEP_CONTENT)
		*ret_content = rd_bytes(r, KEPT_CONTENT_BYTES);
	if (r->bad)
		return (struct image){0};
	memcpy(im.digest, digest, sizeof(im.digest));
	memcpy(im.build_id.bytes, id, im.build_id.n_bytes);
	return im;
}

/* Whether root installed the file at FD (-1: none) for everybody. */
static bool is_installed(int fd)
{
	return fd >= 0 && file_symbols_believed(fd) && !keep_is_hidden(fd);
}

void keep_open_debug(const uint8_t *question, size_t n, struct kept_files *ret)
{
	struct rd r = rd_init(question, n);
	const uint8_t *content;
	bool lines;
	const struct image im = get_image(&r, &lines, &content);
	_mem_ char *name = lines ? debug_file_name(&im, false, ".debug") : NULL;
	_mem_ char *path = name ? xasprintf("%s/%s", SYMBOLS_DEBUG_ROOT, name) : NULL;
	_fd_ int fd = path ? plain_file_open(path, 0) : -1, alt = -1;

	ret->debug = ret->alt = -1;
	if (!is_installed(fd))
		return;
	alt = debug_file_open_alt(fd, path);
	ret->alt = is_installed(alt) ? take_fd(&alt) : -1;
	ret->debug = take_fd(&fd);
}

int keep_answer(struct kept_files files, const uint8_t *question, size_t n, struct wr *ret,
		struct err *err)
{
	struct rd r = rd_init(question, n);
	const uint8_t *content;
	bool lines;
	const struct image im = get_image(&r, &lines, &content);
	kept_ranges ranges = {0};
	struct kept_code k;
	uint64_t end = 0;
	int rc;

	while (rd_left(&r) && !r.bad) {
		struct kept_range range = {.start = end + rd_uleb(&r)};
		uint64_t n_bytes;

		n_bytes = rd_uleb(&r);
		range.only_lines = n_bytes & 1;
		range.end = end = range.start + (n_bytes >> 1);
		vec_push(&ranges, range);
	}
	rc = r.bad ? -EINVAL
		   : kept_code_read(files, im.digest, content, ranges.v, ranges.n, lines, &k, err);
	if (rc >= 0) {
		kept_code_format(&k, ret);
		kept_code_release(&k);
	}
	vec_release(&ranges);
	return rc;
}

int keep_bytes(const char *dir, const struct image *im, struct keep_file file, const uint8_t *bytes,
	       size_t n, uint8_t *ret_content, struct err *err)
{
	struct kept_code k;
	int rc = kept_code_parse(&k, bytes, n, err);

	if (rc < 0)
		return rc;
	if (ret_content)
		memcpy(ret_content, k.info.content, KEPT_CONTENT_BYTES);
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
