/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of a Go program that says anything, and another thing each time it is read: its labels are
 * read or refused, and become a text. */
#include "base/wr.h"
#include "script_fuzz.h"
#include "unwind/go_labels_state.h"

static void put_string(struct wr *w, const char *s)
{
	wr_le64(w, 0x70000);
	wr_le64(w, strlen(s));
	wr_bytes(w, s, strlen(s));
}

/* What reading two labels asks for, in that order. */
uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char *const texts[] = {"job", "alpha", "zone", "z1"};
	struct wr w = {0};

	if (i > 1)
		return NULL;
	wr_u8(&w, (uint8_t)(INTERPRETER_GO_LABEL_MAP + i));
	for (uint64_t at = 1; at <= 4; at++) /* g, m, its goroutine, the labels */
		wr_le64(&w, at << 16);
	if (i) {
		wr_le64(&w, 0x60000);
		wr_le64(&w, 2);
	} else {
		wr_le64(&w, 0x60000);
		wr_le64(&w, 2);
		wr_le64(&w, 0);
		wr_le64(&w, 0x61000);
		wr_le64(&w, 0);
		wr_le64(&w, 0x998a); /* hashes of two */
	}
	for (unsigned k = 0; k < n_elems(texts); k++)
		put_string(&w, texts[k]);
	*ret_n = w.n;
	return w.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_memory m = {.rd = rd_init(data, n)};
	struct python_input in = {.interpreter = rd_u8(&m.rd),
				  .runtime = GO_ANCHOR(0x168, 0xc0),
				  .thread = 0x7f0011223344ull,
				  .read = fuzz_memory_read,
				  .tell = fuzz_memory_tell,
				  .ctx = &m};
	const uint64_t number = go_labels_number(&in);
	struct profile p;

	profile_init(&p);
	FUZZ_REQUIRE(number <= SCRIPT_CODE_MASK);
	if (number)
		FUZZ_REQUIRE(scripts_labels(&m.scripts, &p, FRAME_SCRIPT(number, 0)) < p.strings.n);
	scripts_add(&m.scripts, data, n);
	profile_check(&p);
	profile_release(&p);
	scripts_release(&m.scripts);
	return 0;
}
