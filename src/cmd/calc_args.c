/* SPDX-License-Identifier: BSD-2-Clause */
/* See calc_args.h. */
#include "cmd/calc_args.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "inproc/machine.h"

/* Models are a user's own: they are of code that he may read. */
static char *find_cache_dir(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && cache[0] == '/')
		return file_is_own_folder(cache) ? xasprintf("%s/dwell/models", cache) : NULL;
	return file_is_own_folder(home) ? xasprintf("%s/.cache/dwell/models", home) : NULL;
}

static int settle_confidence(struct cmd *c, struct calc_args *a)
{
	a->opts.conf = a->conf_med ? COUNT_MEDIUM : a->conf_high ? COUNT_HIGH : COUNT_LOW;
	return a->conf ? count_confidence_parse(a->conf, &a->opts.conf, &c->err) : 0;
}

int calc_args_settle(struct cmd *c, struct calc_args *a)
{
	int rc = settle_confidence(c, a);

	c->select.branches = true;
	a->cache_dir = find_cache_dir();
	a->opts.model = (struct best_case_opts){.cpu = a->cpu, .cache_dir = a->cache_dir};
	a->opts.mhz = (double)a->mhz;
	if (rc >= 0 && a->counts) {
		rc = cmd_load_counts(c, a->counts, &a->exact);
		a->opts.exact = &a->exact;
	}
	return rc;
}

void calc_args_release(struct calc_args *a)
{
	source_args_release(&a->source);
	vec_release(&a->source_maps);
	exact_counts_release(&a->exact);
	free(a->cache_dir);
}

void calc_args_fit(struct calc_args *a, const struct source *s)
{
	const struct profile *p = s->query ? s->query->profile : NULL;

	if (p && a->opts.mhz <= 0)
		a->opts.mhz = machine_mhz(profile_str(p, p->meta.host));
}

/* --- one procedure after another --- */

/* Analyses the procedure of row R.  0, or why it cannot be done. */
static int analyse(struct source *s, const struct calc_args *a, const struct flat_row *r,
		   struct sources *sources, struct listing *l, struct calc *calc, struct err *err)
{
	const struct image *im = &s->query->profile->images.v[r->image];
	const struct symtab *symtab = resolver_image(s->query->resolver, im)->symtab;
	_mem_ char *name = xasprintf(
		"0x%" PRIx64, r->proc == PROC_NONE ? r->svma : symtab_get(symtab, r->proc).start);
	const struct listing_opts o = {.name = name, .image = query_image_name(s->query, r->image)};
	int rc = source_listing(s, &o, sources, l, err);

	if (rc < 0)
		return rc;
	rc = calc_gather(l, &s->columns, &a->opts, calc, err);
	if (rc >= 0 && !calc->has_model)
		rc = err_set(err, -ENOTSUP, "%s", calc->why_no_model.msg);
	if (rc >= 0 && strcmp(calc->unit, "ns") == 0)
		rc = err_set(
			err, -ENODATA,
			"the clock of the CPU that was recorded is not known; --mhz N tells it");
	if (rc >= 0 && !calc->has_executions)
		rc = err_set(err, -ENODATA, "%s", calc->why_no_executions.msg);
	if (rc < 0) {
		calc_release(calc);
		listing_close(l);
	}
	return rc;
}

int calc_walk_run(struct cmd *c, struct source *s, const struct calc_args *a,
		  const opt_list *images, size_t most,
		  int (*use)(void *ctx, const struct calc_step *step), void *ctx,
		  struct calc_walk *ret)
{
	const struct flat_opts o = {.by = {.keys = {ROW_KEY_PROCEDURE}, .n = 1},
				    .level = SCOPE_PROCEDURE,
				    .keep_pct = 100,
				    .most = most,
				    .images = images};
	struct sources *sources = sources_new();
	struct flat f;
	int rc = source_flat(s, &o, &f, &c->err);

	*ret = (struct calc_walk){0};
	for (size_t i = 0; rc >= 0 && i < f.rows.n; i++) {
		const struct flat_row *r = &f.rows.v[i];
		struct listing l;
		struct calc calc;
		struct err why = {0};
		const double samples = r->own[s->columns.hide];

		ret->samples += samples;
		if (r->image == SCOPE_NO_IMAGE || r->truncated)
			continue;
		if (analyse(s, a, r, sources, &l, &calc, &why) < 0) {
			ret->n_refused++;
			ret->refused_samples += samples;
			if (!ret->first_refusal.msg[0])
				ret->first_refusal = why;
			continue;
		}
		ret->n_analysed++;
		rc = use(ctx, &(struct calc_step){r, &l, &calc});
		calc_release(&calc);
		listing_close(&l);
	}
	flat_release(&f);
	sources_free(sources);
	return rc;
}
