/* SPDX-License-Identifier: BSD-2-Clause */
/* V8's .cpuprofile (the Profiler.Profile of Chrome DevTools' protocol) as call paths: nodes with
 * ids, and the node of each sample.
 *
 * Today's files have "nodes", a list in which nodes name their children.  The protocol before
 * version 1.2 had "head", the outermost node, with its children inside it and names of functions in
 * the nodes themselves; its times are "timestamps", not "timeDeltas". */
#include <errno.h>

#include "base/cleanup.h"
#include "formats/json_in.h"
#include "port/importers.h"

struct cpuprofile_in {
	struct stacks_maker *make;
	VEC(const struct json_in *) nodes;
	VEC(uint32_t) ids;    /* by node */
	VEC(uint32_t) parent; /* by node + 1; 0: none */
	bool is_tree;	      /* "head" */
	uint32_t first_line;  /* what is added to lines */
	struct index index;
	uint32_t *node_of; /* of stacks, + 1; 0: not made */
};

static bool same_node_id(const void *owner, uint32_t i, const void *key)
{
	return ((const struct cpuprofile_in *)owner)->ids.v[i] == *(const uint32_t *)key;
}

static uint32_t find_id(const struct cpuprofile_in *in, uint32_t id)
{
	return index_find(&in->index, hash_u64(id), same_node_id, in, &id);
}

static void add_node(struct cpuprofile_in *in, const struct json_in *node, uint32_t parent)
{
	vec_push(&in->nodes, node);
	vec_push(&in->parent, parent);
}

static void list_nodes(struct cpuprofile_in *in, const struct json_in *all)
{
	const struct json_in *nodes = json_in_get(all, "nodes"), *head = json_in_get(all, "head");
	double line;

	in->is_tree = !nodes && head;
	in->first_line = 1;
	for (size_t i = 0; i < json_in_n(nodes); i++)
		add_node(in, json_in_at(nodes, i), 0);
	if (!in->is_tree)
		return;
	/* Chrome's lines began with 1, and those of Node's modules begin with 0: then that of
	 * "(root)", which has none, is -1. */
	if (json_in_number(json_in_get(head, "lineNumber"), &line) && line >= 0)
		in->first_line = 0;
	add_node(in, head, 0);
	for (uint32_t i = 0; i < in->nodes.n; i++) {
		const struct json_in *children = json_in_get(in->nodes.v[i], "children");

		for (size_t k = 0; k < json_in_n(children); k++)
			add_node(in, json_in_at(children, k), i + 1);
	}
}

static int read_ids(struct cpuprofile_in *in, struct err *err)
{
	for (size_t i = 0; i < in->nodes.n; i++) {
		uint32_t id;

		if (!json_in_u32(json_in_get(in->nodes.v[i], "id"), &id))
			return err_set(err, -EBADMSG, "node %zu has no id", i);
		vec_push(&in->ids, id);
		if (find_id(in, id) != INDEX_NONE)
			return err_set(err, -EBADMSG, "two nodes have the id %u", id);
		index_add(&in->index, hash_u64(id), (uint32_t)i);
	}
	return 0;
}

static int read_children(struct cpuprofile_in *in, struct err *err)
{
	for (size_t i = 0; i < in->ids.n && !in->is_tree; i++) {
		const struct json_in *node = in->nodes.v[i],
				     *children = json_in_get(node, "children");
		uint32_t id, child;

		for (size_t k = 0; k < json_in_n(children); k++) {
			if (!json_in_u32(json_in_at(children, k), &id) ||
			    (child = find_id(in, id)) == INDEX_NONE)
				return err_set(err, -EBADMSG, "node %u has a child that is no node",
					       in->ids.v[i]);
			if (in->parent.v[child])
				return err_set(err, -EBADMSG, "node %u has two parents", id);
			in->parent.v[child] = (uint32_t)i + 1;
		}
		/* Older files have it the other way round. */
		if (json_in_u32(json_in_get(node, "parent"), &id) && !in->parent.v[i]) {
			child = find_id(in, id);
			if (child == INDEX_NONE)
				return err_set(err, -EBADMSG, "node %u has no parent %u",
					       in->ids.v[i], id);
			in->parent.v[i] = child + 1;
		}
	}
	return 0;
}

static uint32_t place_of_node(struct cpuprofile_in *in, uint32_t i)
{
	const struct json_in *node = in->nodes.v[i],
			     *f = in->is_tree ? node : json_in_get(node, "callFrame");
	const char *name = json_in_text(json_in_get(f, "functionName"));
	struct stack_function fn = {.image = STACK_NO_IMAGE};
	struct stack_line line = {0};
	uint32_t number;

	fn.name = name && *name ? name : "(anonymous)";
	fn.file = json_in_text(json_in_get(f, "url"));
	if (json_in_u32(json_in_get(f, "lineNumber"), &number))
		fn.line = number + in->first_line;
	line.function = stacks_make_function(in->make, &fn);
	return stacks_make_place(in->make, STACK_NO_IMAGE, 0, &line, 1);
}

