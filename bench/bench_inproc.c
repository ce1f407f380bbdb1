/* SPDX-License-Identifier: BSD-2-Clause */
/* What profiling costs and counts inside of a program.  It is written for glibc's <sys/profil.h>:
 * with libdwell.so preloaded sprofil(2) and profil(2) are dwell's, without they are glibc's.
 *
 * bench_inproc gaps none|signal|bare|sprofil HZ SECONDS
 *   Looks at the clock all the time; nobody else runs on its CPU.  bare: a perf event of HZ without
 *   a ring, so that only its timer is felt.  none: the kernel's own ticks; signal: these, with
 *   glibc's sprofil.  Prints interruptions, their median in ns, ticks, CPU ns of other threads.
 *
 * bench_inproc threads N SECONDS
 *   N threads, each in code of its own: ticks of each, in ns, over its CPU time.  Prints least,
 *   median, most, all, ticks outside of that code.  Then how much of its CPU time the kernel's task
 *   clock counts for each thread, by an event that takes no samples: least, and of all what is
 *   missing in ns, and how often they were switched.  Then the least of all threads with their
 *   ticks of no place, which dwell_profil_threads() tells; 0 without it.
 *
 * bench_inproc startstop N
 *   With N threads that wait.  Prints us to begin, us to end, bytes of rings, resident bytes more.
 *
 * bench_inproc regions N
 *   Prints ns of a look-up among N regions (dwell's own code). */
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/profil.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "dwell/dwell.h"
#include "inproc/buckets.h"

enum { MAX_THREADS = 64, CODE_BYTES = 4096, MAX_GAPS = 1 << 20, LEAST_GAP_NS = 2000 };

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Gaps. */

static unsigned counts[1];

static void begin_sprofil(void)
{
	static struct prof p[2];
	static unsigned none[1];

	/* everything is in the second: the lowest addresses are nobody's */
	p[0] = (struct prof){.pr_base = none, .pr_size = 4, .pr_off = 64, .pr_scale = 0x10000};
	p[1] = (struct prof){.pr_base = counts, .pr_size = 4, .pr_off = 0, .pr_scale = 2};
	if (sprofil(p, 2, NULL, PROF_UINT))
		die("sprofil");
}

static int begin_bare(unsigned hz)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .sample_period = 1000000000 / hz,
				       .sample_type = PERF_SAMPLE_IP};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		die("perf_event_open");
	return fd;
}

/* Others' programs wait meanwhile, if we may ask for that. */
static void be_alone(void)
{
	struct sched_param first = {.sched_priority = 1};

	sched_setscheduler(0, SCHED_FIFO, &first);
}

/* The kernel's own tick comes each 4 ms (or a part of that), always at the same place: of the N
 * gaps V that were over at WHEN those in the fullest of the parts of that time; how many. */
static size_t keep_kernel_ticks(uint64_t *v, const uint64_t *when, size_t n)
{
	enum { CYCLE_NS = 4000000, PARTS = 20 };
	size_t in_part[PARTS] = {0}, kept = 0, best = 0;

	for (size_t i = 0; i < n; i++)
		in_part[when[i] % CYCLE_NS / (CYCLE_NS / PARTS)]++;
	for (size_t i = 0; i < PARTS; i++)
		best = in_part[i] > in_part[best] ? i : best;
	for (size_t i = 0; i < n; i++)
		if (when[i] % CYCLE_NS / (CYCLE_NS / PARTS) == best)
			v[kept++] = v[i];
	return kept;
}

static int gaps(const char *mode, unsigned hz, double seconds)
{
	uint64_t *v = malloc(MAX_GAPS * sizeof(*v)), *when = malloc(MAX_GAPS * sizeof(*v)), end,
		 last, other;
	size_t n = 0;

	memset(v, 1, MAX_GAPS * sizeof(*v));
	memset(when, 1, MAX_GAPS * sizeof(*when));
	if (strcmp(mode, "bare") == 0)
		begin_bare(hz);
	else if (strcmp(mode, "sprofil") == 0 || strcmp(mode, "signal") == 0)
		begin_sprofil();
	usleep(150000); /* the helper has begun */
	be_alone();
	other = now(CLOCK_PROCESS_CPUTIME_ID) - now(CLOCK_THREAD_CPUTIME_ID);
	last = now(CLOCK_MONOTONIC);
	end = last + (uint64_t)(seconds * 1e9);
	while (last < end && n < MAX_GAPS) {
		uint64_t t = now(CLOCK_MONOTONIC);

		if (t - last >= LEAST_GAP_NS) {
			when[n] = last;
			v[n++] = t - last;
		}
		last = t;
	}
	other = now(CLOCK_PROCESS_CPUTIME_ID) - now(CLOCK_THREAD_CPUTIME_ID) - other;
	if (strcmp(mode, "sprofil") == 0)
		sprofil(NULL, 0, NULL, PROF_UINT);
	if (strcmp(mode, "none") == 0 || strcmp(mode, "signal") == 0)
		n = keep_kernel_ticks(v, when, n);
	qsort(v, n, sizeof(*v), by_value);
	printf("%zu %llu %u %llu\n", n, n ? (unsigned long long)v[n / 2] : 0, counts[0],
	       (unsigned long long)other);
	fflush(stdout);
	_exit(0); /* glibc's sprofil cannot be turned off for certain */
}

