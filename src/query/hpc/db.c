/* SPDX-License-Identifier: BSD-2-Clause */
/* See db.h. */
#include "query/hpc/db.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "formats/hpc/metrics_yaml.h"

/* Identifications of a profile that are looked at. */
#define MOST_IDS 16

/* docs/formats/hpctoolkit.md: what meta.db begins with. */
static const char magic[] = "HPCTOOLKITmeta";

static char *db_join(const char *dir, const char *name)
{
	struct str s = {0};

	str_addf(&s, "%s%s%s", dir, str_ends(dir, "/") ? "" : "/", name);
	return s.v;
}

bool hpc_db_probe(const char *path)
{
	char *meta = db_join(path, "meta.db"), start[sizeof(magic) - 1];
	int fd = open(meta, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is = fd >= 0 && read(fd, start, sizeof(start)) == (ssize_t)sizeof(start) &&
		  memcmp(start, magic, sizeof(start)) == 0;

	if (fd >= 0)
		close(fd);
	free(meta);
	return is;
}

static int map(struct hpc_db_file *f, const char *dir, const char *name, struct err *err)
{
	f->path = db_join(dir, name);
	return file_map_open(&f->map, AT_FDCWD, f->path, false, err);
}

/* Maps a file that need not be there: *RET_THERE. */
static int map_if_there(struct hpc_db_file *f, const char *dir, const char *name, bool *ret_there,
			struct err *err)
{
	int rc = map(f, dir, name, err);

	*ret_there = rc >= 0;
	return rc == -ENOENT ? 0 : rc;
}

static int open_files(struct hpc_db *db, struct err *err)
{
	const struct file_map *m = &db->meta_file.map, *p = &db->profile_file.map,
			      *c = &db->cct_file.map, *t = &db->trace_file.map;
	int rc = map(&db->meta_file, db->path, "meta.db", err);

	if (rc == 0)
		rc = map(&db->profile_file, db->path, "profile.db", err);
	if (rc == 0)
		rc = map_if_there(&db->cct_file, db->path, "cct.db", &db->has_cct, err);
	if (rc == 0)
		rc = map_if_there(&db->trace_file, db->path, "trace.db", &db->has_traces, err);
	if (rc == 0)
		rc = hpc_meta_open(&db->meta, m->bytes, m->n_bytes, db->meta_file.path, err);
	if (rc == 0)
		rc = hpc_profile_db_open(&db->profiles, p->bytes, p->n_bytes, db->profile_file.path,
					 err);
	if (rc == 0 && db->has_cct)
		rc = hpc_cct_db_open(&db->ccts, c->bytes, c->n_bytes, db->cct_file.path, err);
	if (rc == 0 && db->has_traces)
		rc = hpc_trace_db_open(&db->traces, t->bytes, t->n_bytes, db->trace_file.path, err);
	return rc;
}

int hpc_db_open(struct hpc_db *db, const char *path, struct err *err)
{
	int rc;

	*db = (struct hpc_db){.path = xstrdup(path)};
	rc = open_files(db, err);
	if (rc != 0)
		hpc_db_close(db);
	return rc;
}

static void close_file(struct hpc_db_file *f)
{
	file_map_close(&f->map);
	free(f->path);
}

void hpc_db_close(struct hpc_db *db)
{
	hpc_meta_release(&db->meta);
	close_file(&db->meta_file);
	close_file(&db->profile_file);
	close_file(&db->cct_file);
	close_file(&db->trace_file);
	free(db->path);
	*db = (struct hpc_db){0};
}

/* --- threads --- */

static int thread_ids(const struct hpc_db *db, uint32_t index, struct hpc_id ids[MOST_IDS],
		      struct err *err)
{
	struct hpc_profile p;
	int n = hpc_profile_open(&p, &db->profiles, index, err);

	if (n == 0)
		n = hpc_profile_ids(&p, ids, MOST_IDS, err);
	return n > MOST_IDS ? MOST_IDS : n;
}

static bool is_place(const struct hpc_id *id)
{
	return id->kind == HPC_ID_NODE || id->kind == HPC_ID_CORE;
}

/* The number by which people know it, as in hpcviewer (IdTuple.getIndexBaseOnFlag).  A RANK is
 * physical where a process is known by its pid, and so was the PROCESS of dwell 0.1.0. */
static uint64_t shown_id(const struct hpc_id *id)
{
	bool may_be_physical = id->kind == HPC_ID_RANK || id->kind >= HPC_N_ID_KINDS;

	return may_be_physical && (id->flags & HPC_ID_IS_PHYSICAL) ? id->physicalId : id->logicalId;
}

int hpc_db_thread_name(const struct hpc_db *db, uint32_t index, struct str *ret, struct err *err)
{
	struct hpc_id ids[MOST_IDS];
	int n = thread_ids(db, index, ids, err), n_others = 0;
	const char *gap = "";

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		n_others += !is_place(&ids[i]);
	for (int i = 0; i < n; i++) {
		if (n_others && is_place(&ids[i]))
			continue;
		str_addf(ret, "%s%s %" PRIu64, gap, hpc_meta_id_name(&db->meta, ids[i].kind),
			 shown_id(&ids[i]));
		gap = " ";
	}
	if (!n)
		str_addf(ret, "profile %" PRIu32, index);
	return 0;
}

/* One condition: identifications called KIND from FIRST to LAST; an index when KIND is empty. */
struct condition {
	const char *kind;
	size_t n_kind;
	uint64_t first, last;
};
typedef VEC(struct condition) conditions;

static int bad_list(const char *text, struct err *err)
{
	return err_set(err, -EINVAL,
		       "--thread %s: must be profiles (3, 4-7) or identifications "
		       "(rank=0,thread=1-3)",
		       text);
}

static const char *parse_number(const char *s, uint64_t *ret)
{
	char *end;

	if (*s < '0' || *s > '9')
		return NULL;
	errno = 0;
	*ret = strtoull(s, &end, 0);
	return errno ? NULL : end;
}

static int parse_conditions(const char *text, conditions *ret, struct err *err)
{
	for (const char *s = text;; s++) {
		struct condition c = {.kind = s};
		size_t n = strcspn(s, "=,");

		if (s[n] == '=') {
			c.n_kind = n;
			s += n + 1;
		}
		s = parse_number(s, &c.first);
		if (!s)
			return bad_list(text, err);
		c.last = c.first;
		if (*s == '-')
			s = parse_number(s + 1, &c.last);
		if (!s || (*s && *s != ',') || c.last < c.first)
			return bad_list(text, err);
		vec_push(ret, c);
		if (!*s)
			return 0;
	}
}

static bool is_kind(const struct hpc_db *db, const struct condition *c, uint8_t kind)
{
	const char *name = hpc_meta_id_name(&db->meta, kind);

	return strlen(name) == c->n_kind && strncasecmp(name, c->kind, c->n_kind) == 0;
}

static int check_kinds(const struct hpc_db *db, const conditions *cs, struct err *err)
{
	_str_ struct str there = {0};
	int rc = 0;

	vec_each (c, cs) {
		bool found = !c->n_kind;

		for (unsigned k = 0; k < db->meta.n_id_names && k <= UINT8_MAX; k++)
			found |= is_kind(db, c, (uint8_t)k);
		if (found || rc < 0)
			continue;
		for (unsigned k = 1; k < db->meta.n_id_names && k <= UINT8_MAX; k++)
			str_addf(&there, "%s%s", k > 1 ? ", " : "",
				 hpc_meta_id_name(&db->meta, (uint8_t)k));
		rc = err_set(err, -ENOENT, "--thread: no profile has an identifier '%.*s', but %s",
			     (int)c->n_kind, c->kind, str_get(&there));
	}
	return rc;
}

static bool fits_id(const struct hpc_db *db, const struct condition *c, const struct hpc_id *id)
{
	if (!is_kind(db, c, id->kind))
		return false;
	if (id->kind == HPC_ID_RANK)
		return shown_id(id) >= c->first && shown_id(id) <= c->last;
	return (id->logicalId >= c->first && id->logicalId <= c->last) ||
	       ((id->flags & HPC_ID_IS_PHYSICAL) && id->physicalId >= c->first &&
		id->physicalId <= c->last);
}

/* Whether profile INDEX fits: one of the ranges of indices, if there are any, and for each kind of
 * identification one of its conditions. */
static int fits(const struct hpc_db *db, const conditions *cs, uint32_t index, struct err *err)
{
	bool wants_index = false, has_index = false, ok = true;
	struct hpc_id ids[MOST_IDS];
	int n = 0;

	vec_each (c, cs) {
		if (!c->n_kind) {
			wants_index = true;
			has_index |= index >= c->first && index <= c->last;
		}
	}
	if (wants_index && !has_index)
		return 0;
	vec_each (c, cs) {
		bool found = false;

		if (!c->n_kind)
			continue;
		n = n ? n : thread_ids(db, index, ids, err);
		if (n < 0)
			return n;
		/* Several conditions on one kind: any of them. */
		vec_each (d, cs)
			for (int i = 0; i < n; i++)
				found |= d->n_kind == c->n_kind &&
					 strncasecmp(d->kind, c->kind, c->n_kind) == 0 &&
					 fits_id(db, d, &ids[i]);
		ok &= found;
	}
	return ok;
}

static int add_fitting(const struct hpc_db *db, const conditions *cs, bool *wanted, struct err *err)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < db->profiles.nProfiles; i++) {
		int rc = fits(db, cs, i, err);

		if (rc < 0)
			return rc;
		wanted[i] |= rc;
		n += (uint32_t)rc;
	}
	return n ? 0 : -ENOENT;
}

