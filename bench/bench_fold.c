/* SPDX-License-Identifier: BSD-2-Clause */
/* What the recorder does with chains of callers and samples, without a kernel: a recording's are
 * replayed.  For counting instructions (valgrind --tool=callgrind) and time.
 *
 *     bench_fold DB
 *
 * The samples of the latest recording come in blocks of neighbouring call paths, the blocks in a
 * random order that is always the same; each chain is sent when the first sample needs it, a cycle
 * is SAMPLES_A_CYCLE samples, and the end is a flush.  Every image is a file that cannot be opened,
 * all processes are one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collect/calls/chains.h"
#include "collect/fold.h"
#include "formats/segment.h"
#include "store/store.h"

#define PID		4194000u
#define BLOCK		64
#define SAMPLES_A_CYCLE 10000

static int no_file(int fd, struct image_layout *ret, struct err *err)
{
	return -EBADMSG;
}

/* The recording, and what of it stands for what in the replay. */
static struct profile from;
static uint32_t *numbers; /* by image of FROM */
static uint64_t *hashes;  /* by context of FROM: of the chain it ends; 0: not sent yet */

static uint64_t frame_of(ctx_id ctx)
{
	const struct place *p = profile_leaf(&from, ctx);
	enum image_kind kind = from.images.v[p->image].kind;

	if (kind == IMAGE_KERNEL || kind == IMAGE_MODULE || kind == IMAGE_BPF)
		return p->svma | FRAME_KERNEL;
	return (uint64_t)numbers[p->image] << FRAME_IMAGE_SHIFT | (p->svma & FRAME_OFF_MASK);
}

/* Sends the chain that ends in CTX. */
static void send_chain(struct chains *c, ctx_id ctx)
{
	uint64_t frames[CHAIN_MAX_FRAMES];
	struct log_chain chain = {.tgid = PID, .frames = frames};

	hashes[ctx] = chain.hash = hash_u64(ctx) | 1;
	for (; ctx && chain.n_frames < CHAIN_MAX_FRAMES; ctx = from.ctxs.v[ctx].parent) {
		frames[chain.n_frames] = frame_of(ctx);
		chain.n_kernel += (frames[chain.n_frames++] & FRAME_KERNEL) != 0;
	}
	chains_add(c, &chain);
}

/* CPU time, which others on the machine disturb less than the wall's. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*state >> 33);
}

/* The samples' contexts in the order they are replayed in. */
static size_t order_samples(ctx_id **ret)
{
	VEC(ctx_id) samples = {0}, ordered = {0};
	VEC(size_t) blocks = {0};
	uint64_t *count = xcalloc(from.ctxs.n, sizeof(*count)), rng = 1;
	ctx_id *child = xcalloc(from.ctxs.n, sizeof(*child));
	ctx_id *next = xcalloc(from.ctxs.n, sizeof(*next));
	ctx_id at = 0;

	vec_each (v, &from.values)
		count[v->ctx] += v->count;
	for (size_t i = from.ctxs.n; i-- > 1;) {
		next[i] = child[from.ctxs.v[i].parent];
		child[from.ctxs.v[i].parent] = (ctx_id)i;
	}
	for (;;) { /* preorder */
		for (uint64_t n = count[at]; n--;)
			vec_push(&samples, at);
		if (child[at]) {
			at = child[at];
			continue;
		}
		while (at && !next[at])
			at = from.ctxs.v[at].parent;
		if (!at)
			break;
		at = next[at];
	}
	for (size_t i = 0; i < samples.n; i += BLOCK)
		vec_push(&blocks, i);
	for (size_t i = blocks.n; i > 1; i--) {
		size_t k = next_random(&rng) % i, b = blocks.v[k];

		blocks.v[k] = blocks.v[i - 1];
		blocks.v[i - 1] = b;
	}
	vec_each (b, &blocks)
		for (size_t i = *b; i < *b + BLOCK && i < samples.n; i++)
			vec_push(&ordered, samples.v[i]);
	free(count);
	free(child);
	free(next);
	vec_release(&samples);
	vec_release(&blocks);
	*ret = ordered.v;
	return ordered.n;
}

struct replay {
	struct profile profile;
	struct images images;
	struct procs procs;
	struct kernel_map kernel;
	struct chains chains;
	struct fold fold;
	uint64_t flush_ns;
};

