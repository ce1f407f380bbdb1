/* SPDX-License-Identifier: BSD-2-Clause */
/* See schema.h. */
#include "fleet/schema.h"

#include <ctype.h>

static const struct native_col batches[BATCH_N] = {
	{"day", "Date"},	 {"host", "String"},	 {"epoch", "String"},
	{"recording", "UInt64"}, {"segment", "UInt64"},	 {"generation", "UInt64"},
	{"batch", "UInt64"},	 {"n_values", "UInt64"}, {"samples", "UInt64"},
	{"start_ns", "UInt64"},	 {"end_ns", "UInt64"},
};

static const struct native_col counts[COUNT_N] = {
	{"day", "Date"},     {"t", "DateTime('UTC')"}, {"event", "String"},  {"service", "String"},
	{"host", "String"},  {"event_id", "UInt64"},   {"owner", "UInt64"},  {"ctx", "UInt64"},
	{"image", "UInt64"}, {"svma", "UInt64"},       {"vector", "UInt64"}, {"n", "UInt64"},
	{"total", "UInt64"}, {"batch", "UInt64"},
};

static const struct native_col events[EVENT_N] = {
	{"day", "Date"},	  {"batch", "UInt64"}, {"id", "UInt64"},
	{"name", "String"},	  {"unit", "String"},  {"period", "UInt64"},
	{"freq_hz", "UInt64"},	  {"flags", "UInt64"}, {"enabled_ns", "UInt64"},
	{"running_ns", "UInt64"}, {"total", "UInt64"}, {"n_reached", "UInt64"},
	{"squares", "Float64"},
};

static const struct native_col losses[LOSS_N] = {
	{"day", "Date"},    {"batch", "UInt64"}, {"event_id", "UInt64"},
	{"name", "String"}, {"n", "UInt64"},
};

static const struct native_col contexts[CONTEXT_N] = {
	{"id", "UInt64"},
	{"images", "Array(UInt64)"},
	{"svmas", "Array(UInt64)"},
};

static const struct native_col places[PLACE_N] = {
	{"image", "UInt64"}, {"svma", "UInt64"},     {"start", "UInt64"},
	{"end", "UInt64"},   {"name", "String"},     {"flags", "UInt32"},
	{"line", "UInt32"},  {"language", "String"}, {"version", "UInt64"},
};

static const struct native_col images[IMAGE_N] = {
	{"id", "UInt64"},	  {"kind", "UInt8"},	    {"flags", "UInt32"},
	{"build_id", "String"},	  {"digest", "String"},	    {"path", "String"},
	{"text_start", "UInt64"}, {"text_bytes", "UInt64"},
};

static const struct native_col owners[OWNER_N] = {
	{"id", "UInt64"},     {"service", "String"}, {"exe", "String"},	   {"comm", "String"},
	{"cgroup", "String"}, {"label", "String"},   {"thread", "String"}, {"uid", "UInt32"},
	{"pid", "UInt32"},    {"tid", "UInt32"},     {"flags", "UInt32"},
};

static const struct native_col containers[CONTAINER_N_COLS] = {
	{"id", "String"},	 {"name", "String"},	{"image", "String"},  {"pod", "String"},
	{"namespace", "String"}, {"version", "String"}, {"tenant", "String"}, {"told", "UInt64"},
};

static const struct native_col vectors[VECTOR_N] = {
	{"id", "UInt64"},
	{"known", "UInt64"},
	{"value", "UInt64"},
	{"counter", "UInt32"},
};

static const struct native_col daily[DAILY_N] = {
	{"day", "Date"},   {"rollup_id", "UInt64"}, {"event_id", "UInt64"}, {"owner", "UInt64"},
	{"ctx", "UInt64"}, {"image", "UInt64"},	    {"svma", "UInt64"},	    {"vector", "UInt64"},
	{"n", "UInt64"},   {"total", "UInt64"},
};

static const struct native_col daily_hosts[DAILY_HOST_N] = {
	{"day", "Date"},	 {"rollup_id", "UInt64"},     {"event_id", "UInt64"},
	{"owner", "UInt64"},	 {"ctx", "UInt64"},	      {"image", "UInt64"},
	{"svma", "UInt64"},	 {"vector", "UInt64"},	      {"hosts", "Array(UInt64)"},
	{"ns", "Array(UInt64)"}, {"totals", "Array(UInt64)"},
};

static const struct native_col daily_procedures[DAILY_PROCEDURE_N] = {
	{"day", "Date"},	 {"rollup_id", "UInt64"},
	{"event_id", "UInt64"},	 {"owner", "UInt64"},
	{"image", "UInt64"},	 {"svma", "UInt64"},
	{"vector", "UInt64"},	 {"hosts", "Array(UInt64)"},
	{"ns", "Array(UInt64)"}, {"totals", "Array(UInt64)"},
};

static const struct native_col hourly_procedures[HOURLY_PROCEDURE_N] = {
	{"day", "Date"},	 {"rollup_id", "UInt64"},     {"hour", "UInt64"},
	{"event_id", "UInt64"},	 {"owner", "UInt64"},	      {"image", "UInt64"},
	{"svma", "UInt64"},	 {"vector", "UInt64"},	      {"hosts", "Array(UInt64)"},
	{"ns", "Array(UInt64)"}, {"totals", "Array(UInt64)"},
};

