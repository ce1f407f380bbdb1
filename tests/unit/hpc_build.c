/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole databases out of random profiles: the values are those of the profile, the files do not
 * depend on threads and buffers, and no failure on the way leaves anything behind. */
#include "hpc/build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/file.h"
#include "formats/hpc/check/check.h"
#include "formats/hpc/profile.h"
#include "gen.h"
#include "scratch_t.h"
#include "t.h"

static const char *const files[] = {
	"meta.db",    "profile.db",	      "cct.db",
	"FORMATS.md", "metrics/default.yaml", "metrics/METRICS.yaml.ex"};

/* Builds P as NAME in the scratch directory; P's values go through the sink when STREAMED. */
static int build(const struct profile *p, const char *name, struct build_opts *o, bool streamed,
		 struct err *err)
{
	static const struct resolver_opts ro = {
		.proc_dir = "/nonexistent", .sys_dir = "/nonexistent", .no_save = true};
	static const struct select everything;
	struct resolver *r = resolver_new(&ro);
	struct new_dir dir;
	struct profile copy;
	struct build b;
	int rc = new_dir_begin(&dir, scratch_path(name), "meta.db", false, err);

	o->dir = &dir;
	profile_init(&copy);
	profile_merge(&copy, p);
	if (!rc) {
		build_init(&b, o);
		build_begin(&b, &copy);
		if (streamed) {
			size_t n = copy.values.n;
			struct value *values = xmemdup(copy.values.v, n * sizeof(*values));

			copy.values.n = 0;
			for (size_t i = 0; i < n; i++)
				b.sink.put(&b.sink, &values[i]);
			free(values);
		}
		/* As readers have it (input.h). */
		vec_each (v, &copy.values)
			if (*event_measures(&copy, &copy.events.v[v->event]))
				v->count = v->sum;
		rc = build_add(&b, r, "generated", &everything, err);
		if (!rc)
			rc = build_save(&b, err);
		if (!rc)
			rc = new_dir_commit(&dir, err);
		build_release(&b);
	}
	new_dir_end(&dir);
	profile_release(&copy);
	resolver_free(r);
	return rc;
}

static struct file_map load(const char *database, const char *file)
{
	struct file_map map = {0};
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", scratch_path(database), file);
	if (file_map_open(&map, AT_FDCWD, path, true, NULL) < 0)
		t_fail_("%s is not there", path);
	return map;
}

/* The sum over all threads of METRIC in all contexts, as the summary profile has it. */
static double total(const char *database, unsigned metric)
{
	struct file_map map = load(database, "profile.db");
	struct hpc_profile_db db;
	struct hpc_profile summary;
	double ret = -1;

	if (hpc_profile_db_open(&db, map.bytes, map.n_bytes, "profile.db", NULL) == 0 &&
	    hpc_profile_open(&summary, &db, HPC_SUMMARY_PROFILE, NULL) == 0)
		hpc_profile_value(
			&summary, HPC_ROOT_CTX,
			(uint16_t)(metric * N_STATISTICS * N_METRIC_SCOPES + IN_EXECUTION), &ret,
			NULL);
	file_map_close(&map);
	return ret;
}

/* What the values of all events called like event E stand for; events whose names differ by period
 * only are metrics of their own and not looked at. */
static double expected(const struct profile *p, event_id e)
{
	const struct event *event = &p->events.v[e];
	const struct query_col col = {.measures = event_measures(p, event),
				      .period = event->period,
				      .duty = event_duty(event)};
	const struct build_event be = build_event_of(&col, 0);
	uint64_t n = 0;

	vec_each (v, &p->values)
		if (v->event == e && v->ctx && !(p->owners.v[v->owner].flags & OWNER_IDLE))
			n += build_event_count(&be, *col.measures,
					       *col.measures ? v->sum : v->count);
	return strcmp(profile_str(p, event->unit), "ns") == 0 ? (double)n / 1e9 : (double)n;
}

static bool one_of_its_name(const struct profile *p, event_id e)
{
	for (event_id k = 0; k < p->events.n; k++)
		if (k != e && p->events.v[k].name == p->events.v[e].name)
			return false;
	return true;
}

static bool has_idle(const struct profile *p)
{
	vec_each (v, &p->values)
		if (p->owners.v[v->owner].flags & OWNER_IDLE)
			return true;
	return false;
}

static void report(void *user, const struct hpc_problem *p)
{
	(void)user;
	t_fail_("%s+%#llx: %s %s: %s", p->file, (unsigned long long)p->offset, p->structure,
		p->field, p->text);
}

