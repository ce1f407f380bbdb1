/* SPDX-License-Identifier: BSD-2-Clause */
/* See listing.h.
 *
 * Instructions are decoded over the whole procedure, so rows without samples are there too; a
 * sample between two instruction starts (a wrong symbol size can shift the decoding) counts for the
 * instruction it lies in.  So the counts of the instructions add up to the procedure's. */
#include "query/rows/listing.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "base/str.h"
#include "query/rows/columns.h"

#define MOST_LINES 100000 /* of a procedure; more is not a procedure but a damaged file */

double *listing_new_counts(struct listing *l)
{
	return arena_calloc(&l->arena, l->n_cols + 1, sizeof(double));
}

static void add_counts(const struct listing *l, double *to, const double *from)
{
	for (unsigned c = 0; c < l->n_cols; c++)
		to[c] += from[c];
}

/* --- instructions --- */

/* What is listed. */
struct listed {
	struct query *q;
	const struct found_proc *f;
	struct spot_range spots;
};

static bool is_listed(const struct listed *d, uint64_t svma)
{
	return !d->f->inlined || listing_has_inlined(d->q, d->f->image, svma, d->f->inlined);
}

static void list_addresses(struct listing *l, const struct listed *d)
{
	for (const struct spot *s = d->spots.first; s < d->spots.end; s++) {
		double *counts;

		if (!is_listed(d, s->svma))
			continue;
		counts = listing_new_counts(l);
		listing_add_spot(d->q, counts, s);
		vec_push(&l->insns, (struct listing_insn){.svma = s->svma,
							  .counts = counts,
							  .line = LINE_NONE,
							  .jumps_to = INSN_NONE});
	}
}

static int compare_insn_svma(const void *key, const void *element)
{
	const uint64_t *svma = key;
	const struct listing_insn *in = element;

	return *svma < in->svma ? -1 : *svma > in->svma;
}

static uint32_t listing_find_insn(const struct listing *l, uint64_t svma)
{
	const struct listing_insn *in =
		bsearch(&svma, l->insns.v, l->insns.n, sizeof(*in), compare_insn_svma);

	return in ? (uint32_t)(in - l->insns.v) : INSN_NONE;
}

/* Jumps within what is listed; TARGETS are those of all instructions. */
static void connect_jumps(struct listing *l, const uint64_t *targets)
{
	for (size_t i = 0; i < l->insns.n; i++) {
		uint32_t to = targets[i] ? listing_find_insn(l, targets[i]) : INSN_NONE;

		l->insns.v[i].jumps_to = to;
		if (to != INSN_NONE)
			l->insns.v[to].is_target = true;
	}
}

static void list_instructions(struct listing *l, const struct listed *d, struct image_code *c)
{
	uint8_t *bytes = code_load(c, l->start, l->end);
	const struct spot *s = d->spots.first;
	_vec_ VEC(uint64_t) targets = {0};
	struct disasm_insn in;

	if (!bytes) {
		err_set(&l->why_no_code, -ENODATA, "the file does not hold the procedure's bytes");
		list_addresses(l, d);
		return;
	}
	c->own_start = d->f->p.start;
	c->own_end = d->f->p.end;
	disasm_begin(c->disasm, bytes, l->end - l->start, l->start);
	while (disasm_next(c->disasm, &in)) {
		const bool jumps = in.kind == DISASM_JUMP || in.kind == DISASM_COND_JUMP;
		const bool listed = is_listed(d, in.svma);
		double *counts = listed ? listing_new_counts(l) : NULL;

		for (; s < d->spots.end && s->svma < in.svma + in.n_bytes; s++)
			if (listed)
				listing_add_spot(d->q, counts, s);
		if (!listed)
			continue;
		vec_push(&l->insns, (struct listing_insn){
					    .svma = in.svma,
					    .text = arena_strdup(&l->arena, in.text),
					    .counts = counts,
					    .line = LINE_NONE,
					    .n_bytes = in.n_bytes,
				    });
		vec_push(&targets, jumps && in.has_target ? in.target : 0);
	}
	l->has_code = true;
	connect_jumps(l, targets.v);
	free(bytes);
}

