/* SPDX-License-Identifier: BSD-2-Clause */
/* Which files hold an interpreter.  This program exports _PyRuntinD, which the filter of the table
 * of names takes for _PyRuntime: of two neighbours the hash, 33 a + b, is one with a + 1 and b -
 * 33. */
#include "resolve/interpreter.h"

#include <fcntl.h>
#include <unistd.h>

#include "resolve/elf_file.h"
#include "resolve/interpreter_impl.h"
#include "t.h"

extern int _PyRuntinD;
__attribute__((visibility("default"))) int _PyRuntinD;

TEST(a_name_like_pythons_is_none)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct unwind_input in = {0};
	struct elf_file f;

	_PyRuntinD++;
	REQUIRE(elf_file_open(&f, fd, NULL) == 0);
	REQUIRE(elf_file_read_sections(&f, NULL) >= 0);
	EXPECT(interpreter_may_export(&f, "_PyRuntime"));
	interpreter_find(&f, &in);
	EXPECT_EQ(in.interpreter.refusal, INTERPRETER_ACCEPTED);
	EXPECT_EQ(in.interpreter.number, 0);
	elf_file_close(&f);
	close(fd);
}
