/* SPDX-License-Identifier: BSD-2-Clause */
/* See call_paths.h. */
#include "collect/calls/call_paths.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/clock.h"

/* Words of a CPU's chain ring: 2 MiB, some 8,000 chains of 30 frames a cycle, and never more than
 * 128 MiB in all. */
#define MOST_CHAIN_WORDS  (1u << 18)
#define ALL_CHAIN_WORDS	  (1u << 24)
#define LEAST_CHAIN_WORDS (4u * CHAIN_MAX_FRAMES)

#define LEAST_COPY_CHUNKS 64u /* whole pages of 64 KiB */

/* Twice the images there can be. */
#define N_IMAGE_KEYS (2u * (FRAME_MAX_IMAGES + 1))

/* The loader where only frame pointers are wanted: nothing has a table. */
static int load_nothing(int fd, struct unwind_table *ret, struct err *err)
{
	return err_set(err, -ENOENT, "frame pointers only");
}

void call_paths_init(struct call_paths *cp, enum call_graph mode, struct profile *p,
		     struct procs *procs, struct images *images, struct kernel_map *kernel)
{
	*cp = (struct call_paths){.mode = mode};
	if (mode != CALLS_NONE)
		chains_init(&cp->chains, p, procs, images, kernel);
}

void call_paths_release(struct call_paths *cp)
{
	if (cp->has_ring)
		ring_stacks_release(&cp->ring);
	if (cp->has_copies)
		copies_release(&cp->copies);
	if (cp->has_unwinds)
		unwinds_release(&cp->unwinds);
	if (cp->heap) {
		free(cp->heap->words);
		free(cp->heap->rules);
		free(cp->heap->images);
		free(cp->heap);
	}
	if (cp->mode != CALLS_NONE)
		chains_release(&cp->chains);
	vec_release(&cp->words);
	*cp = (struct call_paths){0};
}

static uint32_t n_copy_chunks(const struct call_paths_tables *t, uint32_t n_cpus)
{
	const size_t most = t->n_copy_bytes ? t->n_copy_bytes : CALL_PATHS_COPY_BYTES;
	const size_t each = CALL_PATHS_ALL_COPIES / n_cpus;
	uint32_t n = LEAST_COPY_CHUNKS;

	while ((size_t)n * 2 * COPY_CHUNK_BYTES <= (each < most ? each : most))
		n *= 2;
	return n;
}

void call_paths_log_opts(const struct call_paths *cp, const struct call_paths_tables *t,
			 struct log_opts *o)
{
	if (cp->mode == CALLS_NONE)
		return;
	o->chains = true;
	o->n_chain_words = MOST_CHAIN_WORDS;
	while (o->n_chain_words > LEAST_CHAIN_WORDS &&
	       (uint64_t)o->n_chain_words * o->n_cpus > ALL_CHAIN_WORDS)
		o->n_chain_words /= 2;
	o->n_unwind_words = (t->n_bytes ? t->n_bytes : CALL_PATHS_TABLE_BYTES) / sizeof(uint32_t);
	o->n_image_keys = N_IMAGE_KEYS;
	o->map_tables = cp->mode == CALLS_DWARF; /* copies of stacks are walked here */
	o->check_walks = t->check_walks;
	o->go_labels = t->go_labels;
	if (cp->mode != CALLS_FP && !t->no_copies)
		o->n_copy_chunks = n_copy_chunks(t, o->n_cpus);
	o->n_exit_chunks =
		o->n_copy_chunks / 4 > LEAST_COPY_CHUNKS ? o->n_copy_chunks / 4 : LEAST_COPY_CHUNKS;
	if (getrandom(&o->script_seed, sizeof(o->script_seed), 0) != sizeof(o->script_seed))
		o->script_seed = clock_mono_ns();
}

/* Copies of stacks are walked in this process, and cannot wait for their tables. */
static unwind_load_fn *loader(const struct call_paths *cp, const struct call_paths_tables *t)
{
	return cp->mode == CALLS_DWARF && t->load_now ? t->load_now : t->load;
}

void call_paths_use_log(struct call_paths *cp, struct log *l, const struct call_paths_tables *t)
{
	struct unwind_memory mem;
	struct image_key *keys;
	uint32_t n_keys;

	if (cp->mode == CALLS_NONE)
		return;
	cp->log = l;
	mem = log_unwind_memory(l);
	keys = log_image_keys(l, &n_keys);
	unwinds_init(&cp->unwinds, &mem, keys, n_keys, cp->chains.images,
		     cp->mode == CALLS_FP ? load_nothing : loader(cp, t));
	cp->answer_fd = t->answer_fd;
	cp->take_answers = t->take_answers;
	cp->has_unwinds = true;
	if (t->vdso && cp->mode != CALLS_FP)
		unwinds_add_vdso(&cp->unwinds, t->vdso);
	if (unwinds_changed(&cp->unwinds))
		log_images_changed(l);
	copies_init(&cp->copies, l, &cp->chains, &cp->unwinds);
	cp->has_copies = cp->mode != CALLS_FP && !t->no_copies;
}

