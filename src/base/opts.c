/* SPDX-License-Identifier: BSD-2-Clause */
/* See opts.h. */
#include "base/opts.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/near.h"

/* Are the N bytes at A and B the same name?  _ means - (DCPI writes no_header). */
static bool is_name(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != (b[i] == '_' ? '-' : b[i]))
			return false;
	return true;
}

/* Is the N-byte NAME one of the space-separated NAMES? */
static bool has_name(const char *names, const char *name, size_t n)
{
	while (*names) {
		size_t m = strcspn(names, " ");

		if (m == n && is_name(names, name, n))
			return true;
		names += m + (names[m] == ' ');
	}
	return false;
}

static const struct opt *opts_find(const struct opt *table, const char *name, size_t n)
{
	for (const struct opt *o = table; o->names; o++)
		if (has_name(o->names, name, n))
			return o;
	return NULL;
}

static int opts_unknown(const struct opt *table, const char *arg, struct err *err)
{
	const char *name = arg + (arg[1] == '-' ? 2 : 1);
	struct near near = near_to(name, strlen(name) > 3 ? 3 : 1);

	for (const struct opt *o = table; o->names; o++) {
		for (const char *s = o->names; *s;) {
			size_t m = strcspn(s, " ");
			char one[64];

			if (m < sizeof(one)) {
				memcpy(one, s, m);
				one[m] = '\0';
				near_try(&near, one);
			}
			s += m + (s[m] == ' ');
		}
	}
	if (*near.found)
		return err_set(err, -EINVAL, "unknown option %s; did you mean %s%s?", arg,
			       strlen(near.found) > 1 ? "--" : "-", near.found);
	return err_set(err, -EINVAL, "unknown option %s; --help lists the options", arg);
}

static int opts_set(const struct opt *o, const char *arg, const char *value, struct err *err)
{
	char *end;
	double d;
	int rc = 0;

	switch (o->kind) {
	case OPT_SAY:
		break; /* opts_parse refused it */
	case OPT_FLAG:
		*(bool *)o->to = true;
		return 0;
	case OPT_STR:
		*(const char **)o->to = value;
		return 0;
	case OPT_LIST:
		vec_push((opt_list *)o->to, value);
		return 0;
	case OPT_U64:
		rc = str_parse_u64(value, 0, o->to);
		break;
	case OPT_DURATION:
		rc = str_parse_duration_ns(value, o->to);
		break;
	case OPT_DOUBLE:
		d = strtod(value, &end);
		if (end == value || *end || !isfinite(d))
			rc = -EINVAL;
		else
			*(double *)o->to = d;
		break;
	}
	return rc < 0 ? err_set(err, -EINVAL, "%s: '%s' is not a valid %s", arg, value,
				o->kind == OPT_DURATION ? "duration (10, 2.5s, 500ms, 3m)"
							: "number")
		      : 0;
}

static bool takes_number(const struct opt *o)
{
	return o->kind == OPT_U64 || o->kind == OPT_DOUBLE || o->kind == OPT_DURATION;
}

static bool is_number(const char *text)
{
	uint64_t n;

	return str_parse_u64(text, 0, &n) >= 0;
}

int opts_parse(const struct opt *table, int argc, char **argv, bool stop_at_operand,
	       opt_list *operands, struct err *err)
{
	int i;

	for (i = 1; i < argc; i++) {
		const char *arg = argv[i], *name, *value = NULL, *eq;
		const struct opt *o;
		int rc;

		if (strcmp(arg, "--") == 0) {
			i++;
			break;
		}
		if (arg[0] != '-' || arg[1] == '\0') {
			if (stop_at_operand)
				break;
			vec_push(operands, arg);
			continue;
		}
		name = arg + (arg[1] == '-' ? 2 : 1);
		eq = strchr(name, '=');
		o = opts_find(table, name, eq ? (size_t)(eq - name) : strlen(name));
		if (!o && arg[1] != '-' && isdigit((unsigned char)name[1])) { /* -j2 */
			o = opts_find(table, name, 1);
			o = o && takes_number(o) ? o : NULL;
			value = o ? name + 1 : NULL;
		}
		if (!o)
			return opts_unknown(table, arg, err);
		if (o->kind == OPT_SAY)
			return err_set(err, -EINVAL, "%s: %s", arg, o->arg);
		if (o->no_number_needed && !eq && !value &&
		    !(i + 1 < argc && is_number(argv[i + 1])))
			continue;
		if (o->kind == OPT_FLAG && eq)
			return err_set(err, -EINVAL, "%s: takes no value", arg);
		if (o->kind != OPT_FLAG && !value) {
			value = eq ? eq + 1 : i + 1 < argc ? argv[++i] : NULL;
			if (!value)
				return err_set(err, -EINVAL, "%s: needs a value (%s)", arg, o->arg);
		}
		rc = opts_set(o, arg, value, err);
		if (rc < 0)
			return rc;
	}
	for (; i < argc; i++)
		vec_push(operands, argv[i]);
	return 0;
}

char *opts_help(const struct opt *table)
{
	struct str s = {0};

	for (const struct opt *o = table; o->names; o++) {
		size_t start = s.n;

		if (!o->help)
			continue;
		str_add(&s, "  ");
		for (const char *name = o->names; *name;) {
			size_t m = strcspn(name, " ");

			str_addf(&s, "%s%s%.*s", name == o->names ? "" : ", ", m > 1 ? "--" : "-",
				 (int)m, name);
			name += m + (name[m] == ' ');
		}
		if (o->arg)
			str_addf(&s, " %s", o->arg);
		while (s.n - start < 28)
			str_addc(&s, ' ');
		str_addf(&s, " %s\n", o->help);
	}
	return s.v ? s.v : xstrdup("");
}

int opts_choose(const char *word, const char *const *words, const char *option, struct err *err)
{
	_str_ struct str all = {0};

	for (int i = 0; words[i]; i++)
		if (!word || strcmp(word, words[i]) == 0)
			return i;
	for (int i = 0; words[i]; i++)
		str_addf(&all, "%s%s", i ? ", " : "", words[i]);
	return err_set(err, -EINVAL, "%s: '%s' is none of %s", option, word, str_get(&all));
}
