/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees against sums made sample by sample: random call paths with recursion, marks and
 * guessed frames, through images without files, so that a scope is a place or an image. */
#include "port/exporters.h"
#include "query/samples/source.h"
#include "query/samples/tree_source.h"
#include "query/source.h"
#include "query/stacks.h"
#include "t.h"

#include <stdlib.h>

#define N_IMAGES 5 /* three of code, unknown, a mark */
#define MARK	 4
#define N_PLACES 4 /* in each image: few, so that paths come back to them */
#define N_OWNERS 6
#define N_EVENTS 2
#define N_VALUES 60
#define DEEPEST	 12

typedef uint64_t sums[N_EVENTS];

struct world {
	struct profile p;
	struct resolver *r;
	struct query q;
};

static const struct select everything;

static ctx_id random_path(struct t_rng *r, struct profile *p, const image_id *images)
{
	ctx_id c = 0;
	uint64_t depth = 1 + t_below(r, DEEPEST - 1);

	if (t_below(r, 4) == 0)
		c = profile_intern_ctx(p, 0, profile_intern_place(p, images[MARK], 0, 0));
	for (uint64_t d = 0; d < depth; d++) {
		uint64_t image = t_below(r, 3) ? 0 : t_below(r, MARK);
		uint32_t flags = d + 1 < depth && t_below(r, 30) == 0 ? PLACE_GUESSED : 0;

		c = profile_intern_ctx(
			p, c,
			profile_intern_place(p, images[image], 64 * t_below(r, N_PLACES), flags));
	}
	return c;
}

static void world_init(struct world *w, uint64_t seed)
{
	static const struct resolver_opts ro = {
		.proc_dir = "/nonexistent", .sys_dir = "/nonexistent", .no_save = true};
	static const char *const paths[N_IMAGES] = {"[anon] a", "[anon] b", "[anon] c", "",
						    "[truncated: test]"},
				 *const comms[] = {"", "cc1", "make"};
	struct t_rng r = {seed};
	image_id images[N_IMAGES];
	owner_id owners[N_OWNERS];

	*w = (struct world){.r = resolver_new(&ro)};
	profile_init(&w->p);
	for (unsigned i = 0; i < N_EVENTS; i++)
		profile_intern_event(&w->p, &(struct event){.name = profile_intern_str(
								    &w->p, i ? "imiss" : "cycles"),
							    .period = 10});
	for (unsigned i = 0; i < N_IMAGES; i++)
		images[i] =
			profile_intern_image(&w->p, &(struct image){.kind = i == MARK ? IMAGE_MARK
									    : i == 3 ? IMAGE_UNKNOWN
										     : IMAGE_ANON,
								    .path = paths[i]});
	for (unsigned i = 0; i < N_OWNERS; i++)
		owners[i] = profile_intern_owner(
			&w->p, &(struct owner){.comm = profile_intern_str(&w->p, comms[i % 3]),
					       .uid = OWNER_UID_UNKNOWN,
					       .pid = 1 + i / 3});
	for (unsigned i = 0; i < N_VALUES; i++)
		profile_add_value(&w->p, &(struct value){.owner = owners[t_below(&r, N_OWNERS)],
							 .ctx = random_path(&r, &w->p, images),
							 .event = (event_id)t_below(&r, N_EVENTS),
							 .count = 1 + t_below(&r, 100)});
	query_init(&w->q, &w->p, w->r, &everything, NULL);
}

static void world_release(struct world *w)
{
	query_release(&w->q);
	resolver_free(w->r);
	profile_release(&w->p);
}

/* The scopes of a value from the outermost on, those of its owner first. */
struct path {
	scope_id at[DEEPEST + 4];
	unsigned n;
};

static struct path path_of(const struct tree *t, const struct tree_opts *o, const struct value *v)
{
	const struct profile *p = t->q->profile;
	const struct owner *owner = &p->owners.v[v->owner];
	ctx_id chain[DEEPEST + 2];
	struct path path = {0};
	unsigned n = 0;

