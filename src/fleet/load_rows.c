/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of a fleet's tables become a profile; see load.c. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fleet/load_impl.h"
#include "model/container.h"
#include "model/script.h"

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

	if (find_id(&l->ctx_ids, v[0].u, FLEET_NO_NUMBER) != FLEET_NO_NUMBER)
		return 0;
	if (v[1].n != v[2].n)
		return err_set(err, -EBADMSG, "table contexts: %zu images for %zu addresses",
			       v[1].n, v[2].n);
	while (rd_left(&images)) {
		const uint64_t id = rd_le64(&images), svma = rd_le64(&svmas);
		const uint32_t image = fleet_ids_find(&l->image_ids, id);
		const place_id place = image == FLEET_NO_NUMBER
					       ? profile_unknown_place(l->p, svma, 0)
					       : profile_intern_place(l->p, image, svma, 0);

		if (image != FLEET_NO_NUMBER)
			*vec_at(&l->used_images, image) = 1;
		at = profile_intern_ctx(l->p, at, place);
	}
	fleet_ids_add(&l->ctx_ids, v[0].u, at);
	return 0;
}

/* --- values --- */

static const struct native_col count_cols[] = {
	{"c0", "UInt64"}, {"c1", "UInt64"}, {"c2", "UInt64"}, {"c3", "UInt64"},
	{"c4", "UInt64"}, {"c5", "UInt64"}, {"c6", "UInt64"}, {"c7", "UInt64"},
};

/* OWNER as that of the host with HASH.  -EBADMSG. */
static int owner_of_host(struct fleet_loader *l, owner_id owner, uint64_t hash, owner_id *ret,
			 struct err *err)
{
	const uint32_t host = fleet_ids_find(&l->host_ids, hash);
	struct owner o = l->p->owners.v[owner];

	if (host == FLEET_NO_NUMBER)
		return err_set(err, -EBADMSG, "table batches lacks host %" PRIu64, hash);
	o.host = host;
	*ret = profile_intern_owner(l->p, &o);
	return 0;
}

static uint64_t hash_count(const struct fleet_count *c)
{
	const uint64_t place = hash_pair(c->ctx, c->svma);

	return hash_pair(place ^ c->event ^ c->vector, c->host ^ c->owner);
}

static bool same_count(const void *list, uint32_t i, const void *key)
{
	const struct fleet_count *x = &((const fleet_count_list *)list)->v[i], *y = key;

	return x->ctx == y->ctx && x->svma == y->svma && x->host == y->host &&
	       x->owner == y->owner && x->event == y->event && x->vector == y->vector;
}

/* Adds C to what is counted alike. */
static void merge_count(struct fleet_loader *l, const struct fleet_count *c)
{
	const uint64_t hash = hash_count(c);
	const uint32_t at = index_find(&l->counted, hash, same_count, &l->counts, c);

	if (at == INDEX_NONE) {
		index_add(&l->counted, hash, (uint32_t)l->counts.n);
		vec_push(&l->counts, *c);
		return;
	}
	l->counts.v[at].n += c->n;
	l->counts.v[at].total += c->total;
}

static bool same_row(const void *owner, uint32_t i, const void *key)
{
	const struct fleet_loader *l = owner;
	const struct fleet_count *x = &l->rows.v[i].key, *y = key;

	return x->ctx == y->ctx && x->svma == y->svma && x->owner == y->owner &&
	       x->event == y->event && x->vector == y->vector;
}

static struct fleet_row *row_of(struct fleet_loader *l, const struct fleet_count *key)
{
	const uint64_t hash = hash_count(key);
	const uint32_t at = index_find(&l->row_index, hash, same_row, l, key);

	if (at != INDEX_NONE)
		return &l->rows.v[at];
	index_add(&l->row_index, hash, (uint32_t)l->rows.n);
	vec_push(&l->rows, (struct fleet_row){.key = *key});
	return &l->rows.v[l->rows.n - 1];
}

static int by_host(const void *a, const void *b)
{
	const struct fleet_host_sum *x = a, *y = b;

	return x->host < y->host ? -1 : x->host > y->host;
}

