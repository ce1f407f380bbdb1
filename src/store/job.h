/* SPDX-License-Identifier: BSD-2-Clause */
/* Which recordings belong together: those of one job, see job.c. */
#ifndef STORE_JOB_H
#define STORE_JOB_H

#include "store/db.h"
#include "store/store.h"

/* Recordings that lie between two of one job, at most. */
#define JOB_MOST_BETWEEN 64

/* The job of the recording HOST of EPOCH; "" for none, or one that cannot be read.  Free it. */
char *job_of(int epochs_fd, const char *epoch, const char *host);

/* The job of a recording that begins now as epoch NEW, by O: EPOCHS are those there are, OPEN those
 * of HOST that are recorded.  It goes on with the job of one of the last of them, or begins one.
 * Free it. */
char *job_choose(int epochs_fd, const name_list *epochs, const name_list *open, const char *host,
		 const char *new, const struct store_opts *o);

#endif
