/* SPDX-License-Identifier: BSD-2-Clause */
/* gmon.out. */
#include "importer_fuzz.h"

IMPORTER_TARGET("gmon.out", stacks_t_file("gmon", ret_n))
