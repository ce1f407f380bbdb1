/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_kernel.h.
 *
 * What a record of the kernel tells has changed with perf's versions (machine__process_kernel_mmap_
 * event; examples are of recordings that others made):
 *
 *   address             bytes               offset
 *   ffffffffb4200000    200af00             ffffffffb4200000   from _text to _etext
 *   ffffffffb4200000    bfb0000             ffffffffb4200000   to where the first module is
 *   0                   ffffffff9fffffff    ffffffff81000190   from 0 to the modules; of _stext
 *   0                   0                   0                  it may not tell (kptr_restrict)
 *
 * The offset is the run-time address of the symbol behind the bracket of the path.  KASLR moves the
 * kernel by multiples of 2 MiB (CONFIG_PHYSICAL_ALIGN), so the address tells by how much. */
#include "port/perf_kernel.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "resolve/kallsyms.h"

#define MIB 1048576ull

/* A kernel that does not say how long it is. */
#define KERNEL_ANY_BYTES (1024 * MIB)

/* Data and .init.text, where the first idle task comes from, are this far behind _etext at most. */
#define KERNEL_TAIL_BYTES (64 * MIB)

#define KASLR_STEP (2 * MIB)

/* Identities. */

bool perf_kernel_is_running(const struct perfdata *pd)
{
	struct utsname u;

	return pd->host && pd->release && uname(&u) >= 0 && strcmp(u.nodename, pd->host) == 0 &&
	       strcmp(u.release, pd->release) == 0 &&
	       (!pd->arch || strcmp(u.machine, pd->arch) == 0);
}

struct build_id perf_kernel_own_id(const struct perfdata *pd, const char *what)
{
	const char *const parts[] = {pd->host, pd->release, pd->arch, what};
	struct build_id id = {.n_bytes = 16};
	_str_ struct str text = {0};
	uint64_t h;

	for (size_t i = 0; i < n_elems(parts); i++)
		str_addf(&text, "%s\n", parts[i] ? parts[i] : "");
	h = hash_str(str_get(&text));
	for (unsigned i = 0; i < id.n_bytes; i++)
		id.bytes[i] = (uint8_t)(hash_pair(h, i / 8) >> i % 8 * 8);
	return id;
}

static bool is_kernel_path(const char *path)
{
	return str_starts(path, "[kernel.");
}

/* Linux, tools/perf/util/dso.c, is_kernel_module. */
static bool is_module_path(const char *path)
{
	const char *ko = strstr(str_basename(path), ".ko");

	if (path[0] == '[')
		return !is_kernel_path(path);
	return ko && (!ko[3] || ko[3] == '.');
}

const struct build_id *perf_kernel_build_id(const struct perfdata *pd)
{
	const struct build_id *found = NULL;

	vec_each (b, &pd->build_ids) {
		if (is_kernel_path(b->path))
			return &b->id;
		if (!found && (b->misc & PERFDATA_MISC_MODE) == PERFDATA_MODE_KERNEL &&
		    !is_module_path(b->path))
			found = &b->id;
	}
	return found;
}

/* "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz" or "[ext4]" as kallsyms has it. */
static void module_name(const char *path, struct str *ret)
{
	const char *name = path[0] == '[' ? path + 1 : str_basename(path);
	size_t n = path[0] == '[' ? strcspn(name, "]") : strcspn(name, ".");

	for (size_t i = 0; i < n; i++)
		str_addc(ret, name[i] == '-' ? '_' : name[i]);
}

/* Gives the image of R an identity when ID is none. */
static void identify(struct perf_world *w, struct kernel_range *r, const struct build_id *id,
		     bool placed)
{
	r->image.build_id = id ? *id : (struct build_id){0};
	if (placed && (r->image.build_id.n_bytes || perf_kernel_is_running(w->pd)))
		return;
	r->image.build_id =
		perf_kernel_own_id(w->pd, placed ? r->image.path : PERF_KERNEL_SOMEWHERE);
	r->image.flags |= IMAGE_HASHED;
}

/* Places. */

/* The kernel's own mapping, from START on, ends at END or where the next one begins. */
static uint64_t clip(const struct perf_world *w, uint64_t start, uint64_t end)
{
	vec_each (p, &w->kernel.v)
		if (p->start > start && p->start < end)
			end = p->start;
	return end;
}

static uint64_t sum_or_max(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static void map_text(struct perf_world *w, const struct perfdata_mmap *m)
{
	uint64_t base = m->off & ~(KASLR_STEP - 1), link = kallsyms_link_start(base);
	struct kernel_range r = {.start = m->addr,
				 .end = sum_or_max(m->addr, m->n_bytes),
				 .image = {.kind = IMAGE_KERNEL, .path = "[kernel]"}};
	bool placed = m->off || m->addr;

	/* One whose text is below where KASLR begins was linked there, and is not moved. */
	if (!m->off || (link > base && link - base < KERNEL_ANY_BYTES))
		link = base;
	if (r.start < base)
		r.start = base;
	if (!placed && !m->n_bytes)
		r.end = UINT64_MAX;
	else if (placed && (!m->n_bytes || r.end <= r.start || r.end - r.start > KERNEL_ANY_BYTES))
		r.end = sum_or_max(r.start, KERNEL_ANY_BYTES);
	else if (placed && m->n_bytes < KERNEL_TAIL_BYTES)
		r.end = sum_or_max(r.end, KERNEL_TAIL_BYTES);
	r.end = clip(w, r.start, r.end);
	r.svma = r.start - base + link;
	r.image.text_start = link;
	identify(w, &r, m->build_id.n_bytes ? &m->build_id : perf_kernel_build_id(w->pd), placed);
	kernel_map_add(&w->kernel, &r);
}

static void map_module(struct perf_world *w, const struct perfdata_mmap *m)
{
	struct kernel_range r = {.start = m->addr,
				 .end = sum_or_max(m->addr, m->n_bytes),
				 .image = {.kind = IMAGE_MODULE}};
	_str_ struct str name = {0};

	module_name(m->path, &name);
	r.image.path = str_get(&name);
	r.image.text_bytes = r.end - r.start;
	identify(w, &r, m->build_id.n_bytes ? &m->build_id : perf_world_build_id(w, m->path), true);
	kernel_map_add(&w->kernel, &r);
}

void perf_kernel_map(struct perf_world *w, const struct perfdata_mmap *m)
{
	if (is_kernel_path(m->path))
		map_text(w, m);
	else if (m->path[0] != '[' || strchr(m->path, ']'))
		map_module(w, m);
}
