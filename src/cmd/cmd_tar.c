/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell tar -o FILE`: some epochs with the symbols and files of their images, as one archive. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/out_file.h"
#include "base/plural.h"
#include "base/tar.h"
#include "cmd/cmd.h"
#include "port/dcpi_in.h"
#include "port/histograms.h"
#include "query/samples/input.h"
#include "query/source.h"
#include "resolve/debug_file.h"
#include "resolve/kept_dir.h"
#include "resolve/symcache.h"
#include "store/bundle.h"

struct tar_run {
	struct cmd *c;
	const char *output;
	bool no_files;
	int fd;
	char *top; /* directory in the archive */
	uint64_t n_recordings, n_images, n_symbols, n_files;
};

static int put(void *ctx, const char *path, const void *bytes, size_t n, struct err *err)
{
	struct tar_run *r = ctx;
	_mem_ char *full = xasprintf("%s/%s", r->top, path);

	return tar_add(r->fd, full, bytes, n, err);
}

/* Whether the file is a hole for the most part: of 1 TiB it may have stored 16 KiB, and an archive
 * would have all of it.  File systems that compress make no program a sixteenth. */
static bool is_hollow(int fd)
{
	struct stat st;

	return fstat(fd, &st) >= 0 && st.st_size > 64 << 20 && st.st_blocks < st.st_size / 16 / 512;
}

/* Adds the file open at FROM, when there is one, as readers look for it (debug_file.h). */
static int put_found(struct tar_run *r, const struct image *im, bool shared, const char *suffix,
		     int from, struct err *err)
{
	_mem_ char *name = from < 0 ? NULL : debug_file_name(im, shared, suffix);
	_mem_ char *path = name ? xasprintf("%s/images/%s", r->top, name) : NULL;

	if (!path)
		return 0;
	if (is_hollow(from)) {
		cmd_notice(r->c, "%s is left out: nearly all of it is a hole", im->path);
		return 0;
	}
	r->n_files++;
	return tar_add_file(r->fd, path, from, err);
}

/* Adds the file NAME of the images' directory HEX, which is of the image with DIGEST, when that is
 * IM.  Returns 1 when it was added.  Of images that share a build-id each has its own. */
static int put_kept_file(struct tar_run *r, const char *images, const struct image *im, bool shared,
			 const uint8_t *digest, const char *name, struct err *err)
{
	char hex[2 * BUILD_ID_MAX + 1];
	_mem_ char *file = NULL;
	_mem_ char *to = NULL;
	_fd_ int fd = -1;
	int rc;

	if ((shared || image_digest_known(im->digest)) && !image_digest_same(im->digest, digest))
		return 0;
	build_id_format(&im->build_id, hex);
	file = xasprintf("%s/%s/%s", images, hex, name);
	to = xasprintf("%s/images/%s/%s", r->top, hex, name);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* may be a FIFO */
	rc = fd < 0 ? 0 : tar_add_file(r->fd, to, fd, err);
	return rc < 0 ? rc : fd >= 0;
}

/* Adds what is kept of IM's symbols and code. */
static int put_kept(struct tar_run *r, const char *images, const struct image *im, bool shared,
		    struct err *err)
{
	cache_entries symbols = {0};
	cache_entries codes = {0};
	bool any = false;
	int rc = 0;

	symcache_list(images, &im->build_id, &symbols, NULL);
	kept_list(images, &im->build_id, &codes, NULL);
	for (size_t i = 0; rc >= 0 && i < symbols.n; i++) {
		rc = put_kept_file(r, images, im, shared, symbols.v[i].key.digest,
				   symbols.v[i].name, err);
		any |= rc > 0;
	}
	for (size_t i = 0; rc >= 0 && i < codes.n; i++)
		rc = put_kept_file(r, images, im, shared, codes.v[i].key.digest, codes.v[i].name,
				   err);
	vec_release(&symbols);
	vec_release(&codes);
	r->n_symbols += any;
	return rc < 0 ? rc : 0;
}

static int put_image(struct tar_run *r, struct input *in, const char *images,
		     const struct image *im, struct err *err)
{
	const bool shared = profile_shares_build_id(&in->profile, im);
	struct resolver *resolver = in->resolver;
	_fd_ int code = -1, debug = -1;
	int rc = 0;

	if (im->build_id.n_bytes < 2)
		return 0;
	r->n_images++;
	resolver_image(resolver, im); /* keeps the symbols, as far as they can be found */
	if (images)
		rc = put_kept(r, images, im, shared, err);
	/* Which of two a file is whose content was not seen, nobody can say. */
	if (rc < 0 || r->no_files || im->kind != IMAGE_FILE ||
	    (shared && !image_digest_known(im->digest)))
		return rc;
	code = resolver_open_code(resolver, im, NULL, NULL);
	rc = put_found(r, im, shared, "", code, err);
	if (rc < 0)
		return rc;
	debug = resolver_open_debug(resolver, im, NULL, NULL);
	/* The image itself when there is no other. */
	if (debug >= 0 && code >= 0) {
		struct stat a, b;

		if (fstat(code, &a) >= 0 && fstat(debug, &b) >= 0 && a.st_ino == b.st_ino &&
		    a.st_dev == b.st_dev)
			return 0;
	}
	return put_found(r, im, shared, ".debug", debug, err);
}

/* Does so for a DCPI tree. */

static int put_tree_file(void *ctx, const struct dcpi_recording *rec, const char *name)
{
	struct tar_run *r = ctx;
	_mem_ char *path = xasprintf("%s/%s/%s/%s", r->top, rec->epoch, rec->host, name);
	_fd_ int fd = openat(rec->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	/* What is no file of a tree is named when it is read. */
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return tar_add_file(r->fd, path, fd, &r->c->err);
}

static int put_tree_recording(void *ctx, const struct dcpi_recording *rec)
{
	struct tar_run *r = ctx;

	return dcpi_in_each_file(rec, put_tree_file, r, &r->c->err);
}

static int put_tree(struct tar_run *r, const char *path)
{
	struct cmd *c = r->c;
	struct dcpi_select sel = {.epochs = c->select.epochs, .host = c->select.host};
	struct histograms left;
	int rc;

	if (c->select.since || c->select.until)
		return err_set(
			&c->err, -EINVAL,
			"%s: of a DCPI tree --epoch FROM..TO chooses, not --since and --until",
			path);
	rc = histograms_open(&left, path, &c->err);
	if (rc != 0)
		return rc;
	sel.beside = left.tree;
	rc = dcpi_in_each(path, &sel, put_tree_recording, r, &c->err);
	histograms_close(&left);
	return rc;
}

static int write_all(struct tar_run *r)
{
	struct cmd *c = r->c;
	struct store_selection sel = {.epochs = c->select.epochs, .host = c->select.host};
	_mem_ char *path = c->select.db ? xstrdup(c->select.db) : store_default_path();
	const enum source_kind kind = source_kind_of(path);
	struct input in;
	_mem_ char *images = NULL;
	int rc = source_check_kind(
		path, SOURCE_STORE | SOURCE_DCPI_TREE | SOURCE_HISTOGRAMS | SOURCE_EMPTY,
		"dwell tar", "one dwell database or a DCPI tree", &c->err);

	if (rc == 0)
		rc = input_open(&in, &c->select, &c->err);
	if (rc != 0)
		return rc;
	if (c->select.since)
		rc = select_parse_time(c->select.since, 0, &sel.since_wall_ns, &c->err);
	if (rc == 0 && c->select.until)
		rc = select_parse_time(c->select.until, 0, &sel.until_wall_ns, &c->err);
	if (rc == 0)
		rc = kind & (SOURCE_DCPI_TREE | SOURCE_HISTOGRAMS)
			     ? put_tree(r, in.path)
			     : store_bundle(in.path, &sel, put, r, &c->err);
	if (rc >= 0) {
		r->n_recordings = (uint64_t)rc;
		rc = 0;
		images = input_images_dir(in.path, false, NULL);
	}
	for (size_t i = 0; i < in.profile.images.n && rc == 0; i++)
		rc = put_image(r, &in, images, &in.profile.images.v[i], &c->err);
	input_close(&in);
	return rc != 0 ? rc : tar_end(r->fd, &c->err);
}

/* The last part of the file's name without ".tar". */
static char *top_of(const char *output)
{
	const char *name = str_basename(output);
	size_t n = strlen(name);

	if (strcmp(output, "-") == 0)
		return xstrdup("dwell");
	return xstrndup(name, str_ends(name, ".tar") && n > 4 ? n - 4 : n);
}

static int cmd_tar_run(struct tar_run *r)
{
	struct cmd *c = r->c;
	struct out_file o;
	int rc = out_file_open(&o, r->output, &c->err);

	r->fd = o.fd;
	r->top = top_of(r->output);
	if (rc == 0)
		rc = write_all(r);
	if (rc == 0)
		rc = out_file_commit(&o, &c->err);
	out_file_close(&o);
	if (rc == 0 && strcmp(r->output, "-") != 0)
		str_addf(&c->out,
			 "%" PRIu64 " recording%s, %" PRIu64 " image%s: symbols of %" PRIu64
			 ", %" PRIu64 " file%s; below %s/ in %s\n",
			 r->n_recordings, plural_s(r->n_recordings), r->n_images,
			 plural_s(r->n_images), r->n_symbols, r->n_files, plural_s(r->n_files),
			 r->top, r->output);
	free(r->top);
	return rc;
}

int cmd_tar(struct cmd *c)
{
	struct tar_run r = {.c = c};
	const struct opt table[] = {
		{"o output", OPT_STR, &r.output, "FILE", "the archive; - for standard output"},
		{"no-files", OPT_FLAG, &r.no_files, NULL, "symbols only, not the images"},
		{0},
	};
	_vec_ opt_list operands = {0};
	int rc = cmd_parse(c, "[OPTIONS] -o FILE [DB]", table, false, &operands);

	if (rc == 0 && operands.n == 1 && !c->select.db)
		c->select.db = operands.v[--operands.n];
	if (rc == 0 && (operands.n || !r.output))
		rc = err_set(&c->err, -EINVAL, "needs -o FILE, and one database at most");
	if (rc == 0)
		rc = cmd_tar_run(&r);
	return rc;
}
