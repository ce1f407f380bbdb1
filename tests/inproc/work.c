/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that says what it spent where:  work WHAT SECONDS [N]
 *
 * See turns.h.
 *   threads    N threads
 *   kill, trap, exit_group, _exit, quick_exit, abort    how the process ends, after SECONDS
 *   fork       parent and child
 *   vfork      a child of vfork(2) that ends at once, and one that executes `work threads`
 *   exec       then it executes itself: `work threads`
 *   exec_fails it tries to execute what is not there, and goes on
 *   execs      by each function there is for it, one after another
 *   daemon     after daemon(3)
 *   plugins    code of plugin_a, then of plugin_b, at the same address if that can be had
 *   signals    all signals blocked; another thread has SIGPROF and ITIMER_PROF, and counts them
 *   memory     code in nameless memory
 *   jail       at once with another root directory
 *   drop       at once as another user
 *   closes     closes all descriptors it did not open
 *   sprofil    glibc's header and names: profiles itself, says what it counted as "own PID NS" */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/profil.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "turns.h"

static const char *self, *what;

static char *again[] = {"work", "threads", "0.3", NULL};

static void exec_self(void)
{
	execv(self, again);
	abort();
}

static void exec_each(int next)
{
	char step[12], *argv[] = {"work", "execs", "0.1", step, NULL};

	snprintf(step, sizeof(step), "%d", next + 1);
	switch (next) {
	case 0:
		execve(self, argv, environ);
		break;
	case 1:
		execvp(self, argv);
		break;
	case 2:
		execl(self, "work", "execs", "0.1", step, NULL);
		break;
	case 3:
		execlp(self, "work", "execs", "0.1", step, NULL);
		break;
	case 4:
		execle(self, "work", "execs", "0.1", step, NULL, environ);
		break;
	default:
		return;
	}
	abort();
}

static void vforks(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(7);
	waitpid(pid, NULL, 0);
	work();
	pid = vfork();
	if (pid == 0) {
		execv(self, again);
		_exit(9);
	}
	waitpid(pid, NULL, 0);
}

/* What a plugin's procedure `plugin` spends. */
static void use_plugin(const char *dir, const char *name)
{
	char path[5000];
	void *lib;
	void (*fn)(void);
	uint64_t t = cpu_ns(), end = t + (uint64_t)(seconds * 1e9);

	snprintf(path, sizeof(path), "%s/lib%s.so", dir, name);
	lib = dlopen(path, RTLD_NOW);
	*(void **)&fn = lib ? dlsym(lib, "plugin") : NULL;
	if (!fn)
		abort();
	while (cpu_ns() < end)
		fn();
	say(name, cpu_ns() - t);
	dlclose(lib);
}

/* The bytes of work_a somewhere else; it needs nothing around it. */
static void work_in_memory(void)
{
	void (*fn)(unsigned long) = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t t = cpu_ns(), end = t + (uint64_t)(seconds * 1e9);

	memcpy((void *)fn, (void *)work_a, 256);
	__builtin___clear_cache((char *)fn, (char *)fn + 256);
	while (cpu_ns() < end)
		fn(about(60000));
	say("[anon]", cpu_ns() - t);
}

static volatile sig_atomic_t n_prof;

static void on_prof(int number)
{
	(void)number;
	n_prof++;
}

static void own_signals(void)
{
	struct sigaction act = {.sa_handler = on_prof, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 10000}, {0, 10000}};
	sigset_t all;

	sigaction(SIGPROF, &act, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	sigfillset(&all);
	work();
	sigprocmask(SIG_SETMASK, &all, NULL);
	say("SIGPROF", (uint64_t)n_prof * 10000000);
	work();
}

/* As a program does that was written for glibc. */
static void profile_itself(void)
{
	static unsigned int counts[65536];
	uint64_t sum = 0;
	struct timeval tick;
	struct prof p = {.pr_base = counts,
			 .pr_size = sizeof(counts),
			 .pr_off = ((size_t)&work_a & ~(size_t)0xfff) - 0x8000,
			 .pr_scale = 0x10000};

	if (sprofil(&p, 1, &tick, PROF_UINT))
		abort();
	work();
	sprofil(NULL, 0, NULL, PROF_UINT);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		sum += counts[i];
	say("own", sum * ((uint64_t)tick.tv_sec * 1000000 + (uint64_t)tick.tv_usec) * 1000);
}

int main(int argc, char **argv)
{
	static char exe[4096];
	char *slash;

	what = argc > 1 ? argv[1] : "threads";
	seconds = argc > 2 ? atof(argv[2]) : 0.3;
	n_threads = argc > 3 ? atoi(argv[3]) : 1;
	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		return 1;
	self = exe;
	if (strcmp(what, "execs") == 0) {
		int next = n_threads == 1 && argc < 4 ? 0 : n_threads;

		n_threads = 1;
		work();
		exec_each(next);
	} else if (strcmp(what, "fork") == 0) {
		pid_t pid = fork();

		work();
		if (pid)
			waitpid(pid, NULL, 0);
	} else if (strcmp(what, "daemon") == 0) {
		work();
		if (daemon(1, 1))
			return 1;
		work();
		say("done", 0);
	} else if (strcmp(what, "plugins") == 0) {
		slash = strrchr(exe, '/');
		*slash = 0;
		use_plugin(exe, "plugin_a");
		use_plugin(exe, "plugin_b");
	} else if (strcmp(what, "signals") == 0) {
		own_signals();
	} else if (strcmp(what, "vfork") == 0) {
		vforks();
	} else if (strcmp(what, "memory") == 0) {
		work_in_memory();
	} else if (strcmp(what, "sprofil") == 0) {
		profile_itself();
	} else if (strcmp(what, "jail") == 0) {
		if (chroot("."))
			return 1;
		work();
	} else if (strcmp(what, "drop") == 0) {
		if (setgid(65534) || setuid(65534))
			return 1;
		work();
	} else if (strcmp(what, "closes") == 0) {
		for (int fd = 3; fd < 4096; fd++)
			close(fd);
		work();
	} else {
		work();
	}
	if (strcmp(what, "kill") == 0 || strcmp(what, "trap") == 0) {
		/* what was counted is in the file within a tenth of a second */
		usleep(400000);
		if (*what == 'k')
			raise(SIGKILL);
		__builtin_trap();
	} else if (strcmp(what, "abort") == 0) {
		usleep(400000);
		abort();
	} else if (strcmp(what, "exit_group") == 0) {
		usleep(400000);
		syscall(SYS_exit_group, 5);
	} else if (strcmp(what, "quick_exit") == 0) {
		quick_exit(5);
	} else if (strcmp(what, "_exit") == 0) {
		_exit(5);
	} else if (strcmp(what, "exec") == 0) {
		exec_self();
	} else if (strcmp(what, "exec_fails") == 0) {
		execv("/nonexistent/program", again);
		work();
	}
	return 0;
}
