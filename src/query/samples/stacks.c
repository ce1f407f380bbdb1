/* SPDX-License-Identifier: BSD-2-Clause */
/* See stacks.h.
 *
 * Contexts and places keep their order and lose those nobody needs.  Values of one context and one
 * owner become one, whatever their events and vectors are. */
#include "query/samples/stacks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "query/samples/scopes.h"

struct filler {
	struct query *q;
	const struct profile *p;
	const struct columns *columns;
	const struct stacks_opts *o;
	struct stacks *to;
	image_ids images;
	uint32_t *node_of;  /* by context */
	uint32_t *place_of; /* by place + 1; 0: not needed */
	uint32_t *image_of, *owner_of;
	unsigned *first_col; /* by column of Q: the exported one of its samples, + 1; 0: none */
	VEC(image_id) profile_image; /* by image of TO */
	struct index values, functions;
	VEC(double) sums; /* with sets: by value, the columns of Q */
	struct scopes scopes;
};

/* --- columns --- */

static const char *fill_text(struct stacks *to, const char *format, const char *text)
{
	_str_ struct str s = {0};

	str_addf(&s, "%s%s", text, format);
	return arena_strdup(&to->arena, s.v);
}

static bool is_clock(const char *event)
{
	return str_starts(event, "cpu-clock") || str_starts(event, "task-clock");
}

/* Two columns of an event: its samples, and what these stand for where that says more. */
static void add_event_columns(struct filler *f, unsigned c, unsigned n_clocks)
{
	const struct query_col *qc = &f->q->cols[c];
	const struct event *e = &f->p->events.v[qc->event];
	const bool is_ns = strcmp(profile_str(f->p, e->unit), "ns") == 0;
	struct stacks *to = f->to;
	struct stack_column col = {.event = qc->name,
				   .unit = "count",
				   .period = e->period,
				   .own_weights = event_has_weights(f->p, e)};

	f->first_col[c] = (unsigned)to->columns.n + 1;
	col.name = c == f->q->sort ? "samples" : fill_text(to, "_samples", qc->name);
	col.amount = STACK_SAMPLES;
	vec_push(&to->columns, col);
	if (e->period == 1 && !is_ns && !col.own_weights)
		return;
	col.name = is_clock(qc->name) && n_clocks == 1 ? "cpu" : qc->name;
	col.unit = is_ns ? "nanoseconds" : "count";
	col.amount = STACK_WEIGHT;
	vec_push(&to->columns, col);
}

/* Columns that are shown, and the one that rows are sorted by. */
static bool exports_set(const struct columns *cs, unsigned i)
{
	return cs->cols.v[i].adds_up && (!cs->cols.v[i].hidden || i == cs->hide);
}

/* What sample sets count has no weight. */
static void add_set_columns(struct filler *f)
{
	const struct columns *cs = f->columns;

	for (unsigned i = 0; i < cs->cols.n; i++) {
		const struct column *c = &cs->cols.v[i];

		if (!exports_set(cs, i))
			continue;
		if (i == cs->hide)
			f->to->main_column = (unsigned)f->to->columns.n;
		vec_push(&f->to->columns,
			 (struct stack_column){c->name, c->name,
					       c->kind == COLUMN_TIME ? "nanoseconds" : "count",
					       STACK_SAMPLES, 0, 0});
	}
}

static void add_columns(struct filler *f)
{
	unsigned n_clocks = 0;

	if (f->q->has_sets) {
		add_set_columns(f);
		return;
	}
	for (unsigned c = 0; c < f->q->n_events; c++)
		n_clocks += is_clock(f->q->cols[c].name);
	/* What readers show first comes first. */
	if (f->q->sort < f->q->n_events && !f->q->cols[f->q->sort].hidden)
		add_event_columns(f, f->q->sort, n_clocks);
	for (unsigned c = 0; c < f->q->n_events; c++)
		if (c != f->q->sort && !f->q->cols[c].hidden)
			add_event_columns(f, c, n_clocks);
}