int hpc_db_find_threads(const struct hpc_db *db, const opt_list *list, profile_ids *ret,
			struct err *err)
{
	bool *wanted = xcalloc((size_t)db->profiles.nProfiles + 1, sizeof(*wanted));
	conditions cs = {0};
	int rc = 0;

	vec_each (text, list) {
		cs.n = 0;
		rc = parse_conditions(*text, &cs, err);
		if (rc >= 0)
			rc = check_kinds(db, &cs, err);
		if (rc >= 0 && err)
			err->msg[0] = '\0';
		if (rc >= 0)
			rc = add_fitting(db, &cs, wanted, err);
		if (rc == -ENOENT && err && !err->msg[0])
			err_set(err, rc, "--thread %s: no such profile; there are %" PRIu32, *text,
				db->profiles.nProfiles ? db->profiles.nProfiles - 1 : 0);
		if (rc < 0)
			break;
	}
	for (uint32_t i = 1; rc >= 0 && i < db->profiles.nProfiles; i++)
		if (wanted[i])
			vec_push(ret, i);
	vec_release(&cs);
	free(wanted);
	return rc;
}

/* --- metrics --- */

#define MOST_YAML (64u << 20) /* bytes of a default.yaml */

/* Notes in SHOWN which metric F is a statistic of, if it is one. */
static void note_input(const struct hpc_db *db, const struct hpc_metric_tree *t,
		       const struct hpc_formula *f, bool *shown)
{
	const struct hpc_metric *m;
	const struct hpc_summary *s;

	if (f && f->op == HPC_FORMULA_INPUT && f->input < t->n_inputs &&
	    hpc_metric_input_find(&t->inputs[f->input], &db->meta.metrics, &m, &s))
		shown[m - db->meta.metrics.metrics] = true;
}

