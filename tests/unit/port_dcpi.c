/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles as DCPI trees and back. */
#include "port/dcpi_in.h"
#include "port/dcpi_out.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "formats/dcpi.h"
#include "gen.h"
#include "model/fact.h"
#include "port/dcpi_cat.h"
#include "inproc/machine.h"
#include "tree_t.h"

#define GOLDEN T_GOLDEN "/dcpi/"

static char scratch[64];

static const char *scratch_new(void)
{
	strcpy(scratch, "/tmp/dwell-dcpi-XXXXXX");
	if (!mkdtemp(scratch))
		t_fail_("mkdtemp");
	return scratch;
}

static void scratch_remove(void)
{
	tree_remove(scratch);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What a tree keeps of a profile, as text that does not depend on ids: counts per image, event,
 * label and address, and what is known of events and images.  MINUTES: times are compared by the
 * minute. */
static char *essence(const struct profile *p)
{
	VEC(char *) lines = {0};
	_mem_ uint64_t *n_placeless = xcalloc(p->events.n + 1, sizeof(*n_placeless));
	dcpi_rows rows = {0};
	struct str out = {0};

	dcpi_flatten(p, NULL, true, &rows, n_placeless);
	vec_each (r, &rows) {
		const struct image *im = &p->images.v[r->image];
		const struct event *e = &p->events.v[r->event];
		char id[2 * BUILD_ID_MAX + 1];

		dcpi_image_id(im, id);
		vec_push(&lines,
			 xasprintf("%s %s %u %s %" PRIu64 " %" PRIu64 " %s|%s|%s|%d %#" PRIx64
				   " %" PRIu64,
				   image_kind_name(im->kind), id, im->flags & IMAGE_OFFSETS,
				   im->build_id.n_bytes ? "" : im->path, e->period, e->freq_hz,
				   profile_str(p, e->name), profile_str(p, e->unit),
				   profile_str(p, r->label), r->idle, r->svma, r->n));
	}
	vec_each (e, &p->events)
		vec_push(&lines, xasprintf("event %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
					   " %" PRIu64,
					   profile_str(p, e->name), e->period, e->enabled_ns,
					   e->running_ns, e->total, e->n_reached));
	vec_each (l, &p->losses)
		vec_push(&lines, xasprintf("loss %s %s %" PRIu64, profile_str(p, l->name),
					   profile_str(p, p->events.v[l->event].name), l->n));
	vec_sort(&lines, by_text);
	str_addf(&out, "%s %s %s %s %" PRIu64 " %" PRIu64 " %u\n", profile_str(p, p->meta.host),
		 profile_str(p, p->meta.kernel), profile_str(p, p->meta.engine),
		 profile_str(p, p->meta.command), p->meta.start_wall_ns, p->meta.end_wall_ns,
		 p->meta.n_cpus);
	vec_each (l, &lines) {
		str_addf(&out, "%s\n", *l);
		free(*l);
	}
	vec_release(&lines);
	vec_release(&rows);
	return out.v;
}

/* A generated profile with counts and names a tree can hold. */
static void generate(struct t_rng *r, struct profile *p, unsigned n)
{
	gen_profile(r, p, n);
	vec_each (v, &p->values) {
		v->count = 1 + v->count % 100000;
		v->sum %= 1000000;
	}
	vec_each (e, &p->events)
		if (!*profile_str(p, e->name))
			e->name = profile_intern_str(p, "cycles");
	if (!*profile_str(p, p->meta.host))
		p->meta.host = profile_intern_str(p, "h");
	p->meta.command = profile_intern_str(p, t_below(r, 2) ? "make -j" : "");
	p->meta.engine = profile_intern_str(p, t_below(r, 2) ? "bpf" : "");
	p->meta.end_wall_ns = t_below(r, 2) ? t_rand(r) : 0;
	p->meta.start_wall_ns = p->meta.start_wall_ns % (253402300799 * 7) + 1000000000;
}

TEST(a_tree_reads_back_as_the_same_counts)
{
	struct t_rng r = {21};
	unsigned n = t_cases(60);

	for (unsigned i = 0; i < n; i++) {
		struct dcpi_out_opts o = {.minor = i % 2 ? 6 : 7, .stride = 1};
		const char *dir = scratch_new();
		struct dcpi_out_stats stats;
		struct profile p, q;
		struct err err;
		char *a, *b;

		generate(&r, &p, (unsigned)t_below(&r, 60));
		profile_init(&q);
		if (dcpi_out_save(&p, &o, dir, &stats, &err) < 0 ||
		    dcpi_in_load(dir, NULL, &q, &err) < 0)
			t_fail_("%s", err.msg);
		profile_check(&q);
		a = essence(&p);
		b = essence(&q);
		EXPECT_STR(b, a);
		EXPECT_EQ(dcpi_in_probe(dir), 1);
		free(a);
		free(b);
		/* Writing again replaces every file. */
		if (dcpi_out_save(&p, &o, dir, &stats, &err) < 0)
			t_fail_("%s", err.msg);
		profile_release(&q);
		profile_init(&q);
		EXPECT_EQ(dcpi_in_load(dir, NULL, &q, &err), 0);
		a = essence(&p);
		b = essence(&q);
		EXPECT_STR(b, a);
		free(a);
		free(b);
		profile_release(&p);
		profile_release(&q);
		scratch_remove();
	}
}

static uint64_t total(const struct profile *p)
{
	uint64_t n = 0;

	vec_each (v, &p->values)
		n += value_is_samples(p, v) ? v->count : 0;
	return n;
}

static event_id cycles(struct profile *p)
{
	return profile_intern_event(
		p, &(struct event){.name = profile_intern_str(p, "cycles"), .period = 1000});
}

static void add(struct profile *p, event_id e, const char *image, const char *label, uint64_t svma,
		uint64_t n)
{
	image_id im = profile_intern_image(p, &(struct image){.kind = IMAGE_FILE, .path = image});
	owner_id o =
		profile_intern_owner(p, &(struct owner){.label = profile_intern_str(p, label)});

	profile_add_value(p, &(struct value){.event = e,
					     .owner = o,
					     .count = n,
					     .ctx = profile_flat_ctx(
						     p, profile_intern_place(p, im, svma, 0))});
}

/* An event that had no samples yet, exported, and again when it has some. */
TEST(a_grown_profile_takes_the_place_of_the_old_one)
{
	struct dcpi_out_opts o = {.minor = 7, .stride = 1};
	struct dcpi_out_stats stats;
	struct profile p, q;
	struct err err;

	scratch_new();
	profile_init(&p);
	cycles(&p);
	p.events.v[0].total = 1;
	profile_add_loss(&p, "full", 0, 2);
	EXPECT_EQ(dcpi_out_save(&p, &o, scratch, &stats, &err), 0);
	EXPECT_EQ(stats.n_files, 1);
	p.events.v[0].total = 100;
	profile_add_loss(&p, "full", 0, 5);
	add(&p, 0, "/bin/a", "", 0x1000, 3);
	add(&p, 0, "/bin/b", "", 0x1000, 4);
	EXPECT_EQ(dcpi_out_save(&p, &o, scratch, &stats, &err), 0);
	profile_init(&q);
	EXPECT_EQ(dcpi_in_load(scratch, NULL, &q, &err), 0);
	EXPECT_EQ(total(&q), 7);
	EXPECT_EQ(q.events.v[0].total, 100);
	EXPECT_EQ(profile_n_lost(&q, 0), 7);
	profile_release(&p);
	profile_release(&q);
	scratch_remove();
}

static int steps_left;

static int fail_in_time(enum file_op op, size_t n_bytes)
{
	if (steps_left-- > 0)
		return 0;
	return op == FILE_WRITE && n_bytes > 1 ? (int)(n_bytes / 2) : -EIO;
}

/* Whatever write, fsync or rename fails, each file is the old one or the new one. */
TEST(a_failed_export_harms_no_file)
{
	struct dcpi_out_opts o = {.minor = 7, .stride = 1};
	struct t_rng r = {5};
	struct dcpi_out_stats stats;
	struct profile p, q;
	struct err err;
	unsigned n_failed = 0;
	uint64_t once;
	int rc;

	generate(&r, &p, 12);
	scratch_new();
	once = total(&p);
	REQUIRE(dcpi_out_save(&p, &o, scratch, &stats, &err) == 0);
	vec_each (v, &p.values) {
		v->count *= 2;
		v->sum *= 2;
	}
	for (int fail_at = 0;; fail_at++, n_failed++) {
		steps_left = fail_at;
		file_fault = fail_in_time;
		rc = dcpi_out_save(&p, &o, scratch, &stats, &err);
		file_fault = NULL;
		profile_init(&q);
		EXPECT_EQ(dcpi_in_load(scratch, NULL, &q, &err), 0);
		EXPECT(total(&q) >= once && total(&q) <= 2 * once);
		if (rc == 0)
			break;
		profile_release(&q);
	}
	EXPECT_EQ(total(&q), 2 * once);
	EXPECT(n_failed >= 8); /* what was written once is not written again */
	profile_release(&q);
	profile_release(&p);
	scratch_remove();
}

TEST(what_does_not_fit_leaves_the_directory_as_it_was)
{
	struct dcpi_out_opts o = {.minor = 7, .stride = 4};
	struct dcpi_out_stats stats;
	struct profile p;
	struct err err = {""};
	_mem_ char *dir = xasprintf("%s/new", scratch_new());

	profile_init(&p);
	add(&p, cycles(&p), "/bin/a", "", 0x1000, 5);
	add(&p, cycles(&p), "/bin/b", "", 0x2001, 1);
	EXPECT_EQ(dcpi_out_save(&p, &o, dir, &stats, &err), -EINVAL);
	EXPECT(strstr(err.msg, "b, event cycles: address 0x2001 is not a multiple of 4"));
	EXPECT(access(dir, F_OK) < 0);
	profile_release(&p);
	scratch_remove();
}

/* A footer holds a sum of 32 bits. */
TEST(what_one_file_cannot_hold_is_in_several)
{
	struct dcpi_out_opts o = {.minor = 7, .stride = 1};
	struct dcpi_out_stats stats;
	struct profile p, q;
	struct err err = {""};

	scratch_new();
	profile_init(&p);
	add(&p, cycles(&p), "/bin/a", "", 0x1000, 5);
	add(&p, cycles(&p), "/bin/a", "", 0x2000, 3ull << 32);
	add(&p, cycles(&p), "/bin/a", "", 0x3000, 7);
	REQUIRE(dcpi_out_save(&p, &o, scratch, &stats, &err) == 0);
	EXPECT_EQ(stats.n_files, 4);
	profile_init(&q);
	if (dcpi_in_load(scratch, NULL, &q, &err) < 0)
		t_fail_("%s", err.msg);
	EXPECT_EQ(total(&q), (3ull << 32) + 12);
	profile_release(&q);
	add(&p, cycles(&p), "/bin/a", "", 0x4000, 1ull << 62);
	EXPECT_EQ(dcpi_out_save(&p, &o, scratch, &stats, &err), -E2BIG);
	EXPECT(strstr(err.msg, "a, event cycles: address 0x4000 has 4611686018427387904"));
	profile_release(&p);
	scratch_remove();
}

static void add_facts(struct profile *p, event_id e, uint64_t svma, const char *label,
		      uint64_t known, uint64_t value, uint64_t n, uint64_t inflight,
		      uint64_t latency)
{
	struct sample_facts f = {.known = known, .value = value};
	image_id im =
		profile_intern_image(p, &(struct image){.kind = IMAGE_FILE, .path = "/bin/a"});
	owner_id o =
		profile_intern_owner(p, &(struct owner){.label = profile_intern_str(p, label)});

	if (inflight)
		facts_set_counter(&f, FACT_INFLIGHT, inflight - 1);
	if (latency)
		facts_set_counter(&f, FACT_LATENCY, latency);
	facts_add(p, o, profile_flat_ctx(p, profile_intern_place(p, im, svma, 0)), e, &f, n);
}

static event_id named(struct profile *p, const char *name)
{
	return profile_intern_event(
		p, &(struct event){.name = profile_intern_str(p, name), .period = 4096});
}

/* What dcpicat would print of it, in one line a row. */
static char *text_of(const struct profile *p)
{
	struct str out = {0};

	dcpi_cat_format(p, NULL, NULL, &out);
	return out.v;
}

/* Each set has a file, and so has each of its counters, also one whose total is 0; a bit that only
 * this profile names keeps its name. */
TEST(sample_sets_are_files)
{
	const uint64_t retired = FACT_MASK(FACT_RETIRED), traps = FACT_TRAPS | retired;
	struct dcpi_out_opts o = {.minor = 7, .stride = 1};
	struct dcpi_out_stats stats;
	struct profile p, q;
	struct err err = {""};
	event_id pm, ibs;
	char *a, *b;
	int own;

	scratch_new();
	profile_init(&p);
	own = profile_add_user_fact(&p, false, "capped", "");
	REQUIRE(own >= 0);
	pm = named(&p, "pm");
	ibs = named(&p, "ibs_op");
	add_facts(&p, pm, 0x1000, "", traps, retired | FACT_MASK(FACT_NOTRAP), 7, 30, 0);
	add_facts(&p, pm, 0x1004, "", traps, retired | FACT_MASK(FACT_NOTRAP), 2, 1, 0);
	add_facts(&p, pm, 0x1000, "", traps, FACT_MASK(FACT_REPLAYS), 3, 1, 0);
	add_facts(&p, pm, 0x1000, "blue", traps, FACT_MASK(FACT_REPLAYS), 4, 9, 0);
	add_facts(&p, pm, 0x1000, "", FACT_MASK(own), FACT_MASK(own), 5, 0, 0);
	add_facts(&p, ibs, 0x1000, "", retired, retired, 10, 4, 0);
	add_facts(&p, ibs, 0x1000, "", retired, retired, 20, 4, 300);
	add_facts(&p, ibs, 0x1008, "", 0, 0, 1, 0, 0);
	if (dcpi_out_save(&p, &o, scratch, &stats, &err) < 0)
		t_fail_("%s", err.msg);
	/* pm: two sets and their inflight, one labelled so, `capped`; ibs_op: the set, inflight,
	 * latency and of how many, and samples of which nothing is known. */
	EXPECT_EQ(stats.n_files, 4 + 2 + 1 + 4 + 1);
	EXPECT_EQ(stats.n_samples, 52);
	profile_init(&q);
	if (dcpi_in_load(scratch, NULL, &q, &err) < 0)
		t_fail_("%s", err.msg);
	profile_check(&q);
	EXPECT_EQ(total(&q), 52);
	a = text_of(&p);
	b = text_of(&q);
	EXPECT(strstr(a, "capped:m1count"));
	EXPECT(strstr(a, "ibs_op@retired:mlatency.n"));
	/* The paths, epochs and duties differ: a tree has no duty of an
	 * event that was not timed. */
	EXPECT_STR(b, a);
	free(a);
	free(b);
	EXPECT(fact_find_bit(&q, "capped", 6) >= FACT_USER_BIT);
	profile_release(&q);
	profile_release(&p);
	scratch_remove();
}

/* A counter's file is understood with the file of its samples, whichever comes first, and alone. */
TEST(counters_find_their_samples)
{
	const uint64_t retired = FACT_MASK(FACT_RETIRED);
	struct dcpi_out_opts o = {.minor = 7, .stride = 1};
	struct dcpi_out_stats stats;
	struct profile p, q;
	struct err err = {""};
	uint64_t n = 0, sum = 0;

	scratch_new();
	profile_init(&p);
	add_facts(&p, named(&p, "pm"), 0x1000, "", retired, retired, 7, 30, 0);
	REQUIRE(dcpi_out_save(&p, &o, scratch, &stats, &err) == 0);
	profile_init(&q);
	REQUIRE(dcpi_in_load(scratch, NULL, &q, &err) == 0);
	vec_each (v, &q.values) {
		if (q.vectors.v[v->vector].counter != FACT_INFLIGHT)
			continue;
		n += v->count;
		sum += v->sum;
	}
	EXPECT_EQ(n, 7);
	EXPECT_EQ(sum, 7 * 29);
	profile_release(&q);
	profile_release(&p);
	scratch_remove();
}

TEST(names_stay_within_the_directory)
{
	struct dcpi_out_opts o = {.minor = 7, .stride = 1};
	const char *dir = scratch_new();
	_mem_ char *tree = xasprintf("%s/tree", dir),
		   *link = xasprintf("%s/tree/19700101000000", dir);
	struct dcpi_out_stats stats;
	struct profile p, q;
	struct err err = {""};

	profile_init(&p);
	p.meta.host = profile_intern_str(&p, "../../etc");
	p.meta.start_wall_ns = 1;
	add(&p, cycles(&p), "/bin/..", "", 0x1000, 5);
	add(&p, cycles(&p), "/x\ny/.hid den\xff", "../l", 0x1000, 7);
	REQUIRE(dcpi_out_save(&p, &o, tree, &stats, &err) == 0);
	EXPECT_EQ(stats.n_files, 2);
	profile_init(&q);
	if (dcpi_in_load(tree, NULL, &q, &err) < 0)
		t_fail_("%s", err.msg);
	EXPECT_EQ(profile_n_samples(&q, 0), 12);
	profile_release(&q);
	/* A link in place of the epoch's directory is not followed. */
	REQUIRE(rename(link, dir) < 0); /* not empty: stays */
	tree_remove(tree);
	REQUIRE(mkdir(tree, 0755) == 0 && symlink("/tmp", link) == 0);
	EXPECT(dcpi_out_save(&p, &o, tree, &stats, &err) < 0);
	EXPECT(strstr(err.msg, "19700101000000"));
	profile_release(&p);
	scratch_remove();
}

/* Samples that SEL takes of scratch, or the negative error. */
static int64_t load_total(const struct dcpi_select *sel, struct err *err)
{
	struct profile p;
	int64_t r;

	profile_init(&p);
	r = dcpi_in_load(scratch, sel, &p, err);
	r = r < 0 ? r : (int64_t)total(&p);
	profile_release(&p);
	return r;
}

static opt_list *list_of(const char *s)
{
	static opt_list l;

	l.n = 0;
	vec_push(&l, s);
	return &l;
}

static void save(const char *host, uint64_t start_s, uint64_t n)
{
	struct dcpi_out_opts o = {.minor = 7, .stride = 1};
	struct dcpi_out_stats stats;
	struct profile p;
	struct err err;

	profile_init(&p);
	p.meta.host = profile_intern_str(&p, host);
	p.meta.start_wall_ns = start_s * 1000000000;
	add(&p, cycles(&p), "/bin/a", "", 0x1000, n);
	add(&p, cycles(&p), "/bin/a", "blue", 0x1000, 1000 * n);
	add(&p,
	    profile_intern_event(
		    &p, &(struct event){.name = profile_intern_str(&p, "imiss"), .period = 1}),
	    "/bin/b", "", 0x10, 1000000 * n);
	if (dcpi_out_save(&p, &o, scratch, &stats, &err) < 0)
		t_fail_("%s", err.msg);
	profile_release(&p);
}

TEST(profiles_are_selected)
{
	struct err err = {""};

	scratch_new();
	save("a", 1000000000, 1);
	save("a", 1000000060, 2);
	save("b", 1000000000, 4);
	EXPECT_EQ(load_total(NULL, &err), 6006006); /* each host's latest */
	EXPECT_EQ(load_total(&(struct dcpi_select){.epochs = "20010909014640"}, &err), 5005005);
	EXPECT_EQ(load_total(&(struct dcpi_select){.epochs = "200109090148"}, &err), -ENOENT);
	EXPECT(strstr(err.msg, "no profiles of epoch 200109090148; its epochs are 20010909014740, "
			       "20010909014640"));
	EXPECT_EQ(load_total(&(struct dcpi_select){.epochs = "200109090147"}, &err), 2002002);
	EXPECT_EQ(load_total(&(struct dcpi_select){.epochs = "all"}, &err), 7007007);
	EXPECT_EQ(load_total(&(struct dcpi_select){.epochs = "2001..20010909014640"}, &err),
		  5005005);
	EXPECT_EQ(load_total(&(struct dcpi_select){.epochs = "20010909014641.."}, &err), 2002002);
	EXPECT_EQ(load_total(&(struct dcpi_select){.epochs = "1998,latest"}, &err), 6006006);
	EXPECT_EQ(load_total(&(struct dcpi_select){.host = "b"}, &err), 4004004);
	EXPECT_EQ(load_total(&(struct dcpi_select){.host = "c"}, &err), -ENOENT);
	EXPECT_EQ(load_total(&(struct dcpi_select){.labels = list_of("blue")}, &err), 6000);
	EXPECT_EQ(load_total(&(struct dcpi_select){.events = list_of("imiss")}, &err), 6000000);
	EXPECT_EQ(load_total(&(struct dcpi_select){.events = list_of("dmiss")}, &err), -ENOENT);
	EXPECT(strstr(err.msg, "its events are cycles, imiss"));
	scratch_remove();
}

/* As `profiles_are_selected`, with directories named as DCPI's early editions did. */
TEST(ranges_of_two_digit_years)
{
	static const struct {
		const char *epochs;
		int64_t want; /* of 1, 2, 4 and 8 */
	} cases[] = {
		{"9805191724..9805191725", 3},
		{"9805191725..", 14},
		{"..9805191724", 1},
		{"9805..9806", 3},
		{"98..98", 3},
		{"1998..1998", 3},
		{"199805..200003", 7},
		{"98..00", 7},
		{"0003..2012", 12},
		{"201201..", 8},
		{"20120101..20120102", 8},
		{"2003..2005", -ENOENT},
		{"0003", 4},
		{"9805191725", 2},
		{"9805191724,1201011230", 9},
	};
	static const char *const names[] = {"9805191724", "9805191725", "0003040506", "1201011230"};
	struct err err = {""};

	scratch_new();
	for (unsigned i = 0; i < n_elems(names); i++) {
		uint64_t s = 0;
		char full[15];
		_mem_ char *from = NULL, *to = NULL;

		REQUIRE(dcpi_parse_time(names[i], &s) == 0);
		dcpi_format_time(s, 14, full);
		save("a", s, 1u << i);
		from = xasprintf("%s/%s", scratch, full);
		to = xasprintf("%s/%s", scratch, names[i]);
		REQUIRE(rename(from, to) == 0);
	}
	for (unsigned i = 0; i < n_elems(cases); i++) {
		int64_t n = load_total(&(struct dcpi_select){.epochs = cases[i].epochs}, &err);

		if ((n < 0 ? n : n % 1000) != cases[i].want)
			printf("# %s\n", cases[i].epochs);
		EXPECT_EQ(n < 0 ? n : n % 1000, cases[i].want);
	}
	scratch_remove();
}

/* An epoch of fourteen digits by the name that DCPI's first editions gave it. */
TEST(ten_digits_name_an_epoch_of_fourteen)
{
	struct err err = {""};

	scratch_new();
	save("a", 1000000000, 1); /* 20010909014640 */
	save("a", 1000000060, 2); /* 20010909014740 */
	EXPECT_EQ(load_total(&(struct dcpi_select){.epochs = "0109090146"}, &err) % 1000, 1);
	EXPECT_EQ(load_total(&(struct dcpi_select){.epochs = "0109090147"}, &err) % 1000, 2);
	EXPECT_EQ(load_total(&(struct dcpi_select){.epochs = "0109090146..0109090147"}, &err) %
			  1000,
		  3);
	EXPECT_EQ(load_total(&(struct dcpi_select){.epochs = "0109090148"}, &err), -ENOENT);
	scratch_remove();
}

static void count_problem(void *ctx, const char *where, const char *why)
{
	unsigned *n = ctx;

	EXPECT(strstr(where, "/20010909014640/") && *why);
	++*n;
}

/* What cannot be read is told, and the others are read. */
TEST(one_bad_file_does_not_stop_the_others)
{
	unsigned n = 0;
	const struct dcpi_select sel = {.problem = count_problem, .problem_ctx = &n};
	struct err err = {""};
	_mem_ char *host = xasprintf("%s/20010909014640/a", scratch_new());
	_mem_ char *beside = xasprintf("%s/20010909014640/file", scratch);
	_fd_ int fd = -1, other = -1;

	save("a", 1000000000, 1);
	fd = open(host, O_RDONLY | O_DIRECTORY);
	REQUIRE(fd >= 0);
	REQUIRE(file_replace(fd, "core", "x", 1, &err) == 0 &&
		symlinkat("/etc/passwd", fd, "link") == 0);
	other = open(beside, O_WRONLY | O_CREAT, 0600);
	EXPECT_EQ(load_total(&sel, &err), 1001001);
	EXPECT_EQ(n, 3);
	/* When none is left there is nothing to show. */
	tree_remove(host);
	REQUIRE(mkdir(host, 0700) == 0);
	close(fd);
	fd = open(host, O_RDONLY | O_DIRECTORY);
	REQUIRE(file_replace(fd, "core", "x", 1, &err) == 0 && unlink(beside) == 0);
	EXPECT_EQ(load_total(&sel, &err), -EBADMSG);
	EXPECT(strstr(err.msg, "none of the 1 files wanted can be read"));
	scratch_remove();
}

TEST(foreign_files_in_a_tree_are_named)
{
	struct err err = {""};
	_mem_ char *host = xasprintf("%s/20010909014640/a", scratch_new());
	_fd_ int fd = -1;

	save("a", 1000000000, 1);
	fd = open(host, O_RDONLY | O_DIRECTORY);
	REQUIRE(fd >= 0);
	REQUIRE(file_replace(fd, ".hidden", "x", 1, &err) == 0 &&
		file_replace(fd, "d.log", "x", 1, &err) == 0);
	EXPECT_EQ(load_total(NULL, &err), 1001001);
	REQUIRE(file_replace(fd, "core", "x", 1, &err) == 0);
	EXPECT_EQ(load_total(NULL, &err), -ENODATA);
	EXPECT(strstr(err.msg, "/20010909014640/a/core: no `samples` line"));
	EXPECT(strstr(err.msg, "move it away"));
	REQUIRE(unlinkat(fd, "core", 0) == 0 && symlinkat("/etc/passwd", fd, "link") == 0);
	EXPECT_EQ(load_total(NULL, &err), -ELOOP);
	REQUIRE(unlinkat(fd, "link", 0) == 0 && mkfifoat(fd, "fifo", 0600) == 0);
	EXPECT(load_total(NULL, &err) < 0);
	scratch_remove();
}

TEST(dcpi_s_own_files_are_read)
{
	struct profile p;
	struct err err = {""};
	const struct place *k;

	EXPECT_EQ(dcpi_in_probe(GOLDEN "v006.prof"), 1);
	EXPECT_EQ(dcpi_in_probe(GOLDEN "make"), 0);
	EXPECT_EQ(dcpi_in_probe(GOLDEN), 0);
	profile_init(&p);
	REQUIRE(dcpi_in_load(GOLDEN "v007-alpha.prof", &(struct dcpi_select){.stride = 4}, &p,
			     &err) == 0);
	EXPECT_EQ(profile_n_samples(&p, 0), 45);
	EXPECT_EQ(p.values.n, 5);
	k = profile_leaf(&p, p.values.v[2].ctx);
	EXPECT_EQ(k->svma, 0x12006cbd4);
	EXPECT_EQ(p.values.v[2].count, 1);
	EXPECT_EQ(p.images.v[0].build_id.n_bytes, 10);
	EXPECT_EQ(p.images.v[0].kind, IMAGE_FILE);
	EXPECT_STR(p.images.v[0].path, "v007-alpha.prof");
	EXPECT_EQ(p.meta.start_wall_ns, 895598640000000000);
	EXPECT_EQ(p.events.v[0].period, 63488);
	/* A later file of the same event and image adds to it. */
	REQUIRE(dcpi_in_load(GOLDEN "v006.prof", NULL, &p, &err) == 0);
	EXPECT_EQ(profile_n_samples(&p, 0), 92);
	EXPECT_EQ(p.images.n, 1);
	EXPECT_EQ(p.events.v[0].n_reached, 92);
	EXPECT_STR(profile_str(&p, p.owners.v[p.values.v[p.values.n - 1].owner].label), "foo");
	EXPECT_EQ(p.meta.n_cpus, 4);
	profile_release(&p);
}

/* Prints P, reads that as a profile into Q. */
static void through_text(const struct profile *p, struct profile *q, struct str *text)
{
	_mem_ char *path = xasprintf("%s/text", scratch_new());
	_fd_ int fd = open(scratch, O_RDONLY | O_DIRECTORY);
	struct err err = {""};

	EXPECT(dcpi_cat_format(p, NULL, NULL, text) > 0);
	EXPECT_EQ(file_replace(fd, "text", text->v, text->n, &err), 0);
	profile_init(q);
	EXPECT_EQ(dcpi_in_probe(path), 1);
	if (dcpi_in_load(path, NULL, q, &err) < 0)
		t_fail_("%s", err.msg);
	profile_check(q);
	scratch_remove();
}

/* Samples of a program as `pm` and ibs_op tell of them, some of which know more than others. */
static void generate_facts(struct t_rng *r, struct profile *p)
{
	static const char *const names[] = {"pm", "pm0", "pm2", "pm3", "ibs_op", "a:b@c"};
	const struct image im = {.kind = IMAGE_FILE, .path = "/bin/prog"};
	image_id image;

	profile_init(p);
	image = profile_intern_image(p, &im);
	for (uint64_t n = 1 + t_below(r, 80); n > 0; n--) {
		struct event e = {.name = profile_intern_str(p, names[t_below(r, 6)]),
				  .period = 1 + t_below(r, 2)};
		struct sample_facts f = {0};
		place_id place = profile_intern_place(p, image, 4 * t_below(r, 9), 0);

		for (uint64_t bits = t_below(r, 9); bits > 0; bits--)
			facts_set(&f, (unsigned)t_below(r, N_FACT_BITS), t_below(r, 2));
		if (t_below(r, 2))
			f.known |= FACT_TRAPS;
		facts_settle(&f);
		for (uint64_t counters = t_below(r, 4); counters > 0; counters--)
			facts_set_counter(&f, 1 + (unsigned)t_below(r, FACT_MAX_COUNTERS - 1),
					  t_below(r, 3) * 100);
		e.n_reached = 1 + t_below(r, 5);
		facts_add(p, 0, profile_flat_ctx(p, place), profile_intern_event(p, &e), &f,
			  e.n_reached);
	}
}

/* A profile's values as text, without what dcpicat's text has no words for. */
static char *values_of(const struct profile *p)
{
	struct str s = {0};
	char **lines = xcalloc(p->values.n + 1, sizeof(*lines));

	for (size_t i = 0; i < p->values.n; i++) {
		const struct value *v = &p->values.v[i];
		const struct vector *w = &p->vectors.v[v->vector];
		const struct event *e = &p->events.v[v->event];

		lines[i] =
			xasprintf("%s:%" PRIu64 " %" PRIx64 ": %" PRIx64 " %" PRIx64 " %" PRIu32
				  " %" PRIu64 " %" PRIu64,
				  profile_str(p, e->name), e->period, profile_leaf(p, v->ctx)->svma,
				  w->known, w->value, w->counter, v->count, v->sum);
	}
	qsort(lines, p->values.n, sizeof(*lines), by_text);
	for (size_t i = 0; i < p->values.n; i++) {
		str_addf(&s, "%s\n", lines[i]);
		free(lines[i]);
	}
	free(lines);
	return s.v;
}

TEST(text_keeps_what_is_known_of_samples)
{
	struct t_rng r = {23};
	unsigned n = t_cases(300);

	for (unsigned i = 0; i < n; i++) {
		struct str text = {0};
		struct profile p, q;

		generate_facts(&r, &p);
		through_text(&p, &q, &text);
		{
			_mem_ char *before = values_of(&p), *after = values_of(&q);

			EXPECT_STR(after, before);
		}
		for (event_id e = 0; e < q.events.n; e++)
			EXPECT_EQ(q.events.v[e].n_reached, profile_n_samples(&q, e));
		str_release(&text);
		profile_release(&p);
		profile_release(&q);
	}
}

TEST(text_reads_back_as_the_same_counts)
{
	struct t_rng r = {22};
	unsigned n = t_cases(200);

	for (unsigned i = 0; i < n; i++) {
		struct str once = {0}, twice = {0}, thrice = {0};
		struct profile p, q, q2;

		generate(&r, &p, 1 + (unsigned)t_below(&r, 60));
		through_text(&p, &q, &once);
		EXPECT_EQ(total(&q), total(&p));
		/* The text cannot tell images of one id apart, nor events of one name and period.
		 * Once they are one, it reads back as itself. */
		through_text(&q, &q2, &twice);
		dcpi_cat_format(&q2, NULL, NULL, &thrice);
		EXPECT_STR(thrice.v, twice.v);
		str_release(&once);
		str_release(&twice);
		str_release(&thrice);
		profile_release(&p);
		profile_release(&q);
		profile_release(&q2);
	}
}

TEST(a_block_has_a_column_for_each_event)
{
	struct profile p;
	struct str s = {0};
	image_id im;
	bool images[] = {true, false};
	event_id e[2];
	const uint64_t counts[][3] = {
		{0x12006cbb8, 29, 27}, {0x12006cbd0, 10, 0}, {0x12006cbd4, 0, 7}};

	profile_init(&p);
	p.meta.host = profile_intern_str(&p, "walnut");
	p.meta.start_wall_ns = 895598640000000000;
	im = profile_intern_image(&p, &(struct image){.kind = IMAGE_FILE,
						      .path = "/usr/bin/xemacs",
						      .text_start = 0x120000000,
						      .text_bytes = 0x800000,
						      .build_id = {2, {0, 0xff}}});
	e[0] = profile_intern_event(
		&p, &(struct event){.name = profile_intern_str(&p, "cycles:u"), .period = 63488});
	e[1] = profile_intern_event(&p, &(struct event){.name = profile_intern_str(&p, "imiss"),
							.period = 4096,
							.enabled_ns = 1000,
							.running_ns = 250});
	for (size_t i = 0; i < n_elems(counts); i++)
		for (size_t k = 0; k < 2; k++)
			profile_add_value(
				&p, &(struct value){.event = e[k],
						    .count = counts[i][1 + k],
						    .ctx = profile_flat_ctx(
							    &p, profile_intern_place(
									&p, im, counts[i][0], 0))});
	add(&p, e[0], "/bin/other", "", 0x10, 5);
	EXPECT_EQ(dcpi_cat_format(&p, &(struct dcpi_filter){.images = images}, NULL, &s), 1);
	EXPECT_STR(s.v, "name                 xemacs\n"
			"image                00ff\n"
			"path                 /usr/bin/xemacs\n"
			"epoch                19980519172400\n"
			"platform             walnut\n"
			"text_start           0x000120000000\n"
			"text_size            0x000000800000\n"
			"event                39 cycles:u:63488:10000\n"
			"event                34 imiss:4096:2500\n"
			"0x00012006cbb8      29      27\n"
			"0x00012006cbd0      10       0\n"
			"0x00012006cbd4       0       7\n");
	EXPECT_EQ(dcpi_cat_format(&p, NULL, NULL, &s), 2);
	str_release(&s);
	profile_release(&p);
}

/* The name of the one file in FD that readers look at. */
static char *only_file(int fd)
{
	DIR *d = fdopendir(dup(fd));
	struct dirent *e;
	char *name = NULL;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && !name)
			name = xstrdup(e->d_name);
	if (d)
		closedir(d);
	return name;
}

