/* SPDX-License-Identifier: BSD-2-Clause */
/* See chains.h.
 *
 * A chain lists callers from the innermost out; a context is built from the outermost in.  What the
 * walk did not reach is a mark at the root, so that a truncated path is never taken for a whole
 * one.  Chains that follow each other are mostly of one process and share their outer part, whose
 * contexts are then not looked up again.  Only the hashes are kept beside the contexts: equal
 * chains have equal contexts anyway, and two different ones meet in 64 bits about once in 10^13
 * pairs of a million. */
#include "collect/calls/chains.h"

#include <stdlib.h>

#include "base/cleanup.h"

#define FIRST_N_SLOTS 4096u

/* Chains kept for asking again; further ones keep the context they had first. */
#define MOST_CHANGING 65536

static const char *const cause_names[CHAIN_N_CAUSES] = {
	[CHAIN_COMPLETE] = "complete",
	[CHAIN_TOO_DEEP] = "too deep",
	[CHAIN_NO_MAPPING] = "no mapping",
	[CHAIN_NO_TABLE] = "no unwind table",
	[CHAIN_NO_RULE] = "no frame information",
	[CHAIN_TOO_COMPLEX] = "frame information too complex",
	[CHAIN_UNREADABLE] = "stack unreadable",
	[CHAIN_NOT_RISING] = "stack does not rise",
	[CHAIN_REGISTER_LOST] = "register lost",
	[CHAIN_32_BIT] = "32-bit process",
	[CHAIN_EXITING] = "process exiting",
	[CHAIN_RING_FULL] = "chain lost",
	[CHAIN_LOG_FULL] = "log full",
	[CHAIN_NOT_FOLLOWED] = "not followed",
};

const char *chain_cause_name(enum chain_cause cause)
{
	return cause_names[cause];
}

void chains_init(struct chains *c, struct profile *p, struct procs *procs, struct images *images,
		 struct kernel_map *kernel)
{
	*c = (struct chains){.profile = p,
			     .procs = procs,
			     .images = images,
			     .kernel = kernel,
			     .n_slots = FIRST_N_SLOTS};
	c->slots = xcalloc(c->n_slots, sizeof(*c->slots));
}

void chains_release(struct chains *c)
{
	free(c->slots);
	vec_each (chain, &c->changing)
		free((uint64_t *)chain->frames);
	vec_release(&c->changing);
	vec_release(&c->late);
	vec_release(&c->last);
	scripts_release(&c->scripts);
	*c = (struct chains){0};
}

/* The table.  The hash is the kernel side's and well mixed. */

static struct chain_slot *find_slot(const struct chains *c, uint64_t hash)
{
	for (uint32_t i = (uint32_t)hash & (c->n_slots - 1);; i = (i + 1) & (c->n_slots - 1))
		if (!c->slots[i].hash || c->slots[i].hash == hash)
			return &c->slots[i];
}

static void chains_reserve(struct chains *c)
{
	struct chain_slot *old = c->slots;
	uint32_t n_old = c->n_slots;

	if (c->n_used < n_old / 4 * 3)
		return;
	c->n_slots = n_old * 2;
	c->slots = xcalloc(c->n_slots, sizeof(*c->slots));
	for (uint32_t i = 0; i < n_old; i++)
		if (old[i].hash)
			*find_slot(c, old[i].hash) = old[i];
	free(old);
}

/* Places. */

static place_id kernel_place(struct chains *c, uint64_t ip)
{
	place_id place;

	return kernel_map_place(c->kernel, ip, &place) ? place
						       : profile_unknown_kernel_place(c->profile);
}

/* Run-time address IP of process PROC. */
static place_id user_place(struct chains *c, uint32_t proc, uint64_t ip, uint32_t flags)
{
	const struct mapping *m = proc == PROC_NONE ? NULL : procs_find_mapping(c->procs, proc, ip);
	struct source_place place;

	if (m && c->images->codes.v[m->code].kind != CODE_ANON)
		return images_place(c->images, m->code, ip - m->start + m->off, flags);
	if (proc == PROC_NONE || !frame_source_find(c->procs, proc, ip, m, &place))
		return profile_unknown_place(c->profile, ip, flags);
	c->asked = true;
	return profile_intern_place(c->profile, place.image, place.svma, flags);
}

/* Offset OFF of the image with that number. */
static place_id image_place(struct chains *c, uint32_t number, uint64_t off, uint32_t flags)
{
	uint32_t code;

	if (c->find_place)
		return c->find_place(c->find_ctx, number, off, flags);
	code = images_numbered(c->images, number);
	return code == INDEX_NONE ? profile_unknown_place(c->profile, off, flags)
				  : images_place(c->images, code, off, flags);
}

