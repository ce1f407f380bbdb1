/* SPDX-License-Identifier: BSD-2-Clause */
/* Registers and kinds of single instructions. */
#include "resolve/insn_uses.h"

#include <elf.h>

#include "t.h"

#define USES(...)                                                                                  \
	({                                                                                         \
		const uint8_t bytes_[] = {__VA_ARGS__};                                            \
		insn_uses_of(EM_X86_64, bytes_, sizeof(bytes_));                                   \
	})
#define RAX   (1ull << 0)
#define RDX   (1ull << 2)
#define RSI   (1ull << 6)
#define RDI   (1ull << 7)
#define XMM0  (1ull << 32)
#define FLAGS (1ull << 63)

TEST(a_load_with_arithmetic)
{
	/* mulsd (%rdi,%rax,8), %xmm0 */
	const struct insn_uses u = USES(0xf2, 0x0f, 0x59, 0x04, 0xc7);

	EXPECT(u.is_known && u.loads && !u.stores && !u.divides && !u.locks);
	EXPECT_EQ(u.reads, RDI | RAX | XMM0);
	EXPECT_EQ(u.writes, XMM0);
}

TEST(parts_of_registers_are_the_whole)
{
	/* mov %dl, %al; cmp %esi, %eax */
	EXPECT_EQ(USES(0x88, 0xd0).writes, RAX);
	EXPECT_EQ(USES(0x88, 0xd0).reads, RDX);
	EXPECT_EQ(USES(0x39, 0xf0).writes, FLAGS);
	EXPECT_EQ(USES(0x39, 0xf0).reads, RAX | RSI);
	/* jne */
	EXPECT_EQ(USES(0x75, 0xf0).reads, FLAGS);
}

TEST(kinds)
{
	EXPECT(!USES(0x48, 0x8d, 0x04, 0x37).loads); /* lea (%rdi,%rsi), %rax */
	EXPECT(USES(0x48, 0x89, 0x07).stores &&
	       !USES(0x48, 0x89, 0x07).loads);				 /* mov %rax, (%rdi) */
	EXPECT(USES(0x48, 0xf7, 0xfe).divides);				 /* idiv %rsi */
	EXPECT(USES(0xf2, 0x0f, 0x51, 0xc0).divides);			 /* sqrtsd */
	EXPECT(USES(0xf0, 0x48, 0xff, 0x07).locks);			 /* lock incq (%rdi) */
	EXPECT(USES(0x48, 0x87, 0x07).locks && !USES(0x48, 0x93).locks); /* xchg */
	EXPECT(!USES(0xc3).loads && !USES(0xe8, 0, 0, 0, 0).stores);	 /* ret, call */
	EXPECT(!USES(0x06).is_known);
	EXPECT(!insn_uses_of(EM_AARCH64, (const uint8_t *)"\0\0\0\0", 4).is_known);
}
