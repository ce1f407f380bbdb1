/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes two files one image, on programs compiled here. */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "resolve/elf_digest.h"
#include "resolve/elf_probe.h"
#include "scratch_t.h"
#include "t.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

static const char a_c[] = "#include <stdio.h>\n"
			  "int work(int n) { int s = 0; while (n--) s += n * s; return s; }\n"
			  "int main(int argc, char **argv) { printf(\"%d\", work(argc)); }\n";
static const char b_c[] = "#include <stdio.h>\n"
			  "int play(int n) { puts(\"\"); return n ? play(n - 1) + n : 0; }\n"
			  "int main(int argc, char **argv) { return play(argc); }\n";

static struct image_layout probe(const char *name)
{
	_fd_ int fd = open(scratch_path(name), O_RDONLY | O_CLOEXEC);
	struct image_layout l = {.text_start = 1};
	struct err err;

	if (fd < 0 || elf_probe(fd, &l, &err) < 0)
		t_fail_("%s cannot be probed", name);
	return l;
}

static bool same_image(const char *a, const char *b)
{
	struct image_layout x = probe(a), y = probe(b);

	EXPECT(image_digest_known(x.digest) && image_digest_known(y.digest));
	EXPECT(build_id_same(&x.build_id, &y.build_id));
	return image_digest_same(x.digest, y.digest);
}

/* PROGRAM gets the build-id of a. */
#define WITH_ITS_BUILD_ID(program)                                                                 \
	"objcopy -O binary --only-section=.note.gnu.build-id a id && "                             \
	"objcopy --update-section .note.gnu.build-id=id " program

TEST(stripped_copies_are_one_image)
{
	REQUIRE(scratch_open(a_c));
	REQUIRE(scratch_run(
		"gcc -g -O1 a.c -o a && strip -o stripped a && strip -g -o no_debug a &&"
		"objcopy --strip-unneeded a unneeded && objcopy --add-section .more=a.c a "
		"more && objcopy --rename-section .eh_frame=.other a renamed"));
	EXPECT(same_image("a", "stripped"));
	EXPECT(same_image("a", "no_debug"));
	EXPECT(same_image("a", "unneeded"));
	EXPECT(same_image("a", "more"));
	EXPECT(same_image("a", "renamed"));
	EXPECT(scratch_close());
}

/* The digest of NAME with its code. */
static const uint8_t *code_of(const char *name)
{
	static uint8_t digests[4][IMAGE_DIGEST_BYTES];
	static unsigned n;
	_fd_ int fd = open(scratch_path(name), O_RDONLY | O_CLOEXEC);

	n = (n + 1) % 4;
	if (fd < 0 || elf_probe_code(fd, digests[n], NULL) < 0)
		t_fail_("%s cannot be probed", name);
	return digests[n];
}

TEST(code_alone_can_differ)
{
	struct image_layout l;

	REQUIRE(scratch_open(a_c));
	REQUIRE(scratch_run(
		"gcc -g -O1 a.c -o a && strip -o stripped a && cp a patched && "
		"at=$(objdump -h -j .text a | awk '$2 == \".text\" {print $6}') && "
		"printf '\\314' | dd of=patched bs=1 seek=$((0x$at)) conv=notrunc 2>/dev/null "
		"&& gcc -g -O1 -static-pie -Wl,-z,noseparate-code a.c -o one && "
		"strip -o one_stripped one"));
	EXPECT(same_image("a", "patched"));
	EXPECT(image_digest_same(code_of("a"), code_of("stripped")));
	EXPECT(image_digest_same(code_of("one"), code_of("one_stripped")));
	EXPECT(!image_digest_same(code_of("a"), code_of("patched")));
	/* A reader who wants the one or the other finds it. */
	for (unsigned patched = 0; patched < 2; patched++) {
		_fd_ int fd = open(scratch_path(patched ? "patched" : "a"), O_RDONLY | O_CLOEXEC);

		EXPECT_EQ(elf_probe_as(fd, code_of("patched"), &l, NULL), 0);
		EXPECT_EQ(image_digest_same(l.digest, code_of("patched")), patched);
		EXPECT_EQ(elf_probe_as(fd, probe("a").digest, &l, NULL), 0);
		EXPECT(image_digest_same(l.digest, probe("a").digest));
	}
	EXPECT(scratch_close());
}

TEST(a_copied_build_id_is_not_enough)
{
	REQUIRE(scratch_open(a_c));
	REQUIRE(scratch_write("b.c", b_c));
	REQUIRE(scratch_run(
		"gcc -O1 a.c -o a && gcc -O1 b.c -o b && " WITH_ITS_BUILD_ID("b forged")));
	EXPECT(!same_image("a", "forged"));
	EXPECT(scratch_close());
}

