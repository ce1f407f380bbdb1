/* SPDX-License-Identifier: BSD-2-Clause */
/* See build.h: writing the files.  Now that all contexts and threads are known they get their
 * numbers; profile.db comes first, cct.db and the summary profile are made from it, meta.db last,
 * when it is known which source files were copied. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "hpc/write/cct.h"
#include "formats/hpc/metrics_yaml.h"
#include "formats/hpc/texts.h"
#include "hpc/build.h"
#include "hpc/copies.h"
#include "hpc/distribute.h"
#include "hpc/save.h"
#include "hpc/write/profile.h"

/* The profiles' groups of records. */
static void find_groups(const struct build *b, const uint32_t *profile, struct profile_groups *ret)
{
	size_t n = b->identities.v.n;

	*ret = (struct profile_groups){.n = (uint32_t)n};
	ret->first = xcalloc(n + 2, sizeof(*ret->first));
	if (b->opts.ranks) { /* they are profiles already */
		ret->groups = xcalloc(n + 1, sizeof(*ret->groups));
		for (uint32_t i = 0; i < n; i++)
			ret->first[i + 1] = (ret->groups[i] = i) + 1;
		return;
	}
	ret->groups = xcalloc(b->identity_of.n + 1, sizeof(*ret->groups));
	vec_each (identity, &b->identity_of)
		if (*identity != HPC_NONE)
			ret->first[profile[*identity] + 2]++;
	for (size_t i = 0; i < n; i++)
		ret->first[i + 2] += ret->first[i + 1];
	for (uint32_t g = 0; g < b->identity_of.n; g++)
		if (b->identity_of.v[g] != HPC_NONE)
			ret->groups[ret->first[profile[b->identity_of.v[g]] + 1]++] = g;
}

/* Turns nodes of database D into ctxIds; contexts without a place in the tree come behind the
 * N_CTXS others, in the order of inputs. */
static int number_database(struct build *b, struct database *d, const struct numbers *n,
			   uint32_t n_ctxs, struct err *err)
{
	unsigned owner = build_owner(b, d->number);

	vec_each (extent, &b->extents)
		if (extent->number < d->number)
			n_ctxs += extent->n_unlisted;
	if (!b->opts.ranks || b->opts.ranks->rank == owner)
		database_number(d, n->nodes, n->metrics, n_ctxs, &b->metrics);
	return distribute_database(b, d, owner, err);
}

/* Turns the inputs' nodes into ctxIds, and their metrics into those of the file. */
static int number_inputs(struct build *b, const struct numbers *n, const struct totals *totals,
			 struct err *err)
{
	int rc = 0;

	vec_each (in, &b->inputs) {
		for (size_t c = 0; c < in->n_nodes; c++)
			if (in->nodes[c] != HPC_NONE)
				in->nodes[c] = n->nodes[in->nodes[c]] + 1;
		for (size_t e = 0; e < in->n_events; e++)
			if (in->events[e].metric != BUILD_NO_METRIC)
				in->events[e].metric = (uint16_t)n->metrics[in->events[e].metric];
	}
	timelines_number(&b->timelines, n->nodes, n->identities);
	for (size_t i = 0; i < b->databases.n && rc >= 0; i++)
		rc = number_database(b, b->databases.v[i], n, totals->n_nodes + 1, err);
	return rc;
}

/* What making cct.db may take, for all threads together. */
#define CCT_BYTES (128u << 20)

struct cct_progress {
	struct build *b;
	struct err err;
	int rc;
};

static int on_cct_progress(void *user, uint64_t done, uint64_t all)
{
	struct cct_progress *p = user;

	return p->rc = build_progress(p->b, "contexts", done, all, &p->err);
}

