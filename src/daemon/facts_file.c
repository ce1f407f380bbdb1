/* SPDX-License-Identifier: BSD-2-Clause */
/* See facts_file.h. */
#include "daemon/facts_file.h"

#include "base/cleanup.h"
#include "base/file.h"

#define MOST_BYTES (1u << 20)

int facts_file_load(const char *path, struct fact_defs *d, struct err *err)
{
	_mem_ char *text = NULL;
	size_t n;
	int rc;

	*d = (struct fact_defs){0};
	if (!path)
		return 0;
	rc = file_load(path, MOST_BYTES, &text, &n, err);
	return rc < 0 ? rc : fact_defs_parse(d, path, text, n, err);
}
