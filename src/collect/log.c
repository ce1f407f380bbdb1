/* SPDX-License-Identifier: BSD-2-Clause */
/* See log.h; bpf/record.h has the layout, bpf/sample.bpf.c the other side.
 *
 * Head is read with acquire and tail written with release: a slot is read only after the kernel
 * side published it, and given back only after it was read. */
#include "collect/log.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/step.h"
#include "base/str.h"
#include "base/vec.h"
#include "collect/bpf_iter.h"
#include "collect/bpf_programs.h"
#include "collect/kernel_types.h"
#include "collect/libbpf_said.h"
#include "collect/calls/log_chains.h"
#include "sample.skel.h"

struct log {
	struct sample_bpf *skel;
	uint32_t n_events, n_cpus, n_slots, n_spill;
	struct log_slot *slots; /* n_cpus * n_slots */
	struct log_cpu *cpus;	/* n_cpus */
	uint64_t number, *live; /* NULL: it samples by itself */
	int spill_fd; /* n_cpus * n_spill; mostly empty, so it is mapped when it is read */
	VEC(int) links;
	struct bpf_link *watching[3]; /* as watchers */
	struct bpf_link *ending[2];   /* as ends; NULL without */
	bool with_chains;
	int first_piece;	   /* of the tables, until CHAINS has it; -1: none */
	struct log_chains *chains; /* NULL without */
	uint64_t *slot_times;	   /* n_cpus * n_slots; NULL without */
};

/* The program that samples event number EVENT. */
static struct bpf_program *program_of(const struct log *l, unsigned event)
{
	char name[24];

	snprintf(name, sizeof(name), "%s_%u", l->with_chains ? "stack" : "sample", event);
	return bpf_object__find_program_by_name(l->skel->obj, name);
}

static const struct {
	const char *program, *tracepoint;
} watchers[] = {{"watch_fork", "sched_process_fork"},
		{"watch_exec", "sched_process_exec"},
		{"watch_free", "sched_process_free"}};

static struct bpf_program *watch_program(const struct log *l, size_t i)
{
	return bpf_object__find_program_by_name(l->skel->obj, watchers[i].program);
}

/* Where a thread is about to give its memory up (bpf/exit.bpf.h), and since which Linux. */
static const struct {
	const char *tracepoint;
	unsigned major, minor;
} ends[] = {{"sched_prepare_exec", 6, 10}, {"sched_process_exit", 6, 16}};

static bool kernel_tells(size_t i)
{
	unsigned major, minor;
	struct utsname u;

	return uname(&u) >= 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major > ends[i].major || (major == ends[i].major && minor >= ends[i].minor));
}

/* The number of what iterators of tasks are attached to, once types told it. */
static uint32_t iter_task;

/* Called by libbpf before it loads an iterator: which is a program of tracing from now on.  If it
 * were one sooner, libbpf would read all of the kernel's types for it (prog_needs_vmlinux_btf). */
static int prepare_iter(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	opts->attach_btf_id = iter_task;
	return bpf_program__set_type(prog, BPF_PROG_TYPE_TRACING);
}

static void use_types(const struct kernel_types *t)
{
	static bool registered;
	LIBBPF_OPTS(libbpf_prog_handler_opts, o, .prog_prepare_load_fn = prepare_iter);

	iter_task = t->iter_task;
	if (!registered)
		registered = libbpf_register_prog_handler("iter/task", BPF_PROG_TYPE_RAW_TRACEPOINT,
							  BPF_TRACE_ITER, &o) >= 0;
}

uint64_t log_types_key(void)
{
	size_t n;
	const void *bytes = sample_bpf__elf_bytes(&n);

	return kernel_types_key(bytes, n);
}

int log_types_make(struct wr *ret, struct err *err)
{
	struct sample_bpf *skel = sample_bpf__open();
	int rc = skel ? kernel_types_make(bpf_object__btf(skel->obj), ret, err)
		      : err_errno(err, -errno, "cannot open the BPF program");

	sample_bpf__destroy(skel);
	return rc;
}

