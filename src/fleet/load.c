/* SPDX-License-Identifier: BSD-2-Clause */
/* See load.h.  Dictionaries come first, then sums, whose ids they explain. */
#include "fleet/load.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fleet/ids.h"
#include "fleet/server.h"
#include "model/container.h"
#include "model/script.h"

#define DAY_NS	 (86400ull * 1000000000)
#define NO_IMAGE "[truncated: not in the fleet's database]"

struct fleet_loader {
	struct fleet_server *s;
	const struct fleet_selection *sel;
	struct profile *p;
	stacks_symbol_list *symbols;
	VEC(char *) hosts;
	uint64_t since_ns, until_ns, newest_ns;
	struct str batches;	    /* which batches count: a condition of rows in `batches` */
	struct str rows;	    /* a condition of rows that carry a batch */
	struct fleet_ids image_ids; /* by id: number in the profile */
	struct fleet_ids owner_ids, event_ids, vector_ids, ctx_ids;
	ctx_id unknown; /* of contexts that no dictionary has */
	/* Names, by image. */
	VEC(struct symtab_builder) names;
};

static char *text_of(const struct native_value *v)
{
	return xstrndup(v->text, v->n);
}

static string_id fleet_intern(struct fleet_loader *l, const struct native_value *v)
{
	return profile_intern_strn(l->p, v->text, v->n);
}

static uint32_t find_id(const struct fleet_ids *m, uint64_t id, uint32_t otherwise)
{
	const uint32_t n = fleet_ids_find(m, id);

	return n == FLEET_NO_NUMBER ? otherwise : n;
}

/* --- which batches --- */

static const struct native_col host_cols[] = {{"c0", "String"}, {"c1", "UInt64"}};

static int take_host(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_loader *l = ctx;
	char *host = text_of(&v[0]);

	(void)err;
	if (l->sel->host && fnmatch(l->sel->host, host, 0) != 0) {
		free(host);
		return 0;
	}
	if (v[1].u > l->newest_ns)
		l->newest_ns = v[1].u;
	vec_push(&l->hosts, host);
	return 0;
}

/* Conditions for BATCHES of the hosts and times that are wanted. */
static void format_conditions(struct fleet_loader *l)
{
	struct str *b = &l->batches;

	str_addf(b, "end_ns >= %" PRIu64 " AND start_ns <= %" PRIu64, l->since_ns, l->until_ns);
	if (l->sel->host) {
		str_add(b, " AND host IN (");
		for (size_t i = 0; i < l->hosts.n; i++) {
			str_add(b, i ? ", " : "");
			fleet_sql_text(b, l->hosts.v[i], strlen(l->hosts.v[i]));
		}
		str_add(b, ")");
	}
	if (l->sel->epoch) {
		str_add(b, " AND startsWith(epoch, ");
		fleet_sql_text(b, l->sel->epoch, strlen(l->sel->epoch));
		str_add(b, ")");
	}
}

/* Finds hosts and times, and makes conditions of them. */
static int choose_hosts(struct fleet_loader *l, struct err *err)
{
	int rc = fleet_ask(l->s,
			   "SELECT host AS c0, max(end_ns) AS c1 FROM batches GROUP BY host "
			   "ORDER BY host",
			   host_cols, n_elems(host_cols), take_host, l, err);

	if (rc < 0)
		return rc;
	if (!l->hosts.n && l->sel->host)
		return err_set(err, -ENOENT, "%s: no host is called %s", fleet_server_name(l->s),
			       l->sel->host);
	l->since_ns = l->sel->since_ns;
	l->until_ns = l->sel->until_ns ? l->sel->until_ns : UINT64_MAX;
	if (l->sel->newest_day && l->newest_ns > DAY_NS)
		l->since_ns = l->newest_ns - DAY_NS;
	format_conditions(l);
	return 0;
}

static const struct native_col span_cols[] = {
	{"c0", "UInt16"}, {"c1", "UInt16"}, {"c2", "UInt64"}, {"c3", "UInt64"}, {"c4", "UInt64"}};

struct fleet_span {
	uint64_t first_day, last_day, start_ns, end_ns, n;
};

static int take_span(void *ctx, const struct native_value *v, struct err *err)
{
	(void)err;
	*(struct fleet_span *)ctx = (struct fleet_span){v[0].u, v[1].u, v[2].u, v[3].u, v[4].u};
	return 0;
}

