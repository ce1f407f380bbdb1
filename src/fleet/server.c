/* SPDX-License-Identifier: BSD-2-Clause */
/* See server.h.  Protocol: ClickHouse's documentation, "HTTP interface".  Settings in an address
 * that a server does not know are an error of its own, so only such are used that version 18.16
 * has. */
#include "fleet/server.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fleet/http.h"
#include "formats/gzip.h"

#define DEFAULT_PORT "8123"
#define TLS_PORT     "8443"

/* Zlib's level.  It sends 13 % fewer bytes than level 1 and takes a fifth more CPU time; level 6
 * sends 4 % fewer than this one and takes half as much time again. */
#define PACKING 4

struct fleet_server {
	struct http *http;
	char *base, *db, *name;
	bool is_here; /* on this machine: packing costs more than it saves */
	struct http_answer answer;
};

static const struct {
	const char *prefix, *http, *port;
} schemes[] = {
	{"clickhouse://", "http://", ":" DEFAULT_PORT},
	{"clickhouses://", "https://", ":" TLS_PORT},
	{"http://", "http://", ":" DEFAULT_PORT},
	{"https://", "https://", ":" TLS_PORT},
};

/* Whether BASE is an address of this machine: "http://127.0.0.1:8123". */
static bool is_of_this_machine(const char *base)
{
	static const char *const names[] = {"127.", "[::1]"};
	const char *host = strstr(base, "://") + 3;

	for (size_t i = 0; i < n_elems(names); i++)
		if (str_starts(host, names[i]))
			return true;
	return false;
}

bool fleet_is_url(const char *path)
{
	return str_starts(path, schemes[0].prefix) || str_starts(path, schemes[1].prefix);
}

static int parse_url(struct fleet_server *s, const char *url, const char *db, struct err *err)
{
	for (size_t i = 0; i < n_elems(schemes); i++) {
		_mem_ char *host = NULL;
		const char *at;

		if (!str_starts(url, schemes[i].prefix))
			continue;
		at = url + strlen(schemes[i].prefix);
		host = http_take_host(url, &at, err);
		if (!host)
			return -EINVAL;
		at += *at == '/';
		db = db ? db : *at ? at : "default";
		if (!fleet_schema_is_name(db))
			return err_set(err, -EINVAL,
				       "'%s' is no name of a database: letters, digits and _", db);
		s->base = xasprintf("%s%s%s", schemes[i].http, host,
				    http_has_port(host) ? "" : schemes[i].port);
		s->db = xstrdup(db);
		s->name = xasprintf("%s/%s", s->base, db);
		return 0;
	}
	return err_set(err, -EINVAL,
		       "%s: is no address such as http://host:8123/database or "
		       "clickhouse://host/database",
		       url);
}

int fleet_server_open(struct fleet_server **ret, const char *url, const char *db,
		      const struct fleet_login *login, struct err *err)
{
	struct fleet_server *s = xcalloc(1, sizeof(*s));
	int rc = parse_url(s, url, db, err);

	if (rc >= 0) {
		s->is_here = is_of_this_machine(s->base);
		rc = http_open(&s->http, s->base, login, err);
	}
	if (rc < 0) {
		fleet_server_close(s);
		return rc;
	}
	http_add_header(s->http, "X-ClickHouse-User",
			http_user(s->http) ? http_user(s->http) : "default");
	if (http_password(s->http))
		http_add_header(s->http, "X-ClickHouse-Key", http_password(s->http));
	http_add_header(s->http, "Content-Type", "application/octet-stream");
	*ret = s;
	return 0;
}

void fleet_server_close(struct fleet_server *s)
{
	if (!s)
		return;
	http_close(s->http);
	free(s->base);
	free(s->db);
	free(s->name);
	free(s);
}

const char *fleet_server_name(const struct fleet_server *s)
{
	return s->name;
}

uint64_t fleet_server_sent(const struct fleet_server *s)
{
	return http_sent(s->http);
}

/* Whether TEXT tells that the server is short of something, whatever it was sent: memory (241),
 * disk (243; 74 to 77 for its own files), merges (252), time (159), connections (202, 209, 210), or
 * that it only reads (164, 242).  ClickHouse's src/Common/ErrorCodes.cpp */
static bool is_short(const char *text)
{
	static const unsigned codes[] = {74,  75,  76,	77,  159, 164, 202,
					 209, 210, 241, 242, 243, 252};
	unsigned code;

	/* "Code: 241, e.displayText() = ..."; since version 21 "Code: 241. DB::Exception: ...". */
	if (sscanf(text, "Code: %u%*1[,.]", &code) != 1)
		return false;
	for (size_t i = 0; i < n_elems(codes); i++)
		if (code == codes[i])
			return true;
	return strstr(text, "No space left on device");
}

/* The error that the server tells. */
static int server_failed(struct fleet_server *s, struct err *err)
{
	const long status = s->answer.status;
	char text[HTTP_LINE];

	http_line(&s->answer, text);
	/* 401 and 403; older servers send 500 with codes 192 to 194: no such user, wrong
	 * password. */
	if (status == 401 || status == 403 || str_starts(text, "Code: 192,") ||
	    str_starts(text, "Code: 193,") || str_starts(text, "Code: 194,"))
		return err_set(err, -EACCES,
			       "%s: user or password refused; --login FILE has both, a line each",
			       s->base);
	return err_set(err, is_short(text) ? -ENOSPC : -EREMOTEIO, "%s: HTTP status %ld: %s",
		       s->base, status, text);
}

