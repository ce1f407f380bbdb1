/* SPDX-License-Identifier: BSD-2-Clause */
/* See threads.h.  In a shared library our pthread_create carries the C library's symbol versions,
 * so that programs and libraries linked before find it; the C library's own is asked of the dynamic
 * linker.  In a static program the linker is told to put ours in between (--wrap, which the
 * pkg-config file says). */
#include "inproc/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inproc/drain.h"
#include "inproc/export.h"

typedef int create_fn(pthread_t *ret, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

#ifdef DWELL_STATIC
create_fn __real_pthread_create __attribute__((weak));
static create_fn *real_create(void)
{
	return __real_pthread_create ? __real_pthread_create : pthread_create;
}
#else
static create_fn *real_create(void)
{
	static create_fn *real;
	create_fn *r = __atomic_load_n(&real, __ATOMIC_RELAXED);

	if (!r) {
		r = (create_fn *)dlsym(RTLD_NEXT, "pthread_create");
		__atomic_store_n(&real, r, __ATOMIC_RELAXED);
	}
	return r;
}
#endif

struct beginning {
	void *(*fn)(void *);
	void *arg;
};

static void threads_end(void *unused)
{
	(void)unused;
	drain_thread_ends();
}

static void *threads_begin(void *p)
{
	struct beginning b = *(struct beginning *)p;
	void *ret;

	free(p);
	drain_thread_began();
	pthread_cleanup_push(threads_end, NULL); /* also at pthread_exit(3) and cancellation */
	ret = b.fn(b.arg);
	pthread_cleanup_pop(1);
	return ret;
}

#ifdef DWELL_STATIC
create_fn inproc_pthread_create EXPORT_AS(inproc_pthread_create, __wrap_pthread_create);
#else
create_fn inproc_pthread_create EXPORT_VERSION(inproc_pthread_create, "pthread_create@@GLIBC_2.34");
create_fn inproc_pthread_create_oldest __attribute__((alias("inproc_pthread_create")))
EXPORT_VERSION(inproc_pthread_create_oldest, "pthread_create@" OLDEST);
#endif

int inproc_pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg)
{
	create_fn *create = real_create();
	struct beginning *b = malloc(sizeof(*b));
	int e;

	if (!b || !create) {
		free(b);
		return EAGAIN;
	}
	*b = (struct beginning){fn, arg};
	e = create(ret, attr, threads_begin, b);
	if (e)
		free(b);
	return e;
}

int threads_create_untold(pthread_t *ret, void *(*fn)(void *))
{
	create_fn *create = real_create();

	return create ? create(ret, NULL, fn, NULL) : ENOSYS;
}

/* What getdents64(2) writes; readdir(3) would allocate. */
struct entry {
	uint64_t ino;
	int64_t off;
	uint16_t n_bytes;
	uint8_t type;
	char name[];
};

void threads_each(void (*each)(void *ctx, pid_t tid), void *ctx)
{
	char bytes[4096] __attribute__((aligned(8)));
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	if (fd < 0) { /* no /proc: this thread at least */
		each(ctx, (pid_t)syscall(SYS_gettid));
		return;
	}
	while ((n = syscall(SYS_getdents64, fd, bytes, sizeof(bytes))) > 0)
		for (long at = 0; at < n;) {
			const struct entry *e = (const struct entry *)(bytes + at);

			if (e->name[0] != '.')
				each(ctx, (pid_t)strtol(e->name, NULL, 10));
			at += e->n_bytes;
		}
	close(fd);
}

/* The beginning of file NAME of thread TID; "" when it cannot be read. */
static void read_about(pid_t tid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, size - 1);
	text[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
}

/* proc(5): "PID (NAME) STATE ...".  NAME may contain anything; the last ")" ends it. */
static bool is_zombie(pid_t tid)
{
	char stat[128];
	const char *end;

	read_about(tid, "stat", stat, sizeof(stat));
	end = strrchr(stat, ')');
	return end && strncmp(end, ") Z", 3) == 0;
}

static void look_for_others(void *ctx, pid_t tid)
{
	char name[32];

	if (tid == getpid() || !*(bool *)ctx)
		return;
	read_about(tid, "comm", name, sizeof(name));
	*(bool *)ctx = strcmp(name, HELPER_NAME "\n") == 0;
}

bool threads_have_ended(void)
{
	bool ended = is_zombie(getpid());

	if (ended)
		threads_each(look_for_others, &ended);
	return ended;
}
