/* SPDX-License-Identifier: BSD-2-Clause */
/* See job.h.
 *
 * Most jobs have a name that all of their recordings are given: "slurm:4711" or
 * "shell:5b0c4be7:1234:88100".  A series has a name that its recordings share with other series, so
 * the first recording's epoch is put behind it:
 *
 *     dwell record ./a      series:5b0c4be7:1234:88100:20261123101500     typed in shell 1234
 *     dwell record ./a      series:5b0c4be7:1234:88100:20261123101500     in a loop: a moment later
 *     dwell record ./b      series:5b0c4be7:1234:88100:20261123102241     minutes later
 *
 * A recording goes on with a series when one of its recordings still runs, or ended no longer ago
 * than job_gap_ns. */
#include "store/job.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "store/snapshot.h"

static int open_recording_dir(int epochs_fd, const char *epoch, const char *host)
{
	_fd_ int fd = db_open_dir(epochs_fd, epoch, false, NULL);

	return fd < 0 ? fd : db_open_dir(fd, host, false, NULL);
}

char *job_of(int epochs_fd, const char *epoch, const char *host)
{
	_fd_ int dir = open_recording_dir(epochs_fd, epoch, host);
	struct manifest m;
	char *job;

	if (dir < 0 || snapshot_manifest(dir, &m, NULL) < 0)
		return xstrdup("");
	job = xstrdup(m.job);
	manifest_release(&m);
	return job;
}

/* Whether the recording was written to not long ago.  This is asked of up to JOB_MOST_BETWEEN. */
static bool was_just_now(int epochs_fd, const char *epoch, const char *host, uint64_t gap_ns,
			 uint64_t now_ns)
{
	_mem_ char *path = xasprintf("%s/%s/" MANIFEST_NAME, epoch, host);
	struct stat st;

	if (fstatat(epochs_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	return (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec + gap_ns >
	       now_ns;
}

static bool job_has_name(const name_list *names, const char *name)
{
	vec_each (n, names)
		if (strcmp(*n, name) == 0)
			return true;
	return false;
}

/* The series called NAME that has not ended; NULL: there is none. */
static char *find_series(int epochs_fd, const name_list *epochs, const name_list *open,
			 const char *host, const struct store_opts *o, uint64_t now_ns)
{
	const size_t n = strlen(o->job);
	size_t left = JOB_MOST_BETWEEN;

	for (size_t i = epochs->n; i-- > 0 && left-- > 0;) {
		const char *epoch = epochs->v[i];
		char *job;

		if (!job_has_name(open, epoch) &&
		    !was_just_now(epochs_fd, epoch, host, o->job_gap_ns, now_ns))
			continue;
		job = job_of(epochs_fd, epoch, host);
		if (strncmp(job, o->job, n) == 0 && job[n] == ':' && epoch_name_valid(job + n + 1))
			return job;
		free(job);
	}
	return NULL;
}

char *job_choose(int epochs_fd, const name_list *epochs, const name_list *open, const char *host,
		 const char *new, const struct store_opts *o)
{
	char *job;

	if (!o->job || !*o->job || !o->job_is_series)
		return xstrdup(o->job ? o->job : "");
	job = find_series(epochs_fd, epochs, open, host, o,
			  o->now_wall_ns ? o->now_wall_ns : clock_wall_ns());
	return job ? job : xasprintf("%s:%s", o->job, new);
}
