/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples with their times as a trace of Perfetto (docs/formats/perfetto.md): a packet with all
 * names, a packet of processes and threads, and a packet for each sample. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "formats/perfetto_fields.h"
#include "formats/protobuf.h"
#include "port/exporters.h"

#define SEQUENCE 1 /* all packets are of one sequence */

struct perfetto_out {
	const struct stacks *s;
	struct out_stream *out;
	struct wr packet, message, inner, interned;
	bool *is_wanted; /* by node: a point is there */
};

static void put_packet(struct perfetto_out *o)
{
	struct wr w = {0};

	pb_put_message(&w, PACKET_IN_TRACE, &o->packet);
	str_addn(&o->out->text, (const char *)w.v, w.n);
	wr_release(&w);
	out_stream_settle(o->out);
}

static void put_interned_string(struct perfetto_out *o, uint32_t table, uint64_t id,
				const char *text)
{
	pb_put_u64(&o->message, INTERNED_STRING_ID, id);
	pb_put_bytes(&o->message, INTERNED_STRING_TEXT, text, strlen(text));
	pb_put_message(&o->interned, table, &o->message);
}

/* Images, functions and frames have the numbers they have in struct stacks, + 1. */
static void put_names(struct perfetto_out *o)
{
	const struct stacks *s = o->s;

	for (size_t i = 0; i < s->images.n; i++) {
		const struct stack_image *im = &s->images.v[i];
		const uint64_t path = i + 1;

		put_interned_string(o, INTERNED_PATHS, i + 1, im->path);
		put_interned_string(o, INTERNED_BUILD_IDS, i + 1, im->build_id);
		pb_put_u64(&o->message, PERFETTO_MAPPING_ID, i + 1);
		pb_put_u64(&o->message, PERFETTO_MAPPING_BUILD_ID, i + 1);
		pb_put_u64(&o->message, PERFETTO_MAPPING_START, im->start);
		pb_put_u64(&o->message, PERFETTO_MAPPING_END, im->end);
		pb_put_u64(&o->message, PERFETTO_MAPPING_PATH, path);
		pb_put_message(&o->interned, INTERNED_MAPPINGS, &o->message);
	}
	for (size_t i = 0; i < s->functions.n; i++) {
		put_interned_string(o, INTERNED_FUNCTION_NAMES, i + 1, s->functions.v[i].name);
		if (*s->functions.v[i].file)
			put_interned_string(o, INTERNED_SOURCES, i + 1, s->functions.v[i].file);
	}
}

static void put_perfetto_frames(struct perfetto_out *o)
{
	const struct stacks *s = o->s;

	vec_each (pl, &s->places)
		for (uint32_t k = 0; k < pl->n_lines; k++) {
			const struct stack_line *l = &s->lines.v[pl->first_line + k];

			pb_put_u64(&o->message, PERFETTO_FRAME_ID,
				   (uint64_t)pl->first_line + k + 1);
			pb_put_u64(&o->message, PERFETTO_FRAME_FUNCTION, (uint64_t)l->function + 1);
			if (pl->image != STACK_NO_IMAGE)
				pb_put_u64(&o->message, PERFETTO_FRAME_MAPPING,
					   (uint64_t)pl->image + 1);
			pb_put_u64(&o->message, PERFETTO_FRAME_REL_PC, pl->svma);
			if (*s->functions.v[l->function].file)
				pb_put_u64(&o->message, PERFETTO_FRAME_SOURCE,
					   (uint64_t)l->function + 1);
			pb_put_u64(&o->message, PERFETTO_FRAME_LINE, l->line);
			pb_put_message(&o->interned, INTERNED_FRAMES, &o->message);
		}
}

/* A call stack for each node that a point is at, with the node's number; outermost first. */
static void put_callstacks(struct perfetto_out *o)
{
	const struct stacks *s = o->s;
	stack_frames frames = {0};

	for (uint32_t n = 1; n < s->nodes.n; n++) {
		if (!o->is_wanted[n])
			continue;
		stacks_frames(s, n, &frames);
		pb_put_u64(&o->message, CALLSTACK_ID, n);
		vec_each (f, &frames) /* not packed: the definition is of proto2 */
			pb_put_u64(&o->message, CALLSTACK_FRAMES, (uint64_t)*f + 1);
		pb_put_message(&o->interned, INTERNED_CALLSTACKS, &o->message);
	}
	vec_release(&frames);
}

