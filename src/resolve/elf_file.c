/* SPDX-License-Identifier: BSD-2-Clause */
/* See elf_file.h.  Field offsets are those of elf.h's Elf32_* and Elf64_* structs (System V gABI,
 * chapters 4 and 5), read one by one through struct rd.
 *
 * Invariant: every allocation is at most the file's size plus a constant, and at most 1 GiB,
 * because a range is checked against the file before it is loaded. */
#include "resolve/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/rd.h"
#include "base/sha256_lanes.h"

#define MAX_SECTIONS (1u << 20) /* -ffunction-sections objects reach some 100,000 */

static uint64_t rd_word(struct rd *r, bool is_64)
{
	return is_64 ? rd_le64(r) : rd_le32(r);
}

static size_t read_piece(const struct elf_file *f, uint64_t off, void *buf, size_t n)
{
	size_t done = 0;

	if (off >= f->size)
		return 0;
	if (n > f->size - off)
		n = (size_t)(f->size - off);
	if (f->bytes) {
		memcpy(buf, f->bytes + off, n);
		return n;
	}
	while (done < n) {
		ssize_t k = pread(f->fd, (char *)buf + done, n - done, (off_t)(off + done));

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			break;
		done += (size_t)k;
	}
	return done;
}

size_t elf_file_pread(const struct elf_file *f, uint64_t off, void *buf, size_t n)
{
	n = read_piece(f, off, buf, n);
	if (f->hash) {
		sha256_lanes_add_u64(f->hash, off);
		sha256_lanes_add_u64(f->hash, n);
		sha256_lanes_add(f->hash, buf, n);
	}
	return n;
}

uint8_t *elf_file_load(const struct elf_file *f, uint64_t off, uint64_t n)
{
	uint8_t *b;

	if (off > f->size || n > f->size - off || n > ELF_MOST_LOADED)
		return NULL;
	b = xmalloc((size_t)n + 1);
	if (elf_file_pread(f, off, b, (size_t)n) != n) {
		free(b);
		return NULL;
	}
	b[n] = 0;
	return b;
}

uint8_t *elf_file_load_section(const struct elf_file *f, const struct elf_section *s)
{
	if (s->type == SHT_NOBITS || s->flags & SHF_COMPRESSED)
		return NULL;
	return elf_file_load(f, s->off, s->size);
}

static int read_segments(struct elf_file *f, uint64_t phoff, uint32_t phnum, struct err *err)
{
	size_t entsize = f->is_64 ? 56 : 32;
	uint8_t *b = elf_file_load(f, phoff, (uint64_t)phnum * entsize);
	struct rd r;

	if (!b)
		return err_set(err, -ENODATA, "ELF file: %u program headers do not fit", phnum);
	r = rd_init(b, phnum * entsize);
	f->segments = xcalloc(phnum + 1, sizeof(*f->segments));
	for (uint32_t i = 0; i < phnum; i++) {
		struct elf_segment *s = &f->segments[i];

		s->type = rd_le32(&r);
		if (f->is_64)
			s->flags = rd_le32(&r);
		s->off = rd_word(&r, f->is_64);
		s->svma = rd_word(&r, f->is_64);
		rd_word(&r, f->is_64); /* p_paddr */
		s->filesz = rd_word(&r, f->is_64);
		s->memsz = rd_word(&r, f->is_64);
		if (!f->is_64)
			s->flags = rd_le32(&r);
		s->align = rd_word(&r, f->is_64);
	}
	f->n_segments = phnum;
	free(b);
	return 0;
}

