/* SPDX-License-Identifier: BSD-2-Clause */
/* See select.h. */
#include "query/select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/near.h"
#include "base/str.h"
#include "events/dcpi.h"

#define MOST_LISTED 8 /* names in a message that says what is there */

void select_release(struct select *s)
{
	for (enum owner_key k = 0; k < N_OWNER_KEYS; k++)
		vec_release(&s->owners[k]);
	vec_release(&s->events);
	vec_release(&s->columns);
	vec_release(&s->paths);
}

/* The digits of a date and time with what people put between them; "" when it is none. */
static void date_digits(const char *text, char ret[15])
{
	size_t n = 0;

	for (const char *s = text; *s; s++) {
		if (*s >= '0' && *s <= '9' && n < 14)
			ret[n++] = *s;
		else if (n < 4 || !strchr("-:TZ ", *s))
			n = 15;
		if (n == 15)
			break;
	}
	if (n > 14 || n < 4 || n % 2)
		n = 0;
	ret[n] = '\0';
}

int select_parse_time(const char *text, uint64_t now_ns, uint64_t *ret_wall_ns, struct err *err)
{
	struct tm tm = {.tm_mon = 1, .tm_mday = 1};
	char digits[15];
	uint64_t ago_ns;
	time_t t;

	if (!now_ns) {
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	}
	date_digits(text, digits);
	/* "90" is seconds, as of all durations; "2026" a year. */
	if (strlen(digits) >= 4) {
		sscanf(digits, "%4d%2d%2d%2d%2d%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		       &tm.tm_hour, &tm.tm_min, &tm.tm_sec);
		if (tm.tm_year >= 1970 && tm.tm_mon >= 1 && tm.tm_mon <= 12 && tm.tm_mday >= 1 &&
		    tm.tm_mday <= 31 && tm.tm_hour < 24 && tm.tm_min < 60 && tm.tm_sec <= 60) {
			tm.tm_year -= 1900;
			tm.tm_mon--;
			t = timegm(&tm);
			*ret_wall_ns = (uint64_t)t * 1000000000;
			return 0;
		}
	}
	if (str_parse_duration_ns(text, &ago_ns) < 0)
		return err_set(err, -EINVAL,
			       "'%s' is no time: how long ago (2d, 12h, 30m), or a date of UTC "
			       "(2026-11-21, 2026-11-21T13:24)",
			       text);
	*ret_wall_ns = ago_ns < now_ns ? now_ns - ago_ns : 1;
	return 0;
}

static void add_event_name(opt_list *ret, const char *name)
{
	static const char *const states[] = {"wall", "running", "runnable", "blocked"};

	if (strcmp(name, "states") != 0) {
		vec_push(ret, name);
		return;
	}
	for (size_t i = 0; i < n_elems(states); i++)
		vec_push(ret, states[i]);
}

void select_split_events(const opt_list *events, opt_list *ret, char **ret_text)
{
	struct str text = {0};
	bool in_pmu = false;

	vec_each (e, events) {
		str_add(&text, *e);
		str_addc(&text, '+');
	}
	if (text.n) {
		char *start = text.v;

		for (char *s = text.v; *s; s++) {
			if (*s == '/')
				in_pmu = !in_pmu;
			if (*s != '+' || in_pmu)
				continue;
			*s = '\0';
			if (*start)
				add_event_name(ret, start);
			start = s + 1;
		}
		if (*start)
			add_event_name(ret, start);
	}
	*ret_text = text.v;
}

void name_list_add(struct name_list *l, const char *name)
{
	size_t used = strlen(l->text);

	l->n++;
	if (l->n > MOST_LISTED || used + strlen(name) + 8 > sizeof(l->text)) {
		if (l->n > 1 && !str_ends(l->text, ", ..."))
			snprintf(l->text + used, sizeof(l->text) - used, ", ...");
		l->n = MOST_LISTED;
		return;
	}
	snprintf(l->text + used, sizeof(l->text) - used, "%s%s", used ? ", " : "", name);
}

/* "cycles:u" is called "cycles" too; a tracepoint's colon is part of its name. */
static bool is_called(const char *event, const char *name)
{
	size_t n = strlen(name);

	if (strcmp(event, name) == 0)
		return true;
	return strncmp(event, name, n) == 0 && event[n] == ':' &&
	       strspn(event + n + 1, "ukhGHpPSDWIe") == strlen(event + n + 1);
}

int select_find_events(const struct profile *p, const char *name, event_ids *ret, struct err *err)
{
	struct name_list l = {0};
	size_t before = ret->n;
	const char *today = event_dcpi_today(name);
	bool exact = false;

	vec_each (e, &p->events)
		exact |= strcmp(profile_str(p, e->name), name) == 0;
	vec_each (e, &p->events) {
		const char *event = profile_str(p, e->name);

		if (exact ? strcmp(event, name) == 0 : is_called(event, name))
			vec_push(ret, (event_id)(e - p->events.v));
		name_list_add(&l, event);
	}
	if (ret->n > before)
		return 0;
	err_set(err, -ENOENT, "no samples of event '%s'; there are: %s", name,
		l.n ? l.text : "none");
	if (today && err)
		snprintf(err->msg + strlen(err->msg), sizeof(err->msg) - strlen(err->msg),
			 " (DCPI's %s is %s today)", name, today);
	return -ENOENT;
}

int select_owners(const struct profile *p, const struct select *s, bool **ret, struct err *err)
{
	return owners_select(p, s->owners, ret, err);
}

/* Whether NAME is as tables show one of several images of a path: "/lib/libc.so.6 (93ac61ec)", or
 * "(93ac61ec/1f0e2d3c)" where the digests differ alone. */
static bool is_image_shown(const struct image *im, const char *name)
{
	const char *path = strchr(name, '/') ? im->path : str_basename(im->path);
	const size_t n = strlen(path), n_name = strlen(name);
	char id[2 * BUILD_ID_MAX + 1], digest[2 * IMAGE_DIGEST_BYTES + 1], shown[24];

	if (n_name < n || strncmp(name, path, n) != 0 || name[n] != ' ')
		return false;
	build_id_format(&im->build_id, id);
	str_hex(im->digest, sizeof(im->digest), digest);
	snprintf(shown, sizeof(shown), " (%.8s)", id);
	if (strcmp(name + n, shown) == 0)
		return true;
	snprintf(shown, sizeof(shown), " (%.8s/%.8s)", id, digest);
	return strcmp(name + n, shown) == 0;
}

static bool is_image(const struct image *im, const char *name, const char *real, const char *hex)
{
	char id[2 * BUILD_ID_MAX + 1];

	if (is_image_shown(im, name))
		return true;
	if (strcmp(im->path, name) == 0 || (real && strcmp(im->path, real) == 0))
		return true;
	if (im->kind == IMAGE_KERNEL &&
	    (strcmp(name, "kernel") == 0 || strcmp(name, "vmlinux") == 0))
		return true;
	if (!strchr(name, '/') && strcmp(str_basename(im->path), name) == 0)
		return true;
	build_id_format(&im->build_id, id);
	return hex && str_starts(id, hex);
}

/* NAME as lower-case hex digits in RET, or NULL when it is not 6 to 40 of them. */
static const char *as_hex(const char *name, char ret[2 * BUILD_ID_MAX + 1])
{
	size_t n = strlen(name);

	if (n < 6 || n > 2 * BUILD_ID_MAX || strspn(name, "0123456789abcdefABCDEF") != n)
		return NULL;
	for (size_t i = 0; i <= n; i++)
		ret[i] = (char)(name[i] | (name[i] >= 'A' && name[i] <= 'F' ? 0x20 : 0));
	return ret;
}

int select_find_images(const struct profile *p, const char *name, image_ids *ret, struct err *err)
{
	char digits[2 * BUILD_ID_MAX + 1], *real = realpath(name, NULL);
	const char *hex = as_hex(name, digits);
	struct near near = near_to(str_basename(name), strlen(name) > 5 ? 4 : 2);
	size_t before = ret->n;

	vec_each (im, &p->images) {
		if (is_image(im, name, real, hex)) {
			vec_push(ret, (image_id)(im - p->images.v));
			continue;
		}
		near_try_as(&near, str_basename(im->path), im->path);
	}
	free(real);
	if (ret->n > before)
		return 0;
	if (*near.found)
		return err_set(err, -ENOENT, "no samples in an image '%s'; did you mean %s?", name,
			       near.found);
	return err_set(err, -ENOENT,
		       "no samples in an image '%s'; `dwell prof` lists those that have some",
		       name);
}

bool image_ids_want(const image_ids *images, image_id image)
{
	if (!images)
		return true;
	vec_each (i, images)
		if (*i == image)
			return true;
	return false;
}
