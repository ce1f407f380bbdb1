/* SPDX-License-Identifier: BSD-2-Clause */
/* Branch stacks of a program on a machine whose CPU tells none: from time to time the program is
 * stopped and single-stepped until it has jumped often enough, as a sample with its last branches.
 *
 *     step_branches PERIOD_US DEPTH COMMAND ARG... >FILE
 *     step_branches path N DEPTH RETIRED COMMAND ARG... >FILE
 *
 * `path` steps through the whole program and then takes N samples with branch stacks at random
 * places of the path that it took, in the file RETIRED N of retired instructions, as `perf record
 * -e instructions:pp` has them, and in RETIRED.all one of each.  bench/blocks.py judges what is
 * made of them.
 *
 * FILE is what perf would have recorded of it with `perf record -b -e cpu-clock:u`: the mappings of
 * code, and samples with DEPTH branches, newest first.  Jumps are known by their instructions, so
 * that a jump to the next instruction counts and a repeated string instruction does not.  One
 * process, x86-64; what it forks is left alone. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/str.h"
#include "perfdata_t.h"
#include "resolve/disasm.h"
#include "resolve/elf_probe.h"

#define MAX_DEPTH 64
#define MAX_STEPS 20000 /* of one sample */
#define MAX_INSN  15
#define MAX_PATH  100000000

struct insn {
	uint64_t ip;
	uint8_t n_bytes;
	bool jumps;
};

struct branch {
	uint64_t from, to;
};

static struct pd_file out;
static struct disasm *disasm;
static VEC(struct insn) insns;
static struct index by_ip;
static VEC(uint64_t) mapped; /* where what is written was mapped to */
static VEC(uint64_t) steps;  /* every instruction executed */
static VEC(struct branch) taken;

static bool same_ip(const void *owner, uint32_t i, const void *key)
{
	(void)owner;
	return insns.v[i].ip == *(const uint64_t *)key;
}

static const struct insn *insn_at(pid_t pid, uint64_t ip)
{
	uint8_t bytes[MAX_INSN];
	const struct iovec to = {bytes, sizeof(bytes)}, from = {(void *)ip, sizeof(bytes)};
	const uint64_t hash = hash_u64(ip);
	uint32_t i = index_find(&by_ip, hash, same_ip, NULL, &ip);
	struct disasm_insn d;
	struct insn new = {.ip = ip};
	ssize_t n;

	if (i != INDEX_NONE)
		return &insns.v[i];
	n = process_vm_readv(pid, &to, 1, &from, 1, 0);
	if (n > 0) {
		disasm_begin(disasm, bytes, (size_t)n, ip);
		if (disasm_next(disasm, &d) && !d.bad) {
			new.n_bytes = d.n_bytes;
			new.jumps = d.kind != DISASM_OTHER;
		}
	}
	i = (uint32_t)insns.n;
	vec_push(&insns, new);
	index_add(&by_ip, hash, i);
	return &insns.v[i];
}

/* The build-id of the file at PATH; none when it has none. */
static struct build_id id_of(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct image_layout l = {0};

	if (fd < 0 || elf_probe(fd, &l, NULL) < 0 || l.hashed)
		l.build_id.n_bytes = 0;
	if (fd >= 0)
		close(fd);
	return l.build_id;
}

/* Writes the mappings of files' code that are not written yet. */
static void note_maps(pid_t pid)
{
	char name[64], line[1024];
	struct build_id id;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	f = fopen(name, "r");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long start, end, off;
		char perms[8], path[512] = "";
		bool known = false;

		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %511s", &start, &end, perms, &off,
			   path) < 5 ||
		    perms[2] != 'x' || path[0] != '/')
			continue;
		vec_each (m, &mapped)
			known |= *m == start;
		if (known)
			continue;
		id = id_of(path);
		vec_push(&mapped, start);
		pd_mmap2(&out, 10, start, end - start, off, path, id.n_bytes ? &id : NULL, 1);
	}
	if (f)
		fclose(f);
}

