/* SPDX-License-Identifier: BSD-2-Clause */
/* See memory_names.h.
 *
 * The kernel names the stack of the first thread alone.  The stacks and variables of other threads
 * lie in mappings without a file.  The instruction tells what they are: memory that it addresses
 * from the stack pointer is on the stack, memory that it addresses from the segment of the thread
 * is thread-local. */
#include "query/samples/memory_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "resolve/insn_uses.h"

#define NO_OBJECT UINT64_MAX
#define MOST_INSN 15 /* bytes, of x86 */

enum data_level {
	LEVEL_UNTOLD,
	LEVEL_L1,
	LEVEL_BUFFER,
	LEVEL_L2,
	LEVEL_L3,
	LEVEL_L3_REMOTE,
	LEVEL_CORE,
	LEVEL_CORE_REMOTE,
	LEVEL_MEMORY,
	LEVEL_MEMORY_REMOTE,
	LEVEL_UNCACHED,
	LEVEL_BEYOND_L1,
	LEVEL_OTHER,
};

static const char *const level_names[] = {
	[LEVEL_UNTOLD] = MEMORY_UNTOLD,
	[LEVEL_L1] = "L1",
	[LEVEL_BUFFER] = "line buffer",
	[LEVEL_L2] = "L2",
	[LEVEL_L3] = "L3",
	[LEVEL_L3_REMOTE] = "L3 of another node",
	[LEVEL_CORE] = "another core's cache",
	[LEVEL_CORE_REMOTE] = "a cache of another node",
	[LEVEL_MEMORY] = "memory",
	[LEVEL_MEMORY_REMOTE] = "memory of another node",
	[LEVEL_UNCACHED] = "uncached, or a device",
	[LEVEL_BEYOND_L1] = "beyond L1",
	[LEVEL_OTHER] = "elsewhere",
};

enum tlb_level { TLB_UNTOLD, TLB_FIRST, TLB_SECOND, TLB_EITHER, TLB_MISS, TLB_WALK };

static const char *const tlb_names[] = {
	[TLB_UNTOLD] = MEMORY_UNTOLD, [TLB_FIRST] = "first TLB",	[TLB_SECOND] = "second TLB",
	[TLB_EITHER] = "some TLB",    [TLB_MISS] = "not the first TLB", [TLB_WALK] = "page walk",
};

/* How an instruction addresses memory. */
enum memory_way { WAY_UNASKED, WAY_OTHER, WAY_STACK, WAY_TLS };

void memory_namer_release(struct memory_namer *n)
{
	free(n->ways);
	n->ways = NULL;
}

unsigned memory_level(const struct profile *p, const struct access *a)
{
	const struct vector *v = &p->vectors.v[a->vector];
	const uint64_t is = v->known & v->value;
	const bool remote = is & FACT_MASK(FACT_REMOTE);
	const uint64_t levels = FACT_MASK(FACT_L1HIT) | FACT_MASK(FACT_L2HIT) |
				FACT_MASK(FACT_L3HIT) | FACT_MASK(FACT_DRAM);

	if (is & FACT_MASK(FACT_L1HIT))
		return LEVEL_L1;
	if (a->source == ACCESS_BUFFER)
		return LEVEL_BUFFER;
	if (a->source == ACCESS_UNCACHED)
		return LEVEL_UNCACHED;
	if (is & FACT_MASK(FACT_L2HIT))
		return LEVEL_L2;
	if (is & FACT_MASK(FACT_L3HIT))
		return remote ? LEVEL_L3_REMOTE : LEVEL_L3;
	if (is & FACT_MASK(FACT_DRAM))
		return remote ? LEVEL_MEMORY_REMOTE : LEVEL_MEMORY;
	if (is & (FACT_MASK(FACT_SNOOPHIT) | FACT_MASK(FACT_SNOOPHITM)))
		return remote ? LEVEL_CORE_REMOTE : LEVEL_CORE;
	if (remote)
		return LEVEL_CORE_REMOTE;
	if ((v->known & levels) == levels)
		return LEVEL_OTHER;
	return v->known & FACT_MASK(FACT_L1HIT) ? LEVEL_BEYOND_L1 : LEVEL_UNTOLD;
}

const char *memory_level_name(unsigned level)
{
	return level_names[level];
}

unsigned memory_tlb(const struct profile *p, const struct access *a)
{
	const struct vector *v = &p->vectors.v[a->vector];
	const uint64_t first = FACT_MASK(FACT_L1TLBMISS), last = FACT_MASK(FACT_L2TLBMISS);

	if (v->known & v->value & last)
		return TLB_WALK;
	if (v->known & v->value & first)
		return v->known & last ? TLB_SECOND : TLB_MISS;
	if (v->known & first)
		return TLB_FIRST;
	return v->known & last ? TLB_EITHER : TLB_UNTOLD;
}

const char *memory_tlb_name(unsigned tlb)
{
	return tlb_names[tlb];
}

