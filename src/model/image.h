/* SPDX-License-Identifier: BSD-2-Clause */
/* The identity of code.  A place in a program is stored as (image, svma): never a run-time address,
 * never a name.  HPCToolkit calls an image a load module. */
#ifndef MODEL_IMAGE_H
#define MODEL_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define BUILD_ID_MAX 20

struct build_id {
	uint8_t n_bytes; /* 0: none known */
	uint8_t bytes[BUILD_ID_MAX];
};

/* How the name of a mark begins that stands for the missing part of a path. */
#define IMAGE_TRUNCATED "[truncated"

/* Names of marks where HPCToolkit says that a path begins; readers without it look at names. */
#define IMAGE_MAIN_ROOT	  "[program root]"
#define IMAGE_THREAD_ROOT "[thread root]"

enum image_kind {
	IMAGE_UNKNOWN, /* samples nobody could attribute; svma is the run-time address */
	IMAGE_FILE,    /* a program or shared library; svma as its ELF file states */
	IMAGE_KERNEL,  /* svma is vmlinux's link address, KASLR removed */
	IMAGE_MODULE,  /* a kernel module; svma is the offset from its text start */
	IMAGE_BPF,     /* a BPF program; svma is the offset from its text start */
	IMAGE_VDSO,    /* svma as the vdso's ELF image states; identified by content */
	IMAGE_JIT,     /* generated code that its compiler tells of; svma is the run-time address
			  below 2^48, above it a number that tells procedures apart that had it one
			  after another */
	IMAGE_ANON,    /* executable memory without a file; svma is the run-time address */
	IMAGE_MARK,    /* no code: what is known of a call path instead, "[truncated: CAUSE]" */
	IMAGE_SCRIPT,  /* a file of source code that an interpreter executes; see model/script.h */
	N_IMAGE_KINDS
};

/* "file", "kernel", ...: the words used in files and JSON. */
const char *image_kind_name(enum image_kind k);

enum image_flags {
	IMAGE_HASHED = 1u << 0,	 /* the file has no GNU build-id; ours is a hash of its content */
	IMAGE_DELETED = 1u << 1, /* the file was deleted or replaced while it ran */
	IMAGE_OFFSETS = 1u << 2, /* the file could not be read: svma is a file offset */
};

/* Tells files of one build-id apart: see resolve/elf_digest.h.  All zeros: not known. */
#define IMAGE_DIGEST_BYTES 16

/* An image is (kind, build-id, digest).  Whoever knows only a build-id leaves the digest zero; see
 * profile_join_images. */
struct image {
	enum image_kind kind;
	uint32_t flags;
	struct build_id build_id;
	uint8_t digest[IMAGE_DIGEST_BYTES];
	const char *path; /* as its process saw it, or "[vdso]", "[kernel]", "[anon] COMM", ... */
	uint64_t text_start,
		text_bytes; /* svma and size of the executable part; 0 when not known */
};

/* What a reader of ELF headers finds out about a file, cheaply; see image_probe_fn. */
#define IMAGE_MAX_LOADS 16

struct image_layout {
	struct build_id build_id;
	bool hashed;			    /* build_id is a hash of size, first and last 4 KiB */
	uint8_t digest[IMAGE_DIGEST_BYTES]; /* zeros: not an ELF file */
	uint16_t machine;		    /* EM_* */
	uint64_t text_start, text_bytes;
	uint64_t memory_end; /* svma behind all that the file maps, data and .bss; 0: not known */
	uint32_t n_loads;    /* executable PT_LOAD segments, in file order */
	struct image_load {
		uint64_t off, svma, n_bytes; /* file offset, stated address, file size */
	} loads[IMAGE_MAX_LOADS];
};

/* Reads the layout of the file open at FD.  The recorder is given one such function, so that it
 * knows no ELF.  0, or -EBADMSG when it is not an ELF file we can use, or -errno. */
typedef int image_probe_fn(int fd, struct image_layout *ret, struct err *err);

/* Turns a file offset into the stated address, by the layout's segments; false when no executable
 * segment covers OFF. */
bool image_layout_svma(const struct image_layout *l, uint64_t off, uint64_t *ret_svma);

bool image_digest_known(const uint8_t digest[IMAGE_DIGEST_BYTES]);
bool image_digest_same(const uint8_t a[IMAGE_DIGEST_BYTES], const uint8_t b[IMAGE_DIGEST_BYTES]);

/* Whether digest A may be B's: they are equal, or one of them is not known. */
bool image_digest_fits(const uint8_t a[IMAGE_DIGEST_BYTES], const uint8_t b[IMAGE_DIGEST_BYTES]);

bool build_id_same(const struct build_id *a, const struct build_id *b);

/* Hex digits and NUL into RET; "" when none is known. */
void build_id_format(const struct build_id *b, char ret[2 * BUILD_ID_MAX + 1]);

/* 0, or -EINVAL when HEX is not 1 to 20 bytes of hex digits. */
int build_id_parse(const char *hex, struct build_id *ret);

#endif
