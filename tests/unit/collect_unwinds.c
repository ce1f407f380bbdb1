/* SPDX-License-Identifier: BSD-2-Clause */
/* Unwind tables in shared memory: what the walker sees is always whole, and memory is used again
 * only when no walk can read it any more. */
#include "collect/calls/unwinds.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/procfs.h"
#include "t.h"

enum { N_IMAGES = FRAME_MAX_IMAGES + 1, N_KEYS = 1 << 15, MOST_WORDS = 1 << 20 };

static uint32_t words[MOST_WORDS];
static struct unwind_rule rules[UNWIND_N_RULES];
static struct unwind_image shown[N_IMAGES];
static struct image_key keys[N_KEYS];
static uint32_t clock_word;

static struct {
	struct profile profile;
	struct images images;
	struct unwinds unwinds;
	unsigned n_loads;
	char dir[64];
} w;

/* What the "programs" of this test consist of. */
struct file {
	uint32_t build_id; /* 0: has none */
	uint32_t text_bytes;
	uint32_t n_blocks, n_rows, first_rule, n_rules;
	int fails; /* errno, or 0 */
	uint32_t owner;
	uint32_t interpreter; /* as enum interpreter has it */
};

static int probe(int fd, struct image_layout *ret, struct err *err)
{
	struct file f;

	if (pread(fd, &f, sizeof(f), 0) != sizeof(f))
		return -EBADMSG;
	*ret = (struct image_layout){.hashed = !f.build_id,
				     .text_bytes = f.text_bytes,
				     .n_loads = 1,
				     .loads = {{0x1000, 0x1000, 0x500}}};
	ret->build_id.n_bytes = 20;
	memcpy(ret->build_id.bytes, &f.build_id, sizeof(f.build_id));
	return 0;
}

/* Row I's rule is FIRST_RULE + I modulo N_RULES, told by its cfa_off. */
static int load(int fd, struct unwind_table *ret, struct err *err)
{
	struct file f;

	w.n_loads++;
	if (pread(fd, &f, sizeof(f), 0) != sizeof(f))
		return -EBADMSG;
	if (f.fails)
		return -f.fails;
	*ret = (struct unwind_table){.first_off = UNWIND_BLOCK,
				     .n_blocks = f.n_blocks,
				     .n_rows = f.n_rows,
				     .n_rules = f.n_rules + 1};
	ret->interpreter.number = f.interpreter;
	memcpy(ret->key, &f.first_rule, sizeof(f.first_rule));
	ret->key[4] = 1;
	ret->key[5] = (uint8_t)f.n_rules;
	memcpy(ret->key + 8, &f.n_rows, sizeof(f.n_rows));
	ret->blocks = xcalloc(f.n_blocks + 1, sizeof(*ret->blocks));
	ret->rows = xcalloc(f.n_rows, sizeof(*ret->rows));
	ret->rules = xcalloc(f.n_rules + 1, sizeof(*ret->rules));
	for (uint32_t i = 1; i <= f.n_blocks; i++)
		ret->blocks[i] = f.n_rows;
	for (uint32_t i = 0; i < f.n_rows; i++)
		ret->rows[i] = (struct unwind_row){.start = (uint16_t)i,
						   .rule = (uint16_t)(1 + i % f.n_rules)};
	for (uint32_t i = 0; i < f.n_rules; i++)
		ret->rules[i + 1] = (struct unwind_rule){.cfa = UNWIND_CFA_SP,
							 .cfa_off = (int)(f.first_rule + i)};
	return 0;
}

/* Words that are in memory a piece at a time. */
static struct {
	unsigned n_open, n_opened, n_to_fail;
	size_t most;
} pieces;

static uint32_t *open_piece(void *ctx, size_t at, size_t n)
{
	EXPECT(at + n <= *(size_t *)ctx);
	EXPECT_EQ(pieces.n_open, 0);
	if (pieces.n_to_fail) {
		pieces.n_to_fail--;
		return NULL;
	}
	pieces.n_open++;
	pieces.n_opened++;
	pieces.most = n > pieces.most ? n : pieces.most;
	return &words[at];
}

static void close_piece(void *ctx, uint32_t *piece, size_t at, size_t n)
{
	EXPECT_EQ(pieces.n_open, 1);
	EXPECT(piece == &words[at]);
	pieces.n_open = 0;
}

