/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers of children that read files: an unwind table, and the same bytes as a layout. */
#include "fuzz.h"
#include "resolve/answer.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct unwind_rule rules[] = {
		{.cfa = UNWIND_CFA_NONE},
		{.cfa = UNWIND_CFA_SP, .cfa_off = 8, .ra_at = -1},
		{.cfa = UNWIND_CFA_REG, .cfa_reg = 10, .ra = UNWIND_RA_REGISTER, .ra_at = 30}};
	struct unwind_row rows[] = {{0, 0}, {16, 1}, {40, 2}, {8, 1}};
	uint32_t blocks[] = {0, 3, 4};
	struct unwind_table t = {.first_off = 4096,
				 .n_rules = 3,
				 .rules = rules,
				 .n_rows = 4,
				 .rows = rows,
				 .n_blocks = 2,
				 .blocks = blocks};
	struct image_layout l = {.build_id = {20, {1, 2, 3}},
				 .machine = 62,
				 .text_start = 0x1000,
				 .n_loads = 2,
				 .loads = {{0x1000, 0x1000, 77}, {0x2000, 0x401000, 4096}}};
	struct wr w = {0};

	if (i == 0)
		answer_put_table(&t, &w);
	else if (i == 1)
		answer_put_layout(&l, &w);
	*ret_n = w.n;
	return w.v;
}

static void use_table(const struct unwind_table *t)
{
	FUZZ_REQUIRE(t->n_rows && t->n_rules && t->blocks[t->n_blocks] == t->n_rows);
	for (uint32_t i = 0; i < t->n_rows; i++)
		FUZZ_REQUIRE(t->rows[i].rule < t->n_rules);
	for (uint64_t off = t->first_off; off - t->first_off < 65536; off += 123)
		FUZZ_REQUIRE(unwind_table_find(t, off)->cfa <= UNWIND_CFA_SIGNAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct rd r = rd_init(data, n);
	struct unwind_table t, again;
	struct image_layout l;
	struct wr w = {0};

	if (answer_get_layout(&r, &l))
		FUZZ_REQUIRE(l.n_loads <= IMAGE_MAX_LOADS && l.build_id.n_bytes <= BUILD_ID_MAX);
	if (answer_get_table(data, n, NULL, &t, NULL) < 0)
		return 0;
	use_table(&t);
	answer_put_table(&t, &w);
	FUZZ_REQUIRE(answer_get_table(w.v, w.n, NULL, &again, NULL) == 0);
	FUZZ_REQUIRE(again.n_rows == t.n_rows && again.n_blocks == t.n_blocks);
	unwind_table_release(&again);
	unwind_table_release(&t);
	wr_release(&w);
	return 0;
}
