/* SPDX-License-Identifier: BSD-2-Clause */
/* See load.h.
 *
 * Numbers come first, with the ids of what they are of; then the dictionaries are asked for these
 * ids.  So the rows that pick.c chose are read once. */
#include "fleet/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fleet/load_impl.h"
#include "fleet/server.h"
#include "model/cgroup_parts.h"

#define NO_IMAGE   "[truncated: not in the fleet's database]"
#define NO_CALLERS "[callers were not asked for]"

/* Ids in one statement: below 18.16's 256 KiB for the text of one.  And ids that are listed at all:
 * more are cheaper found by the server. */
#define MOST_IDS    5000
#define MOST_LISTED (4 * MOST_IDS)

/* Contexts in a list in many statements, twice in some.  18.16 takes longer for a list of 11,000
 * than for finding them anew. */
#define MOST_FOLDED (MOST_IDS / 2)

/* Hosts times days in an answer, so that it has a bound. */
#define MOST_HOST_DAYS 10000

#define MOST_CONTAINERS 1000 /* in one statement, of 128 digits each */

/* --- what is asked --- */

typedef VEC(uint64_t) id_list;

/* Asks question Q with condition WHERE. */
static int ask_fleet(struct fleet_loader *l, enum fleet_question_id q, const char *where,
		     struct err *err)
{
	const struct fleet_question *f = &fleet_questions[q];
	_mem_ char *sql = xasprintf("%s%s%s", f->select, where, f->end);

	return fleet_ask_once(l->sel->answers, l->s, sql, f->cols, f->n_cols, f->take, l, err);
}

/* Appends BEGIN, the N IDS and ")"; nothing where there are none. */
static void add_list(struct str *sql, const char *begin, const uint64_t *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_addf(sql, "%s%" PRIu64, i ? "," : begin, ids[i]);
	str_add(sql, n ? ")" : "");
}

/* Asks Q, whose statement ends with a column of ids, for IDS. */
static int ask_listed(struct fleet_loader *l, enum fleet_question_id q, const id_list *ids,
		      struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < ids->n && rc >= 0; i += MOST_IDS) {
		_str_ struct str where = {0};

		add_list(&where, " IN (", ids->v + i,
			 ids->n - i < MOST_IDS ? ids->n - i : MOST_IDS);
		rc = ask_fleet(l, q, str_get(&where), err);
	}
	return rc;
}

/* Asks Q for the ids in COLUMN of TABLE's rows ROWS. */
static int ask_found(struct fleet_loader *l, enum fleet_question_id q, const char *column,
		     const char *table, const struct str *rows, struct err *err)
{
	_mem_ char *where = xasprintf(" IN (SELECT %s FROM %s WHERE %s%s)", column, table,
				      str_get(rows), str_get(&l->owners));

	return ask_fleet(l, q, where, err);
}

static void drop_known(id_list *ids, const struct fleet_ids *known)
{
	size_t n = 0;

	vec_each (id, ids)
		if (fleet_ids_find(known, *id) == FLEET_NO_NUMBER)
			ids->v[n++] = *id;
	ids->n = n;
}

/* Asks Q for IDS, which are in COLUMN, less those that are KNOWN: few by a list; many by the rows
 * that have them, those of days first. */
static int ask_ids(struct fleet_loader *l, enum fleet_question_id q, const char *column,
		   const struct fleet_ids *known, id_list *ids, struct err *err)
{
	int rc = 0;

	drop_known(ids, known);
	if (ids->n > MOST_LISTED && l->pick.rollups.n) {
		rc = ask_found(l, q, column, "daily", &l->pick.daily, err);
		drop_known(ids, known);
	}
	if (rc >= 0 && ids->n > MOST_LISTED && l->pick.has_rest)
		return ask_found(l, q, column, "counts", &l->pick.rest, err);
	return rc < 0 ? rc : ask_listed(l, q, ids, err);
}

static void list_id(struct fleet_ids *seen, uint64_t id, id_list *ret)
{
	if (id && fleet_ids_add(seen, id, 0))
		vec_push(ret, id);
}

/* Ids of one column of what was counted, each once. */
static void list_ids(const struct fleet_loader *l, bool owners, id_list *ret)
{
	struct fleet_ids seen = {0};

	vec_each (c, &l->counts)
		list_id(&seen, owners ? c->owner : c->ctx, ret);
	vec_each (r, &l->rows)
		list_id(&seen, owners ? r->key.owner : r->key.ctx, ret);
	fleet_ids_release(&seen);
}

