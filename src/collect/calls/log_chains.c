/* SPDX-License-Identifier: BSD-2-Clause */
/* See log_chains.h and log.h ("Call paths"); bpf/chain.bpf.h and bpf/walk.bpf.h are the other side.
 *
 * Everything goes through shared memory but the requests for tables, which have to wake their
 * reader: a BPF ring buffer, read through its mapping too. */
#include "collect/calls/log_chains.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"

/* What is kept of a buffer for chains: 128 KiB. */
#define MOST_KEPT_WORDS 16384

/* Words of a piece of the tables: 2 MiB. */
#define PIECE_SHIFT 19

/* Records of interpreters' code that wait: about a thousand. */
#define SCRIPT_RING_BYTES (1u << 20)

struct log_chains {
	struct log_opts opts;
	struct bpf_object *obj;
	struct log_chains *guest; /* NULL: none; it has only rings of chains */
	struct chain_cpu *cpus;	  /* n_cpus, of opts as the other lengths */
	int words_fd;		  /* n_cpus * n_chain_words; what is new is mapped to be read */
	uint64_t *slot_chains;	  /* n_cpus * n_slots */
	uint32_t *table_words;	  /* n_unwind_words; NULL: mapped in pieces */
	int *pieces; /* of the tables, n_pieces descriptors; -1: not made yet; NULL: a guest */
	struct unwind_rule *rules;
	struct unwind_image *images;
	struct image_key *keys;	    /* n_image_keys */
	struct copy_cpu *copy_cpus; /* one a ring */
	int copies_fd;		    /* the rings' chunks; mapped while they are walked */
	struct log_chains_shared shared;
	struct ring_buffer *requests;
	void (*on_request)(void *ctx, const struct image_request *r); /* while they are read */
	void (*on_script)(void *ctx, const uint8_t *bytes, size_t n);
	void *on_request_ctx;
	VEC(uint64_t) unread; /* what is new of a CPU's ring */
};

static size_t whole_pages(size_t n_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (n_bytes + page - 1) / page * page;
}

struct pages {
	size_t at, n; /* in bytes */
};

/* What N_BYTES from FROM on lie in. */
static struct pages pages_of(size_t from, size_t n_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), at = from / page * page;

	return (struct pages){at, whole_pages(from + n_bytes) - at};
}

void *log_map_fd(int fd, size_t elem_bytes, size_t n, int prot)
{
	void *p = mmap(NULL, whole_pages(elem_bytes * n), prot, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *log_map_array(const struct bpf_map *map, size_t elem_bytes, size_t n, int prot)
{
	return log_map_fd(bpf_map__fd(map), elem_bytes, n, prot);
}

void log_unmap_array(void *p, size_t elem_bytes, size_t n)
{
	if (p)
		munmap(p, whole_pages(elem_bytes * n));
}

uint32_t log_chains_table_shift(const struct log_opts *opts)
{
	uint32_t shift = PIECE_SHIFT;

	while (opts->map_tables && (size_t)1 << shift < opts->n_unwind_words) /* in one piece */
		shift++;
	return shift;
}

static uint32_t n_pieces(const struct log_opts *opts)
{
	const size_t n = (size_t)1 << log_chains_table_shift(opts);

	return (uint32_t)((opts->n_unwind_words + n - 1) / n);
}

static size_t piece_bytes(const struct log_opts *opts)
{
	return sizeof(uint32_t) << log_chains_table_shift(opts);
}

int log_chains_make_piece(const struct log_opts *opts)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);
	const int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "table_words", 4, 8,
				      (uint32_t)(piece_bytes(opts) / 8), &o);

	return fd < 0 ? -1 : fd;
}

static uint32_t n_copy_rings(const struct log_opts *opts)
{
	return opts->n_cpus + EXIT_RINGS(opts->n_cpus);
}

/* The first chunk of ring I of copies. */
static uint32_t copy_ring_at(const struct log_opts *opts, uint32_t i)
{
	return i <= opts->n_cpus ? i * opts->n_copy_chunks
				 : opts->n_cpus * opts->n_copy_chunks +
					   (i - opts->n_cpus) * opts->n_exit_chunks;
}

