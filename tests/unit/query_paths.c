/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows by owner, inclusive counts, callers and callees, against sums made sample by sample: random
 * call paths with recursion, through two programs made here whose procedures are 16 bytes each. */
#include "query/samples/paths.h"
#include "query/samples/source.h"
#include "query/samples/neighbours.h"
#include "resolve/elf_probe.h"
#include "t.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define START	 0x401000
#define N_PROCS	 6
#define N_IMAGES 5 /* two programs, the kernel, unknown, a mark */
#define MARK	 4
#define N_CODES	 (N_IMAGES * (N_PROCS + 1)) /* the last of each image: no symbol */
#define N_COMMS	 3
#define N_PIDS	 3
#define N_GROUPS (N_COMMS * N_PIDS * 2) /* idle or not */
#define N_EVENTS 2
#define NOBODY	 N_CODES /* [root], [self] */

struct world {
	char dir[64];
	struct profile p;
	struct resolver *r;
	image_id images[N_IMAGES];
	event_id events[N_EVENTS];
	owner_id owners[N_GROUPS];
};

typedef uint64_t sums[N_EVENTS];

static bool make_image(struct world *w, unsigned i)
{
	char path[80], source[96], cmd[400];
	struct image im = {.kind = IMAGE_FILE, .path = path};
	struct image_layout l;
	bool good;
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "%s/prog%u", w->dir, i);
	snprintf(source, sizeof(source), "%s.S", path);
	f = fopen(source, "w");
	fputs(".text\n.globl _start\n_start:\n", f);
	for (unsigned k = 0; k < N_PROCS; k++)
		fprintf(f,
			".globl p%u\n.type p%u, @function\np%u: .fill 16, 1, %#x\n.size p%u, 16\n",
			k, k, k, 0x90 + i, k);
	fputs(".fill 32, 1, 0xcc\n", f);
	fclose(f);
	snprintf(cmd, sizeof(cmd),
		 "gcc -nostdlib -static -no-pie -Wl,-Ttext=%#x,--build-id -o %s %s", START, path,
		 source);
	if (system(cmd) != 0)
		return false;
	fd = open(path, O_RDONLY);
	good = elf_probe(fd, &l, NULL) == 0;
	close(fd);
	im.build_id = l.build_id;
	w->images[i] = profile_intern_image(&w->p, &im);
	return good;
}

static bool world_init(struct world *w)
{
	struct resolver_opts ro = {.proc_dir = w->dir, .sys_dir = w->dir, .no_save = true};
	static const char *const names[N_EVENTS] = {"cycles", "imiss"}, *const comms[N_COMMS] = {
										"", "cc1", "make"};

	*w = (struct world){.dir = "/tmp/query_paths.XXXXXX"};
	if (!mkdtemp(w->dir))
		return false;
	profile_init(&w->p);
	if (!make_image(w, 0) || !make_image(w, 1))
		return false;
	w->images[2] = profile_intern_image(
		&w->p, &(struct image){.kind = IMAGE_KERNEL, .path = "[kernel]"});
	w->images[3] =
		profile_intern_image(&w->p, &(struct image){.kind = IMAGE_UNKNOWN, .path = ""});
	w->images[MARK] = profile_intern_image(
		&w->p, &(struct image){.kind = IMAGE_MARK, .path = "[truncated: depth]"});
	for (unsigned e = 0; e < N_EVENTS; e++)
		w->events[e] = profile_intern_event(
			&w->p,
			&(struct event){.name = profile_intern_str(&w->p, names[e]), .period = 1});
	for (unsigned g = 0; g < N_GROUPS; g++)
		w->owners[g] = profile_intern_owner(
			&w->p,
			&(struct owner){.comm = profile_intern_str(&w->p, comms[g % N_COMMS]),
					.uid = OWNER_UID_UNKNOWN,
					.pid = g / N_COMMS % N_PIDS,
					.flags = g >= N_GROUPS / 2 ? OWNER_IDLE : 0});
	w->r = resolver_new(&ro);
	return true;
}

static void world_release(struct world *w)
{
	char cmd[80];

	resolver_free(w->r);
	profile_release(&w->p);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", w->dir);
	if (system(cmd) != 0)
		printf("# %s stays\n", w->dir);
}

/* --- sample by sample --- */

static unsigned image_number(const struct world *w, image_id image)
{
	unsigned i = 0;

	while (w->images[i] != image)
		i++;
	return i;
}

