/* SPDX-License-Identifier: BSD-2-Clause */
/* See push_body.h.
 *
 * Example: 40 samples of cpu-clock, 30 of them in unit nginx.service and 10 of a shell.
 *
 *     series  __name__=process_cpu service_name=nginx.service service_host=web1   profile of 30
 *     series  __name__=process_cpu service_name=bash service_host=web1            profile of 10 */
#include "fleet/push_body.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sha256.h"
#include "formats/protobuf.h"
#include "port/exporters.h"

/* api/push/v1/push.proto, api/types/v1/types.proto */
enum { REQUEST_SERIES = 1 };
enum { SERIES_LABELS = 1, SERIES_SAMPLES = 2 };
enum { LABEL_NAME = 1, LABEL_VALUE = 2 };
enum { RAW_PROFILE = 1, RAW_ID = 2 };

struct push_service {
	const char *name;
	uint64_t n;
};

struct push_services {
	struct arena arena; /* their names */
	VEC(struct push_service) all;
	uint32_t *of_owner;
};

static uint32_t intern_service(struct push_services *t, const char *name)
{
	for (size_t i = 0; i < t->all.n; i++)
		if (strcmp(t->all.v[i].name, name) == 0)
			return (uint32_t)i;
	vec_push(&t->all, (struct push_service){name, 0});
	return (uint32_t)t->all.n - 1;
}

/* Whether at most PUSH_MOST_SERVICES services, I among them, have as many samples as I. */
static bool is_among_most(const struct push_services *t, uint32_t i)
{
	size_t before = 0;

	for (uint32_t k = 0; k < t->all.n; k++)
		before +=
			t->all.v[k].n > t->all.v[i].n || (t->all.v[k].n == t->all.v[i].n && k < i);
	return before < PUSH_MOST_SERVICES;
}

static void find_services(struct push_services *t, const struct stacks *s)
{
	uint32_t other;

	t->of_owner = xcalloc(s->owners.n + 1, sizeof(*t->of_owner));
	for (size_t i = 0; i < s->owners.n; i++)
		t->of_owner[i] = intern_service(t, stacks_service(&s->owners.v[i], &t->arena));
	for (size_t i = 0; i < s->values.n; i++)
		t->all.v[t->of_owner[s->values.v[i].owner]].n += stacks_amounts(s, i)[0];
	if (t->all.n <= PUSH_MOST_SERVICES)
		return;
	other = intern_service(t, "(other)");
	for (size_t i = 0; i < s->owners.n; i++)
		if (!is_among_most(t, t->of_owner[i]))
			t->of_owner[i] = other;
}

static void put_label(struct wr *series, const char *name, const char *value)
{
	struct wr label = {0};

	if (!*value)
		return;
	pb_put_text(&label, LABEL_NAME, name);
	pb_put_text(&label, LABEL_VALUE, value);
	pb_put_message(series, SERIES_LABELS, &label);
	wr_release(&label);
}

