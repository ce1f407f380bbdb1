/* SPDX-License-Identifier: BSD-2-Clause */
/* See export_blocks.h. */
#include "cmd/export_blocks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/lower_bound.h"
#include "base/out_file.h"
#include "base/plural.h"

/* How often a source line ran, in one procedure or, added up, in all. */
struct covered_line {
	const char *file;
	uint32_t line;
	bool is_known;
	double n;
};

struct blocks_writer {
	struct cmd *c;
	const struct export_blocks *o;
	struct source *s;
	struct exact_counts exact;
	bool has_exact;
	struct str text;
	image_id image; /* whose line was written last */
	bool any_image;
	size_t n_blocks, n_procs, n_refused;
	struct err refusal; /* the first */
	VEC(struct covered_line) lines;
	struct arena names; /* of LINES */
};

static void put_image(struct blocks_writer *w, image_id image)
{
	const struct image *im = &w->s->query->profile->images.v[image];
	char hex[2 * BUILD_ID_MAX + 1];

	if (w->any_image && w->image == image)
		return;
	build_id_format(&im->build_id, hex);
	str_addf(&w->text, "image %s ", *hex ? hex : "-");
	text_show(&w->text, im->path);
	str_addc(&w->text, '\n');
	w->image = image;
	w->any_image = true;
}

static void put_blocks(struct blocks_writer *w, const struct flat_row *r, const struct listing *l,
		       const struct blocks *b)
{
	put_image(w, r->image);
	str_add(&w->text, "procedure ");
	text_show(&w->text, l->procedure);
	str_addc(&w->text, '\n');
	vec_each (k, &b->v) {
		str_addf(&w->text, "%" PRIx64 " %" PRIx64 " ", k->start, k->end);
		if (k->count.confidence == COUNT_UNKNOWN)
			str_addc(&w->text, '-');
		else
			str_addf(&w->text, "%.2f", k->count.n);
		str_addf(&w->text, " %s\n", count_confidence_name(k->count.confidence));
		w->n_blocks++;
	}
	w->n_procs++;
}

/* A line a block: where it begins, and how often it ran. */
static void put_pixie(struct blocks_writer *w, const struct blocks *b)
{
	vec_each (k, &b->v) {
		const bool sure =
			k->count.confidence != COUNT_UNKNOWN && k->count.confidence >= w->o->conf;

		str_addf(&w->text, "%" PRIx64 " %.0f\n", k->start, sure ? k->count.n : 0);
		w->n_blocks++;
	}
	w->n_procs++;
}

/* Adds the source lines of the block K of L's procedure. */
static void cover_block(struct blocks_writer *w, const struct listing *l, const struct block_row *k)
{
	const char *kept = NULL, *file = NULL; /* of the line before */

	for (size_t i = lower_bound(n, 0, l->insns.n, l->insns.v[n].svma < k->start);
	     i < l->insns.n && l->insns.v[i].svma < k->end; i++) {
		const uint32_t number = l->insns.v[i].line;
		const struct listing_line *line = number < l->lines.n ? &l->lines.v[number] : NULL;

		if (!line || !line->file || !line->line)
			continue;
		if (file != line->file)
			kept = arena_strdup(&w->names, line->file);
		file = line->file;
		vec_push(&w->lines,
			 (struct covered_line){.file = kept,
					       .line = line->line,
					       .is_known = k->count.confidence != COUNT_UNKNOWN,
					       .n = k->count.n});
	}
	w->n_blocks++;
}

