/* SPDX-License-Identifier: BSD-2-Clause */
/* Line tables of small programs, compiled here by both compilers and in both versions of DWARF,
 * compared with addr2line at every address of the program's text. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/vec.h"
#include "base/wr.h"
#include "resolve/lines_impl.h"
#include "dwarf_t.h"

#include <errno.h>
#include <inttypes.h>

/* Two units and a header: inlining, a loop, a switch.  The line numbers are asserted below.  Code
 * of each unit's own file comes before code of the header, because binutils 2.40 mistakes the file
 * of a DWARF 5 table's first rows otherwise (llvm-symbolizer and objdump's own dump do not). */
static bool make_sources(void)
{
	static bool made;

	if (made)
		return true;
	made = mkdtemp(dir) && run("mkdir inc");
	write_file("inc/mix.h", "static inline unsigned mix(unsigned x)\n" /* 1 */
				"{\n"
				"	x ^= x >> 7;\n"
				"	return x * 2654435761u;\n"
				"}\n");
	write_file("main.c", "unsigned early(unsigned x) { return x + 1; }\n" /* 1 */
			     "#include \"inc/mix.h\"\n"
			     "unsigned work(unsigned n);\n"
			     "\n"
			     "static unsigned helper(unsigned a)\n" /* 5: inlined into first */
			     "{\n"
			     "	return a % 7 ? mix(a) : 3;\n"
			     "}\n"
			     "\n"
			     "__attribute__((noinline)) unsigned first(unsigned a)\n" /* 10 */
			     "{\n"
			     "	unsigned s = 0;\n"
			     "	for (unsigned i = 0; i < a; i++)\n"
			     "		s += helper(i) ^ work(i);\n"
			     "	return s;\n"
			     "}\n" /* 16 */
			     "\n"
			     "int main(int argc, char **argv)\n" /* 18 */
			     "{\n"
			     "	return (int)first((unsigned)argc * 1000);\n"
			     "}\n" /* 21 */
			     "\n"
			     "__attribute__((cold)) void lost(unsigned n);\n"
			     "unsigned rare(unsigned n)\n" /* 24: gcc splits its cold part off */
			     "{\n"
			     "	if (n == 77) {\n"
			     "		lost(n);\n"
			     "		lost(n + 1);\n"
			     "	}\n"
			     "	return n * 3;\n"
			     "}\n");
	write_file("work.c", "unsigned soon(unsigned x) { return x + 2; }\n" /* 1 */
			     "#include \"inc/mix.h\"\n"
			     "unsigned work(unsigned n)\n"
			     "{\n"
			     "	switch (n & 7) {\n"
			     "	case 0: return mix(n);\n"
			     "	case 1: return mix(n) + 1;\n"
			     "	case 2: return n / 3;\n"
			     "	case 5: return n * n;\n"
			     "	default: return mix(mix(n));\n"
			     "	}\n"
			     "}\n" /* 12 */
			     "unsigned n_lost;\n"
			     "void lost(unsigned n)\n"
			     "{\n"
			     "	n_lost += n;\n"
			     "}\n");
	return made;
}

/* Compares lines_find with addr2line at every byte of .text of the program NAME, reading the lines
 * from the file DEBUG.  Returns how many addresses had a line. */
static unsigned compare(const char *name, const char *debug)
{
	struct lines *l = open_lines(debug, NULL);
	uint64_t start = 0, end = 0;
	unsigned n_lines = 0, n_differ = 0;
	char path[256], theirs[512], ours[512];
	FILE *f;

	if (!l || !text_range(name, &start, &end)) {
		EXPECT(l);
		EXPECT(end > start);
		lines_close(l);
		return 0;
	}
	write_addresses(start, end);
	EXPECT(run("addr2line -e %s < addresses > answers", debug));
	snprintf(path, sizeof(path), "%s/answers", dir);
	f = fopen(path, "r");
	for (uint64_t svma = start; f && svma < end; svma++) {
		struct line at;

		if (!fgets(theirs, sizeof(theirs), f))
			theirs[0] = '\0';
		theirs[strcspn(theirs, "\n")] = '\0';
		if (lines_find(l, svma, &at) < 0)
			snprintf(ours, sizeof(ours), "?\?:0");
		else if (at.line == 0)
			snprintf(ours, sizeof(ours), "%s:?", at.file);
		else if (at.discriminator)
			snprintf(ours, sizeof(ours), "%s:%u (discriminator %u)", at.file, at.line,
				 at.discriminator);
		else
			snprintf(ours, sizeof(ours), "%s:%u", at.file, at.line);
		n_lines += strcmp(ours, "?\?:0") != 0;
		/* Without DWARF addr2line falls back on the symbol table's file names. */
		if (theirs[0] != '/')
			strcpy(theirs, "?\?:0");
		if (strcmp(ours, theirs) != 0 && n_differ++ < 5)
			printf("# %s %#" PRIx64 ": %s, addr2line %s\n", debug, svma, ours, theirs);
	}
	if (f)
		fclose(f);
	EXPECT_EQ(n_differ, 0);
	lines_close(l);
	return n_lines;
}

