/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_in.h.
 *
 * Each sample is one count at its place below its callers, of its event and its owner.  Where the
 * kernel adapts periods to a frequency the event's period becomes their mean.
 *
 * A group that reads its members' counts ({cycles,instructions}:S) tells with each sample of its
 * leader what all have counted by then.  Each member counts at that place what it has counted since
 * the sample before, one by one (period 1), so that ratios of members are those of their counts:
 * readings (1000, 2000), (2000, 3000) are 1000 cycles and 2000 instructions at the first sample's
 * place, 1000 and 1000 at the second's.  A clock's counts are its time. */
#include "port/perf_in_impl.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path_rules.h"
#include "base/plain_file.h"
#include "base/str.h"
#include "formats/facts/precise.h"
#include "resolve/debug_file.h"
#include "resolve/elf_probe.h"
#include "resolve/elf_unwind.h"

#define N_VALUE_SLOTS 65536u

/* Samples. */

static void flush_slot(struct perf_in *in, struct perf_value_slot *s)
{
	if (!s->count)
		return;
	in->profile->values.v[s->value - 1].count += s->count;
	in->profile->values.v[s->value - 1].sum += s->sum;
	s->count = s->sum = 0;
}

static void flush_values(struct perf_in *in)
{
	for (size_t i = 0; i < N_VALUE_SLOTS; i++)
		flush_slot(in, &in->slots[i]);
}

static void add_value(struct perf_in *in, owner_id owner, ctx_id caller, place_id place,
		      event_id event, vector_id vector, uint64_t count, uint64_t sum)
{
	uint64_t h = hash_u64(((uint64_t)caller << 32 | place) +
			      ((uint64_t)owner << 8 | event) * 0x9e3779b97f4a7c15ULL + vector);
	struct perf_value_slot *s = &in->slots[h & (N_VALUE_SLOTS - 1)];
	struct value v = {
		.owner = owner, .event = event, .vector = vector, .count = count, .sum = sum};

	if (s->value && s->owner == owner && s->caller == caller && s->place == place &&
	    s->event == event && s->vector == vector) {
		s->count += count;
		s->sum += sum;
		return;
	}
	flush_slot(in, s);
	v.ctx = profile_intern_ctx(in->profile, caller, place);
	s->owner = owner;
	s->caller = caller;
	s->place = place;
	s->event = event;
	s->vector = vector;
	s->value = profile_add_value(in->profile, &v) + 1;
}

static void add_facts(struct perf_in *in, owner_id owner, ctx_id caller, place_id place,
		      event_id event, const struct sample_facts *f)
{
	struct vector v = {.known = f->known, .value = f->value};

	if (f->counters_known)
		facts_add(in->profile, owner, profile_intern_ctx(in->profile, caller, place), event,
			  f, 1);
	else
		add_value(in, owner, caller, place, event, profile_intern_vector(in->profile, &v),
			  1, f->weight);
}

/* The date is that of the last sample, which is only known at the end: until then lines of time are
 * of the samples' clock. */
static void find_date(struct perf_in *in)
{
	in->has_date = perf_date_offset(&in->date, &in->pd, in->first_ns, in->last_ns,
					&in->clock_offset_ns);
	if (in->has_date)
		trace_move(in->profile, in->clock_offset_ns);
}

static void see_time(struct perf_in *in, uint64_t time)
{
	bool first = !in->first_ns;

	if (!time)
		return;
	if (first || time < in->first_ns)
		in->first_ns = time;
	if (time > in->last_ns)
		in->last_ns = time;
}

/* Not the idle task, nor one that is gone: see perf_world_owner. */
static bool is_thread(uint32_t tid)
{
	return tid && tid != UINT32_MAX;
}

/* What samples weigh is kept only where periods vary, as they do between recordings at one
 * frequency. */
static void note_period(struct perf_in_event *e, uint64_t period)
{
	if (e->reads)
		return;
	if (!e->first_period)
		e->first_period = period;
	e->varies |= period != e->first_period;
	e->squares += (double)period * (double)period;
}

