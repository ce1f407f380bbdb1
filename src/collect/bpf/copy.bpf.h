/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copies of stacks whose walk came to code without a table (record.h).
 *
 * A CPU copies no more bytes a second than its ring has, so that a machine full of code that never
 * gets a table is not slowed down; what is beyond goes on by frame pointer, or is truncated.  Most
 * stacks end soon: of a process's first thread nothing above where it began is copied, of others
 * nothing above their mapping. */
#ifndef COLLECT_BPF_COPY_H
#define COLLECT_BPF_COPY_H

#include "last_walk.bpf.h"

#ifndef STACKS_ARE_COPIED /* by what includes this: its program knows no copies then */
static __always_inline bool walk_is_left(struct cpu_walk *w)
{
	return false;
}

static __always_inline __u64 copy_stack(struct cpu_walk *w, __u64 task)
{
	return 0;
}
#else

struct copy_chunk {
	__u8 bytes[COPY_CHUNK_BYTES];
};

MMAPABLE_ARRAY(copy_chunks, struct copy_chunk);
MMAPABLE_ARRAY(copy_cpus, struct copy_cpu);

#define COPY_WINDOW_NS 1000000000ULL

/* Not static, as copy_stack: verified once instead of for each way that leads here. */
__noinline int copy_has_share(struct cpu_walk *w)
{
	__u32 at = w ? w->copy_ring : 0; /* Linux 6.1 takes no key from an argument's memory */
	struct copy_cpu *ring = bpf_map_lookup_elem(&copy_cpus, &at);
	__u64 now_ns = bpf_ktime_get_ns();

	if (!w || !ring)
		return 0;
	if (now_ns - w->copied_since_ns > COPY_WINDOW_NS) {
		w->copied_since_ns = now_ns;
		w->copied_bytes = 0;
	}
	w->is_left = w->copied_bytes < (__u64)w->copy_n * COPY_CHUNK_BYTES;
	ring->n_refused += !w->is_left;
	return w->is_left;
}

/* A walk that has met an interpreter's functions goes on here: only here are they read. */
static __always_inline bool walk_is_left(struct cpu_walk *w)
{
	return w->copies && !w->n_scripts && !w->v8.shared_map && !w->hotspot.met &&
	       copy_has_share(w);
}

/* bpf_loop: one chunk of the stack.  Chunks lie within pages; a page that is not in memory, such as
 * one of a large array that nobody wrote to, is a hole. */
static int copy_chunk(__u32 i, struct cpu_walk **walk)
{
	struct copying *c = &(*walk)->copying;
	__u32 at = c->at + i;
	struct copy_chunk *chunk = bpf_map_lookup_elem(&copy_chunks, &at);

	if (!chunk)
		return 1;
	if (bpf_probe_read_user(chunk->bytes, COPY_CHUNK_BYTES,
				(void *)(c->from + (__u64)i * COPY_CHUNK_BYTES)))
		c->holes |= 1ULL << (i & 63);
	return 0;
}

/* bpf_loop: one chunk of the list, which lies behind the frames. */
static int copy_list(__u32 i, struct cpu_walk **walk)
{
	struct cpu_walk *w = *walk;
	__u32 at = w->copying.at + i;
	struct copy_chunk *chunk = bpf_map_lookup_elem(&copy_chunks, &at);

	if (chunk)
		bpf_probe_read_kernel(chunk->bytes, COPY_CHUNK_BYTES,
				      &w->frames[BELOW(w->n_frames + i * (COPY_CHUNK_BYTES / 8),
						       CHAIN_MAX_FRAMES)]);
	return 0;
}

/* In how many chunks the stack is from the one on with the frame in which the walk W was left.  Not
 * static: the verifier follows what comes after it once, not for each way through it. */
__noinline __u64 copy_length(struct cpu_walk *w)
{
	__u64 sp, end, n, most = COPY_THREAD_BYTES / COPY_CHUNK_BYTES;
	bool may_be_deep;

	if (!w)
		return 0;
	sp = w->walk.sp;
	may_be_deep = w->copied_bytes < (__u64)w->copy_n * COPY_CHUNK_BYTES / 2;
	if (!vma_read(&w->vma, &w->node, w->mm, sp))
		return 0;
	end = w->vma.end;
	if (w->walk.entry_sp >= sp && w->walk.entry_sp + 64 < end) {
		end = w->walk.entry_sp + 64;
		most = COPY_LESS_BYTES / COPY_CHUNK_BYTES;
	}
	if (may_be_deep)
		most = COPY_MAX_BYTES / COPY_CHUNK_BYTES;
	n = (end - w->copying.from + COPY_CHUNK_BYTES - 1) / COPY_CHUNK_BYTES;
	return n < most ? n : most;
}

