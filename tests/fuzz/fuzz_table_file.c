/* SPDX-License-Identifier: BSD-2-Clause */
/* Unwind tables and notes kept on disk: as they are, and with a checksum that is right again. */
#include "fuzz.h"
#include "resolve/table_file.h"

static const struct table_file_of of = {.stamp = {1, 2, 3, 4, 5}, .uid = 6};

#define HEAD_BYTES (8 + 8 + 40 + UNWIND_KEY_BYTES)

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct unwind_rule rules[] = {{.cfa = UNWIND_CFA_NONE},
				      {.cfa = UNWIND_CFA_SP, .cfa_off = 8, .ra_at = -1}};
	struct unwind_row rows[] = {{4096, 0}, {4112, 1}, {5128, 1}};
	uint32_t blocks[] = {0, 2, 3};
	struct unwind_table t = {.first_off = 4096,
				 .n_rules = 2,
				 .rules = rules,
				 .n_rows = 3,
				 .rows = rows,
				 .n_blocks = 2,
				 .blocks = blocks};
	struct wr answer = {0}, w = {0};

	if (i == 0) {
		answer_put_table(&t, &answer);
		table_file_put(&of, answer.v, answer.n, &w);
		wr_release(&answer);
	}
	if (i == 1) {
		struct file_note note = {.layout = {.build_id = {.n_bytes = 20}, .n_loads = 1}};

		table_file_put_note(&of, &note, &w);
	}
	if (i == 2)
		table_file_put_machine(7, (const uint8_t *)"types", 5, &w);
	*ret_n = w.n;
	return w.v;
}

static void use_note(const uint8_t *data, size_t n)
{
	struct file_note note, again;
	struct wr w = {0};

	if (table_file_get_note(data, n, &of, &note, NULL) < 0)
		return;
	FUZZ_REQUIRE(note.layout.build_id.n_bytes && note.layout.n_loads <= IMAGE_MAX_LOADS);
	table_file_put_note(&of, &note, &w);
	FUZZ_REQUIRE(table_file_get_note(w.v, w.n, &of, &again, NULL) >= 0);
	wr_release(&w);
}

static void use_machine(const uint8_t *data, size_t n)
{
	const uint8_t *bytes;
	size_t n_bytes;

	if (table_file_get_machine(data, n, 7, &bytes, &n_bytes, NULL) >= 0)
		FUZZ_REQUIRE(bytes >= data && bytes + n_bytes == data + n &&
			     table_file_check(data, n, NULL) == 0);
}

static void use(const uint8_t *data, size_t n)
{
	struct unwind_table t;

	if (table_file_get(data, n, &of, &t, NULL) < 0)
		return;
	FUZZ_REQUIRE(t.n_rows && t.n_rules && t.blocks[t.n_blocks] == t.n_rows);
	for (uint32_t i = 0; i < t.n_rows; i++)
		FUZZ_REQUIRE(t.rows[i].rule < t.n_rules);
	unwind_table_release(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct wr w = {0};

	use(data, n);
	use_note(data, n);
	use_machine(data, n);
	if (n > HEAD_BYTES) {
		table_file_put(&of, data + HEAD_BYTES, n - HEAD_BYTES, &w);
		use(w.v, w.n);
		wr_release(&w);
	}
	return 0;
}