static unsigned n_lines(const struct dcpi_file *f, const char *word)
{
	unsigned n = 0;

	vec_each (l, &f->lines)
		n += l->n_word == strlen(word) && memcmp(l->text, word, l->n_word) == 0;
	return n;
}

/* What a person or another program put into a file's header stays there when a grown profile
 * replaces it, and so does the speed that was told. */
TEST(a_rewritten_file_keeps_its_lines)
{
	struct dcpi_out_opts o = {.minor = 7, .stride = 1};
	struct dcpi_out_stats stats;
	struct file_map map;
	struct dcpi_file f;
	struct wr bytes = {0};
	struct profile p, q;
	struct err err = {""};
	struct utsname u;
	_mem_ char *dir = NULL, *name = NULL;
	_fd_ int fd = -1;

	scratch_new();
	uname(&u);
	profile_init(&p);
	p.meta.host = profile_intern_str(&p, u.nodename);
	add(&p, cycles(&p), "/bin/a", "", 0x1000, 5);
	REQUIRE(dcpi_out_save(&p, &o, scratch, &stats, &err) == 0);
	dir = xasprintf("%s/19700101000000/%s", scratch, u.nodename);
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	REQUIRE(fd >= 0);
	name = only_file(fd);
	REQUIRE(name && file_map_open(&map, fd, name, true, &err) == 0);
	REQUIRE(dcpi_read(&f, map.bytes, map.n_bytes, 0, &err) == 0);
	file_map_close(&map);
	EXPECT_EQ(f.cpuspeed, machine_mhz(u.nodename));
	EXPECT_EQ(machine_mhz("another"), 0);
	dcpi_add_line(&f, "cpuamask", "1f");
	dcpi_add_line(&f, "path", "/old/a");
	dcpi_add_line(&f, "x-note", "mine");
	dcpi_write(&f, &bytes);
	dcpi_release(&f);
	REQUIRE(file_replace(fd, name, bytes.v, bytes.n, &err) == 0);
	wr_release(&bytes);
	add(&p, cycles(&p), "/bin/a", "", 0x1004, 7);
	for (int again = 0; again < 2; again++) {
		REQUIRE(dcpi_out_save(&p, &o, scratch, &stats, &err) == 0);
		REQUIRE(file_map_open(&map, fd, name, true, &err) == 0);
		REQUIRE(dcpi_read(&f, map.bytes, map.n_bytes, 0, &err) == 0);
		file_map_close(&map);
		EXPECT_EQ(dcpi_n_samples(&f), 12);
		EXPECT_STR(dcpi_find(&f, "cpuamask"), "1f");
		EXPECT_STR(dcpi_find(&f, "x-note"), "mine");
		EXPECT_EQ(n_lines(&f, "path"), 2);
		EXPECT_EQ(n_lines(&f, "cpuspeed"), 1);
		EXPECT_EQ(n_lines(&f, "x-note"), 1);
		dcpi_release(&f);
	}
	profile_init(&q);
	EXPECT_EQ(dcpi_in_load(scratch, NULL, &q, &err), 0);
	EXPECT_EQ(total(&q), 12);
	profile_release(&q);
	profile_release(&p);
	scratch_remove();
}

TEST(the_clock_of_the_machine)
{
	EXPECT_EQ(machine_cpuinfo_mhz(
			  "model name\t: Intel(R) Xeon(R) CPU @ 2.20GHz\ncpu MHz\t\t: 2199.998\n",
			  true),
		  2200);
	EXPECT_EQ(machine_cpuinfo_mhz("model name\t: AMD EPYC\ncpu MHz\t\t: 2249.618\n", true), 0);
	EXPECT_EQ(machine_cpuinfo_mhz("model name\t: AMD EPYC\ncpu MHz\t\t: 2249.618\n", false),
		  2250);
	EXPECT_EQ(machine_cpuinfo_mhz("processor\t: 0\n", false), 0);
}