void log_chains_prepare(struct bpf_object *obj, const struct log_opts *opts)
{
	const struct {
		const char *name;
		uint32_t n;
	} maps[] = {
		{"walks", n_copy_rings(opts)},
		{"chain_cpus", opts->n_cpus},
		{"chain_words", opts->n_cpus * opts->n_chain_words},
		{"slot_chains", opts->n_cpus * opts->n_slots},
		{"table_pieces", n_pieces(opts)},
		{"unwind_rules", UNWIND_N_RULES},
		{"unwind_images", FRAME_MAX_IMAGES + 1},
		{"image_keys", opts->n_image_keys},
		{"copy_cpus", n_copy_rings(opts)},
		{"copy_chunks", opts->n_copy_chunks ? copy_ring_at(opts, n_copy_rings(opts)) : 1},
		{"exit_paths", EXIT_PATHS},
		{"requests", 65536},
		{"scripts", SCRIPT_RING_BYTES},
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(obj, maps[i].name);

		if (!map)
			continue; /* the object has no use for it */
		if (opts->chains)
			bpf_map__set_max_entries(map, maps[i].n);
		else
			bpf_map__set_autocreate(map, false);
	}
}

static void *map_named(struct bpf_object *obj, const char *name, size_t elem_bytes, size_t n)
{
	return log_map_array(bpf_object__find_map_by_name(obj, name), elem_bytes, n,
			     PROT_READ | PROT_WRITE);
}

/* What every object has its own of. */
static bool open_rings(struct log_chains *c, struct bpf_object *obj, const struct log_opts *opts,
		       struct log_chains_shared shared)
{
	c->obj = obj;
	c->opts = *opts;
	c->shared = shared;
	c->cpus = map_named(obj, "chain_cpus", sizeof(*c->cpus), c->opts.n_cpus);
	c->words_fd = bpf_map__fd(bpf_object__find_map_by_name(obj, "chain_words"));
	return c->cpus && c->words_fd >= 0;
}

static int on_request(void *ctx, void *data, size_t n_bytes)
{
	struct log_chains *c = ctx;

	if (n_bytes >= sizeof(struct image_request))
		c->on_request(c->on_request_ctx, data);
	return 0;
}

static int on_script(void *ctx, void *data, size_t n_bytes)
{
	struct log_chains *c = ctx;

	c->on_script(c->on_request_ctx, data, n_bytes);
	return 0;
}

static int script_fd(struct bpf_object *obj)
{
	return bpf_map__fd(bpf_object__find_map_by_name(obj, "scripts"));
}

static void close_pieces(struct log_chains *c)
{
	for (uint32_t i = 0; c->pieces && i < n_pieces(&c->opts); i++)
		if (c->pieces[i] >= 0)
			close(c->pieces[i]);
	free(c->pieces);
}

/* Puts piece I where the programs find it. */
static bool show_piece(const struct log_chains *c, uint32_t i)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(c->obj, "table_pieces");

	return bpf_map__update_elem(map, &i, sizeof(i), &c->pieces[i], sizeof(int), BPF_ANY) >= 0;
}

/* Makes piece I where it is not there yet. */
static bool have_piece(const struct log_chains *c, uint32_t i)
{
	if (c->pieces[i] >= 0)
		return true;
	c->pieces[i] = log_chains_make_piece(&c->opts);
	if (c->pieces[i] >= 0 && show_piece(c, i))
		return true;
	if (c->pieces[i] >= 0)
		close(c->pieces[i]);
	c->pieces[i] = -1;
	return false;
}

static bool open_tables(struct log_chains *c, int first_piece)
{
	c->pieces = xmalloc(n_pieces(&c->opts) * sizeof(*c->pieces));
	for (uint32_t i = 0; i < n_pieces(&c->opts); i++)
		c->pieces[i] = i ? -1 : first_piece;
	if (c->opts.map_tables)
		c->table_words =
			log_map_fd(first_piece, 1, piece_bytes(&c->opts), PROT_READ | PROT_WRITE);
	return show_piece(c, 0) && (c->table_words || !c->opts.map_tables);
}

int log_chains_open(struct bpf_object *obj, const struct log_opts *opts, int first_piece,
		    struct log_chains_shared shared, struct log_chains **ret, struct err *err)
{
	struct log_chains *c = xcalloc(1, sizeof(*c));

	bool rings = open_rings(c, obj, opts, shared), tables = open_tables(c, first_piece);

