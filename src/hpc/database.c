/* SPDX-License-Identifier: BSD-2-Clause */
/* See database.h: what a database has is added to the new one's tables.  database_values.c reads
 * its values once these have their numbers. */
#include "hpc/database.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"

/* A context that has values but no node, until it has its number. */
#define UNLISTED (HPC_NONE - 1)

void database_close(struct database *d)
{
	hpc_db_close(&d->db);
	free(d->ctxs);
	free(d->props);
	free(d->prop_ids);
	*d = (struct database){0};
}

/* --- metrics --- */

static int add_metrics(struct database *d, struct build_metrics *ms, struct err *err)
{
	const struct hpc_metrics *own = &d->db.meta.metrics;

	d->n_props = UINT16_MAX + 1;
	d->props = xcalloc(d->n_props, sizeof(*d->props));
	for (uint32_t i = 0; i < d->n_props; i++)
		d->props[i].metric = HPC_NONE;
	for (uint32_t i = 0; i < own->n_metrics; i++) {
		const struct hpc_metric *m = &own->metrics[i];
		uint32_t scopes = 0, metric;

		for (uint32_t k = 0; k < m->n_scopes; k++) {
			int s = build_metrics_scope(ms, own->scopes[m->scopes[k].scope].name, err);

			if (s < 0)
				return s;
			d->props[m->scopes[k].propMetricId].scope = (unsigned)s;
			scopes |= 1u << s;
		}
		metric = build_metrics_add(ms, m->name, scopes, (uint64_t)d->number << 32 | i);
		for (uint32_t k = 0; k < m->n_scopes; k++)
			d->props[m->scopes[k].propMetricId].metric = metric;
	}
	return 0;
}

/* --- contexts --- */

/* The files' paths as recordings have them, and where their copies are: HPCToolkit calls a copied
 * file src/PATH (docs/formats/hpctoolkit.md, "Source Files"). */
static struct file_source *find_sources(const struct database *d, struct hpc_meta_model *m)
{
	struct file_source *sources = xcalloc((size_t)m->n_files + 1, sizeof(*sources));

	for (uint32_t i = 0; i < m->n_files; i++) {
		struct hpc_file *f = &m->files[i];

		if (!(f->flags & HPC_FILE_COPIED) || !str_starts(f->path, "src/"))
			continue;
		f->path += strlen("src");
		sources[i].copy = d->number + 1;
	}
	return sources;
}

/* ctxIds are dense enough for an array: one has at least a structure of its own in some file. */
static int check_ctx(const struct database *d, uint32_t ctxId, struct err *err)
{
	const struct hpc_db *db = &d->db;

	if (ctxId < UINT32_MAX &&
	    (ctxId <= (db->meta.n_bytes + db->profiles.n_bytes) / 4 || ctxId < d->db.ccts.nCtxs))
		return 0;
	return err_set(err, -EBADMSG, "%s: a ctxId of %" PRIu32, db->path, ctxId);
}

static int add_contexts(struct database *d, struct contexts *c, struct err *err)
{
	struct file_source *sources;
	struct hpc_meta_model m;
	uint32_t *nodes, last = 0;
	int rc = hpc_meta_load(&m, &d->db.meta, err);

	if (rc != 0)
		return rc;
	sources = find_sources(d, &m);
	nodes = contexts_merge(c, &m, sources);
	for (uint32_t i = 0; i < m.n_nodes; i++)
		last = m.nodes[i].ctxId > last ? m.nodes[i].ctxId : last;
	rc = check_ctx(d, last, err);
	if (rc == 0) {
		d->n_ctxs = last + 1;
		d->ctxs = xcalloc(d->n_ctxs, sizeof(*d->ctxs));
		memset(d->ctxs, 0xff, d->n_ctxs * sizeof(*d->ctxs));
		for (uint32_t i = 0; i < m.n_nodes; i++)
			d->ctxs[m.nodes[i].ctxId] = nodes[i];
	}
	free(nodes);
	free(sources);
	hpc_meta_model_release(&m);
	return rc;
}

/* CTXID has values, or a thread was in it. */
static int note_ctx(struct database *d, uint32_t ctxId, struct err *err)
{
	if (ctxId >= d->n_ctxs) {
		const uint64_t room = (uint64_t)ctxId + 1 + ctxId / 4;
		const uint32_t n = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
		int rc = check_ctx(d, ctxId, err);

		if (rc < 0)
			return rc;
		d->ctxs = xrealloc(d->ctxs, n, sizeof(*d->ctxs));
		memset(d->ctxs + d->n_ctxs, 0xff, (n - d->n_ctxs) * sizeof(*d->ctxs));
		d->n_ctxs = n;
	}
	if (d->ctxs[ctxId] == HPC_NONE && ctxId != HPC_ROOT_CTX) {
		d->ctxs[ctxId] = UNLISTED;
		d->n_unlisted++;
	}
	return 0;
}

static int note_ctxs_of(struct database *d, uint32_t index, struct err *err)
{
	struct hpc_ctx_values c;
	struct hpc_profile p;
	int rc = hpc_profile_open(&p, &d->db.profiles, index, err);

	for (uint32_t i = 0; rc >= 0 && i < p.nCtxs; i++) {
		rc = hpc_profile_ctx(&p, i, &c, err);
		if (rc >= 0)
			rc = note_ctx(d, c.ctxId, err);
	}
	return rc;
}

