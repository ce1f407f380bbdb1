/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks for the time and nothing else: vdso CPU_SECONDS */
#include "spin.h"

int main(int argc, char **argv)
{
	double end = cpu_seconds() + (argc > 1 ? atof(argv[1]) : 1);

	while (cpu_seconds() < end)
		for (int i = 0; i < 10000; i++)
			seconds();
	return 0;
}
