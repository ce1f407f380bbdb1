/* SPDX-License-Identifier: BSD-2-Clause */
/* Call paths of a log whose recorder is dead: found in rings that were read long ago, and believed
 * only when they have the hash they say. */
#include "collect/calls/old_chains.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/calls/log_chains.h"
#include "t.h"

enum { N_CPUS = 2, N_SLOTS = 64, N_WORDS = 512 };

static struct {
	int fds[N_OLD_ARRAYS], slots, cpus, spill;
	uint64_t *words, *hashes;
	struct chain_cpu *rings;
	struct image_ids ids;
	struct log *log;
} w;

static int array(size_t elem_bytes, uint32_t n)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "test", 4, (uint32_t)elem_bytes, n, &o);
}

static void *mapped(int fd, size_t elem_bytes, size_t n)
{
	return log_map_fd(fd, elem_bytes, n, PROT_READ | PROT_WRITE);
}

static bool begin(void)
{
	w.slots = array(sizeof(struct log_slot), N_CPUS * N_SLOTS);
	w.cpus = array(sizeof(struct log_cpu), N_CPUS);
	w.spill = array(sizeof(struct spill_slot), N_CPUS * 64);
	w.fds[OLD_WORDS] = array(8, N_CPUS * N_WORDS);
	w.fds[OLD_CPUS] = array(sizeof(struct chain_cpu), N_CPUS);
	w.fds[OLD_HASHES] = array(8, N_CPUS * N_SLOTS);
	image_ids_open(&w.ids);
	w.fds[OLD_IMAGES] = w.ids.fd;
	if (w.slots < 0 || !w.ids.v || log_open_arrays(w.slots, w.cpus, w.spill, &w.log, NULL) < 0)
		return false;
	w.words = mapped(w.fds[OLD_WORDS], 8, N_CPUS * N_WORDS);
	w.rings = mapped(w.fds[OLD_CPUS], sizeof(struct chain_cpu), N_CPUS);
	w.hashes = mapped(w.fds[OLD_HASHES], 8, N_CPUS * N_SLOTS);
	return w.words && w.rings && w.hashes;
}

