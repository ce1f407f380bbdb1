/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_world.h. */
#include "port/perf_world.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "port/perf_kernel.h"

/* So many processes that ended keep their mappings. */
#define N_GONE 4096

/* Processes and threads. */

static bool same_proc(const void *owner, uint32_t i, const void *key)
{
	return ((const struct perf_world *)owner)->procs.v[i].pid == *(const uint32_t *)key;
}

static uint32_t find_proc(struct perf_world *w, uint32_t pid)
{
	uint64_t h = hash_u64(pid);
	uint32_t i = index_find(&w->proc_ix, h, same_proc, w, &pid);

	if (i == INDEX_NONE) {
		i = (uint32_t)w->procs.n;
		vec_push(&w->procs, (struct perf_proc){.pid = pid, .version = ++w->n_versions});
		index_add(&w->proc_ix, h, i);
	}
	return i;
}

static bool same_thread(const void *owner, uint32_t i, const void *key)
{
	return ((const struct perf_world *)owner)->threads.v[i].tid == *(const uint32_t *)key;
}

/* The number of thread TID, or INDEX_NONE.  Few threads are asked for again and again. */
static uint32_t find_thread(struct perf_world *w, uint32_t tid)
{
	uint32_t *slot = &w->thread_slots[tid % PERF_WORLD_N_THREAD_SLOTS], i;

	if (*slot && w->threads.v[*slot - 1].tid == tid)
		return *slot - 1;
	i = index_find(&w->thread_ix, hash_u64(tid), same_thread, w, &tid);
	if (i != INDEX_NONE)
		*slot = i + 1;
	return i;
}

struct perf_thread *perf_world_find_thread(struct perf_world *w, uint32_t tid)
{
	uint32_t i = find_thread(w, tid);

	return i == INDEX_NONE || w->threads.v[i].ended ? NULL : &w->threads.v[i];
}

struct perf_thread *perf_world_thread(struct perf_world *w, uint32_t pid, uint32_t tid)
{
	uint32_t i = find_thread(w, tid);
	struct perf_thread *t;

	if (i == INDEX_NONE) {
		i = (uint32_t)w->threads.n;
		vec_push(&w->threads, (struct perf_thread){.tid = tid, .pid = pid, .ended = true});
		index_add(&w->thread_ix, hash_u64(tid), i);
	}
	t = &w->threads.v[i];
	if (t->pid != pid || t->ended) { /* new, or a new one with this number */
		if (!t->ended)
			w->procs.v[t->proc].n_threads--;
		t->pid = pid;
		t->proc = find_proc(w, pid);
		t->ended = false;
		t->has_owner = false;
		w->procs.v[t->proc].n_threads++;
		w->procs.v[t->proc].n_ended = 0;
	}
	return t;
}

static void changed(struct perf_world *w, struct perf_proc *p)
{
	p->version = ++w->n_versions;
}

static void forget_maps(struct perf_world *w, struct perf_proc *p)
{
	maps_unref(p->maps);
	p->maps = NULL;
	changed(w, p);
}

static void forget_jit(struct perf_proc *p)
{
	p->asked_jit = false;
	p->jit = 0;
}

static string_id comm_of(struct perf_world *w, const struct perf_thread *t)
{
	char name[24];

	if (t->has_comm)
		return t->comm;
	if (!t->tid)
		return profile_intern_str(w->profile, "swapper");
	snprintf(name, sizeof(name), ":%" PRId32, (int32_t)t->tid); /* as perf shows it */
	return profile_intern_str(w->profile, name);
}

static bool same_cgroup(const void *owner, uint32_t i, const void *key)
{
	return ((const struct perf_world *)owner)->cgroups.v[i].id == *(const uint64_t *)key;
}

owner_id perf_world_owner(struct perf_world *w, struct perf_thread *t, uint64_t cgroup)
{
	struct owner o = {.uid = OWNER_UID_UNKNOWN, .label = w->label};
	uint32_t i;

	if (t->has_owner && t->owner_cgroup == cgroup)
		return t->owner;
	o.comm = comm_of(w, t);
	o.exe = w->procs.v[t->proc].exe;
	i = cgroup ? index_find(&w->cgroup_ix, hash_u64(cgroup), same_cgroup, w, &cgroup)
		   : INDEX_NONE;
	o.cgroup = i == INDEX_NONE ? 0 : w->cgroups.v[i].path;
	/* The kernel says -1 of a task that is gone. */
	o.pid = w->split != OWNER_GROUP && t->pid != UINT32_MAX ? t->pid : 0;
	o.tid = w->split == OWNER_TID && t->tid != UINT32_MAX ? t->tid : 0;
	o.flags = t->tid ? 0 : OWNER_IDLE | OWNER_KERNEL;
	t->owner = profile_intern_owner(w->profile, &o);
	t->owner_cgroup = cgroup;
	t->has_owner = true;
	return t->owner;
}

