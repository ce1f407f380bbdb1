/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_DOCTOR_PROCESS_H
#define CMD_DOCTOR_PROCESS_H

#include "cmd/cmd.h"

/* Shows the runtimes of process PID: the status to end with, or an error. */
int doctor_process(struct cmd *c, uint64_t pid);

#endif
