/* SPDX-License-Identifier: BSD-2-Clause */
/* See send.h.
 *
 * Example: 40 samples of "cpu-clock" at prog 0x401035, called from prog 0x401007.
 *
 *     images    7, file, build-id ab.., /usr/bin/prog
 *     places    7, 0x401007, 0x401000, 0x401020, main      7, 0x401035, 0x401030, 0x401060, hot
 *     contexts  9, [7, 7], [0x401007, 0x401035]            outermost first
 *     counts    ..., ctx 9, image 7, svma 0x401035, n 40   the leaf again: `by image` needs no
 * join */
#include "fleet/send.h"

#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "model/container.h"
#include "model/fact.h"
#include "model/script.h"

#define MOST_ROWS  ((size_t)1000000) /* one INSERT stores such a block whole or not at all */
#define MOST_BYTES ((size_t)64 << 20)

/* Ids that are remembered from segment to segment, of some 20 bytes each. */
#define MOST_TOLD ((size_t)100000)

/* After so many places of an image the pages of its kept symbols that were looked at are given
 * back: they are most of a large program's. */
#define PLACES_A_REST 32

/* A server says since how many seconds it runs. */
#define SAME_START_S 1

/* Dictionaries may come in parts. */
#define MOST_DICTIONARY_BYTES ((size_t)2 << 20)

struct fleet_sender {
	struct fleet_server *s;
	const struct profile *p;
	struct fleet_names *names;
	struct fleet_batch *b;
	struct fleet_told *told;
	struct native_block block;
	enum fleet_table_id table;
	uint64_t *events, *images, *owners, *vectors, *ctxs; /* ids by number */
	uint32_t *line_of;				     /* by place: a script's number + 1 */
	/* Of the image that is looked at: */
	bool has_symbols; /* in memory */
	bool is_late;	  /* a place of it may get a name yet */
};

void fleet_told_release(struct fleet_told *t)
{
	for (size_t i = 0; i < FLEET_N_TABLES; i++)
		fleet_id_set_release(&t->ids[i]);
	fleet_ids_release(&t->places);
}

static size_t n_told(const struct fleet_told *t)
{
	size_t n = t->places.ids.n;

	for (size_t i = 0; i < FLEET_N_TABLES; i++)
		n += t->ids[i].n;
	return n;
}

void fleet_told_begin(struct fleet_told *t, uint64_t server_s)
{
	const uint64_t off =
		server_s > t->server_s ? server_s - t->server_s : t->server_s - server_s;

	if (off > SAME_START_S)
		fleet_told_release(t);
	if (off > SAME_START_S)
		t->server_s = server_s;
	t->pass++;
}

static void begin_table(struct fleet_sender *f, enum fleet_table_id t)
{
	native_release(&f->block);
	native_init(&f->block, fleet_tables[t].cols, fleet_tables[t].n_cols);
	f->table = t;
}

static int flush_rows(struct fleet_sender *f, struct err *err)
{
	const int rc = fleet_insert(f->s, f->table, &f->block, err);

	native_reset(&f->block);
	return rc < 0 ? err_prefix(err, rc, "table %s", fleet_tables[f->table].name) : 0;
}

static int end_row(struct fleet_sender *f, struct err *err)
{
	const size_t most = f->table == FLEET_COUNTS ? MOST_BYTES : MOST_DICTIONARY_BYTES;

	native_end_row(&f->block);
	return f->block.n_rows < MOST_ROWS && f->block.n_bytes < most ? 0 : flush_rows(f, err);
}

static bool is_news(struct fleet_sender *f, uint64_t id)
{
	return fleet_id_set_add(&f->told->ids[f->table], id);
}

static void put_number(struct fleet_sender *f, size_t col, uint64_t x)
{
	native_add_u64(&f->block, col, x);
}

static void put_text(struct fleet_sender *f, size_t col, const char *text)
{
	native_add_text(&f->block, col, text);
}

/* --- dictionaries --- */

