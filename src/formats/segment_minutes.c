/* SPDX-License-Identifier: BSD-2-Clause */
/* See segment_minutes.h.
 *
 * Rows are sorted by event, owner, minute, so that most steps of a column are 0 or 1.  Where they
 * take more bytes than they may, owners of few samples are put together under owner 0, then all
 * owners, then minutes:
 *
 *     10:00 make 3     10:00 cc1 900            10:00 others 3   10:00 cc1 900
 *     10:00 ls 1       10:01 cc1 880      ->    10:01 others 2   10:01 cc1 880
 *     10:01 ls 1       10:01 make 1 */
#include "formats/segment_minutes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct minute_row {
	uint32_t event, owner, minute;
	uint64_t count;
};

typedef VEC(struct minute_row) minute_rows;

/* From one step to the next less is told. */
static const struct coarseness {
	uint32_t
		share; /* owners with less than 1/share of their event's samples are put together; 0:
			   * all are */
	uint32_t minutes; /* told as one */
} steps[] = {{UINT32_MAX, 1}, {1024, 1}, {256, 1}, {64, 1}, {16, 1},  {4, 1},
	     {0, 1},	      {0, 5},	 {0, 15},  {0, 60}, {0, 1440}};

static int compare_rows(const void *a, const void *b)
{
	const struct minute_row *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return x->minute < y->minute ? -1 : x->minute > y->minute;
}

/* Sorts, and adds up rows of one event, owner and minute. */
static void rows_settle(minute_rows *rows)
{
	size_t n = 0;

	vec_sort(rows, compare_rows);
	for (size_t i = 0; i < rows->n; i++) {
		if (n && compare_rows(&rows->v[n - 1], &rows->v[i]) == 0)
			rows->v[n - 1].count += rows->v[i].count;
		else
			rows->v[n++] = rows->v[i];
	}
	rows->n = n;
}

/* Tells the rows, which are sorted, as coarsely as C says. */
static void rows_coarsen(minute_rows *rows, const struct coarseness *c)
{
	uint64_t all = 0, own = 0;

	for (size_t from = 0, end; from < rows->n; from = end) {
		if (!from || rows->v[from].event != rows->v[from - 1].event) {
			all = 0;
			for (size_t i = from;
			     i < rows->n && rows->v[i].event == rows->v[from].event; i++)
				all += rows->v[i].count;
		}
		own = 0;
		for (end = from; end < rows->n && rows->v[end].event == rows->v[from].event &&
				 rows->v[end].owner == rows->v[from].owner;
		     end++)
			own += rows->v[end].count;
		for (size_t i = from; i < end; i++) {
			if (!c->share || own < all / c->share)
				rows->v[i].owner = 0;
			rows->v[i].minute -= rows->v[i].minute % c->minutes;
		}
	}
	rows_settle(rows);
}

static int put_rows(struct block_writer *w, const minute_rows *rows, struct err *err)
{
	struct minute_row last = {0};

	vec_each (r, rows) {
		const bool same_event = r->event == last.event;

		wr_uleb(&w->columns[0], r->event - last.event);
		wr_uleb(&w->columns[1], r->owner - (same_event ? last.owner : 0));
		wr_sleb(&w->columns[2], (int64_t)r->minute - last.minute);
		wr_uleb(&w->columns[3], r->count);
		last = *r;
	}
	return block_add(w, SEGMENT_MINUTES, 0, (uint32_t)rows->n, SEGMENT_MINUTES_COLUMNS, err);
}

int segment_put_minutes(struct block_writer *w, const struct profile *p,
			const struct segment_ranks *k, size_t n_bytes, struct err *err)
{
	const size_t out_n = w->out->n, digest_n = w->digest.n;
	const uint32_t n_blocks = w->n_blocks;
	const uint64_t expanded = w->expanded;
	minute_rows rows = {0};
	int rc = 0;

	vec_each (m, &p->moments)
		vec_push(&rows,
			 (struct minute_row){.event = k->events.rank[m->event],
					     .owner = m->owner ? k->owners.rank[m->owner] : 0,
					     .minute = m->minute,
					     .count = m->count});
	rows_settle(&rows);
	for (size_t i = 0; i < n_elems(steps) && rc >= 0 && rows.n; i++) {
		if (i)
			rows_coarsen(&rows, &steps[i]);
		rc = put_rows(w, &rows, err);
		if (rc < 0 || w->out->n - out_n <= n_bytes)
			break;
		w->out->n = out_n;
		w->digest.n = digest_n;
		w->n_blocks = n_blocks;
		w->expanded = expanded;
	}
	vec_release(&rows);
	return rc;
}

#define BAD(...) block_err(err, -EBADMSG, b, __VA_ARGS__)

int segment_walk_minutes(const struct profile *p, const struct block *b,
			 const struct profile_map *map, struct profile *into, struct err *err)
{
	struct block_column c[SEGMENT_MINUTES_COLUMNS];
	struct minute_row last = {0};
	int rc = block_columns(b, c, n_elems(c), err);

	for (uint32_t i = 0; i < b->n_items && rc >= 0; i++) {
		const uint64_t event = (uint64_t)last.event + column_next_u32(&c[0]);
		const uint64_t owner =
			(event == last.event ? (uint64_t)last.owner : 0) + column_next_u32(&c[1]);
		const uint64_t minute = last.minute + column_next_signed(&c[2]);
		struct minute_row row = {.count = column_next(&c[3])};

		if (event >= p->events.n || owner >= p->owners.n || minute > UINT32_MAX) {
			rc = BAD("minute %u names an element that is not there", i);
			break;
		}
		row.event = (uint32_t)event;
		row.owner = (uint32_t)owner;
		row.minute = (uint32_t)minute;
		if (!row.count)
			rc = BAD("minute %u has no samples", i);
		else if (i && compare_rows(&last, &row) >= 0)
			rc = BAD("minute %u is out of order", i);
		last = row;
		if (rc >= 0 && map)
			profile_add_moment(into, &(struct moment){.minute = row.minute,
								  .owner = map->owners[owner],
								  .event = map->events[event],
								  .count = row.count});
	}
	for (unsigned i = 0; i < n_elems(c) && rc >= 0; i++)
		if (c[i].rd.bad || rd_left(&c[i].rd))
			rc = BAD("column %u has not %u elements", i, b->n_items);
	columns_release(c, n_elems(c));
	return rc;
}