/* Loops and inlined functions around each instruction. */
static void find_scopes(struct listing *l, const struct listed *d)
{
	const struct image *im = &d->q->profile->images.v[d->f->image];
	struct code_scope scopes[RESOLVER_MAX_FRAMES];

	vec_each (in, &l->insns) {
		uint64_t loops[RESOLVER_MAX_FRAMES];
		size_t n = resolver_scopes(d->q->resolver, im, in->svma, false, scopes,
					   RESOLVER_MAX_FRAMES);

		for (size_t i = 0; i < n && i < RESOLVER_MAX_FRAMES; i++) {
			if (scopes[i].kind == CODE_INLINED)
				in->inlined = scopes[i].name;
			if (scopes[i].kind != CODE_LOOP)
				continue;
			loops[in->n_loops++] = scopes[i].svma;
		}
		/* Neighbours share their loops. */
		if (in->n_loops && in > l->insns.v && in[-1].n_loops == in->n_loops &&
		    memcmp(in[-1].loops, loops, in->n_loops * sizeof(*loops)) == 0)
			in->loops = in[-1].loops;
		else if (in->n_loops)
			in->loops = memcpy(arena_alloc(&l->arena, in->n_loops * sizeof(*loops)),
					   loops, in->n_loops * sizeof(*loops));
	}
}

/* --- lines --- */

static int compare_lines(const void *a, const void *b, void *arg)
{
	const struct listing_line *x = a, *y = b;
	const char *own = arg;
	int d = strcmp(x->file, y->file);

	if (d) {
		if (own && strcmp(x->file, own) == 0)
			return -1;
		if (own && strcmp(y->file, own) == 0)
			return 1;
		return d;
	}
	return x->line < y->line ? -1 : x->line > y->line;
}

void listing_sort_lines(struct listing *l)
{
	size_t n = 0;

	if (l->lines.n > 1)
		qsort_r(l->lines.v, l->lines.n, sizeof(*l->lines.v), compare_lines,
			(void *)l->file);
	for (size_t i = 0; i < l->lines.n; i++)
		if (!n || compare_lines(&l->lines.v[n - 1], &l->lines.v[i], (void *)l->file) != 0)
			l->lines.v[n++] = l->lines.v[i];
	l->lines.n = n;
}

uint32_t listing_find_line(const struct listing *l, const char *file, uint32_t line)
{
	const struct listing_line key = {.file = file, .line = line};
	size_t i = lower_bound(k, 0, l->lines.n,
			       compare_lines(&l->lines.v[k], &key, (void *)l->file) < 0);

	return i < l->lines.n && compare_lines(&l->lines.v[i], &key, (void *)l->file) == 0
		       ? (uint32_t)i
		       : LINE_NONE;
}

/* The lines of a function from the first to the last that its inlined code came from, and from its
 * declaration on. */
static bool inlined_extent(struct listing *l, const struct listed *d, struct lines *lines,
			   struct lines_extent *ret)
{
	const struct image *im = &d->q->profile->images.v[d->f->image];
	struct resolved_frame frames[RESOLVER_MAX_FRAMES];
	uint32_t declared;

	*ret = (struct lines_extent){.first = UINT32_MAX};
	vec_each (in, &l->insns) {
		size_t n = resolver_frames(d->q->resolver, im, in->svma, true, frames,
					   RESOLVER_MAX_FRAMES);

		for (size_t i = 1; i < n && i < RESOLVER_MAX_FRAMES; i++) {
			const struct resolved_frame *f = &frames[i];

			if (!f->name || strcmp(f->name, d->f->inlined) != 0 || !f->file || !f->line)
				continue;
			if (!ret->file)
				ret->file = f->file;
			if (strcmp(ret->file, f->file) != 0)
				continue;
			ret->first = f->line < ret->first ? f->line : ret->first;
			ret->last = f->line > ret->last ? f->line : ret->last;
		}
	}
	if (!ret->file)
		return false;
	declared = lines_declared_above(lines, l->insns.v[0].svma, ret->file, ret->first);
	ret->first = declared ? declared : ret->first;
	return true;
}

/* All lines of the procedure's own file, so that those without code are shown too, and every line
 * an instruction comes from. */
static void collect_lines(struct listing *l, const struct listed *d, struct lines *lines)
{
	struct lines_extent extent;
	struct line at;
	bool found;

	found = d->f->inlined ? inlined_extent(l, d, lines, &extent)
			      : lines_procedure(lines, l->start, l->end, &extent) >= 0;
	if (found && extent.last - extent.first < MOST_LINES) {
		l->file = extent.file;
		for (uint64_t n = extent.first; n <= extent.last; n++)
			vec_push(&l->lines, (struct listing_line){extent.file, (uint32_t)n});
	}
	vec_each (in, &l->insns)
		if (lines_find(lines, in->svma, &at) >= 0 && at.line)
			vec_push(&l->lines, (struct listing_line){at.file, at.line});
	listing_sort_lines(l);
}

