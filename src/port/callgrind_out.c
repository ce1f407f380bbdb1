/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples in callgrind's format (docs/formats/callgrind.md): costs by function, instruction and
 * line, and calls with what was below them.
 *
 * What a call has below it counts a sample once, however often the call is on the path.  So the
 * tree of call paths is walked once, from the root down, and a call adds all that is below a node
 * only where it is not on the path to that node already:
 *
 *     main -> f -> g -> f -> g: 5 samples      f -> g has 5 below the first g, and none below the
 *                                              second */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "port/exporters.h"

/* Something with costs: a line of a place by itself, or a call from it to CALLEE. */
struct cost {
	uint32_t function, line, callee; /* LINE: of struct stacks; CALLEE NO_CALLEE: its own */
	uint64_t svma;
	uint32_t on_path; /* how often it is on the path to the node that is walked */
};
#define NO_CALLEE UINT32_MAX
#define NO_COST	  UINT32_MAX

struct callgrind_out {
	const struct stacks *s;
	struct str *out;
	VEC(struct cost) costs;
	VEC(uint64_t) amounts; /* columns of each */
	struct index index;
	uint64_t *below;	   /* by node: columns of it and of all below it */
	uint32_t *child, *sibling; /* by node: the first below it, the next beside it; 0: none */
	uint32_t *calls;	   /* by node: the call to it, NO_COST of nodes below the root */
	uint32_t *inlined;	   /* by line: its call of the line inside it; NO_COST: none yet */
	bool *named_function, *named_image;
	struct index file_ix;
	VEC(const char *) files;
};

static bool same_cost(const void *owner, uint32_t i, const void *key)
{
	const struct cost *a = &((const struct callgrind_out *)owner)->costs.v[i], *b = key;

	return a->function == b->function && a->callee == b->callee && a->svma == b->svma &&
	       a->line == b->line;
}

static uint32_t intern_cost(struct callgrind_out *o, const struct cost *key)
{
	const uint64_t hash = hash_pair(
		hash_pair(key->svma, (uint64_t)key->function << 32 | key->line), key->callee);
	uint32_t i = index_find(&o->index, hash, same_cost, o, key);
	const size_t n = o->s->columns.n;

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)o->costs.n;
	vec_push(&o->costs, *key);
	index_add(&o->index, hash, i);
	vec_reserve(&o->amounts, n + 1);
	memset(o->amounts.v + o->amounts.n, 0, n * sizeof(*o->amounts.v));
	o->amounts.n += n;
	return i;
}

static uint32_t line_cost(struct callgrind_out *o, uint32_t line, uint64_t svma, uint32_t callee)
{
	return intern_cost(o, &(struct cost){o->s->lines.v[line].function, line, callee, svma, 0});
}

static void add_amounts(struct callgrind_out *o, uint32_t cost, const uint64_t *amounts)
{
	const size_t n = o->s->columns.n;

	for (size_t c = 0; c < n; c++)
		o->amounts.v[cost * n + c] += amounts[c];
}

static void enter_call(struct callgrind_out *o, uint32_t cost, uint32_t node)
{
	if (!o->costs.v[cost].on_path++)
		add_amounts(o, cost, o->below + (size_t)node * o->s->columns.n);
}

/* The calls that lead to NODE from the one above it, outermost first: of its function, and of those
 * that are inlined there. */
static void enter_node(struct callgrind_out *o, uint32_t node)
{
	const struct stacks *s = o->s;
	const struct stack_place *pl = &s->places.v[s->nodes.v[node].place], *up;
	const uint32_t parent = s->nodes.v[node].parent;

	if (parent) {
		up = &s->places.v[s->nodes.v[parent].place];
		o->calls[node] = line_cost(o, up->first_line, up->svma,
					   s->lines.v[pl->first_line + pl->n_lines - 1].function);
		enter_call(o, o->calls[node], node);
	}
	for (uint32_t i = pl->first_line + pl->n_lines; --i > pl->first_line;) {
		if (o->inlined[i] == NO_COST)
			o->inlined[i] = line_cost(o, i, pl->svma, s->lines.v[i - 1].function);
		enter_call(o, o->inlined[i], node);
	}
}

