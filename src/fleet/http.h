/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP to one server by libcurl: a request, its whole answer.
 *
 * A login is two lines of a file that others cannot read.  TLS verifies the server's certificate,
 * by the system's authorities or by those of a file. */
#ifndef FLEET_HTTP_H
#define FLEET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct fleet_login {
	const char *file; /* two lines, user and password; NULL: $DWELL_LOGIN, else nobody's */
	const char *ca;	  /* PEM certificates of authorities; NULL: $DWELL_CA, else the system's */
	uint64_t timeout_ns; /* for an answer; 0: 5 minutes */
};

struct http;

/* Makes RET for the server at BASE, "http://host:port" or "https://host:port".  Nothing is sent
 * yet. -ENOTSUP without libcurl, or an error of reading the login. */
int http_open(struct http **ret, const char *base, const struct fleet_login *login,
	      struct err *err);
void http_close(struct http *h);

void http_add_header(struct http *h, const char *key, const char *value);

/* The login's user and password; NULL without one. */
const char *http_user(const struct http *h);
const char *http_password(const struct http *h);

/* Sends the login with each request as HTTP's Basic authentication. */
void http_use_basic(struct http *h);

/* How long an answer may take, in whole seconds. */
long http_timeout_s(const struct http *h);

/* Bytes of bodies sent so far, as they were on the wire. */
uint64_t http_sent(const struct http *h);

struct http_answer {
	long status;
	const uint8_t *bytes; /* valid until the next request */
	size_t n;
};

/* Posts the N bytes of BODY, packed by gzip when PACKED says so, to WHERE behind the base.  Errors:
 * -ECONNREFUSED nothing was sent, -ETIMEDOUT and -EBADMSG nobody knows whether the server took it,
 * -E2BIG an answer above 2 GiB. */
int http_post(struct http *h, const char *where, const void *body, size_t n, bool packed,
	      struct http_answer *ret, struct err *err);

/* The "host" or "host:port" at *AT in URL, up to a '/' or the end, where *AT is then; to be freed.
 * NULL: it is none, or has a user. */
char *http_take_host(const char *url, const char **at, struct err *err);
bool http_has_port(const char *host);

/* The first line of A's text, of what can be printed. */
#define HTTP_LINE 300
void http_line(const struct http_answer *a, char ret[HTTP_LINE]);

#endif
