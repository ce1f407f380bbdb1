/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds what several sets have in common: images of one name and rows of one name.
 *
 * Each set adds its images, common_images_join finds those that were moved, and then each set adds
 * its rows.  Whatever is called the same in two sets is one row of them. */
#ifndef QUERY_COMPARE_COMMON_ROWS_H
#define QUERY_COMPARE_COMMON_ROWS_H

#include "query/compare/set_rows.h"

/* An image as the sets know it: one path. */
struct common_image {
	const char *kind; /* of image_kind_name; NULL: not known */
	const char *path;
	const char *build; /* the first seen; "": not known */
	unsigned last_set; /* the last that has it */
	bool is_wanted, is_rebuilt;
	uint32_t same_as; /* the entry that stands for it; itself */
};

struct common_rows {
	struct set_rows *r;
	const opt_list *names; /* of the images that are wanted; NULL or none: all */
	VEC(struct common_image) images;
	uint32_t **image_of;	/* by set, by its image: number in images; INDEX_NONE */
	uint32_t *n_images;	/* by set */
	VEC(const char *) keys; /* by row */
	struct index index;
};

void common_rows_init(struct common_rows *c, struct set_rows *r, const opt_list *names);
void common_rows_release(struct common_rows *c);

/* Says how many images set K has. */
void common_rows_size(struct common_rows *c, unsigned k, uint32_t n_images);

/* Adds image IMAGE of set K, whose PATH must outlive C.  KIND is of image_kind_name or NULL, BUILD
 * its build-id's text or "". */
void common_image_add(struct common_rows *c, unsigned k, uint32_t image, const char *kind,
		      const char *path, const char *build);

/* Joins images that were moved: build directories, containers.  Counts those that were rebuilt. */
void common_images_join(struct common_rows *c);

/* Whether rows of image IMAGE of set K are wanted. */
bool common_image_is_wanted(const struct common_rows *c, unsigned k, uint32_t image);

/* What line a row is one of. */
struct line_key {
	const char *file;
	uint32_t line;
	uint32_t
		declared; /* the line of FILE that declares the procedure: lines count from there, so
			    * that they are the same when others are added above; 0: not known, or
			    * another file's */
	bool is_new;	  /* no line of the first set */
};

/* The row of SC, which is of number IMAGE in set K; made when it is not there yet.  BUILD keeps
 * addresses of different builds apart.  LINE is what a line is known by; NULL of what is no
 * line. */
struct set_row *common_row_find(struct common_rows *c, unsigned k, const struct scope *sc,
				uint32_t image, const char *build, const struct line_key *line);

/* Finds the image of set TO that is IMAGE of set K; INDEX_NONE: it has none. */
uint32_t common_image_in(const struct common_rows *c, unsigned k, uint32_t image, unsigned to);

#endif