/* Memory like the log's, of which only what is used is touched. */
static struct unwind_memory *new_memory(struct call_paths *cp, size_t n_bytes)
{
	struct unwind_memory *m = xcalloc(1, sizeof(*m));

	m->n_words = n_bytes / sizeof(uint32_t);
	m->words = xcalloc(m->n_words, sizeof(uint32_t));
	m->rules = xcalloc(UNWIND_N_RULES, sizeof(*m->rules));
	m->n_images = FRAME_MAX_IMAGES + 1;
	m->images = xcalloc(m->n_images, sizeof(*m->images));
	m->clock = &cp->heap_clock;
	return m;
}

void call_paths_use_rings(struct call_paths *cp, const struct call_paths_tables *t)
{
	bool copies;

	if (cp->mode == CALLS_NONE)
		return;
	/* Few distributions compile with frame pointers: on Debian 12 they reach the end of no
	 * path, copies of stacks that of 99.5 % of them. */
	if (cp->mode == CALLS_AUTO && !cp->log)
		cp->mode = CALLS_DWARF;
	copies = cp->mode == CALLS_DWARF;
	if (copies && !cp->has_unwinds) {
		cp->heap = new_memory(cp, t->n_bytes ? t->n_bytes : CALL_PATHS_TABLE_BYTES);
		unwinds_init(&cp->unwinds, cp->heap, NULL, 0, cp->chains.images, loader(cp, t));
		cp->has_unwinds = true;
		if (t->vdso)
			unwinds_add_vdso(&cp->unwinds, t->vdso);
	}
	ring_stacks_init(&cp->ring, &cp->chains, copies ? &cp->unwinds : NULL);
	cp->has_ring = true;
}

/* Bytes of the stack that a sample carries, of a ring of RING_BYTES: as many as let the ring hold
 * the samples of 64 ms, of rates above 2 kHz 32 ms, since the recorder has to come by before it is
 * full.  A record is below 64 KiB: the kernel cuts what does not fit (kernel/events/core.c,
 * perf_sample_ustack_size). */
static uint32_t copy_bytes(size_t ring_bytes, const struct perf_event_attr *a)
{
	uint64_t hz = a->freq ? a->sample_freq
		      : a->type == PERF_TYPE_SOFTWARE && a->sample_period
			      ? 1000000000 / a->sample_period
			      : 1000;
	uint64_t n_held = hz < 256 ? 16 : hz < 1024 ? hz / 16 : hz < 2048 ? 64 : hz / 32;
	size_t n = (size_t)(ring_bytes / n_held);

	n = n < RECORD_COPY_LEAST ? RECORD_COPY_LEAST : n > RECORD_COPY_MOST ? RECORD_COPY_MOST : n;
	return (uint32_t)n & ~7u;
}

void call_paths_event(const struct call_paths *cp, size_t ring_bytes, struct perf_event_attr *a)
{
	if (!cp->has_ring)
		return;
	a->sample_type |= cp->ring.extra;
	if (cp->ring.extra != RECORD_STACK_COPY)
		return;
	a->exclude_callchain_user = 1;
	a->sample_regs_user = RECORD_REGS;
	a->sample_stack_user = copy_bytes(ring_bytes, a);
}

bool call_paths_copies_in_rings(const struct call_paths *cp)
{
	return cp->has_ring && cp->ring.extra == RECORD_STACK_COPY;
}

size_t call_paths_ring_factor(const struct call_paths *cp)
{
	return call_paths_copies_in_rings(cp) && !cp->log ? 8 : 1;
}

uint64_t call_paths_of_record(struct call_paths *cp, const struct perf_record *sample,
			      uint32_t proc)
{
	return cp->has_ring ? ring_stacks_add(&cp->ring, sample, proc) : 0;
}

int call_paths_request_fd(const struct call_paths *cp)
{
	return cp->log ? log_request_fd(cp->log) : -1;
}

static bool tell_changes(struct call_paths *cp)
{
	if (!unwinds_changed(&cp->unwinds))
		return false;
	log_images_changed(cp->log);
	return true;
}

static void serve_one(void *ctx, const struct image_request *r)
{
	struct call_paths *cp = ctx;

	if (r->number == REQUEST_COPIES) {
		cp->copies_wait = cp->served = true;
		return;
	}
	cp->served |= r->number == REQUEST_RUNTIME ? unwinds_serve_runtime(&cp->unwinds, r)
						   : unwinds_serve(&cp->unwinds, r);
}

