/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of HotSpot's that says anything, and another thing each time it is read: the walk ends,
 * what it tells is taken or refused, and every frame has a place. */
#include <string.h>

#include "base/rd.h"
#include "base/wr.h"
#include "collect/calls/scripts.h"
#include "fuzz.h"
#include "unwind/chain.h"
#include "unwind/hotspot_state.h"
#include "unwind/python_host.h"

#define HEAP  0x7f0000000000ull
#define STACK 0x7ffd00001000ull

struct memory {
	struct rd rd;
	struct scripts scripts;
};

static bool memory_read(void *ctx, uint64_t avma, void *ret, uint32_t n)
{
	struct memory *m = ctx;
	const uint8_t *bytes = rd_bytes(&m->rd, n);

	if (!bytes || m->rd.bad)
		return false;
	memcpy(ret, bytes, n);
	return true;
}

static void memory_tell(void *ctx, const struct script_record *r, size_t n)
{
	struct memory *m = ctx;

	FUZZ_REQUIRE(n <= sizeof(*r));
	scripts_add(&m->scripts, (const uint8_t *)r, n);
}

static void put_symbol(struct wr *w, const struct hotspot_layout *l, const char *s)
{
	wr_le64(w, (uint64_t)strlen(s) << 8 * l->symbol_length); /* its head */
	wr_bytes(w, s, strlen(s));
}

/* What a walk over two frames of one compiled method reads, in that order. */
uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	const uint32_t interpreter = INTERPRETER_HOTSPOT_FIRST + i;
	const struct hotspot_layout *l = HOTSPOT_LAYOUT(interpreter);
	struct wr w = {0};

	if (interpreter > INTERPRETER_HOTSPOT_8)
		return NULL;
	wr_u8(&w, (uint8_t)interpreter);
	wr_le64(&w, 0x1000); /* the list of heaps, its data, how many, and the one */
	wr_le64(&w, 0x2000);
	wr_le64(&w, 1);
	wr_le64(&w, 0x3000);
	wr_le64(&w, HEAP);
	wr_le64(&w, HEAP + 0x100000);
	wr_le64(&w, 0x4000);
	wr_le64(&w, 7);
	for (int frame = 0; frame < 2; frame++) {
		uint8_t blob[HOTSPOT_FULL_WORDS * 8] = {0}, constants[56] = {0};

		wr_u8(&w, 1); /* segments */
		wr_u8(&w, 0);
		blob[l->frame_size] = 4;
		blob[l->name + 1] = 0x50;
		blob[l->method + 1] = 0x60;
		blob[l->pcs_end] = HOTSPOT_PC_BYTES;
		wr_bytes(&w, blob, sizeof(blob));
		wr_bytes(&w, "nmethod\0CodeBlo", 16);
		if (!frame) {
			wr_bytes(&w, "0123456789abcdef", 16); /* code */
			wr_bytes(&w, "01234567", 8);
		}
		wr_le64(&w, 0x7000); /* its ConstMethod */
		constants[l->pool + 1] = 0x80;
		constants[l->const_words] = 8;
		constants[l->flags] = HOTSPOT_HAS_LINES;
		constants[l->code_size] = 5;
		constants[l->name_index] = 1;
		wr_bytes(&w, constants, sizeof(constants));
		wr_le64(&w, 0x9000); /* the class and its name */
		wr_le64(&w, 0xa000);
		wr_le64(&w, 3ull << 32);
		if (!frame) {
			wr_le64(&w, 0x9000);
			wr_le64(&w, 2); /* the source file's number */
			put_symbol(&w, l, "a/C");
			wr_le64(&w, 0xb000);
			put_symbol(&w, l, "run");
			wr_le64(&w, 0xc000);
			put_symbol(&w, l, "C.java");
			wr_bytes(&w, "\x0a\x2b\0\0\0\0\0\0\0\0\0", 11);
		}
		wr_le32(&w, 0x1000); /* a PcDesc, its scope, its method, once more */
		wr_le32(&w, 1);
		wr_bytes(&w,
			 "\1\2\3\4\5\6\7\x08"
			 "01234567",
			 16);
		wr_le64(&w, 0x6000);
		wr_le64(&w, 0x7000);
		wr_bytes(&w, constants, sizeof(constants));
		wr_le64(&w, 0x9000);
		wr_le64(&w, 0xa000);
		wr_le64(&w, 3ull << 32);
		wr_le64(&w, HEAP + 0x100); /* return address, frame pointer */
		wr_le64(&w, STACK + 0x1000);
	}
	*ret_n = w.n;
	return w.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct memory m = {.rd = rd_init(data, n)};
	struct python_input in = {.interpreter = rd_u8(&m.rd),
				  .runtime = 0x100,
				  .ip = HEAP + 0x120,
				  .sp = STACK,
				  .thread = STACK + 0x100,
				  .r13 = STACK + 0x20,
				  .rax = HEAP + 0x200,
				  .read = memory_read,
				  .tell = memory_tell,
				  .ctx = &m};
	uint64_t frames[CHAIN_MAX_FRAMES];
	struct python_frames out = {.frames = frames, .max = CHAIN_MAX_FRAMES};
	struct profile p;

	profile_init(&p);
	hotspot_walk_frames(&in, &out);
	FUZZ_REQUIRE(out.n <= CHAIN_MAX_FRAMES);
	scripts_add(&m.scripts, data, n);
	for (uint32_t i = 0; i < out.n; i++) {
		FUZZ_REQUIRE(FRAME_IS_SCRIPT(out.frames[i]));
		FUZZ_REQUIRE(scripts_place(&m.scripts, &p, out.frames[i]) < p.places.n);
	}
	profile_check(&p);
	profile_release(&p);
	scripts_release(&m.scripts);
	return 0;
}
