/* SPDX-License-Identifier: BSD-2-Clause */
/* See keep_code.h.
 *
 * A place is looked at until its procedure is kept, or could not be.  So a flush costs what is new
 * in it.  Procedures that together have hardly any samples wait.
 *
 * What was asked is remembered until the answer is there, which is often many calls later: to find
 * out what is wanted takes reading all that is kept of the file.  A file whose lines are too much
 * for a child is asked again, for its code alone. */
#include "daemon/keep_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/lower_bound.h"
#include "confine/forker.h"
#include "daemon/readers.h"
#include "daemon/table_cache.h"
#include "model/fresh.h"
#include "resolve/file_symbols.h"
#include "resolve/keep.h"

/* Places of one image that are not done. */
struct keep_turn {
	struct keep_code *k;
	const struct profile *p;
	const struct mapped_code *code;
	const char *dir;
	size_t number; /* the code's */
	const sampled_places *places;
	size_t first, end;  /* the image's among them */
	uint64_t n_samples; /* of all images */
};

static bool *place_done(struct keep_code *k, place_id place)
{
	return &vec_at(&k->places, place)->is_done;
}

static void note_place(struct keep_code *k, place_id place, bool has_samples)
{
	struct keep_place *at = vec_at(&k->places, place);

	if (!at->is_met)
		vec_push(&k->open, place);
	at->is_met = true;
	at->has_samples |= has_samples;
}

void keep_code_note(struct keep_code *k, const struct profile *p)
{
	k->has_notes = true;
	profile_each_used (p, i) {
		const ctx_id leaf = p->values.v[i].ctx;

		if (leaf != 0)
			note_place(k, p->ctxs.v[leaf].place, true);
		for (ctx_id ctx = leaf; ctx != 0 && !*vec_at(&k->walked, ctx);
		     ctx = p->ctxs.v[ctx].parent) {
			k->walked.v[ctx] = true;
			note_place(k, p->ctxs.v[ctx].place, false);
		}
	}
}

static bool was_asked(const struct keep_code *k, size_t number)
{
	vec_each (a, &k->asked)
		if (a->code == number)
			return true;
	return false;
}

/* Whether file NUMBER was not asked lately. */
static bool may_ask(struct keep_code *k, size_t number)
{
	const uint64_t came_ns = *vec_at(&k->came_ns, number);

	return !came_ns || clock_mono_ns() - came_ns >= k->again_ns;
}

/* Images about whose places there is something to do now, by number. */
static bool *find_turns(struct keep_code *k, const struct profile *p, const struct images *images)
{
	bool *ret = xcalloc(p->images.n + 1, sizeof(*ret));

	vec_each (c, &images->codes) {
		const size_t number = (size_t)(c - images->codes.v);

		if (c->sampled && c->kind == CODE_FILE && c->fd >= 0 &&
		    (may_ask(k, number) || was_asked(k, number)))
			ret[c->image] = true;
	}
	return ret;
}

void keep_code_open(struct keep_code *k, const struct profile *p, const struct images *images,
		    sampled_places *ret)
{
	bool *has_turn = find_turns(k, p, images);
	size_t n = 0;

	vec_each (at, &k->open) {
		const struct keep_place *known = vec_at(&k->places, *at);
		const struct place *place = &p->places.v[*at];

		if (known->is_done)
			continue;
		k->open.v[n++] = *at;
		if (has_turn[place->image])
			vec_push(ret, (struct sampled_place){.image = place->image,
							     .place = *at,
							     .svma = place->svma,
							     .is_caller = !known->has_samples});
	}
	k->open.n = n;
	free(has_turn);
	sampled_places_sort(ret);
}

/* Whether other code of the image is kept. */
static bool find_wanted(struct keep_turn *t, kept_ranges *ret)
{
	sampled_places open = {0};
	bool has_kept = false;

	for (size_t i = t->first; i < t->end; i++)
		if (!*place_done(t->k, t->places->v[i].place))
			vec_push(&open, t->places->v[i]);
	if (open.n)
		has_kept =
			keep_wanted(t->dir, &t->p->images.v[t->code->image], open.v, open.n, ret);
	vec_release(&open);
	return has_kept;
}

/* Places outside of RANGES, or of the first N of them, are done. */
static void note_done(struct keep_turn *t, const kept_ranges *ranges, size_t n, bool inside)
{
	size_t at = 0;

	for (size_t i = t->first; i < t->end; i++) {
		const uint64_t svma = t->places->v[i].svma;
		bool in;

		while (at < ranges->n && ranges->v[at].end <= svma)
			at++;
		in = at < ranges->n && ranges->v[at].start <= svma;
		if (inside ? in && at < n : !in)
			*place_done(t->k, t->places->v[i].place) = true;
	}
}