static int choose_batches(struct fleet_loader *l, struct err *err)
{
	_str_ struct str sql = {0};
	struct fleet_span span = {0};
	int rc = choose_hosts(l, err);

	if (rc < 0)
		return rc;
	str_addf(&sql,
		 "SELECT toUInt16(min(d)) AS c0, toUInt16(max(d)) AS c1, toUInt64(min(s)) AS c2, "
		 "toUInt64(max(e)) AS c3, toUInt64(count()) AS c4 FROM (SELECT any(day) AS d, "
		 "any(start_ns) AS s, any(end_ns) AS e FROM batches WHERE %s "
		 "GROUP BY host, epoch, recording, segment HAVING min(batch) > 0)",
		 str_get(&l->batches));
	rc = fleet_ask(l->s, str_get(&sql), span_cols, n_elems(span_cols), take_span, &span, err);
	if (rc < 0)
		return rc;
	if (!span.n)
		return err_set(err, -ENOENT, "%s: has no samples of these hosts and times",
			       fleet_server_name(l->s));
	l->p->meta.start_wall_ns = span.start_ns;
	l->p->meta.end_wall_ns = span.end_ns;
	str_addf(&l->rows,
		 "day >= toDate(%" PRIu64 ") AND day <= toDate(%" PRIu64 ") AND batch IN (SELECT "
		 "min(batch) FROM batches WHERE %s GROUP BY host, epoch, recording, segment)",
		 span.first_day, span.last_day, str_get(&l->batches));
	return 0;
}

/* --- dictionaries --- */

static const struct native_col image_cols[IMAGE_N] = {
	{"c0", "UInt64"}, {"c1", "UInt8"},  {"c2", "UInt32"}, {"c3", "String"},
	{"c4", "String"}, {"c5", "String"}, {"c6", "UInt64"}, {"c7", "UInt64"},
};

static int take_image(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_loader *l = ctx;
	_mem_ char *build_id = text_of(&v[IMAGE_BUILD_ID]), *digest = text_of(&v[IMAGE_DIGEST]),
		   *path = text_of(&v[IMAGE_PATH]);
	struct image im = {.kind = v[IMAGE_KIND].u < N_IMAGE_KINDS
					   ? (enum image_kind)v[IMAGE_KIND].u
					   : IMAGE_UNKNOWN,
			   .flags = (uint32_t)v[IMAGE_FLAGS].u,
			   .path = path,
			   .text_start = v[IMAGE_TEXT_START].u,
			   .text_bytes = v[IMAGE_TEXT_BYTES].u};

	if (*build_id && build_id_parse(build_id, &im.build_id) < 0)
		return err_set(err, -EBADMSG, "table images: '%.50s' is no build-id", build_id);
	if (str_unhex(digest, im.digest, sizeof(im.digest)) != sizeof(im.digest))
		memset(im.digest, 0, sizeof(im.digest));
	fleet_ids_add(&l->image_ids, v[IMAGE_ID].u, profile_intern_image(l->p, &im));
	return 0;
}

static const struct native_col owner_cols[] = {
	{"c0", "UInt64"}, {"c1", "String"}, {"c2", "String"}, {"c3", "String"}, {"c4", "String"},
	{"c5", "String"}, {"c6", "UInt32"}, {"c7", "UInt32"}, {"c8", "UInt32"}, {"c9", "UInt32"},
};

static int take_owner(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_loader *l = ctx;
	const struct owner o = {
		.exe = fleet_intern(l, &v[1]),
		.comm = fleet_intern(l, &v[2]),
		.cgroup = fleet_intern(l, &v[3]),
		.label = fleet_intern(l, &v[4]),
		.thread_name = fleet_intern(l, &v[5]),
		.uid = (uint32_t)v[6].u,
		.pid = (uint32_t)v[7].u,
		.tid = (uint32_t)v[8].u,
		.flags = (uint32_t)v[9].u,
	};

	(void)err;
	fleet_ids_add(&l->owner_ids, v[0].u, profile_intern_owner(l->p, &o));
	return 0;
}

static const struct native_col container_cols[CONTAINER_N_TEXTS] = {
	{"c0", "String"}, {"c1", "String"}, {"c2", "String"}, {"c3", "String"},
	{"c4", "String"}, {"c5", "String"}, {"c6", "String"},
};

static int take_container(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_loader *l = ctx;
	struct container c;

	(void)err;
	for (size_t i = 0; i < CONTAINER_N_TEXTS; i++)
		c.text[i] = fleet_intern(l, &v[i]);
	profile_add_container(l->p, &c);
	return 0;
}

