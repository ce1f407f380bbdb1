/* SPDX-License-Identifier: BSD-2-Clause */
/* Places where a death matters: between two changes that only together leave things in order.
 *
 * The program calls step() before each such change.  A test sets the hook and kills its process
 * there, so that it can try a death at every place in turn. */
#ifndef BASE_STEP_H
#define BASE_STEP_H

/* Called with the name of what comes next, such as "unlink".  NULL (the default): nobody asks. */
extern void (*step_hook)(const char *what);

static inline void step(const char *what)
{
	if (step_hook)
		step_hook(what);
}

#endif