static int log_load(struct log *l, const struct log_opts *opts)
{
	struct sample_bpf *s = l->skel;
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, s->obj) bpf_program__set_autoload(prog, false);
	for (unsigned i = 0; i < opts->n_events; i++)
		bpf_program__set_autoload(program_of(l, i), true);
	bpf_program__set_autoload(s->progs.tasks, true);
	for (size_t i = 0; i < n_elems(watchers); i++)
		bpf_program__set_autoload(watch_program(l, i), opts->watch);
	bpf_program__set_autoload(s->progs.walk_end, opts->chains && kernel_tells(0));
	s->rodata->n_walk_cpus = opts->n_cpus;
	s->rodata->with_watched = opts->watch;
	if (opts->watch)
		bpf_map__set_max_entries(s->maps.watched, LOG_MAX_WATCHED);

	s->rodata->n_slots = opts->n_slots;
	s->rodata->n_spill = opts->n_spill;
	s->rodata->with_times = opts->times;
	s->rodata->log_number = opts->number;
	if (opts->number && bpf_map__reuse_fd(s->maps.live, opts->live_fd) < 0)
		return -errno;
	if (opts->times)
		bpf_map__set_max_entries(s->maps.slot_times, opts->n_cpus * opts->n_slots);
	s->rodata->pidns_dev = opts->pidns_dev;
	s->rodata->pidns_ino = opts->pidns_ino;
	s->rodata->n_chain_words = opts->n_chain_words;
	s->rodata->n_image_keys = opts->n_image_keys;
	s->rodata->n_copy_chunks = opts->n_copy_chunks ? opts->n_copy_chunks : 1;
	s->rodata->n_exit_chunks = opts->n_exit_chunks ? opts->n_exit_chunks : 1;
	s->rodata->check_walks = opts->check_walks;
	s->rodata->go_labels = opts->go_labels;
	s->rodata->script_seed = opts->script_seed;
	s->rodata->page_shift = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	bpf_map__set_max_entries(s->maps.slots, opts->n_cpus * opts->n_slots);
	bpf_map__set_max_entries(s->maps.cpus, opts->n_cpus);
	bpf_map__set_max_entries(s->maps.spill, opts->n_cpus * opts->n_spill);
	s->rodata->table_shift = log_chains_table_shift(opts);
	log_chains_prepare(s->obj, opts);
	if (opts->chains && l->first_piece < 0)
		l->first_piece = log_chains_make_piece(opts);
	if (opts->chains && (l->first_piece < 0 ||
			     bpf_map__set_inner_map_fd(s->maps.table_pieces, l->first_piece) < 0))
		return -errno;
	return sample_bpf__load(s);
}

/* Opens and loads the programs; TYPES NULL: by all of the kernel's types. */
static int log_open_by(struct log *l, const struct log_opts *opts, const struct kernel_types *types,
		       struct err *err)
{
	LIBBPF_OPTS(bpf_object_open_opts, o);
	char path[40];
	int rc;

	if (types) {
		use_types(types);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", types->fd);
		o.btf_custom_path = path;
	}
	libbpf_listen();
	l->skel = sample_bpf__open_opts(&o);
	if (!l->skel)
		return err_errno(err, -errno, "cannot open the BPF program (%s)", libbpf_said());
	rc = log_load(l, opts);
	return rc < 0 ? err_errno(err, rc, "cannot load the BPF program (%s)", libbpf_said()) : 0;
}

