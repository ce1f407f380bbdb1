/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/summed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

enum { LINE_BYTES = 4 + 16 + 1 };

static void format_line(const char *text, size_t n, char ret[LINE_BYTES + 1])
{
	snprintf(ret, LINE_BYTES + 1, "sum %016" PRIx64 "\n", hash_bytes(text, n));
}

void summed_end(struct str *s)
{
	char line[LINE_BYTES + 1];

	format_line(s->v, s->n, line);
	str_add(s, line);
}

bool summed_check(char *text, size_t n)
{
	char line[LINE_BYTES + 1];

	if (n < LINE_BYTES)
		return false;
	format_line(text, n - LINE_BYTES, line);
	if (memcmp(text + n - LINE_BYTES, line, LINE_BYTES) != 0)
		return false;
	text[n - LINE_BYTES] = '\0';
	return true;
}

#define HOLDER "dwelld, process "

void holder_format(int pid, struct str *s)
{
	str_addf(s, HOLDER "%d\n", pid);
	summed_end(s);
}

bool holder_check(char *text, size_t n)
{
	const char *digits = text + strlen(HOLDER);

	if (!n || summed_check(text, n))
		return true;
	return strlen(text) == n && str_starts(text, HOLDER) && *digits != '\n' &&
	       strcmp(digits + strspn(digits, "0123456789"), "\n") == 0;
}
