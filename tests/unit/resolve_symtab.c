/* SPDX-License-Identifier: BSD-2-Clause */
/* The settling rules, on symbols made up here; real files are in resolve_elf.c. */
#include "base/alloc.h"
#include "base/str.h"
#include "resolve/demangle.h"
#include "resolve/perfmap.h"
#include "resolve/symtab.h"
#include "t.h"

#include <stdlib.h>

static void add(struct symtab_builder *b, uint64_t svma, uint64_t size, const char *name,
		uint32_t flags)
{
	symtab_builder_add(b, svma, size, name, strlen(name), flags);
}

static const char *name_of(const struct symtab *st, uint64_t svma)
{
	uint32_t i = symtab_find(st, svma);

	return i == PROC_NONE ? "-" : symtab_get(st, i).name;
}

TEST(gaps_belong_to_nobody)
{
	struct symtab_builder b = {0};
	struct symtab st;

	add(&b, 0x2000, 0x10, "second", 0);
	add(&b, 0x1000, 0x10, "first", 0);
	symtab_builder_finish(&b, &st);
	EXPECT_STR(name_of(&st, 0xfff), "-");
	EXPECT_STR(name_of(&st, 0x1000), "first");
	EXPECT_STR(name_of(&st, 0x100f), "first");
	EXPECT_STR(name_of(&st, 0x1010), "-");
	EXPECT_STR(name_of(&st, 0x200f), "second");
	EXPECT_STR(name_of(&st, 0x2010), "-");
	EXPECT_STR(name_of(&st, UINT64_MAX), "-");
	symtab_release(&st);
	EXPECT_STR(name_of(&st, 0x1000), "-");
}

static const char *first_of(const struct symtab *st, uint64_t svma, uint64_t n_bytes)
{
	uint32_t i = symtab_find_first(st, svma, n_bytes);

	return i == PROC_NONE ? "-" : symtab_get(st, i).name;
}

TEST(the_first_of_a_range_is_found)
{
	struct symtab_builder b = {0};
	struct symtab st;

	add(&b, 0x1003, 1, "byte", 0);
	add(&b, 0x1010, 0x20, "second", 0);
	add(&b, 0x1010, 0x20, "alias_of_it", 0);
	symtab_builder_finish(&b, &st);
	EXPECT_STR(first_of(&st, 0x1000, 3), "-");
	EXPECT_STR(first_of(&st, 0x1000, 4), "byte");
	EXPECT_STR(first_of(&st, 0x1003, 1), "byte");
	EXPECT_STR(first_of(&st, 0x1004, 12), "-");
	EXPECT_STR(first_of(&st, 0x1004, 64), "second");
	EXPECT_STR(first_of(&st, 0x102f, 64), "second");
	EXPECT_STR(first_of(&st, 0x1030, UINT64_MAX), "-");
	EXPECT_STR(first_of(&st, 0, UINT64_MAX), "byte");
	symtab_release(&st);
	EXPECT_STR(first_of(&st, 0, UINT64_MAX), "-");
}

TEST(missing_sizes_are_filled_to_the_next_thing)
{
	struct symtab_builder b = {0};
	struct symtab st;

	symtab_builder_add_range(&b, 0x3000, 0x4000);
	symtab_builder_add_range(&b, 0x1000, 0x2000);
	add(&b, 0x1100, 0, "a", 0);
	add(&b, 0x1200, 0, "b", 0);
	add(&b, 0x3000, 0x100, "sized", 0);
	add(&b, 0x3080, 0, "label_inside", 0);
	add(&b, 0x3100, 0, "c", 0);
	add(&b, 0x5000, 0, "nowhere", 0);
	symtab_builder_finish(&b, &st);
	EXPECT_EQ(st.n, 4);
	EXPECT_STR(name_of(&st, 0x10ff), "-");
	EXPECT_STR(name_of(&st, 0x11ff), "a");
	EXPECT_STR(name_of(&st, 0x1fff), "b");
	EXPECT_STR(name_of(&st, 0x2000), "-");
	EXPECT_STR(name_of(&st, 0x30ff), "sized");
	EXPECT_STR(name_of(&st, 0x3fff), "c");
	EXPECT_STR(name_of(&st, 0x5000), "-");
	EXPECT_EQ(symtab_get(&st, symtab_find(&st, 0x1100)).flags, PROC_FILLED);
	symtab_release(&st);
}