int log_open(const struct log_opts *opts, struct log **ret, struct err *err)
{
	struct log *l = xcalloc(1, sizeof(*l));
	int rc;

	l->n_events = opts->n_events;
	l->n_cpus = opts->n_cpus;
	l->n_slots = opts->n_slots;
	l->n_spill = opts->n_spill;
	l->number = opts->number;
	l->with_chains = opts->chains;
	l->spill_fd = l->first_piece = -1;
	rc = log_open_by(l, opts, opts->types, err);
	if (rc < 0 && opts->types && rc != -EPERM) { /* are they what is wrong? */
		sample_bpf__destroy(l->skel);
		rc = log_open_by(l, opts, NULL, err);
	}
	if (rc < 0) {
		log_close(l);
		return rc;
	}
	l->slots = log_map_array(l->skel->maps.slots, sizeof(*l->slots),
				 (size_t)l->n_cpus * l->n_slots, PROT_READ);
	l->cpus = log_map_array(l->skel->maps.cpus, sizeof(*l->cpus), l->n_cpus,
				PROT_READ | PROT_WRITE);
	l->spill_fd = fcntl(bpf_map__fd(l->skel->maps.spill), F_DUPFD_CLOEXEC, 0);
	if (opts->number)
		l->live = log_map_array(l->skel->maps.live, 8, 1, PROT_READ | PROT_WRITE);
	if (opts->times)
		l->slot_times = log_map_array(l->skel->maps.slot_times, 8,
					      (size_t)l->n_cpus * l->n_slots, PROT_READ);
	if (!l->slots || !l->cpus || l->spill_fd < 0 || (opts->times && !l->slot_times) ||
	    (opts->number && !l->live)) {
		rc = -errno;
		log_close(l);
		return err_errno(err, rc, "cannot map the sample log");
	}
	if (l->with_chains) {
		const int first_piece = l->first_piece;

		l->first_piece = -1;
		rc = log_chains_open(
			l->skel->obj, opts, first_piece,
			(struct log_chains_shared){&l->skel->bss->unwind_clock,
						   (uint64_t *)&l->skel->bss->images_epoch,
						   &l->skel->bss->scripts_epoch},
			&l->chains, err);
		if (rc < 0) {
			log_close(l);
			return rc;
		}
	}
	/* Without them paths in exit and exec lack the user's callers. */
	for (size_t i = 0; i < n_elems(ends); i++)
		if (bpf_program__autoload(l->skel->progs.walk_end) && kernel_tells(i))
			l->ending[i] = bpf_program__attach_raw_tracepoint(l->skel->progs.walk_end,
									  ends[i].tracepoint);
	malloc_trim(0); /* libbpf read all of the kernel's types and is done with them */
	*ret = l;
	return 0;
}

static bool is_array(int fd, size_t elem_bytes, uint32_t *ret_n)
{
	struct bpf_map_info info = {0};
	uint32_t n = sizeof(info);

	*ret_n = 0;
	if (bpf_obj_get_info_by_fd(fd, &info, &n) < 0 || info.type != BPF_MAP_TYPE_ARRAY ||
	    info.key_size != 4 || info.value_size != elem_bytes ||
	    !(info.map_flags & BPF_F_MMAPABLE))
		return false;
	*ret_n = info.max_entries;
	return true;
}

static bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

int log_open_arrays(int slots, int cpus, int spill, struct log **ret, struct err *err)
{
	struct log *l = xcalloc(1, sizeof(*l));
	uint32_t n_slots, n_spill;
	int rc;

	l->spill_fd = l->first_piece = -1;
	if (!is_array(slots, sizeof(*l->slots), &n_slots) ||
	    !is_array(cpus, sizeof(*l->cpus), &l->n_cpus) ||
	    !is_array(spill, sizeof(struct spill_slot), &n_spill) || !l->n_cpus ||
	    n_slots % l->n_cpus || n_spill % l->n_cpus || !is_power_of_two(n_slots / l->n_cpus) ||
	    !is_power_of_two(n_spill / l->n_cpus)) {
		free(l);
		return err_set(err, -EBADMSG, "not the arrays of a log");
	}
	l->n_slots = n_slots / l->n_cpus;
	l->n_spill = n_spill / l->n_cpus;
	l->slots = log_map_fd(slots, sizeof(*l->slots), n_slots, PROT_READ);
	l->cpus = log_map_fd(cpus, sizeof(*l->cpus), l->n_cpus, PROT_READ | PROT_WRITE);
	l->spill_fd = fcntl(spill, F_DUPFD_CLOEXEC, 0);
	if (!l->slots || !l->cpus || l->spill_fd < 0) {
		rc = -errno;
		log_close(l);
		return err_errno(err, rc, "cannot map the sample log");
	}
	*ret = l;
	return 0;
}

/* The descriptor of an array of call paths. */
static int chains_fd(const struct log *l, const char *name)
{
	return l->with_chains ? bpf_map__fd(bpf_object__find_map_by_name(l->skel->obj, name)) : -1;
}

struct log_fds log_fds(const struct log *l)
{
	return (struct log_fds){
		.slots = bpf_map__fd(l->skel->maps.slots),
		.cpus = bpf_map__fd(l->skel->maps.cpus),
		.spill = bpf_map__fd(l->skel->maps.spill),
		.live = l->live ? bpf_map__fd(l->skel->maps.live) : -1,
		.chain_words = chains_fd(l, "chain_words"),
		.chain_cpus = chains_fd(l, "chain_cpus"),
		.slot_chains = chains_fd(l, "slot_chains"),
		.links = l->links.v,
		.n_links = l->links.n,
	};
}