static int send_images(struct fleet_sender *f, struct err *err)
{
	int rc = 0;

	begin_table(f, FLEET_IMAGES);
	for (image_id i = 0; i < f->p->images.n && rc >= 0; i++) {
		const struct image *im = &f->p->images.v[i];
		char hex[2 * BUILD_ID_MAX + 1], digest[2 * IMAGE_DIGEST_BYTES + 1];

		if (!is_news(f, f->images[i]))
			continue;
		build_id_format(&im->build_id, hex);
		str_hex(im->digest, IMAGE_DIGEST_BYTES, digest);
		put_number(f, IMAGE_ID, f->images[i]);
		put_number(f, IMAGE_KIND, im->kind);
		put_number(f, IMAGE_FLAGS, im->flags);
		put_text(f, IMAGE_BUILD_ID, hex);
		put_text(f, IMAGE_DIGEST, digest);
		put_text(f, IMAGE_PATH, im->path);
		put_number(f, IMAGE_TEXT_START, im->text_start);
		put_number(f, IMAGE_TEXT_BYTES, im->text_bytes);
		rc = end_row(f, err);
	}
	return rc < 0 ? rc : flush_rows(f, err);
}

static char *service_of(const struct profile *p, const struct owner *o)
{
	const struct container *c = profile_container_of(p, o->cgroup);

	return container_service(profile_str(p, o->label),
				 c ? profile_str(p, c->text[CONTAINER_NAME]) : "",
				 profile_str(p, o->cgroup), profile_str(p, o->comm));
}

static int send_owners(struct fleet_sender *f, struct err *err)
{
	const struct profile *p = f->p;
	int rc = 0;

	begin_table(f, FLEET_OWNERS);
	for (owner_id i = 0; i < p->owners.n && rc >= 0; i++) {
		const struct owner *o = &p->owners.v[i];
		_mem_ char *service = service_of(p, o);

		if (!is_news(f, f->owners[i]))
			continue;
		put_number(f, OWNER_ID, f->owners[i]);
		put_text(f, OWNER_SERVICE, service);
		put_text(f, OWNER_EXE, profile_str(p, o->exe));
		put_text(f, OWNER_COMM, profile_str(p, o->comm));
		put_text(f, OWNER_CGROUP, profile_str(p, o->cgroup));
		put_text(f, OWNER_LABEL, profile_str(p, o->label));
		put_text(f, OWNER_THREAD, profile_str(p, o->thread_name));
		put_number(f, OWNER_UID_COL, o->uid);
		put_number(f, OWNER_PID_COL, o->pid);
		put_number(f, OWNER_TID_COL, o->tid);
		put_number(f, OWNER_FLAGS_COL, o->flags);
		rc = end_row(f, err);
	}
	return rc < 0 ? rc : flush_rows(f, err);
}

static int send_containers(struct fleet_sender *f, struct err *err)
{
	const uint64_t told = (uint64_t)time(NULL);
	int rc = 0;

	begin_table(f, FLEET_CONTAINERS);
	vec_each (c, &f->p->containers) {
		if (!container_has_texts(c) || !is_news(f, fleet_container_id(f->p, c)))
			continue;
		for (size_t i = 0; i < CONTAINER_N_TEXTS; i++)
			put_text(f, i, profile_str(f->p, c->text[i]));
		put_number(f, CONTAINER_COL_VERSION, told);
		rc = end_row(f, err);
		if (rc < 0)
			return rc;
	}
	return flush_rows(f, err);
}

/* V without what only its recording has names for: another's numbers mean something else. */
static struct vector common_vector(const struct vector *v)
{
	const uint64_t own = ((1ull << FACT_N_USER_BITS) - 1) << FACT_USER_BIT;
	struct vector ret = *v;

	ret.known &= ~own;
	ret.value &= ~own;
	return ret;
}

static bool is_own_counter(const struct vector *v)
{
	return v->counter >= FACT_USER_COUNTER;
}

