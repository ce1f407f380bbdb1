/* SPDX-License-Identifier: BSD-2-Clause */
/* See set_cols.h. */
#include "view/set_cols.h"

#include <string.h>

void set_cols(enum scope_kind level, struct emit_col *ret)
{
	const unsigned at_line = level == SCOPE_LINE ? 0 : EMIT_IN_NONE;
	const struct emit_col cols[N_SET_COLS] = {
		[SET_COL_KIND] = {"kind", NULL, EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
		[SET_COL_PROCEDURE] = {"procedure", NULL, EMIT_STR, .cut = TEXT_NAME,
				       .in = level == SCOPE_IMAGE ? EMIT_IN_NONE : 0},
		[SET_COL_FILE] = {"file", NULL, EMIT_STR, .cut = TEXT_PATH, .in = at_line},
		[SET_COL_LINE] = {"line", NULL, EMIT_U64, .in = at_line},
		[SET_COL_SVMA] = {"svma", NULL, EMIT_HEX,
				  .in = level == SCOPE_ADDRESS ? 0 : EMIT_IN_NONE},
		[SET_COL_IMAGE] = {"image", NULL, EMIT_STR, .cut = TEXT_PATH},
	};

	memcpy(ret, cols, sizeof(cols));
}

void set_cells(const struct set_row *r, bool is_table, struct emit_cell *ret)
{
	ret[SET_COL_KIND] = (struct emit_cell){.s = r->image_kind};
	ret[SET_COL_PROCEDURE] = (struct emit_cell){.s = r->procedure};
	ret[SET_COL_FILE] = (struct emit_cell){.s = r->file};
	ret[SET_COL_LINE] = (struct emit_cell){.u = r->line, .none = !r->line};
	ret[SET_COL_SVMA] = (struct emit_cell){.u = r->svma};
	ret[SET_COL_IMAGE] = (struct emit_cell){.s = set_row_image(r, is_table)};
}
