/* SPDX-License-Identifier: BSD-2-Clause */
/* See procs.h.  Lives of one tgid form a list, newest first; their elements are reused. */
#include "machine/procs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "machine/procfs.h"

#define N_TGIDS (1u << LOG_PID_BITS)

/* The generation's two parts. */
#define TIME_MASK	      0xfffu
#define exec_part(generation) ((generation) >> 12 & 0xff)
#define time_part(generation) ((generation)&TIME_MASK)

/* Perf maps kept open for naming the code of processes that have ended. */
#define MAX_OPEN_MAPS 128

/* Executable mappings kept: of one process, and of all together, of which those that share a list
 * have it once, with a machine's CPUs.  32 bytes each. */
#define MOST_MAPPINGS	   65536
#define LEAST_MAPPINGS_ALL (1u << 19)
#define MAPPINGS_PER_CPU   4096

/* Processes whose mappings are read anew in one cycle, after records were lost. */
#define MOST_REREADS 64

/* A process starts at most so many milliseconds before its FORK record is written. */
#define FORK_LAG_MS 1000

static bool find_nameless(struct frame_source *s, const struct frame_query *q,
			  struct source_place *ret)
{
	if (!q->map || q->procs->images->codes.v[q->map->code].kind != CODE_ANON)
		return false;
	ret->image = procs_anon_image(q->procs, q->proc);
	ret->svma = q->avma;
	return true;
}

void procs_expect_cpus(struct procs *ps, uint32_t n_cpus)
{
	ps->most_mappings = (size_t)n_cpus * MAPPINGS_PER_CPU;
	if (ps->most_mappings < LEAST_MAPPINGS_ALL)
		ps->most_mappings = LEAST_MAPPINGS_ALL;
}

void procs_init(struct procs *ps, struct profile *p, struct images *im, uint64_t salt)
{
	*ps = (struct procs){.profile = p, .images = im, .free = PROC_NONE, .cycle = 1};
	ps->salt = salt;
	procs_expect_cpus(ps, 1);
	ps->nameless.find = find_nameless;
	frame_source_add(ps, &ps->nameless);
	/* Calloc of so much is an untouched mapping: pages come when a tgid is first seen. */
	ps->newest = xcalloc(N_TGIDS, sizeof(*ps->newest));
}

void procs_release(struct procs *ps)
{
	vec_each (p, &ps->v)
		maps_unref(p->maps);
	vec_release(&ps->v);
	vec_each (jit, &ps->jits)
		if (jit->fd >= 0)
			close(jit->fd);
	vec_release(&ps->jits);
	free(ps->newest);
	free(ps->thread_names);
	memset(ps, 0, sizeof(*ps));
}

uint32_t procs_current(const struct procs *ps, uint32_t tgid)
{
	return tgid < N_TGIDS && ps->newest[tgid] ? ps->newest[tgid] - 1 : PROC_NONE;
}

static void end_life(struct procs *ps, uint32_t i)
{
	if (i != PROC_NONE && !ps->v.v[i].ended)
		ps->v.v[i].ended = ps->cycle;
}

/* Starts a new life of TGID, copied from FROM (its number, or PROC_NONE) with mappings shared. */
static struct proc *begin_life(struct procs *ps, uint32_t tgid, uint32_t from)
{
	uint32_t older = procs_current(ps, tgid), i = ps->free;
	struct proc *p;

	end_life(ps, older);
	if (i != PROC_NONE) {
		ps->free = ps->v.v[i].older;
	} else {
		vec_add(&ps->v);
		i = (uint32_t)ps->v.n - 1;
	}
	p = &ps->v.v[i];
	*p = (struct proc){.uid = OWNER_UID_UNKNOWN};
	if (from != PROC_NONE)
		*p = ps->v.v[from];
	p->maps = maps_ref(p->maps);
	p->tgid = tgid;
	p->ended = 0;
	p->since_ns = 0;
	p->older = older;
	p->began = ps->cycle;
	p->facts = p->facts == FACTS_UNKNOWN ? FACTS_UNKNOWN : FACTS_INHERITED;
	p->has_owner = p->has_anon = p->exe_pending = false;
	ps->newest[tgid] = i + 1;
	return p;
}

