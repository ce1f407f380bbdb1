/* SPDX-License-Identifier: BSD-2-Clause */
/* See check.h. */
#include "formats/hpc/check.h"

#include <stdarg.h>
#include <stdio.h>

void hpc_problem(struct hpc_check *c, const char *file, uint64_t offset, const char *structure,
		 const char *field, const char *fmt, ...)
{
	char text[512];
	const struct hpc_problem p = {file, offset, structure, field, text};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->n_problems++;
	if (c->report)
		c->report(c->user, &p);
}
