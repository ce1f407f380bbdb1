/* SPDX-License-Identifier: BSD-2-Clause */
/* See cat.h. */
#include "view/cat.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "query/samples/address_rows.h"

struct table {
	const struct profile *p;
	struct arena names;
	struct emit_col *cols;
	unsigned *col_of; /* by event: its count's column among the counts, counted from 1; 0 for
			     none */
	unsigned n_counts;
};

#define N_NAME_COLS 4

/* The event's name, with its period where another has the same. */
static const char *column_name(struct table *t, event_id event)
{
	const struct event *e = &t->p->events.v[event];
	_mem_ char *name = NULL;

	vec_each (other, &t->p->events) {
		if (other != e && other->name == e->name) {
			name = xasprintf("%s:%" PRIu64, profile_str(t->p, e->name), e->period);
			return arena_strdup(&t->names, name);
		}
	}
	return profile_str(t->p, e->name);
}

static void make_cols(struct table *t, const struct dcpi_filter *f)
{
	const struct emit_col names[N_NAME_COLS] = {
		{"image", NULL, EMIT_STR},
		{"build_id", NULL, EMIT_STR},
		{"label", NULL, EMIT_STR},
		{"svma", NULL, EMIT_HEX},
	};

	t->cols = xcalloc(N_NAME_COLS + t->p->events.n, sizeof(*t->cols));
	t->col_of = xcalloc(t->p->events.n + 1, sizeof(*t->col_of));
	memcpy(t->cols, names, sizeof(names));
	for (event_id e = 0; e < t->p->events.n; e++) {
		if (!dcpi_wants_event(f, e))
			continue;
		t->cols[N_NAME_COLS + t->n_counts++] =
			(struct emit_col){column_name(t, e), NULL, EMIT_U64, .group = "counts"};
		t->col_of[e] = t->n_counts;
	}
}

static void emit_events(struct json *j, const struct table *t, const dcpi_rows *rows)
{
	json_key(j, "events");
	json_begin(j, '[');
	for (event_id e = 0; e < t->p->events.n; e++) {
		const struct event *event = &t->p->events.v[e];
		uint64_t n = 0;

		if (!t->col_of[e])
			continue;
		vec_each (r, rows)
			n += r->event == e ? r->n : 0;
		json_begin(j, '{');
		json_key(j, "name");
		json_str(j, t->cols[N_NAME_COLS + t->col_of[e] - 1].key);
		json_key(j, "period");
		json_u64(j, event->period);
		json_key(j, "samples");
		json_u64(j, n);
		json_key(j, "duty");
		json_double(j, event_duty(event));
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void emit_losses(struct json *j, const struct table *t)
{
	json_key(j, "losses");
	json_begin(j, '{');
	for (size_t i = 0; i < t->p->losses.n; i++) {
		const struct loss *l = &t->p->losses.v[i];
		uint64_t n = 0;
		bool named = !t->col_of[l->event];

		for (size_t k = 0; k < t->p->losses.n; k++) {
			const struct loss *same = &t->p->losses.v[k];

			if (same->name != l->name || !t->col_of[same->event])
				continue;
			named |= k < i;
			n += same->n;
		}
		if (named)
			continue;
		json_key(j, profile_str(t->p, l->name));
		json_u64(j, n);
	}
	json_end(j, '}');
}

/* Rows [START, END) are of one image, label and address. */
static void emit_place(struct emit *e, struct table *t, const dcpi_rows *rows, size_t start,
		       size_t end, struct emit_cell *cells)
{
	const struct dcpi_row *r = &rows->v[start];
	const struct image *im = &t->p->images.v[r->image];
	char id[2 * BUILD_ID_MAX + 1];

	build_id_format(&im->build_id, id);
	cells[0] = (struct emit_cell){.s = im->path};
	cells[1] = (struct emit_cell){.s = arena_strdup(&t->names, id), .none = !*id};
	cells[2] = (struct emit_cell){.s = profile_str(t->p, r->label), .none = !r->label};
	cells[3] = (struct emit_cell){.u = r->svma};
	for (unsigned i = 0; i < t->n_counts; i++)
		cells[N_NAME_COLS + i] = (struct emit_cell){.u = 0};
	for (size_t i = start; i < end; i++)
		cells[N_NAME_COLS + t->col_of[rows->v[i].event] - 1].u += rows->v[i].n;
	emit_row(e, cells);
}

bool cat_emit(struct emit *e, const struct profile *p, const struct dcpi_filter *f)
{
	struct table t = {.p = p};
	dcpi_rows rows = {0};
	struct emit_cell *cells;
	bool any;

	make_cols(&t, f);
	address_rows_gather(p, f, &rows);
	cells = xcalloc(N_NAME_COLS + t.n_counts, sizeof(*cells));
	emit_begin(e);
	if (emit_json(e)) {
		emit_events(emit_json(e), &t, &rows);
		emit_losses(emit_json(e), &t);
	}
	emit_rows_by(e, "address");
	emit_table(e, "rows", t.cols, N_NAME_COLS + t.n_counts);
	for (size_t i = 0, end; i < rows.n; i = end) {
		end = address_rows_end(&rows, i);
		emit_place(e, &t, &rows, i, end, cells);
	}
	emit_table_end(e);
	emit_end(e);
	any = rows.n != 0;
	free(cells);
	free(t.cols);
	free(t.col_of);
	arena_release(&t.names);
	vec_release(&rows);
	return any;
}
