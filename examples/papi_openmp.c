/* SPDX-License-Identifier: BSD-2-Clause */
/* Where each thread of an OpenMP program spends its time, by PAPI_profil().
 *
 *     cc -g -O1 -fopenmp papi_openmp.c $(pkg-config --cflags --libs dwell-papi)
 *
 * Each thread has an event set of its own with the event named in the first argument (else the
 * thread's CPU time), profiles a function of the program with it, and says which 16 bytes of that
 * function had the most. */
#include <omp.h>
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, BYTES = 512, PERIOD = 200000 };

static unsigned long thread_number(void)
{
	return (unsigned long)omp_get_thread_num();
}

/* What is profiled: harder work for higher SEEDs. */
__attribute__((noinline)) static double work(int seed)
{
	double x = seed;

	for (int i = 0; i < 20000000 * (seed + 1); i++)
		x = x * 0.999 + 1.0 / (1 + i % 7);
	return x;
}

static int check(int result, const char *what)
{
	if (result != PAPI_OK)
		fprintf(stderr, "%s: %s\n", what, PAPI_strerror(result));
	return result != PAPI_OK;
}

/* The calling thread's part; 0 when all went well. */
static int profile_myself(int code)
{
	/* one bucket for 2 addresses: as many bytes of buckets as of code */
	unsigned short buckets[BYTES / 2] = {0};
	unsigned all = 0, most = 0, at = 0;
	int set = PAPI_NULL;
	long long count = 0;
	volatile double sum;

	if (check(PAPI_register_thread(), "PAPI_register_thread") ||
	    check(PAPI_create_eventset(&set), "PAPI_create_eventset") ||
	    check(PAPI_add_event(set, code), "PAPI_add_event") ||
	    check(PAPI_profil(buckets, sizeof(buckets), (void *)work, 65536, set, code, PERIOD,
			      PAPI_PROFIL_POSIX | PAPI_PROFIL_BUCKET_16),
		  "PAPI_profil") ||
	    check(PAPI_start(set), "PAPI_start"))
		return 1;
	sum = work(omp_get_thread_num());
	(void)sum;
	if (check(PAPI_stop(set, &count), "PAPI_stop"))
		return 1;
	for (unsigned i = 0; i < BYTES / 2; i += 8) {
		unsigned here = 0;

		for (unsigned k = i; k < i + 8; k++)
			here += buckets[k];
		all += here;
		if (here > most) {
			most = here;
			at = 2 * i;
		}
	}
#pragma omp critical
	printf("thread %d: %lld counted, %u samples in work(), most in +%u..%u: %u\n",
	       omp_get_thread_num(), count, all, at, at + 15, most);
	return check(PAPI_cleanup_eventset(set), "PAPI_cleanup_eventset") ||
	       check(PAPI_destroy_eventset(&set), "PAPI_destroy_eventset") ||
	       check(PAPI_unregister_thread(), "PAPI_unregister_thread");
}

int main(int argc, char **argv)
{
	int code, n_failed = 0;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
	    check(PAPI_thread_init(thread_number), "PAPI_thread_init") ||
	    check(PAPI_event_name_to_code(argc > 1 ? argv[1] : "perf::TASK-CLOCK", &code),
		  argc > 1 ? argv[1] : "perf::TASK-CLOCK"))
		return 1;
#pragma omp parallel num_threads(THREADS) reduction(+ : n_failed)
	n_failed += profile_myself(code);
	PAPI_shutdown();
	return n_failed != 0;
}
