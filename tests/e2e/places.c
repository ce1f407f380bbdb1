/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs in very many places: places few|many SECONDS.  Few are some ten thousand, as on a server;
 * many are more than any table holds. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_FEW  "12000"
#define N_MANY "400000"

static void __attribute__((noinline)) few_places(void)
{
	__asm__ volatile(".rept " N_FEW "\n\tnop\n\t.endr");
}

static void __attribute__((noinline)) many_places(void)
{
	__asm__ volatile(".rept " N_MANY "\n\tnop\n\t.endr");
}

int main(int argc, char **argv)
{
	time_t end;

	if (argc != 3)
		return 2;
	end = time(NULL) + atol(argv[2]);
	while (time(NULL) < end)
		for (int i = 0; i < 100; i++)
			if (strcmp(argv[1], "few") == 0)
				few_places();
			else
				many_places();
	return 0;
}
