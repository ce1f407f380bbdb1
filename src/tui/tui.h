/* SPDX-License-Identifier: BSD-2-Clause */
/* The terminal's pictures of a source: views, keys, refreshing.
 *
 * Somebody else opens sources and takes seconds (struct tui_feed); this shows them:
 *
 *     struct tui_opts o = {.feed = &feed, .about = "all processes"};
 *     tui_run(&o, err);
 *
 * The screen:
 *
 *     all processes: cpu-clock 1994 samples in 1.0 s, 52.1 % idle, 0 lost      status
 *     cpu-clock      %  procedure                        image                 the view (pane.h)
 *          ...
 *     procedures by cpu-clock, exclusive   Enter code  t tree  / search  ? help     hints */
#ifndef TUI_TUI_H
#define TUI_TUI_H

#include "query/compare/sets.h"
#include "query/source.h"

/* Samples that are shown together: a stored set, or a second. */
struct tui_set {
	struct source *source;
	double seconds; /* they are of; 0: not known */
	void *own;	/* the feed's */
};

/* Where sets come from, one after the other. */
struct tui_feed {
	void *ctx;
	/* Waits for TIMEOUT_MS at most, or until FD (-1: none) can be read or a signal arrives. */
	void (*wait)(void *ctx, int timeout_ms, int fd);
	/* Fills RET with what came since the last call; 1: nothing came. */
	int (*take)(void *ctx, struct tui_set *ret, struct err *err);
	void (*let_go)(void *ctx, struct tui_set *set);
	unsigned refresh_ms;
};

struct tui_opts {
	const struct tui_feed *feed; /* NULL: SOURCE is all there is */
	struct source *source;	     /* borrowed */
	const struct select
		*select;   /* as SOURCE was opened with: sets to compare with it begin so */
	const char *about; /* what is shown, in the status line */
	bool tree;	   /* begin with the tree, not with the table */
};

/* Shows sets until the user ends it.  Returns 0, or the number of the signal that ended it, or what
 * failed: term_open's errors, or the feed's first one. */
int tui_run(const struct tui_opts *o, struct err *err);

#endif