/* Sends BODY to the address with PARAMETERS; the answer is in S then. */
static int send_request(struct fleet_server *s, const char *parameters, const void *body, size_t n,
			bool packed, struct err *err)
{
	_mem_ char *where = xasprintf("/?database=%s%s", s->db, parameters);
	int rc = http_post(s->http, where, body, n, packed, &s->answer, err);

	if (rc < 0)
		return rc;
	return s->answer.status == 200 ? 0 : server_failed(s, err);
}

int fleet_run(struct fleet_server *s, const char *sql, struct err *err)
{
	_mem_ char *parameters = xasprintf("&max_execution_time=%ld", http_timeout_s(s->http));

	return send_request(s, parameters, sql, strlen(sql), false, err);
}

int fleet_insert(struct fleet_server *s, enum fleet_table_id t, const struct native_block *b,
		 struct err *err)
{
	_mem_ char *parameters =
		xasprintf("&query=INSERT%%20INTO%%20%s%%20FORMAT%%20Native", fleet_tables[t].name);
	_str_ struct str packed = {0};
	struct gzip_packer *g;

	if (!b->n_rows)
		return 0;
	g = gzip_begin(&packed, PACKING);
	native_pack(b, g);
	gzip_end(g);
	return send_request(s, parameters, packed.v, packed.n, true, err);
}

int fleet_fetch(struct fleet_server *s, const char *sql, struct http_answer *ret, struct err *err)
{
	_mem_ char *text = xasprintf("%s FORMAT Native", sql);
	/* A server goes on with what nobody waits for, so it is told when to stop; it answers when
	 * it is done, so that an error is not behind half of an answer.  A host's batches, values
	 * and dictionaries are on one shard, so that shards need not ask each other. */
	_mem_ char *parameters =
		xasprintf("&wait_end_of_query=1&enable_http_compression=%d"
			  "&http_zlib_compression_level=1&distributed_product_mode=local"
			  "&max_execution_time=%ld",
			  !s->is_here, http_timeout_s(s->http));
	int rc = send_request(s, parameters, text, strlen(text), false, err);

	if (rc >= 0)
		*ret = s->answer;
	return rc;
}

int fleet_ask(struct fleet_server *s, const char *sql, const struct native_col *cols, size_t n_cols,
	      native_row_fn *fn, void *ctx, struct err *err)
{
	struct http_answer answer;
	int rc = fleet_fetch(s, sql, &answer, err);

	return rc < 0 ? rc : native_read(answer.bytes, answer.n, cols, n_cols, fn, ctx, err);
}

static int take_number(void *ctx, const struct native_value *row, struct err *err)
{
	(void)err;
	*(uint64_t *)ctx = row[0].u;
	return 0;
}

int fleet_server_start(struct fleet_server *s, uint64_t *ret_s, struct err *err)
{
	static const struct native_col start[] = {{"n", "UInt64"}};

	return fleet_ask(s, "SELECT toUInt64(toUnixTimestamp(now()) - uptime()) AS n", start, 1,
			 take_number, ret_s, err);
}

/* The version of the tables in S's database; 0: there are none. */
static int find_version(struct fleet_server *s, uint64_t *ret, struct err *err)
{
	static const struct native_col count[] = {{"n", "UInt64"}};
	uint64_t n = 0;
	int rc = fleet_ask(s,
			   "SELECT toUInt64(count()) AS n FROM system.tables WHERE database = "
			   "currentDatabase() AND name = 'schema_version'",
			   count, 1, take_number, &n, err);

	if (rc >= 0 && n)
		rc = fleet_ask(s, "SELECT toUInt64(max(version)) AS n FROM schema_version", count,
			       1, take_number, ret, err);
	return rc;
}

/* Servers take one statement a request. */
static int run_all(struct fleet_server *s, struct str *statements, struct err *err)
{
	int rc = 0;

	for (char *at = statements->v, *end; rc >= 0 && at && (end = strstr(at, ";\n"));
	     at = end + 2) {
		*end = 0;
		rc = fleet_run(s, at, err);
	}
	return rc;
}

int fleet_create_schema(struct fleet_server *s, struct err *err)
{
	_str_ struct str all = {0};
	uint64_t version = 0;
	int rc = find_version(s, &version, err);

	if (rc < 0 || version > FLEET_SCHEMA_VERSION)
		return rc;
	fleet_schema_format_upgrade(&all, version);
	fleet_schema_format(&all);
	return run_all(s, &all, err);
}

int fleet_check_schema(struct fleet_server *s, struct err *err)
{
	uint64_t version = 0;
	int rc = find_version(s, &version, err);

	if (rc < 0)
		return rc;
	if (!version)
		return err_set(
			err, -ENOENT,
			"%s: has no tables of dwell; `dwell ship --to %s --create` makes them, "
			"`dwell ship --schema` prints how",
			s->name, s->name);
	if (version != FLEET_SCHEMA_VERSION)
		return err_set(err, -EPROTONOSUPPORT,
			       "%s: has tables of version %" PRIu64
			       ", this dwell writes and reads %u; %s",
			       s->name, version, FLEET_SCHEMA_VERSION,
			       version > FLEET_SCHEMA_VERSION ? "a newer dwell does"
							      : "`dwell ship --create` brings them "
								"to it");
	return 0;
}
