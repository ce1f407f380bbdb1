/* SPDX-License-Identifier: BSD-2-Clause */
/* speedscope's files. */
#include "importer_fuzz.h"

IMPORTER_TARGET("file of speedscope", stacks_t_file("speedscope", ret_n))
