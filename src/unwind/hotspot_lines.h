/* SPDX-License-Identifier: BSD-2-Clause */
/* From a bytecode of a Java method to its source line. */
#ifndef UNWIND_HOTSPOT_LINES_H
#define UNWIND_HOTSPOT_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "unwind/table.h"

/* The lowest line in the N bytes of TABLE, a method's of INTERPRETER; 0: there is none. */
uint32_t hotspot_first_line(enum interpreter interpreter, const uint8_t *table, size_t n);

/* The line of the bytecode at BCI; 0: not known. */
uint32_t hotspot_line(enum interpreter interpreter, const uint8_t *table, size_t n, uint32_t bci);

#endif