/* Forgets the lives of TGID that ended before the last cycle. */
static void prune(struct procs *ps, uint32_t tgid)
{
	uint32_t i = procs_current(ps, tgid), newer = PROC_NONE;

	while (i != PROC_NONE) {
		struct proc *p = &ps->v.v[i];
		uint32_t older = p->older;

		if (p->ended && p->ended + 1 < ps->cycle) {
			if (newer == PROC_NONE)
				ps->newest[tgid] = older == PROC_NONE ? 0 : older + 1;
			else
				ps->v.v[newer].older = older;
			maps_unref(p->maps);
			*p = (struct proc){.older = ps->free, .tgid = UINT32_MAX};
			ps->free = i;
		} else {
			newer = i;
		}
		i = older;
	}
}

void procs_end_cycle(struct procs *ps)
{
	ps->cycle++;
	ps->n_rereads = 0;
	for (uint32_t i = 0; i < ps->v.n; i++)
		if (ps->v.v[i].ended && ps->v.v[i].ended + 1 < ps->cycle)
			prune(ps, ps->v.v[i].tgid);
}

uint32_t procs_find(struct procs *ps, uint32_t tgid, uint32_t generation)
{
	uint32_t best = PROC_NONE, best_lag = UINT32_MAX;

	for (uint32_t i = procs_current(ps, tgid); i != PROC_NONE; i = ps->v.v[i].older) {
		const struct proc *p = &ps->v.v[i];
		uint32_t lag = (time_part(p->generation) - time_part(generation)) & TIME_MASK;

		if (!p->any_exec && exec_part(p->generation) != exec_part(generation))
			continue;
		if (p->exact ? lag != 0 : lag > FORK_LAG_MS && !p->any_exec)
			continue;
		if (lag < best_lag) {
			best = i;
			best_lag = lag;
		}
	}
	return best;
}

/* Mappings. */

/* Those that processes share count once: a part of them with each. */
static size_t count_mappings(const struct procs *ps)
{
	double n = 0;

	vec_each (p, &ps->v)
		if (p->maps)
			n += (double)p->maps->v.n / p->maps->n_refs;
	return (size_t)n;
}

/* Whether P may have one mapping more.  All are counted again only after so many were added that it
 * may matter. */
static bool has_room(struct procs *ps, const struct proc *p)
{
	size_t n = p->maps ? p->maps->v.n : 0;

	ps->n_mappings += p->maps && p->maps->n_refs > 1 ? n + 1 : 1; /* a copy is made */
	if (ps->n_mappings > ps->most_mappings && ps->n_recounted != ps->cycle) {
		ps->n_mappings = count_mappings(ps);
		ps->n_recounted = ps->cycle;
	}
	if (n < MOST_MAPPINGS && ps->n_mappings <= ps->most_mappings)
		return true;
	ps->n_left_out++;
	return false;
}

static bool read_again(struct procs *ps, uint32_t proc);

const struct mapping *procs_find_mapping(struct procs *ps, uint32_t proc, uint64_t avma)
{
	const struct mapping *m = maps_find(ps->v.v[proc].maps, avma);

	if (!m && ps->lost_cycle > ps->v.v[proc].read_cycle && read_again(ps, proc))
		m = maps_find(ps->v.v[proc].maps, avma);
	return m;
}

/* User and cgroup.
 *
 * A child has its parent's until it changes them, and most live too short to be asked: so a parent
 * is asked at its first fork, and a child once it has lived through a whole cycle.  What a
 * shorter-lived program does to its own (a set-user-id one, say) is not seen. */

static void read_facts(struct procs *ps, struct proc *p)
{
	char cgroup[1024];

	p->facts = FACTS_READ;
	p->has_owner = false;
	if (!p->tgid)
		return;
	procfs_uid(p->tgid, &p->uid);
	if (procfs_cgroup(p->tgid, cgroup, sizeof(cgroup)) >= 0)
		p->cgroup = profile_intern_str(ps->profile, cgroup);
}

/* Names of threads. */