/* --- what is needed --- */

static bool wants_sample(const struct filler *f, const struct value *v)
{
	unsigned n;

	query_shares(f->q, v, &n);
	return n && image_ids_want(f->o->images && f->o->images->n ? &f->images : NULL,
				   profile_leaf(f->p, v->ctx)->image);
}

static void need_context(struct filler *f, bool *used, ctx_id ctx)
{
	for (; ctx && !f->node_of[ctx]; ctx = f->p->ctxs.v[ctx].parent) {
		f->node_of[ctx] = 1;
		used[f->p->ctxs.v[ctx].place] = true;
	}
}

static bool wants_point(const struct filler *f, const struct trace_point *pt)
{
	const unsigned c = f->q->col_of[pt->event];

	return pt->ctx && c < f->q->n_cols && f->first_col[c];
}

static bool wants_trace(const struct filler *f, const struct trace *t)
{
	return (!f->q->wanted || f->q->wanted[t->owner]) &&
	       !(f->p->owners.v[t->owner].flags & OWNER_IDLE);
}

/* Marks contexts that are needed in node_of, and their places in the array returned. */
static bool *find_needed(struct filler *f)
{
	bool *used = xcalloc(f->p->places.n + 1, sizeof(*used));

	vec_each (v, &f->p->values)
		if (wants_sample(f, v))
			need_context(f, used, v->ctx);
	if (f->o->threads)
		vec_each (t, &f->p->traces)
			if (wants_trace(f, t))
				vec_each (pt, &t->points)
					if (wants_point(f, pt))
						need_context(f, used, pt->ctx);
	if (f->o->branches)
		vec_each (b, &f->p->branches)
			used[b->from] = used[b->to] = true;
	return used;
}

/* --- code --- */

static uint32_t fill_image(struct filler *f, image_id id)
{
	const struct image *im = &f->p->images.v[id];
	struct stack_image new = {
		.path = im->path,
		.start = im->text_start,
		.end = im->text_start + im->text_bytes,
		.kind = im->kind,
		.is_kernel = im->kind == IMAGE_KERNEL || im->kind == IMAGE_MODULE ||
			     im->kind == IMAGE_BPF,
	};

	if (im->kind == IMAGE_UNKNOWN || im->kind == IMAGE_MARK)
		return STACK_NO_IMAGE;
	if (f->image_of[id])
		return f->image_of[id] - 1;
	build_id_format(&im->build_id, new.build_id);
	vec_push(&f->to->images, new);
	vec_push(&f->profile_image, id);
	f->image_of[id] = (uint32_t)f->to->images.n;
	return f->image_of[id] - 1;
}

static bool same_stack_function(const void *owner, uint32_t i, const void *key)
{
	const struct stack_function *a = &((const struct stacks *)owner)->functions.v[i], *b = key;

	return a->image == b->image && a->svma == b->svma && a->in_kernel == b->in_kernel &&
	       strcmp(a->name, b->name) == 0;
}

/* Whether PL is what profile_unknown_kernel_place says, or has an address that may be seen. */
static bool is_unknown_kernel(const struct filler *f, const struct place *pl)
{
	return f->p->images.v[pl->image].kind == IMAGE_UNKNOWN && (!pl->svma || pl->svma >> 63);
}

