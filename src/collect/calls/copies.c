/* SPDX-License-Identifier: BSD-2-Clause */
/* See copies.h.
 *
 * A CPU's ring is given back from its beginning: a copy that waits holds those behind it, which are
 * walked and zeroed meanwhile.  What a copy says is the kernel side's word, but for the bytes of
 * the stack, which are anybody's: the walk bounds every step by them (unwind/walk_host.h). */
#include "collect/calls/copies.h"

#include <string.h>

#include "base/clock.h"
#include "machine/perf_record.h"
#include "unwind/walk_host.h"

/* A piece of the tables: 64 KiB. */
#define PIECE_SHIFT 14
#define PIECE_WORDS (1u << PIECE_SHIFT)

void copies_init(struct copies *c, struct log *log, struct chains *chains, struct unwinds *unwinds)
{
	*c = (struct copies){.log = log, .chains = chains, .unwinds = unwinds};
}

void copies_release(struct copies *c)
{
	vec_each (w, &c->waiting)
		maps_unref(w->maps);
	vec_release(&c->waiting);
	for (size_t i = 0; i < n_elems(c->ends); i++)
		free(c->ends[i].frames);
}

/* Tables. */

static void close_piece(struct copies *c, struct word_piece *p)
{
	if (p->words && !c->unwinds->mem.words)
		c->unwinds->mem.close(c->unwinds->mem.ctx, p->words, p->at, p->n);
	*p = (struct word_piece){0};
}

/* What one walk looks into. */
struct copy_walk {
	struct copies *c;
	uint32_t proc; /* PROC_NONE: gone, and MAPS is what it had */
	uint32_t tgid;
	const struct maps *maps;
	bool is_coming; /* a table that it met is being made */
};

/* Word AT of all tables. */
static uint32_t copies_table_word(void *ctx, uint32_t at)
{
	struct copies *c = ((struct copy_walk *)ctx)->c;
	const struct unwind_memory *mem = &c->unwinds->mem;
	const uint32_t from = at & ~(PIECE_WORDS - 1);
	struct word_piece *p = &c->pieces[at >> PIECE_SHIFT & (COPIES_PIECES - 1)];

	if (!p->words || p->at != from) {
		close_piece(c, p);
		p->at = from;
		p->n = mem->n_words - from < PIECE_WORDS ? (uint32_t)(mem->n_words - from)
							 : PIECE_WORDS;
		p->words = mem->open(mem->ctx, from, p->n);
	}
	return p->words ? p->words[at - from] : 0;
}

static bool copies_find_region(void *ctx, uint64_t avma, struct walk_region *ret)
{
	struct copy_walk *w = ctx;
	const struct mapping *m = w->proc != PROC_NONE
					  ? procs_find_mapping(w->c->chains->procs, w->proc, avma)
					  : maps_find(w->maps, avma);

	if (!m)
		return false;
	unwinds_region(w->c->unwinds, m, ret);
	if (ret->image != WALK_ANONYMOUS && ret->image != WALK_UNKNOWN_FILE)
		w->is_coming |= unwinds_ask(w->c->unwinds, ret->image, w->tgid) == TABLE_IS_COMING;
	return true;
}

/* Copies. */

static struct waiting_copy *copies_find(struct copies *c, uint64_t hash)
{
	vec_each (w, &c->waiting)
		if (w->hash == hash)
			return w;
	return NULL;
}

static void copies_forget(struct copies *c, uint64_t hash)
{
	struct waiting_copy *w = copies_find(c, hash);

	if (!w)
		return;
	maps_unref(w->maps);
	*w = c->waiting.v[--c->waiting.n];
}

/* Whether S, with its chunks, is what the kernel side writes. */
static bool copy_is_sound(const struct stack_copy *s)
{
	const uint32_t n_before = 1 + COPY_SCRIPT_CHUNKS(s->n_scripts);

	return s->n_scripts <= COPY_MAX_SCRIPTS && s->n_chunks >= n_before &&
	       s->n_chunks <= n_before + COPY_MAX_BYTES / COPY_CHUNK_BYTES &&
	       s->n_frames <= COPY_MAX_FRAMES && s->n_kernel <= s->n_frames;
}

