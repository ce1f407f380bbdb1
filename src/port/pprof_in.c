/* SPDX-License-Identifier: BSD-2-Clause */
/* pprof's profiles as call paths.
 *
 * A sample type that counts, and the one behind it that says what the counted ones stand for, are
 * one event: samples and cpu, alloc_objects and alloc_space, contentions and delay. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "formats/pprof.h"
#include "port/importers.h"

struct pprof_in {
	const struct pprof *p;
	struct importer_job *job;
	struct stacks_maker *make;
	const char **texts;			     /* by string: made when first asked for */
	uint32_t *image_of, *function_of, *place_of; /* by element + 1 */
	uint64_t n_negative, n_labels_lost;
};

static const char *text_of(struct pprof_in *in, uint32_t i)
{
	if (!in->texts[i])
		in->texts[i] =
			stacks_make_text(in->make, in->p->strings.v[i].text, in->p->strings.v[i].n);
	return in->texts[i];
}

static bool is_text(struct pprof_in *in, uint32_t i, const char *text)
{
	return strcmp(text_of(in, i), text) == 0;
}

/* Whether type I counts what type I + 1 is the weight of. */
static bool is_count_of_next(struct pprof_in *in, size_t i)
{
	const struct pprof_type *t = &in->p->types.v[i];
	const char *name = text_of(in, t->type);

	if (i + 1 >= in->p->types.n || !is_text(in, t->unit, "count"))
		return false;
	if (!is_text(in, in->p->types.v[i + 1].unit, "count"))
		return true;
	return strcmp(name, "samples") == 0 ||
	       (str_ends(name, "_samples") && strncmp(name, text_of(in, in->p->types.v[i + 1].type),
						      strlen(name) - strlen("_samples")) == 0);
}

static void read_types(struct pprof_in *in)
{
	const struct pprof *p = in->p;
	bool is_weight = false;

	for (size_t i = 0; i < p->types.n; i++) {
		const struct pprof_type *t = &p->types.v[i];
		const bool counts = !is_weight && is_text(in, t->unit, "count");
		const bool has_period = p->period > 0 && t->type == p->period_type.type &&
					t->unit == p->period_type.unit;

		stacks_make_column(in->make, text_of(in, t->type), text_of(in, t->unit),
				   counts ? STACK_SAMPLES : STACK_WEIGHT,
				   has_period ? (uint64_t)p->period : 0);
		is_weight = counts && is_count_of_next(in, i);
	}
}

static bool is_kernel_path(const char *path)
{
	return str_starts(path, "[kernel") || str_starts(path, "[vmlinux") ||
	       strcmp(str_basename(path), "vmlinux") == 0;
}

static uint32_t read_image(struct pprof_in *in, uint32_t i)
{
	const struct pprof_mapping *m = i == PPROF_NONE ? NULL : &in->p->mappings.v[i];
	struct stack_image im = {.kind = IMAGE_FILE, .by_offset = true};

	if (!m || !in->p->strings.v[m->file].n)
		return STACK_NO_IMAGE;
	if (in->image_of[i])
		return in->image_of[i] - 1;
	im.path = text_of(in, m->file);
	if (in->p->strings.v[m->build_id].n < sizeof(im.build_id))
		memcpy(im.build_id, in->p->strings.v[m->build_id].text,
		       in->p->strings.v[m->build_id].n);
	if (is_kernel_path(im.path)) {
		im.path = "[kernel]";
		im.kind = IMAGE_KERNEL;
		im.is_kernel = true;
	}
	in->image_of[i] = stacks_make_image(in->make, &im) + 1;
	return in->image_of[i] - 1;
}

static uint32_t read_function(struct pprof_in *in, uint32_t i, uint32_t image)
{
	const struct pprof_function *f = i == PPROF_NONE ? NULL : &in->p->functions.v[i];
	struct stack_function fn = {.name = "[unknown]", .image = image};

	if (f) {
		fn.name = text_of(in, f->name);
		if (!*fn.name)
			fn.name = text_of(in, f->system_name);
		fn.linked = fn.name;
		fn.file = text_of(in, f->file);
		fn.line = f->start_line > 0 && f->start_line < UINT32_MAX ? (uint32_t)f->start_line
									  : 0;
		fn.is_mark = image == STACK_NO_IMAGE && str_starts(fn.name, "[truncated: ");
	}
	return stacks_make_function(in->make, &fn);
}

