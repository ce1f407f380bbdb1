/* SPDX-License-Identifier: BSD-2-Clause */
/* Inlined calls of small C and C++ programs, compiled here by both compilers and in both versions
 * of DWARF, compared with addr2line at every address of the program's text. */
#include "base/cleanup.h"
#include "base/str.h"
#include "base/vec.h"
#include "resolve/elf_probe.h"
#include "resolve/inlines.h"
#include "resolve/resolver.h"
#include "dwarf_t.h"

#include <inttypes.h>

/* C: three calls deep, twice in one function, and across a header; C++: templates, a namespace, a
 * static member, but nothing of internal linkage, which has no linked name in DWARF and for which
 * binutils prints the name of some symbol instead.  The first function of each unit is in the
 * unit's own file, because binutils 2.40 mistakes the file of a DWARF 5 table's first rows
 * otherwise. */
static bool make_sources(void)
{
	static bool made;

	if (made)
		return true;
	made = mkdtemp(dir);
	write_file("mix.h",
		   "extern volatile unsigned seen;\n"
		   "static inline __attribute__((always_inline)) unsigned mix(unsigned x)\n"
		   "{\n"
		   "	x ^= x >> 7;\n"
		   "	seen = x;\n"
		   "	return x * 2654435761u;\n"
		   "}\n");
	write_file("main.c",
		   "unsigned early(unsigned x) { return x + 1; }\n" /* 1 */
		   "#include \"mix.h\"\n"
		   "volatile unsigned seen;\n"
		   "unsigned work(unsigned n);\n"
		   "static inline __attribute__((always_inline)) unsigned inner(unsigned a)\n"
		   "{\n" /* 5 */
		   "	return a % 7 ? mix(a) : 3;\n"
		   "}\n"
		   "static inline __attribute__((always_inline)) unsigned outer(unsigned a)\n"
		   "{\n"
		   "	unsigned s = 1;\n" /* 10 */
		   "	for (unsigned i = 0; i < a; i++)\n"
		   "		s += inner(i) ^ work(i);\n"
		   "	return s;\n"
		   "}\n"
		   "__attribute__((noinline)) unsigned first(unsigned a)\n" /* 15 */
		   "{\n"
		   "	return outer(a) * 3 +\n"
		   "	       outer(a + 1);\n" /* 18 */
		   "}\n"
		   "int main(int argc, char **argv)\n"
		   "{\n"
		   "	return (int)(first((unsigned)argc * 1000) + early(2));\n"
		   "}\n");
	write_file("work.c", "unsigned soon(unsigned x) { return x + 2; }\n"
			     "#include \"mix.h\"\n"
			     "unsigned work(unsigned n)\n"
			     "{\n"
			     "	switch (n & 7) {\n"
			     "	case 0: return mix(n);\n"
			     "	case 1: return mix(n) + 1;\n"
			     "	default: return mix(mix(n));\n"
			     "	}\n"
			     "}\n");
	write_file("prog.cc",
		   "#include <vector>\n"
		   "#include <algorithm>\n"
		   "namespace deep { namespace er {\n"
		   "template <typename T> struct acc {\n"
		   "	T sum = 0;\n"
		   "	void add(const T &v) { sum += v * 3; }\n"
		   "	static T twice(T v) { return v * v; }\n"
		   "};\n"
		   "template <typename T, typename F> T each(const std::vector<T> &v, F f)\n"
		   "{\n"
		   "	acc<T> a;\n"
		   "	for (const T &x : v)\n"
		   "		a.add(f(x));\n"
		   "	return a.sum;\n"
		   "}\n"
		   "} }\n"
		   "struct falling { bool operator()(long a, long b) const { return a > b; } };\n"
		   "struct plus {\n"
		   "	long n;\n"
		   "	long operator()(long x) const { return deep::er::acc<long>::twice(x) + n; "
		   "}\n"
		   "};\n"
		   "int main(int argc, char **argv)\n"
		   "{\n"
		   "	std::vector<long> v;\n"
		   "	for (int i = 0; i < argc * 100; i++)\n"
		   "		v.push_back(i * 7 % 31);\n"
		   "	std::sort(v.begin(), v.end(), falling());\n"
		   "	return (int)deep::er::each(v, plus{(long)v.size()}) & 1;\n"
		   "}\n");
	return made;
}

