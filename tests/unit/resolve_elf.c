/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs compiled here, and what nm and objdump say about them. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "base/vec.h"
#include "resolve/elf_file.h"
#include "resolve/elf_probe.h"
#include "resolve/resolver.h"
#include "resolve/symtab_elf.h"
#include "sh_t.h"
#include "t.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdarg.h>
#include <stdlib.h>

static void put(const char *name, const void *bytes, size_t n)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	fwrite(bytes, 1, n, f);
	fclose(f);
}

static int open_in(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static const char a_c[] =
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"static int __attribute__((noinline)) twin(int x) { return x * 3 + rand(); }\n"
	"int other(int);\n"
	"int __attribute__((noinline)) work(int n) { int s = 0; for (int i = 0; i < n; i++) s += "
	"twin(i); return s; }\n"
	"extern int work_alias(int) __attribute__((alias(\"work\"), weak));\n"
	"int main(int argc, char **argv) { puts(argv[0]); void *p = malloc(argc); free(p);\n"
	"return work(argc) + other(argc) + (int)strlen(argv[0]); }\n"
	"__asm__(\".text\\n.globl no_size\\nno_size: nop\\n nop\\n ret\\n\");\n";
static const char b_c[] =
	"#include <stdlib.h>\n"
	"static int __attribute__((noinline)) twin(int x) { return x + rand(); }\n"
	"int other(int n) { return twin(n) + 1; }\n";

static bool make_sources(void)
{
	static bool done;

	if (done)
		return true;
	done = mkdtemp(dir) != NULL;
	put("a.c", a_c, sizeof(a_c) - 1);
	put("b.c", b_c, sizeof(b_c) - 1);
	return done;
}

__attribute__((destructor)) static void clean(void)
{
	if (access(dir, F_OK) == 0)
		sh("rm -rf %s", dir);
}

static enum symtab_source load(const char *name, struct symtab *st)
{
	_fd_ int fd = open_in(name);
	struct symtab_builder b = {0};
	enum symtab_source source;
	struct elf_file f;

	*st = (struct symtab){0};
	if (fd < 0 || elf_file_open(&f, fd, NULL) < 0)
		return SYMTAB_NONE;
	source = symtab_elf_read(&f, &b);
	symtab_elf_read_plt(&f, &b);
	elf_file_close(&f);
	symtab_builder_finish(&b, st);
	return source;
}

/* Every procedure the command lists as "ADDRESS NAME" is found by name at that address, and the
 * address is found to be a procedure that begins there. */
static unsigned compare(const struct symtab *st, const char *command)
{
	char line[4096], name[4000], whole[2200];
	unsigned long long at;
	unsigned n = 0;
	FILE *f;

	snprintf(whole, sizeof(whole), "cd %s && %s", dir, command);
	f = popen(whole, "r");
	while (fgets(line, sizeof(line), f)) {
		proc_list l = {0};
		bool found = false;
		uint32_t i;

		if (sscanf(line, "%llx %3999s", &at, name) != 2)
			continue;
		i = symtab_find(st, at);
		if (i == PROC_NONE || symtab_get(st, i).start != at)
			t_fail_("%s at %llx is not a procedure's start", name, at);
		symtab_find_name(st, name, &l);
		vec_each (p, &l)
			found |= symtab_get(st, *p).start == at;
		if (!found)
			t_fail_("%s is not found at %llx", name, at);
		vec_release(&l);
		n++;
	}
	pclose(f);
	return n;
}

#define NM                                                                                         \
	"| awk '$2 ~ /^[tTwWi]$/ {print $1, $3}' | sed 's/@.*//' | grep -Ev ' (_end|data_start)$'"

static void check_build(const char *flags, unsigned at_least, bool has_plt)
{
	struct symtab st;

	REQUIRE(make_sources());
	REQUIRE(sh("gcc -O1 %s a.c b.c -o prog", flags) == 0);
	EXPECT_EQ(load("prog", &st), SYMTAB_FULL);
	EXPECT(compare(&st, "nm prog " NM) >= at_least);
	if (has_plt)
		EXPECT(compare(&st, "objdump -d prog | awk '/@plt>:/ {gsub(/[<>:]/, \"\", $2); "
				    "print $1, $2}'") >= 2);
	symtab_release(&st);
}

TEST(pie_with_ibt)
{
	check_build("-pie -fPIE -fcf-protection=full", 10, true);
}

TEST(pie_lazy)
{
	check_build("-pie -fPIE -fcf-protection=none -Wl,-z,lazy", 10, true);
}

TEST(ibt_lazy)
{
	check_build("-pie -fPIE -fcf-protection=full -Wl,-z,lazy -Wl,-z,ibtplt", 10, true);
}

TEST(fixed_now)
{
	check_build("-no-pie -fno-pie -Wl,-z,now", 10, true);
}

TEST(no_plt)
{
	check_build("-fno-plt", 10, false);
}

TEST(static_program)
{
	check_build("-static", 1000, false);
}

TEST(twins_are_both_found)
{
	struct symtab st;
	proc_list l = {0};

	REQUIRE(make_sources() && sh("gcc -O1 a.c b.c -o twins") == 0);
	EXPECT_EQ(load("twins", &st), SYMTAB_FULL);
	symtab_find_name(&st, "twin", &l);
	EXPECT_EQ(l.n, 2);
	l.n = 0;
	symtab_find_name(&st, "work_alias", &l);
	REQUIRE(l.n == 1);
	EXPECT_STR(symtab_get(&st, l.v[0]).name, "work");
	l.n = 0;
	symtab_find_name(&st, "no_size", &l);
	REQUIRE(l.n == 1);
	EXPECT(symtab_get(&st, l.v[0]).flags & PROC_FILLED);
	vec_release(&l);
	symtab_release(&st);
}

TEST(the_c_library)
{
	struct symtab st;
	char command[512];
	FILE *f = popen("gcc -print-file-name=libc.so.6", "r");
	char path[256];

	REQUIRE(f && fscanf(f, "%255s", path) == 1);
	pclose(f);
	REQUIRE(make_sources() && sh("cp %s libc.so", path) == 0);
	EXPECT(load("libc.so", &st) >= SYMTAB_DYNSYM);
	snprintf(command, sizeof(command), "nm -D --defined-only libc.so " NM);
	EXPECT(compare(&st, command) > 1000);
	symtab_release(&st);
}

/* What binutils says of an image's identity and executable segment. */
TEST(probe_agrees_with_readelf)
{
	static const char *const flags[] = {"-pie",
					    "-no-pie",
					    "-static",
					    "-Wl,--build-id=none",
					    "-Wl,--build-id=md5",
					    "-Wl,-z,noseparate-code"};

	REQUIRE(make_sources());
	for (size_t i = 0; i < n_elems(flags); i++) {
		_fd_ int fd = -1;
		struct image_layout l;
		struct err err;
		char hex[2 * BUILD_ID_MAX + 1], got[128] = "", want[128] = "";
		unsigned long long off, svma, size;
		FILE *f;

		REQUIRE(sh("gcc -O1 %s a.c b.c -o probed", flags[i]) == 0);
		fd = open_in("probed");
		REQUIRE(elf_probe(fd, &l, &err) == 0);
		build_id_format(&l.build_id, hex);
		REQUIRE(sh("readelf -n probed | awk '/Build ID/ {print $3}' > id; readelf -lW "
			   "probed | "
			   "awk '$1 == \"LOAD\" && / R E / {print $2, $3, $5}' > loads") == 0);
		snprintf(got, sizeof(got), "%s/id", dir);
		f = fopen(got, "r");
		EXPECT_EQ(fscanf(f, "%127s", want) != 1, l.hashed);
		fclose(f);
		if (l.hashed)
			EXPECT_EQ(l.build_id.n_bytes, 20);
		else
			EXPECT_STR(hex, want);
		snprintf(got, sizeof(got), "%s/loads", dir);
		f = fopen(got, "r");
		REQUIRE(fscanf(f, "%llx %llx %llx", &off, &svma, &size) == 3);
		fclose(f);
		EXPECT_EQ(l.n_loads, 1);
		EXPECT_EQ(l.loads[0].off, off);
		EXPECT_EQ(l.loads[0].svma, svma);
		EXPECT_EQ(l.loads[0].n_bytes, size);
		EXPECT_EQ(l.text_start, svma);
		EXPECT_EQ(l.text_bytes, size);
	}
}

TEST(other_files_have_an_identity_too)
{
	struct image_layout a, b;
	struct err err;
	_fd_ int fd = -1;

	REQUIRE(make_sources());
	fd = open_in("a.c");
	EXPECT(elf_probe(fd, &a, &err) < 0);
	EXPECT(elf_probe_bytes((const uint8_t *)a_c, sizeof(a_c) - 1, &b, &err) < 0);
	EXPECT(a.hashed && a.n_loads == 0 && build_id_same(&a.build_id, &b.build_id));
	EXPECT(elf_probe_bytes((const uint8_t *)b_c, sizeof(b_c) - 1, &b, &err) < 0);
	EXPECT(!build_id_same(&a.build_id, &b.build_id));
	EXPECT(elf_probe(-1, &a, &err) < 0);
}

/* .gnu_debugdata as Fedora makes it: what .dynsym lacks, xz-packed. */
TEST(mini_debug_info)
{
	_mem_ char *elf = NULL;
	_mem_ uint8_t *packed = NULL;
	char path[128];
	size_t n, n_packed = 0;
	struct symtab st;
	proc_list l = {0};
	struct err err;

	REQUIRE(make_sources());
	REQUIRE(sh("gcc -O1 -rdynamic a.c b.c -o full && objcopy -S --remove-section .gdb_index "
		   "--remove-section .comment --keep-symbol=twin full mini") == 0);
	snprintf(path, sizeof(path), "%s/mini", dir);
	REQUIRE(file_load(path, 1 << 24, &elf, &n, &err) == 0);
	packed = malloc(n + 4096);
	REQUIRE(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (uint8_t *)elf, n, packed,
					&n_packed, n + 4096) == LZMA_OK);
	put("mini.xz", packed, n_packed);
	REQUIRE(sh("strip -s -o stripped full && objcopy --add-section "
		   ".gnu_debugdata=mini.xz stripped fedora") == 0);
	EXPECT_EQ(load("stripped", &st), SYMTAB_DYNSYM);
	symtab_find_name(&st, "twin", &l);
	EXPECT_EQ(l.n, 0);
	symtab_release(&st);
	EXPECT_EQ(load("fedora", &st), SYMTAB_MINIDEBUG);
	symtab_find_name(&st, "twin", &l);
	EXPECT_EQ(l.n, 2);
	l.n = 0;
	symtab_find_name(&st, "work", &l);
	EXPECT_EQ(l.n, 1);
	vec_release(&l);
	symtab_release(&st);
}