/* Counts C in its row. */
static void count_in_row(struct fleet_loader *l, const struct fleet_count *c)
{
	struct fleet_count key = *c;
	fleet_host_sums *hosts;
	size_t i;

	key.host = key.n = key.total = 0;
	hosts = &row_of(l, &key)->hosts;
	for (i = hosts->n; i && hosts->v[i - 1].host >= c->host; i--)
		;
	if (i == hosts->n || hosts->v[i].host != c->host) {
		vec_push(hosts, (struct fleet_host_sum){0});
		memmove(&hosts->v[i + 1], &hosts->v[i], (hosts->n - 1 - i) * sizeof(*hosts->v));
		hosts->v[i] = (struct fleet_host_sum){.host = c->host};
	}
	hosts->v[i].n += c->n;
	hosts->v[i].total += c->total;
}

static void count_one(struct fleet_loader *l, const struct fleet_count *c)
{
	if (l->by_row)
		count_in_row(l, c);
	else
		merge_count(l, c);
}

/* Counts C, or takes it away.  IMAGE, unless it is NULL, is that of the leaf of a context: what is
 * of the context is no more of its procedure. */
static void add_count(struct fleet_loader *l, struct fleet_count c, const uint64_t *image)
{
	struct fleet_count away = c;

	if (l->is_taken) {
		c.n = -c.n;
		c.total = -c.total;
	}
	if (image) {
		away.ctx = *image;
		away.n = -c.n;
		away.total = -c.total;
		count_one(l, &away);
		c.svma = 0;
	}
	count_one(l, &c);
}

static int take_count(void *ctx, const struct native_value *v, struct err *err)
{
	(void)err;
	add_count(ctx,
		  (struct fleet_count){v[0].u, v[1].u, v[2].u, v[3].u, v[4].u, v[5].u, v[6].u,
				       v[7].u},
		  NULL);
	return 0;
}

static const struct native_col folded_cols[] = {
	{"c0", "UInt64"}, {"c1", "UInt64"}, {"c2", "UInt64"}, {"c3", "UInt64"}, {"c4", "UInt64"},
	{"c5", "UInt64"}, {"c6", "UInt64"}, {"c7", "UInt64"}, {"c8", "UInt64"},
};

static int take_folded(void *ctx, const struct native_value *v, struct err *err)
{
	(void)err;
	add_count(ctx,
		  (struct fleet_count){v[0].u, v[1].u, v[2].u, v[3].u, v[4].u, v[5].u, v[6].u,
				       v[7].u},
		  &v[8].u);
	return 0;
}

static const struct native_col hosts_cols[] = {
	{"c0", "UInt64"},	 {"c1", "UInt64"},	  {"c2", "UInt64"},
	{"c3", "UInt64"},	 {"c4", "Array(UInt64)"}, {"c5", "Array(UInt64)"},
	{"c6", "Array(UInt64)"}, {"c7", "UInt64"},	  {"c8", "UInt64"},
};

/* Whether all of the hosts NEW are among TO. */
static bool has_hosts(const fleet_host_sums *to, const fleet_host_sums *new)
{
	size_t i = 0;

	vec_each (h, new) {
		while (i < to->n && to->v[i].host < h->host)
			i++;
		if (i == to->n || to->v[i].host != h->host)
			return false;
	}
	return true;
}

static void push_host(fleet_host_sums *to, const struct fleet_host_sum *h)
{
	struct fleet_host_sum *last = to->n ? &to->v[to->n - 1] : NULL;

	if (!last || last->host != h->host) {
		vec_push(to, *h);
		return;
	}
	last->n += h->n;
	last->total += h->total;
}

/* Adds INCOMING, or takes it away, to the hosts of KEY.  Both are by host, so this is a merge: one
 * hash look-up a row, none a host. */
static void merge_hosts(struct fleet_loader *l, const struct fleet_count *key, bool taken)
{
	struct fleet_row *r = row_of(l, key);
	const fleet_host_sums *in = &l->incoming;
	const uint64_t sign = taken ? -1ull : 1;
	const bool has_all = has_hosts(&r->hosts, in);
	fleet_host_sums old = r->hosts;
	size_t i = 0;

	l->room.n = 0;
	vec_each (h, in) {
		const struct fleet_host_sum new = {h->host, h->n * sign, h->total * sign};

		for (; i < old.n && old.v[i].host < h->host; i++)
			if (!has_all)
				push_host(&l->room, &old.v[i]);
		if (has_all) {
			old.v[i].n += new.n;
			old.v[i].total += new.total;
		} else {
			push_host(&l->room, &new);
		}
	}
	if (has_all)
		return;
	for (; i < old.n; i++)
		push_host(&l->room, &old.v[i]);
	r->hosts = l->room;
	l->room = old;
}

