/* SPDX-License-Identifier: BSD-2-Clause */
/* Measurements of hpcrun: contexts, values, threads and time lines of a file that is made here;
 * files that end anywhere are refused. */
#include "port/measured_in.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hpcrun_t.h"
#include "model/trace.h"
#include "t.h"

static void save(const char *dir, const char *name, const struct wr *w)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	REQUIRE(f && fwrite(w->v, 1, w->n, f) == w->n);
	REQUIRE(fclose(f) == 0);
}

static void forget(const char *dir, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

/* The path of CTX, outermost first, in RET. */
static void path_of(const struct profile *p, ctx_id ctx, struct str *ret)
{
	const struct place *pl = &p->places.v[p->ctxs.v[ctx].place];

	if (p->ctxs.v[ctx].parent)
		path_of(p, p->ctxs.v[ctx].parent, ret);
	str_addf(ret, "%s%s %llx", ret->n ? " > " : "", p->images.v[pl->image].path,
		 (unsigned long long)pl->svma);
}

static void expect_value(const struct profile *p, size_t i, const char *event, uint64_t count,
			 uint64_t sum, const char *path)
{
	const struct value *v = &p->values.v[i];
	struct str s = {0};

	path_of(p, v->ctx, &s);
	EXPECT_STR(profile_str(p, p->events.v[v->event].name), event);
	EXPECT_EQ(v->count, count);
	EXPECT_EQ(v->sum, sum);
	EXPECT_STR(str_get(&s), path);
	str_release(&s);
}

TEST(a_directory)
{
	char dir[] = "/tmp/dwell-hpcrun.XXXXXX";
	const struct measured_in_opts o = {.traces = true};
	stacks_symbol_list symbols = {0};
	struct str notes = {0};
	struct wr w = {0}, t = {0};
	const struct owner *owner;
	const struct trace *line;
	struct profile p;
	struct err err;

	REQUIRE(mkdtemp(dir));
	EXPECT_EQ(measured_in_probe(dir), 0);
	hpcrun_t_make(&w);
	hpcrun_t_trace(&t);
	save(dir, "prog-000003-002-11ac0300-5560-0.hpcrun", &w);
	save(dir, "prog-000003-002-11ac0300-5560-0.hpctrace", &t);
	EXPECT_EQ(measured_in_probe(dir), 1);
	profile_init(&p);
	REQUIRE(measured_in_load(dir, &o, &p, &symbols, &notes, &err) == 0);
	profile_check(&p);
	EXPECT_STR(profile_str(&p, p.meta.host), "hostid 11ac0300");
	REQUIRE(p.values.n == 3 && p.traces.n == 2);
	expect_value(&p, 0, "CPUTIME", 1, 1500000000,
		     "[thread root] 0 > /bin/prog 1100 > /bin/prog 1010");
	expect_value(&p, 1, "FAULTS", 7, 0, "[thread root] 0 > /bin/prog 1100 > /bin/prog 1010");
	expect_value(&p, 2, "CPUTIME", 1, 250000000, "[truncated: hpcrun] 0 > /bin/prog 1010");
	owner = &p.owners.v[p.values.v[0].owner];
	EXPECT_STR(profile_str(&p, owner->comm), "prog");
	EXPECT_STR(profile_str(&p, owner->label), "rank=3");
	EXPECT_EQ(owner->pid, 5560);
	EXPECT_EQ(owner->tid, 5562);
	line = &p.traces.v[1];
	REQUIRE(line->points.n == 3);
	EXPECT_EQ(line->points.v[0].ctx, 0);
	EXPECT_EQ(line->points.v[2].ctx, p.values.v[0].ctx);
	EXPECT_EQ(line->points.v[2].time_ns, 1714021984008893000);
	EXPECT_STR(str_get(&notes),
		   "1 values are of code that their file does not name and are left out\n"
		   "1 points of time lines have no context\n");
	profile_release(&p);
	stacks_symbols_release(&symbols);
	str_release(&notes);
	forget(dir, "prog-000003-002-11ac0300-5560-0.hpcrun");
	forget(dir, "prog-000003-002-11ac0300-5560-0.hpctrace");
	rmdir(dir);
	wr_release(&w);
	wr_release(&t);
}

TEST(states_have_names)
{
	EXPECT_STR(hpcrun_state(0x4750554b65726e6c /* "GPUKernl" */), "gpu kernel");
	EXPECT_STR(hpcrun_state(0x47505543703f323f /* "GPUCp?2?" */), "gpu copy");
	EXPECT_STR(hpcrun_state(0x4f4d502049646c65 /* "OMP Idle" */), "omp idle");
	EXPECT(!hpcrun_state(HPCRUN_MAIN));
}

/* The fixture's THREAD 2 as a GPU's stream: says so in the label. */
TEST(a_stream)
{
	static const uint8_t thread[] = {0xc0, 3, 0, 0, 0, 0, 0, 0, 0, 2};
	char dir[] = "/tmp/dwell-hpcrun.XXXXXX";
	const struct measured_in_opts o = {0};
	stacks_symbol_list symbols = {0};
	struct str notes = {0};
	struct wr w = {0};
	struct profile p;
	uint8_t *kind;

	REQUIRE(mkdtemp(dir));
	hpcrun_t_make(&w);
	kind = memmem(w.v, w.n, thread, sizeof(thread));
	REQUIRE(kind);
	kind[1] = 6;
	save(dir, "prog-000003-500-11ac0300-5560-0.hpcrun", &w);
	profile_init(&p);
	REQUIRE(measured_in_load(dir, &o, &p, &symbols, &notes, NULL) == 0);
	EXPECT_STR(profile_str(&p, p.owners.v[p.values.v[0].owner].label), "rank=3,gpustream=2");
	profile_release(&p);
	stacks_symbols_release(&symbols);
	str_release(&notes);
	forget(dir, "prog-000003-500-11ac0300-5560-0.hpcrun");
	rmdir(dir);
	wr_release(&w);
}

/* Puts the build-id that the program at PATH has into RET, when measurements of it are loaded with
 * O. */
static void identify(const char *path, const struct measured_in_opts *o, struct build_id *ret)
{
	char dir[] = "/tmp/dwell-hpcrun.XXXXXX";
	stacks_symbol_list symbols = {0};
	struct str notes = {0};
	struct wr w = {0};
	struct profile p;

	REQUIRE(mkdtemp(dir));
	hpcrun_t_make_of(&w, path);
	save(dir, "prog-000003-002-11ac0300-5560-0.hpcrun", &w);
	profile_init(&p);
	REQUIRE(measured_in_load(dir, o, &p, &symbols, &notes, NULL) == 0);
	vec_each (im, &p.images)
		if (im->kind == IMAGE_FILE && strcmp(im->path, path) == 0)
			*ret = im->build_id;
	profile_release(&p);
	stacks_symbols_release(&symbols);
	str_release(&notes);
	forget(dir, "prog-000003-002-11ac0300-5560-0.hpcrun");
	rmdir(dir);
	wr_release(&w);
}

/* A module is the file at its path, or where a rule leads; of foreign ones only the latter. */
TEST(programs_are_identified)
{
	char self[256], rule[300];
	const char *rules[2] = {rule, "/="};
	const struct measured_in_opts here = {0}, foreign = {.paths = rules + 1, .n_paths = 1},
				      ruled = {.paths = rules, .n_paths = 2};
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct build_id a = {0}, b = {0};

	REQUIRE(n > 0);
	self[n] = '\0';
	snprintf(rule, sizeof(rule), "/gone/prog=%s", self);
	identify("/gone/prog", &here, &a);
	EXPECT_EQ(a.n_bytes, 0);
	identify(self, &foreign, &a);
	EXPECT_EQ(a.n_bytes, 0);
	identify(self, &here, &a);
	EXPECT(a.n_bytes > 0);
	identify("/gone/prog", &ruled, &b);
	EXPECT(build_id_same(&a, &b));
}

TEST(cut_off)
{
	struct wr w = {0}, t = {0};
	struct hpctrace line;
	struct err err;

	hpcrun_t_make(&w);
	for (size_t n = 0; n < w.n; n++) {
		struct hpcrun h;

		EXPECT_EQ(hpcrun_parse(w.v, n, &h, &err), -EBADMSG);
		hpcrun_release(&h);
	}
	hpcrun_t_trace(&t);
	for (size_t n = 0; n < t.n; n++)
		EXPECT((hpctrace_parse(t.v, n, &line, &err) >= 0) ==
		       (n >= 32 && (n - 32) % 12 == 0));
	wr_release(&w);
	wr_release(&t);
}

TEST(other_versions)
{
	struct hpctrace line;
	struct wr w = {0};
	struct hpcrun h;
	struct err err;

	hpcrun_t_make(&w);
	w.v[19] = '5';
	EXPECT_EQ(hpcrun_parse(w.v, w.n, &h, &err), -EPROTONOSUPPORT);
	EXPECT_STR(err.msg, "version 05.00 of hpcrun's profiles; 04.00 is known");
	hpcrun_release(&h);
	w.n = 0;
	hpcrun_t_trace(&w);
	w.v[22] = '0';
	EXPECT_EQ(hpctrace_parse(w.v, w.n, &line, &err), -EPROTONOSUPPORT);
	wr_release(&w);
}

TEST(symbols)
{
	const char *text = "ffffffffa1000000 T _text\nnonsense\nffffffffa1000a2f t entry\t[m]\n";
	struct rd r = rd_init(text, strlen(text));
	struct hpcrun_symbol s;

	REQUIRE(hpcrun_next_symbol(&r, &s));
	EXPECT_EQ(s.svma, 0xffffffffa1000000);
	EXPECT(s.type == 'T' && s.n_name == 5 && memcmp(s.name, "_text", 5) == 0);
	REQUIRE(hpcrun_next_symbol(&r, &s));
	EXPECT_EQ(s.svma, 0xffffffffa1000a2f);
	EXPECT(!hpcrun_next_symbol(&r, &s));
}
