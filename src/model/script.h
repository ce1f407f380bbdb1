/* SPDX-License-Identifier: BSD-2-Clause */
/* Places of interpreted code.
 *
 * They are made of the code's own words.  So they are the same in each process, after a restart and
 * on another machine.  The image is the language and the file's path as the interpreter has it.
 * The svma tells the function (name and first line) and the line:
 *
 *     bits 20-63   a hash of the function's qualified name and first line
 *     bit 16       the line is not known
 *     bits 0-15    the line, from the first line on
 *
 * Names lie beside the place (struct script), since no file holds them.  A function that moves in
 * its file is another one; readers join them by name. */
#ifndef MODEL_SCRIPT_H
#define MODEL_SCRIPT_H

#include "model/profile.h"

#define SCRIPT_PROCEDURE_BITS 20 /* a function's svmas: 2^20 of them */
#define SCRIPT_LINE_UNKNOWN   (1u << 16)

/* What stands in place of frames in the heap that nobody could read; it is among HotSpot's own. */
#define SCRIPT_JAVA_UNREADABLE "[Java frames unreadable]"

/* A function of a script. */
struct script_function {
	const char *language; /* "python", "javascript", "java", "php", "perl", "ruby" */
	const char *file, *name;
	uint32_t first_line;
};

/* The lowest svma of the function called NAME that begins in FIRST_LINE. */
uint64_t script_svma(const char *name, uint32_t first_line);

/* The image of F's file. */
image_id profile_intern_script_image(struct profile *p, const struct script_function *f);

/* The place of LINE (0: not known) of F, which is in IMAGE and begins at svma START.  Where it is
 * not known, the first line stands in its struct script. */
place_id profile_intern_script(struct profile *p, image_id image, uint64_t start,
			       const struct script_function *f, uint32_t line);

/* Says what S's place means, unless that is said already. */
void profile_add_script(struct profile *p, const struct script *s);

/* What PLACE means; NULL when nobody said. */
const struct script *profile_find_script(const struct profile *p, place_id place);

#endif