/* One frame as addr2line -f prints it: the linked name, then file:line. */
static void add_frame(struct str *s, const char *linked, const char *file, uint32_t line)
{
	str_addf(s, "%s\n", linked);
	if (!file)
		str_add(s, "?\?:?\n");
	else if (line)
		str_addf(s, "%s:%u\n", file, line);
	else
		str_addf(s, "%s:?\n", file);
}

/* What addr2line -i prints for SVMA: the innermost frame first.  With IS_CXX that one's file is
 * left out as "*": binutils 2.40 mistakes the file of a DWARF 5 table's first rows, which in C++
 * belong to a header (llvm-symbolizer does not). */
static unsigned our_answer(struct lines *l, uint64_t svma, bool is_cxx, struct str *ret)
{
	struct inline_scope at[INLINES_MAX];
	size_t n = inlines_find(l, svma, at, INLINES_MAX);
	struct line line = {0};

	lines_find(l, svma, &line);
	for (size_t i = n; i-- > 0;) {
		if (i + 1 < n)
			add_frame(ret, at[i].name, at[i + 1].file, at[i + 1].line);
		else
			add_frame(ret, at[i].name, is_cxx ? "*" : line.file, line.line);
	}
	return (unsigned)n;
}

/* Reads the next line, without what addr2line says about discriminators. */
static bool read_line(FILE *f, char *ret, int n)
{
	char *at;

	if (!fgets(ret, n, f))
		return false;
	ret[strcspn(ret, "\n")] = '\0';
	at = strstr(ret, " (discriminator");
	if (at)
		*at = '\0';
	if (str_ends(ret, ":0")) /* as llvm-addr2line prints it */
		ret[strlen(ret) - 1] = '?';
	return true;
}

/* Compares with addr2line at every byte of .text of the program NAME, reading DWARF from the file
 * DEBUG.  Returns how many addresses are in inlined calls; *RET_DEEPEST is the longest chain. */
static unsigned compare(const char *name, const char *debug, const char *tool, bool is_cxx,
			unsigned *ret_deepest)
{
	struct lines *l = open_lines(debug, NULL);
	uint64_t start = 0, end = 0;
	unsigned n_inlined = 0, n_differ = 0;
	char path[256], line[4096];
	struct str theirs = {0}, ours = {0};
	FILE *f;

	*ret_deepest = 0;
	if (!l || !text_range(name, &start, &end)) {
		EXPECT(l && end > start);
		lines_close(l);
		return 0;
	}
	write_addresses(start, end);
	EXPECT(run("%s -a -i -f -e %s < addresses > answers", tool, debug));
	snprintf(path, sizeof(path), "%s/answers", dir);
	f = fopen(path, "r");
	line[0] = '\0';
	if (f)
		read_line(f, line, sizeof(line));
	for (uint64_t svma = start; f && svma < end; svma++) {
		unsigned n;

		EXPECT_EQ(strtoull(line, NULL, 16), svma);
		str_reset(&theirs);
		str_reset(&ours);
		n = our_answer(l, svma, is_cxx, &ours);
		for (unsigned k = 0; read_line(f, line, sizeof(line)) && !str_starts(line, "0x");
		     k++) {
			const char *number = k == 1 && is_cxx ? strrchr(line, ':') : NULL;

			str_addf(&theirs, "%s%s\n", number ? "*" : "", number ? number : line);
		}
		/* Where DWARF knows nothing addr2line asks the symbol table. */
		if (n == 0)
			continue;
		n_inlined += n > 1;
		*ret_deepest = n > *ret_deepest ? n : *ret_deepest;
		if (strcmp(str_get(&ours), str_get(&theirs)) != 0 && n_differ++ < 5)
			printf("# %s %#" PRIx64 ":\n%saddr2line:\n%s", debug, svma, str_get(&ours),
			       str_get(&theirs));
	}
	if (f)
		fclose(f);
	EXPECT_EQ(n_differ, 0);
	str_release(&theirs);
	str_release(&ours);
	lines_close(l);
	return n_inlined;
}

