/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi_machine.h.  The kernel tells the clock in several places, none of which is everywhere:
 * cpufreq's base_frequency (Intel), the model name's "@ 2.50GHz", cpufreq's cpuinfo_max_freq, and
 * /proc/cpuinfo's "cpu MHz", which is the clock just now (Linux, Documentation/admin-guide/pm). */
#include "port/dcpi_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"

#define CPUFREQ "/sys/devices/system/cpu/cpu0/cpufreq/"

static unsigned from_khz(const char *path)
{
	_mem_ char *text = NULL;
	unsigned long long khz = 0;

	if (file_load(path, 4096, &text, NULL, NULL) < 0 || sscanf(text, "%llu", &khz) != 1)
		return 0;
	return (unsigned)(khz / 1000);
}

unsigned dcpi_cpuinfo_mhz(const char *cpuinfo, bool by_name)
{
	const char *line = strstr(cpuinfo, by_name ? "model name" : "cpu MHz"), *at;
	double x;

	if (!line)
		return 0;
	at = line + strcspn(line, by_name ? "@\n" : ":\n");
	if (*at == '\n' || !*at)
		return 0;
	x = strtod(at + 1, NULL) * (by_name ? 1000 : 1);
	return x > 0 && x < 1e6 ? (unsigned)(x + .5) : 0;
}

unsigned dcpi_machine_mhz(const char *host)
{
	_mem_ char *cpuinfo = NULL;
	struct utsname u;
	unsigned mhz;

	if (uname(&u) < 0 || strcmp(u.nodename, host) != 0)
		return 0;
	if (file_load("/proc/cpuinfo", 16 << 20, &cpuinfo, NULL, NULL) < 0)
		cpuinfo = xstrdup("");
	mhz = from_khz(CPUFREQ "base_frequency");
	mhz = mhz ? mhz : dcpi_cpuinfo_mhz(cpuinfo, true);
	mhz = mhz ? mhz : from_khz(CPUFREQ "cpuinfo_max_freq");
	return mhz ? mhz : dcpi_cpuinfo_mhz(cpuinfo, false);
}
