/* SPDX-License-Identifier: BSD-2-Clause */
/* DCPI's names of events, and what they are called today. */
#ifndef EVENTS_DCPI_H
#define EVENTS_DCPI_H

/* What to use in place of event NAME of DCPI, as a few words for a message ("`instructions`"); NULL
 * when DCPI had no such event, or when the name is the same today. */
const char *event_dcpi_today(const char *name);

#endif
