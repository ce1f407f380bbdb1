/* SPDX-License-Identifier: BSD-2-Clause */
/* See pick.h.
 *
 * A rollup is the sum of a set of batches.  Sums can be added to and taken from, so it is of use
 * whenever most of its batches are wanted, whatever happened since it was made:
 *
 *     rollup of the day    batches 1 2 3 4
 *     wanted               1 2 3 5            (4 was merged into 5)
 *     answer               rollup  +  values of 5  -  values of 4
 *
 * So a rollup need not be up to date for an answer to be exact, and there is no moment at which it
 * must be replaced.  The batches of a day that began before the time asked for are taken away or,
 * if they are most of it, the others are added up instead. */
#include "fleet/pick.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define DAY_NS (86400ull * 1000000000)

/* More days than this are one range in a statement. */
#define MOST_DAYS 60

static const struct native_col host_cols[] = {{"c0", "String"}, {"c1", "UInt64"}, {"c2", "UInt64"}};

struct host_pick {
	struct fleet_pick *k;
	const char *pattern;
	uint64_t latest_ns; /* the newest sample of all, wherever its host's clock stands */
};

static int take_host(void *ctx, const struct native_value *v, struct err *err)
{
	struct host_pick *h = ctx;
	char *host = xstrndup(v[0].text, v[0].n);

	(void)err;
	if (h->pattern && fnmatch(h->pattern, host, 0) != 0) {
		free(host);
		return 0;
	}
	if (v[1].u > h->latest_ns)
		h->latest_ns = v[1].u;
	if (v[2].u > h->k->newest_ns)
		h->k->newest_ns = v[2].u;
	vec_push(&h->k->hosts, host);
	return 0;
}

/* Conditions for rows of `batches` that are of the hosts and times wanted. */
static void format_conditions(struct fleet_pick *k, const struct fleet_selection *sel)
{
	struct str *b = &k->batches;

	str_addf(b, "end_ns >= %" PRIu64 " AND start_ns <= %" PRIu64, k->since_ns, k->until_ns);
	if (sel->host) {
		str_add(b, " AND host IN (");
		for (size_t i = 0; i < k->hosts.n; i++) {
			str_add(b, i ? ", " : "");
			fleet_sql_text(b, k->hosts.v[i], strlen(k->hosts.v[i]));
		}
		str_add(b, ")");
	}
	if (sel->epoch) {
		str_add(b, " AND startsWith(epoch, ");
		fleet_sql_text(b, sel->epoch, strlen(sel->epoch));
		str_add(b, ")");
	}
}

int fleet_pick_hosts(struct fleet_pick *k, struct fleet_server *s,
		     const struct fleet_selection *sel, struct err *err)
{
	struct host_pick h = {.k = k, .pattern = sel->host};
	int rc = fleet_ask(s,
			   "SELECT host AS c0, max(end_ns) AS c1, max(if(end_ns <= "
			   "(toUInt64(toUnixTimestamp(now())) + 3600) * 1000000000, end_ns, 0)) "
			   "AS c2 FROM batches GROUP BY host ORDER BY host",
			   host_cols, n_elems(host_cols), take_host, &h, err);

	if (rc < 0)
		return rc;
	if (!k->hosts.n && sel->host)
		return err_set(err, -ENOENT, "%s: no host is called %s", fleet_server_name(s),
			       sel->host);
	if (!k->newest_ns)
		k->newest_ns = h.latest_ns;
	k->since_ns = sel->since_ns;
	k->until_ns = sel->until_ns ? sel->until_ns : UINT64_MAX;
	if (sel->newest_day && k->newest_ns > DAY_NS)
		k->since_ns = k->newest_ns - DAY_NS;
	format_conditions(k, sel);
	return 0;
}

static const struct native_col span_cols[] = {
	{"c0", "UInt16"}, {"c1", "UInt16"}, {"c2", "UInt64"}, {"c3", "UInt64"}, {"c4", "UInt64"}};

