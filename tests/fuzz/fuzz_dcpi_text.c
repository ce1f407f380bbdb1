/* SPDX-License-Identifier: BSD-2-Clause */
/* dcpicat's text: what parses is printed, and that text is a fixed point. */
#include <string.h>

#include "formats/dcpi_text.h"
#include "fuzz.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char text[] =
		"name                 a\nimage                00ff\nlabel                l\n"
		"path                 /a\npath /b\ncpuspeed 333\nx-note  mine \nepoch              "
		"  199805191724\n"
		"platform             h\ntext_start           0x000000001000\n"
		"text_size            0x000000002000\nevent                3 cycles:u:100:10000\n"
		"event                9 any:m1count:7:5000\n0x000000001000       1       4\n"
		"0x000000001004       2       5\n";

	if (i > 0)
		return NULL;
	*ret_n = sizeof(text) - 1;
	return (uint8_t *)strdup(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct dcpi_text_reader r = dcpi_text_begin((const char *)data, n);
	struct dcpi_text t, u;

	dcpi_text_probe((const char *)data, n);
	while (dcpi_text_next(&r, &t, NULL) == 1) {
		struct str once = {0}, twice = {0};
		struct dcpi_text_reader again;

		dcpi_text_format(&t, &once);
		again = dcpi_text_begin(once.v, once.n);
		FUZZ_REQUIRE(dcpi_text_next(&again, &u, NULL) == 1);
		dcpi_text_format(&u, &twice);
		FUZZ_REQUIRE(strcmp(once.v, twice.v) == 0);
		str_release(&once);
		str_release(&twice);
		dcpi_text_release(&t);
		dcpi_text_release(&u);
	}
	return 0;
}