static int send_vectors(struct fleet_sender *f, struct err *err)
{
	int rc = 0;

	begin_table(f, FLEET_VECTORS);
	for (vector_id i = 0; i < f->p->vectors.n && rc >= 0; i++) {
		const struct vector common = common_vector(&f->p->vectors.v[i]), *v = &common;

		if (!f->vectors[i] || is_own_counter(v) || !is_news(f, f->vectors[i]))
			continue;
		put_number(f, VECTOR_ID, f->vectors[i]);
		put_number(f, VECTOR_KNOWN, v->known);
		put_number(f, VECTOR_VALUE, v->value);
		put_number(f, VECTOR_COUNTER, v->counter);
		rc = end_row(f, err);
	}
	return rc < 0 ? rc : flush_rows(f, err);
}

/* What a place is called, as far as it is known; *RET_LATE: it may get another name. */
static bool name_place(struct fleet_sender *f, place_id id, struct procedure *ret,
		       const struct script **ret_script, bool *ret_late)
{
	const struct place *pl = &f->p->places.v[id];
	const struct image *im = &f->p->images.v[pl->image];
	const struct resolved *names;
	uint32_t i;

	*ret_script = f->line_of[id] ? &f->p->scripts.v[f->line_of[id] - 1] : NULL;
	if (*ret_script) {
		*ret = (struct procedure){.start = pl->svma,
					  .end = pl->svma + 1,
					  .name = profile_str(f->p, (*ret_script)->name)};
		return true;
	}
	if (!f->names->resolver || im->kind == IMAGE_MARK || im->kind == IMAGE_UNKNOWN)
		return false;
	f->has_symbols = true;
	fleet_names_look(f->names, im);
	names = resolver_image(f->names->resolver, im);
	i = symtab_find(names->symtab, pl->svma);
	*ret_late = i == PROC_NONE || names->status != RESOLVE_OK;
	if (i == PROC_NONE)
		return false;
	*ret = symtab_get(names->symtab, i);
	return true;
}

static int send_place(struct fleet_sender *f, place_id id, uint64_t version, struct err *err)
{
	const struct profile *p = f->p;
	const struct place *pl = &p->places.v[id];
	const uint64_t news = fleet_context_id(0, f->images[pl->image], pl->svma);
	struct fleet_ids *told = &f->told->places;
	const uint32_t was_late = fleet_ids_find(told, news);
	const struct script *script;
	struct procedure proc;
	bool named, late = false;

	if (was_late != FLEET_NO_NUMBER) {
		f->is_late |= was_late != 0;
		if (!was_late || was_late >> 1 == f->told->pass ||
		    (was_late & 1 && !f->names->wanted))
			return 0;
	}
	named = name_place(f, id, &proc, &script, &late);
	fleet_ids_put(told, news, late ? f->told->pass << 1 | named : 0);
	f->is_late |= late;
	if (!named)
		return 0;
	f->names->n_sent++;
	put_number(f, PLACE_IMAGE, f->images[pl->image]);
	put_number(f, PLACE_SVMA, pl->svma);
	put_number(f, PLACE_START, proc.start);
	put_number(f, PLACE_END, proc.end);
	put_text(f, PLACE_NAME, proc.name);
	put_number(f, PLACE_FLAGS, proc.flags);
	put_number(f, PLACE_LINE, script && !(pl->svma & SCRIPT_LINE_UNKNOWN) ? script->line : 0);
	put_text(f, PLACE_LANGUAGE, script ? profile_str(p, script->language) : "");
	put_number(f, PLACE_VERSION, version);
	return end_row(f, err);
}

/* Image by image, so that only one's symbols are in memory. */
static int send_places(struct fleet_sender *f, struct err *err)
{
	const uint64_t version = clock_wall_ns();
	const struct profile *p = f->p;
	_mem_ place_id *places = xcalloc(p->places.n + 1, sizeof(*places));
	_mem_ size_t *ends = xcalloc(p->images.n + 1, sizeof(*ends));
	int rc = 0;

	vec_each (pl, &p->places)
		ends[pl->image + 1]++;
	for (size_t i = 0; i < p->images.n; i++)
		ends[i + 1] += ends[i];
	for (place_id i = 0; i < p->places.n; i++)
		places[ends[p->places.v[i].image]++] = i;
	begin_table(f, FLEET_PLACES);
	for (size_t i = 0; i < p->places.n && rc >= 0; i++) {
		const image_id image = p->places.v[places[i]].image;
		const struct image *im = &p->images.v[image];

		if (!fleet_names_want(f->names, im))
			continue;
		rc = send_place(f, places[i], version, err);
		if (f->has_symbols && (ends[image] - i) % PLACES_A_REST == 0)
			resolver_rest(f->names->resolver, im);
		if (i + 1 < ends[image])
			continue;
		if (f->has_symbols)
			resolver_drop(f->names->resolver, im);
		if (f->is_late)
			fleet_names_note(f->names, im);
		f->has_symbols = f->is_late = false;
	}
	return rc < 0 ? rc : flush_rows(f, err);
}

