/* SPDX-License-Identifier: BSD-2-Clause */
/* Events that are counted together: the kernel puts all of a group on the hardware, or none, so
 * that their counts are of the same time. */
#ifndef EVENTS_GROUP_H
#define EVENTS_GROUP_H

#include "events/spec.h"

/* Returns the number of the event that leads event I's group in SPECS; I itself when it is alone or
 * leads.  Leaders are opened before their members, wherever they stand in the list. */
size_t event_group_leader(const struct event_specs *specs, size_t i);

/* Puts Intel's top-down metrics into the group of their slots, as the kernel wants it.  -EINVAL:
 * one of them has no slots beside it. */
int event_groups_settle(struct event_specs *specs, struct err *err);

#endif