static int take_span(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_pick *k = ctx;

	(void)err;
	k->first_day = v[0].u;
	k->last_day = v[1].u;
	k->start_ns = v[2].u;
	k->end_ns = v[3].u;
	k->n_batches = v[4].u;
	return 0;
}

static int find_span(struct fleet_pick *k, struct fleet_server *s, struct err *err)
{
	_str_ struct str sql = {0};
	int rc;

	str_addf(&sql,
		 "SELECT toUInt16(min(d)) AS c0, toUInt16(max(d)) AS c1, toUInt64(min(s)) AS c2, "
		 "toUInt64(max(e)) AS c3, toUInt64(count()) AS c4 FROM (SELECT any(day) AS d, "
		 "any(start_ns) AS s, any(end_ns) AS e FROM batches WHERE %s "
		 "GROUP BY host, epoch, recording, segment HAVING min(batch) > 0)",
		 str_get(&k->batches));
	rc = fleet_ask(s, str_get(&sql), span_cols, n_elems(span_cols), take_span, k, err);
	if (rc < 0)
		return rc;
	if (!k->n_batches)
		return err_set(err, -ENOENT, "%s: has no samples of these hosts and times",
			       fleet_server_name(s));
	str_addf(&k->wanted,
		 "SELECT min(batch) FROM batches WHERE %s GROUP BY host, epoch, recording, "
		 "segment",
		 str_get(&k->batches));
	str_addf(&k->rows,
		 "day >= toDate(%" PRIu64 ") AND day <= toDate(%" PRIu64 ") AND batch IN (%s)",
		 k->first_day, k->last_day, str_get(&k->wanted));
	return 0;
}

/* --- sums of days --- */

static const struct native_col rollup_cols[] = {
	{"c0", "UInt64"}, {"c1", "UInt64"}, {"c2", "UInt16"}, {"c3", "UInt64"}, {"c4", "UInt64"}};

struct rollup_finder {
	fleet_rollup_list found; /* by id */
	fleet_cell_list cells;
	fleet_rollup_list *ret;
	fleet_cell_list *ret_cells;
};

static int take_cell(void *ctx, const struct native_value *v, struct err *err)
{
	struct rollup_finder *f = ctx;

	(void)err;
	if (!f->found.n || f->found.v[f->found.n - 1].id != v[0].u)
		vec_push(&f->found, (struct fleet_rollup){.id = v[0].u, .day = v[2].u});
	f->found.v[f->found.n - 1].n_batches += v[3].u;
	f->found.v[f->found.n - 1].n_wanted += v[4].u;
	vec_push(&f->cells, (struct fleet_cell){v[0].u, v[1].u, v[3].u, v[4].u});
	return 0;
}

static const struct native_col commit_cols[] = {{"c0", "UInt64"}, {"c1", "UInt64"}};

/* What was found is of use if it is whole. */
static int take_commit(void *ctx, const struct native_value *v, struct err *err)
{
	const struct rollup_finder *f = ctx;

	(void)err;
	vec_each (r, &f->found) {
		if (r->id != v[0].u || r->n_batches != v[1].u)
			continue;
		vec_push(f->ret, *r);
		vec_each (c, &f->cells)
			if (f->ret_cells && c->rollup == r->id)
				vec_push(f->ret_cells, *c);
	}
	return 0;
}

