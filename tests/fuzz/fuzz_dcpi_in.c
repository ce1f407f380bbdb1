/* SPDX-License-Identifier: BSD-2-Clause */
/* Profile files and text as databases: whatever is taken makes a sound profile. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/dcpi.h"
#include "fuzz.h"
#include "port/dcpi_in.h"

/* A file with every line of our own. */
uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	const char *const lines[][2] = {
		{"image", "00ff"},
		{"epoch", "2611211400"},
		{"platform", "h"},
		{"event", i == 0   ? "cycles:u"
			  : i == 1 ? "retired^!capped^notrap:m1retdelay"
				   : "ibs_op@retired^load:mlatency.n"},
		{"period", "1000"},
		{"tstart", "401000"},
		{"tsize", "4096"},
		{"cpuspeed", "0"},
		{"cpucount", "2"},
		{"path", "/bin/x"},
		{"label", "l"},
		{"dwell-stride", "1"},
		{"dwell-owner", "idle"},
		{"dwell-kind", "jit"},
		{"dwell-id", "derived"},
		{"dwell-flag", "hashed"},
		{"dwell-flag", "offsets"},
		{"dwell-text", "10 20"},
		{"dwell-time", "1 2"},
		{"dwell-command", "make"},
		{"dwell-event", "1 2 3 4"},
		{"dwell-freq", "99"},
		{"dwell-unit", "ns"},
		{"dwell-lost", "5 ring_full"},
	};
	struct dcpi_file f;
	struct wr w = {0};

	if (i > 2)
		return NULL;
	dcpi_init(&f, 7, 1);
	for (size_t k = 0; k < sizeof(lines) / sizeof(lines[0]); k++)
		dcpi_add_line(&f, lines[k][0], lines[k][1]);
	FUZZ_REQUIRE(dcpi_add_counts(&f, &(struct dcpi_count){0x401010, 3}, 1, NULL) == 0);
	dcpi_write(&f, &w);
	dcpi_release(&f);
	*ret_n = w.n;
	return w.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct profile p;
	char path[40];

	FUZZ_REQUIRE(fd >= 0 && write(fd, data, n) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	profile_init(&p);
	if (dcpi_in_load(path, NULL, &p, NULL) == 0)
		FUZZ_REQUIRE(dcpi_in_probe(path) == 1);
	profile_check(&p);
	profile_release(&p);
	close(fd);
	return 0;
}
