/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process says of its own mappings: a file's text that is mapped a second time, wherever
 * there was room, is that file's, at the same svmas. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inproc/mapped.h"
#include "t.h"

/* Text of this program, and a copy of its mapping at AT. */
struct moved {
	struct loaded_mapping text;
	struct loaded_code code, moved;
	uint64_t at;
	bool found;
};

static void find_text(void *ctx, const struct loaded_mapping *m)
{
	struct moved *v = ctx;
	uint64_t here = (uint64_t)&find_text;

	if (m->start <= here && here < m->end) {
		v->text = *m;
		mapped_describe(m, &v->code);
	} else if (v->at && m->start == v->at) {
		mapped_describe(m, &v->moved);
		v->found = true;
	}
}

/* Page PAGE of a file of its own, at AT, where nothing is mapped; 0: anywhere. */
static void *map_other_file(void *at, unsigned page, int prot)
{
	char name[] = "/tmp/other-XXXXXX";
	int fd = mkstemp(name);
	void *p = MAP_FAILED;

	unlink(name);
	if (fd >= 0 && ftruncate(fd, 8192) == 0)
		p = mmap(at, 4096, prot, MAP_PRIVATE | (at ? MAP_FIXED_NOREPLACE : 0), fd,
			 page * 4096);
	close(fd);
	return p;
}

/* Maps this program's text again, AT or where there is room, behind another file's first page. */
static void map_again(struct moved *v, uint64_t at)
{
	size_t n;
	uint8_t *room;
	int fd = open("/proc/self/exe", O_RDONLY);

	mapped_each(find_text, v);
	n = v->text.end - v->text.start;
	room = mmap((void *)at, n + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(fd >= 0 && room != MAP_FAILED && n);
	munmap(room, 4096);
	EXPECT(map_other_file(room, 0, PROT_READ) == room);
	EXPECT(mmap(room + 8192, n, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
		    (off_t)v->text.off) == room + 8192);
	close(fd);
	v->at = (uint64_t)room + 8192;
	EXPECT_EQ(mapped_each(find_text, v), 0);
	munmap(room, n + 8192);
}

static void expect_same(const struct moved *v)
{
	EXPECT(v->found);
	EXPECT(v->code.n_id > 0 && !(v->code.flags & CODE_OFFSETS));
	EXPECT_EQ(v->moved.flags, v->code.flags);
	EXPECT_EQ(v->moved.svma, v->code.svma);
	EXPECT_EQ(v->moved.text_start, v->code.text_start);
	EXPECT_EQ(v->moved.text_bytes, v->code.text_bytes);
	EXPECT_EQ(v->moved.n_id, v->code.n_id);
	EXPECT(memcmp(v->moved.id, v->code.id, CODE_ID_MAX) == 0);
}

TEST(text_mapped_again_above)
{
	struct moved v = {0};

	map_again(&v, 0);
	EXPECT(v.at > v.text.start);
	expect_same(&v);
}

TEST(text_mapped_again_below)
{
	struct moved v = {0};

	map_again(&v, 0x10000000);
	EXPECT(v.at < v.text.start);
	expect_same(&v);
}

TEST(text_without_a_first_page)
{
	struct moved v = {0};
	void *p = map_other_file(NULL, 1, PROT_READ | PROT_EXEC);

	EXPECT(p != MAP_FAILED);
	v.at = (uint64_t)p;
	EXPECT_EQ(mapped_each(find_text, &v), 0);
	EXPECT(v.found);
	EXPECT_EQ(v.moved.flags & CODE_OFFSETS, CODE_OFFSETS);
	EXPECT_EQ(v.moved.svma, 4096);
	EXPECT_EQ(v.moved.n_id, 0);
	munmap(p, 4096);
}