static size_t n_words_in_pieces;

static void begin_with(uint32_t *all, size_t n_words)
{
	struct unwind_memory mem = {.words = all,
				    .n_words = n_words,
				    .open = open_piece,
				    .close = close_piece,
				    .ctx = &n_words_in_pieces,
				    .rules = rules,
				    .images = shown,
				    .n_images = N_IMAGES,
				    .clock = &clock_word};

	n_words_in_pieces = n_words;
	memset(&pieces, 0, sizeof(pieces));
	memset(words, 0xee, sizeof(words));
	memset(rules, 0, sizeof(rules));
	memset(shown, 0, sizeof(shown));
	memset(keys, 0, sizeof(keys));
	w.n_loads = 0;
	profile_init(&w.profile);
	images_init(&w.images, &w.profile, probe, NULL);
	unwinds_init(&w.unwinds, &mem, keys, N_KEYS, &w.images, load);
	snprintf(w.dir, sizeof(w.dir), "/tmp/dwell-unwinds-XXXXXX");
	EXPECT(mkdtemp(w.dir) != NULL);
}

static void begin(size_t n_words)
{
	begin_with(words, n_words);
}

static void end(void)
{
	unwinds_check(&w.unwinds);
	unwinds_release(&w.unwinds);
	images_release(&w.images);
	profile_release(&w.profile);
	EXPECT_EQ(rmdir(w.dir), 0);
}

/* Writes file number NAME and tells the images of it; it is gone when this returns. */
static void add_file(uint32_t name, const struct file *f)
{
	char path[128];
	FILE *out;
	struct stat st;

	snprintf(path, sizeof(path), "%s/%u", w.dir, name);
	out = fopen(path, "w");
	fwrite(f, sizeof(*f), 1, out);
	fflush(out);
	if (f->owner)
		EXPECT_EQ(fchown(fileno(out), f->owner, f->owner), 0);
	/* Inodes are reused: the generation tells them apart. */
	fstat(fileno(out), &st);
	images_intern(&w.images, &(struct image_ref){.dev = 8ull << 32 | 1,
						     .ino = st.st_ino,
						     .ino_generation = name,
						     .path = path});
	fclose(out);
	unlink(path);
}

static struct image_request request_of(uint32_t name)
{
	vec_each (c, &w.images.codes)
		if (c->ino_generation == name)
			return (struct image_request){
				.ino = c->ino, .dev = 8 << 20 | 1, .generation = name};
	return (struct image_request){.ino = 999, .generation = name};
}

static void ask(uint32_t name)
{
	struct image_request r = request_of(name);

	unwinds_serve(&w.unwinds, &r);
	while (unwinds_build_next(&w.unwinds))
		;
}

/* What the walker does: the number of the file, 0 for none. */
static uint32_t number_of(uint32_t name)
{
	struct image_request r = request_of(name);
	uint32_t h = image_key_hash(r.ino, r.dev, r.generation);

	for (uint32_t i = 0; i < IMAGE_PROBES; i++) {
		const struct image_key *k = &keys[(h + i) & (N_KEYS - 1)];

		if (k->number && k->ino == r.ino && k->dev == r.dev && k->generation == name)
			return k->number;
	}
	return 0;
}

/* And its table: is it there, whole, and that file's? */
static bool can_walk(uint32_t name, const struct file *f)
{
	uint32_t number = number_of(name);
	const struct unwind_image *im = &shown[number];
	const struct unwind_row *rows = (const struct unwind_row *)&words[im->rows_at];

	if (!number || !im->n_blocks || im->first_off != UNWIND_BLOCK)
		return false;
	EXPECT_EQ(im->n_blocks, f->n_blocks);
	EXPECT_EQ(words[im->blocks_at + im->n_blocks], f->n_rows);
	for (uint32_t i = 0; i < f->n_rows; i++) {
		if (rules[rows[i].rule].cfa_off == (int)(f->first_rule + i % f->n_rules))
			continue;
		EXPECT_EQ(rules[rows[i].rule].cfa_off, f->first_rule + i % f->n_rules);
		return false;
	}
	shown[number].last_used = clock_word;
	return true;
}

/* The walker goes by frame pointers there and does not ask again. */
static bool is_empty(uint32_t name)
{
	uint32_t number = number_of(name);

	return number && shown[number].n_blocks == 1 && shown[number].first_off > FRAME_OFF_MASK;
}