static int load_owners(struct fleet_loader *l, id_list *ids, struct err *err)
{
	return ask_ids(l, ASK_OWNERS, "owner", &l->owner_ids, ids, err);
}

/* What is known of the containers that owners ran in. */
static int load_containers(struct fleet_loader *l, struct err *err)
{
	struct fleet_ids seen = {0};
	_str_ struct str list = {0};
	unsigned n_listed = 0;
	int rc = 0;

	for (size_t i = 0; i <= l->p->owners.n && rc >= 0; i++) {
		size_t n = 0;
		const char *id = i < l->p->owners.n
					 ? cgroup_container_id(
						   profile_str(l->p, l->p->owners.v[i].cgroup), &n)
					 : NULL;

		if (id && fleet_ids_add(&seen, profile_intern_strn(l->p, id, n), 0)) {
			str_add(&list, n_listed++ ? "," : " IN (");
			fleet_sql_text(&list, id, n);
		}
		if (n_listed == MOST_CONTAINERS || (n_listed && i == l->p->owners.n)) {
			str_add(&list, ")");
			rc = ask_fleet(l, ASK_CONTAINERS, str_get(&list), err);
			str_reset(&list);
			n_listed = 0;
		}
	}
	fleet_ids_release(&seen);
	return rc;
}

static int load_contexts(struct fleet_loader *l, struct err *err)
{
	_vec_ id_list ids = {0};

	if (l->folded.n && !l->has_folded)
		return 0;
	if (l->folded.n) {
		_mem_ char *where = xasprintf(" IN (%s)", str_get(&l->folded));

		return ask_fleet(l, ASK_CONTEXTS, where, err);
	}
	list_ids(l, false, &ids);
	return ask_ids(l, ASK_CONTEXTS, "ctx", &l->ctx_ids, &ids, err);
}

/* Whether rows are of images, as a profile that has contexts where they decide something. */
static bool is_by_image(const struct fleet_loader *l)
{
	return l->folded.n && !l->sel->procedures;
}

/* Whether names of places in the I-th image are wanted: those of images that contexts have.  Where
 * rows are of images most names decide nothing. */
static bool wants_names(const struct fleet_loader *l, size_t i)
{
	const uint32_t image = l->image_ids.numbers.v[i];

	if (is_by_image(l) && fleet_ids_find(&l->named, l->image_ids.ids.v[i]) != FLEET_NO_NUMBER)
		return true;
	return image < l->used_images.n && l->used_images.v[image] &&
	       (!is_by_image(l) || l->p->images.v[image].kind == IMAGE_SCRIPT);
}

static int load_places(struct fleet_loader *l, struct err *err)
{
	_vec_ id_list ids = {0};
	int rc = 0;

	for (size_t i = 0; i < l->image_ids.ids.n; i++)
		if (wants_names(l, i))
			vec_push(&ids, l->image_ids.ids.v[i]);
	/* So that nobody looks for other names of the rest. */
	if (is_by_image(l))
		rc = ask_fleet(l, ASK_KNOWN, "", err);
	return rc < 0 ? rc : ask_listed(l, ASK_PLACES, &ids, err);
}

/* Names come before samples are placed: they say what is one procedure. */
static int settle_procedures(struct fleet_loader *l, struct err *err)
{
	int rc;

	vec_each (r, &l->rows) {
		const uint32_t image = fleet_ids_find(&l->image_ids, r->key.ctx);

		if (image != FLEET_NO_NUMBER)
			*vec_at(&l->used_images, image) = 1;
	}
	rc = load_places(l, err);
	fleet_take_names(l);
	l->has_names = true;
	fleet_rows_settle(l);
	return rc;
}

/* Groups by column NAME too, unless it has nothing but *ONLY: each key of a group costs. */
static void add_key(struct str *columns, struct str *keys, const char *name, const char *as,
		    const uint64_t *only)
{
	if (only)
		str_addf(columns, "toUInt64(%" PRIu64 ") AS %s, ", *only, as);
	else {
		str_addf(columns, "%s AS %s, ", name, as);
		str_addf(keys, ", %s", as);
	}
}