bool hpc_db_taxonomy(const struct hpc_db *db, struct hpc_metric_tree *ret, char **ret_text,
		     size_t *ret_n)
{
	char *path = db_join(db->path, "metrics/default.yaml"), *text = NULL;
	bool ok = file_load(path, MOST_YAML, &text, ret_n, NULL) >= 0 &&
		  hpc_metric_tree_parse(ret, text, *ret_n, path, NULL) >= 0;

	free(path);
	*ret_text = ok ? text : NULL;
	if (!ok)
		free(text);
	return ok;
}

bool *hpc_db_hidden_metrics(const struct hpc_db *db)
{
	uint32_t n_metrics = db->meta.metrics.n_metrics;
	bool *hidden, *shown;
	struct hpc_metric_tree t;
	char *text;
	size_t n;

	if (!hpc_db_taxonomy(db, &t, &text, &n))
		return NULL;
	hidden = xcalloc((size_t)n_metrics + 1, sizeof(*hidden));
	shown = xcalloc((size_t)n_metrics + 1, sizeof(*shown));
	for (uint32_t i = 0; i < t.n_nodes; i++)
		for (uint32_t k = 0; k < t.nodes[i].n_variants; k++)
			note_input(db, &t, t.nodes[i].variants[k].inclusive_standard,
				   t.nodes[i].visible ? shown : hidden);
	for (uint32_t i = 0; i < n_metrics; i++)
		hidden[i] = hidden[i] && !shown[i];
	free(shown);
	hpc_metric_tree_release(&t);
	free(text);
	return hidden;
}

/* --- names --- */

const char *hpc_db_function_name(const struct hpc_function *f, struct arena *a, bool *ret_nameless)
{
	char text[40];

	*ret_nameless = !f || !*f->name;
	if (!*ret_nameless)
		return f->name;
	if (!f || f->module == HPC_NONE)
		return "[unknown]";
	snprintf(text, sizeof(text), "sub_%" PRIx64, f->offset);
	return arena_strdup(a, text);
}