TEST(a_table_is_there_when_it_was_asked_for)
{
	struct file f = {.build_id = 5, .n_blocks = 3, .n_rows = 40, .first_rule = 7, .n_rules = 9};

	begin(1000);
	add_file(1, &f);
	EXPECT_EQ(number_of(1), 0);
	unwinds_changed(&w.unwinds);
	EXPECT(!unwinds_changed(&w.unwinds));
	ask(1);
	EXPECT(unwinds_changed(&w.unwinds));
	EXPECT(can_walk(1, &f));
	EXPECT_EQ(number_of(1), IMAGE_NUMBER_VDSO + 1);
	EXPECT_EQ(images_numbered(&w.images, number_of(1)), 0);
	ask(1); /* two CPUs asked at once */
	EXPECT_EQ(w.n_loads, 1);
	EXPECT(!unwinds_changed(&w.unwinds));
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_tables, 1);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_bytes, 4 * (4 + 40));
	/* Rule 0, "too complex", and the file's own 9 (its rule 0 is rule 0). */
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_rules, 2 + 9);
	end();
}

TEST(small_ones_do_not_wait_for_large_ones)
{
	static const uint32_t text_bytes[] = {0, 9000, 500, 70000, 500, 20};
	struct file f = {.n_blocks = 1, .n_rows = 4, .n_rules = 2};
	struct image_request r;

	begin(1000);
	for (uint32_t i = 1; i < n_elems(text_bytes); i++) {
		f.build_id = i;
		f.text_bytes = text_bytes[i];
		add_file(i, &f);
	}
	for (uint32_t i = 1; i < 5; i++) {
		r = request_of(i);
		EXPECT(unwinds_serve(&w.unwinds, &r));
		EXPECT(unwinds_serve(&w.unwinds, &r)); /* another CPU's */
		EXPECT(number_of(i) != 0);
		unwinds_check(&w.unwinds);
	}
	EXPECT_EQ(w.n_loads, 0);
	EXPECT(unwinds_build_next(&w.unwinds) && can_walk(2, &f) && !can_walk(4, &f));
	EXPECT(unwinds_build_next(&w.unwinds) && can_walk(4, &f) && !can_walk(1, &f));
	r = request_of(5); /* comes last and is served first */
	EXPECT(unwinds_serve(&w.unwinds, &r));
	EXPECT(unwinds_build_next(&w.unwinds) && can_walk(5, &f) && !can_walk(1, &f));
	EXPECT(unwinds_build_next(&w.unwinds) && can_walk(1, &f) && !can_walk(3, &f));
	unwinds_want(&w.unwinds, number_of(3), 0); /* who cannot wait need not */
	EXPECT(can_walk(3, &f));
	EXPECT(!unwinds_build_next(&w.unwinds));
	EXPECT_EQ(w.n_loads, 5);
	end();
}

TEST(a_broken_file_does_not_fail_those_that_wait_with_it)
{
	struct file f = {.build_id = 5, .n_blocks = 1, .n_rows = 4, .n_rules = 2, .fails = EBADMSG};

	begin(1000);
	add_file(1, &f);
	f.fails = 0;
	for (uint32_t i = 2; i <= 3; i++)
		add_file(i, &f);
	for (uint32_t i = 1; i <= 3; i++) {
		struct image_request r = request_of(i);

		EXPECT(unwinds_serve(&w.unwinds, &r));
	}
	while (unwinds_build_next(&w.unwinds))
		unwinds_check(&w.unwinds);
	EXPECT(is_empty(1));
	EXPECT(can_walk(2, &f) && can_walk(3, &f));
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_failed, 1);
	end();
}

TEST(equal_frame_information_shares_a_table)
{
	struct file f = {.build_id = 5, .n_blocks = 3, .n_rows = 40, .first_rule = 7, .n_rules = 9};

	begin(1000);
	for (uint32_t i = 1; i <= 4; i++) {
		f.build_id = i / 2; /* none, two of one, another */
		add_file(i, &f);
	}
	for (uint32_t i = 1; i <= 4; i++) {
		ask(i);
		unwinds_check(&w.unwinds);
	}
	for (uint32_t i = 1; i <= 4; i++)
		EXPECT(can_walk(i, &f));
	EXPECT(number_of(1) != number_of(2));
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_tables, 1);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_bytes, 4 * (4 + 40));
	ask(2);
	EXPECT_EQ(w.n_loads, 4);
	end();
}