/* Columns that all sums have, from c2 on, and the keys of their groups behind c0 and c1. */
static void add_keys(struct fleet_loader *l, struct str *columns, struct str *keys)
{
	static const uint64_t none = 0;

	add_key(columns, keys, "vector", "c2", l->vector_ids.ids.n ? NULL : &none);
	add_key(columns, keys, "event_id", "c3",
		l->event_ids.ids.n == 1 ? &l->event_ids.ids.v[0] : NULL);
}

static void add_columns(struct fleet_loader *l, struct str *columns, struct str *keys,
			const char *count, const char *total)
{
	add_keys(l, columns, keys);
	str_addf(columns, "toUInt64(sum(%s)) AS c4, toUInt64(sum(%s)) AS c5, %s AS c6, ", count,
		 total, l->sel->by_host ? FLEET_HOST_HASH : "toUInt64(0)");
	str_add(keys, l->sel->by_host ? ", c6" : "");
}

/* Owners, as an expression of a row's. */
static void add_owner(struct fleet_loader *l, struct str *sql)
{
	if (l->by_idle)
		str_addf(sql, FLEET_IDLE_OWNER, (unsigned)OWNER_IDLE);
	else
		str_add(sql, "owner");
}

/* The svma that tells a row's leaf from others, as an expression; to be freed.  An idle task's
 * procedure says whether it idles. */
static char *leaf_svma(struct fleet_loader *l, const char *svma)
{
	if (l->sel->procedures)
		return xstrdup(svma);
	return xasprintf("if(" FLEET_IDLE_OWNER " = 0, toUInt64(0), %s)", (unsigned)OWNER_IDLE,
			 svma);
}

/* Columns c0 and c1 of rows with contexts; *RET_SVMA is c7, to be freed, or NULL for none. */
static void add_places(struct fleet_loader *l, struct str *sql, char **ret_svma)
{
	const char *folded = str_get(&l->folded);

	*ret_svma = NULL;
	add_owner(l, sql);
	if (*folded)
		str_addf(sql, " AS c0, if(ctx IN (%s), ctx, image) AS c1", folded);
	else
		str_addf(sql, " AS c0, %s AS c1", l->sel->no_code ? "image" : "ctx");
	if (*folded) {
		_mem_ char *svma = leaf_svma(l, "svma");

		*ret_svma = xasprintf("if(ctx IN (%s), toUInt64(0), %s)", folded, svma);
	}
}

/* Sums of TABLE's rows ROWS; COUNT and TOTAL are expressions of a row's. */
static int load_counts(struct fleet_loader *l, const char *table, const struct str *rows,
		       const char *count, const char *total, struct err *err)
{
	static const uint64_t none = 0;
	const struct fleet_question *q = &fleet_questions[ASK_COUNTS];
	_str_ struct str sql = {0}, keys = {0};
	_mem_ char *svma = NULL;

	str_add(&sql, "SELECT ");
	add_places(l, &sql, &svma);
	str_add(&sql, ", ");
	add_columns(l, &sql, &keys, count, total);
	add_key(&sql, &keys, svma, "c7", svma ? NULL : &none);
	sql.n -= strlen(", ");
	str_addf(&sql, " FROM %s WHERE %s%s GROUP BY c0, c1%s", table, str_get(rows),
		 str_get(&l->owners), str_get(&keys));
	return fleet_ask(l->s, str_get(&sql), q->cols, q->n_cols, q->take, l, err);
}

/* Sums of hosts, which TABLE's rows ROWS have in arrays.  FIRST are columns c0 and c1; SVMA is c7,
 * or NULL. */
static int load_hosts_sums(struct fleet_loader *l, const char *table, const char *rows,
			   const char *first, const char *svma, struct err *err)
{
	static const uint64_t none = 0;
	const struct fleet_question *q = &fleet_questions[ASK_HOSTS];
	_str_ struct str sql = {0}, keys = {0};

	str_addf(&sql,
		 "SELECT c0, c1, c2, c3, tupleElement(m, 2) AS c4, tupleElement(m, 3) AS c5, "
		 "tupleElement(m, 1) AS c6, c7 FROM (SELECT %s, ",
		 first);
	add_keys(l, &sql, &keys);
	add_key(&sql, &keys, svma, "c7", svma ? NULL : &none);
	str_addf(&sql, "sumMap(hosts, ns, totals) AS m FROM %s WHERE %s GROUP BY c0, c1%s)", table,
		 rows, str_get(&keys));
	return fleet_ask(l->s, str_get(&sql), q->cols, q->n_cols, q->take, l, err);
}

