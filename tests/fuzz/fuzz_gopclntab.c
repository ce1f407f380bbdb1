/* SPDX-License-Identifier: BSD-2-Clause */
/* Hostile tables of Go's functions: rows stay inside the code, values inside their function. */
#include <string.h>

#include "base/wr.h"
#include "fuzz.h"
#include "unit/gopclntab_t.h"
#include "unit/unwind_t.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct wr w = {0};

	if (i > GO_1_20)
		return NULL;
	put_go_table(&w, (enum go_layout)i, TEXT_SVMA);
	*ret_n = w.n;
	return w.v;
}

static void check_values(const struct go_table *t, const struct go_func *f, uint32_t at)
{
	struct go_values v = go_values_begin(t, f, at);
	uint64_t end = f->start;
	struct go_value stretch;
	size_t n;

	while (go_values_next(&v, &stretch)) {
		const char *file = go_table_file(t, f, stretch.value, &n);

		FUZZ_REQUIRE(stretch.start == end && stretch.end > end && stretch.end <= f->end);
		FUZZ_REQUIRE(!file || strlen(file) == n);
		end = stretch.end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct unwind_input in = input_of(EM_X86_64, &(struct wr){0});
	struct unwind_table table;
	struct go_table t;
	struct go_func f;

	if (go_table_open(&t, data, n, TEXT_SVMA, NULL) < 0)
		return 0;
	for (uint32_t i = 0; i < t.n_funcs && i < 1000; i++) {
		if (!go_table_func(&t, i, &f))
			continue;
		FUZZ_REQUIRE(f.start < f.end && strlen(f.name) == f.n_name);
		check_values(&t, &f, f.depths);
		check_values(&t, &f, f.files);
		check_values(&t, &f, f.lines);
		check_values(&t, &f, f.inlined);
		go_table_find(&t, f.start, &f);
	}
	in.go = (struct unwind_section){data, n, 0};
	in.n_switches = 1;
	in.switches[0] = (struct unwind_switch){
		.start = TEXT_SVMA + 0x18, .end = TEXT_SVMA + 0x28, .depth = 8, .goroutine_at = 24};
	if (unwind_build(&in, &table, NULL) < 0)
		return 0;
	FUZZ_REQUIRE(!table_fault(&table));
	FUZZ_REQUIRE(table.n_text_bytes <= TEXT_SIZE);
	unwind_table_release(&table);
	return 0;
}