static const char *const compilers[] = {"gcc", "clang"};

TEST(every_address_has_addr2lines_answer)
{
	REQUIRE(make_sources());
	for (unsigned c = 0; c < n_elems(compilers); c++) {
		if (!run("command -v %s > /dev/null", compilers[c]))
			continue;
		for (unsigned v = 4; v <= 5; v++) {
			if (t_quick() && (v == 5) != (c == 0))
				continue;
			for (unsigned o = 0; o <= 2; o += 2) {
				REQUIRE(run("%s -gdwarf-%u -O%u main.c work.c -o prog",
					    compilers[c], v, o));
				EXPECT(compare("prog", "prog") > 100);
			}
		}
	}
}

TEST(other_ways_to_build_have_addr2lines_answer)
{
	static const char *const options[] = {
		"-O2 -gdwarf-4 -flto",
		"-O2 -g -ffunction-sections -Wl,--gc-sections",
		"-O3 -g -static-pie -fpie -freorder-blocks-and-partition",
	};

	REQUIRE(make_sources());
	for (unsigned i = 0; i < n_elems(options); i += t_quick() ? 3 : 1) {
		REQUIRE(run("gcc %s main.c work.c -o prog", options[i]));
		EXPECT(compare("prog", "prog") > 100);
	}
	if (run("command -v clang > /dev/null")) {
		REQUIRE(run("clang -O2 -g -ffunction-sections -Wl,--gc-sections main.c work.c -o "
			    "prog"));
		EXPECT(compare("prog", "prog") > 100);
	}
}

/* addr2line does not read .dwo files, and so cannot tell here: but the code is the same. */
TEST(dwo_files_change_nothing)
{
	struct lines *whole, *split;
	uint64_t start, end;
	unsigned n = 0;

	REQUIRE(make_sources());
	REQUIRE(run("gcc -O2 -g main.c work.c -o prog && "
		    "gcc -O2 -g -gsplit-dwarf main.c work.c -o prog-split"));
	REQUIRE(text_range("prog", &start, &end));
	whole = open_lines("prog", NULL);
	split = open_lines("prog-split", NULL);
	REQUIRE(whole && split);
	for (uint64_t svma = start; svma < end; svma++) {
		struct line a = {0}, b = {0};

		EXPECT_EQ(lines_find(whole, svma, &a), lines_find(split, svma, &b));
		if (!a.file)
			continue;
		EXPECT_STR(a.file, b.file);
		EXPECT_EQ(a.line, b.line);
		n++;
	}
	EXPECT(n > 100);
	lines_close(whole);
	lines_close(split);
}

TEST(split_and_compressed_files_answer_the_same)
{
	REQUIRE(make_sources());
	REQUIRE(run("gcc -gdwarf-5 -O2 -gz main.c work.c -o packed"));
	EXPECT(compare("packed", "packed") > 100);
	REQUIRE(run("gcc -gdwarf-5 -O2 main.c work.c -o whole && "
		    "objcopy --only-keep-debug whole whole.debug && objcopy --strip-debug whole"));
	EXPECT(compare("whole", "whole.debug") > 100);
}

/* The range of function NAME, from nm. */
static bool function_range(const char *file, const char *name, uint64_t *ret_start,
			   uint64_t *ret_end)
{
	char cmd[512], line[256], found[128];
	uint64_t size;
	FILE *f;
	bool ok = false;

	snprintf(cmd, sizeof(cmd), "nm -S %s/%s", dir, file);
	f = popen(cmd, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %*c %127s", ret_start, &size, found) ==
			    3 &&
		    !strcmp(found, name)) {
			*ret_end = *ret_start + size;
			ok = true;
			break;
		}
	}
	if (f)
		pclose(f);
	return ok;
}