/* A build-id is what a file says of itself: whoever copies one, first or second, gets nobody's
 * table but his own. */
TEST(equal_build_ids_do_not_share_a_table)
{
	struct file f = {.build_id = 5, .n_blocks = 3, .n_rows = 40, .first_rule = 7, .n_rules = 9};
	struct file g = f;

	begin(1000);
	g.first_rule = 60;
	add_file(1, &g);
	add_file(2, &f);
	add_file(3, &g);
	for (uint32_t i = 1; i <= 3; i++)
		ask(i);
	EXPECT(can_walk(1, &g) && can_walk(2, &f) && can_walk(3, &g));
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_tables, 2);
	end();
}

/* Two files share a table, are evicted together, and one is rewritten before it is built again. */
TEST(a_rewritten_file_leaves_the_table_it_shared)
{
	struct file f = {
		.build_id = 5, .n_blocks = 3, .n_rows = 400, .first_rule = 7, .n_rules = 9};
	struct file g = f, big = {.build_id = 6, .n_blocks = 3, .n_rows = 900, .n_rules = 5};
	uint32_t code;

	begin(1000);
	add_file(1, &f);
	add_file(2, &f);
	add_file(3, &big);
	ask(1);
	ask(2);
	EXPECT(can_walk(1, &f) && can_walk(2, &f));
	for (unsigned i = 0; i < 3; i++)
		unwinds_tick(&w.unwinds);
	ask(3);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_evicted, 1);
	g.first_rule = 60;
	code = images_numbered(&w.images, number_of(1));
	EXPECT_EQ(dup2(memfd_create("rewritten", 0), w.images.codes.v[code].fd),
		  w.images.codes.v[code].fd);
	EXPECT_EQ(pwrite(w.images.codes.v[code].fd, &g, sizeof(g), 0), sizeof(g));
	for (unsigned i = 0; i < 4; i++)
		unwinds_tick(&w.unwinds);
	EXPECT(can_walk(3, &big));
	for (unsigned i = 0; i < 4; i++)
		unwinds_tick(&w.unwinds);
	for (unsigned i = 0; i < 20; i++) {
		ask(1);
		ask(2);
		unwinds_check(&w.unwinds);
		unwinds_tick(&w.unwinds);
	}
	EXPECT(can_walk(1, &g) && can_walk(2, &f));
	end();
}

struct own_code {
	uint64_t avma, dev, ino;
};

static void find_own_code(void *ctx, const struct procfs_map *m)
{
	struct own_code *own = ctx;

	if (m->start <= own->avma && own->avma < m->end) {
		own->dev = m->dev;
		own->ino = m->ino;
	}
}

/* A runtime's library is met under two paths, of which each becomes an image: its table is there
 * for the one when a process is found to have the other. */
TEST(a_runtime_whose_table_another_image_has)
{
	struct file f = {.n_blocks = 3,
			 .n_rows = 40,
			 .first_rule = 7,
			 .n_rules = 9,
			 .interpreter = INTERPRETER_HOTSPOT_17};
	struct image_request r = {.number = REQUEST_RUNTIME, .tgid = (uint32_t)getpid(), .ino = 77};
	char path[128];
	uint32_t hash, number = 0;
	void *mapped;
	int fd;

	begin(1000);
	add_file(1, &f);
	ask(1);
	EXPECT(can_walk(1, &f));
	snprintf(path, sizeof(path), "%s/libjvm.so", w.dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	REQUIRE(fd >= 0);
	EXPECT_EQ(write(fd, &f, sizeof(f)), sizeof(f));
	mapped = mmap(NULL, sizeof(f), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	REQUIRE(mapped != MAP_FAILED);
	EXPECT(unwinds_serve_runtime(&w.unwinds, &r));
	while (unwinds_build_next(&w.unwinds))
		;
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_tables, 1);
	hash = image_key_hash(r.ino, RUNTIME_DEV, 0);
	for (uint32_t i = 0; i < IMAGE_PROBES; i++) {
		const struct image_key *k = &keys[(hash + i) & (N_KEYS - 1)];

		if (k->ino == r.ino && k->dev == RUNTIME_DEV)
			number = k->number;
	}
	EXPECT(number && number != number_of(1));
	EXPECT_EQ(shown[number].interpreter, INTERPRETER_HOTSPOT_17);
	munmap(mapped, sizeof(f));
	close(fd);
	unlink(path);
	end();
}

/* The process that a request names may map another file there by the time it is served. */
TEST(what_a_process_maps_must_be_the_file)
{
	struct own_code own = {.avma = (uintptr_t)find_own_code};
	struct image_request r = {.tgid = (uint32_t)getpid(), .start = own.avma};

	EXPECT_EQ(procfs_each_map(r.tgid, find_own_code, &own), 0);
	r.dev = (uint32_t)(own.dev >> 32 << 20 | (own.dev & 0xfffff));
	begin(1000);
	r.ino = own.ino + 1;
	unwinds_serve(&w.unwinds, &r);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_images, 0);
	unwinds_tick(&w.unwinds);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_unknown, 1);
	r.ino = own.ino;
	unwinds_serve(&w.unwinds, &r);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_images, 1);
	/* Another device than the kernel's own: the file system has its own idea of both. */
	r.dev++;
	r.ino++;
	unwinds_serve(&w.unwinds, &r);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_images, 2);
	end();
}

