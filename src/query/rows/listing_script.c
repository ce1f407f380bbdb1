/* SPDX-License-Identifier: BSD-2-Clause */
/* The listing of a function of a script: its lines, from the first to the last that has samples.
 * Samples whose line is not known are the first line's, so that the rows add up. */
#include "model/script.h"
#include "query/rows/listing.h"

/* The line of S; 0: not known. */
static uint32_t script_spot_line(struct query *q, const struct image *im, const struct spot *s)
{
	struct resolved_frame frame;

	resolver_frames(q->resolver, im, s->svma, true, &frame, 1);
	return frame.line;
}

/* Who ran the interpreter that said which file this is: one of those who ran anything. */
static uid_t runner_of_all(const struct profile *p)
{
	uid_t uid = 0;

	vec_each (o, &p->owners)
		if (o->uid != 0 && !(o->flags & (OWNER_IDLE | OWNER_KERNEL)))
			uid = uid == 0 || uid == o->uid ? o->uid : UID_ANYBODY;
	return uid;
}

void listing_of_script(struct listing *l, struct query *q, image_id image, struct spot_range spots)
{
	const struct image *im = &q->profile->images.v[image];
	const uint64_t made_s = q->profile->meta.start_wall_ns / 1000000000;
	uint32_t first = 0, least = UINT32_MAX, last = 0, i;

	l->of_lines = true;
	l->file = im->path;
	for (const struct spot *s = spots.first; s < spots.end; s++) {
		uint32_t line = script_spot_line(q, im, s);

		if (!first)
			first = resolver_script_first_line(q->resolver, im, s->svma);
		last = line > last ? line : last;
		least = line && line < least ? line : least;
	}
	if (!first && last) /* Perl does not say where a sub begins */
		first = least;
	if (!last) /* of compiled JavaScript often none is known */
		last = first;
	for (uint32_t line = first; line && line <= last; line++)
		vec_push(&l->lines, (struct listing_line){im->path, line});
	for (const struct spot *s = spots.first; s < spots.end && first; s++) {
		uint32_t line = script_spot_line(q, im, s);

		i = listing_find_line(l, im->path, line ? line : first);
		if (i == LINE_NONE)
			continue;
		if ((size_t)(s - spots.first) < l->insns.n) /* addresses, one for each spot */
			l->insns.v[s - spots.first].line = i;
		if (!l->lines.v[i].counts)
			l->lines.v[i].counts = listing_new_counts(l);
		listing_add_spot(q, l->lines.v[i].counts, s);
	}
	l->named_by = runner_of_all(q->profile);
	listing_load_texts(l, made_s);
}
