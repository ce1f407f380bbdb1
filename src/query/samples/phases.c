/* SPDX-License-Identifier: BSD-2-Clause */
/* See phases.h.
 *
 * A phase begins with a procedure whose linked name has a known beginning, in a file whose name
 * tells the runtime.  Go's runtime is in the program itself, which begins each of its paths with a
 * procedure of package runtime.  For example, all that a thread does which collects HotSpot's
 * garbage is called by _ZN10GangWorker3runEv in libjvm.so.  Without call paths there are no phases:
 * the procedure that begins one has next to none of its samples. */
#include "query/samples/phases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "model/script.h"

enum phase_kind { COLLECTS, COMPILES };

static const char *const kind_names[] = {
	[COLLECTS] = "[garbage collection]",
	[COMPILES] = "[JIT compiling]",
};

/* Sources: HotSpot 11 to 21, src/hotspot/share: gc/shared, gc/g1, compiler/compileBroker.cpp; V8,
 * src/heap, src/codegen/compiler.cc, src/compiler, src/maglev, src/baseline; CPython,
 * Modules/gcmodule.c, since 3.13 Python/gc.c; PHP, Zend/zend_gc.c, ext/opcache/jit; Go,
 * src/runtime/mgc*.go; CRuby, gc.c. */
static const struct phase_row {
	const char *file; /* how its name begins, maybe behind "lib"; "": any that begins as Go's */
	const char *language;
	const char *begin; /* of the procedure's linked name */
	enum phase_kind kind;
} rows[] = {
	{"libjvm.so", "java", "_ZN10GangWorker3run", COLLECTS},
	{"libjvm.so", "java", "_ZN12WorkerThread3run", COLLECTS},
	{"libjvm.so", "java", "_ZN18ConcurrentGCThread3run", COLLECTS},
	{"libjvm.so", "java", "_ZN8GCTaskThread3run", COLLECTS},
	{"libjvm.so", "java", "_ZN16VM_G1CollectFull4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN25VM_G1CollectForAllocation4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN24VM_G1TryInitiateConcMark4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN20VM_G1PauseConcurrent4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN15VM_G1Concurrent4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN17VM_GenCollectFull4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN26VM_GenCollectForAllocation4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN21VM_ParallelGCSystemGC4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN29VM_ParallelGCFailedAllocation4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN31VM_CollectForMetadataAllocation4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN12VM_ZOperation4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN13VM_ZOperation4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN19VM_ShenandoahFullGC4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN21VM_ShenandoahInitMark4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN31VM_ShenandoahFinalMarkStartEvac4doit", COLLECTS},
	{"libjvm.so", "java", "_ZN13CompileBroker20compiler_thread_loop", COMPILES},
	{"node", "javascript", "_ZN2v88internal4Heap14CollectGarbage", COLLECTS},
	{"node", "javascript", "_ZN2v88internal4Heap17CollectAllGarbage", COLLECTS},
	{"node", "javascript", "_ZN2v88internal18ScavengerCollector", COLLECTS},
	{"node", "javascript", "_ZN2v88internal9Scavenger", COLLECTS},
	{"node", "javascript", "_ZN2v88internal20MarkCompactCollector", COLLECTS},
	{"node", "javascript", "_ZN2v88internal25MinorMarkCompactCollector", COLLECTS},
	{"node", "javascript", "_ZN2v88internal17ConcurrentMarking", COLLECTS},
	{"node", "javascript", "_ZN2v88internal18IncrementalMarking", COLLECTS},
	{"node", "javascript", "_ZN2v88internal17PageEvacuationJob", COLLECTS},
	{"node", "javascript", "_ZN2v88internal7Sweeper", COLLECTS},
	{"node", "javascript", "_ZN2v88internal18ArrayBufferSweeper", COLLECTS},
	{"node", "javascript", "_ZN2v88internal14MemoryReducer", COLLECTS},
	{"node", "javascript", "_ZN2v88internal8Compiler", COMPILES},
	{"node", "javascript", "_ZN2v88internal8compiler", COMPILES},
	{"node", "javascript", "_ZN2v88internal26OptimizingCompileDispatcher", COMPILES},
	{"node", "javascript", "_ZN2v88internal6maglev", COMPILES},
	{"node", "javascript", "_ZN2v88internal8baseline", COMPILES},
	{"python", "python", "gc_collect_main", COLLECTS},
	{"python", "python", "PyGC_Collect", COLLECTS},
	{"python", "python", "_PyGC_Collect", COLLECTS},
	{"php", "php", "zend_gc_collect_cycles", COLLECTS},
	{"opcache.so", "php", "zend_jit_hot_", COMPILES},
	{"opcache.so", "php", "zend_jit_trace_hot_", COMPILES},
	{"libruby", "ruby", "gc_start", COLLECTS},
	{"libruby", "ruby", "gc_marks", COLLECTS},
	{"libruby", "ruby", "gc_sweep", COLLECTS},
	{"", "go", "runtime.gcBgMarkWorker", COLLECTS},
	{"", "go", "runtime.gcAssistAlloc", COLLECTS},
	{"", "go", "runtime.gcStart", COLLECTS},
	{"", "go", "runtime.gcMarkDone", COLLECTS},
	{"", "go", "runtime.bgsweep", COLLECTS},
	{"", "go", "runtime.bgscavenge", COLLECTS},
};

