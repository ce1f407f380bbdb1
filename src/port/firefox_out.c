/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples as a processed profile of the Firefox Profiler, version 66 (docs/formats/firefox.md).
 *
 * A line of a place is a frame, so frames have the numbers of struct stacks' lines; a node is as
 * many stacks as its place has lines, one behind the other.  Threads are the time lines, where the
 * recording has those; else each owner is one, and its samples stand one interval apart. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text_table.h"
#include "port/exporters.h"

#define FIREFOX_VERSION 66 /* of preprocessedProfileVersion */
#define GECKO_VERSION	24 /* of version */

enum firefox_category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_GENERATED };

static const struct {
	const char *name, *color;
} categories[] = {
	{"Other", "grey"}, {"User", "yellow"}, {"Kernel", "orange"}, {"Generated", "green"}};

struct firefox_out {
	const struct stacks *s;
	struct out_stream *out;
	struct json j;
	struct text_table strings;
	VEC(uint32_t) sources; /* strings */
	struct index source_ix;
	uint32_t *stack_of; /* by node: its innermost stack */
	struct stacks_owned owned;
	unsigned column;
	double interval_ms;
	uint64_t start_ns; /* of the profile, whole milliseconds */
};

/* Microseconds since the profile's start. */
static uint64_t since_start_us(const struct firefox_out *o, uint64_t time_ns)
{
	return time_ns > o->start_ns ? (time_ns - o->start_ns) / 1000 : 0;
}

/* Milliseconds since the profile's start, in whole microseconds. */
static double since_start(const struct firefox_out *o, uint64_t time_ns)
{
	return (double)since_start_us(o, time_ns) / 1e3;
}

/* --- pieces of JSON --- */

static void key_array(struct firefox_out *o, const char *key)
{
	json_key(&o->j, key);
	json_begin(&o->j, '[');
}

static void end_array(struct firefox_out *o)
{
	json_end(&o->j, ']');
	out_stream_settle(o->out);
}

static void key_object(struct firefox_out *o, const char *key)
{
	json_key(&o->j, key);
	json_begin(&o->j, '{');
}

static void key_u64(struct firefox_out *o, const char *key, uint64_t v)
{
	json_key(&o->j, key);
	json_u64(&o->j, v);
}

static void key_double(struct firefox_out *o, const char *key, double v)
{
	json_key(&o->j, key);
	json_double(&o->j, v);
}

static void key_str(struct firefox_out *o, const char *key, const char *v)
{
	json_key(&o->j, key);
	json_str(&o->j, v);
}

static void key_bool(struct firefox_out *o, const char *key, bool v)
{
	json_key(&o->j, key);
	json_bool(&o->j, v);
}

/* N, or null for 0, which is not known. */
static void put_known(struct firefox_out *o, uint64_t n)
{
	if (n)
		json_u64(&o->j, n);
	else
		json_str(&o->j, NULL);
}

/* A column of N equal elements: null, or a number. */
static void key_nulls(struct firefox_out *o, const char *key, size_t n)
{
	key_array(o, key);
	json_copies(&o->j, "null", n);
	end_array(o);
}

static void key_numbers(struct firefox_out *o, const char *key, size_t n, int64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)v);
	key_array(o, key);
	json_copies(&o->j, text, n);
	end_array(o);
}

static void key_bools(struct firefox_out *o, const char *key, size_t n)
{
	key_array(o, key);
	json_copies(&o->j, "false", n);
	end_array(o);
}

/* --- strings and sources --- */

static bool same_source(const void *owner, uint32_t i, const void *key)
{
	return ((const struct firefox_out *)owner)->sources.v[i] == *(const uint32_t *)key;
}

static uint32_t source_of(struct firefox_out *o, const char *file)
{
	const uint32_t string = text_table_intern(&o->strings, file);
	uint32_t i = index_find(&o->source_ix, hash_u64(string), same_source, o, &string);

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)o->sources.n;
	vec_push(&o->sources, string);
	index_add(&o->source_ix, hash_u64(string), i);
	return i;
}