static void put_processes(struct perfetto_out *o)
{
	const struct stacks *s = o->s;

	vec_each (t, &s->threads) {
		const struct stack_owner *w = &s->owners.v[t->owner];

		if (t->pid == t->tid) {
			pb_put_u64(&o->inner, TREE_PROCESS_PID, t->pid);
			pb_put_text(&o->inner, TREE_PROCESS_COMMAND, *w->exe ? w->exe : w->comm);
			pb_put_message(&o->message, TREE_PROCESSES, &o->inner);
		}
		pb_put_u64(&o->inner, TREE_THREAD_TID, t->tid);
		pb_put_text(&o->inner, TREE_THREAD_NAME, w->comm);
		pb_put_u64(&o->inner, TREE_THREAD_TGID, t->pid);
		pb_put_message(&o->message, TREE_THREADS, &o->inner);
	}
	pb_put_u64(&o->packet, PACKET_SEQUENCE, SEQUENCE);
	pb_put_message(&o->packet, PACKET_PROCESS_TREE, &o->message);
	put_packet(o);
}

static void put_thread(struct perfetto_out *o, const struct stack_thread *t)
{
	const struct stacks *s = o->s;

	for (size_t i = t->first; i < t->first + t->n; i++) {
		const struct stack_point *pt = &s->points.v[i];

		pb_put_u64(&o->message, PERFETTO_SAMPLE_PID, t->pid);
		pb_put_u64(&o->message, PERFETTO_SAMPLE_TID, t->tid);
		pb_put_u64(&o->message, PERFETTO_SAMPLE_CALLSTACK, pt->node);
		pb_put_u64(&o->message, PERFETTO_SAMPLE_MODE,
			   stacks_is_kernel(s, stacks_leaf(s, pt->node)) ? MODE_KERNEL : MODE_USER);
		pb_put_u64(&o->packet, PACKET_TIMESTAMP, pt->time_ns);
		pb_put_u64(&o->packet, PACKET_SEQUENCE, SEQUENCE);
		pb_put_u64(&o->packet, PACKET_FLAGS, FLAG_NEEDS_STATE);
		pb_put_message(&o->packet, PACKET_SAMPLE, &o->message);
		put_packet(o);
	}
}

int perfetto_out_write(const struct stacks *s, struct out_stream *out, struct exporter_result *ret,
		       struct err *err)
{
	struct perfetto_out o = {.s = s, .out = out};
	uint64_t n_samples = 0;

	if (!s->points.n)
		return err_set(err, -ENOENT,
			       "no sample has a time: `dwell record --trace` keeps them");
	o.is_wanted = xcalloc(s->nodes.n, sizeof(*o.is_wanted));
	vec_each (pt, &s->points)
		o.is_wanted[pt->node] = true;
	put_names(&o);
	put_perfetto_frames(&o);
	put_callstacks(&o);
	pb_put_u64(&o.packet, PACKET_SEQUENCE, SEQUENCE);
	pb_put_u64(&o.packet, PACKET_FLAGS, FLAG_CLEARED);
	pb_put_message(&o.packet, PACKET_INTERNED, &o.interned);
	put_packet(&o);
	put_processes(&o);
	vec_each (t, &s->threads)
		put_thread(&o, t);
	vec_each (c, &s->columns)
		n_samples += c->amount == STACK_SAMPLES ? c->total : 0;
	ret->n = s->points.n;
	if (n_samples != s->points.n)
		str_addf(&ret->notes, "%zu of %llu samples have a time: the others are left out\n",
			 s->points.n, (unsigned long long)n_samples);
	wr_release(&o.packet);
	wr_release(&o.message);
	wr_release(&o.inner);
	wr_release(&o.interned);
	free(o.is_wanted);
	return 0;
}
