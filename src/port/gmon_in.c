/* SPDX-License-Identifier: BSD-2-Clause */
/* gmon.out as a profile.  It has addresses only: the program that it is of gives them names (--path
 * PROGRAM). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>

#include "base/cleanup.h"
#include "formats/gmon.h"
#include "port/importers.h"
#include "resolve/elf_probe.h"

static uint32_t program_image(struct importer_job *job)
{
	struct stack_image im = {.path = job->program ? job->program : "gmon.out",
				 .kind = IMAGE_FILE};
	struct image_layout layout;
	_fd_ int fd = job->program ? open(job->program, O_RDONLY | O_CLOEXEC) : -1;

	if (fd >= 0 && elf_probe(fd, &layout, NULL) >= 0)
		build_id_format(&layout.build_id, im.build_id);
	if (!*im.build_id)
		str_add(job->notes, "its program is not known: --path PROGRAM names it\n");
	return stacks_make_image(&job->make, &im);
}

int gmon_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err)
{
	const struct stack_function fn = {
		.name = "[unknown]", .image = program_image(job), .nameless = true};
	struct stack_line line = {stacks_make_function(&job->make, &fn), 0, ""};
	const uint32_t owner = stacks_make_owner(&job->make, &(struct stack_owner){.uid = -1});
	struct gmon g;
	int rc = gmon_parse(bytes, n, &g, err);

	if (rc >= 0 && g.histograms.n) {
		const struct gmon_histogram *first = &g.histograms.v[0];
		const bool seconds = str_starts(first->unit, "seconds") && first->rate;

		stacks_make_column(&job->make, seconds ? "cpu" : "samples", "count", STACK_SAMPLES,
				   0);
		if (seconds)
			stacks_make_column(&job->make, "cpu", "nanoseconds", STACK_WEIGHT,
					   1000000000 / first->rate);
	}
	vec_each (h, &g.histograms) {
		if (rc < 0)
			break;
		for (size_t i = 0; i < h->n; i++) {
			const uint16_t count = g.bins.v[h->first + i];
			/* Bins need not be of whole bytes. */
			const uint64_t svma =
				h->low +
				(uint64_t)((unsigned __int128)(h->high - h->low) * i / h->n);
			uint64_t *amounts;

			if (!count)
				continue;
			amounts = stacks_make_value(
				&job->make,
				stacks_make_node(
					&job->make, 0,
					stacks_make_place(&job->make, fn.image, svma, &line, 1)),
				owner);
			stacks_make_add(&job->make, &amounts[0], count);
			if (job->make.s->columns.n > 1)
				stacks_make_add_times(&job->make, &amounts[1], count,
						      job->make.s->columns.v[1].period);
		}
	}
	if (rc >= 0 && g.arcs.n)
		str_addf(job->notes, "%zu calls are left out: gmon.out does not tell paths\n",
			 g.arcs.n);
	gmon_release(&g);
	return rc;
}
