/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples as other tools' formats want them: named places, the call paths they make, and an amount
 * of each column at each path.  A source fills a struct stacks (query/stacks.h), an exporter
 * (exporters.h) writes it.
 *
 * Example: main() calls hot(), which inlines add(); 40 samples at 0x401035.
 *
 *     places[1]  prog 0x401007  lines: main at prog.c:20
 *     places[2]  prog 0x401035  lines: add at add.h:3, hot at prog.c:12   (innermost first)
 *     nodes[1]   parent 0, place 1
 *     nodes[2]   parent 1, place 2
 *     values[0]  node 2, owner 1, amounts 40 and 40000000
 *
 * Node 0 is the root, place 0 and function 0 are none.  Texts and arrays live
 * as long as the struct. */
#ifndef PORT_STACKS_H
#define PORT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/image.h"
#include "model/profile.h"

enum stack_amount {
	STACK_SAMPLES, /* samples; of events that measure time, intervals */
	STACK_WEIGHT,  /* what they stand for: UNIT of the event */
};

struct stack_column {
	const char *event; /* "cpu-clock", or a metric's name */
	const char *name;  /* unlike those of other columns: "samples", "cpu", "cycles_samples" */
	const char *unit;  /* "count", "nanoseconds", "bytes" */
	enum stack_amount amount;
	uint64_t period;  /* of the event, in units of its weight; 0: none */
	uint64_t total;	  /* of all values */
	bool own_weights; /* samples of the event differ in what they stand for */
};

struct stack_image {
	const char *path; /* as its process saw it, or "[kernel]", "[vdso]" */
	char build_id[2 * BUILD_ID_MAX + 1];
	uint64_t start, end; /* svma of its code; both 0: not known */
	enum image_kind kind;
	bool is_kernel; /* the kernel, a module or a BPF program */
	bool by_offset; /* addresses of nameless code in it are offsets in its file */
	bool is_used;
};

struct stack_function {
	const char *name;   /* readable, without types of arguments; never empty */
	const char *linked; /* as linked; NAME when that is not known */
	const char *file;   /* where it is defined; "" when not known */
	uint32_t line;	    /* 0: not known */
	uint32_t image;	    /* STACK_NO_IMAGE: of none */
	uint64_t svma;	    /* of its first instruction; 0: not known, or it is inlined */
	uint32_t local;	    /* which local symbol of that linked name it is in its image, from 1 by
			       address; 0: a global one, or not asked for */
	bool nameless;	    /* no symbol: NAME is the image's in brackets */
	bool is_mark;	    /* no code: "[truncated: CAUSE]" */
	bool in_kernel;	    /* of no image, and the kernel's: generated code that went again */
};
#define STACK_NO_IMAGE UINT32_MAX

/* Where in a function a place is. */
struct stack_line {
	uint32_t function;
	uint32_t line;		/* 0: not known */
	const char *file;	/* "" when not known */
	uint32_t discriminator; /* tells apart blocks of a line; 0: none, or not asked for */
	bool inlined;		/* FUNCTION is inlined where it was called */
};

struct stack_place {
	uint32_t image; /* STACK_NO_IMAGE: of none */
	uint64_t svma;
	uint32_t first_line, n_lines; /* of struct stacks' lines: innermost first, at least one */
	bool is_used;
};

struct stack_node {
	uint32_t parent, place;
};

/* Whose samples; texts are "" and numbers 0 when not known. */
struct stack_owner {
	const char *comm, *exe, *cgroup, *label;
	uint32_t pid, tid;
	int64_t uid;				  /* -1: not known */
	const char *container[CONTAINER_N_TEXTS]; /* NULL: not told */
};

/* The amounts of value I are amounts[I * n_columns ...]. */
struct stack_value {
	uint32_t node, owner;
};

/* At TIME_NS since 1970 the thread was at NODE, as a sample of the event of COLUMN says. */
struct stack_point {
	uint64_t time_ns;
	uint32_t node, column;
};

