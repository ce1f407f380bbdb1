/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples of one program as the text of LLVM's sample profiles (docs/formats/autofdo.md).
 *
 * A function's lines are counted from the line where it is defined, so that a profile outlives
 * changes elsewhere in the file.  What was inlined into a function has its lines below the line of
 * the call:
 *
 *     hot:60:0             60 samples in hot and what is inlined into it
 *      3: 20               20 three lines below hot's first
 *      4: add:40           40 in add, called four lines below it
 *       1.2: 40            ... one line below add's first, in block 2 of that line */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "port/exporters.h"

/* A function, or a call of it that is inlined at OFFSET of PARENT. */
struct fdo_node {
	uint32_t parent; /* NO_FDO_NODE: a function */
	uint32_t function, offset, discriminator;
	uint64_t total, head;
};
#define NO_FDO_NODE UINT32_MAX

struct fdo_count {
	uint32_t node, offset, discriminator;
	uint64_t n;
};

struct autofdo_out {
	const struct stacks *s;
	struct out_stream *out;
	uint32_t image;
	VEC(struct fdo_node) nodes;
	VEC(struct fdo_count) counts;
	struct index node_ix, count_ix;
	uint32_t *first_count, *first_child; /* by node, in the sorted order */
	uint64_t n, n_elsewhere;
};

/* LLVM packs three numbers into a discriminator; the lowest, coded with a prefix, tells apart the
 * blocks of a line (llvm/include/llvm/IR/DebugInfoMetadata.h,
 * getBaseDiscriminatorFromDiscriminator). */
static uint32_t base_discriminator(uint32_t d)
{
	if (d & 1)
		return 0;
	d >>= 1;
	return d & 0x20 ? (d >> 1 & 0xfe0) | (d & 0x1f) : d & 0x1f;
}

static bool same_fdo_node(const void *owner, uint32_t i, const void *key)
{
	const struct autofdo_out *o = owner;
	const struct fdo_node *a = &o->nodes.v[i], *b = key;

	return a->parent == b->parent && a->offset == b->offset &&
	       a->discriminator == b->discriminator &&
	       strcmp(o->s->functions.v[a->function].linked,
		      o->s->functions.v[b->function].linked) == 0;
}

static uint32_t intern_fdo_node(struct autofdo_out *o, const struct fdo_node *key)
{
	const uint64_t hash =
		hash_pair(hash_pair(key->parent, (uint64_t)key->offset << 32 | key->discriminator),
			  hash_str(o->s->functions.v[key->function].linked));
	uint32_t i = index_find(&o->node_ix, hash, same_fdo_node, o, key);

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)o->nodes.n;
	vec_push(&o->nodes, *key);
	index_add(&o->node_ix, hash, i);
	return i;
}

static bool same_fdo_count(const void *owner, uint32_t i, const void *key)
{
	const struct fdo_count *a = &((const struct autofdo_out *)owner)->counts.v[i], *b = key;

	return a->node == b->node && a->offset == b->offset && a->discriminator == b->discriminator;
}

/* All instructions of a block of a line run equally often, so the most of them counts. */
static void add_fdo_count(struct autofdo_out *o, const struct fdo_count *key)
{
	const uint64_t hash =
		hash_pair(key->node, (uint64_t)key->offset << 32 | key->discriminator);
	uint32_t i = index_find(&o->count_ix, hash, same_fdo_count, o, key);

	if (i == INDEX_NONE) {
		i = (uint32_t)o->counts.n;
		vec_push(&o->counts, *key);
		index_add(&o->count_ix, hash, i);
	} else if (o->counts.v[i].n < key->n) {
		o->counts.v[i].n = key->n;
	}
}

/* The line of L from its function's first; false when one of them is not known. */
static bool line_offset(const struct stacks *s, const struct stack_line *l, uint32_t *ret)
{
	const uint32_t first = s->functions.v[l->function].line;

	*ret = (l->line - first) & 0xffff; /* as FunctionSamples::getOffset has it */
	return l->line && first;
}

static void add_fdo_run(struct autofdo_out *o, const struct stack_run *r)
{
	const struct stacks *s = o->s;
	const struct stack_place *pl = &s->places.v[r->place];
	uint32_t node = NO_FDO_NODE, offset = 0, discriminator = 0;

	for (uint32_t k = pl->n_lines; k--;) {
		const struct stack_line *l = &s->lines.v[pl->first_line + k];

		node = intern_fdo_node(
			o, &(struct fdo_node){node, l->function, offset, discriminator, 0, 0});
		if (r->is_entry && k + 1 == pl->n_lines && o->nodes.v[node].head < r->n)
			o->nodes.v[node].head = r->n;
		if (!line_offset(s, l, &offset))
			return;
		discriminator = base_discriminator(l->discriminator);
	}
	if (r->n)
		add_fdo_count(o, &(struct fdo_count){node, offset, discriminator, r->n});
}

/* What a function's lines, and those of what is inlined into it, have in all. */
static void add_fdo_totals(struct autofdo_out *o)
{
	vec_each (c, &o->counts)
		for (uint32_t n = c->node; n != NO_FDO_NODE; n = o->nodes.v[n].parent)
			o->nodes.v[n].total += c->n;
}

static void count_fdo_samples(struct autofdo_out *o)
{
	const struct stacks *s = o->s;

	for (size_t i = 0; i < s->values.n; i++) {
		const uint64_t n = stacks_amounts(s, i)[s->main_column];

		if (s->places.v[s->nodes.v[s->values.v[i].node].place].image == o->image)
			o->n += n;
		else
			o->n_elsewhere += n;
	}
}

