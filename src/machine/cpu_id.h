/* SPDX-License-Identifier: BSD-2-Clause */
/* What CPU a machine has, as perf writes it in its files: "GenuineIntel,6,106,6" (vendor, family,
 * model, stepping), of arm64 the register MIDR_EL1 as "0x00000000410fd0c0". */
#ifndef MACHINE_CPU_ID_H
#define MACHINE_CPU_ID_H

/* This machine's, read once and kept; "" when it is not known.  Any thread may call it. */
const char *cpu_id_own(void);

/* That of the first CPU in CPUINFO, the text of /proc/cpuinfo of x86; to be freed. */
char *cpu_id_parse(const char *cpuinfo);

/* LLVM's name of the CPU called ID (llvm-mca --mcpu=help); NULL: it has none, or none is known. */
const char *cpu_id_llvm(const char *id);

#endif
