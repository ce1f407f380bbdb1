/* SPDX-License-Identifier: BSD-2-Clause */
/* See data_symbols.h.  Kept variables have the form of kept procedures (symcache.h).  The file is
 * called data-DIGEST, or data where the image has no digest. */
#include "resolve/data_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "resolve/elf_probe.h"
#include "resolve/symtab_elf.h"

#define NAME_BYTES (2 * IMAGE_DIGEST_BYTES + 6)

static void name_of(const uint8_t digest[IMAGE_DIGEST_BYTES], char ret[NAME_BYTES])
{
	char hex[2 * IMAGE_DIGEST_BYTES + 1] = "";

	if (image_digest_known(digest))
		str_hex(digest, IMAGE_DIGEST_BYTES, hex);
	snprintf(ret, NAME_BYTES, "data%s%s", *hex ? "-" : "", hex);
}

static void forget(struct data_symbols *s)
{
	free(s->names);
	if (s->is_kept)
		symcache_close(&s->cache);
	else
		symtab_release(&s->symtab);
	*s = (struct data_symbols){.is_kept = false};
}

int data_symbols_read(struct data_symbols *s, int fd)
{
	struct symtab_builder b = {0};
	enum symtab_source source = SYMTAB_NONE;
	struct elf_file f;

	forget(s);
	if (elf_file_open(&f, fd, NULL) < 0)
		return SYMTAB_NONE;
	source = symtab_elf_read_data(&f, &b);
	elf_file_close(&f);
	symtab_builder_finish(&b, &s->symtab);
	symtab_builder_release(&b);
	return s->symtab.n ? (int)source : SYMTAB_NONE;
}

int data_symbols_save(const char *dir, const struct image *im, int fd, struct err *err)
{
	struct symcache_info info = {.kind = im->kind, .path = im->path};
	struct data_symbols s = {0};
	struct wr w = {0};
	char name[NAME_BYTES];
	_fd_ int at = -1;
	int rc = elf_probe_as(fd, im->digest, &info.layout, err);

	if (rc < 0)
		return rc;
	info.source = (enum symtab_source)data_symbols_read(&s, fd);
	if (s.symtab.n)
		rc = at = symcache_open_dir(dir, &im->build_id, true, err);
	name_of(im->digest, name);
	if (at >= 0 && faccessat(at, name, F_OK, 0) < 0) {
		symcache_format(&info, &s.symtab, &w);
		rc = file_replace_lazily(at, name, w.v, w.n, err);
		wr_release(&w);
	}
	data_symbols_release(&s);
	return rc < 0 ? rc : 0;
}

int data_symbols_open(struct data_symbols *s, const char *dir, const struct image *im)
{
	char name[NAME_BYTES];
	_fd_ int at = symcache_open_dir(dir, &im->build_id, false, NULL);
	struct file_map map;
	int rc;

	forget(s);
	name_of(im->digest, name);
	rc = at < 0 ? at : file_map_open(&map, at, name, true, NULL);
	if (rc < 0)
		return rc;
	rc = symcache_parse(&s->cache, map.bytes, map.n_bytes, NULL);
	s->cache.map = map;
	s->is_kept = true;
	if (rc >= 0 && (!build_id_same(&s->cache.info.layout.build_id, &im->build_id) ||
			!image_digest_fits(s->cache.info.layout.digest, im->digest)))
		rc = -ESTALE;
	if (rc < 0)
		forget(s);
	else
		s->symtab = s->cache.symtab;
	return rc;
}

void data_symbols_release(struct data_symbols *s)
{
	forget(s);
}