/* --- tables all threads share --- */

static enum firefox_category category_of(const struct stacks *s, const struct stack_function *f)
{
	if (f->image == STACK_NO_IMAGE)
		return CATEGORY_OTHER;
	if (stacks_is_kernel(s, f))
		return CATEGORY_KERNEL;
	return s->images.v[f->image].kind == IMAGE_JIT ? CATEGORY_GENERATED : CATEGORY_USER;
}

static void put_frames(struct firefox_out *o)
{
	const struct stacks *s = o->s;
	const size_t n = s->lines.n;

	key_object(o, "frameTable");
	key_u64(o, "length", n);
	key_array(o, "address");
	vec_each (pl, &s->places)
		for (uint32_t i = 0; i < pl->n_lines; i++)
			json_i64(&o->j, pl->image == STACK_NO_IMAGE || pl->svma > INT64_MAX >> 10
						? -1
						: (int64_t)pl->svma);
	end_array(o);
	key_array(o, "inlineDepth");
	vec_each (pl, &s->places)
		for (uint32_t i = pl->n_lines; i--;)
			json_u64(&o->j, i);
	end_array(o);
	key_array(o, "category");
	vec_each (l, &s->lines)
		json_u64(&o->j, category_of(s, &s->functions.v[l->function]));
	end_array(o);
	key_numbers(o, "subcategory", n, 0);
	key_array(o, "func");
	vec_each (l, &s->lines)
		json_u64(&o->j, l->function);
	end_array(o);
	key_nulls(o, "nativeSymbol", n);
	key_numbers(o, "innerWindowID", n, 0);
	key_array(o, "line");
	vec_each (l, &s->lines)
		put_known(o, l->line);
	end_array(o);
	key_nulls(o, "column", n);
	key_nulls(o, "originalLocation", n);
	json_end(&o->j, '}');
}

static void put_functions(struct firefox_out *o)
{
	const struct stacks *s = o->s;
	const size_t n = s->functions.n;

	key_object(o, "funcTable");
	key_u64(o, "length", n);
	key_array(o, "name");
	vec_each (f, &s->functions)
		json_u64(&o->j, text_table_intern(&o->strings, f->name));
	end_array(o);
	key_bools(o, "isJS", n);
	key_bools(o, "relevantForJS", n);
	key_array(o, "resource");
	vec_each (f, &s->functions)
		json_i64(&o->j, f->image == STACK_NO_IMAGE ? -1 : (int64_t)f->image);
	end_array(o);
	key_array(o, "source");
	vec_each (f, &s->functions)
		if (*f->file)
			json_u64(&o->j, source_of(o, f->file));
		else
			json_str(&o->j, NULL);
	end_array(o);
	key_array(o, "lineNumber");
	vec_each (f, &s->functions)
		put_known(o, f->line);
	end_array(o);
	key_nulls(o, "columnNumber", n);
	key_nulls(o, "originalLocation", n);
	json_end(&o->j, '}');
}

/* An image is a library and the resource of its functions. */
static void put_resources(struct firefox_out *o)
{
	const struct stacks *s = o->s;
	const size_t n = s->images.n;

	key_object(o, "resourceTable");
	key_u64(o, "length", n);
	key_array(o, "lib");
	for (size_t i = 0; i < n; i++)
		json_u64(&o->j, i);
	end_array(o);
	key_array(o, "name");
	vec_each (im, &s->images)
		json_u64(&o->j, text_table_intern(&o->strings, str_basename(im->path)));
	end_array(o);
	key_nulls(o, "host", n);
	key_numbers(o, "type", n, 1);
	json_end(&o->j, '}');
	key_object(o, "nativeSymbols");
	key_u64(o, "length", 0);
	key_array(o, "address");
	end_array(o);
	key_array(o, "functionSize");
	end_array(o);
	key_array(o, "libIndex");
	end_array(o);
	key_array(o, "name");
	end_array(o);
	json_end(&o->j, '}');
}

