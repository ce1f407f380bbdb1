/* SPDX-License-Identifier: BSD-2-Clause */
/* What PAPI tells of the machine: /proc/cpuinfo and /sys/devices/system/{cpu,node}. */
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inproc/export.h"
#include "inproc/papi/event.h"
#include "inproc/papi/result.h"

static PAPI_hw_info_t info;

/* The first line of the file that FORMAT and what follows name, without its end; false: none. */
__attribute__((format(printf, 2, 3))) static bool read_line_of(char line[128], const char *format,
							       ...)
{
	char path[128];
	va_list args;
	FILE *f;
	bool good;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	f = fopen(path, "re");
	if (!f)
		return false;
	good = fgets(line, 128, f) != NULL;
	fclose(f);
	if (good)
		line[strcspn(line, "\n")] = 0;
	return good;
}

/* How many CPUs a list such as 0-3,8 has. */
static int count_list(const char *list)
{
	int n = 0;

	while (*list) {
		char *end;
		long from = strtol(list, &end, 10), to = from;

		if (end == list)
			break;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		n += (int)(to - from + 1);
		list = *end == ',' ? end + 1 : end;
	}
	return n;
}

static void set_text(char *to, const char *text)
{
	snprintf(to, PAPI_MAX_STR_LEN, "%.127s", text);
}

static int vendor_of(const char *name)
{
	static const struct {
		const char *name;
		int vendor;
	} vendors[] = {{"GenuineIntel", PAPI_VENDOR_INTEL}, {"AuthenticAMD", PAPI_VENDOR_AMD},
		       {"0x41", PAPI_VENDOR_ARM_ARM},	    {"0x42", PAPI_VENDOR_ARM_BROADCOM},
		       {"0x43", PAPI_VENDOR_ARM_CAVIUM},    {"0x46", PAPI_VENDOR_ARM_FUJITSU},
		       {"0x48", PAPI_VENDOR_ARM_HISILICON}, {"0x50", PAPI_VENDOR_ARM_APM},
		       {"0x51", PAPI_VENDOR_ARM_QUALCOMM}};

	for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++)
		if (strcmp(name, vendors[i].name) == 0)
			return vendors[i].vendor;
	return PAPI_VENDOR_UNKNOWN;
}

/* A line of /proc/cpuinfo: the first CPU's.  The keys are those of x86 and of arm64. */
static void read_cpu_line(const char *key, const char *value)
{
	if (!strcmp(key, "vendor_id") || !strcmp(key, "CPU implementer")) {
		set_text(info.vendor_string, value);
		info.vendor = vendor_of(value);
	} else if (!strcmp(key, "cpu family") || !strcmp(key, "CPU architecture")) {
		info.cpuid_family = (int)strtol(value, NULL, 10);
	} else if (!strcmp(key, "model")) {
		info.cpuid_model = info.model = (int)strtol(value, NULL, 10);
	} else if (!strcmp(key, "CPU part")) {
		info.cpuid_model = info.model = (int)strtol(value, NULL, 16);
	} else if (!strcmp(key, "model name")) {
		set_text(info.model_string, value);
	} else if (!strcmp(key, "stepping") || !strcmp(key, "CPU revision")) {
		info.cpuid_stepping = (int)strtol(value, NULL, 10);
		info.revision = (float)info.cpuid_stepping;
	} else if (!strcmp(key, "flags") && strstr(value, " hypervisor")) {
		info.virtualized = 1;
	}
}

static void read_cpuinfo(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 1) { /* up to an empty line */
		char *colon = strchr(line, ':'), *end = colon;

		if (!colon)
			continue;
		while (end > line && (end[-1] == '\t' || end[-1] == ' '))
			end--;
		*end = 0;
		colon++;
		colon += *colon == ' ';
		colon[strcspn(colon, "\n")] = 0;
		read_cpu_line(line, colon);
	}
	free(line);
	if (f)
		fclose(f);
}

static void read_topology(void)
{
	char line[128];
	int n = (int)sysconf(_SC_NPROCESSORS_CONF), packages = 1;

	info.totalcpus = n;
	info.threads = info.cores = info.nnodes = 1;
	if (read_line_of(line, "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"))
		info.threads = count_list(line);
	if (read_line_of(line, "/sys/devices/system/cpu/cpu0/topology/core_siblings_list"))
		info.cores = count_list(line) / (info.threads > 0 ? info.threads : 1);
	if (read_line_of(line, "/sys/devices/system/node/online"))
		info.nnodes = count_list(line);
	if (info.threads * info.cores > 0)
		packages = n / (info.threads * info.cores);
	info.sockets = packages > 0 ? packages : 1;
	info.ncpu = info.nnodes > 0 ? n / info.nnodes : n;
}