/* Kernels before 3.16 do not say which COMM is that of an exec. */
static bool tells_exec(const struct perf_world *w)
{
	vec_each (e, &w->pd->events)
		if (perfdata_attr_has(&e->attr, PERFDATA_A_COMM_EXEC))
			return true;
	return false;
}

static void apply_comm(struct perf_world *w, const struct perfdata_record *r)
{
	struct perf_thread *t = perf_world_thread(w, r->comm.pid, r->comm.tid);
	struct perf_proc *p = &w->procs.v[t->proc];

	t->comm = profile_intern_str(w->profile, r->comm.name);
	t->has_comm = true;
	t->has_owner = false;
	if (!r->comm.exec) {
		/* If it was one, the program is what is mapped next. */
		p->has_exe &= tells_exec(w) || r->comm.pid != r->comm.tid;
		return;
	}
	/* Its last steps in the old program are sampled behind this; mappings stay until the new
	 * one's are put over them. */
	p->has_exe = p->has_anon = false;
	p->exe = 0;
	p->dump = 0;
	forget_jit(p);
}

static void apply_fork(struct perf_world *w, const struct perfdata_record *r)
{
	bool has_comm;
	string_id comm;
	uint32_t parent;
	struct perf_thread *t = perf_world_thread(w, r->task.ppid, r->task.ptid);

	has_comm = t->has_comm;
	comm = t->comm;
	parent = t->proc;
	t = perf_world_thread(w, r->task.pid, r->task.tid);
	t->has_comm = has_comm;
	t->comm = comm;
	t->has_owner = false;
	if (r->task.pid == r->task.ppid)
		return;
	if (t->proc != parent) {
		struct perf_proc *p = &w->procs.v[t->proc];
		const struct perf_proc *from = &w->procs.v[parent];
		/* Perf tells so of processes that were there before it: their programs are their
		 * own, and told later. */
		bool before = r->head.misc & PERFDATA_MISC_FORK_EXEC || !r->task.time;

		forget_maps(w, p);
		p->exe = before ? 0 : from->exe;
		p->has_exe = !before && from->has_exe;
		p->has_anon = false;
		p->begin_ns = r->id.time;
		p->dump = from->dump; /* what was generated before is in it */
		forget_jit(p);
		if (!(r->head.misc & PERFDATA_MISC_FORK_EXEC))
			p->maps = maps_ref(from->maps);
	}
}

static void apply_exit(struct perf_world *w, const struct perfdata_record *r)
{
	uint32_t i = index_find(&w->thread_ix, hash_u64(r->task.tid), same_thread, w, &r->task.tid);
	struct perf_thread *t = i == INDEX_NONE ? NULL : &w->threads.v[i];
	struct perf_proc *p;

	if (!t || t->ended)
		return;
	t->ended = true;
	p = &w->procs.v[t->proc];
	if (--p->n_threads)
		return;
	/* The last of its threads is gone, and the address space with it; the kernel may still
	 * sample it on its last steps. */
	p = w->n_gone >= N_GONE ? &w->procs.v[w->gone[w->n_gone % N_GONE]] : NULL;
	if (p && p->n_ended == w->n_gone + 1 - N_GONE)
		forget_maps(w, p);
	w->gone[w->n_gone % N_GONE] = t->proc;
	w->procs.v[t->proc].n_ended = ++w->n_gone;
}

/* Mappings. */

static bool same_path(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct perf_world *)owner)->pd->build_ids.v[i].path, key) == 0;
}

const struct build_id *perf_world_build_id(struct perf_world *w, const char *path)
{
	uint32_t i;

	for (; w->n_build_ids < w->pd->build_ids.n; w->n_build_ids++) {
		const char *known = w->pd->build_ids.v[w->n_build_ids].path;

		if (index_find(&w->build_id_ix, hash_str(known), same_path, w, known) == INDEX_NONE)
			index_add(&w->build_id_ix, hash_str(known), (uint32_t)w->n_build_ids);
	}
	i = index_find(&w->build_id_ix, hash_str(path), same_path, w, path);
	return i == INDEX_NONE ? NULL : &w->pd->build_ids.v[i].id;
}

