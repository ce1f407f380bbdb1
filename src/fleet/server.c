/* SPDX-License-Identifier: BSD-2-Clause */
/* See server.h.  Protocol: ClickHouse's documentation, "HTTP interface".  Settings in an address
 * that a server does not know are an error of its own, so only such are used that version 18.16
 * has. */
#define CURL_DISABLE_TYPECHECK
#include "fleet/server.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "fleet/curl.h"
#include "formats/gzip.h"

#define MOST_ANSWER  ((size_t)2 << 30)
#define MOST_LOGIN   4096
#define CONNECT_MS   10000L
#define TIMEOUT_S    300
#define DEFAULT_PORT "8123"
#define TLS_PORT     "8443"

struct fleet_server {
	struct curl curl;
	CURL *easy;
	struct curl_slist *headers;
	char *base, *db, *name;
	char *user, *password;
	uint64_t n_sent;
	long timeout_s;
	struct wr answer;
	bool too_large;
};

static const struct {
	const char *prefix, *http, *port;
} schemes[] = {
	{"clickhouse://", "http://", DEFAULT_PORT},
	{"clickhouses://", "https://", TLS_PORT},
	{"http://", "http://", DEFAULT_PORT},
	{"https://", "https://", TLS_PORT},
};

bool fleet_is_url(const char *path)
{
	return str_starts(path, schemes[0].prefix) || str_starts(path, schemes[1].prefix);
}

static bool is_name(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return false;
	return *text;
}

/* Host and port: no user, nothing that has a meaning in an address. */
static bool is_host(const char *text)
{
	return *text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789.-_:[]") == strlen(text);
}

static int parse_url(struct fleet_server *s, const char *url, const char *db, struct err *err)
{
	for (size_t i = 0; i < n_elems(schemes); i++) {
		const char *at, *slash;
		_mem_ char *host = NULL;
		bool has_port;

		if (!str_starts(url, schemes[i].prefix))
			continue;
		at = url + strlen(schemes[i].prefix);
		slash = at + strcspn(at, "/");
		host = xstrndup(at, (size_t)(slash - at));
		if (strchr(host, '@'))
			return err_set(err, -EINVAL,
				       "a user or password stands in a file (--login), not in an "
				       "address that everybody on this machine can read");
		if (!is_host(host))
			return err_set(err, -EINVAL, "%s: names no host", url);
		slash += *slash == '/';
		db = db ? db : *slash ? slash : "default";
		if (!is_name(db))
			return err_set(err, -EINVAL,
				       "'%s' is no name of a database: letters, digits and _", db);
		has_port = strchr(*host == '[' ? strchrnul(host, ']') : host, ':');
		s->base = xasprintf("%s%s%s%s/", schemes[i].http, host, has_port ? "" : ":",
				    has_port ? "" : schemes[i].port);
		s->db = xstrdup(db);
		s->name = xasprintf("%s%s", s->base, db);
		return 0;
	}
	return err_set(err, -EINVAL,
		       "%s: is no address such as http://host:8123/database or "
		       "clickhouse://host/database",
		       url);
}

/* Two lines: user, password. */
static int load_login(struct fleet_server *s, const char *file, struct err *err)
{
	_mem_ char *text = NULL;
	char *password, *end;
	struct stat st;
	size_t n;
	int rc;

	file = file ? file : getenv("DWELL_LOGIN");
	if (!file || !*file)
		return 0;
	if (stat(file, &st) < 0)
		return err_errno(err, -errno, "%s", file);
	if (st.st_mode & S_IROTH)
		return err_set(err, -EPERM, "%s: everybody can read this password; `chmod o-r` it",
			       file);
	rc = file_load(file, MOST_LOGIN, &text, &n, err);
	if (rc < 0)
		return rc;
	password = strchr(text, '\n');
	if (!password || strlen(text) != n || strchr(text, '\r'))
		return err_set(err, -EINVAL, "%s: is not two lines, a user and a password", file);
	*password++ = 0;
	end = strchr(password, '\n');
	if (end)
		*end = 0;
	s->user = xstrdup(text);
	s->password = xstrdup(password);
	explicit_bzero(text, n);
	return 0;
}

