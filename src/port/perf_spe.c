/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_spe.h.
 *
 * Whose a sample is: a context packet tells the thread when the kernel was built to say so
 * (CONFIG_PID_IN_CONTEXTIDR) and records name such a thread; else it is the thread of the buffer,
 * or the one that ITRACE_START named for the CPU, or that of the AUX record.  When: its timestamp
 * where the file says how to convert it, else the time of the AUX record. */
#include "port/perf_spe.h"

#include "base/str.h"
#include "port/perf_facts.h"

#define AUXTRACE_ARM_SPE 4	    /* enum auxtrace_type, tools/perf/util/auxtrace.h */
#define NOT_ONE		 UINT32_MAX /* no CPU, no thread: it is of all */

void perf_spe_init(struct perf_spe *s, const struct perfdata *pd, struct perf_world *w,
		   perf_spe_count *count, void *ctx)
{
	*s = (struct perf_spe){.pd = pd, .world = w, .count = count, .ctx = ctx};
}

void perf_spe_release(struct perf_spe *s)
{
	vec_each (d, &s->waiting)
		vec_release(&d->bytes);
	vec_release(&s->waiting);
	vec_release(&s->began);
}

void perf_spe_tell(struct perf_spe *s, const struct perfdata_record *r)
{
	if (r->head.type == PERFDATA_AUXTRACE_INFO) {
		s->is_spe = r->auxtrace_info.type == AUXTRACE_ARM_SPE;
	} else if (r->head.type == PERFDATA_TIME_CONV && r->time_conv.shift < 64) {
		s->has_conv = true;
		s->shift = r->time_conv.shift;
		s->mult = r->time_conv.mult;
		s->zero = r->time_conv.zero;
	}
}

/* Ticks to ns: the two halves apart, so that nothing overflows (perf_event.h, time_mult). */
static uint64_t convert(const struct perf_spe *s, uint64_t ticks)
{
	uint64_t high = ticks >> s->shift, low = ticks & ((1ull << s->shift) - 1);

	return s->zero + high * s->mult + (low * s->mult >> s->shift);
}

/* The event whose samples they are: the AUX record's, else the one of its PMU. */
static uint32_t find_event(const struct perf_spe *s, uint32_t told)
{
	if (told < s->pd->events.n)
		return told;
	for (uint32_t i = 0; i < s->pd->events.n; i++) {
		const struct perfdata_event *e = &s->pd->events.v[i];
		const char *pmu = perf_facts_pmu(s->pd, e->attr.type);

		if (str_starts(pmu ? pmu : e->name ? e->name : "", "arm_spe"))
			return i;
	}
	return NOT_ONE;
}

static void find_thread(struct perf_spe *s, const struct perf_spe_data *d,
			const struct arm_spe_record *r, const struct perfdata_id *aux,
			struct perf_spe_sample *ret)
{
	const struct perf_thread *t = NULL;

	if (r->has & ARM_SPE_CONTEXT && r->context)
		t = perf_world_find_thread(s->world, r->context);
	if (!t && d->tid != NOT_ONE)
		t = perf_world_find_thread(s->world, d->tid);
	if (t) {
		ret->pid = t->pid;
		ret->tid = t->tid;
		return;
	}
	if (aux) {
		ret->pid = aux->pid;
		ret->tid = aux->tid;
	}
	vec_each (b, &s->began)
		if (b->cpu == d->cpu) {
			ret->pid = b->pid;
			ret->tid = b->tid;
		}
}

