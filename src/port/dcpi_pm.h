/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of dcpicat's text that are ProfileMe's, as (event, vector) and back;
 * docs/formats/dcpi.md, "ProfileMe in the text form".
 *
 *     retired^!taken^notrap:m1retdelay            DCPI's: mode 1 is event pm
 *     ibs_op@retired^!mispredict:mlatency         ours: of any event and counter
 *     ibs_op@retired^!mispredict:mlatency.n       of how many samples the counter is known */
#ifndef PORT_DCPI_PM_H
#define PORT_DCPI_PM_H

#include "model/profile.h"

struct dcpi_pm {
	struct vector vector; /* counter 0: samples, else the counter's total */
	bool measured;	      /* instead of the total, how many samples it is of */
	const char *event;    /* its name; may lie in the text that was parsed */
	size_t n_event;	      /* length of that */
};

/* The text of a column of event EVENT of P, SET[@...], and in *RET_COUNTER what stands behind the
 * colon; both to be freed. */
char *dcpi_pm_format(const struct profile *p, event_id event, const struct dcpi_pm *column,
		     char **ret_counter);

/* Parses a column's NAME and COUNTER, as struct dcpi_text_event has them.  A bit or counter that
 * has no name yet (DCPI's files have `capped` and `twnzrd`) is given one in P.  False when they are
 * none that can be understood: no set, or P can name no more. */
bool dcpi_pm_parse(struct profile *p, const char *name, const char *counter, struct dcpi_pm *ret);

#endif