static void leave_node(struct callgrind_out *o, uint32_t node)
{
	const struct stack_place *pl = &o->s->places.v[o->s->nodes.v[node].place];

	if (o->calls[node] != NO_COST)
		o->costs.v[o->calls[node]].on_path--;
	for (uint32_t i = pl->first_line + pl->n_lines; --i > pl->first_line;)
		o->costs.v[o->inlined[i]].on_path--;
}

/* Samples of a node itself: at its innermost line. */
static void add_own(struct callgrind_out *o, size_t value)
{
	const struct stacks *s = o->s;
	const uint32_t node = s->values.v[value].node;
	const struct stack_place *pl = &s->places.v[s->nodes.v[node].place];
	const uint64_t *amounts = stacks_amounts(s, value);

	if (node)
		add_amounts(o, line_cost(o, pl->first_line, pl->svma, NO_CALLEE), amounts);
	for (size_t c = 0; c < s->columns.n; c++)
		o->below[node * s->columns.n + c] += amounts[c];
}

/* Sums up the tree, and its children's lists; nodes have their parents before them. */
static void make_tree(struct callgrind_out *o)
{
	const struct stacks *s = o->s;

	for (uint32_t n = (uint32_t)s->nodes.n; n-- > 1;) {
		const uint32_t parent = s->nodes.v[n].parent;

		for (size_t c = 0; c < s->columns.n; c++)
			o->below[parent * s->columns.n + c] += o->below[n * s->columns.n + c];
		o->sibling[n] = o->child[parent];
		o->child[parent] = n;
	}
}

static void walk_tree(struct callgrind_out *o)
{
	const struct stacks *s = o->s;
	uint32_t at = o->child[0];

	while (at) {
		enter_node(o, at);
		if (o->child[at]) {
			at = o->child[at];
			continue;
		}
		for (; at; at = s->nodes.v[at].parent) {
			leave_node(o, at);
			if (o->sibling[at])
				break;
		}
		at = o->sibling[at];
	}
}

static uint32_t *no_costs(size_t n)
{
	uint32_t *ret = xmalloc((n + 1) * sizeof(*ret));

	memset(ret, 0xff, (n + 1) * sizeof(*ret));
	return ret;
}

static void find_costs(struct callgrind_out *o)
{
	const struct stacks *s = o->s;

	o->below = xcalloc(s->nodes.n * s->columns.n + 1, sizeof(*o->below));
	o->child = xcalloc(s->nodes.n + 1, sizeof(*o->child));
	o->sibling = xcalloc(s->nodes.n + 1, sizeof(*o->sibling));
	o->calls = no_costs(s->nodes.n);
	o->inlined = no_costs(s->lines.n);
	for (size_t i = 0; i < s->values.n; i++)
		add_own(o, i);
	make_tree(o);
	walk_tree(o);
	free(o->below);
	free(o->child);
	free(o->sibling);
	free(o->calls);
	free(o->inlined);
}

static int compare_costs(const void *a, const void *b, void *arg)
{
	const struct cost *v = arg, *x = v + *(const uint32_t *)a, *y = v + *(const uint32_t *)b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->svma != y->svma)
		return x->svma < y->svma ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->callee > y->callee ? -1 : x->callee < y->callee; /* its own first */
}

static bool same_file(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct callgrind_out *)owner)->files.v[i], key) == 0;
}

static void put_id(struct callgrind_out *o, const char *key, uint32_t id)
{
	str_add(o->out, key);
	str_add(o->out, "=(");
	str_addu(o->out, id);
	str_addc(o->out, ')');
}

/* "KEY=(ID) NAME" the first time, "KEY=(ID)" later. */
static void put_file(struct callgrind_out *o, const char *key, const char *file)
{
	const uint64_t hash = hash_str(file);
	uint32_t i = index_find(&o->file_ix, hash, same_file, o, file);

	if (i != INDEX_NONE) {
		put_id(o, key, i + 1);
		str_addc(o->out, '\n');
		return;
	}
	i = (uint32_t)o->files.n;
	vec_push(&o->files, file);
	index_add(&o->file_ix, hash, i);
	put_id(o, key, i + 1);
	str_addc(o->out, ' ');
	text_add_line(o->out, *file ? file : "???");
	str_addc(o->out, '\n');
}

