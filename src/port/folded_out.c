/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples as folded stacks (docs/formats/folded.md): a line for each path of names, in order of
 * names, callers before what they call.
 *
 * Places of one procedure have one name, so paths that differ in addresses alone become one:
 *
 *     main 0x401007 -> hot 0x401035: 40      \
 *     main 0x401007 -> hot 0x401039: 2       /  make;main;hot 42
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "port/exporters.h"

#define NO_NAME UINT32_MAX

struct folded_out {
	const struct stacks *s;
	struct out_stream *out;
	struct str texts;    /* of names, each with a NUL behind it */
	VEC(size_t) name_at; /* in TEXTS */
	struct index names;
	uint32_t *name_of;	      /* by line of S; NO_NAME: not made yet */
	uint32_t *order, *rank;	      /* names by their texts; by name */
	VEC(struct stack_node) paths; /* PLACE is a name; 0 is the root, parents first */
	struct index by_path;
	uint32_t *path_of;	 /* by node of S */
	uint32_t *place_in, *at; /* where a path comes, and the other way round */
	VEC(uint32_t) path;	 /* names, innermost first */
};

/* An amount of a path under a command. */
struct folded_amount {
	uint32_t comm, place_in;
	uint64_t n;
};

static const char *name_text(const struct folded_out *o, uint32_t name)
{
	return o->texts.v + o->name_at.v[name];
}

static bool same_name(const void *owner, uint32_t i, const void *key)
{
	return strcmp(name_text(owner, i), key) == 0;
}

/* The name whose text was appended to TEXTS at AT, or the one that has it already. */
static uint32_t settle_name(struct folded_out *o, size_t at)
{
	const char *text = o->texts.v + at;
	const uint64_t hash = hash_str(text);
	uint32_t i = index_find(&o->names, hash, same_name, o, text);

	if (i != INDEX_NONE) {
		o->texts.n = at;
		return i;
	}
	i = (uint32_t)o->name_at.n;
	vec_push(&o->name_at, at);
	str_addc(&o->texts, '\0');
	index_add(&o->names, hash, i);
	return i;
}

static void add_safe_name(struct str *to, const char *name, char blank)
{
	while (*name) {
		const size_t n = text_control(name);

		str_addc(to, n ? '?' : *name == ';' ? ':' : *name == ' ' ? blank : *name);
		name += n ? n : 1;
	}
}

static uint32_t line_name(struct folded_out *o, uint32_t line)
{
	const struct stack_function *f = &o->s->functions.v[o->s->lines.v[line].function];
	const struct stack_image *im =
		f->image == STACK_NO_IMAGE ? NULL : &o->s->images.v[f->image];
	const size_t at = o->texts.n;

	if (o->name_of[line] != NO_NAME)
		return o->name_of[line];
	add_safe_name(&o->texts, f->name, ' ');
	if (o->s->lines.v[line].inlined)
		str_add(&o->texts, "_[i]");
	else if (stacks_is_kernel(o->s, f))
		str_add(&o->texts, "_[k]");
	else if (im && im->kind == IMAGE_JIT)
		str_add(&o->texts, "_[j]");
	o->name_of[line] = settle_name(o, at);
	return o->name_of[line];
}

static uint32_t comm_name(struct folded_out *o, uint32_t owner)
{
	const char *comm = o->s->owners.v[owner].comm;
	const size_t at = o->texts.n;

	add_safe_name(&o->texts, *comm ? comm : "[unknown]", '_');
	return settle_name(o, at);
}

static bool same_path_node(const void *owner, uint32_t i, const void *key)
{
	const struct stack_node *a = &((const struct folded_out *)owner)->paths.v[i], *b = key;

	return a->parent == b->parent && a->place == b->place;
}

static uint32_t intern_path(struct folded_out *o, uint32_t parent, uint32_t name)
{
	const struct stack_node key = {parent, name};
	const uint64_t hash = hash_pair(parent, name);
	uint32_t i = index_find(&o->by_path, hash, same_path_node, o, &key);

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)o->paths.n;
	vec_push(&o->paths, key);
	index_add(&o->by_path, hash, i);
	return i;
}

static void make_paths(struct folded_out *o)
{
	const struct stacks *s = o->s;

	vec_push(&o->paths, (struct stack_node){0});
	o->path_of = xcalloc(s->nodes.n + 1, sizeof(*o->path_of));
	o->name_of = xmalloc((s->lines.n + 1) * sizeof(*o->name_of));
	memset(o->name_of, 0xff, (s->lines.n + 1) * sizeof(*o->name_of));
	for (uint32_t n = 1; n < s->nodes.n; n++) {
		const struct stack_place *pl = &s->places.v[s->nodes.v[n].place];
		uint32_t path = o->path_of[s->nodes.v[n].parent];

		for (uint32_t i = pl->n_lines; i--;)
			path = intern_path(o, path, line_name(o, pl->first_line + i));
		o->path_of[n] = path;
	}
}

static int compare_names(const void *a, const void *b, void *arg)
{
	return strcmp(name_text(arg, *(const uint32_t *)a), name_text(arg, *(const uint32_t *)b));
}

static void sort_names(struct folded_out *o)
{
	const size_t n = o->name_at.n;

	o->order = xmalloc((n + 1) * sizeof(*o->order));
	o->rank = xmalloc((n + 1) * sizeof(*o->rank));
	for (uint32_t i = 0; i < n; i++)
		o->order[i] = i;
	if (n > 1)
		qsort_r(o->order, n, sizeof(*o->order), compare_names, o);
	for (uint32_t i = 0; i < n; i++)
		o->rank[o->order[i]] = i;
}

/* Lists of paths with their heads: one for each of N_LISTS.  0 ends a list. */
struct folded_lists {
	uint32_t *head, *next;
};

