/* SPDX-License-Identifier: BSD-2-Clause */
/* The questions of inlines.h; inlines_read.c has made the arrays they are answered from.
 *
 * A scope's attributes are read when the scope first answers: of the hundred thousand scopes of a
 * unit a profile meets a few dozen.  A name may stand far from its scope: in the abstract instance
 * (DW_AT_abstract_origin), in that one's declaration (DW_AT_specification), in another unit (LTO)
 * or in the file of .gnu_debugaltlink.  libdw follows such chains, and gives up on the sixteenth
 * link. */
#include "resolve/inlines.h"

#include <dwarf.h>
#include <string.h>

#include "resolve/lines_impl.h"

#define MAX_NAME 16384 /* bytes; a longer one is not worth its memory */

static const char *find_name(Dwarf_Die *die)
{
	/* DW_AT_linkage_name is DWARF 4's; gcc wrote the other before. */
	static const unsigned attrs[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
	const char *name = NULL;

	for (unsigned i = 0; !name && i < n_elems(attrs); i++) {
		Dwarf_Attribute mem;

		name = dwarf_formstring(dwarf_attr_integrate(die, attrs[i], &mem));
	}
	return name;
}

static uint32_t number(Dwarf_Die *die, unsigned attr, uint32_t max)
{
	Dwarf_Attribute mem;
	Dwarf_Word v;

	return dwarf_formudata(dwarf_attr(die, attr, &mem), &v) == 0 && v <= max ? (uint32_t)v : 0;
}

static void describe(struct lines *l, struct lines_unit *u, struct lines_scope *s)
{
	Dwarf_Attribute mem;
	const char *name;
	Dwarf_Die die;
	size_t n;

	if (s->is_known)
		return;
	s->is_known = true;
	s->file = s->name = LINES_NO_TEXT;
	lines_renew(l);
	if (!dwarf_offdie(l->dwarf, s->die, &die))
		return;
	name = find_name(&die);
	n = name ? strnlen(name, MAX_NAME) : MAX_NAME;
	if (n > 0 && n < MAX_NAME && l->n_name_bytes + n <= LINES_MAX_NAMES) {
		s->name = lines_intern(l, name);
		l->n_name_bytes += n;
	}
	if (s->parent == LINES_NO_SCOPE)
		return;
	s->line = number(&die, DW_AT_call_line, INT32_MAX);
	s->column = (uint16_t)number(&die, DW_AT_call_column, UINT16_MAX);
	lines_attr_file(l, u, dwarf_attr(&die, DW_AT_call_file, &mem), &s->file);
}

/* The innermost scope of unit U at SVMA. */
static uint32_t innermost(const struct lines_unit *u, uint64_t svma)
{
	size_t above = lines_search(u->scope_starts.v, u->scope_starts.n,
				    sizeof(u->scope_starts.v[0]), svma);

	return above ? u->scope_starts.v[above - 1].scope : LINES_NO_SCOPE;
}

static size_t fill(struct lines *l, struct lines_unit *u, uint32_t scope, struct inline_scope *ret,
		   size_t max)
{
	uint32_t chain[INLINES_MAX]; /* a ring: the outermost are wanted, and come last */
	size_t depth = 0, n;

	for (uint32_t i = scope; i != LINES_NO_SCOPE; i = u->scopes.v[i].parent)
		chain[depth++ % INLINES_MAX] = i;
	n = depth < INLINES_MAX ? depth : INLINES_MAX;
	n = n < max ? n : max;
	for (size_t k = 0; k < n; k++) {
		struct lines_scope *s = &u->scopes.v[chain[(depth - 1 - k) % INLINES_MAX]];

		describe(l, u, s);
		ret[k] = (struct inline_scope){
			.name = s->name == LINES_NO_TEXT ? "?" : l->texts.v[s->name],
			.file = s->file == LINES_NO_TEXT ? NULL : l->texts.v[s->file],
			.line = s->line,
			.column = s->column,
		};
	}
	return n;
}

size_t inlines_find(struct lines *l, uint64_t svma, struct inline_scope *ret, size_t max)
{
	struct lines_cursor c = {0};
	const struct lines_span *s;

	while ((s = lines_covering(l, svma, &c))) {
		struct lines_unit *u = &l->units.v[s->unit];
		uint32_t scope;

		lines_read_scopes(l, s->unit);
		scope = innermost(u, svma);
		if (scope != LINES_NO_SCOPE)
			return fill(l, u, scope, ret, max);
	}
	return 0;
}

void inlines_stats(const struct lines *l, size_t *ret_n_units, size_t *ret_n_scopes)
{
	*ret_n_units = *ret_n_scopes = 0;
	vec_each (u, &l->units) {
		*ret_n_units += u->has_scopes;
		*ret_n_scopes += u->scopes.n;
	}
}
