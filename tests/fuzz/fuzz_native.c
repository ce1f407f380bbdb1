/* SPDX-License-Identifier: BSD-2-Clause */
/* A server's answer: what is read lies in the bytes given; nothing else is touched. */
#include "formats/native.h"

#include "base/cleanup.h"
#include "formats/gzip.h"
#include "fuzz.h"

static const struct native_col cols[] = {
	{"id", "UInt64"}, {"kind", "UInt8"}, {"name", "String"}, {"svmas", "Array(UInt64)"}};
#define N_COLS (sizeof(cols) / sizeof(*cols))

struct seen {
	const uint8_t *from, *to;
	uint64_t sum;
};

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	_str_ struct str packed = {0};
	struct gzip_packer *g;
	struct native_block b;
	struct wr out = {0};

	if (i > 2)
		return NULL;
	native_init(&b, cols, N_COLS);
	for (unsigned k = 0; k < 3 * i + 1; k++) {
		native_add_u64(&b, 0, k * 0x123456789abcull);
		native_add_u64(&b, 1, k);
		native_add_text(&b, 2, k % 2 ? "main" : "");
		native_add_list(&b, 3, (uint64_t[]){k, k + 1, k + 2}, k % 4);
		native_end_row(&b);
	}
	g = gzip_begin(&packed, 4);
	native_pack(&b, g);
	gzip_end(g);
	native_release(&b);
	gzip_unpack((const uint8_t *)packed.v, packed.n, &(struct gzip_limits){.most = 1 << 20},
		    &out, NULL);
	*ret_n = out.n;
	return out.v;
}

static int see(void *ctx, const struct native_value *v, struct err *err)
{
	struct seen *s = ctx;

	(void)err;
	FUZZ_REQUIRE((const uint8_t *)v[2].text >= s->from &&
		     (const uint8_t *)v[2].text + v[2].n <= s->to);
	FUZZ_REQUIRE(v[3].list >= s->from && v[3].list + v[3].n * 8 <= s->to);
	for (size_t i = 0; i < v[2].n; i++)
		s->sum += (uint8_t)v[2].text[i];
	for (size_t i = 0; i < v[3].n * 8; i++)
		s->sum += v[3].list[i];
	s->sum += v[0].u + v[1].u;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct seen s = {data, data + n, 0};

	native_read(data, n, cols, N_COLS, see, &s, NULL);
	return 0;
}