static int compare_fdo_counts(const void *a, const void *b)
{
	const struct fdo_count *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->discriminator < y->discriminator ? -1 : x->discriminator > y->discriminator;
}

/* Functions by falling total, what is inlined below its caller by where. */
static int compare_fdo_nodes(const void *a, const void *b, void *arg)
{
	const struct autofdo_out *o = arg;
	const struct fdo_node *x = &o->nodes.v[*(const uint32_t *)a],
			      *y = &o->nodes.v[*(const uint32_t *)b];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->discriminator != y->discriminator)
		return x->discriminator < y->discriminator ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return strcmp(o->s->functions.v[x->function].linked, o->s->functions.v[y->function].linked);
}

static void put_offset(struct str *out, unsigned depth, uint32_t offset, uint32_t discriminator)
{
	for (unsigned i = 0; i < depth; i++)
		str_addc(out, ' ');
	str_addf(out, "%" PRIu32, offset);
	if (discriminator)
		str_addf(out, ".%" PRIu32, discriminator);
	str_add(out, ": ");
}

/* Copies of a function that the compiler made are the function: their suffixes are cut, as LLVM
 * does. */
static void put_fdo_name(struct str *out, const char *linked)
{
	static const char *const suffixes[] = {".cold",	      ".part.", ".isra.",
					       ".constprop.", ".llvm.", ".__uniq."};
	size_t n = strlen(linked);

	for (size_t i = 0; i < n_elems(suffixes); i++) {
		const char *at = strstr(linked, suffixes[i]);

		if (at && at > linked && (size_t)(at - linked) < n)
			n = (size_t)(at - linked);
	}
	for (size_t i = 0, skip; i < n; i += skip ? skip : 1) {
		skip = text_control(linked + i);
		str_addc(out, skip ? '?' : linked[i]);
	}
}

/* Writes node N; ORDER has all nodes sorted, those of one parent together. */
static void put_fdo_node(struct autofdo_out *o, const uint32_t *order, uint32_t n, unsigned depth)
{
	const struct fdo_node *node = &o->nodes.v[n];
	struct str *out = &o->out->text;

	if (!node->total)
		return;
	if (depth)
		put_offset(out, depth, node->offset, node->discriminator);
	put_fdo_name(out, o->s->functions.v[node->function].linked);
	str_addf(out, ":%" PRIu64, node->total);
	if (!depth)
		str_addf(out, ":%" PRIu64, node->head);
	str_addc(out, '\n');
	for (uint32_t i = o->first_count[n]; i < o->counts.n && o->counts.v[i].node == n; i++) {
		const struct fdo_count *c = &o->counts.v[i];

		put_offset(out, depth + 1, c->offset, c->discriminator);
		str_addf(out, "%" PRIu64 "\n", c->n);
	}
	out_stream_settle(o->out);
	for (uint32_t i = o->first_child[n]; i < o->nodes.n && o->nodes.v[order[i]].parent == n;
	     i++)
		put_fdo_node(o, order, order[i], depth + 1);
}

static void put_fdo_nodes(struct autofdo_out *o)
{
	_mem_ uint32_t *order = xmalloc(o->nodes.n * sizeof(*order) + 1);
	const uint32_t n = (uint32_t)o->nodes.n;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (n > 1)
		qsort_r(order, n, sizeof(*order), compare_fdo_nodes, o);
	vec_sort(&o->counts, compare_fdo_counts);
	o->first_count = xmalloc((n + 1) * sizeof(*o->first_count));
	o->first_child = xmalloc((n + 1) * sizeof(*o->first_child));
	memset(o->first_count, 0xff, (n + 1) * sizeof(*o->first_count));
	memset(o->first_child, 0xff, (n + 1) * sizeof(*o->first_child));
	for (uint32_t i = (uint32_t)o->counts.n; i--;)
		o->first_count[o->counts.v[i].node] = i;
	for (uint32_t i = n; i--;)
		if (o->nodes.v[order[i]].parent != NO_FDO_NODE)
			o->first_child[o->nodes.v[order[i]].parent] = i;
	for (uint32_t i = 0; i < n; i++)
		if (o->nodes.v[order[i]].parent == NO_FDO_NODE)
			put_fdo_node(o, order, order[i], 0);
}

int autofdo_out_write(const struct stacks *s, struct out_stream *out, struct exporter_result *ret,
		      struct err *err)
{
	struct autofdo_out o = {.s = s, .out = out, .image = (uint32_t)stacks_program(s)};
	const char *path = o.image < s->images.n ? s->images.v[o.image].path : "";
	int rc = 0;

	count_fdo_samples(&o);
	vec_each (r, &s->runs)
		add_fdo_run(&o, r);
	add_fdo_totals(&o);
	if (!o.counts.n)
		rc = err_set(err, -ENOENT, "no sample in %s has a line: it needs DWARF (-g)", path);
	else
		put_fdo_nodes(&o);
	if (rc >= 0 && o.n_elsewhere)
		str_addf(&ret->notes, "%s: %" PRIu64 " samples are in other images and left out\n",
			 path, o.n_elsewhere);
	ret->n = o.n;
	vec_release(&o.nodes);
	vec_release(&o.counts);
	index_release(&o.node_ix);
	index_release(&o.count_ix);
	free(o.first_count);
	free(o.first_child);
	return rc;
}
