/* SPDX-License-Identifier: BSD-2-Clause */
/* See debug_file.h.  Every candidate is opened, probed and compared before it is believed;
 * candidates are tried from the nearest to the farthest (the network last). */
#include "resolve/debug_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/path_rules.h"
#include "base/plain_file.h"
#include "base/rd.h"
#include "base/str.h"
#include "resolve/elf_file.h"
#include "resolve/elf_probe.h"

/* What is looked for: IM's code file or, with IS_DEBUG, its debug file; with IS_FOR_LINES either,
 * when it has lines, whether or not it is IM's. */
struct search {
	const struct debug_paths *where;
	const struct image *im;
	bool is_debug, is_for_lines;
	const struct image_layout *code; /* for IS_DEBUG; NULL: not known */
	char **ret_path;
};

/* Do the executable segments of the debug file F lie where CODE's do?  objcopy leaves a debug file
 * the program headers, with no bytes behind them.  A file without any fits. */
static bool debug_file_fits(const struct elf_file *f, const struct image_layout *code)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_segments && n < IMAGE_MAX_LOADS; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->type != PT_LOAD || !(s->flags & PF_X) || !s->memsz)
			continue;
		if (n == code->n_loads || s->svma != code->loads[n].svma ||
		    s->memsz < code->loads[n].n_bytes)
			return false;
		n++;
	}
	return n == 0 || n == code->n_loads;
}

/* Does F have the code itself, and not only what is known of it? */
static bool has_code(const struct elf_file *f)
{
	for (uint32_t i = 0; i < f->n_segments; i++)
		if (f->segments[i].type == PT_LOAD && f->segments[i].flags & PF_X &&
		    f->segments[i].filesz)
			return true;
	return false;
}

/* Is the file at FD what is looked for?  0, -ESTALE when it is another, or another error. */
static int check_fd(const struct search *s, int fd, bool check_id)
{
	struct image_layout l;
	struct elf_file f;
	int rc = elf_probe(fd, &l, NULL);

	if (rc < 0)
		return -EBADMSG;
	if (check_id && !build_id_same(&l.build_id, &s->im->build_id))
		return -ESTALE;
	if (!s->is_debug)
		return elf_probe_is(fd, s->im->digest, &l) ? 0 : -ESTALE;
	rc = elf_file_open(&f, fd, NULL);
	if (rc < 0)
		return -EBADMSG;
	if (has_code(&f) && !elf_probe_is(fd, s->im->digest, &l))
		rc = -ESTALE;
	else if (s->code && s->code->n_loads && !debug_file_fits(&f, s->code))
		rc = -ESTALE;
	elf_file_close(&f);
	return rc;
}

static int open_by_link(const struct search *s, int code_fd);

/* Whether the file at FD has lines (resolve/lines.c), or names a file that may have some. */
static bool may_have_lines(const struct search *s, int fd)
{
	_fd_ int linked = -1;
	struct elf_file f;
	bool has = false;

	if (elf_file_open(&f, fd, NULL) < 0)
		return false;
	if (elf_file_read_sections(&f, NULL) >= 0)
		for (uint32_t i = 0; i < f.n_sections && !has; i++)
			has = strstr(f.sections[i].name, "debug_") ||
			      strstr(f.sections[i].name, "gopclntab");
	elf_file_close(&f);
	if (!has)
		linked = open_by_link(s, fd);
	return has || linked >= 0;
}

/* Opens PATH when it is what is looked for: a descriptor, -ESTALE, or another error. */
static int open_same(const struct search *s, const char *path)
{
	_fd_ int fd = plain_file_open(path, 0);
	int rc = fd;

	if (fd >= 0 && s->is_for_lines)
		rc = may_have_lines(s, fd) ? 0 : -ENOENT;
	else if (fd >= 0)
		rc = check_fd(s, fd, true);

	if (rc < 0)
		return rc;
	if (s->ret_path)
		*s->ret_path = xstrdup(path);
	return take_fd(&fd);
}

