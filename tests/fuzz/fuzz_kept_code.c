/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of kept code (docs/formats/code.md), the lines made of them, and questions of children. */
#include <stdlib.h>

#include "base/wr.h"
#include "fuzz.h"
#include "resolve/inlines.h"
#include "resolve/keep.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	struct kept_code k = {.info = {.path = "/bin/x", .machine = 62, .type = 3}};
	uint8_t bytes[64] = {0x90, (uint8_t)i};
	struct wr w = {0};

	if (i > 3)
		return NULL;
	k.info.build_id.n_bytes = 20;
	k.info.digest[0] = 1;
	for (unsigned n = 0; n < i; n++) {
		struct kept_proc *p =
			kept_code_add(&k, 0x1000 + 0x100 * n, 0x1040 + 0x100 * n, bytes);
		uint32_t file = kept_text(&k, n ? "/src/a.c" : "/src/b.h");
		uint32_t name = kept_text(&k, "_Z1fv");

		vec_push(&p->rows, (struct kept_row){p->start, file, 10 + n, 0, 3});
		vec_push(&p->rows, (struct kept_row){p->start + 8, file, 7, 2, 1});
		vec_push(&p->rows, (struct kept_row){p->start + 16, KEPT_NONE});
		vec_push(&p->scopes, (struct kept_scope){KEPT_NONE, name, KEPT_NONE});
		vec_push(&p->scopes, (struct kept_scope){0, name, file, 12, 4});
		vec_push(&p->scope_starts, (struct kept_scope_start){p->start, 0});
		vec_push(&p->scope_starts, (struct kept_scope_start){p->start + 8, 1});
		vec_push(&p->decls, (struct kept_decl){p->start, file, 5});
		vec_push(&p->consts, (struct kept_const){0x2000, bytes, 16});
	}
	kept_code_format(&k, &w);
	kept_code_release(&k);
	*ret_n = w.n;
	return w.v;
}

static void use_lines(const struct kept_code *k)
{
	struct lines *l = kept_lines(k, false);

	if (!l)
		return;
	vec_each (p, &k->procs) {
		struct inline_scope scopes[INLINES_MAX];
		struct lines_extent extent;
		struct line_row *rows;
		struct line at;
		size_t n = lines_range(l, p->start, p->end, &rows);

		for (size_t i = 0; i < n; i++) {
			FUZZ_REQUIRE(rows[i].svma >= p->start && rows[i].end <= p->end);
			FUZZ_REQUIRE(rows[i].svma < rows[i].end);
			lines_declared_above(l, rows[i].svma, rows[i].at.file, rows[i].at.line);
		}
		free(rows);
		FUZZ_REQUIRE(inlines_find(l, p->start, scopes, INLINES_MAX) <= INLINES_MAX);
		lines_find(l, p->end - 1, &at);
		lines_procedure(l, p->start, p->end, &extent);
	}
	lines_close(l);
}

static void use(const uint8_t *data, size_t n)
{
	struct kept_code k, again, all = {0};
	struct wr w = {0};

	if (kept_code_parse(&k, data, n, NULL) < 0)
		return;
	vec_each (p, &k.procs) {
		uint8_t byte;

		FUZZ_REQUIRE(kept_code_find(&k, p->start) == p);
		FUZZ_REQUIRE(kept_code_bytes(&k, p->end - 1, &byte, 1));
	}
	use_lines(&k);
	kept_code_format(&k, &w);
	FUZZ_REQUIRE(kept_code_parse(&again, w.v, w.n, NULL) >= 0);
	FUZZ_REQUIRE(again.procs.n == k.procs.n);
	kept_code_merge(&all, &k);
	FUZZ_REQUIRE(!kept_code_merge(&all, &again));
	kept_code_release(&again);
	kept_code_release(&all);
	kept_code_release(&k);
	wr_release(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_sealed(data, n, use, kept_code_seal);
	return 0;
}
