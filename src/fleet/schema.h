/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a fleet's database, once for all: the statements that make them, and the blocks
 * that are sent, come from the same rows.  docs/design/fleet.md says why they are so. */
#ifndef FLEET_SCHEMA_H
#define FLEET_SCHEMA_H

#include "base/str.h"
#include "formats/native.h"
#include "model/profile.h"

#define FLEET_SCHEMA_VERSION 5

enum fleet_table_id {
	FLEET_BATCHES, /* a row makes a batch count */
	FLEET_COUNTS,
	FLEET_EVENTS,
	FLEET_LOSSES,
	FLEET_CONTEXTS,
	FLEET_PLACES,
	FLEET_IMAGES,
	FLEET_OWNERS,
	FLEET_CONTAINERS,
	FLEET_VECTORS,
	FLEET_DAILY,
	FLEET_DAILY_HOSTS,
	FLEET_DAILY_PROCEDURES,
	FLEET_HOURLY_PROCEDURES,
	FLEET_ROLLED,
	FLEET_ROLLUPS, /* a row makes a rollup count */
	FLEET_VERSION,
	FLEET_N_TABLES
};

struct fleet_table {
	const char *name;
	const struct native_col *cols;
	size_t n_cols;
	const char *engine; /* what follows the columns */
};
extern const struct fleet_table fleet_tables[FLEET_N_TABLES];

/* Columns of the tables, in their order. */
enum {
	BATCH_DAY,
	BATCH_HOST,
	BATCH_EPOCH,
	BATCH_RECORDING,
	BATCH_SEGMENT,
	BATCH_GENERATION,
	BATCH_ID,
	BATCH_ROWS,
	BATCH_SAMPLES,
	BATCH_START,
	BATCH_END,
	BATCH_N
};
enum {
	COUNT_DAY,
	COUNT_T,
	COUNT_EVENT,
	COUNT_SERVICE,
	COUNT_HOST,
	COUNT_EVENT_ID,
	COUNT_OWNER,
	COUNT_CTX,
	COUNT_IMAGE,
	COUNT_SVMA,
	COUNT_VECTOR,
	COUNT_SAMPLES,
	COUNT_TOTAL,
	COUNT_BATCH,
	COUNT_N
};
enum {
	EVENT_DAY,
	EVENT_BATCH,
	EVENT_ID,
	EVENT_NAME,
	EVENT_UNIT,
	EVENT_PERIOD,
	EVENT_FREQ,
	EVENT_FLAGS,
	EVENT_ENABLED,
	EVENT_RUNNING,
	EVENT_TOTAL,
	EVENT_REACHED,
	EVENT_SQUARES,
	EVENT_N
};
enum { LOSS_DAY, LOSS_BATCH, LOSS_EVENT, LOSS_NAME, LOSS_SAMPLES, LOSS_N };
enum { CONTEXT_ID, CONTEXT_IMAGES, CONTEXT_SVMAS, CONTEXT_N };
enum {
	PLACE_IMAGE,
	PLACE_SVMA,
	PLACE_START,
	PLACE_END,
	PLACE_NAME,
	PLACE_FLAGS,
	PLACE_LINE,
	PLACE_LANGUAGE,
	PLACE_VERSION,
	PLACE_N
};
enum {
	IMAGE_ID,
	IMAGE_KIND,
	IMAGE_FLAGS,
	IMAGE_BUILD_ID,
	IMAGE_DIGEST,
	IMAGE_PATH,
	IMAGE_TEXT_START,
	IMAGE_TEXT_BYTES,
	IMAGE_N
};
enum {
	OWNER_ID,
	OWNER_SERVICE,
	OWNER_EXE,
	OWNER_COMM,
	OWNER_CGROUP,
	OWNER_LABEL,
	OWNER_THREAD,
	OWNER_UID_COL,
	OWNER_PID_COL,
	OWNER_TID_COL,
	OWNER_FLAGS_COL,
	OWNER_N
};
/* Behind the columns of enum container_text. */
enum { CONTAINER_COL_VERSION = CONTAINER_N_TEXTS, CONTAINER_N_COLS };
enum { VECTOR_ID, VECTOR_KNOWN, VECTOR_VALUE, VECTOR_COUNTER, VECTOR_N };
/* The server fills these itself (rollup.c). */
enum {
	DAILY_N = 10,
	DAILY_HOST_N = 11,
	DAILY_PROCEDURE_N = 10,
	HOURLY_PROCEDURE_N = 11,
	ROLLED_N = 4,
	ROLLUP_N = 4
};

/* A host in sums, as an expression of a row's: a number is grouped by faster than a text, and sent
 * in less.  A host that wants to be taken for another has to find a name of the other's hash among
 * 2^64. */
#define FLEET_HOST_HASH "sipHash64(host)"

/* The hour since 1970 of TIME, of which it has A_HOUR. */
#define FLEET_HOUR_OF(time, a_hour) "toUInt64(intDiv(" time ", " a_hour "))"

/* An owner that is an idle task, else 0, as an expression of a row's; its number is OWNER_IDLE. */
#define FLEET_IDLE_OWNER                                                                           \
	"if(owner IN (SELECT id FROM owners WHERE bitAnd(flags, %u) != 0), owner, toUInt64(0))"

/* Appends the statement that makes table T where it is not there. */
void fleet_schema_table(struct str *s, enum fleet_table_id t);

/* Appends all statements that make a database ready, each ended by ";\n". */
void fleet_schema_format(struct str *s);

/* Appends statements that must go before those where a database has VERSION, an older one: what is
 * there of tables whose columns changed is made anew of the values.  They may be run twice. */
void fleet_schema_format_upgrade(struct str *s, uint64_t version);

/* Appends statements that make tables to read from, in a database of their own, over all shards of
 * CLUSTER, which have the tables in database DB.  Both are names: fleet_schema_is_name. */
void fleet_schema_shards(struct str *s, const char *cluster, const char *db);
bool fleet_schema_is_name(const char *text);

/* Appends the N bytes of TEXT as an expression of SQL.  It holds nothing but hex digits of them, so
 * that no text from outside is ever a part of a statement. */
void fleet_sql_text(struct str *s, const char *text, size_t n);

#endif