const char *memory_latency_name(struct memory_namer *n, uint32_t class)
{
	const uint64_t first = class ? 1ull << (class - 1) : 0;
	char text[48];

	if (!class)
		return MEMORY_UNTOLD;
	if (class == 1)
		return "0-1";
	snprintf(text, sizeof(text), "%" PRIu64 "-%" PRIu64, first, first + (first - 1));
	return arena_strdup(n->arena, text);
}

const char *memory_node_name(struct memory_namer *n, uint64_t node, uint64_t cpu_node)
{
	_str_ struct str s = {0};

	if (node)
		str_addf(&s, "node %" PRIu64, node - 1);
	else
		str_add(&s, "node not told");
	if (cpu_node)
		str_addf(&s, ", from node %" PRIu64, cpu_node - 1);
	return arena_strdup(n->arena, str_get(&s));
}

/* --- objects --- */

static enum memory_way find_way(struct memory_namer *n, const struct place *pl)
{
	uint8_t bytes[MOST_INSN];
	uint16_t machine = 0;
	const size_t n_bytes = resolver_code_at(n->q->resolver, &n->q->profile->images.v[pl->image],
						pl->svma, bytes, sizeof(bytes), &machine);
	const struct insn_uses u = insn_uses_of(machine, bytes, n_bytes);

	return u.is_known && u.tls ? WAY_TLS : u.is_known && u.stack ? WAY_STACK : WAY_OTHER;
}

static enum memory_way way_of(struct memory_namer *n, place_id place)
{
	if (!n->ways)
		n->ways = xcalloc(n->q->profile->places.n, sizeof(*n->ways));
	if (n->ways[place] == WAY_UNASKED)
		n->ways[place] = (uint8_t)find_way(n, &n->q->profile->places.v[place]);
	return n->ways[place];
}

uint64_t memory_object(struct memory_namer *n, const struct access *a)
{
	const struct place *data = &n->q->profile->places.v[a->data];
	const struct image *im = &n->q->profile->images.v[data->image];
	struct procedure found;

	if (im->kind == IMAGE_ANON)
		return strcmp(im->path, "[anon]") == 0 ? way_of(n, a->place) : WAY_OTHER;
	return resolver_find_data(n->q->resolver, im, data->svma, 1, &found) ? found.start
									     : NO_OBJECT;
}

static const char *image_name(struct memory_namer *n, image_id image)
{
	return query_image_name(n->q, image);
}

void memory_name_object(struct memory_namer *n, image_id image, uint64_t object,
			struct memory_row *ret)
{
	const struct image *im = &n->q->profile->images.v[image];
	struct procedure found;

	if (im->kind == IMAGE_ANON) {
		ret->name = object == WAY_TLS	  ? "[thread-local]"
			    : object == WAY_STACK ? "[stack of a thread]"
						  : im->path;
		return;
	}
	ret->image = image_name(n, image);
	ret->name = "[other data]";
	ret->start = object == NO_OBJECT ? 0 : object;
	if (object != NO_OBJECT && resolver_find_data(n->q->resolver, im, object, 1, &found))
		ret->name = found.name;
}

void memory_name_data(struct memory_namer *n, image_id image, uint64_t svma, uint64_t n_bytes,
		      struct memory_row *ret)
{
	const struct image *im = &n->q->profile->images.v[image];
	_str_ struct str s = {0};
	struct procedure found;

	if (im->kind == IMAGE_ANON) {
		ret->name = im->path;
		return;
	}
	ret->image = image_name(n, image);
	if (!resolver_find_data(n->q->resolver, im, svma, n_bytes, &found)) {
		ret->name = "[other data]";
		return;
	}
	str_add(&s, found.name);
	if (found.start < svma)
		str_addf(&s, "+%#" PRIx64, svma - found.start);
	ret->name = arena_strdup(n->arena, str_get(&s));
}

/* --- procedures --- */

uint64_t memory_procedure(struct memory_namer *n, place_id place)
{
	const struct place *pl = &n->q->profile->places.v[place];
	struct procedure found;

	return resolver_find(n->q->resolver, &n->q->profile->images.v[pl->image], pl->svma, &found)
		       ? found.start
		       : NO_OBJECT;
}

void memory_name_procedure(struct memory_namer *n, image_id image, uint64_t start,
			   struct memory_row *ret)
{
	struct procedure found;

	ret->image = image_name(n, image);
	ret->name = "[no symbol]";
	if (start != NO_OBJECT &&
	    resolver_find(n->q->resolver, &n->q->profile->images.v[image], start, &found)) {
		ret->name = found.name;
		ret->start = start;
	}
}

void memory_name_use(struct memory_namer *n, struct memory_use *u)
{
	const struct place *pl = &n->q->profile->places.v[u->place];
	const struct image *im = &n->q->profile->images.v[pl->image];
	struct resolved_frame frames[RESOLVER_MAX_FRAMES];
	size_t k = resolver_frames(n->q->resolver, im, pl->svma, false, frames, n_elems(frames));

	if (k > n_elems(frames))
		k = n_elems(frames);
	u->procedure = frames[0].name;
	u->image = image_name(n, pl->image);
	u->file = frames[k - 1].file;
	u->line = frames[k - 1].line;
}
