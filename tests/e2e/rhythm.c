/* SPDX-License-Identifier: BSD-2-Clause */
/* rhythm KIND SECONDS [N]: programs that run in step with timers, or in short bursts.  Its name is
 * KIND, and it ends by itself.
 *
 *   aligned N   1 ms of work each 4 ms of CLOCK_MONOTONIC, N us behind the whole 4 ms
 *   nap         3 ms asleep, 1 ms of work
 *   wheel       a socket's receive time-out of 8 ms, 1 ms of work
 *   pipe        two processes that wake each other, 20 and 40 us of work
 *   tcp         the same over a loopback connection
 *   forks       a process after the other, 0.4 ms of work each
 *   find        find(1), one after the other, over /usr/share/doc
 *   halves      each 4 ms of CLOCK_MONOTONIC 0.6 ms in user mode, then 0.6 ms in the kernel; at its
 *               end it prints the CPU time of either, in ns
 *   hog         works on */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* NS of CPU time. */
static void work(uint64_t ns)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (unsigned i = 0; i < 500; i++)
			sink += i;
}

static void sleep_until(uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1000000000),
			     .tv_nsec = (long)(ns % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void aligned(uint64_t end, uint64_t phase_ns)
{
	for (uint64_t t; (t = now_ns(CLOCK_MONOTONIC)) < end;) {
		sleep_until((t / 4000000 + 1) * 4000000 + phase_ns);
		work(1000000);
	}
}

static void nap(uint64_t end)
{
	while (now_ns(CLOCK_MONOTONIC) < end) {
		nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
		work(1000000);
	}
}

static void wheel(uint64_t end)
{
	struct timeval wait = {.tv_usec = 8000};
	int s[2];
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) < 0 ||
	    setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0)
		exit(1);
	while (now_ns(CLOCK_MONOTONIC) < end)
		if (recv(s[0], &c, 1, 0) < 0)
			work(1000000);
}

/* Passes a byte on until END, after NS of work. */
static void pass(int in, int out, uint64_t end, uint64_t ns)
{
	char c = 0;

	while (now_ns(CLOCK_MONOTONIC) < end && read(in, &c, 1) == 1) {
		work(ns);
		if (write(out, &c, 1) != 1)
			break;
	}
}

static void pair(const int in[2], const int out[2], uint64_t end)
{
	pid_t other = fork();

	if (other == 0) {
		pass(in[0], out[1], UINT64_MAX, 40000);
		_exit(0);
	}
	if (write(in[1], "", 1) != 1)
		exit(1);
	pass(out[0], in[1], end, 20000);
	kill(other, SIGKILL);
}

static void pipes(uint64_t end)
{
	int a[2], b[2];

	if (pipe(a) < 0 || pipe(b) < 0)
		exit(1);
	pair(a, b, end);
}

static void tcp(uint64_t end)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(to);
	int l = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0), s;

	if (bind(l, (void *)&to, sizeof(to)) < 0 || listen(l, 1) < 0 ||
	    getsockname(l, (void *)&to, &n) < 0 || connect(c, (void *)&to, sizeof(to)) < 0 ||
	    (s = accept(l, NULL, NULL)) < 0)
		exit(1);
	pair((int[]){s, c}, (int[]){c, s}, end);
}

static void find(uint64_t end)
{
	while (now_ns(CLOCK_MONOTONIC) < end) {
		if (fork() == 0) {
			int null = open("/dev/null", O_WRONLY);

			dup2(null, 1);
			dup2(null, 2);
			execlp("find", "find", "/usr/share/doc", "-newer", "/", (char *)NULL);
			_exit(127);
		}
		wait(NULL);
	}
}

/* The loop asks the clock once, and the kernel's half is one system call: so each is nearly all in
 * the mode that it is for. */
static void halves(uint64_t end)
{
	enum { NS = 600000 };
	static char bytes[1 << 20];
	uint64_t used[2] = {0}, many[2] = {1000, 1000};

	for (uint64_t t; (t = now_ns(CLOCK_MONOTONIC)) < end;) {
		sleep_until((t / 4000000 + 1) * 4000000);
		for (unsigned kernel = 0; kernel < 2; kernel++) {
			uint64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID), took;

			if (kernel && getrandom(bytes, many[1], 0) < 0)
				exit(1);
			for (uint64_t i = 0; !kernel && i < many[0]; i++)
				sink += (unsigned)i;
			took = now_ns(CLOCK_THREAD_CPUTIME_ID) - from;
			used[kernel] += took;
			if (took < NS / 2 && many[kernel] < sizeof(bytes) / 2)
				many[kernel] *= 2;
		}
	}
	printf("%llu %llu\n", (unsigned long long)used[0], (unsigned long long)used[1]);
}

static void hog(uint64_t end)
{
	while (now_ns(CLOCK_MONOTONIC) < end)
		work(1000000);
}

static void forks(uint64_t end)
{
	while (now_ns(CLOCK_MONOTONIC) < end) {
		if (fork() == 0) {
			work(400000);
			_exit(0);
		}
		wait(NULL);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";
	uint64_t end =
		now_ns(CLOCK_MONOTONIC) + (uint64_t)((argc > 2 ? strtod(argv[2], NULL) : 0) * 1e9);
	char name[16];

	snprintf(name, sizeof(name), "%s%s", kind, argc > 3 ? argv[3] : "");
	prctl(PR_SET_NAME, name);
	if (strcmp(kind, "aligned") == 0 && argc > 3)
		aligned(end, strtoull(argv[3], NULL, 10) * 1000);
	else if (strcmp(kind, "nap") == 0)
		nap(end);
	else if (strcmp(kind, "wheel") == 0)
		wheel(end);
	else if (strcmp(kind, "pipe") == 0)
		pipes(end);
	else if (strcmp(kind, "tcp") == 0)
		tcp(end);
	else if (strcmp(kind, "forks") == 0)
		forks(end);
	else if (strcmp(kind, "find") == 0)
		find(end);
	else if (strcmp(kind, "halves") == 0)
		halves(end);
	else if (strcmp(kind, "hog") == 0)
		hog(end);
	else
		return fprintf(stderr, "rhythm KIND SECONDS [N]\n"), 2;
	while (wait(NULL) > 0)
		;
	return 0;
}
