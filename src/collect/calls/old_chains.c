/* SPDX-License-Identifier: BSD-2-Clause */
/* See old_chains.h.
 *
 * Chains that were read lie behind the ring's tail, where nothing tells where one begins.  So each
 * word that is a wanted hash is taken for the head of one, and believed when the frames behind it
 * have that very hash: it is computed here as the programs do. */
#include "collect/calls/old_chains.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/lower_bound.h"
#include "base/vec.h"
#include "collect/calls/log_chains.h"

const char *const old_chain_arrays[N_OLD_ARRAYS] = {"chain-words", "chain-cpus", "slot-chains",
						    "image-ids"};

#define N_IMAGE_IDS (FRAME_MAX_IMAGES + 1)

_Static_assert(BUILD_ID_MAX <= sizeof(((struct image_id_slot *)0)->bytes), "no room");

/* --- the recorder's side --- */

void image_ids_open(struct image_ids *ids)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);

	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dwell_images", 4, sizeof(*ids->v), N_IMAGE_IDS,
				&o);

	*ids = (struct image_ids){.fd = fd};
	if (fd < 0)
		return;
	ids->v = log_map_fd(fd, sizeof(*ids->v), N_IMAGE_IDS, PROT_READ | PROT_WRITE);
	if (!ids->v)
		close(fd);
}

void image_ids_close(struct image_ids *ids)
{
	log_unmap_array(ids->v, sizeof(*ids->v), N_IMAGE_IDS);
	if (ids->v)
		close(ids->fd);
	*ids = (struct image_ids){0};
}

void image_ids_note(struct image_ids *ids, const struct images *im)
{
	if (ids->n_taken != im->n_taken) { /* of some only now the build-id is known */
		ids->n_taken = im->n_taken;
		ids->n = 0;
	}
	for (; ids->v && ids->n < im->numbered.n && ids->n < N_IMAGE_IDS; ids->n++) {
		struct image_id_slot *s = &ids->v[ids->n];
		const struct mapped_code *c;
		const struct build_id *id;

		if (im->numbered.v[ids->n] == INDEX_NONE) /* none, or the vdso */
			continue;
		c = &im->codes.v[im->numbered.v[ids->n]];
		id = c->has_layout ? &c->layout.build_id : &c->told;
		memcpy(s->bytes, id->bytes, id->n_bytes);
		s->n_bytes = id->n_bytes;
	}
}

/* --- the next one's --- */

struct old_chains {
	uint32_t n_cpus, n_slots, n_words; /* the latter two of each CPU */
	uint64_t *words, *hashes;
	struct chain_cpu *cpus;
	struct image_id_slot *images;
	uint64_t frames[CHAIN_MAX_FRAMES];
};

static bool is_array(int fd, size_t elem_bytes, uint32_t *ret_n)
{
	struct bpf_map_info info = {0};
	uint32_t n = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &n) < 0 ||
	    info.type != BPF_MAP_TYPE_ARRAY || info.key_size != 4 ||
	    info.value_size != elem_bytes || !(info.map_flags & BPF_F_MMAPABLE))
		return false;
	*ret_n = info.max_entries;
	return true;
}

void old_chains_close(struct old_chains *o)
{
	if (!o)
		return;
	log_unmap_array(o->words, 8, (size_t)o->n_cpus * o->n_words);
	log_unmap_array(o->hashes, 8, (size_t)o->n_cpus * o->n_slots);
	log_unmap_array(o->cpus, sizeof(*o->cpus), o->n_cpus);
	log_unmap_array(o->images, sizeof(*o->images), N_IMAGE_IDS);
	free(o);
}

int old_chains_open(const int fds[N_OLD_ARRAYS], const struct log *log, struct old_chains **ret,
		    struct err *err)
{
	const uint32_t n_cpus = log_n_cpus(log), n_slots = log_n_slots(log);
	uint32_t n_words, n_rings, n_hashes, n_images;
	struct old_chains *o;
	int rc;

	if (!is_array(fds[OLD_WORDS], 8, &n_words) ||
	    !is_array(fds[OLD_CPUS], sizeof(struct chain_cpu), &n_rings) ||
	    !is_array(fds[OLD_HASHES], 8, &n_hashes) ||
	    !is_array(fds[OLD_IMAGES], sizeof(struct image_id_slot), &n_images) ||
	    n_rings != n_cpus || n_hashes != n_cpus * n_slots || n_images != N_IMAGE_IDS ||
	    n_words % n_cpus || n_words / n_cpus < CHAIN_HEAD_WORDS ||
	    (n_words / n_cpus & (n_words / n_cpus - 1)))
		return err_set(err, -EBADMSG, "not the call paths of this log");
	o = xcalloc(1, sizeof(*o));
	o->n_cpus = n_cpus;
	o->n_slots = n_slots;
	o->n_words = n_words / n_cpus;
	o->words = log_map_fd(fds[OLD_WORDS], 8, n_words, PROT_READ);
	o->hashes = log_map_fd(fds[OLD_HASHES], 8, n_hashes, PROT_READ);
	o->cpus = log_map_fd(fds[OLD_CPUS], sizeof(*o->cpus), n_cpus, PROT_READ);
	o->images = log_map_fd(fds[OLD_IMAGES], sizeof(*o->images), n_images, PROT_READ);
	if (!o->words || !o->hashes || !o->cpus || !o->images) {
		rc = -errno;
		old_chains_close(o);
		return err_errno(err, rc, "cannot map call paths");
	}
	*ret = o;
	return 0;
}

