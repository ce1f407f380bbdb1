/* SPDX-License-Identifier: BSD-2-Clause */
/* Histogram files as they are written and read, and the profile files they become. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "inproc/dcpi_write.h"
#include "inproc/finish.h"
#include "inproc/shared.h"
#include "port/dcpi_in.h"
#include "port/histograms.h"
#include "shared_facts_t.h"
#include "t.h"

static char dir[64];

static void make_dir(void)
{
	strcpy(dir, "/tmp/dwell-shared-XXXXXX");
	if (!mkdtemp(dir))
		t_fail_("mkdtemp: %s", strerror(errno));
}

static void remove_dir(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command))
		t_fail_("%s fails", command);
}

static struct loaded_code code_of(unsigned i)
{
	struct loaded_code c = {
		.kind = CODE_FILE, .n_id = 20, .text_start = 0x1000, .text_bytes = 0x2000};

	memset(c.id, (int)i + 1, sizeof(c.id));
	return c;
}

/* The view of what S has. */
static int view(const struct shared *s, struct shared_view *v)
{
	const char *why = "";
	int r = shared_view_open(v, s->header, s->n_bytes, &why);

	if (r < 0)
		t_fail_("%s", why);
	return r;
}

TEST(what_is_counted_is_read)
{
	enum { N = 3000 };
	struct shared_header f = made_up_facts();
	struct shared s = {0};
	struct shared_view v;
	struct shared_image im;
	struct shared_count c;
	struct t_rng r = {7};
	uint64_t wanted[2][N] = {{0}}, at = 0, n_seen = 0;
	struct rd images;

	make_dir();
	REQUIRE(shared_create(&s, dir, &f, 1 << 14) == 0);
	for (unsigned i = 0; i < 2; i++) {
		struct loaded_code code = code_of(i);

		EXPECT_EQ(shared_add_image(&s, &code, i ? "/b" : "/a"), i + 1);
	}
	for (unsigned i = 0; i < 2; i++) { /* they are there */
		struct loaded_code code = code_of(i);

		EXPECT_EQ(shared_add_image(&s, &code, i ? "/b" : "/a"), i + 1);
	}
	for (int i = 0; i < 100000; i++) {
		unsigned image = (unsigned)t_below(&r, 2), svma = (unsigned)t_below(&r, N);
		uint64_t n = t_below(&r, 3) ? 1 : t_rand(&r) >> 40;

		shared_count(&s, image + 1, svma, n);
		wanted[image][svma] += n;
	}
	REQUIRE(view(&s, &v) == 0);
	EXPECT_EQ(v.n_images, 2);
	EXPECT_STR(v.header.event, "task-clock");
	EXPECT_STR(v.header.host, "walnut");
	EXPECT_EQ(v.header.period, 1000000);
	images = shared_images(&v);
	EXPECT(shared_next_image(&images, &im));
	EXPECT_STR(im.path, "/a");
	EXPECT_EQ(im.code.id[19], 1);
	EXPECT(shared_next_image(&images, &im));
	EXPECT_STR(im.path, "/b");
	EXPECT(!shared_next_image(&images, &im));
	while (shared_next_count(&v, &at, &c)) {
		REQUIRE(c.svma < N && c.image <= 2);
		EXPECT_EQ(c.n, wanted[c.image - 1][c.svma]);
		wanted[c.image - 1][c.svma] = 0;
		n_seen++;
	}
	EXPECT_EQ(n_seen, v.header.n_used);
	for (int i = 0; i < 2 * N; i++)
		EXPECT_EQ(wanted[i / N][i % N], 0);
	shared_close(&s);
	remove_dir();
}

TEST(a_full_table_says_so)
{
	struct shared_header f = made_up_facts();
	struct loaded_code code = code_of(0);
	struct shared s = {0};
	uint64_t at = 0, sum = 0;
	struct shared_view v;
	struct shared_count c;

	make_dir();
	REQUIRE(shared_create(&s, dir, &f, 256) == 0);
	shared_add_image(&s, &code, "/a");
	for (uint64_t i = 0; i < 300; i++)
		shared_count(&s, 1, i * 100, 2);
	shared_count(&s, 1, 0, 5); /* what is there still counts */
	shared_count(&s, 1, 1ull << 48, 1);
	REQUIRE(view(&s, &v) == 0);
	EXPECT_EQ(v.header.n_used, 224);
	EXPECT_EQ(v.header.n_no_room, 2 * (300 - 224) + 1);
	while (shared_next_count(&v, &at, &c))
		sum += c.n;
	EXPECT_EQ(sum, 2 * 224 + 5);
	shared_close(&s);
	remove_dir();
}

