/* SPDX-License-Identifier: BSD-2-Clause */
/* See cpu_id.h.  The form of the names is that of Linux, tools/perf/arch/x86/util/header.c and
 * tools/perf/arch/arm64/util/header.c; which model is which CPU is in LLVM's
 * llvm/lib/Support/Host.cpp (getIntelProcessorTypeAndSubtype, getAMDProcessorTypeAndSubtype,
 * getHostCPUNameForARM). */
#include "machine/cpu_id.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"

#define MIDR_PATH "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"

/* Copies what stands behind "NAME : " in the first line of TEXT that begins with it. */
static bool find_field(const char *text, const char *name, char *ret, size_t n)
{
	const size_t n_name = strlen(name);

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *at = line + n_name;
		size_t len;

		if (strncmp(line, name, n_name) != 0)
			continue;
		at += strspn(at, " \t");
		if (*at++ != ':')
			continue; /* "model name", not "model" */
		at += strspn(at, " \t");
		len = strcspn(at, "\n");
		if (!len || len >= n)
			return false;
		memcpy(ret, at, len);
		ret[len] = 0;
		return true;
	}
	return false;
}

char *cpu_id_parse(const char *cpuinfo)
{
	static const char *const names[] = {"vendor_id", "cpu family", "model", "stepping"};
	char field[n_elems(names)][32];

	for (size_t i = 0; i < n_elems(names); i++)
		if (!find_field(cpuinfo, names[i], field[i], sizeof(field[i])))
			return xstrdup("");
	return xasprintf("%s,%s,%s,%s", field[0], field[1], field[2], field[3]);
}

/* The beginning of /proc/cpuinfo, with the first CPU; the kernel makes no more of it than is read,
 * which on large machines is long. */
static char *read_first_cpu(void)
{
	_fd_ int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	char text[4096];
	const ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	text[n > 0 ? n : 0] = '\0';
	return cpu_id_parse(text);
}

static char *own;

static void read_own(void)
{
	size_t n;

	if (file_load(MIDR_PATH, 64, &own, &n, NULL) >= 0)
		own[strcspn(own, "\n")] = 0;
	else
		own = read_first_cpu();
}

const char *cpu_id_own(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_own);
	return own;
}

/* Models FIRST to LAST of a family. */
struct cpu_model {
	uint8_t family, first, last;
	const char *name;
};

static const struct cpu_model intel_models[] = {
	{6, 0x0f, 0x0f, "core2"},
	{6, 0x16, 0x16, "core2"},
	{6, 0x17, 0x17, "penryn"},
	{6, 0x1d, 0x1d, "penryn"},
	{6, 0x1a, 0x1a, "nehalem"},
	{6, 0x1e, 0x1f, "nehalem"},
	{6, 0x2e, 0x2e, "nehalem"},
	{6, 0x25, 0x25, "westmere"},
	{6, 0x2c, 0x2c, "westmere"},
	{6, 0x2f, 0x2f, "westmere"},
	{6, 0x2a, 0x2a, "sandybridge"},
	{6, 0x2d, 0x2d, "sandybridge"},
	{6, 0x3a, 0x3a, "ivybridge"},
	{6, 0x3e, 0x3e, "ivybridge"},
	{6, 0x3c, 0x3c, "haswell"},
	{6, 0x3f, 0x3f, "haswell"},
	{6, 0x45, 0x46, "haswell"},
	{6, 0x3d, 0x3d, "broadwell"},
	{6, 0x47, 0x47, "broadwell"},
	{6, 0x4f, 0x4f, "broadwell"},
	{6, 0x56, 0x56, "broadwell"},
	{6, 0x4e, 0x4e, "skylake"},
	{6, 0x5e, 0x5e, "skylake"},
	{6, 0x8e, 0x8e, "skylake"},
	{6, 0x9e, 0x9e, "skylake"},
	{6, 0xa5, 0xa6, "skylake"},
	{6, 0x55, 0x55, "skylake-avx512"}, /* by its stepping: see below */
	{6, 0x66, 0x66, "cannonlake"},
	{6, 0x6a, 0x6a, "icelake-server"},
	{6, 0x6c, 0x6c, "icelake-server"},
	{6, 0x7d, 0x7e, "icelake-client"},
	{6, 0x8c, 0x8d, "tigerlake"},
	{6, 0x8f, 0x8f, "sapphirerapids"},
	{6, 0xcf, 0xcf, "sapphirerapids"}, /* Emerald Rapids */
	{6, 0x97, 0x97, "alderlake"},
	{6, 0x9a, 0x9a, "alderlake"},
	{6, 0xa7, 0xa7, "rocketlake"},
	{6, 0x1c, 0x1c, "bonnell"},
	{6, 0x26, 0x27, "bonnell"},
	{6, 0x35, 0x36, "bonnell"},
	{6, 0x37, 0x37, "silvermont"},
	{6, 0x4a, 0x4a, "silvermont"},
	{6, 0x4c, 0x4d, "silvermont"},
	{6, 0x5a, 0x5a, "silvermont"},
	{6, 0x5c, 0x5c, "goldmont"},
	{6, 0x5f, 0x5f, "goldmont"},
	{6, 0x7a, 0x7a, "goldmont-plus"},
	{6, 0x86, 0x86, "tremont"},
	{6, 0x96, 0x96, "tremont"},
	{6, 0x9c, 0x9c, "tremont"},
	{6, 0x57, 0x57, "knl"},
	{6, 0x85, 0x85, "knm"},
};

