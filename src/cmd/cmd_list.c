/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell list PROCEDURE [IMAGE]`: samples at each source line and instruction of a procedure. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/out_file.h"
#include "base/plural.h"
#include "cmd/source_cmd.h"
#include "view/about.h"
#include "view/blocks.h"
#include "view/list.h"
#include "view/list_html.h"

struct list_args {
	bool data; /* what the page shows, without the page */
	bool source, assembly, both, best;
	opt_list operands, source_maps;
	bool blocks;
	const char *into, *output, *symbol, *counts;
	struct list_opts show;
	struct source_args columns;
};

static int list_parse(struct cmd *c, struct list_args *a)
{
	/* In perf annotate -s names the procedure. */
	const bool annotates = str_ends(c->called, "annotate");
	const struct opt table[] = {
		{"source", OPT_FLAG, &a->source, NULL, "source lines"},
		{"asm", OPT_FLAG, &a->assembly, NULL, "instructions"},
		{"both", OPT_FLAG, &a->both, NULL, "source lines with their instructions beneath"},
		{"best", OPT_FLAG, &a->best, NULL,
		 "source lines if there are, else instructions (default)"},
		{annotates ? "sort" : "sort s", OPT_STR, &c->select.sort, "EVENT",
		 "show this event first"},
		{annotates ? "symbol s" : "symbol", OPT_STR, &a->symbol, NULL, NULL}, /* perf's */
		{"stdio", OPT_FLAG, &c->no_pager, NULL, NULL},
		{"blocks", OPT_FLAG, &a->blocks, NULL,
		 "basic blocks, how often each ran, and how sure that is"},
		{"counts", OPT_STR, &a->counts, "FILE",
		 "how often code ran is in FILE, of callgrind --dump-instr=yes or gcov "
		 "--json-format"},
		{"hot", OPT_FLAG, &a->show.hot, NULL, "only what is hot and what leads there"},
		{"o output", OPT_STR, &a->output, "FILE",
		 "write a page, source and code side by side, to FILE.html (-: stdout)"},
		{"data", OPT_FLAG, &a->data, NULL, NULL}, /* for the page of dwell web */
		{"into", OPT_STR, &a->into, "PROCEDURE", "as inlined into this procedure"},
		{"source-map", OPT_LIST, &a->source_maps, "FROM=TO",
		 "source files below FROM are found below TO now"},
		SOURCE_OPTIONS(&a->columns),
		{"no-header", OPT_FLAG, &a->show.no_header, NULL, "the table alone"},
		{0},
	};
	int rc = cmd_parse(c, "[OPTIONS] [DB] PROCEDURE [IMAGE]", table, false, &a->operands);

	if (rc != 0)
		return rc;
	if (c->word && strcmp(c->word, "blocks") == 0) /* dcpiflow */
		a->blocks = true;
	else if (c->word && !a->source && !a->assembly && !a->best) /* dcpisource */
		a->both = true;
	if (a->source + a->assembly + a->both + a->best > 1)
		return err_set(&c->err, -EINVAL,
			       "--source, --asm, --both and --best exclude each other");
	if (a->blocks &&
	    (a->source || a->assembly || a->both || a->best || a->show.hot || a->output || a->data))
		return err_set(&c->err, -EINVAL,
			       "--blocks excludes --source, --asm, --both, --best, --hot and -o");
	if (a->counts && !a->blocks)
		return err_set(&c->err, -EINVAL, "--counts is for --blocks");
	c->select.branches = a->blocks;
	a->show.mode = a->source     ? LIST_SOURCE
		       : a->assembly ? LIST_ASM
		       : a->both     ? LIST_BOTH
				     : LIST_BEST;
	if (a->output && strcmp(a->output, "-") != 0 && !str_ends(a->output, ".html"))
		return err_set(&c->err, -EINVAL, "-o '%s': must end in .html, or be -", a->output);
	cmd_take_source(c, &a->operands);
	if (a->symbol)
		vec_push(&a->operands, NULL);
	for (size_t i = a->operands.n; a->symbol && i-- > 0;)
		a->operands.v[i] = i ? a->operands.v[i - 1] : a->symbol;
	if (a->operands.n < 1)
		return err_set(&c->err, -EINVAL,
			       "needs a procedure; `dwell prof` lists them, the hottest first");
	if (a->operands.n > 2)
		return err_set(&c->err, -EINVAL, "needs one procedure, and at most one image; %s",
			       "see --help");
	return 0;
}

/* Writes the page of L to the file that was asked for. */
static int list_save(struct cmd *c, const struct list_args *a, struct source *s,
		     const struct listing *l)
{
	_str_ struct str text = {0};
	_str_ struct str account = {0};
	struct emit e = {.out = &account, .format = EMIT_TABLE};
	int rc;

	emit_begin(&e);
	about_emit(&e, s, false);
	emit_end(&e);
	if (a->data) {
		list_data(&c->out, s, l, str_get(&account));
		return 0;
	}
	list_page(&text, s, l, str_get(&account));
	rc = out_file_save(a->output, text.v, text.n, &c->err);
	if (rc >= 0 && strcmp(a->output, "-") != 0)
		str_addf(&c->out,
			 "%s: %zu line%s, %zu instruction%s, %zu bytes; open it in a browser\n",
			 a->output, l->lines.n, plural_s(l->lines.n), l->insns.n,
			 plural_s(l->insns.n), text.n);
	return rc;
}

/* Shows the blocks of L's procedure. */
static int list_blocks(struct cmd *c, const struct list_args *a, struct source *s,
		       const struct listing *l)
{
	struct exact_counts exact = {0};
	struct blocks blocks = {0};
	int rc = 0;

	if (a->counts)
		rc = cmd_load_counts(c, a->counts, &exact);
	if (rc >= 0)
		rc = source_blocks(s, l, a->counts ? &exact : NULL, &blocks, &c->err);
	if (rc >= 0)
		blocks_emit(&c->emit, s, l, &blocks, a->show.no_header);
	blocks_release(&blocks);
	exact_counts_release(&exact);
	return rc;
}

static int list_show(struct cmd *c, struct source *s, void *ctx)
{
	struct list_args *a = ctx;
	const struct listing_opts o = {.name = a->operands.v[0],
				       .image = a->operands.n > 1 ? a->operands.v[1] : NULL,
				       .into = a->into};
	struct sources *sources = sources_new();
	struct listing l;
	struct err notice;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < a->source_maps.n; i++)
		rc = sources_map(sources, a->source_maps.v[i], &c->err);
	if (rc >= 0)
		rc = source_listing(s, &o, sources, &l, &c->err);
	if (rc >= 0 && a->blocks) {
		rc = list_blocks(c, a, s, &l);
		listing_close(&l);
	} else if (rc >= 0 && (a->output || a->data)) {
		rc = list_save(c, a, s, &l);
		listing_close(&l);
	} else if (rc >= 0) {
		a->show.mode = list_mode_for(&l, a->show.mode, &notice);
		if (notice.msg[0])
			cmd_notice(c, "%s", notice.msg);
		if (!l.of_lines && !l.has_code && a->show.mode != LIST_SOURCE)
			cmd_notice(c, "no instructions, only addresses: %s", l.why_no_code.msg);
		c->first_line = list_emit(&c->emit, s, &l, &a->show);
		listing_close(&l);
	}
	sources_free(sources);
	return rc;
}

int cmd_list(struct cmd *c)
{
	struct list_args a = {0};
	int rc = list_parse(c, &a);

	if (rc == 0) {
		/* Blocks are counted by whatever event tells it. */
		if ((!a.output && !a.data && !a.blocks) || a.columns.one_event)
			cmd_want_one_event(c, &a.columns);
		c->select.wall_too = a.output || a.data;
		rc = cmd_with_source(c, &a.columns, list_show, &a);
	}
	source_args_release(&a.columns);
	vec_release(&a.operands);
	vec_release(&a.source_maps);
	return rc;
}