/* N branches, the oldest first; in the record it is the last. */
static void put_sample(uint64_t ip, uint64_t time, uint64_t (*branches)[2], size_t n)
{
	struct wr *w = pd_begin(&out, PERFDATA_SAMPLE, PERFDATA_MODE_USER);

	pd_64(&out, w, ip);
	pd_32(&out, w, 10);
	pd_32(&out, w, 10);
	pd_64(&out, w, time);
	pd_64(&out, w, 0);
	pd_64(&out, w, n);
	while (n--) {
		pd_64(&out, w, branches[n][0]);
		pd_64(&out, w, branches[n][1]);
		pd_64(&out, w, 2); /* predicted: nobody knows better */
	}
	pd_end(&out);
}

/* Steps the stopped process through DEPTH jumps; false when it ended. */
static bool take_sample(pid_t pid, size_t depth, uint64_t time)
{
	uint64_t branches[MAX_DEPTH][2];
	struct user_regs_struct regs;
	size_t n = 0;
	int status;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0)
		return false;
	for (unsigned i = 0; i < MAX_STEPS && n < depth; i++) {
		const struct insn at = *insn_at(pid, regs.rip);

		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0 ||
		    waitpid(pid, &status, __WALL) < 0 || !WIFSTOPPED(status) ||
		    ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0)
			return false;
		if (at.jumps && regs.rip != at.ip + at.n_bytes) {
			branches[n][0] = at.ip;
			branches[n++][1] = regs.rip;
		}
	}
	if (n)
		put_sample(regs.rip, time, branches, n);
	return true;
}

/* Steps the stopped process to its end; notes the path and every branch taken. */
static void walk_path(pid_t pid)
{
	struct user_regs_struct regs;
	int status;

	while (steps.n < MAX_PATH && ptrace(PTRACE_GETREGS, pid, NULL, &regs) == 0) {
		const struct insn at = *insn_at(pid, regs.rip);

		if (steps.n % 10000 == 0) /* libraries come as it runs */
			note_maps(pid);
		vec_push(&steps, at.ip);
		do { /* each turn of a string instruction is a step */
			if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0 ||
			    waitpid(pid, &status, __WALL) < 0 || !WIFSTOPPED(status) ||
			    ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0)
				return;
		} while (regs.rip == at.ip && !at.jumps);
		if (at.jumps && regs.rip != at.ip + at.n_bytes)
			vec_push(&taken, (struct branch){at.ip, regs.rip});
	}
}

/* xorshift64*: the same places in every run. */
static uint64_t random_below(uint64_t n)
{
	static uint64_t x = 88172645463325252u;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	return (uint64_t)((unsigned __int128)(x * 2685821657736338717u) * n >> 64);
}

static void put_retired(uint64_t ip, uint64_t time)
{
	struct wr *w = pd_begin(&out, PERFDATA_SAMPLE, PERFDATA_MODE_USER | PERFDATA_MISC_EXACT_IP);

	pd_64(&out, w, ip);
	pd_32(&out, w, 10);
	pd_32(&out, w, 10);
	pd_64(&out, w, time);
	pd_64(&out, w, 0);
	pd_end(&out);
}

static void sample_branches(size_t n, size_t depth)
{
	uint64_t branches[MAX_DEPTH][2];

	for (size_t i = 0; i < n && taken.n >= depth; i++) {
		const struct branch *oldest = &taken.v[random_below(taken.n - depth + 1)];

		for (size_t k = 0; k < depth; k++) {
			branches[k][0] = oldest[k].from;
			branches[k][1] = oldest[k].to;
		}
		put_sample(oldest[depth - 1].to, 1000 + i, branches, depth);
	}
}

/* N at random; 0: each once. */
static void sample_retired(size_t n)
{
	for (size_t i = 0; i < (n ? n : steps.n) && steps.n; i++)
		put_retired(steps.v[n ? random_below(steps.n) : i], 1000 + i);
}

/* Lets it run for US microseconds and stops it; false when it ended. */
static bool run_on(pid_t pid, unsigned us)
{
	const struct timespec t = {us / 1000000, us % 1000000 * 1000};
	int status, sig = 0;

	for (;;) {
		if (ptrace(PTRACE_CONT, pid, NULL, sig) < 0)
			return false;
		nanosleep(&t, NULL);
		ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
		if (waitpid(pid, &status, __WALL) < 0 || !WIFSTOPPED(status))
			return false;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return true;
		sig = WSTOPSIG(status);
	}
}