static void take_script(void *ctx, const uint8_t *bytes, size_t n)
{
	struct call_paths *cp = ctx;

	if (!scripts_add(&cp->chains.scripts, bytes, n))
		log_scripts_forgotten(cp->log);
	cp->served = true;
}

bool call_paths_serve(struct call_paths *cp)
{
	if (!cp->log)
		return false;
	cp->served = false;
	log_each_request(cp->log, serve_one, take_script, cp);
	return cp->served | tell_changes(cp);
}

bool call_paths_serve_again(struct call_paths *cp)
{
	size_t n = cp->log ? cp->unwinds.asked.n : 0;

	if (!n)
		return false;
	cp->served = unwinds_serve_again(&cp->unwinds) < n;
	return cp->served | tell_changes(cp);
}

bool call_paths_asked(const struct call_paths *cp)
{
	return cp->log && cp->unwinds.asked.n;
}

int call_paths_answer_fd(const struct call_paths *cp)
{
	return cp->log && cp->answer_fd ? cp->answer_fd() : -1;
}

void call_paths_take_answers(struct call_paths *cp)
{
	uint64_t n = cp->log && cp->take_answers ? cp->take_answers() : 0;

	if (n == cp->n_answers)
		return;
	cp->n_answers = n;
	unwinds_load_again(&cp->unwinds);
}

bool call_paths_build(struct call_paths *cp)
{
	const bool built = cp->log && unwinds_build_next(&cp->unwinds);

	cp->copies_wait |= built && cp->has_copies && cp->copies.waiting.n;
	return built;
}

size_t call_paths_walk_copies(struct call_paths *cp, uint64_t until_ns, bool force)
{
	cp->copies_wait = false;
	if (!cp->has_copies)
		return 0;
	call_paths_serve(cp); /* code is told of before the lists that have it */
	return copies_walk(&cp->copies, until_ns, force);
}

struct call_paths_copies call_paths_count_copies(const struct call_paths *cp)
{
	return (struct call_paths_copies){.n_walked = cp->copies.n_walked,
					  .n_given_up = cp->copies.n_given_up,
					  .n_refused = cp->log ? log_copies_refused(cp->log) : 0};
}

bool call_paths_copies_wait(const struct call_paths *cp)
{
	return cp->copies_wait;
}

/* A chain as it is kept between fetching and learning: this head, then its frames. */
struct kept_chain {
	uint64_t hash;
	uint32_t tgid, generation;
	uint32_t cause, n_frames, n_kernel, spare;
	uint64_t labels;
};

#define KEPT_WORDS (sizeof(struct kept_chain) / sizeof(uint64_t))

static void keep_chain(void *ctx, const struct log_chain *c)
{
	struct call_paths *cp = ctx;
	struct kept_chain k = {.hash = c->hash,
			       .tgid = c->tgid,
			       .generation = c->generation,
			       .cause = c->cause,
			       .n_frames = c->n_frames,
			       .n_kernel = c->n_kernel,
			       .labels = c->labels};

	if (c->cause >= CHAIN_N_CAUSES || chains_known(&cp->chains, c->hash))
		return;
	vec_reserve(&cp->words, KEPT_WORDS + c->n_frames);
	memcpy(&cp->words.v[cp->words.n], &k, sizeof(k));
	memcpy(&cp->words.v[cp->words.n + KEPT_WORDS], c->frames, c->n_frames * sizeof(uint64_t));
	cp->words.n += KEPT_WORDS + c->n_frames;
}

void call_paths_fetch(struct call_paths *cp)
{
	if (!cp->log)
		return;
	log_each_chain(cp->log, keep_chain, cp);
	call_paths_serve(cp); /* code is told of before the chains that have it */
}

void call_paths_learn(struct call_paths *cp)
{
	for (size_t at = 0; at < cp->words.n;) {
		struct kept_chain k;

		memcpy(&k, &cp->words.v[at], sizeof(k));
		chains_add(&cp->chains,
			   &(struct log_chain){.hash = k.hash,
					       .tgid = k.tgid,
					       .generation = k.generation,
					       .cause = (enum chain_cause)k.cause,
					       .n_frames = k.n_frames,
					       .n_kernel = k.n_kernel,
					       .labels = k.labels,
					       .frames = &cp->words.v[at + KEPT_WORDS]});
		at += KEPT_WORDS + k.n_frames;
	}
	cp->words.n = 0;
}

void call_paths_end_cycle(struct call_paths *cp)
{
	if (cp->has_unwinds)
		unwinds_tick(&cp->unwinds);
	if (!cp->log)
		return;
	call_paths_take_answers(cp);
	tell_changes(cp);
	call_paths_serve(cp);
}
