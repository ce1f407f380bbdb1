/* SPDX-License-Identifier: BSD-2-Clause */
/* V8's .cpuprofile: as it is, and as it was before 2016. */
#include "importer_fuzz.h"

static const char old[] =
	"{\"head\":{\"functionName\":\"(root)\",\"lineNumber\":-1,\"id\":1,\"hitCount\":0,"
	"\"children\":[{"
	"\"functionName\":\"f\",\"url\":\"a.js\",\"lineNumber\":7,\"id\":2,\"hitCount\":3,"
	"\"children\":[]}]},"
	"\"startTime\":1,\"endTime\":2,\"samples\":[2,2],\"timestamps\":[1000,4000]}";

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	const char *text = i ? old : stacks_t_cpuprofile;

	*ret_n = strlen(text);
	return i < 2 ? xmemdup(text, *ret_n) : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_importer("profile of V8", data, n);
	return 0;
}
