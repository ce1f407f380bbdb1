/* SPDX-License-Identifier: BSD-2-Clause */
/* Retention: tables with values are cut by day, and a day is dropped as a whole.  Dictionaries and
 * `batches` stay: they say what was shipped, so that nothing of an old day comes again. */
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fleet/server.h"

#define DAY_NS (86400ull * 1000000000)

struct retain_drop {
	enum fleet_table_id table;
	uint64_t day;
};

struct retain_list {
	enum fleet_table_id table;
	VEC(struct retain_drop) all;
};

static int take_day(void *ctx, const struct native_value *v, struct err *err)
{
	struct retain_list *l = ctx;

	(void)err;
	vec_push(&l->all, (struct retain_drop){l->table, v[0].u});
	return 0;
}

static int list_days(struct fleet_server *s, uint64_t before, struct retain_list *l,
		     struct err *err)
{
	static const struct native_col cols[] = {{"n", "UInt64"}};
	_mem_ char *sql = xasprintf(
		"SELECT DISTINCT toUInt64(partition) AS n FROM system.parts WHERE active AND "
		"database = currentDatabase() AND table = '%s' AND n < toYYYYMMDD(toDate(%" PRIu64
		")) ORDER BY n",
		fleet_tables[l->table].name, before);

	return fleet_ask(s, sql, cols, 1, take_day, l, err);
}

/* Sums of days go first: what they have too much is taken away by the values. */
static int drop_rollups(struct fleet_server *s, uint64_t before, struct err *err)
{
	static const enum fleet_table_id tables[] = {FLEET_ROLLED, FLEET_DAILY, FLEET_DAILY_HOSTS,
						     FLEET_DAILY_PROCEDURES,
						     FLEET_HOURLY_PROCEDURES};
	static const struct native_col cols[] = {{"n", "UInt64"}};
	int rc = 0;

	for (size_t i = 0; i < n_elems(tables) && rc >= 0; i++) {
		const char *name = fleet_tables[tables[i]].name;
		struct retain_list l = {.table = tables[i]};
		_mem_ char *sql = xasprintf(
			"SELECT DISTINCT toUInt64(partition) AS n FROM system.parts WHERE active "
			"AND database = currentDatabase() AND table = '%s' AND n IN (SELECT "
			"rollup_id "
			"FROM rollups WHERE day < toDate(%" PRIu64 "))",
			name, before);

		rc = fleet_ask(s, sql, cols, 1, take_day, &l, err);
		for (size_t j = 0; j < l.all.n && rc >= 0; j++) {
			_mem_ char *drop = xasprintf("ALTER TABLE %s DROP PARTITION %" PRIu64, name,
						     l.all.v[j].day);

			rc = fleet_run(s, drop, err);
		}
		vec_release(&l.all);
	}
	return rc;
}

int fleet_retain(struct fleet_server *s, uint64_t age_ns, struct err *err)
{
	static const enum fleet_table_id tables[] = {FLEET_COUNTS, FLEET_EVENTS, FLEET_LOSSES};
	const uint64_t now = clock_wall_ns(), before = now > age_ns ? (now - age_ns) / DAY_NS : 0;
	struct retain_list l = {0};
	int rc = drop_rollups(s, before, err);

	for (size_t i = 0; i < n_elems(tables) && rc >= 0; i++) {
		l.table = tables[i];
		rc = list_days(s, before, &l, err);
	}
	for (size_t i = 0; i < l.all.n && rc >= 0; i++) {
		_mem_ char *sql = xasprintf("ALTER TABLE %s DROP PARTITION %" PRIu64,
					    fleet_tables[l.all.v[i].table].name, l.all.v[i].day);

		rc = fleet_run(s, sql, err);
	}
	vec_release(&l.all);
	return rc;
}
