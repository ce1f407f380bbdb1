/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables as a whole: gaps, overlaps, merging, segments, sections laid over each other; and how
 * records say where code is. */
#include <errno.h>
#include <stdlib.h>

#include "t.h"
#include "unwind_t.h"

#define AT(svma, rule) EXPECT_STR(rule_at(&t, TEXT_SVMA + (svma)), rule)

/* An FDE whose whole code has CFA sp + 8 * WORDS. */
static void put_function(struct wr *w, size_t cie, uint64_t svma, uint32_t size, uint32_t words)
{
	struct wr p = {0};

	wr_u8(&p, 0x0e);
	wr_uleb(&p, words * 8);
	put_fde(w, cie, svma, size, p.v, p.n);
	wr_release(&p);
}

static bool build(const struct unwind_input *in, struct unwind_table *t)
{
	struct err err = {0};
	int rc = unwind_build(in, t, &err);

	if (rc < 0) {
		t_fail_("not built: %s", err.msg);
		return false;
	}
	if (table_fault(t))
		t_fail_("%s", table_fault(t));
	return true;
}

TEST(gaps_and_neighbours)
{
	struct wr w = {0};
	size_t cie = put_plain_cie(&w, EM_X86_64);
	struct unwind_input in;
	struct unwind_table t;

	/* Not in the order of the code. */
	put_function(&w, cie, TEXT_SVMA + 0x130, 0x10, 3);
	put_function(&w, cie, TEXT_SVMA + 0x100, 0x10, 2);
	put_function(&w, cie, TEXT_SVMA + 0x110, 0x10, 2);
	put_function(&w, cie, TEXT_SVMA + 0x1000, 0x10, 2);
	in = input_of(EM_X86_64, &w);
	REQUIRE(build(&in, &t));
	AT(0xff, "no fde");
	AT(0x100, "sp+16 ra@-1");
	AT(0x11f, "sp+16 ra@-1");
	AT(0x120, "no fde");
	AT(0x130, "sp+24 ra@-1");
	AT(0x140, "no fde");
	AT(0x800, "no fde"); /* in a block without a row */
	AT(0xfff, "no fde");
	AT(0x100f, "sp+16 ra@-1");
	AT(0x1010, "no fde");
	AT(0x100000, "no fde");
	AT(-0x1000, "no fde");
	EXPECT_EQ(t.n_rows, 1 + 2 + 2 + 2); /* a gap first; the two alike are one */
	EXPECT_EQ(t.n_rules, 3);
	EXPECT_EQ(t.n_text_bytes, 0x40);
	EXPECT_EQ(t.first_off, TEXT_OFF);
	EXPECT_EQ(t.n_blocks, 5);
	EXPECT_EQ(unwind_table_bytes(&t), 6 * 4 + 7 * 4);
	unwind_table_release(&t);
	unwind_table_release(&t); /* once more does nothing */
	wr_release(&w);
}

TEST(a_table_that_ends_with_a_block)
{
	struct wr w = {0};
	size_t cie = put_plain_cie(&w, EM_X86_64);
	struct unwind_input in;
	struct unwind_table t;

	put_function(&w, cie, TEXT_SVMA + 0x400, 0x400, 2);
	in = input_of(EM_X86_64, &w);
	REQUIRE(build(&in, &t));
	AT(0x3ff, "no fde");
	AT(0x400, "sp+16 ra@-1");
	AT(0x7ff, "sp+16 ra@-1");
	AT(0x800, "no fde");
	EXPECT_EQ(t.n_rows, 1);
	EXPECT_EQ(t.n_blocks, 1);
	unwind_table_release(&t);
	wr_release(&w);
}