static const struct native_col event_cols[] = {
	{"c0", "UInt64"}, {"c1", "String"}, {"c2", "String"},	{"c3", "UInt64"},
	{"c4", "UInt64"}, {"c5", "UInt64"}, {"c6", "UInt64"},	{"c7", "UInt64"},
	{"c8", "UInt64"}, {"c9", "UInt64"}, {"c10", "Float64"},
};

static int take_event(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_loader *l = ctx;
	struct event e = {
		.name = fleet_intern(l, &v[1]),
		.unit = fleet_intern(l, &v[2]),
		.period = v[3].u ? v[3].u : 1,
		.freq_hz = v[4].u,
		.flags = (uint32_t)v[5].u,
		.enabled_ns = v[6].u,
		.running_ns = v[7].u,
		.total = v[8].u,
		.n_reached = v[9].u,
	};

	(void)err;
	memcpy(&e.weight_squares, &v[10].u, sizeof(e.weight_squares));
	fleet_ids_add(&l->event_ids, v[0].u, profile_intern_event(l->p, &e));
	return 0;
}

static const struct native_col vector_cols[] = {
	{"c0", "UInt64"}, {"c1", "UInt64"}, {"c2", "UInt64"}, {"c3", "UInt32"}};

static int take_vector(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_loader *l = ctx;
	const struct vector new = {v[1].u, v[2].u, (uint32_t)v[3].u};

	(void)err;
	fleet_ids_add(&l->vector_ids, v[0].u, profile_intern_vector(l->p, &new));
	return 0;
}

static const struct native_col ctx_cols[] = {
	{"c0", "UInt64"}, {"c1", "Array(UInt64)"}, {"c2", "Array(UInt64)"}};

static int take_ctx(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_loader *l = ctx;
	struct rd images = rd_init(v[1].list, v[1].n * 8), svmas = rd_init(v[2].list, v[2].n * 8);
	ctx_id at = 0;

	if (v[1].n != v[2].n)
		return err_set(err, -EBADMSG, "table contexts: %zu images for %zu addresses",
			       v[1].n, v[2].n);
	while (rd_left(&images)) {
		const uint64_t id = rd_le64(&images), svma = rd_le64(&svmas);
		const uint32_t image = fleet_ids_find(&l->image_ids, id);
		const place_id place = image == FLEET_NO_NUMBER
					       ? profile_unknown_place(l->p, svma, 0)
					       : profile_intern_place(l->p, image, svma, 0);

		at = profile_intern_ctx(l->p, at, place);
	}
	fleet_ids_add(&l->ctx_ids, v[0].u, at);
	return 0;
}

/* --- values --- */

static const struct native_col count_cols[] = {
	{"c0", "UInt64"}, {"c1", "UInt64"}, {"c2", "UInt64"}, {"c3", "UInt64"},
	{"c4", "UInt64"}, {"c5", "UInt64"}, {"c6", "String"},
};

/* OWNER as that of the host in V. */
static owner_id owner_of_host(struct fleet_loader *l, owner_id owner, const struct native_value *v)
{
	struct owner o = l->p->owners.v[owner];

	o.host = fleet_intern(l, v);
	return profile_intern_owner(l->p, &o);
}

static int take_count(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_loader *l = ctx;
	struct value new = {
		.owner = find_id(&l->owner_ids, v[0].u, 0),
		.ctx = find_id(&l->ctx_ids, v[1].u, l->unknown),
		.vector = find_id(&l->vector_ids, v[2].u, 0),
		.event = find_id(&l->event_ids, v[3].u, FLEET_NO_NUMBER),
		.count = v[4].u,
		.sum = v[5].u,
	};

	if (new.event == FLEET_NO_NUMBER)
		return err_set(err, -EBADMSG, "table events lacks event %" PRIu64, v[3].u);
	if (l->sel->by_host)
		new.owner = owner_of_host(l, new.owner, &v[6]);
	vec_push(&l->p->values, new);
	return 0;
}

static const struct native_col loss_cols[] = {{"c0", "UInt64"}, {"c1", "String"}, {"c2", "UInt64"}};

static int take_loss(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_loader *l = ctx;
	_mem_ char *name = text_of(&v[1]);
	const uint32_t event = fleet_ids_find(&l->event_ids, v[0].u);

	if (event == FLEET_NO_NUMBER)
		return err_set(err, -EBADMSG, "table events lacks event %" PRIu64, v[0].u);
	profile_add_loss(l->p, name, event, v[2].u);
	return 0;
}

/* --- names --- */

