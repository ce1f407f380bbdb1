/* SPDX-License-Identifier: BSD-2-Clause */
/* See target.h. */
#include "machine/target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "machine/procfs.h"

/* Parses "0-3,7" into RET. */
static void parse_cpu_list(const char *text, cpu_list *ret)
{
	while (*text >= '0' && *text <= '9') {
		char *end;
		long first = strtol(text, &end, 10), last = first;

		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (long i = first; i <= last && i - first < 1 << 16; i++)
			vec_push(ret, (int)i);
		text = *end == ',' ? end + 1 : end;
	}
}

static void load_cpu_list(const char *path, cpu_list *ret)
{
	char *text;

	if (file_load(path, 65536, &text, NULL, NULL) < 0)
		return;
	parse_cpu_list(text, ret);
	free(text);
}

void cpus_online(cpu_list *ret)
{
	load_cpu_list("/sys/devices/system/cpu/online", ret);
	if (!ret->n)
		vec_push(ret, 0);
}

uint32_t cpus_possible(void)
{
	_vec_ cpu_list all = {0};
	int max = 0;

	load_cpu_list("/sys/devices/system/cpu/possible", &all);
	vec_each (c, &all)
		max = *c > max ? *c : max;
	return (uint32_t)max + 1;
}

static int explain_cgroup(int fd, int rc, struct err *err)
{
	char self[40], path[PATH_MAX] = "this cgroup";
	ssize_t n;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, path, sizeof(path) - 1);
	if (n > 0)
		path[n] = '\0';
	return err_set(err, rc,
		       "cannot record %s: it must be of the cgroup2 or the perf_event file system "
		       "(mount -t cgroup2,cgroup lists them)",
		       path);
}

static int explain(const struct target *t, const struct event_spec *spec, int rc, uint32_t pid,
		   struct err *err)
{
	/* kernel/cgroup/cgroup.c, css_tryget_online_from_dir() */
	if (t->kind == TARGET_CGROUP && (rc == -ENOENT || rc == -EBADF))
		return explain_cgroup(t->cgroup_fd, rc, err);
	switch (rc) {
	case -EACCES:
	case -EPERM:
		return err_set(err, rc,
			       "not allowed to record %s%s: needs root, CAP_PERFMON or a lower "
			       "kernel.perf_event_paranoid (dwell doctor says which)",
			       spec->name,
			       t->kind == TARGET_ALL	  ? " on the whole machine"
			       : t->kind == TARGET_CGROUP ? " of a cgroup"
							  : "");
	case -ESRCH:
		return err_set(err, rc, "no process %u", pid);
	case -EMFILE:
		return err_set(err, rc, "too many open files for %s: raise ulimit -n", spec->name);
	case -ENOENT:
	case -EOPNOTSUPP:
	case -ENODEV:
		return err_set(err, rc,
			       "%s is not supported on this machine (dwell events lists what is)",
			       spec->name);
	case -EINVAL:
		return err_set(err, rc, "the kernel refuses %s with these settings", spec->name);
	default:
		return err_errno(err, rc, "cannot open %s", spec->name);
	}
}

/* PERF_FORMAT_LOST: Linux 6.0. */
#define OPENED_READ_FORMAT                                                                         \
	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_LOST)

struct opening {
	const struct target *target;
	struct event_spec spec;
	uint32_t event;
	opened_list *list;
	const cpu_list *cpus;
	const opened_list *leader; /* NULL: it is in no group, or leads one */
	enum target_spread spread;
	unsigned long flags;
	int rc; /* of the last failure */
	unsigned n_open;
};

/* The descriptor of O's leader on PID and CPU, or -ESRCH: a thread may be younger than that. */
static int leader_fd(const struct opening *o, pid_t pid, int cpu)
{
	vec_each (l, o->leader)
		if (l->task == pid && l->cpu == cpu)
			return l->fd;
	return -ESRCH;
}

static void open_one(struct opening *o, pid_t pid, int cpu)
{
	const int group = o->leader ? leader_fd(o, pid, cpu) : -1;
	int fd = o->leader && group < 0 ? group : event_open(&o->spec, pid, cpu, group, o->flags);
	uint64_t id = 0;

	if (fd < 0) {
		o->rc = fd;
		return;
	}
	ioctl(fd, PERF_EVENT_IOC_ID, &id);
	vec_push(o->list,
		 (struct opened){.fd = fd, .cpu = cpu, .task = pid, .event = o->event, .id = id});
	o->n_open++;
}