/* Whether FRAME means the same in every process and at any time. */
static bool has_number(uint64_t frame)
{
	return FRAME_IS_SCRIPT(frame) ||
	       (!(frame & FRAME_KERNEL) && frame >> FRAME_IMAGE_SHIFT & FRAME_MAX_IMAGES);
}

static place_id frame_place(struct chains *c, uint32_t proc, uint64_t frame)
{
	uint32_t flags = frame & FRAME_GUESSED ? PLACE_GUESSED : 0;
	uint32_t number = (uint32_t)(frame >> FRAME_IMAGE_SHIFT) & FRAME_MAX_IMAGES;

	if (FRAME_IS_SCRIPT(frame))
		return scripts_place(&c->scripts, c->profile, frame);
	if (frame & FRAME_KERNEL)
		return kernel_place(c, frame);
	if (number)
		return image_place(c, number, frame & FRAME_OFF_MASK, flags);
	return user_place(c, proc, frame & FRAME_OFF_MASK, flags);
}

/* Contexts. */

/* The mark "[truncated: CAUSE]", under the root. */
static ctx_id chains_mark(struct chains *c, enum chain_cause cause)
{
	if (!c->marks[cause]) {
		_mem_ char *name = xasprintf("[truncated: %s]", cause_names[cause]);

		c->marks[cause] = profile_mark_ctx(c->profile, name);
	}
	return c->marks[cause];
}

/* How many of CHAIN's outer frames are those of the chain learned last. */
static uint32_t shared_with_last(struct chains *c, const struct log_chain *chain)
{
	uint32_t n = 0;

	if (c->last_cause != chain->cause)
		c->last.n = 0;
	c->last_cause = chain->cause;
	while (n < c->last.n && n < chain->n_frames &&
	       c->last.v[n].frame == chain->frames[chain->n_frames - 1 - n])
		n++;
	return n;
}

/* Where an interpreter's frames are not those of the loops on the stack, nothing tells which are
 * whose: CHAIN is taken without them.  Tells whether it is so. */
static bool drop_unmatched(struct chains *c, struct log_chain *chain)
{
	bool unmatched = false;
	uint32_t n = 0, n_kernel = 0;

	for (uint32_t i = 0; i < chain->n_frames; i++)
		unmatched |= FRAME_IS_SCRIPT(chain->frames[i]) &&
			     SCRIPT_CODE(chain->frames[i]) == SCRIPT_UNMATCHED;
	if (!unmatched)
		return false;
	for (uint32_t i = 0; i < chain->n_frames; i++) {
		if (FRAME_IS_SCRIPT(chain->frames[i]))
			continue;
		c->own[n++] = chain->frames[i];
		n_kernel += i < chain->n_kernel;
	}
	chain->frames = c->own;
	chain->n_frames = n;
	chain->n_kernel = n_kernel;
	return true;
}

/* PROC: whose CHAIN is, PROC_NONE when that is not known or does not matter. */
static ctx_id callers_of(struct chains *c, const struct log_chain *told, uint32_t proc,
			 bool *ret_guessed)
{
	struct log_chain own = *told, *chain = &own;
	const bool unmatched = drop_unmatched(c, chain);
	ctx_id ctx = chain->cause == CHAIN_COMPLETE ? 0 : chains_mark(c, chain->cause);
	uint32_t depth, n;
	bool guessed = false;

	if (unmatched) {
		ctx = profile_intern_ctx(c->profile, ctx,
					 scripts_mark(c->profile, SCRIPT_UNMATCHED));
		c->last.n = 0;
	}
	depth = shared_with_last(c, chain);
	n = chain->n_frames - depth;

	for (uint32_t i = 0; i < chain->n_frames; i++)
		guessed |= (chain->frames[i] & (FRAME_KERNEL | FRAME_GUESSED)) == FRAME_GUESSED;
	*ret_guessed = guessed;
	if (depth)
		ctx = c->last.v[depth - 1].ctx;
	if (n)
		c->last.n = depth;
	/* All places first: their look-ups do not wait for each other, contexts do. */
	for (uint32_t i = 0; i < n; i++)
		c->places[i] = frame_place(c, proc, chain->frames[i]);
	while (n--) {
		ctx = profile_intern_ctx(c->profile, ctx, c->places[n]);
		if (depth++ == c->last.n && has_number(chain->frames[n]))
			vec_push(&c->last, (struct known_frame){chain->frames[n], ctx});
	}
	if (unmatched)
		c->last.n = 0;
	return ctx;
}

/* Keeps CHAIN, whose slot is S, for asking again. */
static void add_changing(struct chains *c, struct chain_slot *s, const struct log_chain *chain)
{
	struct log_chain *copy;

	if (c->changing.n >= MOST_CHANGING)
		return;
	copy = vec_add(&c->changing);
	*copy = *chain;
	copy->frames = xmemdup(chain->frames, chain->n_frames * sizeof(*chain->frames));
	s->changes = true;
}

