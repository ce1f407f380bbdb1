/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory a stack walker looks its tables up in: shared with the BPF programs, or a process's
 * own. */
#ifndef UNWIND_MEMORY_H
#define UNWIND_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "unwind/table.h"

#define UNWIND_N_RULES 65536

struct unwind_memory {
	uint32_t *words; /* blocks and rows of all tables; NULL: only in pieces, by open */
	size_t n_words;
	/* With words NULL: words [AT, AT + N), in memory until close; NULL when that is not to be
	 * had. */
	uint32_t *(*open)(void *ctx, size_t at, size_t n);
	void (*close)(void *ctx, uint32_t *words, size_t at, size_t n);
	void *ctx;
	struct unwind_rule *rules;   /* UNWIND_N_RULES; rule 0 is UNWIND_NO_RULE */
	struct unwind_image *images; /* n_images; 0 is nobody's */
	uint32_t n_images;
	volatile uint32_t *clock; /* what the walker notes as last_used */
};

#endif