static void put_stacks(struct firefox_out *o)
{
	const struct stacks *s = o->s;
	uint32_t n = 0;

	key_object(o, "stackTable");
	key_array(o, "frame");
	for (size_t i = 1; i < s->nodes.n; i++) {
		const struct stack_place *pl = &s->places.v[s->nodes.v[i].place];

		for (uint32_t k = pl->n_lines; k--;)
			json_u64(&o->j, pl->first_line + k);
		n += pl->n_lines;
		o->stack_of[i] = n - 1;
		out_stream_settle(o->out);
	}
	end_array(o);
	/* How far before it a stack's caller stands; 0: it has none. */
	key_array(o, "prefixOffset");
	for (size_t i = 1; i < s->nodes.n; i++) {
		const struct stack_node *node = &s->nodes.v[i];
		const uint32_t n_lines = s->places.v[node->place].n_lines;

		json_u64(&o->j, node->parent
					? o->stack_of[i] + 1 - n_lines - o->stack_of[node->parent]
					: 0);
		for (uint32_t k = 1; k < n_lines; k++)
			json_u64(&o->j, 1);
		out_stream_settle(o->out);
	}
	end_array(o);
	key_u64(o, "length", n);
	json_end(&o->j, '}');
}

static void put_sources(struct firefox_out *o)
{
	const size_t n = o->sources.n;

	key_object(o, "sources");
	key_u64(o, "length", n);
	key_array(o, "filename");
	vec_each (f, &o->sources)
		json_u64(&o->j, *f);
	end_array(o);
	key_nulls(o, "id", n);
	key_numbers(o, "startLine", n, 1);
	key_numbers(o, "startColumn", n, 1);
	key_nulls(o, "sourceMapURL", n);
	key_nulls(o, "content", n);
	json_end(&o->j, '}');
	key_object(o, "sourceLocationTable");
	key_u64(o, "length", 0);
	key_array(o, "source");
	end_array(o);
	key_array(o, "line");
	end_array(o);
	key_array(o, "column");
	end_array(o);
	json_end(&o->j, '}');
}

/* A build-id as breakpad has it: a GUID of its first 16 bytes, and an age. */
static void breakpad_id(const char *build_id, char ret[34])
{
	static const uint8_t order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	const size_t n = strlen(build_id);

	for (size_t i = 0; i < 16; i++)
		for (size_t k = 0; k < 2; k++) {
			const size_t at = 2 * order[i] + k;
			const char c = at < n ? build_id[at] : '0';

			ret[2 * i + k] = (char)(c >= 'a' ? c - 'a' + 'A' : c);
		}
	ret[32] = '0';
	ret[33] = 0;
}

static void put_libraries(struct firefox_out *o)
{
	char id[34];

	key_array(o, "libs");
	vec_each (im, &o->s->images) {
		breakpad_id(im->build_id, id);
		json_begin(&o->j, '{');
		key_str(o, "name", str_basename(im->path));
		key_str(o, "path", im->path);
		key_str(o, "debugName", str_basename(im->path));
		key_str(o, "debugPath", im->path);
		key_str(o, "breakpadId", id);
		key_str(o, "codeId", *im->build_id ? im->build_id : NULL);
		key_str(o, "arch", NULL);
		json_end(&o->j, '}');
	}
	end_array(o);
}

/* --- threads --- */

/* Opens a thread up to its samples; START and END in ms since the profile's start, END < 0:
 * none. */