TEST(a_failed_build_is_not_shared)
{
	struct file f = {.build_id = 5, .n_blocks = 3, .n_rows = 40, .first_rule = 7, .n_rules = 9};
	struct file g = f;

	begin(1000);
	g.fails = ENOENT;
	add_file(1, &g);
	add_file(2, &f);
	ask(1);
	ask(2);
	EXPECT(is_empty(1) && can_walk(2, &f));
	end();
}

TEST(a_failed_build_is_not_tried_again)
{
	struct file f = {.build_id = 5, .fails = ENOENT};

	begin(1000);
	add_file(1, &f);
	for (unsigned i = 0; i < 20; i++) {
		ask(1);
		unwinds_tick(&w.unwinds);
	}
	EXPECT(is_empty(1));
	EXPECT_EQ(w.n_loads, 1);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_failed, 1);
	/* Larger than all memory is a failure too. */
	f = (struct file){.build_id = 6, .n_blocks = 1, .n_rows = 1000, .n_rules = 1};
	add_file(2, &f);
	ask(2);
	ask(2);
	EXPECT(is_empty(2));
	EXPECT_EQ(w.n_loads, 2);
	end();
}

TEST(an_unsound_table_is_not_shown)
{
	struct unwind_table t = {.n_blocks = 1,
				 .n_rows = 1,
				 .n_rules = 1,
				 .blocks = (uint32_t[]){0, 2},
				 .rows = (struct unwind_row[]){{0, 0}},
				 .rules = (struct unwind_rule[]){{0}}};

	begin(1000);
	unwinds_add_vdso(&w.unwinds, &t);
	EXPECT(shown[IMAGE_NUMBER_VDSO].first_off > FRAME_OFF_MASK);
	end();
	t.blocks[1] = 1;
	begin(1000);
	unwinds_add_vdso(&w.unwinds, &t);
	EXPECT_EQ(shown[IMAGE_NUMBER_VDSO].first_off, 0);
	EXPECT_EQ(shown[IMAGE_NUMBER_VDSO].n_blocks, 1);
	end();
}

TEST(a_file_nobody_knows_yet_is_asked_for_again)
{
	struct file f = {.build_id = 5, .n_blocks = 1, .n_rows = 4, .n_rules = 2};

	begin(1000);
	/* The inode the file will have: what is asked for before the sideband tells of it. */
	add_file(1, &f);
	w.images.codes.v[0].ino_generation = 77;
	unwinds_serve(&w.unwinds, &(struct image_request){.ino = w.images.codes.v[0].ino,
							  .dev = 8 << 20 | 1,
							  .generation = 1});
	w.images.codes.v[0].ino_generation = 1;
	EXPECT_EQ(number_of(1), 0);
	EXPECT_EQ(unwinds_serve_again(&w.unwinds), 0);
	EXPECT(unwinds_build_next(&w.unwinds));
	EXPECT(can_walk(1, &f));
	ask(999); /* nobody ever tells of it */
	unwinds_tick(&w.unwinds);
	unwinds_tick(&w.unwinds);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_unknown, 1);
	end();
}