static unsigned code_at(unsigned image, uint64_t svma)
{
	unsigned proc =
		image < 2 && svma - START < 16 * N_PROCS ? (unsigned)(svma - START) / 16 : N_PROCS;

	return image * (N_PROCS + 1) + proc;
}

static unsigned code_of_row(const struct world *w, const struct spot_row *r)
{
	return code_at(image_number(w, r->image),
		       r->proc == PROC_NONE ? START + 16 * N_PROCS : r->svma);
}

/* The codes on V's path, outermost first; 0 when no reader counts it. */
static unsigned path_of(const struct world *w, const struct value *v, unsigned codes[64])
{
	unsigned n = 0;

	for (ctx_id c = v->ctx; c; c = w->p.ctxs.v[c].parent) {
		const struct place *pl = &w->p.places.v[w->p.ctxs.v[c].place];

		codes[n++] = code_at(image_number(w, pl->image), pl->svma);
	}
	for (unsigned i = 0; i < n / 2; i++) {
		unsigned swap = codes[i];

		codes[i] = codes[n - 1 - i];
		codes[n - 1 - i] = swap;
	}
	/* The kernel has no names here: its idle tasks idle wherever they are in it. */
	if (n && w->p.owners.v[v->owner].flags & OWNER_IDLE && codes[n - 1] / (N_PROCS + 1) == 2)
		return 0;
	return n;
}

static unsigned group_of(const struct world *w, owner_id owner)
{
	unsigned g = 0;

	while (w->owners[g] != owner)
		g++;
	return g;
}

static void fill(struct world *w, struct t_rng *r)
{
	ctx_id some[40] = {0};

	w->p.values.n = 0;
	vec_each (kin, &w->p.ctx_kin)
		kin->value = 0;
	index_clear(&w->p.value_ix);
	for (unsigned i = 0; i < 5 + t_below(r, 200); i++) {
		/* Often on from a path that is there, so that paths share their beginning. */
		ctx_id c = t_below(r, 2) ? some[t_below(r, n_elems(some))] : 0;
		unsigned depth = 0;

		for (ctx_id up = c; up; up = w->p.ctxs.v[up].parent)
			depth++;
		if (!c && t_below(r, 4) == 0)
			c = profile_intern_ctx(&w->p, 0,
					       profile_intern_place(&w->p, w->images[MARK], 0, 0));
		for (uint64_t d = 1 + t_below(r, 6); d > 0 && depth < 60; d--, depth++) {
			unsigned image = (unsigned)t_below(r, 8);
			uint64_t svma = START + t_below(r, 16 * (N_PROCS + 1));

			c = profile_intern_ctx(
				&w->p, c,
				profile_intern_place(&w->p, w->images[image < MARK ? image : 0],
						     svma, (uint32_t)t_below(r, 2)));
		}
		some[t_below(r, n_elems(some))] = c;
		profile_add_value(&w->p, &(struct value){.owner = w->owners[t_below(r, N_GROUPS)],
							 .ctx = c,
							 .event = w->events[t_below(r, N_EVENTS)],
							 .count = 1 + t_below(r, 100)});
	}
}

/* What a group is by a list of keys: those not in it are taken as the first. */
static unsigned reduced(const struct world *w, const struct row_by *by, owner_id owner)
{
	unsigned g = group_of(w, owner), ret = 0;
	bool idle = g >= N_GROUPS / 2, stands_in = false;

	for (unsigned i = 0; i < by->n; i++) {
		if (by->keys[i] == OWNER_KEY_COMM)
			ret += g % N_COMMS;
		if (by->keys[i] == OWNER_KEY_PID)
			ret += g / N_COMMS % N_PIDS * N_COMMS;
		/* Owners without the name or number stand apart as "[idle]" and "[unknown]". */
		if (idle && ((by->keys[i] == OWNER_KEY_COMM && g % N_COMMS == 0) ||
			     (by->keys[i] == OWNER_KEY_PID && g / N_COMMS % N_PIDS == 0)))
			stands_in = true;
	}
	return stands_in ? ret + N_GROUPS : ret;
}

struct expected {
	sums own[2 * N_GROUPS][N_CODES + 1], inclusive[2 * N_GROUPS][N_CODES + 1];
};

static unsigned column(const struct world *w, const struct value *v)
{
	return v->event == w->events[1];
}

