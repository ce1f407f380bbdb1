/* SPDX-License-Identifier: BSD-2-Clause */
/* Binary search in whatever is sorted. */
#ifndef BASE_LOWER_BOUND_H
#define BASE_LOWER_BOUND_H

/* The lowest number I in [FROM, END) for which the expression BELOW does not hold; END when it
 * holds for all.  BELOW must hold for the first numbers of the range and for none after them.
 *
 *     size_t i = lower_bound(k, 0, names->n, strcmp(names->v[k], name) < 0);
 *     if (i < names->n && strcmp(names->v[i], name) == 0)
 *             found(i); */
#define lower_bound(i, from, end, below)                                                           \
	({                                                                                         \
		__typeof__((end) + 0) low_ = (from), high_ = (end);                                \
		while (low_ < high_) {                                                             \
			__typeof__(low_) i = low_ + (high_ - low_) / 2;                            \
			if (below)                                                                 \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

#endif
