/* SPDX-License-Identifier: BSD-2-Clause */
/* See owners.h.  Work is per owner and pattern; values are not looked at. */
#include "query/samples/owners.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "query/select.h"

static const char *const key_names[N_OWNER_KEYS] = {
	[OWNER_KEY_COMM] = "comm",
	[OWNER_KEY_PID] = "pid",
	[OWNER_KEY_TID] = "tid",
	[OWNER_KEY_CGROUP] = "cgroup",
	[OWNER_KEY_LABEL] = "label",
	[OWNER_KEY_UID] = "uid",
	[OWNER_KEY_EXE] = "exe",
	[OWNER_KEY_HOST] = "host",
	[OWNER_KEY_UNIT] = "unit",
	[OWNER_KEY_CONTAINER] = "container",
	[OWNER_KEY_IMAGE_TAG] = "image-tag",
	[OWNER_KEY_POD] = "pod",
	[OWNER_KEY_NAMESPACE] = "namespace",
	[OWNER_KEY_VERSION] = "version",
	[OWNER_KEY_TENANT] = "tenant",
};

const char *owner_key_name(enum owner_key k)
{
	return key_names[k];
}

enum owner_key owner_key_find(const char *name, size_t n)
{
	enum owner_key k = 0;

	if (n == 7 && memcmp(name, "process", n) == 0)
		return OWNER_KEY_PID;
	if (n == 6 && memcmp(name, "thread", n) == 0)
		return OWNER_KEY_TID;
	while (k < N_OWNER_KEYS && (strlen(key_names[k]) != n || memcmp(key_names[k], name, n)))
		k++;
	return k;
}

bool owner_key_is_number(enum owner_key k)
{
	return k == OWNER_KEY_PID || k == OWNER_KEY_TID || k == OWNER_KEY_UID;
}

static bool is_of_container(enum owner_key k)
{
	return k >= OWNER_KEY_CONTAINER && k <= OWNER_KEY_TENANT;
}

uint32_t owner_value(const struct owner *o, enum owner_key k)
{
	const uint32_t values[N_OWNER_KEYS] = {
		[OWNER_KEY_COMM] = o->comm,   [OWNER_KEY_PID] = o->pid,
		[OWNER_KEY_TID] = o->tid,     [OWNER_KEY_CGROUP] = o->cgroup,
		[OWNER_KEY_LABEL] = o->label, [OWNER_KEY_UID] = o->uid,
		[OWNER_KEY_EXE] = o->exe,     [OWNER_KEY_HOST] = o->host,
		[OWNER_KEY_UNIT] = o->unit,
	};

	return is_of_container(k) ? o->container.text[CONTAINER_NAME + (k - OWNER_KEY_CONTAINER)]
				  : values[k];
}

const char *owner_text(const struct profile *p, const struct owner *o, enum owner_key k)
{
	return owner_key_is_number(k) ? "" : profile_str(p, owner_value(o, k));
}

const char *owner_thread_name(const struct profile *p, const struct owner *o)
{
	return o->tid ? profile_str(p, o->thread_name) : "";
}

char *owner_number_text(const struct profile *p, const struct owner *o, enum owner_key k)
{
	const char *name = k == OWNER_KEY_TID ? owner_thread_name(p, o) : "";

	return xasprintf("%" PRIu32 "%s%s", owner_value(o, k), *name ? " " : "", name);
}

bool owner_is_known(const struct owner *o, enum owner_key k)
{
	return owner_value(o, k) != (k == OWNER_KEY_UID ? OWNER_UID_UNKNOWN : 0);
}

static const char *const no_container_texts[] = {"[no container]", "[no image tag]", "[no pod]",
						 "[no namespace]", "[no version]",   "[no tenant]"};

const char *owner_stand_in(const struct owner *o, enum owner_key k)
{
	if (k == OWNER_KEY_LABEL)
		return "[no label]";
	if (o->cgroup && k == OWNER_KEY_UNIT)
		return "[no unit]";
	if (o->cgroup && is_of_container(k))
		return no_container_texts[k - OWNER_KEY_CONTAINER];
	if (o->flags & OWNER_IDLE)
		return "[idle]";
	if (o->flags & OWNER_KERNEL)
		return "[kernel]";
	return "[unknown]";
}

int owner_key_check(const struct profile *p, enum owner_key k, struct err *err)
{
	bool any = false;

	if (k == OWNER_KEY_LABEL || !p->values.n)
		return 0;
	vec_each (o, &p->owners) {
		if (owner_is_known(o, k))
			return 0;
		any |= o->comm != 0;
	}
	if (k == OWNER_KEY_HOST)
		return err_set(err, -ENOENT,
			       "only a fleet's database (clickhouse://HOST/DATABASE) tells samples "
			       "apart by host; elsewhere --host NAME chooses one");
	if (any && (k == OWNER_KEY_PID || k == OWNER_KEY_TID))
		return err_set(err, -ENOENT,
			       "the recording did not keep %s apart; record with --by %s to have "
			       "their %ss",
			       k == OWNER_KEY_PID ? "processes" : "threads", key_names[k],
			       key_names[k]);
	if (k > OWNER_KEY_CONTAINER && k <= OWNER_KEY_TENANT)
		return err_set(err, -ENOENT,
			       "no sample here says its %s; a recorder that runs as root asks the "
			       "files of containers' runtimes, dwell-daemon(1)",
			       key_names[k]);
	return err_set(err, -ENOENT, "no sample here says its %s; DCPI profiles keep labels only",
		       key_names[k]);
}

