/* SPDX-License-Identifier: BSD-2-Clause */
/* Places where a death matters and no system call tells of them.
 *
 * The program calls step() before such a change.  A test sets the hook and kills its process there;
 * at system calls it can do so by putting a function of its own in their place. */
#ifndef BASE_STEP_H
#define BASE_STEP_H

/* Called with the name of what comes next, such as "live".  NULL (the default): nobody asks. */
extern void (*step_hook)(const char *what);

static inline void step(const char *what)
{
	if (step_hook)
		step_hook(what);
}

#endif
