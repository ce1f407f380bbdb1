/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as the code of a procedure, in one part or two, for each machine, with any bytes as its
 * jump tables: blocks lie in the code, edges lead to blocks, loops nest, and it ends. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/rd.h"
#include "fuzz.h"
#include "resolve/block_counts.h"
#include "resolve/flow_fit.h"
#include "resolve/loops.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const uint8_t x86[] = {
		0x00,						/* one part, x86-64 */
		0x83, 0xff, 0x02,				/* cmp $2,%edi */
		0x77, 0x11,					/* ja end */
		0x48, 0x8d, 0x15, 0x0f, 0x00, 0x00, 0x00,	/* lea table(%rip),%rdx */
		0x48, 0x63, 0x04, 0xba,				/* movslq (%rdx,%rdi,4),%rax */
		0x48, 0x01, 0xd0,				/* add %rdx,%rax */
		0xff, 0xe0,					/* jmp *%rax */
		0x75, 0xe9,					/* jne start */
		0xc3, 0x90, 0x90, 0x90,				/* end: ret */
		0xfc, 0xff, 0xff, 0xff, 0xfa, 0xff, 0xff, 0xff, /* table */
		0xfc, 0xff, 0xff, 0xff,
	};
	static const uint8_t arm64[] = {
		0x02,			/* one part, arm64 */
		0x1f, 0x08, 0x00, 0x71, /* cmp w0, #2 */
		0xe8, 0x00, 0x00, 0x54, /* b.hi */
		0x21, 0x01, 0x00, 0x10, /* adr x1, table */
		0x21, 0x48, 0x60, 0x38, /* ldrb w1, [x1, w0, uxtw] */
		0x60, 0x00, 0x00, 0x10, /* adr x0, . + 12 */
		0x01, 0x88, 0x21, 0x8b, /* add x1, x0, w1, sxtb #2 */
		0x20, 0x00, 0x1f, 0xd6, /* br x1 */
		0xf9, 0xff, 0xff, 0x17, /* b start */
		0x1f, 0x20, 0x03, 0xd5, /* nop */
		0xc0, 0x03, 0x5f, 0xd6, /* ret */
		0x20, 0x00, 0x20, 0xd4, /* brk */
		0x00, 0x01, 0x02, 0x00, /* table */
	};
	static const uint8_t tangle[] = {
		0x03,						/* two parts, x86-64 */
		0x74, 0x04, 0x75, 0x02, 0xeb, 0xfa, 0x74, 0xf8, /* jumps over each other */
		0x75, 0xf8, 0xeb, 0xf6, 0xff, 0xe0, 0xe2, 0xf0, 0xc3,
	};
	static const struct {
		const uint8_t *bytes;
		size_t n;
	} seeds[] = {{x86, sizeof(x86)}, {arm64, sizeof(arm64)}, {tangle, sizeof(tangle)}};
	uint8_t *copy = i < 3 ? malloc(seeds[i].n) : NULL;

	if (copy) {
		memcpy(copy, seeds[i].bytes, seeds[i].n);
		*ret_n = seeds[i].n;
	}
	return copy;
}

#define START 0x10000

struct input {
	const uint8_t *bytes;
	size_t n;
};

static bool no_return(void *ctx, uint64_t svma)
{
	return svma & 1;
}

static bool read_bytes(void *ctx, uint64_t svma, uint8_t *ret, size_t n)
{
	const struct input *in = ctx;

	if (svma < START || svma - START > in->n || n > in->n - (svma - START))
		return false;
	memcpy(ret, in->bytes + (svma - START), n);
	return true;
}

static bool has_byte(void *ctx, uint64_t svma)
{
	uint8_t byte;

	return read_bytes(ctx, svma, &byte, 1);
}

static bool is_in_part(const struct flow_code *code, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < code->n_parts; i++)
		if (code->parts[i].start <= start && end <= code->parts[i].end)
			return true;
	return false;
}