static const struct native_col rolled[ROLLED_N] = {
	{"day", "Date"},
	{"rollup_id", "UInt64"},
	{"batch", "UInt64"},
	{"hour", "UInt64"},
};

static const struct native_col rollups[ROLLUP_N] = {
	{"day", "Date"},
	{"rollup_id", "UInt64"},
	{"n_batches", "UInt64"},
	{"version", "UInt64"},
};

static const struct native_col versions[] = {{"version", "UInt64"}};

#define BY_DAY "MergeTree PARTITION BY toYYYYMMDD(day) ORDER BY "

const struct fleet_table fleet_tables[FLEET_N_TABLES] = {
	[FLEET_BATCHES] = {"batches", batches, BATCH_N,
			   "MergeTree ORDER BY (host, epoch, recording, segment)"},
	[FLEET_COUNTS] = {"counts", counts, COUNT_N, BY_DAY "(event, service, t, host, ctx)"},
	[FLEET_EVENTS] = {"events", events, EVENT_N, BY_DAY "batch"},
	[FLEET_LOSSES] = {"losses", losses, LOSS_N, BY_DAY "batch"},
	[FLEET_CONTEXTS] = {"contexts", contexts, CONTEXT_N, "ReplacingMergeTree ORDER BY id"},
	[FLEET_PLACES] = {"places", places, PLACE_N,
			  "ReplacingMergeTree(version) ORDER BY (image, svma)"},
	[FLEET_IMAGES] = {"images", images, IMAGE_N, "ReplacingMergeTree ORDER BY id"},
	[FLEET_OWNERS] = {"owners", owners, OWNER_N, "ReplacingMergeTree ORDER BY id"},
	[FLEET_CONTAINERS] = {"containers", containers, CONTAINER_N_COLS,
			      "ReplacingMergeTree(told) ORDER BY id"},
	[FLEET_VECTORS] = {"vectors", vectors, VECTOR_N, "ReplacingMergeTree ORDER BY id"},
	[FLEET_DAILY] = {"daily", daily, DAILY_N,
			 "MergeTree PARTITION BY rollup_id ORDER BY (event_id, owner, ctx)"},
	[FLEET_DAILY_HOSTS] = {"daily_hosts", daily_hosts, DAILY_HOST_N,
			       "MergeTree PARTITION BY rollup_id ORDER BY (event_id, owner, ctx)"},
	[FLEET_DAILY_PROCEDURES] =
		{"daily_procedures", daily_procedures, DAILY_PROCEDURE_N,
		 "MergeTree PARTITION BY rollup_id ORDER BY (event_id, image, svma)"},
	[FLEET_HOURLY_PROCEDURES] =
		{"hourly_procedures", hourly_procedures, HOURLY_PROCEDURE_N,
		 "MergeTree PARTITION BY rollup_id ORDER BY (hour, event_id, image, svma)"},
	[FLEET_ROLLED] = {"rolled", rolled, ROLLED_N,
			  "MergeTree PARTITION BY rollup_id ORDER BY (day, rollup_id, batch)"},
	[FLEET_ROLLUPS] = {"rollups", rollups, ROLLUP_N, "MergeTree ORDER BY (day, rollup_id)"},
	[FLEET_VERSION] = {"schema_version", versions, 1, "ReplacingMergeTree ORDER BY version"},
};

void fleet_schema_table(struct str *s, enum fleet_table_id t)
{
	const struct fleet_table *f = &fleet_tables[t];

	str_addf(s, "CREATE TABLE IF NOT EXISTS %s (", f->name);
	for (size_t i = 0; i < f->n_cols; i++)
		str_addf(s, "%s%s %s", i ? ", " : "", f->cols[i].name, f->cols[i].type);
	str_addf(s, ") ENGINE = %s", f->engine);
}

void fleet_schema_format(struct str *s)
{
	for (enum fleet_table_id t = 0; t < FLEET_N_TABLES; t++) {
		fleet_schema_table(s, t);
		str_add(s, ";\n");
	}
	str_addf(s, "INSERT INTO schema_version VALUES (%u);\n", FLEET_SCHEMA_VERSION);
}

void fleet_schema_format_upgrade(struct str *s, uint64_t version)
{
	/* Version 4 has procedures of each host, version 5 hosts as arrays, and hours.  A dwell of
	 * before, which may be summing now, has fewer columns for `rollups` or `rolled`, so that
	 * its sums never count. */
	if (version && version < 5)
		str_add(s, "DROP TABLE IF EXISTS rollups;\nDROP TABLE IF EXISTS rolled;\n"
			   "DROP TABLE IF EXISTS daily_hosts;\n"
			   "DROP TABLE IF EXISTS daily_procedures;\n");
}

bool fleet_schema_is_name(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return false;
	return *text;
}

void fleet_schema_shards(struct str *s, const char *cluster, const char *db)
{
	for (enum fleet_table_id t = 0; t < FLEET_N_TABLES; t++) {
		const char *name = fleet_tables[t].name;

		str_addf(s,
			 "CREATE TABLE IF NOT EXISTS %s AS %s.%s ENGINE = Distributed(%s, %s, "
			 "%s);\n",
			 name, db, name, cluster, db, name);
	}
}

void fleet_sql_text(struct str *s, const char *text, size_t n)
{
	str_add(s, "unhex('");
	for (size_t i = 0; i < n; i++)
		str_addf(s, "%02x", (uint8_t)text[i]);
	str_add(s, "')");
}
