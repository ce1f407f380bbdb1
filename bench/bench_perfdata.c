/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast the records of a perf.data file are read, put in order and decoded:
 * bench_perfdata FILE */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "port/perf_stream.h"

struct counter {
	struct perf_handler h;
	struct perfdata pd;
	uint64_t n, sum; /* so that nothing is left out */
};

static int count(struct perf_handler *h, const struct perfdata_head *head, const uint8_t *p,
		 uint64_t off, struct err *err)
{
	struct counter *c = (struct counter *)h;
	struct perfdata_record r;
	int rc = perfdata_read_record(&c->pd, head, p, &r);

	c->n++;
	c->sum += r.id.time;
	return rc;
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct counter c = {.h.record = count};
	struct perf_stream_stats stats;
	struct err err = {0};
	double start = cpu_s(), s;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0 || perf_stream_read(fd, argv[1], &c.pd, &c.h, NULL, &stats, &err) < 0) {
		fprintf(stderr, "bench_perfdata: %s\n", err.msg);
		return 2;
	}
	s = cpu_s() - start;
	printf("%.1f MB/s, %.0f ns a record, %" PRIu64 " records, %" PRIx64 "\n",
	       (double)stats.n_bytes / s / 1e6, s * 1e9 / (double)c.n, c.n, c.sum);
	perfdata_release(&c.pd);
	close(fd);
	return 0;
}
