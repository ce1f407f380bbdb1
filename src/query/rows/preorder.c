/* SPDX-License-Identifier: BSD-2-Clause */
/* See preorder.h. */
#include "query/rows/preorder.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

void preorder_init(struct preorder *p, const uint32_t *parent, size_t n, const bool *keep)
{
	uint32_t *child = xcalloc(n, sizeof(*child)), *next = xcalloc(n, sizeof(*next));
	uint32_t old = 0, new = 0, up = 0;

	*p = (struct preorder){.n = 1};
	for (size_t i = n; i-- > 1;) {
		if (!keep[i])
			continue;
		next[i] = child[parent[i]];
		child[parent[i]] = (uint32_t)i;
		p->n++;
	}
	p->old = xcalloc(p->n, sizeof(*p->old));
	p->parent = xcalloc(p->n, sizeof(*p->parent));
	p->end = xcalloc(p->n, sizeof(*p->end));
	for (;;) {
		p->old[new] = old;
		p->parent[new] = up;
		if (child[old]) {
			up = new ++;
			old = child[old];
			continue;
		}
		new ++;
		p->end[new - 1] = new;
		while (old && !next[old]) {
			old = parent[old];
			p->end[up] = new;
			up = p->parent[up];
		}
		if (!old)
			break;
		old = next[old];
	}
	p->end[0] = p->n;
	assert(new == p->n);
	free(child);
	free(next);
}

void preorder_release(struct preorder *p)
{
	free(p->old);
	free(p->parent);
	free(p->end);
	*p = (struct preorder){0};
}