/* Makes cct.db out of profile.db, and on the way the statistics. */
static int save_cct(struct build *b, uint32_t n_ctxs, struct statistics *statistics,
		    struct err *err)
{
	struct cct_progress progress = {.b = b};
	_fd_ int fd = openat(b->opts.dir->fd, "profile.db", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	const struct hpc_cct_options o = {.n_threads = b->opts.n_threads,
					  .memory_bytes = CCT_BYTES,
					  .fd = fd,
					  .progress = on_cct_progress,
					  .user = &progress,
					  .ranges = statistics_ranges,
					  .values = statistics_values,
					  .to = statistics,
					  .share = build_share(b)};
	struct hpc_profile_db db;
	struct file_map map;
	int rc;

	if (fd < 0)
		return err_errno(err, -errno, "profile.db");
	rc = file_map_fd(&map, fd, "profile.db", err);
	if (rc < 0)
		return rc;
	rc = hpc_profile_db_open(&db, map.bytes, map.n_bytes, "profile.db", err);
	if (rc >= 0)
		rc = hpc_cct_build(b->opts.dir->fd, "cct.db", &db, n_ctxs, &o, err);
	file_map_close(&map);
	if (progress.rc < 0 && err)
		*err = progress.err;
	return rc;
}

static bool is_first(const struct build *b)
{
	return !b->opts.ranks || b->opts.ranks->rank == 0;
}

/* Makes cct.db and puts the summary profile, with which W is finished. */
static int save_rest(struct build *b, uint32_t n_ctxs, struct hpc_profile_writer *w,
		     struct err *err)
{
	struct statistics statistics = {.metrics = &b->metrics};
	struct hpc_profile_block block = {0};
	int rc = save_cct(b, n_ctxs, &statistics, err);