/* The function of SC, one of the scopes of PL. */
static uint32_t fill_function(struct filler *f, const struct scope *sc, const struct place *pl)
{
	struct stack_function fn = {
		.name = sc->name,
		.file = "",
		.image = sc->image == SCOPE_NO_IMAGE ? STACK_NO_IMAGE : fill_image(f, sc->image),
		.svma = sc->inlined ? 0 : sc->svma,
		.nameless = sc->nameless,
		.is_mark = sc->kind == SCOPE_MARK,
		.in_kernel = is_unknown_kernel(f, pl),
	};
	uint64_t hash;
	uint32_t i;

	if (sc->nameless && sc->proc == PROC_NONE && !sc->inlined && fn.image != STACK_NO_IMAGE)
		fn.name = stacks_bare_name(f->to->images.v[fn.image].path, &f->to->arena);
	hash = hash_pair(hash_pair(fn.image, fn.svma), hash_str(fn.name) + fn.in_kernel);
	i = index_find(&f->functions, hash, same_stack_function, f->to, &fn);
	if (i != INDEX_NONE)
		return i;
	fn.name = arena_strdup(&f->to->arena, *fn.name ? fn.name : "[unknown]");
	fn.linked = fn.name;
	if (sc->proc != PROC_NONE && sc->image != SCOPE_NO_IMAGE && !sc->nameless) {
		const struct resolved *r =
			resolver_image(f->q->resolver, &f->p->images.v[sc->image]);

		if (sc->proc < r->symtab->n)
			fn.linked =
				arena_strdup(&f->to->arena, symtab_get(r->symtab, sc->proc).name);
	}
	i = (uint32_t)f->to->functions.n;
	vec_push(&f->to->functions, fn);
	index_add(&f->functions, hash, i);
	return i;
}

static void fill_place(struct filler *f, place_id id)
{
	const struct place *pl = &f->p->places.v[id];
	struct stacks *to = f->to;
	struct stack_place new = {.image = fill_image(f, pl->image),
				  .svma = pl->svma,
				  .first_line = (uint32_t)to->lines.n};
	uint32_t n;
	const scope_id *ids = scopes_of_place(&f->scopes, id, &n);

	while (n--) {
		const struct scope *sc = &f->scopes.scopes.v[ids[n]];
		struct stack_line line = {fill_function(f, sc, pl), sc->line, "", 0, sc->inlined};

		if (sc->file)
			line.file = arena_strdup(&to->arena, sc->file);
		vec_push(&to->lines, line);
		new.n_lines++;
	}
	vec_push(&to->places, new);
	f->place_of[id] = (uint32_t)to->places.n;
}

static bool same_declared(const void *owner, uint32_t i, const void *key)
{
	const struct scope_declared *a = &((const struct scopes *)owner)->declared.v[i], *b = key;

	return a->image == b->image && a->svma == b->svma;
}

/* Where functions that are not inlined are defined. */
static void declare_functions(struct filler *f)
{
	struct stacks *to = f->to;
	struct index by_start = {0};

	for (uint32_t i = 0; i < f->scopes.declared.n; i++) {
		const struct scope_declared *d = &f->scopes.declared.v[i];
		const uint64_t hash = hash_pair(d->image, d->svma);

		if (index_find(&by_start, hash, same_declared, &f->scopes, d) == INDEX_NONE)
			index_add(&by_start, hash, i);
	}
	vec_each (fn, &to->functions) {
		struct scope_declared key = {.svma = fn->svma};
		uint32_t i;

		if (fn->image == STACK_NO_IMAGE || !fn->svma)
			continue;
		key.image = f->profile_image.v[fn->image];
		i = index_find(&by_start, hash_pair(key.image, key.svma), same_declared, &f->scopes,
			       &key);
		if (i == INDEX_NONE)
			continue;
		fn->line = f->scopes.declared.v[i].line;
		if (f->scopes.declared.v[i].file)
			fn->file = arena_strdup(&to->arena, f->scopes.declared.v[i].file);
	}
	index_release(&by_start);
	/* A declaration may have the name as the compiler was given it, lines the whole path. */
	vec_each (l, &to->lines) {
		struct stack_function *fn = &to->functions.v[l->function];
		const size_t n = strlen(fn->file), whole = strlen(l->file);

		if (whole > n && (!n || (l->file[whole - n - 1] == '/' &&
					 strcmp(l->file + whole - n, fn->file) == 0)))
			fn->file = l->file;
	}
}