/* Fills A from what sample R tells of its data, and adds it to the profile if R has an address.
 * FACTS NULL: nothing beyond the address is told. */
static void add_access(struct perf_in *in, const struct perfdata_record *r, uint32_t proc,
		       struct access *a, const struct sample_facts *facts)
{
	const struct perfdata_sample *s = &r->sample;
	struct perf_access k = {
		.facts = facts,
		.pid = r->id.pid,
		.tid = r->id.tid,
		.proc = proc,
		.addr = s->has & PERFDATA_S_ADDR ? s->addr : 0,
		.phys = s->has & PERFDATA_S_PHYS_ADDR ? s->phys_addr : 0,
		.cpu_node = r->id.has & PERFDATA_S_CPU ? perfdata_cpu_node(&in->pd, r->id.cpu) : 0,
	};

	if (!k.addr && facts && s->has & PERFDATA_S_RAW)
		k.addr = in->facts.addr;
	if (!k.phys && facts && s->has & PERFDATA_S_RAW)
		k.phys = in->facts.phys;
	if (s->has & PERFDATA_S_DATA_SRC)
		a->source = precise_source(s->data_src);
	if (k.addr)
		perf_access_add(&in->world, a, &k);
}

/* Who wants accesses alone wants no more of values than how many there are of whom, in the kernel
 * and in each kind of image: user code is counted at the first place there that a sample was at. */
static place_id place_of_value(struct perf_in *in, place_id place, image_id image, unsigned mode)
{
	place_id *first;

	if (!in->opts->accesses_alone || mode != PERFDATA_MODE_USER)
		return place;
	first = &in->first_places[in->profile->images.v[image].kind];
	*first = *first ? *first : place + 1;
	return *first - 1;
}

static void count_sample(struct perf_in *in, const struct perfdata_record *r, uint32_t event,
			 uint64_t period)
{
	struct perf_in_event *e = perf_in_event_at(in, event);
	struct perf_thread *t = perf_world_thread(&in->world, r->id.pid, r->id.tid);
	unsigned mode = r->head.misc & PERFDATA_MISC_MODE;
	uint32_t proc = t->proc;
	uint64_t count = e->reads && !e->takes_ns ? period : 1;
	owner_id owner = perf_world_owner(&in->world, t, r->sample.cgroup);
	struct sample_facts facts;
	bool told = false;
	place_id place, counted_at;
	image_id image;
	ctx_id caller;

	perf_world_at(&in->world, proc, r->id.time);
	place = perf_world_place_in(&in->world, proc, mode, r->sample.ip, &image);
	caller = in->opts->accesses_alone ? 0 : perf_chains_add(&in->chains, r, proc);
	e->n_samples += count;
	e->sum += period;
	note_period(e, period);
	in->ret->n_samples += count;
	if (in->profile->images.v[image].kind == IMAGE_UNKNOWN)
		in->ret->n_unknown += count;
	counted_at = place_of_value(in, place, image, mode);
	if (e->reads)
		add_value(in, owner, caller, counted_at, e->id, 0, count, e->takes_ns ? period : 0);
	else if (event == r->event && (told = perf_facts_read(&in->facts, r, event, &facts)) &&
		 !in->opts->accesses_alone)
		add_facts(in, owner, caller, place, e->id, &facts);
	else
		add_value(in, owner, caller, counted_at, e->id, 0, 1, period);
	if (in->opts->accesses && !e->reads && event == r->event)
		add_access(in, r, proc,
			   &(struct access){.owner = owner, .event = e->id, .place = place},
			   told ? &facts : NULL);
	if (in->opts->trace_bytes && is_thread(r->id.tid) && r->id.time)
		tracer_add(&in->tracer, r->id.pid, r->id.tid, owner, r->id.time,
			   profile_intern_ctx(in->profile, caller, place), e->id);
}

