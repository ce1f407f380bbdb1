/* SPDX-License-Identifier: BSD-2-Clause */
/* See switches.h; bpf/switch.h has the layout, bpf/switch.bpf.c the other side.
 *
 * Head is read with acquire and tail written with release, as in log.c.  The sums of threads that
 * live are read by iterators: a map system call would silence the samplers of its CPU. */
#include "collect/offcpu/switches.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/vec.h"
#include "collect/bpf_iter.h"
#include "collect/libbpf_said.h"
#include "collect/calls/log_chains.h"
#include "switch.skel.h"

struct switches {
	struct switch_bpf *skel;
	uint32_t n_cpus, n_slots;
	bool at_switch;		   /* WALK_AT_SWITCH, or what WALK_AUTO came to */
	struct switch_slot *slots; /* n_cpus * n_slots */
	struct switch_cpu *cpus;   /* n_cpus */
	bool started;
};

/* Whether the kernel has the tracepoint: its function type is in the kernel's own types. */
static bool has_tracepoint(const char *name)
{
	struct btf *btf = btf__load_vmlinux_btf();
	_mem_ char *type = xasprintf("btf_trace_%s", name);
	bool has = btf && btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0;

	btf__free(btf);
	return has;
}

/* A piece of the kernel's code. */
struct code_range {
	const char *from, *to; /* symbols: where it begins and ends; to NULL: at the next one */
	uint64_t start, end;
};

