/* SPDX-License-Identifier: BSD-2-Clause */
/* The loops and inlined functions that places of small programs are in, by their source lines, as
 * two compilers make them with and without optimisation, for this machine and for arm64. */
#include <unistd.h>

#include "base/str.h"
#include "flow_t.h"

/* Loops on lines of their own; line numbers are in the expectations below. */
static const char c_source[] =
	"extern int ext(int);\n"
	"void exit(int) __attribute__((noreturn));\n"
	"struct it { int *p, *e; };\n"
	"static inline int next(struct it *i, int *v)\n"
	"{\n" /* 5 */
	"	if (i->p == i->e)\n"
	"		return 0;\n"
	"	*v = *i->p++;\n"
	"	return 1;\n"
	"}\n" /* 10 */
	"static inline int sum(const int *a, int n)\n"
	"{\n"
	"	int s = 0;\n"
	"	for (int i = 0; i < n; i++)\n" /* 14 */
	"		s += a[i] * ext(i);\n"
	"	return s;\n"
	"}\n"
	"int walk(int *a, int n)\n"
	"{\n"
	"	struct it i = {a, a + n};\n" /* 20 */
	"	int v, s = 0;\n"
	"	while (next(&i, &v))\n" /* 22 */
	"		s += ext(v);\n"
	"	return s;\n"
	"}\n"
	"int rows(int **a, int n)\n"
	"{\n"
	"	int s = 0;\n"
	"	for (int k = 0; k < n; k++)\n" /* 29 */
	"		s += sum(a[k], n);\n"  /* 30 */
	"	return s;\n"
	"}\n"
	"int matrix(double *c, const double *a, const double *b, int n)\n"
	"{\n"
	"	for (int i = 0; i < n; i++)\n"		 /* 35 */
	"		for (int j = 0; j < n; j++) {\n" /* 36 */
	"			double t = 0;\n"
	"			for (int k = 0; k < n; k++)\n" /* 38 */
	"				t += a[i * n + k] * b[k * n + j];\n"
	"			c[i * n + j] = t;\n"
	"		}\n"
	"	return 0;\n"
	"}\n"
	"int letters(const char *s)\n"
	"{\n"
	"	int r = 0;\n"
	"	for (; *s; s++) {\n" /* 47 */
	"		switch (*s) {\n"
	"		case 'a': r += ext(1); break;\n"
	"		case 'b': r -= ext(3); break;\n"
	"		case 'c': r *= ext(5); break;\n"
	"		case 'd': r ^= ext(7); break;\n"
	"		case 'e': r |= ext(9); break;\n"
	"		case 'f': r &= ext(8); break;\n"
	"		case 'g': continue;\n"
	"		case 'h': if (r > 100) return r; r = ext(r); break;\n"
	"		default: exit(2);\n"
	"		}\n"
	"	}\n"
	"	return r;\n"
	"}\n"
	"int twice(int n)\n"
	"{\n"
	"	int s = 0;\n"
	"	while (n > 0) {\n" /* 65 */
	"		s += ext(n);\n"
	"		if (ext(s) == 9)\n"
	"			break;\n"
	"		for (int i = 0; i < n; i++)\n" /* 69 */
	"			s += ext(i);\n"
	"		n--;\n"
	"	}\n"
	"	return s;\n"
	"}\n"
	"int tail(int n)\n" /* 75 */
	"{\n"
	"	while (n > 5)\n" /* 77 */
	"		n = ext(n);\n"
	"	return ext(n + 1);\n"
	"}\n"
	"void forever(void)\n"
	"{\n"
	"	for (;;) ext(1);\n" /* 83 */
	"\n"
	"}\n"
	"int tangle(int n)\n"
	"{\n"
	"	if (n & 1)\n"
	"		goto mid;\n"
	"top:	n = ext(n);\n" /* 90 */
	"mid:	n = ext(n + 1);\n"
	"	if (n)\n"
	"		goto top;\n"
	"	return n;\n"
	"}\n"
	"void scale(float *x, float *y, int n, float k)\n"
	"{\n"
	"	for (int i = 0; i < n; i++)\n" /* 98 */
	"		y[i] += k * x[i];\n"
	"}\n"
	"int interpret(const unsigned char *pc)\n"
	"{\n"
	"	static const void *const to[] = {&&halt, &&add, &&sub, &&jmp};\n"
	"	int acc = 0;\n"
	"	goto *to[*pc];\n"
	"add:	acc += ext(pc[1]);\n" /* 106 */
	"	pc += 2;\n"
	"	goto *to[*pc];\n"
	"sub:	acc -= ext(pc[1]);\n"
	"	pc += 2;\n"
	"	goto *to[*pc];\n"
	"jmp:	pc += (signed char)pc[1];\n"
	"	goto *to[*pc];\n"
	"halt:	return acc;\n"
	"}\n"
	"int ends(int n)\n"
	"{\n"
	"	for (int i = 0; i < n; i++)\n" /* 118 */
	"		if (ext(i) < 0)\n"
	"			exit(3);\n"
	"	return 7;\n"
	"}\n"
	"int none(int n)\n"
	"{\n"
	"	return n > 3 ? ext(n) : ext(n) + 1;\n"
	"}\n";

