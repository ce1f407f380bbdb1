/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell cat [IMAGE...]`: samples address by address, in dcpicat's text form, from any database;
 * `dwell cat FILE...`: the same for DCPI profile files, or for such text; `dwell cat --write V -o
 * OUT FILE`: one profile file rewritten; `dwell cat FILE.db`: the structures of a file of an
 * HPCToolkit database. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cmd/cat_structures.h"
#include "cmd/cmd.h"
#include "cmd/filter.h"
#include "cmd/source_cmd.h"
#include "formats/dcpi.h"
#include "port/dcpi_cat.h"
#include "port/dcpi_in.h"
#include "port/dcpi_rewrite.h"
#include "query/samples/input.h"
#include "store/store.h"
#include "view/cat.h"
#include "view/cat_branches.h"
#include "view/cat_sets.h"

struct cat_args {
	opt_list names;
	const char *write, *output;
	bool branches;
};

/* In a file names keep their bytes, so that the text reads back; a terminal gets none raw. */
static int show_text(struct cmd *c, const struct profile *p, const struct dcpi_filter *f,
		     const struct dcpi_kept *kept)
{
	_str_ struct str text = {0};
	size_t n = dcpi_cat_format(p, f, kept, c->terminal ? &text : &c->out);

	for (char *line = text.v, *end; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		text_show(&c->out, line);
		str_addc(&c->out, '\n');
	}
	return n ? 0 : CMD_NOTHING;
}

static int cat_show(struct cmd *c, const struct profile *p, const struct dcpi_kept *kept,
		    const opt_list *images)
{
	struct dcpi_filter f = {0};
	int rc = filter_init(&f, p, &c->select, images, &c->err);

	if (rc == 0 && (c->json || c->csv))
		rc = cat_emit(&c->emit, p, &f) ? 0 : CMD_NOTHING;
	else if (rc == 0)
		rc = show_text(c, p, &f, kept);
	filter_release(&f);
	return rc;
}

/* A file of a version whose binary part is not known has its header shown. */
static void show_header(struct cmd *c, const char *path)
{
	struct file_map map;
	struct dcpi_file f;
	size_t body;

	if (file_map_open(&map, AT_FDCWD, path, false, NULL) < 0)
		return;
	if (dcpi_read_header(&f, map.bytes, map.n_bytes, &body, NULL) >= 0) {
		vec_each (line, &f.lines) {
			text_show(&c->out, line->text);
			str_addc(&c->out, '\n');
		}
		dcpi_release(&f);
	}
	file_map_close(&map);
}

static int show_files(struct cmd *c, const opt_list *files)
{
	const opt_list all = {0};
	struct profile p;
	int rc = 0;

	vec_each (path, files) {
		struct dcpi_kept kept = {0};
		const struct dcpi_select sel = {.stride = (unsigned)c->select.stride,
						.kept = &kept};
		size_t before = c->out.n;

		profile_init(&p);
		rc = dcpi_in_load(*path, &sel, &p, &c->err);
		if (rc == -EPROTONOSUPPORT)
			show_header(c, *path);
		if (rc == 0 && before)
			str_addc(&c->out, '\n');
		if (rc == 0)
			rc = cat_show(c, &p, &kept, &all);
		dcpi_kept_release(&kept);
		profile_release(&p);
		if (rc < 0)
			return rc;
		if (rc == CMD_NOTHING)
			c->out.n = before;
	}
	return c->out.n ? 0 : CMD_NOTHING;
}

/* --json of several files is one table. */
static int show_files_as_one(struct cmd *c, const opt_list *files)
{
	const struct dcpi_select sel = {.stride = (unsigned)c->select.stride};
	const opt_list all = {0};
	struct profile p;
	int rc = 0;

	profile_init(&p);
	vec_each (path, files) {
		rc = dcpi_in_load(*path, &sel, &p, &c->err);
		if (rc != 0)
			break;
	}
	if (rc == 0)
		rc = cat_show(c, &p, NULL, &all);
	profile_release(&p);
	return rc;
}

/* Whether the operand NAME is a file to print rather than an image to look up: a profile, or, when
 * no database is named, any file but a program (it is then refused with a reason). */
static bool is_file(const struct cmd *c, const char *name)
{
	struct file_map map;
	struct stat st;
	bool program;

	if (stat(name, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	if (dcpi_in_probe(name) == 1)
		return true;
	if (c->select.db || file_map_open(&map, AT_FDCWD, name, false, NULL) < 0)
		return false;
	program = map.n_bytes >= 4 && memcmp(map.bytes, "\177ELF", 4) == 0;
	file_map_close(&map);
	return !program;
}

static int show_sets(struct cmd *c, struct source *s, void *ctx)
{
	const struct flat_opts o = {
		.by = {.keys = {ROW_KEY_PROCEDURE}, .n = 1},
		.level = SCOPE_ADDRESS,
		.by_place = true,
		.keep_pct = 100,
		.images = ctx,
	};
	struct flat f;
	int rc = source_flat(s, &o, &f, &c->err);

	if (rc == 0) {
		cat_sets_emit(&c->emit, &f);
		rc = f.rows.n ? 0 : CMD_NOTHING;
	}
	flat_release(&f);
	return rc;
}

static int show_branches(struct cmd *c, struct source *s, void *ctx)
{
	const opt_list *names = ctx;
	image_ids images = {0};
	int rc = source_needs(s, SOURCE_SAMPLES, "--branches", &c->err);

	if (rc == 0 && !s->query->profile->branches.n)
		rc = err_set(&c->err, -ENOENT,
			     "no branches were recorded; `perf record -b` records them");
	for (size_t i = 0; i < names->n && rc == 0; i++)
		rc = select_find_images(s->query->profile, names->v[i], &images, &c->err);
	if (rc == 0 && !cat_branches_emit(&c->emit, s->query, names->n ? &images : NULL))
		rc = CMD_NOTHING;
	vec_release(&images);
	return rc;
}

static bool wants_sets(const struct cmd *c)
{
	return c->select.columns.n || c->select.sort_set || c->select.errors;
}

static int show_database(struct cmd *c, const opt_list *images)
{
	struct input in = {0};
	int rc = input_open(&in, &c->select, &c->err);

	if (rc != 0)
		return rc;
	rc = cat_show(c, &in.profile, &in.kept, images);
	input_close(&in);
	return rc;
}

static int cat_parse(struct cmd *c, struct cat_args *a)
{
	const struct opt table[] = {
		{"write", OPT_STR, &a->write, "V",
		 "rewrite FILE as a profile file of version 0.06 or 0.07", .words = "0.06 0.07"},
		{"o output", OPT_STR, &a->output, "OUT", "the file --write makes"},
		{"branches", OPT_FLAG, &a->branches, NULL,
		 "branches of sampled branch stacks: from, to, how often"},
		{0},
	};
	int rc = cmd_parse(c, "[OPTIONS] [DB] [IMAGE...]\n[OPTIONS] FILE...\n--write V -o OUT FILE",
			   table, false, &a->names);

	if (rc != 0)
		return rc;
	if (a->write && strcmp(a->write, "0.06") != 0 && strcmp(a->write, "0.07") != 0)
		return err_set(&c->err, -EINVAL, "--write %s: must be 0.06 or 0.07", a->write);
	if (a->write && (!a->output || !*str_basename(a->output) || a->names.n != 1))
		return err_set(&c->err, -EINVAL, "--write needs -o OUT and one FILE");
	if (a->output && !a->write)
		return err_set(&c->err, -EINVAL, "-o is for --write");
	return 0;
}

/* The database may be an operand, unless the first is a file to print.  Of an HPCToolkit database
 * its files are the operands then; FILES keeps their names. */
static void take_database(struct cmd *c, opt_list *names, store_paths *files)
{
	static const char *const parts[] = {"meta.db", "profile.db", "cct.db", "trace.db"};

	if (names->n && !cat_has_structures(names->v[0]) && dcpi_in_probe(names->v[0]) != 1)
		cmd_take_source(c, names);
	else if (names->n && source_kind_of(names->v[0]) == SOURCE_DCPI_TREE)
		cmd_take_source(c, names);
	if (names->n || !c->select.db || wants_sets(c) ||
	    source_kind_of(c->select.db) != SOURCE_HPC)
		return;
	for (size_t i = 0; i < n_elems(parts); i++) {
		char *path = xasprintf("%s/%s", c->select.db, parts[i]);

		vec_push(files, path);
		if (cat_has_structures(path))
			vec_push(names, path);
	}
}

/* Files of HPCToolkit databases are not samples: they are shown structure by structure. */
static int show_structures(struct cmd *c, const opt_list *names)
{
	int rc = 0;

	if (c->json || c->csv)
		return err_set(&c->err, -EINVAL, "the structures of %s are printed as text only",
			       names->v[0]);
	vec_each (name, names) {
		if (rc >= 0)
			rc = cat_structures(c, *name);
	}
	return rc;
}

int cmd_cat(struct cmd *c)
{
	struct cat_args a = {0};
	store_paths parts = {0};
	size_t n_files = 0;
	int rc = cat_parse(c, &a);

	if (rc == 0 && a.branches)
		cmd_take_source(c, &a.names);
	else if (rc == 0 && !a.write)
		take_database(c, &a.names, &parts);
	if (rc == 0 && a.write) {
		rc = dcpi_rewrite(a.names.v[0], (unsigned)c->select.stride,
				  strcmp(a.write, "0.06") == 0 ? 6 : 7, a.output, &c->err);
	} else if (rc == 0 && a.branches) {
		c->select.branches = true;
		rc = cmd_with_source(c, NULL, show_branches, &a.names);
	} else if (rc == 0 && a.names.n && cat_has_structures(a.names.v[0])) {
		rc = show_structures(c, &a.names);
	} else if (rc == 0) {
		vec_each (name, &a.names)
			n_files += is_file(c, *name);
		if (n_files && n_files < a.names.n)
			rc = err_set(
				&c->err, -EINVAL,
				"print either files or images of a database, not both at once");
		else if (n_files && wants_sets(c))
			rc = err_set(&c->err, -EINVAL,
				     "--pm, --sp and --error are for databases; --db %s names "
				     "the file as one",
				     a.names.v[0]);
		else if (wants_sets(c))
			rc = cmd_with_source(c, NULL, show_sets, &a.names);
		else if (n_files)
			rc = c->json || c->csv ? show_files_as_one(c, &a.names)
					       : show_files(c, &a.names);
		else
			rc = show_database(c, &a.names);
	}
	if (rc == CMD_NOTHING && !wants_sets(c) && !a.branches)
		cmd_notice(c, "no samples");
	vec_release(&a.names);
	store_paths_release(&parts);
	return rc;
}