static void end(void)
{
	log_close(w.log);
	log_unmap_array(w.words, 8, N_CPUS * N_WORDS);
	log_unmap_array(w.rings, sizeof(struct chain_cpu), N_CPUS);
	log_unmap_array(w.hashes, 8, N_CPUS * N_SLOTS);
	for (int i = 0; i < OLD_IMAGES; i++)
		close(w.fds[i]);
	image_ids_close(&w.ids);
	close(w.slots);
	close(w.cpus);
	close(w.spill);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static void put(uint32_t cpu, uint64_t word)
{
	w.words[cpu * N_WORDS + (w.rings[cpu].head++ & (N_WORDS - 1))] = word;
}

/* Sends the chain of N frames FIRST, FIRST + 1 ..., innermost first, of process TGID when RAW. */
static uint64_t send(uint32_t cpu, uint64_t first, uint32_t n, uint32_t tgid, bool raw)
{
	const uint64_t info = n | CHAIN_COMPLETE << 16;
	uint64_t h = 0;

	for (uint32_t i = n; i--;)
		h = mix(h, first + i);
	h = mix(h, info);
	if (raw)
		h = mix(h, LOG_TASK(tgid, 0, 7));
	put(cpu, h);
	put(cpu, LOG_TASK(tgid, 99, 7));
	put(cpu, info);
	for (uint32_t i = 0; i < n; i++)
		put(cpu, first + i);
	w.rings[cpu].tail = w.rings[cpu].head; /* its recorder has read it */
	return h;
}

struct found {
	uint32_t n;
	uint64_t hashes[16], first[16];
	uint32_t n_frames[16];
};

static void note(void *ctx, const struct log_chain *c)
{
	struct found *f = ctx;

	REQUIRE(f->n < 16);
	f->hashes[f->n] = c->hash;
	f->first[f->n] = c->frames[0];
	EXPECT_EQ(c->frames[c->n_frames - 1], c->frames[0] + c->n_frames - 1);
	EXPECT_EQ(c->generation, 7);
	f->n_frames[f->n++] = c->n_frames;
}

TEST(chains_are_found_where_nobody_says_they_begin)
{
	uint64_t a, b, gone, wrapped, damaged, wanted[8];
	struct found f = {0};
	struct old_chains *o;
	struct err err;

	if (geteuid() != 0)
		SKIP("needs root");
	if (!begin())
		SKIP("no BPF here");
	gone = send(0, 1ull << 50, 20, 1, false);
	for (int i = 0; i < 8; i++)
		send(0, (100ull + (uint64_t)i) << 50, 57, 1, false);
	wrapped = send(0, 77ull << 48, 40, 5, true); /* over the ring's end and the oldest */
	a = send(1, 3ull << 48, 4, 2, true);
	damaged = send(1, 9ull << 48, 4, 2, false);
	w.words[N_WORDS + w.rings[1].head - 2] ^= 1;
	b = send(1, 5ull << 48, 1, 2, false);
	send(1, 6ull << 48, 30, 2, false); /* not wanted */
	put(1, a);			   /* just a word of that value, at the very end */
	REQUIRE(old_chains_open(w.fds, w.log, &o, &err) == 0);
	memcpy(wanted, (uint64_t[]){gone, wrapped, damaged, b, a, 12345}, 6 * 8);
	old_chains_each(o, wanted, 6, note, &f);
	EXPECT_EQ(f.n, 3);
	EXPECT(f.hashes[0] == wrapped && f.n_frames[0] == 40 && f.first[0] == 77ull << 48);
	EXPECT(f.hashes[1] == a && f.n_frames[1] == 4 && f.first[1] == 3ull << 48);
	EXPECT(f.hashes[2] == b && f.n_frames[2] == 1 && f.first[2] == 5ull << 48);

	w.hashes[N_SLOTS + 3] = b;
	EXPECT_EQ(old_chains_hash(o, 1, N_SLOTS * 5 + 3), b);
	old_chains_close(o);
	end();
}

static int no_file(int fd, struct image_layout *ret, struct err *err)
{
	return -EBADMSG;
}

TEST(numbers_stand_for_what_they_stood_for)
{
	const struct image_ref ref = {.path = "/nonexistent/a",
				      .build_id = {.n_bytes = 4, .bytes = {1, 2, 3, 4}}};
	struct profile p;
	struct images im;
	struct old_chains *o;
	struct build_id id;
	uint32_t number;
	struct err err;

	if (geteuid() != 0)
		SKIP("needs root");
	if (!begin())
		SKIP("no BPF here");
	profile_init(&p);
	images_init(&im, &p, no_file, NULL);
	number = images_add_number(&im, images_intern(&im, &ref));
	image_ids_note(&w.ids, &im);
	REQUIRE(old_chains_open(w.fds, w.log, &o, &err) == 0);
	EXPECT(old_chains_image(o, number, &id) && build_id_same(&id, &ref.build_id));
	EXPECT(!old_chains_image(o, number + 1, &id));
	EXPECT(!old_chains_image(o, IMAGE_NUMBER_VDSO, &id));
	EXPECT(!old_chains_image(o, UINT32_MAX, &id));
	old_chains_close(o);
	images_release(&im);
	profile_release(&p);
	end();
}

TEST(arrays_of_another_shape_are_refused)
{
	struct old_chains *o;
	struct err err;

	if (geteuid() != 0)
		SKIP("needs root");
	if (!begin())
		SKIP("no BPF here");
	for (int i = 0; i < N_OLD_ARRAYS; i++) {
		const int good = w.fds[i];

		w.fds[i] = array(8, 24);
		EXPECT_EQ(old_chains_open(w.fds, w.log, &o, &err), -EBADMSG);
		close(w.fds[i]);
		w.fds[i] = -1;
		EXPECT_EQ(old_chains_open(w.fds, w.log, &o, &err), -EBADMSG);
		w.fds[i] = good;
	}
	end();
}
