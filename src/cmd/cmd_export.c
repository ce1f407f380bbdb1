/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell export --FORMAT -o PATH`: a database's samples in another tool's format.
 *
 * Most formats are rows of port/exporters.c, one file each.  The table below has two more: a tree
 * of files, and counts of basic blocks. */
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
#include "base/plural.h"
#include "cmd/calc_args.h"
#include "cmd/cmd.h"
#include "cmd/export_blocks.h"
#include "cmd/filter.h"
#include "cmd/source_cmd.h"
#include "port/dcpi_out.h"
#include "port/exporters.h"
#include "query/samples/input.h"
#include "query/samples/source.h"
#include "query/stacks.h"

struct export
{
	const char *output, *version, *counts, *conf;
	opt_list images;
	bool no_inline;
	const struct exporter *exporter; /* NULL: a row of the table below */
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
		str_addf(&c->out, "%s%s of %" PRIu64 " sample%s", before, all[i].what, all[i].n,
			 plural_s(all[i].n));
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
	if (rc < 0)
		return rc;
	o.filter = &filter;
	rc = dcpi_out_save(&in->profile, &o, x->output, &stats, &c->err);
	filter_release(&filter);
	if (rc < 0)
		return rc;
	str_addf(&c->out, "%s: %zu profile file%s, %" PRIu64 " sample%s, %zu bytes\n", x->output,
		 stats.n_files, plural_s(stats.n_files), stats.n_samples, plural_s(stats.n_samples),
		 stats.n_bytes);
	show_unsaid(c, &stats);
	return stats.n_samples ? 0 : CMD_NOTHING;
}

static int show_dcpi(struct cmd *c, struct source *s, void *ctx)
{
	int rc = source_needs(s, SOURCE_SAMPLES, "--dcpi", &c->err);

	return rc < 0 ? rc : write_dcpi(c, ctx, samples_source_input(s));
}

static int export_dcpi(struct cmd *c, struct export *x)
{
	if (c->select.columns.n || c->select.sort_set)
		return err_set(&c->err, -EINVAL,
			       "--pm and --sp go with --folded; DCPI's files have samples only");
	c->select.runtime_frames = true; /* a profile file is one of a program */
	return cmd_with_source(c, NULL, show_dcpi, x);
}

/* Whether what FORMAT is given can be a whole number. */
static int check_count(struct cmd *c, const struct query *q, const char *format)
{
	const struct estimate *e = q->has_sets ? &q->shown.v[q->sort_shown] : NULL;
	uint64_t open;

	if (!e || e->kind == ESTIMATE_EVENT)
		return 0;
	if (e->kind == ESTIMATE_RATIO)
		return err_set(&c->err, -EINVAL, "--%s needs samples or a counter; %s is a ratio",
			       format, e->name);
	open = query_open(q, &e->part);
	if (open)
		cmd_notice(c, "of %" PRIu64 " sample%s it is not known whether %s for %s", open,
			   plural_s(open), open == 1 ? "it counts" : "they count", e->name);
	return 0;
}

static int export_blocks_as(struct cmd *c, struct export *x, enum blocks_form form)
{
	struct export_blocks o = {
		.form = form, .output = x->output, .counts = x->counts, .images = &x->images};
	int rc = x->conf ? count_confidence_parse(x->conf, &o.conf, &c->err) : 0;

	if (!x->conf)
		o.conf = COUNT_MEDIUM;
	return rc < 0 ? rc : export_blocks_write(c, &o);
}

static int export_bb(struct cmd *c, struct export *x)
{
	return export_blocks_as(c, x, BLOCKS_BB);
}

static int export_pixie(struct cmd *c, struct export *x)
{
	return export_blocks_as(c, x, BLOCKS_PIXIE);
}

static int export_lcov(struct cmd *c, struct export *x)
{
	return export_blocks_as(c, x, BLOCKS_LCOV);
}

static void show_notes(struct cmd *c, const struct exporter_result *r)
{
	const char *text = str_get(&r->notes);

	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		cmd_notice(c, "%.*s", (int)n, text);
	}
}

static int write_file(struct cmd *c, const struct export *x, const struct stacks *stacks)
{
	const struct stack_column *main = &stacks->columns.v[stacks->main_column];
	struct exporter_result r = {.unit = main->amount == STACK_SAMPLES ? "samples" : main->unit};
	struct out_stream out = {0};
	struct out_file file;
	int rc = out_file_open(&file, x->output, &c->err);

	if (rc < 0) {
		out_file_close(&file);
		return rc;
	}
	out.fd = file.fd;
	rc = x->exporter->write(stacks, &out, &r, &c->err);
	if (rc >= 0)
		rc = out_stream_finish(&out, &c->err);
	if (rc >= 0 && x->exporter->needs & EXPORTER_ONE_NUMBER && !r.n)
		rc = CMD_NOTHING;
	else if (rc >= 0)
		rc = out_file_commit(&file, &c->err);
	if (rc == 0) {
		show_notes(c, &r);
		if (strcmp(x->output, "-") != 0)
			str_addf(&c->out, "%s: %" PRIu64 " %s, %" PRIu64 " bytes\n", x->output, r.n,
				 r.unit, out_stream_size(&out));
	}
	str_release(&r.notes);
	out_stream_release(&out);
	out_file_close(&file);
	return rc;
}

static int show_exporter(struct cmd *c, struct source *s, void *ctx)
{
	const struct export *x = ctx;
	const struct stacks_opts o = {
		.images = &x->images,
		.lines = x->exporter->needs & EXPORTER_LINES,
		.sites = x->exporter->needs & EXPORTER_SITES,
		.locals = x->exporter->needs & EXPORTER_LOCALS,
		.runs = x->exporter->needs & EXPORTER_RUNS,
		.threads = x->exporter->needs & EXPORTER_THREADS,
		.branches = x->exporter->needs & EXPORTER_BRANCHES,
		.no_inline = x->no_inline,
	};
	struct stacks stacks = {0};
	_mem_ char *what = xasprintf("--%s", x->exporter->name);
	int rc = 0;

	if (x->exporter->needs & EXPORTER_ADDRESSES)
		rc = source_needs(s, SOURCE_SAMPLES, what, &c->err);
	if (rc == 0 && s->query && x->exporter->needs & EXPORTER_ONE_NUMBER)
		rc = check_count(c, s->query, x->exporter->name);
	if (rc == 0)
		rc = source_stacks(s, &o, &stacks, &c->err);
	if (rc == 0 && !stacks.values.n)
		rc = CMD_NOTHING;
	if (rc == 0)
		rc = write_file(c, x, &stacks);
	stacks_release(&stacks);
	return rc;
}

static int export_file(struct cmd *c, struct export *x)
{
	c->select.traces = x->exporter->needs & EXPORTER_THREADS;
	c->select.branches = x->exporter->needs & EXPORTER_BRANCHES;
	return cmd_with_source(c, NULL, show_exporter, x);
}

static const struct format {
	const char *flag;
	int (*write)(struct cmd *c, struct export *x);
	const char *help;
	bool to_stdout; /* without -o */
} formats[] = {
	{"dcpi", export_dcpi, "DCPI profile files, as DIR/EPOCH/HOST/FILE", false},
	{"bb", export_bb, "how often each basic block ran, and how sure that is", true},
	{"pixie", export_pixie, "how often each basic block of one image ran, as pixie counts",
	 true},
	{"lcov", export_lcov, "how often source lines ran, for genhtml and lcov", true},
};

/* The formats of both tables by number. */
static const char *format_flag(size_t i)
{
	return i < n_elems(formats) ? formats[i].flag : exporters[i - n_elems(formats)].name;
}

static const char *format_help(size_t i)
{
	return i < n_elems(formats) ? formats[i].help : exporters[i - n_elems(formats)].help;
}

static size_t n_formats(void)
{
	return n_elems(formats) + n_exporters;
}

static int choose_format(struct cmd *c, const bool *wanted, size_t *ret)
{
	_str_ struct str all = {0};
	const size_t none = n_formats();
	int rc = 0;

	*ret = none;
	for (size_t i = 0; i < none; i++) {
		str_addf(&all, "%s--%s", !i ? "" : i + 1 < none ? ", " : " or ", format_flag(i));
		if (wanted[i] && *ret != none && rc >= 0)
			rc = err_set(&c->err, -EINVAL, "--%s and --%s exclude each other",
				     format_flag(*ret), format_flag(i));
		if (wanted[i] && *ret == none)
			*ret = i;
	}
	if (*ret == none)
		rc = err_set(&c->err, -EINVAL, "say which format: %s", all.v);
	return rc;
}

/* Options of dcpi2bb, dcpi2pix and dcpicoverage, from their man pages; the name has chosen the
 * format. */
static int parse_dcpi_blocks(struct cmd *c, struct export *x)
{
	bool counts = false, one_line = false; /* that is what there is */
	bool low = false, medium = false, high = false;
	const struct opt table[] = {
		{"o output", OPT_STR, &x->output, "PATH", "where to write"},
		{"counts", OPT_FLAG, &counts, NULL, "write how often blocks ran, as without it"},
		{"conf-low", OPT_FLAG, &low, NULL, "dcpi2pix: also counts that are not sure"},
		{"conf-med", OPT_FLAG, &medium, NULL, "dcpi2pix: the default"},
		{"conf-high", OPT_FLAG, &high, NULL, "dcpi2pix: only counts that are sure"},
		{"one-line no-header", OPT_FLAG, &one_line, NULL,
		 NULL}, /* lcov's form has neither */
		{0},
	};
	const int rc = cmd_parse(c, "[-o FILE] [OPTIONS] [IMAGE...]", table, false, &x->images);

	x->conf = low ? "low" : high ? "high" : NULL;
	if (rc == 0)
		cmd_take_source(c, &x->images);
	return rc;
}

static const struct format *find_format(const char *flag)
{
	for (size_t i = 0; i < n_elems(formats); i++)
		if (strcmp(formats[i].flag, flag) == 0)
			return &formats[i];
	return NULL;
}

static bool counts_blocks(const struct format *f)
{
	return f->write == export_bb || f->write == export_pixie || f->write == export_lcov;
}

static int export_parse(struct cmd *c, struct export *x, const struct format **ret)
{
	_mem_ bool *wanted = xcalloc(n_formats(), sizeof(*wanted));
	VEC(struct opt) table = {0};
	size_t which;
	int rc;

	*ret = NULL;
	for (size_t i = 0; i < n_formats(); i++)
		vec_push(&table,
			 (struct opt){format_flag(i), OPT_FLAG, &wanted[i], NULL, format_help(i)});
	vec_push(&table, (struct opt){"o output", OPT_STR, &x->output, "PATH", "where to write"});
	vec_push(&table,
		 (struct opt){"version", OPT_STR, &x->version, "V",
			      "of DCPI's files: 0.06 or 0.07 (default)", .words = "0.06 0.07"});
	vec_push(&table, (struct opt){"counts", OPT_STR, &x->counts, "FILE",
				      "--bb, --pixie, --lcov: how often code ran, of "
				      "callgrind --dump-instr=yes or gcov --json-format"});
	vec_push(&table, (struct opt){"conf", OPT_STR, &x->conf, "LEVEL",
				      "--pixie: counts less sure than low, medium (default), high "
				      "or exact are 0",
				      .words = CALC_CONF_WORDS});
	vec_push(&table, (struct opt){"no-inline", OPT_FLAG, &x->no_inline, NULL,
				      "inlined calls belong to the procedure they are in"});
	vec_push(&table, (struct opt){0});
	rc = cmd_parse(c,
		       "--dcpi -o DIR [OPTIONS] [DB] [IMAGE...]\n"
		       "--folded [-o FILE] [OPTIONS] [DB] [IMAGE...]\n"
		       "--bb|--lcov [-o FILE] [OPTIONS] [DB] [IMAGE...]\n"
		       "--pixie [-o FILE] [OPTIONS] [DB] [IMAGE]\n"
		       "--FORMAT -o FILE [OPTIONS] [DB] [IMAGE...]",
		       table.v, false, &x->images);
	vec_release(&table);
	if (rc != 0)
		return rc;
	cmd_take_source(c, &x->images);
	rc = choose_format(c, wanted, &which);
	if (rc != 0)
		return rc;
	if (x->counts && (which >= n_elems(formats) || !counts_blocks(&formats[which])))
		return err_set(&c->err, -EINVAL, "--counts is for --bb, --pixie and --lcov");
	if (x->conf && (which >= n_elems(formats) || formats[which].write != export_pixie))
		return err_set(&c->err, -EINVAL, "--conf is for --pixie");
	if (which < n_elems(formats))
		*ret = &formats[which];
	else
		x->exporter = &exporters[which - n_elems(formats)];
	if (*ret && (*ret)->to_stdout && x->output && strcmp(x->output, "-") == 0)
		x->output = NULL;
	if (!x->output && x->exporter && x->exporter->needs & EXPORTER_TEXT)
		x->output = "-";
	if (x->output || (*ret && (*ret)->to_stdout))
		return 0;
	return err_set(&c->err, -EINVAL, "say where to write: -o %s", *ret ? "DIR" : "FILE");
}

int cmd_export(struct cmd *c)
{
	const struct format *format = NULL;
	struct export x = {0};
	int rc = c->word ? parse_dcpi_blocks(c, &x) : export_parse(c, &x, &format);

	if (c->word)
		format = find_format(c->word);
	if (rc == 0)
		rc = format ? format->write(c, &x) : export_file(c, &x);
	vec_release(&x.images);
	return rc;
}
