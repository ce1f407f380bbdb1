/* SPDX-License-Identifier: BSD-2-Clause */
/* An ELF file's headers and sections, read with bounds on everything.
 *
 * The file may be truncated or rewritten by others at any time, so nothing is mapped: each piece is
 * read into fresh memory after its range was checked against the file's size.  Little-endian files
 * of both classes; the segments are read at once, the section table when asked for. */
#ifndef RESOLVE_ELF_FILE_H
#define RESOLVE_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct elf_segment {
	uint32_t type, flags; /* elf.h PT_*, PF_* */
	uint64_t off, svma, filesz, memsz, align;
};

/* A file may be larger than what is stored of it: with 16 KiB on the disk and a hole it may have a
 * table of 1 TiB, which would end its reader. */
#define ELF_MOST_LOADED (1ull << 30)

struct elf_section {
	const char *name; /* "" when the table of names is damaged */
	uint32_t type;	  /* elf.h SHT_* */
	uint32_t link, info;
	uint64_t flags, svma, off, size, entsize;
};

struct sha256_lanes;

struct elf_file {
	int fd;			   /* borrowed; -1 when in memory */
	struct sha256_lanes *hash; /* of all that is read, and where; NULL: not wanted */
	const uint8_t *bytes;	   /* borrowed; NULL when in a file */
	uint64_t size;		   /* bytes of the whole file */
	bool is_64;
	uint16_t type, machine; /* elf.h ET_*, EM_* */
	struct elf_segment *segments;
	uint32_t n_segments;
	struct elf_section *sections; /* NULL before elf_file_read_sections */
	uint32_t n_sections;
	uint64_t shoff_, shnum_; /* where the section table is */
	uint32_t shstrndx_;
	char *names_;
};

/* Reads the headers of the ELF file open at FD, which stays the caller's and must stay open as long
 * as F is used.  -EBADMSG: not an ELF file this program reads; -ENODATA: truncated. */
int elf_file_open(struct elf_file *f, int fd, struct err *err);

/* Opens the file like elf_file_open.  HASH (borrowed while F is open) takes in each piece that is
 * read: its offset, length and bytes.  Two files of one hash are alike in all that was read. */
int elf_file_open_hashed(struct elf_file *f, int fd, struct sha256_lanes *hash, struct err *err);

/* Opens an ELF file of N bytes in memory, which is borrowed.  Errors as elf_file_open. */
int elf_file_open_bytes(struct elf_file *f, const uint8_t *bytes, size_t n, struct err *err);

/* Frees what was read; not the descriptor. */
void elf_file_close(struct elf_file *f);

/* Reads the section table into F->sections; does nothing the second time. */
int elf_file_read_sections(struct elf_file *f, struct err *err);

/* The first section called NAME, or of TYPE; NULL when there is none.  Sections must be read. */
const struct elf_section *elf_file_find_section(const struct elf_file *f, const char *name);
const struct elf_section *elf_file_find_type(const struct elf_file *f, uint32_t type);

/* Reads N bytes at offset OFF into fresh memory (free it), with a NUL behind them; NULL when they
 * are not all inside the file, are more than 1 GiB, or cannot be read. */
uint8_t *elf_file_load(const struct elf_file *f, uint64_t off, uint64_t n);

/* Reads a section's bytes in the same way; NULL for those without bytes in the file. */
uint8_t *elf_file_load_section(const struct elf_file *f, const struct elf_section *s);

/* Reads up to N bytes at OFF into BUF; returns how many there were (0 past the end or on error). */
size_t elf_file_pread(const struct elf_file *f, uint64_t off, void *buf, size_t n);

/* Finds the GNU build-id in the notes: copies 1 to 20 bytes to RET and returns their number, or
 * -ENOENT.  Longer ids count as none, as they do for the kernel. */
int elf_file_build_id(struct elf_file *f, uint8_t ret[20]);

/* Finds the build-id among N bytes of ELF notes, as in /sys/kernel/notes.  Returns as
 * elf_file_build_id. */
int elf_notes_build_id(const uint8_t *notes, size_t n, unsigned align, uint8_t ret[20]);

#endif
