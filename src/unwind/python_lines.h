/* SPDX-License-Identifier: BSD-2-Clause */
/* CPython's tables of lines: for each stretch of bytecode the line it came from. */
#ifndef UNWIND_PYTHON_LINES_H
#define UNWIND_PYTHON_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/table.h"

/* Finds the line of code unit number UNIT (of 2 bytes) in INTERPRETER's table of N bytes, of code
 * whose first line is FIRST; 0: the table does not say, or ends before.  The table is whole, or its
 * first SCRIPT_LINE_BYTES. */
uint32_t python_line(enum interpreter interpreter, const uint8_t *table, size_t n, uint32_t first,
		     uint32_t unit);

#endif
