/* SPDX-License-Identifier: BSD-2-Clause */
/* Readable names of procedures, and what people type for them. */
#ifndef RESOLVE_PROC_NAME_H
#define RESOLVE_PROC_NAME_H

#include <stdbool.h>

/* Tells whether somebody who types WANTED may mean the procedure with the readable name HAVE.
 * WANTED is the last part of the qualified name, or the last parts, as they stand or without
 * template arguments; the procedure's arguments count when WANTED has some; hashes and the
 * compiler's suffixes are ignored:
 *
 *     void ns::Table<int>::insert<char>(char) const    insert, Table::insert, Table<int>::insert
 *     <bench::Csr as bench::Matrix>::spmv              spmv, Csr::spmv, bench::Csr::spmv
 *     bench::spmv::h0123456789abcdef                   spmv, bench::spmv
 *     spmv.constprop.0, spmv [clone .cold]             spmv
 */
bool proc_name_means(const char *have, const char *wanted);

#endif