static __always_inline void copy_head(struct cpu_walk *w, struct stack_copy *s, __u64 task)
{
	s->task = task;
	s->state = COPY_NEW;
	s->flags = w->walk.flags;
	s->n_falls = w->walk.n_falls;
	s->n_frames = w->n_frames;
	s->n_kernel = w->n_kernel;
	s->at_leaf = w->at_leaf;
	s->in_exec = w->in_exec;
	s->link = w->link;
	s->n_scripts = w->n_listed;
	s->script_image = w->walk.loop;
	s->ip = w->walk.ip;
	s->sp = w->walk.sp;
	s->fp = w->walk.fp;
	s->bx = w->walk.bx;
	s->entry_sp = w->walk.entry_sp;
	__builtin_memcpy(s->regs, w->walk.regs, sizeof(s->regs));
	__builtin_memcpy(s->frames, w->frames, sizeof(s->frames));
}

/* Tells user space when a quarter of the ring is used. */
static __always_inline void copy_ring_bell(const struct cpu_walk *w, __u64 n_before, __u64 n_now)
{
	struct image_request r = {.number = REQUEST_COPIES};

	if (n_before < w->copy_n / 4 && n_now >= w->copy_n / 4)
		bpf_ringbuf_output(&requests, &r, sizeof(r), BPF_RB_FORCE_WAKEUP);
}

/* Copies the stack from where the walk W was left, or with w->link its frames alone; the hash of
 * the sample's slot, or 0 when there is no room. */
__noinline __u64 copy_stack(struct cpu_walk *w, __u64 task)
{
	__u32 at = w ? w->copy_ring : 0;
	struct copy_cpu *ring = bpf_map_lookup_elem(&copy_cpus, &at);
	struct copying *c;
	struct stack_copy *s;
	__u64 n_chunks = 1, n_list, n_used, skip = 0, now_ns = bpf_ktime_get_ns();

	if (!ring || !w)
		return 0;
	c = &w->copying;
	c->from = w->walk.sp & ~(COPY_CHUNK_BYTES - 1ULL);
	c->holes = 0;
	if (!w->link)
		n_chunks += copy_length(w);
	n_list = COPY_SCRIPT_CHUNKS(w->n_listed);
	n_chunks += n_chunks > 1 ? n_list : 0;
	n_used = ring->head - ring->tail;
	at = ring->head & (w->copy_n - 1);
	if (at + n_chunks > w->copy_n)
		skip = w->copy_n - at;
	if ((n_chunks == 1 && !w->link) || w->n_frames > COPY_MAX_FRAMES ||
	    n_used + skip + n_chunks > w->copy_n) {
		ring->n_refused++;
		return 0;
	}
	at += w->copy_from;
	if (skip) {
		s = bpf_map_lookup_elem(&copy_chunks, &at);
		if (!s)
			return 0;
		s->n_chunks = skip;
		s->state = COPY_SKIP;
		at = w->copy_from;
	}
	s = bpf_map_lookup_elem(&copy_chunks, &at);
	if (!s)
		return 0;
	copy_head(w, s, task);
	c->at = at + 1;
	if (n_chunks > 1) {
		bpf_loop(n_list, copy_list, &w, 0);
		c->at += n_list;
		bpf_loop(n_chunks - 1 - n_list, copy_chunk, &w, 0);
	}
	s->n_chunks = n_chunks;
	s->stack_at = c->from;
	s->holes = c->holes;
	s->time_ns = now_ns;
	s->hash = mix(mix(now_ns, w->copy_ring), ring->head) >> 1 | 1;
	w->copied_bytes += n_chunks * COPY_CHUNK_BYTES;
	/* An atomic add orders the chunks before the head for the reader on another CPU. */
	__sync_fetch_and_add(&ring->head, skip + n_chunks);
	copy_ring_bell(w, n_used, n_used + skip + n_chunks);
	return s->hash;
}

#endif /* STACKS_ARE_COPIED */

#endif
