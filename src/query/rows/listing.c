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
#include <sys/stat.h>

#include "base/str.h"
#include "query/rows/columns.h"

#define MOST_LINES 100000 /* of a procedure; more is not a procedure but a damaged file */
#define BARE_BYTES 256	  /* listed from an address on that no symbol covers */

double *listing_new_counts(struct listing *l)
{
	size_t n_bytes = (l->n_cols + 1) * sizeof(double);

	return memset(arena_alloc(&l->arena, n_bytes), 0, n_bytes);
}

static void add_counts(const struct listing *l, double *to, const double *from)
{
	for (unsigned c = 0; c < l->n_cols; c++)
		to[c] += from[c];
}

static void add_spot(const struct query *q, double *to, const struct spot *s)
{
	for (unsigned c = 0; c < q->n_cols; c++)
		to[c] += (double)query_counts(q, s)[c];
}

/* --- finding --- */

static void find_address(struct query *q, uint64_t svma, image_id image, found_list *ret)
{
	const struct symtab *st = resolver_image(q->resolver, &q->profile->images.v[image])->symtab;
	struct found_proc f = {.image = image, .p = {.index = symtab_find(st, svma)}};

	if (f.p.index != PROC_NONE) {
		f.p = symtab_get(st, f.p.index);
		vec_push(ret, f);
		return;
	}
	for (size_t i = q->first[image]; i < q->first[image + 1]; i++) {
		if (q->spots[i].svma != svma)
			continue;
		f.p.start = svma;
		f.p.end = svma + BARE_BYTES;
		for (uint64_t end = svma + 1; end < f.p.end; end++)
			if (symtab_find(st, end) != PROC_NONE)
				f.p.end = end;
		vec_push(ret, f);
		return;
	}
}

int listing_find(struct query *q, const char *name, const image_ids *images, found_list *ret,
		 struct err *err)
{
	uint64_t svma = 0;
	bool is_address = str_starts(name, "0x") && str_parse_u64(name, 0, &svma) == 0;

	vec_each (im, images) {
		const struct symtab *st =
			resolver_image(q->resolver, &q->profile->images.v[*im])->symtab;
		proc_list found = {0};

		if (is_address) {
			find_address(q, svma, *im, ret);
			continue;
		}
		symtab_find_name(st, name, &found);
		vec_each (i, &found)
			vec_push(ret, (struct found_proc){*im, symtab_get(st, *i)});
		vec_release(&found);
	}
	if (ret->n)
		return 0;
	if (is_address)
		return err_set(err, -ENOENT, "no procedure and no samples at %s in %s", name,
			       query_image_name(q, images->v[0]));
	return err_set(err, -ENOENT,
		       "no procedure '%s' in %s; `dwell prof %s` lists those with samples", name,
		       query_image_name(q, images->v[0]),
		       str_basename(q->profile->images.v[images->v[0]].path));
}

/* --- instructions --- */

struct range {
	const struct spot *first, *end;
};

static struct range spots_in(const struct query *q, image_id image, uint64_t start, uint64_t end)
{
	size_t lo = q->first[image], hi = q->first[image + 1];
	struct range r;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (q->spots[mid].svma < start)
			lo = mid + 1;
		else
			hi = mid;
	}
	r.first = r.end = q->spots + lo;
	while (r.end < q->spots + q->first[image + 1] && r.end->svma < end)
		r.end++;
	return r;
}

static void list_addresses(struct listing *l, const struct query *q, struct range spots)
{
	for (const struct spot *s = spots.first; s < spots.end; s++) {
		double *counts = listing_new_counts(l);

		add_spot(q, counts, s);
		vec_push(&l->insns, (struct listing_insn){
					    .svma = s->svma, .counts = counts, .line = LINE_NONE});
	}
}

static void list_instructions(struct listing *l, const struct query *q, const struct image_code *c,
			      struct range spots)
{
	size_t n = l->end - l->start, n_targets, next_target = 0;
	uint8_t *bytes = code_load(c, l->start, l->end);
	const struct spot *s = spots.first;
	struct disasm_insn in;
	uint64_t *targets;