static int read_headers(struct elf_file *f, struct err *err)
{
	uint8_t b[64] = {0};
	size_t n = elf_file_pread(f, 0, b, sizeof(b));
	struct rd r = rd_init(b, n);
	uint64_t phoff;
	uint16_t phentsize, phnum, shentsize;

	if (n < 52 || memcmp(b, ELFMAG, SELFMAG) != 0)
		return err_set(err, -EBADMSG, "not an ELF file");
	if ((b[EI_CLASS] != ELFCLASS32 && b[EI_CLASS] != ELFCLASS64) || b[EI_DATA] != ELFDATA2LSB)
		return err_set(err, -EBADMSG, "ELF file: not little-endian of 32 or 64 bits");
	f->is_64 = b[EI_CLASS] == ELFCLASS64;
	rd_bytes(&r, EI_NIDENT);
	f->type = rd_le16(&r);
	f->machine = rd_le16(&r);
	rd_le32(&r);	       /* e_version */
	rd_word(&r, f->is_64); /* e_entry */
	phoff = rd_word(&r, f->is_64);
	f->shoff_ = rd_word(&r, f->is_64);
	rd_le32(&r); /* e_flags */
	rd_le16(&r); /* e_ehsize */
	phentsize = rd_le16(&r);
	phnum = rd_le16(&r);
	shentsize = rd_le16(&r);
	f->shnum_ = rd_le16(&r);
	f->shstrndx_ = rd_le16(&r);
	if (r.bad)
		return err_set(err, -ENODATA, "ELF file: truncated header");
	if (shentsize != (f->is_64 ? 64 : 40))
		f->shoff_ = 0;
	if (phnum == 0 || phoff == 0)
		return 0;
	if (phentsize != (f->is_64 ? 56 : 32))
		return err_set(err, -EBADMSG, "ELF file: program headers of %u bytes", phentsize);
	return read_segments(f, phoff, phnum, err);
}

int elf_file_open_hashed(struct elf_file *f, int fd, struct sha256_lanes *hash, struct err *err)
{
	struct stat st;
	int rc;

	*f = (struct elf_file){.fd = fd, .hash = hash};
	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "fstat");
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EBADMSG, "not a regular file");
	f->size = (uint64_t)st.st_size;
	rc = read_headers(f, err);
	if (rc < 0)
		elf_file_close(f);
	return rc;
}

int elf_file_open(struct elf_file *f, int fd, struct err *err)
{
	return elf_file_open_hashed(f, fd, NULL, err);
}

int elf_file_open_bytes(struct elf_file *f, const uint8_t *bytes, size_t n, struct err *err)
{
	int rc;

	*f = (struct elf_file){.fd = -1, .bytes = bytes, .size = n};
	rc = read_headers(f, err);
	if (rc < 0)
		elf_file_close(f);
	return rc;
}

void elf_file_close(struct elf_file *f)
{
	free(f->segments);
	free(f->sections);
	free(f->names_);
	*f = (struct elf_file){.fd = -1};
}

static void read_section(struct rd *r, bool is_64, struct elf_section *s, uint32_t *ret_name)
{
	*ret_name = rd_le32(r);
	s->name = "";
	s->type = rd_le32(r);
	s->flags = rd_word(r, is_64);
	s->svma = rd_word(r, is_64);
	s->off = rd_word(r, is_64);
	s->size = rd_word(r, is_64);
	s->link = rd_le32(r);
	s->info = rd_le32(r);
	rd_word(r, is_64); /* sh_addralign */
	s->entsize = rd_word(r, is_64);
}