	if (rc >= 0)
		rc = gather_statistics(b, &statistics, err);
	if (rc >= 0 && is_first(b)) {
		statistics_join(&statistics, &block);
		rc = hpc_profile_put(w, HPC_SUMMARY_PROFILE, NULL, 0, &block, err);
	}
	hpc_profile_block_release(&block);
	statistics_release(&statistics);
	if (rc < 0) {
		hpc_profile_abandon(w);
		return rc;
	}
	return hpc_profile_finish(w, err);
}

/* The taxonomy of the database that is the only input, when all it speaks of is there: it may know
 * better how its metrics belong together.  In those of before the first release formulas have no
 * standard form, which Hatchet cannot do without (hpctoolkit_v4_reader.py, DefaultReader). */
static char *only_taxonomy(const struct build *b, const struct hpc_metrics *metrics, size_t *ret_n)
{
	const struct hpc_metric *m;
	const struct hpc_summary *summary;
	struct hpc_metric_tree t;
	char *text = NULL;

	if (b->n_inputs != 1 || !b->databases.n || b->opts.variants ||
	    !hpc_db_taxonomy(&b->databases.v[0]->db, &t, &text, ret_n))
		return NULL;
	for (uint32_t i = 0; i < t.n_inputs && text; i++)
		if (!hpc_metric_input_find(&t.inputs[i], metrics, &m, &summary)) {
			free(text);
			text = NULL;
		}
	if (text && t.n_inputs && !strstr(text, "standard:")) {
		free(text);
		text = NULL;
	}
	hpc_metric_tree_release(&t);
	return text;
}

/* metrics/default.yaml: how viewers show the metrics. */
static int save_taxonomy(struct build *b, const struct hpc_metrics *metrics, struct err *err)
{
	size_t n_own;
	_mem_ char *own = only_taxonomy(b, metrics, &n_own);
	struct hpc_metric_text *texts = xcalloc(b->metrics.v.n + 1, sizeof(*texts));
	_str_ struct str yaml = {0};
	int rc;

	if (own) {
		free(texts);
		return new_dir_write(b->opts.dir, "metrics/default.yaml", own, n_own, err);
	}
	for (size_t i = 0; i < b->metrics.v.n; i++)
		texts[i].description =
			b->metrics.v.v[i].per > 1
				? "Time in seconds: samples times the period of the clock."
				: "Events: samples times the period.";
	hpc_metrics_yaml_write(&yaml, metrics, texts, b->opts.variants);
	rc = new_dir_write(b->opts.dir, "metrics/default.yaml", yaml.v, yaml.n, err);
	free(texts);
	return rc;
}

/* What explains a database to who finds it. */
static int save_texts(const struct build *b, struct err *err)
{
	int rc = new_dir_write(b->opts.dir, "FORMATS.md", hpc_formats_md, strlen(hpc_formats_md),
			       err);

	return rc < 0 ? rc
		      : new_dir_write(b->opts.dir, "metrics/METRICS.yaml.ex", hpc_metrics_yaml_ex,
				      strlen(hpc_metrics_yaml_ex), err);
}

/* What all inputs say of themselves, one behind the other. */
static char *describe_all(const struct build *b)
{
	struct str all = {0};

	vec_each (text, &b->texts)
		str_addf(&all, "%s%s", all.n ? "\n" : "", text->text);
	return all.v ? all.v : xstrdup("");
}

static int save_meta(struct build *b, struct err *err)
{
	const char *kinds[HPC_N_ID_KINDS];
	_mem_ char *description = describe_all(b);
	_mem_ struct hpc_node *listed = NULL;
	struct hpc_meta_model model = {
		.title = b->opts.title ? b->opts.title : b->texts.v[0].title,
		.description = description,
		.id_names = kinds,
		.n_id_names = HPC_N_ID_KINDS,
		.modules = b->contexts.modules.v,
		.files = b->contexts.files.v,
		.functions = b->contexts.functions.v,
		.n_modules = (uint32_t)b->contexts.modules.n,
		.n_files = (uint32_t)b->contexts.files.n,
		.n_functions = (uint32_t)b->contexts.functions.n,
		.nodes = b->contexts.nodes.v,
		.entries = b->contexts.entries.v,
		.n_nodes = (uint32_t)b->contexts.nodes.n,
		.n_entries = (uint32_t)b->contexts.entries.n,
	};
	_fd_ int fd =
		openat(b->opts.dir->fd, "meta.db", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int rc;

	if (fd < 0)
		return err_errno(err, -errno, "meta.db");
	if (!build_lists_instructions(b))
		model.nodes = listed = contexts_listed(&b->contexts, &model.n_nodes);
	for (unsigned i = 0; i < HPC_N_ID_KINDS; i++)
		kinds[i] = identity_kind_name(i);
	build_metrics_describe(&b->metrics, &model.metrics);
	rc = hpc_meta_write(fd, "meta.db", &model, b->opts.layout, err);
	if (rc >= 0)
		rc = save_texts(b, err);
	return rc < 0 ? rc : save_taxonomy(b, &model.metrics, err);
}

/* The line of profile I, which may be a database's. */
static int line_of(void *user, uint32_t i, struct hpc_trace_elem **ret, size_t *ret_n,
		   struct err *err)
{
	const struct build *b = user;
	const struct identity *id = &b->identities.v.v[i];
	const struct database *d = build_database(b, id);

	return d ? database_line(d, id->profile, ret, ret_n, err) : 0;
}

static int save_traces(struct build *b, const struct ctx_tree *tree, struct err *err)
{
	const struct timelines_target to = {
		.dirfd = b->opts.dir->fd,
		.layout = b->opts.layout,
		.n_profiles = (uint32_t)b->identities.v.n,
		.in = build_lists_instructions(b) ? NULL : tree,
		.other = line_of,
		.user = b,
	};

	int rc = gather_timelines(b, err);

	return rc < 0 || !is_first(b) ? rc : timelines_save(&b->timelines, &to, err);
}

static int save_sources(struct build *b, struct err *err)
{
	_mem_ const char **databases = xcalloc((size_t)b->n_inputs + 1, sizeof(*databases));
	const struct copies_rules rules = {b->opts.rules, b->opts.n_rules};

	vec_each (d, &b->databases)
		databases[(*d)->number] = (*d)->db.path;
	return copies_save(&b->contexts, b->opts.dir, databases, &rules, &b->n_copied, err);
}

static int save_all(struct build *b, const struct numbers *numbers, const struct totals *totals,
		    const struct ctx_tree *tree, struct err *err)
{
	uint32_t n_ctxs = totals->n_nodes + totals->n_unlisted + 1;
	struct hpc_profile_writer *writer;
	struct profile_groups groups;
	int rc;

	find_groups(b, numbers->identities, &groups);
	rc = save_profiles(b, tree, &groups, totals->n_ids, &writer, err);
	free(groups.first);
	free(groups.groups);
	if (rc >= 0)
		rc = save_rest(b, n_ctxs, writer, err);
	if (rc >= 0 && totals->has_traces)
		rc = save_traces(b, tree, err);
	if (rc >= 0 && b->opts.ranks)
		rc = ranks_sum(b->opts.ranks, &b->n_values, 1, err);
	if (rc < 0 || !is_first(b))
		return rc;
	if (!b->opts.no_sources)
		rc = save_sources(b, err);
	return rc < 0 ? rc : save_meta(b, err);
}

int build_save(struct build *b, struct err *err)
{
	struct numbers numbers;
	struct totals totals;
	struct ctx_tree tree;
	int rc = records_finish(&b->records, (uint32_t)b->identity_of.n, err);

	if (rc < 0)
		return rc;
	rc = reduce_tables(b, &numbers, &tree, &totals, err);
	if (rc >= 0)
		rc = number_inputs(b, &numbers, &totals, err);
	if (rc >= 0)
		rc = distribute_records(b, &numbers, err);
	if (rc >= 0)
		rc = save_all(b, &numbers, &totals, &tree, err);
	ctx_tree_release(&tree);
	numbers_release(&numbers);
	return rc;
}
