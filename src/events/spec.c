/* SPDX-License-Identifier: BSD-2-Clause */
/* Owning and opening event specs.
 *
 * attr.config3 (perf_event.h PERF_ATTR_SIZE_VER8, offset 128) is younger than the headers this
 * builds against may be, so it is kept beside attr and put behind it only when an event uses it:
 * older kernels then still take the shorter attr. */
#include "events/spec.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ATTR_CONFIG3_OFF = 128, ATTR_SIZE_VER8 = 136 };

static int probe_host(const struct event_spec *spec);

const struct event_env event_env_host = {.sysfs = "/sys", .proc = "/proc", .probe = probe_host};

const char *event_kind_name(enum event_kind kind)
{
	static const char *const names[] = {
		[EVENT_SOFTWARE] = "software", [EVENT_HARDWARE] = "hardware",
		[EVENT_CACHE] = "cache",       [EVENT_RAW] = "raw",
		[EVENT_PMU] = "pmu",	       [EVENT_TRACEPOINT] = "tracepoint",
		[EVENT_PFM] = "pfm",
	};

	return names[kind];
}

void event_spec_release(struct event_spec *spec)
{
	free(spec->name);
	spec->name = NULL;
}

void event_specs_release(struct event_specs *specs)
{
	vec_each (s, specs)
		event_spec_release(s);
	vec_release(specs);
}

int event_open(const struct event_spec *spec, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	union {
		struct perf_event_attr attr;
		uint64_t words[32];
	} a = {.words = {0}};
	long fd;

	a.attr = spec->attr;
	a.attr.size = ATTR_CONFIG3_OFF < sizeof(a.attr) ? ATTR_CONFIG3_OFF : sizeof(a.attr);
	if (spec->config3) {
		a.words[ATTR_CONFIG3_OFF / 8] = spec->config3;
		a.attr.size = ATTR_SIZE_VER8;
	}
	fd = syscall(SYS_perf_event_open, &a, pid, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

/* Opens the event disabled, on this thread.  A PMU that only counts whole CPUs refuses a task with
 * EINVAL, and a user who may not see the kernel gets EACCES: both are tried the other way. */
static int probe_host(const struct event_spec *spec)
{
	struct event_spec s = *spec;
	int fd;

	s.attr.disabled = 1;
	fd = event_open(&s, 0, -1, -1, 0);
	if (fd == -EINVAL)
		fd = event_open(&s, -1, 0, -1, 0);
	if ((fd == -EACCES || fd == -EPERM) && !s.attr.exclude_user) {
		s.attr.exclude_kernel = s.attr.exclude_hv = 1;
		fd = event_open(&s, 0, -1, -1, 0);
	}
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}