/* Sums of TABLE's rows ROWS that have the same hosts, to be merged here: the engine adds up arrays
 * of equal hosts, as most days of a row have, in a tenth of the time of its sumMap.  FOLDED, unless
 * it is NULL: of these contexts, with their leaf's image as c8. */
static int load_hosts_rows(struct fleet_loader *l, const char *table, const char *rows,
			   const char *folded, struct err *err)
{
	const struct fleet_question *q = &fleet_questions[folded ? ASK_FOLDED_HOSTS : ASK_HOSTS];
	_mem_ char *svma = leaf_svma(l, "svma");
	_str_ struct str sql = {0}, keys = {0};

	str_add(&sql, "SELECT ");
	if (folded)
		add_owner(l, &sql);
	str_addf(&sql, "%s AS c0, %s AS c1, ", folded ? "" : "owner", folded ? "ctx" : "image");
	add_keys(l, &sql, &keys);
	str_addf(&sql,
		 "sumForEach(ns) AS c4, sumForEach(totals) AS c5, hosts AS c6, %s AS c7%s FROM %s ",
		 svma, folded ? ", any(image) AS c8" : "", table);
	if (folded) /* one column decides of the others */
		str_addf(&sql, "PREWHERE ctx IN (%s) ", folded);
	str_addf(&sql, "WHERE %s GROUP BY c0, c1, c6, c7%s", rows, str_get(&keys));
	return fleet_ask(l->s, str_get(&sql), q->cols, q->n_cols, q->take, l, err);
}

/* Sums of days in TABLE, of some days at a time: so an answer has a bound.  FOLDED: see
 * load_hosts_rows. */
static int load_days(struct fleet_loader *l, const char *table, const char *folded, struct err *err)
{
	const size_t n_hosts = l->pick.hosts.n ? l->pick.hosts.n : 1;
	const size_t step = n_hosts < MOST_HOST_DAYS ? MOST_HOST_DAYS / n_hosts : 1;
	int rc = 0;

	for (size_t i = 0; i < l->pick.rollups.n && rc >= 0; i += step) {
		_str_ struct str rows = {0};

		for (size_t j = i; j < l->pick.rollups.n && j < i + step; j++)
			str_addf(&rows, "%s%" PRIu64, j > i ? ", " : "rollup_id IN (",
				 l->pick.rollups.v[j].id);
		str_add(&rows, ")");
		rc = load_hosts_rows(l, table, str_get(&rows), folded, err);
	}
	return rc;
}

/* Takes folded contexts in hours H from their procedures.  Contexts have no sums by hour, so these
 * are read from values. */
static int load_folded_hours(struct fleet_loader *l, const struct fleet_hours *h, struct err *err)
{
	const struct fleet_question *q = &fleet_questions[ASK_FOLDED];
	_mem_ char *svma = leaf_svma(l, "svma");
	_str_ struct str sql = {0}, keys = {0};

	str_add(&sql, "SELECT ");
	add_owner(l, &sql);
	str_add(&sql, " AS c0, ctx AS c1, ");
	add_columns(l, &sql, &keys, "n", "total");
	add_key(&sql, &keys, svma, "c7", NULL);
	str_addf(&sql, "image AS c8 FROM counts WHERE %s AND ctx IN (%s) GROUP BY c0, c1, c8%s",
		 str_get(&h->counts), str_get(&l->folded), str_get(&keys));
	return fleet_ask(l->s, str_get(&sql), q->cols, q->n_cols, q->take, l, err);
}

static int load_hours(struct fleet_loader *l, const struct fleet_hours *h, bool taken,
		      struct err *err)
{
	int rc = 0;

	l->is_taken = taken;
	for (size_t i = 0; i < h->cells.n && rc >= 0; i++) {
		_mem_ char *rows = xasprintf("rollup_id = %" PRIu64 " AND hour = %" PRIu64,
					     h->cells.v[i].rollup, h->cells.v[i].hour);

		rc = load_hosts_rows(l, "hourly_procedures", rows, NULL, err);
	}
	if (rc >= 0 && h->cells.n && l->has_folded)
		rc = load_folded_hours(l, h, err);
	l->is_taken = false;
	return rc;
}

