/* SPDX-License-Identifier: BSD-2-Clause */
/* dwell import: what Linux's perf recorded, and profiles of other tools, as recordings of a
 * database. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/plural.h"
#include "cmd/cmd.h"
#include "daemon/facts_file.h"
#include "model/trace.h"
#include "port/importers.h"
#include "port/perf_in.h"
#include "query/source.h"
#include "resolve/resolver.h"
#include "store/store.h"

/* What --trace keeps at most. */
#define TRACE_BYTES (512ull << 20)

struct import {
	const char *db, *symfs, *by, *label, *facts, *group;
	opt_list paths, files;
	bool force, trace, dump;
	struct fact_defs fact_defs;
	struct perf_in_opts opts;
};

static int import_parse(struct cmd *c, struct import *im)
{
	const struct opt table[] = {
		{"db", OPT_STR, &im->db, "DB",
		 "database (default $DWELLDB, $DCPIDB, ~/.local/share/dwell)"},
		{"group", OPT_STR, &im->group, "GROUP",
		 "let members of GROUP read a new database (default: nobody else)"},
		{"symfs", OPT_STR, &im->symfs, "DIR", "look for images below DIR"},
		{"path", OPT_LIST, &im->paths, "PATH", "look for images here too"},
		{"by", OPT_STR, &im->by, "pid|tid", "keep processes, or threads, apart"},
		{"label", OPT_STR, &im->label, "L", "mark the samples with a label"},
		{"facts", OPT_STR, &im->facts, "FILE",
		 "take these bits and counters of the hardware's words besides"},
		{"trace", OPT_FLAG, &im->trace, NULL, "keep the time of each sample"},
		{"force", OPT_FLAG, &im->force, NULL, "take what can be read of a damaged file"},
		{"dump", OPT_FLAG, &im->dump, NULL, "print the files' records and import nothing"},
		{"i input", OPT_LIST, &im->files, "FILE", NULL},
		{"p", OPT_SAY, NULL, "--path PATH says where to look for images", NULL},
		{0},
	};
	int rc = cmd_parse(c, "[--db DB] [OPTIONS] FILE...", table, false, &im->files);

	if (rc != 0)
		return rc;
	rc = cmd_check_paths(&im->paths, &c->err);
	if (rc != 0)
		return rc;
	if (!im->files.n)
		return err_set(&c->err, -EINVAL, "say which files to import");
	if (im->by && strcmp(im->by, "pid") == 0)
		im->opts.split = OWNER_PID;
	else if (im->by && strcmp(im->by, "tid") == 0)
		im->opts.split = OWNER_TID;
	else if (im->by)
		return err_set(&c->err, -EINVAL, "--by: '%s' is none of pid, tid", im->by);
	rc = facts_file_load(im->facts, &im->fact_defs, &c->err);
	if (rc < 0)
		return rc;
	im->opts.facts = &im->fact_defs;
	im->opts.symfs = im->symfs;
	im->opts.paths = im->paths.v;
	im->opts.n_paths = im->paths.n;
	im->opts.use_debuginfod = true;
	im->opts.force = im->force;
	im->opts.accesses = true;
	im->opts.label = im->label;
	im->opts.trace_bytes = im->trace ? TRACE_BYTES : 0;
	return 0;
}

