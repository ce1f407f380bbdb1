/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of `perf script` as call paths.  It is gone through twice: which events there are must
 * be known before the first sample is counted. */
#include <errno.h>

#include "formats/perf_script.h"
#include "port/importers.h"

struct script_in {
	struct importer_job *job;
	struct stacks_maker *make;
	VEC(uint32_t) column_of; /* by event: of its samples; the weight's is behind it */
	VEC(const char *) events;
	VEC(uint64_t) first_period, has_weight;
	VEC(uint32_t) places;	       /* of the block, innermost first */
	VEC(struct text_line) inlined; /* calls that wait for the procedure they are in */
	VEC(struct stack_line) lines;
	struct str text;
};

static const char *text_of_part(struct script_in *in, const struct text_line *l)
{
	str_reset(&in->text);
	str_addn(&in->text, l->text, l->n);
	return str_get(&in->text);
}

static size_t find_event(struct script_in *in, const struct perf_script_head *h)
{
	static const struct text_line unsaid = {"samples", 7};
	const struct text_line *name = h->event.n ? &h->event : &unsaid;
	const char *text = text_of_part(in, name);

	for (size_t i = 0; i < in->events.n; i++)
		if (strcmp(in->events.v[i], text) == 0)
			return i;
	vec_push(&in->events, stacks_make_text(in->make, name->text, name->n));
	vec_push(&in->first_period, h->period);
	vec_push(&in->has_weight, 0);
	return in->events.n - 1;
}

/* The events there are; one whose periods are all 1 has no weights. */
static void find_events(struct script_in *in, const uint8_t *bytes, size_t n)
{
	struct rd r = rd_init(bytes, n);
	struct perf_script_head head;
	struct text_line l;

	while (text_line_next(&r, &l))
		if (perf_script_parse_head(&l, &head)) {
			const size_t e = find_event(in, &head);

			in->has_weight.v[e] |= head.period > 1;
			if (in->first_period.v[e] != head.period)
				in->first_period.v[e] = 0; /* it varies */
		}
	for (size_t i = 0; i < in->events.n; i++) {
		const char *name = in->events.v[i];
		const bool clock = str_starts(name, "cpu-clock") || str_starts(name, "task-clock");

		vec_push(&in->column_of,
			 stacks_make_column(in->make, name, "count", STACK_SAMPLES, 0));
		if (in->has_weight.v[i])
			stacks_make_column(in->make, name, clock ? "nanoseconds" : "count",
					   STACK_WEIGHT, in->first_period.v[i]);
	}
}

static uint32_t image_of_frame(struct script_in *in, const struct perf_script_frame *f)
{
	const char *path = text_of_part(in, &f->image);
	struct stack_image im = {.path = path, .kind = IMAGE_FILE};

	if (!*path || strcmp(path, "[unknown]") == 0)
		return STACK_NO_IMAGE;
	if (str_starts(path, "[kernel") || str_starts(path, "[guest.kernel")) {
		im.path = "[kernel]";
		im.kind = IMAGE_KERNEL;
		im.is_kernel = true;
	}
	return stacks_make_image(in->make, &im);
}

static void add_function(struct script_in *in, const struct text_line *symbol, uint32_t image)
{
	struct stack_function fn = {.image = image};
	struct str bare = {0};

	fn.name = text_of_part(in, symbol);
	if ((!*fn.name || strcmp(fn.name, "[unknown]") == 0) && image != STACK_NO_IMAGE) {
		const char *base = str_basename(in->make->s->images.v[image].path);

		str_addf(&bare, *base == '[' ? "%s" : "[%s]", base);
		fn.name = bare.v;
	}
	fn.is_mark = image == STACK_NO_IMAGE && str_starts(fn.name, "[truncated: ");
	vec_push(&in->lines, (struct stack_line){stacks_make_function(in->make, &fn), 0, ""});
	str_release(&bare);
}

/* Makes a place of SYMBOL (NULL: none is told) and the calls inlined into it. */
static void add_place(struct script_in *in, const struct text_line *symbol, uint32_t image)
{
	in->lines.n = 0;
	vec_each (call, &in->inlined)
		add_function(in, call, image);
	if (symbol)
		add_function(in, symbol, image);
	vec_push(&in->places,
		 stacks_make_place(in->make, image, 0, in->lines.v, (uint32_t)in->lines.n));
	in->inlined.n = 0;
}

static void add_frame(struct script_in *in, const struct perf_script_frame *f)
{
	if (f->is_inlined)
		vec_push(&in->inlined, f->symbol);
	else
		add_place(in, &f->symbol, image_of_frame(in, f));
}

static void end_block(struct script_in *in, const struct perf_script_head *h)
{
	const size_t e = find_event(in, h);
	const struct stack_owner w = {.comm = text_of_part(in, &h->comm),
				      .pid = h->pid < UINT32_MAX ? (uint32_t)h->pid : 0,
				      .tid = h->tid < UINT32_MAX ? (uint32_t)h->tid : 0,
				      .uid = -1};
	const uint32_t owner = stacks_make_owner(in->make, &w);
	uint32_t node = 0;
	uint64_t *amounts;

	if (in->inlined.n) /* a block that ends within them */
		add_place(in, NULL, STACK_NO_IMAGE);
	if (!in->places.n)
		vec_push(&in->places,
			 stacks_make_frame(in->make, "[unknown]", "", 0, STACK_NO_IMAGE));
	for (size_t i = in->places.n; i--;)
		node = stacks_make_node(in->make, node, in->places.v[i]);
	amounts = stacks_make_value(in->make, node, owner);
	amounts[in->column_of.v[e]]++;
	if (in->has_weight.v[e])
		stacks_make_add(in->make, &amounts[in->column_of.v[e] + 1], h->period);
	in->places.n = in->inlined.n = 0;
}

int script_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err)
{
	struct script_in in = {.job = job, .make = &job->make};
	struct rd r = rd_init(bytes, n);
	struct perf_script_head head, next;
	struct perf_script_frame frame;
	bool in_block = false, has_times = false;
	struct text_line l;
	size_t number = 0;
	int rc = 0;

	find_events(&in, bytes, n);
	while (rc >= 0 && text_line_next(&r, &l)) {
		number++;
		if (l.n && *l.text == '#')
			continue;
		if (in_block && l.n && (*l.text == ' ' || *l.text == '\t')) {
			if (perf_script_parse_frame(&l, &frame))
				add_frame(&in, &frame);
			continue; /* else a line of source, an argument */
		}
		if (in_block)
			end_block(&in, &head);
		in_block = false;
		if (!l.n)
			continue;
		if (!perf_script_parse_head(&l, &next))
			rc = err_set(err, -EBADMSG, "line %zu begins no sample", number);
		head = next;
		in_block = rc >= 0;
		has_times |= head.has_time;
	}
	if (rc >= 0 && in_block)
		end_block(&in, &head);
	if (has_times)
		str_add(job->notes, "times of samples are left out\n");
	vec_release(&in.column_of);
	vec_release(&in.events);
	vec_release(&in.first_period);
	vec_release(&in.has_weight);
	vec_release(&in.places);
	vec_release(&in.inlined);
	vec_release(&in.lines);
	str_release(&in.text);
	return rc;
}
