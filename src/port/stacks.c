/* SPDX-License-Identifier: BSD-2-Clause */
/* See stacks.h. */
#include "port/stacks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "model/container.h"

void stacks_release(struct stacks *s)
{
	vec_release(&s->columns);
	vec_release(&s->images);
	vec_release(&s->functions);
	vec_release(&s->lines);
	vec_release(&s->places);
	vec_release(&s->nodes);
	vec_release(&s->owners);
	vec_release(&s->values);
	vec_release(&s->amounts);
	vec_release(&s->threads);
	vec_release(&s->points);
	vec_release(&s->branches);
	vec_release(&s->runs);
	vec_release(&s->losses);
	arena_release(&s->arena);
	*s = (struct stacks){0};
}

void stacks_frames(const struct stacks *s, uint32_t node, stack_frames *ret)
{
	ret->n = 0;
	for (; node; node = s->nodes.v[node].parent) {
		const struct stack_place *pl = &s->places.v[s->nodes.v[node].place];

		for (uint32_t i = 0; i < pl->n_lines; i++)
			vec_push(ret, pl->first_line + i);
	}
	for (size_t i = 0, k = ret->n; i + 1 < k; i++) {
		const uint32_t other = ret->v[--k];

		ret->v[k] = ret->v[i];
		ret->v[i] = other;
	}
}

struct stacks_owned stacks_by_owner(const struct stacks *s)
{
	struct stacks_owned ret = {xcalloc(s->values.n + 1, sizeof(*ret.order)),
				   xcalloc(s->owners.n + 2, sizeof(*ret.first))};

	/* first[W + 2] counts, then first[W + 1] is where the next value of W goes. */
	vec_each (v, &s->values)
		ret.first[v->owner + 2]++;
	for (size_t w = 2; w < s->owners.n + 2; w++)
		ret.first[w] += ret.first[w - 1];
	for (size_t i = 0; i < s->values.n; i++)
		ret.order[ret.first[s->values.v[i].owner + 1]++] = (uint32_t)i;
	return ret;
}

void stacks_owned_release(struct stacks_owned *o)
{
	free(o->order);
	free(o->first);
}

bool stacks_tells(const struct stacks *s, unsigned c)
{
	return c + 1 == s->columns.n || s->columns.v[c].amount == STACK_WEIGHT ||
	       s->columns.v[c + 1].amount == STACK_SAMPLES;
}

unsigned stacks_main(const struct stacks *s)
{
	return s->main_column + !stacks_tells(s, s->main_column);
}

const char *stacks_bare_name(const char *path, struct arena *arena)
{
	const char *base = str_basename(path);
	_str_ struct str s = {0};

	if (*base == '[')
		return base;
	str_addf(&s, "[%s]", base);
	return arena_strdup(arena, s.v);
}

void stacks_name_owner(const struct stack_owner *o, struct str *ret)
{
	str_add(ret, *o->comm ? o->comm : "[unknown]");
	if (o->pid && o->tid)
		str_addf(ret, " %" PRIu32 "/%" PRIu32, o->pid, o->tid);
	else if (o->pid)
		str_addf(ret, " %" PRIu32, o->pid);
}

const char *stacks_service(const struct stack_owner *o, struct arena *arena)
{
	_mem_ char *name =
		container_service(o->label, o->container[CONTAINER_NAME], o->cgroup, o->comm);

	return arena_strdup(arena, name);
}

/* The number of the largest of N numbers; MANY is set when two are not 0. */
static size_t largest(const uint64_t *v, size_t n, bool *many)
{
	size_t most = 0, n_used = 0;

	for (size_t i = 0; i < n; i++) {
		n_used += v[i] > 0;
		if (v[i] > v[most])
			most = i;
	}
	*many = n_used > 1;
	return most;
}

static bool same_path(const void *owner, uint32_t i, const void *key)
{
	return strcmp(((const struct stacks *)owner)->images.v[i].path, key) == 0;
}

/* Adds to RUN, by image, the amounts of processes that run its file.  N is by owner.  Images of one
 * path have the same amount. */
