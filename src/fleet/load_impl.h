/* SPDX-License-Identifier: BSD-2-Clause */
/* What load.c asks and load_rows.c takes. */
#ifndef FLEET_LOAD_IMPL_H
#define FLEET_LOAD_IMPL_H

#include "fleet/ids.h"
#include "fleet/pick.h"

/* A sum, in ids of the fleet. */
struct fleet_count {
	uint64_t owner, ctx, vector, event, n, total;
	uint64_t host; /* its hash; 0: all */
	uint64_t svma; /* where images or procedures will do: in image `ctx` */
};
typedef VEC(struct fleet_count) fleet_count_list;

/* Sums of hosts that have the rest in common; by host. */
struct fleet_host_sum {
	uint64_t host, n, total;
};
typedef VEC(struct fleet_host_sum) fleet_host_sums;

struct fleet_row {
	struct fleet_count key; /* without host and numbers */
	fleet_host_sums hosts;
};

struct fleet_loader {
	struct fleet_server *s;
	const struct fleet_selection *sel;
	struct profile *p;
	stacks_symbol_list *symbols;
	struct fleet_pick pick;
	struct str owners;	 /* " AND ...": a condition of rows of the owners wanted */
	struct str folded;	 /* contexts wanted besides images: a SELECT or a list; "": all */
	bool has_folded;	 /* there are such */
	struct fleet_ids named;	 /* images whose names decide something where images will do */
	struct fleet_ids known;	 /* images of which there are names */
	bool has_names;		 /* of places, already */
	bool by_idle;		 /* owners that are no idle tasks are all the same: 0 */
	bool by_row;		 /* sums have hosts, or svmas that settle: they go to ROWS first */
	bool is_taken;		 /* what is counted now is to be taken away */
	ctx_id no_callers;	 /* above images that are there instead of contexts */
	fleet_count_list counts; /* each once */
	struct index counted;	 /* of these, while there may be more */
	VEC(struct fleet_row) rows; /* with BY_ROW, until COUNTS are made of them */
	struct index row_index;
	fleet_host_sums incoming, room;
	struct fleet_ids image_ids; /* by id: number in the profile */
	struct fleet_ids host_ids;  /* by hash: name */
	struct fleet_ids owner_ids, event_ids, vector_ids, ctx_ids;
	ctx_id unknown;		  /* of contexts that no dictionary has */
	VEC(uint8_t) used_images; /* by number: whether a context has it */
	/* Names, by image. */
	VEC(struct symtab_builder) names;
};

enum fleet_question_id {
	ASK_IMAGES,
	ASK_OWNERS,
	ASK_CONTAINERS,
	ASK_EVENTS,
	ASK_VECTORS,
	ASK_CONTEXTS,
	ASK_LOSSES,
	ASK_PLACES,
	ASK_COUNTS, /* the statements of these are load.c's */
	ASK_FOLDED,
	ASK_HOSTS, /* as ASK_COUNTS, with arrays of hosts */
	ASK_FOLDED_HOSTS,
	ASK_KNOWN,
	FLEET_N_QUESTIONS
};

/* A statement: SELECT, a condition, END. */
struct fleet_question {
	const char *select, *end;
	const struct native_col *cols;
	size_t n_cols;
	native_row_fn *take; /* of a struct fleet_loader */
};
extern const struct fleet_question fleet_questions[FLEET_N_QUESTIONS];

/* Leaves out what is nothing, when all is counted. */
void fleet_counts_drop(struct fleet_loader *l);

/* Makes counts of all rows, which are nothing or more, each once. */
void fleet_rows_count(struct fleet_loader *l);
void fleet_rows_release(struct fleet_loader *l);

/* Makes counts of all rows, moved to their procedure's start by the names that are known now.  Sums
 * of days have it at the start that was known when they were made, values at each address. */
void fleet_rows_settle(struct fleet_loader *l);

/* Adds what was counted, whose names are known now, to the profile.  -EBADMSG. */
int fleet_add_counts(struct fleet_loader *l, struct err *err);

/* Hands the names of places over. */
void fleet_take_names(struct fleet_loader *l);

#endif
