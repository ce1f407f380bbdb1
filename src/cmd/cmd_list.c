/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell list PROCEDURE IMAGE`: samples at each source line and instruction of a procedure. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cmd/hpc_cmd.h"
#include "cmd/query_cmd.h"
#include "query/hpc/listing.h"
#include "view/hpc.h"
#include "view/list.h"

struct list_args {
	bool source, assembly, both, best, no_header;
	opt_list operands, source_maps;
	enum list_mode mode;
	struct hpc_args hpc;
	bool is_hpc;
};

static int parse(struct cmd *c, struct list_args *a)
{
	const struct opt table[] = {
		{"source", OPT_FLAG, &a->source, NULL, "source lines"},
		{"asm", OPT_FLAG, &a->assembly, NULL, "instructions"},
		{"both", OPT_FLAG, &a->both, NULL, "source lines with their instructions beneath"},
		{"best", OPT_FLAG, &a->best, NULL,
		 "source lines if there are, else instructions (default)"},
		{"sort s", OPT_STR, &c->select.sort, "EVENT", "show this event first"},
		{"source-map", OPT_LIST, &a->source_maps, "FROM=TO",
		 "source files below FROM are found below TO now"},
		HPC_DERIVE_OPTION(&a->hpc),
		HPC_OPTIONS(&a->hpc),
		{"no-header", OPT_FLAG, &a->no_header, NULL, "the table alone"},
		{0},
	};
	int rc = cmd_parse(c, "[OPTIONS] [DB] PROCEDURE [IMAGE]", table, false, &a->operands);

	if (rc)
		return rc;
	if (a->source + a->assembly + a->both + a->best > 1)
		return err_set(&c->err, -EINVAL,
			       "--source, --asm, --both and --best exclude each other");
	a->mode = a->source	? LIST_SOURCE
		  : a->assembly ? LIST_ASM
		  : a->both	? LIST_BOTH
				: LIST_BEST;
	a->is_hpc = cmd_is_hpc(c, &a->operands);
	if (a->is_hpc && (a->operands.n < 1 || a->operands.n > 2))
		return err_set(&c->err, -EINVAL, "needs a procedure; see --help");
	if (a->is_hpc)
		return 0;
	rc = cmd_not_hpc(c, &a->hpc);
	if (rc)
		return rc;
	if (a->operands.n != 2)
		return err_set(&c->err, -EINVAL,
			       "needs a procedure (name or 0xADDRESS) and an image; see --help");
	return 0;
}

/* Several procedures have the name: says which, so that one can be chosen by its address. */
static int ambiguous(struct cmd *c, struct query *q, const char *name, const found_list *found)
{
	struct str s = {0};

	vec_each (f, found) {
		if (f - found->v == 8) {
			str_add(&s, ", ...");
			break;
		}
		str_addf(&s, "%s%#" PRIx64, f == found->v ? "" : ", ", f->p.start);
		if (found->v[0].image != found->v[found->n - 1].image)
			str_addf(&s, " in %s", query_image_name(q, f->image));
	}
	err_set(&c->err, -EINVAL, "%zu procedures are called '%s'; name one by its address: %s",
		found->n, name, str_get(&s));
	str_release(&s);
	return -EINVAL;
}

static int show(struct cmd *c, struct query *q, void *ctx)
{
	struct list_args *a = ctx;
	const char *name = a->operands.v[0];
	image_ids images = {0};
	found_list found = {0};
	struct listing l;
	struct sources *sources = sources_new();
	struct columns columns;
	struct err notice;
	int rc = select_find_images(q->profile, a->operands.v[1], &images, &c->err);

	cols_of_query(&columns, q);
	for (size_t i = 0; i < a->hpc.derived.n && !rc; i++)
		rc = cols_derive(&columns, a->hpc.derived.v[i], NULL, NULL, &c->err);
	if (!rc)
		rc = listing_find(q, name, &images, &found, &c->err);
	for (size_t i = 0; !rc && i < a->source_maps.n; i++)
		rc = sources_map(sources, a->source_maps.v[i], &c->err);
	if (!rc && found.n > 1)
		rc = ambiguous(c, q, name, &found);
	if (!rc) {
		listing_open(&l, q, &columns, &found.v[0], sources);
		a->mode = list_mode_for(&l, a->mode, &notice);
		if (notice.msg[0])
			cmd_notice(c, "%s", notice.msg);
		if (!l.has_code && a->mode != LIST_SOURCE)
			cmd_notice(c, "no instructions, only addresses: %s", l.why_no_code.msg);
		list_emit(&c->emit, q, &columns, &l, a->mode, a->no_header);
		listing_close(&l);
	}
	cols_release(&columns);
	sources_free(sources);
	vec_release(&images);
	vec_release(&found);
	return rc;
}

static int show_hpc(struct cmd *c, struct hpc_query *q, void *ctx)
{
	struct list_args *a = ctx;
	struct sources *sources = sources_new();
	struct err notice = {""};
	struct listing l;
	int rc = 0;

	for (size_t i = 0; !rc && i < a->source_maps.n; i++)
		rc = sources_map(sources, a->source_maps.v[i], &c->err);
	if (!rc)
		rc = hpc_listing_open(&l, q, a->operands.v[0],
				      a->operands.n > 1 ? a->operands.v[1] : NULL, sources,
				      &c->err);
	if (!rc) {
		/* Lines without their texts say more than addresses without instructions. */
		if (a->mode == LIST_BEST)
			a->mode = l.lines.n ? LIST_SOURCE : LIST_ASM;
		if (!l.has_source && a->mode != LIST_ASM && l.why_no_source.msg[0])
			err_set(&notice, 0, "no source texts: %s", l.why_no_source.msg);
		if (a->mode == LIST_ASM && !l.insns.n)
			err_set(&notice, 0,
				"the database has no instructions of it; --source shows "
				"its lines");
		if (notice.msg[0])
			cmd_notice(c, "%s", notice.msg);
		emit_begin(&c->emit);
		hpc_header_emit(&c->emit, q, a->no_header);
		list_rows_emit(&c->emit, &q->columns, &l, a->mode, a->no_header);
		emit_end(&c->emit);
		listing_close(&l);
	}
	sources_free(sources);
	return rc;
}

int cmd_list(struct cmd *c)
{
	struct list_args a = {0};
	int rc = parse(c, &a);

	if (!rc && a.is_hpc)
		rc = cmd_with_hpc(c, &a.hpc, show_hpc, &a);
	else if (!rc)
		rc = cmd_with_query(c, show, &a);
	hpc_args_release(&a.hpc);
	vec_release(&a.operands);
	vec_release(&a.source_maps);
	return rc;
}
