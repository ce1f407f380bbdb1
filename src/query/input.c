/* SPDX-License-Identifier: BSD-2-Clause */
/* See input.h.  A database's values come from several segments and may repeat a key; they are
 * appended as they come, since every reader sums them anyway. */
#include "query/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "model/trace.h"
#include "port/dcpi_in.h"
#include "port/histograms.h"
#include "port/perf_in.h"
#include "query/wall.h"
#include "store/store.h"

/* Time lines of a file that is read directly. */
#define TRACE_BYTES (512ull << 20)

struct append_sink {
	struct value_sink sink;
	struct profile *to;
};

static void append_value(struct value_sink *s, const struct value *v)
{
	struct profile *to = ((struct append_sink *)s)->to;

	vec_push(&to->values, *v);
}

/* The recordings there are, for a message: "20261121132400 (web1), ...". */
struct recordings {
	struct str text;
	unsigned n;
};

#define MOST_LISTED 8

static int add_recording(void *ctx, const struct store_recording *r)
{
	struct recordings *l = ctx;

	if (++l->n <= MOST_LISTED)
		str_addf(&l->text, "%s%s (%s)", l->text.n ? ", " : "", r->epoch, r->host);
	return 0;
}

static int load_store(struct input *in, const struct select *s, struct value_sink *sink,
		      struct err *err)
{
	const struct store_selection sel = {.epochs = s->epochs, .host = s->host};
	const struct store_selection all = {.epochs = "all"};
	struct append_sink to = {{append_value, .traces = s->traces}, &in->profile};
	int rc = store_load(in->path, &sel, &in->profile, sink ? sink : &to.sink, err);
	struct recordings there = {0};

	if (rc == -ENOENT && err && store_list(in->path, &all, add_recording, &there, NULL) == 0 &&
	    there.n) {
		size_t n = strlen(err->msg);

		snprintf(err->msg + n, sizeof(err->msg) - n, "; there are: %s%s",
			 str_get(&there.text), there.n > MOST_LISTED ? ", ..." : "");
	}
	str_release(&there.text);
	if (rc >= 0 && s->traces)
		trace_sort(&in->profile);
	return rc < 0 ? rc : 0;
}

/* See input.h. */
static void count_time(struct profile *p)
{
	bool *is_time = xcalloc(p->events.n + 1, sizeof(*is_time));

	for (event_id e = 0; e < p->events.n; e++)
		is_time[e] = event_is_time(p, &p->events.v[e]);
	vec_each (v, &p->values) {
		uint64_t n = v->count;

		if (!is_time[v->event])
			continue;
		v->count = v->sum;
		v->sum = n;
	}
	free(is_time);
}

static bool wants_wall(const struct select *s)
{
	opt_list names = {0};
	char *text;
	bool wants = s->sort && strcmp(s->sort, WALL_EVENT) == 0;

	select_split_events(&s->events, &names, &text);
	vec_each (name, &names)
		wants |= strcmp(*name, WALL_EVENT) == 0;
	vec_release(&names);
	free(text);
	return wants;
}

static int load_dcpi(struct input *in, const struct select *s, struct err *err)
{
	const struct dcpi_select sel = {
		.epochs = s->epochs, .host = s->host, .stride = (unsigned)s->stride};

	return dcpi_in_load(in->path, &sel, &in->profile, err);
}

/* What perf recorded, read anew each time.  Threads are kept apart, for whoever asks. */
static int load_perf(struct input *in, const struct select *s, struct err *err)
{
	const struct perf_in_opts o = {
		.split = OWNER_TID,
		.paths = s->paths.v,
		.n_paths = s->paths.n,
		.use_debuginfod = true,
		.trace_bytes = s->traces ? TRACE_BYTES : 0,
	};
	struct perf_in_result r;
	int rc = perf_in_load(in->path, &o, &in->profile, &r, err);

	perf_in_result_release(&r);
	if (rc >= 0 && s->traces)
		trace_sort(&in->profile);
	return rc;
}

int input_open(struct input *in, const struct select *s, struct err *err)
{
	return input_open_into(in, s, NULL, err);
}

int input_open_into(struct input *in, const struct select *s, struct value_sink *sink,
		    struct err *err)
{
	struct resolver_opts ro = {
		.paths = s->paths.v,
		.n_paths = s->paths.n,
		.use_debuginfod = true,
	};
	char *images = NULL;
	int rc;

	*in = (struct input){.path = s->db ? xstrdup(s->db) : store_default_path()};
	profile_init(&in->profile);
	if (access(in->path, F_OK) != 0) {
		rc = err_errno(err, -errno, s->db ? "%s" : "%s: nothing was recorded there yet",
			       in->path);
	} else if ((rc = histograms_finish(in->path, err)) < 0) {
		/* nothing to add */
	} else if (perf_in_probe(in->path) == 1) {
		rc = load_perf(in, s, err);
	} else if (dcpi_in_probe(in->path) == 1) {
		rc = load_dcpi(in, s, err);
	} else if (!store_is_db(in->path)) {
		rc = err_set(err, -EINVAL,
			     "%s: neither a database, nor a DCPI profile, nor perf's data",
			     in->path);
	} else {
		rc = load_store(in, s, sink, err);
		count_time(&in->profile);
		if (wants_wall(s))
			wall_add(&in->profile);
		images = store_images_dir(in->path, true, NULL);
	}
	ro.cache_dir = images;
	ro.no_save = !images;
	if (rc == 0)
		in->resolver = resolver_new(&ro);
	else
		input_close(in);
	free(images);
	return rc;
}

void input_close(struct input *in)
{
	profile_release(&in->profile);
	resolver_free(in->resolver);
	free(in->path);
	*in = (struct input){0};
}
