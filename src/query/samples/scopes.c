/* SPDX-License-Identifier: BSD-2-Clause */
/* See scopes.h.
 *
 * Places are gone through image by image in order of address, so that an image's symbols, lines and
 * inlined calls are in memory for a while only, and a symbol is looked up once for all the places
 * of a procedure.  Patterns are matched once against a procedure's name, not at each place in it;
 * names of inlined calls are matched at each place.
 *
 * Example: outer() inlines mid(), which inlines leaf().  Two places of the image have samples, the
 * first instruction of outer and an `add` that is leaf's.  At level SCOPE_PROCEDURE:
 *     scopes[]    0 root, 1 outer, 2 mid (inlined), 3 leaf (inlined)
 *     first       of_place = 1: one scope needs no list
 *     `add`       of_place = MULTI | i; pool[i] = 3, then 1, 2, 3: outermost first
 * `dwell tree` shows outer > mid > leaf.  With no_inline both places are scope 1.  At SCOPE_LINE a
 * scope has a line, too: the `add` is outer at the line that calls mid, mid at the line that calls
 * leaf, leaf at its own.  --focus '^mid$' is matched against outer once and, at the `add`, against
 * mid and leaf: the second place has the flag SCOPES_FOCUS, the first has not. */
#include "query/samples/scopes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "resolve/resolver.h"

#define MULTI 0x80000000

const char *scope_kind_name(enum scope_kind k)
{
	static const char *const names[] = {"root", "owner",	 "mark", "entry", "image",
					    "file", "procedure", "loop", "line",  "address"};

	return names[k];
}

bool scope_is_kernel(const struct profile *p, const struct scope *sc)
{
	enum image_kind k;

	if (sc->image == SCOPE_NO_IMAGE)
		return false;
	k = p->images.v[sc->image].kind;
	return k == IMAGE_KERNEL || k == IMAGE_MODULE || k == IMAGE_BPF;
}

/* --- interning --- */

static uint64_t scope_hash(const struct scope *k)
{
	uint64_t h = hash_pair((uint64_t)k->kind << 32 | k->image, k->svma);

	h = hash_pair(h, (uint64_t)k->proc << 32 | k->line);
	if (k->kind == SCOPE_OWNER || k->kind == SCOPE_MARK || k->kind == SCOPE_ENTRY ||
	    k->kind == SCOPE_FILE || k->inlined)
		h = hash_pair(h, hash_str(k->name));
	return h;
}

static bool scope_same(const void *owner, uint32_t i, const void *key)
{
	const struct scope *a = &((const struct scopes *)owner)->scopes.v[i], *b = key;

	if (a->kind != b->kind || a->image != b->image || a->svma != b->svma ||
	    a->proc != b->proc || a->line != b->line || a->inlined != b->inlined ||
	    a->nested != b->nested || a->owner != b->owner)
		return false;
	if (a->file != b->file && (!a->file || !b->file || strcmp(a->file, b->file) != 0))
		return false;
	return strcmp(a->name, b->name) == 0;
}

scope_id scopes_intern(struct scopes *s, const struct scope *key)
{
	uint64_t hash = scope_hash(key);
	uint32_t i = index_find(&s->index, hash, scope_same, s, key);

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)s->scopes.n;
	vec_push(&s->scopes, *key);
	index_add(&s->index, hash, i);
	return i;
}

/* --- places --- */

struct finder {
	struct scopes *s;
	struct query *q;
	const struct scopes_opts *o;
	regex_t focus, ignore;
	image_id image;
	const struct image *im;
	const struct symtab *st;
	uint8_t image_flags;
	struct procedure proc; /* of the place before, index PROC_NONE: none */
	struct scope of_proc;
	uint8_t proc_flags;
	struct resolved_frame frames[RESOLVER_MAX_FRAMES];
};

static uint8_t scopes_match(const struct finder *f, const char *name)
{
	uint8_t flags = 0;

	if (f->o->focus && regexec(&f->focus, name, 0, NULL, 0) == 0)
		flags |= SCOPES_FOCUS;
	if (f->o->ignore && regexec(&f->ignore, name, 0, NULL, 0) == 0)
		flags |= SCOPES_IGNORE;
	return flags;
}

/* Patterns mean procedures whatever the level is. */
static bool needs_procedures(const struct scopes_opts *o)
{
	return o->focus || o->ignore || o->level != SCOPE_IMAGE;
}

static void begin_image(struct finder *f, image_id image)
{
	f->image = image;
	f->im = &f->q->profile->images.v[image];
	f->st = f->im->kind == IMAGE_MARK || !needs_procedures(f->o)
			? NULL
			: resolver_image(f->q->resolver, f->im)->symtab;
	f->image_flags = scopes_match(f, f->im->path);
	f->proc = (struct procedure){.index = PROC_NONE};
}

