/* SPDX-License-Identifier: BSD-2-Clause */
/* The instructions that callers' places lie in. */
#ifndef HPC_CALL_SITES_H
#define HPC_CALL_SITES_H

#include "query/samples/query.h"

/* Finds where the instructions of N places of IMAGE begin: SPOTS are sorted by address.  A caller's
 * place (IS_CALLER, by place) is the return address less one and lies somewhere in the call; what
 * is no caller's is an instruction's first byte.  Puts the addresses into RET; where the code
 * cannot be read, the place's own. */
void call_sites_find(struct query *q, image_id image, const struct spot *spots, size_t n,
		     const bool *is_caller, uint64_t *ret);

#endif