	c->slot_chains = map_named(obj, "slot_chains", 8, (size_t)c->opts.n_cpus * c->opts.n_slots);
	c->rules = map_named(obj, "unwind_rules", sizeof(*c->rules), UNWIND_N_RULES);
	c->images = map_named(obj, "unwind_images", sizeof(*c->images), FRAME_MAX_IMAGES + 1);
	c->keys = map_named(obj, "image_keys", sizeof(*c->keys), c->opts.n_image_keys);
	c->copy_cpus = map_named(obj, "copy_cpus", sizeof(*c->copy_cpus), n_copy_rings(&c->opts));
	c->copies_fd = bpf_map__fd(bpf_object__find_map_by_name(obj, "copy_chunks"));
	c->requests = ring_buffer__new(bpf_map__fd(bpf_object__find_map_by_name(obj, "requests")),
				       on_request, c, NULL);
	if (!rings || !tables || !c->slot_chains || !c->rules || !c->images || !c->keys ||
	    !c->copy_cpus || !c->requests ||
	    ring_buffer__add(c->requests, script_fd(obj), on_script, c) < 0) {
		int rc = -errno;

		log_chains_close(c);
		return err_errno(err, rc, "cannot map the memory of call paths");
	}
	*ret = c;
	return 0;
}

void log_chains_close(struct log_chains *c)
{
	if (!c)
		return;
	log_chains_close(c->guest);
	log_unmap_array(c->cpus, sizeof(*c->cpus), c->opts.n_cpus);
	log_unmap_array(c->slot_chains, 8, (size_t)c->opts.n_cpus * c->opts.n_slots);
	log_unmap_array(c->table_words, 1, piece_bytes(&c->opts));
	close_pieces(c);
	log_unmap_array(c->rules, sizeof(*c->rules), UNWIND_N_RULES);
	log_unmap_array(c->images, sizeof(*c->images), FRAME_MAX_IMAGES + 1);
	log_unmap_array(c->keys, sizeof(*c->keys), c->opts.n_image_keys);
	log_unmap_array(c->copy_cpus, sizeof(*c->copy_cpus), n_copy_rings(&c->opts));
	ring_buffer__free(c->requests);
	vec_release(&c->unread);
	free(c);
}

const struct log_opts *log_chains_opts(const struct log_chains *c)
{
	return &c->opts;
}

int log_chains_lend(const struct log_chains *c, struct bpf_object *guest, struct err *err)
{
	static const char *const common[] = {"table_pieces", "unwind_rules", "unwind_images",
					     "image_keys",   "requests",     "scripts"};

	log_chains_prepare(guest, &c->opts);
	bpf_map__set_autocreate(bpf_object__find_map_by_name(guest, "slot_chains"), false);
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
		int rc = bpf_map__reuse_fd(
			bpf_object__find_map_by_name(guest, common[i]),
			bpf_map__fd(bpf_object__find_map_by_name(c->obj, common[i])));

		if (rc < 0)
			return err_errno(err, rc, "cannot share the tables of call paths");
	}
	return 0;
}

int log_chains_adopt(struct log_chains *c, struct bpf_object *guest,
		     struct log_chains_shared shared, struct err *err)
{
	c->guest = xcalloc(1, sizeof(*c->guest));
	if (!open_rings(c->guest, guest, &c->opts, shared))
		return err_errno(err, -errno, "cannot map the memory of call paths");
	*shared.clock = *c->shared.clock;
	*shared.images_epoch = *c->shared.images_epoch;
	return 0;
}

uint64_t log_chains_get(const struct log_chains *c, uint32_t cpu, uint32_t at)
{
	return c->slot_chains[(size_t)cpu * c->opts.n_slots + at];
}

/* Copies N words from AT on of CPU's ring behind what is in `unread`; they do not wrap. */
static bool copy_ring(struct log_chains *c, uint32_t cpu, uint64_t at, size_t n)
{
	const size_t first = (size_t)cpu * c->opts.n_chain_words + at;
	const struct pages e = pages_of(first * 8, n * 8);
	const uint8_t *p = mmap(NULL, e.n, PROT_READ, MAP_SHARED, c->words_fd, (off_t)e.at);

	if (p == MAP_FAILED)
		return false;
	vec_reserve(&c->unread, n);
	memcpy(&c->unread.v[c->unread.n], p + (first * 8 - e.at), n * 8);
	c->unread.n += n;
	munmap((void *)p, e.n);
	return true;
}