TEST(a_nested_procedure_takes_its_addresses)
{
	struct symtab_builder b = {0};
	struct symtab st;
	proc_list l = {0};

	add(&b, 10, 40, "A", 0);
	add(&b, 20, 10, "B", 0);
	add(&b, 40, 20, "C", 0);
	symtab_builder_finish(&b, &st);
	EXPECT_STR(name_of(&st, 19), "A");
	EXPECT_STR(name_of(&st, 20), "B");
	EXPECT_STR(name_of(&st, 29), "B");
	EXPECT_STR(name_of(&st, 30), "A");
	EXPECT_STR(name_of(&st, 39), "A");
	EXPECT_STR(name_of(&st, 40), "C");
	EXPECT_STR(name_of(&st, 59), "C");
	EXPECT_STR(name_of(&st, 60), "-");
	symtab_find_name(&st, "A", &l);
	EXPECT_EQ(l.n, 1);
	vec_release(&l);
	symtab_release(&st);
}

TEST(the_unnamed_fill_gaps_only)
{
	struct symtab_builder b = {0};
	struct symtab st;

	symtab_builder_add_range(&b, 0, 100);
	add(&b, 10, 10, "named", 0);
	add(&b, 10, 30, "", PROC_UNNAMED); /* the symbol's size counts */
	add(&b, 15, 2, "", PROC_UNNAMED);
	add(&b, 40, 20, "", PROC_UNNAMED);
	add(&b, 45, 5, "stub", PROC_PLT);
	add(&b, 55, 0, "label", 0);
	add(&b, 70, 0, "no_size", 0);
	add(&b, 70, 8, "", PROC_UNNAMED);
	add(&b, 200, 10, "", PROC_UNNAMED);
	symtab_builder_finish(&b, &st);
	EXPECT_STR(name_of(&st, 15), "named");
	EXPECT_STR(name_of(&st, 20), "-");
	EXPECT_STR(name_of(&st, 44), "");
	EXPECT_STR(name_of(&st, 45), "stub");
	EXPECT_STR(name_of(&st, 50), "");
	EXPECT_STR(name_of(&st, 59), "label");
	EXPECT_STR(name_of(&st, 60), "-");
	EXPECT_STR(name_of(&st, 77), "no_size");
	EXPECT_STR(name_of(&st, 78), "-");
	EXPECT_STR(name_of(&st, 200), "-");
	symtab_release(&st);
}

TEST(aliases_follow_the_rule)
{
	struct symtab_builder b = {0};
	struct symtab st;
	proc_list l = {0};

	add(&b, 0x10, 4, "weak", PROC_WEAK);
	add(&b, 0x10, 4, "__global", 0);
	add(&b, 0x10, 4, "global_longer", 0);
	add(&b, 0x10, 4, "globalb", 0);
	add(&b, 0x10, 4, "globala", 0);
	add(&b, 0x10, 0, "a", 0);
	add(&b, 0x10, 8, "local", PROC_LOCAL);
	symtab_builder_finish(&b, &st);
	EXPECT_STR(name_of(&st, 0x10), "globala");
	EXPECT_STR(name_of(&st, 0x17), "globala");
	symtab_find_name(&st, "weak", &l);
	REQUIRE(l.n == 1);
	EXPECT_STR(symtab_get(&st, l.v[0]).name, "globala");
	vec_release(&l);
	symtab_release(&st);
}

TEST(names_are_found_in_every_form)
{
	static const char *const queries[] = {"_ZN3foo3barEi", "foo::bar(int)", "foo::bar"};
	struct symtab_builder b = {0};
	struct symtab st;
	proc_list l = {0};

	add(&b, 0x10, 4, "_ZN3foo3barEi", 0);
	add(&b, 0x20, 4, "_ZN3foo3barEc", 0);
	add(&b, 0x30, 4, "twin", PROC_LOCAL);
	add(&b, 0x40, 4, "twin", PROC_LOCAL);
	add(&b, 0x50, 4, "_ZNSs6appendEPKc", 0);
	add(&b, 0x60, 4, "_ZNSsC1Ev", 0);
	add(&b, 0x70, 4, "_ZN3fooplERKS_", 0);
	add(&b, 0x80, 4, "_ZN4core3fmt5write17h0123456789abcdefE", 0);
	add(&b, 0x90, 4, "_RNvNtCs1234_7mycrate3foo3bar", 0);
	symtab_builder_finish(&b, &st);
	for (size_t i = 0; i < 3; i++) {
		l.n = 0;
		symtab_find_name(&st, queries[i], &l);
		EXPECT_EQ(l.n, i < 2 ? 1 : 2);
	}
	l.n = 0;
	symtab_find_name(&st, "twin", &l);
	REQUIRE(l.n == 2);
	EXPECT_EQ(symtab_get(&st, l.v[0]).start, 0x30);
	EXPECT_EQ(symtab_get(&st, l.v[1]).start, 0x40);
	for (uint32_t i = 0; i < st.n; i++) {
		char *plain = demangle_name(symtab_get(&st, i).name, true);

		l.n = 0;
		if (plain)
			symtab_find_name(&st, plain, &l);
		EXPECT(!plain || (l.n == 1 && l.v[0] == i));
		EXPECT(plain || i == 2 || i == 3);
		free(plain);
	}
	vec_release(&l);
	symtab_release(&st);
}

