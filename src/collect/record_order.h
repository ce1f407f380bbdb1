/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of several rings in order of time.  Each ring is read behind the other and nearly in
 * order itself, so there are a few long runs: they are merged, which looks at each record once for
 * every doubling of the runs.
 *
 *     struct record_order o = {0};
 *     vec_push(&o.v, (struct pending_record){time_ns, bytes}); ...
 *     record_order_sort(&o);        o.v is in order; what is equally old stays as it came */
#ifndef COLLECT_RECORD_ORDER_H
#define COLLECT_RECORD_ORDER_H

#include <stdint.h>

#include "base/vec.h"

struct pending_record {
	uint64_t time_ns;
	const uint8_t *bytes; /* in what was read of the rings */
};

struct record_order {
	VEC(struct pending_record) v, other; /* merged from one to the other */
	VEC(size_t) runs;		     /* where they begin */
	uint64_t n_moved;		     /* records that were merged, since the start */
};

void record_order_sort(struct record_order *o);
void record_order_release(struct record_order *o);

#endif