static bool same_file(const void *owner, uint32_t i, const void *key)
{
	const struct perf_file *a = &((const struct perf_world *)owner)->files.v[i], *b = key;

	return a->path == b->path && build_id_same(&a->ref.build_id, &b->ref.build_id) &&
	       a->ref.dev == b->ref.dev && a->ref.ino == b->ref.ino &&
	       a->ref.ino_generation == b->ref.ino_generation;
}

static uint32_t intern_file(struct perf_world *w, const struct perfdata_mmap *m)
{
	struct perf_file f = {.path = profile_intern_str(w->profile, m->path),
			      .ref = {.build_id = m->build_id,
				      .dev = (uint64_t)m->maj << 32 | m->min,
				      .ino = m->ino,
				      .ino_generation = m->ino_generation}};
	uint64_t h;
	uint32_t i;

	if (!f.ref.build_id.n_bytes) {
		const struct build_id *id = perf_world_build_id(w, m->path);

		f.ref.build_id = id ? *id : f.ref.build_id;
	}
	f.ref.path = profile_str(w->profile, f.path);
	h = hash_pair(hash_bytes(f.ref.build_id.bytes, f.ref.build_id.n_bytes) + f.ref.dev,
		      hash_pair(f.ref.ino, f.path));
	i = index_find(&w->file_ix, h, same_file, w, &f);
	if (i == INDEX_NONE) {
		i = (uint32_t)w->files.n;
		vec_push(&w->files, f);
		index_add(&w->file_ix, h, i);
	}
	return i;
}

/* A vdso has no file; offsets in it are its addresses. */
static void describe_vdso(struct perf_world *w, const struct build_id *id)
{
	bool told = id->n_bytes;

	if (!told && perf_kernel_is_running(w->pd))
		return;
	w->images.vdso.has_layout = true;
	w->images.vdso.layout =
		(struct image_layout){.build_id = told ? *id : perf_kernel_own_id(w->pd, "[vdso]"),
				      .hashed = !told,
				      .n_loads = 1,
				      .loads = {{.n_bytes = UINT32_MAX}}};
}

uint32_t perf_world_code(struct perf_world *w, const struct mapping *m)
{
	struct perf_file *f = &w->files.v[m->code];

	if (!f->code && strcmp(f->ref.path, "[vdso]") == 0)
		describe_vdso(w, &f->ref.build_id);
	if (!f->code)
		f->code = images_intern(&w->images, &f->ref) + 1;
	return f->code - 1;
}

/* A file that processes map and do not run: "libc.so.6", "ld-2.31.so", Android's archives and
 * compiled code. */
static bool is_library(const char *path)
{
	static const char *const ends[] = {".so", ".apk", ".jar", ".oat", ".odex", ".vdex", ".art"};
	const char *name = str_basename(path);

	for (size_t i = 0; i < n_elems(ends); i++)
		if (str_ends(name, ends[i]))
			return true;
	return strstr(name, ".so.");
}

static void map_user(struct perf_world *w, const struct perfdata_mmap *m)
{
	struct perf_thread *t = perf_world_thread(w, m->pid, m->tid);
	struct perf_proc *p = &w->procs.v[t->proc];
	struct mapping map = {.start = m->addr,
			      .end = m->addr + m->n_bytes,
			      .off = m->off,
			      .shared = m->flags & 1}; /* MAP_SHARED */

	if (map.end <= map.start)
		return;
	map.code = intern_file(w, m);
	if (strcmp(m->path, "[vdso]") == 0)
		map.off = 0;
	if (images_is_dump(m->path)) {
		p->dump = map.code + 1;
		forget_jit(p);
	} else if (!p->has_exe && m->path[0] == '/' && m->path[1] != '/' && !is_library(m->path)) {
		/* The kernel maps the program itself before its interpreter (fs/binfmt_elf.c). */
		p->exe = w->files.v[map.code].path;
		p->has_exe = true;
		t->has_owner = false;
	}
	maps_add(maps_own(&p->maps), &map);
	changed(w, p);
}

static void apply_ksymbol(struct perf_world *w, const struct perfdata_record *r)
{
	struct kernel_range range = {.start = r->ksymbol.addr,
				     .end = r->ksymbol.addr + r->ksymbol.n_bytes,
				     .image = {.kind = IMAGE_BPF,
					       .path = r->ksymbol.name,
					       .text_bytes = r->ksymbol.n_bytes}};

	/* What is unregistered may be on its way out still: it stays until it is used again. */
	if (r->ksymbol.flags & 1 || range.end <= range.start)
		return;
	kernel_map_add(&w->kernel, &range);
	w->kernel_version = ++w->n_versions;
}

