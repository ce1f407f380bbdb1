/* SPDX-License-Identifier: BSD-2-Clause */
/* See screen.h. */
#include "base/screen.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

#define HELP_TEXT_AT 29 /* where the texts of options begin (opts_help) */

unsigned screen_width(int fd)
{
	struct winsize w = {0};
	const char *columns = getenv("COLUMNS");
	uint64_t n;

	if (ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col >= 20)
		return w.ws_col;
	if (columns && str_parse_u64(columns, 10, &n) >= 0 && n >= 20 && n < 10000)
		return (unsigned)n;
	return isatty(fd) ? 80 : 0;
}

void screen_add_help(struct str *out, const struct opt *table, unsigned width)
{
	char *options = opts_help(table);

	if (width)
		text_fold(out, options, width, HELP_TEXT_AT - 2);
	else
		str_add(out, options);
	free(options);
}
