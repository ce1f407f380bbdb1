/* SPDX-License-Identifier: BSD-2-Clause */
/* speedscope's files as call paths.  A profile is a thread; what profiles count in one unit is one
 * column, but for files of our own, which name events. */
#include <errno.h>
#include <math.h>

#include "formats/json_in.h"
#include "port/importers.h"

#define MOST_FRAMES ((size_t)1 << 28)

static const struct speedscope_unit {
	const char *name, *event, *unit;
	double scale;
} units[] = {
	{"none", "samples", "count", 1},
	{"nanoseconds", "time", "nanoseconds", 1},
	{"microseconds", "time", "nanoseconds", 1e3},
	{"milliseconds", "time", "nanoseconds", 1e6},
	{"seconds", "time", "nanoseconds", 1e9},
	{"bytes", "bytes", "bytes", 1},
};

struct speedscope_in {
	struct stacks_maker *make;
	const struct json_in *frames;
	uint32_t *place_of; /* by frame + 1 */
	bool is_ours;	    /* names of profiles end in ": EVENT" where there are several */
	uint32_t column;    /* of the profile being read */
	const struct speedscope_unit *unit; /* of the profile being read */
	uint32_t owner;
	uint64_t n_broken; /* samples that make no sense */
};

static const struct speedscope_unit *unit_of(const struct json_in *profile)
{
	const char *name = json_in_text(json_in_get(profile, "unit"));

	for (size_t i = 0; name && i < n_elems(units); i++)
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	return &units[0];
}

/* The event that profile P counts. */
static const char *event_of(const struct speedscope_in *in, const struct json_in *p)
{
	const char *name = json_in_text(json_in_get(p, "name")), *event = NULL;

	for (const char *at = in->is_ours && name ? strstr(name, ": ") : NULL; at;
	     at = strstr(at + 2, ": "))
		event = at + 2;
	return event && *event ? event : unit_of(p)->event;
}

static uint32_t find_column(const struct speedscope_in *in, const struct json_in *p)
{
	const struct stacks *s = in->make->s;

	for (uint32_t c = 0; c < s->columns.n; c++)
		if (strcmp(s->columns.v[c].event, event_of(in, p)) == 0 &&
		    strcmp(s->columns.v[c].unit, unit_of(p)->unit) == 0)
			return c;
	return UINT32_MAX;
}

static void make_columns(struct speedscope_in *in, const struct json_in *profiles)
{
	for (size_t i = 0; i < json_in_n(profiles); i++) {
		const struct json_in *p = json_in_at(profiles, i);
		const bool counts = unit_of(p) == units;

		if (find_column(in, p) == UINT32_MAX)
			stacks_make_column(in->make, event_of(in, p), unit_of(p)->unit,
					   counts ? STACK_SAMPLES : STACK_WEIGHT, counts);
	}
}

static uint32_t place_of_frame(struct speedscope_in *in, uint32_t frame)
{
	const struct json_in *f = json_in_at(in->frames, frame);
	const char *name = json_in_text(json_in_get(f, "name"));
	struct stack_function fn = {.name = name, .image = STACK_NO_IMAGE};
	struct stack_line line = {0};

	if (in->place_of[frame])
		return in->place_of[frame] - 1;
	fn.file = json_in_text(json_in_get(f, "file"));
	json_in_u32(json_in_get(f, "line"), &fn.line);
	fn.is_mark = name && str_starts(name, "[truncated: ");
	line.function = stacks_make_function(in->make, &fn);
	in->place_of[frame] = stacks_make_place(in->make, STACK_NO_IMAGE, 0, &line, 1) + 1;
	return in->place_of[frame] - 1;
}

static void add_weight(struct speedscope_in *in, uint32_t node, double weight)
{
	const double v = weight * in->unit->scale;

	if (!node || !(v > 0) || v > 1e18) {
		in->n_broken += node && !(v >= 0 && v <= 1e18);
		return;
	}
	stacks_make_add(in->make, &stacks_make_value(in->make, node, in->owner)[in->column],
			(uint64_t)llround(v));
}