uint32_t log_n_cpus(const struct log *l)
{
	return l->n_cpus;
}

void log_close(struct log *l)
{
	if (!l)
		return;
	vec_each (link, &l->links)
		close(*link);
	vec_release(&l->links);
	for (size_t i = 0; i < n_elems(l->watching); i++)
		bpf_link__destroy(l->watching[i]);
	for (size_t i = 0; i < n_elems(l->ending); i++)
		bpf_link__destroy(l->ending[i]);
	log_unmap_array(l->slots, sizeof(*l->slots), (size_t)l->n_cpus * l->n_slots);
	log_unmap_array(l->cpus, sizeof(*l->cpus), l->n_cpus);
	log_unmap_array(l->live, 8, 1);
	log_unmap_array(l->slot_times, 8, (size_t)l->n_cpus * l->n_slots);
	if (l->spill_fd >= 0)
		close(l->spill_fd);
	if (l->first_piece >= 0)
		close(l->first_piece);
	log_chains_close(l->chains);
	sample_bpf__destroy(l->skel);
	free(l);
}

int log_make_live(struct err *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "live", 4, 8, 1, &o);

	return fd < 0 ? err_errno(err, -errno, "cannot make an array for logs to take turns") : fd;
}

uint64_t log_get_live(int live_fd)
{
	uint64_t number = 0;
	uint32_t n;

	if (!is_array(live_fd, 8, &n) || n != 1 ||
	    bpf_map_lookup_elem(live_fd, &(uint32_t){0}, &number) < 0)
		return 0;
	return number;
}

void log_go_live(struct log *l)
{
	l->cpus[0].live_ns = clock_mono_ns();
	step("live");
	if (l->live)
		__atomic_store_n(l->live, l->number, __ATOMIC_SEQ_CST);
}

uint64_t log_live_ns(const struct log *l)
{
	return l->cpus[0].live_ns;
}

/* libbpf's bpf_program__attach_perf_event (tools/lib/bpf/libbpf.c) would also enable the event,
 * before anybody knows which processes there are, and take its descriptor over. */
int log_attach(struct log *l, int perf_fd, unsigned event, struct err *err)
{
	const int prog_fd = bpf_program__fd(program_of(l, event));
	int link = bpf_link_create(prog_fd, perf_fd, BPF_PERF_EVENT, NULL);

	if (link >= 0)
		vec_push(&l->links, link);
	else if (ioctl(perf_fd, PERF_EVENT_IOC_SET_BPF, prog_fd) < 0) /* before Linux 5.15 */
		return err_errno(err, -errno, "cannot attach the BPF program");
	return 0;
}

int log_watch(struct log *l, uint32_t pid, struct err *err)
{
	const uint64_t start = LOG_WATCH_FROM_EXEC;

	if (bpf_map__update_elem(l->skel->maps.watched, &pid, sizeof(pid), &start, sizeof(start),
				 BPF_ANY) < 0)
		return err_errno(err, -errno, "cannot watch the command");
	for (size_t i = 0; i < n_elems(watchers); i++) {
		l->watching[i] = bpf_program__attach_raw_tracepoint(watch_program(l, i),
								    watchers[i].tracepoint);
		if (!l->watching[i])
			return err_errno(err, -errno, "cannot watch the command's processes (%s)",
					 libbpf_said());
	}
	return 0;
}

uint64_t log_others(const struct log *l, uint32_t event)
{
	return l->skel->bss->n_others[event];
}

uint64_t log_unwatched(const struct log *l)
{
	return l->skel->bss->n_unwatched;
}

struct task_fn {
	void (*fn)(void *ctx, const struct task_record *t);
	void *ctx;
};

static void each_task(void *ctx, const void *piece)
{
	const struct task_fn *f = ctx;

	f->fn(f->ctx, piece);
}

int log_each_task(struct log *l, void (*fn)(void *ctx, const struct task_record *t), void *ctx,
		  struct err *err)
{
	struct task_fn f = {fn, ctx};

	return bpf_iter_run(l->skel->progs.tasks, sizeof(struct task_record), each_task, &f, err);
}

