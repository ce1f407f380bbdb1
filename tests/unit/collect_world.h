/* SPDX-License-Identifier: BSD-2-Clause */
/* A process and a kernel for tests of what samples are attributed to: nothing of it exists. */
#ifndef TESTS_COLLECT_WORLD_H
#define TESTS_COLLECT_WORLD_H

#include <errno.h>

#include "machine/kernel_map.h"
#include "machine/procs.h"

#define PID    4194000u /* no such process, so that /proc tells nothing */
#define PAGE   0x1000ull
#define CODE   0x400000ull
#define ANON   0x7f0000000000ull
#define KERNEL 0xffffffff81000000ull

struct world {
	struct profile profile;
	struct images images;
	struct procs procs;
	struct kernel_map kernel;
};

static inline int world_no_file(int fd, struct image_layout *ret, struct err *err)
{
	return -EBADMSG;
}

/* Process PID maps N_PAGES of PATH from offset OFF; ID: the build-id told, or NULL. */
static inline void world_map(struct world *w, uint64_t start, uint64_t n_pages, uint64_t off,
			     const struct build_id *id, const char *path)
{
	struct perf_record r = {.kind = RECORD_MMAP,
				.pid = PID,
				.tid = PID,
				.addr = start,
				.n_bytes = n_pages * PAGE,
				.off = off,
				.name = path,
				.time_ns = UINT64_MAX / 2};

	if (id)
		r.build_id = *id;
	procs_apply(&w->procs, &r);
}

/* A kernel of 100 pages and a process of one thread without mappings. */
static inline void world_init(struct world *w, image_probe_fn *probe,
			      const struct image_layout *vdso)
{
	profile_init(&w->profile);
	images_init(&w->images, &w->profile, probe, vdso);
	procs_init(&w->procs, &w->profile, &w->images, 1);
	kernel_map_init(&w->kernel, &w->profile);
	kernel_map_add(&w->kernel,
		       &(struct kernel_range){.start = KERNEL,
					      .end = KERNEL + 100 * PAGE,
					      .svma = KERNEL,
					      .image = {.kind = IMAGE_KERNEL, .path = "[kernel]"}});
	procs_add_task(&w->procs,
		       &(struct task_record){.tgid = PID, .comm = "prog", .n_threads = 1});
}

static inline void world_release(struct world *w)
{
	kernel_map_release(&w->kernel);
	procs_release(&w->procs);
	images_release(&w->images);
	profile_check(&w->profile);
	profile_release(&w->profile);
}

#endif