struct expected {
	const char *procedure;
	const char *plain; /* its loops without optimisation, sorted */
	const char *optimised;
};

/* A chain of loops is their lines, outermost first; "(sum@30" is inlined where line 30 calls. */
static const struct expected c_expected[] = {
	{"walk", "22", "22"},
	{"rows", "29", "29|29 (sum@30 14"},
	{"matrix", "35|35 36|35 36 38", "35|35 36|35 36 38"},
	{"letters", "47", "47"},
	{"twice", "65|65 69", "65|65 69"},
	{"tail", "77", "77"},
	{"forever", "83", "83"},
	{"tangle", "90!", "90!"},
	{"scale", "98", "98"},
	{"interpret", "108", "106"},
	{"ends", "118", "118"},
	{"none", "", ""},
};

/* The loops of a place as text, up to the innermost. */
static void describe(const struct code_scope *s, size_t n, struct str *ret)
{
	size_t last = 0;
	uint32_t call = 0;

	for (size_t i = 0; i < n; i++)
		last = s[i].kind == CODE_LOOP ? i + 1 : last;
	for (size_t i = 1; i < last; i++) {
		if (s[i].kind == CODE_LINE) {
			call = s[i].line;
			continue;
		}
		str_add(ret, ret->n ? " " : "");
		if (s[i].kind == CODE_INLINED)
			str_addf(ret, "(%s@%u", s[i].name, call);
		else
			str_addf(ret, "%u%s", s[i].line, s[i].irreducible ? "!" : "");
	}
}

/* What holds of any answer. */
static void check_form(const struct code_scope *s, size_t n)
{
	EXPECT(n >= 2 && s[0].kind == CODE_FUNCTION && s[n - 1].kind == CODE_LINE);
	for (size_t i = 1; i < n; i++) {
		EXPECT(s[i].kind != CODE_FUNCTION);
		if (s[i].kind == CODE_INLINED)
			EXPECT(s[i].name && s[i - 1].kind == CODE_LINE);
		if (s[i].kind == CODE_LINE && i + 1 < n)
			EXPECT(s[i + 1].kind == CODE_INLINED);
		EXPECT((s[i].kind == CODE_LOOP) == (s[i].svma != 0));
	}
}

#define MAX_CHAINS 16

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All the loops of procedure NAME, as in struct expected. */
static void loops_of(struct program *p, const char *name, struct str *ret)
{
	char *chains[MAX_CHAINS];
	size_t n_chains = 0;
	struct procedure proc;
	struct str text = {0};

	if (!program_find(p, name, &proc))
		return;
	for (uint64_t svma = proc.start; svma < proc.end; svma++) {
		struct code_scope s[32];
		size_t n = resolver_scopes(p->r, &p->im, svma, false, s, n_elems(s)), i;

		check_form(s, n);
		EXPECT_STR(s[0].name, name);
		str_reset(&text);
		describe(s, n, &text);
		if (!text.n)
			continue;
		for (i = 0; i < n_chains && strcmp(chains[i], str_get(&text)) != 0; i++)
			;
		if (i == n_chains && n_chains < MAX_CHAINS)
			chains[n_chains++] = xstrdup(str_get(&text));
	}
	qsort(chains, n_chains, sizeof(*chains), by_text);
	for (size_t i = 0; i < n_chains; i++) {
		str_addf(ret, "%s%s", i ? "|" : "", chains[i]);
		free(chains[i]);
	}
	str_release(&text);
}

static void check_program(const char *command, const struct expected *e, size_t n, bool optimised)
{
	struct program p;

	if (!scratch_run("%s -o prog", command)) {
		t_fail_("%s", command);
		return;
	}
	REQUIRE(program_open(&p, "prog"));
	for (size_t i = 0; i < n; i++) {
		const char *expected = optimised ? e[i].optimised : e[i].plain;
		struct str s = {0};

		loops_of(&p, e[i].procedure, &s);
		if (strcmp(str_get(&s), expected) != 0)
			t_fail_("%s: %s has \"%s\", expected \"%s\"", command, e[i].procedure,
				str_get(&s), expected);
		str_release(&s);
	}
	program_close(&p);
}

static const char *const compilers[] = {"gcc", "clang"};