/* cct.db says it at once; without one all profiles are looked at. */
static int note_ctxs(struct database *d, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; !d->db.has_cct && rc >= 0 && i < d->db.profiles.nProfiles; i++)
		rc = note_ctxs_of(d, i, err);
	for (uint32_t c = 0; d->db.has_cct && rc >= 0 && c < d->db.ccts.nCtxs; c++) {
		struct hpc_cct cct;

		rc = hpc_cct_open(&cct, &d->db.ccts, c, err);
		if (rc >= 0 && cct.nValues)
			rc = note_ctx(d, c, err);
	}
	for (uint32_t i = 0; d->db.has_traces && rc >= 0 && i < d->db.traces.nTraces; i++) {
		struct hpc_trace t;

		rc = hpc_trace_open(&t, &d->db.traces, i, err);
		for (uint64_t k = 0; rc >= 0 && k < t.n; k++)
			rc = note_ctx(d, hpc_trace_elem(&t, k).ctxId, err);
	}
	return rc;
}

/* --- profiles --- */

/* What the tuple IDS says of whose profile KEY is. */
static void read_tuple(const struct database *d, const struct hpc_id *ids, size_t n,
		       struct identity *key)
{
	for (size_t i = 0; i < n; i++) {
		const struct hpc_id *id = &ids[i];
		const char *name = hpc_meta_id_name(&d->db.meta, id->kind);

		if (d->kinds[id->kind] == HPC_ID_NODE && (id->flags & HPC_ID_IS_PHYSICAL))
			key->node = id->physicalId;
		if (d->kinds[id->kind] == HPC_ID_RANK && key->rank == NO_RANK) {
			key->rank = id->logicalId;
			key->rank_physicalId = id->physicalId;
			if ((id->flags & HPC_ID_IS_PHYSICAL) && id->physicalId <= UINT32_MAX)
				key->pid = (uint32_t)id->physicalId;
		}
		if (d->kinds[id->kind] != HPC_N_ID_KINDS)
			continue;
		/* What dwell 0.1.0 called a process. */
		if (strcmp(name, "PROCESS") == 0 && id->physicalId <= UINT32_MAX)
			key->pid = (uint32_t)id->physicalId;
		key->others = hash_pair(key->others, hash_str(name));
		key->others = hash_pair(key->others, id->logicalId);
		key->others = hash_pair(key->others, id->physicalId);
	}
}

static int add_profiles(struct database *d, struct identities *ids, struct err *err)
{
	struct database_reader r = {0};
	int rc = 0;

	for (uint32_t i = 0; i < d->db.profiles.nProfiles && rc == 0; i++) {
		struct identity key = {.db = d->number + 1, .profile = i, .rank = NO_RANK};
		struct hpc_profile p;

		rc = hpc_profile_open(&p, &d->db.profiles, i, err);
		if (rc != 0 || p.isSummary)
			continue;
		rc = database_tuple(d, i, &r, err);
		if (rc != 0)
			break;
		read_tuple(d, r.ids.v, r.ids.n, &key);
		identities_intern(ids, &key);
		d->n_ids += r.ids.n + 1; /* and a RANK */
		vec_each (id, &r.ids)
			if (d->kinds[id->kind] == HPC_ID_NODE && (id->flags & HPC_ID_IS_PHYSICAL))
				identities_add_node(ids, id->physicalId, id->logicalId,
						    (uint64_t)(d->number + 1) << 32 | i);
	}
	database_reader_release(&r);
	return rc;
}

static void number_kinds(struct database *d)
{
	for (unsigned k = 0; k < n_elems(d->kinds); k++)
		d->kinds[k] = k < d->db.meta.n_id_names ? identity_kind(d->db.meta.id_names[k])
							: HPC_N_ID_KINDS;
}

int database_open_only(struct database *d, const char *path, uint32_t number, struct err *err)
{
	int rc;

	*d = (struct database){.number = number};
	rc = hpc_db_open(&d->db, path, err);
	if (rc == 0)
		number_kinds(d);
	return rc;
}

int database_open(struct database *d, const char *path, uint32_t number,
		  const struct database_target *t, struct err *err)
{
	int rc = database_open_only(d, path, number, err);

	if (rc != 0)
		return rc;
	rc = add_metrics(d, t->metrics, err);
	if (rc == 0)
		rc = add_contexts(d, t->contexts, err);
	if (rc == 0)
		rc = note_ctxs(d, err);
	if (rc == 0)
		rc = add_profiles(d, t->identities, err);
	return rc;
}

void database_number(struct database *d, const uint32_t *number, const uint32_t *metric,
		     uint32_t first_unlisted, const struct build_metrics *ms)
{
	uint32_t last = 0;
	int last_prop = -1;

	d->is_straight = true;
	for (uint32_t c = 1; c < d->n_ctxs; c++) {
		if (d->ctxs[c] == HPC_NONE)
			continue;
		d->ctxs[c] = d->ctxs[c] == UNLISTED ? first_unlisted++ : number[d->ctxs[c]] + 1;
		d->is_straight &= d->ctxs[c] > last;
		last = d->ctxs[c];
	}
	d->ctxs[HPC_ROOT_CTX] = HPC_ROOT_CTX;
	d->prop_ids = xcalloc(d->n_props, sizeof(*d->prop_ids));
	for (uint32_t i = 0; i < d->n_props; i++) {
		d->prop_ids[i] = DATABASE_NO_PROP;
		if (d->props[i].metric == HPC_NONE)
			continue;
		if (!build_metric_has(&ms->v.v[metric[d->props[i].metric]], d->props[i].scope)) {
			d->prop_ids[i] = DATABASE_LEFT_OUT;
			continue;
		}
		d->prop_ids[i] = prop_metric_id(ms, metric[d->props[i].metric], d->props[i].scope);
		d->is_straight &= d->prop_ids[i] > last_prop;
		last_prop = d->prop_ids[i];
	}
}