/* What compilers call the functions of place PL, where DWARF tells of as many as the names do. */
static void fill_sites(struct filler *f, const struct image *im, const struct stack_place *pl)
{
	struct resolved_site sites[RESOLVER_MAX_FRAMES];
	struct stacks *to = f->to;
	const size_t n = resolver_sites(f->q->resolver, im, pl->svma, sites, n_elems(sites));

	for (size_t i = 0; n == pl->n_lines && i < n; i++) {
		struct stack_line *l = &to->lines.v[pl->first_line + n - 1 - i];
		struct stack_function *fn = &to->functions.v[l->function];

		l->line = sites[i].line;
		l->discriminator = sites[i].discriminator;
		if (!fn->line)
			fn->line = sites[i].start_line;
		if (i && strcmp(sites[i].linked, "?") != 0 && strcmp(fn->linked, fn->name) == 0)
			fn->linked = arena_strdup(&to->arena, sites[i].linked);
	}
}

static void fill_all_sites(struct filler *f)
{
	for (image_id im = 0; im < f->p->images.n; im++) {
		bool any = false;

		if (!f->image_of[im])
			continue;
		vec_each (pl, &f->to->places)
			if (pl->image == f->image_of[im] - 1) {
				any = true;
				fill_sites(f, &f->p->images.v[im], pl);
			}
		if (any)
			resolver_rest(f->q->resolver, &f->p->images.v[im]);
	}
}

static bool same_local(const void *owner, uint32_t i, const void *key)
{
	return strcmp(symtab_get(owner, i).name, key) == 0;
}

/* By entry of ST: which local one of its name it is; in fresh memory. */
static uint32_t *number_locals(const struct symtab *st)
{
	uint32_t *ret = xcalloc((size_t)st->n + 1, sizeof(*ret));
	uint32_t *last = xcalloc((size_t)st->n + 1, sizeof(*last)); /* by the first of its name */
	struct index by_name = {0};

	for (uint32_t i = 0; i < st->n; i++) {
		const struct procedure p = symtab_get(st, i);
		uint64_t hash;
		uint32_t first;

		if (!(p.flags & PROC_LOCAL) || p.flags & PROC_REST)
			continue;
		hash = hash_str(p.name);
		first = index_find(&by_name, hash, same_local, st, p.name);
		if (first == INDEX_NONE) {
			first = i;
			index_add(&by_name, hash, i);
		}
		ret[i] = ++last[first];
	}
	index_release(&by_name);
	free(last);
	return ret;
}

static void fill_locals(struct filler *f)
{
	for (image_id im = 0; im < f->p->images.n; im++) {
		const struct symtab *st;
		uint32_t *number;

		if (!f->image_of[im] || f->p->images.v[im].kind != IMAGE_FILE)
			continue;
		st = resolver_image(f->q->resolver, &f->p->images.v[im])->symtab;
		number = number_locals(st);
		vec_each (fn, &f->to->functions) {
			uint32_t i;

			if (fn->image != f->image_of[im] - 1 || !fn->svma)
				continue;
			i = symtab_find(st, fn->svma);
			if (i != PROC_NONE)
				fn->local = number[i];
		}
		free(number);
	}
}

static int fill_code(struct filler *f, struct err *err)
{
	const struct scopes_opts so = {.level = f->o->lines ? SCOPE_LINE : SCOPE_PROCEDURE,
				       .no_inline = f->o->no_inline,
				       .no_args = true,
				       .declared = f->o->lines};
	bool *used = find_needed(f);
	int rc = scopes_init(&f->scopes, f->q, &so, used, err);

	for (place_id pl = 0; pl < f->p->places.n && rc >= 0; pl++)
		if (used[pl])
			fill_place(f, pl);
	free(used);
	if (rc >= 0 && f->o->lines)
		declare_functions(f);
	if (rc >= 0 && f->o->sites)
		fill_all_sites(f);
	if (rc >= 0 && f->o->locals)
		fill_locals(f);
	for (ctx_id ctx = 1; ctx < f->p->ctxs.n && rc >= 0; ctx++) {
		const struct ctx *x = &f->p->ctxs.v[ctx];

		if (!f->node_of[ctx])
			continue;
		f->node_of[ctx] = (uint32_t)f->to->nodes.n;
		vec_push(&f->to->nodes,
			 (struct stack_node){f->node_of[x->parent], f->place_of[x->place] - 1});
	}
	return rc;
}

