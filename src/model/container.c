/* SPDX-License-Identifier: BSD-2-Clause */
/* See container.h. */
#include "model/container.h"

#include <string.h>

#include "base/alloc.h"
#include "model/cgroup_parts.h"

/* Ids are looked for by their text: a path's is no string of its own. */
struct id_text {
	const char *text;
	size_t n;
};

static bool container_same(const void *owner, uint32_t i, const void *key)
{
	const struct profile *p = owner;
	const struct id_text *k = key;
	const char *id = profile_str(p, p->containers.v[i].text[CONTAINER_ID]);

	return strlen(id) == k->n && memcmp(id, k->text, k->n) == 0;
}

static const struct container *find_text(const struct profile *p, const char *text, size_t n)
{
	const struct id_text key = {text, n};
	uint32_t i = index_find(&p->container_ix, hash_bytes(text, n), container_same, p, &key);

	return i == INDEX_NONE ? NULL : &p->containers.v[i];
}

const struct container *profile_find_container(const struct profile *p, string_id id)
{
	const char *text = profile_str(p, id);

	return find_text(p, text, strlen(text));
}

const struct container *profile_container_of(const struct profile *p, string_id cgroup)
{
	size_t n;
	const char *id = p->containers.n ? cgroup_container_id(profile_str(p, cgroup), &n) : NULL;

	return id ? find_text(p, id, n) : NULL;
}

void profile_add_container(struct profile *p, const struct container *c)
{
	const char *id = profile_str(p, c->text[CONTAINER_ID]);
	const struct container *old = find_text(p, id, strlen(id));

	if (!*id)
		return;
	if (!old) {
		vec_push(&p->containers, *c);
		index_add(&p->container_ix, hash_bytes(id, strlen(id)),
			  (uint32_t)p->containers.n - 1);
		return;
	}
	for (size_t i = CONTAINER_ID + 1; i < CONTAINER_N_TEXTS; i++)
		if (strcmp(profile_str(p, c->text[i]), profile_str(p, old->text[i])) > 0)
			p->containers.v[old - p->containers.v].text[i] = c->text[i];
}

bool container_has_texts(const struct container *c)
{
	for (size_t i = CONTAINER_ID + 1; i < CONTAINER_N_TEXTS; i++)
		if (c->text[i])
			return true;
	return false;
}

char *container_service(const char *label, const char *name, const char *cgroup, const char *comm)
{
	const char *end = strstr(cgroup, ".service"), *start = end;

	if (*label)
		return xstrdup(label);
	if (name && *name)
		return xstrdup(name);
	while (start && start > cgroup && start[-1] != '/')
		start--;
	return end ? xstrndup(start, (size_t)(end - start)) : xstrdup(comm);
}
