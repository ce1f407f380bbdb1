/* SPDX-License-Identifier: BSD-2-Clause */
/* See script.h. */
#include "model/script.h"

#include <string.h>

#include "base/sha256.h"

static bool script_same(const void *owner, uint32_t i, const void *key)
{
	return ((const struct profile *)owner)->scripts.v[i].place == *(const place_id *)key;
}

static uint64_t script_hash(place_id place)
{
	return hash_pair(place, 0);
}

const struct script *profile_find_script(const struct profile *p, place_id place)
{
	uint32_t i = index_find(&p->script_ix, script_hash(place), script_same, p, &place);

	return i == INDEX_NONE ? NULL : &p->scripts.v[i];
}

void profile_add_script(struct profile *p, const struct script *s)
{
	if (profile_find_script(p, s->place))
		return;
	vec_push(&p->scripts, *s);
	index_add(&p->script_ix, script_hash(s->place), (uint32_t)p->scripts.n - 1);
}

uint64_t script_svma(const char *name, uint32_t first_line)
{
	struct sha256 h;
	uint8_t bytes[8];
	uint64_t svma = 0;

	sha256_begin(&h);
	sha256_add(&h, name, strlen(name) + 1);
	sha256_add_u64(&h, first_line);
	sha256_end(&h, bytes, sizeof(bytes));
	for (unsigned i = 0; i < sizeof(bytes); i++)
		svma = svma << 8 | bytes[i];
	return svma >> SCRIPT_PROCEDURE_BITS << SCRIPT_PROCEDURE_BITS;
}

image_id profile_intern_script_image(struct profile *p, const struct script_function *f)
{
	struct image im = {.kind = IMAGE_SCRIPT, .flags = IMAGE_HASHED, .path = f->file};
	struct sha256 h;

	sha256_begin(&h);
	sha256_add(&h, f->language, strlen(f->language) + 1);
	sha256_add(&h, f->file, strlen(f->file));
	im.build_id.n_bytes = 16;
	sha256_end(&h, im.build_id.bytes, im.build_id.n_bytes);
	return profile_intern_image(p, &im);
}

place_id profile_intern_script(struct profile *p, image_id image, uint64_t start,
			       const struct script_function *f, uint32_t line)
{
	bool known = line >= f->first_line && line - f->first_line < SCRIPT_LINE_UNKNOWN && line;
	place_id place = profile_intern_place(
		p, image, start | (known ? line - f->first_line : SCRIPT_LINE_UNKNOWN), 0);

	if (!profile_find_script(p, place))
		profile_add_script(p,
				   &(struct script){.place = place,
						    .language = profile_intern_str(p, f->language),
						    .name = profile_intern_str(p, f->name),
						    .line = known ? line : f->first_line});
	return place;
}
