/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording that begins now is a part of, by the environment and the processes above. */
#ifndef DAEMON_JOB_NAME_H
#define DAEMON_JOB_NAME_H

#include <stdbool.h>
#include <stdint.h>

struct job_name {
	char name[200]; /* as in the MANIFEST; "" for none */
	bool is_series; /* others may have the name: see src/store/job.c */
	uint64_t
		gap_ns; /* of a series: between the end of one recording and the next's beginning */
};

/* ASKED: what the user says it is a part of; "" none, NULL says nothing.  IS_RANK: mpirun or srun
 * started this process as one of several. */
void job_name_find(const char *asked, bool is_rank, struct job_name *ret);

#endif