/* A sample that reads counts stands for what each has counted since it was read before. */
static void count_read(struct perf_in *in, const struct perfdata_record *r)
{
	const struct perfdata_counts *c = &r->sample.counts;

	for (uint32_t i = 0; i < c->n; i++) {
		struct perfdata_count one = perfdata_count(c, i);
		uint32_t id, event;
		uint64_t period, *last;

		if (!one.has_id) {
			count_sample(in, r, r->event, r->sample.period);
			continue;
		}
		id = perfdata_find_id(&in->pd, one.id);
		if (id == PERFDATA_NONE) {
			in->n_unknown_event++;
			continue;
		}
		last = vec_at(&in->last_counts, id);
		event = in->pd.ids[id].event;
		/* One that went back was begun anew. */
		period = one.value - (one.value < *last ? 0 : *last);
		*last = one.value;
		if (period)
			count_sample(in, r, event, period);
	}
}

/* A sample that waits for nothing. */
static void take_sample(void *ctx, const struct perfdata_record *r)
{
	struct perf_in *in = ctx;

	if (r->sample.has & PERFDATA_S_READ)
		count_read(in, r);
	else
		count_sample(in, r, r->event, r->sample.period);
	if (r->sample.has & PERFDATA_S_BRANCH_STACK && r->sample.branches.n)
		perf_branches_add(&in->world, r, perf_in_event_at(in, r->event)->id);
}

static int take_record(struct perf_handler *h, const struct perfdata_head *head, const uint8_t *p,
		       uint64_t off, struct err *err)
{
	struct perf_in *in = (struct perf_in *)h;
	struct perfdata_record r;
	int rc = perfdata_read_record(&in->pd, head, p, &r);

	if (rc < 0 && !in->opts->force)
		return err_set(err, rc,
			       "the record %s at %#" PRIx64 " is too short for what it has",
			       perfdata_type_name(head->type), off);
	if (rc < 0) {
		in->n_damaged++;
		if (head->type == PERFDATA_SAMPLE)
			perf_in_lose(in, r.event, "damaged", 1);
		return 0;
	}
	if (in->opts->dump)
		perfdata_format_record(&in->pd, &r, off, in->opts->dump);
	see_time(in, r.id.time);
	switch (head->type) {
	case PERFDATA_SAMPLE:
		if (r.event == PERFDATA_NONE)
			in->n_unknown_event++;
		else if (!perf_defer_sample(&in->deferred, &in->pd, &r, p))
			take_sample(in, &r);
		break;
	case PERFDATA_CALLCHAIN_DEFERRED:
		perf_defer_join(&in->deferred, &in->pd, &r);
		break;
	case PERFDATA_LOST: {
		uint32_t event = perfdata_find_event(&in->pd, r.lost.id);

		perf_in_lose(in, event == PERFDATA_NONE ? r.event : event, "ring_full", r.lost.n);
		break;
	}
	case PERFDATA_LOST_SAMPLES:
		perf_in_lose(in, r.event, "lost_samples", r.lost.n);
		break;
	case PERFDATA_THROTTLE:
		in->n_throttled++;
		break;
	case PERFDATA_AUX:
		in->n_aux_bytes += r.aux.n_bytes;
		in->n_aux_lost += r.aux.flags & 1; /* PERF_AUX_FLAG_TRUNCATED */
		perf_spe_take(&in->spe, &r);
		break;
	case PERFDATA_FORK:
		tracer_begin(&in->tracer, r.task.tid, r.id.time);
		perf_world_apply(&in->world, &r);
		break;
	case PERFDATA_EXIT:
		tracer_end(&in->tracer, r.task.tid, r.id.time);
		perf_world_apply(&in->world, &r);
		break;
	case PERFDATA_ITRACE_START:
		perf_spe_begin(&in->spe, &r);
		break;
	default:
		perf_world_apply(&in->world, &r);
		break;
	}
	return 0;
}

