/* SPDX-License-Identifier: BSD-2-Clause */
/* What the fuzz targets of HPCToolkit databases share: each input is tried as it is, with magic,
 * version and footer made right, and as a recipe that changes numbers of a sound file: every 11
 * bytes of it are a place (multiplied by 2), a width and a number, which may stand for one of the
 * edges that matter. */
#ifndef TESTS_FUZZ_HPC_FUZZ_H
#define TESTS_FUZZ_HPC_FUZZ_H

#include "formats/hpc/check/check.h"
#include "formats/hpc/dump.h"
#include "formats/hpc/le.h"
#include "fuzz.h"
#include "hpc_hand_t.h"

static inline int hpc_fuzz_line(void *user, const char *text)
{
	return ++*(unsigned *)user > 100000 ? -1 : 0;
}

/* Sound file I: both layouts, without and with what later versions may add; .v is NULL behind the
 * last. */
static inline struct wr hpc_fuzz_file(struct wr (*make)(enum hpc_layout, const struct hand_extra *),
				      unsigned i)
{
	static const struct hand_extra extras[] = {{0}, {3, 24, 0xff00}};

	if (i >= 4)
		return (struct wr){0};
	return make(i % 2 ? HPC_PAGE : HPC_RELEASED, &extras[i / 2]);
}

static inline uint64_t hpc_fuzz_number(uint64_t v, size_t n_bytes)
{
	static const uint64_t edges[] = {0,	     1,		 UINT64_MAX, 1ull << 60,
					 UINT32_MAX, UINT16_MAX, 1ull << 63, 0x40};
	uint8_t how = (uint8_t)(v >> 56);

	if (how < 64)
		return edges[v % 8];
	if (how < 128)
		return v % (n_bytes + 16); /* into the file, or just behind it */
	if (how < 192)
		return v % 64;
	return v;
}

static inline void hpc_fuzz_follow(struct wr *file, const uint8_t *recipe, size_t n)
{
	for (; n >= 11; recipe += 11, n -= 11) {
		size_t at = (size_t)hpc_le16(recipe) * 2 % file->n;
		size_t width = (size_t)1 << (recipe[2] & 3);
		uint64_t v = hpc_fuzz_number(hpc_le64(recipe + 3), file->n);

		for (size_t i = 0; i < width && at + i < file->n; i++)
			file->v[at + i] = (uint8_t)(v >> 8 * i);
	}
}

/* Checks and dumps a file that opening answered with RC and ERR.  Returns whether the check found
 * nothing. */
static inline bool hpc_fuzz_look(const uint8_t *bytes, size_t n, int rc, const struct err *err,
				 void (*check)(struct hpc_check *, const void *, size_t,
					       const char *),
				 int (*dump)(struct hpc_dump *, const void *, size_t, const char *,
					     struct err *))
{
	unsigned n_lines = 0;
	struct hpc_dump d = {.line = hpc_fuzz_line, .user = &n_lines};
	struct hpc_check c = {0};

	FUZZ_REQUIRE(rc == 0 || *err->msg);
	check(&c, bytes, n, "x");
	FUZZ_REQUIRE(rc == 0 || c.n_problems > 0);
	rc = dump(&d, bytes, n, "x", NULL);
	FUZZ_REQUIRE(rc <= 0 && (rc == 0 || c.n_problems > 0 || n_lines > 100000));
	hpc_dump_release(&d);
	return c.n_problems == 0;
}

static inline void hpc_fuzz(const uint8_t *data, size_t n,
			    struct wr (*make)(enum hpc_layout, const struct hand_extra *),
			    void (*run)(const uint8_t *bytes, size_t n))
{
	struct wr sound = hpc_fuzz_file(make, n % 4);
	uint8_t *sealed = xmemdup(data, n);

	run(data, n);
	if (n >= 24) {
		memcpy(sealed, sound.v, 15);
		memcpy(sealed + n - 8, sound.v + sound.n - 8, 8);
		run(sealed, n);
	}
	free(sealed);
	hpc_fuzz_follow(&sound, data, n < 88 ? n : 88);
	sealed = xmemdup(sound.v, sound.n); /* of exactly its size, for sanitizers */
	run(sealed, sound.n);
	free(sealed);
	wr_release(&sound);
}

#endif
