/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that become known after their samples were shipped: a program ended before its symbols were
 * kept, or a runtime made more code.
 *
 * Of each recording it is remembered which images had places that may get a name yet, and a stamp
 * of what the database kept of their symbols then.  When the stamp is another one, the names of
 * that image's places are sent again. */
#ifndef FLEET_LATE_H
#define FLEET_LATE_H

#include "base/str.h"
#include "fleet/ids.h"
#include "resolve/resolver.h"

struct late_image {
	uint64_t recording; /* a mark of it */
	struct build_id id;
	uint64_t stamp;
};
typedef VEC(struct late_image) late_images;

/* No more are remembered; names of others come when their places have samples again. */
#define LATE_MOST 20000

/* What names places during one pass. */
struct fleet_names {
	struct resolver *resolver; /* NULL: nothing */
	const char *images;	/* the directory of kept symbols (borrowed); NULL: none are kept */
	struct fleet_ids asked; /* build-ids, by a hash: number of the stamp */
	VEC(uint64_t) stamps;
	uint64_t recording; /* whose places are looked at */
	bool is_live;	    /* its recorder runs, and will keep symbols that are not kept yet */
	late_images late;   /* found since this was emptied, each once */
	const late_images *wanted; /* images whose places are sent alone; NULL: all */
	uint64_t n_sent;	   /* places */
};

void fleet_names_release(struct fleet_names *n);

/* Whether IM's symbols are not kept yet, but will be: its file need not be read.  Symbols of the
 * largest programs take more memory than all else. */
bool fleet_names_wait(struct fleet_names *n, const struct image *im);

/* Remembers IM's stamp before its symbols are looked at, so that a name that comes meanwhile is
 * sent twice, not never. */
void fleet_names_look(struct fleet_names *n, const struct image *im);

/* Notes that IM, which was looked at, has a place that may get a name yet. */
void fleet_names_note(struct fleet_names *n, const struct image *im);

/* Whether places of IM are to be sent. */
bool fleet_names_want(const struct fleet_names *n, const struct image *im);

/* Moves those of L that are of recording MARK and whose stamp is another one now to RET; also those
 * that waited for a recorder which has ended. */
void late_take_due(late_images *l, struct fleet_names *n, uint64_t mark, late_images *ret);

bool late_has(const late_images *l, const struct late_image *im);

/* Reads what late_format writes behind its first word, MARK and REST, which is changed.  What is no
 * such line is nothing. */
void late_parse(late_images *l, const char *mark, char *rest);
void late_format(struct str *s, const struct late_image *im);

#endif
