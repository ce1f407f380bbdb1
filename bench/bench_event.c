/* SPDX-License-Identifier: BSD-2-Clause */
/* The bare event: a CPU clock on every CPU that runs an empty BPF program and keeps nothing.
 *
 *     bench_event HZ
 *
 * What it costs is what no collector can save.  The empty program's time, as the kernel's run-time
 * statistics see it, is mostly their own clock reads: it is taken off what they say of ours.  The
 * statistics are on while this runs.  Says "ready" when sampling, ends with its input. */
#include <bpf/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail(const char *what)
{
	perror(what);
	return 2;
}

/* r0 = 0; exit */
static int load_empty(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "bench_empty", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), NULL);
}

int main(int argc, char **argv)
{
	struct perf_event_attr a = {.size = sizeof(a),
				    .type = PERF_TYPE_SOFTWARE,
				    .config = PERF_COUNT_SW_CPU_CLOCK,
				    .freq = 1};
	int prog = load_empty(), stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF), n_open = 0;

	a.sample_freq = argc > 1 ? strtoul(argv[1], NULL, 10) : 5200;
	if (prog < 0)
		return fail("bench_event: cannot load an empty BPF program");
	if (stats < 0)
		return fail("bench_event: cannot turn on BPF run-time statistics");
	for (int cpu = 0; cpu < n_cpus; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0) /* offline */
			continue;
		if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) < 0)
			return fail("bench_event: cannot attach the empty program");
		n_open++;
	}
	if (!n_open)
		return fail("bench_event: cannot open the event");
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