/* A descriptor of the file S has left behind, or -1 while somebody has it. */
static int locked(const struct shared *s)
{
	int fd = open(s->path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

TEST(the_mapping_is_the_lock)
{
	struct shared_header f = made_up_facts();
	struct shared s = {0};
	int fd;

	make_dir();
	REQUIRE(shared_create(&s, dir, &f, 256) == 0);
	EXPECT_EQ(locked(&s), -1);
	shared_close(&s);
	fd = locked(&s);
	EXPECT(fd >= 0);
	close(fd);
	remove_dir();
}

static uint64_t count_at(const struct profile *p, const char *path, uint64_t svma)
{
	uint64_t n = 0;

	vec_each (v, &p->values) {
		const struct place *at = profile_leaf(p, v->ctx);

		if (at->svma == svma && strcmp(p->images.v[at->image].path, path) == 0)
			n += v->count;
	}
	return n;
}

TEST(it_becomes_profile_files_once)
{
	const uint64_t many = 3ull * UINT32_MAX + 17, high = 5ull << 32;
	struct shared_header f = made_up_facts();
	struct loaded_code a = code_of(0), b = {.kind = CODE_FILE, .flags = CODE_DELETED};
	struct shared s = {0};
	struct profile p;
	struct err err = {""};

	make_dir();
	REQUIRE(shared_create(&s, dir, &f, 1 << 10) == 0);
	shared_add_image(&s, &a, "/lib/a b\n.so");
	shared_add_image(&s, &b, "/lib/b (deleted)");
	shared_count(&s, 1, 0x1000, 3);
	shared_count(&s, 1, 0x1003, many); /* more than a file's 32 bits */
	shared_count(&s, 1, 0x1004, 9);
	shared_count(&s, 1, high + 5, 4); /* beyond a file's 4 GiB */
	shared_count(&s, 2, 0, 1);
	s.header->n_outside = 6;
	EXPECT_EQ(histograms_finish(dir, &err), 0); /* it lives */
	shared_close(&s);
	EXPECT_EQ(histograms_finish(dir, &err), 1);
	EXPECT_EQ(histograms_finish(dir, &err), 0);
	profile_init(&p);
	if (dcpi_in_load(dir, NULL, &p, &err) < 0)
		t_fail_("%s", err.msg);
	profile_check(&p);
	EXPECT_EQ(p.events.n, 1);
	EXPECT_EQ(p.images.n, 2);
	EXPECT_EQ(profile_n_samples(&p, 0), 3 + many + 9 + 4 + 1);
	EXPECT_EQ(profile_n_lost(&p, 0), 6);
	EXPECT_EQ(p.events.v[0].n_reached, 3 + many + 9 + 4 + 1 + 6);
	EXPECT_EQ(p.events.v[0].period, 1000000);
	EXPECT_STR(profile_str(&p, p.events.v[0].unit), "ns");
	EXPECT_STR(profile_str(&p, p.meta.host), "walnut");
	EXPECT_EQ(p.meta.start_wall_ns, f.start_ns);
	EXPECT_EQ(count_at(&p, "/lib/a b?.so", 0x1000), 3);
	EXPECT_EQ(count_at(&p, "/lib/a b?.so", 0x1003), many);
	EXPECT_EQ(count_at(&p, "/lib/a b?.so", 0x1004), 9);
	EXPECT_EQ(count_at(&p, "/lib/a b?.so", high + 5), 4);
	EXPECT_EQ(count_at(&p, "/lib/b (deleted)", 0), 1);
	profile_release(&p);
	remove_dir();
}

/* Reads the directory with H beside it: it has N samples at 0x1000 of /a, and N_LOST are lost. */
static void expect_read(const struct histograms *h, uint64_t n, uint64_t n_lost)
{
	const struct dcpi_select sel = {.stride = 1, .beside = h->tree};
	struct err err = {""};
	struct profile p;

	profile_init(&p);
	if (dcpi_in_load(dir, &sel, &p, &err) < 0)
		t_fail_("%s", err.msg);
	EXPECT_EQ(count_at(&p, "/a", 0x1000), n);
	EXPECT_EQ(profile_n_lost(&p, 0), n_lost);
	profile_release(&p);
}

/* Readers see what a dead process left and change nothing. */
TEST(it_is_read_where_it_is)
{
	struct shared_header f = made_up_facts();
	struct loaded_code a = code_of(0);
	struct histograms h = {0};
	struct shared s = {0};
	struct err err = {""};

	make_dir();
	REQUIRE(shared_create(&s, dir, &f, 1 << 10) == 0);
	shared_add_image(&s, &a, "/a");
	shared_count(&s, 1, 0x1000, 7);
	s.header->n_outside = 5;
	EXPECT_EQ(histograms_count(dir), 0); /* it lives */
	REQUIRE(histograms_open(&h, dir, &err) == 0);
	EXPECT(!h.tree);
	histograms_close(&h);
	shared_close(&s);
	for (unsigned i = 0; i < 2; i++) {
		EXPECT_EQ(histograms_count(dir), 1);
		REQUIRE(histograms_open(&h, dir, &err) == 0);
		EXPECT_EQ(histograms_finish(dir, &err), 0); /* somebody reads it */
		expect_read(&h, 7, 5);
		histograms_close(&h);
	}
	EXPECT_EQ(dcpi_in_probe(dir), 0);
	/* Beside files of the same epoch both count. */
	EXPECT_EQ(histograms_finish(dir, &err), 1);
	f.pid++;
	REQUIRE(shared_create(&s, dir, &f, 1 << 10) == 0);
	shared_add_image(&s, &a, "/a");
	shared_count(&s, 1, 0x1000, 10);
	s.header->n_outside = 1;
	shared_close(&s);
	REQUIRE(histograms_open(&h, dir, &err) == 0);
	expect_read(&h, 17, 6);
	histograms_close(&h);
	EXPECT_EQ(histograms_finish(dir, &err), 1);
	remove_dir();
}

/* Two processes of one epoch add up, losses too. */
TEST(several_processes_add_up)
{
	struct err err = {""};
	struct profile p;

	make_dir();
	for (unsigned i = 0; i < 3; i++) {
		struct shared_header f = made_up_facts();
		struct loaded_code a = code_of(0);
		struct shared s = {0};

		f.pid += i;
		REQUIRE(shared_create(&s, dir, &f, 1 << 10) == 0);
		if (i < 2) {
			shared_add_image(&s, &a, "/a");
			shared_count(&s, 1, 0x1000, 10 + i);
		}
		s.header->n_outside = 5;
		shared_close(&s);
	}
	EXPECT_EQ(histograms_finish(dir, &err), 3);
	profile_init(&p);
	if (dcpi_in_load(dir, NULL, &p, &err) < 0)
		t_fail_("%s", err.msg);
	EXPECT_EQ(count_at(&p, "/a", 0x1000), 21);
	EXPECT_EQ(profile_n_lost(&p, 0), 15);
	profile_release(&p);
	remove_dir();
}

/* Whatever cuts the file or changes a byte of its header: an error with a
 * reason, or still sense. */
TEST(damage_is_noticed)
{
	struct shared_header f = made_up_facts();
	struct loaded_code a = code_of(0);
	struct shared s = {0};
	struct shared_view v;
	const char *why;

	make_dir();
	REQUIRE(shared_create(&s, dir, &f, 256) == 0);
	shared_add_image(&s, &a, "/a");
	shared_count(&s, 1, 0x1000, 10);
	for (size_t n = 0; n < s.n_bytes; n += n < 5000 ? 7 : 4099) {
		why = NULL;
		EXPECT(shared_view_open(&v, s.header, n, &why) < 0 && why);
	}
	s.header->major = 2;
	EXPECT_EQ(shared_view_open(&v, s.header, s.n_bytes, &why), -EPROTONOSUPPORT);
	s.header->major = 1;
	s.header->minor = 9; /* may say more than is known */
	EXPECT_EQ(shared_view_open(&v, s.header, s.n_bytes, &why), 0);
	s.header->flags = 1;
	EXPECT_EQ(shared_view_open(&v, s.header, s.n_bytes, &why), -EBADMSG);
	s.header->flags = 0;
	s.header->n_slots = 128;
	EXPECT_EQ(shared_view_open(&v, s.header, s.n_bytes, &why), -EBADMSG);
	s.header->n_slots = 256;
	memset(s.header->host, 'x', sizeof(s.header->host));
	EXPECT_EQ(shared_view_open(&v, s.header, s.n_bytes, &why), -EBADMSG);
	s.header->host[0] = 0;
	shared_count(&s, 2, 0x1000, 10); /* an image that is not there */
	s.header->host[127] = 0;
	EXPECT_EQ(shared_view_open(&v, s.header, s.n_bytes, &why), -EBADMSG);
	EXPECT_STR(why, "ticks of an image that is not there");
	shared_close(&s);
	remove_dir();
}

/* Names that come from outside stay inside of the tree. */
TEST(names_stay_in_their_directory)
{
	static const char *const hosts[] = {"..", ".", "a/../../b", "", ".hidden"};
	struct err err = {""};

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		struct shared_header f = made_up_facts();
		struct loaded_code a = code_of(0);
		struct shared s = {0};
		struct profile p;

		make_dir();
		snprintf(f.host, sizeof(f.host), "%s", hosts[i]);
		snprintf(f.event, sizeof(f.event), "%s", "../../../e\nv");
		REQUIRE(shared_create(&s, dir, &f, 256) == 0);
		shared_add_image(&s, &a, "/x/..");
		shared_count(&s, 1, 0x1000, 1);
		shared_close(&s);
		EXPECT_EQ(histograms_finish(dir, &err), 1);
		profile_init(&p);
		if (dcpi_in_load(dir, NULL, &p, &err) < 0)
			t_fail_("host %s: %s", hosts[i], err.msg);
		EXPECT_EQ(profile_n_samples(&p, 0), 1);
		profile_release(&p);
		remove_dir();
	}
}

TEST(sorting)
{
	struct t_rng r = {3};

	for (size_t n = 0; n < 200; n++) {
		struct dcpi_place v[200];
		uint64_t sum = 0;

		for (size_t i = 0; i < n; i++) {
			v[i] = (struct dcpi_place){t_below(&r, 100), i};
			sum += i;
		}
		dcpi_sort(v, n);
		for (size_t i = 0; i < n; i++) {
			EXPECT(!i || v[i - 1].svma <= v[i].svma);
			sum -= v[i].n;
		}
		EXPECT_EQ(sum, 0);
	}
}
