/* SPDX-License-Identifier: BSD-2-Clause */
/* mkhpc DIR released|page: writes the database of hpcgen.h. */
#include <stdio.h>
#include <string.h>

#include "hpcgen.h"

int main(int argc, char **argv)
{
	struct err err;

	if (argc != 3) {
		fputs("usage: mkhpc DIR released|page\n", stderr);
		return 2;
	}
	if (hpcgen_write(argv[1], strcmp(argv[2], "page") == 0 ? HPC_PAGE : HPC_RELEASED, &err)) {
		fprintf(stderr, "mkhpc: %s\n", err.msg);
		return 2;
	}
	return 0;
}