static void open_cpus(struct opening *o, pid_t pid)
{
	vec_each (c, o->cpus)
		open_one(o, pid, *c);
}

static void open_thread(void *ctx, uint32_t tid)
{
	struct opening *o = ctx;

	if (o->spread == SPREAD_TASKS)
		open_one(o, (pid_t)tid, -1);
	else
		open_cpus(o, (pid_t)tid);
}

/* Opens O on its target. */
static int open_all(struct opening *o, struct err *err)
{
	const struct target *t = o->target;
	const bool tasks = o->spread != SPREAD_CPUS;

	o->spec.attr.disabled = !o->leader;
	o->spec.attr.inherit = tasks;
	o->spec.attr.enable_on_exec = tasks && t->kind == TARGET_COMMAND && !o->leader;
	o->spec.attr.read_format = OPENED_READ_FORMAT;
	if (!tasks && t->kind == TARGET_CGROUP) {
		o->flags |= PERF_FLAG_PID_CGROUP;
		open_cpus(o, t->cgroup_fd);
	} else if (!tasks) {
		open_cpus(o, -1);
	} else {
		vec_each (pid, &t->pids) {
			unsigned before = o->n_open;

			if (procfs_each_tid(*pid, open_thread, o) < 0)
				o->rc = -ESRCH;
			if (o->n_open == before)
				return explain(t, &o->spec, o->rc < 0 ? o->rc : -ESRCH, *pid, err);
		}
	}
	return o->n_open ? 0 : explain(t, &o->spec, o->rc < 0 ? o->rc : -ENODEV, 0, err);
}

bool target_may_have(const struct target *t, uint32_t pid)
{
	if (t->kind == TARGET_ALL || t->kind == TARGET_CGROUP)
		return true;
	vec_each (p, &t->pids)
		if (*p == pid)
			return true;
	return false;
}

int target_open(const struct target *t, const struct event_spec *spec, uint32_t event,
		enum target_spread spread, const cpu_list *cpus, opened_list *list, struct err *err)
{
	struct opening o = {.target = t,
			    .spec = *spec,
			    .event = event,
			    .list = list,
			    .cpus = cpus,
			    .spread = spread,
			    .flags = PERF_FLAG_FD_CLOEXEC};

	return open_all(&o, err);
}

int target_open_member(const struct target *t, const struct event_spec *spec,
		       enum target_spread spread, const cpu_list *cpus, const opened_list *leader,
		       opened_list *list, struct err *err)
{
	struct opening o = {.target = t,
			    .spec = *spec,
			    .list = list,
			    .cpus = cpus,
			    .leader = leader,
			    .spread = spread,
			    .flags = PERF_FLAG_FD_CLOEXEC};

	return open_all(&o, err);
}

bool opened_read(const struct opened *o, struct opened_count *ret)
{
	uint64_t v[4]; /* in the order of the bits of read_format: perf_event_open(2) */

	if (read(o->fd, v, sizeof(v)) != sizeof(v))
		return false;
	*ret = (struct opened_count){
		.value = v[0], .enabled_ns = v[1], .running_ns = v[2], .lost = v[3]};
	return true;
}

void opened_enable_one(const struct opened *o)
{
	ioctl(o->fd, PERF_EVENT_IOC_ENABLE, 0);
}

void opened_disable_one(const struct opened *o)
{
	ioctl(o->fd, PERF_EVENT_IOC_DISABLE, 0);
}

void opened_enable(const opened_list *list)
{
	vec_each (o, list)
		opened_enable_one(o);
}

void opened_disable(const opened_list *list)
{
	vec_each (o, list)
		opened_disable_one(o);
}

void opened_set_period(const struct opened *o, uint64_t period)
{
	ioctl(o->fd, PERF_EVENT_IOC_PERIOD, &period);
}

void opened_close(opened_list *list)
{
	vec_each (o, list)
		close(o->fd);
	vec_release(list);
}