int fleet_find_rollups(struct fleet_server *s, const char *wanted, fleet_rollup_list *ret,
		       fleet_cell_list *cells, struct err *err)
{
	struct rollup_finder f = {.ret = ret, .ret_cells = cells};
	_str_ struct str sql = {0};
	int rc;

	/* A batch is its newest rollup's; one that lost batches to a newer one is not whole. */
	str_addf(&sql,
		 "SELECT r AS c0, h AS c1, toUInt16(any(d)) AS c2, toUInt64(count()) AS c3, "
		 "toUInt64(sum(w)) AS c4 FROM (SELECT batch, max(rollup_id) AS r, any(hour) AS h, "
		 "any(day) AS d, max(batch IN (%s)) AS w FROM rolled WHERE rollup_id IN (SELECT "
		 "rollup_id FROM rollups) GROUP BY batch) GROUP BY r, h ORDER BY c0, c1",
		 wanted);
	rc = fleet_ask(s, str_get(&sql), rollup_cols, n_elems(rollup_cols), take_cell, &f, err);
	if (rc >= 0 && f.found.n)
		rc = fleet_ask(s,
			       "SELECT rollup_id AS c0, any(n_batches) AS c1 FROM rollups GROUP BY "
			       "rollup_id ORDER BY c0",
			       commit_cols, n_elems(commit_cols), take_commit, &f, err);
	vec_release(&f.found);
	vec_release(&f.cells);
	return rc;
}

/* --- the rest --- */

static const struct native_col rest_cols[] = {{"c0", "UInt16"}, {"c1", "UInt64"}, {"c2", "UInt64"}};

struct rest_days {
	struct str *text;
	size_t n;
	uint64_t first_day, last_day, first_s, last_s;
};

/* Segments that are to be read of a day, by when they began: rows are sorted by that. */
static void add_days(struct str *s, uint64_t first, uint64_t last, uint64_t first_s,
		     uint64_t last_s)
{
	str_addf(s,
		 "(day >= toDate(%" PRIu64 ") AND day <= toDate(%" PRIu64
		 ") AND t >= toDateTime(%" PRIu64 ") AND t <= toDateTime(%" PRIu64 "))",
		 first, last, first_s, last_s);
}

static int take_day(void *ctx, const struct native_value *v, struct err *err)
{
	struct rest_days *d = ctx;
	const uint64_t first_s = v[1].u / 1000000000, last_s = v[2].u / 1000000000;

	(void)err;
	if (!d->n++) {
		d->first_day = v[0].u;
		d->first_s = first_s;
	}
	d->last_day = v[0].u;
	if (first_s < d->first_s)
		d->first_s = first_s;
	if (last_s > d->last_s)
		d->last_s = last_s;
	str_add(d->text, d->n > 1 ? " OR " : "");
	add_days(d->text, v[0].u, v[0].u, first_s, last_s);
	return 0;
}

/* Says which rows of `counts` are to be added to the rollups, or taken from them. */
static int find_rest(struct fleet_pick *k, struct fleet_server *s, struct err *err)
{
	_str_ struct str sql = {0}, days = {0}, which = {0};
	struct rest_days d = {.text = &days};
	int rc;

	if (k->rolled.n)
		str_addf(&which, "(batch IN (%s)) != (batch IN (%s))", str_get(&k->wanted),
			 str_get(&k->rolled));
	else
		str_addf(&which, "batch IN (%s)", str_get(&k->wanted));
	str_addf(&sql,
		 "SELECT toUInt16(day) AS c0, toUInt64(min(start_ns)) AS c1, "
		 "toUInt64(max(start_ns)) AS c2 FROM batches WHERE batch > 0 AND %s GROUP BY day "
		 "ORDER BY c0",
		 str_get(&which));
	rc = fleet_ask(s, str_get(&sql), rest_cols, n_elems(rest_cols), take_day, &d, err);
	k->has_rest = d.n;
	if (d.n > MOST_DAYS) {
		str_reset(&days);
		add_days(&days, d.first_day, d.last_day, d.first_s, d.last_s);
	}
	str_addf(&k->rest, "(%s) AND %s", str_get(&days), str_get(&which));
	return rc;
}

/* The last of CELLS before I's day ends. */
static size_t last_of_day(const fleet_cell_list *cells, size_t i)
{
	size_t last = i;

	while (last + 1 < cells->n && cells->v[last + 1].rollup == cells->v[i].rollup)
		last++;
	return last;
}

