/* SPDX-License-Identifier: BSD-2-Clause */
/* Code of interpreters that a process makes up without end: what is kept of it has a bound, and the
 * profile says what is beyond. */
#include "collect/calls/scripts.h"

#include <stdio.h>
#include <string.h>

#include "model/script.h"
#include "unwind/chain.h"
#include "unwind/script_record.h"
#include "unwind/table.h"

#include "t.h"

#define N_FUNCTIONS 100000
#define FIRST	    1000 /* number */

static struct scripts scripts;
static struct profile profile;

static void text(struct script_text *to, const char *prefix, unsigned i)
{
	char bytes[SCRIPT_TEXT_BYTES + 1];

	memset(bytes, 'x', sizeof(bytes));
	snprintf(bytes + 200, sizeof(bytes) - 200, "%s_%u", prefix, i);
	to->n_bytes = (unsigned)strlen(bytes);
	to->kind = 1;
	memcpy(to->words, bytes, to->n_bytes);
}

/* Tells of function I, in a file of its own, and returns the name of the place where it is. */
static const char *meet(unsigned i)
{
	struct script_record r = {.number = FIRST + i,
				  .what = SCRIPT_FUNCTION,
				  .interpreter = INTERPRETER_PYTHON_3_11,
				  .first_line = 1,
				  .more.kind = 1};
	place_id place;

	text(&r.file, "file", i);
	text(&r.name, "name", i);
	scripts_add(&scripts, (const uint8_t *)&r, sizeof(r) - sizeof(r.lines));
	place = scripts_place(&scripts, &profile, FRAME_SCRIPT(FIRST + i, SCRIPT_NO_OFF));
	return profile_str(&profile, profile_find_script(&profile, place)->name);
}

TEST(made_up_functions_have_a_bound)
{
	const char *first, *last = "";
	size_t before, after;

	profile_init(&profile);
	first = meet(0);
	EXPECT_STR(first + 200, "name_0");
	before = profile_bytes(&profile);
	for (unsigned i = 1; i < N_FUNCTIONS; i++)
		last = meet(i);
	after = profile_bytes(&profile);
	EXPECT_STR(last, "[more code than is kept]");
	EXPECT(after - before > SCRIPTS_MOST_PLACED / 2);
	EXPECT(after - before < 2 * SCRIPTS_MOST_PLACED);
	EXPECT(scripts.n_bytes <= SCRIPTS_MOST_BYTES + sizeof(struct script_record));
	/* What was met before still has its name. */
	EXPECT_STR(profile_str(&profile, profile.scripts.v[0].name) + 200, "name_0");
	profile_release(&profile);
	scripts_release(&scripts);
}
