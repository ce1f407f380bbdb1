/* SPDX-License-Identifier: BSD-2-Clause */
/* See path_rules.h.  HPCToolkit's src/hpcprof/args.cpp (develop, 2024-10-18), option 'R', says how
 * rules are written; its remove_prefix and search, what they mean. */
#include "base/path_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/str.h"

/* Splits TEXT at its first '=' that no backslash precedes; false when there is none. */
static bool split_rule(const char *text, struct str *from, struct str *to)
{
	struct str *now = from;

	for (const char *s = text; *s; s++) {
		if (*s == '=' && now == from) {
			now = to;
			continue;
		}
		s += *s == '\\' && (s[1] == '=' || s[1] == '\\');
		str_addc(now, *s);
	}
	return now == to && from->n;
}

int path_rule_check(const char *text, struct err *err)
{
	_str_ struct str from = {0}, to = {0};

	if (!split_rule(text, &from, &to) || !to.n)
		return err_set(err, -EINVAL, "%s: expected FROM=TO", text);
	return from.v[0] == '/' ? 0 : err_set(err, -EINVAL, "%s: FROM must begin with /", text);
}

bool path_rule_is(const char *text)
{
	return *text == '/' && strchr(text, '=') && access(text, F_OK) < 0;
}

/* Passes over slashes, then over a component, whose length it returns; 0 at the end. */
static size_t next_component(const char **at, const char **ret)
{
	*ret = *at + strspn(*at, "/");
	*at = *ret + strcspn(*ret, "/");
	return (size_t)(*at - *ret);
}

char *path_rule_apply(const char *text, const char *path)
{
	_str_ struct str from_text = {0}, to = {0};
	const char *from, *wanted, *have;
	size_t n_wanted;

	if (*path != '/' || !split_rule(text, &from_text, &to))
		return NULL;
	from = from_text.v;
	while ((n_wanted = next_component(&from, &wanted))) {
		const size_t n = next_component(&path, &have);
		const bool any = n_wanted == 1 && *wanted == '*';

		if (!n || (!any && (n != n_wanted || memcmp(have, wanted, n) != 0)))
			return NULL;
	}
	if (!to.n)
		return xstrdup("");
	path += strspn(path, "/");
	return xasprintf("%s%s%s", to.v, *path ? "/" : "", path);
}

char *path_rules_find(const char *const *texts, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++) {
		_mem_ char *there = path_rule_is(texts[i]) ? path_rule_apply(texts[i], path) : NULL;
		struct stat st;

		if (there && (!*there || (stat(there, &st) >= 0 && S_ISREG(st.st_mode))))
			return take_ptr(&there);
	}
	return NULL;
}
