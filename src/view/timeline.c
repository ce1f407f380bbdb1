/* SPDX-License-Identifier: BSD-2-Clause */
/* See timeline.h. */
#include "view/timeline.h"

#include <stdio.h>
#include <time.h>

char timeline_char(uint64_t n, uint64_t most, bool there)
{
	static const char levels[] = "-+*#";

	if (n)
		return levels[(n * 4 - 1) / most];
	return there ? '.' : ' ';
}

const char *timeline_seconds(struct arena *a, uint64_t zero_ns, uint64_t time_ns)
{
	char text[40];
	uint64_t ns = time_ns - zero_ns;

	snprintf(text, sizeof(text), "%llu.%06llu", (unsigned long long)(ns / 1000000000),
		 (unsigned long long)(ns % 1000000000 / 1000));
	return arena_strdup(a, text);
}

void timeline_emit_zero(struct emit *e, uint64_t zero_ns, uint64_t n_points, size_t n_threads)
{
	time_t t = (time_t)(zero_ns / 1000000000);
	char text[40];
	struct tm tm;

	if (!n_points)
		emit_text(e, "0 points of %zu threads\n", n_threads);
	else if (gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		emit_text(e, "second 0 is %s.%06u UTC; %llu points of %zu threads\n", text,
			  (unsigned)(zero_ns % 1000000000 / 1000), (unsigned long long)n_points,
			  n_threads);
}
