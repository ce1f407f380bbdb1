/* SPDX-License-Identifier: BSD-2-Clause */
/* Processed profiles of the Firefox Profiler as call paths.
 *
 * Versions differ in where tables are: with each thread, or (from 60 on) in "shared"; a thread's
 * own comes first.  Stacks name their callers by number, or (from 66 on) by how far before them
 * these stand. */
#include <errno.h>
#include <math.h>

#include "formats/json_in.h"
#include "port/importers.h"

#define OLDEST 5 /* before it the frames of stacks had no numbers */

struct firefox_in {
	struct stacks_maker *make;
	const struct json_in *all, *thread;
	const struct json_in *libs, *strings, *stacks, *frames, *functions, *resources, *sources;
	uint32_t *place_of; /* by frame + 1 */
	uint32_t *node_of;  /* by stack; of stacks */
	size_t n_frames, n_stacks;
	bool has_weights; /* in milliseconds or bytes, in a column of their own */
	uint32_t column;  /* of the thread being read */
};

static const struct json_in *firefox_table(const struct firefox_in *in, const char *name)
{
	const struct json_in *own = json_in_get(in->thread, name);

	return own ? own : json_in_get(json_in_get(in->all, "shared"), name);
}

static const struct json_in *firefox_cell(const struct json_in *t, const char *column, size_t row)
{
	return json_in_at(json_in_get(t, column), row);
}

static const char *string_at(const struct firefox_in *in, const struct json_in *number)
{
	uint32_t i;

	return json_in_u32(number, &i) ? json_in_text(json_in_at(in->strings, i)) : NULL;
}

/* The library of function F, as an image. */
static uint32_t image_of_function(struct firefox_in *in, uint32_t f)
{
	struct stack_image im = {.kind = IMAGE_FILE};
	const struct json_in *lib;
	const char *id;
	uint32_t resource, i;

	if (!json_in_u32(firefox_cell(in->functions, "resource", f), &resource) ||
	    !json_in_u32(firefox_cell(in->resources, "lib", resource), &i))
		return STACK_NO_IMAGE;
	lib = json_in_at(in->libs, i);
	im.path = json_in_text(json_in_get(lib, "path"));
	if (!im.path)
		im.path = json_in_text(json_in_get(lib, "name"));
	if (!im.path)
		return STACK_NO_IMAGE;
	id = json_in_text(json_in_get(lib, "codeId"));
	if (id && strlen(id) < sizeof(im.build_id))
		memcpy(im.build_id, id, strlen(id) + 1);
	if (str_starts(im.path, "[kernel")) {
		im.path = "[kernel]";
		im.kind = IMAGE_KERNEL;
		im.is_kernel = true;
	}
	return stacks_make_image(in->make, &im);
}

static const char *file_of_function(const struct firefox_in *in, uint32_t f)
{
	const char *file = string_at(in, firefox_cell(in->functions, "fileName", f));
	uint32_t source;

	if (!file && json_in_u32(firefox_cell(in->functions, "source", f), &source))
		file = string_at(in, firefox_cell(in->sources, "filename", source));
	return file;
}

static int place_of_frame(struct firefox_in *in, uint32_t frame, uint32_t *ret, struct err *err)
{
	struct stack_function fn = {0};
	struct stack_line line = {0};
	uint32_t f;

	if (frame >= in->n_frames || !json_in_u32(firefox_cell(in->frames, "func", frame), &f) ||
	    f >= json_in_n(json_in_get(in->functions, "name")))
		return err_set(err, -EBADMSG, "frame %u is of no function", frame);
	if (!in->place_of[frame]) {
		fn.name = string_at(in, firefox_cell(in->functions, "name", f));
		fn.file = file_of_function(in, f);
		fn.image = image_of_function(in, f);
		json_in_u32(firefox_cell(in->functions, "lineNumber", f), &fn.line);
		fn.is_mark = fn.image == STACK_NO_IMAGE && fn.name &&
			     str_starts(fn.name, "[truncated: ");
		line.function = stacks_make_function(in->make, &fn);
		json_in_u32(firefox_cell(in->frames, "line", frame), &line.line);
		in->place_of[frame] = stacks_make_place(in->make, fn.image, 0, &line, 1) + 1;
	}
	*ret = in->place_of[frame] - 1;
	return 0;
}