/* Any jumps, at any addresses: counts are no less than 0, and there when some are known. */
static void check_counts(const struct flow *f)
{
	struct block_count *counts = xcalloc(f->blocks.n, sizeof(*counts));
	struct flow_measure *measures = xcalloc(f->blocks.n, sizeof(*measures));
	VEC(struct run_end) ends = {0};

	for (size_t b = 0; b < f->blocks.n; b++) {
		const struct flow_block *k = &f->blocks.v[b];

		vec_push(&ends, (struct run_end){k->start + b % 3, (int64_t)(k->end % 97)});
		vec_push(&ends, (struct run_end){k->last - b % 2 + 1, -(int64_t)(k->start % 89)});
	}
	block_counts_of_branches(f, ends.v, ends.n, ends.n % 7, counts);
	for (size_t b = 0; b < f->blocks.n; b++)
		FUZZ_REQUIRE(counts[b].confidence != COUNT_UNKNOWN && counts[b].n >= 0);
	for (size_t b = 0; b < f->blocks.n; b += 2)
		measures[b] = (struct flow_measure){counts[b].n, 1, 0, true};
	flow_fit(f, measures, counts);
	for (size_t b = 0; b < f->blocks.n; b++)
		FUZZ_REQUIRE(counts[b].n >= 0 && counts[b].confidence != COUNT_UNKNOWN &&
			     counts[b].confidence != COUNT_EXACT);
	free(measures);
	vec_release(&ends);
	free(counts);
}

static void check(const struct flow_code *code)
{
	struct flow f;
	struct loops l;
	uint32_t chain[GRAPH_MAX_DEPTH + 1];
	int rc = flow_init(&f, code);

	FUZZ_REQUIRE(rc == 0 || rc == -EINVAL);
	if (rc < 0)
		return;
	FUZZ_REQUIRE(f.blocks.n > 0 && f.roots.n > 0);
	FUZZ_REQUIRE(f.blocks.v[f.roots.v[0]].start == code->parts[0].start);
	vec_each (b, &f.blocks)
		FUZZ_REQUIRE(b->start <= b->last && b->last < b->end &&
			     is_in_part(code, b->start, b->end));
	FUZZ_REQUIRE(f.first[0] == 0);
	for (size_t b = 0; b < f.blocks.n; b++)
		FUZZ_REQUIRE(f.first[b] <= f.first[b + 1]);
	for (uint32_t e = 0; e < f.first[f.blocks.n]; e++)
		FUZZ_REQUIRE(f.succ[e] < f.blocks.n);
	check_counts(&f);
	rc = loops_init(&l, &f);
	FUZZ_REQUIRE(rc == 0 || rc == -E2BIG);
	for (uint32_t i = 0; i < l.v.n; i++) {
		const struct loop *loop = &l.v.v[i];
		size_t n = loops_find_chain(&l, loop->header, chain, GRAPH_MAX_DEPTH + 1);

		FUZZ_REQUIRE(is_in_part(code, loop->header, loop->header + 1));
		FUZZ_REQUIRE(loop->parent == LOOP_NONE || loop->parent < i);
		FUZZ_REQUIRE(loop->depth ==
			     (loop->parent == LOOP_NONE ? 0 : l.v.v[loop->parent].depth + 1));
		FUZZ_REQUIRE(n <= GRAPH_MAX_DEPTH + 1);
		for (size_t k = 0; k < n; k++)
			FUZZ_REQUIRE(l.v.v[chain[k]].depth == k);
	}
	loops_release(&l);
	flow_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const uint16_t machines[] = {EM_X86_64, EM_AARCH64, EM_386};
	struct input in = {.bytes = data + 1, .n = n - 1};
	struct flow_code code = {.n_parts = 1,
				 .no_return = no_return,
				 .read = read_bytes,
				 .has = has_byte,
				 .ctx = &in};

	if (n < 2 || n > 65536)
		return 0;
	code.machine = machines[data[0] / 2 % 3];
	code.parts[0] = (struct flow_part){.start = START, .end = START + in.n, .bytes = in.bytes};
	if (data[0] % 2 && in.n > 1) { /* the second half comes first */
		size_t half = in.n / 2;

		code.n_parts = 2;
		code.parts[1] = code.parts[0];
		code.parts[1].end = START + half;
		code.parts[0].start += half;
		code.parts[0].bytes += half;
	}
	check(&code);
	return 0;
}