static void apply_cgroup(struct perf_world *w, const struct perfdata_record *r)
{
	uint32_t i =
		index_find(&w->cgroup_ix, hash_u64(r->cgroup.id), same_cgroup, w, &r->cgroup.id);

	if (i == INDEX_NONE) {
		i = (uint32_t)w->cgroups.n;
		vec_add(&w->cgroups)->id = r->cgroup.id;
		index_add(&w->cgroup_ix, hash_u64(r->cgroup.id), i);
	}
	w->cgroups.v[i].path = profile_intern_str(w->profile, r->cgroup.path);
	vec_each (t, &w->threads)
		t->has_owner = false;
}

void perf_world_apply(struct perf_world *w, const struct perfdata_record *r)
{
	unsigned mode = r->head.misc & PERFDATA_MISC_MODE;

	switch (r->head.type) {
	case PERFDATA_MMAP:
	case PERFDATA_MMAP2:
		if (mode == PERFDATA_MODE_KERNEL) {
			perf_kernel_map(w, &r->mmap);
			w->kernel_version = ++w->n_versions;
		} else if (mode == PERFDATA_MODE_USER) {
			map_user(w, &r->mmap);
		}
		break;
	case PERFDATA_COMM:
		apply_comm(w, r);
		break;
	case PERFDATA_FORK:
		apply_fork(w, r);
		break;
	case PERFDATA_EXIT:
		apply_exit(w, r);
		break;
	case PERFDATA_KSYMBOL:
		apply_ksymbol(w, r);
		break;
	case PERFDATA_CGROUP:
		apply_cgroup(w, r);
		break;
	default:
		break;
	}
}

/* Places. */

static image_id anon_image(struct perf_world *w, struct perf_proc *p)
{
	if (!p->has_anon) {
		_mem_ char *path =
			xasprintf("[anon] %s", str_basename(profile_str(w->profile, p->exe)));
		struct image im = {.kind = IMAGE_ANON, .path = path};

		p->anon = profile_intern_image(w->profile, &im);
		p->has_anon = true;
	}
	return p->anon;
}

static void find_jit(struct perf_world *w, struct perf_proc *p)
{
	struct perf_jit_query q = {
		.pid = p->pid,
		.begin_ns = p->begin_ns,
		.name = str_basename(profile_str(w->profile, p->exe)),
		.dump = p->dump ? &w->files.v[p->dump - 1].ref : NULL,
	};

	p->asked_jit = true;
	p->jit = perf_jits_find(&w->jits, &q);
	if (!p->jit && q.dump) {
		q.dump = NULL;
		p->jit = perf_jits_find(&w->jits, &q);
	}
	if (p->jit)
		p->n_replaced = perf_jits_advance(&w->jits, p->jit - 1, w->now_ns);
}

void perf_world_at(struct perf_world *w, uint32_t proc, uint64_t time)
{
	struct perf_proc *p = &w->procs.v[proc];
	uint32_t n;

	if (time)
		w->now_ns = time;
	n = p->jit ? perf_jits_advance(&w->jits, p->jit - 1, w->now_ns) : 0;
	if (p->jit && n != p->n_replaced) {
		p->n_replaced = n;
		changed(w, p);
	}
}

static place_id generated_place(struct perf_world *w, struct perf_proc *p, uint64_t ip,
				uint32_t flags)
{
	if (!p->asked_jit)
		find_jit(w, p);
	return p->jit ? perf_jits_place(&w->jits, p->jit - 1, ip, flags)
		      : profile_intern_place(w->profile, anon_image(w, p), ip, flags);
}

static place_id user_place(struct perf_world *w, uint32_t proc, uint64_t ip, uint32_t flags)
{
	struct perf_proc *p = &w->procs.v[proc];
	const struct mapping *m = maps_find(p->maps, ip);
	uint32_t code;

	if (!m)
		return profile_unknown_place(w->profile, ip, flags);
	code = perf_world_code(w, m);
	if (w->images.codes.v[code].kind == CODE_ANON)
		return generated_place(w, p, ip, flags);
	return images_place(&w->images, code, ip - m->start + m->off, flags);
}

static place_id kernel_place(struct perf_world *w, uint64_t ip, uint32_t flags)
{
	place_id place;

	return kernel_map_place(&w->kernel, ip, &place)
		       ? place
		       : profile_unknown_place(w->profile, ip, flags);
}

/* Code of a virtual machine or of what is below the kernel: nothing here tells what it is, and its
 * addresses are none of the kernel's or the process's. */
