/* SPDX-License-Identifier: BSD-2-Clause */
/* Frame information of others: a byte that chooses the machine, two lengths, and the bytes of
 * .eh_frame, .debug_frame and .sframe. */
#include "fuzz.h"
#include "base/rd.h"
#include "unit/unwind_t.h"

/* Programs with every instruction. */
static void put_functions(struct wr *w, uint16_t machine)
{
	size_t plain = put_plain_cie(w, machine);
	size_t signal = put_cie(w, machine, "S", PROGRAM(0x0c, 7, 8, 0x90, 1));

	put_fde(w, plain, TEXT_SVMA, 0x40,
		PROGRAM(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x41, 0x83, 3, 0x02, 9, 0x0a, 0x0c,
			7, 8, 0x41, 0x0b, 0x03, 2, 0, 0x05, 6, 2, 0x06, 6, 0x04, 4, 0, 0, 0, 0x07,
			3, 0x08, 3, 0x09, 6, 9));
	put_fde(w, plain, TEXT_SVMA + 0x40, 0x3000,
		PROGRAM(0x0c, 10, 0, 0x42, 0x10, 6, 2, 0x76, 0, 0x42, 0x0f, 3, 0x76, 0x78, 0x06,
			0x10, 3, 2, 0x76, 0x68, 0x03, 0, 0x20, 0x0c, 7, 8, 0xc6));
	put_fde(w, plain, TEXT_SVMA + 0x4000, 0x100,
		PROGRAM(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
	put_fde(w, plain, TEXT_SVMA + 0x5000, 0x100,
		PROGRAM(0x0f, 6, 0x77, 0x98, 1, 0x06, 0x23, 8, 0x41, 0x12, 7, 0x7e, 0x41, 0x13,
			0x7d, 0x11, 6, 0x7e, 0x14, 6, 2, 0x15, 3, 0x7e, 0x16, 7, 2, 0x23, 0, 0x2e,
			16, 0x2f, 6, 2, 0x41, 0x2d));
	put_fde(w, signal, TEXT_SVMA + 0x6000, 9,
		PROGRAM(0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 16, 3, 0x77, 0xa8, 1));
	put_fde(w, plain, TEXT_SVMA + 0x20, 0x40, PROGRAM(0x07, 16, 0x1d, 1, 0, 0, 0, 0, 0, 0, 0));
}

static void put_debug_frame(struct wr *w)
{
	wr_le32(w, 16);
	wr_le32(w, UINT32_MAX);
	wr_bytes(w, PROGRAM(4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1));
	wr_le32(w, 28);
	wr_le32(w, 0);
	wr_le64(w, TEXT_SVMA + 0x800);
	wr_le64(w, 0x4000);
	wr_bytes(w, PROGRAM(0x48, 0x0e, 16, 0x48, 0x86, 2, 0, 0));
}

static void put_sframe(struct wr *w)
{
	wr_bytes(w, PROGRAM(0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0));
	wr_le32(w, 1);
	wr_le32(w, 3);
	wr_le32(w, 11);
	wr_le32(w, 0);
	wr_le32(w, 20);
	wr_le32(w, (uint32_t)(TEXT_SVMA + 0x7000 - EH_SVMA));
	wr_le32(w, 0x100);
	wr_le32(w, 0);
	wr_le32(w, 3);
	wr_le32(w, 0);
	wr_bytes(w, PROGRAM(0, 3, 8, 1, 5, 16, 0xf0, 4, 4, 16, 0xf0));
}

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct wr w = {0}, sections[3] = {0};

	if (i > 1)
		return NULL;
	put_functions(&sections[0], i ? EM_AARCH64 : EM_X86_64);
	put_debug_frame(&sections[1]);
	put_sframe(&sections[2]);
	wr_u8(&w, (uint8_t)i);
	wr_le16(&w, (uint16_t)sections[0].n);
	wr_le16(&w, (uint16_t)sections[1].n);
	for (int k = 0; k < 3; k++) {
		wr_bytes(&w, sections[k].v, sections[k].n);
		wr_release(&sections[k]);
	}
	*ret_n = w.n;
	return w.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct rd r = rd_init(data, n);
	uint16_t machine = rd_u8(&r) & 1 ? EM_AARCH64 : EM_X86_64;
	size_t n_eh = rd_le16(&r), n_debug = rd_le16(&r);
	struct unwind_input in = input_of(machine, &(struct wr){0});
	struct unwind_table t;

	in.eh_frame = (struct unwind_section){rd_bytes(&r, n_eh), n_eh, EH_SVMA};
	in.debug_frame = (struct unwind_section){rd_bytes(&r, n_debug), n_debug, 0};
	in.sframe = (struct unwind_section){r.p, rd_left(&r), EH_SVMA};
	if (unwind_build(&in, &t, NULL) < 0)
		return 0;
	FUZZ_REQUIRE(!table_fault(&t));
	FUZZ_REQUIRE(t.n_rows <= n + 2 && t.n_text_bytes <= TEXT_SIZE);
	for (uint64_t off = TEXT_OFF - 1; off <= TEXT_OFF + TEXT_SIZE; off += 61)
		unwind_table_find(&t, off);
	unwind_table_release(&t);
	return 0;
}