	if (!bytes) {
		err_set(&l->why_no_code, -ENODATA, "the file does not hold the procedure's bytes");
		list_addresses(l, q, spots);
		return;
	}
	n_targets = disasm_targets(c->disasm, bytes, n, l->start, &targets);
	disasm_begin(c->disasm, bytes, n, l->start);
	while (disasm_next(c->disasm, &in)) {
		double *counts = listing_new_counts(l);

		for (; s < spots.end && s->svma < in.svma + in.n_bytes; s++)
			add_spot(q, counts, s);
		while (next_target < n_targets && targets[next_target] < in.svma)
			next_target++;
		vec_push(&l->insns, (struct listing_insn){
					    .svma = in.svma,
					    .text = arena_strdup(&l->arena, in.text),
					    .counts = counts,
					    .line = LINE_NONE,
					    .n_bytes = in.n_bytes,
					    .is_target = next_target < n_targets &&
							 targets[next_target] == in.svma,
				    });
	}
	l->has_code = true;
	free(targets);
	free(bytes);
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
	size_t lo = 0, hi = l->lines.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int d = compare_lines(&l->lines.v[mid], &key, (void *)l->file);

		if (d == 0)
			return (uint32_t)mid;
		if (d < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return LINE_NONE;
}

/* All lines of the procedure's own file, so that those without code are shown too, and every line
 * an instruction comes from. */
static void collect_lines(struct listing *l, struct lines *lines)
{
	struct lines_extent extent;
	struct line at;

	if (lines_procedure(lines, l->start, l->end, &extent) == 0 &&
	    extent.last - extent.first < MOST_LINES) {
		l->file = extent.file;
		for (uint64_t n = extent.first; n <= extent.last; n++)
			vec_push(&l->lines, (struct listing_line){extent.file, (uint32_t)n});
	}
	vec_each (in, &l->insns)
		if (lines_find(lines, in->svma, &at) == 0 && at.line)
			vec_push(&l->lines, (struct listing_line){at.file, at.line});
	listing_sort_lines(l);
}

static void charge_lines(struct listing *l, struct lines *lines)
{
	struct line at;

	vec_each (in, &l->insns) {
		struct listing_line *line;

		if (lines_find(lines, in->svma, &at) != 0 || !at.line)
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

void listing_load_texts(struct listing *l, int image_fd)
{
	struct stat st;
	bool have_time = image_fd >= 0 && fstat(image_fd, &st) == 0;

	vec_each (line, &l->lines) {
		const struct source_text *f =
			sources_load(l->sources, line->file, NULL, &l->why_no_source);

		line->text = f ? line_text(l, f, line->line) : NULL;
		if (!line->text)
			continue;
		l->has_source = true;
		l->is_source_newer |=
			have_time && f->mtime_wall_ns / 1000000000 > (uint64_t)st.st_mtime;
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

void listing_open(struct listing *l, struct query *q, const struct columns *columns,
		  const struct found_proc *f, struct sources *sources)
{
	struct range spots = spots_in(q, f->image, f->p.start, f->p.end);
	struct image_code *c = &l->code;

	*l = (struct listing){
		.image = query_image_name(q, f->image),
		.start = f->p.start,
		.end = f->p.end,
		.n_cols = (unsigned)columns->cols.n,
		.sources = sources,
	};
	build_id_format(&q->profile->images.v[f->image].build_id, l->build_id);
	l->procedure = f->p.index == PROC_NONE
			       ? "[no symbol]"
			       : resolver_name(q->resolver, &q->profile->images.v[f->image],
					       f->p.index, true);
	l->total = listing_new_counts(l);
	for (const struct spot *s = spots.first; s < spots.end; s++)
		add_spot(q, l->total, s);
	code_open(c, q, f->image);
	l->why_no_code = c->why_no_code;
	l->why_no_source = c->why_no_lines;
	if (f->p.index == PROC_NONE && c->disasm && code_end(c, l->start) < l->end)
		l->end = code_end(c, l->start);
	if (c->disasm)
		list_instructions(l, q, c, spots);
	else
		list_addresses(l, q, spots);
	if (c->lines) {
		collect_lines(l, c->lines);
		charge_lines(l, c->lines);
		listing_load_texts(l, c->fd);
	}
	listing_evaluate(l, columns);
}

void listing_close(struct listing *l)
{
	vec_release(&l->insns);
	vec_release(&l->lines);
	code_close(&l->code);
	arena_release(&l->arena);
	*l = (struct listing){0};
}