static void read_clock(void)
{
	int mhz = (int)(papi_clock_hz() / 1000000);
	char line[128];

	info.cpu_max_mhz = info.cpu_min_mhz = mhz;
	if (read_line_of(line, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"))
		info.cpu_max_mhz = (int)strtol(line, NULL, 10) / 1000;
	if (read_line_of(line, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_min_freq"))
		info.cpu_min_mhz = (int)strtol(line, NULL, 10) / 1000;
	info.mhz = (float)info.cpu_max_mhz;
	info.clock_mhz = info.cpu_max_mhz;
}

static int cache_number(int i, const char *what)
{
	char line[128];

	return read_line_of(line, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, what)
		       ? (int)strtol(line, NULL, 10)
		       : 0;
}

/* Whether there was a cache number I. */
static bool read_cache(int i)
{
	int level = cache_number(i, "level"), ways, n = 0;
	PAPI_mh_cache_info_t *c;
	char line[128];

	if (level < 1 || level > PAPI_MAX_MEM_HIERARCHY_LEVELS)
		return false;
	c = info.mem_hierarchy.level[level - 1].cache;
	while (n < PAPI_MH_MAX_LEVELS - 1 && c[n].type != PAPI_MH_TYPE_EMPTY)
		n++;
	c += n;
	c->type = PAPI_MH_TYPE_UNIFIED;
	if (read_line_of(line, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i))
		c->type = line[0] == 'D'   ? PAPI_MH_TYPE_DATA
			  : line[0] == 'I' ? PAPI_MH_TYPE_INST
					   : PAPI_MH_TYPE_UNIFIED;
	c->size = cache_number(i, "size") * 1024; /* "32K" */
	c->line_size = cache_number(i, "coherency_line_size");
	c->num_lines = c->line_size ? c->size / c->line_size : 0;
	ways = cache_number(i, "ways_of_associativity");
	c->associativity = ways && ways == c->num_lines ? SHRT_MAX : ways;
	if (level > info.mem_hierarchy.levels)
		info.mem_hierarchy.levels = level;
	return true;
}

static void read_machine(void)
{
	read_cpuinfo();
	read_topology();
	read_clock();
	for (int i = 0; read_cache(i);)
		i++;
}

EXPORT const PAPI_hw_info_t *PAPI_get_hardware_info(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!papi_is_ready()) {
		papi_result(PAPI_ENOINIT);
		return NULL;
	}
	pthread_once(&once, read_machine);
	return &info;
}

/* Memory of this process: proc(5), /proc/pid/status, in KiB. */

static const struct {
	const char *key;
	size_t offset;
} memory_rows[] = {{"VmPeak:", offsetof(PAPI_dmem_info_t, peak)},
		   {"VmSize:", offsetof(PAPI_dmem_info_t, size)},
		   {"VmLck:", offsetof(PAPI_dmem_info_t, locked)},
		   {"VmHWM:", offsetof(PAPI_dmem_info_t, high_water_mark)},
		   {"VmRSS:", offsetof(PAPI_dmem_info_t, resident)},
		   {"VmData:", offsetof(PAPI_dmem_info_t, heap)},
		   {"VmStk:", offsetof(PAPI_dmem_info_t, stack)},
		   {"VmExe:", offsetof(PAPI_dmem_info_t, text)},
		   {"VmLib:", offsetof(PAPI_dmem_info_t, library)},
		   {"VmPTE:", offsetof(PAPI_dmem_info_t, pte)},
		   {"RssFile:", offsetof(PAPI_dmem_info_t, shared)}};

EXPORT int PAPI_get_dmem_info(PAPI_dmem_info_t *dest)
{
	char line[128];
	FILE *f;

	if (!dest)
		return papi_result(PAPI_EINVAL);
	f = fopen("/proc/thread-self/status", "re");
	if (!f)
		return papi_result(PAPI_ESYS);
	memset(dest, 0xff, sizeof(*dest)); /* -1 */
	while (fgets(line, sizeof(line), f))
		for (size_t i = 0; i < sizeof(memory_rows) / sizeof(memory_rows[0]); i++) {
			size_t n = strlen(memory_rows[i].key);
			long long kib;

			if (strncmp(line, memory_rows[i].key, n) != 0)
				continue;
			kib = strtoll(line + n, NULL, 10);
			memcpy((char *)dest + memory_rows[i].offset, &kib, sizeof(kib));
		}
	fclose(f);
	dest->pagesize = sysconf(_SC_PAGESIZE);
	return PAPI_OK;
}
