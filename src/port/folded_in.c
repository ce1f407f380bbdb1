/* SPDX-License-Identifier: BSD-2-Clause */
/* Folded stacks as call paths.  Suffixes are those of FlameGraph's stackcollapse-perf.pl: _[k] in
 * the kernel, _[j] in generated code, _[i] inlined. */
#include <errno.h>

#include "formats/folded.h"
#include "port/importers.h"

/* The image that the suffix of NAME tells, and NAME without it. */
static uint32_t image_of_suffix(struct importer_job *job, struct text_line *name)
{
	char suffix;

	if (name->n < 5 || memcmp(name->text + name->n - 4, "_[", 2) != 0 ||
	    name->text[name->n - 1] != ']')
		return STACK_NO_IMAGE;
	suffix = name->text[name->n - 2];
	if (!strchr("kji", suffix))
		return STACK_NO_IMAGE;
	name->n -= 4;
	if (suffix == 'i')
		return STACK_NO_IMAGE;
	return stacks_make_image(
		&job->make, &(struct stack_image){.path = suffix == 'k' ? "[kernel]" : "[jit]",
						  .kind = suffix == 'k' ? IMAGE_KERNEL : IMAGE_JIT,
						  .is_kernel = suffix == 'k'});
}

static uint32_t read_frame(struct importer_job *job, struct text_line name, bool outermost)
{
	struct stack_function fn = {.image = image_of_suffix(job, &name)};
	struct stack_line l = {0};

	str_reset(&job->make.room);
	str_addn(&job->make.room, name.text, name.n);
	fn.name = str_get(&job->make.room);
	fn.is_mark = outermost && str_starts(fn.name, "[truncated: ");
	l.function = stacks_make_function(&job->make, &fn);
	return stacks_make_place(&job->make, fn.image, 0, &l, 1);
}

int folded_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err)
{
	struct rd r = rd_init(bytes, n);
	struct text_line l, stack, frame;
	size_t number = 0;
	uint32_t owner;

	stacks_make_column(&job->make, "samples", "count", STACK_SAMPLES, 1);
	owner = stacks_make_owner(&job->make, &(struct stack_owner){.uid = -1});
	while (text_line_next(&r, &l)) {
		uint32_t node = 0;
		uint64_t count;

		number++;
		if (!l.n || *l.text == '#')
			continue;
		if (!folded_parse(&l, &stack, &count))
			return err_set(err, -EBADMSG,
				       "line %zu is no stack with a number behind it", number);
		while (folded_next_frame(&stack, &frame))
			node = stacks_make_node(&job->make, node,
						read_frame(job, frame, node == 0));
		if (node && count)
			stacks_make_add(&job->make, stacks_make_value(&job->make, node, owner),
					count);
	}
	return 0;
}