static uint32_t read_location(struct pprof_in *in, uint32_t i)
{
	const struct pprof_location *l = &in->p->locations.v[i];
	const uint32_t image = read_image(in, l->mapping);
	VEC(struct stack_line) lines = {0};
	uint64_t svma = 0;

	if (in->place_of[i])
		return in->place_of[i] - 1;
	for (size_t k = 0; k < l->n_lines; k++) {
		const struct pprof_line *from = &in->p->lines.v[l->first_line + k];

		vec_push(&lines, (struct stack_line){read_function(in, from->function, image),
						     from->line > 0 && from->line < UINT32_MAX
							     ? (uint32_t)from->line
							     : 0,
						     ""});
	}
	if (!lines.n) {
		const struct stack_function fn = {
			.name = "[unknown]", .image = image, .nameless = image != STACK_NO_IMAGE};
		const struct pprof_mapping *m =
			l->mapping == PPROF_NONE ? NULL : &in->p->mappings.v[l->mapping];

		/* Without a name it is known by where in its file it is. */
		svma = l->address;
		if (m && svma >= m->start && svma < m->limit)
			svma = svma - m->start + m->offset;
		vec_push(&lines, (struct stack_line){stacks_make_function(in->make, &fn), 0, ""});
	}
	in->place_of[i] = stacks_make_place(in->make, image, svma, lines.v, (uint32_t)lines.n) + 1;
	vec_release(&lines);
	return in->place_of[i] - 1;
}

/* Labels that say whose samples are; other tools' names of them are understood. */
static uint32_t read_owner(struct pprof_in *in, const struct pprof_sample *s)
{
	struct stack_owner w = {.uid = -1};

	for (size_t i = 0; i < s->n_labels; i++) {
		const struct pprof_label *l = &in->p->labels.v[s->first_label + i];
		const char *key = text_of(in, l->key), *text = text_of(in, l->text);
		const uint32_t number =
			l->number > 0 && l->number < UINT32_MAX ? (uint32_t)l->number : 0;

		if (strcmp(key, "comm") == 0 || strcmp(key, "thread") == 0 ||
		    strcmp(key, "thread_name") == 0)
			w.comm = text;
		else if (strcmp(key, "exe") == 0)
			w.exe = text;
		else if (strcmp(key, "cgroup") == 0)
			w.cgroup = text;
		else if (strcmp(key, "label") == 0)
			w.label = text;
		else if (strcmp(key, "pid") == 0 || strcmp(key, "process_id") == 0)
			w.pid = number;
		else if (strcmp(key, "tid") == 0 || strcmp(key, "thread_id") == 0)
			w.tid = number;
		else if (strcmp(key, "uid") == 0)
			w.uid = l->number;
		else if (strcmp(key, "host") == 0)
			in->make->s->host = text;
		else
			in->n_labels_lost++;
	}
	return stacks_make_owner(in->make, &w);
}

static void read_sample(struct pprof_in *in, size_t i)
{
	const struct pprof *p = in->p;
	const struct pprof_sample *s = &p->samples.v[i];
	const uint32_t owner = read_owner(in, s);
	uint32_t node = 0;
	uint64_t *amounts;

	for (size_t k = s->n_locations; k--;)
		node = stacks_make_node(in->make, node,
					read_location(in, p->refs.v[s->first_location + k]));
	if (!node)
		node = stacks_make_node(
			in->make, 0,
			stacks_make_frame(in->make, "[no path]", "", 0, STACK_NO_IMAGE));
	amounts = stacks_make_value(in->make, node, owner);
	for (size_t c = 0; c < p->types.n; c++) {
		const int64_t v = p->values.v[i * p->types.n + c];

		if (v > 0)
			stacks_make_add(in->make, &amounts[c], (uint64_t)v);
		in->n_negative += v < 0;
	}
}

int pprof_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err)
{
	struct pprof_in in = {.job = job, .make = &job->make};
	struct pprof p;
	int rc = pprof_parse(bytes, n, &p, err);

	in.p = &p;
	if (rc >= 0) {
		in.texts = xcalloc(p.strings.n + 1, sizeof(*in.texts));
		in.image_of = xcalloc(p.mappings.n + 1, sizeof(*in.image_of));
		in.place_of = xcalloc(p.locations.n + 1, sizeof(*in.place_of));
		read_types(&in);
		for (size_t i = 0; i < p.samples.n; i++)
			read_sample(&in, i);
		if (p.time_ns > 0)
			job->make.s->start_ns = (uint64_t)p.time_ns;
		if (p.time_ns > 0 && p.duration_ns > 0 && p.duration_ns < INT64_MAX - p.time_ns)
			job->make.s->end_ns = (uint64_t)(p.time_ns + p.duration_ns);
		if (in.n_negative)
			str_addf(job->notes,
				 "%" PRIu64
				 " negative values, as a difference has them, count as 0\n",
				 in.n_negative);
		if (in.n_labels_lost)
			str_addf(job->notes, "%" PRIu64 " labels of samples are left out\n",
				 in.n_labels_lost);
		if (p.n_unknown)
			str_addf(job->notes, "%" PRIu64 " fields of a newer version are left out\n",
				 p.n_unknown);
	}
	free(in.texts);
	free(in.image_of);
	free(in.place_of);
	pprof_release(&p);
	return rc;
}