TEST(overlaps)
{
	struct wr w = {0};
	size_t cie = put_plain_cie(&w, EM_X86_64);
	struct unwind_input in;
	struct unwind_table t;

	put_function(&w, cie, TEXT_SVMA, 0x100, 2);
	put_function(&w, cie, TEXT_SVMA + 0x40, 0x20, 3); /* inside */
	put_function(&w, cie, TEXT_SVMA + 0x200, 0x100, 4);
	put_function(&w, cie, TEXT_SVMA + 0x280, 0x100, 5); /* over its end */
	put_function(&w, cie, TEXT_SVMA + 0x200, 0x40, 6);  /* of the same start */
	in = input_of(EM_X86_64, &w);
	REQUIRE(build(&in, &t));
	AT(0x3f, "sp+16 ra@-1");
	AT(0x40, "sp+24 ra@-1");
	AT(0x5f, "sp+24 ra@-1");
	AT(0x60, "no fde");
	AT(0x200, "sp+32 ra@-1");
	AT(0x27f, "sp+32 ra@-1");
	AT(0x280, "sp+40 ra@-1");
	AT(0x37f, "sp+40 ra@-1");
	AT(0x380, "no fde");
	unwind_table_release(&t);
	wr_release(&w);
}

TEST(entries_are_short)
{
	struct wr w = {0};
	size_t cie = put_plain_cie(&w, EM_X86_64);
	struct unwind_input in;
	struct unwind_table t;

	put_fde(&w, cie, TEXT_SVMA, 0x1000, PROGRAM(0x07, 16)); /* rip is undefined */
	put_fde(&w, cie, TEXT_SVMA + 0x2000, 0x1001, PROGRAM(0x07, 16));
	in = input_of(EM_X86_64, &w);
	REQUIRE(build(&in, &t));
	AT(0xfff, "end");
	AT(0x2000, "damaged");
	unwind_table_release(&t);
	wr_release(&w);
}

TEST(code_that_is_not_there)
{
	struct wr w = {0};
	size_t cie = put_plain_cie(&w, EM_X86_64);
	struct unwind_input in;
	struct unwind_table t;

	put_function(&w, cie, TEXT_SVMA + 0x100, 0, 2);		 /* empty */
	put_function(&w, cie, TEXT_SVMA - 0x100, 0x40, 2);	 /* before the segment */
	put_function(&w, cie, TEXT_SVMA + TEXT_SIZE, 0x40, 2);	 /* behind */
	put_function(&w, cie, TEXT_SVMA + TEXT_SIZE - 4, 16, 3); /* over its end */
	put_function(&w, cie, 0, 0x40, 2);			 /* thrown away by the linker */
	in = input_of(EM_X86_64, &w);
	REQUIRE(build(&in, &t));
	EXPECT_EQ(t.n_fdes, 1);
	AT(TEXT_SIZE - 4, "sp+24 ra@-1");
	EXPECT_EQ(t.n_text_bytes, 4);
	unwind_table_release(&t);
	wr_release(&w);
}

TEST(segments_turn_addresses_into_offsets)
{
	struct wr w = {0};
	size_t cie = put_plain_cie(&w, EM_X86_64);
	struct unwind_input in;
	struct unwind_table t;

	put_function(&w, cie, 0x600040, 0x40, 2);
	put_function(&w, cie, 0x700040, 0x40, 3);
	in = input_of(EM_X86_64, &w);
	in.n_segments = 2;
	in.segments[0] = (struct unwind_segment){0x600000, 0x25000, 0x1000};
	in.segments[1] = (struct unwind_segment){0x700000, 0x3000, 0x1000};
	REQUIRE(build(&in, &t));
	EXPECT_EQ(t.first_off, 0x3000);
	EXPECT_STR(rule_text(unwind_table_find(&t, 0x25040)), "sp+16 ra@-1");
	EXPECT_STR(rule_text(unwind_table_find(&t, 0x3040)), "sp+24 ra@-1");
	EXPECT_STR(rule_text(unwind_table_find(&t, 0x13040)), "no fde");
	unwind_table_release(&t);
	wr_release(&w);
}