static void expect_rows(const struct world *w, const struct row_by *by, struct expected *x)
{
	const unsigned key = rows_code_key(by);
	unsigned codes[64];

	memset(x, 0, sizeof(*x));
	vec_each (v, &w->p.values) {
		unsigned n = path_of(w, v, codes), g = reduced(w, by, v->owner);
		bool seen[N_CODES + 1] = {false};

		for (unsigned i = 0; i < n; i++) {
			unsigned code = key == ROW_KEY_PROCEDURE ? codes[i]
					: key ? codes[i] / (N_PROCS + 1) * (N_PROCS + 1) + N_PROCS
					      : NOBODY;

			if (i == n - 1)
				x->own[g][code][column(w, v)] += v->count;
			if (!seen[code])
				x->inclusive[g][code][column(w, v)] += v->count;
			seen[code] = true;
		}
	}
}

/* Rows of a source come by falling numbers. */
static void check_order(struct query *q, const struct row_by *by, bool inclusive)
{
	const struct flat_opts o = {
		.by = *by,
		.level = rows_code_key(by) == ROW_KEY_PROCEDURE ? SCOPE_PROCEDURE
			 : rows_code_key(by)			? SCOPE_IMAGE
								: SCOPE_ROOT,
		.inclusive = inclusive,
		.keep_pct = 100,
	};
	struct source *s;
	struct flat f;

	REQUIRE(samples_source_of(&s, q, NULL, NULL) == 0);
	EXPECT_EQ(source_flat(s, &o, &f, NULL), 0);
	for (size_t i = 1; i < f.rows.n; i++)
		EXPECT(f.rows.v[i - 1].own[q->sort] >= f.rows.v[i].own[q->sort]);
	flat_release(&f);
	source_close(s);
}

static void check_rows(struct world *w, struct query *q, const struct row_by *by, bool inclusive)
{
	static struct expected x;
	struct spot_rows rows = {0};
	size_t n = 0;

	expect_rows(w, by, &x);
	paths_rows(q, by, inclusive, NULL, &rows);
	for (unsigned g = 0; g < 2 * N_GROUPS; g++)
		for (unsigned c = 0; c <= N_CODES; c++)
			n += inclusive ? x.inclusive[g][c][0] || x.inclusive[g][c][1]
				       : x.own[g][c][0] || x.own[g][c][1];
	EXPECT_EQ(rows.rows.n, n);
	vec_each (r, &rows.rows) {
		unsigned code = r->image == ROW_NO_IMAGE ? NOBODY : code_of_row(w, r);
		unsigned g = reduced(w, by, r->owner);

		for (unsigned e = 0; e < N_EVENTS; e++) {
			EXPECT_EQ(r->counts[e], x.own[g][code][e]);
			if (inclusive)
				EXPECT_EQ(r->inclusive[e], x.inclusive[g][code][e]);
		}
	}
	rows_release(&rows);
	check_order(q, by, inclusive);
}

TEST(rows_by_owner_and_inclusive)
{
	static const struct {
		const char *by;
		bool inclusive;
	} tables[] = {{"procedure", true},	{"image", true},
		      {"comm", false},		{"pid,comm", false},
		      {"comm,procedure", true}, {"procedure,pid", false},
		      {"image,pid", true},	{"pid,comm,procedure", true}};
	struct t_rng r = {42};
	struct world w;

	REQUIRE(world_init(&w));
	for (unsigned i = 0; i < t_cases(60); i++) {
		struct query q;

		fill(&w, &r);
		REQUIRE(query_init(&q, &w.p, w.r, &(struct select){0}, NULL) == 0);
		for (size_t k = 0; k < n_elems(tables); k++) {
			struct row_by by;

			REQUIRE(rows_parse_by(tables[k].by, &by, NULL) == 0);
			check_rows(&w, &q, &by, tables[k].inclusive);
		}
		query_release(&q);
		if (t_failed)
			break;
	}
	world_release(&w);
}

