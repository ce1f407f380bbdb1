/* SPDX-License-Identifier: BSD-2-Clause */
/* What identifies and lays out an image: its build-id and its executable segments.  Cheap enough to
 * be done for every image at first sight (a few preads of headers and notes). */
#ifndef RESOLVE_ELF_PROBE_H
#define RESOLVE_ELF_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/image.h"

/* Reads the layout of the ELF file open at FD (borrowed); an image_probe_fn.  An image without a
 * GNU build-id gets a hash of its size and its first and last 4 KiB (`hashed`).  Returns -EBADMSG
 * or -ENODATA when the file is no whole ELF file.  RET then holds that hash and no segments: enough
 * to tell such files apart. */
int elf_probe(int fd, struct image_layout *ret, struct err *err);

/* Reads the layout like elf_probe.  Where WANTED is the digest of the file with its code
 * (elf_digest_code), RET has that one. */
int elf_probe_as(int fd, const uint8_t wanted[IMAGE_DIGEST_BYTES], struct image_layout *ret,
		 struct err *err);

/* Reads the layout of the file at FD, whose DIGEST the caller knows: all of the file's that has to
 * be read is a page or two. */
int elf_probe_known(int fd, const uint8_t digest[IMAGE_DIGEST_BYTES], struct image_layout *ret,
		    struct err *err);

/* Lets this thread's probes of the file at FD take DIGEST for its digest without the code
 * and without reading for it: the caller knows it. */
void elf_probe_remember(int fd, const uint8_t digest[IMAGE_DIGEST_BYTES]);

/* Whether the file at FD, whose layout L elf_probe read, has the digest WANTED: with its code or
 * without.  A digest that is not known fits every file. */
bool elf_probe_is(int fd, const uint8_t wanted[IMAGE_DIGEST_BYTES], const struct image_layout *l);

/* The digest of the file at FD with its code; 0, or the errors of elf_file_open. */
int elf_probe_code(int fd, uint8_t ret[IMAGE_DIGEST_BYTES], struct err *err);

/* Reads the layout of an image of N bytes in memory, such as the vdso.  Results and errors are
 * those of elf_probe. */
int elf_probe_bytes(const uint8_t *bytes, size_t n, struct image_layout *ret, struct err *err);

#endif