static void replay_init(struct replay *r, const event_id *events)
{
	struct kernel_range kernel = {.start = 0xffffffff80000000ull,
				      .end = UINT64_MAX,
				      .svma = 0xffffffff80000000ull,
				      .image = {.kind = IMAGE_KERNEL, .path = "[kernel]"}};

	profile_init(&r->profile);
	images_init(&r->images, &r->profile, no_file, NULL);
	procs_init(&r->procs, &r->profile, &r->images, 1);
	kernel_map_init(&r->kernel, &r->profile);
	kernel_map_add(&r->kernel, &kernel);
	profile_intern_event(&r->profile, &(struct event){.period = 1});
	procs_add_task(&r->procs,
		       &(struct task_record){.tgid = PID, .comm = "replay", .n_threads = 1});
	chains_init(&r->chains, &r->profile, &r->procs, &r->images, &r->kernel);
	fold_init(&r->fold, &r->profile, &r->procs, &r->images, &r->kernel, events);
	r->fold.chains = &r->chains;
	numbers = xcalloc(from.images.n, sizeof(*numbers));
	for (size_t i = 0; i < from.images.n; i++) {
		char path[40];
		uint64_t start = (i + 1) << 32;

		snprintf(path, sizeof(path), "/nonexistent/%zu", i);
		numbers[i] = images_add_number(
			&r->images, images_intern(&r->images, &(struct image_ref){.path = path}));
		procs_apply(&r->procs, &(struct perf_record){.kind = RECORD_MMAP,
							     .pid = PID,
							     .tid = PID,
							     .addr = start,
							     .n_bytes = 1ull << 32,
							     .name = path,
							     .time_ns = UINT64_MAX / 2});
	}
}

/* A function of its own, for counting it alone. */
__attribute__((noinline)) static void replay_samples(struct replay *r, const ctx_id *samples,
						     size_t n)
{
	for (size_t from_i = 0, end; from_i < n; from_i = end) {
		end = n - from_i < SAMPLES_A_CYCLE ? n : from_i + SAMPLES_A_CYCLE;
		for (size_t i = from_i; i < end; i++) {
			ctx_id caller = from.ctxs.v[samples[i]].parent;

			if (caller && !hashes[caller])
				send_chain(&r->chains, caller);
		}
		for (size_t i = from_i; i < end; i++) {
			const struct place *p = profile_leaf(&from, samples[i]);
			struct log_sample s = {.ip = frame_of(samples[i]),
					       .tgid = PID,
					       .tid = PID,
					       .chain = hashes[from.ctxs.v[samples[i]].parent]};

			if ((int64_t)s.ip >= 0)
				s.ip = ((uint64_t)p->image + 1) << 32 | (p->svma & UINT32_MAX);
			fold_add(&r->fold, &s);
		}
		fold_pause(&r->fold);
	}
	r->flush_ns = cpu_ns();
	fold_flush(&r->fold);
}

int main(int argc, char **argv)
{
	struct store_selection latest = {0};
	static struct replay r;
	const event_id event = 0;
	struct err err = {0};
	struct wr out = {0};
	uint64_t start, end;
	ctx_id *samples;
	size_t n;

	profile_init(&from);
	if (argc != 2 || store_load(argv[1], &latest, &from, NULL, &err) < 0) {
		fprintf(stderr, argc == 2 ? "bench_fold: %s\n" : "usage: bench_fold DB\n", err.msg);
		return 2;
	}
	hashes = xcalloc(from.ctxs.n, sizeof(*hashes));
	n = order_samples(&samples);
	replay_init(&r, &event);
	start = cpu_ns();
	replay_samples(&r, samples, n);
	end = cpu_ns();
	printf("%zu samples, %u chains of %.1f callers, %zu contexts: %.0f ns a sample, %.0f of it "
	       "the last flush\n",
	       n, r.chains.n_used, (double)r.chains.n_frames / r.chains.n_used,
	       r.profile.ctxs.n - 1, (double)(end - start) / (double)n,
	       (double)(end - r.flush_ns) / (double)n);
	if (segment_encode(&out, &r.profile, &err) < 0)
		return 2;
	printf("encoded in %.1f ms: %zu bytes\n", (double)(cpu_ns() - end) / 1e6, out.n);
	return 0;
}