static void charge_lines(struct listing *l, struct lines *lines)
{
	struct line at;

	vec_each (in, &l->insns) {
		struct listing_line *line;

		if (lines_find(lines, in->svma, &at) < 0 || !at.line)
			continue;
		in->line = listing_find_line(l, at.file, at.line);
		assert(in->line != LINE_NONE);
		line = &l->lines.v[in->line];
		if (!line->counts)
			line->counts = listing_new_counts(l);
		add_counts(l, line->counts, in->counts);
	}
}

static char *line_text(struct listing *l, const struct source_text *f, uint32_t line)
{
	size_t n;
	const char *text = source_line(f, line, &n);

	return text ? arena_strndup(&l->arena, text, n) : NULL;
}

void listing_load_texts(struct listing *l, uint64_t made_s)
{
	vec_each (line, &l->lines) {
		const struct source_text *f =
			sources_load(l->sources, line->file, l->named_by, NULL, &l->why_no_source);

		line->text = f ? line_text(l, f, line->line) : NULL;
		if (!line->text)
			continue;
		l->has_source = true;
		l->is_source_newer |= made_s && f->mtime_wall_ns / 1000000000 > made_s;
	}
}

void listing_evaluate(struct listing *l, const struct columns *c)
{
	vec_each (in, &l->insns)
		cols_evaluate(c, (double *)in->counts);
	vec_each (line, &l->lines)
		if (line->counts)
			cols_evaluate(c, line->counts);
	cols_evaluate(c, l->total);
}

/* What is listed of a function that was inlined, and how many samples that has. */
static void settle_inlined(struct listing *l)
{
	memset(l->total, 0, l->n_cols * sizeof(*l->total));
	vec_each (in, &l->insns)
		add_counts(l, l->total, in->counts);
	if (!l->insns.n)
		return;
	l->start = l->insns.v[0].svma;
	l->end = l->insns.v[l->insns.n - 1].svma + l->insns.v[l->insns.n - 1].n_bytes;
}

const char *listing_name_of(struct query *q, const struct found_proc *f)
{
	return f->p.index == PROC_NONE ? "[no symbol]"
				       : resolver_name(q->resolver, &q->profile->images.v[f->image],
						       f->p.index, true);
}

void listing_open(struct listing *l, struct query *q, const struct columns *columns,
		  const struct found_proc *f, struct sources *sources)
{
	struct listed d = {.q = q, .f = f};
	struct image_code *c = &l->code;

	*l = (struct listing){
		.image = query_image_name(q, f->image),
		.start = f->p.start,
		.end = f->p.end,
		.n_cols = (unsigned)columns->cols.n,
		.sources = sources,
	};
	build_id_format(&q->profile->images.v[f->image].build_id, l->build_id);
	l->procedure = f->inlined ? f->inlined : listing_name_of(q, f);
	l->into = f->inlined ? listing_name_of(q, f) : NULL;
	l->total = listing_new_counts(l);
	d.spots = listing_spots(q, f->image, f->p.start, f->p.end);
	for (const struct spot *s = d.spots.first; s < d.spots.end; s++)
		listing_add_spot(q, l->total, s);
	code_open(c, q, f->image);
	l->is_kept = c->is_kept;
	l->why_no_code = c->why_no_code;
	l->why_no_source = c->why_no_lines;
	if (f->p.index == PROC_NONE && c->disasm && code_end(c, l->start) < l->end)
		l->end = code_end(c, l->start);
	if (c->disasm)
		list_instructions(l, &d, c);
	else
		list_addresses(l, &d);
	if (f->inlined)
		settle_inlined(l);
	if (l->has_code)
		find_scopes(l, &d);
	if (q->profile->images.v[f->image].kind == IMAGE_SCRIPT) {
		l->is_script = true;
		l->why_no_source.msg[0] = '\0';
		listing_of_script(l, q, f->image, d.spots);
	} else if (c->lines) {
		collect_lines(l, &d, c->lines);
		charge_lines(l, c->lines);
		l->named_by = c->made_by;
		listing_load_texts(l, c->made_s);
		if (!l->has_source && !l->why_no_source.msg[0])
			err_set(&l->why_no_source, -ENODATA, "the file tells none of this code");
	}
	listing_evaluate(l, columns);
	listing_find_heat(l, columns->hide);
}

void listing_close(struct listing *l)
{
	vec_release(&l->insns);
	vec_release(&l->lines);
	vec_release(&l->candidates);
	code_close(&l->code);
	arena_release(&l->arena);
	*l = (struct listing){0};
}