struct stack_thread {
	uint32_t owner, pid, tid;
	uint64_t start_ns, end_ns; /* since 1970; 0: not known */
	size_t first, n;	   /* of points, by time */
};

/* Jumps that branch stacks tell of. */
struct stack_branch {
	uint32_t from, to; /* places */
	uint64_t count, n_mispredicted;
	uint64_t n_newest, n_oldest; /* see struct branch */
};

/* Instructions of PLACE's line that run one after the other: how often, in any unit that is the
 * same for all. */
struct stack_run {
	uint32_t place;
	uint64_t n;
	bool is_entry; /* the function that PLACE is in begins here */
};

struct stack_loss {
	const char *event, *name;
	uint64_t n;
};

struct stacks {
	VEC(struct stack_column) columns;
	unsigned main_column; /* what formats with one number are given */
	VEC(struct stack_image) images;
	VEC(struct stack_function) functions;
	VEC(struct stack_line) lines;
	VEC(struct stack_place) places;
	VEC(struct stack_node) nodes; /* parents first */
	VEC(struct stack_owner) owners;
	VEC(struct stack_value) values; /* by node, then owner; each pair once */
	VEC(uint64_t) amounts;
	VEC(struct stack_thread) threads;
	VEC(struct stack_point) points;
	VEC(struct stack_branch) branches;
	VEC(struct stack_run) runs; /* of the program (stacks_program) */
	VEC(struct stack_loss) losses;
	const char *host, *command, *kernel, *input; /* "" when not known */
	uint64_t start_ns, end_ns;		     /* since 1970; 0: not known */
	bool has_addresses, has_owners;
	struct arena arena;
};

void stacks_release(struct stacks *s);

/* Sorts the values of S, and sets its totals and what of it is used. */
void stacks_settle(struct stacks *s);

static inline const uint64_t *stacks_amounts(const struct stacks *s, size_t value)
{
	return s->amounts.v + value * s->columns.n;
}

/* Values by owner.  Those of owner W are order[first[W]] to order[first[W + 1] - 1], by node. */
struct stacks_owned {
	uint32_t *order;
	size_t *first;
};
struct stacks_owned stacks_by_owner(const struct stacks *s);
void stacks_owned_release(struct stacks_owned *o);

/* The innermost function of a node other than 0. */
static inline const struct stack_function *stacks_leaf(const struct stacks *s, uint32_t node)
{
	const struct stack_place *pl = &s->places.v[s->nodes.v[node].place];

	return &s->functions.v[s->lines.v[pl->first_line].function];
}

/* Fills RET with the lines of NODE's path, outermost first: inlined calls are lines of their
 * own. */
typedef VEC(uint32_t) stack_frames;
void stacks_frames(const struct stacks *s, uint32_t node, stack_frames *ret);

/* Whether column C is the one of its event that formats with one number an event are given: what
 * samples stand for where that says more than how many they are. */
bool stacks_tells(const struct stacks *s, unsigned c);

/* The column of those that has the event of the main column. */
unsigned stacks_main(const struct stacks *s);

/* The image that a file of one program is about: the only one with samples of its own, else the one
 * whose file most samples' processes run, else the file with most samples of its own. */
size_t stacks_program(const struct stacks *s);

/* What code of the image PATH without a symbol is called: "[libc.so.6]", and "[kernel]" of
 * "[kernel]".  It lives as long as PATH and ARENA. */
const char *stacks_bare_name(const char *path, struct arena *arena);

/* Appends "comm pid/tid", as far as it is known, to RET. */
void stacks_name_owner(const struct stack_owner *o, struct str *ret);

/* What service O is a part of (container_service); lives as long as ARENA. */
const char *stacks_service(const struct stack_owner *o, struct arena *arena);

/* Whether samples in F are the kernel's. */
static inline bool stacks_is_kernel(const struct stacks *s, const struct stack_function *f)
{
	return f->in_kernel || (f->image != STACK_NO_IMAGE && s->images.v[f->image].is_kernel);
}

#endif
