/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell cat [IMAGE...]`: samples address by address, in dcpicat's text form, from any database;
 * `dwell cat FILE...`: the same for DCPI profile files, or for such text; `dwell cat --write V -o
 * OUT FILE`: one profile file rewritten. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "cmd/cmd.h"
#include "cmd/filter.h"
#include "formats/dcpi.h"
#include "formats/dcpi_text.h"
#include "port/dcpi_cat.h"
#include "port/dcpi_in.h"
#include "query/input.h"

struct cat_args {
	opt_list names;
	const char *write, *output;
};

/* --- tables: --json and --csv --- */

struct table {
	const struct profile *p;
	struct arena names;
	struct emit_col *cols;
	unsigned *col_of; /* by event: its count's column among the counts, counted from 1; 0 for
			     none */
	unsigned n_counts;
};

#define N_NAME_COLS 4

/* Images by path, as they come out the same from any copy of a database. */
static int by_place(const void *x, const void *y, void *profile)
{
	const struct dcpi_row *a = x, *b = y;
	const struct profile *p = profile;

	if (a->image != b->image) {
		int c = strcmp(p->images.v[a->image].path, p->images.v[b->image].path);

		return c ? c : a->image < b->image ? -1 : 1;
	}
	if (a->label != b->label)
		return a->label < b->label ? -1 : 1;
	return a->svma < b->svma ? -1 : a->svma > b->svma;
}

/* The event's name, with its period where another has the same. */
static const char *column_name(struct table *t, event_id event)
{
	const struct event *e = &t->p->events.v[event];
	_mem_ char *name = NULL;

	vec_each (other, &t->p->events) {
		if (other != e && other->name == e->name) {
			name = xasprintf("%s:%" PRIu64, profile_str(t->p, e->name), e->period);
			return arena_strdup(&t->names, name);
		}
	}
	return profile_str(t->p, e->name);
}

static void make_cols(struct table *t, const struct dcpi_filter *f)
{
	const struct emit_col names[N_NAME_COLS] = {
		{"image", NULL, EMIT_STR},
		{"build_id", NULL, EMIT_STR},
		{"label", NULL, EMIT_STR},
		{"svma", NULL, EMIT_HEX},
	};

	t->cols = xcalloc(N_NAME_COLS + t->p->events.n, sizeof(*t->cols));
	t->col_of = xcalloc(t->p->events.n + 1, sizeof(*t->col_of));
	memcpy(t->cols, names, sizeof(names));
	for (event_id e = 0; e < t->p->events.n; e++) {
		if (!dcpi_wants_event(f, e))
			continue;
		t->cols[N_NAME_COLS + t->n_counts++] =
			(struct emit_col){column_name(t, e), NULL, EMIT_U64, .group = "counts"};
		t->col_of[e] = t->n_counts;
	}
}

static void emit_events(struct json *j, const struct table *t, const dcpi_rows *rows)
{
	json_key(j, "events");
	json_begin(j, '[');
	for (event_id e = 0; e < t->p->events.n; e++) {
		const struct event *event = &t->p->events.v[e];
		uint64_t n = 0;

		if (!t->col_of[e])
			continue;
		vec_each (r, rows)
			n += r->event == e ? r->n : 0;
		json_begin(j, '{');
		json_key(j, "name");
		json_str(j, t->cols[N_NAME_COLS + t->col_of[e] - 1].key);
		json_key(j, "period");
		json_u64(j, event->period);
		json_key(j, "samples");
		json_u64(j, n);
		json_key(j, "duty");
		json_double(j, event_duty(event));
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void emit_losses(struct json *j, const struct table *t)
{
	json_key(j, "losses");
	json_begin(j, '{');
	for (size_t i = 0; i < t->p->losses.n; i++) {
		const struct loss *l = &t->p->losses.v[i];
		uint64_t n = 0;
		bool named = !t->col_of[l->event];

		for (size_t k = 0; k < t->p->losses.n; k++) {
			const struct loss *same = &t->p->losses.v[k];

			if (same->name != l->name || !t->col_of[same->event])
				continue;
			named |= k < i;
			n += same->n;
		}
		if (named)
			continue;
		json_key(j, profile_str(t->p, l->name));
		json_u64(j, n);
	}
	json_end(j, '}');
}

/* Rows [START, END) are of one image, label and address. */
static void emit_place(struct emit *e, struct table *t, const dcpi_rows *rows, size_t start,
		       size_t end, struct emit_cell *cells)
{
	const struct dcpi_row *r = &rows->v[start];
	const struct image *im = &t->p->images.v[r->image];
	char id[2 * BUILD_ID_MAX + 1];

	build_id_format(&im->build_id, id);
	cells[0] = (struct emit_cell){.s = im->path};
	cells[1] = (struct emit_cell){.s = arena_strdup(&t->names, id), .none = !*id};
	cells[2] = (struct emit_cell){.s = profile_str(t->p, r->label), .none = !r->label};
	cells[3] = (struct emit_cell){.u = r->svma};
	for (unsigned i = 0; i < t->n_counts; i++)
		cells[N_NAME_COLS + i] = (struct emit_cell){.u = 0};
	for (size_t i = start; i < end; i++)
		cells[N_NAME_COLS + t->col_of[rows->v[i].event] - 1].u += rows->v[i].n;
	emit_row(e, cells);
}

static int show_table(struct cmd *c, const struct profile *p, const struct dcpi_filter *f)
{
	struct table t = {.p = p};
	dcpi_rows rows = {0};
	struct emit_cell *cells;
	int rc;

	make_cols(&t, f);
	dcpi_flatten(p, f, false, &rows, NULL);
	if (rows.n)
		qsort_r(rows.v, rows.n, sizeof(*rows.v), by_place, (void *)p);
	cells = xcalloc(N_NAME_COLS + t.n_counts, sizeof(*cells));
	emit_begin(&c->emit);
	if (emit_json(&c->emit)) {
		emit_events(emit_json(&c->emit), &t, &rows);
		emit_losses(emit_json(&c->emit), &t);
	}
	emit_table(&c->emit, "rows", t.cols, N_NAME_COLS + t.n_counts);
	for (size_t i = 0, end; i < rows.n; i = end) {
		for (end = i; end < rows.n && by_place(&rows.v[i], &rows.v[end], (void *)p) == 0;
		     end++)
			;
		emit_place(&c->emit, &t, &rows, i, end, cells);
	}
	emit_table_end(&c->emit);
	emit_end(&c->emit);
	rc = rows.n ? 0 : CMD_NOTHING;
	free(cells);
	free(t.cols);
	free(t.col_of);
	arena_release(&t.names);
	vec_release(&rows);
	return rc;
}

/* --- profiles --- */

static int show(struct cmd *c, const struct profile *p, const opt_list *images)
{
	struct dcpi_filter f = {0};
	int rc = filter_init(&f, p, &c->select, images, &c->err);

	if (!rc && (c->json || c->csv))
		rc = show_table(c, p, &f);
	else if (!rc)
		rc = dcpi_cat_format(p, &f, &c->out) ? 0 : CMD_NOTHING;
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
	if (dcpi_read_header(&f, map.bytes, map.n_bytes, &body, NULL) == 0) {
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
	const struct dcpi_select sel = {.stride = (unsigned)c->select.stride};
	const opt_list all = {0};
	struct profile p;
	int rc = 0;

	vec_each (path, files) {
		size_t before = c->out.n;

		profile_init(&p);
		rc = dcpi_in_load(*path, &sel, &p, &c->err);
		if (rc == -EPROTONOSUPPORT)
			show_header(c, *path);
		if (!rc && before)
			str_addc(&c->out, '\n');
		if (!rc)
			rc = show(c, &p, &all);
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
		if (rc)
			break;
	}
	if (!rc)
		rc = show(c, &p, &all);
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

static int show_database(struct cmd *c, const opt_list *images)
{
	struct input in = {0};
	int rc = input_open(&in, &c->select, &c->err);

	if (rc)
		return rc;
	rc = show(c, &in.profile, images);
	input_close(&in);
	return rc;
}

/* --- rewriting --- */

static int text_file(const struct file_map *map, unsigned minor, unsigned stride,
		     struct dcpi_file *f, struct err *err)
{
	struct dcpi_text_reader r = dcpi_text_begin((const char *)map->bytes, map->n_bytes);
	struct dcpi_text t, more;
	int rc = dcpi_text_next(&r, &t, err);

	if (rc <= 0)
		return rc;
	rc = dcpi_text_next(&r, &more, err);
	if (rc > 0)
		dcpi_text_release(&more);
	if (rc > 0 || (rc == 0 && t.events.n > 1))
		rc = err_set(err, -EINVAL,
			     "a profile file holds one image and one event; write more with "
			     "`dwell export --dcpi --db FILE -o DIR`");
	if (rc == 0)
		rc = dcpi_text_to_file(&t, 0, minor, stride ? stride : 1, f, err);
	dcpi_text_release(&t);
	return rc;
}

static int save(const char *path, const struct wr *bytes, struct err *err)
{
	_mem_ char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');
	_fd_ int fd = -1;
	struct stat st;

	/* The file is replaced, not written into: never in place of a device or a link. */
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s is there and is no plain file", path);
	if (slash)
		slash[slash == dir] = '\0';
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "%s", slash ? dir : ".");
	return file_replace(fd, str_basename(path), bytes->v, bytes->n, err);
}

static int rewrite(struct cmd *c, const char *path, unsigned minor, const char *output)
{
	unsigned stride = (unsigned)c->select.stride;
	struct file_map map;
	struct dcpi_file f;
	struct wr bytes = {0};
	int rc = file_map_open(&map, AT_FDCWD, path, false, &c->err);

	if (rc)
		return rc;
	if (dcpi_text_probe((const char *)map.bytes, map.n_bytes))
		rc = text_file(&map, minor, stride, &f, &c->err);
	else
		rc = dcpi_read(&f, map.bytes, map.n_bytes, stride, &c->err);
	file_map_close(&map);
	if (rc)
		return err_prefix(&c->err, rc, "%s", path);
	dcpi_set_version(&f, minor);
	dcpi_write(&f, &bytes);
	rc = save(output, &bytes, &c->err);
	wr_release(&bytes);
	dcpi_release(&f);
	return rc;
}

static int parse(struct cmd *c, struct cat_args *a)
{
	const struct opt table[] = {
		{"write", OPT_STR, &a->write, "V",
		 "rewrite FILE as a profile file of version 0.06 or 0.07"},
		{"o output", OPT_STR, &a->output, "OUT", "the file --write makes"},
		{0},
	};
	int rc = cmd_parse(c, "[OPTIONS] [IMAGE...] | FILE... | --write V -o OUT FILE", table,
			   false, &a->names);

	if (rc)
		return rc;
	if (a->write && strcmp(a->write, "0.06") != 0 && strcmp(a->write, "0.07") != 0)
		return err_set(&c->err, -EINVAL, "--write %s: must be 0.06 or 0.07", a->write);
	if (a->write && (!a->output || !*str_basename(a->output) || a->names.n != 1))
		return err_set(&c->err, -EINVAL, "--write needs -o OUT and one FILE");
	if (a->output && !a->write)
		return err_set(&c->err, -EINVAL, "-o is for --write");
	return 0;
}

int cmd_cat(struct cmd *c)
{
	struct cat_args a = {0};
	size_t n_files = 0;
	int rc = parse(c, &a);

	if (!rc && a.write) {
		rc = rewrite(c, a.names.v[0], strcmp(a.write, "0.06") == 0 ? 6 : 7, a.output);
	} else if (!rc) {
		vec_each (name, &a.names)
			n_files += is_file(c, *name);
		if (n_files && n_files < a.names.n)
			rc = err_set(
				&c->err, -EINVAL,
				"print either files or images of a database, not both at once");
		else if (n_files)
			rc = c->json || c->csv ? show_files_as_one(c, &a.names)
					       : show_files(c, &a.names);
		else
			rc = show_database(c, &a.names);
	}
	if (rc == CMD_NOTHING)
		cmd_notice(c, "no samples");
	vec_release(&a.names);
	return rc;
}
