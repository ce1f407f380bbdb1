/* SPDX-License-Identifier: BSD-2-Clause */
/* What tells files of one build-id apart.
 *
 * A build-id is a note that anybody can copy into another file.  The digest covers what decides
 * where code lies and how calls are undone: the program headers of the executable segments and the
 * bytes of .eh_frame_hdr and .eh_frame.  strip and objcopy leave these alone, so a program and its
 * stripped copy have one digest; a file with a copied build-id has another.
 *
 * Two files can agree in all that and differ in their code.  Reading all code of every program
 * would be too much.  So a recorder that meets two files of one build-id and digest reads the code
 * of these two, and where it differs the one that it met later has the digest of elf_digest_code
 * instead.  A reader can tell from the file's bytes alone whether it has the one or the other. */
#ifndef RESOLVE_ELF_DIGEST_H
#define RESOLVE_ELF_DIGEST_H

#include <stdbool.h>

#include "model/image.h"
#include "resolve/elf_file.h"

/* Computes F's digest from its segments alone; no field of a section header is looked at.  RET is
 * never all zeros.  A separate debug file has another digest than its program: the bytes are not in
 * it. */
void elf_digest(const struct elf_file *f, uint8_t ret[IMAGE_DIGEST_BYTES]);

/* Computes the digest of F that also covers its code: the bytes of its executable segments behind
 * the ELF header, 1 GiB of them at most.  RET is never all zeros. */
void elf_digest_code(const struct elf_file *f, uint8_t ret[IMAGE_DIGEST_BYTES]);

/* Finds where .eh_frame begins, by the segment PT_GNU_EH_FRAME; false when that does not say. */
bool elf_find_eh_frame(const struct elf_file *f, uint64_t *ret_svma);

#endif