static void put_function(struct callgrind_out *o, uint32_t id, const char *ob, const char *fl,
			 const char *fn)
{
	const struct stack_function *f = &o->s->functions.v[id];
	const uint32_t im = f->image == STACK_NO_IMAGE ? (uint32_t)o->s->images.n : f->image;

	put_id(o, ob, im + 1);
	if (!o->named_image[im]) {
		str_addc(o->out, ' ');
		text_add_line(o->out, im < o->s->images.n ? o->s->images.v[im].path : "???");
		o->named_image[im] = true;
	}
	str_addc(o->out, '\n');
	put_file(o, fl, f->file);
	put_id(o, fn, id + 1);
	if (!o->named_function[id]) {
		str_addc(o->out, ' ');
		text_add_line(o->out, f->name);
		o->named_function[id] = true;
	}
	str_addc(o->out, '\n');
}

static void put_position(struct callgrind_out *o, const struct cost *c, uint32_t i)
{
	const size_t n = o->s->columns.n;

	str_add(o->out, "0x");
	str_addx(o->out, c->svma);
	str_addc(o->out, ' ');
	str_addu(o->out, o->s->lines.v[c->line].line);
	for (size_t k = 0; k < n; k++) {
		str_addc(o->out, ' ');
		str_addu(o->out, o->amounts.v[i * n + k]);
	}
	str_addc(o->out, '\n');
}

static void put_costs(struct callgrind_out *o, struct out_stream *stream)
{
	_mem_ uint32_t *order = xmalloc(o->costs.n * sizeof(*order) + 1);
	const char *file = NULL;
	uint32_t function = NO_CALLEE;

	for (uint32_t i = 0; i < o->costs.n; i++)
		order[i] = i;
	if (o->costs.n > 1)
		qsort_r(order, o->costs.n, sizeof(*order), compare_costs, o->costs.v);
	for (size_t i = 0; i < o->costs.n; i++) {
		const struct cost *c = &o->costs.v[order[i]];
		const char *at = o->s->lines.v[c->line].file;

		if (c->function != function) {
			str_addc(o->out, '\n');
			put_function(o, c->function, "ob", "fl", "fn");
			function = c->function;
			file = o->s->functions.v[function].file;
		}
		if (*at && strcmp(at, file) != 0) {
			put_file(o, "fi", at);
			file = at;
		}
		if (c->callee != NO_CALLEE) {
			const struct stack_function *to = &o->s->functions.v[c->callee];

			put_function(o, c->callee, "cob", "cfi", "cfn");
			str_add(o->out, "calls=1 0x");
			str_addx(o->out, to->svma);
			str_addc(o->out, ' ');
			str_addu(o->out, to->line);
			str_addc(o->out, '\n');
		}
		put_position(o, c, order[i]);
		out_stream_settle(stream);
	}
}

/* Names of events have no blanks in this format. */
static void put_events(struct callgrind_out *o)
{
	str_add(o->out, "events:");
	vec_each (c, &o->s->columns) {
		str_addc(o->out, ' ');
		for (const char *p = c->name; *p; p++)
			str_addc(o->out, (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
							 (*p >= 'A' && *p <= 'Z')
						 ? *p
						 : '_');
	}
	str_add(o->out, "\nsummary:");
	vec_each (c, &o->s->columns)
		str_addf(o->out, " %" PRIu64, c->total);
	str_addc(o->out, '\n');
}

int callgrind_out_write(const struct stacks *s, struct out_stream *out, struct exporter_result *ret,
			struct err *err)
{
	struct callgrind_out o = {.s = s, .out = &out->text};

	(void)err;
	o.named_function = xcalloc(s->functions.n + 1, sizeof(*o.named_function));
	o.named_image = xcalloc(s->images.n + 2, sizeof(*o.named_image));
	find_costs(&o);
	str_add(o.out, "# callgrind format\nversion: 1\ncreator: dwell\n");
	if (*s->command) {
		str_add(o.out, "cmd: ");
		text_add_line(o.out, s->command);
		str_addc(o.out, '\n');
	}
	str_add(o.out, "positions: instr line\n");
	put_events(&o);
	put_costs(&o, out);
	ret->n = s->columns.v[s->main_column].total;
	vec_release(&o.costs);
	vec_release(&o.amounts);
	vec_release(&o.files);
	index_release(&o.index);
	index_release(&o.file_ix);
	free(o.named_function);
	free(o.named_image);
	return 0;
}
