/* SPDX-License-Identifier: BSD-2-Clause */
/* See rollup.h, and pick.c for how sums are read.
 *
 * A rollup counts once `rollups` has its row, which comes last:
 *
 *     rolled    rollup 7: batches 1 2 3 5       which batches count now
 *     daily     sums of these: those of rollup 6 (1 2 3 4), and values of 5, less values of 4
 *     rollups   7, 4 batches
 *
 * Whoever dies in between leaves rows of a number that nobody reads.  Two that run at once make two
 * rollups; readers take the newer one.  A number begins with the second it was made in, by the
 * server's clock, so that it says how old it is. */
#include "fleet/rollup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "fleet/pick.h"

/* Questions under way may read a rollup for so long after a newer one is there. */
#define GRACE_S 3600

/* What was never finished is nobody's after so long. */
#define ABANDONED_S 86400

/* Sums of a day that goes on are made anew when this part of them is missing. */
#define PART_MISSING 8

#define ALL_WANTED "SELECT min(batch) FROM batches GROUP BY host, epoch, recording, segment"

struct roll_day {
	uint64_t day, n_batches;
};

struct roller {
	struct fleet_server *s;
	struct rollup_totals *totals;
	uint64_t now_s; /* the server's */
	VEC(struct roll_day) days;
	fleet_rollup_list bases;
	VEC(uint64_t) unused;
};

static const struct native_col one_col[] = {{"c0", "UInt64"}};

static int take_now(void *ctx, const struct native_value *v, struct err *err)
{
	(void)err;
	*(uint64_t *)ctx = v[0].u;
	return 0;
}

static const struct native_col day_cols[] = {{"c0", "UInt16"}, {"c1", "UInt64"}};

static int take_roll_day(void *ctx, const struct native_value *v, struct err *err)
{
	struct roller *r = ctx;

	(void)err;
	vec_push(&r->days, (struct roll_day){v[0].u, v[1].u});
	return 0;
}

static const struct fleet_rollup *find_base(const struct roller *r, uint64_t day)
{
	const struct fleet_rollup *best = NULL;

	vec_each (b, &r->bases)
		if (b->day == day && fleet_rollup_is_used(b) &&
		    (!best || b->n_batches > best->n_batches))
			best = b;
	return best;
}

static bool is_due(const struct roller *r, const struct roll_day *d, const struct fleet_rollup *b)
{
	uint64_t n_off;

	if (!b)
		return true;
	n_off = d->n_batches - b->n_wanted + b->n_batches - b->n_wanted;
	return d->day < r->now_s / 86400 ? n_off : n_off * PART_MISSING >= d->n_batches && n_off;
}

/* How sums are made anew: of rows of FROM, which are older sums, and of values. */
struct roll_sums {
	const char *from;
	const char *of_sums, *of_values; /* the same columns of both */
	const char *keys;		 /* these are told apart */
	const char *made;		 /* columns of the new sums */
};

/* As rows, as which sums with arrays are read. */
#define EACH_HOST " ARRAY JOIN hosts AS h, ns AS n, totals AS total"

/* Sums of rollup ID, as a SELECT: those of BASE (0: none), and the values of the batches by which
 * they differ.  F's columns, and a and b. */
static char *format_sums(const struct roll_sums *f, uint64_t day, uint64_t id, uint64_t base)
{
	_mem_ char *new = xasprintf("SELECT batch FROM rolled WHERE rollup_id = %" PRIu64, id);
	_mem_ char *old = xasprintf("SELECT batch FROM rolled WHERE rollup_id = %" PRIu64, base);

	return xasprintf(
		"SELECT %s, toUInt64(sum(x)) AS a, toUInt64(sum(y)) AS b FROM (SELECT %s, "
		"toInt64(n) AS x, toInt64(total) AS y FROM %s WHERE rollup_id = %" PRIu64
		" UNION ALL SELECT %s, if(batch IN (%s), toInt64(n), -toInt64(n)) AS x, if(batch "
		"IN (%s), toInt64(total), -toInt64(total)) AS y FROM counts WHERE day = "
		"toDate(%" PRIu64
		") AND (batch IN (%s)) != (batch IN (%s))) GROUP BY %s HAVING a != 0 OR b != 0",
		f->made, f->of_sums, f->from, base, f->of_values, new, new, day, new, old, f->keys);
}

static int sum_all(struct roller *r, uint64_t day, uint64_t id, uint64_t base, struct err *err)
{
	static const struct roll_sums all = {
		.from = "daily",
		.of_sums = "event_id, owner, ctx, image, svma, vector",
		.of_values = "event_id, owner, ctx, image, svma, vector",
		.keys = "event_id, owner, ctx, vector",
		.made = "event_id, owner, ctx, any(image), any(svma), vector",
	};
	_mem_ char *sums = format_sums(&all, day, id, base);
	_mem_ char *sql = xasprintf("INSERT INTO daily SELECT toDate(%" PRIu64
				    "), toUInt64(%" PRIu64 "), * FROM (%s)",
				    day, id, sums);

	return fleet_run(r->s, sql, err);
}

