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

IMPORTER_TARGET_AND("file of speedscope", stacks_t_file("speedscope", ret_n), evented)
