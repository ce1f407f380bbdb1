/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/fit.h"

#include "base/vec.h"
#include "t.h"

#include <string.h>

#define MOST 400

struct made {
	struct fit_col col;
	unsigned wider[MOST];
};

/* Makes a column of texts of these widths, 0 at the end. */
static void texts(struct made *m, enum text_cut cut, uint8_t spare, const size_t *widths)
{
	*m = (struct made){.col = {.gap = 2, .cut = cut, .spare = spare}};
	for (; *widths; widths++) {
		for (size_t w = 0; w < *widths; w++)
			m->wider[w]++;
		if (*widths > m->col.natural)
			m->col.natural = *widths;
	}
	m->col.wider = m->wider;
}

static void number(struct made *m, size_t title, size_t cells, uint8_t spare)
{
	*m = (struct made){.col = {.natural = title > cells ? title : cells,
				   .least = cells,
				   .gap = 1,
				   .spare = spare}};
}

static size_t fitted(struct made *m, unsigned n, size_t limit)
{
	struct fit_col cols[8];
	size_t total = 0;

	for (unsigned i = 0; i < n; i++) {
		cols[i] = m[i].col;
		cols[i].wider = m[i].col.wider ? m[i].wider : NULL;
	}
	fit_columns(cols, n, limit);
	for (unsigned i = 0; i < n; i++) {
		m[i].col = cols[i];
		if (!cols[i].left_out)
			total += cols[i].width + (total ? cols[i].gap : 0);
	}
	return total;
}

static const size_t names[] = {20, 20, 300, 20, 0}, paths[] = {30, 30, 30, 30, 0};

TEST(width_goes_to_what_is_cut)
{
	struct made m[3];

	number(&m[0], 6, 6, 0);
	texts(&m[1], TEXT_NAME, 0, names);
	texts(&m[2], TEXT_PATH, 0, paths);
	/* The one long name gives way, and no path does. */
	EXPECT_EQ(fitted(m, 3, 80), 80);
	EXPECT_EQ(m[1].col.width, 40);
	EXPECT_EQ(m[2].col.width, 30);
	number(&m[0], 6, 6, 0);
	texts(&m[1], TEXT_NAME, 0, names);
	texts(&m[2], TEXT_PATH, 0, paths);
	EXPECT_EQ(fitted(m, 3, 400), 340);
}

TEST(the_most_spare_column_goes_first)
{
	struct made m[4];

	number(&m[0], 6, 6, 0);
	number(&m[1], 30, 3, 1);
	number(&m[2], 8, 8, 4);
	texts(&m[3], TEXT_NAME, 0, names);
	EXPECT_EQ(fitted(m, 4, 60), 60);
	EXPECT(!m[1].col.left_out && m[2].col.left_out);
	EXPECT(m[1].col.width < 30); /* its title gave way */
	number(&m[1], 30, 3, 1);
	texts(&m[3], TEXT_NAME, 0, names);
	EXPECT_EQ(fitted(m, 4, 20), 20);
	EXPECT(m[1].col.left_out && m[2].col.left_out && !m[3].col.left_out);
}

TEST(nothing_is_ever_too_wide)
{
	struct made m[6];

	for (size_t limit = 20; limit < 250; limit++) {
		number(&m[0], 60, 12, 0);
		number(&m[1], 7, 7, 0);
		number(&m[2], 9, 9, 1);
		texts(&m[3], TEXT_WHOLE, 0, paths);
		texts(&m[4], TEXT_NAME, 0, names);
		texts(&m[5], TEXT_FOLD, 0, names);
		EXPECT(fitted(m, 6, limit) <= limit || limit < 24);
		EXPECT(!m[4].col.left_out);
	}
}