static void check_neighbours(struct world *w, struct query *q, enum neighbour_kind kind,
			     unsigned proc)
{
	sums x[N_CODES + 1] = {{0}}, inclusive = {0}, own = {0};
	unsigned codes[64], other = N_PROCS + 1 + proc;
	struct neighbours nb;
	size_t n_rows = 0;
	struct err err;
	char name[8];

	vec_each (v, &w->p.values) {
		unsigned n = path_of(w, v, codes), e = column(w, v), first = n, last = n;

		for (unsigned i = 0; i < n; i++)
			if (codes[i] == proc || codes[i] == other) {
				first = first == n ? i : first;
				last = i;
			}
		if (first == n)
			continue;
		inclusive[e] += v->count;
		if (last == n - 1)
			own[e] += v->count;
		if (kind == NEIGHBOUR_CALLERS)
			x[first ? codes[first - 1] : NOBODY][e] += v->count;
		else
			x[last < n - 1 ? codes[last + 1] : NOBODY][e] += v->count;
	}
	for (unsigned c = 0; c <= N_CODES; c++)
		n_rows += x[c][0] || x[c][1];
	snprintf(name, sizeof(name), "p%u", proc);
	if (neighbours_find(q, kind, name, NULL, &nb, &err) < 0) {
		EXPECT_EQ(inclusive[0] + inclusive[1], 0);
		return;
	}
	EXPECT(inclusive[0] + inclusive[1] > 0);
	EXPECT_STR(nb.procedure, name);
	EXPECT_EQ(nb.rows.rows.n, n_rows);
	for (unsigned e = 0; e < N_EVENTS; e++) {
		EXPECT_EQ(nb.inclusive[e], inclusive[e]);
		EXPECT_EQ(nb.exclusive[e], own[e]);
	}
	EXPECT_EQ(nb.rows.total, inclusive[q->sort]);
	vec_each (r, &nb.rows.rows) {
		unsigned code = r->image == ROW_NO_IMAGE ? NOBODY : code_of_row(w, r);

		EXPECT(code != proc && code != other);
		for (unsigned e = 0; e < N_EVENTS; e++)
			EXPECT_EQ(r->counts[e], x[code][e]);
	}
	neighbours_release(&nb);
}

TEST(callers_and_callees)
{
	struct t_rng r = {43};
	struct world w;

	REQUIRE(world_init(&w));
	for (unsigned i = 0; i < t_cases(60); i++) {
		struct query q;

		fill(&w, &r);
		REQUIRE(query_init(&q, &w.p, w.r, &(struct select){0}, NULL) == 0);
		for (unsigned proc = 0; proc < N_PROCS && query_has_paths(&q); proc++) {
			check_neighbours(&w, &q, NEIGHBOUR_CALLERS, proc);
			check_neighbours(&w, &q, NEIGHBOUR_CALLEES, proc);
		}
		query_release(&q);
		if (t_failed)
			break;
	}
	world_release(&w);
}

/* A path of ten thousand calls of two procedures: each sample once, and no stack of our own used
 * up. */
TEST(deep_recursion)
{
	unsigned n_outer = 0;
	struct spot_rows rows = {0};
	struct row_by by;
	struct world w;
	struct query q;
	ctx_id c = 0;

	REQUIRE(world_init(&w));
	for (unsigned d = 0; d < 10000; d++) {
		c = profile_intern_ctx(
			&w.p, c, profile_intern_place(&w.p, w.images[0], START + d % 2 * 16, 0));
		profile_add_value(&w.p, &(struct value){.owner = w.owners[1],
							.ctx = c,
							.event = w.events[0],
							.count = 1});
	}
	REQUIRE(query_init(&q, &w.p, w.r, &(struct select){0}, NULL) == 0);
	REQUIRE(rows_parse_by("comm,procedure", &by, NULL) == 0);
	paths_rows(&q, &by, true, NULL, &rows);
	REQUIRE(rows.rows.n == 2);
	for (size_t i = 0; i < 2; i++) {
		const bool outer = rows.rows.v[i].inclusive[0] == 10000;

		EXPECT_EQ(rows.rows.v[i].counts[0], 5000);
		EXPECT_EQ(rows.rows.v[i].inclusive[0], outer ? 10000 : 9999);
		n_outer += outer;
	}
	EXPECT_EQ(n_outer, 1);
	rows_release(&rows);
	query_release(&q);
	world_release(&w);
}

TEST(by_parsing)
{
	struct row_by by;
	struct err err;

	REQUIRE(rows_parse_by("pid,image,comm,procedure,pid", &by, NULL) == 0);
	REQUIRE(by.n == 3);
	EXPECT_EQ(by.keys[0], OWNER_KEY_PID);
	EXPECT_EQ(by.keys[1], OWNER_KEY_COMM);
	EXPECT_EQ(by.keys[2], ROW_KEY_PROCEDURE);
	EXPECT_EQ(rows_code_key(&by), ROW_KEY_PROCEDURE);
	EXPECT(rows_parse_by("", &by, &err) < 0);
	EXPECT(rows_parse_by("comm,", &by, &err) < 0);
	EXPECT(rows_parse_by("com", &by, &err) < 0);
}
