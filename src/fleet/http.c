/* SPDX-License-Identifier: BSD-2-Clause */
/* See http.h. */
#define CURL_DISABLE_TYPECHECK
#include "fleet/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "base/wr.h"
#include "fleet/curl.h"

#define MOST_ANSWER ((size_t)2 << 30)
#define MOST_LOGIN  4096
#define CONNECT_MS  10000L
#define TIMEOUT_S   300

struct http {
	struct curl curl;
	CURL *easy;
	struct curl_slist *headers;
	char *base, *user, *password;
	uint64_t n_sent;
	long timeout_s;
	struct wr answer;
};

char *http_take_host(const char *url, const char **at, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.-_:[]";
	const char *host = *at;
	const size_t n = strcspn(host, "/");

	if (memchr(host, '@', n)) {
		err_set(err, -EINVAL,
			"a user or password stands in a file (--login), not in an address that "
			"everybody on this machine can read");
		return NULL;
	}
	if (!n || strspn(host, allowed) < n) {
		err_set(err, -EINVAL, "%s: names no host", url);
		return NULL;
	}
	*at += n;
	return xstrndup(host, n);
}

bool http_has_port(const char *host)
{
	return strchr(*host == '[' ? strchrnul(host, ']') : host, ':');
}

/* Two lines: user, password. */
static int load_login(struct http *h, const char *file, struct err *err)
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
	h->user = xstrdup(text);
	h->password = xstrdup(password);
	explicit_bzero(text, n);
	return 0;
}

static size_t take_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
	struct http *h = ctx;

	n *= size;
	if (n > MOST_ANSWER - h->answer.n)
		return 0;
	wr_bytes(&h->answer, bytes, n);
	return n;
}

static void use_authorities(struct http *h, const char *ca)
{
	ca = ca ? ca : getenv("DWELL_CA");
	if (ca && *ca)
		h->curl.easy_setopt(h->easy, CURLOPT_CAINFO, ca);
}

int http_open(struct http **ret, const char *base, const struct fleet_login *login, struct err *err)
{
	struct http *h = xcalloc(1, sizeof(*h));
	int rc = load_login(h, login->file, err);

	if (rc >= 0)
		rc = curl_load(&h->curl, err);
	if (rc >= 0 && !(h->easy = h->curl.easy_init()))
		rc = err_set(err, -ENOMEM, "libcurl cannot be set up");
	if (rc < 0) {
		http_close(h);
		return rc;
	}
	h->base = xstrdup(base);
	h->timeout_s = login->timeout_ns ? (long)(login->timeout_ns / 1000000000) + 1 : TIMEOUT_S;
	/* An answer before the body was sent would cost a round trip each time. */
	h->headers = h->curl.slist_append(h->headers, "Expect:");
	h->curl.easy_setopt(h->easy, CURLOPT_NOSIGNAL, 1L);
	h->curl.easy_setopt(h->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	h->curl.easy_setopt(h->easy, CURLOPT_TIMEOUT, h->timeout_s);
	h->curl.easy_setopt(h->easy, CURLOPT_ACCEPT_ENCODING, "gzip");
	h->curl.easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, take_bytes);
	h->curl.easy_setopt(h->easy, CURLOPT_WRITEDATA, h);
	h->curl.easy_setopt(h->easy, CURLOPT_POST, 1L);
	use_authorities(h, login->ca);
	*ret = h;
	return 0;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	if (h->easy)
		h->curl.easy_cleanup(h->easy);
	if (h->headers)
		h->curl.slist_free_all(h->headers);
	if (h->password)
		explicit_bzero(h->password, strlen(h->password));
	wr_release(&h->answer);
	free(h->base);
	free(h->user);
	free(h->password);
	free(h);
}

void http_add_header(struct http *h, const char *key, const char *value)
{
	_mem_ char *line = xasprintf("%s: %s", key, value);

	h->headers = h->curl.slist_append(h->headers, line);
}

const char *http_user(const struct http *h)
{
	return h->user;
}

const char *http_password(const struct http *h)
{
	return h->password;
}

void http_use_basic(struct http *h)
{
	if (!h->user)
		return;
	h->curl.easy_setopt(h->easy, CURLOPT_USERNAME, h->user);
	h->curl.easy_setopt(h->easy, CURLOPT_PASSWORD, h->password);
}

long http_timeout_s(const struct http *h)
{
	return h->timeout_s;
}

uint64_t http_sent(const struct http *h)
{
	return h->n_sent;
}

/* The error of an answer that is none. */
static int curl_failed(struct http *h, CURLcode rc, struct err *err)
{
	const char *why = h->curl.easy_strerror(rc);

	switch (rc) {
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return err_set(err, -ECONNREFUSED, "%s: %s", h->base, why);
	case CURLE_OPERATION_TIMEDOUT:
		return err_set(err, -ETIMEDOUT, "%s: no answer within %ld s", h->base,
			       h->timeout_s);
	case CURLE_WRITE_ERROR:
		return err_set(err, -E2BIG,
			       "%s: an answer above 2 GiB; ask for less time or fewer "
			       "hosts",
			       h->base);
	default:
		return err_set(err, -EBADMSG, "%s: %s", h->base, why);
	}
}

int http_post(struct http *h, const char *where, const void *body, size_t n, bool packed,
	      struct http_answer *ret, struct err *err)
{
	_mem_ char *url = xasprintf("%s%s", h->base, where);
	struct curl_slist with = {.data = (char *)"Content-Encoding: gzip", .next = h->headers};
	CURLcode rc;
	long status = 0;

	h->answer.n = 0;
	h->curl.easy_setopt(h->easy, CURLOPT_URL, url);
	h->curl.easy_setopt(h->easy, CURLOPT_HTTPHEADER, packed ? &with : h->headers);
	h->curl.easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
	h->curl.easy_setopt(h->easy, CURLOPT_POSTFIELDS, body);
	rc = h->curl.easy_perform(h->easy);
	h->n_sent += n;
	if (rc != CURLE_OK)
		return curl_failed(h, rc, err);
	h->curl.easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
	*ret = (struct http_answer){status, h->answer.v, h->answer.n};
	return 0;
}

void http_line(const struct http_answer *a, char ret[HTTP_LINE])
{
	size_t n = 0;

	for (size_t i = 0; i < a->n && n + 1 < HTTP_LINE && a->bytes[i] != '\n'; i++)
		ret[n++] = a->bytes[i] >= ' ' && a->bytes[i] < 127 ? (char)a->bytes[i] : '?';
	ret[n] = 0;
}
