/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU profiles of gperftools as call paths.  They have addresses as the process saw them and no
 * names: the files that were mapped name them, where they are still there.
 *
 * Example: 3 samples at 0x555555555155, called from before 0x555555555180; prog's code was mapped
 * at 0x555555555000 from its offset 0x1000, which its segments say is svma 0x1000
 *     prog 0x117f > prog 0x1155    3 samples, 30 ms */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/plain_file.h"
#include "formats/gperf.h"
#include "port/importers.h"
#include "resolve/elf_probe.h"

struct gperf_in {
	const struct gperf *g;
	struct stacks_maker *make;
	struct gperf_image {
		uint32_t image; /* of struct stacks */
		uint32_t line;	/* the function that stands for its nameless code */
		bool laid_out;
		struct image_layout layout;
	} * images; /* by map; the one for addresses in no map is the last */
	uint64_t n_missing;
};

/* The file of map M is taken for the one that was mapped: nothing tells them apart. */
static void name_image(struct gperf_in *in, size_t m)
{
	const struct gperf_map *from = m < in->g->maps.n ? &in->g->maps.v[m] : NULL;
	struct gperf_image *to = &in->images[m];
	struct stack_image im = {.kind = from ? IMAGE_FILE : IMAGE_ANON, .path = "[anon]"};
	struct stack_function fn = {.name = "[unknown]", .nameless = true};
	_fd_ int fd = -1;

	if (from)
		im.path = stacks_make_text(in->make, from->path, from->n_path);
	if (*im.path == '/')
		fd = plain_file_open(im.path, 0);
	to->laid_out = fd >= 0 && elf_probe(fd, &to->layout, NULL) >= 0;
	if (to->laid_out)
		build_id_format(&to->layout.build_id, im.build_id);
	im.by_offset = from && !to->laid_out;
	fn.image = to->image = stacks_make_image(in->make, &im);
	to->line = stacks_make_function(in->make, &fn);
}

static int compare_maps(const void *a, const void *b)
{
	const struct gperf_map *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* The map that covers PC; the number of maps when none does. */
static size_t find_map(const struct gperf *g, uint64_t pc)
{
	size_t low = 0, high = g->maps.n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (g->maps.v[mid].start <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	return low && pc < g->maps.v[low - 1].end ? low - 1 : g->maps.n;
}

static uint32_t gperf_place(struct gperf_in *in, uint64_t pc)
{
	const size_t m = find_map(in->g, pc);
	struct gperf_image *im = &in->images[m];
	struct stack_line line = {0, 0, ""};
	uint64_t svma = pc;

	if (im->image == STACK_NO_IMAGE)
		name_image(in, m);
	if (m < in->g->maps.n) {
		const uint64_t off = pc - in->g->maps.v[m].start + in->g->maps.v[m].off;

		svma = off;
		if (im->laid_out && !image_layout_svma(&im->layout, off, &svma))
			svma = off;
		in->n_missing += !im->laid_out;
	}
	line.function = im->line;
	return stacks_make_place(in->make, im->image, svma, &line, 1);
}

static void gperf_take(struct gperf_in *in, const struct gperf_sample *s, uint32_t owner)
{
	const uint64_t *pcs = in->g->pcs.v + s->first;
	uint64_t *amounts;
	uint32_t node = 0;

	/* Callers are addresses behind calls: one less is in them. */
	for (size_t k = s->n_pcs; k--;)
		node = stacks_make_node(in->make, node,
					gperf_place(in, pcs[k] - (k > 0 && pcs[k] > 0)));
	amounts = stacks_make_value(in->make, node, owner);
	stacks_make_add(in->make, &amounts[0], s->n);
	if (in->g->period_us < UINT64_MAX / 1000)
		stacks_make_add_times(in->make, &amounts[1], s->n, in->g->period_us * 1000);
}

int gperf_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err)
{
	struct gperf_in in = {.make = &job->make};
	struct gperf g;
	int rc = gperf_parse(bytes, n, &g, err);
	uint64_t period_ns;
	uint32_t owner;

	if (rc >= 0) {
		period_ns = g.period_us < UINT64_MAX / 1000 ? g.period_us * 1000 : 0;
		stacks_make_column(in.make, "cpu", "count", STACK_SAMPLES, period_ns);
		stacks_make_column(in.make, "cpu", "nanoseconds", STACK_WEIGHT, period_ns);
		owner = stacks_make_owner(in.make, &(struct stack_owner){.uid = -1});
		vec_sort(&g.maps, compare_maps);
		in.g = &g;
		in.images = xcalloc(g.maps.n + 1, sizeof(*in.images));
		for (size_t m = 0; m <= g.maps.n; m++)
			in.images[m].image = STACK_NO_IMAGE;
		vec_each (s, &g.samples)
			gperf_take(&in, s, owner);
		free(in.images);
		str_add(job->notes, "programs are taken for what was measured as they are now\n");
		if (in.n_missing)
			str_add(job->notes,
				"some programs are not here: their code has no names\n");
	}
	gperf_release(&g);
	return rc;
}