static void begin_thread(struct firefox_out *o, const char *name, uint32_t owner, uint32_t pid,
			 uint32_t tid, double start, double end)
{
	const struct stack_owner *w = &o->s->owners.v[owner];
	struct str text = {0};

	json_begin(&o->j, '{');
	key_str(o, "name", name);
	key_str(o, "processName", *w->exe ? str_basename(w->exe) : name);
	str_addf(&text, pid ? "%u" : "group %u", pid ? pid : owner + 1);
	key_str(o, "pid", text.v);
	str_reset(&text);
	str_addf(&text, tid ? "%u" : "group %u", tid ? tid : owner + 1);
	key_str(o, "tid", text.v);
	str_release(&text);
	key_bool(o, "isMainThread", pid == tid);
	key_str(o, "processType", "default");
	key_double(o, "processStartupTime", 0);
	key_str(o, "processShutdownTime", NULL);
	key_double(o, "registerTime", start);
	json_key(&o->j, "unregisterTime");
	if (end >= 0)
		json_double(&o->j, end);
	else
		json_str(&o->j, NULL);
	key_array(o, "pausedRanges");
	end_array(o);
	key_bool(o, "showMarkersInTimeline", false);
	key_object(o, "samples");
	key_str(o, "weightType", "samples");
}

static bool is_interval(const struct stacks *s, const struct stack_point *pt)
{
	const struct stack_column *c = &s->columns.v[pt->column];

	return c->period == 1 && pt->column + 1 < s->columns.n &&
	       strcmp(s->columns.v[pt->column + 1].unit, "nanoseconds") == 0;
}

static bool is_ready(const struct stacks *s, const struct stack_point *pt)
{
	return strcmp(s->columns.v[pt->column].event, "runnable") == 0;
}

/* When the block ended that began at point I of the N; 0: it is none, or lasts.  The thread is
 * ready then: that is the next point which is no sample. */
static uint64_t block_end(const struct stacks *s, const struct stack_point *points, size_t i,
			  size_t n)
{
	if (is_ready(s, &points[i]))
		return 0;
	for (size_t k = i + 1; k < n; k++)
		if (is_interval(s, &points[k]))
			return is_ready(s, &points[k]) ? points[k].time_ns : 0;
	return 0;
}

/* Markers: where a thread's state began that is not running, and until when it was blocked. */
static void put_markers(struct firefox_out *o, const struct stack_thread *t)
{
	const struct stack_point *points = t ? o->s->points.v + t->first : NULL;
	const size_t n = t ? t->n : 0;
	size_t n_marks = 0;

	for (size_t i = 0; i < n; i++)
		n_marks += is_interval(o->s, &points[i]);
	json_end(&o->j, '}'); /* of samples */
	key_object(o, "markers");
	key_u64(o, "length", n_marks);
	key_numbers(o, "category", n_marks, CATEGORY_OTHER);
	key_array(o, "data");
	for (size_t i = 0; i < n; i++)
		if (is_interval(o->s, &points[i])) {
			json_begin(&o->j, '{');
			key_str(o, "type", "Text");
			key_u64(o, "name",
				text_table_intern(&o->strings,
						  stacks_leaf(o->s, points[i].node)->name));
			json_end(&o->j, '}');
		}
	end_array(o);
	key_array(o, "endTime");
	for (size_t i = 0; i < n; i++)
		if (is_interval(o->s, &points[i])) {
			const uint64_t end = block_end(o->s, points, i, n);

			if (end)
				json_thousandths(&o->j, since_start_us(o, end));
			else
				json_str(&o->j, NULL);
		}
	end_array(o);
	key_array(o, "name");
	for (size_t i = 0; i < n; i++)
		if (is_interval(o->s, &points[i]))
			json_u64(&o->j, text_table_intern(&o->strings,
							  o->s->columns.v[points[i].column].event));
	end_array(o);
	key_array(o, "phase"); /* 0 a moment, 1 from start to end */
	for (size_t i = 0; i < n; i++)
		if (is_interval(o->s, &points[i]))
			json_u64(&o->j, block_end(o->s, points, i, n) != 0);
	end_array(o);
	key_array(o, "startTime");
	for (size_t i = 0; i < n; i++)
		if (is_interval(o->s, &points[i]))
			json_thousandths(&o->j, since_start_us(o, points[i].time_ns));
	end_array(o);
	json_end(&o->j, '}');
	json_end(&o->j, '}');
}