static const struct native_col place_cols[] = {
	{"c0", "UInt64"}, {"c1", "UInt64"}, {"c2", "UInt64"}, {"c3", "UInt64"},
	{"c4", "String"}, {"c5", "UInt32"}, {"c6", "UInt32"}, {"c7", "String"},
};

static int take_place(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_loader *l = ctx;
	const uint32_t image = fleet_ids_find(&l->image_ids, v[0].u);
	_mem_ char *name = text_of(&v[4]);
	const uint64_t start = v[2].u, end = v[3].u;

	(void)err;
	if (image == FLEET_NO_NUMBER || end <= start || v[1].u < start || v[1].u >= end)
		return 0;
	if (l->p->images.v[image].kind == IMAGE_SCRIPT) {
		const struct script s = {
			.place = profile_intern_place(l->p, image, v[1].u, 0),
			.language = fleet_intern(l, &v[7]),
			.name = fleet_intern(l, &v[4]),
			.line = (uint32_t)v[6].u,
		};

		profile_add_script(l->p, &s);
		return 0;
	}
	symtab_builder_add(vec_at(&l->names, image), start, end - start, name, strlen(name),
			   (uint32_t)v[5].u & (PROC_LOCAL | PROC_WEAK | PROC_PLT | PROC_UNNAMED));
	symtab_builder_add_range(vec_at(&l->names, image), start, end);
	return 0;
}

static void take_names(struct fleet_loader *l)
{
	for (size_t i = 0; i < l->names.n; i++) {
		struct stacks_symbols new = {.image = (image_id)i};

		if (l->names.v[i].symbols.n) {
			symtab_builder_finish(&l->names.v[i], &new.symtab);
			vec_push(l->symbols, new);
		}
		symtab_builder_release(&l->names.v[i]);
	}
}

/* --- */

/* Asks for SQL, in which each %R stands for the condition of rows, and %H for the host or a text
 * that is the same for all. */
static int ask_rows(struct fleet_loader *l, const char *sql, const struct native_col *cols,
		    size_t n_cols, native_row_fn *fn, struct err *err)
{
	_str_ struct str text = {0};
	const char *at;

	while ((at = strchr(sql, '%'))) {
		str_addn(&text, sql, (size_t)(at - sql));
		str_add(&text, at[1] == 'R' ? str_get(&l->rows) : l->sel->by_host ? "host" : "''");
		sql = at + 2;
	}
	str_add(&text, sql);
	return fleet_ask(l->s, str_get(&text), cols, n_cols, fn, l, err);
}

static int load_all(struct fleet_loader *l, struct err *err)
{
	static const struct {
		const char *sql;
		const struct native_col *cols;
		size_t n_cols;
		native_row_fn *fn;
	} steps[] = {
		{"SELECT id AS c0, kind AS c1, flags AS c2, build_id AS c3, digest AS c4, path AS "
		 "c5, text_start AS c6, text_bytes AS c7 FROM images ORDER BY id LIMIT 1 BY id",
		 image_cols, n_elems(image_cols), take_image},
		{"SELECT id AS c0, exe AS c1, comm AS c2, cgroup AS c3, label AS c4, thread AS c5, "
		 "uid AS c6, pid AS c7, tid AS c8, flags AS c9 FROM owners WHERE id IN (SELECT "
		 "owner FROM counts WHERE %R) LIMIT 1 BY id",
		 owner_cols, n_elems(owner_cols), take_owner},
		{"SELECT id AS c0, name AS c1, image AS c2, pod AS c3, namespace AS c4, version AS "
		 "c5, tenant AS c6 FROM containers WHERE id IN (SELECT extract(cgroup, "
		 "'[0-9a-f]{64}') FROM owners WHERE id IN (SELECT owner FROM counts WHERE %R)) "
		 "ORDER BY told DESC LIMIT 1 BY id",
		 container_cols, n_elems(container_cols), take_container},
		{"SELECT id AS c0, name AS c1, unit AS c2, max(period) AS c3, freq_hz AS c4, "
		 "max(flags) AS c5, sum(enabled_ns) AS c6, sum(running_ns) AS c7, sum(total) AS "
		 "c8, sum(n_reached) AS c9, sum(squares) AS c10 FROM events WHERE %R GROUP BY id, "
		 "name, unit, freq_hz ORDER BY name, id",
		 event_cols, n_elems(event_cols), take_event},
		{"SELECT id AS c0, known AS c1, value AS c2, counter AS c3 FROM vectors ORDER BY "
		 "id "
		 "LIMIT 1 BY id",
		 vector_cols, n_elems(vector_cols), take_vector},
		{"SELECT id AS c0, images AS c1, svmas AS c2 FROM contexts WHERE id IN (SELECT ctx "
		 "FROM counts WHERE %R) LIMIT 1 BY id",
		 ctx_cols, n_elems(ctx_cols), take_ctx},
		{"SELECT owner AS c0, ctx AS c1, vector AS c2, event_id AS c3, sum(n) AS c4, "
		 "sum(total) AS c5, %H AS c6 FROM counts WHERE %R GROUP BY owner, ctx, vector, "
		 "event_id, c6",
		 count_cols, n_elems(count_cols), take_count},
		{"SELECT event_id AS c0, name AS c1, sum(n) AS c2 FROM losses WHERE %R GROUP BY "
		 "event_id, name ORDER BY name",
		 loss_cols, n_elems(loss_cols), take_loss},
		{"SELECT image AS c0, svma AS c1, start AS c2, end AS c3, name AS c4, flags AS c5, "
		 "line AS c6, language AS c7 FROM places WHERE image IN (SELECT arrayJoin(images) "
		 "FROM contexts WHERE id IN (SELECT ctx FROM counts WHERE %R)) ORDER BY version "
		 "DESC LIMIT 1 BY image, svma",
		 place_cols, n_elems(place_cols), take_place},
	};
	int rc = 0;

	l->unknown = profile_mark_ctx(l->p, NO_IMAGE);
	for (size_t i = 0; i < n_elems(steps) && rc >= 0; i++)
		rc = ask_rows(l, steps[i].sql, steps[i].cols, steps[i].n_cols, steps[i].fn, err);
	return rc;
}

