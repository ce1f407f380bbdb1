/* SPDX-License-Identifier: BSD-2-Clause */
/* Folded stacks. */
#include "importer_fuzz.h"

IMPORTER_TARGET("file of folded stacks",
		(*ret_n = sizeof(stacks_t_folded) - 1, xmemdup(stacks_t_folded, *ret_n)))
