/* SPDX-License-Identifier: BSD-2-Clause */
/* Which BPF file system logs are pinned in.
 *
 * A mount dies with the last process of its mount namespace, and pins die with their mount.  So
 * where there is no BPF file system that is safe, PIN_PLACE is mounted in the namespace of the
 * machine's first process, which outlives every service; never in that of a service.  A directory
 * there is used through its descriptor, also when its path means nothing in this namespace. */
#ifndef COLLECT_PIN_PLACE_H
#define COLLECT_PIN_PLACE_H

#include "base/vec.h"
#include "collect/pin_dir.h"

#define PIN_PLACE     "/run/dwell/bpf"
#define PIN_PLACE_OLD "/sys/fs/bpf" /* where the system mounts one, and 0.1.0 pinned */

struct pin_places {
	VEC(struct pin_dir) all; /* where pins are looked for: what others cannot change */
	struct pin_dir fresh;	 /* one more descriptor: where new ones go; fd -1: nowhere */
};

/* Opens the places in their order: ASKED (NULL: none), PIN_PLACE, PIN_PLACE_OLD, and the first
 * process's PIN_PLACE.  With MOUNT the last one is mounted when none of the others is safe.
 * WHY_NOT tells what is wrong with ASKED, and when there is no place, with each of them. */
void pin_places_open(struct pin_places *p, const char *asked, bool mount, struct err *why_not);
void pin_places_close(struct pin_places *p);

#endif
