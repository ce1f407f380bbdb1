/* SPDX-License-Identifier: BSD-2-Clause */
/* pmu/term=value,.../ by the sysfs description of the PMU.
 *
 * A file format/TERM says which bits of which config word the term fills: "config:0-7,32-35"
 * spreads a 12-bit value, low bits first (kernel:
 * Documentation/ABI/testing/sysfs-bus-event_source-devices- format).  A file events/ALIAS holds
 * terms in the same syntax ("event=0x3c,umask=0x0"), where "?" stands for a value the user must
 * give; events/ALIAS.unit, .scale and the like only matter to counting tools.  An alias is replaced
 * by its terms where it stands, and the last value given for a term counts, so
 * `cpu/mem-loads,ldlat=50/` changes one term of the alias. */
#include "events/pmu.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "events/names.h"

enum { MAX_TEXT = 4096, N_CONFIGS = 4 };

struct term {
	char *name;
	unsigned word; /* config, config1 .. config3 */
	uint64_t mask; /* its bits */
	uint64_t value;
	bool needs_value; /* "?" in an alias, not given so far */
};

struct encoder {
	const struct event_env *env;
	const char *pmu;
	struct event_spec *spec;
	VEC(struct term) terms;
	struct err *err;
};

char *event_pmu_text(const struct event_env *env, const char *pmu, const char *file)
{
	_mem_ char *path = xasprintf("%s/bus/event_source/devices/%s/%s", env->sysfs, pmu, file);
	char *text;

	if (file_load(path, MAX_TEXT, &text, NULL, NULL) < 0)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int event_dir_each(const char *path, event_pmu_each_fn *each, void *arg)
{
	_vec_ VEC(char *) names = {0};
	DIR *dir = opendir(path);
	struct dirent *d;

	if (!dir)
		return -errno;
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.')
			vec_push(&names, xstrdup(d->d_name));
	closedir(dir);
	vec_sort(&names, by_name);
	vec_each (n, &names) {
		each(*n, arg);
		free(*n);
	}
	return 0;
}

void event_pmu_each(const struct event_env *env, event_pmu_each_fn *each, void *arg)
{
	_mem_ char *path = xasprintf("%s/bus/event_source/devices", env->sysfs);

	event_dir_each(path, each, arg);
}

struct alias_filter {
	event_pmu_each_fn *each;
	void *arg;
};

/* Annotations of an alias, not events: kernel ABI sysfs-bus-event_source-devices-events */
static void each_alias(const char *name, void *arg)
{
	static const char *const notes[] = {".unit", ".scale", ".per-pkg", ".snapshot"};
	const struct alias_filter *f = arg;

	for (size_t i = 0; i < n_elems(notes); i++)
		if (str_ends(name, notes[i]))
			return;
	f->each(name, f->arg);
}

void event_pmu_each_event(const struct event_env *env, const char *pmu, event_pmu_each_fn *each,
			  void *arg)
{
	_mem_ char *path = xasprintf("%s/bus/event_source/devices/%s/events", env->sysfs, pmu);

	event_dir_each(path, each_alias, &(struct alias_filter){each, arg});
}

void event_pmu_each_term(const struct event_env *env, const char *pmu, event_pmu_each_fn *each,
			 void *arg)
{
	_mem_ char *path = xasprintf("%s/bus/event_source/devices/%s/format", env->sysfs, pmu);

	event_dir_each(path, each, arg);
}

bool event_pmu_is_core(const struct event_env *env, const char *pmu)
{
	_mem_ char *path = xasprintf("%s/bus/event_source/devices/%s/cpus", env->sysfs, pmu);

	/* "cpu", or where CPUs differ one PMU for each kind with the list of its CPUs */
	return strcmp(pmu, "cpu") == 0 || access(path, F_OK) == 0;
}

struct owner_search {
	const struct event_env *env;
	const char *event;
	char *pmu;
};

/* A name that cannot leave its folder. */
static bool plain_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

static void look_for_owner(const char *pmu, void *arg)
{
	struct owner_search *s = arg;
	_mem_ char *file = xasprintf("events/%s", s->event);
	_mem_ char *text = event_pmu_text(s->env, pmu, file);

	if (!text || (s->pmu && !event_pmu_is_core(s->env, pmu)) ||
	    (s->pmu && event_pmu_is_core(s->env, s->pmu)))
		return;
	free(s->pmu);
	s->pmu = xstrdup(pmu);
}

char *event_pmu_of_event(const struct event_env *env, const char *name)
{
	struct owner_search s = {.env = env, .event = name};

	if (plain_name(name))
		event_pmu_each(env, look_for_owner, &s);
	return s.pmu;
}

/* Parses "config1:0-7,32-35". */
static int parse_format(struct encoder *e, const char *text, struct term *t)
{
	const char *p = text;

	if (!str_starts(p, "config"))
		goto bad;
	p += strlen("config");
	t->word = isdigit((unsigned char)*p) ? (unsigned)(*p++ - '0') : 0;
	if (t->word >= N_CONFIGS || *p++ != ':')
		goto bad;
	t->mask = 0;
	do {
		unsigned long from, to;
		char *end;

		if (!isdigit((unsigned char)*p))
			goto bad;
		from = to = strtoul(p, &end, 10);
		if (*end == '-' && isdigit((unsigned char)end[1]))
			to = strtoul(end + 1, &end, 10);
		if (from > to || to > 63)
			goto bad;
		t->mask |= UINT64_MAX >> (63 - (to - from)) << from;
		p = end;
	} while (*p++ == ',');
	if (p[-1] == '\0')
		return 0;
bad:
	return err_set(
		e->err, -EINVAL,
		"the kernel's description of term \"%s\" of PMU %s is not understood: \"%s\"",
		t->name, e->pmu, text);
}

static void try_near(const char *name, void *near)
{
	near_try(near, name);
}

static int no_such_term(struct encoder *e, const char *name)
{
	struct near near = near_to(name, (unsigned)(2 + strlen(name) / 3));

	event_pmu_each_term(e->env, e->pmu, try_near, &near);
	event_pmu_each_event(e->env, e->pmu, try_near, &near);
	return err_set(e->err, -ENOENT, "PMU %s has no term or event \"%s\"%s%s%s", e->pmu, name,
		       *near.found ? "; did you mean \"" : "", near.found,
		       *near.found ? "\"?" : "");
}

static int add_term(struct encoder *e, const struct term *t)
{
	unsigned n_bits = (unsigned)__builtin_popcountll(t->mask);

	if (n_bits < 64 && t->value >> n_bits)
		return err_set(e->err, -EINVAL,
			       "value %#" PRIx64 " is too large for term \"%s\" of PMU %s, which "
			       "holds at most %#" PRIx64,
			       t->value, t->name, e->pmu, (UINT64_C(1) << n_bits) - 1);
	vec_each (old, &e->terms) {
		if (strcmp(old->name, t->name) == 0) {
			old->value = t->value;
			old->needs_value = t->needs_value;
			return 0;
		}
	}
	vec_push(&e->terms, *t);
	vec_add(&e->terms)->name = NULL;
	e->terms.n--;
	e->terms.v[e->terms.n - 1].name = xstrdup(t->name);
	return 0;
}

static int parse_value(struct encoder *e, const char *name, const char *text, uint64_t *ret)
{
	int base = str_starts(text, "0x") || str_starts(text, "0X") ? 0 : 10;

	if (str_parse_u64(text, base, ret) < 0)
		return err_set(e->err, -EINVAL, "term \"%s\" of PMU %s needs a number, not \"%s\"",
			       name, e->pmu, text);
	return 0;
}

/* Terms every PMU has.  1: it was one of them. */
static int builtin_term(struct encoder *e, const char *name, const char *value)
{
	static const char *const words[N_CONFIGS] = {"config", "config1", "config2", "config3"};
	struct term t = {.name = (char *)name, .mask = UINT64_MAX};
	uint64_t *to = strcmp(name, "period") == 0 ? &e->spec->period
		       : strcmp(name, "freq") == 0 ? &e->spec->freq_hz
						   : NULL;
	int rc;

	if (to && value) {
		rc = parse_value(e, name, value, to);
		if (rc >= 0 && *to == 0)
			rc = err_set(e->err, -EINVAL, "%s must not be 0", name);
		return rc < 0 ? rc : 1;
	}
	if (strcmp(name, "name") == 0 && value) {
		if (!*value)
			return err_set(e->err, -EINVAL, "name= needs a name");
		free(e->spec->name);
		e->spec->name = xstrdup(value);
		return 1;
	}
	/* perf's raw form: cpu/r1a8/ */
	if (*name == 'r' && !value && name[1] &&
	    strspn(name + 1, "0123456789abcdefABCDEF") == strlen(name + 1)) {
		if (str_parse_u64(name + 1, 16, &t.value) < 0)
			return err_set(e->err, -EINVAL, "\"%s\" is not at most 16 hex digits",
				       name);
		t.name = (char *)"config";
		rc = add_term(e, &t);
		return rc < 0 ? rc : 1;
	}
	for (t.word = 0; t.word < N_CONFIGS; t.word++) {
		if (strcmp(name, words[t.word]) != 0)
			continue;
		if (!value)
			return err_set(e->err, -EINVAL, "%s= needs a number", name);
		rc = parse_value(e, name, value, &t.value);
		if (rc >= 0)
			rc = add_term(e, &t);
		return rc < 0 ? rc : 1;
	}
	return 0;
}

static int parse_terms(struct encoder *e, const char *text, bool in_alias);

/* cpu_core/cycles/: a portable name for one PMU only. */
static int portable_event(struct encoder *e, const char *name)
{
	struct event_spec found = {0};
	_mem_ char *canonical = NULL;

	if (!event_pmu_is_core(e->env, e->pmu) || event_names_find(name, &found, &canonical) < 0 ||
	    found.kind == EVENT_SOFTWARE)
		return -ENOENT;
	if (e->spec->attr.type != PERF_TYPE_RAW)
		found.attr.config |= (uint64_t)e->spec->attr.type << EVENT_PMU_TYPE_SHIFT;
	e->spec->attr.type = found.attr.type;
	return add_term(e, &(struct term){.name = (char *)"config",
					  .mask = UINT64_MAX,
					  .value = found.attr.config});
}

static int parse_term(struct encoder *e, char *name, bool in_alias)
{
	_mem_ char *file = NULL, *text = NULL;
	char *value = strchr(name, '=');
	struct term t = {.name = name, .value = 1};
	int rc;

	if (value)
		*value++ = '\0';
	if (!plain_name(name))
		return err_set(e->err, -EINVAL, "empty or malformed term \"%s\"", name);
	if (!value && !in_alias) {
		file = xasprintf("events/%s", name);
		text = event_pmu_text(e->env, e->pmu, file);
		if (text)
			return parse_terms(e, text, true);
	}
	free(file);
	file = xasprintf("format/%s", name);
	text = event_pmu_text(e->env, e->pmu, file);
	if (!text) {
		rc = builtin_term(e, name, value);
		if (rc == 0 && !value && portable_event(e, name) >= 0)
			return 0;
		return rc < 0 ? rc : rc > 0 ? 0 : no_such_term(e, name);
	}
	rc = parse_format(e, text, &t);
	if (rc < 0)
		return rc;
	if (value && strcmp(value, "?") == 0 && in_alias) {
		t.needs_value = true;
		t.value = 0;
	} else if (value) {
		rc = parse_value(e, name, value, &t.value);
		if (rc < 0)
			return rc;
	}
	return add_term(e, &t);
}

static int parse_terms(struct encoder *e, const char *text, bool in_alias)
{
	_mem_ char *copy = xstrdup(text);
	char *p = copy;

	while (*copy && p) {
		char *term = strsep(&p, ",");
		int rc = parse_term(e, term, in_alias);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Deposits VALUE's bits, low first, at the set bits of MASK. */
static uint64_t spread(uint64_t value, uint64_t mask)
{
	uint64_t word = 0;

	for (; mask; mask &= mask - 1, value >>= 1)
		if (value & 1)
			word |= mask & -mask;
	return word;
}

static int compose(struct encoder *e)
{
	uint64_t words[N_CONFIGS] = {0};

	vec_each (t, &e->terms) {
		if (t->needs_value)
			return err_set(e->err, -EINVAL,
				       "this event of PMU %s needs a value: add %s=NUMBER", e->pmu,
				       t->name);
		words[t->word] = (words[t->word] & ~t->mask) | spread(t->value, t->mask);
	}
	e->spec->attr.config = words[0];
	e->spec->attr.config1 = words[1];
	e->spec->attr.config2 = words[2];
	e->spec->config3 = words[3];
	return 0;
}

static int no_such_pmu(const struct event_env *env, const char *pmu, struct err *err)
{
	struct near near = near_to(pmu, (unsigned)(2 + strlen(pmu) / 3));

	event_pmu_each(env, try_near, &near);
	return err_set(err, -ENOENT, "this machine has no PMU \"%s\"%s%s%s", pmu,
		       *near.found ? "; did you mean \"" : "", near.found,
		       *near.found ? "\"?" : "");
}

int event_pmu_encode(const struct event_env *env, const char *pmu, const char *terms,
		     struct event_spec *spec, struct err *err)
{
	_mem_ char *type = plain_name(pmu) ? event_pmu_text(env, pmu, "type") : NULL;
	struct encoder e = {.env = env, .pmu = pmu, .spec = spec, .err = err};
	uint64_t number;
	int rc;

	if (!type)
		return no_such_pmu(env, pmu, err);
	if (str_parse_u64(type, 10, &number) < 0 || number > UINT32_MAX)
		return err_set(err, -EINVAL,
			       "the kernel's number of PMU %s is not understood: \"%s\"", pmu,
			       type);
	spec->kind = EVENT_PMU;
	spec->attr.type = (uint32_t)number;
	rc = parse_terms(&e, terms, false);
	if (rc >= 0)
		rc = compose(&e);
	vec_each (t, &e.terms)
		free(t->name);
	vec_release(&e.terms);
	return rc;
}