TEST(xz_is_bounded)
{
	uint8_t zeros[100000] = {0}, packed[8192], *out;
	size_t n_packed = 0, n;
	struct err err;

	REQUIRE(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, zeros, sizeof(zeros), packed,
					&n_packed, sizeof(packed)) == LZMA_OK);
	REQUIRE(xz_unpack(packed, n_packed, 1 << 20, &out, &n, &err) == 0);
	EXPECT_EQ(n, sizeof(zeros));
	free(out);
	EXPECT_EQ(xz_unpack(packed, n_packed, 1000, &out, &n, &err), -E2BIG);
	EXPECT_EQ(xz_unpack(packed, n_packed / 2, 1 << 20, &out, &n, &err), -EBADMSG);
	packed[n_packed / 2] ^= 1;
	EXPECT_EQ(xz_unpack(packed, n_packed, 1 << 20, &out, &n, &err), -EBADMSG);
}

/* Symbols whose names are the ends of one long string: their names take no more than a few strings'
 * room. */
TEST(names_that_share_one_string_are_bounded)
{
	_mem_ char *elf = NULL;
	char path[128];
	uint64_t shoff, off, bytes;
	uint16_t n_sections, strndx;
	uint8_t *at, *head = NULL, *strtab = NULL;
	struct symtab st;
	struct err err;
	size_t n;

	REQUIRE(make_sources());
	REQUIRE(sh("( echo .text; i=0; while [ $i -lt 3000 ]; do printf '.globl f%%d\\n.type f%%d, "
		   "@function\\nf%%d: nop\\n.size f%%d, 1\\n' $i $i $i $i; i=$((i + 1)); done; "
		   "printf '.globl '; head -c 30000 /dev/zero | tr '\\0' n; echo ) >many.s && "
		   "gcc -c many.s -o many.o && ld -shared many.o -o many 2>/dev/null") == 0);
	snprintf(path, sizeof(path), "%s/many", dir);
	REQUIRE(file_load(path, 1 << 24, &elf, &n, &err) == 0);
	memcpy(&shoff, elf + 40, 8);
	memcpy(&n_sections, elf + 60, 2);
	memcpy(&strndx, elf + 62, 2);
	for (unsigned i = 0; i < n_sections;
	     i++) { /* gABI "Section Header": sh_type at 4, sh_offset at 24 */
		uint32_t type;

		at = (uint8_t *)elf + shoff + 64 * i;
		memcpy(&type, at + 4, 4);
		if (type == SHT_SYMTAB)
			head = at;
		else if (type == SHT_STRTAB && i != strndx && !(at[8] & SHF_ALLOC))
			strtab = at;
	}
	REQUIRE(head && strtab);
	memcpy(&off, strtab + 24, 8);
	memcpy(&bytes, strtab + 32, 8);
	memset(elf + off, 'n', bytes - 1);
	memcpy(&off, head + 24, 8);
	memcpy(&bytes, head + 32, 8);
	for (uint64_t i = 0; i < bytes / 24; i++) { /* st_name */
		uint32_t name = 1 + (uint32_t)i % 100;

		memcpy(elf + off + 24 * i, &name, 4);
	}
	put("many", elf, n);
	EXPECT_EQ(load("many", &st), SYMTAB_FULL);
	EXPECT(st.n > 4);
	EXPECT(st.n_pool < 1 << 20); /* 3,000 times 20 KiB are 60 MiB */
	symtab_release(&st);
}