/* Memory for three tables of 200 words. */
TEST(the_least_recently_used_goes)
{
	struct file f[6];

	begin(3 + 3 * 200);
	for (uint32_t i = 1; i < n_elems(f); i++) {
		f[i] = (struct file){.build_id = i,
				     .n_blocks = 9,
				     .n_rows = 190,
				     .first_rule = 100 * i,
				     .n_rules = 10};
		add_file(i, &f[i]);
	}
	ask(1);
	ask(2);
	ask(3);
	/* All in use: a fourth has to wait, and is not built over and over. */
	for (unsigned i = 0; i < 8; i++) {
		EXPECT(can_walk(1, &f[1]) && can_walk(2, &f[2]) && can_walk(3, &f[3]));
		ask(4);
		unwinds_tick(&w.unwinds);
		unwinds_check(&w.unwinds);
	}
	EXPECT_EQ(w.n_loads, 4);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_no_room, 1);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_evicted, 0);
	for (unsigned i = 0; i < 3; i++) { /* 2 falls out of use */
		EXPECT(can_walk(1, &f[1]) && can_walk(3, &f[3]));
		unwinds_tick(&w.unwinds);
	}
	ask(4);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_evicted, 1);
	EXPECT(!can_walk(2, &f[2]) && !can_walk(4, &f[4]));
	unwinds_check(&w.unwinds);
	ask(2); /* not in the cycle it was evicted in */
	EXPECT(!can_walk(2, &f[2]));
	unwinds_tick(&w.unwinds);
	EXPECT(!can_walk(4, &f[4])); /* a walk of the last cycle may still read the words */
	unwinds_tick(&w.unwinds);
	EXPECT(can_walk(4, &f[4]) && can_walk(1, &f[1]) && can_walk(3, &f[3]));
	for (unsigned i = 0; i < 4 && can_walk(4, &f[4]); i++) /* now only 4 is used */
		unwinds_tick(&w.unwinds);
	ask(2); /* back again, under its number */
	unwinds_tick(&w.unwinds);
	unwinds_tick(&w.unwinds);
	EXPECT(can_walk(2, &f[2]) && can_walk(4, &f[4]));
	end();
}

TEST(rules_run_out)
{
	struct file f = {.build_id = 1, .n_blocks = 1, .n_rows = 30000, .n_rules = 30000};
	const struct unwind_image *im;

	begin(MOST_WORDS);
	for (uint32_t i = 1; i <= 2; i++) {
		f.build_id = i;
		f.first_rule = i * 100000;
		add_file(i, &f);
		ask(i);
		EXPECT(can_walk(i, &f));
	}
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_rules, 60002);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_rules_lost, 0);
	/* 5,534 are left; the rest of the third's rows say that they cannot be unwound. */
	f = (struct file){.build_id = 3,
			  .n_blocks = 1,
			  .n_rows = 5500 + 40,
			  .first_rule = 1,
			  .n_rules = 5540};
	add_file(3, &f);
	ask(3);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_rules, UNWIND_N_RULES);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_rules_lost, 6);
	im = &shown[number_of(3)];
	for (uint32_t i = 0; i < f.n_rows; i++) {
		const struct unwind_rule *r =
			&rules[((const struct unwind_row *)&words[im->rows_at])[i].rule];

		EXPECT(i < 5534 ? r->cfa_off == (int)i + 1
				: r->cfa == UNWIND_CFA_NONE && r->why == UNWIND_TOO_COMPLEX);
	}
	end();
}

TEST(numbers_run_out)
{
	struct file f = {.fails = ENOENT};

	begin(1000);
	for (uint32_t i = 1; i <= FRAME_MAX_IMAGES + 10; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/nonexistent/%u", i);
		images_intern(&w.images, &(struct image_ref){.dev = 8ull << 32 | 1,
							     .ino = 100000 + i,
							     .ino_generation = i,
							     .path = path});
		unwinds_serve(&w.unwinds, &(struct image_request){.ino = 100000 + i,
								  .dev = 8 << 20 | 1,
								  .generation = i});
		unwinds_build_next(&w.unwinds); /* fails */
	}
	add_file(0x123456, &f);
	ask(0x123456);
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_images + unwinds_stats(&w.unwinds).n_not_numbered,
		  FRAME_MAX_IMAGES + 11);
	EXPECT(unwinds_stats(&w.unwinds).n_images > FRAME_MAX_IMAGES / 100 * 99);
	end();
}