/* Sums of days and hours by procedure, or image. */
static int load_idle(struct fleet_loader *l, struct err *err)
{
	int rc = load_days(l, "daily_procedures", NULL, err);

	if (rc >= 0 && l->has_folded) /* they are in those of procedures */
		rc = load_days(l, "daily_hosts", str_get(&l->folded), err);
	if (rc >= 0)
		rc = load_hours(l, &l->pick.added, false, err);
	return rc < 0 ? rc : load_hours(l, &l->pick.taken, true, err);
}

static int load_rollups(struct fleet_loader *l, struct err *err)
{
	_str_ struct str first = {0};
	_mem_ char *rows = NULL, *svma = NULL;

	if (l->by_idle)
		return load_idle(l, err);
	if (!l->sel->by_host)
		return load_counts(l, "daily", &l->pick.daily, "n", "total", err);
	add_places(l, &first, &svma);
	rows = xasprintf("%s%s", str_get(&l->pick.daily), str_get(&l->owners));
	return load_hosts_sums(l, "daily_hosts", rows, str_get(&first), svma, err);
}

/* What rollups have too much is taken away: sums are modulo 2^64. */
static int load_rest(struct fleet_loader *l, struct err *err)
{
	_mem_ char *count = NULL, *total = NULL;

	if (!l->pick.rolled.n)
		return load_counts(l, "counts", &l->pick.rest, "n", "total", err);
	count = xasprintf("if(batch IN (%s), toInt64(n), -toInt64(n))", str_get(&l->pick.wanted));
	total = xasprintf("if(batch IN (%s), toInt64(total), -toInt64(total))",
			  str_get(&l->pick.wanted));
	return load_counts(l, "counts", &l->pick.rest, count, total, err);
}

/* --- whose --- */

static const struct native_col id_cols[] = {{"c0", "UInt64"}};

static int take_id(void *ctx, const struct native_value *v, struct err *err)
{
	id_list *ids = ctx;

	(void)err;
	vec_push(ids, v[0].u);
	return 0;
}

static int find_owners(struct fleet_loader *l, const char *table, const struct str *rows,
		       id_list *ret, struct err *err)
{
	_mem_ char *sql =
		xasprintf("SELECT DISTINCT owner AS c0 FROM %s WHERE %s", table, str_get(rows));

	return fleet_ask(l->s, sql, id_cols, 1, take_id, ret, err);
}

/* Where only some owners are wanted, makes a condition of them. */
static int choose_owners(struct fleet_loader *l, struct err *err)
{
	_vec_ id_list ids = {0};
	_mem_ bool *wanted = NULL;
	size_t n = 0;
	int rc = 0;

	if (!l->sel->want_owners)
		return 0;
	if (l->pick.rollups.n)
		rc = find_owners(l, "daily", &l->pick.daily, &ids, err);
	if (rc >= 0 && l->pick.has_rest)
		rc = find_owners(l, "counts", &l->pick.rest, &ids, err);
	if (rc >= 0)
		rc = load_owners(l, &ids, err);
	if (rc >= 0)
		rc = load_containers(l, err);
	if (rc >= 0)
		rc = l->sel->want_owners(l->sel->want_owners_ctx, l->p, &wanted, err);
	if (rc < 0 || !wanted)
		return rc;
	str_add(&l->owners, " AND owner IN (");
	for (size_t i = 0; i < l->owner_ids.ids.n; i++)
		if (wanted[l->owner_ids.numbers.v[i]])
			str_addf(&l->owners, "%s%" PRIu64, n++ ? "," : "", l->owner_ids.ids.v[i]);
	str_add(&l->owners, ")");
	/* Too many for a statement, or none: the others are left out later. */
	if (!n || n > MOST_IDS)
		str_reset(&l->owners);
	return 0;
}

/* --- */

static int list_folded(struct fleet_loader *l, struct err *err)
{
	_vec_ id_list ids = {0};
	int rc = fleet_ask_once(l->sel->answers, l->s, str_get(&l->folded), id_cols, 1, take_id,
				&ids, err);

	l->has_folded = ids.n;
	if (rc < 0 || ids.n > MOST_FOLDED)
		return rc;
	str_reset(&l->folded);
	str_add(&l->folded, ids.n ? "" : "0"); /* no context's id */
	vec_each (id, &ids)
		str_addf(&l->folded, "%s%" PRIu64, l->folded.n ? "," : "", *id);
	return rc;
}

static int take_named(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_loader *l = ctx;

	(void)err;
	fleet_ids_add(&l->named, v[0].u, 0);
	return 0;
}