/* The chain of S's sample, with the frames that were found when it was taken. */
static struct log_chain copy_begin_chain(struct copies *c, const struct stack_copy *s)
{
	memcpy(c->frames, s->frames, s->n_frames * sizeof(*c->frames));
	return (struct log_chain){.hash = s->hash,
				  .tgid = LOG_TGID(s->task),
				  .generation = LOG_GENERATION(s->task),
				  .n_frames = s->n_frames,
				  .n_kernel = s->n_kernel,
				  .frames = c->frames};
}

/* Walks S on, whose stack is behind it.  False when it has to wait for a table. */
static bool copy_walk(struct copies *c, const struct stack_copy *s, bool force,
		      struct log_chain *ret)
{
	struct procs *procs = c->chains->procs;
	const struct waiting_copy *waiting = copies_find(c, s->hash);
	const uint32_t n_before = 1 + COPY_SCRIPT_CHUNKS(s->n_scripts);
	struct copy_walk at = {
		.c = c,
		.proc = waiting ? procs_find(procs, LOG_TGID(s->task), LOG_GENERATION(s->task))
				: procs_look_up(procs, LOG_TGID(s->task), LOG_GENERATION(s->task)),
		.tgid = LOG_TGID(s->task),
		.maps = waiting ? waiting->maps : NULL};
	struct walk_input in = {.machine = RECORD_MACHINE,
				.entry_sp = s->entry_sp,
				.is_taken_up = true,
				.flags = s->flags,
				.n_falls = s->n_falls,
				.ip = s->ip,
				.sp = s->sp,
				.fp = s->fp,
				.bx = s->bx,
				.leaves = !force,
				.marks_loops = true,
				.n_scripts = s->n_scripts,
				.script_image = s->script_image,
				.scripts = (const void *)((const uint8_t *)s + COPY_CHUNK_BYTES),
				.stack = (const uint8_t *)s + n_before * COPY_CHUNK_BYTES,
				.n_bytes = (size_t)(s->n_chunks - n_before) * COPY_CHUNK_BYTES,
				.stack_avma = s->stack_at,
				.holes = s->holes,
				.hole_bytes = COPY_CHUNK_BYTES,
				.memory = &c->unwinds->mem,
				.table_word = copies_table_word,
				.find_region = copies_find_region,
				.ctx = &at};
	struct log_chain chain = copy_begin_chain(c, s);
	bool at_leaf = s->at_leaf;
	uint32_t n = 0;

	memcpy(in.regs, s->regs, sizeof(in.regs));
	chain.cause = walk_stack(&in, c->walked, CHAIN_MAX_FRAMES, &n);
	if (chain.cause == CHAIN_NO_TABLE && !force) {
		if (at.is_coming) {
			if (!waiting)
				vec_push(&c->waiting,
					 (struct waiting_copy){
						 s->hash,
						 at.proc == PROC_NONE
							 ? NULL
							 : maps_ref(procs->v.v[at.proc].maps)});
			return false;
		}
		in.leaves = false; /* by frame pointer, or truncated */
		chain.cause = walk_stack(&in, c->walked, CHAIN_MAX_FRAMES, &n);
	}
	/* Memory and code that were not copied could have been read then, had there been a
	 * table. */
	if (chain.cause != CHAIN_COMPLETE && chain.cause != CHAIN_TOO_DEEP)
		chain.cause = CHAIN_NO_TABLE;
	for (uint32_t i = 0; i < n; i++) {
		if (at_leaf && !FRAME_IS_SCRIPT(c->walked[i])) {
			at_leaf = false; /* it is the sample's place */
			continue;
		}
		if (chain.n_frames == CHAIN_MAX_FRAMES) {
			chain.cause = CHAIN_TOO_DEEP;
			break;
		}
		c->frames[chain.n_frames++] = c->walked[i];
	}
	copies_forget(c, s->hash);
	*ret = chain;
	return true;
}

/* Keeps what the walk of a thread's end led to. */
static void copies_keep_end(struct copies *c, const struct log_chain *chain)
{
	struct walked_end *e = &c->ends[c->n_ends++ % n_elems(c->ends)];

	free(e->frames);
	*e = (struct walked_end){
		.hash = chain->hash,
		.cause = chain->cause,
		.n_frames = chain->n_frames,
		.frames = xmemdup(chain->frames, chain->n_frames * sizeof(*chain->frames))};
	for (uint32_t i = 0; i < chain->n_frames; i++)
		e->has_raw |= !FRAME_IS_SCRIPT(chain->frames[i]) &&
			      !(chain->frames[i] >> FRAME_IMAGE_SHIFT & FRAME_MAX_IMAGES);
}

