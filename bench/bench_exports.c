/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast exporters write, without reading and naming:
 *
 *     bench_exports DB FORMAT...
 *
 * Prints for each format the megabytes that a CPU second writes to /dev/null, the best of ROUNDS,
 * and how many call paths and samples' values there are. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "port/exporters.h"
#include "query/stacks.h"

#define ROUNDS 5

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const struct exporter *find_exporter(const char *name)
{
	for (size_t i = 0; i < n_exporters; i++)
		if (strcmp(exporters[i].name, name) == 0)
			return &exporters[i];
	fprintf(stderr, "bench_exports: no format %s\n", name);
	exit(2);
}

/* CPU seconds of writing S once; its bytes. */
static double write_once(const struct exporter *x, const struct stacks *s, uint64_t *ret_bytes)
{
	struct out_stream out = {.fd = open("/dev/null", O_WRONLY | O_CLOEXEC)};
	struct exporter_result r = {0};
	struct err err = {0};
	const double before = now_s();
	double used;

	if (x->write(s, &out, &r, &err) < 0 || out_stream_finish(&out, &err) < 0) {
		fprintf(stderr, "bench_exports: --%s: %s\n", x->name, err.msg);
		exit(2);
	}
	used = now_s() - before;
	*ret_bytes = out_stream_size(&out);
	str_release(&r.notes);
	out_stream_release(&out);
	return used;
}

static void measure(struct source *source, const struct exporter *x)
{
	const struct stacks_opts o = {.lines = x->needs & EXPORTER_LINES,
				      .threads = x->needs & EXPORTER_THREADS};
	double least = 1e9;
	uint64_t bytes = 0;
	struct stacks s;
	struct err err = {0};

	if (source_stacks(source, &o, &s, &err) < 0) {
		fprintf(stderr, "bench_exports: %s\n", err.msg);
		exit(2);
	}
	for (int i = 0; i < ROUNDS; i++) {
		const double used = write_once(x, &s, &bytes);

		if (used < least)
			least = used;
	}
	printf("%s: %.0f MB/s, %.1f MB, %zu nodes, %zu values\n", x->name,
	       (double)bytes / 1e6 / least, (double)bytes / 1e6, s.nodes.n, s.values.n);
	stacks_release(&s);
}

int main(int argc, char **argv)
{
	struct select select = {.db = argc > 2 ? argv[1] : NULL, .one_event = true};
	const struct source_opts o = {.select = &select};
	struct source *source;
	struct err err = {0};

	if (!select.db) {
		fprintf(stderr, "usage: bench_exports DB FORMAT...\n");
		return 2;
	}
	if (source_open(&source, &o, &err) != 0) {
		fprintf(stderr, "bench_exports: %s\n", err.msg);
		return 2;
	}
	for (int i = 2; i < argc; i++)
		measure(source, find_exporter(argv[i]));
	source_close(source);
	return 0;
}