/* What is between AT and HEAD of CPU's ring, in `unread`; false when it cannot be had now. */
static bool read_ring(struct log_chains *c, uint32_t cpu, uint64_t at, uint64_t head)
{
	const uint64_t from = at & (c->opts.n_chain_words - 1), n = head - at;
	const uint64_t to_end = c->opts.n_chain_words - from;

	c->unread.n = 0;
	if (n > c->opts.n_chain_words) /* not what the program writes */
		return true;
	return copy_ring(c, cpu, from, n < to_end ? n : to_end) &&
	       (n <= to_end || copy_ring(c, cpu, 0, n - to_end));
}

/* One CPU's chains between tail and head; what is left behind is given back. */
static void each_of_cpu(struct log_chains *c, uint32_t cpu,
			void (*fn)(void *ctx, const struct log_chain *chain), void *ctx)
{
	uint64_t head = __atomic_load_n(&c->cpus[cpu].head, __ATOMIC_ACQUIRE);
	uint64_t tail = c->cpus[cpu].tail;
	const uint64_t *word, *end;

	if (head == tail || !read_ring(c, cpu, tail, head))
		return;
	word = c->unread.v;
	end = word + c->unread.n;
	while (end - word >= CHAIN_HEAD_WORDS) {
		uint64_t info = word[CHAIN_INFO], task = word[CHAIN_TASK];
		struct log_chain chain = {
			.hash = word[CHAIN_HASH],
			.tgid = LOG_TGID(task),
			.generation = LOG_GENERATION(task),
			.cause = (enum chain_cause)(info >> 16 & 0xff),
			.n_frames = (uint32_t)info & 0xffff,
			.n_kernel = (uint32_t)(info >> 24) & 0xff,
			.frames = word + CHAIN_HEAD_WORDS,
		};

		if (chain.n_frames > end - chain.frames)
			break; /* not what the program writes */
		word = chain.frames + chain.n_frames;
		if (info & CHAIN_HAS_LABELS && chain.n_frames)
			chain.labels = chain.frames[--chain.n_frames];
		if (chain.n_frames > CHAIN_MAX_FRAMES)
			break;
		fn(ctx, &chain);
	}
	if (c->unread.cap > MOST_KEPT_WORDS)
		vec_release(&c->unread);
	__atomic_store_n(&c->cpus[cpu].tail, head, __ATOMIC_RELEASE);
}

void log_each_chain(struct log *l, void (*fn)(void *ctx, const struct log_chain *chain), void *ctx)
{
	for (struct log_chains *c = log_chains_of(l); c; c = c->guest) {
		for (uint32_t cpu = 0; cpu < c->opts.n_cpus; cpu++)
			each_of_cpu(c, cpu, fn, ctx);
		if (c->guest) /* its walker's time is ours */
			*c->guest->shared.clock = *c->shared.clock;
	}
}

uint32_t log_n_copy_rings(const struct log *l)
{
	const struct log_chains *c = log_chains_of(l);

	return c && c->opts.n_copy_chunks ? n_copy_rings(&c->opts) : 0;
}

bool log_open_copies(const struct log *l, uint32_t i, struct log_copies *ret)
{
	const struct log_chains *c = log_chains_of(l);
	uint32_t at, n;
	struct pages e;
	uint8_t *p;

	if (__atomic_load_n(&c->copy_cpus[i].head, __ATOMIC_ACQUIRE) == c->copy_cpus[i].tail)
		return false;
	at = copy_ring_at(&c->opts, i);
	n = copy_ring_at(&c->opts, i + 1) - at;
	e = pages_of((size_t)at * COPY_CHUNK_BYTES, (size_t)n * COPY_CHUNK_BYTES); /* whole pages */
	p = mmap(NULL, e.n, PROT_READ | PROT_WRITE, MAP_SHARED, c->copies_fd, (off_t)e.at);
	if (p == MAP_FAILED)
		return false;
	madvise(p, e.n, MADV_DONTDUMP); /* what others have on their stacks is in no core of ours */
	*ret = (struct log_copies){&c->copy_cpus[i], p, n};
	return true;
}

void log_close_copies(const struct log_copies *c)
{
	munmap(c->chunks, (size_t)c->n_chunks * COPY_CHUNK_BYTES);
}

