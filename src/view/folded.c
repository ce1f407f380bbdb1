/* SPDX-License-Identifier: BSD-2-Clause */
/* See folded.h. */
#include "view/folded.h"

#include <inttypes.h>
#include <math.h>

#include "query/rows/path_texts.h"

int folded_write(struct str *out, struct tree_source *t, double scale, uint64_t *ret_sum,
		 struct err *err)
{
	struct path_texts all;
	int rc = path_texts_init(&all, t, err);

	*ret_sum = 0;
	vec_each (p, &all.paths) {
		uint64_t whole = (uint64_t)llround(p->amount * scale);

		if (!whole)
			continue;
		str_addf(out, "%s %" PRIu64 "\n", all.texts.v + p->at, whole);
		*ret_sum += whole;
	}
	path_texts_release(&all);
	return rc;
}