/* Remembers the name of thread TID; 0: it is to be asked when it is needed. */
static void set_thread_name(struct procs *ps, uint32_t tid, string_id name)
{
	if (ps->split != OWNER_TID || tid >= N_TGIDS)
		return;
	if (!ps->thread_names) /* an untouched mapping, as `newest` */
		ps->thread_names = xcalloc(N_TGIDS, sizeof(*ps->thread_names));
	ps->thread_names[tid] = name;
}

/* The name of thread TID of P, when it has one of its own; else 0. */
static string_id thread_name(struct procs *ps, const struct proc *p, uint32_t tid)
{
	char text[64];
	string_id name;

	if (ps->split != OWNER_TID || tid == p->tgid || tid >= N_TGIDS)
		return 0;
	name = ps->thread_names ? ps->thread_names[tid] : 0;
	if (!name) {
		name = procfs_thread_name(p->tgid, tid, text, sizeof(text)) >= 0
			       ? profile_intern_str(ps->profile, text)
			       : p->comm;
		set_thread_name(ps, tid, name);
	}
	return name == p->comm ? 0 : name;
}

/* Sideband. */

static bool is_kernel_address(uint64_t avma)
{
	return (int64_t)avma < 0;
}

static bool is_nameless(const struct procs *ps, const struct mapping *m)
{
	return ps->images->codes.v[m->code].kind == CODE_ANON;
}

/* Nameless code in the midst of a file's text is a copy of it: `node --use-largepages=on`, and
 * others that want large pages, move their own text there.  Makes nameless M that file's. */
static void take_for_text(const struct procs *ps, const struct proc *p, struct mapping *m)
{
	const struct mapping *around = maps_around(p->maps, m->start, m->end);

	if (!around || is_nameless(ps, around))
		return;
	m->off = around->off + (m->start - around->start);
	m->code = around->code;
}

/* The mapping before M is nameless, and M may be what it interrupts: /proc tells mappings
 * upwards. */
static void take_before_for_text(const struct procs *ps, struct proc *p, const struct mapping *m)
{
	const struct mapping *before = m->start ? maps_find(p->maps, m->start - 1) : NULL;
	struct mapping copy;

	if (!before || !is_nameless(ps, before))
		return;
	copy = *before;
	take_for_text(ps, p, &copy);
	if (copy.code != before->code)
		maps_add(maps_own(&p->maps), &copy);
}

static void add_mapping(struct procs *ps, struct proc *p, const struct image_ref *ref, uint64_t off)
{
	struct mapping m = {.start = ref->start, .end = ref->end, .off = off};

	if (is_kernel_address(ref->start) || ref->end <= ref->start)
		return; /* [vsyscall], or nonsense */
	m.code = images_intern(ps->images, ref);
	if (ps->images->codes.v[m.code].is_dump)
		p->dump = m.code + 1;
	if (p->exe_pending && ps->images->codes.v[m.code].kind == CODE_FILE) {
		/* The kernel maps the program itself before its interpreter (fs/binfmt_elf.c). */
		p->exe = ps->images->codes.v[m.code].path;
		p->exe_pending = false;
		p->has_owner = false;
	}
	if (!has_room(ps, p))
		return;
	if (is_nameless(ps, &m))
		take_for_text(ps, p, &m);
	maps_add(maps_own(&p->maps), &m);
	if (!is_nameless(ps, &m))
		take_before_for_text(ps, p, &m);
}

static void apply_fork(struct procs *ps, const struct perf_record *r)
{
	uint32_t parent;
	struct proc *p;

	if (r->pid == r->ppid) { /* a thread */
		set_thread_name(ps, r->tid, 0);
		parent = procs_current(ps, r->pid);
		if (parent != PROC_NONE)
			ps->v.v[parent].n_threads++;
		return;
	}
	parent = procs_current(ps, r->ppid);
	if (parent != PROC_NONE && ps->v.v[parent].facts == FACTS_UNKNOWN)
		read_facts(ps, &ps->v.v[parent]);
	p = begin_life(ps, r->pid, parent);
	p->exact = false;
	p->any_exec = parent == PROC_NONE || ps->v.v[parent].any_exec;
	p->generation = (p->generation & ~TIME_MASK) | (uint32_t)(r->time_ns >> 20 & TIME_MASK);
	p->n_threads = 1;
}

