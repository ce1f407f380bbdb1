/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks for the time and nothing else: vdso SECONDS */
#include "spin.h"

int main(int argc, char **argv)
{
	double end = seconds() + (argc > 1 ? atof(argv[1]) : 1);

	while (seconds() < end)
		;
	return 0;
}
