/* SPDX-License-Identifier: BSD-2-Clause */
/* Burns half its time in a library it opens in the middle: late CPU_SECONDS LIBRARY */
#include <dlfcn.h>
#include <stdio.h>

#include "spin.h"

static NOINLINE uint64_t burn_before(uint64_t x)
{
	return spin(x, 1000000);
}

int main(int argc, char **argv)
{
	double half = (argc > 1 ? atof(argv[1]) : 1) / 2, end = cpu_seconds() + half;
	uint64_t (*f)(uint64_t);
	uint64_t x = 1;
	void *h;

	while (cpu_seconds() < end)
		x = burn_before(x);
	h = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
	f = h ? (uint64_t(*)(uint64_t))(uintptr_t)dlsym(h, "burn_in_library") : NULL;
	if (!f) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	for (end += half; cpu_seconds() < end;)
		x = f(x);
	return x == 0;
}