static void check_same(const char *a, const char *b)
{
	for (size_t i = 0; i < n_elems(files); i++) {
		struct file_map x = load(a, files[i]), y = load(b, files[i]);

		if (x.n_bytes != y.n_bytes || memcmp(x.bytes, y.bytes, x.n_bytes) != 0)
			t_fail_("%s differs between %s and %s", files[i], a, b);
		file_map_close(&x);
		file_map_close(&y);
	}
}

/* Idle tasks' values stay in the profile, which changes the order contexts come in. */
TEST(files_depend_on_values_alone)
{
	struct t_rng r = {11};

	REQUIRE(scratch_open(""));
	for (unsigned n = 0; n < t_cases(12); n++) {
		enum hpc_layout layout = n % 2 ? HPC_PAGE : HPC_RELEASED;
		struct build_opts one = {.layout = layout},
				  many = {.layout = layout, .n_threads = 3, .buffer_bytes = 400};
		struct hpc_check check = {.report = report};
		struct file_map meta;
		struct profile p;
		struct err err;

		gen_profile(&r, &p, 1 + (unsigned)t_below(&r, 300));
		REQUIRE(build(&p, "one", &one, false, &err) == 0);
		REQUIRE(build(&p, "many", &many, false, &err) == 0);
		check_same("one", "many");
		meta = load("one", "meta.db");
		hpc_check_meta(&check, meta.bytes, meta.n_bytes, "meta.db");
		file_map_close(&meta);
		REQUIRE(build(&p, "streamed", &many, true, &err) == 0);
		if (!has_idle(&p))
			check_same("one", "streamed");
		for (event_id e = 0; e < p.events.n && !has_idle(&p); e++)
			if (one_of_its_name(&p, e)) {
				double want = expected(&p, e);

				if (total("one", e) != want && want < 0x1p53)
					t_fail_("%.17g, expected %.17g", total("one", e), want);
			}
		profile_release(&p);
		REQUIRE(scratch_run("rm -r one many streamed"));
	}
	EXPECT(scratch_close());
}

/* --- failures --- */

static _Atomic(unsigned) n_steps; /* several threads write */
static unsigned fault_at;
static bool short_write;

static int fail_once(enum file_op op, size_t n)
{
	if (n_steps++ != fault_at)
		return 0;
	return short_write && op == FILE_WRITE && n > 1 ? (int)(n / 2) : -EIO;
}

/* Files and directories in the scratch directory beside a.c. */
static unsigned n_left(void)
{
	DIR *dir = opendir(scratch_dir);
	unsigned n = 0;

	for (const struct dirent *e; dir && (e = readdir(dir));)
		n += e->d_name[0] != '.' && strcmp(e->d_name, "a.c") != 0;
	if (dir)
		closedir(dir);
	return n;
}

TEST(a_failure_leaves_nothing)
{
	struct build_opts o = {.n_threads = 2, .buffer_bytes = 1000};
	struct t_rng r = {5};
	struct profile p;
	int rc = -1;

	REQUIRE(scratch_open(""));
	gen_profile(&r, &p, 200);
	for (fault_at = 0; rc && fault_at < 1000; fault_at += t_quick() ? 5 : 1) {
		struct err err = {0};

		n_steps = 0;
		short_write = fault_at % 2;
		file_fault = fail_once;
		rc = build(&p, "out", &o, false, &err);
		file_fault = NULL;
		if (!rc)
			break;
		EXPECT(*err.msg && !strchr(err.msg, '\n'));
		if (n_left())
			t_fail_("step %u: %u left: %s", fault_at, n_left(), err.msg);
	}
	EXPECT_EQ(rc, 0);
	EXPECT_EQ(n_left(), 1);
	EXPECT(fault_at > 10);
	profile_release(&p);
	EXPECT(scratch_close());
}

static int stop_at;

static int on_progress(void *user, const char *what, uint64_t done, uint64_t all)
{
	(void)user;
	(void)what;
	EXPECT(done <= all);
	return stop_at-- == 0 ? -EINTR : 0;
}

TEST(an_interrupt_leaves_nothing)
{
	struct build_opts o = {.n_threads = 2, .progress = on_progress};
	struct t_rng r = {5};
	struct profile p;
	int n = 0, rc = -EINTR;

	REQUIRE(scratch_open(""));
	gen_profile(&r, &p, 200);
	for (; rc && n < 1000; n += t_quick() ? 5 : 1) {
		struct err err = {0};

		stop_at = n;
		rc = build(&p, "out", &o, false, &err);
		if (!rc)
			break;
		EXPECT_EQ(rc, -EINTR);
		EXPECT_STR(err.msg, "interrupted");
		EXPECT_EQ(n_left(), 0);
	}
	EXPECT(n > 2);
	EXPECT_EQ(rc, 0);
	profile_release(&p);
	EXPECT(scratch_close());
}
