/* SPDX-License-Identifier: BSD-2-Clause */
/* Places of interpreted code: the same wherever they are made, and whole after each way that a
 * profile takes. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "formats/journal_counts.h"
#include "formats/segment.h"
#include "model/script.h"
#include "query/samples/runtime.h"

#include "t.h"

static const struct script_function area = {"python", "/srv/shape.py", "Shape.area", 10};
static const struct script_function main_ = {"python", "/srv/main.py", "<module>", 1};

static place_id place_of(struct profile *p, const struct script_function *f, uint32_t line)
{
	return profile_intern_script(p, profile_intern_script_image(p, f),
				     script_svma(f->name, f->first_line), f, line);
}

static place_id native(struct profile *p, const char *path, uint64_t svma)
{
	image_id image = profile_intern_image(p, &(struct image){.kind = IMAGE_FILE, .path = path});

	return profile_intern_place(p, image, svma, 0);
}

/* A sample in Shape.area, which /srv/main.py calls through the interpreter and libffi. */
static void fill(struct profile *p)
{
	const place_id path[] = {native(p, "/bin/python", 0x10),
				 place_of(p, &main_, 3),
				 native(p, "/lib/libffi.so", 0x20),
				 native(p, "/bin/python", 0x30),
				 place_of(p, &area, 12),
				 native(p, "/bin/python", 0x40)};
	struct event e = {.name = profile_intern_str(p, "cycles"), .period = 1, .n_reached = 6};
	struct value v = {.event = profile_intern_event(p, &e), .count = 5};

	for (size_t i = 0; i < n_elems(path); i++)
		v.ctx = profile_intern_ctx(p, v.ctx, path[i]);
	profile_add_value(p, &v);
	v.ctx = profile_flat_ctx(p, native(p, "/bin/python", 0x50)); /* its own */
	v.count = 1;
	profile_add_value(p, &v);
}

TEST(a_place_is_made_of_what_code_says)
{
	struct profile p, q;
	const struct script *s;
	place_id place;

	profile_init(&p);
	profile_init(&q);
	place_of(&q, &main_, 1); /* so that ids differ */
	place = place_of(&p, &area, 12);
	EXPECT_EQ(place, place_of(&p, &area, 12));
	EXPECT(place != place_of(&p, &area, 13));
	EXPECT_EQ(p.places.v[place].svma, q.places.v[place_of(&q, &area, 12)].svma);
	EXPECT_EQ(p.places.v[place].svma & ((1 << SCRIPT_PROCEDURE_BITS) - 1), 2);
	s = profile_find_script(&p, place);
	REQUIRE(s);
	EXPECT_STR(profile_str(&p, s->name), "Shape.area");
	EXPECT_EQ(s->line, 12);
	/* Not known, before the function, and beyond what there is room for: its first line. */
	EXPECT_EQ(place_of(&p, &area, 0), place_of(&p, &area, 9));
	EXPECT_EQ(place_of(&p, &area, 0), place_of(&p, &area, 10 + 0x10000));
	EXPECT_EQ(profile_find_script(&p, place_of(&p, &area, 0))->line, 10);
	EXPECT(p.places.v[place_of(&p, &area, 0)].svma & SCRIPT_LINE_UNKNOWN);
	profile_check(&p);
	profile_release(&p);
	profile_release(&q);
}

TEST(segments_and_journals_keep_it)
{
	struct profile p, from_segment, from_journal;
	struct journal_writer w = {0};
	struct wr segment = {0}, journal = {0};
	_mem_ char *want = NULL, *segments = NULL;
	struct err err;
	struct rd r;

	profile_init(&p);
	profile_init(&from_segment);
	profile_init(&from_journal);
	fill(&p);
	want = profile_dump(&p);
	EXPECT(strstr(want, "script ") && strstr(want, "Shape.area 12"));
	REQUIRE(segment_encode(&segment, &p, &err) >= 0);
	REQUIRE(segment_decode(segment.v, segment.n, &from_segment, NULL, &err) >= 0);
	segments = profile_dump(&from_segment);
	EXPECT_STR(segments, want);
	EXPECT(journal_needs_sections(&p));
	journal_put_counts(&w, &journal, &p, true);
	r = rd_init(journal.v, journal.n);
	REQUIRE(journal_get_counts(&r, true, &from_journal, NULL, &err) >= 0);
	EXPECT_EQ(from_journal.scripts.n, 2);
	profile_check(&from_segment);
	profile_check(&from_journal);
	journal_writer_release(&w);
	wr_release(&segment);
	wr_release(&journal);
	profile_release(&p);
	profile_release(&from_segment);
	profile_release(&from_journal);
}

