/* SPDX-License-Identifier: BSD-2-Clause */
/* ELF files of others: what identifies them, their symbols and unwind tables. */
#include "fuzz.h"
#include "resolve/elf_file.h"
#include "resolve/elf_probe.h"
#include "resolve/elf_unwind.h"
#include "resolve/symtab_elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct symtab_builder b = {0};
	struct unwind_table unwind;
	struct image_layout l;
	struct symtab st;
	struct elf_file f;
	uint64_t end = 0;

	elf_probe_bytes(data, n, &l, NULL);
	FUZZ_REQUIRE(l.build_id.n_bytes >= 1 && l.build_id.n_bytes <= BUILD_ID_MAX);
	FUZZ_REQUIRE(l.n_loads <= IMAGE_MAX_LOADS);
	if (elf_unwind_load_bytes(data, n, &unwind, NULL) == 0)
		unwind_table_release(&unwind);
	if (elf_file_open_bytes(&f, data, n, NULL) < 0)
		return 0;
	symtab_elf_read(&f, &b);
	symtab_elf_read_plt(&f, &b);
	symtab_elf_read_frames(&f, &b);
	elf_file_close(&f);
	symtab_builder_finish(&b, &st);
	for (uint32_t i = 0; i < st.n; i++) {
		struct procedure p = symtab_get(&st, i);

		FUZZ_REQUIRE(p.start < p.end && !p.name[0] == !!(p.flags & PROC_UNNAMED));
		if (p.flags & PROC_ALIAS)
			continue;
		FUZZ_REQUIRE(p.start >= end);
		FUZZ_REQUIRE(symtab_find(&st, p.start) == i && symtab_find(&st, p.end - 1) == i);
		end = p.end;
	}
	symtab_release(&st);
	return 0;
}
