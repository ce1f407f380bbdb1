/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi.h.  The names are those of dcpid(1)'s events on Alpha processors up to the 21264A
 * (EV67): imiss, dmiss and bmiss count misses of the instruction, data and board caches. */
#include "events/dcpi.h"

#include <string.h>

#include "base/vec.h"

static const struct {
	const char *name, *today;
} names[] = {
	{"imiss", "`L1-icache-load-misses`"},
	{"dmiss", "`L1-dcache-load-misses`"},
	{"bmiss", "`LLC-load-misses`"},
	{"retires", "`instructions`"},
	{"issues", "`instructions`"},
	{"branchmp", "`branch-misses`"},
	{"brmiss", "`branch-misses`"},
	{"itbmiss", "`iTLB-load-misses`"},
	{"dtbmiss", "`dTLB-load-misses`"},
	{"itbmisses", "`iTLB-load-misses`"},
	{"dtbmisses", "`dTLB-load-misses`"},
	{"unaltrap", "`alignment-faults`"},
	{"replaytrap", "`-slot pm` and the sample set `replays`, where the machine tells it"},
};

const char *event_dcpi_today(const char *name)
{
	for (size_t i = 0; i < n_elems(names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].today;
	return NULL;
}
