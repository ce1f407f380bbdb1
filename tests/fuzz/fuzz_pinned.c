/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes of logs: what is accepted is written back so that it reads the same. */
#include "collect/pinned.h"

#include <string.h>

#include "fuzz.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct pinned_note n = {.n_events = i + 1, .calls = i};
	char *text;

	if (i > 2)
		return NULL;
	for (unsigned k = 0; k <= i; k++)
		n.events[k] = (struct pinned_event){"cpu-clock", "ns", 1000003 + k, k};
	text = malloc(PINNED_NOTE_BYTES);
	pinned_note_format(&n, text);
	*ret_n = strlen(text) + 1;
	return (uint8_t *)text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pinned_note a, b;
	char text[PINNED_NOTE_BYTES];

	if (!n || pinned_note_parse((const char *)data, n, &a, NULL) < 0)
		return 0;
	pinned_note_format(&a, text);
	FUZZ_REQUIRE(pinned_note_parse(text, sizeof(text), &b, NULL) == 0);
	FUZZ_REQUIRE(memcmp(&a, &b, sizeof(a)) == 0);
	return 0;
}