/* --- patterns --- */

/* The cgroup PATTERN or one below it. */
static bool fits_cgroup(const char *pattern, const char *text)
{
	_mem_ char *whole = xasprintf("%s%s", *pattern == '/' ? "" : "/", pattern),
		   *below = xasprintf("%s/*", strcmp(whole, "/") == 0 ? "" : whole);

	return strcmp(whole, text) == 0 || fnmatch(whole, text, 0) == 0 ||
	       (str_starts(text, whole) && text[strlen(whole)] == '/') ||
	       fnmatch(below, text, 0) == 0;
}

static bool fits_text(const char *pattern, const struct profile *p, const struct owner *o,
		      enum owner_key k)
{
	const char *text = owner_text(p, o, k);

	if (!*text && strcmp(pattern, owner_stand_in(o, k)) == 0)
		return true;
	if (!*text || !*pattern)
		return *text == *pattern;
	if (k == OWNER_KEY_CGROUP)
		return fits_cgroup(pattern, text);
	if (k == OWNER_KEY_EXE && !strchr(pattern, '/'))
		text = str_basename(text);
	return strcmp(pattern, text) == 0 || fnmatch(pattern, text, 0) == 0;
}

/* A number, or for uids a user's name. */
static int parse_number(const char *text, enum owner_key k, uint32_t *ret, struct err *err)
{
	const struct passwd *user;
	uint64_t n;

	if (str_parse_u64(text, 10, &n) >= 0 && n < UINT32_MAX) {
		*ret = (uint32_t)n;
		return 0;
	}
	if (k != OWNER_KEY_UID)
		return err_set(err, -EINVAL, "--%s %s: must be a number", key_names[k], text);
	user = getpwnam(text);
	if (!user)
		return err_set(err, -ENOENT, "--uid %s: there is no such user here", text);
	*ret = user->pw_uid;
	return 0;
}

/* Marks in WANTED the owners that PATTERN fits and returns how many, or a negative errno. */
static int owners_mark(const struct profile *p, const char *pattern, enum owner_key k, bool *wanted,
		       struct err *err)
{
	uint32_t number = 0;
	int n = 0, rc = owner_key_is_number(k) ? parse_number(pattern, k, &number, err) : 0;

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < p->owners.n; i++) {
		const struct owner *o = &p->owners.v[i];

		if (owner_key_is_number(k) ? !owner_is_known(o, k) || owner_value(o, k) != number
					   : !fits_text(pattern, p, o, k))
			continue;
		wanted[i] = true;
		n++;
	}
	return n;
}

static int compare_values(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int nothing_fits(const struct profile *p, const char *pattern, enum owner_key k,
			struct err *err)
{
	_vec_ VEC(uint32_t) values = {0};
	struct name_list l = {0};
	char number[12];

	vec_each (o, &p->owners)
		if (owner_is_known(o, k))
			vec_push(&values, owner_value(o, k));
	vec_sort(&values, compare_values);
	for (size_t i = 0; i < values.n; i++) {
		if (i && values.v[i] == values.v[i - 1])
			continue;
		snprintf(number, sizeof(number), "%" PRIu32, values.v[i]);
		name_list_add(&l, owner_key_is_number(k) ? number : profile_str(p, values.v[i]));
	}
	return err_set(err, -ENOENT, "no samples with %s '%s'; there are: %s", key_names[k],
		       pattern, l.n ? l.text : "none");
}

/* Like mark, for a list with commas, unless something is called just so. */
static int mark_list(const struct profile *p, const char *list, enum owner_key k, bool *wanted,
		     struct err *err)
{
	int n = owner_key_is_number(k) && strchr(list, ',') ? 0
							    : owners_mark(p, list, k, wanted, err);

	if (n)
		return n < 0 ? n : 0;
	if (!strchr(list, ','))
		return nothing_fits(p, list, k, err);
	for (const char *s = list, *end; s; s = *end ? end + 1 : NULL) {
		_mem_ char *pattern = NULL;

		end = strchrnul(s, ',');
		pattern = xstrndup(s, (size_t)(end - s));
		n = owners_mark(p, pattern, k, wanted, err);
		if (n <= 0)
			return n ? n : nothing_fits(p, pattern, k, err);
	}
	return 0;
}

int owners_select(const struct profile *p, const opt_list lists[N_OWNER_KEYS], bool **ret,
		  struct err *err)
{
	_mem_ bool *fits = xcalloc(p->owners.n + 1, sizeof(*fits)), *all = NULL;

	for (enum owner_key k = 0; k < N_OWNER_KEYS; k++) {
		int rc = lists[k].n ? owner_key_check(p, k, err) : 0;

		memset(fits, 0, p->owners.n * sizeof(*fits));
		for (size_t i = 0; rc >= 0 && i < lists[k].n; i++)
			rc = mark_list(p, lists[k].v[i], k, fits, err);
		if (rc < 0)
			return rc;
		if (!lists[k].n)
			continue;
		if (!all)
			all = xmemdup(fits, p->owners.n * sizeof(*fits));
		for (size_t i = 0; i < p->owners.n; i++)
			all[i] &= fits[i];
	}
	*ret = take_ptr(&all);
	return 0;
}