/* Contexts whose samples may be another image's than their place's: a list if they are few, for a
 * server finds them anew for each statement. */
static int choose_folded(struct fleet_loader *l, struct err *err)
{
	_str_ struct str named = {0};
	int rc;

	if (!l->sel->folded)
		return 0;
	l->no_callers = profile_mark_ctx(l->p, NO_CALLERS);
	str_add(&named, "SELECT DISTINCT image AS c0 FROM places WHERE match(name, ");
	fleet_sql_text(&named, l->sel->folded, strlen(l->sel->folded));
	str_add(&named, ")");
	rc = fleet_ask_once(l->sel->answers, l->s, str_get(&named), id_cols, 1, take_named, l, err);
	if (rc < 0)
		return rc;
	str_addf(&l->folded,
		 "SELECT DISTINCT id AS c0 FROM contexts ARRAY JOIN images AS i WHERE i IN (SELECT "
		 "id FROM images WHERE kind = %u)",
		 (unsigned)IMAGE_SCRIPT);
	if (l->named.ids.n > MOST_FOLDED)
		str_addf(&l->folded, " OR i IN (%s)", str_get(&named));
	else
		add_list(&l->folded, " OR i IN (", l->named.ids.v, l->named.ids.n);
	return list_folded(l, err);
}

/* --- hosts --- */

static const struct native_col hash_cols[] = {{"c0", "String"}, {"c1", "UInt64"}};

static int take_hash(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_loader *l = ctx;
	const string_id host = profile_intern_strn(l->p, v[0].text, v[0].n);

	if (!fleet_ids_add(&l->host_ids, v[1].u, host))
		return err_set(err, -EBADMSG, "two hosts have one hash; one is %.*s",
			       (int)(v[0].n < 64 ? v[0].n : 64), v[0].text);
	return 0;
}

/* After the sums, which may be of a host that is new. */
static int load_hosts(struct fleet_loader *l, struct err *err)
{
	if (!l->sel->by_host)
		return 0;
	return fleet_ask(l->s,
			 "SELECT host AS c0, " FLEET_HOST_HASH " AS c1 FROM batches GROUP BY host "
			 "ORDER BY host",
			 hash_cols, n_elems(hash_cols), take_hash, l, err);
}

static int load_all(struct fleet_loader *l, struct err *err)
{
	_vec_ id_list owners = {0};
	const char *rows = str_get(&l->pick.rows);
	int rc = ask_fleet(l, ASK_IMAGES, "", err);

	l->unknown = profile_mark_ctx(l->p, NO_IMAGE);
	if (rc >= 0)
		rc = choose_folded(l, err);
	if (rc >= 0)
		rc = ask_fleet(l, ASK_EVENTS, rows, err);
	if (rc >= 0)
		rc = ask_fleet(l, ASK_VECTORS, "", err);
	if (rc >= 0)
		rc = ask_fleet(l, ASK_LOSSES, rows, err);
	if (rc >= 0)
		rc = choose_owners(l, err);
	if (rc >= 0 && l->pick.rolled.n)
		rc = load_rollups(l, err);
	if (rc >= 0 && l->pick.has_rest)
		rc = load_rest(l, err);
	if (rc >= 0)
		rc = load_hosts(l, err);
	fleet_counts_drop(l);
	list_ids(l, true, &owners);
	if (rc >= 0)
		rc = load_owners(l, &owners, err);
	if (rc >= 0)
		rc = load_containers(l, err);
	if (rc >= 0 && !l->sel->no_code)
		rc = load_contexts(l, err);
	if (rc >= 0 && l->folded.n && l->sel->procedures)
		rc = settle_procedures(l, err);
	fleet_rows_count(l);
	if (rc >= 0)
		rc = fleet_add_counts(l, err);
	return rc < 0 || l->sel->no_code || l->has_names ? rc : load_places(l, err);
}

static int note_host(void *ctx, const struct native_value *v, struct err *err)
{
	const struct fleet_loader *l = ctx;
	_mem_ char *host = xstrndup(v[0].text, v[0].n);

	(void)err;
	l->sel->note(l->sel->note_ctx, "", host);
	return 0;
}

static const struct native_col host_cols[] = {{"c0", "String"}, {"c1", "UInt64"}};