static void add_header(struct fleet_server *s, const char *key, const char *value)
{
	_mem_ char *line = xasprintf("%s: %s", key, value);

	s->headers = s->curl.slist_append(s->headers, line);
}

static size_t take_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
	struct fleet_server *s = ctx;

	n *= size;
	if (n > MOST_ANSWER - s->answer.n) {
		s->too_large = true;
		return 0;
	}
	wr_bytes(&s->answer, bytes, n);
	return n;
}

int fleet_server_open(struct fleet_server **ret, const char *url, const char *db,
		      const struct fleet_login *login, struct err *err)
{
	struct fleet_server *s = xcalloc(1, sizeof(*s));
	int rc = parse_url(s, url, db, err);

	if (rc >= 0)
		rc = load_login(s, login->file, err);
	if (rc >= 0)
		rc = curl_load(&s->curl, err);
	if (rc >= 0 && !(s->easy = s->curl.easy_init()))
		rc = err_set(err, -ENOMEM, "libcurl cannot be set up");
	if (rc < 0) {
		fleet_server_close(s);
		return rc;
	}
	s->timeout_s = login->timeout_ns ? (long)(login->timeout_ns / 1000000000) + 1 : TIMEOUT_S;
	add_header(s, "X-ClickHouse-User", s->user ? s->user : "default");
	if (s->password)
		add_header(s, "X-ClickHouse-Key", s->password);
	/* An answer before the body was sent would cost a round trip each time. */
	s->headers = s->curl.slist_append(s->headers, "Expect:");
	s->headers = s->curl.slist_append(s->headers, "Content-Type: application/octet-stream");
	s->curl.easy_setopt(s->easy, CURLOPT_NOSIGNAL, 1L);
	s->curl.easy_setopt(s->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	s->curl.easy_setopt(s->easy, CURLOPT_TIMEOUT, s->timeout_s);
	s->curl.easy_setopt(s->easy, CURLOPT_ACCEPT_ENCODING, "gzip");
	s->curl.easy_setopt(s->easy, CURLOPT_WRITEFUNCTION, take_bytes);
	s->curl.easy_setopt(s->easy, CURLOPT_WRITEDATA, s);
	s->curl.easy_setopt(s->easy, CURLOPT_POST, 1L);
	*ret = s;
	return 0;
}

void fleet_server_close(struct fleet_server *s)
{
	if (!s)
		return;
	if (s->easy)
		s->curl.easy_cleanup(s->easy);
	if (s->headers)
		s->curl.slist_free_all(s->headers);
	if (s->password)
		explicit_bzero(s->password, strlen(s->password));
	wr_release(&s->answer);
	free(s->base);
	free(s->db);
	free(s->name);
	free(s->user);
	free(s->password);
	free(s);
}

const char *fleet_server_name(const struct fleet_server *s)
{
	return s->name;
}

uint64_t fleet_server_sent(const struct fleet_server *s)
{
	return s->n_sent;
}

/* The error of an answer that is none. */
static int curl_failed(struct fleet_server *s, CURLcode rc, struct err *err)
{
	const char *why = s->curl.easy_strerror(rc);

	switch (rc) {
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
		return err_set(err, -ECONNREFUSED, "%s: %s", s->base, why);
	case CURLE_OPERATION_TIMEDOUT:
		return err_set(err, -ETIMEDOUT, "%s: no answer within %ld s", s->base,
			       s->timeout_s);
	case CURLE_WRITE_ERROR:
		return err_set(err, -E2BIG,
			       "%s: an answer above 2 GiB; ask for less time or fewer "
			       "hosts",
			       s->base);
	default:
		return err_set(err, -EBADMSG, "%s: %s", s->base, why);
	}
}

/* The error that the server tells, one line of what can be printed. */
static int server_failed(struct fleet_server *s, long status, struct err *err)
{
	char text[300];
	size_t n = 0;

	for (size_t i = 0; i < s->answer.n && n + 1 < sizeof(text); i++) {
		const uint8_t c = s->answer.v[i];

		if (c == '\n')
			break;
		text[n++] = c >= ' ' && c < 127 ? (char)c : '?';
	}
	text[n] = 0;
	/* 401 and 403; older servers send 500 with codes 192 to 194: no such user, wrong
	 * password. */
	if (status == 401 || status == 403 || str_starts(text, "Code: 192,") ||
	    str_starts(text, "Code: 193,") || str_starts(text, "Code: 194,"))
		return err_set(err, -EACCES,
			       "%s: user or password refused; --login FILE has both, a line each",
			       s->base);
	return err_set(err, -EREMOTEIO, "%s: HTTP status %ld: %s", s->base, status, text);
}

/* Sends BODY to the address with PARAMETERS; the answer is in S then. */
static int send_request(struct fleet_server *s, const char *parameters, const void *body, size_t n,
			bool packed, struct err *err)
{
	_mem_ char *url = xasprintf("%s?database=%s%s", s->base, s->db, parameters);
	struct curl_slist *headers = s->headers,
			  with = {.data = (char *)"Content-Encoding: gzip", .next = s->headers};
	CURLcode rc;
	long status = 0;

	if (packed)
		headers = &with;
	s->answer.n = 0;
	s->curl.easy_setopt(s->easy, CURLOPT_URL, url);
	s->curl.easy_setopt(s->easy, CURLOPT_HTTPHEADER, headers);
	s->curl.easy_setopt(s->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
	s->curl.easy_setopt(s->easy, CURLOPT_POSTFIELDS, body);
	rc = s->curl.easy_perform(s->easy);
	s->n_sent += n;
	if (rc != CURLE_OK)
		return curl_failed(s, rc, err);
	s->curl.easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
	return status == 200 ? 0 : server_failed(s, status, err);
}

int fleet_run(struct fleet_server *s, const char *sql, struct err *err)
{
	return send_request(s, "", sql, strlen(sql), false, err);
}

int fleet_insert(struct fleet_server *s, enum fleet_table_id t, const struct native_block *b,
		 struct err *err)
{
	_mem_ char *parameters =
		xasprintf("&query=INSERT%%20INTO%%20%s%%20FORMAT%%20Native", fleet_tables[t].name);
	_str_ struct str packed = {0};
	struct wr body = {0};

	if (!b->n_rows)
		return 0;
	native_write(b, &body);
	gzip_pack(&packed, body.v, body.n);
	wr_release(&body);
	return send_request(s, parameters, packed.v, packed.n, true, err);
}

int fleet_ask(struct fleet_server *s, const char *sql, const struct native_col *cols, size_t n_cols,
	      native_row_fn *fn, void *ctx, struct err *err)
{
	_mem_ char *text = xasprintf("%s FORMAT Native", sql);
	/* A server goes on with what nobody waits for, so it is told when to stop; it answers when
	 * it is done, so that an error is not behind half of an answer. */
	_mem_ char *parameters = xasprintf("&wait_end_of_query=1&enable_http_compression=1"
					   "&http_zlib_compression_level=1&max_execution_time=%ld",
					   s->timeout_s);
	int rc = send_request(s, parameters, text, strlen(text), false, err);

	if (rc >= 0)
		rc = native_read(s->answer.v, s->answer.n, cols, n_cols, fn, ctx, err);
	return rc;
}

static int take_number(void *ctx, const struct native_value *row, struct err *err)
{
	(void)err;
	*(uint64_t *)ctx = row[0].u;
	return 0;
}

int fleet_check_schema(struct fleet_server *s, struct err *err)
{
	static const struct native_col count[] = {{"n", "UInt64"}};
	uint64_t n = 0, version = 0;
	int rc = fleet_ask(s,
			   "SELECT toUInt64(count()) AS n FROM system.tables WHERE database = "
			   "currentDatabase() AND name = 'schema_version'",
			   count, 1, take_number, &n, err);

	if (rc >= 0 && n)
		rc = fleet_ask(s, "SELECT toUInt64(max(version)) AS n FROM schema_version", count,
			       1, take_number, &version, err);
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
