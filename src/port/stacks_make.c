/* SPDX-License-Identifier: BSD-2-Clause */
/* See stacks_make.h. */
#include "port/stacks_make.h"

#include <stdlib.h>

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

const char *stacks_make_text(struct stacks_maker *m, const char *text, size_t n)
{
	return arena_strndup(&m->s->arena, text, n);
}

void stacks_make_begin(struct stacks_maker *m, struct stacks *s)
{
	*m = (struct stacks_maker){.s = s};
	*s = (struct stacks){.host = "", .command = "", .kernel = "", .input = ""};
	vec_push(&s->functions, (struct stack_function){.name = "[all]",
							.linked = "[all]",
							.file = "",
							.image = STACK_NO_IMAGE,
							.is_mark = true});
	vec_push(&s->lines, (struct stack_line){0, 0, ""});
	vec_push(&s->places, (struct stack_place){.image = STACK_NO_IMAGE, .n_lines = 1});
	vec_push(&s->nodes, (struct stack_node){0, 0});
}

uint32_t stacks_make_column(struct stacks_maker *m, const char *event, const char *unit,
			    enum stack_amount amount, uint64_t period)
{
	const char *name = stacks_make_text(m, event, strlen(event));

	vec_push(&m->s->columns,
		 (struct stack_column){name, name, stacks_make_text(m, unit, strlen(unit)), amount,
				       period, 0});
	return (uint32_t)m->s->columns.n - 1;
}

static bool same_image(const void *owner, uint32_t i, const void *key)
{
	const struct stack_image *a = &((const struct stacks *)owner)->images.v[i], *b = key;

	return a->kind == b->kind && a->start == b->start && a->end == b->end &&
	       strcmp(a->path, b->path) == 0 && strcmp(a->build_id, b->build_id) == 0;
}

uint32_t stacks_make_image(struct stacks_maker *m, const struct stack_image *key)
{
	const uint64_t hash = hash_pair(hash_str(key->path), hash_str(key->build_id) + key->kind);
	uint32_t i = index_find(&m->images, hash, same_image, m->s, key);
	struct stack_image new = *key;

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)m->s->images.n;
	new.path = stacks_make_text(m, key->path, strlen(key->path));
	vec_push(&m->s->images, new);
	index_add(&m->images, hash, i);
	return i;
}

static bool same_function(const void *owner, uint32_t i, const void *key)
{
	const struct stack_function *a = &((const struct stacks *)owner)->functions.v[i], *b = key;

	return a->image == b->image && a->line == b->line && a->svma == b->svma &&
	       strcmp(a->name, b->name) == 0 && strcmp(a->file, b->file) == 0;
}

uint32_t stacks_make_function(struct stacks_maker *m, const struct stack_function *key)
{
	struct stack_function new = *key;
	uint64_t hash;
	uint32_t i;

	new.name = *or_empty(key->name) ? key->name : "[unknown]";
	new.file = or_empty(key->file);
	new.linked = *or_empty(key->linked) ? key->linked : new.name;
	hash = hash_pair(hash_str(new.name), hash_pair(new.image, hash_str(new.file) + new.line));
	i = index_find(&m->functions, hash, same_function, m->s, &new);
	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)m->s->functions.n;
	new.name = stacks_make_text(m, new.name, strlen(new.name));
	new.file = stacks_make_text(m, new.file, strlen(new.file));
	new.linked = stacks_make_text(m, new.linked, strlen(new.linked));
	vec_push(&m->s->functions, new);
	index_add(&m->functions, hash, i);
	return i;
}

struct place_key {
	uint32_t image, n;
	uint64_t svma;
	const struct stack_line *lines;
};

static bool same_place(const void *owner, uint32_t i, const void *key)
{
	const struct stacks *s = owner;
	const struct stack_place *a = &s->places.v[i];
	const struct place_key *b = key;

	if (a->image != b->image || a->svma != b->svma || a->n_lines != b->n)
		return false;
	for (uint32_t k = 0; k < b->n; k++) {
		const struct stack_line *l = &s->lines.v[a->first_line + k];

		if (l->function != b->lines[k].function || l->line != b->lines[k].line)
			return false;
	}
	return true;
}

