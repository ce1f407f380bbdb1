/* SPDX-License-Identifier: BSD-2-Clause */
/* Who may have a connection, so that no crowd keeps the owner out.
 *
 * There are SEATS_ALL seats. The owner may take all that are free. Everybody else together may have
 * SEATS_GUESTS of them, and each guest SEATS_A_GUEST: with 200, 60 and 20, three users of this
 * machine that connect as often as they can hold 60 seats, and 140 stay the owner's. */
#ifndef WEB_SEATS_H
#define WEB_SEATS_H

#include <stdbool.h>
#include <stdint.h>

#define SEATS_ALL     200u
#define SEATS_GUESTS  60u
#define SEATS_A_GUEST 20u

struct seat {
	bool taken, is_owner;
	uint64_t who; /* any number that differs from guest to guest */
};

struct seats {
	struct seat seat[SEATS_ALL];
};

/* Takes a seat for the guest or owner WHO.  NULL: none is left for it.  Clear `taken` to give it
 * back. */
struct seat *seats_take(struct seats *s, uint64_t who, bool is_owner);

#endif
