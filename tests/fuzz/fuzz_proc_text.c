/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/PID/maps, status, stat and cgroup: the kernel writes them, users choose names in them. */
#include <string.h>

#include "base/alloc.h"
#include "fuzz.h"
#include "machine/proc_text.h"
#include "model/cgroup_parts.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const char *const seeds[] = {
		"55d0c0000000-55d0c0002000 r--p 00000000 fe:01 1234 /usr/bin/a b\n"
		"55d0c0002000-55d0c0005000 r-xp 00002000 fe:01 1234 /usr/bin/a\\012b (deleted)\n"
		"7ffe00000000-7ffe00002000 r-xp 00000000 00:00 0    [vdso]\n"
		"7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n",
		"Name:\ta\\nb\\\\c\nUmask:\t0022\nUid:\t1\t2\t3\t4\nNSpid:\t7\t1\nVmSize:\t   10 "
		"kB\n"
		"Threads:\t3\n",
		"7 (a) b) S 3 7 7 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 5678 1 2\n",
		"12:cpu,cpuacct:/\n3:pids:/user.slice\n0::/system.slice/x.service\n",
	};

	if (i >= sizeof(seeds) / sizeof(*seeds))
		return NULL;
	*ret_n = strlen(seeds[i]);
	return (uint8_t *)xstrdup(seeds[i]);
}

struct maps {
	const char *text;
	size_t n, n_maps;
};

static void look(void *ctx, const struct procfs_map *m)
{
	struct maps *maps = ctx;

	FUZZ_REQUIRE(m->path > maps->text && m->path < maps->text + maps->n);
	FUZZ_REQUIRE(m->path + strlen(m->path) < maps->text + maps->n);
	maps->n_maps++;
}

/* A fresh copy, ended by a NUL. */
static char *copy(const uint8_t *data, size_t n)
{
	char *text = xmalloc(n + 1);

	memcpy(text, data, n);
	text[n] = '\0';
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const keys[] = {"Name", "Uid", "NSpid", "Threads"};
	char *text = n ? xmalloc(n) : NULL; /* no NUL behind it */
	struct maps maps = {.text = text, .n = n};
	struct str part = {0};
	const char *cgroup;
	uint64_t ticks;
	uint32_t parent;

	if (n) {
		memcpy(text, data, n);
		FUZZ_REQUIRE(proc_text_each_map(text, n, look, &maps) <= n);
		FUZZ_REQUIRE(maps.n_maps <= n / 16); /* "0-0 rwx 0 0:0 0\n" */
	}
	free(text);
	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		char *value;

		text = copy(data, n);
		value = proc_text_value(text, keys[i]);
		FUZZ_REQUIRE(!value || (value > text && value <= text + n));
		if (value)
			proc_text_unescape(value);
		free(text);
	}
	text = copy(data, n);
	proc_text_birth(text, &parent, &ticks);
	proc_text_cpu_ticks(text, &ticks);
	cgroup = proc_text_cgroup(text);
	FUZZ_REQUIRE(strlen(cgroup) <= n || strcmp(cgroup, "/") == 0);
	cgroup_add_unit(&part, cgroup);
	FUZZ_REQUIRE(part.n <= n && !strchr(str_get(&part), '/'));
	str_reset(&part);
	cgroup_add_container(&part, cgroup);
	FUZZ_REQUIRE(part.n <= n && !strchr(str_get(&part), '/'));
	str_release(&part);
	free(text);
	return 0;
}
