/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks the sources of event names in the order people look for them: the kernel's own names, what
 * PMUs list in sysfs and the terms they take, libpfm4's tables, tracepoints. */
#include "events/list.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "events/names.h"
#include "events/pfm.h"
#include "events/pmu.h"
#include "events/trace.h"

struct lister {
	const struct event_env *env;
	unsigned kinds;
	event_list_fn *each;
	void *arg;
	const char *pmu;
};

static bool wants(const struct lister *l, enum event_kind kind)
{
	return l->kinds >> kind & 1;
}

static void list_name(const struct event_name *name, void *arg)
{
	const struct lister *l = arg;
	_mem_ char *description = NULL;

	if (!wants(l, name->kind))
		return;
	if (name->synonym)
		description = xasprintf("%s; also %s", name->description, name->synonym);
	l->each(&(struct event_info){.name = name->name,
				     .kind = name->kind,
				     .group = "",
				     .description = description ? description : name->description},
		l->arg);
}

static void list_pmu_entry(const struct lister *l, const char *name, const char *file, bool is_term)
{
	_mem_ char *full = xasprintf("%s/%s%s/", l->pmu, name, is_term ? "=" : "");
	_mem_ char *text = event_pmu_text(l->env, l->pmu, file);

	l->each(&(struct event_info){.name = full,
				     .kind = EVENT_PMU,
				     .group = l->pmu,
				     .description = text ? text : "",
				     .is_part = is_term},
		l->arg);
}

static void list_pmu_event(const char *name, void *arg)
{
	_mem_ char *file = xasprintf("events/%s", name);

	list_pmu_entry(arg, name, file, false);
}

static void list_pmu_term(const char *name, void *arg)
{
	_mem_ char *file = xasprintf("format/%s", name);

	list_pmu_entry(arg, name, file, true);
}

static void list_pmu(const char *pmu, void *arg)
{
	struct lister *l = arg;

	l->pmu = pmu;
	event_pmu_each_event(l->env, pmu, list_pmu_event, l);
	event_pmu_each_term(l->env, pmu, list_pmu_term, l);
}

static void list_pfm(const char *pmu, const char *event, const char *umask, const char *description,
		     void *arg)
{
	const struct lister *l = arg;
	_mem_ char *name =
		umask ? xasprintf("%s::%s:%s", pmu, event, umask) : xasprintf("%s::%s", pmu, event);

	struct event_spec spec = {0};

	l->each(&(struct event_info){.name = name,
				     .kind = EVENT_PFM,
				     .group = pmu,
				     .description = description ? description : "",
				     .is_part = event_pfm_encode(name, &spec, NULL) < 0},
		l->arg);
}

static void list_tracepoint(const char *name, void *arg)
{
	const struct lister *l = arg;
	_mem_ char *group = xstrndup(name, strcspn(name, ":"));

	l->each(
		&(struct event_info){
			.name = name, .kind = EVENT_TRACEPOINT, .group = group, .description = ""},
		l->arg);
}

void event_list(const struct event_env *env, unsigned kinds, event_list_fn *each, void *arg)
{
	struct lister l = {.env = env, .kinds = kinds, .each = each, .arg = arg};

	event_names_each(list_name, &l);
	if (wants(&l, EVENT_PMU))
		event_pmu_each(env, list_pmu, &l);
	if (wants(&l, EVENT_PFM))
		event_pfm_each(list_pfm, &l);
	if (wants(&l, EVENT_TRACEPOINT))
		event_trace_each(env, NULL, list_tracepoint, &l);
}
