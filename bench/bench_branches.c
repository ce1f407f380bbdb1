/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast branch stacks are counted, apart from reading them:  bench_branches FILE [ENTRIES]
 *
 * Reads perf.data FILE once and keeps its samples' branch stacks in memory; then counts them again
 * and again, in their order, until ENTRIES (10^7) jumps are counted. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "port/perf_branch.h"
#include "port/perf_stream.h"
#include "resolve/elf_probe.h"

struct kept {
	struct perfdata_record record; /* its words are in `words` */
	size_t at;
};

struct bench {
	struct perf_handler handler; /* first: it is cast back */
	struct perfdata pd;
	struct perf_world world;
	VEC(struct kept) samples;
	VEC(uint8_t) words;
	uint64_t n_jumps;
};

static int take(struct perf_handler *h, const struct perfdata_head *head, const uint8_t *p,
		uint64_t off, struct err *err)
{
	struct bench *b = (struct bench *)h;
	struct kept k = {.at = b->words.n};
	size_t n;

	if (perfdata_read_record(&b->pd, head, p, &k.record) < 0)
		return 0;
	if (head->type != PERFDATA_SAMPLE) {
		perf_world_apply(&b->world, &k.record);
		return 0;
	}
	n = (size_t)k.record.sample.branches.n * 8;
	vec_reserve(&b->words, n);
	memcpy(b->words.v + b->words.n, k.record.sample.branches.p, n);
	b->words.n += n;
	b->n_jumps += k.record.sample.branches.n / 3;
	vec_push(&b->samples, k);
	return 0;
}

static int no_file(void *ctx, const struct image_ref *ref, const char *path)
{
	return -1;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const uint64_t want = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000;
	struct perf_stream_stats stats = {0};
	struct profile p;
	struct bench b = {.handler.record = take};
	struct err err = {0};
	uint64_t n = 0, counted = 0;
	double start, took;
	event_id event;
	int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0) {
		fprintf(stderr, "usage: bench_branches PERF.DATA [ENTRIES]\n");
		return 2;
	}
	profile_init(&p);
	event = profile_intern_event(&p, &(struct event){.name = profile_intern_str(&p, "branches"),
							 .unit = profile_intern_str(&p, "")});
	perf_world_init(&b.world, &p, &b.pd, OWNER_GROUP, no_file, NULL, elf_probe);
	if (perf_stream_read(fd, argv[1], &b.pd, &b.handler, NULL, &stats, &err) < 0 ||
	    !b.n_jumps) {
		fprintf(stderr, "bench_branches: %s\n", b.n_jumps ? err.msg : "no branch stacks");
		return 2;
	}
	start = cpu_seconds();
	while (n < want)
		for (size_t i = 0; i < b.samples.n && n < want; i++) {
			struct kept *k = &b.samples.v[i];

			k->record.sample.branches.p = b.words.v + k->at;
			perf_branches_add(&b.world, &k->record, event);
			n += k->record.sample.branches.n / 3;
		}
	perf_branches_flush(&b.world);
	took = cpu_seconds() - start;
	vec_each (k, &p.branches)
		counted += k->count;
	printf("%" PRIu64 " jumps, %" PRIu64
	       " counted of %zu kinds, in %.3f s of CPU time: %.1f million a second\n",
	       n, counted, p.branches.n, took, (double)n / 1e6 / took);
	return 0;
}
