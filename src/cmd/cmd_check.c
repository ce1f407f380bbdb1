/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell check DIR`: whether an HPCToolkit database is what its format demands, and whether all of
 * a dwell database can be read. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "cmd/cmd.h"
#include "formats/hpc/cct.h"
#include "formats/hpc/check/check.h"
#include "formats/hpc/meta.h"
#include "formats/hpc/profile.h"
#include "formats/hpc/trace.h"
#include "port/dcpi_in.h"
#include "port/histograms.h"
#include "query/source.h"
#include "resolve/kept_dir.h"
#include "resolve/symcache.h"
#include "resolve/table_file.h"
#include "store/check.h"
#include "store/db.h"

/* A problem as it is shown. */
struct shown {
	char *file, *structure, *field, *text;
	uint64_t offset;
	bool whole; /* concerns the file, not a place in it */
};

struct check_run {
	uint64_t max;
	uint64_t n;	 /* problems found, with those beyond max */
	uint64_t n_left; /* of our own databases': that were not repaired */
	bool repair;
	VEC(struct shown) shown;
	VEC(char *) notes; /* what is no problem, but worth a line */
};

static void check_add(struct check_run *r, const char *file, const struct hpc_problem *at,
		      const char *text)
{
	if (r->n++ < r->max)
		vec_push(&r->shown, (struct shown){.file = xstrdup(file),
						   .structure = xstrdup(at ? at->structure : ""),
						   .field = xstrdup(at ? at->field : ""),
						   .text = xstrdup(text),
						   .offset = at ? at->offset : 0,
						   .whole = !at});
}

static void report(void *user, const struct hpc_problem *p)
{
	check_add(user, p->file, p, p->text);
}

static void check_release(struct check_run *r)
{
	vec_each (s, &r->shown) {
		free(s->file);
		free(s->structure);
		free(s->field);
		free(s->text);
	}
	vec_release(&r->shown);
	vec_each (note, &r->notes)
		free(*note);
	vec_release(&r->notes);
}

/* HPCToolkit databases. */

enum { META, PROFILE, CCT, TRACE, N_FILES };

static const struct {
	const char *name;
	bool optional;
	void (*check)(struct hpc_check *c, const void *bytes, size_t n_bytes, const char *name);
} files[N_FILES] = {
	[META] = {"meta.db", false, hpc_check_meta},
	[PROFILE] = {"profile.db", false, hpc_check_profile},
	[CCT] = {"cct.db", false, hpc_check_cct},
	[TRACE] = {"trace.db", true, hpc_check_trace},
};

/* All files are right by themselves: what they say of each other. */
static int check_together(struct hpc_check *check, const struct file_map *maps, struct err *err)
{
	struct hpc_profile_db profiles;
	struct hpc_cct_db cct;
	struct hpc_trace_db trace;
	struct hpc_meta meta;
	int rc = hpc_meta_open(&meta, maps[META].bytes, maps[META].n_bytes, "meta.db", err);

	if (rc != 0)
		return rc;
	rc = hpc_profile_db_open(&profiles, maps[PROFILE].bytes, maps[PROFILE].n_bytes,
				 "profile.db", err);
	if (rc == 0)
		rc = hpc_cct_db_open(&cct, maps[CCT].bytes, maps[CCT].n_bytes, "cct.db", err);
	if (rc == 0 && maps[TRACE].bytes)
		rc = hpc_trace_db_open(&trace, maps[TRACE].bytes, maps[TRACE].n_bytes, "trace.db",
				       err);
	if (rc == 0)
		hpc_check_database(check, &(struct hpc_files){&meta, &profiles, &cct,
							      maps[TRACE].bytes ? &trace : NULL});
	hpc_meta_release(&meta);
	return rc;
}

static int check_metrics(struct check_run *r, const char *path, struct err *err)
{
	_fd_ int dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct hpc_check check = {.report = report, .user = r};
	struct file_map maps[N_FILES] = {0};
	bool whole = true; /* nothing is missing */
	int rc = dirfd < 0 ? err_errno(err, -errno, "%s", path) : 0;

	for (int i = 0; i < N_FILES && rc == 0; i++) {
		rc = file_map_open(&maps[i], dirfd, files[i].name, false, err);
		if (rc == -ENOENT) {
			if (!files[i].optional)
				check_add(r, files[i].name, NULL, "is missing");
			whole &= files[i].optional;
			rc = 0;
		} else if (rc == 0) {
			files[i].check(&check, maps[i].bytes ? maps[i].bytes : (const void *)"",
				       maps[i].n_bytes, files[i].name);
		}
	}
	/* What files say of each other is told by those that can be trusted. */
	if (rc == 0 && whole && check.n_problems == 0)
		rc = check_together(&check, maps, err);
	for (int i = 0; i < N_FILES; i++)
		file_map_close(&maps[i]);
	return rc;
}

/* A database counts as one even when files of it are missing. */
static bool has_metrics_file(const char *path)
{
	bool any = false;

	for (int i = 0; i < N_FILES && !any; i++) {
		_mem_ char *file = xasprintf("%s/%s", path, files[i].name);

		any = access(file, F_OK) == 0;
	}
	return any;
}

/* Our own. */

static void report_store(void *user, const struct store_problem *p)
{
	_mem_ char *text =
		p->done ? xasprintf("%s (repaired: %s)", p->text, p->done) : xstrdup(p->text);
	struct check_run *r = user;

	r->n_left += !p->done;
	check_add(r, p->file, NULL, text);
}

static bool is_build_id(const char *name)
{
	struct build_id id;

	return build_id_parse(name, &id) >= 0;
}

/* Damaged symbols are no loss as long as the image's file is there. */
static void check_entry(struct check_run *r, const char *images, const char *hex,
			const struct cache_entry *e)
{
	struct symcache c = {0};
	struct build_id id;
	struct err why = {""};
	int rc;

	build_id_parse(hex, &id);
	rc = symcache_open_entry(&c, images, &id, e, &why);
	if (rc >= 0) {
		rc = symcache_check(&c, &why);
		symcache_close(&c);
	}
	if (rc < 0 && rc != -ENOENT && rc != -EPROTONOSUPPORT) {
		_mem_ char *file = xasprintf("images/%s/%s", hex, e->name);
		bool gone = r->repair && symcache_remove(images, &id, e) >= 0;

		report_store(r, &(struct store_problem){file, why.msg, gone ? "removed" : NULL});
	}
}

/* Damaged kept code is a loss when the image's file is gone; nothing can be made of it. */
static void check_kept(struct check_run *r, const char *images, const char *hex,
		       const struct cache_entry *e)
{
	struct kept_code k;
	struct build_id id;
	struct err why = {""};
	int rc;

	build_id_parse(hex, &id);
	rc = kept_open_entry(&k, images, &id, e, &why);
	if (rc >= 0)
		kept_code_release(&k);
	if (rc < 0 && rc != -ENOENT && rc != -EPROTONOSUPPORT) {
		_mem_ char *file = xasprintf("images/%s/%s", hex, e->name);
		bool gone = r->repair && kept_remove(images, &id, e) >= 0;

		report_store(r, &(struct store_problem){file, why.msg, gone ? "removed" : NULL});
	}
}

/* Different files of one build-id are no damage, but somebody may have meant them to be taken for
 * one another. */
static void note_shared(struct check_run *r, const char *hex, const cache_entries *entries)
{
	unsigned n = 0;

	vec_each (e, entries) {
		bool seen = !image_digest_known(e->key.digest);

		for (const struct cache_entry *other = entries->v; other < e && !seen; other++)
			seen = image_digest_same(other->key.digest, e->key.digest);
		n += !seen;
	}
	if (n > 1)
		vec_push(&r->notes,
			 xasprintf("images/%s: %u different files have this build-id; they are "
				   "kept apart",
				   hex, n));
}

/* The symbols and the code that are kept with the database. */
static void check_symbols(struct check_run *r, const char *db)
{
	_mem_ char *images = store_images_dir(db, false, NULL);
	DIR *d = images ? opendir(images) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		cache_entries entries = {0};
		cache_entries kept = {0};
		struct build_id id;

		if (!is_build_id(e->d_name))
			continue;
		build_id_parse(e->d_name, &id);
		symcache_list(images, &id, &entries, NULL);
		vec_each (entry, &entries)
			check_entry(r, images, e->d_name, entry);
		note_shared(r, e->d_name, &entries);
		vec_release(&entries);
		kept_list(images, &id, &kept, NULL);
		vec_each (entry, &kept)
			check_kept(r, images, e->d_name, entry);
		vec_release(&kept);
	}
	if (d)
		closedir(d);
}

static bool is_table(const char *name)
{
	return *name != '.';
}

/* Damaged unwind tables are no loss: they are made again. */
static void check_tables(struct check_run *r, const char *db)
{
	_mem_ char *path = xasprintf("%s/" TABLE_CACHE_DIR, db);
	_fd_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	name_list names = {0};

	if (dir >= 0)
		db_names(dir, is_table, &names, NULL);
	vec_each (name, &names) {
		struct file_map map = {0};
		struct err why = {""};
		int rc = file_map_open(&map, dir, *name, true, &why);

		if (rc >= 0)
			rc = table_file_check(map.bytes, map.n_bytes, &why);
		file_map_close(&map);
		if (rc < 0 && rc != -ENOENT && rc != -EPROTONOSUPPORT) {
			_mem_ char *file = xasprintf(TABLE_CACHE_DIR "/%s", *name);
			bool gone = r->repair && unlinkat(dir, *name, 0) >= 0;

			report_store(
				r, &(struct store_problem){file, why.msg, gone ? "removed" : NULL});
		}
	}
	name_list_release(&names);
}

static int check_store(struct check_run *r, const char *path, struct err *err)
{
	int rc = store_check(path, r->repair, report_store, r, err);

	if (rc == -ENOENT) /* empty: one without recordings is sound */
		return 0;
	if (rc >= 0) {
		check_symbols(r, path);
		check_tables(r, path);
	}
	return rc < 0 ? rc : 0;
}

/* Showing. */

static const struct emit_col columns[] = {
	{.key = "file", .type = EMIT_STR},	{.key = "offset", .type = EMIT_HEX},
	{.key = "structure", .type = EMIT_STR}, {.key = "field", .type = EMIT_STR},
	{.key = "problem", .type = EMIT_STR},
};

static void show_rows(struct cmd *c, const struct check_run *r)
{
	emit_begin(&c->emit);
	if (emit_json(&c->emit)) {
		json_key(emit_json(&c->emit), "problems");
		json_u64(emit_json(&c->emit), r->n);
	}
	if (emit_json(&c->emit) && r->notes.n) {
		json_key(emit_json(&c->emit), "notes");
		json_begin(emit_json(&c->emit), '[');
		vec_each (note, &r->notes)
			json_str(emit_json(&c->emit), *note);
		json_end(emit_json(&c->emit), ']');
	}
	emit_rows_by(&c->emit, "problem");
	emit_table(&c->emit, "rows", columns, n_elems(columns));
	vec_each (s, &r->shown) {
		const struct emit_cell cells[] = {{.s = s->file},
						  {.u = s->offset, .none = s->whole},
						  {.s = s->structure, .none = s->whole},
						  {.s = s->field, .none = !*s->field},
						  {.s = s->text}};

		emit_row(&c->emit, cells);
	}
	emit_table_end(&c->emit);
	emit_end(&c->emit);
}

static void show_text(struct cmd *c, const struct check_run *r, const char *path)
{
	_str_ struct str line = {0};

	vec_each (s, &r->shown) {
		str_reset(&line);
		if (s->whole)
			str_addf(&line, "%s: %s", s->file, s->text);
		else
			str_addf(&line, "%s+%#" PRIx64 ": %s%s%s: %s", s->file, s->offset,
				 s->structure, *s->field ? " " : "", s->field, s->text);
		text_show(&c->out, str_get(&line));
		str_addc(&c->out, '\n');
	}
	if (r->n > r->shown.n)
		str_addf(&c->out, "and %" PRIu64 " more\n", r->n - r->shown.n);
	vec_each (note, &r->notes) {
		text_show(&c->out, *note);
		str_addc(&c->out, '\n');
	}
	if (r->n == 0) {
		text_show(&c->out, path);
		str_add(&c->out, ": no problems\n");
	}
}

/* DCPI trees: whatever readers would leave out. */

static void report_dcpi(void *user, const char *where, const char *why)
{
	check_add(user, where, NULL, why);
}

static int check_dcpi(struct check_run *r, const char *path, struct err *err)
{
	struct dcpi_select all = {.epochs = "all", .problem = report_dcpi, .problem_ctx = r};
	struct histograms left;
	struct profile p;
	int rc = histograms_open(&left, path, err);

	if (rc < 0)
		return rc;
	if (left.fds.n)
		vec_push(&r->notes,
			 xasprintf("%zu histogram file%s of ended processes: readers show them, "
				   "--repair makes profile files of them",
				   left.fds.n, left.fds.n == 1 ? "" : "s"));
	all.beside = left.tree;
	profile_init(&p);
	rc = dcpi_in_load(path, &all, &p, err);
	profile_release(&p);
	histograms_close(&left);
	return r->n ? 0 : rc;
}

/* Makes profile files of what dead processes left. */
static int repair_dcpi(struct check_run *r, const char *path, struct err *err)
{
	int n = histograms_finish(path, err);

	if (n == 0)
		return err_set(err, -EINVAL, "%s: only dwell's own databases can be repaired",
			       path);
	if (n > 0)
		vec_push(&r->notes, xasprintf("%d histogram file%s of ended processes became "
					      "profile files",
					      n, n == 1 ? "" : "s"));
	return n < 0 ? n : check_dcpi(r, path, err);
}

static bool is_dcpi(const char *path)
{
	return source_kind_of(path) & (SOURCE_DCPI_TREE | SOURCE_DCPI_FILE | SOURCE_HISTOGRAMS);
}

static bool is_store(const char *path)
{
	return source_kind_of(path) != SOURCE_STORES && store_is_db(path);
}

/* What can be checked; a kind that can be repaired says how. */
static const struct check_kind {
	bool (*is)(const char *path);
	int (*check)(struct check_run *r, const char *path, struct err *err);
	int (*repair)(struct check_run *r, const char *path, struct err *err);
} kinds[] = {
	{has_metrics_file, check_metrics, NULL},
	{is_store, check_store, check_store},
	{is_dcpi, check_dcpi, repair_dcpi},
};

static int check_path(struct check_run *r, const char *path, struct err *err)
{
	if (source_kind_of(path) != SOURCE_FLEET && access(path, R_OK) < 0)
		return err_errno(err, -errno, "%s", path);
	for (size_t i = 0; i < n_elems(kinds); i++) {
		if (!kinds[i].is(path))
			continue;
		if (r->repair && !kinds[i].repair)
			return err_set(err, -EINVAL,
				       "%s: only dwell's own databases can be repaired", path);
		return (r->repair ? kinds[i].repair : kinds[i].check)(r, path, err);
	}
	return source_check_kind(path, 0, "dwell check",
				 "one HPCToolkit database, dwell database or DCPI tree", err);
}

int cmd_check(struct cmd *c)
{
	struct check_run r = {.max = 100};
	const char *db = NULL;
	const struct opt table[] = {
		{"db", OPT_STR, &db, "DB",
		 "database (default $DWELLDB, $DCPIDB, ~/.local/share/dwell)"},
		{"max", OPT_U64, &r.max, "N", "show at most N problems (default 100)"},
		{"repair", OPT_FLAG, &r.repair, NULL,
		 "keep what is whole, set aside what is not (dwell databases)"},
		{0},
	};
	_vec_ opt_list operands = {0};
	int rc = cmd_parse(c, "[OPTIONS] [DB]", table, false, &operands);
	_mem_ char *path = NULL;

	if (rc == 0 && operands.n + (db != NULL) > 1)
		rc = err_set(&c->err, -EINVAL, "checks one database at a time");
	if (rc == 0) {
		path = operands.n ? xstrdup(operands.v[0])
		       : db	  ? xstrdup(db)
				  : store_default_path();
		rc = check_path(&r, path, &c->err);
	}
	if (rc == 0 && (c->json || c->csv))
		show_rows(c, &r);
	else if (rc == 0)
		show_text(c, &r, path);
	if (rc == 0 && r.n && (!r.repair || r.n_left))
		rc = CMD_NOTHING;
	check_release(&r);
	return rc;
}