static void end_image(struct finder *f)
{
	if (f->st)
		resolver_rest(f->q->resolver, f->im);
}

/* What follows a procedure nested in another one belongs to that one. */
static uint32_t skip_rest(const struct symtab *st, uint32_t i)
{
	struct procedure rest = symtab_get(st, i);

	if (!(rest.flags & PROC_REST))
		return i;
	for (uint32_t k = i; k-- > 0;) {
		struct procedure p = symtab_get(st, k);

		if (!(p.flags & (PROC_REST | PROC_ALIAS)) && strcmp(p.name, rest.name) == 0)
			return k;
	}
	return i;
}

/* Notes where F's procedure is declared, unless it is the last that was noted. */
static void find_declared(struct finder *f)
{
	struct scopes *s = f->s;
	struct scope_declared new = {.image = f->image, .svma = f->of_proc.svma};
	const struct scope_declared *last =
		s->declared.n ? &s->declared.v[s->declared.n - 1] : NULL;

	if (last && last->image == new.image && last->svma == new.svma)
		return;
	if (!resolver_declaration(f->q->resolver, f->im, new.svma, &new.file, &new.line))
		return;
	if (new.file)
		new.file = arena_strdup(&s->arena, new.file);
	vec_push(&s->declared, new);
}

/* Makes F's procedure that of SVMA. */
static void find_procedure(struct finder *f, uint64_t svma)
{
	uint32_t i;

	if (f->proc.index != PROC_NONE && svma >= f->proc.start && svma < f->proc.end)
		return;
	i = symtab_find(f->st, svma);
	f->of_proc = (struct scope){.kind = SCOPE_PROCEDURE,
				    .image = f->image,
				    .proc = PROC_NONE,
				    .name = "[no symbol]",
				    .nameless = true};
	f->proc = (struct procedure){.index = PROC_NONE};
	f->proc_flags = f->image_flags;
	if (f->im->kind == IMAGE_UNKNOWN) {
		f->of_proc.name = "[unknown]";
	} else if (i != PROC_NONE) {
		f->proc = symtab_get(f->st, i);
		i = skip_rest(f->st, i);
		f->of_proc.proc = i;
		f->of_proc.svma = symtab_get(f->st, i).start;
		f->of_proc.nameless = f->proc.flags & PROC_UNNAMED;
		f->of_proc.name = arena_strdup(
			&f->s->arena, resolver_name(f->q->resolver, f->im, i, !f->o->no_args));
		if (f->o->declared)
			find_declared(f);
	}
	f->proc_flags |= scopes_match(f, f->of_proc.name);
}

/* Gives SC the line that FRAME is at. */
static void set_line(struct scope *sc, const struct resolved_frame *frame)
{
	sc->kind = SCOPE_LINE;
	sc->file = frame->file;
	sc->line = frame->line;
}

/* The functions SVMA is in, with their lines when those are wanted, in F->frames. */
static size_t find_frames(struct finder *f, uint64_t svma)
{
	bool inlined = !f->o->no_inline, lines = f->o->level == SCOPE_LINE;
	struct resolved_frame *frames = f->frames;
	const char *names[RESOLVER_MAX_FRAMES - 1];
	size_t n;

	frames[0] = (struct resolved_frame){0};
	if (f->im->kind == IMAGE_UNKNOWN || (!inlined && !lines))
		return 1;
	if (!lines) {
		n = resolver_inlined(f->q->resolver, f->im, svma, !f->o->no_args, names,
				     n_elems(names));
		for (size_t i = 0; i < n; i++)
			frames[i + 1].name = names[i];
		return n + 1;
	}
	n = resolver_frames(f->q->resolver, f->im, svma, !f->o->no_args, frames,
			    RESOLVER_MAX_FRAMES);
	if (n > RESOLVER_MAX_FRAMES)
		n = RESOLVER_MAX_FRAMES;
	if (inlined)
		return n;
	frames[0].file = frames[n - 1].file;
	frames[0].line = frames[n - 1].line;
	return 1;
}

