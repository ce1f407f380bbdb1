/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of the C library that a preloaded library stands in for, because no destructor runs
 * behind them: _exit(2) and exec(3) write the profile first, dlclose(3) has ticks counted while it
 * is known what they are of, and before chroot(2) the file of counts is made.  What the C library
 * calls itself does not come by here. */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inproc/export.h"
#include "inproc/preload.h"

/* The C library's own. */
#define REAL(fn) ((__typeof__(fn) *)dlsym(RTLD_NEXT, #fn))

__attribute__((noreturn)) static void leave(int status)
{
	preload_pause();
	for (;;)
		syscall(SYS_exit_group, status);
}

void inproc_exit(int status) EXPORT_AS(inproc_exit, _exit);
void inproc_exit(int status)
{
	leave(status);
}

void inproc_Exit(int status) EXPORT_AS(inproc_Exit, _Exit);
void inproc_Exit(int status)
{
	leave(status);
}

/* CALL, an exec that comes back only when it failed. */
#define TRY(call)                                                                                  \
	do {                                                                                       \
		bool was_on = preload_pause();                                                     \
		int r = (call), e = errno;                                                         \
		if (was_on)                                                                        \
			preload_go_on();                                                           \
		errno = e;                                                                         \
		return r;                                                                          \
	} while (0)

int inproc_execve(const char *path, char *const argv[], char *const envp[])
	EXPORT_AS(inproc_execve, execve);
int inproc_execve(const char *path, char *const argv[], char *const envp[])
{
	TRY(REAL(execve)(path, argv, envp));
}

int inproc_execv(const char *path, char *const argv[]) EXPORT_AS(inproc_execv, execv);
int inproc_execv(const char *path, char *const argv[])
{
	TRY(REAL(execve)(path, argv, environ));
}

int inproc_execvp(const char *file, char *const argv[]) EXPORT_AS(inproc_execvp, execvp);
int inproc_execvp(const char *file, char *const argv[])
{
	TRY(REAL(execvp)(file, argv));
}

int inproc_fexecve(int fd, char *const argv[], char *const envp[])
	EXPORT_AS(inproc_fexecve, fexecve);
int inproc_fexecve(int fd, char *const argv[], char *const envp[])
{
	TRY(REAL(fexecve)(fd, argv, envp));
}

/* The arguments from FIRST to NULL, on the caller's stack. */
#define GATHER(first, argv, rest)                                                                  \
	do {                                                                                       \
		size_t n = 1;                                                                      \
		va_start(rest, first);                                                             \
		while (va_arg(rest, char *))                                                       \
			n++;                                                                       \
		va_end(rest);                                                                      \
		argv = __builtin_alloca((n + 1) * sizeof(char *));                                 \
		argv[0] = (char *)(first);                                                         \
		va_start(rest, first);                                                             \
		for (size_t i = 1; i <= n; i++)                                                    \
			argv[i] = va_arg(rest, char *);                                            \
	} while (0)

int inproc_execl(const char *path, const char *arg, ...) EXPORT_AS(inproc_execl, execl);
int inproc_execl(const char *path, const char *arg, ...)
{
	va_list rest;
	char **argv;

	GATHER(arg, argv, rest);
	va_end(rest);
	TRY(REAL(execve)(path, argv, environ));
}

int inproc_execlp(const char *file, const char *arg, ...) EXPORT_AS(inproc_execlp, execlp);
int inproc_execlp(const char *file, const char *arg, ...)
{
	va_list rest;
	char **argv;

	GATHER(arg, argv, rest);
	va_end(rest);
	TRY(REAL(execvp)(file, argv));
}

int inproc_execle(const char *path, const char *arg, ...) EXPORT_AS(inproc_execle, execle);
int inproc_execle(const char *path, const char *arg, ...)
{
	char *const *envp;
	va_list rest;
	char **argv;

	GATHER(arg, argv, rest);
	envp = va_arg(rest, char *const *); /* behind the NULL */
	va_end(rest);
	TRY(REAL(execve)(path, argv, envp));
}

typedef int close_fn(void *handle);

close_fn inproc_dlclose EXPORT_VERSION(inproc_dlclose, "dlclose@@GLIBC_2.34");
close_fn inproc_dlclose_oldest __attribute__((alias("inproc_dlclose")))
EXPORT_VERSION(inproc_dlclose_oldest, "dlclose@" OLDEST);

int inproc_dlclose(void *handle)
{
	close_fn *real = REAL(dlclose);
	int r;

	preload_take_in();
	r = real ? real(handle) : -1;
	preload_unloaded();
	return r;
}

int inproc_chroot(const char *path) EXPORT_AS(inproc_chroot, chroot);
int inproc_chroot(const char *path)
{
	preload_change_root();
	return REAL(chroot)(path);
}