static pid_t start(char **argv)
{
	const pid_t pid = fork();
	int status;

	if (pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		raise(SIGSTOP);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	waitpid(pid, &status, WUNTRACED);
	ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC);
	kill(pid, SIGCONT);
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		if (status >> 16 == PTRACE_EVENT_EXEC)
			return pid;
		ptrace(PTRACE_CONT, pid, NULL, 0);
	}
	return -1;
}

/* The event, cpu-clock with branch stacks, and the process, which runs PROGRAM. */
static void begin_file(const char *program)
{
	const struct perfdata_attr a = {.type = 1,
					.period = 1000000,
					.sample_type = PERFDATA_S_IP | PERFDATA_S_TID |
						       PERFDATA_S_TIME | PERFDATA_S_ID |
						       PERFDATA_S_BRANCH_STACK,
					.flags = 1ull << PERFDATA_A_SAMPLE_ID_ALL};

	pd_event(&out, &a, 0);
	pd_comm(&out, 10, 10, str_basename(program), true, 1);
}

static int save(int fd)
{
	pd_finish(&out);
	return fd < 0 || file_write_all(fd, out.out.v, out.out.n) < 0;
}

/* Stepping one process on two CPUs waits for the other CPU at each step. */
static void stay_on_this_cpu(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
}

/* Saves the first N_BYTES of records and N samples of retired instructions in PATH + WHICH. */
static int save_retired(size_t n_bytes, size_t n, const char *path, const char *which)
{
	_mem_ char *name = xasprintf("%s%s", path, which);

	out.data.n = n_bytes;
	out.out.n = 0;
	/* perf_event.h: PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS. */
	out.events[0].attr.type = 0;
	out.events[0].attr.config = 1;
	out.events[0].attr.period = 1000;
	out.events[0].attr.sample_type &= ~(uint64_t)PERFDATA_S_BRANCH_STACK;
	out.events[0].attr.flags |= 2ull << PERFDATA_A_PRECISE;
	sample_retired(n);
	return save(open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
}

/* `path N DEPTH RETIRED COMMAND ARG...` */
static int run_path(size_t n, size_t depth, const char *retired, char **argv)
{
	size_t n_bytes;
	int rc;

	begin_file(argv[0]);
	stay_on_this_cpu();
	walk_path(start(argv));
	n_bytes = out.data.n;
	sample_branches(n, depth);
	rc = save(STDOUT_FILENO);
	rc |= save_retired(n_bytes, n, retired, "");
	rc |= save_retired(n_bytes, 0, retired, ".all");
	fprintf(stderr, "step_branches: %zu instructions, %zu branches\n", steps.n, taken.n);
	return rc;
}

/* How many branches TEXT asks for; 0: it is no such number. */
static size_t depth_of(const char *text)
{
	const long n = atol(text);

	return n > 0 && n <= MAX_DEPTH ? (size_t)n : 0;
}

int main(int argc, char **argv)
{
	const struct disasm_opts o = {.machine = EM_X86_64};
	const unsigned us = argc > 3 ? (unsigned)atoi(argv[1]) : 0;
	const size_t depth = argc > 3 ? depth_of(argv[2]) : 0;
	uint64_t time = 1000;
	size_t n = 0;
	pid_t pid;

	disasm = disasm_new(&o, NULL);
	if (disasm && argc > 5 && strcmp(argv[1], "path") == 0 && depth_of(argv[3]))
		return run_path(strtoul(argv[2], NULL, 10), depth_of(argv[3]), argv[4], argv + 5);
	if (!us || !depth || !disasm) {
		fprintf(stderr, "usage: step_branches PERIOD_US DEPTH COMMAND ARG... >FILE\n"
				"       step_branches path N DEPTH RETIRED COMMAND ARG... >FILE\n");
		return 2;
	}
	begin_file(argv[3]);
	pid = start(argv + 3);
	while (pid > 0 && run_on(pid, us)) {
		if (n++ % 100 == 0 || n < 20) /* libraries come at the beginning */
			note_maps(pid);
		time += 1000000;
		if (!take_sample(pid, depth, time))
			break;
	}
	pd_finish(&out);
	fprintf(stderr, "step_branches: %zu samples\n", n);
	return file_write_all(STDOUT_FILENO, out.out.v, out.out.n) < 0;
}