static const struct {
	const char *c, *cxx;
} compilers[] = {{"gcc", "g++"}, {"clang", "clang++"}};

/* The program that knows the answers for DWARF version V of compiler C: binutils 2.40 does not find
 * what clang inlined in DWARF 5 (DW_FORM_rnglistx and _addrx). */
static const char *reference(unsigned c, unsigned v)
{
	return v == 5 && !strcmp(compilers[c].c, "clang") ? "llvm-addr2line" : "addr2line";
}

static bool is_there(unsigned c, unsigned v)
{
	return run("command -v %s > /dev/null && command -v %s > /dev/null", compilers[c].cxx,
		   reference(c, v));
}

TEST(every_address_of_a_c_program_has_addr2lines_chain)
{
	unsigned deepest;

	REQUIRE(make_sources());
	for (unsigned c = 0; c < n_elems(compilers); c++) {
		for (unsigned v = 4; v <= 5; v++) {
			if (!is_there(c, v) || (t_quick() && (v == 5) != (c == 0)))
				continue;
			for (unsigned o = 1; o <= 3; o += t_quick() ? 2 : 1) {
				REQUIRE(run("%s -gdwarf-%u -O%u main.c work.c -o prog",
					    compilers[c].c, v, o));
				EXPECT(compare("prog", "prog", reference(c, v), false, &deepest) >
				       50);
				EXPECT(deepest >= 4); /* mix, inner, outer, first */
			}
		}
	}
}

/* The C++ program as gcc compiles it, made once: "cxx.o". */
static bool make_cxx_object(void)
{
	static bool made;

	made = made || run("g++ -std=c++17 -gdwarf-4 -O2 -c prog.cc -o cxx.o");
	return made;
}

TEST(every_address_of_a_cxx_program_has_addr2lines_chain)
{
	unsigned deepest;

	REQUIRE(make_sources());
	for (unsigned c = 0; c < n_elems(compilers); c++) {
		for (unsigned v = 4; v <= 5; v++) {
			if (!is_there(c, v) || (t_quick() && (v == 5) != (c == 0)))
				continue;
			if (c == 0 && v == 4)
				REQUIRE(make_cxx_object() && run("g++ cxx.o -o prog"));
			else
				REQUIRE(run("%s -std=c++17 -gdwarf-%u -O2 prog.cc -o prog",
					    compilers[c].cxx, v));
			EXPECT(compare("prog", "prog", reference(c, v), true, &deepest) > 500);
			EXPECT(deepest >= 6);
		}
	}
}

TEST(other_ways_to_build_have_addr2lines_chain)
{
	static const char *const options[] = {
		"-O2 -gdwarf-4 -flto",
		"-O2 -g -gz -ffunction-sections -Wl,--gc-sections",
		"-O3 -g -static-pie -fpie -freorder-blocks-and-partition",
		"-O2 -gdwarf-4 -gstrict-dwarf -fdebug-types-section",
		"-O2 -gdwarf-3",
		"-O2 -gdwarf-2",
	};
	unsigned deepest;

	REQUIRE(make_sources());
	for (unsigned i = 0; i < n_elems(options); i += t_quick() ? 3 : 1) {
		REQUIRE(run("gcc %s main.c work.c -o prog", options[i]));
		EXPECT(compare("prog", "prog", "addr2line", false, &deepest) > 50);
		EXPECT(deepest >= 4);
	}
	REQUIRE(run("objcopy --only-keep-debug prog prog.debug && objcopy --strip-debug prog"));
	EXPECT(compare("prog", "prog.debug", "addr2line", false, &deepest) > 50);
}