/* By image: which rows its procedures may be of, and their names. */
struct phase_image {
	bool is_met, is_outermost; /* it has places; one of them begins a path */
	uint64_t set;
	const struct symtab *symtab; /* when there is a row, or may be one */
};

#define GO_BEGINS "runtime." /* goexit, mstart, rt0_go */

static bool begins_with(const char *s, const char *begin)
{
	return strncmp(s, begin, strlen(begin)) == 0;
}

static const char *file_name(const struct image *im)
{
	const char *slash = im->path ? strrchr(im->path, '/') : NULL;

	return slash ? slash + 1 : im->path ? im->path : "";
}

/* Whether IM is the C library or the loader, which begin most paths: neither is Go's. */
static bool begins_all(const struct image *im)
{
	static const char *const names[] = {"libc.so.", "libc-", "ld-linux", "ld-2", "ld-musl"};

	for (size_t i = 0; i < n_elems(names); i++)
		if (begins_with(file_name(im), names[i]))
			return true;
	return false;
}

/* The rows that may be of IM, as a set of bits by number. */
static uint64_t phase_rows(const struct image *im, bool is_go)
{
	const char *name = file_name(im), *bare = begins_with(name, "lib") ? name + 3 : name;
	uint64_t set = 0;

	_Static_assert(n_elems(rows) <= 64, "a bit each");
	if (im->kind != IMAGE_FILE)
		return 0;
	for (size_t i = 0; i < n_elems(rows); i++)
		if (*rows[i].file
			    ? begins_with(name, rows[i].file) || begins_with(bare, rows[i].file)
			    : is_go)
			set |= 1ull << i;
	return set;
}

/* The row of SET that entry I of ST is of, as a phase. */
static phase_id phase_of_entry(const struct symtab *st, uint32_t entry, uint64_t set)
{
	const char *name = symtab_get(st, entry).name;

	for (size_t i = 0; i < n_elems(rows); i++)
		if (set >> i & 1 && *name == *rows[i].begin && begins_with(name, rows[i].begin))
			return (phase_id)(i + 1);
	return PHASE_NONE;
}

/* The phase of the procedure at SVMA, by any of its names.  Only procedures that were met are
 * looked at: a runtime has a hundred thousand. */
static phase_id phase_at(const struct phase_image *pi, uint64_t svma)
{
	const struct symtab *st = pi->symtab;
	const uint32_t found = symtab_find(st, svma);
	uint64_t start;
	uint32_t first;
	phase_id phase = PHASE_NONE;

	if (found == PROC_NONE)
		return PHASE_NONE;
	start = symtab_get(st, found).start;
	first = found;
	while (first > 0 && symtab_get(st, first - 1).start == start)
		first--;
	for (uint32_t i = first; !phase && i < st->n && symtab_get(st, i).start == start; i++)
		phase = phase_of_entry(st, i, pi->set);
	return phase;
}

