/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs code it wrote itself: jit SECONDS [map [PART]], with "map" after
 * telling /tmp/perf-PID.map of it.  It runs PART of the time, or all of it. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spin.h"

/* void f(uint64_t n): counts n down to 0 */
#if defined(__x86_64__)
static const uint8_t code[] = {0x48, 0xff, 0xcf, /* 0: dec %rdi */
			       0x75, 0xfb,	 /*    jne 0 */
			       0xc3};		 /*    ret */
#elif defined(__aarch64__)
static const uint8_t code[] = {0x00, 0x04, 0x00, 0xf1,	/* 0: subs x0, x0, #1 */
			       0xe1, 0xff, 0xff, 0x54,	/*    b.ne 0 */
			       0xc0, 0x03, 0x5f, 0xd6}; /*    ret */
#endif

int main(int argc, char **argv)
{
	double end = cpu_seconds() + (argc > 1 ? atof(argv[1]) : 1);
	double part = argc > 3 ? atof(argv[3]) : 1;
	char path[64];
	void (*f)(uint64_t n);
	uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	memcpy(p + 64, code, sizeof(code));
	if (mprotect(p, 4096, PROT_READ | PROT_EXEC) < 0)
		return 1;
	__builtin___clear_cache((char *)p, (char *)p + 4096);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	if (argc > 2) {
		FILE *m = fopen(path, "w");

		if (!m)
			return 1;
		fprintf(m, "%lx %zx made_up_on_the_fly\n", (unsigned long)(p + 64), sizeof(code));
		fclose(m);
	}
	f = (void (*)(uint64_t))(uintptr_t)(p + 64);
	for (double begin; (begin = cpu_seconds()) < end; rest_of(begin, part))
		f(1000000);
	puts(path); /* for whoever cleans up */
	return 0;
}