/* Of the first event's samples: most files have one, or events that tell the same. */
static void expect_record(struct perf_handler *h, const uint8_t *p)
{
	const struct perf_in *in = (struct perf_in *)h;
	uint32_t tid;
	unsigned mode;
	uint64_t ip;

	if (perfdata_peek(&in->pd, p, &mode, &ip, &tid))
		perf_world_expect(&in->world, tid, mode, ip);
}

static void take_aux(struct perf_handler *h, const struct perfdata_record *auxtrace,
		     const uint8_t *piece, size_t n, uint64_t at)
{
	perf_spe_keep(&((struct perf_in *)h)->spe, auxtrace, piece, n, at);
}

/* A record of the Statistical Profiling Extension is a sample of its event. */
static void count_spe(void *ctx, const struct perf_spe_sample *s)
{
	struct perf_in *in = ctx;
	struct perf_in_event *e = perf_in_event_at(in, s->event);
	struct perf_thread *t = perf_world_find_thread(&in->world, s->tid);
	place_id place;
	uint32_t proc;
	owner_id owner;

	if (!t)
		t = perf_world_thread(&in->world, s->pid, s->tid);
	proc = t->proc;
	owner = perf_world_owner(&in->world, t, 0);
	perf_world_at(&in->world, proc, s->time);
	place = perf_world_place(&in->world, proc, s->mode, s->ip, 0);
	e->n_samples++;
	e->sum += in->pd.events.v[s->event].attr.period;
	in->ret->n_samples++;
	if (in->profile->images.v[in->profile->places.v[place].image].kind == IMAGE_UNKNOWN)
		in->ret->n_unknown++;
	see_time(in, s->time);
	if (in->opts->trace_bytes && is_thread(s->tid) && s->time)
		tracer_add(&in->tracer, t->pid, s->tid, owner, s->time,
			   profile_intern_ctx(in->profile, 0, place), e->id);
	add_facts(in, owner, 0, place, e->id, &s->facts);
	if (in->opts->accesses && s->addr)
		perf_access_add(&in->world,
				&(struct access){.owner = owner, .event = e->id, .place = place},
				&(struct perf_access){.facts = &s->facts,
						      .pid = t->pid,
						      .tid = s->tid,
						      .proc = proc,
						      .addr = s->addr,
						      .phys = s->phys});
}

/* Files. */

static int open_at(const char *root, const char *path, const struct image_ref *ref)
{
	_mem_ char *whole = xasprintf("%s%s", root, path);
	_fd_ int fd = plain_file_open(whole, 0);
	struct image_layout l;

	if (fd < 0 || elf_probe(fd, &l, NULL) < 0)
		return -1;
	if (ref->build_id.n_bytes && !l.hashed && !build_id_same(&ref->build_id, &l.build_id))
		return -1;
	return take_fd(&fd);
}

/* Opens the file for PATH that --path names or has in a directory, there at PATH or by its name. */
static int open_named(const struct perf_in *in, const char *path, const struct image_ref *ref)
{
	const struct perf_in_opts *o = in->opts;
	const char *name = str_basename(path);
	_mem_ char *moved = path_rules_find(o->paths, o->n_paths, path);
	int fd = moved && *moved ? open_at("", moved, ref) : -1;

	for (size_t i = 0; i < o->n_paths && fd < 0; i++) {
		_mem_ char *beside = xasprintf("%s/%s", o->paths[i], name);

		if (strcmp(str_basename(o->paths[i]), name) == 0)
			fd = open_at("", o->paths[i], ref);
		if (fd < 0)
			fd = open_at(o->paths[i], path, ref);
		if (fd < 0)
			fd = open_at("", beside, ref);
	}
	return fd;
}

/* Without a build-id a file is the one that was mapped if it is the same inode of the same device:
 * then this is the machine that the recording is of.  Else whoever names it with --symfs or --path
 * vouches for it. */