/* --- values --- */

static uint32_t fill_owner(struct filler *f, owner_id id)
{
	const struct owner *o = &f->p->owners.v[id];

	if (f->owner_of[id])
		return f->owner_of[id] - 1;
	vec_push(&f->to->owners, (struct stack_owner){
					 .comm = profile_str(f->p, o->comm),
					 .exe = profile_str(f->p, o->exe),
					 .cgroup = profile_str(f->p, o->cgroup),
					 .label = profile_str(f->p, o->label),
					 .pid = o->pid,
					 .tid = o->tid,
					 .uid = o->uid == OWNER_UID_UNKNOWN ? -1 : (int64_t)o->uid,
				 });
	for (size_t i = CONTAINER_ID + 1; i < CONTAINER_N_TEXTS; i++)
		f->to->owners.v[f->to->owners.n - 1].container[i] =
			profile_str(f->p, o->container.text[i]);
	f->owner_of[id] = (uint32_t)f->to->owners.n;
	return f->owner_of[id] - 1;
}

static bool same_stack_value(const void *owner, uint32_t i, const void *key)
{
	const struct stack_value *a = &((const struct stacks *)owner)->values.v[i], *b = key;

	return a->node == b->node && a->owner == b->owner;
}

static uint32_t intern_value(struct filler *f, const struct stack_value *key)
{
	const uint64_t hash = hash_pair(key->node, key->owner);
	struct stacks *to = f->to;
	uint32_t i = index_find(&f->values, hash, same_stack_value, to, key);

	if (i != INDEX_NONE)
		return i;
	i = (uint32_t)to->values.n;
	vec_push(&to->values, *key);
	index_add(&f->values, hash, i);
	vec_reserve(&to->amounts, to->columns.n + 1);
	memset(to->amounts.v + to->amounts.n, 0, to->columns.n * sizeof(uint64_t));
	to->amounts.n += to->columns.n;
	if (f->q->has_sets) {
		vec_reserve(&f->sums, f->columns->cols.n + 1);
		memset(f->sums.v + f->sums.n, 0, f->columns->cols.n * sizeof(double));
		f->sums.n += f->columns->cols.n;
	}
	return i;
}

static void fill_value(struct filler *f, const struct value *v)
{
	struct stacks *to = f->to;
	uint32_t i =
		intern_value(f, &(struct stack_value){f->node_of[v->ctx], fill_owner(f, v->owner)});
	unsigned c, at, n;

	if (f->q->has_sets) {
		const struct share *s = query_shares(f->q, v, &n);

		for (; n; n--, s++)
			f->sums.v[i * f->columns->cols.n + s->col] += (double)share_amount(s, v);
		return;
	}
	if (!query_counts_value(f->q, v, &c) || !f->first_col[c])
		return;
	at = f->first_col[c] - 1;
	to->amounts.v[i * to->columns.n + at] += v->count;
	if (at + 1 < to->columns.n && to->columns.v[at + 1].amount == STACK_WEIGHT)
		to->amounts.v[i * to->columns.n + at + 1] += value_weight(f->p, v);
}

/* Sample sets: numbers that are made of sums. */
static void fill_sets(struct filler *f)
{
	const struct columns *cs = f->columns;
	struct stacks *to = f->to;

	for (size_t i = 0; i < to->values.n; i++) {
		double *sums = f->sums.v + i * cs->cols.n;
		size_t at = i * to->columns.n;

		cols_evaluate(cs, sums);
		for (unsigned c = 0; c < cs->cols.n; c++)
			if (exports_set(cs, c))
				to->amounts.v[at++] = sums[c] > 0 ? (uint64_t)llround(sums[c]) : 0;
	}
}