/* Tables of symbols that lie in a hole of 1 TiB: nobody has the memory, and nobody ends for it. */
TEST(tables_in_a_hole_are_left_alone)
{
	_mem_ char *elf = NULL;
	char path[128];
	const uint64_t off = 1 << 20, bytes = 1ull << 40;
	uint16_t n_sections;
	uint64_t shoff;
	struct symtab st;
	struct err err;
	size_t n;

	REQUIRE(make_sources());
	REQUIRE(sh("printf '.globl f\\n.type f, @function\\nf: nop\\n.size f, 1\\n' >hole.s && "
		   "gcc -c hole.s -o hole.o && ld -shared hole.o -o hole 2>/dev/null") == 0);
	snprintf(path, sizeof(path), "%s/hole", dir);
	REQUIRE(file_load(path, 1 << 20, &elf, &n, &err) == 0);
	memcpy(&shoff, elf + 40, 8);
	memcpy(&n_sections, elf + 60, 2);
	for (unsigned i = 0; i < n_sections; i++) { /* gABI "Section Header" */
		uint8_t *at = (uint8_t *)elf + shoff + 64 * i;
		uint32_t type;

		memcpy(&type, at + 4, 4);
		if (type != SHT_SYMTAB && type != SHT_DYNSYM)
			continue;
		memcpy(at + 24, &off, 8);
		memcpy(at + 32, &bytes, 8);
	}
	put("hole", elf, n);
	if (truncate(path, (off_t)(off + bytes)) < 0)
		return; /* a file system without such files */
	EXPECT_EQ(load("hole", &st), SYMTAB_NONE);
	symtab_release(&st);
}

