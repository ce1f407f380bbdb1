/* SPDX-License-Identifier: BSD-2-Clause */
/* Layouts of files that somebody else reads (images.h): taken in each cycle before samples are
 * folded, waited for only when the profile is about to be stored. */
#include <stdlib.h>

#include "base/clock.h"
#include "collect/collector_impl.h"
#include "model/move.h"

/* An answer ends a wait; so does this, for some files become too old to be waited for. */
#define WAIT_STEP_NS (100ull * 1000000)

/* So long a recorder that runs for months waits for tables of copied stacks. */
#define COPIES_DAEMON_NS (500ull * 1000000)

/* Moves what was counted in stand-ins; of files that are still AWAITED caches go on naming them. */
static void move(struct collector *c, bool awaited)
{
	place_id *to;
	ctx_id *moved;

	if (!awaited)
		fold_forget_places(&c->fold);
	to = images_moves(&c->images, awaited);
	if (!to)
		return;
	moved = profile_move_places(c->profile, to);
	if (!awaited && c->opts.calls != CALLS_NONE)
		chains_moved(&c->calls.chains, moved);
	if (!awaited)
		images_moved(&c->images);
	free(moved);
	free(to);
}

void collector_take_layouts(struct collector *c)
{
	if (!c->images.asked.n)
		return;
	if (c->opts.tables.take_answers)
		c->opts.tables.take_answers();
	if (images_take(&c->images) && images_any_came(&c->images))
		move(c, false);
}

/* Waits for layouts of files that have samples, each until COLLECTOR_LAYOUT_NS after its asking. */
static void wait_for_sampled(struct collector *c)
{
	const uint64_t start_ns = clock_mono_ns();

	for (uint64_t now = start_ns; now < start_ns + COLLECTOR_LAYOUT_NS; now = clock_mono_ns()) {
		if (!images_n_awaited(&c->images, now - COLLECTOR_LAYOUT_NS))
			return;
		c->opts.wait_answers(now + WAIT_STEP_NS);
		collector_take_layouts(c);
	}
}

/* Walks the copies of stacks that are left.  Waits for their tables. */
static void settle_copies(struct collector *c)
{
	const uint64_t wait_ns = c->opts.keep_folded ? COPIES_DAEMON_NS : COLLECTOR_LAYOUT_NS;
	const uint64_t end_ns = clock_mono_ns() + wait_ns;

	while (call_paths_walk_copies(&c->calls, c->applied_ns, false)) {
		if (call_paths_build(&c->calls))
			continue;
		if (!c->opts.wait_answers || clock_mono_ns() >= end_ns)
			break;
		c->opts.wait_answers(clock_mono_ns() + WAIT_STEP_NS);
		call_paths_take_answers(&c->calls);
	}
	call_paths_walk_copies(&c->calls, c->applied_ns, true);
	fold_take_late(&c->fold);
}

size_t collector_flush(struct collector *c)
{
	size_t n;

	fold_flush(&c->fold);
	settle_copies(c);
	if (c->opts.wait_answers)
		wait_for_sampled(c);
	fold_flush(&c->fold);
	n = images_n_awaited(&c->images, 0);
	if (n)
		move(c, true);
	c->n_late_layouts = n;
	return n;
}

void collector_await_layouts(struct collector *c)
{
	const uint64_t end_ns = clock_mono_ns() + COLLECTOR_LAYOUT_NS;

	images_want_all(&c->images);
	while (c->images.asked.n && c->opts.wait_answers && clock_mono_ns() < end_ns) {
		c->opts.wait_answers(clock_mono_ns() + WAIT_STEP_NS);
		collector_take_layouts(c);
	}
}