/* Asks a child for what A wants, as much as fits.  -EAGAIN: not answered yet. */
static int ask_reader(const struct keep_turn *t, struct keep_asked *a)
{
	const enum reader_kind kind = a->bare ? READ_KEPT_BARE : READ_KEPT;
	const struct image *im = &t->p->images.v[t->code->image];
	uint8_t content[KEPT_CONTENT_BYTES];
	struct file_map m = {0};
	struct file_note note;
	struct wr question = {0};
	const uint8_t *bytes;
	bool knows;
	size_t n;
	int rc;

	if (!readers_was_asked(kind, t->code->fd)) {
		/* Its code need not be hashed again. */
		knows = table_cache_knows(t->code->fd, im, &note);
		a->n = keep_question(im, knows, knows && note.has_content ? note.content : NULL,
				     &a->ranges, !a->bare, CONFINE_MAX_ARG, &question);
	}
	rc = readers_ask(kind, t->code->fd, question.v, question.n, 0, &m, NULL);
	wr_release(&question);
	if (rc < 0)
		return rc;
	knows = table_cache_knows(t->code->fd, im, &note);
	bytes = readers_answer(&m, &n);
	rc = keep_bytes(
		t->dir, im,
		(struct keep_file){
			.is_believed = file_symbols_believed_on(t->code->fd, readers_nosuid()),
			.is_hidden = keep_is_hidden(t->code->fd),
		},
		bytes, n, content, NULL);
	file_map_close(&m);
	if (rc >= 0 && knows && !note.has_content) {
		note.has_content = true;
		memcpy(note.content, content, sizeof(content));
		table_cache_save_note(t->code->fd, readers_stamp(), readers_nosuid(), &note);
	}
	return rc;
}

static uint64_t samples_of(const struct keep_turn *t)
{
	uint64_t n = 0;

	for (size_t i = t->first; i < t->end; i++)
		n += t->places->v[i].n;
	return n;
}

/* What T's file was asked and did not answer; else what is wanted of it now, maybe nothing. */
static struct keep_asked take_asked(struct keep_turn *t)
{
	struct keep_asked a = {.code = t->number};
	uint64_t n_samples, *little_at;
	bool has_kept;

	vec_each (old, &t->k->asked) {
		if (old->code != t->number)
			continue;
		a = *old;
		*old = t->k->asked.v[--t->k->asked.n];
		return a;
	}
	if (!may_ask(t->k, t->number))
		return a;
	t->k->came_ns.v[t->number] = clock_mono_ns();
	n_samples = samples_of(t);
	little_at = vec_at(&t->k->little, t->number);
	if (n_samples && n_samples == *little_at) /* nothing came since */
		return a;
	has_kept = find_wanted(t, &a.ranges);
	note_done(t, &a.ranges, 0, false);
	if (keep_is_little(t->places->v + t->first, t->end - t->first, &a.ranges, has_kept,
			   t->n_samples)) {
		*little_at = n_samples;
		a.ranges.n = 0;
	}
	a.n = a.ranges.n;
	return a;
}

/* Asks for what is wanted of T, as much as one question holds.  1: maybe there is more to ask, of
 * places that are newer than the question, too; -EAGAIN: T has to wait for a child. */
static int keep_some(struct keep_turn *t)
{
	struct keep_asked a = take_asked(t);
	const bool any = a.ranges.n;
	int rc = 0;

	if (any && !readers_live()) {
		keep_now(t->dir, &t->p->images.v[t->code->image], t->code->fd, &a.ranges, NULL);
	} else if (any) {
		rc = ask_reader(t, &a);
		if (rc == -EPROTO && !a.bare) {
			a.bare = true;
			rc = ask_reader(t, &a);
		}
	}
	if (rc == -EAGAIN) {
		vec_push(&t->k->asked, a);
		return rc;
	}
	if (a.n < a.ranges.n) /* the rest is asked at once */
		t->k->came_ns.v[t->number] = 0;
	note_done(t, &a.ranges, a.n, true);
	vec_release(&a.ranges);
	return any;
}

/* Returns whether T has to wait for a child.  The next question is asked as soon as one is
 * answered: only answers wake who waits. */
static bool keep_file(struct keep_turn *t)
{
	int rc;

	do
		rc = keep_some(t);
	while (rc > 0);
	return rc == -EAGAIN;
}

size_t keep_code(struct keep_code *k, const struct profile *p, const sampled_places *places,
		 const struct images *images, const bool *has_symbols, const char *images_dir)
{
	uint64_t n_samples = 0;
	size_t n_late = 0;

	vec_each (s, places)
		n_samples += s->n;
	vec_each (c, &images->codes) {
		const size_t number = (size_t)(c - images->codes.v);
		struct keep_turn t = {k, p, c, images_dir, number, places, 0, 0, n_samples};
		bool any = false;

		if (!c->sampled || c->kind != CODE_FILE || c->fd < 0 || c->asked ||
		    !has_symbols[number])
			continue;
		t.first = lower_bound(i, 0, places->n, places->v[i].image < c->image);
		for (t.end = t.first; t.end < places->n && places->v[t.end].image == c->image;
		     t.end++)
			any |= !*place_done(k, places->v[t.end].place);
		if (any)
			n_late += keep_file(&t);
	}
	return n_late;
}

void keep_code_release(struct keep_code *k)
{
	vec_each (a, &k->asked)
		vec_release(&a->ranges);
	vec_release(&k->asked);
	vec_release(&k->places);
	vec_release(&k->walked);
	vec_release(&k->open);
	vec_release(&k->came_ns);
	vec_release(&k->little);
}