/* Contexts as a tree of numbers. */
struct ctx_tree {
	ctx_id *first, *next; /* the first that it calls, and the next of its caller's; 0: none */
	bool *is_sent;
};

static void ctx_tree_init(struct ctx_tree *t, const struct profile *p)
{
	t->first = xcalloc(p->ctxs.n + 1, sizeof(*t->first));
	t->next = xcalloc(p->ctxs.n + 1, sizeof(*t->next));
	t->is_sent = xcalloc(p->ctxs.n + 1, sizeof(*t->is_sent));
	for (ctx_id c = (ctx_id)p->ctxs.n; c-- > 1;) {
		const ctx_id parent = p->ctxs.v[c].parent;

		t->next[c] = t->first[parent];
		t->first[parent] = c;
	}
	vec_each (v, &p->values)
		if (value_counts(v))
			t->is_sent[v->ctx] = true;
}

/* What follows C when each is followed by those that it calls; 0: nothing. */
static ctx_id ctx_tree_next(const struct ctx_tree *t, const struct profile *p, ctx_id c)
{
	if (t->first[c])
		return t->first[c];
	while (c && !t->next[c])
		c = p->ctxs.v[c].parent;
	return t->next[c];
}

static void ctx_tree_release(struct ctx_tree *t)
{
	free(t->first);
	free(t->next);
	free(t->is_sent);
}

static int send_context(struct fleet_sender *f, ctx_id ctx, struct err *err)
{
	_vec_ VEC(uint64_t) images = {0}, svmas = {0};
	const struct profile *p = f->p;
	size_t n = 0;

	for (ctx_id c = ctx; c; c = p->ctxs.v[c].parent)
		n++;
	vec_at(&images, n);
	vec_at(&svmas, n);
	images.n = svmas.n = n;
	for (ctx_id c = ctx; c; c = p->ctxs.v[c].parent) {
		const struct place *pl = &p->places.v[p->ctxs.v[c].place];

		images.v[--n] = f->images[pl->image];
		svmas.v[n] = pl->svma;
	}
	put_number(f, CONTEXT_ID, f->ctxs[ctx]);
	native_add_list(&f->block, CONTEXT_IMAGES, images.v, images.n);
	native_add_list(&f->block, CONTEXT_SVMAS, svmas.v, svmas.n);
	return end_row(f, err);
}

/* Callers before those that they call: paths that begin alike are one behind the other, and pack
 * well. */
static int send_contexts(struct fleet_sender *f, struct err *err)
{
	const struct profile *p = f->p;
	struct ctx_tree t;
	int rc = 0;

	ctx_tree_init(&t, p);
	begin_table(f, FLEET_CONTEXTS);
	for (ctx_id c = ctx_tree_next(&t, p, 0); c && rc >= 0; c = ctx_tree_next(&t, p, c))
		if (t.is_sent[c] && is_news(f, f->ctxs[c]))
			rc = send_context(f, c, err);
	ctx_tree_release(&t);
	return rc < 0 ? rc : flush_rows(f, err);
}

/* --- the batch --- */

static int send_count(struct fleet_sender *f, const struct value *v, const char *service,
		      struct err *err)
{
	const struct profile *p = f->p;
	const struct place *leaf = v->ctx ? profile_leaf(p, v->ctx) : NULL;

