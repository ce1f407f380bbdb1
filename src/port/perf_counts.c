/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_counts.h.
 *
 * Each count is of one id: of an event on a CPU or in a thread.  It goes on from record to record
 * (observed: perf 6.1, stat record -I: 100 ms, 200 ms, ... of a clock), so the last one is all.
 * Events that are wanted on each CPU of a thread have a record for each (cpu, thread) of one id;
 * these add up. */
#include "port/perf_counts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "port/perf_in_impl.h"

/* More threads and CPUs nobody counts. */
#define MOST_PARTS 1000000u

struct part {
	uint64_t id, value, enabled_ns, running_ns;
	uint32_t cpu, thread;
};

struct counts_reader {
	struct perf_handler handler;
	struct perfdata pd;
	VEC(struct part) parts;
	struct index ix;
	uint64_t elapsed_ns;
};

static bool part_is(const void *ctx, uint32_t i, const void *key)
{
	const struct part *a = &((const struct counts_reader *)ctx)->parts.v[i], *b = key;

	return a->id == b->id && a->cpu == b->cpu && a->thread == b->thread;
}

static struct part *intern_part(struct counts_reader *c, const struct part *key)
{
	const uint64_t hash = hash_u64(key->id ^ hash_u64((uint64_t)key->cpu << 32 | key->thread));
	uint32_t i = index_find(&c->ix, hash, part_is, c, key);

	if (i == INDEX_NONE) {
		i = (uint32_t)c->parts.n;
		vec_push(&c->parts, *key);
		index_add(&c->ix, hash, i);
	}
	return &c->parts.v[i];
}

static int pass_over(struct perf_handler *h, const struct perfdata_head *head, const uint8_t *p,
		     uint64_t off, struct err *err)
{
	return 0;
}

static int take_count(struct perf_handler *h, const struct perfdata_head *head, const uint8_t *p,
		      uint64_t off, struct err *err)
{
	struct counts_reader *c = (struct counts_reader *)h;
	struct perfdata_record r;

	if (head->type != PERFDATA_STAT && head->type != PERFDATA_STAT_ROUND)
		return 0;
	if (perfdata_read_record(&c->pd, head, p, &r) < 0)
		return err_set(err, -EBADMSG, "a record %s is too short",
			       perfdata_type_name(head->type));
	if (head->type == PERFDATA_STAT_ROUND) {
		c->elapsed_ns = r.stat_round.time;
		return 0;
	}
	if (c->parts.n >= MOST_PARTS)
		return err_set(err, -E2BIG, "it has more than %u counters", MOST_PARTS);
	*intern_part(c,
		     &(struct part){.id = r.stat.id, .cpu = r.stat.cpu, .thread = r.stat.thread}) =
		(struct part){r.stat.id,	 r.stat.value, r.stat.enabled_ns,
			      r.stat.running_ns, r.stat.cpu,   r.stat.thread};
	return 0;
}

/* Adds the parts up by event, scaled as perf does: by how long they were enabled and counted. */
static void add_up(const struct counts_reader *c, struct perf_counts *ret)
{
	for (uint32_t i = 0; i < c->pd.events.n; i++)
		vec_push(&ret->counts, (struct perf_count){.name = perf_event_name(&c->pd, i),
							   .is_clock = perf_event_is_clock(
								   &c->pd.events.v[i].attr)});
	vec_each (p, &c->parts) {
		const uint32_t e = perfdata_find_event(&c->pd, p->id);
		struct perf_count *to;

		if (e == PERFDATA_NONE)
			continue;
		to = &ret->counts.v[e];
		to->value += (double)p->value;
		to->enabled_ns += p->enabled_ns;
		to->running_ns += p->running_ns;
	}
	vec_each (to, &ret->counts) {
		to->known = to->running_ns > 0;
		if (to->known && to->running_ns < to->enabled_ns)
			to->value *= (double)to->enabled_ns / (double)to->running_ns;
	}
}

int perf_counts_load(const char *path, struct perf_counts *ret, struct err *err)
{
	_fd_ int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	struct counts_reader c = {.handler = {.record = pass_over, .own = take_count}};
	struct perf_stream_stats st = {0};
	int rc;

	*ret = (struct perf_counts){0};
	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	rc = perf_stream_read(fd, path, &c.pd, &c.handler, NULL, &st, err);
	if (rc >= 0 && !c.parts.n)
		rc = err_set(err, -EINVAL, "it has no counts; `perf stat record` takes them");
	if (rc >= 0) {
		add_up(&c, ret);
		ret->elapsed_ns = c.elapsed_ns;
		ret->command = xstrdup(c.pd.command ? c.pd.command : "");
		ret->cpu = xstrdup(c.pd.cpu_id ? c.pd.cpu_id : "");
	}
	perfdata_release(&c.pd);
	vec_release(&c.parts);
	index_release(&c.ix);
	return rc < 0 ? err_prefix(err, rc, "%s", path) : 0;
}

void perf_counts_release(struct perf_counts *c)
{
	vec_each (e, &c->counts)
		free(e->name);
	vec_release(&c->counts);
	free(c->command);
	free(c->cpu);
	*c = (struct perf_counts){0};
}