/* .debug_frame: VERSION of the CIE, in either format; the FDE may come first. */
static void put_debug_frame(struct wr *w, int version, bool is_64, bool fde_first, uint64_t svma,
			    uint64_t size, uint8_t words)
{
	struct wr records[2] = {0};
	uint64_t cie_off;

	for (int k = 0; k < 2; k++) {
		struct wr *r = &records[k];

		if (k == 0) {
			wr_u8(r, (uint8_t)version);
			wr_u8(r, 0);
			if (version >= 4)
				wr_le16(r, 8); /* address_size, segment_selector_size */
			wr_u8(r, 1);
			wr_u8(r, 0x78);
			wr_u8(r, 16);
			wr_bytes(r, PROGRAM(0x0c, 7, 8, 0x90, 1));
		} else {
			wr_le64(r, svma);
			wr_le64(r, size);
			wr_u8(r, 0x0e);
			wr_uleb(r, words * 8);
		}
		while (r->n % 8)
			wr_u8(r, 0);
	}
	cie_off = w->n + (fde_first ? records[1].n + (is_64 ? 20 : 8) : 0);
	for (int k = 0; k < 2; k++) {
		bool is_cie = (k == 0) != fde_first;
		struct wr *r = &records[is_cie ? 0 : 1];

		if (is_64) {
			wr_le32(w, 0xffffffff);
			wr_le64(w, r->n + 8);
			wr_le64(w, is_cie ? UINT64_MAX : cie_off);
		} else {
			wr_le32(w, (uint32_t)r->n + 4);
			wr_le32(w, is_cie ? UINT32_MAX : (uint32_t)cie_off);
		}
		wr_bytes(w, r->v, r->n);
		wr_release(r);
	}
}

TEST(versions_of_debug_frame)
{
	for (int version = 1; version <= 5; version++) {
		for (int form = 0; form < 4; form++) {
			struct unwind_input in = input_of(EM_X86_64, &(struct wr){0});
			struct unwind_table t;
			struct wr w = {0};
			int rc;

			put_debug_frame(&w, version, form & 1, form & 2, TEXT_SVMA + 8, 8, 3);
			in.debug_frame = (struct unwind_section){w.v, w.n, 0};
			rc = unwind_build(&in, &t, NULL);
			if (version == 2 || version == 5) { /* DWARF 2 has 1, DWARF 5 has 4 */
				EXPECT_EQ(rc, -ENOENT);
				wr_release(&w);
				continue;
			}
			REQUIRE(rc == 0);
			AT(7, "no fde");
			AT(8, "sp+24 ra@-1");
			AT(16, "no fde");
			EXPECT_EQ(t.n_damaged, 0);
			unwind_table_release(&t);
			wr_release(&w);
		}
	}
}

TEST(debug_frame_fills_gaps)
{
	struct wr w = {0}, d = {0};
	size_t cie = put_plain_cie(&w, EM_X86_64);
	struct unwind_input in;
	struct unwind_table t;

	put_function(&w, cie, TEXT_SVMA + 0x100, 0x100, 2);
	put_fde(&w, cie, TEXT_SVMA + 0x400, 0x100, PROGRAM(0x87, 2)); /* too complex */
	put_fde(&w, cie, TEXT_SVMA + 0x500, 0x100, PROGRAM(0x87, 2));
	put_debug_frame(&d, 3, false, false, TEXT_SVMA + 0x80, 0x200, 3);
	put_debug_frame(&d, 3, false, false, TEXT_SVMA + 0x480, 0x80, 4);
	in = input_of(EM_X86_64, &w);
	in.debug_frame = (struct unwind_section){d.v, d.n, 0};
	REQUIRE(build(&in, &t));
	AT(0x7f, "no fde");
	AT(0x80, "sp+24 ra@-1");
	AT(0xff, "sp+24 ra@-1");
	AT(0x100, "sp+16 ra@-1");
	AT(0x1ff, "sp+16 ra@-1");
	AT(0x200, "sp+24 ra@-1");
	AT(0x280, "no fde");
	AT(0x47f, "too complex");
	AT(0x480, "sp+32 ra@-1");
	AT(0x500, "too complex");
	AT(0x600, "no fde");
	EXPECT_EQ(t.n_too_complex, 2);
	EXPECT_EQ(t.n_fdes, 5);
	unwind_table_release(&t);
	wr_release(&w);
	wr_release(&d);
}