/* Threads. */

/* What a thread did. */
struct lived {
	void (*fn)(void);
	uint64_t cpu_ns, counted_ns, n_switches;
	int tid;
};

static struct lived lived[MAX_THREADS];
static double run_seconds;
static unsigned n_loops; /* of a thread; it asks for no clock meanwhile, which might switch it */
static pthread_barrier_t barrier;

/* Copied to a page for each thread: needs nothing around it. */
__attribute__((noinline, noclone)) static void loop(void)
{
	for (volatile unsigned long i = 0; i < 10000000; i++)
		;
}

static int open_task_clock(void)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_TASK_CLOCK};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t read_event(int fd)
{
	uint64_t count = 0;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

static uint64_t n_switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (uint64_t)(u.ru_nvcsw + u.ru_nivcsw);
}

static void *run_copy(void *which)
{
	struct lived *l = which;
	int fd = open_task_clock();
	uint64_t switches, counted, cpu;

	l->tid = (int)syscall(SYS_gettid);
	pthread_barrier_wait(&barrier);
	switches = n_switches();
	counted = read_event(fd);
	cpu = now(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; i < n_loops; i++)
		l->fn();
	l->cpu_ns = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	l->counted_ns = read_event(fd) - counted;
	l->n_switches = n_switches() - switches;
	return NULL;
}

/* The number of loops that take run_seconds. */
static unsigned count_loops(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t t = now(CLOCK_THREAD_CPUTIME_ID);

		loop();
		t = now(CLOCK_THREAD_CPUTIME_ID) - t;
		best = t < best ? t : best;
	}
	return (unsigned)(run_seconds * 1e9 / (double)best) + 1;
}

/* The ticks of no place of thread TID; 0: nobody says. */
static uint64_t unplaced_of(int tid)
{
	static struct dwell_profil_thread t[MAX_THREADS + 2];
	int (*ask)(struct dwell_profil_thread *, int);
	int n;

	*(void **)&ask = dlsym(RTLD_DEFAULT, "dwell_profil_threads");
	n = ask ? ask(t, MAX_THREADS + 2) : 0;
	for (int i = 0; i < n && i < MAX_THREADS + 2; i++)
		if (t[i].tid == tid)
			return t[i].n_unplaced;
	return 0;
}

