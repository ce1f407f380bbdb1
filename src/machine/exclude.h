/* SPDX-License-Identifier: BSD-2-Clause */
/* What is not to be recorded: DCPI's file of exclusions, one a line.
 *
 *     dwelld        samples in images of this name, and of processes that run one
 *     PID 12        samples of a process
 *     PID 12-34     of processes, ends included
 *     # comment
 *
 * Samples that are excluded are counted as a loss of that name. */
#ifndef MACHINE_EXCLUDE_H
#define MACHINE_EXCLUDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

struct pid_range {
	uint32_t first, last;
};

struct exclusions {
	VEC(char *) names;
	VEC(struct pid_range) pids;
};

/* Adds what the N bytes of TEXT say.  -EINVAL names the line. */
int exclusions_parse(struct exclusions *e, const char *text, size_t n, struct err *err);
void exclusions_release(struct exclusions *e);

/* E may be NULL, which excludes nothing.  Of PATH the last part counts. */
bool excludes_image(const struct exclusions *e, const char *path);
bool excludes_pid(const struct exclusions *e, uint32_t pid);

#endif
