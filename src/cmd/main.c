/* SPDX-License-Identifier: BSD-2-Clause */
/* The command registry and what all commands share. */
#include <stdio.h>

int main(void)
{
	puts("dwell " DWELL_VERSION);
	return 0;
}
