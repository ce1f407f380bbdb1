/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads over time as one HTML page (page.h).
 *
 * The data block, integers in LEB128 but for the first three:
 *
 *     u32    bytes of the JSON text below, little endian
 *     u32    spans
 *     u32    nodes
 *     JSON   what the picture is of, and its threads by column; times in microseconds
 *     parent for each node but the first, its number less its parent's
 *     name   for each node but the first
 *     gap    for each span, microseconds since the one before in its thread (the first: since 0)
 *     length for each span, microseconds
 *     state  for each span, a number of "states"
 *     node   for each span
 *     waker  for each span, its thread's number + 1, 0: not known
 *     place  for each span with a waker, the waker's node */
#include "query/boxes/time_lines.h"

#include <stdlib.h>

#include "base/json.h"
#include "view/page.h"
#include "view/trace_page.h"

static uint64_t micros(const struct time_lines *l, uint64_t ns)
{
	return ns > l->from_ns ? (ns - l->from_ns) / 1000 : 0;
}

static void json_threads(struct json *j, const struct time_lines *l)
{
	json_key(j, "threads");
	json_begin(j, '[');
	vec_each (th, &l->threads) {
		json_begin(j, '{');
		json_add_str(j, "name", th->name);
		json_add_u64(j, "pid", th->pid);
		json_add_u64(j, "tid", th->tid);
		json_key(j, "born");
		json_i64(j, th->born_ns ? (int64_t)micros(l, th->born_ns) : -1);
		json_key(j, "ended");
		json_i64(j, th->ended_ns ? (int64_t)micros(l, th->ended_ns) : -1);
		json_add_u64(j, "dropped", th->n_dropped);
		json_add_u64(j, "spans", th->n);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void json_lines(struct str *out, const struct time_lines *l, const char *title,
		       const char *account)
{
	struct json j = json_init(out, 0);

	json_begin(&j, '{');
	json_add_u64(&j, "v", 1);
	json_add_str(&j, "title", title);
	json_add_str(&j, "account", account);
	json_add_u64(&j, "from", (l->from_ns - l->zero_ns) / 1000);
	json_add_u64(&j, "length", micros(l, l->to_ns));
	json_add_u64(&j, "least", l->least_ns / 1000);
	json_add_u64(&j, "points", l->n_points);
	json_add_u64(&j, "dropped", l->n_dropped);
	json_add_bool(&j, "byProcess", l->by_process);
	json_add_bool(&j, "hasStates", l->has_states);
	json_key(&j, "states");
	json_begin(&j, '[');
	for (unsigned s = 0; s < N_TIME_STATES; s++)
		json_str(&j, time_state_name(s));
	json_end(&j, ']');
	json_threads(&j, l);
	json_key(&j, "names");
	json_begin(&j, '[');
	vec_each (name, &l->names.texts)
		json_str(&j, *name);
	json_end(&j, ']');
	json_end(&j, '}');
}

static void add_spans(struct wr *w, const struct time_lines *l)
{
	vec_each (th, &l->threads) {
		uint64_t at = 0;

		for (size_t i = th->first; i < th->first + th->n; i++) {
			wr_uleb(w, micros(l, l->spans.v[i].begin_ns) - at);
			at = micros(l, l->spans.v[i].end_ns);
		}
	}
}

/* Calls WHAT with span S for each one, in the order of threads. */
#define EACH_SPAN(l, s)                                                                            \
	vec_each (each_th, &(l)->threads)                                                          \
		for (const struct time_span *s = (l)->spans.v + each_th->first;                    \
		     s < (l)->spans.v + each_th->first + each_th->n; s++)

static void add_columns(struct wr *w, const struct time_lines *l)
{
	for (size_t i = 1; i < l->nodes.n; i++)
		wr_uleb(w, i - l->nodes.v[i].parent);
	for (size_t i = 1; i < l->nodes.n; i++)
		wr_uleb(w, l->nodes.v[i].name);
	add_spans(w, l);
	EACH_SPAN(l, s)
	wr_uleb(w, micros(l, s->end_ns) - micros(l, s->begin_ns));
	EACH_SPAN(l, s)
	wr_uleb(w, s->state);
	EACH_SPAN(l, s)
	wr_uleb(w, s->node);
	EACH_SPAN(l, s)
	wr_uleb(w, s->waker);
	EACH_SPAN(l, s)
	if (s->waker)
		wr_uleb(w, s->waker_node);
}

void time_lines_data(struct wr *out, const struct time_lines *l, const char *title,
		     const char *account)
{
	struct str json = {0};

	json_lines(&json, l, title, account);
	wr_le32(out, (uint32_t)json.n);
	wr_le32(out, (uint32_t)l->spans.n);
	wr_le32(out, (uint32_t)l->nodes.n);
	wr_bytes(out, json.v, json.n);
	add_columns(out, l);
	str_release(&json);
}

void time_lines_html(struct str *out, const struct time_lines *l, const char *title,
		     const char *account)
{
	const struct page page = {
		.title = title,
		.generator = "dwell trace",
		.body = trace_page_body,
		.style = trace_page_style,
		.script = trace_page_script,
	};
	struct wr w = {0};

	time_lines_data(&w, l, title, account);
	page_add(out, &page, &w, NULL);
	free(w.v);
}