static void apply_exec(struct procs *ps, const struct perf_record *r)
{
	uint32_t old = procs_current(ps, r->pid);
	struct proc *p = begin_life(ps, r->pid, old);

	p->generation = time_part(p->generation) | ((exec_part(p->generation) + 1) & 0xff) << 12;
	if (old == PROC_NONE)
		p->any_exec = true;
	maps_unref(p->maps);
	p->maps = NULL;
	p->dump = 0;
	p->n_threads = 1;
	p->exe = 0;
	p->exe_pending = true;
	p->comm = profile_intern_str(ps->profile, r->name);
}

void procs_apply(struct procs *ps, const struct perf_record *r)
{
	uint32_t i = procs_current(ps, r->pid);

	if (r->pid >= N_TGIDS)
		return; /* -1: a task of another pid namespace */
	if (i != PROC_NONE && r->time_ns < ps->v.v[i].since_ns)
		return; /* written while the lists were read, which knew it already */
	switch (r->kind) {
	case RECORD_FORK:
		apply_fork(ps, r);
		break;
	case RECORD_EXIT:
		if (i != PROC_NONE && (ps->v.v[i].n_threads == 0 || --ps->v.v[i].n_threads == 0))
			end_life(ps, i);
		break;
	case RECORD_COMM:
		if (r->exec) {
			apply_exec(ps, r);
		} else if (i != PROC_NONE && r->pid == r->tid) {
			ps->v.v[i].comm = profile_intern_str(ps->profile, r->name);
			ps->v.v[i].has_owner = false;
		} else if (r->pid != r->tid) {
			set_thread_name(ps, r->tid, profile_intern_str(ps->profile, r->name));
		}
		break;
	case RECORD_MMAP:
		if (i != PROC_NONE)
			add_mapping(ps, &ps->v.v[i],
				    &(struct image_ref){.build_id = r->build_id,
							.dev = r->dev,
							.ino = r->ino,
							.ino_generation = r->ino_generation,
							.path = r->name,
							.pid = r->pid,
							.start = r->addr,
							.end = r->addr + r->n_bytes},
				    r->off);
		break;
	default:
		break;
	}
}

/* What /proc tells. */

struct scan_ctx {
	struct procs *ps;
	uint32_t proc;
};

static void scan_mapping(void *ctx, const struct procfs_map *m)
{
	struct scan_ctx *c = ctx;

	add_mapping(c->ps, &c->ps->v.v[c->proc],
		    &(struct image_ref){.dev = m->dev,
					.ino = m->ino,
					.path = m->path,
					.pid = c->ps->v.v[c->proc].tgid,
					.start = m->start,
					.end = m->end},
		    m->off);
}

void procs_add_task(struct procs *ps, const struct task_record *t)
{
	struct proc *p;
	char exe[4096];

	if (t->tgid >= N_TGIDS)
		return;
	p = begin_life(ps, t->tgid, PROC_NONE);
	p->generation = GENERATION(t->start_ns, t->exec_id);
	p->since_ns = t->now_ns;
	p->exact = true;
	p->comm = profile_intern_str(ps->profile, t->comm);
	p->n_threads = t->n_threads;
	p->uid = t->uid;
	p->owner_flags = !t->tgid ? OWNER_IDLE | OWNER_KERNEL : t->is_kernel ? OWNER_KERNEL : 0;
	if (t->is_kernel || !t->tgid)
		return;
	if (procfs_exe(t->tgid, exe, sizeof(exe)) >= 0)
		p->exe = profile_intern_str(ps->profile, exe);
	if (procfs_each_map(t->tgid, scan_mapping,
			    &(struct scan_ctx){ps, procs_current(ps, t->tgid)}) < 0)
		p->since_ns = 0; /* it ended, or is not ours to look into: its records know more */
}

/* Whether the file of MAP, of PS, is mapped in M where it is there.  Its code may be another:
 * records tell the inode's generation, /proc does not. */