/* Makes the nodes from the outermost to I; the outermost, "(root)", is none. */
static int make_path(struct cpuprofile_in *in, uint32_t i, struct err *err)
{
	VEC(uint32_t) path = {0};
	uint32_t node = 0;
	int rc = 0;

	for (uint32_t at = i; rc >= 0 && !in->node_of[at]; at = in->parent.v[at] - 1) {
		vec_push(&path, at);
		if (path.n > in->ids.n)
			rc = err_set(err, -EBADMSG, "the parents of node %u form a circle",
				     in->ids.v[i]);
		if (!in->parent.v[at])
			break;
	}
	while (rc >= 0 && path.n) {
		const uint32_t at = path.v[--path.n];

		if (in->parent.v[at])
			node = stacks_make_node(in->make, in->node_of[in->parent.v[at] - 1] - 1,
						place_of_node(in, at));
		in->node_of[at] = (in->parent.v[at] ? node : 0) + 1;
	}
	vec_release(&path);
	return rc;
}

static int add_sample(struct cpuprofile_in *in, uint32_t owner, uint32_t i, uint64_t count,
		      uint64_t ns, struct err *err)
{
	int rc = make_path(in, i, err);
	uint64_t *amounts;

	if (rc < 0 || in->node_of[i] <= 1)
		return rc;
	amounts = stacks_make_value(in->make, in->node_of[i] - 1, owner);
	stacks_make_add(in->make, &amounts[0], count);
	stacks_make_add(in->make, &amounts[1], ns);
	return 0;
}

/* The microseconds between sample I and the next. */
static double time_until_next(const struct json_in *all, size_t i)
{
	const struct json_in *deltas = json_in_get(all, "timeDeltas"),
			     *times = json_in_get(all, "timestamps");
	double us = 0, from, to;

	if (deltas)
		json_in_number(json_in_at(deltas, i + 1), &us);
	else if (json_in_number(json_in_at(times, i), &from) &&
		 json_in_number(json_in_at(times, i + 1), &to))
		us = to - from;
	return us > 0 && us < 1e15 ? us : 0; /* V8's clocks can step back by some microseconds */
}

/* The samples, each with the time until the next; or how often each node was hit. */
static int read_samples(struct cpuprofile_in *in, const struct json_in *all, struct err *err)
{
	const struct json_in *samples = json_in_get(all, "samples");
	const uint32_t owner = stacks_make_owner(in->make, &(struct stack_owner){.uid = -1});
	int rc = 0;

	for (size_t i = 0; i < json_in_n(samples) && rc >= 0; i++) {
		uint32_t id, at;

		if (!json_in_u32(json_in_at(samples, i), &id) ||
		    (at = find_id(in, id)) == INDEX_NONE)
			return err_set(err, -EBADMSG, "sample %zu is of no node", i);
		rc = add_sample(in, owner, at, 1, (uint64_t)(time_until_next(all, i) * 1e3), err);
	}
	for (size_t i = 0; i < in->ids.n && rc >= 0 && !json_in_n(samples); i++) {
		uint32_t hits;

		if (json_in_u32(json_in_get(in->nodes.v[i], "hitCount"), &hits) && hits)
			rc = add_sample(in, owner, (uint32_t)i, hits, 0, err);
	}
	return rc;
}

int cpuprofile_in_read(const uint8_t *bytes, size_t n, struct importer_job *job, struct err *err)
{
	struct cpuprofile_in in = {.make = &job->make};
	struct json_in *all = NULL;
	double start, end;
	int rc = json_in_parse(bytes, n, &all, err);

	if (rc < 0)
		return rc;
	list_nodes(&in, all);
	in.node_of = xcalloc(in.nodes.n + 1, sizeof(*in.node_of));
	stacks_make_column(&job->make, "cpu", "count", STACK_SAMPLES, 0);
	stacks_make_column(&job->make, "cpu", "nanoseconds", STACK_WEIGHT, 0);
	rc = read_ids(&in, err);
	if (rc >= 0)
		rc = read_children(&in, err);
	if (rc >= 0)
		rc = read_samples(&in, all, err);
	/* Times are microseconds of a clock that begins anywhere: only the length counts. */
	if (rc >= 0 && json_in_number(json_in_get(all, "startTime"), &start) &&
	    json_in_number(json_in_get(all, "endTime"), &end) && end > start && end - start < 1e15)
		str_add(job->notes, "times of samples are left out\n");
	vec_release(&in.ids);
	index_release(&in.index);
	vec_release(&in.nodes);
	vec_release(&in.parent);
	free(in.node_of);
	json_in_free(all);
	return rc;
}
