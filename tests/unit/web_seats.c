/* SPDX-License-Identifier: BSD-2-Clause */
/* Crowds of guests leave the owner room. */
#include "web/seats.h"

#include "t.h"

static unsigned take_many(struct seats *s, uint64_t who, bool is_owner, unsigned n)
{
	unsigned got = 0;

	while (n--)
		got += seats_take(s, who, is_owner) != NULL;
	return got;
}

TEST(a_guest_has_few_seats_and_all_guests_some)
{
	struct seats s = {0};

	EXPECT_EQ(take_many(&s, 1000, false, 500), SEATS_A_GUEST);
	for (uint64_t who = 1001; who < 1500; who++)
		take_many(&s, who, false, 500);
	EXPECT_EQ(take_many(&s, 0, true, 500), SEATS_ALL - SEATS_GUESTS);
	EXPECT(!seats_take(&s, 2000, false));
}

TEST(a_seat_that_was_given_back_is_taken_again)
{
	struct seats s = {0};

	EXPECT_EQ(take_many(&s, 0, true, 500), SEATS_ALL);
	EXPECT(!seats_take(&s, 0, true));
	EXPECT(!seats_take(&s, 1000, false));
	s.seat[7].taken = false;
	EXPECT(seats_take(&s, 1000, false) == &s.seat[7]);
}