static bool has_mapping(const struct procs *ps, const struct maps *m, const struct mapping *map)
{
	const struct mapping *found = maps_find(m, map->start);
	const struct mapped_code *codes = ps->images->codes.v;

	return codes[map->code].kind == CODE_FILE && found && found->start == map->start &&
	       found->end == map->end && codes[found->code].kind == CODE_FILE &&
	       (codes[found->code].image == codes[map->code].image ||
		(codes[found->code].path == codes[map->code].path &&
		 codes[found->code].ino == codes[map->code].ino));
}

/* Reads the mappings of a process of which records may have been lost; false when it is no longer
 * the one it was: then none of those known is where it was. */
static bool read_again(struct procs *ps, uint32_t proc)
{
	struct proc *p = &ps->v.v[proc];
	struct maps *old = p->maps;
	bool same = false;

	if (p->ended || procs_current(ps, p->tgid) != proc || !old || ps->n_rereads >= MOST_REREADS)
		return false;
	ps->n_rereads++;
	p->read_cycle = ps->cycle;
	p->maps = NULL;
	if (procfs_each_map(p->tgid, scan_mapping, &(struct scan_ctx){ps, proc}) >= 0)
		vec_each (m, &old->v)
			same |= has_mapping(ps, p->maps, m);
	if (same) {
		maps_unref(old);
	} else {
		maps_unref(p->maps);
		p->maps = old;
	}
	return same;
}

void procs_note_lost(struct procs *ps)
{
	ps->lost = true;
	ps->lost_cycle = ps->cycle;
}

/* The label of a process that nobody told of: its own, when a record of an exec of it was lost, or
 * that of its parent. */
static string_id label_unseen(const struct procs *ps, uint32_t tgid)
{
	uint32_t i = procs_current(ps, tgid), parent;
	uint64_t start;

	if (i != PROC_NONE && !ps->v.v[i].ended && ps->v.v[i].label)
		return ps->v.v[i].label;
	if (!ps->has_labels || procfs_birth(tgid, &parent, &start) < 0)
		return 0;
	i = procs_current(ps, parent);
	return i == PROC_NONE ? 0 : ps->v.v[i].label;
}

bool procs_scan_one(struct procs *ps, uint32_t tgid)
{
	struct task_record t = {.tgid = tgid, .now_ns = clock_mono_ns(), .uid = OWNER_UID_UNKNOWN};
	const string_id label = label_unseen(ps, tgid);
	bool is_kernel;

	if (procfs_status(tgid, t.comm, sizeof(t.comm), &t.n_threads, &is_kernel) < 0)
		return false;
	procfs_uid(tgid, &t.uid);
	t.is_kernel = is_kernel;
	procs_add_task(ps, &t);
	ps->v.v[procs_current(ps, tgid)].exact = false;
	ps->v.v[procs_current(ps, tgid)].any_exec = true;
	ps->v.v[procs_current(ps, tgid)].label = label;
	return true;
}

static void scan_pid(void *ctx, uint32_t tgid)
{
	procs_scan_one(ctx, tgid);
}

void procs_scan(struct procs *ps)
{
	procfs_each_pid(scan_pid, ps);
}

uint32_t procs_look_up(struct procs *ps, uint32_t tgid, uint32_t generation)
{
	uint32_t proc = procs_find(ps, tgid, generation);

	if (proc == PROC_NONE && (ps->lost || procs_current(ps, tgid) == PROC_NONE) &&
	    procs_scan_one(ps, tgid))
		proc = procs_find(ps, tgid, generation);
	return proc;
}

/* Owners. */

/* Are P's samples kept apart from those of other processes? */
static bool is_apart(const struct procs *ps, const struct proc *p)
{
	const char *exe = str_basename(profile_str(ps->profile, p->exe));

	if (ps->split != OWNER_GROUP)
		return true;
	for (size_t i = 0; ps->by_pid && i < ps->by_pid->n; i++)
		if (strcmp(str_basename(ps->by_pid->v[i]), exe) == 0)
			return true;
	return false;
}

