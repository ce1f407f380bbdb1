/* SPDX-License-Identifier: BSD-2-Clause */
/* See calc_kinds.h. */
#include "query/rows/calc_kinds.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/str.h"

struct kind_info {
	const char *name, *group;
};

static const struct kind_info kinds[CALC_N_KINDS] = {
	[CALC_UNEXPLAINED_STALL] = {"Unexplained stall", "dynamic"},
	[CALC_ALL_DYNAMIC] = {"Subtotal dynamic", "subtotal"},
	[CALC_FRONT] = {"Front end", "static"},
	[CALC_PORTS] = {"Busy units", "static"},
	[CALC_CHAIN] = {"Dependency", "static"},
	[CALC_ALL_STATIC] = {"Subtotal static", "subtotal"},
	[CALC_ALL_STALLS] = {"Total stall", "total"},
	[CALC_EXECUTION] = {"Execution", "execution"},
	[CALC_GAIN] = {"Unexplained gain", "gain"},
	[CALC_TALLIED] = {"Total tallied", "total"},
};

/* Rows of dcpiwhatcg(1) that have another name here, or none, and why. */
static const struct {
	const char *theirs, *ours, *why_not;
} others[] = {
	{"I-cache (not ITB)", "I-cache miss", NULL},
	{"ITB/I-cache miss", "ITB miss", NULL},
	{"FDIV busy", "Divider busy", NULL},
	{"Ra dependency", "Dependency", NULL},
	{"Rb dependency", "Dependency", NULL},
	{"Rc dependency", "Dependency", NULL},
	{"FU dependency", "Busy units", NULL},
	{"IMUL busy", NULL,
	 "today's multipliers begin one each cycle; those that wait for one are in 'Busy units' "
	 "and 'Dependency'"},
	{"Other", NULL, "what has no known cause is in 'Unexplained stall'"},
	{"Slotting", "Front end", NULL}, /* how many instructions can begin together */
	{"Net sampling error", NULL, "it is of all procedures together, in the table's last line"},
};

const char *calc_kind_name(unsigned kind)
{
	return kind < CALC_N_CAUSES ? calc_causes[kind].name : kinds[kind].name;
}

const char *calc_kind_group(unsigned kind)
{
	return kind < CALC_N_CAUSES ? "dynamic" : kinds[kind].group;
}

static double statics_of(const struct calc_tally *t)
{
	double sum = 0;

	for (unsigned b = 0; b < MCA_N_BOUNDS; b++)
		sum += t->statics[b];
	return sum;
}

static double cycles_of(const struct calc_tally *t, enum calc_kind kind)
{
	switch (kind) {
	case CALC_UNEXPLAINED_STALL:
		return t->unexplained;
	case CALC_ALL_DYNAMIC:
		return t->dynamic;
	case CALC_FRONT:
		return t->statics[MCA_FRONT];
	case CALC_PORTS:
		return t->statics[MCA_PORTS];
	case CALC_CHAIN:
		return t->statics[MCA_CHAIN];
	case CALC_ALL_STATIC:
		return statics_of(t);
	case CALC_ALL_STALLS:
		return t->dynamic + statics_of(t);
	case CALC_EXECUTION:
		return t->execution;
	case CALC_GAIN:
		return 0 - t->gain;
	default:
		return t->cycles;
	}
}

struct calc_range calc_range_of(const struct calc_tally *t, unsigned kind)
{
	double n;

	if (kind < CALC_N_CAUSES)
		return (struct calc_range){t->low[kind], t->high[kind]};
	n = cycles_of(t, (enum calc_kind)kind);
	return (struct calc_range){n, n};
}

static bool is_letter(const char *name, unsigned kind)
{
	const char letter = kind < CALC_N_CAUSES	     ? calc_causes[kind].letter
			    : kind == CALC_UNEXPLAINED_STALL ? CALC_UNEXPLAINED
							     : '\0';

	return letter && name[0] == letter && !name[1];
}

int calc_kind_find(const char *name, struct err *err)
{
	const char *ours = name;
	_str_ struct str list = {0};

	for (size_t i = 0; i < n_elems(others); i++) {
		if (strcasecmp(others[i].theirs, name) != 0)
			continue;
		if (!others[i].ours)
			return err_set(err, -EINVAL, "--stall '%s': %s", name, others[i].why_not);
		ours = others[i].ours;
	}
	for (unsigned k = 0; k < CALC_N_KINDS; k++) {
		if (strcasecmp(calc_kind_name(k), ours) == 0 || is_letter(ours, k))
			return (int)k;
		str_addf(&list, "%s%s", k ? ", " : "", calc_kind_name(k));
	}
	return err_set(err, -EINVAL, "--stall '%s': must be one of: %s", name, list.v);
}
