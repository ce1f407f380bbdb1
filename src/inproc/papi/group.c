/* SPDX-License-Identifier: BSD-2-Clause */
/* See group.h.  Members are open as long as the set, or until one of them is closed. */
#include "inproc/papi/group.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inproc/own_fd.h"
#include "inproc/papi/count.h"

/* Tracepoints count as events of the kernel's software. */
static bool is_software(const struct papi_counter *c)
{
	return c->what.spec.type == PERF_TYPE_SOFTWARE || c->what.spec.type == PERF_TYPE_TRACEPOINT;
}

/* The counters of S that can be one group. */
static int find_members(const struct papi_set *s, struct papi_counter **ret)
{
	int n = 0;

	if (s->inherit || s->state & PAPI_MULTIPLEXING)
		return 0;
	for (int i = 0; i < s->n; i++) {
		struct papi_counter *c = s->counters[i];

		if (!c->profile && !c->threshold &&
		    (n == 0 || is_software(c) == is_software(ret[0])))
			ret[n++] = c;
	}
	return n < 2 ? 0 : n;
}

static bool is_group(const struct papi_group *g, struct papi_counter *const *members, int n,
		     const struct papi_counted *wanted)
{
	return g->n == n && n && memcmp(g->members, members, (size_t)n * sizeof(*members)) == 0 &&
	       papi_counter_is(members[0], wanted);
}

static int open_member(const struct papi_set *s, struct papi_counter *c, pid_t tid, int leader)
{
	struct perf_event_attr attr = papi_attr_of(s, c);
	long fd;

	if (leader < 0)
		attr.read_format = PERF_FORMAT_GROUP;
	else
		attr.disabled = 0;
	fd = syscall(SYS_perf_event_open, &attr, tid, s->cpu, leader, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -1 : own_fd_move_up((int)fd);
}

void papi_group_open(struct papi_set *s, const struct papi_counted *wanted)
{
	struct papi_counter *members[PAPI_SET_EVENTS];
	struct papi_group *g = &s->group;
	const int n = find_members(s, members);

	if (is_group(g, members, n, wanted) || (!n && !g->n))
		return;
	papi_group_close(g);
	for (int i = 0; i < n; i++) {
		struct papi_counter *c = members[i];

		papi_close_counter(c);
		papi_adopt_counter(c, open_member(s, c, wanted->tid, i ? members[0]->fd : -1));
		c->of = *wanted;
		c->has_times = false;
		c->group = g;
		c->place = i;
		g->members[g->n++] = c;
		if (c->fd < 0) { /* they do not fit beside one another, or are not allowed */
			papi_group_close(g);
			return;
		}
	}
}

void papi_group_close(struct papi_group *g)
{
	const int n = g->n;

	g->n = 0;
	for (int i = n - 1; i >= 0; i--) {
		g->members[i]->group = NULL;
		papi_close_counter(g->members[i]);
	}
}

bool papi_group_read(const struct papi_group *g, struct papi_group_counts *ret)
{
	const size_t n_bytes = (1 + (size_t)g->n) * sizeof(uint64_t);

	return read(g->members[0]->fd, ret, sizeof(*ret)) == (ssize_t)n_bytes;
}
