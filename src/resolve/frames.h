/* SPDX-License-Identifier: BSD-2-Clause */
/* What DWARF says about places, remembered: the procedure, the calls inlined into it, and the line
 * in each.  For resolver.c. */
#ifndef RESOLVE_FRAMES_H
#define RESOLVE_FRAMES_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "resolve/inlines.h"

/* A function's name: linked, and readable without and with the types of its arguments (NULL before
 * it is asked for). */
struct frame_name {
	const char *linked, *readable[2];
};

#define FRAME_NO_TEXT UINT32_MAX

struct frame {
	uint32_t name;	     /* in frames.names; FRAME_NO_TEXT: DWARF does not know the place */
	uint32_t file, line; /* in frames.files, or FRAME_NO_TEXT; from 1, or 0: not known */
	uint16_t column;     /* from 1, or 0 */
};

struct frame_place {
	const void *image;
	uint64_t svma;
	uint32_t first, n; /* in frames.frames */
};

struct frames {
	VEC(struct frame_place) places;
	struct index by_place;
	VEC(struct frame) frames;
	VEC(struct frame_name) names;
	struct index by_name;
	VEC(const char *) files;
	struct index by_file;
	struct arena text;
};

/* Finds the frames of SVMA in IMAGE (any pointer that stands for it), the outermost first, in
 * *RET; returns how many there are, at least one, or 0 when the place was not asked for before.
 * They may be looked at until the next frames_add. */
size_t frames_find(const struct frames *f, const void *image, uint64_t svma,
		   const struct frame **ret);

/* Looks a place that frames_find does not find up in L (NULL: no DWARF), remembers it, and answers
 * as frames_find would.  So that memory stays bounded all places are forgotten when they are many;
 * names and files stay. */
size_t frames_add(struct frames *f, const void *image, uint64_t svma, struct lines *l,
		  const struct frame **ret);

/* Remembers that SVMA in IMAGE is LINE (0: not known) of FILE, and answers as frames_find would. */
size_t frames_add_line(struct frames *f, const void *image, uint64_t svma, const char *file,
		       uint32_t line, const struct frame **ret);

/* The readable names of the functions inlined at SVMA into its procedure, the outermost first; how
 * many, at most MAX.  Equal names are equal pointers, as of frames_name; nothing is remembered of
 * the place. */
size_t frames_inlined(struct frames *f, uint64_t svma, struct lines *l, bool args, const char **ret,
		      size_t max);

/* The readable name of a frame whose name is known; lives as long as F. */
const char *frames_name(struct frames *f, const struct frame *frame, bool args);

void frames_release(struct frames *f);

#endif