static int find_file(void *ctx, const struct image_ref *ref, const char *path)
{
	struct perf_in *in = ctx;
	struct stat st;
	int fd = -1;

	if (in->opts->no_files || path[0] != '/')
		return -1;
	if (in->opts->symfs)
		fd = open_at(in->opts->symfs, path, ref);
	if (fd < 0 && ref->build_id.n_bytes)
		fd = debug_file_open_code(&in->where,
					  &(struct image){.path = path, .build_id = ref->build_id},
					  NULL, NULL);
	if (fd < 0 && !ref->build_id.n_bytes && !in->opts->symfs && ref->ino &&
	    stat(path, &st) >= 0 && st.st_ino == ref->ino &&
	    ((uint64_t)major(st.st_dev) << 32 | minor(st.st_dev)) == ref->dev)
		fd = open_at("", path, ref);
	if (fd < 0 && !ref->build_id.n_bytes)
		fd = open_named(in, path, ref);
	return fd;
}

static void set_machine(struct perf_in *in)
{
	const char *arch = in->pd.arch;

	if (!arch)
		return;
	if (strcmp(arch, "x86_64") == 0)
		in->chains.machine = EM_X86_64;
	else if (strcmp(arch, "aarch64") == 0 && !in->pd.big_endian)
		in->chains.machine = EM_AARCH64;
	else
		in->chains.machine = PERF_CHAIN_OTHER;
}

static int take_own(struct perf_handler *h, const struct perfdata_head *head, const uint8_t *p,
		    uint64_t off, struct err *err)
{
	struct perf_in *in = (struct perf_in *)h;
	struct perfdata_record r;

	if (head->type == PERFDATA_FEATURE)
		set_machine(in);
	if (perfdata_read_record(&in->pd, head, p, &r) < 0)
		return 0;
	perf_spe_tell(&in->spe, &r);
	if (head->type == PERFDATA_AUXTRACE_INFO)
		in->auxtrace_type = r.auxtrace_info.type;
	else if (head->type == PERFDATA_AUXTRACE)
		in->n_auxtrace_bytes += r.auxtrace.n_bytes;
	in->has_counts |= head->type == PERFDATA_STAT || head->type == PERFDATA_STAT_ROUND;
	if (in->opts->dump)
		perfdata_format_record(&in->pd, &r, off, in->opts->dump);
	return 0;
}

static int take_section(struct perf_handler *h, uint32_t feature, const uint8_t *bytes, size_t n,
			struct err *err)
{
	struct perf_in *in = (struct perf_in *)h;

	set_machine(in);
	return 0;
}

/* All of it. */

static void perf_in_begin(struct perf_in *in, const struct perf_in_opts *opts, struct profile *p,
			  struct perf_in_result *ret)
{
	*in = (struct perf_in){.opts = opts, .ret = ret, .profile = p};
	in->handler = (struct perf_handler){.record = take_record,
					    .expect = expect_record,
					    .own = take_own,
					    .aux = take_aux,
					    .section = take_section,
					    .may_be_apart = !opts->dump};
	in->deferred.put = take_sample;
	in->deferred.ctx = in;
	in->slots = xcalloc(N_VALUE_SLOTS, sizeof(*in->slots));
	in->where =
		(struct debug_paths){.extra = opts->paths,
				     .n_extra = opts->n_paths,
				     .debug_root = "/usr/lib/debug",
				     .debuginfod = opts->use_debuginfod ? debuginfod_new() : NULL};
	perf_world_init(&in->world, p, &in->pd, opts->split, find_file, in, elf_probe);
	/* Their names cannot be found later, so without somewhere to keep them they are no use. */
	in->world.jits.wanted = opts->open_cache && !opts->no_files;
	in->world.jits.symfs = opts->symfs;
	in->world.label = profile_intern_str(p, opts->label ? opts->label : "");
	if (opts->accesses_alone)
		in->world.most_loose = opts->most_loose ? opts->most_loose : PERF_MOST_LOOSE;
	perf_chains_init(&in->chains, &in->world, elf_unwind_load);
	perf_facts_init(&in->facts, &in->pd, opts->facts);
	perf_spe_init(&in->spe, &in->pd, &in->world, count_spe, in);
	in->spe.defs = opts->facts;
	tracer_init(&in->tracer, p, opts->trace_bytes, 0);
}