/* Against the definition: the innermost sized symbol (latest start) that
 * covers an address has it. */
TEST(random_nests_agree_with_the_definition)
{
	struct t_rng r = {7};

	for (unsigned c = 0; c < t_cases(300); c++) {
		struct symtab_builder b = {0};
		struct symtab st;
		char name[40][16];
		uint64_t start[40], size[40];
		unsigned n = (unsigned)t_below(&r, 40);

		for (unsigned i = 0; i < n; i++) {
			start[i] = t_below(&r, 12) * 8 + i % 8; /* distinct for most */
			size[i] = 1 + t_below(&r, 30);
			snprintf(name[i], sizeof(name[i]), "f%u", i);
			add(&b, start[i], size[i], name[i], 0);
		}
		symtab_builder_finish(&b, &st);
		for (uint64_t at = 0; at < 160; at++) {
			uint64_t best = 0;
			uint32_t found = symtab_find(&st, at);
			bool any = false, right = false;

			for (unsigned i = 0; i < n; i++) {
				uint64_t end = 0;

				for (unsigned k = 0; k < n;
				     k++) /* aliases share the largest size */
					if (start[k] == start[i] && start[k] + size[k] > end)
						end = start[k] + size[k];
				if (start[i] <= at && at < end && (!any || start[i] > best)) {
					best = start[i];
					any = true;
				}
			}
			if (!any) {
				EXPECT_EQ(found, PROC_NONE);
				continue;
			}
			REQUIRE(found != PROC_NONE);
			for (unsigned i = 0; i < n; i++)
				if (start[i] == best &&
				    strcmp(name[i], symtab_get(&st, found).name) == 0)
					right = true;
			EXPECT(right);
		}
		symtab_release(&st);
	}
}

/* What a map or a table says of one long name for many pieces takes no more than it says. */
TEST(pieces_of_a_map_share_a_long_name)
{
	enum { N = 20000, LONG = 32000 };
	struct symtab_builder b = {0};
	struct str map = {0};
	struct symtab st, copy;

	str_addf(&map, "1000 %x ", 4 * N);
	for (unsigned i = 0; i < LONG; i++)
		str_addc(&map, 'n');
	str_addc(&map, '\n');
	for (unsigned i = 0; i < N; i++)
		str_addf(&map, "%x 1 s\n", 0x1000 + 4 * i);
	perfmap_parse(map.v, map.n, &st);
	EXPECT_EQ(st.n, 2 * N);
	EXPECT(st.n_pool < 10 * N + LONG);
	EXPECT_EQ(strlen(name_of(&st, 0x1002)), LONG);
	EXPECT_EQ(strlen(name_of(&st, 0x1000 + 4 * N - 1)), LONG);
	symtab_builder_add_symtab(&b, &st);
	symtab_builder_finish(&b, &copy);
	EXPECT_EQ(copy.n, st.n);
	EXPECT(copy.n_pool < 10 * N + LONG);
	EXPECT_EQ(strlen(name_of(&copy, 0x1002)), LONG);
	EXPECT_STR(name_of(&copy, 0x1004), "s");
	symtab_release(&copy);
	symtab_release(&st);
	str_release(&map);
}

TEST(names_have_the_room_that_was_said)
{
	struct symtab_builder b = {.most_names = 20};
	struct symtab st;

	add(&b, 0x10, 4, "nine_long", 0);
	add(&b, 0x20, 4, "nine_more", 0);
	add(&b, 0x30, 4, "no_room", 0);
	add(&b, 0x40, 4, "", PROC_UNNAMED);
	EXPECT(b.full);
	symtab_builder_add_range(&b, 0, 0x100);
	symtab_builder_finish(&b, &st);
	EXPECT_STR(name_of(&st, 0x20), "nine_more");
	EXPECT_STR(name_of(&st, 0x30), "-");
	EXPECT_STR(name_of(&st, 0x40), "");
	symtab_release(&st);
}

TEST(demangling)
{
	char *s;

	EXPECT_STR(s = demangle_name("_ZN3foo3barEi", true), "foo::bar(int)");
	free(s);
	EXPECT_STR(s = demangle_name("_ZN3foo3barEi", false), "foo::bar");
	free(s);
	EXPECT_STR(s = demangle_name("_ZN3foo3barEi@plt", false), "foo::bar@plt");
	free(s);
	EXPECT_STR(s = demangle_name("_ZN4core3fmt5write17h0123456789abcdefE", true),
		   "core::fmt::write");
	free(s);
	EXPECT(demangle_name("main", true) == NULL);
	EXPECT(demangle_name("_Z", true) == NULL);
	EXPECT(demangle_name("_Zq", true) == NULL);
}
