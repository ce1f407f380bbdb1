/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU profiles of gperftools: words of 4 and 8 bytes in both orders, files that end anywhere, what
 * becomes of addresses. */
#include "formats/gperf.h"

#include <errno.h>
#include <stdlib.h>

#include "gperf_t.h"
#include "stacks_t.h"
#include "t.h"

TEST(words)
{
	for (unsigned kind = 0; kind < 4; kind++) {
		struct wr w = {0};
		struct gperf g;

		gperf_t_make(&w, kind & 1 ? 4 : 8, kind & 2, 0, "/bin/prog");
		EXPECT(gperf_probe(w.v, w.n));
		REQUIRE(gperf_parse(w.v, w.n, &g, NULL) == 0);
		EXPECT_EQ(g.period_us, 10000);
		REQUIRE(g.samples.n == 2 && g.pcs.n == 3 && g.maps.n == 2);
		EXPECT_EQ(g.samples.v[0].n, 3);
		EXPECT_EQ(g.samples.v[0].n_pcs, 2);
		EXPECT_EQ(g.pcs.v[0], 0x401035);
		EXPECT_EQ(g.pcs.v[1], 0x40100c);
		EXPECT_EQ(g.samples.v[1].n, 4);
		EXPECT_EQ(g.pcs.v[2], 0x70001234);
		EXPECT_EQ(g.maps.v[0].start, 0x401000);
		EXPECT_EQ(g.maps.v[0].end, 0x402000);
		EXPECT_EQ(g.maps.v[0].off, 0x1000);
		EXPECT(g.maps.v[0].n_path == 9 && memcmp(g.maps.v[0].path, "/bin/prog", 9) == 0);
		gperf_release(&g);
		wr_release(&w);
	}
}

TEST(files_end_anywhere)
{
	struct wr w = {0};
	struct gperf g;
	size_t n_samples;

	n_samples = gperf_t_make(&w, 8, false, 0, "/bin/prog");
	for (size_t n = 0; n < w.n; n++) {
		uint8_t *part = xmemdup(w.v, n + !n);

		EXPECT((gperf_parse(part, n, &g, NULL) >= 0) == (n >= n_samples));
		gperf_release(&g);
		free(part);
	}
	wr_release(&w);
}

TEST(what_is_refused)
{
	static const uint64_t nothing[] = {0, 3, 0, 10000, 0, 0, 5};
	struct wr w = {0};
	struct gperf g;
	struct err err;

	gperf_t_make(&w, 8, false, 1, "/bin/prog");
	EXPECT(gperf_probe(w.v, w.n));
	EXPECT(gperf_parse(w.v, w.n, &g, &err) == -EPROTONOSUPPORT);
	EXPECT_STR(err.msg, "version 1; 0 is read");
	gperf_release(&g);
	w.n = 0;
	for (size_t i = 0; i < n_elems(nothing); i++)
		wr_le64(&w, nothing[i]);
	EXPECT(gperf_parse(w.v, w.n, &g, NULL) == -ENODATA);
	gperf_release(&g);
	w.v[6 * 8] = 0;
	EXPECT(gperf_parse(w.v, w.n, &g, NULL) == -EBADMSG);
	gperf_release(&g);
	wr_release(&w);
}

/* Where the program is not there, places are offsets in its file. */
TEST(call_paths)
{
	const struct importer *im = stacks_t_importer("CPU profile of gperftools");
	struct str notes = {0};
	struct wr w = {0};
	struct stacks s;

	gperf_t_make(&w, 8, false, 0, "/gone/prog");
	REQUIRE(importer_read(im, w.v, w.n, &s, NULL, &notes, NULL) == 0);
	REQUIRE(s.columns.n == 2 && s.values.n == 2);
	EXPECT_EQ(s.columns.v[0].total, 7);
	EXPECT_EQ(s.columns.v[1].total, 70000000);
	vec_each (v, &s.values) {
		const struct stack_node *n = &s.nodes.v[v->node];
		const struct stack_place *pl = &s.places.v[n->place];

		if (!n->parent) {
			EXPECT_EQ(pl->svma, 0x70001234);
			EXPECT_STR(s.images.v[pl->image].path, "[anon]");
			continue;
		}
		EXPECT_EQ(pl->svma, 0x1035);
		EXPECT_STR(s.images.v[pl->image].path, "/gone/prog");
		EXPECT(s.images.v[pl->image].by_offset);
		EXPECT_EQ(s.places.v[s.nodes.v[n->parent].place].svma, 0x100b);
	}
	EXPECT_STR(str_get(&notes), "programs are taken for what was measured as they are now\n"
				    "some programs are not here: their code has no names\n");
	stacks_release(&s);
	str_release(&notes);
	wr_release(&w);
}
