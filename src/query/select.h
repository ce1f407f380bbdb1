/* SPDX-License-Identifier: BSD-2-Clause */
/* Which samples a reader wants: the flags common to all readers, and matching them against what a
 * profile holds.  A name nothing matches is an error that says what is there. */
#ifndef QUERY_SELECT_H
#define QUERY_SELECT_H

#include "base/err.h"
#include "base/opts.h"
#include "model/profile.h"
#include "query/samples/owners.h"

struct fleet_answers;

struct select {
	const char *db; /* NULL: $DWELLDB, $DCPIDB, the user's default */
	const char
		*epochs;  /* as store.h's selection: names, ranges; NULL: the latest of each host */
	const char *host; /* a name or a pattern; NULL: all */
	const char *since, *until; /* see select_parse_time; NULL: any time */
	uint64_t since_wall_ns;	   /* nanoseconds since 1970, instead of `since`; 0: not given */
	opt_list owners[N_OWNER_KEYS]; /* whose; see owners_select; none: all */
	opt_list events;	       /* names, several joined by '+'; none: all */
	opt_list paths;		       /* files or directories to look for images in */
	opt_list columns;	       /* of sample sets (profileme.h); none: the events */
	const char *sort_set; /* the one of them rows are sorted by, which is shown first */
	bool errors;	      /* standard errors of all numbers */
	bool no_killed;	  /* samples killed early count in no set that asks what is not reliable */
	const char *sort; /* the event rows are sorted by; NULL: the first asked for, else time */
	bool one_event; /* unless events or sets are named: that of time alone, wall time if it is there */
	bool wall_too; /* wall time where it is there beside all events, if none is named */
	bool no_debuginfod;
	bool runtime_frames;	       /* an interpreter's own frames too, which runtime.h folds */
	bool branches;		       /* read branch stacks */
	bool accesses;		       /* read accesses to memory */
	bool hosts;		       /* tell owners of a fleet's database by host */
	struct fleet_answers *answers; /* of a fleet's database, that others want; else NULL */
	bool traces;		       /* read time lines of threads, sorted by time */
	bool no_code;	     /* rows are of owners alone: images will do, see fleet/load.h */
	bool own_images;     /* rows are of images, without inclusive numbers */
	bool own_procedures; /* or of procedures */
	uint64_t stride;     /* of DCPI files: bytes per count, 1 or 4; 0: as each says, else 1 */
	bool force;	     /* read a damaged perf.data file up to the damage */
	/* Called with each line of notes about the input; NULL: nobody is told. */
	void (*notice)(void *ctx, const char *line);
	void *notice_ctx;
	/* Told of each dwell database before it is read, and of each DCPI tree that a daemon
	 * writes, so that it can be brought up to date; NULL: nobody. */
	void (*before_read)(void *ctx, const char *db);
	void *before_read_ctx;
};

void select_release(struct select *s);

/* Parses a time: how long ago ("2d", "90m"), or a date and time of UTC as far as it is given
 * ("2026-11-21", "2026-11-21 13:24", "20261121132400"), into nanoseconds since 1970.  NOW_NS: 0 for
 * the clock's.  -EINVAL. */
int select_parse_time(const char *text, uint64_t now_ns, uint64_t *ret_wall_ns, struct err *err);

/* The names in EVENTS, split at '+' outside of "pmu/.../"; fresh memory in *RET_TEXT that the list
 * points into (free both).  The word "states" stands for wall+running+runnable+blocked. */
void select_split_events(const opt_list *events, opt_list *ret, char **ret_text);

/* Appends to RET the events of P called NAME: the whole name, or it without modifiers (cycles for
 * cycles:u).  Returns -ENOENT when there is none. */
typedef VEC(event_id) event_ids;
int select_find_events(const struct profile *p, const char *name, event_ids *ret, struct err *err);

/* Names being listed in a message: "a, b, c", the first few.  Starts zeroed. */
struct name_list {
	char text[300];
	unsigned n;
};
void name_list_add(struct name_list *l, const char *name);

/* Says for each owner of P whether S wants its samples, as owners_select; NULL when all are
 * wanted.  Free it.  -ENOENT: no owner has a name that S gives. */
int select_owners(const struct profile *p, const struct select *s, bool **ret, struct err *err);

/* Appends to RET the images of P that NAME means: a path, the last part of a path, or 6 or more
 * digits of a build-id; "kernel" and "vmlinux" mean the kernel.  -ENOENT when there is none. */
typedef VEC(image_id) image_ids;
int select_find_images(const struct profile *p, const char *name, image_ids *ret, struct err *err);

/* Whether IMAGES (NULL: all) has IMAGE. */
bool image_ids_want(const image_ids *images, image_id image);

#endif
