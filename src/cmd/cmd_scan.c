/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell scan DIR...`: finds images that have samples by build-id and keeps their symbols. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/plural.h"
#include "cmd/cmd.h"
#include "cmd/flush_first.h"
#include "query/samples/input.h"
#include "query/source.h"
#include "resolve/debug_file.h"
#include "resolve/elf_probe.h"
#include "resolve/symcache.h"
#include "store/store.h"

/* An image that is looked for. */
struct wanted {
	const struct image *im;
	char *found;	   /* where; NULL: nowhere yet */
	const char *error; /* why nothing could be kept of it */
};

/* nftw gives its function no argument. */
static struct scan {
	struct cmd *c;
	struct input in;
	VEC(struct wanted) wanted;
	char *images; /* the database's directory */
	bool all, copy;
	uint64_t n_files, n_found;
	struct arena arena;
} scan;

static int find_wanted(void)
{
	struct input *in = &scan.in;

	scan.images = input_images_dir(in->path, true, &scan.c->err);
	if (!scan.images)
		return -EACCES;
	vec_each (im, &in->profile.images)
		if (im->kind == IMAGE_FILE && im->build_id.n_bytes &&
		    (scan.all || scan.copy || !symcache_has(scan.images, im)))
			vec_push(&scan.wanted, (struct wanted){.im = im});
	return 0;
}

/* Copies FD to where readers look for the image (debug_file.h). */
static int copy(const struct wanted *w, int fd, struct err *err)
{
	_mem_ char *name =
		debug_file_name(w->im, profile_shares_build_id(&scan.in.profile, w->im), "");
	_mem_ char *path = name ? xasprintf("%s/%s", scan.images, name) : NULL;
	_mem_ char *dir = path ? xstrndup(path, (size_t)(str_basename(path) - path)) : NULL;
	struct file_map map;
	_fd_ int dirfd = -1;
	int rc = dir ? file_mkdirs(dir, err) : -EINVAL;

	if (rc < 0)
		return rc;
	dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = dirfd < 0 ? -errno : file_map_fd(&map, fd, dir, err);
	if (rc < 0)
		return rc;
	rc = file_replace(dirfd, str_basename(path), map.bytes, map.n_bytes, err);
	file_map_close(&map);
	return rc;
}

static void scan_keep(struct wanted *w, const char *path, int fd)
{
	struct err why = {""};
	int rc = resolver_save(scan.in.resolver, w->im, fd, &why);

	if (rc >= 0 && scan.copy)
		rc = copy(w, fd, &why);
	w->found = xstrdup(path);
	w->error = rc < 0 ? arena_strdup(&scan.arena, why.msg) : NULL;
	scan.n_found += rc >= 0;
}

static int look_at(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	_fd_ int fd = -1;
	struct image_layout l;
	char magic[4];

	if (type != FTW_F || !S_ISREG(st->st_mode) || st->st_size < 64)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	if (fd < 0 || pread(fd, magic, 4, 0) != 4 || memcmp(magic, "\177ELF", 4) != 0)
		return 0;
	scan.n_files++;
	if (elf_probe(fd, &l, NULL) < 0)
		return 0;
	vec_each (w, &scan.wanted)
		if (!w->found && build_id_same(&w->im->build_id, &l.build_id) &&
		    elf_probe_is(fd, w->im->digest, &l))
			scan_keep(w, path, fd);
	return 0;
}

static const struct emit_col columns[] = {
	{.key = "build_id", .type = EMIT_STR},
	{.key = "image", .type = EMIT_STR},
	{.key = "found", .type = EMIT_STR},
	{.key = "error", .type = EMIT_STR},
};

static void scan_show(void)
{
	struct emit *e = &scan.c->emit;
	struct json *j;

	emit_begin(e);
	emit_rows_by(e, "image");
	emit_table(e, "rows", columns, n_elems(columns));
	vec_each (w, &scan.wanted) {
		char hex[2 * BUILD_ID_MAX + 1];

		build_id_format(&w->im->build_id, hex);
		emit_row(e, (struct emit_cell[]){
				    {.s = arena_strdup(&scan.arena, hex)},
				    {.s = w->im->path},
				    {.s = w->found || e->format != EMIT_TABLE ? w->found
									      : "[not found]"},
				    {.s = w->error},
			    });
	}
	emit_table_end(e);
	j = emit_json(e);
	if (j) {
		json_key(j, "found");
		json_u64(j, scan.n_found);
	}
	emit_text(e, "%" PRIu64 " of %zu image%s found, among %" PRIu64 " ELF file%s\n",
		  scan.n_found, scan.wanted.n, plural_s(scan.wanted.n), scan.n_files,
		  plural_s(scan.n_files));
	emit_end(e);
}

/* DIR, or where it leads: links below are not followed, but /bin may be one
 * itself.  NULL, errno. */
static char *behind_link(const char *dir)
{
	char some;

	return readlink(dir, &some, 1) < 0 ? xstrdup(dir) : realpath(dir, NULL);
}

static int scan_run(const opt_list *dirs)
{
	struct cmd *c = scan.c;
	_mem_ char *path = c->select.db ? xstrdup(c->select.db) : store_default_path();
	/* A tree's images have a place there before it is opened. */
	_mem_ char *made = source_kind_of(path) == SOURCE_DCPI_TREE
				   ? input_images_dir(path, true, NULL)
				   : NULL;
	int rc = source_check_kind(
		path, SOURCE_STORE | SOURCE_DCPI_TREE | SOURCE_EMPTY, "dwell scan",
		"one dwell database or a DCPI tree, which have a place for symbols", &c->err);

	if (rc == 0)
		rc = input_open(&scan.in, &c->select, &c->err);

	if (rc != 0)
		return rc;
	rc = find_wanted();
	for (size_t i = 0; i < dirs->n && rc == 0; i++) {
		_mem_ char *dir = behind_link(dirs->v[i]);

		if (!dir || nftw(dir, look_at, 32, FTW_PHYS) < 0)
			rc = err_errno(&c->err, -errno, "%s", dirs->v[i]);
	}
	if (rc == 0) {
		scan_show();
		rc = scan.n_found || !scan.wanted.n ? 0 : CMD_NOTHING;
	}
	vec_each (w, &scan.wanted)
		free(w->found);
	vec_release(&scan.wanted);
	arena_release(&scan.arena);
	free(scan.images);
	input_close(&scan.in);
	return rc;
}

int cmd_scan(struct cmd *c)
{
	struct select *s = &c->select;
	const struct opt table[] = {
		{"db", OPT_STR, &s->db, "DB",
		 "database (default $DWELLDB, $DCPIDB, ~/.local/share/dwell)"},
		{"epoch", OPT_STR, &s->epochs, "E[,E...]",
		 "images of these epochs: all (default), latest, NAME, FROM..TO"},
		{"all", OPT_FLAG, &scan.all, NULL, "images too whose symbols are there already"},
		{"copy", OPT_FLAG, &scan.copy, NULL,
		 "keep a copy of the files too, for their instructions and lines"},
		CMD_NO_FLUSH(c),
		{0},
	};
	_vec_ opt_list operands = {0};
	int rc = cmd_parse(c, "[OPTIONS] DIR...", table, false, &operands);

	if (rc == 0 && !operands.n)
		rc = err_set(&c->err, -EINVAL, "needs a directory to look in");
	if (rc == 0) {
		scan.c = c;
		s->epochs = s->epochs ? s->epochs : "all";
		rc = scan_run(&operands);
	}
	return rc;
}
