/* SPDX-License-Identifier: BSD-2-Clause */
/* Aggregation, idle time, rows and the table of prof, on a profile made here for a program
 * assembled here, whose addresses are fixed. */
#include "query/samples/source.h"
#include "resolve/elf_probe.h"
#include "t.h"
#include "view/prof.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const char program[] =
	".text\n"
	".globl _start, hot, cold\n"
	".type _start, @function\n.type hot, @function\n.type cold, @function\n"
	"_start: .skip 16, 0x90\n.size _start, 16\n"
	"hot: .skip 32, 0x90\n.size hot, 32\n"
	"cold: .skip 16, 0x90\n.size cold, 16\n"
	".skip 16, 0xcc\n";

struct world {
	char dir[64], path[80];
	struct profile p;
	struct resolver *r;
	image_id prog, kernel, nowhere;
	event_id cycles, imiss;
	owner_id user, idle;
};

static bool run(const char *fmt, const char *a, const char *b)
{
	char cmd[512];

	snprintf(cmd, sizeof(cmd), fmt, a, b);
	return system(cmd) == 0;
}

static void add(struct world *w, owner_id owner, image_id image, uint64_t svma, event_id event,
		uint64_t n)
{
	const struct value v = {
		.owner = owner,
		.ctx = profile_flat_ctx(&w->p, profile_intern_place(&w->p, image, svma, 0)),
		.event = event,
		.count = n,
	};

	profile_add_value(&w->p, &v);
}

static bool world_init(struct world *w)
{
	struct resolver_opts ro = {.proc_dir = w->dir, .sys_dir = w->dir};
	struct image_layout l;
	struct image im = {.kind = IMAGE_FILE, .path = w->path};
	char source[96];
	FILE *f;
	int fd;

	*w = (struct world){.dir = "/tmp/query_rows.XXXXXX"};
	if (!mkdtemp(w->dir))
		return false;
	snprintf(w->path, sizeof(w->path), "%s/prog", w->dir);
	snprintf(source, sizeof(source), "%s/prog.S", w->dir);
	f = fopen(source, "w");
	fputs(program, f);
	fclose(f);
	if (!run("gcc -nostdlib -static -no-pie -Wl,-Ttext=0x401000,--build-id -o %s %s", w->path,
		 source))
		return false;
	fd = open(w->path, O_RDONLY);
	if (elf_probe(fd, &l, NULL) < 0)
		return false;
	close(fd);
	im.build_id = l.build_id;
	profile_init(&w->p);
	w->prog = profile_intern_image(&w->p, &im);
	w->kernel = profile_intern_image(&w->p,
					 &(struct image){.kind = IMAGE_KERNEL, .path = "[kernel]"});
	w->nowhere =
		profile_intern_image(&w->p, &(struct image){.kind = IMAGE_UNKNOWN, .path = ""});
	w->cycles = profile_intern_event(
		&w->p, &(struct event){.name = profile_intern_str(&w->p, "cycles:u"),
				       .period = 1000,
				       .total = 20000,
				       .n_reached = 23});
	w->imiss = profile_intern_event(&w->p,
					&(struct event){.name = profile_intern_str(&w->p, "imiss"),
							.period = 10,
							.enabled_ns = 400,
							.running_ns = 100});
	w->user = profile_intern_owner(&w->p,
				       &(struct owner){.comm = profile_intern_str(&w->p, "prog"),
						       .label = profile_intern_str(&w->p, "run1")});
	w->idle = profile_intern_owner(&w->p, &(struct owner){.flags = OWNER_IDLE});
	w->r = resolver_new(&ro);
	return true;
}

static void world_release(struct world *w)
{
	resolver_free(w->r);
	profile_release(&w->p);
	run("rm -rf %s%s", w->dir, "");
}

/* hot: 8 cycles at two places; cold: 1 cycle, 3 imiss; behind the code: 1; nowhere: 2; kernel: 2 +
 * 5 idle. */
static void fill(struct world *w)
{
	add(w, w->user, w->prog, 0x40102f, w->cycles, 3);
	add(w, w->user, w->prog, 0x401010, w->cycles, 5);
	add(w, 0, w->prog, 0x401030, w->cycles, 1);
	add(w, w->user, w->prog, 0x401030, w->imiss, 3);
	add(w, w->user, w->prog, 0x401044, w->cycles, 1);
	add(w, 0, w->nowhere, 0x77, w->cycles, 2);
	add(w, 0, w->kernel, 0xffffffff81000010, w->cycles, 2);
	add(w, w->idle, w->kernel, 0xffffffff81000010, w->cycles, 5);
	profile_add_loss(&w->p, "ring_full", w->cycles, 4);
}

static const struct select everything;

