/* SPDX-License-Identifier: BSD-2-Clause */
/* The note that a log has beside it. */
#include "collect/pinned.h"

#include <errno.h>

#include "base/vec.h"
#include "t.h"

TEST(a_note_reads_as_it_was_written)
{
	struct pinned_note n = {.calls = true}, got;
	char text[PINNED_NOTE_BYTES];
	struct err err;

	for (uint32_t i = 0; i < LOG_MAX_EVENTS; i++) {
		struct pinned_event *e = &n.events[n.n_events++];

		snprintf(e->name, sizeof(e->name), "cpu/event=0x%x,name=a b/u", i);
		snprintf(e->unit, sizeof(e->unit), "%s", i % 2 ? "ns" : "");
		e->period = UINT64_MAX - i;
		e->freq_hz = i;
	}
	memset(n.events[3].name, 'x', sizeof(n.events[3].name) - 1);
	pinned_note_format(&n, text);
	EXPECT_EQ(pinned_note_parse(text, sizeof(text), &got, &err), 0);
	EXPECT_EQ(got.n_events, n.n_events);
	EXPECT_EQ(got.calls, true);
	for (uint32_t i = 0; i < n.n_events; i++) {
		EXPECT_STR(got.events[i].name, n.events[i].name);
		EXPECT_STR(got.events[i].unit, n.events[i].unit);
		EXPECT_EQ(got.events[i].period, n.events[i].period);
		EXPECT_EQ(got.events[i].freq_hz, n.events[i].freq_hz);
	}
}

TEST(what_is_no_note_is_refused)
{
	static const struct {
		const char *text;
		int rc;
	} bad[] = {
		{"", -EBADMSG},
		{"\n", -EBADMSG},
		{"dwell-log", -EBADMSG},
		{"dwell-log 1 0\n", -EBADMSG}, /* no events */
		{"dwell-log 2 0\n1 0 - a\n", -EPROTONOSUPPORT},
		{"dwell-log 1 2\n1 0 - a\n", -EPROTONOSUPPORT},
		{"dwell-log 1 0\n1 0 -\n", -EBADMSG},
		{"dwell-log 1 0\n1 0 - \n", -EBADMSG},
		{"dwell-log 1 0\n0 0 - a\n", -EBADMSG}, /* a period of 0 */
		{"dwell-log 1 0\nx 0 - a\n", -EBADMSG},
		{"dwell-log 1 0\n1 0 - a", -EBADMSG}, /* no end of line */
		{"dwell-log 1 0\n1 0 ns a\n1 0 ns\n", -EBADMSG},
	};
	struct pinned_note n;
	struct err err;

	for (size_t i = 0; i < n_elems(bad); i++)
		EXPECT_EQ(pinned_note_parse(bad[i].text, strlen(bad[i].text), &n, &err), bad[i].rc);
}