void log_each_program(const struct log *l,
		      void (*fn)(void *ctx, uint64_t start, uint64_t end, const char *name),
		      void *ctx)
{
	const struct btf *types = bpf_object__btf(l->skel->obj);

	for (uint32_t i = 0; i < l->n_events; i++)
		bpf_program_functions(bpf_program__fd(program_of(l, i)), types, fn, ctx);
	for (size_t i = 0; i < n_elems(watchers); i++)
		if (l->watching[i])
			bpf_program_functions(bpf_program__fd(watch_program(l, i)), types, fn, ctx);
}

struct log_chains *log_chains_of(const struct log *l)
{
	return l->chains;
}

uint64_t log_head(const struct log *l, uint32_t cpu)
{
	return __atomic_load_n(&l->cpus[cpu].head, __ATOMIC_ACQUIRE);
}

uint64_t log_tail(const struct log *l, uint32_t cpu)
{
	return l->cpus[cpu].tail;
}

uint32_t log_n_slots(const struct log *l)
{
	return l->n_slots;
}

struct log_sample log_get(const struct log *l, uint32_t cpu, uint64_t at)
{
	const uint32_t slot = (uint32_t)at & (l->n_slots - 1);
	const struct log_slot *s = &l->slots[(size_t)cpu * l->n_slots + slot];

	return (struct log_sample){
		.ip = (uint64_t)((int64_t)(s->ip_event << (64 - LOG_IP_BITS)) >>
				 (64 - LOG_IP_BITS)),
		.event = (uint32_t)(s->ip_event >> LOG_IP_BITS),
		.tgid = LOG_TGID(s->task),
		.tid = LOG_TID(s->task),
		.generation = LOG_GENERATION(s->task),
		.chain = l->chains ? log_chains_get(l->chains, cpu, slot) : 0,
		.time_ns = l->slot_times ? l->slot_times[(size_t)cpu * l->n_slots + slot] : 0,
	};
}

void log_set_tail(struct log *l, uint32_t cpu, uint64_t at)
{
	__atomic_store_n(&l->cpus[cpu].tail, at, __ATOMIC_RELEASE);
}

void log_set_account(struct log *l, const struct log_account *a)
{
	l->cpus[0].account_ns = a->time_ns;
	l->cpus[0].counting = a->counting;
}

struct log_account log_get_account(const struct log *l)
{
	return (struct log_account){l->cpus[0].account_ns, l->cpus[0].counting};
}

struct log_counts log_counts(const struct log *l, unsigned event)
{
	struct log_counts c = {0};

	for (uint32_t cpu = 0; cpu < l->n_cpus; cpu++) {
		c.reached += l->cpus[cpu].reached[event];
		c.spilled += l->cpus[cpu].spilled[event];
		c.dropped += l->cpus[cpu].dropped[event];
	}
	return c;
}

/* CPU's part of the spill table. */
static void each_spilled_of(const struct log *l, uint32_t cpu,
			    void (*fn)(void *ctx, const struct spill_slot *s), void *ctx)
{
	const size_t n_bytes = l->n_spill * sizeof(struct spill_slot);
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t from = cpu * n_bytes / page * page;
	const size_t n_mapped = ((cpu + 1) * n_bytes + page - 1) / page * page - from;
	const uint8_t *p = mmap(NULL, n_mapped, PROT_READ, MAP_SHARED, l->spill_fd, (off_t)from);
	const struct spill_slot *spill = (const void *)(p + (cpu * n_bytes - from));

	if (p == MAP_FAILED)
		alloc_fail(); /* whoever comes next finds the table, if it outlives this process */
	for (uint32_t i = 0; i < l->n_spill; i++)
		if (spill[i].event_used)
			fn(ctx, &spill[i]);
	munmap((void *)p, n_mapped);
}

static uint64_t log_n_spilled(const struct log *l, uint32_t cpu)
{
	uint64_t n = 0;

	for (unsigned event = 0; event < LOG_MAX_EVENTS; event++)
		n += l->cpus[cpu].spilled[event];
	return n;
}

bool log_any_spilled(const struct log *l)
{
	for (uint32_t cpu = 0; cpu < l->n_cpus; cpu++)
		if (log_n_spilled(l, cpu))
			return true;
	return false;
}

void log_each_spilled(const struct log *l, void (*fn)(void *ctx, const struct spill_slot *s),
		      void *ctx)
{
	for (uint32_t cpu = 0; cpu < l->n_cpus; cpu++)
		if (log_n_spilled(l, cpu))
			each_spilled_of(l, cpu, fn, ctx);
}