/* One function whose addresses are encoded as ENCODING says, with set_loc to its middle. */
static void put_encoded(struct wr *w, uint8_t encoding, const struct unwind_input *in,
			const char *augmentation)
{
	static const uint8_t n_bytes[16] = {8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8};
	uint64_t svma[2] = {TEXT_SVMA + 0x10, TEXT_SVMA + 0x18};
	size_t at = w->n, n = n_bytes[encoding & 15];

	wr_le32(w, 0);
	wr_le32(w, 0);
	wr_u8(w, 1);
	wr_bytes(w, augmentation, strlen(augmentation) + 1);
	wr_bytes(w, PROGRAM(1, 0x78, 16));
	for (const char *a = augmentation; *a; a++) {
		if (*a == 'z')
			wr_u8(w, strchr(a, 'P') ? 11 : strchr(a, 'L') ? 2 : 1);
		if (*a == 'R')
			wr_u8(w, encoding);
		if (*a == 'L')
			wr_u8(w, 0x1b);
		if (*a == 'P') {
			wr_u8(w, 0x80);
			wr_le64(w, 0x1122334455667788);
		}
	}
	wr_bytes(w, PROGRAM(0x0c, 7, 8, 0x90, 1));
	end_record(w, at);
	at = w->n;
	wr_le32(w, 0);
	wr_le32(w, (uint32_t)w->n);
	for (int k = 0; k < 3; k++) {
		uint64_t v = k == 1 ? 0x10 : svma[k / 2], field = EH_SVMA + w->n, base = 0;
		size_t i = 0;

		if (k == 2) {
			wr_u8(w, 0); /* no augmentation data */
			wr_u8(w, 1); /* DW_CFA_set_loc */
			field = EH_SVMA + w->n;
		}
		if ((encoding & 0x70) == 0x10)
			base = field;
		else if ((encoding & 0x70) == 0x20)
			base = in->text_svma;
		else if ((encoding & 0x70) == 0x30)
			base = in->data_svma;
		else if ((encoding & 0x70) == 0x50 && k != 1)
			while ((EH_SVMA + w->n) % 8)
				wr_u8(w, 0xee);
		if (k != 1)
			v -= base;
		if (n == 0) /* LEB128 of a fixed length, signed or not */
			for (i = 0; i < 9; i++, v = (uint64_t)((int64_t)v >> 7))
				wr_u8(w, (uint8_t)(v & 0x7f) | (i < 8 ? 0x80 : 0));
		for (; i < n; i++)
			wr_u8(w, (uint8_t)(v >> 8 * i));
	}
	wr_bytes(w, PROGRAM(0x0e, 16));
	end_record(w, at);
}

TEST(encodings_of_addresses)
{
	static const struct {
		uint8_t encoding;
		bool good;
	} cases[] = {
		{0x00, true},  {0x01, true},  {0x03, true},  {0x04, true},  {0x08, true},
		{0x09, true},  {0x0b, true},  {0x0c, true},  {0x10, true},  {0x1b, true},
		{0x1c, true},  {0x19, true},  {0x22, true},  {0x2a, true},  {0x2b, true},
		{0x32, true},  {0x3b, true},  {0x50, true},  {0x40, false}, {0x90, false},
		{0x05, false}, {0x0f, false}, {0x60, false},
	};
	static const char *const augmentations[] = {"zR", "zLR", "zPLR", "zSR", "zBR", "zRQ"};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int a = 0; a < 6; a++) {
			struct unwind_input in = {.text_svma = TEXT_SVMA - 0x100,
						  .data_svma = TEXT_SVMA - 0x200};
			uint64_t text = in.text_svma, data = in.data_svma;
			struct unwind_table t;
			struct wr w = {0};
			int rc;

			put_encoded(&w, cases[i].encoding, &in, augmentations[a]);
			in = input_of(EM_X86_64, &w);
			in.text_svma = text;
			in.data_svma = data;
			rc = unwind_build(&in, &t, NULL);
			if (rc != (cases[i].good ? 0 : -ENOENT))
				t_fail_("encoding %#x, %s: %d", cases[i].encoding, augmentations[a],
					rc);
			if (rc == 0) {
				AT(0x0f, "no fde");
				AT(0x10, "sp+8 ra@-1");
				AT(0x17, "sp+8 ra@-1");
				AT(0x18, "sp+16 ra@-1");
				AT(0x1f, "sp+16 ra@-1");
				AT(0x20, "no fde");
				unwind_table_release(&t);
			}
			wr_release(&w);
		}
	}
}