static struct folded_lists new_lists(size_t n_lists, size_t n)
{
	return (struct folded_lists){xcalloc(n_lists + 1, sizeof(uint32_t)),
				     xcalloc(n + 1, sizeof(uint32_t))};
}

static void put_first(struct folded_lists *l, uint32_t list, uint32_t i)
{
	l->next[i] = l->head[list];
	l->head[list] = i;
}

static void release_lists(struct folded_lists *l)
{
	free(l->head);
	free(l->next);
}

/* What each path calls, by names: paths are put before those that are there, last names first. */
static struct folded_lists sort_callees(struct folded_out *o)
{
	struct folded_lists named = new_lists(o->name_at.n, o->paths.n);
	struct folded_lists ret = new_lists(o->paths.n, o->paths.n);

	for (uint32_t i = 1; i < o->paths.n; i++)
		put_first(&named, o->paths.v[i].place, i);
	for (size_t k = o->name_at.n; k--;)
		for (uint32_t i = named.head[o->order[k]]; i; i = named.next[i])
			put_first(&ret, o->paths.v[i].parent, i);
	release_lists(&named);
	return ret;
}

static void sort_paths(struct folded_out *o)
{
	struct folded_lists callees = sort_callees(o);
	uint32_t n = 0, i = 0;

	o->place_in = xcalloc(o->paths.n, sizeof(*o->place_in));
	o->at = xcalloc(o->paths.n, sizeof(*o->at));
	do {
		o->at[n] = i;
		o->place_in[i] = n++;
		if (callees.head[i]) {
			i = callees.head[i];
			continue;
		}
		while (i && !callees.next[i])
			i = o->paths.v[i].parent;
		i = callees.next[i];
	} while (i);
	release_lists(&callees);
}

static int compare_amounts(const void *a, const void *b, void *rank)
{
	const struct folded_amount *x = a, *y = b;
	const uint32_t *r = rank;

	if (x->comm != y->comm)
		return r[x->comm] < r[y->comm] ? -1 : 1;
	return x->place_in < y->place_in ? -1 : x->place_in > y->place_in;
}

static void put_folded(struct folded_out *o, const struct folded_amount *a)
{
	struct str *to = &o->out->text;

	o->path.n = 0;
	for (uint32_t i = o->at[a->place_in]; i; i = o->paths.v[i].parent)
		vec_push(&o->path, o->paths.v[i].place);
	if (o->s->has_owners)
		str_add(to, name_text(o, a->comm));
	else if (!o->path.n)
		str_add(to, "[all]");
	for (size_t i = o->path.n; i--;) {
		if (o->s->has_owners || i + 1 < o->path.n)
			str_addc(to, ';');
		str_add(to, name_text(o, o->path.v[i]));
	}
	str_addc(to, ' ');
	str_addu(to, a->n);
	str_addc(to, '\n');
	out_stream_settle(o->out);
}

/* Lines have one number: samples, or what they stand for where each has a weight of its own. */
static unsigned folded_column(const struct stacks *s)
{
	const unsigned c = s->main_column;

	return s->columns.v[c].own_weights ? stacks_main(s) : c;
}

/* Numbers of metrics in seconds, which are nanoseconds here, are written as microseconds. */
static bool is_in_seconds(const struct stack_column *col)
{
	return strcmp(col->unit, "nanoseconds") == 0 && str_ends(col->event, " (sec)");
}

static void put_amounts(struct folded_out *o, struct exporter_result *ret)
{
	const struct stacks *s = o->s;
	const unsigned c = folded_column(s);
	const uint64_t scale = is_in_seconds(&s->columns.v[c]) ? 1000 : 1;
	_mem_ uint32_t *comm_of = xcalloc(s->owners.n + 1, sizeof(*comm_of));
	_vec_ VEC(struct folded_amount) all = {0};
	size_t n = 0;

	for (uint32_t w = 0; w < s->owners.n && s->has_owners; w++)
		comm_of[w] = comm_name(o, w);
	sort_names(o);
	sort_paths(o);
	for (size_t i = 0; i < s->values.n; i++) {
		const struct stack_value *v = &s->values.v[i];
		const uint64_t amount = stacks_amounts(s, i)[c];

		if (amount)
			vec_push(&all,
				 (struct folded_amount){comm_of[v->owner],
							o->place_in[o->path_of[v->node]], amount});
	}
	if (all.n > 1)
		qsort_r(all.v, all.n, sizeof(*all.v), compare_amounts, o->rank);
	for (size_t i = 0; i < all.n; i = n) {
		struct folded_amount a = all.v[i];

		for (n = i + 1;
		     n < all.n && all.v[n].comm == a.comm && all.v[n].place_in == a.place_in; n++)
			a.n += all.v[n].n;
		a.n = (a.n + scale / 2) / scale;
		if (a.n)
			put_folded(o, &a);
		ret->n += a.n;
	}
	if (scale > 1)
		str_addf(&ret->notes, "%s is written as whole microseconds\n",
			 s->columns.v[c].event);
	ret->unit = s->columns.v[c].amount == STACK_SAMPLES ? "samples" : "in all";
}

int folded_out_write(const struct stacks *s, struct out_stream *out, struct exporter_result *ret,
		     struct err *err)
{
	struct folded_out o = {.s = s, .out = out};

	(void)err;
	make_paths(&o);
	put_amounts(&o, ret);
	str_release(&o.texts);
	vec_release(&o.name_at);
	vec_release(&o.paths);
	vec_release(&o.path);
	index_release(&o.names);
	index_release(&o.by_path);
	free(o.name_of);
	free(o.path_of);
	free(o.order);
	free(o.rank);
	free(o.place_in);
	free(o.at);
	return 0;
}