/* Counts each host of row V. */
static int count_hosts(struct fleet_loader *l, const struct native_value *v, const uint64_t *image,
		       struct err *err)
{
	struct rd ns = rd_init(v[4].list, v[4].n * 8), totals = rd_init(v[5].list, v[5].n * 8),
		  hosts = rd_init(v[6].list, v[6].n * 8);
	struct fleet_count key = {
		.owner = v[0].u, .ctx = v[1].u, .vector = v[2].u, .event = v[3].u, .svma = v[7].u};
	bool sorted = true;

	if (v[4].n != v[6].n || v[5].n != v[6].n)
		return err_set(err, -EBADMSG, "sums of %zu hosts have %zu and %zu numbers", v[6].n,
			       v[4].n, v[5].n);
	l->incoming.n = 0;
	while (rd_left(&hosts)) {
		const uint64_t told = rd_le64(&hosts), host = l->sel->by_host ? told : 0;
		const uint64_t n = rd_le64(&ns), total = rd_le64(&totals);

		sorted &= !l->incoming.n || l->incoming.v[l->incoming.n - 1].host <= host;
		vec_push(&l->incoming, (struct fleet_host_sum){host, n, total});
	}
	if (!sorted)
		vec_sort(&l->incoming, by_host);
	if (image) { /* what is of the context is no more of its procedure */
		struct fleet_count away = key;

		away.ctx = *image;
		merge_hosts(l, &away, !l->is_taken);
		key.svma = 0;
	}
	merge_hosts(l, &key, l->is_taken);
	return 0;
}

void fleet_rows_count(struct fleet_loader *l)
{
	vec_each (r, &l->rows)
		vec_each (h, &r->hosts) {
			struct fleet_count c = r->key;

			c.host = h->host;
			c.n = h->n;
			c.total = h->total;
			if (c.n || c.total)
				vec_push(&l->counts, c);
		}
	fleet_rows_release(l);
}

void fleet_rows_release(struct fleet_loader *l)
{
	vec_each (r, &l->rows)
		vec_release(&r->hosts);
	vec_release(&l->rows);
	index_release(&l->row_index);
	vec_release(&l->incoming);
	vec_release(&l->room);
}

static int take_hosts(void *ctx, const struct native_value *v, struct err *err)
{
	return count_hosts(ctx, v, NULL, err);
}

static int take_folded_hosts(void *ctx, const struct native_value *v, struct err *err)
{
	return count_hosts(ctx, v, &v[8].u, err);
}

