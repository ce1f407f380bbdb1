/* SPDX-License-Identifier: BSD-2-Clause */
/* The variables of this program: read, kept, and read again. */
#include "resolve/data_symbols.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "resolve/elf_probe.h"
#include "t.h"

int data_symbols_counter = 1;

/* Says how many of ST's entries are called after this program's variable, with its size. */
static unsigned n_counters(const struct symtab *st)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < st->n; i++) {
		const struct procedure v = symtab_get(st, i);

		n += strcmp(v.name, "data_symbols_counter") == 0 &&
		     v.end - v.start == sizeof(data_symbols_counter);
	}
	return n;
}

/* Opens this program; *RET is its image. */
static int open_self(struct image *ret)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct image_layout l = {0};

	if (fd < 0 || elf_probe(fd, &l, NULL) < 0)
		return -1;
	*ret = (struct image){.kind = IMAGE_FILE, .path = "program", .build_id = l.build_id};
	memcpy(ret->digest, l.digest, sizeof(ret->digest));
	return fd;
}

TEST(variables_are_kept_for_when_the_file_is_gone)
{
	char dir[] = "/tmp/dwell-data-symbols.XXXXXX";
	struct data_symbols s = {0};
	_mem_ char *command = NULL;
	struct image im;
	int fd = open_self(&im);

	REQUIRE(fd >= 0 && mkdtemp(dir));
	command = xasprintf("rm -r %s", dir);
	EXPECT(data_symbols_open(&s, dir, &im) < 0);
	EXPECT_EQ(data_symbols_read(&s, fd), SYMTAB_FULL);
	EXPECT_EQ(n_counters(&s.symtab), 1);
	EXPECT_EQ(data_symbols_save(dir, &im, fd, NULL), 0);
	EXPECT_EQ(data_symbols_save(dir, &im, fd, NULL), 0);
	EXPECT_EQ(data_symbols_open(&s, dir, &im), 0);
	EXPECT_EQ(n_counters(&s.symtab), 1);
	im.digest[0] ^= 1;
	EXPECT(data_symbols_open(&s, dir, &im) < 0);
	EXPECT_EQ(s.symtab.n, 0);
	data_symbols_release(&s);
	close(fd);
	EXPECT_EQ(system(command), 0);
}

TEST(what_cannot_be_kept_is_an_error)
{
	struct err err = {""};
	struct image im;
	int fd = open_self(&im);

	REQUIRE(fd >= 0);
	EXPECT(data_symbols_save("/proc/self/exe/images", &im, fd, &err) < 0);
	close(fd);
}