/* The path of the only context with samples that has a function of a script. */
static void path_of(const struct profile *p, char *ret, size_t size)
{
	*ret = 0;
	vec_each (v, &p->values) {
		if (v->count != 5)
			continue;
		for (ctx_id c = v->ctx; c; c = p->ctxs.v[c].parent) {
			const struct script *s = profile_find_script(p, p->ctxs.v[c].place);
			size_t n = strlen(ret);

			snprintf(ret + n, size - n, "%s;",
				 s ? profile_str(p, s->name)
				   : p->images.v[p->places.v[p->ctxs.v[c].place].image].path);
		}
	}
}

TEST(an_interpreters_own_frames_are_folded)
{
	struct resolver *r = resolver_new(&(struct resolver_opts){.no_save = true});
	char path[300];
	struct profile p;
	uint64_t n;

	profile_init(&p);
	fill(&p);
	n = profile_n_samples(&p, 0);
	runtime_fold(&p, r);
	path_of(&p, path, sizeof(path));
	EXPECT_STR(path, "Shape.area;/lib/libffi.so;<module>;");
	EXPECT_EQ(profile_n_samples(&p, 0), n);
	/* What has no function of a script stays. */
	EXPECT_EQ(p.values.v[1].count, 1);
	profile_check(&p);
	profile_release(&p);
	resolver_free(r);
}

/* HotSpot's procedures, as it links them. */
static struct resolver *resolver_of_jvm(const struct profile *p, place_id of, struct symtab *st)
{
	static const char *const names[] = {"_ZN6Thread8call_runEv", "_ZN10GangWorker3runEv",
					    "_ZN13G1EvacuateAll4workEv"};
	struct resolver *r = resolver_new(&(struct resolver_opts){.no_save = true});
	struct symtab_builder b = {0};

	symtab_builder_add_range(&b, 0, 0x1000);
	for (size_t i = 0; i < n_elems(names); i++)
		symtab_builder_add(&b, 0x100 * (i + 1), 0x100, names[i], strlen(names[i]), 0);
	symtab_builder_finish(&b, st);
	resolver_take_symtab(r, &p->images.v[p->places.v[of].image], st);
	return r;
}

/* What a runtime does by itself is one frame; others' code below it stays. */
TEST(a_runtimes_own_work_is_one_frame)
{
	static const char jvm[] = "/lib/jvm/libjvm.so";
	struct event e = {.period = 1, .n_reached = 6};
	struct resolver *r;
	struct symtab st;
	struct profile p;
	char path[300];
	struct value v = {.count = 5};

	profile_init(&p);
	e.name = profile_intern_str(&p, "cycles");
	v.event = profile_intern_event(&p, &e);
	const place_id frames[] = {native(&p, "/lib/libc.so", 0x10), native(&p, jvm, 0x110),
				   native(&p, jvm, 0x210), native(&p, jvm, 0x310),
				   native(&p, "/lib/libc.so", 0x20)};

	for (size_t i = 0; i < n_elems(frames); i++)
		v.ctx = profile_intern_ctx(&p, v.ctx, frames[i]);
	profile_add_value(&p, &v);
	v.ctx = p.ctxs.v[p.ctxs.v[p.ctxs.v[v.ctx].parent].parent].parent; /* before it begins */
	v.count = 1;
	profile_add_value(&p, &v);
	r = resolver_of_jvm(&p, frames[1], &st);
	runtime_fold(&p, r);
	path_of(&p, path, sizeof(path));
	EXPECT_STR(path, "/lib/libc.so;[garbage collection];/lib/jvm/libjvm.so;/lib/libc.so;");
	EXPECT_EQ(p.values.v[1].count, 1);
	EXPECT_EQ(profile_n_samples(&p, 0), 6);
	profile_check(&p);
	profile_release(&p);
	resolver_free(r);
}