static int threads(int n)
{
	static unsigned v[MAX_THREADS];
	static struct prof p[MAX_THREADS + 1];
	uint8_t *code = mmap(NULL, (size_t)n * CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t t[MAX_THREADS];
	struct timeval tick;
	uint64_t ratio[MAX_THREADS], all_ticks = 0, all_cpu = 0, switches = 0, missing = 0;
	double least_counted = 1, least_told = 2;

	n_loops = count_loops();
	pthread_barrier_init(&barrier, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++) {
		memcpy(code + i * CODE_BYTES, (void *)loop, 256);
		/* one element for the page */
		p[i] = (struct prof){.pr_base = &v[i],
				     .pr_size = 4,
				     .pr_off = (size_t)code + (size_t)i * CODE_BYTES,
				     .pr_scale = 4 * 65536 / CODE_BYTES};
		*(void **)&lived[i].fn = code + i * CODE_BYTES;
		pthread_create(&t[i], NULL, run_copy, &lived[i]);
	}
	p[n] = (struct prof){.pr_base = counts, .pr_size = 4, .pr_off = 0, .pr_scale = 2};
	if (sprofil(p, n + 1, &tick, PROF_UINT))
		die("sprofil");
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	sprofil(NULL, 0, NULL, PROF_UINT);
	for (int i = 0; i < n; i++) {
		const struct lived *l = &lived[i];
		uint64_t tick_ns =
			((uint64_t)tick.tv_sec * 1000000 + (uint64_t)tick.tv_usec) * 1000;
		uint64_t ticks = v[i] * tick_ns;
		double counted = (double)l->counted_ns / (double)l->cpu_ns;
		double told = (double)(ticks + unplaced_of(l->tid) * tick_ns) / (double)l->cpu_ns;

		ratio[i] = ticks * 1000000 / l->cpu_ns;
		all_ticks += ticks;
		all_cpu += l->cpu_ns;
		switches += l->n_switches;
		missing += l->cpu_ns > l->counted_ns ? l->cpu_ns - l->counted_ns : 0;
		least_counted = counted < least_counted ? counted : least_counted;
		least_told = told < least_told ? told : least_told;
	}
	qsort(ratio, (size_t)n, sizeof(*ratio), by_value);
	printf("%.4f %.4f %.4f %.4f %u %.4f %llu %llu %.4f\n", (double)ratio[0] / 1e6,
	       (double)ratio[n / 2] / 1e6, (double)ratio[n - 1] / 1e6,
	       (double)all_ticks / (double)all_cpu, counts[0], least_counted,
	       (unsigned long long)missing, (unsigned long long)switches,
	       dlsym(RTLD_DEFAULT, "dwell_profil_threads") ? least_told : 0);
	return 0;
}

/* Start and stop. */

static void *wait_for_end(void *unused)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return unused;
}

static unsigned long ring_bytes(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start, end, sum = 0;
	char line[5000];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "anon_inode:[perf_event]") &&
		    sscanf(line, "%lx-%lx", &start, &end) == 2)
			sum += end - start;
	if (f)
		fclose(f);
	return sum;
}

static long resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

static int startstop(int n)
{
	pthread_t t[MAX_THREADS];
	uint64_t a, b, c, d;
	unsigned long rings;
	long before, resident;

	begin_sprofil(); /* the first time starts the helper */
	sprofil(NULL, 0, NULL, PROF_UINT);
	pthread_barrier_init(&barrier, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, wait_for_end, NULL);
	pthread_barrier_wait(&barrier);
	before = resident_bytes();
	a = now(CLOCK_MONOTONIC);
	begin_sprofil();
	b = now(CLOCK_MONOTONIC);
	rings = ring_bytes();
	resident = resident_bytes() - before;
	c = now(CLOCK_MONOTONIC);
	sprofil(NULL, 0, NULL, PROF_UINT);
	d = now(CLOCK_MONOTONIC);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("%.1f %.1f %lu %ld\n", (double)(b - a) / 1e3, (double)(d - c) / 1e3, rings,
	       resident);
	return 0;
}

/* Regions. */

static int regions(uint32_t n)
{
	enum { LOOKUPS = 1 << 20 };
	struct region *r = calloc(n, sizeof(*r));
	uint64_t best = UINT64_MAX, sum = 0;
	struct buckets b = {0};

	for (uint32_t i = 0; i < n; i++)
		r[i] = (struct region){0x10000000 + i * 4096ull, 4096, 0x400000 + i * 8192ull,
				       65536};
	if (buckets_init(&b, BUCKETS_SPROFIL, 4, r, n, 0) < 0)
		die("buckets_init");
	for (int round = 0; round < 5; round++) {
		uint64_t t = now(CLOCK_THREAD_CPUTIME_ID);

		for (uint64_t i = 0; i < LOOKUPS; i++)
			sum += buckets_find(&b, 0x400000 + hash_u64(i) % (n * 8192ull));
		t = now(CLOCK_THREAD_CPUTIME_ID) - t;
		best = t < best ? t : best;
	}
	printf("%.2f %d\n", (double)best / LOOKUPS, (int)(sum & 1));
	buckets_release(&b);
	free(r);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (strcmp(what, "gaps") == 0 && argc == 5)
		return gaps(argv[2], (unsigned)atoi(argv[3]), atof(argv[4]));
	if (strcmp(what, "threads") == 0 && argc == 4 && atoi(argv[2]) <= MAX_THREADS) {
		run_seconds = atof(argv[3]);
		return threads(atoi(argv[2]));
	}
	if (strcmp(what, "startstop") == 0 && atoi(argv[2]) <= MAX_THREADS)
		return startstop(atoi(argv[2]));
	if (strcmp(what, "regions") == 0)
		return regions((uint32_t)atoi(argv[2]));
	return 2;
}