	put_number(f, COUNT_DAY, f->b->day);
	put_number(f, COUNT_T, f->b->start);
	put_text(f, COUNT_EVENT, profile_str(p, p->events.v[v->event].name));
	put_text(f, COUNT_SERVICE, service);
	put_text(f, COUNT_HOST, f->b->host);
	put_number(f, COUNT_EVENT_ID, f->events[v->event]);
	put_number(f, COUNT_OWNER, f->owners[v->owner]);
	put_number(f, COUNT_CTX, f->ctxs[v->ctx]);
	put_number(f, COUNT_IMAGE, leaf ? f->images[leaf->image] : 0);
	put_number(f, COUNT_SVMA, leaf ? leaf->svma : 0);
	put_number(f, COUNT_VECTOR, f->vectors[v->vector]);
	put_number(f, COUNT_SAMPLES, v->count);
	put_number(f, COUNT_TOTAL, v->sum);
	put_number(f, COUNT_BATCH, f->b->id);
	f->b->n_rows++;
	if (value_is_samples(p, v))
		f->b->n_samples += v->count;
	return end_row(f, err);
}

/* Numbers of values by owner, event and leaf, so that columns pack well. */
static int compare_sent(const void *a, const void *b, void *ctx)
{
	const struct profile *p = ctx;
	const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct value *x = &p->values.v[i], *y = &p->values.v[j];
	const struct place *left = x->ctx ? profile_leaf(p, x->ctx) : &(struct place){0};
	const struct place *right = y->ctx ? profile_leaf(p, y->ctx) : &(struct place){0};
	const uint64_t keys[][2] = {{x->owner, y->owner},
				    {x->event, y->event},
				    {left->image, right->image},
				    {left->svma, right->svma},
				    {i, j}};

	for (size_t k = 0; k < n_elems(keys); k++)
		if (keys[k][0] != keys[k][1])
			return keys[k][0] < keys[k][1] ? -1 : 1;
	return 0;
}

static int send_counts(struct fleet_sender *f, struct err *err)
{
	_vec_ VEC(uint32_t) order = {0};
	const struct profile *p = f->p;
	_mem_ char **services = xcalloc(p->owners.n + 1, sizeof(*services));
	int rc = 0;

	for (owner_id i = 0; i < p->owners.n; i++)
		services[i] = service_of(p, &p->owners.v[i]);
	for (uint32_t i = 0; i < p->values.n; i++) {
		const struct value *v = &p->values.v[i];

		if (!value_counts(v))
			continue;
		f->b->n_left_out += p->vectors.v[v->vector].known >> FACT_USER_BIT != 0;
		if (!is_own_counter(&p->vectors.v[v->vector]))
			vec_push(&order, i);
	}
	if (order.n)
		qsort_r(order.v, order.n, sizeof(*order.v), compare_sent, (void *)p);
	begin_table(f, FLEET_COUNTS);
	for (size_t i = 0; i < order.n && rc >= 0; i++) {
		const struct value *v = &p->values.v[order.v[i]];

		rc = send_count(f, v, services[v->owner], err);
	}
	for (owner_id i = 0; i < p->owners.n; i++)
		free(services[i]);
	return rc < 0 ? rc : flush_rows(f, err);
}

static int send_events(struct fleet_sender *f, struct err *err)
{
	const struct profile *p = f->p;
	int rc = 0;

	begin_table(f, FLEET_EVENTS);
	for (event_id i = 0; i < p->events.n && rc >= 0; i++) {
		const struct event *e = &p->events.v[i];
		uint64_t squares;

		memcpy(&squares, &e->weight_squares, sizeof(squares));
		put_number(f, EVENT_DAY, f->b->day);
		put_number(f, EVENT_BATCH, f->b->id);
		put_number(f, EVENT_ID, f->events[i]);
		put_text(f, EVENT_NAME, profile_str(p, e->name));
		put_text(f, EVENT_UNIT, profile_str(p, e->unit));
		put_number(f, EVENT_PERIOD, e->period);
		put_number(f, EVENT_FREQ, e->freq_hz);
		put_number(f, EVENT_FLAGS, e->flags);
		put_number(f, EVENT_ENABLED, e->enabled_ns);
		put_number(f, EVENT_RUNNING, e->running_ns);
		put_number(f, EVENT_TOTAL, e->total);
		put_number(f, EVENT_REACHED, e->n_reached);
		put_number(f, EVENT_SQUARES, squares);
		rc = end_row(f, err);
	}
	return rc < 0 ? rc : flush_rows(f, err);
}