uint32_t stacks_make_place(struct stacks_maker *m, uint32_t image, uint64_t svma,
			   const struct stack_line *lines, uint32_t n)
{
	const struct place_key key = {image, n, svma, lines};
	uint64_t hash = hash_pair(svma, image);
	uint32_t i;

	for (uint32_t k = 0; k < n; k++)
		hash = hash_pair(hash, (uint64_t)lines[k].function << 32 | lines[k].line);
	i = index_find(&m->places, hash, same_place, m->s, &key);
	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)m->s->places.n;
	vec_push(&m->s->places,
		 (struct stack_place){image, svma, (uint32_t)m->s->lines.n, n, false});
	for (uint32_t k = 0; k < n; k++) {
		struct stack_line l = lines[k];

		l.file = m->s->functions.v[l.function].file;
		vec_push(&m->s->lines, l);
	}
	index_add(&m->places, hash, i);
	return i;
}

uint32_t stacks_make_frame(struct stacks_maker *m, const char *name, const char *file,
			   uint32_t line, uint32_t image)
{
	const struct stack_function fn = {.name = name, .file = file, .line = line, .image = image};
	const struct stack_line l = {stacks_make_function(m, &fn), 0, ""};

	return stacks_make_place(m, image, 0, &l, 1);
}

static bool same_node(const void *owner, uint32_t i, const void *key)
{
	const struct stack_node *a = &((const struct stacks *)owner)->nodes.v[i], *b = key;

	return a->parent == b->parent && a->place == b->place;
}

uint32_t stacks_make_node(struct stacks_maker *m, uint32_t parent, uint32_t place)
{
	const struct stack_node key = {parent, place};
	const uint64_t hash = hash_pair(parent, place);
	uint32_t i = index_find(&m->nodes, hash, same_node, m->s, &key);

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)m->s->nodes.n;
	vec_push(&m->s->nodes, key);
	index_add(&m->nodes, hash, i);
	return i;
}

static bool same_owner(const void *owner, uint32_t i, const void *key)
{
	const struct stack_owner *a = &((const struct stacks *)owner)->owners.v[i], *b = key;

	return a->pid == b->pid && a->tid == b->tid && a->uid == b->uid &&
	       strcmp(a->comm, b->comm) == 0 && strcmp(a->exe, b->exe) == 0 &&
	       strcmp(a->cgroup, b->cgroup) == 0 && strcmp(a->label, b->label) == 0;
}

uint32_t stacks_make_owner(struct stacks_maker *m, const struct stack_owner *key)
{
	struct stack_owner new = *key;
	const char **texts[] = {&new.comm, &new.exe, &new.cgroup, &new.label};
	uint64_t hash = hash_pair((uint64_t)key->pid << 32 | key->tid, (uint64_t)key->uid);
	uint32_t i;

	for (size_t k = 0; k < n_elems(texts); k++) {
		*texts[k] = or_empty(*texts[k]);
		hash = hash_pair(hash, hash_str(*texts[k]));
	}
	i = index_find(&m->owners, hash, same_owner, m->s, &new);
	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)m->s->owners.n;
	for (size_t k = 0; k < n_elems(texts); k++)
		*texts[k] = stacks_make_text(m, *texts[k], strlen(*texts[k]));
	vec_push(&m->s->owners, new);
	index_add(&m->owners, hash, i);
	return i;
}

static bool same_value(const void *owner, uint32_t i, const void *key)
{
	const struct stack_value *a = &((const struct stacks *)owner)->values.v[i], *b = key;

	return a->node == b->node && a->owner == b->owner;
}

uint64_t *stacks_make_value(struct stacks_maker *m, uint32_t node, uint32_t owner)
{
	const struct stack_value key = {node, owner};
	const uint64_t hash = hash_pair(node, owner);
	struct stacks *s = m->s;
	uint32_t i = index_find(&m->values, hash, same_value, s, &key);

	if (i == INDEX_NONE) {
		i = (uint32_t)s->values.n;
		vec_push(&s->values, key);
		index_add(&m->values, hash, i);
		vec_reserve(&s->amounts, s->columns.n + 1);
		memset(s->amounts.v + s->amounts.n, 0, s->columns.n * sizeof(*s->amounts.v));
		s->amounts.n += s->columns.n;
	}
	return s->amounts.v + i * s->columns.n;
}

void stacks_make_end(struct stacks_maker *m)
{
	if (m->s)
		stacks_settle(m->s);
	index_release(&m->images);
	index_release(&m->functions);
	index_release(&m->places);
	index_release(&m->nodes);
	index_release(&m->owners);
	index_release(&m->values);
	str_release(&m->room);
}