static int note_host(void *ctx, const struct native_value *v, struct err *err)
{
	const struct fleet_loader *l = ctx;
	_mem_ char *host = text_of(&v[0]);

	(void)err;
	l->sel->note(l->sel->note_ctx, "", host);
	return 0;
}

/* Tells of the hosts that samples are of: fewer than there are at other times. */
static int note_hosts(struct fleet_loader *l, struct err *err)
{
	_str_ struct str sql = {0};

	str_addf(&sql,
		 "SELECT host AS c0, max(end_ns) AS c1 FROM batches WHERE %s GROUP BY host "
		 "HAVING max(batch) > 0 ORDER BY host",
		 str_get(&l->batches));
	return fleet_ask(l->s, str_get(&sql), host_cols, n_elems(host_cols), note_host, l, err);
}

static void loader_release(struct fleet_loader *l)
{
	vec_each (h, &l->hosts)
		free(*h);
	vec_release(&l->hosts);
	vec_release(&l->names);
	str_release(&l->batches);
	str_release(&l->rows);
	fleet_ids_release(&l->image_ids);
	fleet_ids_release(&l->owner_ids);
	fleet_ids_release(&l->event_ids);
	fleet_ids_release(&l->vector_ids);
	fleet_ids_release(&l->ctx_ids);
	fleet_server_close(l->s);
}

int fleet_load(const char *url, const struct fleet_selection *sel, struct profile *p,
	       stacks_symbol_list *ret, struct err *err)
{
	struct fleet_loader l = {.sel = sel, .p = p, .symbols = ret};
	int rc = fleet_server_open(&l.s, url, NULL, &(struct fleet_login){0}, err);

	if (rc < 0)
		return rc;
	rc = fleet_check_schema(l.s, err);
	if (rc >= 0)
		rc = choose_batches(&l, err);
	if (rc >= 0)
		rc = load_all(&l, err);
	take_names(&l);
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
	_mem_ char *host = text_of(&v[0]), *epoch = text_of(&v[1]);

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
		rc = choose_hosts(&l, err);
	str_addf(&sql,
		 "SELECT h AS c0, e AS c1, toUInt64(min(s)) AS c2, toUInt64(max(u)) AS c3, "
		 "toUInt64(sum(n)) AS c4 FROM (SELECT host AS h, epoch AS e, any(start_ns) AS s, "
		 "any(end_ns) AS u, any(samples) AS n FROM batches WHERE %s AND day >= (SELECT "
		 "min(day) FROM events) GROUP BY host, epoch, "
		 "recording, segment HAVING min(batch) > 0) GROUP BY h, e ORDER BY e, h",
		 str_get(&l.batches));
	if (rc >= 0)
		rc = fleet_ask(l.s, str_get(&sql), recording_cols, n_elems(recording_cols),
			       take_recording, &to, err);
	loader_release(&l);
	return rc;
}
