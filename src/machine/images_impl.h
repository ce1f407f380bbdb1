/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of images.h. */
#ifndef MACHINE_IMAGES_IMPL_H
#define MACHINE_IMAGES_IMPL_H

#include "machine/images.h"

/* Descriptors kept for saving symbols; files beyond are reopened by path. */
#define IMAGES_MAX_OPEN 1000

/* The image of C as far as it is known: by its layout, else by what was told of it. */
image_id images_file_image(struct images *im, const struct mapped_code *c);

/* Gives code number CODE, whose layout is awaited, its stand-in. */
void images_stand_in(struct images *im, uint32_t code);

/* Whether the file of C is an ELF file in a memfd of the kernel's own, which can be read without
 * waiting for anybody. */
bool images_is_program(const struct mapped_code *c);

#endif