/* What Pyroscope calls profiles of the event: letters, digits and _. */
static char *profile_name(const struct stack_column *c)
{
	char *name = xstrdup(c->event);

	if (str_starts(name, "cpu-clock") || str_starts(name, "task-clock")) {
		free(name);
		return xstrdup("process_cpu");
	}
	for (char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	return name;
}

/* A view of S with the values of SERVICE in columns [FIRST, END); false: there are none.  Release
 * its columns, values and amounts alone. */
static bool view_service(const struct stacks *s, const struct push_services *t, uint32_t service,
			 size_t first, size_t end, struct stacks *ret)
{
	*ret = *s;
	memset(&ret->columns, 0, sizeof(ret->columns));
	memset(&ret->values, 0, sizeof(ret->values));
	memset(&ret->amounts, 0, sizeof(ret->amounts));
	ret->main_column = 0;
	for (size_t c = first; c < end; c++) {
		vec_push(&ret->columns, s->columns.v[c]);
		ret->columns.v[c - first].total = 0;
	}
	for (size_t i = 0; i < s->values.n; i++) {
		const uint64_t *amounts = stacks_amounts(s, i);
		bool any = false;

		for (size_t c = first; c < end; c++)
			any |= amounts[c] != 0;
		if (!any || t->of_owner[s->values.v[i].owner] != service)
			continue;
		vec_push(&ret->values, s->values.v[i]);
		for (size_t c = first; c < end; c++)
			vec_push(&ret->amounts, amounts[c]);
	}
	return ret->values.n;
}

/* An id that the same profile has again. */
static void format_id(const struct stacks *s, const char *service, const char *event, char ret[37])
{
	struct sha256 h;
	uint8_t bytes[16];
	char hex[33];

	sha256_begin(&h);
	sha256_add(&h, s->host, strlen(s->host) + 1);
	sha256_add(&h, service, strlen(service) + 1);
	sha256_add(&h, event, strlen(event) + 1);
	sha256_add_u64(&h, s->start_ns);
	sha256_add_u64(&h, s->end_ns);
	sha256_end(&h, bytes, sizeof(bytes));
	bytes[6] = (uint8_t)(0x80 | (bytes[6] & 15)); /* RFC 9562: version 8, variant 10 */
	bytes[8] = (uint8_t)(0x80 | (bytes[8] & 63));
	str_hex(bytes, sizeof(bytes), hex);
	snprintf(ret, 37, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

static int put_series(const struct stacks *s, struct stacks *view, const char *service,
		      struct wr *ret, struct err *err)
{
	struct out_stream profile = {.fd = -1};
	struct exporter_result result = {0};
	_mem_ char *name = profile_name(&view->columns.v[0]);
	struct wr series = {0}, sample = {0};
	char id[37];
	int rc;

	stacks_settle(view);
	rc = pprof_out_write(view, &profile, &result, err);
	if (rc >= 0) {
		put_label(&series, "__name__", name);
		put_label(&series, "service_name", service);
		put_label(&series, "hostname", s->host);
		format_id(s, service, view->columns.v[0].event, id);
		pb_put_bytes(&sample, RAW_PROFILE, profile.text.v, profile.text.n);
		pb_put_text(&sample, RAW_ID, id);
		pb_put_message(&series, SERIES_SAMPLES, &sample);
		pb_put_message(ret, REQUEST_SERIES, &series);
	}
	wr_release(&series);
	wr_release(&sample);
	str_release(&result.notes);
	out_stream_release(&profile);
	return rc;
}

/* A column of samples, and the one of their weight behind it. */
static size_t event_end(const struct stacks *s, size_t first)
{
	return first + 1 +
	       (first + 1 < s->columns.n && s->columns.v[first + 1].amount == STACK_WEIGHT);
}

int push_body_pyroscope(const struct stacks *s, struct wr *ret, struct err *err)
{
	struct push_services t = {0};
	int rc = 0;

	find_services(&t, s);
	for (uint32_t i = 0; i < t.all.n; i++)
		for (size_t c = 0; c < s->columns.n && rc >= 0; c = event_end(s, c)) {
			struct stacks view;

			if (view_service(s, &t, i, c, event_end(s, c), &view))
				rc = put_series(s, &view, t.all.v[i].name, ret, err);
			vec_release(&view.columns);
			vec_release(&view.values);
			vec_release(&view.amounts);
		}
	vec_release(&t.all);
	arena_release(&t.arena);
	free(t.of_owner);
	return rc;
}

int push_body_otlp(const struct stacks *s, struct wr *ret, struct err *err)
{
	struct out_stream out = {.fd = -1};
	struct exporter_result result = {0};
	int rc = otlp_out_write(s, &out, &result, err);

	if (rc >= 0)
		wr_bytes(ret, out.text.v, out.text.n);
	str_release(&result.notes);
	out_stream_release(&out);
	return rc;
}