uint64_t log_copies_refused(const struct log *l)
{
	const struct log_chains *c = log_chains_of(l);
	uint64_t n = 0;

	for (uint32_t i = 0; i < log_n_copy_rings(l); i++)
		n += c->copy_cpus[i].n_refused;
	return n;
}

uint64_t log_chains_lost(const struct log *l)
{
	uint64_t n = 0;

	for (const struct log_chains *c = log_chains_of(l); c; c = c->guest)
		for (uint32_t cpu = 0; cpu < c->opts.n_cpus; cpu++)
			n += c->cpus[cpu].lost;
	return n;
}

struct log_walks log_walks(const struct log *l)
{
	struct log_walks sum = {0};

	for (const struct log_chains *c = log_chains_of(l); c; c = c->guest) {
		for (uint32_t cpu = 0; cpu < c->opts.n_cpus; cpu++) {
			sum.n_walked += c->cpus[cpu].n_walked;
			sum.n_kept += c->cpus[cpu].n_kept;
			sum.n_checked += c->cpus[cpu].n_checked;
			sum.n_differing += c->cpus[cpu].n_differing;
		}
	}
	return sum;
}

/* An array's pages are this process's memory for as long as it maps them, touched or not (Linux,
 * kernel/bpf/arraymap.c: array_map_mmap inserts them all). */
static uint32_t *open_words(void *ctx, size_t at, size_t n)
{
	const struct log_chains *c = ctx;
	const struct pages e = pages_of(at * sizeof(uint32_t), n * sizeof(uint32_t));
	const size_t end = e.at + e.n, most = piece_bytes(&c->opts);
	uint8_t *p = mmap(NULL, e.n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t from = e.at, to; p != MAP_FAILED && from < end; from = to) {
		const uint32_t i = (uint32_t)(from / most);

		to = (i + 1) * most < end ? (i + 1) * most : end;
		if (!have_piece(c, i) || mmap(p + (from - e.at), to - from, PROT_READ | PROT_WRITE,
					      MAP_SHARED | MAP_FIXED, c->pieces[i],
					      (off_t)(from - i * most)) == MAP_FAILED) {
			munmap(p, e.n);
			return NULL;
		}
	}
	return p == MAP_FAILED ? NULL : (uint32_t *)(p + (at * sizeof(uint32_t) - e.at));
}

static void close_words(void *ctx, uint32_t *words, size_t at, size_t n)
{
	struct pages e = pages_of(at * sizeof(uint32_t), n * sizeof(uint32_t));

	munmap((uint8_t *)words - (at * sizeof(uint32_t) - e.at), e.n);
}

struct unwind_memory log_unwind_memory(const struct log *l)
{
	struct log_chains *c = log_chains_of(l);

	if (!c)
		return (struct unwind_memory){0};
	return (struct unwind_memory){
		.words = c->table_words,
		.open = open_words,
		.close = close_words,
		.ctx = c,
		.n_words = c->opts.n_unwind_words,
		.rules = c->rules,
		.images = c->images,
		.n_images = FRAME_MAX_IMAGES + 1,
		.clock = c->shared.clock,
	};
}

struct image_key *log_image_keys(const struct log *l, uint32_t *ret_n)
{
	const struct log_chains *c = log_chains_of(l);

	*ret_n = c ? c->opts.n_image_keys : 0;
	return c ? c->keys : NULL;
}

void log_images_changed(struct log *l)
{
	for (struct log_chains *c = log_chains_of(l); c; c = c->guest)
		__atomic_fetch_add(c->shared.images_epoch, 1, __ATOMIC_RELEASE);
}

int log_request_fd(const struct log *l)
{
	const struct log_chains *c = log_chains_of(l);

	return c ? ring_buffer__epoll_fd(c->requests) : -1;
}

void log_scripts_forgotten(struct log *l)
{
	for (struct log_chains *c = log_chains_of(l); c; c = c->guest)
		__atomic_fetch_add(c->shared.scripts_epoch, 1, __ATOMIC_RELEASE);
}

void log_each_request(struct log *l, void (*fn)(void *ctx, const struct image_request *r),
		      void (*script)(void *ctx, const uint8_t *bytes, size_t n), void *ctx)
{
	struct log_chains *c = log_chains_of(l);

	if (!c)
		return;
	c->on_request = fn;
	c->on_script = script;
	c->on_request_ctx = ctx;
	ring_buffer__consume(c->requests);
}
