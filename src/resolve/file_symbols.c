/* SPDX-License-Identifier: BSD-2-Clause */
/* See file_symbols.h. */
#include "resolve/file_symbols.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file_stamp.h"

#include "base/sha256_lanes.h"
#include "resolve/elf_file.h"
#include "resolve/elf_probe.h"

int file_symbols_read(int fd, const uint8_t wanted[IMAGE_DIGEST_BYTES], bool hashed,
		      struct file_symbols *ret, struct err *err)
{
	struct file_symbols s = {.source = SYMTAB_NONE, .is_hashed = hashed};
	struct sha256_lanes hash;
	struct elf_file f;
	int rc = elf_probe_as(fd, wanted, &s.layout, err);

	if (rc < 0)
		return rc;
	sha256_lanes_begin(&hash);
	if (elf_file_open_hashed(&f, fd, hashed ? &hash : NULL, NULL) >= 0) {
		s.source = symtab_elf_read(&f, &s.found);
		symtab_elf_read_plt(&f, &s.found);
		if (s.source < SYMTAB_FULL) {
			symtab_elf_read_go(&f, &s.found);
			symtab_elf_read_frames(&f, &s.found);
		}
		elf_file_close(&f);
	}
	if (hashed)
		sha256_lanes_end(&hash, s.content, sizeof(s.content));
	*ret = s;
	return 0;
}

bool file_symbols_add_debug(int fd, struct file_symbols *s)
{
	enum symtab_source more;
	struct sha256_lanes hash;
	struct elf_file f;

	sha256_lanes_begin(&hash);
	sha256_lanes_add(&hash, s->content, sizeof(s->content));
	if (elf_file_open_hashed(&f, fd, s->is_hashed ? &hash : NULL, NULL) < 0)
		return false;
	more = symtab_elf_read(&f, &s->found);
	elf_file_close(&f);
	if (more <= s->source)
		return false;
	s->source = more;
	if (s->is_hashed)
		sha256_lanes_end(&hash, s->content, sizeof(s->content));
	return true;
}

bool file_symbols_believed(int fd)
{
	struct statvfs fs;

	return file_symbols_believed_on(fd, fstatvfs(fd, &fs) < 0 || fs.f_flag & ST_NOSUID);
}

bool file_symbols_believed_on(int fd, bool nosuid)
{
	struct file_facts facts;
	struct file_stamp stamp;

	if (file_stamp_get(fd, &stamp, &facts) < 0 || facts.mode & (S_IWGRP | S_IWOTH))
		return false;
	if (facts.uid == geteuid() && facts.uid != 0)
		return true;
	return facts.uid == 0 && !nosuid;
}
