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

/* include/dwarf2.def of gcc, where elfutils 0.188 has no name for it. */
#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136
#endif

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

static uint32_t inlines_number(Dwarf_Die *die, unsigned attr, uint32_t max)
{
	Dwarf_Attribute mem;
	Dwarf_Word v;

	return dwarf_formudata(dwarf_attr(die, attr, &mem), &v) == 0 && v <= max ? (uint32_t)v : 0;
}

/* A number that the entry has, or the one it is an instance of. */
static uint32_t integrated_number(Dwarf_Die *die, unsigned attr)
{
	Dwarf_Attribute mem;
	Dwarf_Word v;

	return dwarf_formudata(dwarf_attr_integrate(die, attr, &mem), &v) == 0 && v <= INT32_MAX
		       ? (uint32_t)v
		       : 0;
}

static void find_scope_name(struct lines *l, struct lines_scope *s)
{
	const char *name;
	Dwarf_Die die;
	size_t n;

	if (s->is_named)
		return;
	s->is_named = true;
	s->name = LINES_NO_TEXT;
	lines_renew(l);
	if (!dwarf_offdie(l->dwarf, s->die, &die))
		return;
	name = find_name(&die);
	n = name ? strnlen(name, MAX_NAME) : MAX_NAME;
	if (n > 0 && n < MAX_NAME && l->n_name_bytes + n <= LINES_MAX_NAMES) {
		s->name = lines_intern(l, name);
		l->n_name_bytes += n;
	}
}

static void find_scope_call(struct lines *l, struct lines_unit *u, struct lines_scope *s)
{
	Dwarf_Attribute mem;
	Dwarf_Die die;

	if (s->has_call)
		return;
	s->has_call = true;
	s->file = LINES_NO_TEXT;
	lines_renew(l);
	if (!dwarf_offdie(l->dwarf, s->die, &die))
		return;
	s->decl_line = integrated_number(&die, DW_AT_decl_line);
	if (s->parent == LINES_NO_SCOPE)
		return;
	s->discriminator = inlines_number(&die, DW_AT_GNU_discriminator, UINT32_MAX);
	s->line = inlines_number(&die, DW_AT_call_line, INT32_MAX);
	s->column = (uint16_t)inlines_number(&die, DW_AT_call_column, UINT16_MAX);
	lines_attr_file(l, u, dwarf_attr(&die, DW_AT_call_file, &mem), &s->file);
}

/* The innermost scope of unit U at SVMA. */
static uint32_t inlines_innermost(const struct lines_unit *u, uint64_t svma)
{
	size_t above = lines_search(u->scope_starts.v, u->scope_starts.n,
				    sizeof(u->scope_starts.v[0]), svma);

	return above ? u->scope_starts.v[above - 1].scope : LINES_NO_SCOPE;
}

/* The scopes that SVMA is in, of one unit, as many as are wanted. */
struct scope_chain {
	struct lines_unit *unit;
	uint32_t scopes[INLINES_MAX]; /* the outermost first */
	size_t n;
};

static void follow_parents(struct scope_chain *c, uint32_t scope, size_t max)
{
	uint32_t ring[INLINES_MAX]; /* the outermost are wanted, and come last */
	size_t depth = 0;

	for (uint32_t i = scope; i != LINES_NO_SCOPE; i = c->unit->scopes.v[i].parent)
		ring[depth++ % INLINES_MAX] = i;
	c->n = depth < INLINES_MAX ? depth : INLINES_MAX;
	c->n = c->n < max ? c->n : max;
	for (size_t k = 0; k < c->n; k++)
		c->scopes[k] = ring[(depth - 1 - k) % INLINES_MAX];
}

/* C->n is 0 when no scope is there. */
static void find_scopes(struct lines *l, uint64_t svma, struct scope_chain *c, size_t max)
{
	struct lines_cursor cursor = {0};
	const struct lines_span *s;

	c->n = 0;
	while ((s = lines_covering(l, svma, &cursor))) {
		uint32_t scope;

		c->unit = &l->units.v[s->unit];
		lines_read_scopes(l, s->unit);
		scope = inlines_innermost(c->unit, svma);
		if (scope == LINES_NO_SCOPE)
			continue;
		follow_parents(c, scope, max);
		return;
	}
}

static const char *scope_name(struct lines *l, struct lines_scope *s)
{
	find_scope_name(l, s);
	return s->name == LINES_NO_TEXT ? "?" : l->texts.v[s->name];
}

size_t inlines_find(struct lines *l, uint64_t svma, struct inline_scope *ret, size_t max)
{
	struct scope_chain c;

	find_scopes(l, svma, &c, max);
	for (size_t k = 0; k < c.n; k++) {
		struct lines_scope *s = &c.unit->scopes.v[c.scopes[k]];

		find_scope_call(l, c.unit, s);
		ret[k] = (struct inline_scope){
			.name = scope_name(l, s),
			.file = s->file == LINES_NO_TEXT ? NULL : l->texts.v[s->file],
			.line = s->line,
			.column = s->column,
			.discriminator = s->discriminator,
			.decl_line = s->decl_line,
		};
	}
	return c.n;
}

size_t inlines_names(struct lines *l, uint64_t svma, const char **ret, size_t max)
{
	struct scope_chain c;

	find_scopes(l, svma, &c, max);
	for (size_t k = 0; k < c.n; k++)
		ret[k] = scope_name(l, &c.unit->scopes.v[c.scopes[k]]);
	return c.n;
}

void inlines_stats(const struct lines *l, size_t *ret_n_units, size_t *ret_n_scopes)
{
	*ret_n_units = *ret_n_scopes = 0;
	vec_each (u, &l->units) {
		*ret_n_units += u->has_scopes;
		*ret_n_scopes += u->scopes.n;
	}
}