static const struct walked_end *copies_find_end(const struct copies *c, uint64_t hash)
{
	for (size_t i = 0; i < n_elems(c->ends); i++)
		if (c->ends[i].hash == hash)
			return &c->ends[i];
	return NULL;
}

/* The chain of S, whose user's callers are those of its thread's last walk; false while that waits.
 * A new program's sample has none that only the old one's mappings explain. */
static bool copy_join(struct copies *c, const struct stack_copy *s, bool force,
		      struct log_chain *ret)
{
	const struct walked_end *e = copies_find_end(c, s->link);

	if (!e && !force && copies_find(c, s->link))
		return false;
	*ret = copy_begin_chain(c, s);
	ret->cause = CHAIN_EXITING;
	if (!e || (s->in_exec && e->has_raw))
		return true;
	ret->cause = e->cause;
	for (uint32_t i = 0; i < e->n_frames; i++) {
		if (ret->n_frames == CHAIN_MAX_FRAMES) {
			ret->cause = CHAIN_TOO_DEEP;
			break;
		}
		c->frames[ret->n_frames++] = e->frames[i];
	}
	return true;
}

/* Ends what S began, or says that it waits.  IS_END: S is no sample's, but a thread's last walk. */
static bool copy_take(struct copies *c, const struct stack_copy *s, bool is_end, bool force)
{
	struct log_chain chain;

	if (!is_end)
		chains_expect(c->chains, s->hash);
	if (!(s->link ? copy_join(c, s, force, &chain) : copy_walk(c, s, force, &chain)))
		return false;
	if (is_end) {
		copies_keep_end(c, &chain);
		return true;
	}
	c->n_walked++;
	c->n_given_up += chain.cause == CHAIN_NO_TABLE;
	chains_add_late(c->chains, &chain);
	return true;
}

/* Walks the copies of ring I taken before UNTIL_NS, those before FORCE_NS without waiting; returns
 * how many wait. */
static size_t walk_ring(struct copies *c, uint32_t i, uint64_t until_ns, uint64_t force_ns)
{
	const bool is_end = i >= log_n_cpus(c->log);
	struct log_copies ring;
	uint64_t at, head, tail;
	size_t n_left = 0;

	if (!log_open_copies(c->log, i, &ring))
		return 0;
	head = __atomic_load_n(&ring.cpu->head, __ATOMIC_ACQUIRE);
	at = tail = ring.cpu->tail;
	while (at != head) {
		const uint32_t first = (uint32_t)at & (ring.n_chunks - 1);
		struct stack_copy *s = (void *)(ring.chunks + (size_t)first * COPY_CHUNK_BYTES);
		uint32_t n = s->n_chunks;

		if (!n || n > ring.n_chunks - first || n > head - at) { /* not what is written */
			at = tail = head;
			break;
		}
		if (s->state == COPY_NEW && s->time_ns >= until_ns)
			break;
		if (s->state == COPY_NEW && copy_is_sound(s)) {
			if (copy_take(c, s, is_end, s->time_ns < force_ns)) {
				memset(s, 0, (size_t)n * COPY_CHUNK_BYTES);
				s->n_chunks = n;
				s->state = COPY_WALKED;
			} else {
				n_left++;
			}
		}
		at += n;
		if (!n_left)
			tail = at;
	}
	__atomic_store_n(&ring.cpu->tail, tail, __ATOMIC_RELEASE);
	log_close_copies(&ring);
	return n_left;
}

size_t copies_walk(struct copies *c, uint64_t until_ns, bool force)
{
	const uint64_t old_ns = clock_mono_ns() - COPIES_KEPT_NS;
	const uint64_t force_ns = force && until_ns > old_ns ? until_ns : old_ns;
	size_t n_left = 0;

	/* Ends first: samples of their threads are joined to them. */
	for (uint32_t i = log_n_cpus(c->log); i < log_n_copy_rings(c->log); i++)
		walk_ring(c, i, until_ns, force_ns);
	for (uint32_t i = 0; i < log_n_cpus(c->log) && i < log_n_copy_rings(c->log); i++)
		n_left += walk_ring(c, i, until_ns, force_ns);
	for (unsigned i = 0; i < COPIES_PIECES; i++)
		close_piece(c, &c->pieces[i]);
	return n_left;
}
