/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of interpreted code, which no file holds: a recording's own words (model/script.h) become
 * the symbols of the script's image, one for each function, and the lines of its places. */
#include "resolve/resolver_impl.h"

#include <stdlib.h>
#include <string.h>

#include "model/script.h"

void resolver_add_script(struct resolver *r, const struct image *im, uint64_t svma,
			 const char *name, uint32_t line)
{
	struct resolver_entry *e = resolver_entry_get(r, im);

	vec_push(&e->scripts, (struct script_line){svma, line});
	symtab_builder_add(&e->script_names, svma >> SCRIPT_PROCEDURE_BITS << SCRIPT_PROCEDURE_BITS,
			   (uint64_t)1 << SCRIPT_PROCEDURE_BITS, name, strlen(name), 0);
	e->scripts_changed = true;
}

static int by_svma(const void *a, const void *b)
{
	const struct script_line *x = a, *y = b;

	return x->svma < y->svma ? -1 : x->svma > y->svma;
}

void resolver_settle_scripts(struct resolver_entry *e)
{
	e->scripts_changed = false;
	vec_sort(&e->scripts, by_svma);
	symtab_builder_add_symtab(&e->script_names, &e->symbols.own);
	symtab_release(&e->symbols.own);
	symtab_builder_finish(&e->script_names, &e->symbols.own);
	for (int args = 0; args < 2; args++) {
		free(e->names[args]);
		e->names[args] = NULL;
	}
	e->result.status = RESOLVE_OK;
}

static uint32_t script_line_of(const struct resolver_entry *e, uint64_t svma)
{
	const struct script_line key = {.svma = svma};
	const struct script_line *found =
		e->scripts.n ? bsearch(&key, e->scripts.v, e->scripts.n, sizeof(key), by_svma)
			     : NULL;

	return found ? found->line : 0;
}

uint32_t resolver_script_line(const struct resolver_entry *e, uint64_t svma)
{
	return svma & SCRIPT_LINE_UNKNOWN ? 0 : script_line_of(e, svma);
}

uint32_t resolver_script_first_line(struct resolver *r, const struct image *im, uint64_t svma)
{
	const uint32_t line = script_line_of(resolver_entry_get(r, im), svma);
	const uint32_t behind = svma & (SCRIPT_LINE_UNKNOWN - 1);

	return svma & SCRIPT_LINE_UNKNOWN ? line : line < behind ? 0 : line - behind;
}
