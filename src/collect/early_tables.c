/* SPDX-License-Identifier: BSD-2-Clause */
/* See early_tables.h.
 *
 * Processes have their turn in the order of the CPU time that they used.  The next one's files are
 * asked for when the last one's are there: when the time is over, few are awaited, and those that
 * samples need do not stand behind them. */
#include "collect/early_tables.h"

#include <unistd.h>

#include "base/clock.h"
#include "collect/collector_impl.h"
#include "machine/procfs.h"

/* An answer ends a wait; so does this. */
#define WAIT_STEP_NS (20ull * 1000000)

struct busy_process {
	uint64_t cpu_ticks;
	uint32_t proc;
};

typedef VEC(struct busy_process) busy_list;

static int by_cpu(const void *a, const void *b)
{
	const struct busy_process *x = a, *y = b;

	if (x->cpu_ticks != y->cpu_ticks)
		return x->cpu_ticks > y->cpu_ticks ? -1 : 1;
	return x->proc < y->proc ? -1 : x->proc > y->proc;
}

/* The processes with mappings: the recorder, whose readers end before anybody has a table for them,
 * and then the busiest first. */
static void list_busy(const struct collector *c, uint64_t end_ns, busy_list *ret)
{
	vec_each (p, &c->procs.v) {
		struct busy_process b = {.proc = (uint32_t)(p - c->procs.v.v)};

		if (p->ended || !p->maps || procs_current(&c->procs, p->tgid) != b.proc ||
		    !target_may_have(&c->opts.target, p->tgid))
			continue;
		if (p->tgid == (uint32_t)getpid())
			b.cpu_ticks = UINT64_MAX;
		else if (clock_mono_ns() < end_ns)
			procfs_cpu_ticks(p->tgid, &b.cpu_ticks);
		vec_push(ret, b);
	}
	vec_sort(ret, by_cpu);
}

/* By code: it was asked for. */
typedef VEC(bool) code_set;

/* Asks for the tables of what P maps, but for what ASKED has. */
static void ask_for(struct collector *c, const struct proc *p, code_set *asked)
{
	struct unwinds *u = &c->calls.unwinds;

	vec_each (m, &p->maps->v) {
		uint32_t number;

		if (c->images.codes.v[m->code].kind != CODE_FILE || *vec_at(asked, m->code))
			continue;
		*vec_at(asked, m->code) = true;
		number = unwinds_number_of(u, m->code);
		if (!number)
			continue;
		unwinds_ask(u, number, p->tgid);
		unwinds_tell(u, m->code);
	}
}

static bool any_awaited(const struct unwinds *u)
{
	vec_each (t, &u->tables)
		if (t->wanted)
			return true;
	return false;
}

static void build_until(struct collector *c, uint64_t end_ns)
{
	while (clock_mono_ns() < end_ns && call_paths_build(&c->calls))
		;
}

/* Takes what comes until nothing is awaited, or the time is over. */
static void await_all(struct collector *c, uint64_t end_ns)
{
	build_until(c, end_ns);
	for (uint64_t now = clock_mono_ns();
	     c->opts.wait_answers && now < end_ns && any_awaited(&c->calls.unwinds);
	     now = clock_mono_ns()) {
		c->opts.wait_answers(now + WAIT_STEP_NS < end_ns ? now + WAIT_STEP_NS : end_ns);
		collector_take_layouts(c);
		call_paths_take_answers(&c->calls);
		build_until(c, end_ns);
	}
}

void early_tables(struct collector *c, uint64_t budget_ns)
{
	const uint64_t end_ns = clock_mono_ns() + budget_ns;
	busy_list busy = {0};
	code_set asked = {0};

	if (!c->log || !c->calls.has_unwinds)
		return;
	list_busy(c, end_ns, &busy);
	vec_each (b, &busy) {
		if (clock_mono_ns() >= end_ns)
			break;
		ask_for(c, &c->procs.v.v[b->proc], &asked);
		await_all(c, end_ns);
	}
	vec_release(&busy);
	vec_release(&asked);
	if (unwinds_changed(&c->calls.unwinds))
		log_images_changed(c->log);
}
