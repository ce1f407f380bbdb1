/* SPDX-License-Identifier: BSD-2-Clause */
/* Kept code: the instructions and lines of profiled procedures of one image, so that they can be
 * listed when the image's file is gone or was rebuilt (docs/formats/code.md).
 *
 * kept_code_read makes it from a file, in a child where the file is not to be trusted.  What it
 * made becomes bytes and is parsed again, with every count and range checked.  kept_dir.h keeps it.
 * kept_lines answers questions about lines and inlined calls from it; struct code_file those about
 * instructions. */
#ifndef RESOLVE_KEPT_CODE_H
#define RESOLVE_KEPT_CODE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "base/wr.h"
#include "model/image.h"
#include "resolve/entry_name.h"

#define KEPT_CONTENT_BYTES ENTRY_CONTENT_BYTES
#define KEPT_NONE	   UINT32_MAX

/* Code of one procedure beyond this is not kept, nor all kept code of an image beyond that. */
#define KEPT_MOST_PROC	(1u << 20)
#define KEPT_MOST_IMAGE (8u << 20)

struct kept_info {
	struct build_id build_id;
	uint8_t digest[IMAGE_DIGEST_BYTES];
	uint8_t content[KEPT_CONTENT_BYTES]; /* hash of all executable segments */
	bool is_claimed;		     /* others may write the file that it was made from */
	bool is_hidden;			     /* its owner hid that file from others */
	uint16_t machine, type;		     /* elf.h EM_*, ET_* */
	uint64_t made_s;		     /* when that file was last written, since 1970 */
	const char *path;		     /* of the image, for people */
};

/* From SVMA on the instructions come from this line. */
struct kept_row {
	uint64_t svma;
	uint32_t file; /* in texts; KEPT_NONE: no line is known */
	uint32_t line, discriminator;
	uint16_t column;
};

/* A procedure (the first) or a function inlined into its parent. */
struct kept_scope {
	uint32_t parent; /* a lower number; KEPT_NONE */
	uint32_t name;	 /* in texts */
	uint32_t file;	 /* of the call, in texts; KEPT_NONE */
	uint32_t line;
	uint16_t column;
};

struct kept_scope_start {
	uint64_t svma;
	uint32_t scope; /* the innermost from here on; KEPT_NONE */
};

/* A function is declared in this line. */
struct kept_decl {
	uint64_t svma; /* of its code; 0: another's */
	uint32_t file, line;
};

/* Constants that the code reads, such as its jump tables. */
struct kept_const {
	uint64_t svma;
	const uint8_t *bytes;
	size_t n;
};

struct kept_proc {
	uint64_t start, end;
	const uint8_t *bytes;
	VEC(struct kept_row) rows; /* ascending; none: no lines are known */
	VEC(struct kept_scope) scopes;
	VEC(struct kept_scope_start) scope_starts; /* ascending */
	VEC(struct kept_decl) decls;		   /* by file, then line */
	VEC(struct kept_const) consts;		   /* ascending, apart */
};

struct kept_code {
	struct kept_info info;
	VEC(struct kept_proc) procs; /* ascending, disjoint */
	VEC(const char *) texts;     /* files and names as linked */
	struct index by_text;
	struct arena arena;   /* texts, and bytes that were added */
	struct file_map file; /* it was read from, if any: its procedures' bytes */
	size_t n_bytes;	      /* of code */
};

/* Number of TEXT in K's texts; it is added when it is new. */
uint32_t kept_text(struct kept_code *k, const char *text);

/* The procedure that covers SVMA; NULL: it is not kept. */
const struct kept_proc *kept_code_find(const struct kept_code *k, uint64_t svma);

/* Copies [SVMA, SVMA + N) of code or constants to RET; false when not all of it is kept. */
bool kept_code_bytes(const struct kept_code *k, uint64_t svma, uint8_t *ret, size_t n);

/* Adds a procedure without anything, to be filled; those before it must lie below. */
struct kept_proc *kept_code_add(struct kept_code *k, uint64_t start, uint64_t end,
				const uint8_t *bytes);

/* Makes of TO and FROM, which are of one content, one: all procedures of both; of one that both
 * have that with lines.  No more than KEPT_MOST_IMAGE: what TO has comes first.  Returns whether
 * anything was added. */
bool kept_code_merge(struct kept_code *to, const struct kept_code *from);

/* The codec.  K's procedures have their bytes in those that it was read from, which must outlive
 * it: K->file, once set, is closed with it.  -EBADMSG, -ENODATA, -EPROTONOSUPPORT. */
void kept_code_format(const struct kept_code *k, struct wr *ret);
int kept_code_parse(struct kept_code *k, const uint8_t *bytes, size_t n, struct err *err);
void kept_code_release(struct kept_code *k);

/* Puts the right checksum into a file of N bytes; for tests that damage what lies behind it. */
void kept_code_seal(uint8_t *bytes, size_t n);

/* A procedure that is to be kept. */
struct kept_range {
	uint64_t start, end;
	bool only_lines; /* not without lines: it is a caller, of which nobody lists the instructions */
};

/* The files that code is kept of; borrowed. */
struct kept_files {
	int code;
	int debug; /* maybe its separate debug file, for lines that CODE has not; -1: none */
	int alt;   /* maybe the file that dwz moved parts of their DWARF to; -1: none */
};

/* Reads RANGES, which ascend, of the ELF file FILES.code, which may be the image of digest WANTED
 * (elf_probe_as); without lines unless LINES.  CONTENT is the file's where the caller knows it and
 * that WANTED is its digest, else NULL.  Opens nothing.  RET has no path and is not claimed.  0, or
 * the errors of elf_probe. */
int kept_code_read(struct kept_files files, const uint8_t wanted[IMAGE_DIGEST_BYTES],
		   const uint8_t *content, const struct kept_range *ranges, size_t n, bool lines,
		   struct kept_code *ret, struct err *err);

/* The lines of K, which must outlive them; lines_close them.  NULL when K has none.  SCOPES_ONLY:
 * nothing but inlined calls will be asked for. */
struct lines *kept_lines(const struct kept_code *k, bool scopes_only);

#endif
