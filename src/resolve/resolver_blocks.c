/* SPDX-License-Identifier: BSD-2-Clause */
/* The blocks of a procedure, and where its lines begin: for profiles that compilers read. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "resolve/resolver_impl.h"

int resolver_flow(struct resolver *r, const struct image *im, uint64_t svma, struct flow *ret,
		  uint64_t *ret_start)
{
	struct resolver_entry *e = resolver_entry_find(r, im);
	const uint32_t proc = symtab_find(e->result.symtab, svma);
	struct loop_source s = {.symtab = e->result.symtab, .image = e};
	struct procedure first, whole;
	int rc;

	*ret = (struct flow){0};
	if (proc == PROC_NONE || e->kind == IMAGE_SCRIPT)
		return -ENOENT;
	s.code = resolver_entry_code(r, e, im);
	if (!s.code)
		return -ENOENT;
	first = whole = symtab_get(e->result.symtab, proc);
	rc = procedure_flow_init(ret, &s, first, &whole);
	if (rc >= 0 && whole.index != first.index) {
		flow_release(ret);
		rc = procedure_flow_init(ret, &s, whole, &whole);
	}
	if (rc >= 0)
		*ret_start = whole.start;
	return rc;
}

int resolver_blocks(struct resolver *r, const struct image *im, uint64_t svma, resolved_blocks *ret)
{
	struct flow f;
	uint64_t start;
	const int rc = resolver_flow(r, im, svma, &f, &start);

	if (rc < 0)
		return rc;
	vec_each (b, &f.blocks)
		vec_push(ret,
			 (struct resolved_block){b->start, b->end, b->n_insns, b->start == start});
	flow_release(&f);
	return 0;
}

void resolver_line_starts(struct resolver *r, const struct image *im, uint64_t start, uint64_t end,
			  resolved_starts *ret)
{
	struct resolver_entry *e = resolver_entry_find(r, im);
	struct lines *l = resolver_entry_lines(r, e, im);
	_mem_ struct line_row *rows = NULL;
	const size_t n = l ? lines_range(l, start, end, &rows) : 0;

	if (!n || rows[0].svma > start)
		vec_push(ret, start);
	for (size_t i = 0; i < n; i++)
		vec_push(ret, rows[i].svma);
}