static void put_time_line(struct firefox_out *o, const struct stack_thread *t)
{
	const struct stack_point *points = o->s->points.v + t->first;
	const char *comm = o->s->owners.v[t->owner].comm;
	uint64_t last = o->start_ns;
	size_t n = 0;

	begin_thread(o, *comm ? comm : "thread", t->owner, t->pid, t->tid,
		     since_start(o, t->start_ns), t->end_ns ? since_start(o, t->end_ns) : -1);
	key_array(o, "stack");
	for (size_t i = 0; i < t->n; i++)
		if (points[i].column == o->column) {
			json_u64(&o->j, o->stack_of[points[i].node]);
			n++;
		}
	end_array(o);
	key_array(o, "timeDeltas");
	for (size_t i = 0; i < t->n; i++)
		if (points[i].column == o->column) {
			const uint64_t at = points[i].time_ns / 1000 * 1000;

			json_thousandths(&o->j, at > last ? (at - last) / 1000 : 0);
			last = at > last ? at : last;
		}
	end_array(o);
	json_key(&o->j, "weight");
	json_str(&o->j, NULL);
	key_u64(o, "length", n);
	put_markers(o, t);
}

static void put_owner(struct firefox_out *o, uint32_t owner)
{
	const struct stacks *s = o->s;
	const struct stack_owner *w = &s->owners.v[owner];
	const size_t first = o->owned.first[owner], end = o->owned.first[owner + 1];
	char interval[JSON_DOUBLE_MAX];
	size_t n = 0;

	begin_thread(o, *w->comm ? w->comm : "thread", owner, w->pid, w->tid, 0, -1);
	key_array(o, "stack");
	for (size_t i = first; i < end; i++) {
		const uint32_t v = o->owned.order[i];

		if (stacks_amounts(s, v)[o->column]) {
			json_u64(&o->j, o->stack_of[s->values.v[v].node]);
			n++;
		}
	}
	end_array(o);
	json_double_text(o->interval_ms, interval);
	key_array(o, "timeDeltas");
	json_copies(&o->j, interval, n);
	end_array(o);
	key_array(o, "weight");
	for (size_t i = first; i < end; i++) {
		const uint64_t amount = stacks_amounts(s, o->owned.order[i])[o->column];

		if (amount)
			json_u64(&o->j, amount);
	}
	end_array(o);
	key_u64(o, "length", n);
	put_markers(o, NULL);
}

/* --- the whole --- */

static void put_meta(struct firefox_out *o)
{
	key_object(o, "meta");
	key_array(o, "categories");
	for (size_t i = 0; i < n_elems(categories); i++) {
		json_begin(&o->j, '{');
		key_str(o, "name", categories[i].name);
		key_str(o, "color", categories[i].color);
		key_array(o, "subcategories");
		json_str(&o->j, "Other");
		end_array(o);
		json_end(&o->j, '}');
	}
	end_array(o);
	key_bool(o, "debug", false);
	key_object(o, "extensions");
	key_array(o, "baseURL");
	end_array(o);
	key_array(o, "id");
	end_array(o);
	key_u64(o, "length", 0);
	key_array(o, "name");
	end_array(o);
	json_end(&o->j, '}');
	key_double(o, "interval", o->interval_ms);
	key_array(o, "markerSchema");
	json_begin(&o->j, '{');
	key_str(o, "name", "Text");
	key_array(o, "display");
	json_str(&o->j, "marker-chart");
	json_str(&o->j, "marker-table");
	end_array(o);
	key_str(o, "chartLabel", "{marker.data.name}");
	key_str(o, "tableLabel", "{marker.name} - {marker.data.name}");
	key_array(o, "fields");
	json_begin(&o->j, '{');
	key_str(o, "key", "name");
	key_str(o, "label", "Details");
	key_str(o, "format", "unique-string");
	json_end(&o->j, '}');
	end_array(o);
	json_end(&o->j, '}');
	end_array(o);
	key_str(o, "oscpu", *o->s->kernel ? o->s->kernel : "Linux");
	key_array(o, "pausedRanges");
	end_array(o);
	key_u64(o, "preprocessedProfileVersion", FIREFOX_VERSION);
	key_u64(o, "processType", 0);
	key_str(o, "product", *o->s->command ? o->s->command : o->s->input);
	key_object(o, "sampleUnits");
	key_str(o, "time", "ms");
	key_str(o, "eventDelay", "ms");
	key_str(o, "threadCPUDelta", "µs");
	json_end(&o->j, '}');
	key_bool(o, "sourceCodeIsNotOnSearchfox", true);
	key_double(o, "startTime", (double)(o->start_ns / 1000000));
	key_bool(o, "symbolicated", true);
	key_bool(o, "usesOnlyOneStackType", true);
	key_u64(o, "version", GECKO_VERSION);
	json_end(&o->j, '}');
}

