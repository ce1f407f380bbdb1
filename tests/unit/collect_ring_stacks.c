/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks that come through perf rings become the chains that the BPF program would make. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"
#include "collect/calls/call_paths.h"
#include "collect_records.h"
#include "collect_world.h"
#include "t.h"

static struct {
	struct world world;
	struct call_paths calls;
	char path[64];
} w;

static int probe(int fd, struct image_layout *ret, struct err *err)
{
	*ret = (struct image_layout){
		.build_id = {.n_bytes = 1}, .n_loads = 1, .loads = {{PAGE, PAGE, PAGE}}};
	return 0;
}

/* Functions with a frame of 16 bytes, return address on top. */
static int load(int fd, struct unwind_table *ret, struct err *err)
{
	static const struct unwind_rule rules[] = {
		{.cfa = UNWIND_CFA_NONE}, {.cfa = UNWIND_CFA_SP, .cfa_off = 16, .ra_at = -1}};
	static const struct unwind_row row = {0, 1};
	static const uint32_t blocks[] = {0, 1};

	*ret = (struct unwind_table){.first_off = PAGE,
				     .n_blocks = 1,
				     .n_rows = 1,
				     .n_rules = 2,
				     .blocks = xmemdup(blocks, sizeof(blocks)),
				     .rows = xmemdup(&row, sizeof(row)),
				     .rules = xmemdup(rules, sizeof(rules))};
	return 0;
}

static void begin(enum call_graph mode)
{
	const struct call_paths_tables tables = {.load = load, .n_bytes = 1 << 16};
	int fd;

	strcpy(w.path, "/tmp/dwell-ring-XXXXXX");
	fd = mkstemp(w.path);
	EXPECT(fd >= 0);
	close(fd);
	world_init(&w.world, probe, NULL);
	call_paths_init(&w.calls, mode, &w.world.profile, &w.world.procs, &w.world.images,
			&w.world.kernel);
	call_paths_use_rings(&w.calls, &tables);
	world_map(&w.world, CODE, 1, PAGE, NULL, w.path);
	world_map(&w.world, ANON, 1, 0, NULL, "//anon");
}

static void end(void)
{
	call_paths_release(&w.calls);
	world_release(&w.world);
	unlink(w.path);
}

/* "CALLER > ... > CALLER" of the callers that a sample gets: last parts of paths and addresses. */
static void show(ctx_id ctx, struct str *s)
{
	const struct place *p;
	const char *path;

	if (!ctx)
		return;
	show(w.world.profile.ctxs.v[ctx].parent, s);
	p = profile_leaf(&w.world.profile, ctx);
	path = w.world.profile.images.v[p->image].path;
	str_addf(s, "%s%s", s->n ? " > " : "", strcmp(path, w.path) == 0 ? "prog" : path);
	if (w.world.profile.images.v[p->image].kind != IMAGE_MARK)
		str_addf(s, "+%llx%s", (unsigned long long)p->svma,
			 p->flags & PLACE_GUESSED ? "?" : "");
}

static void expect(uint64_t ip, const uint64_t *ips, uint64_t n_ips, const uint64_t *stack,
		   uint64_t n_stack, const char *want)
{
	struct wr bytes = {0};
	struct perf_record r;
	struct rd rd;
	struct str got = {0};
	uint64_t hash;

	put_stack_sample(&bytes, ip, PID, ips, n_ips, (const uint8_t *)stack, 8 * n_stack,
			 8 * n_stack);
	rd = rd_init(bytes.v, bytes.n);
	EXPECT_EQ(record_read(&rd, &r), 0);
	hash = call_paths_of_record(&w.calls, &r, procs_current(&w.world.procs, PID));
	show(chains_count(&w.calls.chains, hash, 0), &got);
	EXPECT_STR(str_get(&got), want);
	str_release(&got);
	wr_release(&bytes);
}

#define KERNEL_MARK ((uint64_t)PERF_CONTEXT_KERNEL)
#define USER_MARK   ((uint64_t)PERF_CONTEXT_USER)

TEST(by_frame_pointers)
{
	begin(CALLS_FP);
	EXPECT_EQ(w.calls.ring.extra, RECORD_STACK_FP);
	expect(CODE + 5, (uint64_t[]){USER_MARK, CODE + 5, CODE + 9, ANON + 3}, 4, NULL, 0,
	       "[anon] prog+7f0000000002? > prog+1008?");
	expect(KERNEL + 5,
	       (uint64_t[]){KERNEL_MARK, KERNEL + 5, KERNEL + 9, USER_MARK, CODE + 16, CODE + 9}, 6,
	       NULL, 0, "prog+1008? > prog+1010? > [kernel]+ffffffff81000008");
	expect(KERNEL + 5, (uint64_t[]){KERNEL_MARK, KERNEL + 5, KERNEL + 9}, 3, NULL, 0,
	       "[kernel]+ffffffff81000008");
	/* Nobody called it, or it has no frame pointer. */
	expect(CODE + 5, (uint64_t[]){USER_MARK, CODE + 5}, 2, NULL, 0,
	       "[truncated: no frame information]");
	expect(CODE + 5, (uint64_t[]){USER_MARK, CODE + 5, CODE + 9, 0x1234, CODE + 7}, 5, NULL, 0,
	       "[truncated: no mapping] > prog+1008?");
	end();
}

TEST(as_many_addresses_as_the_kernel_writes)
{
	uint64_t ips[200] = {USER_MARK};

	begin(CALLS_FP);
	w.calls.ring.most_ips = 127;
	for (unsigned i = 1; i < n_elems(ips); i++)
		ips[i] = CODE + i;
	expect(CODE + 1, ips, 3, NULL, 0, "prog+1001?");
	w.calls.ring.most_ips = 2;
	expect(CODE + 1, ips, 3, NULL, 0, "[truncated: too deep] > prog+1001?");
	end();
}

TEST(copied_stacks_are_walked)
{
#ifdef __x86_64__
	/* Registers are 8 for the stack pointer and 9 for ip (put_stack_sample): so code is mapped
	 * at 0, where ip lies. */
	begin(CALLS_DWARF);
	EXPECT_EQ(w.calls.ring.extra, RECORD_STACK_COPY);
	world_map(&w.world, 0, 1, PAGE, NULL, w.path);
	expect(9, NULL, 0, (uint64_t[]){1, 0x101, 1, 0x201, 1, 0}, 6, "prog+1200 > prog+1100");
	expect(KERNEL + 5, (uint64_t[]){KERNEL_MARK, KERNEL + 5, KERNEL + 9}, 3,
	       (uint64_t[]){1, 0x101, 1, 0}, 4,
	       "prog+1100 > prog+1009 > [kernel]+ffffffff81000008");
	expect(9, NULL, 0, (uint64_t[]){1, 0x101, 1}, 3,
	       "[truncated: stack unreadable] > prog+1100");
	expect(9, NULL, 0, (uint64_t[]){1, 0x99999, 1, 0}, 4, "[truncated: no mapping]");
	EXPECT_EQ(unwinds_stats(&w.calls.unwinds).n_built, 1);
	unwinds_check(&w.calls.unwinds);
	end();
#else
	SKIP("registers of another machine");
#endif
}

TEST(equal_stacks_are_one_chain)
{
	begin(CALLS_FP);
	for (unsigned i = 0; i < 10; i++)
		expect(CODE + i, (uint64_t[]){USER_MARK, CODE + i, CODE + 9 + i % 2}, 3, NULL, 0,
		       i % 2 ? "prog+1009?" : "prog+1008?");
	EXPECT_EQ(w.calls.chains.n_used, 2);
	end();
}
