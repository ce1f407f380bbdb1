/* SPDX-License-Identifier: BSD-2-Clause */
/* Perf records through their reader into the table of processes.  They come from the kernel, but
 * any process chooses the names and mappings in them, and its stack. */
#include <errno.h>

#include "../unit/collect_records.h"
#include "collect/calls/call_paths.h"
#include "machine/procs.h"
#include "machine/perf_record.h"
#include "fuzz.h"

#define PID 4194000u /* no such process */

static int no_file(int fd, struct image_layout *ret, struct err *err)
{
	return -EBADMSG;
}

/* Every file has one table, of functions with a frame of 16 bytes; of another rule at its end. */
static int load(int fd, struct unwind_table *ret, struct err *err)
{
	static const struct unwind_rule rules[] = {
		{.cfa = UNWIND_CFA_NONE},
		{.cfa = UNWIND_CFA_SP, .cfa_off = 16, .ra_at = -1},
		{.cfa = UNWIND_CFA_FP, .cfa_off = 16, .fp_at = -2, .ra_at = -1}};
	static const struct unwind_row rows[] = {{0, 1}, {512, 2}};
	static const uint32_t blocks[] = {0, 2};

	*ret = (struct unwind_table){.n_blocks = 1,
				     .n_rows = 2,
				     .n_rules = 3,
				     .blocks = xmemdup(blocks, sizeof(blocks)),
				     .rows = xmemdup(rows, sizeof(rows)),
				     .rules = xmemdup(rules, sizeof(rules))};
	return 0;
}

static const struct call_paths_tables tables = {.load = load, .n_bytes = 4096};

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const uint8_t id[20] = {1, 2, 3};
	struct wr w = {0};

	static const uint64_t ips[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010ull,
				       (uint64_t)PERF_CONTEXT_USER, 0x400010, 0x400020};
	static const uint8_t copy[64] = {0x11, 0, 0x40};

	if (i > 0)
		return NULL;
	put_task(&w, PERF_RECORD_FORK, PID, 1, PID, 1);
	put_comm(&w, PID, PID, "prog", true, 2);
	put_mmap(&w, PID, 0x400000, 0x3000, 0, id, "/nonexistent/prog", 3);
	put_mmap(&w, PID, 0x401000, 0x1000, 0x1000, NULL, "//anon", 4);
	put_task(&w, PERF_RECORD_FORK, PID, PID, PID + 1, 5);
	put_task(&w, PERF_RECORD_FORK, PID + 2, PID, PID + 2, 6);
	put_mmap(&w, PID + 2, 0x3ff000, 0x9000, 0, NULL, "/nonexistent/lib (deleted)", 7);
	put_sample(&w, 1, 0x400010, PID, PID, 8);
	put_stack_sample(&w, 0x400010, PID, ips, 5, copy, 64, 64);
	put_lost(&w, 3);
	put_ksymbol(&w, 0xffffffffc0000000ull, 64, 0, "bpf_prog_x");
	put_comm(&w, PID + 2, PID + 2, "renamed", false, 9);
	put_task(&w, PERF_RECORD_EXIT, PID, 1, PID + 1, 10);
	put_task(&w, PERF_RECORD_EXIT, PID, 1, PID, 11);
	*ret_n = w.n;
	return w.v;
}

static void check(struct procs *ps, const struct perf_record *r)
{
	for (uint32_t i = 0; i < ps->v.n; i++) {
		const struct maps *m = ps->v.v[i].maps;

		for (size_t k = 0; m && k < m->v.n; k++) {
			FUZZ_REQUIRE(m->v.v[k].start < m->v.v[k].end);
			FUZZ_REQUIRE(!k || m->v.v[k - 1].end <= m->v.v[k].start);
		}
	}
	if (r->kind == RECORD_SAMPLE && procs_current(ps, r->pid) != PROC_NONE) {
		uint32_t proc = procs_current(ps, r->pid);

		procs_find_mapping(ps, proc, r->ip);
		procs_owner(ps, proc, r->tid);
		procs_anon_image(ps, proc);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct rd rd = rd_init(data, n);
	struct profile p;
	struct images images;
	struct procs procs;
	struct call_paths fp, copies;
	struct kernel_map kernel;
	struct perf_record r;

	profile_init(&p);
	images_init(&images, &p, no_file, NULL);
	procs_init(&procs, &p, &images, 1);
	kernel_map_init(&kernel, &p);
	call_paths_init(&fp, CALLS_FP, &p, &procs, &images, &kernel);
	call_paths_use_rings(&fp, &tables);
	call_paths_init(&copies, CALLS_DWARF, &p, &procs, &images, &kernel);
	call_paths_use_rings(&copies, &tables);
	for (unsigned i = 1; rd_left(&rd) && record_read(&rd, &r) == 0; i++) {
		procs_apply(&procs, &r);
		check(&procs, &r);
		if (r.kind == RECORD_SAMPLE) {
			uint32_t proc = procs_current(&procs, r.pid);

			call_paths_of_record(&fp, &r, proc);
			call_paths_of_record(&copies, &r, proc);
		}
		if (i % 8 == 0)
			procs_end_cycle(&procs);
	}
	profile_check(&p);
	call_paths_release(&fp);
	call_paths_release(&copies);
	kernel_map_release(&kernel);
	procs_release(&procs);
	images_release(&images);
	profile_release(&p);
	return 0;
}