TEST(rows_of_a_range_are_what_single_questions_say)
{
	struct lines *l;
	struct line_row *rows = NULL;
	uint64_t start, end, svma;
	size_t n, n_units, n_rows;

	REQUIRE(make_sources());
	REQUIRE(run("gcc -g -O2 main.c work.c -o prog"));
	REQUIRE(function_range("prog", "first", &start, &end));
	l = open_lines("prog", NULL);
	REQUIRE(l);
	n = lines_range(l, start, end, &rows);
	EXPECT(n > 5);
	svma = start;
	for (size_t i = 0; i < n; i++) {
		EXPECT_EQ(rows[i].svma, svma);
		for (; svma < rows[i].end; svma++) {
			struct line at = {0};

			EXPECT_EQ(lines_find(l, svma, &at), 0);
			EXPECT(at.file == rows[i].at.file && at.line == rows[i].at.line);
		}
	}
	EXPECT_EQ(svma, end);
	free(rows);
	/* Only the unit that was asked for was decoded, not the other. */
	lines_stats(l, &n_units, &n_rows);
	EXPECT_EQ(n_units, 1);
	EXPECT(n_rows >= n);
	/* The whole text: the start files have no lines, both units have. */
	REQUIRE(text_range("prog", &start, &end));
	n = lines_range(l, start, end, &rows);
	for (size_t i = 1; i < n; i++)
		EXPECT(rows[i - 1].end <= rows[i].svma && rows[i].svma < rows[i].end);
	lines_stats(l, &n_units, &n_rows);
	EXPECT_EQ(n_units, 2);
	free(rows);
	EXPECT_EQ(lines_range(l, 0, UINT64_MAX, &rows), n);
	free(rows);
	EXPECT_EQ(lines_range(l, end, end, &rows), 0);
	free(rows);
	lines_close(l);
}

TEST(a_procedure_stands_where_it_was_declared)
{
	static const struct {
		const char *name, *file;
		uint32_t first, last;
	} expected[] = {{"first", "main.c", 10, 16},
			{"main", "main.c", 18, 21},
			{"work", "work.c", 3, 12},
			{"rare", "main.c", 24, 31}};

	REQUIRE(make_sources());
	for (unsigned c = 0; c < n_elems(compilers); c++) {
		struct lines *l;

		if (!run("command -v %s > /dev/null", compilers[c]))
			continue;
		REQUIRE(run("%s -g -O2 -fno-inline-functions main.c work.c -o prog", compilers[c]));
		l = open_lines("prog", NULL);
		REQUIRE(l);
		for (unsigned i = 0; i < n_elems(expected); i++) {
			struct lines_extent at = {0};
			char path[256];
			uint64_t start, end;

			snprintf(path, sizeof(path), "%s/%s", dir, expected[i].file);
			REQUIRE(function_range("prog", expected[i].name, &start, &end));
			EXPECT_EQ(lines_procedure(l, start, end, &at), 0);
			EXPECT_STR(at.file, path);
			EXPECT_EQ(at.first, expected[i].first);
			/* How far the code reaches (closing braces) is the compiler's choice. */
			EXPECT(at.last <= expected[i].last && at.last + 2 >= expected[i].last);
		}
		lines_close(l);
	}
}

/* A DWARF 4 header with one directory of N_DIR bytes that N_FILES files are in. */
static bool check_v4(size_t n_dir, size_t n_files)
{
	static const uint8_t lengths[12] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	struct wr w = {0};
	bool ok;

	wr_le32(&w, (uint32_t)(6 + 6 + sizeof(lengths) + n_dir + 2 + n_files * 5 + 1));
	wr_le16(&w, 4);
	wr_le32(&w, (uint32_t)(6 + sizeof(lengths) + n_dir + 2 + n_files * 5 + 1));
	wr_bytes(&w, "\1\1\1\373\16\15", 6);
	wr_bytes(&w, lengths, sizeof(lengths));
	for (size_t i = 0; i < n_dir; i++)
		wr_u8(&w, 'd');
	wr_bytes(&w, "\0", 2);
	for (size_t i = 0; i < n_files; i++)
		wr_bytes(&w, "f\0\1\0\0", 5);
	wr_u8(&w, 0);
	ok = lines_check_unit(rd_init(w.v, w.n), rd_init("", 0), rd_init("", 0), 0, 4);
	wr_release(&w);
	return ok;
}