static void read_sampled(struct speedscope_in *in, const struct json_in *profile)
{
	const struct json_in *samples = json_in_get(profile, "samples"),
			     *weights = json_in_get(profile, "weights");

	for (size_t i = 0; i < json_in_n(samples); i++) {
		const struct json_in *path = json_in_at(samples, i);
		double weight = 0;
		uint32_t node = 0, frame;

		for (size_t k = 0; k < json_in_n(path); k++)
			if (json_in_u32(json_in_at(path, k), &frame) &&
			    frame < json_in_n(in->frames))
				node = stacks_make_node(in->make, node, place_of_frame(in, frame));
			else
				in->n_broken++;
		if (!json_in_number(json_in_at(weights, i), &weight))
			in->n_broken++;
		add_weight(in, node, weight);
	}
}

struct open_frame {
	uint32_t frame, node;
};

/* Times at which frames open and close, in order: what is open between two of them has that time.
 * Each frame is closed, the innermost first. */
static int read_evented(struct speedscope_in *in, const struct json_in *profile, struct err *err)
{
	const struct json_in *events = json_in_get(profile, "events");
	VEC(struct open_frame) open = {0};
	double last = 0;
	int rc = 0;

	for (size_t i = 0; i < json_in_n(events) && rc >= 0; i++) {
		const struct json_in *e = json_in_at(events, i);
		const char *type = json_in_text(json_in_get(e, "type"));
		uint32_t frame;
		double at;

		if (!type || !json_in_number(json_in_get(e, "at"), &at) ||
		    !json_in_u32(json_in_get(e, "frame"), &frame) ||
		    frame >= json_in_n(in->frames)) {
			in->n_broken++;
			continue;
		}
		if (i && at < last)
			rc = err_set(err, -EBADMSG, "event %zu is earlier than the one before it",
				     i);
		else if (open.n)
			add_weight(in, open.v[open.n - 1].node, at - last);
		last = at;
		if (*type == 'O') {
			const uint32_t caller = open.n ? open.v[open.n - 1].node : 0;

			vec_add(&open);
			open.v[open.n - 1].frame = frame;
			open.v[open.n - 1].node =
				stacks_make_node(in->make, caller, place_of_frame(in, frame));
		} else if (open.n && open.v[open.n - 1].frame == frame) {
			open.n--;
		} else {
			rc = err_set(err, -EBADMSG,
				     "event %zu closes a frame that is not the innermost open one",
				     i);
		}
	}
	if (rc >= 0 && open.n)
		rc = err_set(err, -EBADMSG, "%zu frames are not closed", open.n);
	vec_release(&open);
	return rc;
}

int speedscope_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err)
{
	struct speedscope_in in = {.make = &job->make};
	const struct json_in *profiles;
	const char *exporter;
	struct json_in *all = NULL;
	int rc = json_in_parse(bytes, n, &all, err);

	if (rc < 0)
		return rc;
	in.frames = json_in_get(json_in_get(all, "shared"), "frames");
	profiles = json_in_get(all, "profiles");
	exporter = json_in_text(json_in_get(all, "exporter"));
	in.is_ours = exporter && strcmp(exporter, "dwell") == 0;
	if (!json_in_n(in.frames) || !json_in_n(profiles) || json_in_n(in.frames) > MOST_FRAMES)
		rc = err_set(err, -EBADMSG, "has no \"frames\" or no \"profiles\"");
	if (rc >= 0) {
		in.place_of = xcalloc(json_in_n(in.frames), sizeof(*in.place_of));
		make_columns(&in, profiles);
	}
	for (size_t i = 0; i < json_in_n(profiles) && rc >= 0; i++) {
		const struct json_in *p = json_in_at(profiles, i);
		const char *type = json_in_text(json_in_get(p, "type")),
			   *name = json_in_text(json_in_get(p, "name"));

		in.unit = unit_of(p);
		in.column = find_column(&in, p);
		in.owner = stacks_make_owner(&job->make,
					     &(struct stack_owner){.comm = name, .uid = -1});
		if (type && strcmp(type, "sampled") == 0)
			read_sampled(&in, p);
		else if (type && strcmp(type, "evented") == 0)
			rc = read_evented(&in, p, err);
		else
			rc = err_set(err, -EPROTONOSUPPORT,
				     "profile %zu is of type '%s'; sampled and evented are read", i,
				     type ? type : "");
		if (rc < 0 && rc != -EPROTONOSUPPORT)
			err_prefix(err, rc, "profile %zu", i);
	}
	if (rc >= 0 && in.n_broken)
		rc = err_set(err, -EBADMSG, "%llu samples have no frames, weights or times",
			     (unsigned long long)in.n_broken);
	free(in.place_of);
	json_in_free(all);
	return rc;
}
