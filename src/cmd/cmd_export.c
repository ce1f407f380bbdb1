/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell export --FORMAT -o PATH`: a database's samples in another tool's format.
 *
 * A format is a row of the table below: its flag, and a function that writes what is wanted of the
 * input to PATH. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/out_file.h"
#include "cmd/cmd.h"
#include "cmd/filter.h"
#include "cmd/source_cmd.h"
#include "port/dcpi_out.h"
#include "query/samples/input.h"
#include "query/samples/source.h"
#include "view/folded.h"

struct export
{
	const char *output, *version;
	opt_list images;
	bool no_inline;
};

/* What the files do not say of the samples. */
static void show_unsaid(struct cmd *c, const struct dcpi_out_stats *s)
{
	const struct {
		uint64_t n;
		const char *what;
	} all[] = {
		{s->n_with_callers, "callers"},
		{s->n_with_owner, "commands, processes and users"},
		{s->n_weighted, "own weights"},
	};
	const char *before = "left out, since DCPI's files have no room for it: ";

	for (size_t i = 0; i < n_elems(all); i++) {
		if (!all[i].n)
			continue;
		str_addf(&c->out, "%s%s of %" PRIu64 " samples", before, all[i].what, all[i].n);
		before = ", ";
	}
	if (*before == ',')
		str_addc(&c->out, '\n');
}

static int write_dcpi(struct cmd *c, const struct export *x, const struct input *in)
{
	struct dcpi_out_opts o = {
		.minor = 7,
		.kept = &in->kept,
		.stride = c->select.stride ? (unsigned)c->select.stride : 1,
	};
	struct dcpi_out_stats stats = {0};
	struct dcpi_filter filter;
	int rc;

	if (x->version && strcmp(x->version, "0.06") == 0)
		o.minor = 6;
	else if (x->version && strcmp(x->version, "0.07") != 0)
		return err_set(&c->err, -EINVAL, "--version %s: must be 0.06 or 0.07", x->version);
	rc = filter_init(&filter, &in->profile, &c->select, &x->images, &c->err);
	if (rc)
		return rc;
	o.filter = &filter;
	rc = dcpi_out_save(&in->profile, &o, x->output, &stats, &c->err);
	filter_release(&filter);
	if (rc)
		return rc;
	str_addf(&c->out, "%s: %zu profile file%s, %" PRIu64 " samples, %zu bytes\n", x->output,
		 stats.n_files, stats.n_files == 1 ? "" : "s", stats.n_samples, stats.n_bytes);
	show_unsaid(c, &stats);
	return stats.n_samples ? 0 : CMD_NOTHING;
}

static int show_dcpi(struct cmd *c, struct source *s, void *ctx)
{
	int rc = source_needs(s, SOURCE_SAMPLES, "--dcpi", &c->err);

	return rc ? rc : write_dcpi(c, ctx, samples_source_input(s));
}

static int export_dcpi(struct cmd *c, struct export *x)
{
	if (c->select.columns.n || c->select.sort_set)
		return err_set(&c->err, -EINVAL,
			       "--pm and --sp go with --folded; DCPI's files have samples only");
	return cmd_with_source(c, NULL, show_dcpi, x);
}

/* A line of folded stacks has one whole number: metrics in seconds are written in microseconds. */
static double folded_scale(struct cmd *c, const struct source *s)
{
	const struct column *col = &s->columns.cols.v[s->columns.hide];

	if (col->kind != COLUMN_REAL)
		return 1;
	if (str_ends(col->name, " (sec)")) {
		cmd_notice(c, "%s is written as whole microseconds", col->name);
		return 1e6;
	}
	return 1;
}

static int write_folded(struct cmd *c, const struct export *x, struct source *s,
			const image_ids *images)
{
	const struct tree_opts o = {
		.scopes = {.level = SCOPE_PROCEDURE, .no_args = true, .no_inline = x->no_inline},
		.owners = {OWNER_KEY_COMM},
		.n_owners = !s->ops->why_not(s, SOURCE_OWNERS),
		.unknown_owners = true,
		.images = images,
	};
	struct tree_source *t = NULL;
	struct str text = {0};
	uint64_t n = 0;
	int rc = source_tree(s, &o, TREE_DOWN, &t, &c->err);

	if (!rc && s->columns.cols.n)
		rc = folded_write(x->output ? &text : &c->out, t, folded_scale(c, s), &n, &c->err);
	if (!rc && n && x->output) {
		rc = out_file_save(x->output, text.v, text.n, &c->err);
		if (!rc)
			str_addf(&c->out, "%s: %" PRIu64 " %s, %zu bytes\n", x->output, n,
				 s->query ? "samples" : "in all", text.n);
	}
	tree_source_close(t);
	str_release(&text);
	return rc || n ? rc : CMD_NOTHING;
}

/* Whether what is written can be whole numbers. */
static int check_count(struct cmd *c, const struct query *q)
{
	const struct estimate *e = q->has_sets ? &q->shown.v[q->sort_shown] : NULL;
	uint64_t open;

	if (!e || e->kind == ESTIMATE_EVENT)
		return 0;
	if (e->kind == ESTIMATE_RATIO)
		return err_set(&c->err, -EINVAL,
			       "--folded needs samples or a counter; %s is a ratio", e->name);
	open = query_open(q, &e->part);
	if (open)
		cmd_notice(c, "of %" PRIu64 " samples it is not known whether they count for %s",
			   open, e->name);
	return 0;
}

static int show_folded(struct cmd *c, struct source *s, void *ctx)
{
	const struct export *x = ctx;
	image_ids images = {0};
	int rc = s->query ? check_count(c, s->query) : 0;

	if (!rc && !s->query && x->images.n)
		rc = source_needs(s, SOURCE_SAMPLES, "images of --folded", &c->err);
	for (size_t i = 0; i < x->images.n && !rc; i++)
		rc = select_find_images(s->query->profile, x->images.v[i], &images, &c->err);
	if (!rc)
		rc = write_folded(c, x, s, x->images.n ? &images : NULL);
	vec_release(&images);
	return rc;
}

static int export_folded(struct cmd *c, struct export *x)
{
	return cmd_with_source(c, NULL, show_folded, x);
}

static const struct format {
	const char *flag;
	int (*write)(struct cmd *c, struct export *x);
	const char *help;
	bool to_stdout; /* without -o */
} formats[] = {
	{"dcpi", export_dcpi, "DCPI profile files, as DIR/EPOCH/HOST/FILE", false},
	{"folded", export_folded, "call paths as lines for flamegraph.pl and speedscope", true},
};

static int export_parse(struct cmd *c, struct export *x, const struct format **ret)
{
	bool wanted[n_elems(formats)] = {false};
	VEC(struct opt) table = {0};
	int rc;

	*ret = NULL;
	for (size_t i = 0; i < n_elems(formats); i++)
		vec_push(&table, (struct opt){formats[i].flag, OPT_FLAG, &wanted[i], NULL,
					      formats[i].help});
	vec_push(&table, (struct opt){"o output", OPT_STR, &x->output, "PATH", "where to write"});
	vec_push(&table, (struct opt){"version", OPT_STR, &x->version, "V",
				      "of DCPI's files: 0.06 or 0.07 (default)"});
	vec_push(&table,
		 (struct opt){"no-inline", OPT_FLAG, &x->no_inline, NULL,
			      "--folded: inlined calls belong to the procedure they are in"});
	vec_push(&table, (struct opt){0});
	rc = cmd_parse(c,
		       "--dcpi -o DIR [OPTIONS] [DB] [IMAGE...]\n"
		       "--folded [-o FILE] [OPTIONS] [DB] [IMAGE...]",
		       table.v, false, &x->images);
	vec_release(&table);
	if (rc)
		return rc;
	cmd_take_source(c, &x->images);
	for (size_t i = 0; i < n_elems(formats); i++) {
		if (wanted[i] && *ret)
			return err_set(&c->err, -EINVAL, "--%s and --%s exclude each other",
				       (*ret)->flag, formats[i].flag);
		if (wanted[i])
			*ret = &formats[i];
	}
	if (!*ret)
		return err_set(&c->err, -EINVAL, "say which format: --%s or --%s", formats[0].flag,
			       formats[1].flag);
	if ((*ret)->to_stdout && x->output && strcmp(x->output, "-") == 0)
		x->output = NULL;
	if (!x->output && !(*ret)->to_stdout)
		return err_set(&c->err, -EINVAL, "say where to write: -o DIR");
	return 0;
}

int cmd_export(struct cmd *c)
{
	const struct format *format;
	struct export x = {0};
	int rc = export_parse(c, &x, &format);

	if (!rc)
		rc = format->write(c, &x);
	vec_release(&x.images);
	return rc;
}