static void show_notes(const struct cmd *c, const char *file, const struct perf_in_result *r)
{
	_mem_ char *notes = xstrdup(str_get(&r->notes));
	char *save = NULL;

	for (char *line = strtok_r(notes, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		cmd_notice(c, "%s: %s", file, line);
}

static void show_event(struct cmd *c, const struct profile *p, event_id id)
{
	const struct event *e = &p->events.v[id];

	str_addf(&c->out, "  %s: %" PRIu64 " sample%s", profile_str(p, e->name),
		 profile_n_samples(p, id), plural_s(profile_n_samples(p, id)));
	if (profile_n_lost(p, id))
		str_addf(&c->out, " + %" PRIu64 " lost", profile_n_lost(p, id));
	if (e->freq_hz)
		str_addf(&c->out, ", %" PRIu64 " Hz", e->freq_hz);
	else
		str_addf(&c->out, ", one in %" PRIu64, e->period);
	str_addc(&c->out, '\n');
	vec_each (l, &p->losses)
		if (l->event == id)
			str_addf(&c->out, "    lost: %s %" PRIu64 "\n", profile_str(p, l->name),
				 l->n);
}

static void import_show(struct cmd *c, const char *file, const char *db, const char *epoch,
			const struct profile *p, const struct perf_in_result *r)
{
	str_addf(&c->out,
		 "%s: %" PRIu64 " sample%s, %" PRIu64 " of unknown addresses, epoch %s of %s\n",
		 file, r->n_samples, plural_s(r->n_samples), r->n_unknown, epoch, db);
	for (event_id i = 0; i < p->events.n; i++)
		show_event(c, p, i);
}

static void emit(struct json *j, const char *file, const char *epoch, const struct profile *p,
		 const struct perf_in_result *r)
{
	json_begin(j, '{');
	json_add_u64(j, "schema", EMIT_SCHEMA);
	json_add_str(j, "file", file);
	json_add_str(j, "epoch", epoch);
	json_add_str(j, "host", r->host);
	json_add_u64(j, "samples", r->n_samples);
	json_add_u64(j, "lost", r->n_lost);
	json_add_u64(j, "unknown", r->n_unknown);
	json_add_u64(j, "record_bytes", r->n_bytes);
	json_key(j, "events");
	json_begin(j, '[');
	for (event_id i = 0; i < p->events.n; i++) {
		const struct event *e = &p->events.v[i];

		json_begin(j, '{');
		json_add_str(j, "name", profile_str(p, e->name));
		json_add_u64(j, "period", e->period);
		json_add_u64(j, "freq_hz", e->freq_hz);
		json_add_u64(j, "samples", profile_n_samples(p, i));
		json_key(j, "losses");
		json_begin(j, '{');
		vec_each (l, &p->losses) {
			if (l->event != i)
				continue;
			json_key(j, profile_str(p, l->name));
			json_u64(j, l->n);
		}
		json_end(j, '}');
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

/* A recording that is being made of a file. */
struct making {
	const struct import *im;
	const char *db;
	struct store *store;
	char *cache;
};

static int begin_recording(void *ctx, const struct perf_in_result *r, const char **ret_dir,
			   struct err *err)
{
	struct making *m = ctx;
	const struct store_opts so = {.label = m->im->label,
				      .cpu = r->cpu,
				      .host = *r->host ? r->host : NULL,
				      .clock_offset_ns = r->clock_offset_ns};
	int rc = store_make(m->db, m->im->group, err);

	if (rc >= 0)
		rc = store_create(m->db, &so, &m->store, err);
	if (rc < 0)
		return rc;
	m->cache = store_images_dir(m->db, true, err);
	*ret_dir = m->cache;
	return m->cache ? 0 : -EIO;
}

/* Keeps the symbols that the profile itself has. */
static int keep_symbols(const struct making *m, const struct profile *p,
			const stacks_symbol_list *symbols, struct err *err)
{
	struct resolver *r = resolver_new(&(struct resolver_opts){.cache_dir = m->cache});
	int rc = 0;

	for (size_t i = 0; i < symbols->n && rc >= 0; i++)
		rc = resolver_save_symtab(r, &p->images.v[symbols->v[i].image],
					  &symbols->v[i].symtab, err);
	resolver_free(r);
	return rc;
}

/* A profile of another tool, the same way. */
static int import_other(struct making *m, const char *file, struct profile *p,
			struct perf_in_result *r, struct err *err)
{
	const struct import *im = m->im;
	const struct importer_opts o = {
		.label = im->label,
		.paths = im->paths.v,
		.n_paths = im->paths.n,
		.keep_pids = im->opts.split == OWNER_PID || im->opts.split == OWNER_TID,
		.keep_tids = im->opts.split == OWNER_TID,
	};
	stacks_symbol_list symbols = {0};
	const char *dir;
	int rc = 0;

	if (im->dump || im->trace || im->force || im->facts || im->symfs)
		return err_set(err, -EINVAL, "%s: --%s is for what perf recorded", file,
			       im->dump	   ? "dump"
			       : im->trace ? "trace"
			       : im->force ? "force"
			       : im->facts ? "facts"
					   : "symfs");
	rc = importer_load(file, &o, p, &symbols, &r->notes, err);
	if (rc >= 0) {
		r->host = xstrdup(profile_str(p, p->meta.host));
		for (event_id e = 0; e < p->events.n; e++)
			r->n_samples += profile_n_samples(p, e);
		rc = begin_recording(m, r, &dir, err);
	}
	if (rc >= 0)
		rc = keep_symbols(m, p, &symbols, err);
	stacks_symbols_release(&symbols);
	return rc;
}

/* One file, which becomes a recording of an epoch of its own. */
static int import(struct cmd *c, const struct import *im, const char *db, const char *file,
		  struct json *j)
{
	struct making m = {.im = im, .db = db};
	struct perf_in_opts opts = im->opts;
	struct perf_in_result r = {0};
	_mem_ char *epoch = NULL;
	struct profile p;
	int rc;

	/* What is damaged, or is none of them, is told by who reads it. */
	if (source_kind_of(file) != SOURCE_NOTHING) {
		rc = source_check_kind(file, SOURCE_PERF | SOURCE_OTHER, "dwell import",
				       "what perf recorded, and profiles of other tools", &c->err);
		if (rc != 0)
			return rc;
	}
	profile_init(&p);
	opts.dump = im->dump ? &c->out : NULL;
	opts.open_cache = im->dump ? NULL : begin_recording;
	opts.ctx = &m;
	if (source_kind_of(file) == SOURCE_OTHER)
		rc = import_other(&m, file, &p, &r, &c->err);
	else
		rc = perf_in_load(file, &opts, &p, &r, &c->err);
	if (rc >= 0 && m.store) {
		profile_forget_kernel_addresses(&p);
		rc = store_replace(m.store, &p, &c->err);
	}
	if (rc >= 0 && m.store) {
		epoch = xstrdup(store_epoch(m.store));
		rc = store_close(m.store, &c->err);
	} else {
		store_discard(m.store);
	}
	if (rc >= 0)
		show_notes(c, file, &r);
	if (rc >= 0 && c->json && !im->dump)
		emit(j, file, epoch, &p, &r);
	else if (rc >= 0 && !im->dump)
		import_show(c, file, db, epoch, &p, &r);
	free(m.cache);
	perf_in_result_release(&r);
	profile_release(&p);
	return rc < 0 ? rc : 0;
}

int cmd_import(struct cmd *c)
{
	struct import im = {0};
	_mem_ char *db = NULL;
	struct json j = json_init(&c->out, 2);
	int rc = import_parse(c, &im);

	/* What a sample needs is freed only at the end: do not give memory back in between; nor
	 * what one symbol table was made in, which the next one is. */
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	if (rc == 0) {
		db = im.db ? xstrdup(im.db) : store_default_path();
		if (source_kind_of(db) != SOURCE_NOTHING)
			rc = source_check_kind(db, SOURCE_STORE | SOURCE_EMPTY, "dwell import --db",
					       "a dwell database, or makes a new one", &c->err);
		if (c->json && !im.dump)
			json_begin(&j, '[');
		for (size_t i = 0; i < im.files.n && rc == 0; i++)
			rc = import(c, &im, db, im.files.v[i], &j);
		if (c->json && !im.dump) {
			json_end(&j, ']');
			str_addc(&c->out, '\n');
		}
	}
	fact_defs_release(&im.fact_defs);
	vec_release(&im.files);
	vec_release(&im.paths);
	return rc;
}
