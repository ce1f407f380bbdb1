/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of 256 bytes in an interpreter's memory, and what its frames are called: for tests of
 * steps whose frames are scripts' functions.  HEAP_WORDS as script_heap_t.h has it. */
#ifndef TESTS_SCRIPT_OBJECTS_T_H
#define TESTS_SCRIPT_OBJECTS_T_H

#include "base/alloc.h"
#include "base/cleanup.h"
#include "model/script.h"
#include "unwind/python_host.h"

#include "script_heap_t.h"

#define OBJECT(i) (HEAP + 256 * (i))

static uint64_t *heap_at(struct heap *h, unsigned object, unsigned bytes)
{
	return &h->words[(256 * object + bytes) / 8];
}

/* What each of FRAMES is: "name file:line", one a line. */
static void expect_frames(struct heap *h, const struct python_frames *f, const char *wanted)
{
	_mem_ char *text = xstrdup("");

	for (uint32_t i = 0; i < f->n; i++) {
		const place_id place = scripts_place(&h->scripts, &h->p, f->frames[i]);
		const struct script *s = profile_find_script(&h->p, place);
		const struct place *pl = &h->p.places.v[place];
		char *more = xasprintf("%s%s %s:%u\n", text, profile_str(&h->p, s->name),
				       h->p.images.v[pl->image].path,
				       pl->svma & SCRIPT_LINE_UNKNOWN ? 0 : s->line);

		free(text);
		text = more;
	}
	EXPECT_STR(text, wanted);
}

#endif