/* Tells of the hosts that samples are of: fewer than there are at other times. */
static int note_hosts(struct fleet_loader *l, struct err *err)
{
	_str_ struct str sql = {0};

	str_addf(&sql,
		 "SELECT host AS c0, max(end_ns) AS c1 FROM batches WHERE %s GROUP BY host "
		 "HAVING max(batch) > 0 ORDER BY host",
		 str_get(&l->pick.batches));
	return fleet_ask(l->s, str_get(&sql), host_cols, n_elems(host_cols), note_host, l, err);
}

static void loader_release(struct fleet_loader *l)
{
	fleet_pick_release(&l->pick);
	vec_release(&l->names);
	vec_release(&l->counts);
	index_release(&l->counted);
	fleet_rows_release(l);
	vec_release(&l->used_images);
	fleet_ids_release(&l->named);
	fleet_ids_release(&l->known);
	str_release(&l->owners);
	str_release(&l->folded);
	fleet_ids_release(&l->image_ids);
	fleet_ids_release(&l->owner_ids);
	fleet_ids_release(&l->host_ids);
	fleet_ids_release(&l->event_ids);
	fleet_ids_release(&l->vector_ids);
	fleet_ids_release(&l->ctx_ids);
	fleet_server_close(l->s);
}

int fleet_load(const char *url, const struct fleet_selection *sel, struct profile *p,
	       stacks_symbol_list *ret, struct err *err)
{
	struct fleet_loader l = {
		.sel = sel,
		.p = p,
		.symbols = ret,
		.by_idle = sel->folded && !sel->want_owners,
		.by_row = sel->folded || sel->by_host,
	};
	int rc = fleet_server_open(&l.s, url, NULL, &(struct fleet_login){0}, err);

	if (rc < 0)
		return rc;
	rc = fleet_check_schema(l.s, err);
	if (rc >= 0)
		rc = fleet_pick(&l.pick, l.s, sel, l.by_idle, err);
	p->meta.start_wall_ns = l.pick.start_ns;
	p->meta.end_wall_ns = l.pick.end_ns;
	if (rc >= 0)
		rc = load_all(&l, err);
	if (!l.has_names)
		fleet_take_names(&l);
	if (rc >= 0 && sel->note)
		rc = note_hosts(&l, err);
	loader_release(&l);
	return rc;
}

/* --- what there is --- */

static const struct native_col recording_cols[] = {
	{"c0", "String"}, {"c1", "String"}, {"c2", "UInt64"}, {"c3", "UInt64"}, {"c4", "UInt64"}};

struct fleet_lister {
	void (*fn)(void *ctx, const struct fleet_recording *r);
	void *ctx;
};

static int take_recording(void *ctx, const struct native_value *v, struct err *err)
{
	const struct fleet_lister *to = ctx;
	_mem_ char *host = xstrndup(v[0].text, v[0].n), *epoch = xstrndup(v[1].text, v[1].n);

	(void)err;
	to->fn(to->ctx, &(struct fleet_recording){.host = host,
						  .epoch = epoch,
						  .start_ns = v[2].u,
						  .end_ns = v[3].u,
						  .n_samples = v[4].u});
	return 0;
}

int fleet_list(const char *url, const struct fleet_selection *sel,
	       void (*fn)(void *ctx, const struct fleet_recording *r), void *ctx, struct err *err)
{
	struct fleet_loader l = {.sel = sel};
	struct fleet_lister to = {fn, ctx};
	_str_ struct str sql = {0};
	int rc = fleet_server_open(&l.s, url, NULL, &(struct fleet_login){0}, err);

	if (rc < 0)
		return rc;
	rc = fleet_check_schema(l.s, err);
	if (rc >= 0)
		rc = fleet_pick_hosts(&l.pick, l.s, sel, err);
	str_addf(&sql,
		 "SELECT h AS c0, e AS c1, toUInt64(min(s)) AS c2, toUInt64(max(u)) AS c3, "
		 "toUInt64(sum(n)) AS c4 FROM (SELECT host AS h, epoch AS e, any(start_ns) AS s, "
		 "any(end_ns) AS u, any(samples) AS n FROM batches WHERE %s AND day >= (SELECT "
		 "min(day) FROM events) GROUP BY host, epoch, "
		 "recording, segment HAVING min(batch) > 0) GROUP BY h, e ORDER BY e, h",
		 str_get(&l.pick.batches));
	if (rc >= 0)
		rc = fleet_ask(l.s, str_get(&sql), recording_cols, n_elems(recording_cols),
			       take_recording, &to, err);
	loader_release(&l);
	return rc;
}
