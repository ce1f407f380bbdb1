/* SPDX-License-Identifier: BSD-2-Clause */
/* What contexts of an HPCToolkit database are in rows: scopes (scopes.h), whose images are the
 * database's modules and whose procedures are its functions. */
#ifndef QUERY_HPC_SCOPES_H
#define QUERY_HPC_SCOPES_H

#include <regex.h>

#include "query/hpc/db.h"
#include "query/samples/scopes.h"
#include "query/rows/tree_rows.h"

struct hpc_scopes {
	const struct hpc_db *db;
	struct scopes scopes;
	scope_id *of_function; /* two for each: called, inlined; 0: not asked for yet */
	const char **images;   /* names by module; NULL: not asked for yet */
	bool has_focus, has_ignore;
	regex_t focus, ignore;
};

/* FOCUS and IGNORE are extended regular expressions or NULL; -EINVAL when one is none. */
int hpc_scopes_init(struct hpc_scopes *s, const struct hpc_db *db, const char *focus,
		    const char *ignore, struct err *err);
void hpc_scopes_release(struct hpc_scopes *s);

/* The kind of scope that CTX is at LEVEL: SCOPE_ENTRY, SCOPE_PROCEDURE, SCOPE_LOOP, SCOPE_LINE or
 * SCOPE_ADDRESS.  An instruction that was called, in a procedure nobody knows, is one itself unless
 * instructions are shown. */
enum scope_kind hpc_ctx_kind(const struct hpc_ctx *ctx, enum scope_kind level);

/* Whether rows at LEVEL show contexts of KIND; else what is below these stands in their place. */
bool hpc_kind_is_shown(enum scope_kind kind, enum scope_kind level);

/* The scope of CTX at LEVEL.  *FUNCTION is the one it is in, HPC_NONE: none that is known; it
 * becomes that which what is below CTX is in. */
int hpc_scopes_find(struct hpc_scopes *s, const struct hpc_ctx *ctx, enum scope_kind level,
		    uint32_t *function, scope_id *ret, struct err *err);

/* The scope of an image (SCOPE_IMAGE) or file (SCOPE_FILE), HPC_NONE: of what is in none. */
int hpc_scopes_find_whole(struct hpc_scopes *s, enum scope_kind kind, uint32_t number,
			  scope_id *ret, struct err *err);

/* SCOPES_FOCUS and SCOPES_IGNORE, as the patterns match the scope's name or image. */
uint8_t hpc_scopes_match(struct hpc_scopes *s, scope_id id);

/* "[unknown]" for SCOPE_NO_IMAGE and what cannot be read. */
const char *hpc_scopes_image(struct hpc_scopes *s, image_id image);

#endif
