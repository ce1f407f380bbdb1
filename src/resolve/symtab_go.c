/* SPDX-License-Identifier: BSD-2-Clause */
/* Names out of the table of Go's functions (unwind/gopclntab.h), which stripped programs keep. */
#include "base/cleanup.h"
#include "resolve/symtab_elf.h"
#include "unwind/gopclntab.h"

#define NAMES_OF_BYTES                                                                             \
	4 /* names may share their bytes; a table is most of the time twice as long */

uint8_t *elf_load_go(const struct elf_file *f, size_t *ret_n, uint64_t *ret_text)
{
	const struct elf_section *s = elf_file_find_section(f, ".gopclntab"),
				 *text = elf_file_find_section(f, ".text");
	uint8_t *bytes;

	if (!s)
		s = elf_file_find_section(f, ".data.rel.ro.gopclntab");
	bytes = s ? elf_file_load_section(f, s) : NULL;
	*ret_n = bytes ? (size_t)s->size : 0;
	*ret_text = text ? text->svma : 0;
	return bytes;
}

void symtab_elf_read_go(struct elf_file *f, struct symtab_builder *b)
{
	_mem_ uint8_t *bytes = NULL;
	struct go_table t;
	struct go_func func;
	uint64_t text;
	size_t n;

	if (elf_file_read_sections(f, NULL) < 0)
		return;
	bytes = elf_load_go(f, &n, &text);
	if (!bytes || go_table_open(&t, bytes, n, text, NULL) < 0)
		return;
	b->most_names += NAMES_OF_BYTES * n;
	for (uint32_t i = 0; i < t.n_funcs; i++)
		if (go_table_func(&t, i, &func))
			symtab_builder_add(b, func.start, func.end - func.start, func.name,
					   func.n_name, 0);
}