/* A stripped program's unwind tables know the functions that its symbols named. */
TEST(unwind_tables_find_what_has_no_symbol)
{
	struct symtab full, bare;
	struct symtab_builder b = {0};
	unsigned n_unnamed = 0;
	proc_list l = {0};
	struct elf_file f;
	_fd_ int fd = -1;

	REQUIRE(make_sources());
	REQUIRE(sh("gcc -O1 -rdynamic a.c b.c -o whole && strip -s -o bare whole") == 0);
	REQUIRE(load("whole", &full) == SYMTAB_FULL);
	fd = open_in("bare");
	REQUIRE(fd >= 0 && elf_file_open(&f, fd, NULL) == 0);
	EXPECT_EQ(symtab_elf_read(&f, &b), SYMTAB_DYNSYM);
	symtab_elf_read_plt(&f, &b);
	symtab_elf_read_frames(&f, &b);
	elf_file_close(&f);
	symtab_builder_finish(&b, &bare);
	symtab_find_name(&full, "twin", &l);
	REQUIRE(l.n == 2);
	for (size_t i = 0; i < 2; i++) {
		struct procedure p = symtab_get(&full, l.v[i]), q;
		uint32_t at = symtab_find(&bare, p.end - 1);
		char name[32];
		proc_list found = {0};

		REQUIRE(at != PROC_NONE);
		q = symtab_get(&bare, at);
		EXPECT(q.start == p.start && q.end == p.end && q.flags & PROC_UNNAMED);
		EXPECT_STR(q.name, "");
		snprintf(name, sizeof(name), SYMTAB_UNNAMED "%llx", (unsigned long long)p.start);
		symtab_find_name(&bare, name, &found);
		EXPECT(found.n == 1 && found.v[0] == at);
		vec_release(&found);
	}
	for (uint32_t i = 0; i < bare.n; i++)
		n_unnamed += symtab_get(&bare, i).flags & PROC_UNNAMED ? 1 : 0;
	EXPECT(n_unnamed >= 2 && n_unnamed < bare.n);
	l.n = 0;
	symtab_find_name(&bare, "work", &l); /* exported: keeps its name */
	EXPECT_EQ(l.n, 1);
	l.n = 0;
	symtab_find_name(&bare, "", &l);
	EXPECT_EQ(l.n, 0);
	vec_release(&l);
	symtab_release(&full);
	symtab_release(&bare);
}
