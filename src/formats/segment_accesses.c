/* SPDX-License-Identifier: BSD-2-Clause */
/* See segment_accesses.h.  Rows are sorted by event, owner, process, place and data.  So the data
 * of one instruction stand together, and the steps of one that walks through an array are small. */
#include "formats/segment_accesses.h"

#include <errno.h>

/* The numbers of a row that are stored as the difference from the row before.  Those of data go on
 * across places, because places often share objects. */
struct access_row {
	uint64_t event, owner, pid, place, data;
};

static int put_some(struct block_writer *w, const struct profile *p, const struct segment_ranks *k,
		    uint32_t from, uint32_t end, struct err *err)
{
	struct access_row last = {0};

	for (uint32_t i = from; i < end; i++) {
		const struct access *a = &p->accesses.v[k->accesses.order[i]];
		const struct access_row row = {
			.event = k->events.rank[a->event],
			.owner = k->owners.rank[a->owner],
			.pid = a->pid,
			.place = k->places.rank[a->place],
			.data = k->places.rank[a->data],
		};

		if (row.event != last.event)
			last.owner = last.pid = last.place = 0;
		else if (row.owner != last.owner)
			last.pid = last.place = 0;
		else if (row.pid != last.pid)
			last.place = 0;
		wr_uleb(&w->columns[0], row.event - last.event);
		wr_uleb(&w->columns[1], row.owner - last.owner);
		wr_uleb(&w->columns[2], row.pid - last.pid);
		wr_uleb(&w->columns[3], row.place - last.place);
		wr_sleb(&w->columns[4], (int64_t)(row.data - last.data));
		wr_uleb(&w->columns[5], a->tid);
		wr_uleb(&w->columns[6], k->vectors.rank[a->vector]);
		wr_uleb(&w->columns[7], a->node);
		wr_uleb(&w->columns[8], a->cpu_node);
		wr_uleb(&w->columns[9], a->latency_of);
		wr_uleb(&w->columns[10], a->source);
		wr_uleb(&w->columns[11], a->count);
		wr_uleb(&w->columns[12], a->latency);
		last = row;
	}
	return block_add(w, SEGMENT_ACCESSES, 0, end - from, SEGMENT_ACCESS_COLUMNS, err);
}

int segment_put_accesses(struct block_writer *w, const struct profile *p,
			 const struct segment_ranks *k, struct err *err)
{
	const uint32_t n = k->accesses.n;
	int rc = 0;

	for (uint32_t i = 0; i < n && rc >= 0; i += SEGMENT_VALUES_MAX)
		rc = put_some(w, p, k, i, n - i < SEGMENT_VALUES_MAX ? n : i + SEGMENT_VALUES_MAX,
			      err);
	return rc;
}

#define BAD(...) block_err(err, -EBADMSG, b, __VA_ARGS__)

/* Reads the numbers of the row that follows LAST. */
static struct access_row next_row(struct block_column *c, struct access_row last)
{
	const uint32_t event = column_next_u32(&c[0]), owner = column_next_u32(&c[1]);
	const uint32_t pid = column_next_u32(&c[2]), place = column_next_u32(&c[3]);

	if (event)
		last.owner = last.pid = last.place = 0;
	else if (owner)
		last.pid = last.place = 0;
	else if (pid)
		last.place = 0;
	return (struct access_row){.event = last.event + event,
				   .owner = last.owner + owner,
				   .pid = last.pid + pid,
				   .place = last.place + place,
				   .data = last.data + (uint64_t)column_next_signed(&c[4])};
}

static int check_row(const struct profile *p, const struct block *b, uint32_t i,
		     const struct access_row *r, const struct access *a, struct err *err)
{
	if (r->event >= p->events.n || r->owner >= p->owners.n || r->pid > UINT32_MAX ||
	    r->place >= p->places.n || r->data >= p->places.n || a->vector >= p->vectors.n)
		return BAD("access %u names an element that is not there", i);
	if (!a->count)
		return BAD("access %u has no samples", i);
	if (p->vectors.v[a->vector].counter || a->latency_of > 64)
		return BAD("access %u has a vector or a latency that cannot be", i);
	return 0;
}

int segment_walk_accesses(const struct profile *p, const struct block *b,
			  const struct profile_map *map, struct profile *into, struct err *err)
{
	struct block_column c[SEGMENT_ACCESS_COLUMNS];
	struct access_row r = {0};
	int rc = block_columns(b, c, n_elems(c), err);

	for (uint32_t i = 0; i < b->n_items && rc >= 0; i++) {
		struct access a;

		r = next_row(c, r);
		a = (struct access){
			.tid = column_next_u32(&c[5]),
			.vector = column_next_u32(&c[6]),
			.node = column_next_u32(&c[7]),
			.cpu_node = column_next_u32(&c[8]),
			.latency_of = column_next_u32(&c[9]),
			.source = column_next_u32(&c[10]),
			.count = column_next(&c[11]),
			.latency = column_next(&c[12]),
		};
		rc = check_row(p, b, i, &r, &a, err);
		if (rc < 0 || !map)
			continue;
		a.event = map->events[r.event];
		a.owner = map->owners[r.owner];
		a.pid = (uint32_t)r.pid;
		a.place = map->places[r.place];
		a.data = map->places[r.data];
		a.vector = map->vectors[a.vector];
		profile_add_access(into, &a);
	}
	for (unsigned i = 0; i < n_elems(c) && rc >= 0; i++)
		if (c[i].rd.bad || rd_left(&c[i].rd))
			rc = BAD("column %u has not %u elements", i, b->n_items);
	columns_release(c, n_elems(c));
	return rc;
}