static bool is_excluded(const struct procs *ps, const struct proc *p)
{
	return excludes_pid(ps->excluded, p->tgid) ||
	       excludes_image(ps->excluded, profile_str(ps->profile, p->exe));
}

owner_id procs_owner(struct procs *ps, uint32_t proc, uint32_t tid)
{
	struct proc *p = &ps->v.v[proc];
	struct owner o;

	if (p->facts == FACTS_UNKNOWN || (p->facts == FACTS_INHERITED && ps->cycle > p->began + 1))
		read_facts(ps, p);
	if (p->has_owner && ps->split != OWNER_TID)
		return p->owner;
	o = (struct owner){
		.exe = p->exe,
		.comm = p->comm,
		.cgroup = p->cgroup,
		.label = p->label ? p->label : ps->label,
		.uid = p->uid,
		.pid = is_apart(ps, p) ? p->tgid : 0,
		.tid = ps->split == OWNER_TID ? tid : 0,
		.thread_name = thread_name(ps, p, tid),
		.flags = p->owner_flags | (is_excluded(ps, p) ? OWNER_EXCLUDED : 0),
	};
	p->owner = profile_intern_owner(ps->profile, &o);
	p->has_owner = true;
	return p->owner;
}

owner_id procs_owner_labelled(const struct procs *ps, owner_id owner, string_id labels)
{
	struct owner o = ps->profile->owners.v[owner];

	o.label = labels;
	return profile_intern_owner(ps->profile, &o);
}

bool procs_set_label(struct procs *ps, uint32_t tgid, const char *label)
{
	uint32_t i = procs_current(ps, tgid);

	if (i == PROC_NONE && procs_scan_one(ps, tgid))
		i = procs_current(ps, tgid);
	if (i == PROC_NONE || ps->v.v[i].ended)
		return false;
	ps->has_labels = true;
	ps->v.v[i].label = profile_intern_str(ps->profile, label);
	ps->v.v[i].has_owner = false;
	return true;
}

void procs_take_labels(struct procs *ps, const struct procs *from)
{
	vec_each (old, &from->v) {
		uint32_t i = old->ended || !old->label ? PROC_NONE : procs_current(ps, old->tgid);

		if (i != PROC_NONE &&
		    exec_part(ps->v.v[i].generation) == exec_part(old->generation))
			procs_set_label(ps, old->tgid, profile_str(from->profile, old->label));
	}
}

image_id procs_anon_image(struct procs *ps, uint32_t proc)
{
	struct proc *p = &ps->v.v[proc];
	struct str path = {0};
	struct image im = {.kind = IMAGE_ANON};
	int fd;

	/* Once it has a map it keeps it; a map that is not there yet is looked for once a cycle. */
	if (p->has_anon &&
	    (p->anon_cycle == ps->cycle || ps->profile->images.v[p->anon].kind == IMAGE_JIT))
		return p->anon;
	fd = procfs_open_perf_map(p->tgid, ps->images->asks);
	if (fd >= 0) {
		/* Generated code belongs to this very process: its identity is the process's. */
		const uint64_t id[] = {ps->salt, hash_pair(ps->salt + p->tgid, p->generation)};

		im.kind = IMAGE_JIT;
		im.flags = IMAGE_HASHED;
		im.build_id.n_bytes = sizeof(id);
		memcpy(im.build_id.bytes, id, sizeof(id));
		str_addf(&path, "[jit] %s", profile_str(ps->profile, p->comm));
	} else {
		str_addf(&path, "[anon] %s", profile_str(ps->profile, p->comm));
	}
	im.path = str_get(&path);
	if (fd >= 0)
		ps->n_changes++;
	p->anon = profile_intern_image(ps->profile, &im);
	p->has_anon = true;
	p->anon_cycle = ps->cycle;
	if (fd >= 0 && ps->jits.n >= MAX_OPEN_MAPS) {
		close(fd);
		fd = -1;
	}
	if (im.kind == IMAGE_JIT)
		vec_push(&ps->jits, (struct jit){.image = p->anon, .pid = p->tgid, .fd = fd});
	p->jit = im.kind == IMAGE_JIT ? (uint32_t)ps->jits.n : 0;
	str_release(&path);
	return p->anon;
}
