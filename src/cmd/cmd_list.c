/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell list PROCEDURE IMAGE`: samples at each source line and instruction of a procedure. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cmd/source_cmd.h"
#include "view/list.h"

struct list_args {
	bool source, assembly, both, best, no_header;
	opt_list operands, source_maps;
	enum list_mode mode;
	struct source_args columns;
};

static int list_parse(struct cmd *c, struct list_args *a)
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
		SOURCE_OPTIONS(&a->columns),
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
	cmd_take_source(c, &a->operands);
	if (a->operands.n < 1 || a->operands.n > 2)
		return err_set(&c->err, -EINVAL, "needs a procedure; see --help");
	return 0;
}

static int list_show(struct cmd *c, struct source *s, void *ctx)
{
	struct list_args *a = ctx;
	struct sources *sources = sources_new();
	struct listing l;
	struct err notice;
	int rc = 0;

	for (size_t i = 0; !rc && i < a->source_maps.n; i++)
		rc = sources_map(sources, a->source_maps.v[i], &c->err);
	if (!rc)
		rc = source_listing(s, a->operands.v[0],
				    a->operands.n > 1 ? a->operands.v[1] : NULL, sources, &l,
				    &c->err);
	if (!rc) {
		a->mode = list_mode_for(&l, a->mode, &notice);
		if (notice.msg[0])
			cmd_notice(c, "%s", notice.msg);
		if (!l.of_lines && !l.has_code && a->mode != LIST_SOURCE)
			cmd_notice(c, "no instructions, only addresses: %s", l.why_no_code.msg);
		list_emit(&c->emit, s, &l, a->mode, a->no_header);
		listing_close(&l);
	}
	sources_free(sources);
	return rc;
}

int cmd_list(struct cmd *c)
{
	struct list_args a = {0};
	int rc = list_parse(c, &a);

	if (!rc)
		rc = cmd_with_source(c, &a.columns, list_show, &a);
	source_args_release(&a.columns);
	vec_release(&a.operands);
	vec_release(&a.source_maps);
	return rc;
}
