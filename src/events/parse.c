/* SPDX-License-Identifier: BSD-2-Clause */
/* Parsing of -e.
 *
 * A colon may begin a modifier, a period, a tracepoint's name or a unit mask of libpfm4, so an
 * event is taken apart from the outside: the period first (only digits behind the last colon), then
 * the name by trying each source in turn, the kernel's own first because they cost no look-up.  A
 * source that does not know the name leaves it to the next; one that knows it but not the rest ends
 * the search with its message. */
#include "events/parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/near.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "events/check.h"
#include "events/dcpi.h"
#include "events/list.h"
#include "events/names.h"
#include "events/pm.h"
#include "events/pfm.h"
#include "events/pmu.h"
#include "events/split.h"
#include "events/trace.h"

/* perf_event.h attr.precise_ip has two bits */
enum { MAX_PRECISE = 3 };

static const char modifier_letters[] = "ukhpGH";

static bool is_modifiers(const char *text)
{
	return *text && text[strspn(text, modifier_letters)] == '\0';
}

/* Sets attr by modifier LETTERS: naming any of u, k, h leaves out those not named, and the same for
 * G and H; precise sampling leaves guests out, whose state the hardware does not record. */
static int apply_modifiers(struct event_spec *spec, const char *letters, struct err *err)
{
	struct perf_event_attr *a = &spec->attr;
	bool user = strchr(letters, 'u'), kernel = strchr(letters, 'k'),
	     hypervisor = strchr(letters, 'h'), guest = strchr(letters, 'G'),
	     host = strchr(letters, 'H');
	unsigned precise = 0;

	if (!is_modifiers(letters)) {
		const char *bad = letters + strspn(letters, modifier_letters);

		return err_set(err, -EINVAL,
			       "\"%s\" is no modifier: \"%c\" is not one of u k h p G H", letters,
			       *bad);
	}
	for (const char *p = letters; *p; p++)
		precise += *p == 'p';
	if (precise > MAX_PRECISE)
		return err_set(err, -EINVAL, "\"%s\": at most ppp", letters);
	if (precise && (spec->kind == EVENT_SOFTWARE || spec->kind == EVENT_TRACEPOINT))
		return err_set(err, -EINVAL,
			       "a %s event has no precise form (modifier p is for hardware events)",
			       event_kind_name(spec->kind));
	if (user || kernel || hypervisor) {
		a->exclude_user = !user;
		a->exclude_kernel = !kernel;
		a->exclude_hv = !hypervisor;
	}
	if (guest || host) {
		a->exclude_guest = !guest;
		a->exclude_host = !host;
	} else if (precise) {
		a->exclude_guest = 1;
	}
	if (precise)
		a->precise_ip = precise;
	return 0;
}

/* Names SPEC "CANONICAL[:MODIFIERS]" unless a term has named it, and applies the modifiers. */
static int parse_finish(struct event_spec *spec, const char *canonical, const char *modifiers,
			struct err *err)
{
	bool slash = str_ends(canonical, "/");

	if (!spec->name)
		spec->name = modifiers ? xasprintf("%s%s%s", canonical, slash ? "" : ":", modifiers)
				       : xstrdup(canonical);
	if (!spec->unit)
		spec->unit = "";
	return modifiers ? apply_modifiers(spec, modifiers, err) : 0;
}

/* The modifiers at the end of NAME, or its end. */
static char *modifiers_of(char *name)
{
	char *end = name + strlen(name), *letters = end;

	while (letters > name && !strchr(":/", letters[-1]))
		letters--;
	return letters > name && is_modifiers(letters) ? letters : end;
}

/* Applies LETTERS, which are a whole group's, to SPEC beside its own. */
static int add_modifiers(struct event_spec *spec, const char *letters, struct err *err)
{
	char *own = modifiers_of(spec->name);
	const char *between = *own || str_ends(spec->name, "/") ? "" : ":";
	_mem_ char *all = xasprintf("%s%s", own, letters);
	char *name = xasprintf("%s%s%s", spec->name, between, letters);

	free(spec->name);
	spec->name = name;
	return apply_modifiers(spec, all, err);
}

