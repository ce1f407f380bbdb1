/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of a profile by address, in the order of `dwell cat`. */
#ifndef QUERY_SAMPLES_ADDRESS_ROWS_H
#define QUERY_SAMPLES_ADDRESS_ROWS_H

#include "port/dcpi_out.h"

/* Adds to RET, which is empty, what F wants of P, a row for each event of an address: images by
 * path, then labels, then addresses. */
void address_rows_gather(const struct profile *p, const struct dcpi_filter *f, dcpi_rows *ret);

/* The number of the first row behind those that have row I's image, label and address. */
size_t address_rows_end(const dcpi_rows *rows, size_t i);

#endif
