/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that sleep, spin, wait for each other; each says at its end what the kernel counted for
 * it.
 *
 *     blocks SECONDS [NAME...]        those of these names; none: all
 *
 * Prints a line for each thread: NAME TID ELAPSED_NS RUN_NS WAIT_NS SPUN_NS PAUSES SLEEPS.  RUN and
 * WAIT are from /proc/thread-self/schedstat: time on a CPU, and time waiting for one.  SPUN is what
 * a spinner saw go by while it looked at the clock all the time, but for PAUSES in which somebody
 * else had the CPU, perhaps another virtual machine; SLEEPS is how often a sleeper slept. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t until_ns;
static int fds[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What the thread did. */
static __thread uint64_t spun_ns;
static __thread unsigned n_pauses, n_sleeps;

static void pause_ms(long ms)
{
	struct timespec t = {0, ms * 1000000};

	nanosleep(&t, NULL);
	n_sleeps++;
}

__attribute__((noinline)) static void spin_for(uint64_t ns)
{
	enum { PAUSE_NS = 200000 };
	uint64_t last = now_ns(), end = last + ns;

	for (uint64_t now; last < end; last = now) {
		now = now_ns();
		if (now - last < PAUSE_NS)
			spun_ns += now - last;
		else
			n_pauses++;
	}
}

__attribute__((noinline)) static void sleeper(void)
{
	while (now_ns() < until_ns)
		pause_ms(50);
}

__attribute__((noinline)) static void spinner(void)
{
	while (now_ns() < until_ns)
		spin_for(1000000);
}

/* Reads what the writer writes every 20 ms. */
__attribute__((noinline)) static void reader(void)
{
	char c;

	while (read(fds[0], &c, 1) == 1)
		;
}

__attribute__((noinline)) static void writer(void)
{
	while (now_ns() < until_ns) {
		pause_ms(20);
		if (write(fds[1], "x", 1) != 1)
			break;
	}
	close(fds[1]);
}

/* Holds the lock while it sleeps; the waiter waits for it in futex(2). */
__attribute__((noinline)) static void holder(void)
{
	while (now_ns() < until_ns) {
		pthread_mutex_lock(&mutex);
		pause_ms(30);
		pthread_mutex_unlock(&mutex);
		pause_ms(10);
	}
}

__attribute__((noinline)) static void waiter(void)
{
	while (now_ns() < until_ns) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		pause_ms(1);
	}
}

/* Sleeps and runs for moments shorter than any block worth a stack. */
__attribute__((noinline)) static void twitcher(void)
{
	struct timespec t = {0, 10000};

	while (now_ns() < until_ns)
		nanosleep(&t, NULL);
}

/* Takes pages of a file that are on the disk only. */
__attribute__((noinline)) static void pager(void)
{
	enum { PAGE = 4096, N_PAGES = 256 };
	char page[PAGE] = "here";
	int fd = open("paged", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	volatile char *at;

	unlink("paged");
	for (int i = 0; i < N_PAGES; i++)
		if (write(fd, page, PAGE) != PAGE)
			exit(1);
	while (now_ns() < until_ns) {
		if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
			exit(1);
		at = mmap(NULL, PAGE * N_PAGES, PROT_READ, MAP_SHARED, fd, 0);
		if (at == MAP_FAILED || madvise((void *)at, PAGE * N_PAGES, MADV_RANDOM))
			exit(1);
		for (int i = 0; i < N_PAGES; i++)
			at[i * PAGE];
		munmap((void *)at, PAGE * N_PAGES);
		pause_ms(20);
	}
	close(fd);
}

static const struct task {
	const char *name;
	void (*run)(void);
} tasks[] = {{"sleeper", sleeper},  {"spinner1", spinner}, {"spinner2", spinner},
	     {"spinner3", spinner}, {"reader", reader},	   {"writer", writer},
	     {"holder", holder},    {"waiter", waiter},	   {"twitcher", twitcher},
	     {"pager", pager}};

static void schedstat(uint64_t *run, uint64_t *wait)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "r");
	unsigned long long r = 0, w = 0;

	if (f && fscanf(f, "%llu %llu", &r, &w) != 2)
		r = w = 0;
	if (f)
		fclose(f);
	*run = r;
	*wait = w;
}

static void *run(void *arg)
{
	const struct task *t = arg;
	uint64_t start = now_ns(), cpu, wait;
	char line[200];

	pthread_setname_np(pthread_self(), t->name);
	t->run();
	schedstat(&cpu, &wait);
	snprintf(line, sizeof(line), "%s %d %llu %llu %llu %llu %u %u\n", t->name, gettid(),
		 (unsigned long long)(now_ns() - start), (unsigned long long)cpu,
		 (unsigned long long)wait, (unsigned long long)spun_ns, n_pauses, n_sleeps);
	if (write(1, line, strlen(line)) < 0)
		exit(1);
	return NULL;
}

static int wanted(const char *name, int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return 1;
	return argc <= 2;
}

int main(int argc, char **argv)
{
	pthread_t threads[sizeof(tasks) / sizeof(tasks[0])];
	size_t n = 0;

	until_ns = now_ns() + (uint64_t)(atof(argc > 1 ? argv[1] : "1") * 1e9);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return 1;
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
		if (wanted(tasks[i].name, argc, argv) &&
		    pthread_create(&threads[n++], NULL, run, (void *)&tasks[i]) != 0)
			return 1;
	while (n)
		pthread_join(threads[--n], NULL);
	return 0;
}