static int compare_counts(const void *a, const void *b)
{
	const struct fleet_count *x = a, *y = b;
	const uint64_t left[] = {x->ctx, x->owner, x->event, x->vector, x->host, x->svma},
		       right[] = {y->ctx, y->owner, y->event, y->vector, y->host, y->svma};

	for (size_t i = 0; i < n_elems(left); i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

void fleet_counts_drop(struct fleet_loader *l)
{
	size_t n = 0;

	vec_each (c, &l->counts)
		if (c->n || c->total)
			l->counts.v[n++] = *c;
	l->counts.n = n;
	index_release(&l->counted);
}

/* Adds up anew what has got other keys. */
static void merge_again(struct fleet_loader *l)
{
	const size_t n = l->counts.n;

	index_release(&l->counted);
	l->counts.n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct fleet_count c = l->counts.v[i]; /* its place may be taken */

		merge_count(l, &c);
	}
	fleet_counts_drop(l);
}

/* Whether X and Y differ in their svma alone. */
static bool is_beside(const struct fleet_count *x, const struct fleet_count *y)
{
	struct fleet_count z = *y;

	z.svma = x->svma;
	return compare_counts(x, &z) == 0;
}

static bool is_too_much(const struct fleet_count *c)
{
	return (int64_t)c->n < 0 || (int64_t)c->total < 0;
}

static void move_count(struct fleet_count *from, struct fleet_count *to)
{
	to->n += from->n;
	to->total += from->total;
	from->n = from->total = 0;
}

static bool has_too_much(const fleet_count_list *l)
{
	vec_each (c, l)
		if (is_too_much(c))
			return true;
	return false;
}

/* Should a procedure have got another start since a sum was made, what is to be taken away lies
 * beside what it is taken from: there it goes to its neighbour, by address. */
static void spread_too_much(fleet_count_list *l)
{
	vec_sort(l, compare_counts);
	for (size_t i = l->n; i-- > 1;)
		if (is_too_much(&l->v[i]) && is_beside(&l->v[i - 1], &l->v[i]))
			move_count(&l->v[i], &l->v[i - 1]);
	for (size_t i = 0; i + 1 < l->n; i++)
		if (is_too_much(&l->v[i]) && is_beside(&l->v[i], &l->v[i + 1]))
			move_count(&l->v[i], &l->v[i + 1]);
}

/* Adds up rows that have got the same key. */
static void merge_rows(struct fleet_loader *l)
{
	_vec_ VEC(struct fleet_row) old = {0};

	vec_each (r, &l->rows)
		vec_push(&old, *r);
	l->rows.n = 0;
	index_release(&l->row_index);
	vec_each (r, &old) {
		vec_release(&l->incoming);
		l->incoming = r->hosts;
		merge_hosts(l, &r->key, false);
	}
}

void fleet_rows_settle(struct fleet_loader *l)
{
	_vec_ VEC(const struct symtab *) tables = {0};

	vec_each (s, l->symbols)
		*vec_at(&tables, s->image) = &s->symtab;
	vec_each (r, &l->rows) {
		const uint32_t im = fleet_ids_find(&l->image_ids, r->key.ctx);
		const struct symtab *st =
			im != FLEET_NO_NUMBER && im < tables.n ? tables.v[im] : NULL;
		const uint32_t i = st ? symtab_find(st, r->key.svma) : PROC_NONE;

		if (i != PROC_NONE)
			r->key.svma = symtab_get(st, i).start;
	}
	merge_rows(l);
	fleet_rows_count(l);
	if (!has_too_much(&l->counts))
		return;
	spread_too_much(&l->counts);
	merge_again(l);
}

/* The context of samples of C. */
static ctx_id ctx_of_count(struct fleet_loader *l, const struct fleet_count *c)
{
	uint32_t image;

	if (!l->sel->no_code && !l->folded.n)
		return find_id(&l->ctx_ids, c->ctx, l->unknown);
	image = fleet_ids_find(&l->image_ids, c->ctx);
	if (image != FLEET_NO_NUMBER && c->svma)
		fleet_ids_add(&l->named, c->ctx, 0);
	return image == FLEET_NO_NUMBER
		       ? find_id(&l->ctx_ids, c->ctx, l->unknown)
		       : profile_intern_ctx(l->p, l->no_callers,
					    profile_intern_place(l->p, image, c->svma, 0));
}

/* Whether X and Y are of the same but for their host: sums of hosts are one behind the other. */
static bool is_same_place(const struct fleet_count *x, const struct fleet_count *y)
{
	return x->ctx == y->ctx && x->svma == y->svma && x->owner == y->owner &&
	       x->event == y->event && x->vector == y->vector;
}

int fleet_add_counts(struct fleet_loader *l, struct err *err)
{
	const struct fleet_count *last = NULL;
	struct value v = {0}; /* of LAST, for all hosts */

	vec_each (c, &l->counts) {
		struct value new;

		if (!last || !is_same_place(last, c))
			v = (struct value){
				.owner = find_id(&l->owner_ids, c->owner, 0),
				.ctx = ctx_of_count(l, c),
				.vector = find_id(&l->vector_ids, c->vector, 0),
				.event = find_id(&l->event_ids, c->event, FLEET_NO_NUMBER),
			};
		last = c;
		new = v;
		new.count = c->n;
		new.sum = c->total;
		if (new.event == FLEET_NO_NUMBER)
			return err_set(err, -EBADMSG, "table events lacks event %" PRIu64,
				       c->event);
		if (l->sel->by_host && owner_of_host(l, new.owner, c->host, &new.owner, err) < 0)
			return -EBADMSG;
		vec_push(&l->p->values, new);
	}
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

static const struct native_col known_cols[] = {{"c0", "UInt64"}};

static int take_known(void *ctx, const struct native_value *v, struct err *err)
{
	struct fleet_loader *l = ctx;
	const uint32_t image = fleet_ids_find(&l->image_ids, v[0].u);

	(void)err;
	if (image == FLEET_NO_NUMBER || l->p->images.v[image].kind == IMAGE_SCRIPT)
		return 0;
	vec_at(&l->names, image);
	fleet_ids_add(&l->known, image, 0);
	return 0;
}

void fleet_take_names(struct fleet_loader *l)
{
	for (size_t i = 0; i < l->names.n; i++) {
		struct stacks_symbols new = {.image = (image_id)i};

		if (l->names.v[i].symbols.n || fleet_ids_find(&l->known, i) != FLEET_NO_NUMBER) {
			symtab_builder_finish(&l->names.v[i], &new.symtab);
			vec_push(l->symbols, new);
		}
		symtab_builder_release(&l->names.v[i]);
	}
}

/* --- what is asked --- */

const struct fleet_question fleet_questions[FLEET_N_QUESTIONS] = {
	[ASK_IMAGES] = {"SELECT id AS c0, kind AS c1, flags AS c2, build_id AS c3, digest AS c4, "
			"path AS c5, text_start AS c6, text_bytes AS c7 FROM images ",
			" ORDER BY id LIMIT 1 BY id", image_cols, n_elems(image_cols), take_image},
	[ASK_OWNERS] = {"SELECT id AS c0, exe AS c1, comm AS c2, cgroup AS c3, label AS c4, thread "
			"AS c5, uid AS c6, pid AS c7, tid AS c8, flags AS c9 FROM owners WHERE id",
			" LIMIT 1 BY id", owner_cols, n_elems(owner_cols), take_owner},
	[ASK_CONTAINERS] = {"SELECT id AS c0, name AS c1, image AS c2, pod AS c3, namespace AS c4, "
			    "version AS c5, tenant AS c6 FROM containers WHERE id",
			    " ORDER BY told DESC LIMIT 1 BY id", container_cols,
			    n_elems(container_cols), take_container},
	[ASK_EVENTS] =
		{"SELECT id AS c0, name AS c1, unit AS c2, max(period) AS c3, freq_hz AS c4, "
		 "max(flags) AS c5, sum(enabled_ns) AS c6, sum(running_ns) AS c7, sum(total) "
		 "AS c8, sum(n_reached) AS c9, sum(squares) AS c10 FROM events WHERE ",
		 " GROUP BY id, name, unit, freq_hz ORDER BY name, id", event_cols,
		 n_elems(event_cols), take_event},
	[ASK_VECTORS] = {"SELECT id AS c0, known AS c1, value AS c2, counter AS c3 FROM vectors ",
			 " ORDER BY id LIMIT 1 BY id", vector_cols, n_elems(vector_cols),
			 take_vector},
	[ASK_CONTEXTS] = {"SELECT id AS c0, images AS c1, svmas AS c2 FROM contexts WHERE id",
			  " LIMIT 1 BY id", ctx_cols, n_elems(ctx_cols), take_ctx},
	[ASK_LOSSES] = {"SELECT event_id AS c0, name AS c1, sum(n) AS c2 FROM losses WHERE ",
			" GROUP BY event_id, name ORDER BY name", loss_cols, n_elems(loss_cols),
			take_loss},
	[ASK_PLACES] = {"SELECT image AS c0, svma AS c1, start AS c2, end AS c3, name AS c4, flags "
			"AS c5, line AS c6, language AS c7 FROM places WHERE image",
			" ORDER BY version DESC LIMIT 1 BY image, svma", place_cols,
			n_elems(place_cols), take_place},
	[ASK_COUNTS] = {NULL, NULL, count_cols, n_elems(count_cols), take_count},
	[ASK_FOLDED] = {NULL, NULL, folded_cols, n_elems(folded_cols), take_folded},
	[ASK_HOSTS] = {NULL, NULL, hosts_cols, n_elems(hosts_cols) - 1, take_hosts},
	[ASK_FOLDED_HOSTS] = {NULL, NULL, hosts_cols, n_elems(hosts_cols), take_folded_hosts},
	[ASK_KNOWN] = {"SELECT DISTINCT image AS c0 FROM places WHERE end > start", "", known_cols,
		       n_elems(known_cols), take_known},
};