int elf_file_read_sections(struct elf_file *f, struct err *err)
{
	size_t entsize = f->is_64 ? 64 : 40;
	uint64_t n = f->shnum_, n_names = 0;
	uint32_t strndx = f->shstrndx_, *name_offs;
	struct elf_section first;
	struct rd r;
	uint8_t *b;

	if (f->sections)
		return 0;
	if (f->shoff_ == 0)
		return err_set(err, -ENOENT, "ELF file: no section table");
	b = elf_file_load(f, f->shoff_, entsize);
	if (!b)
		return err_set(err, -ENODATA, "ELF file: truncated section table");
	/* gABI "ELF header": with too many sections for 16 bits the numbers are in section 0. */
	r = rd_init(b, entsize);
	read_section(&r, f->is_64, &first, &(uint32_t){0});
	free(b);
	if (n == 0)
		n = first.size;
	if (strndx == SHN_XINDEX)
		strndx = first.link;
	if (n > MAX_SECTIONS)
		return err_set(err, -E2BIG, "ELF file: more than %u sections", MAX_SECTIONS);
	b = elf_file_load(f, f->shoff_, n * entsize);
	if (!b)
		return err_set(err, -ENODATA, "ELF file: truncated section table");
	r = rd_init(b, (size_t)n * entsize);
	f->sections = xcalloc((size_t)n + 1, sizeof(*f->sections));
	name_offs = xcalloc((size_t)n + 1, sizeof(*name_offs));
	for (uint64_t i = 0; i < n; i++)
		read_section(&r, f->is_64, &f->sections[i], &name_offs[i]);
	f->n_sections = (uint32_t)n;
	if (strndx < n)
		f->names_ = (char *)elf_file_load_section(f, &f->sections[strndx]);
	if (f->names_)
		n_names = f->sections[strndx].size;
	for (uint64_t i = 0; i < n; i++)
		if (name_offs[i] < n_names)
			f->sections[i].name = f->names_ + name_offs[i];
	free(name_offs);
	free(b);
	return 0;
}

const struct elf_section *elf_file_find_section(const struct elf_file *f, const char *name)
{
	for (uint32_t i = 0; i < f->n_sections; i++)
		if (strcmp(f->sections[i].name, name) == 0)
			return &f->sections[i];
	return NULL;
}

const struct elf_section *elf_file_find_type(const struct elf_file *f, uint32_t type)
{
	for (uint32_t i = 0; i < f->n_sections; i++)
		if (f->sections[i].type == type)
			return &f->sections[i];
	return NULL;
}

int elf_notes_build_id(const uint8_t *notes, size_t n, unsigned align, uint8_t ret[20])
{
	struct rd r = rd_init(notes, n);

	/* gABI "Note section": namesz, descsz, type, then name and desc, each padded. */
	while (rd_left(&r) >= 12) {
		uint32_t n_name = rd_le32(&r), n_desc = rd_le32(&r), type = rd_le32(&r);
		const uint8_t *name = rd_bytes(&r, n_name), *desc;

		if (!name)
			break;
		rd_bytes(&r, -rd_off(&r) & (align - 1));
		desc = rd_bytes(&r, n_desc);
		if (r.bad || !desc)
			break;
		if (type == NT_GNU_BUILD_ID && n_name == 4 && memcmp(name, "GNU", 4) == 0 &&
		    n_desc >= 1 && n_desc <= 20) {
			memset(ret, 0, 20);
			memcpy(ret, desc, n_desc);
			return (int)n_desc;
		}
		if ((-rd_off(&r) & (align - 1)) > rd_left(&r))
			break;
		rd_bytes(&r, -rd_off(&r) & (align - 1));
	}
	return -ENOENT;
}

int elf_file_build_id(struct elf_file *f, uint8_t ret[20])
{
	int n = -ENOENT;

	for (uint32_t i = 0; i < f->n_segments && n < 0; i++) {
		const struct elf_segment *s = &f->segments[i];
		uint8_t *b = s->type == PT_NOTE ? elf_file_load(f, s->off, s->filesz) : NULL;

		if (b)
			n = elf_notes_build_id(b, s->filesz, s->align == 8 ? 8 : 4, ret);
		free(b);
	}
	if (n >= 0 || elf_file_read_sections(f, NULL) < 0)
		return n;
	/* Relocatable files (kernel modules) have no segments, and the segments of a separate debug
	 * file point at bytes it does not hold. */
	for (uint32_t i = 0; i < f->n_sections && n < 0; i++) {
		const struct elf_section *s = &f->sections[i];
		uint8_t *b = s->type == SHT_NOTE ? elf_file_load_section(f, s) : NULL;

		if (b)
			n = elf_notes_build_id(b, s->size, 4, ret);
		free(b);
	}
	return n;
}