static int send_losses(struct fleet_sender *f, struct err *err)
{
	int rc = 0;

	begin_table(f, FLEET_LOSSES);
	vec_each (l, &f->p->losses) {
		put_number(f, LOSS_DAY, f->b->day);
		put_number(f, LOSS_BATCH, f->b->id);
		put_number(f, LOSS_EVENT, f->events[l->event]);
		put_text(f, LOSS_NAME, profile_str(f->p, l->name));
		put_number(f, LOSS_SAMPLES, l->n);
		rc = end_row(f, err);
		if (rc < 0)
			return rc;
	}
	return flush_rows(f, err);
}

/* --- */

static void make_ids(struct fleet_sender *f)
{
	const struct profile *p = f->p;

	f->events = xcalloc(p->events.n + 1, sizeof(uint64_t));
	f->images = xcalloc(p->images.n + 1, sizeof(uint64_t));
	f->owners = xcalloc(p->owners.n + 1, sizeof(uint64_t));
	f->vectors = xcalloc(p->vectors.n + 1, sizeof(uint64_t));
	f->ctxs = xcalloc(p->ctxs.n + 1, sizeof(uint64_t));
	f->line_of = xcalloc(p->places.n + 1, sizeof(uint32_t));
	for (size_t i = 0; i < p->events.n; i++)
		f->events[i] = fleet_event_id(p, &p->events.v[i]);
	for (size_t i = 0; i < p->images.n; i++)
		f->images[i] = fleet_image_id(&p->images.v[i]);
	for (size_t i = 0; i < p->owners.n; i++)
		f->owners[i] = fleet_owner_id(p, &p->owners.v[i]);
	for (size_t i = 0; i < p->vectors.n; i++)
		f->vectors[i] =
			fleet_vector_id(&(struct vector[]){common_vector(&p->vectors.v[i])}[0]);
	for (size_t i = 1; i < p->ctxs.n; i++) { /* parents come first */
		const struct ctx *c = &p->ctxs.v[i];
		const struct place *pl = &p->places.v[c->place];

		f->ctxs[i] = fleet_context_id(f->ctxs[c->parent], f->images[pl->image], pl->svma);
	}
	for (size_t i = 0; i < p->scripts.n; i++)
		f->line_of[p->scripts.v[i].place] = (uint32_t)i + 1;
}

typedef int send_step(struct fleet_sender *f, struct err *err);

static int send_steps(struct fleet_sender *f, send_step *const *steps, size_t n, struct err *err)
{
	int rc = 0;

	make_ids(f);
	for (size_t i = 0; i < n && rc >= 0; i++)
		rc = steps[i](f, err);
	native_release(&f->block);
	free(f->events);
	free(f->images);
	free(f->owners);
	free(f->vectors);
	free(f->ctxs);
	free(f->line_of);
	return rc;
}

int fleet_send(struct fleet_server *s, const struct profile *p, struct fleet_names *n,
	       struct fleet_batch *b, struct fleet_told *t, struct err *err)
{
	static send_step *const steps[] = {
		send_images,   send_owners, send_containers, send_vectors, send_places,
		send_contexts, send_counts, send_events,     send_losses,
	};
	struct fleet_sender f = {.s = s, .p = p, .names = n, .b = b, .told = t};

	if (n_told(t) > MOST_TOLD)
		fleet_told_release(t);
	return send_steps(&f, steps, n_elems(steps), err);
}

int fleet_send_names(struct fleet_server *s, const struct profile *p, struct fleet_names *n,
		     struct fleet_told *t, struct err *err)
{
	static send_step *const steps[] = {send_places};
	struct fleet_sender f = {.s = s, .p = p, .names = n, .told = t};

	return send_steps(&f, steps, n_elems(steps), err);
}