/* The kernel side sends a chain once: when what sources say has changed, the callers of those kept
 * are looked up anew.  Those of processes that are gone are let go. */
static void follow_changes(struct chains *c)
{
	size_t n = 0;

	vec_each (chain, &c->changing) {
		struct chain_slot *s = find_slot(c, chain->hash);
		uint32_t proc = procs_find(c->procs, chain->tgid, chain->generation);
		bool guessed;

		if (proc == PROC_NONE) {
			s->changes = false;
			free((uint64_t *)chain->frames);
		} else {
			s->ctx = callers_of(c, chain, proc, &guessed);
			c->changing.v[n++] = *chain;
		}
	}
	c->changing.n = n;
	c->n_changes = c->procs->n_changes;
}

void chains_add(struct chains *c, const struct log_chain *chain)
{
	struct chain_slot *s = find_slot(c, chain->hash);
	uint32_t proc = PROC_NONE;
	bool guessed;

	if (s->hash || !chain->hash || chain->hash == CHAIN_LOST)
		return;
	*s = (struct chain_slot){.hash = chain->hash, .cause = (uint8_t)chain->cause};
	if (chain->n_frames > chain->n_kernel)
		proc = procs_look_up(c->procs, chain->tgid, chain->generation);
	c->asked = false;
	if (chain->labels) {
		s->labels = scripts_labels(&c->scripts, c->profile, chain->labels);
		c->has_labels = true;
	}
	s->ctx = callers_of(c, chain, proc, &guessed);
	s->guessed = guessed;
	if (c->asked)
		add_changing(c, s, chain);
	c->n_used++;
	c->n_frames += chain->n_frames;
	chains_reserve(c);
}

static struct late_chain *find_late(const struct chains *c, uint64_t hash)
{
	vec_each (l, &c->late)
		if (l->slot.hash == hash)
			return l;
	return NULL;
}

void chains_expect(struct chains *c, uint64_t hash)
{
	if (find_late(c, hash))
		return;
	vec_push(&c->late, (struct late_chain){.slot.hash = hash});
	c->n_awaited++;
}

void chains_add_late(struct chains *c, const struct log_chain *chain)
{
	struct late_chain *l = find_late(c, chain->hash);
	uint32_t proc;

	if (!l || l->is_here)
		return;
	proc = procs_look_up(c->procs, chain->tgid, chain->generation);
	l->slot.ctx = callers_of(c, chain, proc, &l->slot.guessed);
	l->slot.cause = (uint8_t)chain->cause;
	l->is_here = true;
	c->n_awaited--;
}

bool chains_awaits(const struct chains *c, uint64_t hash)
{
	const struct late_chain *l =
		c->n_awaited && hash && !chains_known(c, hash) ? find_late(c, hash) : NULL;

	return l && !l->is_here;
}

/* Takes the chain HASH, which came late and is asked for once; false: there is none. */
static bool take_late(struct chains *c, uint64_t hash, struct chain_slot *ret)
{
	struct late_chain *l = c->late.n ? find_late(c, hash) : NULL;

	if (!l || !l->is_here)
		return false;
	*ret = l->slot;
	*l = c->late.v[--c->late.n];
	return true;
}

void chains_moved(struct chains *c, const ctx_id *to)
{
	vec_each (l, &c->late)
		l->slot.ctx = to[l->slot.ctx];
	for (uint32_t i = 0; i < c->n_slots; i++)
		if (c->slots[i].hash)
			c->slots[i].ctx = to[c->slots[i].ctx];
	c->last.n = 0;
}

bool chains_known(const struct chains *c, uint64_t hash)
{
	return find_slot(c, hash)->hash != 0;
}

string_id chains_labels(const struct chains *c, uint64_t hash)
{
	return c->has_labels && hash ? find_slot(c, hash)->labels : 0;
}

ctx_id chains_count(struct chains *c, uint64_t hash, uint32_t event)
{
	struct chain_counts *n = &c->counts[event];
	const struct chain_slot *s;
	struct chain_slot late;

	if (!hash) {
		n->by_cause[CHAIN_COMPLETE]++;
		return 0;
	}
	s = find_slot(c, hash);
	if (!s->hash && take_late(c, hash, &late))
		s = &late;
	if (!s->hash) { /* CHAIN_LOST, or its chain found the ring full */
		n->by_cause[CHAIN_RING_FULL]++;
		return chains_mark(c, CHAIN_RING_FULL);
	}
	if (s->changes && c->n_changes != c->procs->n_changes)
		follow_changes(c);
	n->by_cause[s->cause]++;
	n->n_guessed += s->guessed;
	return s->ctx;
}

ctx_id chains_count_spilled(struct chains *c, uint32_t event, uint64_t n)
{
	c->counts[event].by_cause[CHAIN_LOG_FULL] += n;
	return chains_mark(c, CHAIN_LOG_FULL);
}
