/* SPDX-License-Identifier: BSD-2-Clause */
/* What PAPI_profil() costs a program, in a program that is linked with PAPI's library or with ours:
 *   bench_papi MODE THRESHOLD_NS SECONDS
 * MODE: none, bare (a perf event of that period that nobody hears of: what its timer costs), ring
 * (the same with a ring, as all that sample must have) or profil.  The program looks at the
 * clock all the time; an interruption is what lies between two looks and is longer than one.
 * Prints: interruptions, their median in ns, those in which the histogram changed, their median,
 * samples in the histogram, CPU ns of other threads.
 *   bench_papi startstop THRESHOLD_NS N
 * Prints: the median ns of PAPI_start() and of PAPI_stop() with a profiled event.
 *   bench_papi count EVENTS N
 * Prints: the median ns of PAPI_start(), PAPI_read(), PAPI_accum(), PAPI_reset() and PAPI_stop()
 * with that many events that are only counted. */
#include <linux/perf_event.h>
#include <papi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_GAPS = 1 << 20, LEAST_GAP_NS = 2000 };

static uint64_t gaps[MAX_GAPS], changes[MAX_GAPS];
static volatile unsigned long long histogram[1];

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static unsigned long long median(uint64_t *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n ? v[n / 2] : 0;
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void begin_event(unsigned period_ns, int has_ring)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .sample_period = period_ns,
				       .sample_type = PERF_SAMPLE_IP};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0 || (has_ring && mmap(NULL, 9 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
					0) == MAP_FAILED))
		die("perf_event_open");
}

/* An event set with a profile of all addresses. */
static int profiled_set(int threshold)
{
	int set = PAPI_NULL, code;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
	    PAPI_create_eventset(&set) != PAPI_OK ||
	    PAPI_event_name_to_code("perf::PERF_COUNT_SW_TASK_CLOCK", &code) != PAPI_OK ||
	    PAPI_add_event(set, code) != PAPI_OK ||
	    PAPI_profil((void *)histogram, sizeof(histogram), 0, 2, set, code, threshold,
			PAPI_PROFIL_POSIX | PAPI_PROFIL_BUCKET_64) != PAPI_OK)
		die("PAPI");
	return set;
}

static int measure_gaps(const char *mode, int period_ns, double seconds)
{
	int set = strcmp(mode, "profil") == 0 ? profiled_set(period_ns) : PAPI_NULL;
	unsigned long long counted = 0;
	uint64_t last, end, other;
	size_t n = 0, n_changes = 0;

	memset(gaps, 1, sizeof(gaps));
	if (strcmp(mode, "bare") == 0 || strcmp(mode, "ring") == 0)
		begin_event((unsigned)period_ns, strcmp(mode, "ring") == 0);
	if (set != PAPI_NULL && PAPI_start(set) != PAPI_OK)
		die("PAPI_start");
	other = now(CLOCK_PROCESS_CPUTIME_ID) - now(CLOCK_THREAD_CPUTIME_ID);
	end = now(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(seconds * 1e9);
	last = now(CLOCK_MONOTONIC); /* read without a system call */
	for (unsigned k = 1; (k % 4096 || now(CLOCK_THREAD_CPUTIME_ID) < end) && n < MAX_GAPS;
	     k++) {
		uint64_t t = now(CLOCK_MONOTONIC);

		if (t - last >= LEAST_GAP_NS)
			gaps[n++] = t - last;
		/* the handler may have come behind the clock's reading */
		if (counted != histogram[0] && n_changes < MAX_GAPS) {
			counted = histogram[0];
			changes[n_changes++] = now(CLOCK_MONOTONIC) - last;
		}
		last = t;
	}
	other = now(CLOCK_PROCESS_CPUTIME_ID) - now(CLOCK_THREAD_CPUTIME_ID) - other;
	if (set != PAPI_NULL)
		PAPI_stop(set, NULL);
	printf("%zu %llu %zu %llu %llu %llu\n", n, median(gaps, n), n_changes,
	       median(changes, n_changes), histogram[0], (unsigned long long)other);
	return 0;
}

static int measure_start_stop(int period_ns, int n)
{
	int set = profiled_set(period_ns);
	uint64_t *stops = changes;

	for (int i = 0; i < n; i++) {
		uint64_t t = now(CLOCK_MONOTONIC);

		PAPI_start(set);
		gaps[i] = now(CLOCK_MONOTONIC) - t;
		for (volatile int k = 0; k < 100000; k++)
			;
		t = now(CLOCK_MONOTONIC);
		PAPI_stop(set, NULL);
		stops[i] = now(CLOCK_MONOTONIC) - t;
	}
	printf("%llu %llu\n", median(gaps, (size_t)n), median(stops, (size_t)n));
	return 0;
}

static const char *const counted[] = {
	"perf::PERF_COUNT_SW_TASK_CLOCK", "perf::PERF_COUNT_SW_PAGE_FAULTS",
	"perf::PERF_COUNT_SW_CONTEXT_SWITCHES", "perf::PERF_COUNT_SW_CPU_MIGRATIONS"};

/* Costs of the five calls in N rounds. */
static int measure_counting(int n_events, int n)
{
	enum { START, READ, ACCUM, RESET, STOP, N_CALLS };
	static uint64_t took[N_CALLS][1 << 16];
	long long values[4] = {0};
	int set = PAPI_NULL, code;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
	    PAPI_create_eventset(&set) != PAPI_OK || n > 1 << 16 || n_events > 4)
		die("PAPI");
	for (int i = 0; i < n_events; i++)
		if (PAPI_event_name_to_code(counted[i], &code) != PAPI_OK ||
		    PAPI_add_event(set, code) != PAPI_OK)
			die(counted[i]);
	for (int i = 0; i < n; i++) {
		uint64_t t[N_CALLS + 1];

		t[START] = now(CLOCK_MONOTONIC);
		PAPI_start(set);
		t[READ] = now(CLOCK_MONOTONIC);
		PAPI_read(set, values);
		t[ACCUM] = now(CLOCK_MONOTONIC);
		PAPI_accum(set, values);
		t[RESET] = now(CLOCK_MONOTONIC);
		PAPI_reset(set);
		t[STOP] = now(CLOCK_MONOTONIC);
		PAPI_stop(set, values);
		t[N_CALLS] = now(CLOCK_MONOTONIC);
		for (int k = 0; k < N_CALLS; k++)
			took[k][i] = t[k + 1] - t[k];
	}
	for (int k = 0; k < N_CALLS; k++)
		printf("%llu ", median(took[k], (size_t)n));
	printf("\n");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	if (strcmp(argv[1], "count") == 0)
		return measure_counting(atoi(argv[2]), atoi(argv[3]));
	if (strcmp(argv[1], "startstop") == 0)
		return measure_start_stop(atoi(argv[2]), atoi(argv[3]));
	return measure_gaps(argv[1], atoi(argv[2]), atof(argv[3]));
}
