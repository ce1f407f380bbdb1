/* SPDX-License-Identifier: BSD-2-Clause */
/* See seats.h. */
#include "web/seats.h"

#include <stddef.h>

struct seat *seats_take(struct seats *s, uint64_t who, bool is_owner)
{
	unsigned n_guests = 0, n_own = 0;
	struct seat *free_seat = NULL;

	for (unsigned i = 0; i < SEATS_ALL; i++) {
		struct seat *x = &s->seat[i];

		if (!x->taken && !free_seat)
			free_seat = x;
		if (x->taken && !x->is_owner) {
			n_guests++;
			n_own += x->who == who;
		}
	}
	if (!free_seat || (!is_owner && (n_guests >= SEATS_GUESTS || n_own >= SEATS_A_GUEST)))
		return NULL;
	*free_seat = (struct seat){.taken = true, .is_owner = is_owner, .who = who};
	return free_seat;
}
