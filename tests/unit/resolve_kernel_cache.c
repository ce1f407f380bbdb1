/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbols of kernels beside all databases: found again, of few kernels, and in no directory that
 * others may enter. */
#include "resolve/kernel_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t.h"

static char home[64], kernels[120];

static void begin(void)
{
	snprintf(home, sizeof(home), "/tmp/kernel_cache.XXXXXX");
	REQUIRE(mkdtemp(home));
	REQUIRE(unsetenv("XDG_CACHE_HOME") == 0 && setenv("HOME", home, 1) == 0);
	snprintf(kernels, sizeof(kernels), "%s/.cache/dwell/kernels", home);
}

static void end(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -r %s", home);
	EXPECT_EQ(system(command), 0);
}

static struct image kernel(uint8_t number)
{
	return (struct image){.kind = IMAGE_KERNEL,
			      .path = "[kernel]",
			      .build_id = {.n_bytes = 2, .bytes = {number, 1}}};
}

static void save(uint8_t number)
{
	struct symcache_info info = {
		.kind = IMAGE_KERNEL, .source = SYMTAB_FULL, .path = "[kernel]"};
	struct symtab_builder b = {0};
	struct symtab st;

	info.layout.build_id = kernel(number).build_id;
	symtab_builder_add(&b, 4096, 16, "schedule", 8, 0);
	symtab_builder_finish(&b, &st);
	kernel_cache_save(&info, &st);
	symtab_release(&st);
}

static bool is_kept(uint8_t number)
{
	const struct image im = kernel(number);
	struct symcache c;

	if (!kernel_cache_open(&c, &im))
		return false;
	EXPECT_STR(symtab_get(&c.symtab, symtab_find(&c.symtab, 4100)).name, "schedule");
	symcache_close(&c);
	return true;
}

TEST(a_kernel_is_found_again)
{
	struct stat st;

	begin();
	EXPECT(!is_kept(1));
	save(1);
	EXPECT(is_kept(1));
	EXPECT(!is_kept(2));
	REQUIRE(stat(kernels, &st) == 0);
	EXPECT_EQ(st.st_mode & 0777, 0700);
	end();
}

TEST(few_kernels_are_kept)
{
	begin();
	for (uint8_t i = 1; i <= KERNEL_CACHE_MOST + 2; i++) {
		char path[140];
		struct timespec times[2] = {{.tv_sec = i}, {.tv_sec = i}};

		save(i);
		snprintf(path, sizeof(path), "%s/%02x01", kernels, i);
		REQUIRE(utimensat(AT_FDCWD, path, times, 0) == 0);
	}
	EXPECT(!is_kept(1) && !is_kept(2) && is_kept(3) && is_kept(KERNEL_CACHE_MOST + 2));
	end();
}

TEST(a_directory_of_others_is_not_used)
{
	begin();
	save(1);
	REQUIRE(chmod(kernels, 0755) == 0);
	EXPECT(!is_kept(1));
	REQUIRE(chmod(kernels, 0700) == 0);
	EXPECT(is_kept(1));
	if (geteuid() == 0) {
		REQUIRE(chown(kernels, 12345, 12345) == 0);
		EXPECT(!is_kept(1));
		save(2);
		REQUIRE(chown(kernels, 0, 0) == 0);
		EXPECT(!is_kept(2));
	}
	end();
}

TEST(a_home_of_others_gets_none)
{
	begin();
	REQUIRE(chmod(home, 0777) == 0);
	save(1);
	EXPECT(access(kernels, F_OK) < 0);
	end();
}
