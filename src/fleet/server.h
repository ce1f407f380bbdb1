/* SPDX-License-Identifier: BSD-2-Clause */
/* A ClickHouse server over HTTP: one request, one answer.
 *
 * Statements are texts of this program; what comes from outside is in them as hex digits
 * (fleet_sql_text) or in the body as Native. */
#ifndef FLEET_SERVER_H
#define FLEET_SERVER_H

#include "base/str.h"
#include "fleet/http.h"
#include "fleet/schema.h"

struct fleet_server;

/* Whether PATH names a fleet's database: clickhouse://HOST[:PORT]/DATABASE, or clickhouses:// for
 * TLS. */
bool fleet_is_url(const char *path);

/* Makes RET for the server that URL names (clickhouse://, clickhouses://, http://, https://), whose
 * path is the database unless DB is given.  Nothing is sent yet.  A user or password in URL is
 * refused, because command lines are no secret.  -EINVAL, -ENOTSUP without libcurl, or of reading
 * the login. */
int fleet_server_open(struct fleet_server **ret, const char *url, const char *db,
		      const struct fleet_login *login, struct err *err);
void fleet_server_close(struct fleet_server *s);

/* How messages and state files call S: "http://host:8123/db". */
const char *fleet_server_name(const struct fleet_server *s);

/* Bytes that were sent as bodies so far, as they were on the wire. */
uint64_t fleet_server_sent(const struct fleet_server *s);

/* Runs statement SQL that answers nothing of interest.  Errors: -ECONNREFUSED and the like when the
 * server cannot be reached, -EACCES user or password, -ETIMEDOUT, -EREMOTEIO the server's own
 * message, -ENOSPC when that says that the server is short of something, -EBADMSG half an answer.
 * Unless it is 0 nobody knows whether the statement was run. */
int fleet_run(struct fleet_server *s, const char *sql, struct err *err);

/* Inserts block B into table T, packed.  Errors as fleet_run. */
int fleet_insert(struct fleet_server *s, enum fleet_table_id t, const struct native_block *b,
		 struct err *err);

/* Asks SQL, without a format.  RET is the answer in format Native, S's until it is asked again.
 * Errors as fleet_run. */
int fleet_fetch(struct fleet_server *s, const char *sql, struct http_answer *ret, struct err *err);

/* Asks SQL, without a format, and gives FN each row of the answer, which must have columns COLS.
 * No answer is larger than 2 GiB.  Errors as fleet_run and native_read. */
int fleet_ask(struct fleet_server *s, const char *sql, const struct native_col *cols, size_t n_cols,
	      native_row_fn *fn, void *ctx, struct err *err);

/* Drops the days of tables with values that ended longer than AGE_NS ago.  Errors as fleet_run. */
int fleet_retain(struct fleet_server *s, uint64_t age_ns, struct err *err);

/* Makes the tables of S's database, or brings those of an older version to this one.  Tables of a
 * newer version stay as they are.  May be killed and run again.  Errors as fleet_run. */
int fleet_create_schema(struct fleet_server *s, struct err *err);

/* When S was started, in seconds since 1970 by its own clock, give or take one.  Errors as
 * fleet_ask. */
int fleet_server_start(struct fleet_server *s, uint64_t *ret_s, struct err *err);

/* 0 when the database has the schema of this program.  -ENOENT: none, -EPROTONOSUPPORT: another. */
int fleet_check_schema(struct fleet_server *s, struct err *err);

#endif