	for (unsigned i = 0; i < o->n_owners; i++)
		for (scope_id s = 1; s < t->scopes.scopes.n; s++) {
			const struct scope *sc = &t->scopes.scopes.v[s];

			if (sc->kind == SCOPE_OWNER && sc->owner == o->owners[i] &&
			    sc->svma == owner_value(owner, o->owners[i]))
				path.at[path.n++] = s;
		}
	for (ctx_id c = v->ctx; c; c = p->ctxs.v[c].parent)
		chain[n++] = c;
	while (n > 0) {
		uint32_t n_scopes;
		scope_id s = *scopes_of_place(&t->scopes, p->ctxs.v[chain[--n]].place, &n_scopes);

		if (!(o->fold_recursion || o->scopes.level == SCOPE_IMAGE) || !path.n ||
		    path.at[path.n - 1] != s)
			path.at[path.n++] = s;
	}
	return path;
}

static bool same(const scope_id *a, const scope_id *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* What ROW must count of a sample of PATH. */
static void expect_of(const struct path *path, const struct path *row, unsigned n_owners,
		      enum tree_form form, bool *ret_inclusive, bool *ret_exclusive)
{
	unsigned n = row->n > n_owners ? row->n - n_owners : 0;
	scope_id up[DEEPEST + 4];

	*ret_inclusive = *ret_exclusive = false;
	if (form == TREE_DOWN) {
		*ret_inclusive = path->n >= row->n && same(path->at, row->at, row->n);
		*ret_exclusive = *ret_inclusive && path->n == row->n;
		return;
	}
	if (!same(path->at, row->at, row->n < n_owners ? row->n : n_owners))
		return;
	for (unsigned i = 0; i < n; i++)
		up[i] = row->at[row->n - 1 - i];
	for (unsigned i = n_owners; i + n <= path->n; i++)
		*ret_inclusive |= same(path->at + i, up, n);
	*ret_exclusive = path->n >= n_owners + n && same(path->at + path->n - n, up, n);
}

static struct path path_of_row(const struct tree_rows *rows, const struct tree_row *r)
{
	struct path path = {.n = r->depth + 1};

	for (unsigned i = path.n; i-- > 0; r = &rows->rows.v[r->parent])
		path.at[i] = r->scope;
	return path;
}

static void check_rows(const struct world *w, const struct tree *t, const struct tree_opts *o,
		       const struct tree_rows *rows, enum tree_form form)
{
	vec_each (r, &rows->rows) {
		struct path row = path_of_row(rows, r);
		sums inclusive = {0}, exclusive = {0};

		EXPECT(!r->n_hidden);
		vec_each (v, &w->p.values) {
			struct path path = path_of(t, o, v);
			bool in, ex;

			expect_of(&path, &row, o->n_owners, form, &in, &ex);
			inclusive[v->event] += in ? v->count : 0;
			exclusive[v->event] += ex ? v->count : 0;
		}
		for (unsigned e = 0; e < N_EVENTS; e++) {
			EXPECT_EQ((uint64_t)r->inclusive[e], inclusive[e]);
			EXPECT_EQ((uint64_t)r->exclusive[e], exclusive[e]);
		}
	}
}

/* What is hidden is in the sums. */
static void check_sums(const struct tree *t, const struct tree_rows *rows, enum tree_form form)
{
	for (size_t i = 0; i <= rows->rows.n; i++) {
		uint32_t parent = i < rows->rows.n ? (uint32_t)i : TREE_ROW_NONE;
		const struct tree_row *up = i < rows->rows.n ? &rows->rows.v[i] : NULL;
		sums inclusive = {0}, exclusive = {0};
		bool any = false;

		vec_each (r, &rows->rows)
			for (unsigned e = 0; r->parent == parent && e < N_EVENTS; e++) {
				any = true;
				inclusive[e] += r->inclusive ? (uint64_t)r->inclusive[e] : 0;
				exclusive[e] += (uint64_t)r->exclusive[e];
			}
		for (unsigned e = 0; any && e < N_EVENTS; e++) {
			if (form == TREE_DOWN)
				EXPECT_EQ(inclusive[e] + (up ? (uint64_t)up->exclusive[e] : 0),
					  up ? (uint64_t)up->inclusive[e]
					     : t->q->cols[e].n_samples);
			else if (!up)
				EXPECT_EQ(exclusive[e], t->q->cols[e].n_samples);
		}
	}
}

/* Rows of what could not be followed come behind all others. */
static bool is_truncated(const struct tree *t, const struct tree_row *r)
{
	const struct scope *sc = &t->scopes.scopes.v[r->scope];

	return sc->kind == SCOPE_MARK && strncmp(sc->name, "[truncated", 10) == 0;
}

static void check_order(const struct tree *t, const struct tree_rows *rows,
			const struct tree_rows_opts *o)
{
	uint64_t *last = calloc(rows->rows.n + 1, sizeof(*last));
	bool *behind = calloc(rows->rows.n + 1, sizeof(*behind));

	for (size_t i = 0; i <= rows->rows.n; i++)
		last[i] = UINT64_MAX;
	vec_each (r, &rows->rows) {
		size_t parent = r->parent == TREE_ROW_NONE ? rows->rows.n : r->parent;
		uint64_t n = (uint64_t)(o->by_inclusive && r->inclusive ? r->inclusive
									: r->exclusive)[t->q->sort];

		EXPECT(parent == rows->rows.n || parent < (size_t)(r - rows->rows.v));
		if (r->n_hidden)
			continue;
		EXPECT(is_truncated(t, r) ? !behind[parent] || n <= last[parent]
					  : !behind[parent] && n <= last[parent]);
		behind[parent] = is_truncated(t, r);
		last[parent] = n;
	}
	free(behind);
	free(last);
}

static void check_tree(const struct world *w, const struct tree *t)
{
	const unsigned n_cols = t->q->n_cols;

	EXPECT_EQ(t->end[0], t->n);
	for (unsigned e = 0; e < n_cols; e++)
		EXPECT_EQ(t->inclusive[e], profile_n_samples(&w->p, e));
	for (node_id i = 0; i < t->n; i++) {
		sums sum = {0};

		EXPECT(t->end[i] > i && t->end[i] <= t->n);
		for (node_id k = i + 1; k < t->end[i]; k = t->end[k]) {
			EXPECT_EQ(t->parent[k], i);
			for (unsigned e = 0; e < n_cols; e++)
				sum[e] += tree_inclusive(t, k)[e];
		}
		for (unsigned e = 0; e < n_cols; e++)
			EXPECT_EQ(tree_inclusive(t, i)[e], sum[e] + tree_exclusive(t, i)[e]);
	}
}

/* Distinct chains that rows must be there for: the beginnings of paths, or their parts. */
static size_t count_chains(const struct world *w, const struct tree *t, const struct tree_opts *o,
			   enum tree_form form)
{
	VEC(struct path) chains = {0};
	size_t n;

	vec_each (v, &w->p.values) {
		struct path path = path_of(t, o, v);
		unsigned k = o->n_owners;

		for (unsigned from = 0; from < (form == TREE_DOWN ? 1 : path.n - k); from++)
			for (unsigned to = 1; to <= path.n; to++) {
				struct path part = path;
				bool again = false;

				if (form != TREE_DOWN && to > k) {
					if (k + from >= to ||
					    (form == TREE_FLAT && to > k + from + 1))
						continue;
					memmove(part.at + k, part.at + k + from,
						(to - k - from) * sizeof(*part.at));
					part.n = to - from;
				} else {
					part.n = to;
				}
				vec_each (c, &chains)
					again |= c->n == part.n && same(c->at, part.at, part.n);
				if (!again)
					vec_push(&chains, part);
			}
	}
	n = chains.n;
	vec_release(&chains);
	return n;
}

/* ROWS without sums of hidden rows that are small themselves: all others are there, in order. */
static void check_no_small_sums(struct tree_source *source, const struct tree_rows *all,
				struct tree_rows_opts o)
{
	const struct query *q = tree_source_tree(source)->q;
	double total = (double)q->cols[q->sort].n_samples;
	struct tree_rows rows;
	size_t n = 0;

	o.no_small_sums = true;
	EXPECT_EQ(tree_rows_init(&rows, source, &o, NULL), 0);
	vec_each (r, &all->rows) {
		const double *counts = o.by_inclusive && r->inclusive ? r->inclusive : r->exclusive;

		if (r->n_hidden && r->parent != TREE_ROW_NONE &&
		    counts[q->sort] * 100 < o.least_pct * total)
			continue;
		EXPECT(n < rows.rows.n);
		if (n < rows.rows.n) {
			EXPECT_EQ(rows.rows.v[n].scope, r->scope);
			EXPECT_EQ(rows.rows.v[n].n_hidden, r->n_hidden);
			EXPECT_EQ(rows.rows.v[n].depth, r->depth);
		}
		n++;
	}
	EXPECT_EQ(rows.rows.n, n);
	tree_rows_release(&rows);
}

static void check_form(const struct world *w, struct tree *t, const struct tree_opts *o,
		       enum tree_form form)
{
	static const double limits[] = {0, 3, 20, 100};
	struct tree_source *source;
	struct columns columns;

	cols_of_query(&columns, t->q);
	REQUIRE(tree_source_open(&source, t->q, &columns, o, NULL) == 0);
	for (size_t i = 0; i < 2 * n_elems(limits); i++) {
		const struct tree_rows_opts ro = {
			.form = form, .least_pct = limits[i / 2], .by_inclusive = i % 2};
		struct tree_rows rows;

		EXPECT_EQ(tree_rows_init(&rows, source, &ro, NULL), 0);
		if (ro.least_pct == 0) {
			check_rows(w, t, o, &rows, form);
			EXPECT_EQ(rows.rows.n, count_chains(w, t, o, form));
		}
		check_sums(t, &rows, form);
		check_order(t, &rows, &ro);
		check_no_small_sums(source, &rows, ro);
		tree_rows_release(&rows);
	}
	tree_source_close(source);
	cols_release(&columns);
}

static void check_world(uint64_t seed, const struct tree_opts *o)
{
	struct world w;
	struct tree t;

	world_init(&w, seed);
	EXPECT_EQ(tree_init(&t, &w.q, o, NULL), 0);
	check_tree(&w, &t);
	for (enum tree_form form = TREE_DOWN; form <= TREE_FLAT; form++)
		check_form(&w, &t, o, form);
	tree_release(&t);
	world_release(&w);
}

TEST(tree_by_address)
{
	const struct tree_opts o = {.scopes.level = SCOPE_ADDRESS};

	for (uint64_t seed = 1; seed <= 8; seed++)
		check_world(seed, &o);
}

TEST(tree_by_image)
{
	const struct tree_opts o = {.scopes.level = SCOPE_IMAGE};

	for (uint64_t seed = 11; seed <= 18; seed++)
		check_world(seed, &o);
}

TEST(tree_folds_recursion)
{
	const struct tree_opts o = {.scopes.level = SCOPE_ADDRESS, .fold_recursion = true};

	for (uint64_t seed = 21; seed <= 28; seed++)
		check_world(seed, &o);
}

TEST(tree_by_owners)
{
	const struct tree_opts o = {.scopes.level = SCOPE_ADDRESS,
				    .owners = {OWNER_KEY_COMM, OWNER_KEY_PID},
				    .n_owners = 2};

	for (uint64_t seed = 31; seed <= 36; seed++)
		check_world(seed, &o);
}

/* Focus and ignore by path; guessed frames and marks are counted whatever is shown. */
TEST(tree_patterns)
{
	for (uint64_t seed = 41; seed <= 48; seed++) {
		const struct tree_opts o = {
			.scopes = {.level = SCOPE_ADDRESS, .focus = "\\] b", .ignore = "\\] c$"}};
		sums kept = {0}, ignored = {0}, other = {0}, guessed = {0}, marked = {0};
		struct world w;
		struct tree t;

		world_init(&w, seed);
		REQUIRE(tree_init(&t, &w.q, &o, NULL) == 0);
		vec_each (v, &w.p.values) {
			bool b = false, c = false, g = false, m = false;

			for (ctx_id x = v->ctx; x; x = w.p.ctxs.v[x].parent) {
				const struct place *pl = &w.p.places.v[w.p.ctxs.v[x].place];
				const char *path = w.p.images.v[pl->image].path;

				b |= strcmp(path, "[anon] b") == 0;
				c |= strcmp(path, "[anon] c") == 0;
				g |= pl->flags & PLACE_GUESSED;
				m |= w.p.images.v[pl->image].kind == IMAGE_MARK;
			}
			*(c   ? &ignored[v->event]
			  : b ? &kept[v->event]
			      : &other[v->event]) += v->count;
			guessed[v->event] += b && !c && g ? v->count : 0;
			marked[v->event] += b && !c && m ? v->count : 0;
		}
		for (unsigned e = 0; e < N_EVENTS; e++) {
			EXPECT_EQ(t.inclusive[e], kept[e]);
			EXPECT_EQ(t.n_ignored[e], ignored[e]);
			EXPECT_EQ(t.n_not_focus[e], other[e]);
			EXPECT_EQ(t.n_guessed[e], guessed[e]);
			EXPECT_EQ(t.n_truncated[e], marked[e]);
		}
		tree_release(&t);
		world_release(&w);
	}
}

TEST(folded_adds_up)
{
	const struct stacks_opts o = {.no_inline = false};
	struct out_stream out = {.fd = -1};
	struct exporter_result ret = {0};
	struct world w;
	struct source *s = NULL;
	struct stacks stacks;
	uint64_t sum = 0;

	world_init(&w, 51);
	REQUIRE(samples_source_of(&s, &w.q, NULL, NULL) == 0);
	REQUIRE(source_stacks(s, &o, &stacks, NULL) == 0);
	EXPECT_EQ(folded_out_write(&stacks, &out, &ret, NULL), 0);
	EXPECT_EQ(ret.n, w.q.cols[w.q.sort].n_samples);
	for (char *rest, *line = strtok_r(out.text.v, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *n = strrchr(line, ' ');

		REQUIRE(n);
		EXPECT(strchr(line, ';') != NULL);
		sum += strtoull(n, NULL, 10);
	}
	EXPECT_EQ(sum, w.q.cols[w.q.sort].n_samples);
	out_stream_release(&out);
	str_release(&ret.notes);
	stacks_release(&stacks);
	source_close(s);
	world_release(&w);
}

TEST(tree_parses_by)
{
	struct tree_opts o = {0};
	struct err err;

	EXPECT_EQ(tree_parse_by("label,comm,dso,label", &o, &err), 0);
	EXPECT_EQ(o.n_owners, 2);
	EXPECT_EQ(o.owners[1], OWNER_KEY_COMM);
	EXPECT_EQ(o.scopes.level, SCOPE_IMAGE);
	EXPECT_EQ(tree_parse_by("process", &o, &err), 0);
	EXPECT_EQ(o.owners[0], OWNER_KEY_PID);
	EXPECT_EQ(o.n_owners, 1);
	EXPECT_EQ(o.scopes.level, SCOPE_PROCEDURE);
	EXPECT(tree_parse_by("", &o, &err) < 0);
	EXPECT(tree_parse_by("sym,line", &o, &err) < 0);
}