static void add_run(const struct stacks *s, const uint64_t *n, uint64_t *run)
{
	struct index paths = {0};

	for (uint32_t k = 0; k < s->images.n; k++) {
		const char *path = s->images.v[k].path;

		if (index_find(&paths, hash_str(path), same_path, s, path) == INDEX_NONE)
			index_add(&paths, hash_str(path), k);
	}
	for (uint32_t w = 0; w < s->owners.n; w++) {
		const char *exe = s->owners.v[w].exe;
		const uint32_t k =
			*exe ? index_find(&paths, hash_str(exe), same_path, s, exe) : INDEX_NONE;

		if (k != INDEX_NONE)
			run[k] += n[w];
	}
	for (uint32_t k = 0; k < s->images.n; k++) {
		const char *path = s->images.v[k].path;

		run[k] = run[index_find(&paths, hash_str(path), same_path, s, path)];
	}
	for (uint32_t k = 0; k < s->images.n; k++)
		if (!s->images.v[k].is_used)
			run[k] = 0;
	index_release(&paths);
}

size_t stacks_program(const struct stacks *s)
{
	_mem_ uint64_t *run = xcalloc(s->images.n + 1, sizeof(*run));
	_mem_ uint64_t *own = xcalloc(s->images.n + 1, sizeof(*own));
	_mem_ uint64_t *by_owner = xcalloc(s->owners.n + 1, sizeof(*by_owner));
	size_t most_run, most_own;
	bool many;

	for (size_t i = 0; i < s->values.n; i++) {
		const struct stack_value *v = &s->values.v[i];
		const uint32_t leaf = s->places.v[s->nodes.v[v->node].place].image;
		const uint64_t n = stacks_amounts(s, i)[s->main_column];

		if (leaf != STACK_NO_IMAGE)
			own[leaf] += n;
		by_owner[v->owner] += n;
	}
	add_run(s, by_owner, run);
	most_own = largest(own, s->images.n, &many);
	if (!many)
		return most_own;
	most_run = largest(run, s->images.n, &many);
	if (run[most_run])
		return most_run;
	for (size_t k = 0; k < s->images.n; k++)
		if (s->images.v[k].kind != IMAGE_FILE)
			own[k] = 0;
	return largest(own, s->images.n, &many);
}

static int compare_stack_values(const void *a, const void *b, void *arg)
{
	const struct stack_value *v = arg, *x = v + *(const uint32_t *)a,
				 *y = v + *(const uint32_t *)b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->owner < y->owner ? -1 : x->owner > y->owner;
}

static void sort_stack_values(struct stacks *s)
{
	const size_t n = s->values.n, n_cols = s->columns.n;
	struct stack_value *values = xmalloc(n * sizeof(*values) + 1);
	uint64_t *amounts = xmalloc(n * n_cols * sizeof(*amounts) + 1);
	uint32_t *order = xmalloc(n * sizeof(*order) + 1);

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (n > 1)
		qsort_r(order, n, sizeof(*order), compare_stack_values, s->values.v);
	for (size_t i = 0; i < n; i++) {
		values[i] = s->values.v[order[i]];
		if (n_cols)
			memcpy(amounts + i * n_cols, stacks_amounts(s, order[i]),
			       n_cols * sizeof(*amounts));
	}
	free(order);
	free(s->values.v);
	free(s->amounts.v);
	s->values.v = values;
	s->amounts.v = amounts;
	s->values.cap = n;
	s->amounts.cap = n * n_cols;
}

void stacks_settle(struct stacks *s)
{
	sort_stack_values(s);
	for (size_t i = 0; i < s->amounts.n; i++)
		s->columns.v[i % s->columns.n].total += s->amounts.v[i];
	for (size_t i = 1; i < s->nodes.n; i++)
		s->places.v[s->nodes.v[i].place].is_used = true;
	vec_each (pl, &s->places)
		if (pl->is_used && pl->image != STACK_NO_IMAGE)
			s->images.v[pl->image].is_used = true;
}