static place_id other_place(struct perf_world *w, unsigned mode, uint64_t ip, uint32_t flags)
{
	struct image im = {.kind = IMAGE_UNKNOWN};

	im.path = mode == PERFDATA_MODE_GUEST_KERNEL ? "[guest kernel]"
		  : mode == PERFDATA_MODE_GUEST_USER ? "[guest user]"
		  : mode == PERFDATA_MODE_HYPERVISOR ? "[hypervisor]"
						     : NULL;
	return im.path ? profile_intern_place(w->profile, profile_intern_image(w->profile, &im), ip,
					      flags)
		       : profile_unknown_place(w->profile, ip, flags);
}

/* The version of what is mapped in MODE; 0: it has no mappings. */
static uint64_t version_of(const struct perf_world *w, uint32_t proc, unsigned mode)
{
	return mode == PERFDATA_MODE_USER     ? w->procs.v[proc].version
	       : mode == PERFDATA_MODE_KERNEL ? w->kernel_version
					      : 0;
}

static struct perf_place_slot *slot_of(const struct perf_world *w, uint64_t version, uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15ULL + version * 0xff51afd7ed558ccdULL;

	/* Images begin at multiples of a large number, which one multiplication leaves together. */
	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15ULL;
	return &w->places[h >> (64 - PERF_WORLD_PLACE_BITS)];
}

void perf_world_expect(const struct perf_world *w, uint32_t tid, unsigned mode, uint64_t ip)
{
	const uint32_t i = w->thread_slots[tid % PERF_WORLD_N_THREAD_SLOTS];
	const struct perf_thread *t = i ? &w->threads.v[i - 1] : NULL;

	if (t && t->tid == tid)
		__builtin_prefetch(slot_of(w, version_of(w, t->proc, mode), ip));
}

/* The slot of IP; NULL: its mode has no mappings. */
static const struct perf_place_slot *find_slot(struct perf_world *w, uint32_t proc, unsigned mode,
					       uint64_t ip, uint32_t flags)
{
	const uint64_t version = version_of(w, proc, mode), key = ip ^ (uint64_t)flags << 63;
	struct perf_place_slot *s = slot_of(w, version, key);

	if (!version)
		return NULL;
	if (s->version == version && s->ip == key)
		return s;
	s->version = version;
	s->ip = key;
	s->place = mode == PERFDATA_MODE_USER ? user_place(w, proc, ip, flags)
					      : kernel_place(w, ip, flags);
	s->image = w->profile->places.v[s->place].image;
	return s;
}

place_id perf_world_place(struct perf_world *w, uint32_t proc, unsigned mode, uint64_t ip,
			  uint32_t flags)
{
	const struct perf_place_slot *s = find_slot(w, proc, mode, ip, flags);

	return s ? s->place : other_place(w, mode, ip, flags);
}

place_id perf_world_place_in(struct perf_world *w, uint32_t proc, unsigned mode, uint64_t ip,
			     image_id *ret_image)
{
	const struct perf_place_slot *s = find_slot(w, proc, mode, ip, 0);
	const place_id place = s ? s->place : other_place(w, mode, ip, 0);

	*ret_image = s ? s->image : w->profile->places.v[place].image;
	return place;
}

void perf_world_init(struct perf_world *w, struct profile *p, const struct perfdata *pd,
		     enum owner_split split,
		     int (*find_file)(void *ctx, const struct image_ref *ref, const char *path),
		     void *find_ctx, image_probe_fn *probe)
{
	*w = (struct perf_world){.profile = p, .pd = pd, .split = split};
	images_init(&w->images, p, probe, NULL);
	w->images.find_file = find_file;
	w->images.find_ctx = find_ctx;
	kernel_map_init(&w->kernel, p);
	perf_jits_init(&w->jits, p, pd);
	w->kernel_version = ++w->n_versions;
	w->gone = xcalloc(N_GONE, sizeof(*w->gone));
	w->places = xcalloc(PERF_WORLD_N_PLACES, sizeof(*w->places));
}

void perf_world_release(struct perf_world *w)
{
	free(w->branch_slots);
	vec_release(&w->branch_whos);
	index_release(&w->branch_who_ix);
	vec_each (p, &w->procs)
		maps_unref(p->maps);
	vec_release(&w->procs);
	vec_release(&w->threads);
	vec_release(&w->cgroups);
	vec_release(&w->kernel_pages);
	index_release(&w->kernel_page_ix);
	index_release(&w->proc_ix);
	index_release(&w->thread_ix);
	index_release(&w->cgroup_ix);
	index_release(&w->build_id_ix);
	index_release(&w->file_ix);
	vec_release(&w->files);
	images_release(&w->images);
	kernel_map_release(&w->kernel);
	perf_jits_release(&w->jits);
	free(w->places);
	free(w->gone);
	*w = (struct perf_world){0};
}
