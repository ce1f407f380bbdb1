/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of Go's functions made byte for byte: main.outer of 0x40 bytes, then main.leaf of
 * 0x10. */
#ifndef TESTS_UNIT_GOPCLNTAB_T_H
#define TESTS_UNIT_GOPCLNTAB_T_H

#include <string.h>

#include "base/wr.h"
#include "unwind/gopclntab.h"

/* Where things are in the table. */
enum {
	GO_FUNCS = 0x100,
	GO_NAMES = 0x200,
	GO_UNITS = 0x280,
	GO_FILES = 0x2c0,
	GO_VALUES = 0x340,
	GO_END = 0x400
};
enum { GO_FUNC_1 = 0x40, GO_FUNC_2 = 0xa0 }; /* behind GO_FUNCS */

static inline void set_bytes(struct wr *w, size_t at, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		w->v[at + i] = (uint8_t)(v >> 8 * i);
}

/* The entry of one function: where the values are, from GO_VALUES on. */
static inline void set_func(struct wr *w, enum go_layout layout, size_t at, uint64_t start,
			    uint32_t name, uint32_t depths, uint32_t files, uint32_t lines,
			    uint32_t inlined)
{
	const bool is_old = layout < GO_1_18;
	const uint32_t base = layout == GO_1_2 ? GO_VALUES : 0;

	set_bytes(w, at, start, is_old ? 8 : 4);
	at += is_old ? 8 : 4;
	set_bytes(w, at, name + (layout == GO_1_2 ? GO_NAMES : 0), 4);
	at += 12;
	set_bytes(w, at, depths ? depths + base : 0, 4);
	set_bytes(w, at + 4, files ? files + base : 0, 4);
	set_bytes(w, at + 8, lines ? lines + base : 0, 4);
	set_bytes(w, at + 12, inlined ? 3 : 0, 4);
	at += 16;
	if (layout >= GO_1_16) {
		set_bytes(w, at, 0, 4); /* unit */
		at += 4;
	}
	if (layout >= GO_1_20) {
		set_bytes(w, at, 5, 4); /* first line */
		at += 4;
	}
	at += 4;
	if (inlined)
		set_bytes(w, at + 8, inlined + base, 4);
}

/* TEXT: the svma of the code. */
static inline void put_go_table(struct wr *w, enum go_layout layout, uint64_t text)
{
	static const uint32_t magics[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1};
	const unsigned n = layout < GO_1_18 ? 8 : 4;
	const uint64_t base = layout < GO_1_18 ? text : 0;
	const size_t funcs = layout == GO_1_2 ? 16 : GO_FUNCS;
	const size_t entries = GO_FUNCS;
	const uint64_t from = layout == GO_1_2 ? GO_FUNCS : 0;
	size_t at = 16;

	for (unsigned i = 0; i < GO_END; i++)
		wr_u8(w, 0);
	set_bytes(w, 0, magics[layout], 4);
	w->v[6] = 1;
	w->v[7] = 8;
	set_bytes(w, 8, 2, 8);
	if (layout > GO_1_2) {
		set_bytes(w, at, 2, 8);
		at += 8;
		if (layout >= GO_1_18) {
			set_bytes(w, at, text, 8);
			at += 8;
		}
		set_bytes(w, at, GO_NAMES, 8);
		set_bytes(w, at + 8, GO_UNITS, 8);
		set_bytes(w, at + 16, GO_FILES, 8);
		set_bytes(w, at + 24, GO_VALUES, 8);
		set_bytes(w, at + 32, GO_FUNCS, 8);
	}
	set_bytes(w, funcs, base, n);
	set_bytes(w, funcs + n, from + GO_FUNC_1, n);
	set_bytes(w, funcs + 2 * n, base + 0x40, n);
	set_bytes(w, funcs + 3 * n, from + GO_FUNC_2, n);
	set_bytes(w, funcs + 4 * n, base + 0x50, n);
	if (layout == GO_1_2)
		set_bytes(w, funcs + 5 * n, GO_UNITS, 4);
	set_func(w, layout, entries + GO_FUNC_1, base, 1, 1, 0x10, 0x20, 0x30);
	set_func(w, layout, entries + GO_FUNC_2, base + 0x40, 0xc, 8, 0x10, 0x28, 0);
	memcpy(w->v + GO_NAMES + 1, "main.outer", 11);
	memcpy(w->v + GO_NAMES + 0xc, "main.leaf", 10);
	/* File 1 of the unit, or of the table. */
	set_bytes(w, GO_UNITS, 0xffffffff, 4);
	set_bytes(w, GO_UNITS + 4, layout == GO_1_2 ? GO_FILES + 4 : 4, 4);
	memcpy(w->v + GO_FILES + 4, "/src/main.go", 13);
	memcpy(w->v + GO_VALUES + 1, "\x02\x04\x20\x38\x1f\x04", 7); /* 0, 16, 0 */
	memcpy(w->v + GO_VALUES + 8, "\x02\x10", 3);
	memcpy(w->v + GO_VALUES + 0x10, "\x04\x40", 3);			/* 1 */
	memcpy(w->v + GO_VALUES + 0x20, "\x10\x10\x06\x30", 5);		/* 7, 10 */
	memcpy(w->v + GO_VALUES + 0x28, "\x2a\x10", 3);			/* 20 */
	memcpy(w->v + GO_VALUES + 0x30, "\x00\x10\x02\x20\x01\x10", 7); /* -1, 0, -1 */
}

#endif
