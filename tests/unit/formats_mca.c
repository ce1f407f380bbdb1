/* SPDX-License-Identifier: BSD-2-Clause */
/* What llvm-mca writes, read, and kept. */
#include "formats/mca.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mca_t.h"
#include "t.h"

TEST(a_chain_of_results)
{
	struct mca m;

	EXPECT_EQ(mca_read(mca_t_json, strlen(mca_t_json), 1, &m, NULL), 0);
	EXPECT_STR(m.cpu, "skylake");
	EXPECT_EQ(m.width, 6);
	EXPECT_EQ(m.blocks.n, 1);
	EXPECT_EQ(m.blocks.v[0].n_insns, 2);
	/* addsd waits 4 cycles for the one before it: its latency on that CPU. */
	EXPECT_EQ((int)m.blocks.v[0].repeated, 4);
	EXPECT_EQ((int)m.blocks.v[0].apart, 1);
	EXPECT_EQ(m.blocks.v[0].bound, MCA_CHAIN);
	EXPECT(m.insns.v[0].loads && !m.insns.v[1].loads);
	EXPECT_EQ(m.insns.v[1].latency, 4);
	EXPECT(m.insns.v[0].in_chain || m.insns.v[1].in_chain);
	mca_release(&m);
}

/* Reads mca_t_json with the busiest unit, SKLPort0, called NAME in JSON; its name in RET. */
static void read_with_unit(const char *name, char ret[MCA_TEXT])
{
	static const char was[] = "\"SKLPort0\"";
	const char *at = strstr(mca_t_json, was);
	struct wr w = {0};
	struct mca m;

	REQUIRE(at);
	wr_bytes(&w, mca_t_json, (size_t)(at - mca_t_json));
	wr_bytes(&w, name, strlen(name));
	wr_bytes(&w, at + strlen(was), strlen(at + strlen(was)));
	EXPECT_EQ(mca_read(w.v, w.n, 1, &m, NULL), 0);
	snprintf(ret, MCA_TEXT, "%s", m.blocks.n ? m.blocks.v[0].port : "");
	mca_release(&m);
	wr_release(&w);
}

/* LLVM writes the number of one of several units alike as a character, 0 among them. */
TEST(units_with_numbers)
{
	char name[MCA_TEXT];

	read_with_unit("\"Zn3FPP45.\\u0000\"", name);
	EXPECT_STR(name, "Zn3FPP45.0");
	read_with_unit("\"N1UnitL.\\u0001\"", name);
	EXPECT_STR(name, "N1UnitL.1");
	read_with_unit("\"CyUnitIS.\\n\"", name);
	EXPECT_STR(name, "CyUnitIS.10");
	read_with_unit("\"a\\u001b.\\u0001\"", name);
	EXPECT_STR(name, "a?.1");
	read_with_unit("\"a.b\"", name);
	EXPECT_STR(name, "a.b");
	read_with_unit("\"a\\u0001b\"", name);
	EXPECT_STR(name, "a?b");
}

TEST(not_what_llvm_mca_writes)
{
	struct mca m;
	struct err err;

	EXPECT_EQ(mca_read(mca_t_json, strlen(mca_t_json), 2, &m, &err), -EBADMSG);
	EXPECT_STR(err.msg, "1 blocks instead of 2");
	EXPECT_EQ(mca_read("{}", 2, 1, &m, &err), -EBADMSG);
	EXPECT_EQ(mca_read("{", 1, 1, &m, &err), -EBADMSG);
	EXPECT_EQ(m.blocks.n, 0);
}

TEST(a_block_without_instructions_is_kept)
{
	struct mca m = {.cpu = "znver2"}, back;
	struct wr w = {0};

	vec_push(&m.blocks, (struct mca_block){0});
	mca_format(&m, &w);
	EXPECT_EQ(mca_parse(w.v, w.n, &back, NULL), 0);
	EXPECT_EQ(back.blocks.n, 1);
	mca_release(&back);
	mca_release(&m);
	wr_release(&w);
}

TEST(kept_and_cut_anywhere)
{
	struct mca m, back;
	struct wr w = {0};

	EXPECT_EQ(mca_read(mca_t_json, strlen(mca_t_json), 1, &m, NULL), 0);
	EXPECT_EQ(mca_read(mca_t_json, strlen(mca_t_json), 1, &back, NULL), 0);
	EXPECT_EQ(mca_append(&m, &back), 0);
	mca_release(&back);
	mca_format(&m, &w);
	EXPECT_EQ(mca_parse(w.v, w.n, &back, NULL), 0);
	EXPECT_EQ(back.blocks.n, 2);
	EXPECT_EQ(back.blocks.v[1].first, 2);
	EXPECT(back.insns.v[3].own == m.insns.v[1].own);
	mca_release(&back);
	for (size_t n = 0; n < w.n; n++)
		EXPECT(mca_parse(w.v, n, &back, NULL) < 0);
	for (size_t i = 0; i < w.n; i++) {
		w.v[i] ^= 1;
		EXPECT(mca_parse(w.v, w.n, &back, NULL) < 0);
		w.v[i] ^= 1;
	}
	wr_release(&w);
	mca_release(&m);
}
