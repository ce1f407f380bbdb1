/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbol cache files (docs/formats/symbols.md). */
#include <stdio.h>

#include "base/wr.h"
#include "fuzz.h"
#include "resolve/symcache.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct symcache_info info = {.path = "/bin/x",
				     .layout = {.n_loads = 2, .digest = {(uint8_t)i}}};
	struct symtab_builder b = {0};
	struct symtab st;
	struct wr w = {0};
	char name[16];

	if (i > 2)
		return NULL;
	info.layout.build_id.n_bytes = 20;
	for (unsigned k = 0; k < 20 * (i % 2); k++)
		symtab_builder_add(&b, k * 16, k % 3 * 20 + 1, name,
				   (size_t)snprintf(name, sizeof(name), "_ZN%u", k), 0);
	symtab_builder_finish(&b, &st);
	symcache_format(&info, &st, &w);
	symtab_release(&st);
	*ret_n = w.n;
	return w.v;
}

static void use(const uint8_t *data, size_t n)
{
	struct symcache c;
	proc_list l = {0};

	if (symcache_parse(&c, data, n, NULL) < 0)
		return;
	for (uint32_t i = 0; i < c.symtab.n; i++) {
		struct procedure p = symtab_get(&c.symtab, i);
		uint32_t at = symtab_find(&c.symtab, p.start);

		FUZZ_REQUIRE(at == PROC_NONE || at < c.symtab.n);
		FUZZ_REQUIRE(strlen(p.name) <= n);
	}
	symtab_find_name(&c.symtab, "f", &l);
	vec_each (p, &l)
		FUZZ_REQUIRE(*p < c.symtab.n);
	vec_release(&l);
	symcache_check(&c, NULL);
	symcache_close(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_sealed(data, n, use, symcache_seal);
	return 0;
}