TEST(records_that_cannot_be_read)
{
	struct wr w = {0};
	struct unwind_input in;
	struct unwind_table t;
	size_t cie;

	wr_le32(&w, 0);					    /* a terminator, as of a list before */
	put_cie(&w, EM_X86_64, "", PROGRAM(0x0b));	    /* its program is damaged */
	put_cie(&w, EM_X86_64, "", PROGRAM(0x41, 0x0e, 8)); /* it may not advance */
	put_function(&w, 4, TEXT_SVMA, 16, 2);		    /* of the damaged one */
	put_function(&w, 5, TEXT_SVMA, 16, 2);		    /* of none */
	cie = put_plain_cie(&w, EM_X86_64);
	put_function(&w, cie, TEXT_SVMA + 16, 16, 2);
	in = input_of(EM_X86_64, &w);
	REQUIRE(build(&in, &t));
	AT(0, "no fde");
	AT(16, "sp+16 ra@-1");
	EXPECT_EQ(t.n_damaged, 4);
	EXPECT_EQ(t.n_fdes, 1);
	unwind_table_release(&t);
	wr_release(&w);
}

/* A build that may take so much takes no more: whatever it is allowed, the table is the whole one,
 * or none. */
TEST(memory_that_is_allowed)
{
	enum { N = 300 };
	struct wr w = {0};
	size_t cie = put_plain_cie(&w, EM_X86_64), enough = 0;
	struct unwind_input in;
	struct unwind_table all, t;
	struct err err;

	for (uint32_t i = 0; i < N; i++) /* not in the order of the code */
		put_function(&w, cie, TEXT_SVMA + 16 * (i * 7 % N), 8, 2 + i % 3);
	in = input_of(EM_X86_64, &w);
	REQUIRE(build(&in, &all));
	for (in.most_bytes = 1; in.most_bytes < 40 * N; in.most_bytes += 97) {
		int rc = unwind_build(&in, &t, &err);

		EXPECT(rc == 0 || (rc == -E2BIG && !enough));
		if (rc < 0)
			continue;
		if (!enough)
			enough = in.most_bytes;
		EXPECT_EQ(t.n_rows, all.n_rows);
		EXPECT(memcmp(t.rows, all.rows, t.n_rows * sizeof(*t.rows)) == 0);
		EXPECT_EQ(t.n_text_bytes, all.n_text_bytes);
		unwind_table_release(&t);
	}
	/* Twice 12 bytes a function while they are sorted, or once and twice 8 for its rows. */
	EXPECT(enough >= 28 * N && enough < 28 * N + 200);
	unwind_table_release(&all);
	wr_release(&w);
}

TEST(errors)
{
	struct wr w = {0};
	size_t cie = put_plain_cie(&w, EM_X86_64);
	struct unwind_input in = input_of(EM_X86_64, &w);
	struct unwind_table t;
	struct err err;

	EXPECT_EQ(unwind_build(&in, &t, &err), -ENOENT);
	EXPECT_STR(err.msg, "no frame information");
	in.machine = EM_RISCV;
	EXPECT_EQ(unwind_build(&in, &t, &err), -ENOTSUP);
	put_function(&w, cie, TEXT_SVMA, 16, 2);
	in = input_of(EM_X86_64, &w);
	in.n_segments = 0;
	EXPECT_EQ(unwind_build(&in, &t, &err), -ENOENT);
	in = input_of(EM_X86_64, &w);
	in.segments[0].n_bytes = UINT64_MAX;
	EXPECT_EQ(unwind_build(&in, &t, &err), -EBADMSG);
	in = input_of(EM_X86_64, &w);
	in.segments[0].n_bytes = 2ull << 30;
	EXPECT_EQ(unwind_build(&in, &t, &err), -E2BIG);
	for (uint32_t i = 0; i < 65536; i++)
		put_function(&w, cie, TEXT_SVMA + i, 1, i);
	in = input_of(EM_X86_64, &w);
	EXPECT_EQ(unwind_build(&in, &t, &err), -E2BIG);
	wr_release(&w);
}

