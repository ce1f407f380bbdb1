/* SPDX-License-Identifier: BSD-2-Clause */
/* What a service says of itself. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "build_config.h"
#include "daemon/service_impl.h"

/* Resident memory: proc(5), /proc/self/statm, the second number, in pages. */
size_t service_resident_bytes(void)
{
	unsigned long long pages = 0;
	char *text;

	if (file_load("/proc/self/statm", 4096, &text, NULL, NULL) < 0)
		return 0;
	if (sscanf(text, "%*u %llu", &pages) != 1)
		pages = 0;
	free(text);
	return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

double service_own_cpu_s(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u) < 0)
		return 0;
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static int add_recording(void *ctx, const struct store_recording *rec)
{
	struct service_status *s = ctx;

	s->disk_bytes += rec->n_bytes;
	for (size_t i = 0; i < rec->n_events; i++)
		s->n_pruned += rec->events[i].n_pruned;
	return 0;
}

void service_status(struct service *v, struct service_status *ret)
{
	const struct collector *c = v->set->sampling.collector;
	struct collector_stats s = collector_stats(c);
	uint64_t now = clock_mono_ns();

	*ret = (struct service_status){
		.version = DWELL_VERSION,
		.db = v->opts.db,
		.epoch = v->epoch,
		.engine = profile_str(&v->set->sampling.profile,
				      v->set->sampling.profile.meta.engine),
		.problem = v->problem,
		.dcpi_problem = v->dcpi_problem,
		.pid = (uint32_t)getpid(),
		.uptime_s = (double)(now - v->start_ns) / 1e9,
		.since_flush_s = (double)(now - v->last_flush_ns) / 1e9,
		.n_samples = v->n_samples,
		.n_unknown = v->n_unknown,
		.n_keys = s.n_keys,
		.n_contexts = s.n_contexts,
		.unrecorded_s = v->unrecorded_s,
		.unattended_s = v->unattended_s,
		.n_lost_records = v->n_lost_records + s.n_lost_records,
		.n_left_out = v->n_left_out + s.n_left_out,
		.n_flushes = v->n_flushes,
		.n_epochs = v->n_epochs,
		.n_taken_over = v->n_taken_over,
		.n_shared = v->shared.n,
		.all_bytes = v->retention.n_bytes,
		.n_removed = v->retention.n_removed,
		.n_bytes_removed = v->retention.n_bytes_removed,
		.rss_bytes = service_resident_bytes(),
		.cpu_s = service_own_cpu_s(),
		.log_fill_pct = collector_fill_pct(c),
		.pinned = v->set->pinned,
		.calls = v->set->opts.calls != CALLS_NONE,
		.shares = &v->shares,
	};
	store_list(v->opts.db, &(struct store_selection){.epochs = v->epoch}, add_recording, ret,
		   NULL);
	vec_each (e, &v->sums)
		vec_push(&ret->events, (struct service_event){
					       .name = e->name,
					       .period = e->period,
					       .freq_hz = e->freq_hz,
					       .duty = e->enabled_ns ? (double)e->running_ns /
									       (double)e->enabled_ns
								     : 1,
					       .n_reached = e->n_reached,
					       .n_stored = e->n_stored});
	vec_each (l, &v->losses)
		vec_push(&ret->losses, (struct service_loss){l->event, l->name, l->n});
}

void service_status_release(struct service_status *s)
{
	vec_release(&s->events);
	vec_release(&s->losses);
}

/* Labels a client may make up: each is kept in memory and in every epoch it has samples in. */
#define MOST_LABELS 1000

int service_label(struct service *v, uint32_t pid, const char *label, struct err *err)
{
	struct log_set *set = v->next ? v->next : v->set;
	struct sampling *live = &set->sampling;
	const struct profile *p = &live->profile;
	string_id *seen = xcalloc(p->owners.n + 1, sizeof(*seen));
	size_t n = 0;

	vec_each (o, &p->owners) {
		bool known = !o->label || strcmp(profile_str(p, o->label), label) == 0;

		for (size_t i = 0; i < n && !known; i++)
			known = seen[i] == o->label;
		if (!known)
			seen[n++] = o->label;
	}
	free(seen);
	if (n >= MOST_LABELS)
		return err_set(err, -E2BIG, "there are %d labels already", MOST_LABELS);
	if (!collector_set_label(live->collector, pid, label))
		return err_set(err, -ESRCH, "no process %u", pid);
	service_keep_labels(v, set);
	return 0;
}