TEST(names_that_multiply_are_refused)
{
	static const uint8_t v5[] = {
		28, 0,	  0,	0,    5,    0,	 8, 0,
		20, 0,	  0,	0,		 /* lengths, version 5, header_length */
		1,  1,	  1,	0xfb, 14,   1,	 /* opcode_base 1: no opcode lengths */
		0,  0xff, 0xff, 0xff, 0xff, 0xf, /* no format, but 2^32 - 1 directories */
		0,  0,	  0,	0,    0,    0,	 0, 0};

	EXPECT(check_v4(20, 1000));
	EXPECT(check_v4(1 << 20, 200));
	EXPECT(!check_v4(1 << 20, 300)); /* 1.5 MB of header, 300 MB of names */
	EXPECT(!lines_check_unit(rd_init(v5, sizeof(v5)), rd_init("", 0), rd_init("", 0), 0, 0));
	EXPECT(!lines_check_unit(rd_init(v5, sizeof(v5)), rd_init("", 0), rd_init("", 0), 1000, 0));
}

TEST(files_without_final_lines_are_refused)
{
	int code;

	REQUIRE(make_sources());
	REQUIRE(run("gcc -O2 main.c work.c -o bare && gcc -g -O2 -c work.c -o work.o"));
	EXPECT(!open_lines("bare", &code));
	EXPECT_EQ(code, -ENOENT);
	EXPECT(!open_lines("work.o", &code));
	EXPECT_EQ(code, -ENOTSUP);
	EXPECT(!open_lines("main.c", &code));
	EXPECT_EQ(code, -EBADMSG);
}

TEST(the_file_of_common_parts_may_be_absent_but_not_a_fifo)
{
	struct lines *l;
	int code;

	REQUIRE(make_sources());
	REQUIRE(run("gcc -g -O2 main.c work.c -o prog && "
		    "printf 'alt\\0%%s' 01234567890123456789 > link && "
		    "objcopy --add-section .gnu_debugaltlink=link prog linked"));
	l = open_lines("linked", NULL);
	EXPECT(l);
	lines_close(l);
	EXPECT(compare("linked", "linked") > 100);
	REQUIRE(run("mkfifo alt"));
	EXPECT(!open_lines("linked", &code));
	EXPECT_EQ(code, -EBADMSG);
}

/* A .debug_info of 3 GiB that is a hole reads as 800 million units of length 0: minutes. */
TEST(units_in_a_hole_are_not_counted)
{
	_mem_ char *elf = NULL;
	char path[128];
	const uint64_t off = 1 << 20, bytes = 3ull << 30;
	uint16_t n_sections, names;
	uint64_t shoff, strings;
	struct lines_extent at;
	struct lines *l;
	struct err err;
	FILE *f;
	size_t n;

	REQUIRE(make_sources());
	REQUIRE(run("gcc -g -O2 main.c work.c -o hole"));
	snprintf(path, sizeof(path), "%s/hole", dir);
	REQUIRE(file_load(path, 1 << 20, &elf, &n, &err) == 0);
	memcpy(&shoff, elf + 40, 8);
	memcpy(&n_sections, elf + 60, 2);
	memcpy(&names, elf + 62, 2);
	memcpy(&strings, elf + shoff + 64 * names + 24, 8);
	for (unsigned i = 0; i < n_sections; i++) { /* gABI "Section Header" */
		char *head = elf + shoff + 64 * i;
		uint32_t name;

		memcpy(&name, head, 4);
		if (strcmp(elf + strings + name, ".debug_info") != 0)
			continue;
		memcpy(head + 24, &off, 8);
		memcpy(head + 32, &bytes, 8);
	}
	f = fopen(path, "wb");
	REQUIRE(f);
	EXPECT(fwrite(elf, 1, n, f) == n);
	fclose(f);
	if (truncate(path, (off_t)(off + bytes)) < 0)
		return; /* a file system without such files */
	l = open_lines("hole", NULL);
	if (l)
		EXPECT(lines_procedure(l, 0x1000, 0x1100, &at) < 0);
	lines_close(l);
}
