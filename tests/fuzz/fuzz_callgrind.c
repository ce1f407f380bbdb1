/* SPDX-License-Identifier: BSD-2-Clause */
/* callgrind's files. */
#include "importer_fuzz.h"

IMPORTER_TARGET("file of callgrind", stacks_t_file("callgrind", ret_n))
