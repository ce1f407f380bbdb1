/* SPDX-License-Identifier: BSD-2-Clause */
/* See keep_code.h.
 *
 * A place is looked at once: when its procedure is kept, or could not be.  So a flush costs what is
 * new in it.  A file whose lines are too much for a child is asked again, for its code alone. */
#include "daemon/keep_code.h"

#include <errno.h>

#include "base/cleanup.h"
#include "confine/forker.h"
#include "daemon/readers.h"
#include "resolve/file_symbols.h"
#include "resolve/keep.h"

/* Places of one image that are not done. */
struct keep_turn {
	struct keep_code *k;
	const struct profile *p;
	const struct mapped_code *code;
	const char *dir;
	const sampled_places *places;
	size_t first, end; /* the image's among them */
};

static bool *place_done(struct keep_code *k, place_id place)
{
	while (k->done.n <= place)
		vec_push(&k->done, false);
	return &k->done.v[place];
}

static void find_wanted(struct keep_turn *t, kept_ranges *ret)
{
	sampled_places open = {0};

	for (size_t i = t->first; i < t->end; i++)
		if (!*place_done(t->k, t->places->v[i].place))
			vec_push(&open, t->places->v[i]);
	if (open.n)
		keep_wanted(t->dir, &t->p->images.v[t->code->image], open.v, open.n, ret);
	vec_release(&open);
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

/* Asks a child for RANGES, as many as fit; *RET_N: so many.  -EAGAIN while there is no answer. */
static int ask_reader(const struct keep_turn *t, const kept_ranges *ranges, bool lines,
		      size_t *ret_n)
{
	const struct image *im = &t->p->images.v[t->code->image];
	struct file_map m = {0};
	struct wr question = {0};
	const uint8_t *bytes;
	size_t n;
	int rc;

	*ret_n = keep_question(im, ranges, lines, CONFINE_MAX_ARG, &question);
	rc = readers_ask(lines ? READ_KEPT : READ_KEPT_BARE, t->code->fd, question.v, question.n, 0,
			 &m, NULL);
	wr_release(&question);
	if (rc < 0)
		return rc;
	bytes = readers_answer(&m, &n);
	rc = keep_bytes(
		t->dir, im,
		(struct keep_file){
			.is_believed = file_symbols_believed_on(t->code->fd, readers_nosuid()),
			.is_hidden = keep_is_hidden(t->code->fd),
		},
		bytes, n, NULL);
	file_map_close(&m);
	return rc;
}

/* Asks for what is still wanted of T, as much as one question holds.  1: there is more to ask;
 * -EAGAIN: T has to wait for a child. */
static int keep_some(struct keep_turn *t)
{
	kept_ranges ranges = {0};
	size_t n;
	int rc = 0;

	find_wanted(t, &ranges);
	note_done(t, &ranges, 0, false);
	n = ranges.n;
	if (n && !readers_live()) {
		keep_now(t->dir, &t->p->images.v[t->code->image], t->code->fd, &ranges, NULL);
	} else if (n) {
		rc = ask_reader(t, &ranges, true, &n);
		if (rc == -EPROTO)
			rc = ask_reader(t, &ranges, false, &n);
	}
	if (rc != -EAGAIN) {
		note_done(t, &ranges, n, true);
		rc = n && n < ranges.n;
	}
	vec_release(&ranges);
	return rc;
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

size_t keep_code(struct keep_code *k, const struct profile *p, const struct images *images,
		 const bool *has_symbols, const char *images_dir)
{
	sampled_places places = {0};
	size_t n_late = 0;

	sampled_places_of(p, &places);
	vec_each (c, &images->codes) {
		struct keep_turn t = {k, p, c, images_dir, &places, 0, 0};
		bool any = false;

		if (!c->sampled || c->kind != CODE_FILE || c->fd < 0 || c->asked ||
		    !has_symbols[c - images->codes.v])
			continue;
		while (t.first < places.n && places.v[t.first].image < c->image)
			t.first++;
		for (t.end = t.first; t.end < places.n && places.v[t.end].image == c->image;
		     t.end++)
			any |= !*place_done(k, places.v[t.end].place);
		if (any)
			n_late += keep_file(&t);
	}
	vec_release(&places);
	return n_late;
}

void keep_code_release(struct keep_code *k)
{
	vec_release(&k->done);
}