/* Writes a copy of A with the byte at OFF changed. */
static void change_byte(const struct file_map *a, uint64_t off)
{
	_mem_ uint8_t *bytes = xmemdup(a->bytes, a->n_bytes);
	FILE *f = fopen(scratch_path("changed"), "w");

	bytes[off] ^= 1;
	fwrite(bytes, 1, a->n_bytes, f);
	fclose(f);
}

/* One bit of the frame information or of where code lies makes another image; none of the section
 * headers, names or debug information does. */
TEST(the_bytes_that_count)
{
	_fd_ int fd = -1;
	struct elf_file f;
	struct file_map a;
	struct err err;
	uint64_t shoff;
	unsigned n = 0;

	REQUIRE(scratch_open(a_c));
	REQUIRE(scratch_run("gcc -g -O1 a.c -o a"));
	fd = open(scratch_path("a"), O_RDONLY | O_CLOEXEC);
	REQUIRE(file_map_fd(&a, fd, "a", &err) == 0);
	REQUIRE(elf_file_open(&f, fd, &err) == 0 && elf_file_read_sections(&f, &err) == 0);
	for (uint32_t i = 0; i < f.n_sections; i++) {
		const struct elf_section *s = &f.sections[i];
		bool is_frame = strncmp(s->name, ".eh_frame", 9) == 0;
		bool is_other = strncmp(s->name, ".debug", 6) == 0 ||
				strcmp(s->name, ".symtab") == 0 || strcmp(s->name, ".strtab") == 0;

		if (!is_frame && !is_other)
			continue;
		n += is_frame;
		/* The first bytes of .eh_frame_hdr lead to .eh_frame. */
		for (uint64_t off = s->off + 4; off < s->off + s->size; off += 7) {
			change_byte(&a, off);
			EXPECT_EQ(same_image("a", "changed"), !is_frame);
		}
	}
	EXPECT_EQ(n, 2);
	shoff = f.shoff_;
	for (uint64_t off = shoff; off < shoff + 64 * f.n_sections; off += 5) {
		change_byte(&a, off);
		EXPECT(same_image("a", "changed"));
	}
	for (unsigned i = 0; i < f.n_segments; i++) {
		if (f.segments[i].type != PT_LOAD || !(f.segments[i].flags & PF_X))
			continue;
		change_byte(&a, 64 + 56 * i + 40); /* p_memsz */
		EXPECT(!same_image("a", "changed"));
	}
	elf_file_close(&f);
	file_map_close(&a);
	EXPECT(scratch_close());
}

/* Frame information beyond one piece is hashed to its end, wherever pieces end. */
TEST(long_frame_information)
{
	uint64_t first = 0;

	REQUIRE(scratch_open(a_c));
	REQUIRE(scratch_write("long.s", ".section .note.GNU-stack,\"\"\n.text\n.rept "
					"6000\n.cfi_startproc\nnop\n.cfi_endproc\n.endr\n"));
	REQUIRE(scratch_write("main.c", "int main(void) { return 0; }\n"));
	REQUIRE(scratch_run("gcc long.s main.c -o a && strip a -o stripped"));
	EXPECT(same_image("a", "stripped"));
	for (unsigned i = 0; i < 2; i++) {
		_fd_ int fd = open(scratch_path("a"), O_RDONLY | O_CLOEXEC);
		const struct elf_section *s;
		struct file_map a;
		struct elf_file f;
		struct err err;

		REQUIRE(file_map_fd(&a, fd, "a", &err) == 0);
		REQUIRE(elf_file_open(&f, fd, &err) == 0 && elf_file_read_sections(&f, &err) == 0);
		s = elf_file_find_section(&f, ".eh_frame");
		REQUIRE(s && s->size > 3 << 15);
		change_byte(&a, i ? s->off + s->size - 6 : s->off + s->size / 2);
		EXPECT(!same_image("a", "changed"));
		EXPECT(elf_find_eh_frame(&f, &first) && first == s->svma);
		elf_file_close(&f);
		file_map_close(&a);
	}
	EXPECT(scratch_close());
}

/* The digest of a file without frame information still tells where its code lies. */
TEST(no_frame_information)
{
	REQUIRE(scratch_open(a_c));
	REQUIRE(scratch_write("c.c", "void _start(void) { for (;;) ; }\n"));
	REQUIRE(scratch_write("d.c", "int x; void _start(void) { for (;;) x++; }\n"));
	REQUIRE(scratch_run(
		"CC='gcc -static -nostdlib -fno-asynchronous-unwind-tables -Wl,--build-id'; "
		"$CC c.c -o a && $CC d.c -o b && " WITH_ITS_BUILD_ID("b forged")));
	EXPECT(same_image("a", "a"));
	EXPECT(!same_image("a", "forged"));
	EXPECT(scratch_close());
}