void event_spec_user_only(struct event_spec *spec)
{
	char *letters = modifiers_of(spec->name), *kept, *name;
	const char *between = str_ends(spec->name, "/") ? "" : ":";

	if (*letters) {
		between = "";
		for (kept = letters; *letters; letters++)
			if (!strchr("ukh", *letters))
				*kept++ = *letters;
		*kept = '\0';
	}
	name = xasprintf("%s%su", spec->name, between);
	free(spec->name);
	spec->name = name;
	spec->attr.exclude_user = 0;
	spec->attr.exclude_kernel = spec->attr.exclude_hv = 1;
}

static char *parse_lower(const char *s)
{
	char *copy = xstrdup(s);

	for (char *p = copy; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return copy;
}

static void try_near(const char *name, void *near)
{
	_mem_ char *low = parse_lower(name);

	near_try_as(near, low, name);
}

static void note_listed(const struct event_info *info, void *arg)
{
	const char *bare = strstr(info->name, "::");

	if (info->is_part && info->kind == EVENT_PMU)
		return;
	try_near(info->name, arg);
	if (bare)
		try_near(bare + 2, arg);
	/* the event of pmu/event/ may be written alone */
	if (info->kind == EVENT_PMU) {
		const char *slash = strchr(info->name, '/');
		_mem_ char *event = xstrndup(slash + 1, strlen(slash + 1) - 1);

		try_near(event, arg);
	}
}

/* "unknown event", and the nearest name that exists; tracepoints of GROUP only. */
static int parse_unknown(const struct event_env *env, const char *name, const char *group,
			 struct err *err)
{
	_mem_ char *wanted = parse_lower(name);
	struct near near = near_to(wanted, (unsigned)(2 + strlen(name) / 3));
	const char *today = group ? NULL : event_dcpi_today(wanted);

	if (today)
		return err_set(err, -ENOENT,
			       "an event of DCPI's: today that is %s (`dwell events` lists all)",
			       today);
	if (group)
		event_trace_each(env, group, try_near, &near);
	else
		event_list(env, ~(1u << EVENT_TRACEPOINT), note_listed, &near);
	if (!group && strchr(name, ':'))
		event_trace_each(env, NULL, try_near, &near);
	err_set(err, -ENOENT, "unknown event%s%s%s (`dwell events` lists all)",
		*near.found ? "; did you mean \"" : "", near.found, *near.found ? "\"?" : "");
	return -ENOENT;
}

/* pmu/terms/modifiers */
static int parse_pmu(const struct event_env *env, const char *text, struct event_spec *spec,
		     struct err *err)
{
	const char *open = strchr(text, '/'), *close = strrchr(text, '/');
	const char *rest = close + 1;
	_mem_ char *pmu = xstrndup(text, (size_t)(open - text));
	_mem_ char *terms = NULL, *canonical = NULL;
	int rc;

	if (close == open)
		return err_set(err, -EINVAL, "the second \"/\" of PMU/TERMS/ is missing");
	terms = xstrndup(open + 1, (size_t)(close - open - 1));
	canonical = xstrndup(text, (size_t)(rest - text));
	rest += *rest == ':';
	rc = event_pmu_encode(env, pmu, terms, spec, err);
	return rc < 0 ? rc : parse_finish(spec, canonical, *rest ? rest : NULL, err);
}

/* A name without colons, and what follows its colon.  -ENOENT: not one of these. */
static int parse_simple(const struct event_env *env, const char *name, const char *modifiers,
			struct event_spec *spec, struct err *err)
{
	_mem_ char *canonical = NULL, *pmu = NULL;
	size_t n = strlen(name);
	int rc;

	if (event_names_find(name, spec, &canonical) >= 0)
		return parse_finish(spec, canonical, modifiers, err);
	if (*name == 'r' && n > 1 && strspn(name + 1, "0123456789abcdefABCDEF") == n - 1) {
		uint64_t config;

		if (str_parse_u64(name + 1, 16, &config) < 0)
			return err_set(err, -EINVAL, "a raw event has at most 16 hex digits");
		spec->kind = EVENT_RAW;
		spec->attr.type = PERF_TYPE_RAW;
		spec->attr.config = config;
		return parse_finish(spec, name, modifiers, err);
	}
	pmu = event_pmu_of_event(env, name);
	if (!pmu)
		return -ENOENT;
	rc = event_pmu_encode(env, pmu, name, spec, err);
	return rc < 0 ? rc : parse_finish(spec, name, modifiers, err);
}

static int parse_pfm(const char *text, struct event_spec *spec, struct err *err)
{
	const char *colon = strrchr(text, ':');
	int rc;

	if (colon && is_modifiers(colon + 1)) {
		_mem_ char *name = xstrndup(text, (size_t)(colon - text));

		rc = event_pfm_encode(name, spec, err);
		if (rc >= 0)
			return parse_finish(spec, name, colon + 1, err);
	}
	/* or the letters are a unit mask */
	rc = event_pfm_encode(text, spec, err);
	return rc < 0 ? rc : parse_finish(spec, text, NULL, err);
}

/* libpfm4 knows the event and says WHY the rest is wrong; the nearest unit
 * mask is a guess at it. */
static int bad_pfm(const struct event_env *env, const char *text, int rc, const char *why,
		   struct err *err)
{
	_mem_ char *wanted = parse_lower(text);
	struct near near = near_to(wanted, (unsigned)(2 + strlen(text) / 3));

	event_list(env, 1u << EVENT_PFM, note_listed, &near);
	err_set(err, rc, "%s%s%s%s", why, *near.found ? "; did you mean \"" : "", near.found,
		*near.found ? "\"?" : "");
	return rc;
}

static int parse_tracepoint(const struct event_env *env, const char *group, const char *rest,
			    struct event_spec *spec, struct err *err)
{
	_mem_ char *name = xstrndup(rest, strcspn(rest, ":"));
	_mem_ char *canonical = xasprintf("%s:%s", group, name);
	const char *modifiers = rest[strlen(name)] ? rest + strlen(name) + 1 : NULL;
	int rc;

	if (strpbrk(name, "*?["))
		return err_set(err, -EINVAL,
			       "one tracepoint at a time: `dwell events '%s:%s'` lists them", group,
			       name);
	rc = event_trace_encode(env, group, name, spec, err);
	if (rc == -ENOENT)
		return parse_unknown(env, canonical, group, err);
	return rc < 0 ? rc : parse_finish(spec, canonical, modifiers, err);
}

/* NAME[:...] without a period and without slashes. */
static int parse_name(const struct event_env *env, const char *text, struct event_spec *spec,
		      struct err *err)
{
	const char *rest = strchr(text, ':');
	_mem_ char *head = xstrndup(text, strcspn(text, ":"));
	struct err why = {""};
	int rc;

	if (strcmp(head, "mem") == 0 && rest)
		return err_set(err, -EINVAL, "breakpoints (mem:...) are not supported");
	rc = parse_simple(env, head, rest ? rest + 1 : NULL, spec, err);
	if (rc != -ENOENT)
		return rc;
	if (rest && rest[1] != ':' && event_trace_has_group(env, head))
		return parse_tracepoint(env, head, rest + 1, spec, err);
	rc = parse_pfm(text, spec, &why);
	if (rc >= 0)
		return 0;
	if (rc != -ENOENT)
		return bad_pfm(env, text, rc, why.msg, err);
	rc = parse_unknown(env, text, NULL, err);
	/* it may be a tracepoint we cannot see */
	if (rest && rest[1] != ':' && !is_modifiers(rest + 1)) {
		_mem_ char *root = event_trace_root(env, &why);

		if (!root)
			return err_set(err, -ENOENT, "no such hardware event, and %s", why.msg);
	}
	return rc;
}

/* Cuts ":PERIOD" off TEXT. */
static int take_period(char *text, uint64_t *ret, struct err *err)
{
	char *colon = strrchr(text, ':');
	size_t n = colon ? strlen(colon + 1) : 0;

	if (colon && !n)
		return err_set(
			err, -EINVAL,
			"nothing behind the last \":\"; a modifier or a period belongs there");
	/* a name of libpfm4 before "::" is no period, digits behind '=' are a term */
	if (!n || strspn(colon + 1, "0123456789") != n)
		return 0;
	if (str_parse_u64(colon + 1, 10, ret) < 0 || *ret > INT64_MAX)
		return err_set(err, -EINVAL, "period %s is too large", colon + 1);
	if (*ret == 0)
		return err_set(err, -EINVAL, "a period is at least 1");
	*colon = '\0';
	return 0;
}

int event_parse(const struct event_env *env, const char *text, struct event_spec *ret,
		struct err *err)
{
	struct event_spec spec = {.attr.size = sizeof(spec.attr)};
	_mem_ char *body = xstrdup(text);
	char *slash = strrchr(body, '/');
	uint64_t period = 0;
	int rc = 0;

	/* colons inside the terms are theirs */
	if (!*body)
		rc = err_set(err, -EINVAL, "an event is missing");
	if (rc >= 0)
		rc = take_period(slash ? slash : body, &period, err);
	if (rc >= 0)
		rc = slash ? parse_pmu(env, body, &spec, err) : parse_name(env, body, &spec, err);
	if (period)
		spec.period = period;
	if (rc >= 0)
		rc = event_check_supported(env, &spec, err);
	if (rc < 0) {
		event_spec_release(&spec);
		return rc;
	}
	*ret = spec;
	return 0;
}

/* The end of the event at P: the next '+' or ',' outside slashes, or '}' of its GROUP. */
static const char *event_end(const char *p, bool group)
{
	bool in_terms = false;

	for (; *p && (in_terms || (*p != '+' && *p != ',' && !(group && *p == '}'))); p++)
		in_terms ^= *p == '/';
	return p;
}

/* Whether NAME is there, whole or as a part. */
static bool has_spec(const struct event_specs *specs, const char *name)
{
	size_t n = strcspn(name, ":");

	for (size_t i = 0; i < specs->n; i++) {
		const char *old = specs->v[i].name, *slash = strchr(old, '/');

		if (strcmp(old, name) == 0)
			return true;
		if (slash && strncmp(slash + 1, name, n) == 0 && slash[n + 1] == '/' &&
		    strcmp(slash + n + 2, name + n + (name[n] == ':')) == 0)
			return specs->v[i].kind != EVENT_PMU;
	}
	return false;
}

/* Parses ONE, a single event or "pm", into SPECS, as a part of GROUP (0: none). */
static int list_add(const struct event_env *env, const char *one, unsigned group,
		    struct event_specs *specs, struct err *err)
{
	struct event_spec spec;
	int rc;

	if (event_pm_is(one))
		return group ? err_set(err, -EINVAL, "samples alone have it, and no group")
			     : event_pm_parse(env, one, specs, err);
	rc = event_parse(env, one, &spec, err);
	if (rc < 0)
		return rc;
	if (has_spec(specs, spec.name)) {
		event_spec_release(&spec);
		return err_set(err, -EINVAL, "named twice");
	}
	spec.group = group;
	event_split(env, &spec, specs);
	return 0;
}

/* Applies what stands behind the group's "}" at P to its events, those of SPECS from number FIRST
 * on.  *RET is where the next item is, or the end. */
static int end_group(struct event_specs *specs, size_t first, const char *p, const char **ret,
		     struct err *err)
{
	const char *end = event_end(p + 1, false);
	_mem_ char *letters = xstrndup(p + 1, (size_t)(end - p - 1));
	int rc = 0;

	if (*letters && *letters != ':')
		return err_set(err, -EINVAL, "behind \"}\" belongs a \",\", or modifiers");
	for (size_t i = first; *letters && i < specs->n && rc >= 0; i++)
		rc = add_modifiers(&specs->v[i], letters + 1, err);
	*ret = end;
	return rc;
}

/* The number that the next group of SPECS has. */
static unsigned next_group(const struct event_specs *specs)
{
	unsigned n = 0;

	vec_each (s, specs)
		n = s->group > n ? s->group : n;
	return n + 1;
}

int event_list_parse(const struct event_env *env, const char *text, struct event_specs *specs,
		     struct err *err)
{
	const size_t n_before = specs->n;
	size_t first = n_before; /* of the group */
	const char *p = text;
	unsigned group = 0;

	for (;;) {
		const char *end;
		_mem_ char *one = NULL;
		int rc;

		if (*p == '{' && !group) {
			group = next_group(specs);
			first = specs->n;
			p++;
		}
		end = event_end(p, group);
		one = xstrndup(p, (size_t)(end - p));
		rc = list_add(env, one, group, specs, err);
		if (rc >= 0 && *end == '}') {
			group = 0;
			rc = end_group(specs, first, end, &end, err);
		} else if (rc >= 0 && group && !*end) {
			rc = err_set(err, -EINVAL, "the \"}\" of its group is missing");
		}
		if (rc < 0) {
			while (specs->n > n_before)
				event_spec_release(&specs->v[--specs->n]);
			if (p == text)
				return err_prefix(err, rc, "event \"%s\"", one);
			return err_prefix(err, rc, "event \"%s\" (character %zu of \"%s\")", one,
					  (size_t)(p - text) + 1, text);
		}
		if (!*end)
			return 0;
		p = end + 1;
	}
}
