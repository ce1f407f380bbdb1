/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell gc`: removes old recordings. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "port/dcpi_gc.h"
#include "port/dcpi_in.h"
#include "query/source.h"
#include "store/gc.h"

static const struct emit_col columns[] = {
	{.key = "epoch", .type = EMIT_STR},
	{.key = "host", .type = EMIT_STR},
	{.key = "image", .type = EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{.key = "bytes", .type = EMIT_U64},
	{.key = "why", .type = EMIT_STR},
	{.key = "error", .type = EMIT_STR},
};

struct gc_run {
	struct cmd *c;
	struct arena arena; /* texts of rows */
};

static const char *gc_keep(struct gc_run *r, const char *text)
{
	return text ? arena_strdup(&r->arena, text) : NULL;
}

static void gc_show(void *ctx, const struct gc_item *i)
{
	static const char *const why[] = {[GC_AGE] = "age",
					  [GC_SIZE] = "size",
					  [GC_IN_USE] = "in use",
					  [GC_FAILED] = "failed",
					  [GC_UNUSED] = "unused"};
	struct gc_run *r = ctx;
	const bool is_table = r->c->emit.format == EMIT_TABLE;

	emit_row(&r->c->emit, (struct emit_cell[]){
				      {.s = is_table && i->image ? "images" : gc_keep(r, i->epoch)},
				      {.s = gc_keep(r, is_table && i->image ? i->image : i->host)},
				      {.s = gc_keep(r, i->image)},
				      {.u = i->n_bytes},
				      {.s = why[i->why]},
				      {.s = gc_keep(r, i->error)},
			      });
}

static void show_totals(struct cmd *c, const struct gc_totals *t, bool dry_run)
{
	const struct {
		const char *key;
		uint64_t n;
	} members[] = {{"removed", t->n_removed}, {"removed_bytes", t->n_bytes_removed},
		       {"left", t->n_left},	  {"left_bytes", t->n_bytes_left},
		       {"in_use", t->n_in_use},	  {"failed", t->n_failed}};
	struct json *j = emit_json(&c->emit);

	for (size_t i = 0; j && i < n_elems(members); i++) {
		json_key(j, members[i].key);
		json_u64(j, members[i].n);
	}
	emit_text(&c->emit,
		  "%s%" PRIu64 " recording%s, %" PRIu64 " bytes; left: %" PRIu64 ", %" PRIu64
		  " bytes\n",
		  dry_run ? "would remove " : "removed ", t->n_removed,
		  t->n_removed == 1 ? "" : "s", t->n_bytes_removed, t->n_left, t->n_bytes_left);
}

static void show_of_tree(void *ctx, const struct dcpi_gc_item *i)
{
	gc_show(ctx, &(struct gc_item){.epoch = i->epoch,
				       .host = i->host,
				       .n_bytes = i->n_bytes,
				       .why = i->error	  ? GC_FAILED
					      : i->is_old ? GC_AGE
							  : GC_SIZE,
				       .error = i->error});
}

/* A DCPI tree's. */
static int gc_tree(struct gc_run *r, const char *dir, const struct gc_opts *o,
		   struct gc_totals *ret, struct err *err)
{
	const struct dcpi_gc_opts d = {.max_age_ns = o->max_age_ns,
				       .max_bytes = o->max_bytes,
				       .keep = o->keep,
				       .host = o->host,
				       .now_ns = clock_wall_ns(),
				       .dry_run = o->dry_run};
	struct dcpi_gc_totals t = {0};
	int rc = o->images ? err_set(err, -EINVAL, "%s: a DCPI tree keeps no symbols", dir)
			   : dcpi_gc(dir, &d, show_of_tree, r, &t, err);

	*ret = (struct gc_totals){.n_removed = t.n_removed,
				  .n_bytes_removed = t.n_bytes_removed,
				  .n_left = t.n_left,
				  .n_bytes_left = t.n_bytes_left,
				  .n_failed = t.n_failed};
	return rc;
}

static int cmd_gc_run(struct cmd *c, const char *db, const struct gc_opts *o)
{
	struct gc_run r = {.c = c};
	struct gc_totals totals;
	int rc;

	emit_begin(&c->emit);
	emit_rows_by(&c->emit, "recording");
	emit_table(&c->emit, "rows", columns, n_elems(columns));
	rc = dcpi_in_probe(db) == 1 ? gc_tree(&r, db, o, &totals, &c->err)
				    : store_gc(db, o, gc_show, &r, &totals, &c->err);
	emit_table_end(&c->emit);
	if (rc >= 0)
		show_totals(c, &totals, o->dry_run);
	emit_end(&c->emit);
	if (rc >= 0 && totals.n_failed)
		rc = err_set(&c->err, -EIO, "%s: %" PRIu64 " could not be removed", db,
			     totals.n_failed);
	arena_release(&r.arena);
	return rc;
}

int cmd_gc(struct cmd *c)
{
	struct gc_opts o = {.max_age_ns = GC_MAX_AGE_NS, .max_bytes = GC_MAX_BYTES};
	const char *db = NULL, *max_size = NULL;
	uint64_t n_keep = GC_KEEP;
	const struct opt table[] = {
		{"db", OPT_STR, &db, "DB",
		 "database (default $DWELLDB, $DCPIDB, ~/.local/share/dwell)"},
		{"max-age", OPT_DURATION, &o.max_age_ns, "TIME",
		 "remove recordings that ended longer ago (default 90d; 0: any age)"},
		{"max-size", OPT_STR, &max_size, "SIZE",
		 "remove the oldest until all take no more (default 10G; 0: any size)"},
		{"keep", OPT_U64, &n_keep, "N",
		 "never remove a host's newest N (default 24, at least 1)"},
		{"host", OPT_STR, &o.host, "NAME", "only recordings of this host"},
		{"images", OPT_FLAG, &o.images, NULL,
		 "symbols too that no recording left needs; reads all of the database"},
		{"dry-run n", OPT_FLAG, &o.dry_run, NULL, "say what would be removed"},
		{0},
	};
	opt_list operands = {0};
	int rc = cmd_parse(c, "[OPTIONS]", table, false, &operands);
	char *path;

	if (rc == 0 && operands.n)
		rc = err_set(&c->err, -EINVAL, "takes no operands; --db names the database");
	if (rc == 0 && max_size && str_parse_bytes(max_size, &o.max_bytes) < 0)
		rc = err_set(&c->err, -EINVAL, "--max-size: '%s' is not a size such as 10G",
			     max_size);
	vec_release(&operands);
	if (rc != 0)
		return rc;
	o.keep = n_keep > UINT32_MAX ? UINT32_MAX : (unsigned)n_keep;
	path = db ? xstrdup(db) : store_default_path();
	rc = source_check_kind(path, SOURCE_STORE | SOURCE_DCPI_TREE | SOURCE_EMPTY, "dwell gc",
			       "one dwell database or a DCPI tree", &c->err);
	if (rc == 0)
		rc = cmd_gc_run(c, path, &o);
	free(path);
	return rc;
}