/* Counts the samples in what is left of D before byte TO. */
static void count_range(struct perf_spe *s, struct perf_spe_data *d, size_t to,
			const struct perfdata_record *aux)
{
	struct arm_spe_reader r = arm_spe_reader_init(d->bytes.v + d->n_done, to - d->n_done);
	uint32_t event = find_event(s, aux ? aux->event : NOT_ONE);
	struct arm_spe_record one;

	if (!s->has_machine) {
		s->machine = perf_facts_arm(s->pd);
		s->has_machine = true;
	}
	r.at = d->off + d->n_done;
	while (arm_spe_next(&r, &one)) {
		struct perf_spe_sample p = {
			.event = event,
			.ip = one.pc,
			.addr = one.has & ARM_SPE_VA ? one.va : 0,
			.phys = one.has & ARM_SPE_PA ? one.pa : 0,
			.mode = one.el ? PERFDATA_MODE_KERNEL : PERFDATA_MODE_USER,
			.time = aux ? aux->id.time : 0,
		};

		if (!(one.has & ARM_SPE_PC)) {
			s->n_no_address++;
			continue;
		}
		if (event == NOT_ONE) {
			s->n_no_event++;
			continue;
		}
		if (one.has & ARM_SPE_TIME && s->has_conv)
			p.time = convert(s, one.time);
		find_thread(s, d, &one, aux ? &aux->id : NULL, &p);
		arm_spe_facts(&one, &s->machine, &p.facts);
		if (one.has & ARM_SPE_EVENTS)
			fact_defs_apply(s->defs, FACT_SOURCE_SPE_EVENTS, &one.events, &p.facts);
		facts_settle(&p.facts);
		s->count(s->ctx, &p);
	}
	s->n_garbage += r.n_garbage;
	s->n_damaged += r.n_damaged;
	s->n_waiting -= (size_t)(r.p - d->bytes.v) - d->n_done;
	d->n_done = (size_t)(r.p - d->bytes.v);
}

static void perf_spe_drop(struct perf_spe *s, size_t i)
{
	struct perf_spe_data *d = &s->waiting.v[i];

	s->n_waiting -= d->bytes.n - d->n_done;
	vec_release(&d->bytes);
	memmove(d, d + 1, (s->waiting.n - i - 1) * sizeof(*d));
	s->waiting.n--;
}

void perf_spe_keep(struct perf_spe *s, const struct perfdata_record *auxtrace, const uint8_t *piece,
		   size_t n, uint64_t at)
{
	uint64_t off = auxtrace->auxtrace.off + at;
	uint32_t cpu = auxtrace->auxtrace.cpu, tid = auxtrace->auxtrace.tid;
	struct perf_spe_data *to = NULL;

	if (!s->is_spe || !n)
		return;
	vec_each (d, &s->waiting)
		if (d->cpu == cpu && d->tid == tid && d->off + d->bytes.n == off)
			to = d;
	if (!to) {
		to = vec_add(&s->waiting);
		to->cpu = cpu;
		to->tid = tid;
		to->off = off;
	}
	vec_reserve(&to->bytes, n);
	memcpy(to->bytes.v + to->bytes.n, piece, n);
	to->bytes.n += n;
	s->n_waiting += n;
	while (s->n_waiting > PERF_SPE_MOST_BYTES) {
		count_range(s, &s->waiting.v[0], s->waiting.v[0].bytes.n, NULL);
		perf_spe_drop(s, 0);
	}
}

void perf_spe_begin(struct perf_spe *s, const struct perfdata_record *r)
{
	if (!s->is_spe || !(r->id.has & PERFDATA_S_CPU))
		return;
	vec_each (b, &s->began)
		if (b->cpu == r->id.cpu) {
			b->pid = r->thread.pid;
			b->tid = r->thread.tid;
			return;
		}
	vec_push(&s->began, (struct perf_spe_began){
				    .cpu = r->id.cpu, .pid = r->thread.pid, .tid = r->thread.tid});
}

/* Whether D is the buffer that AUX is of. */
static bool is_of(const struct perf_spe_data *d, const struct perfdata_record *aux)
{
	if (d->cpu != NOT_ONE && aux->id.has & PERFDATA_S_CPU)
		return d->cpu == aux->id.cpu;
	if (d->tid != NOT_ONE && aux->id.has & PERFDATA_S_TID)
		return d->tid == aux->id.tid;
	return true;
}

void perf_spe_take(struct perf_spe *s, const struct perfdata_record *aux)
{
	uint64_t start = aux->aux.off, end = start + aux->aux.n_bytes;

	if (!s->is_spe || end <= start)
		return;
	for (size_t i = 0; i < s->waiting.n; i++) {
		struct perf_spe_data *d = &s->waiting.v[i];
		size_t to;

		if (!is_of(d, aux) || d->off >= end || d->off + d->bytes.n <= start)
			continue;
		/* What came before it and was named by no record goes with it. */
		to = end - d->off < d->bytes.n ? (size_t)(end - d->off) : d->bytes.n;
		if (to > d->n_done)
			count_range(s, d, to, aux);
		if (d->n_done == d->bytes.n)
			perf_spe_drop(s, i--);
	}
}

void perf_spe_end(struct perf_spe *s)
{
	while (s->waiting.n) {
		count_range(s, &s->waiting.v[0], s->waiting.v[0].bytes.n, NULL);
		perf_spe_drop(s, 0);
	}
}
