/* SPDX-License-Identifier: BSD-2-Clause */
#include "machine/cpu_id.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "t.h"

TEST(parses_cpuinfo)
{
	char *id = cpu_id_parse("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
				"model\t\t: 106\nmodel name\t: Intel Xeon\nstepping\t: 6\n");

	EXPECT_STR(id, "GenuineIntel,6,106,6");
	free(id);
	id = cpu_id_parse("processor\t: 0\nmodel name\t: ARM\n");
	EXPECT_STR(id, "");
	free(id);
}

TEST(names_of_llvm)
{
	EXPECT_STR(cpu_id_llvm("GenuineIntel,6,106,6"), "icelake-server");
	EXPECT_STR(cpu_id_llvm("GenuineIntel,6,85,4"), "skylake-avx512");
	EXPECT_STR(cpu_id_llvm("GenuineIntel,6,85,7"), "cascadelake");
	EXPECT_STR(cpu_id_llvm("GenuineIntel,6,85,11"), "cooperlake");
	EXPECT_STR(cpu_id_llvm("AuthenticAMD,23,49,0"), "znver2");
	EXPECT_STR(cpu_id_llvm("AuthenticAMD,23,1,2"), "znver1");
	EXPECT_STR(cpu_id_llvm("AuthenticAMD,25,33,0"), "znver3");
	EXPECT_STR(cpu_id_llvm("0x00000000410fd0c0"), "neoverse-n1");
}

TEST(unknown_cpus)
{
	EXPECT(!cpu_id_llvm(""));
	EXPECT(!cpu_id_llvm("GenuineIntel,15,4,1"));
	EXPECT(!cpu_id_llvm("GenuineIntel,6,255,0"));
	EXPECT(!cpu_id_llvm("0x"));
	EXPECT(!cpu_id_llvm("0x00000000610f0000"));
	EXPECT(!cpu_id_llvm("of another form"));
}
