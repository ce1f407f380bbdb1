/* SPDX-License-Identifier: BSD-2-Clause */
/* See runs.h.
 *
 * Samples of time say how long instructions took, compilers ask how often they ran.  A block's
 * instructions all run equally often, so its samples are added up and divided by how many
 * instructions it has: what one slow instruction gathered, or the next one for it (skid), is spread
 * over the block.
 *
 * Example: a block of four instructions with 2, 0, 30 and 8 samples ran 40 / 4 = 10 times some
 * constant; so did each line in it.
 *
 * Branch stacks tell more.  Code runs from the target of one jump to the next jump, so an address
 * ran as often as jumps went to it or before it, less the jumps from before it: within a procedure,
 * for no such range leaves one.  Jumps are kept as sums, so the target of a stack's newest jump and
 * the source of its oldest one have no partner.  They are where any other ends of ranges are, so
 * that they add to all code alike, in stacks of 32 a 32nd.
 *
 * Example: 10 jumps to 0x100, 4 from 0x108 to elsewhere, 3 to 0x110, 9 from 0x118.  [0x100, 0x108]
 * ran 10 times, what follows 6 times, [0x110, 0x118] 9 times. */
#include "query/samples/runs.h"

#include <stdlib.h>

#include "base/lower_bound.h"
#include "resolve/block_counts.h"

#define RUN_SCALE 1000 /* of samples an instruction, which are whole numbers in files */

struct run_sample {
	uint64_t svma, n;
};

struct run_filler {
	struct query *q;
	const struct image *im;
	uint32_t image; /* of TO */
	struct stacks *to;
	struct index functions; /* of TO, by linked name; those added here alone */
	VEC(struct run_sample) samples;
	run_ends ends; /* of ranges */
	resolved_blocks blocks;
	resolved_starts starts;
};

static int compare_run_samples(const void *a, const void *b)
{
	const struct run_sample *x = a, *y = b;

	return (x->svma > y->svma) - (x->svma < y->svma);
}

static void gather_run_samples(struct run_filler *f)
{
	const struct stacks *to = f->to;

	for (size_t i = 0; i < to->values.n; i++) {
		const struct stack_place *pl =
			&to->places.v[to->nodes.v[to->values.v[i].node].place];
		const uint64_t n = stacks_amounts(to, i)[to->main_column];

		if (n && pl->image == f->image)
			vec_push(&f->samples, (struct run_sample){pl->svma, n});
	}
	vec_sort(&f->samples, compare_run_samples);
}

static bool same_run_function(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct stacks *)owner)->functions.v[i].linked, key) == 0;
}

static uint32_t run_function(struct run_filler *f, const struct resolved_site *site)
{
	struct stacks *to = f->to;
	const uint64_t hash = hash_str(site->linked);
	uint32_t i = index_find(&f->functions, hash, same_run_function, to, site->linked);
	const char *name;

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)to->functions.n;
	name = arena_strdup(&to->arena, site->linked);
	vec_push(&to->functions, (struct stack_function){.name = name,
							 .linked = name,
							 .file = "",
							 .line = site->start_line,
							 .image = f->image});
	index_add(&f->functions, hash, i);
	return i;
}

/* Adds a run at SVMA of procedure PROC; nothing where its line is not known. */
static void add_run(struct run_filler *f, const char *proc, uint64_t svma, uint64_t n,
		    bool is_entry)
{
	struct resolved_site sites[RESOLVER_MAX_FRAMES];
	struct stacks *to = f->to;
	const size_t n_sites = resolver_sites(f->q->resolver, f->im, svma, sites, n_elems(sites));
	const struct stack_place new = {.image = f->image,
					.svma = svma,
					.first_line = (uint32_t)to->lines.n,
					.n_lines = (uint32_t)n_sites};

	if (!n_sites || !sites[n_sites - 1].line)
		return;
	sites[0].linked = proc;
	for (size_t i = n_sites; i--;)
		vec_push(&to->lines, (struct stack_line){run_function(f, &sites[i]), sites[i].line,
							 "", sites[i].discriminator});
	vec_push(&to->runs, (struct stack_run){(uint32_t)to->places.n, n, is_entry});
	vec_push(&to->places, new);
}

static void add_runs(struct run_filler *f, const char *proc, uint64_t start, uint64_t end,
		     uint64_t n, bool is_entry)
{
	f->starts.n = 0;
	resolver_line_starts(f->q->resolver, f->im, start, end, &f->starts);
	for (size_t i = 0; i < f->starts.n; i++)
		add_run(f, proc, f->starts.v[i], n, is_entry && i == 0);
}