TEST(loops_of_c_have_the_lines_of_for_and_while)
{
	REQUIRE(scratch_open(c_source));
	for (size_t c = 0; c < n_elems(compilers); c++) {
		if (!scratch_run("command -v %s > /dev/null", compilers[c]))
			continue;
		for (unsigned o = 0; o <= 3; o += t_quick() ? 2 : 1) {
			char command[128];

			snprintf(command, sizeof(command),
				 "%s -w -g -O%u -fpic -shared -Wl,--build-id a.c", compilers[c], o);
			if (o != 1) /* clang rotates nothing then, and makes loops of two entries */
				check_program(command, c_expected, n_elems(c_expected), o > 1);
		}
	}
	scratch_close();
}

TEST(loops_of_arm64_have_them_too)
{
	REQUIRE(scratch_open(c_source));
	if (!scratch_run("command -v clang > /dev/null && command -v ld.lld > /dev/null")) {
		scratch_close();
		SKIP("clang or lld is not there");
	}
	for (unsigned o = 0; o <= 3; o += t_quick() ? 2 : 1) {
		char command[160];

		snprintf(command, sizeof(command),
			 "clang -target aarch64-linux-gnu -fuse-ld=lld -nostdlib -w -g -O%u -fpic "
			 "-shared -Wl,--build-id a.c",
			 o);
		if (o != 1)
			check_program(command, c_expected, n_elems(c_expected), o > 1);
	}
	scratch_close();
}

static const char cxx_source[] =
	"#include <stdexcept>\n"
	"#include <vector>\n"
	"int ext(int);\n"
	"template <class F> __attribute__((always_inline)) inline\n"
	"long each(const std::vector<long> &v, F f)\n"
	"{\n"
	"	long s = 0;\n"
	"	for (long x : v)\n" /* 8 */
	"		s += f(x);\n"
	"	return s;\n"
	"}\n"
	"extern \"C\" long inner(const std::vector<long> &v)\n"
	"{\n"
	"	long t = 0;\n"
	"	for (int i = 0; i < 10; i++)\n" /* 15 */
	"		t += each(v, [&](long x) { return (long)ext((int)x + i); });\n"
	"	return t;\n"
	"}\n"
	"extern \"C\" int handlers(int n)\n"
	"{\n"
	"	int bad = 0;\n"
	"	for (int i = 0; i < n; i++) {\n" /* 22 */
	"		try {\n"
	"			ext(i);\n"
	"		} catch (std::runtime_error &e) {\n"
	"			bad += ext(-i);\n" /* 26: in the loop */
	"			continue;\n"
	"		} catch (...) {\n"
	"			bad = ext(-n);\n" /* 29: outside */
	"			break;\n"
	"		}\n"
	"		ext(bad);\n"
	"	}\n"
	"	return bad;\n"
	"}\n";

/* Tells for each place of line LINE in procedures beginning with NAME whether it is in a loop:
 * *RET_IN, and *RET_OUT for those that are in none. */
static void count_line(struct program *p, const char *name, uint32_t line, unsigned *ret_in,
		       unsigned *ret_out)
{
	*ret_in = *ret_out = 0;
	for (uint32_t i = 0; i < p->st->n; i++) {
		struct procedure proc = symtab_get(p->st, i);

		for (uint64_t svma = proc.start; svma < proc.end; svma++) {
			struct code_scope s[32];
			size_t n;

			if (!str_starts(proc.name, name) || proc.flags & PROC_ALIAS)
				break;
			n = resolver_scopes(p->r, &p->im, svma, false, s, n_elems(s));
			check_form(s, n);
			if (s[n - 1].line != line)
				continue;
			*ret_in += s[1].kind == CODE_LOOP;
			*ret_out += s[1].kind != CODE_LOOP;
		}
	}
}

TEST(handlers_of_exceptions_are_in_the_loop_they_come_back_to)
{
	unsigned n_in, n_out;
	struct program p;

	REQUIRE(scratch_open("") && scratch_write("a.cc", cxx_source));
	for (unsigned o = t_quick() ? 2 : 0; o <= 2; o += 2) {
		REQUIRE(scratch_run("g++ -g -O%u -fpic -shared -Wl,--build-id a.cc -o prog", o));
		REQUIRE(program_open(&p, "prog"));
		count_line(&p, "handlers", 26, &n_in, &n_out);
		EXPECT(n_in > 0 && n_out == 0);
		count_line(&p, "handlers", 29, &n_in, &n_out);
		EXPECT(n_in == 0 && n_out > 0);
		program_close(&p);
	}
	scratch_close();
}