/* Finds the N ranges in the kernel's symbols; one that is not there stays empty. */
static void find_code(struct code_range *ranges, size_t n)
{
	_file_ FILE *f = fopen("/proc/kallsyms", "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long at;
		char name[64];

		if (sscanf(line, "%llx %*c %63s", &at, name) != 2)
			continue;
		for (size_t i = 0; i < n; i++) {
			struct code_range *r = &ranges[i];

			if (!r->to && r->start && !r->end && at > r->start)
				r->end = at; /* the kernel's own symbols come in order */
			if (!r->start && strcmp(name, r->from) == 0)
				r->start = at;
			if (r->to && strcmp(name, r->to) == 0)
				r->end = at;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (ranges[i].end < ranges[i].start)
			ranges[i].start = ranges[i].end = 0;
}

static int switches_load(struct switches *s, const struct switches_opts *o, struct err *err)
{
	struct log_chains *walker = log_chains_of(o->log);
	struct switch_bpf *skel = s->skel;
	struct code_range code[] = {{"__sched_text_start", "__sched_text_end"},
				    {"try_to_wake_up", NULL},
				    {"__irqentry_text_start", "__irqentry_text_end"},
				    {"asm_exc_page_fault", NULL}};
	int rc;

	find_code(code, n_elems(code));
	skel->rodata->n_slots = o->n_slots;
	skel->rodata->min_block_ns = o->min_block_ns;
	skel->rodata->sched_text_start = code[0].start;
	skel->rodata->sched_text_end = code[0].end;
	skel->rodata->with_wakers = o->wakers;
	skel->rodata->wake_up_start = code[1].start;
	skel->rodata->wake_up_end = code[1].end;
	skel->rodata->irq_entry_start = code[2].start;
	skel->rodata->irq_entry_end = code[2].end;
	skel->rodata->fault_start = code[3].start;
	skel->rodata->fault_end = code[3].end;
	skel->rodata->at_switch = s->at_switch;
	bpf_program__set_autoload(skel->progs.on_waking, o->wakers);
	bpf_program__set_autoload(skel->progs.on_exit, !s->at_switch);
	skel->rodata->n_targets = o->n_pids;
	for (uint32_t i = 0; i < o->n_pids; i++)
		skel->rodata->targets[i] = o->pids[i];
	bpf_map__set_max_entries(skel->maps.switch_slots, o->n_cpus * o->n_slots);
	bpf_map__set_max_entries(skel->maps.switch_cpus, o->n_cpus);
	skel->rodata->n_chain_words = log_chains_opts(walker)->n_chain_words;
	skel->rodata->n_image_keys = log_chains_opts(walker)->n_image_keys;
	skel->rodata->table_shift = log_chains_table_shift(log_chains_opts(walker));
	skel->rodata->check_walks = log_chains_opts(walker)->check_walks;
	skel->rodata->go_labels = log_chains_opts(walker)->go_labels;
	skel->rodata->script_seed = log_chains_opts(walker)->script_seed;
	skel->rodata->page_shift = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	rc = log_chains_lend(walker, skel->obj, err);
	if (rc < 0)
		return rc;
	rc = switch_bpf__load(skel);
	if (rc < 0)
		return err_errno(err, rc, "cannot load the programs that watch the scheduler (%s)",
				 libbpf_said());
	return log_chains_adopt(walker, skel->obj,
				(struct log_chains_shared){&skel->bss->unwind_clock,
							   (uint64_t *)&skel->bss->images_epoch,
							   &skel->bss->scripts_epoch},
				err);
}

int switches_open(const struct switches_opts *o, struct switches **ret, struct err *err)
{
	bool has_exit = has_tracepoint("sched_exit_tp");
	struct switches *s;
	int rc;

	if (!has_exit && o->walk == WALK_AT_EXIT)
		return err_set(err, -EOPNOTSUPP,
			       "this kernel does not tell when a thread is back from a switch "
			       "(tracepoint sched_exit_tp)");
	if (o->n_pids > SWITCH_MAX_TARGETS)
		return err_set(err, -E2BIG, "more than %d processes", SWITCH_MAX_TARGETS);
	s = xcalloc(1, sizeof(*s));
	s->n_cpus = o->n_cpus;
	s->n_slots = o->n_slots;
	s->at_switch = o->walk == WALK_AT_SWITCH || (o->walk == WALK_AUTO && !has_exit);
	libbpf_listen();
	s->skel = switch_bpf__open();
	rc = s->skel ? switches_load(s, o, err)
		     : err_errno(err, -errno, "cannot open the BPF programs (%s)", libbpf_said());
	if (rc >= 0) {
		s->slots = log_map_array(s->skel->maps.switch_slots, sizeof(*s->slots),
					 (size_t)s->n_cpus * s->n_slots, PROT_READ);
		s->cpus = log_map_array(s->skel->maps.switch_cpus, sizeof(*s->cpus), s->n_cpus,
					PROT_READ | PROT_WRITE);
		if (!s->slots || !s->cpus)
			rc = err_errno(err, -errno, "cannot map the log of switches");
	}
	if (rc < 0) {
		switches_close(s);
		return rc;
	}
	*ret = s;
	return 0;
}

void switches_close(struct switches *s)
{
	if (!s)
		return;
	log_unmap_array(s->slots, sizeof(*s->slots), (size_t)s->n_cpus * s->n_slots);
	log_unmap_array(s->cpus, sizeof(*s->cpus), s->n_cpus);
	switch_bpf__destroy(s->skel);
	free(s);
}

struct told_fn {
	void (*fn)(void *ctx, const struct switch_told *told);
	void *ctx;
};

static void each_told(void *ctx, const void *piece)
{
	const struct told_fn *f = ctx;

	f->fn(f->ctx, piece);
}

struct end_fn {
	void (*fn)(void *ctx, const struct switch_end *e);
	void *ctx;
};

static void each_end(void *ctx, const void *piece)
{
	const struct end_fn *f = ctx;

	f->fn(f->ctx, piece);
}

int switches_start(struct switches *s, uint64_t *ret_ns, struct err *err)
{
	struct switch_bpf *skel = s->skel;
	int rc;

	skel->links.on_switch = bpf_program__attach(skel->progs.on_switch);
	skel->links.on_wakeup = bpf_program__attach(skel->progs.on_wakeup);
	skel->links.on_new = bpf_program__attach(skel->progs.on_new);
	if (!s->at_switch)
		skel->links.on_exit = bpf_program__attach(skel->progs.on_exit);
	if (skel->rodata->with_wakers)
		skel->links.on_waking = bpf_program__attach(skel->progs.on_waking);
	if (!skel->links.on_switch || !skel->links.on_wakeup || !skel->links.on_new ||
	    (!s->at_switch && !skel->links.on_exit) ||
	    (skel->rodata->with_wakers && !skel->links.on_waking))
		return err_errno(err, -errno, "cannot watch the scheduler (%s)", libbpf_said());
	*ret_ns = skel->bss->begin_ns = clock_mono_ns();
	rc = bpf_iter_run(skel->progs.watch_threads, sizeof(struct switch_end), NULL, NULL, err);
	s->started = rc >= 0;
	return rc;
}

int switches_tell(struct switches *s, void (*fn)(void *ctx, const struct switch_told *told),
		  void *ctx, struct err *err)
{
	struct told_fn f = {fn, ctx};

	return s->started ? bpf_iter_run(s->skel->progs.tell_sums, sizeof(struct switch_told),
					 each_told, &f, err)
			  : 0;
}

int switches_stop(struct switches *s, uint64_t *ret_ns,
		  void (*fn)(void *ctx, const struct switch_end *e), void *ctx, struct err *err)
{
	struct end_fn f = {fn, ctx};

	if (!s->started)
		return 0;
	s->started = false;
	switch_bpf__detach(s->skel);
	usleep(1000); /* what runs on another CPU just now ends meanwhile */
	*ret_ns = s->skel->bss->end_ns = clock_mono_ns();
	return bpf_iter_run(s->skel->progs.end_threads, sizeof(struct switch_end), each_end, &f,
			    err);
}

uint64_t switches_head(const struct switches *s, uint32_t cpu)
{
	return __atomic_load_n(&s->cpus[cpu].head, __ATOMIC_ACQUIRE);
}

void switches_drain(struct switches *s, uint32_t cpu, uint64_t head,
		    void (*fn)(void *ctx, const struct switch_slot *slot), void *ctx)
{
	const struct switch_slot *slots = &s->slots[(size_t)cpu * s->n_slots];

	for (uint64_t at = s->cpus[cpu].tail; at != head; at++)
		fn(ctx, &slots[at & (s->n_slots - 1)]);
	__atomic_store_n(&s->cpus[cpu].tail, head, __ATOMIC_RELEASE);
}

struct switches_lost switches_lost(const struct switches *s)
{
	struct switches_lost l = {0};

	for (uint32_t cpu = 0; cpu < s->n_cpus; cpu++) {
		for (unsigned kind = 0; kind < SWITCH_N_SUMS; kind++)
			l.n_intervals += s->cpus[cpu].n_lost[kind];
		l.n_wakers += s->cpus[cpu].n_wakers_missed;
		l.n_threads += s->cpus[cpu].n_untracked;
	}
	return l;
}