static int by_line(const void *a, const void *b)
{
	const struct covered_line *x = a, *y = b;
	const int order = strcmp(x->file, y->file);

	return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

/* Joins what is equal from number FIRST on; ADDS: counts add up, else the greatest is theirs. */
static void join_lines(struct blocks_writer *w, size_t first, bool adds)
{
	struct covered_line *v = w->lines.v;
	size_t n = first;

	if (w->lines.n - first > 1)
		qsort(v + first, w->lines.n - first, sizeof(*v), by_line);
	for (size_t i = first; i < w->lines.n; i++) {
		if (n == first || by_line(&v[n - 1], &v[i]) != 0) {
			v[n++] = v[i];
			continue;
		}
		v[n - 1].is_known |= v[i].is_known;
		v[n - 1].n = adds ? v[n - 1].n + v[i].n : v[i].n > v[n - 1].n ? v[i].n : v[n - 1].n;
	}
	w->lines.n = n;
}

static void cover_procedure(struct blocks_writer *w, const struct listing *l,
			    const struct blocks *b)
{
	const size_t first = w->lines.n;

	vec_each (k, &b->v)
		cover_block(w, l, k);
	join_lines(w, first, false);
	w->n_procs++;
}

/* Writes the lines by file; geninfo(1), FILES. */
static void put_lines(struct blocks_writer *w)
{
	size_t n_hit = 0, n = 0;

	join_lines(w, 0, true);
	for (size_t i = 0; i < w->lines.n; i++) {
		const struct covered_line *l = &w->lines.v[i];
		const uint64_t count = l->n > 0 && l->n < 0.5 ? 1 : (uint64_t)(l->n + 0.5);

		if (!i || strcmp(l[-1].file, l->file) != 0) {
			n_hit = n = 0;
			str_add(&w->text, "TN:\nSF:");
			text_show(&w->text, l->file);
			str_addc(&w->text, '\n');
		}
		if (l->is_known) {
			str_addf(&w->text, "DA:%" PRIu32 ",%" PRIu64 "\n", l->line, count);
			n_hit += count > 0;
			n++;
		}
		if (i + 1 == w->lines.n || strcmp(l[1].file, l->file) != 0)
			str_addf(&w->text, "LH:%zu\nLF:%zu\nend_of_record\n", n_hit, n);
	}
}

static void put_form(struct blocks_writer *w, const struct flat_row *r, const struct listing *l,
		     const struct blocks *b)
{
	switch (w->o->form) {
	case BLOCKS_PIXIE:
		put_pixie(w, b);
		break;
	case BLOCKS_LCOV:
		cover_procedure(w, l, b);
		break;
	default:
		put_blocks(w, r, l, b);
		break;
	}
}

/* Writes the blocks of the procedure of row R, or notes why they cannot be counted. */
static void put_procedure(struct blocks_writer *w, const struct flat_row *r,
			  struct sources *sources)
{
	struct query *q = w->s->query;
	const struct symtab *st =
		resolver_image(q->resolver, &q->profile->images.v[r->image])->symtab;
	_mem_ char *name = xasprintf(
		"0x%" PRIx64, r->proc == PROC_NONE ? r->svma : symtab_get(st, r->proc).start);
	const struct listing_opts o = {.name = name, .image = query_image_name(q, r->image)};
	struct blocks blocks = {0};
	struct listing l;
	struct err why = {0};
	int rc = source_listing(w->s, &o, sources, &l, &why);

	if (rc >= 0) {
		rc = source_blocks(w->s, &l, w->has_exact ? &w->exact : NULL, &blocks, &why);
		if (rc >= 0)
			put_form(w, r, &l, &blocks);
		blocks_release(&blocks);
		listing_close(&l);
	}
	if (rc >= 0)
		return;
	if (!w->n_refused++)
		w->refusal = why;
}

static int by_place(const void *a, const void *b)
{
	const struct flat_row *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->svma < y->svma ? -1 : x->svma > y->svma;
}

/* pixie's counts are of one program. */
static int check_one_image(struct blocks_writer *w, const struct flat *f)
{
	const struct flat_row *first = NULL;

	vec_each (r, &f->rows) {
		if (r->image == SCOPE_NO_IMAGE || r->truncated)
			continue;
		if (first && first->image != r->image)
			return err_set(
				&w->c->err, -EINVAL,
				"--pixie is of one image; name it: there are %s, %s and maybe "
				"others",
				query_image_name(w->s->query, first->image),
				query_image_name(w->s->query, r->image));
		first = r;
	}
	return 0;
}

/* Puts the text where O wants it, and says what was left out. */
static int write_out(struct blocks_writer *w, const struct export_blocks *o)
{
	const bool to_stdout = !o->output || strcmp(o->output, "-") == 0;
	struct cmd *c = w->c;
	int rc = 0;

	if (!w->n_procs && w->n_refused)
		return err_set(&c->err, -ENODATA,
			       "no procedure's blocks can be counted; the first: %s",
			       w->refusal.msg);
	if (!w->n_procs)
		return CMD_NOTHING;
	if (o->form == BLOCKS_LCOV && !w->lines.n)
		return err_set(&w->c->err, -ENOENT,
			       "no code that was counted has lines: it needs DWARF (-g)");
	if (w->n_refused)
		cmd_notice(c, "%zu procedure%s left out; the first: %s", w->n_refused,
			   plural_are(w->n_refused), w->refusal.msg);
	if (to_stdout)
		str_add(&c->out, str_get(&w->text));
	else
		rc = out_file_save(o->output, w->text.v, w->text.n, &c->err);
	if (rc >= 0 && !to_stdout)
		str_addf(&c->out, "%s: %zu block%s, procedures: %zu\n", o->output, w->n_blocks,
			 plural_s(w->n_blocks), w->n_procs);
	return rc;
}

static int export_blocks_show(struct cmd *c, struct source *s, void *ctx)
{
	const struct export_blocks *o = ctx;
	const struct flat_opts all = {.by = {.keys = {ROW_KEY_PROCEDURE}, .n = 1},
				      .level = SCOPE_PROCEDURE,
				      .keep_pct = 100,
				      .images = o->images};
	static const char *const flags[BLOCKS_N_FORMS] = {"--bb", "--pixie", "--lcov"};
	struct blocks_writer w = {.c = c, .s = s, .o = o};
	struct sources *sources;
	struct flat f;
	int rc = source_needs(s, SOURCE_CODE, flags[o->form], &c->err);

	if (rc >= 0)
		rc = source_needs(s, SOURCE_SAMPLES, flags[o->form], &c->err);
	if (rc >= 0 && o->counts)
		rc = cmd_load_counts(c, o->counts, &w.exact);
	if (rc < 0)
		return rc;
	w.has_exact = o->counts != NULL;
	sources = sources_new();
	rc = source_flat(s, &all, &f, &c->err);
	vec_sort(&f.rows, by_place);
	if (rc >= 0 && o->form == BLOCKS_PIXIE)
		rc = check_one_image(&w, &f);
	for (size_t i = 0; rc >= 0 && i < f.rows.n; i++)
		if (f.rows.v[i].image != SCOPE_NO_IMAGE && !f.rows.v[i].truncated)
			put_procedure(&w, &f.rows.v[i], sources);
	if (rc >= 0 && o->form == BLOCKS_LCOV)
		put_lines(&w);
	if (rc >= 0)
		rc = write_out(&w, o);
	flat_release(&f);
	sources_free(sources);
	exact_counts_release(&w.exact);
	str_release(&w.text);
	vec_release(&w.lines);
	arena_release(&w.names);
	return rc;
}

int export_blocks_write(struct cmd *c, struct export_blocks *o)
{
	if (c->select.columns.n || c->select.sort_set)
		return err_set(
			&c->err, -EINVAL,
			"--pm and --sp go with --folded; blocks have counts of executions, not "
			"of sets");
	c->select.branches = true;
	return cmd_with_source(c, NULL, export_blocks_show, o);
}
