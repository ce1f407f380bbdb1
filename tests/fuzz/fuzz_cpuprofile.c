/* SPDX-License-Identifier: BSD-2-Clause */
/* V8's .cpuprofile: as it is, and as it was before 2016. */
#include "importer_fuzz.h"

static const char old[] =
	"{\"head\":{\"functionName\":\"(root)\",\"lineNumber\":-1,\"id\":1,\"hitCount\":0,"
	"\"children\":[{"
	"\"functionName\":\"f\",\"url\":\"a.js\",\"lineNumber\":7,\"id\":2,\"hitCount\":3,"
	"\"children\":[]}]},"
	"\"startTime\":1,\"endTime\":2,\"samples\":[2,2],\"timestamps\":[1000,4000]}";

IMPORTER_TARGET_AND("profile of V8", importer_seed(stacks_t_cpuprofile, ret_n), old)
