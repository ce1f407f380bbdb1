/* SPDX-License-Identifier: BSD-2-Clause */
/* meta.db of HPCToolkit databases: opening, loading, checking and dumping must survive any bytes;
 * what loads is written and must load as the same; what the checker finds sound must load.
 *
 * Bytes come as they are, and with the header, the footer and some pointers and sizes made to fit
 * again, so that the code behind these checks is reached. */
#include "formats/hpc/check/check.h"
#include "formats/hpc/dump.h"
#include "formats/hpc/le.h"
#include "formats/hpc/meta.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "base/hash.h"
#include "gen_hpc.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const uint32_t sizes[] = {0, 1, 12, 60};
	struct t_rng r = {i + 1};
	enum hpc_layout layout = i % 2 ? HPC_PAGE : HPC_RELEASED;
	struct hpc_meta_model m;
	struct wr w;

	if (i >= 2 * n_elems(sizes))
		return NULL;
	gen_hpc_meta(&r, &m, sizes[i / 2], layout);
	w = gen_hpc_meta_bytes(&m, layout, NULL);
	hpc_meta_model_release(&m);
	*ret_n = w.n;
	return w.v;
}

static int ignore_line(void *user, const char *text)
{
	*(size_t *)user += strlen(text);
	return 0;
}

/* Loads what M holds; its text, or NULL. */
static char *load(const struct hpc_meta *m)
{
	struct hpc_meta_model model;
	char *text;

	if (hpc_meta_load(&model, m, NULL) < 0)
		return NULL;
	text = gen_hpc_meta_text(&model);
	hpc_meta_model_release(&model);
	return text;
}

/* What was read once is in the form of its layout; writing it loses nothing. */
static void write_and_load(const struct hpc_meta *m, const char *want)
{
	struct hpc_meta_model model;
	struct err err = {0};
	struct hpc_meta again;
	struct wr w;
	char *text;

	FUZZ_REQUIRE(hpc_meta_load(&model, m, NULL) == 0);
	w = gen_hpc_meta_bytes(&model, m->layout, &err);
	if (!*err.msg) { /* else it is too large for other readers, or a metric has a scope twice */
		FUZZ_REQUIRE(hpc_meta_open(&again, w.v, w.n, "meta.db", NULL) == 0);
		text = load(&again);
		FUZZ_REQUIRE(text);
		/* scopes that no metric has are lost in the page layout */
		FUZZ_REQUIRE(m->layout == HPC_PAGE || strcmp(text, want) == 0);
		free(text);
		hpc_meta_release(&again);
	}
	wr_release(&w);
	hpc_meta_model_release(&model);
}

static void try(const uint8_t *bytes, size_t n)
{
	struct hpc_check check = {0};
	size_t n_text = 0;
	struct hpc_dump dump = {.line = ignore_line, .user = &n_text};
	struct err err = {0};
	struct hpc_meta m;
	char *text = NULL;
	int rc = hpc_meta_open(&m, bytes, n, "meta.db", &err);

	hpc_check_meta(&check, bytes, n, "meta.db");
	FUZZ_REQUIRE(hpc_meta_dump(&dump, bytes, n, "meta.db", NULL) <= 0);
	hpc_dump_release(&dump);
	if (rc) {
		FUZZ_REQUIRE(*err.msg && check.n_problems);
		return;
	}
	text = load(&m);
	FUZZ_REQUIRE(text || check.n_problems);
	if (text)
		write_and_load(&m, text);
	free(text);
	hpc_meta_release(&m);
}

/* Makes magic, version, footer and the places of sections what they were in a sound file: sections
 * that reach out of the file are moved and cut. */
static void mend(uint8_t *b, size_t n)
{
	if (n < 0x90 + 8)
		return;
	memcpy(b, "HPCTOOLKITmeta\4", 15);
	memcpy(b + n - 8, "_meta.db", 8);
	for (size_t i = 0; i < 8; i++) {
		uint64_t sz = hpc_le64(b + 0x10 + 16 * i), p = hpc_le64(b + 0x18 + 16 * i);

		if (p > n - 8)
			p = 0x90 + p % (n - 0x90 - 7);
		if (sz > n - 8 - p)
			sz = n - 8 - p;
		hpc_put64(b + 0x10 + 16 * i, sz);
		hpc_put64(b + 0x18 + 16 * i, p);
	}
}

/* Every u64 in the section of the contexts that could be a pointer to its own section, or a size,
 * is replaced now and then by another such value of it: loops, overlaps, odd sizes. */
static void tangle(uint8_t *b, size_t n)
{
	uint64_t p, sz, seed = 0;

	if (n < 0x90 + 8)
		return;
	sz = hpc_le64(b + 0x40);
	p = hpc_le64(b + 0x48);
	for (size_t i = 0; i < n; i++)
		seed = seed * 31 + b[i];
	for (uint64_t at = p; at + 8 <= p + sz && at + 8 <= n; at += 8) {
		uint64_t v = hpc_le64(b + at), r = hash_u64(seed + at);

		if (r % 16)
			continue;
		if (v >= p && v < p + sz)
			hpc_put64(b + at, p + (r >> 8) % sz / 8 * 8);
		else if (v && v < sz)
			hpc_put64(b + at, (r >> 8) % (sz / 8 + 1) * 8);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *b = xmemdup(data, n);

	try(data, n);
	mend(b, n);
	try(b, n);
	tangle(b, n);
	try(b, n);
	free(b);
	return 0;
}