/* --- time lines, branches, the rest --- */

static void fill_threads(struct filler *f)
{
	struct stacks *to = f->to;

	vec_each (t, &f->p->traces) {
		struct stack_thread new = {0,	      t->pid,	    t->tid, t->start_ns,
					   t->end_ns, to->points.n, 0};

		if (!wants_trace(f, t))
			continue;
		vec_each (pt, &t->points)
			if (wants_point(f, pt))
				vec_push(&to->points,
					 (struct stack_point){
						 pt->time_ns, f->node_of[pt->ctx],
						 f->first_col[f->q->col_of[pt->event]] - 1});
		new.n = to->points.n - new.first;
		if (!new.n)
			continue;
		new.owner = fill_owner(f, t->owner);
		vec_push(&to->threads, new);
	}
}

static void fill_branches(struct filler *f)
{
	vec_each (b, &f->p->branches)
		if (!f->q->wanted || f->q->wanted[b->owner])
			vec_push(&f->to->branches,
				 (struct stack_branch){
					 f->place_of[b->from] - 1, f->place_of[b->to] - 1, b->count,
					 b->n_mispredicted, b->n_newest, b->n_oldest});
}

static void fill_about(struct filler *f)
{
	const struct profile *p = f->p;
	struct stacks *to = f->to;

	to->host = profile_str(p, p->meta.host);
	to->command = profile_str(p, p->meta.command);
	to->kernel = profile_str(p, p->meta.kernel);
	to->start_ns = p->meta.start_wall_ns;
	to->end_ns = p->meta.end_wall_ns;
	to->has_addresses = true;
	to->has_owners = true;
	vec_each (l, &p->losses)
		if (l->n && f->q->col_of[l->event] < f->q->n_cols)
			vec_push(&to->losses,
				 (struct stack_loss){f->q->cols[f->q->col_of[l->event]].name,
						     profile_str(p, l->name), l->n});
}

int samples_stacks(struct query *q, const struct columns *columns, const struct stacks_opts *o,
		   struct stacks *ret, struct err *err)
{
	const struct profile *p = q->profile;
	struct filler f = {.q = q, .p = p, .columns = columns, .o = o, .to = ret};
	int rc = 0;

	for (size_t i = 0; o->images && i < o->images->n && rc >= 0; i++)
		rc = select_find_images(p, o->images->v[i], &f.images, err);
	f.first_col = xcalloc(q->n_cols + 1, sizeof(*f.first_col));
	f.node_of = xcalloc(p->ctxs.n + 1, sizeof(*f.node_of));
	f.place_of = xcalloc(p->places.n + 1, sizeof(*f.place_of));
	f.image_of = xcalloc(p->images.n + 1, sizeof(*f.image_of));
	f.owner_of = xcalloc(p->owners.n + 1, sizeof(*f.owner_of));
	add_columns(&f);
	if (rc >= 0)
		rc = fill_code(&f, err);
	for (size_t i = 0; i < p->values.n && rc >= 0; i++)
		if (wants_sample(&f, &p->values.v[i]))
			fill_value(&f, &p->values.v[i]);
	if (rc >= 0 && q->has_sets)
		fill_sets(&f);
	if (rc >= 0 && o->threads)
		fill_threads(&f);
	if (rc >= 0 && o->branches)
		fill_branches(&f);
	if (rc >= 0)
		fill_about(&f);
	scopes_release(&f.scopes);
	index_release(&f.values);
	index_release(&f.functions);
	vec_release(&f.images);
	vec_release(&f.profile_image);
	vec_release(&f.sums);
	free(f.first_col);
	free(f.node_of);
	free(f.place_of);
	free(f.image_of);
	free(f.owner_of);
	return rc;
}