bool debug_file_is(int fd, const struct image *im, const struct image_layout *code)
{
	const struct search s = {.im = im, .is_debug = true, .code = code};

	return im->build_id.n_bytes && check_fd(&s, fd, true) >= 0;
}

char *debug_file_name(const struct image *im, bool exact, const char *suffix)
{
	char hex[2 * BUILD_ID_MAX + 1], digest[2 * IMAGE_DIGEST_BYTES + 1];

	if (im->build_id.n_bytes < 2 || (exact && !image_digest_known(im->digest)))
		return NULL;
	build_id_format(&im->build_id, hex);
	str_hex(im->digest, IMAGE_DIGEST_BYTES, digest);
	return xasprintf(".build-id/%.2s/%s%s%s%s", hex, hex + 2, exact ? "." : "",
			 exact ? digest : "", suffix);
}

/* ROOT/.build-id/xx/yyyy + SUFFIX, as gdb and the distributions have it; before it what is kept
 * under the image's whole identity. */
static int open_by_id(const struct search *s, const char *root, const char *suffix)
{
	int fd = -ENOENT;

	for (int exact = 1; exact >= 0 && fd < 0; exact--) {
		_mem_ char *name = debug_file_name(s->im, exact, suffix);
		_mem_ char *path = name ? xasprintf("%s/%s", root, name) : NULL;

		fd = path ? open_same(s, path) : -ENOENT;
	}
	return fd;
}

/* perf's cache of the images it recorded: ~/.debug/.build-id/xx/yyyy is a directory of what it has
 * of one, or in old versions the image (Linux, tools/perf/util/build-id.c). */
static int open_perf_cache(const struct search *s)
{
	const char *home = getenv("HOME");
	_mem_ char *root = home && *home ? xasprintf("%s/.debug", home) : NULL;
	int fd = root ? open_by_id(s, root, s->is_debug ? "/debug" : "/elf") : -ENOENT;

	return fd < 0 && root && !s->is_debug ? open_by_id(s, root, "") : fd;
}