void phases_add_names(struct str *ret)
{
	for (size_t i = 0; i < n_elems(rows); i++)
		str_addf(ret, "%s%s", i ? "|" : "^(", rows[i].begin);
	str_add(ret, ")");
}

static bool has_callers(const struct profile *p)
{
	for (ctx_id i = 1; i < p->ctxs.n; i++)
		if (p->ctxs.v[i].parent)
			return true;
	return false;
}

/* Adds Go's rows to the images that begin a path as Go's programs do; ROOTS are the places that
 * begin paths.  So the names of what others execute are not looked at. */
static void find_go(struct phase_image *images, const struct profile *p, const place_id *roots,
		    size_t n_roots)
{
	for (size_t i = 0; i < n_roots; i++) {
		const struct place *place = &p->places.v[roots[i]];
		struct phase_image *pi = &images[place->image];
		uint32_t entry;

		if (!pi->is_outermost)
			continue;
		entry = symtab_find(pi->symtab, place->svma);
		if (entry == PROC_NONE ||
		    !begins_with(symtab_get(pi->symtab, entry).name, GO_BEGINS))
			continue;
		pi->set = phase_rows(&p->images.v[place->image], true);
		pi->is_outermost = false; /* it is known */
	}
}

void phases_init(struct phases *ph, const struct profile *p, struct resolver *r)
{
	struct phase_image *images;
	VEC(place_id) roots = {0};
	uint64_t sets = 0;

	*ph = (struct phases){.of_place = xcalloc(p->places.n + 1, sizeof(*ph->of_place))};
	if (!has_callers(p))
		return;
	images = xcalloc(p->images.n + 1, sizeof(*images));
	for (place_id i = 0; i < p->places.n; i++)
		images[p->places.v[i].image].is_met = true;
	for (ctx_id i = 1; i < p->ctxs.n; i++)
		if (!p->ctxs.v[i].parent) {
			vec_push(&roots, p->ctxs.v[i].place);
			images[p->places.v[p->ctxs.v[i].place].image].is_outermost = true;
		}
	for (image_id i = 0; i < p->images.n; i++) {
		struct phase_image *pi = &images[i];

		if (pi->is_met)
			pi->set = phase_rows(&p->images.v[i], false);
		pi->is_outermost &=
			p->images.v[i].kind == IMAGE_FILE && !begins_all(&p->images.v[i]);
		if (pi->set)
			pi->symtab = resolver_image(r, &p->images.v[i])->symtab;
		else if (pi->is_outermost) /* Go's names are in the program itself */
			pi->symtab = resolver_kept_symbols(r, &p->images.v[i]);
	}
	find_go(images, p, roots.v, roots.n);
	for (image_id i = 0; i < p->images.n; i++)
		sets |= images[i].set;
	for (place_id i = 0; sets && i < p->places.n; i++) {
		const struct phase_image *pi = &images[p->places.v[i].image];

		if (pi->set)
			ph->of_place[i] = phase_at(pi, p->places.v[i].svma);
		ph->any |= ph->of_place[i] != PHASE_NONE;
	}
	vec_release(&roots);
	free(images);
}

void phases_release(struct phases *ph)
{
	free(ph->of_place);
}

place_id phases_place(struct profile *p, struct resolver *r, phase_id phase)
{
	const struct phase_row *row = &rows[phase - 1];
	char file[32];
	struct script_function f = {
		.language = row->language, .file = file, .name = kind_names[row->kind]};
	place_id place;

	snprintf(file, sizeof(file), "[%s]", row->language);
	place = profile_intern_script(p, profile_intern_script_image(p, &f), script_svma(f.name, 0),
				      &f, 0);
	resolver_add_script(r, &p->images.v[p->places.v[place].image], p->places.v[place].svma,
			    f.name, 0);
	return place;
}