/* Many functions at random places beside a model that keeps a number for each byte. */
TEST(like_a_model_of_every_byte)
{
	struct t_rng rng = {.s = 20};

	for (unsigned c = 0; c < t_cases(30); c++) {
		uint32_t *model = calloc(TEXT_SIZE, sizeof(*model)),
			 n = (uint32_t)t_below(&rng, 200) + 1;
		struct fn {
			uint32_t start, size, words;
		} *fns = calloc(n, sizeof(*fns));
		struct wr w = {0};
		size_t cie = put_plain_cie(&w, EM_X86_64);
		struct unwind_input in;
		struct unwind_table t;

		for (uint32_t i = 0; i < n; i++) {
			fns[i].start = (uint32_t)t_below(&rng, TEXT_SIZE);
			fns[i].size = (uint32_t)t_below(&rng, 1u << t_below(&rng, 14)) + 1;
			fns[i].words = (uint32_t)t_below(&rng, 5) + 2;
			put_function(&w, cie, TEXT_SVMA + fns[i].start, fns[i].size, fns[i].words);
		}
		/* Each byte is its whose start is the last before it, if that reaches it. */
		for (uint32_t b = 0; b < TEXT_SIZE; b++) {
			const struct fn *best = NULL;

			for (uint32_t i = 0; i < n; i++)
				if (fns[i].start <= b && (!best || fns[i].start > best->start))
					best = &fns[i];
			if (best && b - best->start < best->size)
				model[b] = best->words;
		}
		in = input_of(EM_X86_64, &w);
		REQUIRE(build(&in, &t));
		for (uint32_t b = 0; b < TEXT_SIZE; b++) {
			const struct unwind_rule *r = unwind_table_find(&t, TEXT_OFF + b);

			if ((uint32_t)r->cfa_off != model[b] * 8) {
				t_fail_("case %u: at %#x sp+%d, not %u words", c, b, r->cfa_off,
					model[b]);
				break;
			}
		}
		unwind_table_release(&t);
		wr_release(&w);
		free(model);
		free(fns);
	}
}

/* Puts rules everywhere, in no order. */
static void read_wildly(void *ctx, uint64_t svma, uint64_t off, uint64_t n_bytes,
			unwind_put_fn *put, void *owner)
{
	static const int64_t at[] = {8, 4, -16, 1 << 30, 12, 12, INT64_MIN, 16};
	const struct unwind_rule rule = {
		.cfa = UNWIND_CFA_SP, .cfa_off = 64, .ra = UNWIND_RA_SAVED, .ra_at = -1};

	(void)off;
	++*(unsigned *)ctx;
	for (size_t i = 0; i < n_elems(at); i++)
		put(owner, svma + (uint64_t)at[i], &rule);
	put(owner, svma + n_bytes + 1, &rule);
}

TEST(rules_read_off_code_ascend_and_stay_in_their_gap)
{
	unsigned n_asked = 0;
	const struct unwind_input in = {
		.machine = EM_X86_64,
		.read_code = read_wildly,
		.code = &n_asked,
		.n_segments = 2,
		.segments = {{TEXT_SVMA, 0x1000, 0x200}, {TEXT_SVMA + 0x10000, 0x5000, 0x40}},
	};
	struct unwind_table t;

	REQUIRE(unwind_build(&in, &t, NULL) == 0);
	EXPECT_EQ(n_asked, 2);
	EXPECT(!table_fault(&t));
	for (unsigned i = 0; i < 2; i++) {
		EXPECT_EQ(unwind_table_find(&t, in.segments[i].off + 7)->cfa, UNWIND_CFA_NONE);
		EXPECT_EQ(unwind_table_find(&t, in.segments[i].off + 8)->cfa_off, 64);
		EXPECT_EQ(unwind_table_find(&t, in.segments[i].off + in.segments[i].n_bytes)->cfa,
			  UNWIND_CFA_NONE);
	}
	unwind_table_release(&t);
}