static void port_perf_in_end(struct perf_in *in)
{
	tracer_release(&in->tracer);
	perf_spe_release(&in->spe);
	perf_facts_release(&in->facts);
	perf_defer_release(&in->deferred);
	perf_chains_release(&in->chains);
	perf_world_release(&in->world);
	perfdata_release(&in->pd);
	debuginfod_free(in->where.debuginfod);
	vec_release(&in->events);
	vec_release(&in->last_counts);
	free(in->slots);
}

static int open_recording(const char *path, struct err *err)
{
	bool in_folder = false;
	struct stat st;
	int fd;

	if (strcmp(path, "-") == 0)
		return dup(STDIN_FILENO);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) >= 0 && S_ISDIR(st.st_mode)) {
		int data = openat(fd, "data", O_RDONLY | O_CLOEXEC), e = errno;

		in_folder = true;
		close(fd);
		fd = data;
		errno = e;
	}
	return fd < 0 ? err_errno(err, -errno, "%s%s", path, in_folder ? "/data" : "") : fd;
}

int perf_in_probe(const char *path)
{
	_fd_ int fd = open_recording(path, NULL);
	uint8_t magic[8];

	if (fd < 0)
		return fd;
	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       perfdata_probe(magic, sizeof(magic));
}

/* Makes the message of ERR whole: what it is of, and what can be done about it. */
static int offer_force(struct err *err, int rc, const char *path, bool forgivable)
{
	_mem_ char *msg = xstrdup(err ? err->msg : "");

	if (forgivable)
		return err_set(err, rc, "%s: %.300s; --force takes what can be read", path, msg);
	return err_prefix(err, rc, "%s", path);
}

int perf_in_load(const char *path, const struct perf_in_opts *opts, struct profile *p,
		 struct perf_in_result *ret, struct err *err)
{
	_fd_ int fd = open_recording(path, err);
	struct perf_stream_stats st = {0};
	struct perf_in in;
	int rc;

	*ret = (struct perf_in_result){0};
	if (fd < 0)
		return fd;
	rc = opts->facts ? fact_defs_name(opts->facts, p, err) : 0;
	if (rc < 0)
		return rc;
	perf_in_begin(&in, opts, p, ret);
	in.date = perf_date_of(fd);
	in.world.jits.written_ns = in.date.is_file ? in.date.written_ns : 0;
	rc = perf_stream_read(fd, path, &in.pd, &in.handler, opts->force ? &ret->notes : NULL, &st,
			      err);
	if (rc < 0) {
		port_perf_in_end(&in);
		return offer_force(err, rc, path, st.forgivable && !opts->force);
	}
	if (in.has_counts && !ret->n_samples && !opts->dump) {
		port_perf_in_end(&in);
		return err_set(err, -EINVAL,
			       "%s: it is of perf stat record: counts, and no samples; `dwell "
			       "stat -i` shows them",
			       path);
	}
	perf_spe_end(&in.spe);
	perf_defer_flush(&in.deferred, &in.pd);
	flush_values(&in);
	perf_accesses_flush(&in.world);
	perf_branches_flush(&in.world);
	perf_in_settle_events(&in);
	find_date(&in);
	perf_in_add_meta(&in);
	perf_in_add_notes(&in, &st);
	ret->host = xstrdup(in.pd.host ? in.pd.host : "");
	ret->cpu = xstrdup(in.pd.cpu_id ? in.pd.cpu_id : "");
	ret->n_bytes = st.n_bytes;
	ret->clock_offset_ns = in.clock_offset_ns;
	ret->most_bytes = st.most_waiting;
	rc = perf_in_save_symbols(&in, err);
	port_perf_in_end(&in);
	return rc;
}

void perf_in_result_release(struct perf_in_result *r)
{
	free(r->host);
	free(r->cpu);
	str_release(&r->notes);
	*r = (struct perf_in_result){0};
}
