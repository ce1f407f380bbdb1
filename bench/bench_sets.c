/* SPDX-License-Identifier: BSD-2-Clause */
/* What columns of sample sets cost: a query over a million values, each of another address and
 * vector, with and without them.
 *
 *     bench_sets [VALUES [ROUNDS]]
 *
 * Prints for each list of columns the least and the median CPU time of query_init, which finds what
 * each vector says and adds all values up by place, in milliseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model/fact.h"
#include "query/samples/query.h"

#define VECTORS_OF_PLACE 5
#define N_VECTORS	 512

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Vectors of all bits an IBS op has, in some order; a tenth of them lacks some. */
static void make_facts(unsigned i, struct sample_facts *ret)
{
	static const unsigned bits[] = {FACT_RETIRED, FACT_BRANCH,	 FACT_TAKEN,
					FACT_LOAD,    FACT_DRAM,	 FACT_L2TLBMISS,
					FACT_LOCKED,  FACT_MISPREDICTED, FACT_NOTRAP};

	*ret = (struct sample_facts){0};
	for (unsigned b = 0; b < n_elems(bits); b++)
		if (i % 10 || b % 3)
			facts_set(ret, bits[b], b == 0 || (i >> (b - 1) & 1));
}

static void make_profile(struct profile *p, size_t n)
{
	struct image im = {.kind = IMAGE_FILE, .path = "/usr/bin/prog"};
	struct event e = {.period = 1000};
	struct sample_facts facts;
	event_id event;
	image_id image;

	profile_init(p);
	e.name = profile_intern_str(p, "ibs_op");
	event = profile_intern_event(p, &e);
	image = profile_intern_image(p, &im);
	for (size_t i = 0; i < n; i++) {
		size_t place = i / VECTORS_OF_PLACE;

		make_facts((unsigned)((place * 31 + i % VECTORS_OF_PLACE * 97) % N_VECTORS),
			   &facts);
		facts_add(
			p, 0,
			profile_flat_ctx(p, profile_intern_place(p, image, 0x1000 + 4 * place, 0)),
			event, &facts, 1 + i % 7);
	}
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void measure(const struct profile *p, const char *columns, unsigned rounds)
{
	double *ms = xcalloc(rounds, sizeof(*ms));
	struct select s = {0};
	struct err err;

	if (columns)
		vec_push(&s.columns, columns);
	for (unsigned i = 0; i < rounds; i++) {
		struct query q;
		double t0 = now_ms();

		if (query_init(&q, p, NULL, &s, &err) < 0) {
			fprintf(stderr, "bench_sets: %s\n", err.msg);
			exit(2);
		}
		ms[i] = now_ms() - t0;
		query_release(&q);
	}
	qsort(ms, rounds, sizeof(*ms), by_size);
	printf("%8.1f %8.1f  %s\n", ms[0], ms[rounds / 2], columns ? columns : "(events only)");
	select_release(&s);
	free(ms);
}

int main(int argc, char **argv)
{
	const size_t n = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000;
	const unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 11;
	struct profile p;

	make_profile(&p, n);
	printf("%zu values, %zu vectors, %zu places\n     min   median  columns\n", p.values.n,
	       p.vectors.n, p.places.n);
	measure(&p, NULL, rounds);
	measure(&p, "retired^!mispredicted", rounds);
	measure(&p, "(load^dram)|(branch^taken)", rounds);
	measure(&p, "retired+load+dram::load+mispredicted::branch", rounds);
	profile_release(&p);
	return 0;
}
