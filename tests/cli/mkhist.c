/* SPDX-License-Identifier: BSD-2-Clause */
/* mkhist DIR [IMAGE [SVMA]]: leaves in DIR the histogram file of a process that is gone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inproc/shared.h"
#include "../shared_facts_t.h"

int main(int argc, char **argv)
{
	const struct shared_header facts = made_up_facts();
	const struct loaded_code code = {
		.kind = CODE_FILE, .text_start = 0x1000, .text_bytes = 0x2000};
	struct shared s = {0};
	uint64_t svma = argc > 3 ? strtoull(argv[3], NULL, 16) : 0x1000;

	if (argc < 2)
		return 2;
	mkdir(argv[1], 0755);
	if (shared_create(&s, argv[1], &facts, 1 << 10) != 0) {
		fprintf(stderr, "mkhist: %s: cannot make a file there\n", argv[1]);
		return 1;
	}
	shared_add_image(&s, &code, argc > 2 ? argv[2] : "/usr/lib/gone.so");
	shared_count(&s, 1, svma, 3);
	shared_count(&s, 1, svma + 4, 9);
	shared_close(&s);
	return 0;
}
