/* SPDX-License-Identifier: BSD-2-Clause */
/* See machine.h.  The kernel tells the clock in several places, none of which is everywhere:
 * cpufreq's base_frequency (Intel), the model name's "@ 2.50GHz", cpufreq's cpuinfo_max_freq, and
 * /proc/cpuinfo's "cpu MHz", which is the clock just now (Linux, Documentation/admin-guide/pm). */
#include "inproc/machine.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CPUFREQ "/sys/devices/system/cpu/cpu0/cpufreq/"

/* The beginning of a file; "" when it cannot be read. */
static void read_begin(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* The number at the front of TEXT in thousandths, of at most 1e9; 0: there is none.  strtod(3) goes
 * by the program's locale. */
static unsigned long long thousandths(const char *text)
{
	unsigned long long x = 0;
	unsigned n_behind = 0;
	bool is_behind = false;

	text += strspn(text, " \t");
	for (; (*text >= '0' && *text <= '9') || (*text == '.' && !is_behind); text++) {
		if (*text == '.')
			is_behind = true;
		else if (x < 1000000000000 && n_behind < 3) {
			x = x * 10 + (unsigned)(*text - '0');
			n_behind += is_behind;
		}
	}
	for (; n_behind < 3; n_behind++)
		x *= 10;
	return x;
}

static unsigned from_khz(const char *path)
{
	char text[32];

	read_begin(path, text, sizeof(text));
	return (unsigned)(thousandths(text) / 1000000);
}

unsigned machine_cpuinfo_mhz(const char *cpuinfo, bool by_name)
{
	const char *line = strstr(cpuinfo, by_name ? "model name" : "cpu MHz"), *at;
	unsigned long long x;

	if (!line)
		return 0;
	at = line + strcspn(line, by_name ? "@\n" : ":\n");
	if (*at == '\n' || !*at)
		return 0;
	x = thousandths(at + 1); /* of a GHz: MHz */
	x = by_name ? x : (x + 500) / 1000;
	return x < 1000000 ? (unsigned)x : 0;
}

static unsigned machine_ask(void)
{
	char cpuinfo[4096]; /* the first CPU, and the rest of its page is not made */
	unsigned mhz = from_khz(CPUFREQ "base_frequency");

	if (mhz)
		return mhz;
	read_begin("/proc/cpuinfo", cpuinfo, sizeof(cpuinfo));
	mhz = machine_cpuinfo_mhz(cpuinfo, true);
	mhz = mhz ? mhz : from_khz(CPUFREQ "cpuinfo_max_freq");
	return mhz ? mhz : machine_cpuinfo_mhz(cpuinfo, false);
}

unsigned machine_mhz(const char *host)
{
	static _Atomic(unsigned) known; /* and one more */
	unsigned mhz = atomic_load(&known);
	struct utsname u;

	if (uname(&u) < 0 || strcmp(u.nodename, host) != 0)
		return 0;
	if (!mhz) {
		mhz = machine_ask() + 1;
		atomic_store(&known, mhz);
	}
	return mhz - 1;
}
