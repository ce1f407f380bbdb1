/* SPDX-License-Identifier: BSD-2-Clause */
/* See job_name.h.
 *
 * A job's own name comes first: what the user says, $DWELL_JOB, the ids of Slurm and PMIx.  Else
 * the process that started this one tells which recordings belong together, known by its number and
 * when it started:
 *
 *     mpirun, hydra         all ranks below it
 *     a shell's script      all that it records: for v in 1 2 3; do dwell record ./x $v; done
 *     a shell at a prompt   what is recorded without a pause: such a loop typed, not two commands
 *     anything else         what it records at a time: make -j, xargs -P */
#include "daemon/job_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "base/vec.h"
#include "machine/procfs.h"

/* Nobody reads what a command printed and types the next one in less. */
#define TYPING_NS (1500ull * 1000000)

static bool comm_is_one_of(uint32_t pid, const char *const *names, size_t n)
{
	char comm[64] = "";

	procfs_thread_name(pid, pid, comm, sizeof(comm));
	for (size_t i = 0; i < n; i++)
		if (strcmp(comm, names[i]) == 0)
			return true;
	return false;
}

static bool is_shell(uint32_t pid)
{
	static const char *const names[] = {"sh",  "bash", "dash", "zsh", "ksh",    "mksh",
					    "ash", "fish", "tcsh", "csh", "busybox"};

	return comm_is_one_of(pid, names, n_elems(names));
}

/* The process that started this one, and CHILD, which leads to it: through programs that run
 * another and wait for it. */
static uint32_t find_starter(uint32_t *ret_child)
{
	static const char *const between[] = {"sudo", "doas", "su", "runuser", "timeout", "time"};
	uint32_t pid = (uint32_t)getppid(), parent;
	uint64_t ticks;

	*ret_child = (uint32_t)getpid();
	while (pid > 1 && comm_is_one_of(pid, between, n_elems(between)) &&
	       procfs_birth(pid, &parent, &ticks) >= 0 && parent > 1) {
		*ret_child = pid;
		pid = parent;
	}
	return pid;
}

static void name_starter(struct job_name *ret, const char *kind, uint32_t pid)
{
	char boot[40] = "";
	uint64_t start = 0;
	uint32_t parent;
	char *text;

	/* Numbers of processes and their times come again after a boot. */
	if (file_load("/proc/sys/kernel/random/boot_id", 4096, &text, NULL, NULL) >= 0) {
		snprintf(boot, sizeof(boot), "%.8s", text);
		free(text);
	}
	procfs_birth(pid, &parent, &start);
	snprintf(ret->name, sizeof(ret->name), "%s:%s:%" PRIu32 ":%" PRIu64, kind, boot, pid,
		 start);
}

/* Whether SHELL gives each command a process group of its own, as it does at a prompt. */
static bool is_at_prompt(uint32_t shell, uint32_t child)
{
	return getpgid((pid_t)shell) != getpgid((pid_t)child);
}

static bool take_name(struct job_name *ret, const char *kind, const char *name)
{
	if (!name || !*name)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%s:%s", kind, name);
	return true;
}

void job_name_find(const char *asked, bool is_rank, struct job_name *ret)
{
	uint32_t child, starter;

	*ret = (struct job_name){.name = ""};
	if (!asked)
		asked = getenv("DWELL_JOB");
	if (take_name(ret, "job", asked) || asked)
		return;
	if (take_name(ret, "slurm", getenv("SLURM_JOB_ID")) ||
	    take_name(ret, "pmix", getenv("PMIX_NAMESPACE")))
		return;
	if (is_rank) {
		name_starter(ret, "launcher", (uint32_t)getppid());
		return;
	}
	starter = find_starter(&child);
	if (is_shell(starter) && !is_at_prompt(starter, child)) {
		name_starter(ret, "shell", starter);
		return;
	}
	name_starter(ret, "series", starter);
	ret->is_series = true;
	ret->gap_ns = is_shell(starter) ? TYPING_NS : 0;
}
