/* SPDX-License-Identifier: BSD-2-Clause */
/* What is kept of one ELF file so that its places can be named when it is gone. */
#ifndef RESOLVE_FILE_SYMBOLS_H
#define RESOLVE_FILE_SYMBOLS_H

#include "model/image.h"
#include "resolve/symcache.h"
#include "resolve/symtab_elf.h"

struct file_symbols {
	struct image_layout layout; /* with its identity */
	enum symtab_source source;
	bool is_hashed;
	uint8_t content[SYMCACHE_CONTENT_BYTES]; /* hash of all that was read, if IS_HASHED */
	struct symtab_builder found;		 /* symtab_builder_finish or _release it */
};

/* Reads the ELF file open at FD (borrowed), which may be the image of digest WANTED (elf_probe_as);
 * HASHED: with the hash of what is read, for a cache.  Depends on its bytes alone.  0 or the errors
 * of elf_probe. */
int file_symbols_read(int fd, const uint8_t wanted[IMAGE_DIGEST_BYTES], bool hashed,
		      struct file_symbols *ret, struct err *err);

/* Adds the symbols of the separate debug file open at FD to S, when there are more than S has;
 * tells whether there were. */
bool file_symbols_add_debug(int fd, struct file_symbols *s);

/* May nobody but root and this process's user write the file at FD?  A file of root's on a file
 * system mounted nosuid, such as FUSE's of other users, proves nothing. */
bool file_symbols_believed(int fd);

/* Answers as file_symbols_believed for a file on a mount whose NOSUID the caller knows; the file
 * system is not asked. */
bool file_symbols_believed_on(int fd, bool nosuid);

#endif