/* A stack's caller stands before it: so no path is a circle. */
static int read_stacks(struct firefox_in *in, struct err *err)
{
	const struct json_in *frames = json_in_get(in->stacks, "frame");
	int rc = 0;

	for (size_t i = 0; i < in->n_stacks && rc >= 0; i++) {
		uint32_t frame, prefix, offset, place = 0, parent = 0;

		if (json_in_u32(firefox_cell(in->stacks, "prefixOffset", i), &offset)) {
			if (offset > i)
				return err_set(err, -EBADMSG, "stack %zu has no caller", i);
			if (offset)
				parent = in->node_of[i - offset];
		} else if (json_in_u32(firefox_cell(in->stacks, "prefix", i), &prefix)) {
			if (prefix >= i)
				return err_set(err, -EBADMSG, "stack %zu stands before its caller",
					       i);
			parent = in->node_of[prefix];
		}
		if (!json_in_u32(json_in_at(frames, i), &frame))
			return err_set(err, -EBADMSG, "stack %zu has no frame", i);
		rc = place_of_frame(in, frame, &place, err);
		if (rc >= 0)
			in->node_of[i] = stacks_make_node(in->make, parent, place);
	}
	return rc;
}

/* What a thread's weights are: how often, milliseconds, bytes. */
static const char *weight_type(const struct json_in *thread)
{
	const char *t = json_in_text(json_in_get(json_in_get(thread, "samples"), "weightType"));

	return t ? t : "samples";
}

static void make_columns(struct firefox_in *in, const struct json_in *threads)
{
	static const struct {
		const char *type, *event, *unit;
	} kinds[] = {{"samples", "samples", "count"},
		     {"tracing-ms", "time", "nanoseconds"},
		     {"bytes", "bytes", "bytes"}};

	for (size_t k = 0; k < n_elems(kinds); k++)
		for (size_t i = 0; i < json_in_n(threads); i++)
			if (strcmp(weight_type(json_in_at(threads, i)), kinds[k].type) == 0) {
				stacks_make_column(in->make, kinds[k].event, kinds[k].unit,
						   k ? STACK_WEIGHT : STACK_SAMPLES, k == 0);
				break;
			}
}

static uint32_t column_of(const struct firefox_in *in, const char *type)
{
	const char *event = strcmp(type, "tracing-ms") == 0 ? "time" : type;

	for (uint32_t c = 0; c < in->make->s->columns.n; c++)
		if (strcmp(in->make->s->columns.v[c].event, event) == 0)
			return c;
	return UINT32_MAX;
}

static uint32_t owner_of_thread(struct firefox_in *in)
{
	struct stack_owner w = {.uid = -1};
	const char *pid = json_in_text(json_in_get(in->thread, "pid")),
		   *tid = json_in_text(json_in_get(in->thread, "tid"));
	uint64_t n;

	w.comm = json_in_text(json_in_get(in->thread, "name"));
	if (!json_in_u32(json_in_get(in->thread, "pid"), &w.pid) && pid &&
	    str_parse_u64(pid, 10, &n) >= 0 && n < UINT32_MAX)
		w.pid = (uint32_t)n;
	if (!json_in_u32(json_in_get(in->thread, "tid"), &w.tid) && tid &&
	    str_parse_u64(tid, 10, &n) >= 0 && n < UINT32_MAX)
		w.tid = (uint32_t)n;
	return stacks_make_owner(in->make, &w);
}