/* Makes ID's sums F in TABLE, of each host.  The svma is the start of the leaf's procedure if that
 * has a name by now: an older sum's may be one already.  TOLD are columns before the image. */
static int sum_hosts(struct roller *r, const char *table, const struct roll_sums *f,
		     const char *told, uint64_t day, uint64_t id, uint64_t base, struct err *err)
{
	_mem_ char *sums = format_sums(f, day, id, base);
	_mem_ char *sql = xasprintf(
		"INSERT INTO %s SELECT toDate(%" PRIu64 "), toUInt64(%" PRIu64
		"), %s, image, start, vector, tupleElement(m, 1), tupleElement(m, 2), "
		"tupleElement(m, 3) FROM (SELECT %s, image, if(s > 0, s, svma) AS start, vector, "
		"sumMap([h], [a], [b]) AS m FROM (SELECT h, %s, i AS image, v AS svma, vector, a, "
		"b FROM (%s)) ANY LEFT JOIN (SELECT image, svma, argMax(start, version) AS s FROM "
		"places WHERE svma >= start AND svma < end GROUP BY image, svma) USING image, svma "
		"GROUP BY %s, image, start, vector)",
		table, day, id, told, told, told, sums, told);

	return fleet_run(r->s, sql, err);
}

static int sum_contexts(struct roller *r, uint64_t day, uint64_t id, uint64_t base, struct err *err)
{
	static const struct roll_sums contexts = {
		.from = "daily_hosts" EACH_HOST,
		.of_sums = "h, event_id, owner, ctx, image, svma, vector",
		.of_values = FLEET_HOST_HASH " AS h, event_id, owner, ctx, image, svma, vector",
		.keys = "h, event_id, owner, ctx, vector",
		.made = "h, event_id, owner, ctx, any(image) AS i, any(svma) AS v, vector",
	};

	return sum_hosts(r, "daily_hosts", &contexts, "event_id, owner, ctx", day, id, base, err);
}

/* Procedures of each hour, for weeks that begin within a day.  Of owners only idle tasks are told
 * apart. */
static int sum_hours(struct roller *r, uint64_t day, uint64_t id, uint64_t base, struct err *err)
{
	_mem_ char *of_values =
		xasprintf(FLEET_HOST_HASH
			  " AS h, " FLEET_HOUR_OF("toUInt64(toUnixTimestamp(t))",
						  "3600") " AS hour, event_id, " FLEET_IDLE_OWNER
							  " AS o, image, svma, vector",
			  (unsigned)OWNER_IDLE);
	const struct roll_sums hours = {
		.from = "hourly_procedures" EACH_HOST,
		.of_sums = "h, hour, event_id, owner AS o, image, svma, vector",
		.of_values = of_values,
		.keys = "h, hour, event_id, o, image, svma, vector",
		.made = "h, hour, event_id, o, image AS i, svma AS v, vector",
	};

	return sum_hosts(r, "hourly_procedures", &hours, "hour, event_id, o", day, id, base, err);
}

/* Adds contexts up by procedure. */
static int sum_procedures(struct roller *r, uint64_t day, uint64_t id, struct err *err)
{
	_mem_ char *sql = xasprintf(
		"INSERT INTO daily_procedures SELECT toDate(%" PRIu64 "), toUInt64(%" PRIu64
		"), event_id, o, image, svma, vector, tupleElement(m, 1), tupleElement(m, 2), "
		"tupleElement(m, 3) FROM (SELECT event_id, " FLEET_IDLE_OWNER
		" AS o, image, svma, vector, sumMap(hosts, ns, totals) AS m FROM daily_hosts WHERE "
		"rollup_id = %" PRIu64 " GROUP BY event_id, o, image, svma, vector)",
		day, id, (unsigned)OWNER_IDLE, id);

	return fleet_run(r->s, sql, err);
}