static void put_shared(struct firefox_out *o)
{
	key_object(o, "shared");
	put_frames(o);
	put_functions(o);
	put_resources(o);
	put_stacks(o);
	put_sources(o);
	key_array(o, "stringArray");
	vec_each (s, &o->strings.texts)
		json_str(&o->j, *s);
	end_array(o);
	json_end(&o->j, '}');
}

static void put_threads(struct firefox_out *o)
{
	const struct stacks *s = o->s;

	key_array(o, "threads");
	vec_each (t, &s->threads)
		put_time_line(o, t);
	for (uint32_t w = 0; w < s->owners.n && !s->threads.n; w++)
		put_owner(o, w);
	end_array(o);
}

int firefox_out_write(const struct stacks *s, struct out_stream *out, struct exporter_result *ret,
		      struct err *err)
{
	struct firefox_out o = {.s = s, .out = out, .j = json_init(&out->text, 0)};
	const struct stack_column *col = &s->columns.v[stacks_main(s)];
	uint64_t start_ns = s->start_ns;
	size_t n_points = 0;

	(void)err;
	o.column = s->main_column;
	o.interval_ms = strcmp(col->unit, "nanoseconds") == 0 && col->period > 1
				? (double)col->period / 1e6
				: 1;
	vec_each (pt, &s->points) {
		if (!start_ns || pt->time_ns < start_ns)
			start_ns = pt->time_ns;
		n_points += pt->column == o.column;
	}
	o.start_ns = start_ns / 1000000 * 1000000;
	o.stack_of = xcalloc(s->nodes.n + 1, sizeof(*o.stack_of));
	o.owned = stacks_by_owner(s);
	json_begin(&o.j, '{');
	put_meta(&o);
	put_libraries(&o);
	key_array(&o, "pages");
	end_array(&o);
	key_array(&o, "counters");
	end_array(&o);
	key_array(&o, "profilerOverhead");
	end_array(&o);
	/* All strings stand in front of the threads. */
	text_table_intern(&o.strings, "");
	vec_each (f, &s->functions)
		text_table_intern(&o.strings, f->name);
	vec_each (c, &s->columns)
		text_table_intern(&o.strings, c->event);
	put_shared(&o);
	put_threads(&o);
	json_end(&o.j, '}');
	str_addc(&out->text, '\n');
	ret->n = s->threads.n ? n_points : s->columns.v[o.column].total;
	if (s->threads.n && ret->n != s->columns.v[o.column].total)
		str_addf(&ret->notes, "%llu of %llu samples have a time: the others are left out\n",
			 (unsigned long long)ret->n,
			 (unsigned long long)s->columns.v[o.column].total);
	free(o.stack_of);
	stacks_owned_release(&o.owned);
	text_table_release(&o.strings);
	vec_release(&o.sources);
	index_release(&o.source_ix);
	return 0;
}