/* Nobody in this process walks: a table is written a piece at a time, and one that cannot be
 * written now is written later. */
TEST(a_large_table_is_written_in_pieces)
{
	struct file f = {.build_id = 1, .n_blocks = 5, .n_rows = 700000, .n_rules = 9},
		    small = {.build_id = 2, .n_blocks = 1, .n_rows = 10, .n_rules = 3};

	begin_with(NULL, MOST_WORDS);
	add_file(1, &f);
	add_file(2, &small);
	ask(1);
	EXPECT(can_walk(1, &f));
	EXPECT(pieces.n_opened > 2);
	EXPECT(pieces.most <= 1 << 18);
	EXPECT_EQ(pieces.n_open, 0);
	pieces.n_to_fail = 1;
	ask(2);
	EXPECT(number_of(2) && !can_walk(2, &small));
	unwinds_check(&w.unwinds);
	unwinds_tick(&w.unwinds);
	EXPECT(can_walk(2, &small));
	EXPECT_EQ(unwinds_stats(&w.unwinds).n_no_room, 0);
	EXPECT_EQ(w.n_loads, 2);
	end();
}

/* Anything in any order; every rule holds and every table shown is its file's. */
TEST(random_use)
{
	enum { N = 40 };
	struct t_rng rng = {.s = 3};
	struct file f[N + 1];
	unsigned n_walks = 0;

	begin(4000);
	for (uint32_t i = 1; i <= N; i++) {
		f[i] = (struct file){.build_id = 1 + i / 2, /* most are there twice */
				     .n_blocks = 1 + i / 2 % 5,
				     .n_rows = 1 + i / 2 * 30,
				     .first_rule = i / 2 * 50,
				     .n_rules = 1 + i / 2 % 30,
				     .fails = i / 2 % 7 == 0 ? EBADMSG : 0};
		add_file(i, &f[i]);
	}
	for (unsigned i = 0; i < t_cases(20000); i++) {
		uint32_t name = 1 + (uint32_t)t_below(&rng, 1 + t_below(&rng, N));

		if (t_below(&rng, 8) == 0)
			unwinds_tick(&w.unwinds);
		else if (f[name].fails)
			ask(name);
		else if (can_walk(name, &f[name]))
			n_walks++;
		else
			ask(name);
		EXPECT(!f[name].fails || !number_of(name) || is_empty(name));
		if (i % 16 == 0)
			unwinds_check(&w.unwinds);
	}
	EXPECT(n_walks > 1000);
	EXPECT(unwinds_stats(&w.unwinds).n_evicted > 100);
	EXPECT(unwinds_stats(&w.unwinds).most_bytes <= 4 * 4000);
	end();
}

/* Free pieces beside a bitmap. */
TEST(extents)
{
	enum { N = 500 };
	bool free_[N] = {false};
	struct {
		uint32_t at, n;
	} held[N];
	size_t n_held = 1, n_free = 0;
	struct extents e = {0};
	struct t_rng rng = {.s = 9};

	held[0].at = 0;
	held[0].n = N;
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t n = 1 + (uint32_t)t_below(&rng, 20), at, longest = 0, run = 0;

		if (n_held && t_below(&rng, 2)) {
			size_t k = (size_t)t_below(&rng, n_held);

			extents_give(&e, held[k].at, held[k].n);
			for (uint32_t j = 0; j < held[k].n; j++)
				free_[held[k].at + j] = true;
			n_free += held[k].n;
			held[k] = held[--n_held];
		}
		for (uint32_t j = 0; j < N; j++) {
			run = free_[j] ? run + 1 : 0;
			longest = run > longest ? run : longest;
		}
		EXPECT_EQ(extents_fit(&e, n), n <= longest);
		EXPECT_EQ(e.n_free, n_free);
		if (n > longest) {
			EXPECT(!extents_take(&e, n, &at));
			continue;
		}
		REQUIRE(extents_take(&e, n, &at));
		for (uint32_t j = 0; j < n; j++) {
			REQUIRE(at + j < N && free_[at + j]);
			free_[at + j] = false;
		}
		n_free -= n;
		held[n_held].at = at;
		held[n_held++].n = n;
	}
	extents_release(&e);
}
