/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes time from each CPU as a virtual machine's host does, until its input ends.
 * stealing HZ: so often a second; writes "ready", and at the end how many ns it took in all. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stealing.skel.h"

int main(int argc, char **argv)
{
	const int n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), hz = argc > 1 ? atoi(argv[1]) : 10;
	struct stealing_bpf *s = stealing_bpf__open_and_load();

	if (!s)
		return 1;
	for (int cpu = 0; cpu < n_cpus; cpu++) {
		struct perf_event_attr a = {.size = sizeof(a),
					    .type = PERF_TYPE_SOFTWARE,
					    .config = PERF_COUNT_SW_CPU_CLOCK,
					    /* not in step with each other */
					    .sample_period = 1000000000ull / (unsigned)hz +
							     777777ull * (unsigned)cpu};
		int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0 || !bpf_program__attach_perf_event(s->progs.steal, fd))
			return 1;
	}
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	printf("%llu\n", (unsigned long long)s->bss->stolen_ns);
	return 0;
}