/* dwz moves what two programs share into a third file: names of inlined functions too. */
TEST(names_are_found_in_the_file_of_common_parts)
{
	unsigned deepest;

	REQUIRE(make_sources());
	if (!run("command -v dwz > /dev/null"))
		SKIP("dwz is not there");
	REQUIRE(make_cxx_object());
	REQUIRE(run("g++ cxx.o -o a && g++ cxx.o -Wl,--defsym=o=1 -o b && "
		    "dwz -m common a b && test -s common"));
	EXPECT(compare("a", "a", "addr2line", true, &deepest) > 500);
	EXPECT(compare("b", "b", "addr2line", true, &deepest) > 500);
	EXPECT(deepest >= 6);
}

static bool open_image(const char *name, struct image *ret, char path[256])
{
	struct image_layout layout;
	int fd, rc;

	snprintf(path, 256, "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	rc = fd < 0 ? fd : elf_probe(fd, &layout, NULL);
	close(fd);
	*ret = (struct image){.kind = IMAGE_FILE, .build_id = layout.build_id, .path = path};
	return rc == 0;
}

/* Checks that the C program NAME has the chain mix, inner, outer, first somewhere, with the lines
 * of the calls. */
static void check_frames(const char *name, const char *outermost)
{
	static const char *const names[] = {"first", "outer", "inner", "mix"};
	struct resolver_opts opts = {0};
	struct resolver *r = resolver_new(&opts);
	struct resolved_frame at[8], again[8];
	uint64_t start = 0, end = 0;
	unsigned n_deep = 0;
	struct image im;
	char path[256];

	EXPECT(open_image(name, &im, path));
	EXPECT(text_range(name, &start, &end));
	for (uint64_t svma = start; svma < end; svma++) {
		size_t n = resolver_frames(r, &im, svma, true, at, n_elems(at));

		EXPECT(n >= 1);
		EXPECT_EQ(resolver_frames(r, &im, svma, true, again, n_elems(again)), n);
		for (size_t i = 0; i < n && i < n_elems(at); i++) {
			EXPECT(at[i].name == again[i].name && at[i].file == again[i].file);
			EXPECT_EQ(at[i].line, again[i].line);
		}
		EXPECT(!at[0].is_inlined);
		if (n < 4)
			continue;
		n_deep++;
		EXPECT_EQ(n, 4);
		EXPECT_STR(at[0].name, outermost);
		EXPECT(at[0].line == 18 || at[0].line == 19);
		EXPECT_EQ(at[1].line, 13);
		EXPECT_EQ(at[2].line, 7);
		EXPECT(at[3].line == 4 || at[3].line == 5 || at[3].line == 6);
		EXPECT_STR(str_basename(at[2].file), "main.c");
		EXPECT_STR(str_basename(at[3].file), "mix.h");
		for (size_t i = 1; i < n; i++) {
			EXPECT_STR(at[i].name, names[i]);
			EXPECT(at[i].is_inlined && at[i].proc == PROC_NONE);
		}
		/* Fewer than there are: the outermost. */
		EXPECT_EQ(resolver_frames(r, &im, svma, true, again, 2), 4);
		EXPECT_STR(again[1].name, "outer");
	}
	EXPECT(n_deep >= 8);
	/* Names alone, from DWARF opened without lines; and lines again behind that. */
	resolver_rest(r, &im);
	for (uint64_t svma = start; svma < end; svma++) {
		const char *inlined[8];
		size_t n = resolver_inlined(r, &im, svma, true, inlined, n_elems(inlined));

		EXPECT_EQ(resolver_frames(r, &im, svma, true, at, n_elems(at)), n + 1);
		for (size_t i = 0; i < n; i++)
			EXPECT(inlined[i] == at[i + 1].name);
		EXPECT_EQ(resolver_inlined(r, &im, svma, true, inlined, 1), n ? 1 : 0);
	}
	resolver_frames(r, &im, end, true, again, 8); /* not remembered: it opens lines */
	EXPECT(resolver_frames(r, &im, start, true, at, 8) >= 1 && at[0].line);
	/* What was handed out outlives the DWARF, and it can be asked again. */
	resolver_rest(r, &im);
	EXPECT(at[0].name && at[0].name[0]);
	EXPECT(resolver_frames(r, &im, start + 1, true, again, 8) >= 1);
	resolver_free(r);
}

TEST(frames_begin_with_the_procedure)
{
	REQUIRE(make_sources());
	REQUIRE(run("gcc -g -O2 -Wl,--build-id main.c work.c -o prog"));
	check_frames("prog", "first");
	/* DWARF has the name of a procedure without a symbol. */
	REQUIRE(run("strip --strip-symbol=first prog"));
	check_frames("prog", "first");
}

TEST(without_dwarf_there_is_the_procedure)
{
	struct resolver_opts opts = {0};
	struct resolver *r = resolver_new(&opts);
	struct resolved_frame at[4];
	unsigned n_named = 0;
	uint64_t start, end;
	struct image im;
	char path[256];

	REQUIRE(make_sources());
	REQUIRE(make_cxx_object());
	REQUIRE(run("g++ -Wl,--build-id cxx.o -o bare && strip --strip-debug bare"));
	REQUIRE(open_image("bare", &im, path) && text_range("bare", &start, &end));
	for (uint64_t svma = start; svma < end; svma++) {
		struct procedure p;

		EXPECT_EQ(resolver_frames(r, &im, svma, true, at, 4), 1);
		EXPECT(!at[0].file && !at[0].line && !at[0].is_inlined);
		if (!resolver_find(r, &im, svma, &p)) {
			EXPECT(!at[0].name && at[0].proc == PROC_NONE);
			continue;
		}
		EXPECT_STR(at[0].name, p.name);
		EXPECT_EQ(at[0].proc, p.index);
		n_named++;
	}
	EXPECT(n_named > 100);
	im = (struct image){.kind = IMAGE_ANON, .path = "[anon] x"};
	EXPECT_EQ(resolver_frames(r, &im, 4096, false, at, 4), 1);
	EXPECT(!at[0].name && !at[0].file);
	resolver_free(r);
}

TEST(inlined_names_are_readable)
{
	struct resolver_opts opts = {0};
	struct resolver *r = resolver_new(&opts);
	struct resolved_frame at[RESOLVER_MAX_FRAMES];
	const char *with = NULL, *without = NULL;
	uint64_t start, end;
	struct image im;
	char path[256];

	REQUIRE(make_sources());
	REQUIRE(run("g++ -std=c++17 -O2 -g -Wl,--build-id prog.cc -o prog"));
	REQUIRE(open_image("prog", &im, path) && text_range("prog", &start, &end));
	for (uint64_t svma = start; svma < end; svma++) {
		size_t n = resolver_frames(r, &im, svma, true, at, RESOLVER_MAX_FRAMES);

		for (size_t i = 1; i < n; i++) {
			if (strcmp(at[i].name, "deep::er::acc<long>::twice(long)") != 0)
				continue;
			EXPECT(!with || with == at[i].name);
			with = at[i].name;
			resolver_frames(r, &im, svma, false, at, RESOLVER_MAX_FRAMES);
			without = at[i].name;
			EXPECT_STR(at[0].name, "main");
			break;
		}
	}
	EXPECT(with);
	EXPECT_STR(without, "deep::er::acc<long>::twice");
	resolver_free(r);
}

/* DWARF 4 as a hand wrote it: one unit over 4 KB of code from f, with the entries of BODY in it.
 * Abbreviations: 2 a procedure (name, 64-bit start, 32-bit size), 3 an inlined call (32-bit
 * reference to its origin, start, size), 4 an abstract function (origin) with neither name nor
 * code, 5 an abstract function with a name; all but 4 and 5 have children. */
static struct lines *open_by_hand(const char *body)
{
	struct str s = {0};
	struct lines *l = NULL;

	str_addf(&s,
		 "	.text\n	.globl f\n"
		 "f:	.skip 4096, 0x90\n"
		 "	.section .debug_abbrev\n"
		 "	.macro abbrev code, tag, children, forms:vararg\n"
		 "	.byte \\code, \\tag, \\children, \\forms, 0, 0\n"
		 "	.endm\n"
		 /* DW_AT_low_pc 0x11 addr, high_pc 0x12 data4, name 3 string, origin 0x31 ref4 */
		 "	abbrev 1, 0x11, 1, 0x11, 1, 0x12, 6\n"
		 "	abbrev 2, 0x2e, 1, 3, 8, 0x11, 1, 0x12, 6\n"
		 "	abbrev 3, 0x1d, 1, 0x31, 0x13, 0x11, 1, 0x12, 6\n"
		 "	abbrev 4, 0x2e, 0, 0x31, 0x13\n"
		 "	abbrev 5, 0x2e, 0, 3, 8\n"
		 "	.byte 0\n"
		 "	.section .debug_line\n	.long 0\n"
		 "	.section .debug_info\n"
		 "	.macro procedure name, start, size\n"
		 "	.byte 2\n	.asciz \"\\name\"\n	.quad f+\\start\n	.long "
		 "\\size\n"
		 "	.endm\n"
		 "	.macro inlined origin, start, size\n"
		 "	.byte 3\n	.long \\origin-unit\n	.quad f+\\start\n	.long "
		 "\\size\n"
		 "	.endm\n"
		 "	.macro end\n	.byte 0\n	.endm\n"
		 "unit:	.long 2f-1f\n"
		 "1:	.short 4\n	.long 0\n	.byte 8\n"
		 "	.byte 1\n	.quad f\n	.long 4096\n"
		 "%s"
		 "	end\n"
		 "2:\n",
		 body);
	write_file("hand.s", str_get(&s));
	str_release(&s);
	if (run("gcc -nostdlib -shared hand.s -o hand"))
		l = open_lines("hand", NULL);
	EXPECT(l);
	return l;
}

/* The names of the chain at byte OFF of f, as "outer > inner". */
static const char *chain_at(struct lines *l, uint64_t off)
{
	struct inline_scope at[INLINES_MAX];
	static struct str s;
	uint64_t start = 0, end;
	size_t n;

	str_reset(&s);
	EXPECT(text_range("hand", &start, &end));
	n = inlines_find(l, start + off, at, INLINES_MAX);
	for (size_t i = 0; i < n; i++)
		str_addf(&s, "%s%s", i ? " > " : "", at[i].name);
	return str_get(&s);
}

TEST(of_overlapping_scopes_the_deepest_counts)
{
	struct lines *l;

	REQUIRE(make_sources());
	l = open_by_hand("A:	.byte 5\n	.asciz \"a\"\n"
			 "B:	.byte 5\n	.asciz \"b\"\n"
			 "	procedure p, 0, 100\n"
			 "	inlined A, 10, 30\n" /* 10-40 */
			 "	inlined B, 20, 40\n" /* 20-60: reaches out of its parent */
			 "	end\n"
			 "	end\n"
			 "	inlined B, 50, 30\n" /* 50-80, less deep than the one before */
			 "	end\n"
			 "	end\n"
			 "	procedure q, 90, 60\n" /* 90-150, as deep as p, and later */
			 "	end\n");
	REQUIRE(l);
	EXPECT_STR(chain_at(l, 0), "p");
	EXPECT_STR(chain_at(l, 10), "p > a");
	EXPECT_STR(chain_at(l, 20), "p > a > b");
	EXPECT_STR(chain_at(l, 59), "p > a > b");
	EXPECT_STR(chain_at(l, 60), "p > b");
	EXPECT_STR(chain_at(l, 79), "p > b");
	EXPECT_STR(chain_at(l, 80), "p");
	EXPECT_STR(chain_at(l, 90), "q");
	EXPECT_STR(chain_at(l, 149), "q");
	EXPECT_STR(chain_at(l, 150), "");
	EXPECT_STR(chain_at(l, 4095), "");
	lines_close(l);
}

TEST(origins_that_go_round_have_no_name)
{
	struct lines *l;

	REQUIRE(make_sources());
	l = open_by_hand("A:	.byte 4\n	.long B-unit\n"
			 "B:	.byte 4\n	.long A-unit\n"
			 "	procedure p, 0, 100\n"
			 "C:	inlined A, 0, 50\n"
			 "D:	inlined D, 0, 40\n"
			 "	inlined 0x7fffffff, 0, 30\n" /* outside of the section */
			 "	end\n"
			 "	end\n"
			 "	end\n"
			 "	end\n");
	REQUIRE(l);
	EXPECT_STR(chain_at(l, 0), "p > ? > ? > ?");
	EXPECT_STR(chain_at(l, 30), "p > ? > ?");
	EXPECT_STR(chain_at(l, 49), "p > ?");
	EXPECT_STR(chain_at(l, 50), "p");
	lines_close(l);
}

TEST(deep_chains_are_cut_and_deeper_trees_refused)
{
	static const char chain[] = "A:	.byte 5\n	.asciz \"a\"\n"
				    "	procedure p, 0, 4000\n"
				    "	.set i, 0\n"
				    "	.rept %u\n"
				    "	.set i, i+1\n"
				    "	inlined A, i, 1\n" /* one byte each, in a chain */
				    "	.endr\n"
				    "	.skip %u\n"
				    "	end\n"
				    "	procedure q, 4000, 10\n"
				    "	end\n";
	struct inline_scope at[INLINES_MAX];
	uint64_t start, end;
	struct lines *l;
	char body[1024];

	REQUIRE(make_sources());
	snprintf(body, sizeof(body), chain, 900, 900);
	l = open_by_hand(body);
	REQUIRE(l && text_range("hand", &start, &end));
	EXPECT_EQ(inlines_find(l, start + 1, at, INLINES_MAX), 2);
	EXPECT_EQ(inlines_find(l, start + 30, at, INLINES_MAX), 31);
	EXPECT_EQ(inlines_find(l, start + 900, at, INLINES_MAX), INLINES_MAX);
	EXPECT_STR(at[0].name, "p");
	EXPECT_EQ(inlines_find(l, start + 900, at, 2), 2);
	EXPECT_STR(at[0].name, "p");
	EXPECT_STR(chain_at(l, 4001), "q");
	lines_close(l);
	/* Deeper than any compiler nests: what was read until there is kept. */
	snprintf(body, sizeof(body), chain, 3000, 3000);
	l = open_by_hand(body);
	REQUIRE(l);
	EXPECT_EQ(inlines_find(l, start + 30, at, INLINES_MAX), 31);
	EXPECT_STR(chain_at(l, 2000), "p");
	EXPECT_STR(chain_at(l, 4001), "");
	lines_close(l);
}

TEST(the_kernel_has_frames_where_its_debug_file_is)
{
	const char *const paths[] = {dir};
	struct resolver_opts opts = {.paths = paths, .n_paths = 1};
	struct resolver *r;
	struct resolved_frame at[8];
	uint64_t start, end;
	unsigned n_deep = 0;
	struct image im;
	char path[256];

	REQUIRE(make_sources());
	REQUIRE(run("gcc -g -O2 -Wl,--build-id main.c work.c -o vmlinux"));
	REQUIRE(open_image("vmlinux", &im, path) && text_range("vmlinux", &start, &end));
	r = resolver_new(&opts);
	im.kind = IMAGE_KERNEL;
	im.path = "[kernel]";
	for (uint64_t svma = start; svma < end; svma++)
		n_deep += resolver_frames(r, &im, svma, true, at, 8) == 4 &&
			  !strcmp(at[0].name, "first") && !strcmp(at[3].name, "mix");
	EXPECT(n_deep >= 8);
	resolver_free(r);
}