static const struct cpu_model amd_models[] = {
	{0x10, 0x00, 0xff, "amdfam10"}, {0x14, 0x00, 0xff, "btver1"}, {0x15, 0x60, 0x7f, "bdver4"},
	{0x15, 0x30, 0x3f, "bdver3"},	{0x15, 0x10, 0x1f, "bdver2"}, {0x15, 0x02, 0x02, "bdver2"},
	{0x15, 0x00, 0x0f, "bdver1"},	{0x16, 0x00, 0xff, "btver2"}, {0x17, 0x30, 0x3f, "znver2"},
	{0x17, 0x71, 0x71, "znver2"},	{0x17, 0x60, 0x7f, "znver2"}, {0x17, 0x90, 0xaf, "znver2"},
	{0x17, 0x00, 0x2f, "znver1"},	{0x19, 0x00, 0x0f, "znver3"}, {0x19, 0x20, 0x5f, "znver3"},
	{0x19, 0x10, 0x1f, "znver4"},	{0x19, 0x60, 0x7f, "znver4"}, {0x19, 0xa0, 0xaf, "znver4"},
};

static const struct {
	uint16_t part;
	const char *name;
} arm_parts[] = {
	{0xd03, "cortex-a53"}, {0xd04, "cortex-a35"},  {0xd05, "cortex-a55"},
	{0xd07, "cortex-a57"}, {0xd08, "cortex-a72"},  {0xd09, "cortex-a73"},
	{0xd0a, "cortex-a75"}, {0xd0b, "cortex-a76"},  {0xd0c, "neoverse-n1"},
	{0xd0d, "cortex-a77"}, {0xd40, "neoverse-v1"}, {0xd41, "cortex-a78"},
	{0xd44, "cortex-x1"},  {0xd46, "cortex-a510"}, {0xd47, "cortex-a710"},
	{0xd48, "cortex-x2"},  {0xd49, "neoverse-n2"},
};

static const char *find_model(const struct cpu_model *v, size_t n, unsigned family, unsigned model)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].family == family && model >= v[i].first && model <= v[i].last)
			return v[i].name;
	return NULL;
}

/* Cascade Lake and Cooper Lake are steppings of Skylake's server model. */
static const char *intel_name(unsigned family, unsigned model, unsigned stepping)
{
	if (family == 6 && model == 0x55 && stepping >= 10)
		return "cooperlake";
	if (family == 6 && model == 0x55 && stepping >= 5)
		return "cascadelake";
	return find_model(intel_models, n_elems(intel_models), family, model);
}

/* MIDR_EL1: implementer in bits 24 to 31 (0x41: Arm), part in bits 4 to 15. */
static const char *arm_name(uint64_t midr)
{
	if ((midr >> 24 & 0xff) != 0x41)
		return NULL;
	for (size_t i = 0; i < n_elems(arm_parts); i++)
		if (arm_parts[i].part == (midr >> 4 & 0xfff))
			return arm_parts[i].name;
	return NULL;
}

const char *cpu_id_llvm(const char *id)
{
	unsigned family, model, stepping;
	char vendor[32];
	uint64_t midr;

	if (str_starts(id, "0x") && str_parse_u64(id + 2, 16, &midr) >= 0)
		return arm_name(midr);
	if (sscanf(id, "%31[^,],%u,%u,%u", vendor, &family, &model, &stepping) != 4)
		return NULL;
	if (strcmp(vendor, "GenuineIntel") == 0)
		return intel_name(family, model, stepping);
	if (strcmp(vendor, "AuthenticAMD") == 0)
		return find_model(amd_models, n_elems(amd_models), family, model);
	return strcmp(vendor, "HygonGenuine") == 0 && family == 0x18 ? "znver1" : NULL;
}