static int sum_day(struct roller *r, const struct roll_day *d, const struct fleet_rollup *base,
		   struct err *err)
{
	_str_ struct str note = {0}, commit = {0};
	const uint64_t old = base ? base->id : 0;
	uint32_t random;
	uint64_t id;
	int rc;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return err_errno(err, -errno, "getrandom");
	id = r->now_s << 32 | random;
	str_addf(&note,
		 "INSERT INTO rolled SELECT any(day), toUInt64(%" PRIu64
		 "), min(batch) AS b, " FLEET_HOUR_OF(
			 "any(start_ns)",
			 "3600000000000") " FROM batches WHERE day = "
					  "toDate(%" PRIu64
					  ") GROUP BY host, epoch, recording, segment HAVING b > 0",
		 id, d->day);
	str_addf(&commit,
		 "INSERT INTO rollups SELECT toDate(%" PRIu64 "), toUInt64(%" PRIu64
		 "), toUInt64(count()), toUInt64(%u) FROM rolled WHERE rollup_id = %" PRIu64,
		 d->day, id, FLEET_SCHEMA_VERSION, id);
	rc = fleet_run(r->s, str_get(&note), err);
	if (rc >= 0)
		rc = sum_all(r, d->day, id, old, err);
	if (rc >= 0)
		rc = sum_contexts(r, d->day, id, old, err);
	if (rc >= 0)
		rc = sum_procedures(r, d->day, id, err);
	if (rc >= 0)
		rc = sum_hours(r, d->day, id, old, err);
	if (rc >= 0)
		rc = fleet_run(r->s, str_get(&commit), err);
	r->totals->n_days += rc >= 0;
	return rc;
}

static int sum_days(struct roller *r, struct err *err)
{
	int rc = fleet_ask(r->s,
			   "SELECT toUInt16(d) AS c0, toUInt64(count()) AS c1 FROM (SELECT "
			   "any(day) AS d, min(batch) AS b FROM batches WHERE day IN (SELECT "
			   "DISTINCT day FROM events) GROUP BY host, epoch, recording, segment "
			   "HAVING b > 0) GROUP BY d ORDER BY c0",
			   day_cols, n_elems(day_cols), take_roll_day, r, err);

	if (rc >= 0)
		rc = fleet_find_rollups(r->s, ALL_WANTED, &r->bases, NULL, err);
	for (size_t i = 0; i < r->days.n && rc >= 0; i++) {
		const struct roll_day *d = &r->days.v[i];
		const struct fleet_rollup *base = find_base(r, d->day);

		if (is_due(r, d, base))
			rc = sum_day(r, d, base, err);
	}
	return rc;
}

/* --- what nobody reads any more --- */

static int take_unused(void *ctx, const struct native_value *v, struct err *err)
{
	struct roller *r = ctx;

	(void)err;
	vec_push(&r->unused, v[0].u);
	return 0;
}

/* Lists partitions of TABLE that no question begun within the time of grace reads: a newer rollup
 * of the day is older than that, or nobody finished this one. */
static int list_unused(struct roller *r, const char *table, struct err *err)
{
	_mem_ char *sql = xasprintf(
		"SELECT DISTINCT toUInt64(partition) AS c0 FROM system.parts WHERE active AND "
		"database = currentDatabase() AND table = '%s' AND c0 NOT IN (SELECT "
		"max(rollup_id) "
		"FROM rollups WHERE rollup_id < %" PRIu64 " GROUP BY day) AND c0 NOT IN (SELECT "
		"rollup_id FROM rollups WHERE rollup_id >= %" PRIu64
		") AND (c0 IN (SELECT rollup_id FROM "
		"rollups) OR c0 < %" PRIu64 ")",
		table, (r->now_s - GRACE_S) << 32, (r->now_s - GRACE_S) << 32,
		(r->now_s - ABANDONED_S) << 32);

	return fleet_ask(r->s, sql, one_col, 1, take_unused, r, err);
}

static int drop_unused(struct roller *r, struct err *err)
{
	static const char *const tables[] = {"rolled", "daily", "daily_hosts", "daily_procedures",
					     "hourly_procedures"};
	int rc = 0;

	for (size_t t = 0; t < n_elems(tables) && rc >= 0; t++) {
		r->unused.n = 0;
		rc = list_unused(r, tables[t], err);
		for (size_t i = 0; i < r->unused.n && rc >= 0; i++) {
			_mem_ char *sql = xasprintf("ALTER TABLE %s DROP PARTITION %" PRIu64,
						    tables[t], r->unused.v[i]);

			rc = fleet_run(r->s, sql, err);
			r->totals->n_dropped += t == 1 && rc >= 0;
		}
	}
	return rc;
}

int fleet_roll_up(struct fleet_server *s, struct rollup_totals *ret, struct err *err)
{
	struct roller r = {.s = s, .totals = ret};
	int rc;

	*ret = (struct rollup_totals){0};
	rc = fleet_ask(s, "SELECT toUInt64(toUnixTimestamp(now())) AS c0", one_col, 1, take_now,
		       &r.now_s, err);
	if (rc >= 0)
		rc = sum_days(&r, err);
	if (rc >= 0)
		rc = drop_unused(&r, err);
	vec_release(&r.days);
	vec_release(&r.bases);
	vec_release(&r.unused);
	return rc;
}
