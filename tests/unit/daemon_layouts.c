/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of one build-id and one frame information: copies are one image, other code is another. */
#include "daemon/layouts.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "scratch_t.h"
#include "t.h"

static const char a_c[] = "int work(int n) { int s = 0; while (n--) s += n * s; return s; }\n"
			  "int main(int argc, char **argv) { return work(argc); }\n";

/* NAME is a copy of a whose instruction at main begins with the byte BYTE, in octal. */
#define PATCH(name, byte)                                                                          \
	"cp a " name " && printf '\\" byte "' | dd of=" name                                       \
	" bs=1 seek=$(($(nm a | awk '$3 == \"main\" {print \"0x\" $1}'))) conv=notrunc "           \
	"2>/dev/null && "

static bool begin(void)
{
	return scratch_open(a_c) && scratch_run("gcc -O1 a.c -o a && strip -o copy a && " PATCH(
					    "one", "314") PATCH("two", "364") "cp one one_again");
}

static struct image_layout look(const char *name)
{
	_fd_ int fd = open(scratch_path(name), O_RDONLY | O_CLOEXEC);
	struct image_layout l = {0};

	EXPECT_EQ(layouts_probe(fd, &l, NULL), 0);
	return l;
}

static bool same(const char *a, const char *b)
{
	struct image_layout x = look(a), y = look(b);

	EXPECT(build_id_same(&x.build_id, &y.build_id));
	return image_digest_same(x.digest, y.digest);
}

TEST(other_code_is_another_image)
{
	REQUIRE(begin());
	EXPECT(same("a", "copy"));
	EXPECT(!same("a", "one"));
	EXPECT(!same("a", "two"));
	EXPECT(!same("one", "two"));
	EXPECT(same("one", "one_again"));
	EXPECT(same("a", "a"));
	layouts_end();
	EXPECT(scratch_close());
}

TEST(whoever_comes_second_has_its_code_in_its_name)
{
	struct image_layout plain, first;

	REQUIRE(begin());
	plain = look("a");
	layouts_end();
	first = look("one");
	EXPECT(image_digest_same(plain.digest, first.digest));
	EXPECT(!same("one", "a"));
	EXPECT(!same("copy", "one") && same("copy", "a"));
	layouts_end();
	EXPECT(scratch_close());
}

TEST(what_is_no_program_stays_one)
{
	_fd_ int fd = -1;
	struct image_layout l = {0};

	REQUIRE(begin());
	REQUIRE(scratch_write("text", "no program"));
	fd = open(scratch_path("text"), O_RDONLY | O_CLOEXEC);
	EXPECT(layouts_probe(fd, &l, NULL) < 0);
	EXPECT(layouts_probe(fd, &l, NULL) < 0);
	layouts_end();
	EXPECT(scratch_close());
}
