/* SPDX-License-Identifier: BSD-2-Clause */
/* See check.h. */
#include "formats/hpc/check/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

bool hpc_check_frame(struct hpc_check *c, const struct hpc_frame *f, const uint8_t *bytes, size_t n,
		     const char *name)
{
	if (n < f->sz_header + 8)
		hpc_problem(c, name, 0, "header", "",
			    "a file of %zu bytes, header and footer have %zu", n, f->sz_header + 8);
	else if (memcmp(bytes, f->magic, 14) != 0)
		hpc_problem(c, name, 0, "header", "magic", "does not read %s", f->magic);
	else if (bytes[14] != HPC_MAJOR)
		hpc_problem(c, name, 14, "header", "majorVersion", "%u, must be %u", bytes[14],
			    HPC_MAJOR);
	else if (memcmp(bytes + n - 8, f->footer, 8) != 0)
		hpc_problem(c, name, n - 8, "footer", "", "does not read %s", f->footer);
	else
		return true;
	return false;
}