static void format_hours(struct fleet_hours *h)
{
	const fleet_cell_list *cells = &h->cells;

	vec_each (c, cells)
		str_addf(&h->sums, "%s(%" PRIu64 ", %" PRIu64 ")",
			 h->sums.n ? ", " : "(rollup_id, hour) IN (", c->rollup, c->hour);
	if (!cells->n)
		return;
	str_add(&h->sums, ")");
	for (size_t i = 0, last; i < cells->n; i = last + 1) {
		const uint64_t day = cells->v[i].hour / 24;

		last = last_of_day(cells, i);
		str_add(&h->counts, i ? " OR " : "(");
		add_days(&h->counts, day, day, cells->v[i].hour * 3600,
			 cells->v[last].hour * 3600 + 3599);
	}
	str_addf(&h->counts, ") AND batch IN (SELECT batch FROM rolled WHERE %s)",
		 str_get(&h->sums));
}

/* Hours of days that are not read, all of whose batches are wanted, are added; those of days that
 * are read, none of whose are, are taken away. */
static void choose_hours(struct fleet_pick *k, const fleet_rollup_list *found,
			 const fleet_cell_list *cells)
{
	vec_each (r, found)
		vec_each (c, cells) {
			if (c->rollup != r->id)
				continue;
			if (fleet_rollup_is_used(r) && !c->n_wanted)
				vec_push(&k->taken.cells, *c);
			if (!fleet_rollup_is_used(r) && c->n_wanted == c->n_batches)
				vec_push(&k->added.cells, *c);
		}
	format_hours(&k->added);
	format_hours(&k->taken);
}

static void format_rolled(struct fleet_pick *k)
{
	if (!k->daily.n && !k->added.sums.n)
		return;
	str_add(&k->rolled, "SELECT batch FROM rolled WHERE ");
	if (k->taken.sums.n)
		str_addf(&k->rolled, "(%s AND NOT (%s))", str_get(&k->daily),
			 str_get(&k->taken.sums));
	else
		str_add(&k->rolled, str_get(&k->daily));
	if (k->added.sums.n)
		str_addf(&k->rolled, "%s%s", k->daily.n ? " OR " : "", str_get(&k->added.sums));
}

static int pick_rollups(struct fleet_pick *k, struct fleet_server *s, bool by_hour, struct err *err)
{
	_vec_ fleet_rollup_list found = {0};
	_vec_ fleet_cell_list cells = {0};
	int rc = fleet_find_rollups(s, str_get(&k->wanted), &found, &cells, err);

	vec_each (r, &found) {
		if (!fleet_rollup_is_used(r))
			continue;
		str_addf(&k->daily, "%s%" PRIu64, k->daily.n ? ", " : "rollup_id IN (", r->id);
		vec_push(&k->rollups, *r);
	}
	str_add(&k->daily, k->daily.n ? ")" : "");
	if (by_hour)
		choose_hours(k, &found, &cells);
	format_rolled(k);
	return rc;
}

int fleet_pick(struct fleet_pick *k, struct fleet_server *s, const struct fleet_selection *sel,
	       bool by_hour, struct err *err)
{
	int rc = fleet_pick_hosts(k, s, sel, err);

	if (rc >= 0)
		rc = find_span(k, s, err);
	if (rc >= 0)
		rc = pick_rollups(k, s, by_hour, err);
	return rc < 0 ? rc : find_rest(k, s, err);
}

void fleet_pick_release(struct fleet_pick *k)
{
	vec_each (h, &k->hosts)
		free(*h);
	vec_release(&k->hosts);
	vec_release(&k->rollups);
	vec_release(&k->added.cells);
	vec_release(&k->taken.cells);
	str_release(&k->batches);
	str_release(&k->wanted);
	str_release(&k->rows);
	str_release(&k->rolled);
	str_release(&k->daily);
	str_release(&k->added.sums);
	str_release(&k->added.counts);
	str_release(&k->taken.sums);
	str_release(&k->taken.counts);
	str_release(&k->rest);
}