TEST(query_totals)
{
	struct world w;
	struct query q;

	REQUIRE(world_init(&w));
	fill(&w);
	REQUIRE(query_init(&q, &w.p, w.r, &everything, NULL) == 0);
	REQUIRE(q.n_cols == 2);
	EXPECT_EQ(q.cols[0].n_samples, 14);
	EXPECT_EQ(q.cols[0].n_idle, 5);
	EXPECT_EQ(q.cols[0].n_samples + q.cols[0].n_idle, profile_n_samples(&w.p, w.cycles));
	EXPECT_EQ(q.cols[0].n_kernel, 2);
	EXPECT_EQ(q.cols[0].n_unknown, 2);
	EXPECT_EQ(q.cols[0].n_lost, 4);
	EXPECT_EQ(q.cols[0].not_delivered, 2);
	EXPECT_EQ(q.cols[1].n_samples, 3);
	EXPECT_EQ(query_scaled(&q.cols[1], 3), 12);
	EXPECT_EQ(q.n_spots, 6);
	for (size_t i = 1; i < q.n_spots; i++)
		EXPECT(q.spots[i - 1].image < q.spots[i].image ||
		       q.spots[i - 1].svma < q.spots[i].svma);
	query_release(&q);
	world_release(&w);
}

TEST(query_selects)
{
	struct select s = {0};
	struct world w;
	struct query q;
	struct err err;

	REQUIRE(world_init(&w));
	fill(&w);
	vec_push(&s.events, "imiss+cycles");
	vec_push(&s.owners[OWNER_KEY_LABEL], "run1");
	s.sort = "cycles";
	REQUIRE(query_init(&q, &w.p, w.r, &s, &err) == 0);
	REQUIRE(q.n_cols == 2);
	EXPECT_STR(q.cols[0].name, "imiss");
	EXPECT_EQ(q.sort, 1);
	EXPECT_EQ(q.cols[1].n_samples, 9);
	EXPECT_EQ(q.cols[1].n_idle, 0);
	query_release(&q);
	s.events.v[0] = "imiss";
	EXPECT_EQ(query_init(&q, &w.p, w.r, &s, &err), -ENOENT);
	EXPECT_STR(err.msg, "cannot sort by 'cycles', which is not among the events chosen");
	s.events.v[0] = "dtbmiss";
	EXPECT_EQ(query_init(&q, &w.p, w.r, &s, &err), -ENOENT);
	EXPECT_STR(err.msg, "no samples of event 'dtbmiss'; there are: cycles:u, imiss (DCPI's "
			    "dtbmiss is `dTLB-load-misses` today)");
	s.events.n = 0;
	s.owners[OWNER_KEY_LABEL].v[0] = "run2";
	EXPECT_EQ(query_init(&q, &w.p, w.r, &s, &err), -ENOENT);
	EXPECT_STR(err.msg, "no samples with label 'run2'; there are: run1");
	select_release(&s);
	world_release(&w);
}

TEST(query_same_event_twice)
{
	struct world w;
	struct query q;
	event_id other;

	REQUIRE(world_init(&w));
	other = profile_intern_event(
		&w.p, &(struct event){.name = profile_intern_str(&w.p, "imiss"), .period = 99});
	add(&w, 0, w.prog, 0x401000, other, 1);
	REQUIRE(query_init(&q, &w.p, w.r, &everything, NULL) == 0);
	REQUIRE(q.n_cols == 3);
	EXPECT_STR(q.cols[1].name, "imiss:10");
	EXPECT_STR(q.cols[2].name, "imiss:99");
	query_release(&q);
	world_release(&w);
}

static const struct flat_opts by_procedure = {
	.by = {{ROW_KEY_PROCEDURE}, 1}, .level = SCOPE_PROCEDURE, .keep_pct = 100};

TEST(rows_procedures)
{
	struct flat_opts o = by_procedure;
	struct source *s;
	struct world w;
	struct query q;
	struct flat f;

	REQUIRE(world_init(&w));
	fill(&w);
	REQUIRE(query_init(&q, &w.p, w.r, &everything, NULL) == 0);
	REQUIRE(samples_source_of(&s, &q, NULL, NULL) == 0);
	REQUIRE(source_flat(s, &o, &f, NULL) == 0);
	REQUIRE(f.rows.n == 5);
	EXPECT(f.whole == 14);
	EXPECT_STR(f.rows.v[0].procedure, "hot");
	EXPECT(f.rows.v[0].own[0] == 8);
	EXPECT_EQ(f.rows.v[0].svma, 0x401010);
	EXPECT_STR(f.rows.v[1].procedure, "[unknown]");
	EXPECT_STR(f.rows.v[2].procedure, "[no symbol]");
	EXPECT_EQ(f.rows.v[2].image, w.kernel);
	EXPECT_STR(f.rows.v[3].procedure, "cold");
	EXPECT(f.rows.v[3].own[1] == 3);
	EXPECT_STR(f.rows.v[4].procedure, "[no symbol]");
	flat_release(&f);
	for (unsigned i = 0; i < 2; i++) {
		o.keep_pct = i ? 0 : 60;
		REQUIRE(source_flat(s, &o, &f, NULL) == 0);
		EXPECT_EQ(f.rows.n, i ? 0 : 2);
		EXPECT_EQ(f.n_all, 5);
		flat_release(&f);
	}
	source_close(s);
	query_release(&q);
	world_release(&w);
}

