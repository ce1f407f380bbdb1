/* SPDX-License-Identifier: BSD-2-Clause */
/* See export_blocks.h. */
#include "cmd/export_blocks.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/out_file.h"

struct blocks_writer {
	struct cmd *c;
	struct source *s;
	struct exact_counts exact;
	bool has_exact;
	struct str text;
	image_id image; /* whose line was written last */
	bool any_image;
	size_t n_blocks, n_procs, n_refused;
	struct err refusal; /* the first */
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
			put_blocks(w, r, &l, &blocks);
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
	if (w->n_refused)
		cmd_notice(c, "%zu procedures are left out; the first: %s", w->n_refused,
			   w->refusal.msg);
	if (to_stdout)
		str_add(&c->out, str_get(&w->text));
	else
		rc = out_file_save(o->output, w->text.v, w->text.n, &c->err);
	if (rc >= 0 && !to_stdout)
		str_addf(&c->out, "%s: %zu blocks, procedures: %zu\n", o->output, w->n_blocks,
			 w->n_procs);
	return rc;
}

static int export_blocks_show(struct cmd *c, struct source *s, void *ctx)
{
	const struct export_blocks *o = ctx;
	const struct flat_opts all = {.by = {.keys = {ROW_KEY_PROCEDURE}, .n = 1},
				      .level = SCOPE_PROCEDURE,
				      .keep_pct = 100,
				      .images = o->images};
	struct blocks_writer w = {.c = c, .s = s};
	struct sources *sources;
	struct flat f;
	int rc = source_needs(s, SOURCE_CODE, "--bb", &c->err);

	if (rc >= 0)
		rc = source_needs(s, SOURCE_SAMPLES, "--bb", &c->err);
	if (rc >= 0 && o->counts)
		rc = cmd_load_counts(c, o->counts, &w.exact);
	if (rc < 0)
		return rc;
	w.has_exact = o->counts != NULL;
	sources = sources_new();
	rc = source_flat(s, &all, &f, &c->err);
	vec_sort(&f.rows, by_place);
	for (size_t i = 0; rc >= 0 && i < f.rows.n; i++)
		if (f.rows.v[i].image != SCOPE_NO_IMAGE && !f.rows.v[i].truncated)
			put_procedure(&w, &f.rows.v[i], sources);
	if (rc >= 0)
		rc = write_out(&w, o);
	flat_release(&f);
	sources_free(sources);
	exact_counts_release(&w.exact);
	str_release(&w.text);
	return rc;
}

int export_blocks_write(struct cmd *c, struct export_blocks *o)
{
	c->select.branches = true;
	return cmd_with_source(c, NULL, export_blocks_show, o);
}