static void find_place(struct finder *f, place_id place, uint64_t svma)
{
	scope_id ids[RESOLVER_MAX_FRAMES] = {0};
	struct scopes *s = f->s;
	size_t n = find_frames(f, svma);

	find_procedure(f, svma);
	s->flags[place] |= f->proc_flags;
	for (size_t i = 0; i < n; i++) {
		struct scope sc = f->of_proc;

		if (i > 0) {
			sc.inlined = true;
			sc.nameless = !f->frames[i].name;
			sc.proc = PROC_NONE;
			sc.svma = 0;
			sc.name = sc.nameless ? "[no symbol]" : f->frames[i].name;
			s->flags[place] |= scopes_match(f, sc.name);
		}
		if (f->o->level == SCOPE_LINE)
			set_line(&sc, &f->frames[i]);
		if (f->o->level == SCOPE_ADDRESS) {
			sc.kind = SCOPE_ADDRESS;
			sc.svma = svma;
		}
		ids[i] = scopes_intern(s, &sc);
	}
	s->of_place[place] = ids[0];
	if (n > 1) {
		s->of_place[place] = MULTI | (uint32_t)s->pool.n;
		vec_push(&s->pool, (uint32_t)n);
		for (size_t i = 0; i < n; i++)
			vec_push(&s->pool, ids[i]);
	}
}

static void find_image_places(struct finder *f, const struct spot *spots, size_t n)
{
	const struct profile *p = f->q->profile;
	struct scope whole = {.kind = f->im->kind == IMAGE_MARK ? SCOPE_MARK : SCOPE_IMAGE,
			      .image = f->image,
			      .proc = PROC_NONE,
			      .name = f->im->path,
			      .nameless = f->im->kind == IMAGE_UNKNOWN,
			      .truncated = f->im->kind == IMAGE_MARK &&
					   str_starts(f->im->path, IMAGE_TRUNCATED)};
	if (whole.kind == SCOPE_IMAGE)
		whole.name = query_image_name(f->q, f->image);
	for (size_t i = 0; i < n; i++) {
		place_id pl = spots[i].place;

		if (p->places.v[pl].flags & PLACE_GUESSED)
			f->s->flags[pl] |= SCOPES_GUESSED;
		if (whole.kind == SCOPE_MARK)
			f->s->flags[pl] |= (whole.truncated ? SCOPES_MARKED : 0) | f->image_flags;
		else if (needs_procedures(f->o))
			find_place(f, pl, spots[i].svma);
		if (whole.kind == SCOPE_MARK || f->o->level == SCOPE_IMAGE)
			f->s->of_place[pl] = scopes_intern(f->s, &whole);
	}
}

static void find_places(struct finder *f, const bool *used)
{
	const struct profile *p = f->q->profile;
	_vec_ VEC(struct spot) spots = {0};
	bool sorted = true; /* as one segment's places are */

	for (place_id pl = 0; pl < p->places.n; pl++) {
		const struct spot s = {p->places.v[pl].svma, p->places.v[pl].image, pl};

		if (!used[pl])
			continue;
		sorted &= !spots.n || spot_compare(&spots.v[spots.n - 1], &s) < 0;
		vec_push(&spots, s);
	}
	if (!sorted)
		vec_sort(&spots, spot_compare);
	for (size_t i = 0, next; i < spots.n; i = next) {
		for (next = i; next < spots.n && spots.v[next].image == spots.v[i].image;)
			next++;
		begin_image(f, spots.v[i].image);
		find_image_places(f, spots.v + i, next - i);
		end_image(f);
	}
}

int scopes_pattern(regex_t *re, const char *option, const char *pattern, struct err *err)
{
	char why[200];
	int rc;

	if (!pattern)
		return 0;
	rc = regcomp(re, pattern, REG_EXTENDED | REG_NOSUB);
	if (rc == 0)
		return 0;
	regerror(rc, re, why, sizeof(why));
	return err_set(err, -EINVAL, "--%s '%s': %s", option, pattern, why);
}

int scopes_init(struct scopes *s, struct query *q, const struct scopes_opts *o, const bool *used,
		struct err *err)
{
	struct finder f = {.s = s, .q = q, .o = o};
	int rc = scopes_pattern(&f.focus, "focus", o->focus, err);

	*s = (struct scopes){0};
	if (rc < 0)
		return rc;
	rc = scopes_pattern(&f.ignore, "ignore", o->ignore, err);
	if (rc >= 0) {
		s->of_place = xcalloc(q->profile->places.n + 1, sizeof(*s->of_place));
		s->flags = xcalloc(q->profile->places.n + 1, sizeof(*s->flags));
		scopes_intern(s, &(struct scope){.kind = SCOPE_ROOT,
						 .image = SCOPE_NO_IMAGE,
						 .proc = PROC_NONE,
						 .name = "[all]"});
		find_places(&f, used);
		if (o->ignore)
			regfree(&f.ignore);
	}
	if (o->focus)
		regfree(&f.focus);
	return rc;
}

void scopes_release(struct scopes *s)
{
	vec_release(&s->scopes);
	vec_release(&s->pool);
	vec_release(&s->declared);
	free(s->of_place);
	free(s->flags);
	index_release(&s->index);
	arena_release(&s->arena);
	*s = (struct scopes){0};
}
