/* SPDX-License-Identifier: BSD-2-Clause */
/* speedscope's files: samples, as dwell writes them, and events. */
#include "importer_fuzz.h"

static const char evented[] =
	"{\"$schema\":\"https://www.speedscope.app/"
	"file-format-schema.json\",\"shared\":{\"frames\":[{"
	"\"name\":\"a\"},{\"name\":\"b\"}]},\"profiles\":[{\"type\":\"evented\",\"name\":\"p\","
	"\"unit\":"
	"\"seconds\",\"startValue\":0,\"endValue\":9,\"events\":[{\"type\":\"O\",\"frame\":0,"
	"\"at\":0},"
	"{\"type\":\"O\",\"frame\":1,\"at\":1.5},{\"type\":\"C\",\"frame\":1,\"at\":4},"
	"{\"type\":\"C\",\"frame\":0,\"at\":5}]}]}";

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	if (i == 0)
		return stacks_t_file("speedscope", ret_n);
	*ret_n = sizeof(evented) - 1;
	return i == 1 ? xmemdup(evented, *ret_n) : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_importer("file of speedscope", data, n);
	return 0;
}
