/* SPDX-License-Identifier: BSD-2-Clause */
/* Processed profiles of the Firefox Profiler. */
#include "importer_fuzz.h"

IMPORTER_TARGET("profile of the Firefox Profiler", stacks_t_file("firefox", ret_n))
