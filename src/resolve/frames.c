/* SPDX-License-Identifier: BSD-2-Clause */
/* See frames.h.  Names and files are kept once, however many frames have them, and outlive the
 * DWARF they came from, so that a reader of many images can close it. */
#include "resolve/frames.h"

#include "resolve/demangle.h"

#define MAX_FRAMES (1u << 20) /* remembered: 16 MB, and as much for the places */

struct place_key {
	const void *image;
	uint64_t svma;
};

static bool same_place(const void *owner, uint32_t i, const void *key)
{
	const struct frame_place *p = &((const struct frames *)owner)->places.v[i];
	const struct place_key *k = key;

	return p->image == k->image && p->svma == k->svma;
}

static bool same_name(const void *owner, uint32_t i, const void *key)
{
	return !strcmp(((const struct frames *)owner)->names.v[i].linked, key);
}

static bool same_file(const void *owner, uint32_t i, const void *key)
{
	return !strcmp(((const struct frames *)owner)->files.v[i], key);
}

static uint64_t place_hash(const void *image, uint64_t svma)
{
	return hash_pair((uint64_t)(uintptr_t)image, svma);
}

size_t frames_find(const struct frames *f, const void *image, uint64_t svma,
		   const struct frame **ret)
{
	struct place_key key = {.image = image, .svma = svma};
	uint32_t i = index_find(&f->by_place, place_hash(image, svma), same_place, f, &key);

	if (i == INDEX_NONE)
		return 0;
	*ret = &f->frames.v[f->places.v[i].first];
	return f->places.v[i].n;
}

static uint32_t add_name(struct frames *f, const char *linked)
{
	uint64_t hash = hash_str(linked);
	uint32_t i = index_find(&f->by_name, hash, same_name, f, linked);

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)f->names.n;
	vec_push(&f->names, (struct frame_name){.linked = arena_strdup(&f->text, linked)});
	index_add(&f->by_name, hash, i);
	return i;
}

static uint32_t add_file(struct frames *f, const char *path)
{
	uint64_t hash;
	uint32_t i;

	if (!path)
		return FRAME_NO_TEXT;
	hash = hash_str(path);
	i = index_find(&f->by_file, hash, same_file, f, path);
	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)f->files.n;
	vec_push(&f->files, arena_strdup(&f->text, path));
	index_add(&f->by_file, hash, i);
	return i;
}

/* Makes room for the frames of a place. */
static void frames_reserve(struct frames *f)
{
	if (f->frames.n + INLINES_MAX <= MAX_FRAMES)
		return;
	f->places.n = f->frames.n = 0;
	index_clear(&f->by_place);
}

/* Remembers that the frames from FIRST on are those of SVMA in IMAGE. */
static size_t frames_note(struct frames *f, const void *image, uint64_t svma, uint32_t first,
			  const struct frame **ret)
{
	index_add(&f->by_place, place_hash(image, svma), (uint32_t)f->places.n);
	vec_push(&f->places, (struct frame_place){.image = image,
						  .svma = svma,
						  .first = first,
						  .n = (uint32_t)(f->frames.n - first)});
	*ret = &f->frames.v[first];
	return f->frames.n - first;
}

size_t frames_add(struct frames *f, const void *image, uint64_t svma, struct lines *l,
		  const struct frame **ret)
{
	struct inline_scope scopes[INLINES_MAX];
	size_t n = l ? inlines_find(l, svma, scopes, INLINES_MAX) : 0;
	struct line at = {0};
	uint32_t first;

	frames_reserve(f);
	if (l)
		lines_find(l, svma, &at);
	first = (uint32_t)f->frames.n;
	/* A function is in the line where it calls the next, the innermost where SVMA is. */
	for (size_t i = 0; i < n || i == 0; i++) {
		const struct inline_scope *next = i + 1 < n ? &scopes[i + 1] : NULL;

		vec_push(&f->frames,
			 (struct frame){
				 .name = n ? add_name(f, scopes[i].name) : FRAME_NO_TEXT,
				 .file = add_file(f, next ? next->file : at.file),
				 .line = next ? next->line : at.line,
				 .column = next ? next->column : at.column,
			 });
	}
	return frames_note(f, image, svma, first, ret);
}

size_t frames_add_line(struct frames *f, const void *image, uint64_t svma, const char *file,
		       uint32_t line, const struct frame **ret)
{
	uint32_t first;

	frames_reserve(f);
	first = (uint32_t)f->frames.n;
	vec_push(&f->frames, (struct frame){.name = FRAME_NO_TEXT,
					    .file = line ? add_file(f, file) : FRAME_NO_TEXT,
					    .line = line});
	return frames_note(f, image, svma, first, ret);
}

static const char *readable(struct frames *f, uint32_t i, bool args)
{
	struct frame_name *name = &f->names.v[i];
	const char **slot = &name->readable[args];
	char *plain;

	if (*slot)
		return *slot;
	plain = demangle_name(name->linked, args);
	*slot = plain ? arena_strdup(&f->text, plain) : name->linked;
	free(plain);
	return *slot;
}

const char *frames_name(struct frames *f, const struct frame *frame, bool args)
{
	return readable(f, frame->name, args);
}

size_t frames_inlined(struct frames *f, uint64_t svma, struct lines *l, bool args, const char **ret,
		      size_t max)
{
	const char *linked[INLINES_MAX];
	size_t n = inlines_names(l, svma, linked, max + 1 < INLINES_MAX ? max + 1 : INLINES_MAX);

	for (size_t i = 1; i < n; i++)
		ret[i - 1] = readable(f, add_name(f, linked[i]), args);
	return n ? n - 1 : 0;
}

void frames_release(struct frames *f)
{
	vec_release(&f->places);
	vec_release(&f->frames);
	vec_release(&f->names);
	vec_release(&f->files);
	index_release(&f->by_place);
	index_release(&f->by_name);
	index_release(&f->by_file);
	arena_release(&f->text);
}