TEST(a_loop_of_an_inlined_template_is_inside_it)
{
	struct str s = {0};
	struct program p;

	REQUIRE(scratch_open("") && scratch_write("a.cc", cxx_source));
	REQUIRE(scratch_run("g++ -g -O2 -fpic -shared -Wl,--build-id a.cc -o prog"));
	REQUIRE(program_open(&p, "prog"));
	loops_of(&p, "inner", &s);
	EXPECT(str_starts(str_get(&s), "15|15 (each<"));
	EXPECT(str_ends(str_get(&s), "@16 8"));
	str_release(&s);
	program_close(&p);
	scratch_close();
}

/* gcc moves the unlikely half of the body into parted.cold. */
TEST(moved_code_is_in_the_loop)
{
	unsigned n_in, n_out;
	struct procedure proc;
	struct program p;

	REQUIRE(scratch_open("extern int ext(int);\n"
			     "__attribute__((cold)) extern int bad(int);\n"
			     "int parted(int n)\n"
			     "{\n"
			     "	int s = 0;\n"
			     "	for (int i = 0; i < n; i++) {\n"
			     "		if (ext(i) == 7) {\n"
			     "			s += bad(i);\n" /* 8 */
			     "			s ^= bad(s);\n"
			     "		}\n"
			     "		s += ext(s);\n" /* 11 */
			     "	}\n"
			     "	return s;\n"
			     "}\n"));
	REQUIRE(scratch_run("gcc -g -O2 -fpic -shared -Wl,--build-id a.c -o prog"));
	REQUIRE(program_open(&p, "prog"));
	REQUIRE(program_find(&p, "parted.cold", &proc));
	count_line(&p, "parted.cold", 8, &n_in, &n_out);
	EXPECT(n_in > 0 && n_out == 0);
	count_line(&p, "parted", 11, &n_in, &n_out);
	EXPECT(n_in > 0 && n_out == 0);
	count_line(&p, "parted", 14, &n_in, &n_out);
	EXPECT(n_in == 0 && n_out > 0);
	program_close(&p);
	scratch_close();
}

TEST(answers_do_not_change)
{
	struct code_scope s[8], again[8];
	struct procedure proc;
	struct program p;
	size_t n;

	REQUIRE(scratch_open(c_source));
	REQUIRE(scratch_run("gcc -w -g -O2 -fpic -shared -Wl,--build-id a.c -o prog"));
	REQUIRE(program_open(&p, "prog"));
	REQUIRE(program_find(&p, "rows", &proc));
	for (uint64_t svma = proc.start; svma < proc.end; svma++) {
		n = resolver_scopes(p.r, &p.im, svma, false, s, 8);
		resolver_rest(p.r, &p.im);
		REQUIRE(n <= 8 && resolver_scopes(p.r, &p.im, svma, false, again, 8) == n);
		for (size_t i = 0; i < n; i++) {
			EXPECT_EQ(s[i].kind, again[i].kind);
			EXPECT_EQ(s[i].svma, again[i].svma);
			EXPECT_EQ(s[i].line, again[i].line);
			EXPECT(s[i].file == again[i].file && s[i].name == again[i].name);
		}
		/* Room for fewer: the outermost. */
		EXPECT_EQ(resolver_scopes(p.r, &p.im, svma, false, again, 2), n);
		EXPECT_EQ(again[1].kind, s[1].kind);
	}
	program_close(&p);
	scratch_close();
}

TEST(without_dwarf_loops_have_no_line)
{
	unsigned n_loops = 0;
	struct procedure proc;
	struct program p;

	REQUIRE(scratch_open(c_source));
	REQUIRE(scratch_run("gcc -w -O2 -fpic -shared -Wl,--build-id a.c -o prog"));
	REQUIRE(program_open(&p, "prog"));
	REQUIRE(program_find(&p, "matrix", &proc));
	for (uint64_t svma = proc.start; svma < proc.end; svma++) {
		struct code_scope s[8];
		size_t n = resolver_scopes(p.r, &p.im, svma, false, s, 8);

		check_form(s, n);
		for (size_t i = 1; i + 1 < n; i++) {
			EXPECT_EQ(s[i].kind, CODE_LOOP);
			EXPECT(!s[i].file && !s[i].line);
			EXPECT(s[i].svma > proc.start && s[i].svma < proc.end);
			n_loops++;
		}
		n_loops += n == 5; /* three loops */
	}
	EXPECT(n_loops > 10);
	program_close(&p);
	scratch_close();
}

TEST(without_a_file_there_is_no_loop)
{
	struct image im = {.kind = IMAGE_ANON, .path = "[anon] x"};
	struct resolver_opts opts = {0};
	struct resolver *r = resolver_new(&opts);
	struct code_scope s[4];

	REQUIRE(resolver_scopes(r, &im, 4096, false, s, 4) == 2);
	EXPECT(s[0].kind == CODE_FUNCTION && !s[0].name && s[0].proc == PROC_NONE);
	EXPECT(s[1].kind == CODE_LINE && !s[1].file && !s[1].line);
	resolver_free(r);
}
