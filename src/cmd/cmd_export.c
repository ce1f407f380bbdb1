/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell export --FORMAT -o PATH`: a database's samples in another tool's format.
 *
 * A format is a row of the table below: its flag, and a function that writes what the filter wants
 * of a profile to PATH. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/filter.h"
#include "port/dcpi_out.h"
#include "query/input.h"

struct export
{
	const char *output, *version;
	opt_list images;
	struct dcpi_filter filter;
};

static int export_dcpi(struct cmd *c, const struct export *x, const struct profile *p)
{
	struct dcpi_out_opts o = {
		.minor = 7,
		.stride = c->select.stride ? (unsigned)c->select.stride : 1,
		.filter = &x->filter,
	};
	struct dcpi_out_stats stats;
	int rc;

	if (x->version && strcmp(x->version, "0.06") == 0)
		o.minor = 6;
	else if (x->version && strcmp(x->version, "0.07") != 0)
		return err_set(&c->err, -EINVAL, "--version %s: must be 0.06 or 0.07", x->version);
	rc = dcpi_out_save(p, &o, x->output, &stats, &c->err);
	if (rc)
		return rc;
	str_addf(&c->out, "%s: %zu profile file%s, %" PRIu64 " samples, %zu bytes\n", x->output,
		 stats.n_files, stats.n_files == 1 ? "" : "s", stats.n_samples, stats.n_bytes);
	return stats.n_samples ? 0 : CMD_NOTHING;
}

static const struct format {
	const char *flag;
	int (*write)(struct cmd *c, const struct export *x, const struct profile *p);
	const char *help;
} formats[] = {
	{"dcpi", export_dcpi, "DCPI profile files, as DIR/EPOCH/HOST/FILE"},
};

static int parse(struct cmd *c, struct export *x, const struct format **ret)
{
	bool wanted[n_elems(formats)] = {false};
	VEC(struct opt) table = {0};
	int rc;

	*ret = NULL;
	for (size_t i = 0; i < n_elems(formats); i++)
		vec_push(&table, (struct opt){formats[i].flag, OPT_FLAG, &wanted[i], NULL,
					      formats[i].help});
	vec_push(&table, (struct opt){"o output", OPT_STR, &x->output, "DIR", "where to write"});
	vec_push(&table, (struct opt){"version", OPT_STR, &x->version, "V",
				      "of DCPI's files: 0.06 or 0.07 (default)"});
	vec_push(&table, (struct opt){0});
	rc = cmd_parse(c, "--dcpi -o DIR [OPTIONS] [IMAGE...]", table.v, false, &x->images);
	vec_release(&table);
	if (rc)
		return rc;
	for (size_t i = 0; i < n_elems(formats); i++) {
		if (wanted[i] && *ret)
			return err_set(&c->err, -EINVAL, "--%s and --%s exclude each other",
				       (*ret)->flag, formats[i].flag);
		if (wanted[i])
			*ret = &formats[i];
	}
	if (!*ret)
		return err_set(&c->err, -EINVAL, "say which format: --%s", formats[0].flag);
	if (!x->output)
		return err_set(&c->err, -EINVAL, "say where to write: -o DIR");
	return 0;
}

int cmd_export(struct cmd *c)
{
	const struct format *format;
	struct export x = {0};
	struct input in = {0};
	int rc = parse(c, &x, &format);

	if (!rc)
		rc = input_open(&in, &c->select, &c->err);
	if (!rc) {
		rc = filter_init(&x.filter, &in.profile, &c->select, &x.images, &c->err);
		if (!rc)
			rc = format->write(c, &x, &in.profile);
		filter_release(&x.filter);
		input_close(&in);
	}
	vec_release(&x.images);
	return rc;
}
