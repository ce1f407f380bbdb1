/* SPDX-License-Identifier: BSD-2-Clause */
/* What places are in a tree: a place is one scope, or several when calls were inlined there.
 *
 * A scope is what rows of a tree are made of: a procedure, an image, a line, an address, the comm
 * of a process.  Places of one scope have one number, so that whoever goes through contexts
 * compares numbers, and each distinct place is symbolized once however many contexts it is in. */
#ifndef QUERY_SAMPLES_SCOPES_H
#define QUERY_SAMPLES_SCOPES_H

#include <regex.h>

#include "query/samples/owners.h"
#include "query/samples/query.h"

enum scope_kind {
	SCOPE_ROOT,
	SCOPE_OWNER, /* a value of an owner's key */
	SCOPE_MARK,  /* "[truncated: CAUSE]" */
	SCOPE_ENTRY, /* of a thread: "main thread" */
	SCOPE_IMAGE,
	SCOPE_FILE,
	SCOPE_PROCEDURE,
	SCOPE_LOOP, /* of a procedure */
	SCOPE_LINE, /* of a procedure */
	SCOPE_ADDRESS,
};

/* "root", "owner", "mark", "image", ...: as JSON has them. */
const char *scope_kind_name(enum scope_kind k);

typedef uint32_t scope_id;

#define SCOPE_NO_IMAGE UINT32_MAX

struct scope {
	enum scope_kind kind;
	image_id image;	      /* SCOPE_NO_IMAGE: of no image */
	uint32_t proc;	      /* the procedure's index in the image's symtab; PROC_NONE */
	uint64_t svma;	      /* of the procedure's start, or the address; 0 */
	const char *name;     /* the procedure's readable name, the image's, the owner's value */
	const char *file;     /* of a line, loop or file: NULL when not known */
	uint32_t line;	      /* 0 when not known */
	enum owner_key owner; /* SCOPE_OWNER */
	bool inlined;	      /* a procedure in the code of another one */
	bool nameless;	      /* no symbol says so: "[no symbol]", "[unknown]", "sub_..." */
	bool nested;	      /* part of the procedure above it, not called by it */
	bool truncated; /* the missing part of paths that were not followed to their beginning */
};

struct scopes_opts {
	enum scope_kind level;	    /* SCOPE_IMAGE .. SCOPE_ADDRESS */
	bool no_inline;		    /* inlined calls belong to the procedure they are in */
	bool no_args;		    /* names without the types of arguments */
	bool declared;		    /* fill .declared: what opening an image's DWARF once gives */
	const char *focus, *ignore; /* extended regular expressions (regex(7)); NULL: none */
};

enum { SCOPES_FOCUS = 1, SCOPES_IGNORE = 2, SCOPES_GUESSED = 4, SCOPES_MARKED = 8 };

/* Where DWARF says that the procedure at SVMA is declared. */
struct scope_declared {
	image_id image;
	uint64_t svma;
	const char *file; /* NULL: it does not say */
	uint32_t line;
};

struct scopes {
	VEC(struct scope) scopes;	     /* [0] is the root */
	VEC(struct scope_declared) declared; /* some twice */
	uint32_t *of_place; /* a scope_id, or with the top bit set where in POOL they are */
	VEC(uint32_t) pool; /* how many, then the scopes, outermost first */
	uint8_t *flags;	    /* by place: SCOPES_* */
	struct index index;
	struct arena arena; /* texts */
};

/* Compiles PATTERN, that was given with --OPTION, into RE, the caller's to free; NULL: nothing is
 * compiled.  -EINVAL quotes what is wrong. */
int scopes_pattern(regex_t *re, const char *option, const char *pattern, struct err *err);

/* Finds the scopes of the places that USED (by place) is set for.  Names and lines come from Q's
 * resolver; S may be used until scopes_release.  -EINVAL for a pattern that is no regular
 * expression. */
int scopes_init(struct scopes *s, struct query *q, const struct scopes_opts *o, const bool *used,
		struct err *err);
void scopes_release(struct scopes *s);

/* The number of the scope equal to KEY, whose texts must live as long as S. */
scope_id scopes_intern(struct scopes *s, const struct scope *key);

/* The scopes of a place, outermost first; at least one. */
static inline const scope_id *scopes_of_place(const struct scopes *s, place_id place,
					      uint32_t *ret_n)
{
	uint32_t at = s->of_place[place];

	if (at & 0x80000000) {
		at &= 0x7fffffff;
		*ret_n = s->pool.v[at];
		return &s->pool.v[at + 1];
	}
	*ret_n = 1;
	return &s->of_place[place];
}

/* Whether samples in scope SC are the kernel's. */
bool scope_is_kernel(const struct profile *p, const struct scope *sc);

#endif
