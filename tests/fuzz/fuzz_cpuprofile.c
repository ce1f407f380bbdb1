/* SPDX-License-Identifier: BSD-2-Clause */
/* V8's .cpuprofile. */
#include "importer_fuzz.h"

IMPORTER_TARGET("profile of V8",
		(*ret_n = sizeof(stacks_t_cpuprofile) - 1, xmemdup(stacks_t_cpuprofile, *ret_n)))
