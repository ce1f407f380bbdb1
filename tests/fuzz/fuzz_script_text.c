/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of perf script. */
#include "importer_fuzz.h"

IMPORTER_TARGET("text of perf script", stacks_t_file("perf-script", ret_n))
