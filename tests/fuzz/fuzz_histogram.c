/* SPDX-License-Identifier: BSD-2-Clause */
/* Histogram files that programs left behind. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/wr.h"
#include "fuzz.h"
#include "inproc/shared_read.h"

enum { N_SLOTS = 512, RECORDS_BYTES = 256 };

static void put_image(struct wr *w, unsigned i, const char *path)
{
	wr_le32(w, 72);
	wr_u8(w, (uint8_t)(i % 3));
	wr_u8(w, (uint8_t)(i % 2));
	wr_le16(w, 20);
	wr_le64(w, 0x1000);
	wr_le64(w, 0x8000);
	for (int k = 0; k < 20; k++)
		wr_u8(w, (uint8_t)(k * i));
	wr_le32(w, 0);
	wr_le64(w, strlen(path));
	for (size_t k = 0; k < 16; k++)
		wr_u8(w, k < strlen(path) ? (uint8_t)path[k] : 0);
}

/* Written field by field, as docs/formats/histogram.md has them. */
uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct wr w = {0};
	const size_t slots_off = SHARED_HEADER_BYTES + RECORDS_BYTES;

	if (i > 3)
		return NULL;
	wr_bytes(&w, SHARED_MAGIC, 8);
	wr_le16(&w, SHARED_MAJOR);
	wr_le16(&w, SHARED_MINOR);
	wr_le32(&w, 0);
	wr_le64(&w, slots_off + N_SLOTS * SHARED_SLOT_BYTES);
	wr_le64(&w, SHARED_HEADER_BYTES);
	wr_le64(&w, SHARED_HEADER_BYTES + i * 72);
	wr_le64(&w, slots_off);
	wr_le64(&w, N_SLOTS);
	for (int k = 0; k < 9; k++) /* n_used ... n_missed */
		wr_le64(&w, 1000 + i);
	for (int k = 0; k < 4; k++)
		wr_le32(&w, 1);
	while (w.n < 0x210)
		wr_u8(&w, w.n % 128 < 20 && w.n >= 0x90 ? 'a' : 0);
	wr_u8(&w, i ? 3 : 0);
	while (w.n < SHARED_HEADER_BYTES)
		wr_u8(&w, 0);
	for (unsigned k = 0; k < i; k++)
		put_image(&w, k, k ? "/usr/bin/true" : "[vdso]");
	while (w.n < slots_off)
		wr_u8(&w, 0);
	for (unsigned k = 0; k < N_SLOTS; k++) {
		bool used = i && k % 7 == 0;

		wr_le64(&w, used ? (uint64_t)(k % i + 1) << SHARED_SVMA_BITS | k : 0);
		wr_le64(&w, used ? k : 0);
	}
	*ret_n = w.n;
	return w.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct shared_view v;
	struct shared_image im;
	struct shared_count c;
	const char *why = NULL;
	uint64_t at = 0, sum = 0;
	uint32_t n_images = 0;

	if (shared_view_open(&v, data, n, &why) < 0) {
		FUZZ_REQUIRE(why);
		return 0;
	}
	for (struct rd r = shared_images(&v); shared_next_image(&r, &im); n_images++)
		sum += strlen(im.path) + im.code.id[CODE_ID_MAX - 1];
	FUZZ_REQUIRE(n_images == v.n_images);
	while (shared_next_count(&v, &at, &c)) {
		FUZZ_REQUIRE(c.image >= 1 && c.image <= n_images && c.n);
		sum += c.n;
	}
	FUZZ_REQUIRE(strlen(v.header.event) < sizeof(v.header.event));
	return sum == UINT64_MAX; /* so that nothing is left out; it cannot be */
}
