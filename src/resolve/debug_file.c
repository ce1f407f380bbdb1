/* SPDX-License-Identifier: BSD-2-Clause */
/* See debug_file.h.  Every candidate is opened, probed and compared before it is believed;
 * candidates are tried from the nearest to the farthest (the network last). */
#include "resolve/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/rd.h"
#include "base/str.h"
#include "resolve/elf_file.h"
#include "resolve/elf_probe.h"

/* O_NONBLOCK: a name from a profile may lead to a FIFO; elf_probe then refuses it. */
static int open_plain(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

/* Opens PATH when it is an ELF file of identity ID: a descriptor, -ESTALE, or another error. */
static int open_same(const char *path, const struct build_id *id, char **ret_path)
{
	struct image_layout l;
	_fd_ int fd = open_plain(path);

	if (fd < 0)
		return fd;
	if (elf_probe(fd, &l, NULL) < 0)
		return -EBADMSG;
	if (!build_id_same(&l.build_id, id))
		return -ESTALE;
	if (ret_path)
		*ret_path = xstrdup(path);
	return take_fd(&fd);
}

/* ROOT/.build-id/xx/yyyy + SUFFIX, as gdb and the distributions have it. */
static int open_by_id(const char *root, const struct build_id *id, const char *suffix,
		      char **ret_path)
{
	char hex[2 * BUILD_ID_MAX + 1];
	_mem_ char *path = NULL;

	if (id->n_bytes < 2)
		return -ENOENT;
	build_id_format(id, hex);
	path = xasprintf("%s/.build-id/%.2s/%s%s", root, hex, hex + 2, suffix);
	return open_same(path, id, ret_path);
}

/* perf's cache of the images it recorded: ~/.debug/.build-id/xx/yyyy is a directory of what it has
 * of one, or in old versions the image (Linux, tools/perf/util/build-id.c). */
static int open_perf_cache(const struct build_id *id, bool debug, char **ret_path)
{
	const char *home = getenv("HOME");
	_mem_ char *root = home && *home ? xasprintf("%s/.debug", home) : NULL;
	int fd = root ? open_by_id(root, id, debug ? "/debug" : "/elf", ret_path) : -ENOENT;

	return fd < 0 && root && !debug ? open_by_id(root, id, "", ret_path) : fd;
}

static int open_extra(const struct debug_paths *where, const char *path, const struct build_id *id,
		      const char *suffix, char **ret_path)
{
	for (size_t i = 0; i < where->n_extra; i++) {
		const char *x = where->extra[i];
		_mem_ char *below = xasprintf("%s/%s%s", x, path, suffix);
		_mem_ char *beside = xasprintf("%s/%s%s", x, str_basename(path), suffix);
		int fd = open_same(x, id, ret_path);

		if (fd < 0)
			fd = open_same(beside, id, ret_path);
		if (fd < 0)
			fd = open_same(below, id, ret_path);
		if (fd < 0)
			fd = open_by_id(x, id, suffix, ret_path);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

int debug_file_open_code(const struct debug_paths *where, const char *path,
			 const struct build_id *id, char **ret_path, struct err *err)
{
	bool is_path = path && path[0] == '/', stale;
	int fd;

	if (id->n_bytes == 0)
		return err_set(err, -ENOENT, "%s: its identity is not known", path);
	fd = is_path ? open_same(path, id, ret_path) : -ENOENT;
	stale = fd == -ESTALE;
	if (fd < 0)
		fd = open_extra(where, path ? path : "", id, "", ret_path);
	if (fd < 0)
		fd = open_by_id(where->debug_root, id, "", ret_path);
	if (fd < 0)
		fd = open_perf_cache(id, false, ret_path);
	if (fd < 0 && where->debuginfod)
		fd = debuginfod_open(where->debuginfod, id, false, ret_path, NULL);
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

static int open_link(const char *path, uint32_t crc, char **ret_path)
{
	_fd_ int fd = open_plain(path);
	uint32_t have;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || file_crc32(fd, &have) < 0 || have != crc)
		return -ESTALE;
	if (ret_path)
		*ret_path = xstrdup(path);
	return take_fd(&fd);
}

/* Reads .gnu_debuglink: a file name, padding to four, a CRC. */
static int read_link(int code_fd, char **ret_name, uint32_t *ret_crc)
{
	const struct elf_section *s;
	_mem_ uint8_t *b = NULL;
	struct elf_file f;
	int rc = elf_file_open(&f, code_fd, NULL);

	if (rc)
		return rc;
	rc = -ENOENT;
	if (elf_file_read_sections(&f, NULL) == 0 &&
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

static int open_by_link(const struct debug_paths *where, const char *path, int code_fd,
			char **ret_path)
{
	_mem_ char *name = NULL;
	uint32_t crc = 0;
	int n_dir, fd;

	if (code_fd < 0 || !path || path[0] != '/' || read_link(code_fd, &name, &crc) < 0)
		return -ENOENT;
	n_dir = (int)(str_basename(path) - path);
	for (int i = 0; i < 3; i++) {
		_mem_ char *p = xasprintf("%s%.*s%s%s", i == 2 ? where->debug_root : "", n_dir,
					  path, i == 1 ? ".debug/" : "", name);

		fd = open_link(p, crc, ret_path);
		if (fd >= 0)
			return fd;
	}
	for (size_t i = 0; i < where->n_extra; i++) {
		_mem_ char *p = xasprintf("%s/%s", where->extra[i], name);

		fd = open_link(p, crc, ret_path);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

int debug_file_open_debug(const struct debug_paths *where, const char *path,
			  const struct build_id *id, int code_fd, char **ret_path, struct err *err)
{
	int fd = open_by_id(where->debug_root, id, ".debug", ret_path);

	if (fd < 0)
		fd = open_extra(where, path ? path : "", id, ".debug", ret_path);
	if (fd < 0)
		fd = open_by_link(where, path, code_fd, ret_path);
	if (fd < 0)
		fd = open_perf_cache(id, true, ret_path);
	if (fd < 0 && where->debuginfod)
		fd = debuginfod_open(where->debuginfod, id, true, ret_path, NULL);
	return fd >= 0 ? fd : err_set(err, -ENOENT, "%s: no debug file", path ? path : "image");
}

int debug_file_open_vmlinux(const struct debug_paths *where, const struct build_id *id,
			    char **ret_path, struct err *err)
{
	static const char *const forms[] = {"/usr/lib/debug/boot/vmlinux-%s",
					    "/usr/lib/debug/lib/modules/%s/vmlinux",
					    "/lib/modules/%s/build/vmlinux", "/boot/vmlinux-%s"};
	struct utsname u;
	int fd = id->n_bytes ? open_extra(where, "vmlinux", id, "", ret_path) : -ENOENT;

	for (size_t i = 0; fd < 0 && i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *at = strstr(forms[i], "%s");
		_mem_ char *path = NULL;

		if (uname(&u) < 0)
			break;
		path = xasprintf("%.*s%s%s", (int)(at - forms[i]), forms[i], u.release, at + 2);
		fd = open_same(path, id, ret_path);
	}
	if (fd < 0)
		fd = open_by_id(where->debug_root, id, ".debug", ret_path);
	if (fd < 0)
		fd = open_perf_cache(id, false, ret_path);
	if (fd < 0 && where->debuginfod)
		fd = debuginfod_open(where->debuginfod, id, true, ret_path, NULL);
	return fd >= 0 ? fd : err_set(err, -ENOENT, "vmlinux of this kernel: not found");
}