static int open_extra(const struct search *s, const char *path)
{
	const char *suffix = s->is_debug ? ".debug" : "";

	for (size_t i = 0; i < s->where->n_extra; i++) {
		const char *x = s->where->extra[i];
		_mem_ char *below = xasprintf("%s/%s%s", x, path, suffix);
		_mem_ char *beside = xasprintf("%s/%s%s", x, str_basename(path), suffix);
		int fd = open_same(s, x);

		if (fd < 0)
			fd = open_same(s, beside);
		if (fd < 0)
			fd = open_same(s, below);
		if (fd < 0)
			fd = open_by_id(s, x, suffix);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

static int open_from_server(const struct search *s)
{
	struct debuginfod *d = s->where->debuginfod;
	_mem_ char *path = NULL;
	_fd_ int fd = d ? debuginfod_open(d, &s->im->build_id, s->is_debug, &path, NULL) : -ENOENT;

	if (fd < 0 || check_fd(s, fd, true) < 0)
		return -ENOENT;
	if (s->ret_path)
		*s->ret_path = take_ptr(&path);
	return take_fd(&fd);
}

/* Looks for a code file on this machine; *RET_STALE: the one at the image's path is another. */
static int open_local_code(const struct search *s, bool *ret_stale)
{
	const struct debug_paths *where = s->where;
	const char *path = s->im->path;
	_mem_ char *moved = path ? path_rules_find(where->extra, where->n_extra, path) : NULL;
	int fd = moved && *moved ? open_same(s, moved) : -ENOENT;

	if (fd < 0 && path && path[0] == '/' && !(moved && !*moved))
		fd = open_same(s, path);
	*ret_stale = fd == -ESTALE;
	if (fd < 0)
		fd = open_extra(s, path ? path : "");
	if (fd < 0)
		fd = open_by_id(s, where->debug_root, "");
	return fd < 0 ? open_perf_cache(s) : fd;
}

int debug_file_open_code(const struct debug_paths *where, const struct image *im, char **ret_path,
			 struct err *err)
{
	const struct search s = {.where = where, .im = im, .ret_path = ret_path};
	const char *path = im->path;
	bool stale;
	int fd;

	if (im->build_id.n_bytes == 0)
		return err_set(err, -ENOENT, "%s: its identity is not known", path);
	fd = open_local_code(&s, &stale);
	if (fd < 0)
		fd = open_from_server(&s);
	if (fd >= 0)
		return fd;
	return stale ? err_set(err, -ESTALE, "%s: the file is not the one that was profiled", path)
		     : err_set(err, -ENOENT, "%s: not found", path);
}

/* The CRC of the whole file FD, as .gnu_debuglink has it (GDB manual, "Separate Debug Files"). */
static int file_crc32(int fd, uint32_t *ret)
{
	enum { PIECE = 1 << 16 };
	_mem_ uint8_t *b = xmalloc(PIECE);
	uint32_t crc = 0;
	ssize_t n;

	for (off_t at = 0; (n = pread(fd, b, PIECE, at)) > 0; at += n)
		crc = lzma_crc32(b, (size_t)n, crc);
	*ret = crc;
	return n < 0 ? -errno : 0;
}

static int open_link(const struct search *s, const char *path, uint32_t crc)
{
	_fd_ int fd = plain_file_open(path, 0);
	uint32_t have;

	if (fd < 0 || s->is_for_lines)
		return fd < 0 ? fd : take_fd(&fd);
	if (file_crc32(fd, &have) < 0 || have != crc || check_fd(s, fd, false) < 0)
		return -ESTALE;
	if (s->ret_path)
		*s->ret_path = xstrdup(path);
	return take_fd(&fd);
}

/* Reads .gnu_debuglink: a file name, padding to four, a CRC. */
static int read_link(int code_fd, char **ret_name, uint32_t *ret_crc)
{
	const struct elf_section *s;
	_mem_ uint8_t *b = NULL;
	struct elf_file f;
	int rc = elf_file_open(&f, code_fd, NULL);

	if (rc < 0)
		return rc;
	rc = -ENOENT;
	if (elf_file_read_sections(&f, NULL) >= 0 &&
	    (s = elf_file_find_section(&f, ".gnu_debuglink")) != NULL &&
	    (b = elf_file_load_section(&f, s)) != NULL) {
		size_t n = strlen((char *)b);
		size_t crc_off = (n + 4) & ~(size_t)3;

		/* A name with a slash would lead out of the directories below. */
		if (n && !strchr((char *)b, '/') && crc_off + 4 <= s->size) {
			struct rd r = rd_init(b + crc_off, 4);

			*ret_crc = rd_le32(&r);
			*ret_name = xstrdup((char *)b);
			rc = 0;
		}
	}
	elf_file_close(&f);
	return rc;
}

static int open_by_link(const struct search *s, int code_fd)
{
	const struct debug_paths *where = s->where;
	_mem_ char *moved =
		s->im->path ? path_rules_find(where->extra, where->n_extra, s->im->path) : NULL;
	const char *path = moved ? moved : s->im->path;
	_mem_ char *name = NULL;
	uint32_t crc = 0;
	int n_dir, fd;

	if (code_fd < 0 || !path || path[0] != '/' || read_link(code_fd, &name, &crc) < 0)
		return -ENOENT;
	n_dir = (int)(str_basename(path) - path);
	for (int i = 0; i < 3; i++) {
		_mem_ char *p = xasprintf("%s%.*s%s%s", i == 2 ? where->debug_root : "", n_dir,
					  path, i == 1 ? ".debug/" : "", name);

		fd = open_link(s, p, crc);
		if (fd >= 0)
			return fd;
	}
	for (size_t i = 0; i < where->n_extra; i++) {
		_mem_ char *p = xasprintf("%s/%s", where->extra[i], name);

		fd = open_link(s, p, crc);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

/* Looks for a debug file on this machine, but for those that a code file names. */
static int open_local_debug(const struct search *s)
{
	int fd = open_by_id(s, s->where->debug_root, ".debug");

	if (fd < 0)
		fd = open_extra(s, s->im->path ? s->im->path : "");
	return fd < 0 ? open_perf_cache(s) : fd;
}

int debug_file_open_debug(const struct debug_paths *where, const struct image *im,
			  const struct image_layout *code, int code_fd, char **ret_path,
			  struct err *err)
{
	const struct search s = {
		.where = where, .im = im, .is_debug = true, .code = code, .ret_path = ret_path};
	const char *path = im->path ? im->path : "";
	int fd = open_by_id(&s, where->debug_root, ".debug");

	if (fd < 0)
		fd = open_extra(&s, path);
	if (fd < 0)
		fd = open_by_link(&s, code_fd);
	if (fd < 0)
		fd = open_perf_cache(&s);
	if (fd < 0)
		fd = open_from_server(&s);
	return fd >= 0 ? fd : err_set(err, -ENOENT, "%s: no debug file", *path ? path : "image");
}

bool debug_file_may_have_lines(const struct debug_paths *where, const struct image *im)
{
	struct search s = {.where = where, .im = im, .is_for_lines = true};
	_fd_ int fd = -1;
	bool stale;

	if (where->debuginfod)
		return true;
	fd = open_local_code(&s, &stale);
	s.is_debug = true;
	if (fd < 0)
		fd = open_local_debug(&s);
	return fd >= 0;
}

int debug_file_open_vmlinux(const struct debug_paths *where, const struct build_id *id,
			    char **ret_path, struct err *err)
{
	static const char *const forms[] = {"/usr/lib/debug/boot/vmlinux-%s",
					    "/usr/lib/debug/lib/modules/%s/vmlinux",
					    "/lib/modules/%s/build/vmlinux", "/boot/vmlinux-%s"};
	const struct image im = {.build_id = *id};
	const struct search s = {.where = where, .im = &im, .ret_path = ret_path};
	const struct search debug = {
		.where = where, .im = &im, .is_debug = true, .ret_path = ret_path};
	struct utsname u;
	int fd = id->n_bytes ? open_extra(&s, "vmlinux") : -ENOENT;

	for (size_t i = 0; fd < 0 && i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *at = strstr(forms[i], "%s");
		_mem_ char *path = NULL;

		if (uname(&u) < 0)
			break;
		path = xasprintf("%.*s%s%s", (int)(at - forms[i]), forms[i], u.release, at + 2);
		fd = open_same(&s, path);
	}
	if (fd < 0)
		fd = open_by_id(&s, where->debug_root, ".debug");
	if (fd < 0)
		fd = open_perf_cache(&s);
	if (fd < 0)
		fd = open_from_server(&debug);
	return fd >= 0 ? fd : err_set(err, -ENOENT, "vmlinux of this kernel: not found");
}

int debug_file_open_alt(int fd, const char *path)
{
	const char *slash = strrchr(path, '/');
	const struct elf_section *section;
	_mem_ uint8_t *bytes = NULL;
	struct elf_file f;
	char full[PATH_MAX];
	int n = 0;

	if (elf_file_open(&f, fd, NULL) < 0)
		return -1;
	section = elf_file_read_sections(&f, NULL) < 0
			  ? NULL
			  : elf_file_find_section(&f, ".gnu_debugaltlink");
	if (section && section->size < sizeof(full))
		bytes = elf_file_load_section(&f, section);
	/* The path, a zero, the build-id of the file. */
	if (bytes && memchr(bytes, 0, section->size))
		n = snprintf(full, sizeof(full), "%.*s%s",
			     bytes[0] == '/' || !slash ? 0 : (int)(slash + 1 - path), path,
			     (const char *)bytes);
	elf_file_close(&f);
	if (n <= 0 || n >= (int)sizeof(full))
		return -1;
	return plain_file_open(full, 0);
}