static int read_samples(struct firefox_in *in, struct err *err)
{
	const struct json_in *samples = json_in_get(in->thread, "samples"),
			     *stack = json_in_get(samples, "stack"),
			     *weight = json_in_get(samples, "weight");
	const char *type = weight_type(in->thread);
	const double scale = strcmp(type, "tracing-ms") == 0 ? 1e6 : 1;
	const uint32_t owner = owner_of_thread(in), column = column_of(in, type);

	if (column == UINT32_MAX)
		return err_set(err, -EPROTONOSUPPORT, "weights of samples are of type '%s'", type);
	for (size_t i = 0; i < json_in_n(stack); i++) {
		double w = 1;
		uint32_t at;

		if (!json_in_at(stack, i)) /* nothing ran */
			continue;
		if (!json_in_u32(json_in_at(stack, i), &at) || at >= in->n_stacks)
			return err_set(err, -EBADMSG, "sample %zu is of no stack", i);
		if (weight && !json_in_number(json_in_at(weight, i), &w))
			return err_set(err, -EBADMSG, "sample %zu has no weight", i);
		if (!(fabs(w * scale) < 1e18))
			return err_set(err, -EBADMSG, "sample %zu has a weight of %g", i, w);
		if (w > 0)
			stacks_make_add(
				in->make,
				&stacks_make_value(in->make, in->node_of[at], owner)[column],
				(uint64_t)llround(w * scale));
	}
	return 0;
}

static int read_thread(struct firefox_in *in, struct err *err)
{
	int rc;

	in->strings = firefox_table(in, "stringArray");
	if (!in->strings)
		in->strings = firefox_table(in, "stringTable");
	in->stacks = firefox_table(in, "stackTable");
	in->frames = firefox_table(in, "frameTable");
	in->functions = firefox_table(in, "funcTable");
	in->resources = firefox_table(in, "resourceTable");
	in->sources = firefox_table(in, "sources");
	in->n_frames = json_in_n(json_in_get(in->frames, "func"));
	in->n_stacks = json_in_n(json_in_get(in->stacks, "frame"));
	in->place_of = xcalloc(in->n_frames + 1, sizeof(*in->place_of));
	in->node_of = xcalloc(in->n_stacks + 1, sizeof(*in->node_of));
	rc = read_stacks(in, err);
	if (rc >= 0)
		rc = read_samples(in, err);
	free(in->place_of);
	free(in->node_of);
	return rc;
}

int firefox_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err)
{
	struct firefox_in in = {.make = &job->make};
	const struct json_in *meta, *threads;
	struct json_in *all = NULL;
	uint32_t version = 0;
	double start;
	int rc = json_in_parse(bytes, n, &all, err);

	if (rc < 0)
		return rc;
	in.all = all;
	in.libs = json_in_get(all, "libs");
	meta = json_in_get(all, "meta");
	threads = json_in_get(all, "threads");
	if (!json_in_u32(json_in_get(meta, "preprocessedProfileVersion"), &version))
		rc = err_set(
			err, -EPROTONOSUPPORT,
			"is as Firefox writes it; open it in the Firefox Profiler and save it");
	else if (version < OLDEST)
		rc = err_set(err, -EPROTONOSUPPORT, "version %u; from %u on they are read", version,
			     OLDEST);
	make_columns(&in, threads);
	for (size_t i = 0; i < json_in_n(threads) && rc >= 0; i++) {
		in.thread = json_in_at(threads, i);
		rc = read_thread(&in, err);
		if (rc < 0)
			err_prefix(err, rc, "thread %zu", i);
	}
	if (rc >= 0 && json_in_number(json_in_get(meta, "startTime"), &start) && start > 0 &&
	    start < 1e13)
		job->make.s->start_ns = (uint64_t)(start * 1e6);
	if (rc >= 0)
		str_add(job->notes, "times of samples and markers are left out\n");
	json_in_free(all);
	return rc;
}
