/* SPDX-License-Identifier: BSD-2-Clause */
/* The forker itself. */
#ifndef CONFINE_FORKER_PROCESS_H
#define CONFINE_FORKER_PROCESS_H

#include "confine/forker.h"

/* Serves questions for JOBS that come through SOCK until that is closed, then ends. */
_Noreturn void forker_process(const struct confine_job *jobs, unsigned n, int sock);

#endif