/* The samples of [START, END). */
static uint64_t run_samples_in(const struct run_filler *f, uint64_t start, uint64_t end)
{
	uint64_t n = 0;

	for (size_t i = lower_bound(k, 0, f->samples.n, f->samples.v[k].svma < start);
	     i < f->samples.n && f->samples.v[i].svma < end; i++)
		n += f->samples.v[i].n;
	return n;
}

/* The runs of procedure P, which has samples. */
static void add_procedure_runs(struct run_filler *f, const struct procedure *p)
{
	f->blocks.n = 0;
	if (resolver_blocks(f->q->resolver, f->im, p->start, &f->blocks) >= 0) {
		vec_each (b, &f->blocks) {
			const uint64_t n = run_samples_in(f, b->start, b->end);

			if (n)
				add_runs(f, p->name, b->start, b->end, n * RUN_SCALE / b->n_insns,
					 b->is_entry);
		}
		return;
	}
	vec_each (s, &f->samples)
		if (s->svma - p->start < p->end - p->start)
			add_run(f, p->name, s->svma, s->n * RUN_SCALE, s->svma == p->start);
}

static void add_sampled_runs(struct run_filler *f)
{
	const struct symtab *st = resolver_image(f->q->resolver, f->im)->symtab;
	uint64_t end = 0;

	for (size_t i = 0; i < f->samples.n; i++) {
		const uint64_t svma = f->samples.v[i].svma;
		const uint32_t proc = svma < end ? PROC_NONE : symtab_find(st, svma);
		struct procedure p;

		if (proc == PROC_NONE)
			continue;
		p = symtab_get(st, proc);
		add_procedure_runs(f, &p);
		end = p.end;
	}
}

static void add_run_end(struct run_filler *f, uint32_t place, int64_t n)
{
	const struct stack_place *pl = &f->to->places.v[place];

	if (pl->image == f->image && n)
		vec_push(&f->ends, (struct run_end){pl->svma + (n < 0), n});
}

static int compare_run_ends(const void *a, const void *b)
{
	const struct run_end *x = a, *y = b;

	if (x->svma != y->svma)
		return x->svma < y->svma ? -1 : 1;
	return (x->n > y->n) - (x->n < y->n); /* ends first: the next procedure may begin here */
}

/* The runs of procedure P, whose ends of ranges are [I, END). */
static void add_procedure_ranges(struct run_filler *f, const struct procedure *p, size_t i,
				 size_t end)
{
	int64_t n = 0;

	for (size_t next; i < end; i = next) {
		const uint64_t svma = f->ends.v[i].svma;
		int64_t n_to = 0;

		for (next = i; next < end && f->ends.v[next].svma == svma; next++) {
			n += f->ends.v[next].n;
			n_to += f->ends.v[next].n > 0 ? f->ends.v[next].n : 0;
		}
		n = n < 0 ? 0 : n;
		if (n && next < end)
			add_runs(f, p->name, svma, f->ends.v[next].svma, (uint64_t)n, false);
		if (svma == p->start && n_to)
			add_run(f, p->name, svma, (uint64_t)n_to, true);
	}
}

static void add_ranges(struct run_filler *f)
{
	const struct symtab *st = resolver_image(f->q->resolver, f->im)->symtab;

	vec_each (b, &f->to->branches) {
		add_run_end(f, b->to, (int64_t)(b->count - b->n_newest));
		add_run_end(f, b->from, -(int64_t)(b->count - b->n_oldest));
	}
	vec_sort(&f->ends, compare_run_ends);
	for (size_t i = 0, next; i < f->ends.n; i = next) {
		const uint32_t proc = symtab_find(st, f->ends.v[i].svma);
		struct procedure p;

		next = i + 1;
		if (proc == PROC_NONE)
			continue;
		p = symtab_get(st, proc);
		while (next < f->ends.n && f->ends.v[next].svma < p.end + (f->ends.v[next].n < 0))
			next++;
		add_procedure_ranges(f, &p, i, next);
	}
}

void samples_runs(struct query *q, struct stacks *to)
{
	struct run_filler f = {.q = q, .to = to, .image = (uint32_t)stacks_program(to)};

	if (f.image >= to->images.n)
		return;
	for (image_id im = 0; im < q->profile->images.n; im++)
		if (q->profile->images.v[im].path == to->images.v[f.image].path)
			f.im = &q->profile->images.v[im];
	if (!f.im)
		return;
	add_ranges(&f);
	if (!to->runs.n) {
		gather_run_samples(&f);
		add_sampled_runs(&f);
	}
	resolver_rest(q->resolver, f.im);
	vec_release(&f.samples);
	vec_release(&f.ends);
	vec_release(&f.blocks);
	vec_release(&f.starts);
	index_release(&f.functions);
}