/* All is all: rows too that have samples of other events only. */
TEST(rows_of_other_events)
{
	struct source *s;
	struct world w;
	struct query q;
	struct flat f;

	REQUIRE(world_init(&w));
	fill(&w);
	REQUIRE(query_init(&q, &w.p, w.r, &everything, NULL) == 0);
	q.sort = 1;
	REQUIRE(samples_source_of(&s, &q, NULL, NULL) == 0);
	REQUIRE(source_flat(s, &by_procedure, &f, NULL) == 0);
	REQUIRE(f.rows.n == 5);
	EXPECT(f.rows.v[4].own[1] == 0);
	flat_release(&f);
	source_close(s);
	query_release(&q);
	world_release(&w);
}

TEST(images_by_name)
{
	char id[2 * BUILD_ID_MAX + 1], name[128];
	image_ids found = {0};
	struct world w;
	struct err err;

	REQUIRE(world_init(&w));
	build_id_format(&w.p.images.v[w.prog].build_id, id);
	id[8] = '\0';
	const char *names[] = {w.path, "prog", id, "kernel", "vmlinux", "[kernel]"};
	for (size_t i = 0; i < n_elems(names); i++) {
		found.n = 0;
		EXPECT_EQ(select_find_images(&w.p, names[i], &found, &err), 0);
		REQUIRE(found.n == 1);
		EXPECT_EQ(found.v[0], i < 3 ? w.prog : w.kernel);
	}
	EXPECT_EQ(select_find_images(&w.p, "prag", &found, &err), -ENOENT);
	snprintf(name, sizeof(name), "no samples in an image 'prag'; did you mean %s?", w.path);
	EXPECT_STR(err.msg, name);
	EXPECT_EQ(select_find_images(&w.p, "zzzzzzzzzzzz", &found, &err), -ENOENT);
	vec_release(&found);
	world_release(&w);
}

TEST(prof_table)
{
	const struct prof_opts opts = {.no_header = true};
	struct flat_opts o = by_procedure;
	struct str out = {0};
	struct emit e = {.out = &out};
	opt_list images = {0};
	struct source *s;
	struct world w;
	struct query q;
	struct flat f;
	char expected[600];

	REQUIRE(world_init(&w));
	fill(&w);
	REQUIRE(query_init(&q, &w.p, w.r, &everything, NULL) == 0);
	REQUIRE(samples_source_of(&s, &q, NULL, NULL) == 0);
	vec_push(&images, "prog");
	o.images = &images;
	REQUIRE(source_flat(s, &o, &f, NULL) == 0);
	prof_emit(&e, &f, &opts);
	EXPECT_EQ(f.n_all, 3);
	flat_release(&f);
	snprintf(expected, sizeof(expected),
		 "cycles:u      %%    cum%% imiss       %%  procedure    image\n"
		 "       8 80.00%%  80.00%%     0   0.00%%  hot          %s\n"
		 "       1 10.00%%  90.00%%    12 100.00%%  cold         %s\n"
		 "       1 10.00%% 100.00%%     0   0.00%%  [no symbol]  %s\n",
		 w.path, w.path, w.path);
	EXPECT_STR(str_get(&out), expected);
	str_reset(&out);
	o.images = NULL;
	o.by.keys[0] = ROW_KEY_IMAGE;
	o.level = SCOPE_IMAGE;
	e = (struct emit){.out = &out};
	REQUIRE(source_flat(s, &o, &f, NULL) == 0);
	prof_emit(&e, &f, &opts);
	EXPECT_EQ(f.n_all, 3);
	flat_release(&f);
	source_close(s);
	snprintf(expected, sizeof(expected),
		 "cycles:u      %%    cum%% imiss       %%  image\n"
		 "      10 71.43%%  71.43%%    12 100.00%%  %s\n"
		 "       2 14.29%%  85.71%%     0   0.00%%  [unknown]\n"
		 "       2 14.29%% 100.00%%     0   0.00%%  [kernel]\n"
		 "       5                    0          [idle]\n",
		 w.path);
	EXPECT_STR(str_get(&out), expected);
	vec_release(&images);
	str_release(&out);
	query_release(&q);
	world_release(&w);
}