uint64_t old_chains_hash(const struct old_chains *o, uint32_t cpu, uint64_t at)
{
	return o->hashes[(size_t)cpu * o->n_slots + (at & (o->n_slots - 1))];
}

bool old_chains_image(const struct old_chains *o, uint32_t number, struct build_id *ret)
{
	const struct image_id_slot *s = &o->images[number & FRAME_MAX_IMAGES];

	if (!s->n_bytes || s->n_bytes > sizeof(ret->bytes))
		return false;
	*ret = (struct build_id){.n_bytes = s->n_bytes};
	memcpy(ret->bytes, s->bytes, s->n_bytes);
	return true;
}

/* As bpf/walk.bpf.h has it. */
static uint64_t old_chains_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

/* Whether C has its hash: bpf/chain.bpf.h, end_path.  INFO is the word of that name. */
static bool is_whole(const struct log_chain *c, uint64_t info)
{
	uint64_t h = 0;

	for (uint32_t i = c->n_frames; i--;)
		h = old_chains_mix(h, c->frames[i]);
	h = old_chains_mix(h, info);
	if (c->labels)
		h = old_chains_mix(h, c->labels);
	return h == c->hash || old_chains_mix(h, LOG_TASK(c->tgid, 0, c->generation)) == c->hash;
}

/* The hashes that are wanted: most words that are none are seen by the bits already. */
struct wanted {
	const uint64_t *v;
	size_t n;
	uint64_t bits[1024];
};

static bool is_wanted(const struct wanted *w, uint64_t hash)
{
	size_t lo;

	if (!(w->bits[hash >> 54] >> (hash >> 48 & 63) & 1))
		return false;
	lo = lower_bound(k, 0, w->n, w->v[k] < hash);
	return lo < w->n && w->v[lo] == hash;
}

/* The chain whose head is at word AT of CPU's ring, which ends at HEAD. */
static bool chain_at(struct old_chains *o, uint32_t cpu, uint64_t at, uint64_t head,
		     struct log_chain *ret)
{
	const uint64_t *words = &o->words[(size_t)cpu * o->n_words];
	const uint64_t mask = o->n_words - 1;
	const uint64_t info = words[(at + CHAIN_INFO) & mask];
	const uint64_t task = words[(at + CHAIN_TASK) & mask];

	*ret = (struct log_chain){
		.hash = words[(at + CHAIN_HASH) & mask],
		.tgid = LOG_TGID(task),
		.generation = LOG_GENERATION(task),
		.cause = (enum chain_cause)(info >> 16 & 0xff),
		.n_frames = (uint32_t)info & 0xffff,
		.n_kernel = (uint32_t)(info >> 24) & 0xff,
		.frames = o->frames,
	};
	if (ret->n_frames > head - at - CHAIN_HEAD_WORDS)
		return false;
	if (info & CHAIN_HAS_LABELS && ret->n_frames)
		ret->labels = words[(at + CHAIN_HEAD_WORDS + --ret->n_frames) & mask];
	if (ret->n_frames > CHAIN_MAX_FRAMES || ret->n_kernel > ret->n_frames ||
	    ret->cause >= CHAIN_N_CAUSES)
		return false;
	for (uint32_t i = 0; i < ret->n_frames; i++)
		o->frames[i] = words[(at + CHAIN_HEAD_WORDS + i) & mask];
	return is_whole(ret, info);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void old_chains_each(struct old_chains *o, uint64_t *wanted, size_t n,
		     void (*fn)(void *ctx, const struct log_chain *c), void *ctx)
{
	struct wanted w = {.v = wanted, .n = n};

	if (n)
		qsort(wanted, n, sizeof(*wanted), by_value);
	for (size_t i = 0; i < n; i++)
		w.bits[wanted[i] >> 54] |= 1ull << (wanted[i] >> 48 & 63);
	for (uint32_t cpu = 0; cpu < o->n_cpus; cpu++) {
		const uint64_t *words = &o->words[(size_t)cpu * o->n_words];
		const uint64_t head = o->cpus[cpu].head;
		uint64_t at = head > o->n_words ? head - o->n_words : 0;
		struct log_chain c;

		for (; at + CHAIN_HEAD_WORDS <= head; at++)
			if (is_wanted(&w, words[at & (o->n_words - 1)]) &&
			    chain_at(o, cpu, at, head, &c))
				fn(ctx, &c);
	}
}
