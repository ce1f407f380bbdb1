/* SPDX-License-Identifier: BSD-2-Clause */
/* Both sides of the daemon's socket: a request that is accepted is written back so that it reads
 * the same; an answer's text lies in the bytes given. */
#include "daemon/control.h"

#include <string.h>

#include "fuzz.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct control_request r = {.verb = (enum control_verb)i, .json = i == CONTROL_STATUS};
	struct str s = {0};

	if (i > CONTROL_N_VERBS)
		return NULL;
	if (i == CONTROL_LABEL_ME)
		strcpy(r.label, "nightly");
	if (i < CONTROL_N_VERBS)
		control_format_request(&r, &s);
	else
		control_put_ok(&s, "text\n", 5);
	*ret_n = s.n;
	return (uint8_t *)s.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *bytes = (const char *)data, *text = NULL;
	struct control_request r, again;
	struct str line = {0};
	size_t n_text = 0;

	if (n && bytes[n - 1] == '\n' && control_parse_request(bytes, n - 1, &r, NULL) == 0) {
		control_format_request(&r, &line);
		FUZZ_REQUIRE(control_parse_request(line.v, line.n - 1, &again, NULL) == 0);
		FUZZ_REQUIRE(r.verb == again.verb && r.json == again.json &&
			     strcmp(r.label, again.label) == 0);
		str_release(&line);
	}
	if (n && control_parse_answer(bytes, n, &text, &n_text, NULL) == 1)
		FUZZ_REQUIRE(text > bytes && n_text <= n && text + n_text <= bytes + n);
	return 0;
}
