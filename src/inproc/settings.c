/* SPDX-License-Identifier: BSD-2-Clause */
/* dwell_profil_configure() and the variables it stands for. */
#include "inproc/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwell/dwell.h"
#include "inproc/drain.h"
#include "inproc/event_name.h"
#include "inproc/export.h"

enum { DEFAULT_HZ = 100, MAX_HZ = 100000, SECOND_NS = 1000000000 };

static struct settings configured;
static bool is_configured;

static int from_public(const struct dwell_profil_settings *p, struct settings *ret)
{
	struct settings s = {.strict = p->flags & DWELL_PROFIL_STRICT};
	unsigned hz = p->hz ? p->hz : DEFAULT_HZ;
	const char *event = p->event && *p->event ? p->event : "task-clock";
	int e = event_name_find(event, &s.spec);

	if (e < 0)
		return e;
	if (hz > MAX_HZ || p->flags & ~(unsigned)(DWELL_PROFIL_STRICT | DWELL_PROFIL_USER_ONLY))
		return -EINVAL;
	if (p->period > INT64_MAX || (!p->period && !s.spec.is_clock))
		return -EINVAL;
	s.spec.period = p->period ? p->period : SECOND_NS / hz;
	if (s.spec.is_clock && s.spec.period < SECOND_NS / MAX_HZ)
		return -EINVAL;
	s.spec.rate_hz = s.spec.is_clock ? SECOND_NS / s.spec.period + 1 : 10000;
	s.spec.user_only = p->flags & DWELL_PROFIL_USER_ONLY;
	snprintf(s.event, sizeof(s.event), "%s", event);
	*ret = s;
	return 0;
}

int settings_number(const char *variable, uint64_t *ret)
{
	const char *text = getenv(variable);
	char *end;

	*ret = 0;
	if (!text || !*text)
		return 0;
	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return *end || errno ? -EINVAL : 0;
}

int settings_from_environment(unsigned default_hz, struct settings *ret)
{
	struct dwell_profil_settings p = {.size = sizeof(p), .event = getenv("DWELL_PROFIL_EVENT")};
	uint64_t hz, strict, user_only;

	if (settings_number("DWELL_PROFIL_HZ", &hz) < 0 ||
	    settings_number("DWELL_PROFIL_PERIOD", &p.period) < 0 ||
	    settings_number("DWELL_PROFIL_STRICT", &strict) < 0 ||
	    settings_number("DWELL_PROFIL_USER_ONLY", &user_only) < 0 || hz > MAX_HZ)
		return -EINVAL;
	p.hz = hz ? (unsigned)hz : default_hz;
	p.flags = (strict ? DWELL_PROFIL_STRICT : 0) | (user_only ? DWELL_PROFIL_USER_ONLY : 0);
	return from_public(&p, ret);
}

int settings_get(struct settings *ret)
{
	if (!is_configured)
		return settings_from_environment(DEFAULT_HZ, ret);
	*ret = configured;
	return 0;
}

__attribute__((visibility("default"))) int dwell_profil_configure(
	const struct dwell_profil_settings *s)
{
	struct dwell_profil_settings known = {0};
	struct settings made;
	int e;

	drain_lock();
	if (!s) {
		is_configured = false;
		drain_unlock();
		return 0;
	}
	memcpy(&known, s, s->size < sizeof(known) ? s->size : sizeof(known));
	e = s->size ? from_public(&known, &made) : -EINVAL;
	for (size_t i = sizeof(known); e >= 0 && i < s->size; i++)
		if (((const char *)s)[i])
			e = -EINVAL; /* of a later version of this interface */
	if (e >= 0) {
		configured = made;
		is_configured = true;
	}
	drain_unlock();
	errno = e < 0 ? -e : errno;
	return e < 0 ? -1 : 0;
}
