/* SPDX-License-Identifier: BSD-2-Clause */
/* See replay_feed.h.
 *
 * A copy is the recorded machine with pids of its own.  Generations, times and addresses stay.  Its
 * files are those of its variant, which have another path.  A CPU sends a chain when its first
 * sample with it comes, and again in each round through the recording. */
#include "replay_feed.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/vec.h"
#include "collect/calls/log_chains.h"

/* Pids of copies: above those of this machine's processes. */
#define FIRST_PID 65536u
#define STRIDE	  16128u /* 256 copies of so many pids are below 2^22 */

struct block {
	uint32_t cpu;
	const uint8_t *bytes;
	size_t n;
};

struct part {
	VEC(struct block) samples, sideband;
};

struct sent_chain {
	uint64_t hash;
	const uint64_t *words;
	bool is_raw; /* it has addresses of its process */
};

struct feed {
	struct feed_opts o;
	uint32_t n_images;
	VEC(struct part) parts;
	struct sent_chain *chains; /* open addressing */
	uint32_t n_chains;	   /* a power of two */
	uint8_t **sent;		   /* by CPU and chain: a bit */
	uint64_t *lost;		   /* by CPU: records, to be told */
	struct log_slot *slots;
	struct log_cpu *cpus;
	uint64_t *slot_chains, *words;
	struct chain_cpu *chain_cpus;
	uint64_t rng;
	struct feed_counts n;
};

static struct {
	uint32_t of[1u << 22]; /* number + 1 */
	uint32_t n;
} pids;

uint32_t feed_pid(uint32_t pid, uint32_t copy)
{
	if (!pid || pid >= 1u << 22)
		return pid;
	if (!pids.of[pid])
		pids.of[pid] = pids.n++ % STRIDE + 1;
	return FIRST_PID + copy * STRIDE + pids.of[pid] - 1;
}

int stream_each(const char *path, enum stream_kind kind,
		void (*fn)(void *ctx, const struct stream_head *h, const void *bytes), void *ctx,
		struct err *err)
{
	FILE *in = fopen(path, "r");
	struct stream_head h;
	int n_parts = 0;

	if (!in)
		return err_errno(err, -errno, "%s", path);
	while (fread(&h, sizeof(h), 1, in) == 1) {
		void *bytes;

		n_parts += h.kind == STREAM_PART;
		if (h.kind != (uint32_t)kind) {
			fseek(in, (long)h.n_bytes, SEEK_CUR);
			continue;
		}
		bytes = xcalloc(1, h.n_bytes + 1);
		if (fread(bytes, 1, h.n_bytes, in) == h.n_bytes)
			fn(ctx, &h, bytes);
		free(bytes);
	}
	fclose(in);
	return n_parts;
}

static struct sent_chain *chain_slot(struct feed *f, uint64_t hash)
{
	uint32_t i = (uint32_t)hash & (f->n_chains - 1);

	while (f->chains[i].hash && f->chains[i].hash != hash)
		i = (i + 1) & (f->n_chains - 1);
	return &f->chains[i];
}

static uint32_t n_frames_of(const uint64_t *words)
{
	return (uint32_t)words[CHAIN_INFO] & 0xffff;
}

static void learn_chains(struct feed *f, const uint64_t *w, size_t n)
{
	for (const uint64_t *end = w + n; end - w >= CHAIN_HEAD_WORDS;
	     w += CHAIN_HEAD_WORDS + n_frames_of(w)) {
		struct sent_chain *c = chain_slot(f, w[CHAIN_HASH]);

		*c = (struct sent_chain){w[CHAIN_HASH], w, false};
		for (uint32_t i = 0; i < n_frames_of(w); i++)
			c->is_raw |= !(w[CHAIN_HEAD_WORDS + i] >> FRAME_IMAGE_SHIFT);
	}
}

/* The whole stream stays in memory: blocks point into it. */
static int load(struct feed *f, struct err *err)
{
	FILE *in = fopen(f->o.path, "r");
	struct stream_head h;

	if (!in)
		return err_errno(err, -errno, "%s", f->o.path);
	f->n_chains = 1 << 20;
	f->chains = xcalloc(f->n_chains, sizeof(*f->chains));
	memset(vec_add(&f->parts), 0, sizeof(struct part));
	while (fread(&h, sizeof(h), 1, in) == 1) {
		uint8_t *bytes = xcalloc(1, h.n_bytes + 1);
		struct block b = {h.cpu, bytes, h.n_bytes};
		struct part *p = &f->parts.v[f->parts.n - 1];

		if (fread(bytes, 1, h.n_bytes, in) != h.n_bytes)
			break;
		if (h.kind == STREAM_TASK)
			feed_pid(((const struct stream_task *)(void *)bytes)->tgid, 0);
		else if (h.kind == STREAM_CHAINS)
			learn_chains(f, (const uint64_t *)(void *)bytes, h.n_bytes / 8);
		else if (h.kind == STREAM_SAMPLES)
			vec_push(&p->samples, b);
		else if (h.kind == STREAM_SIDEBAND)
			vec_push(&p->sideband, b);
		else if (h.kind == STREAM_PART)
			memset(vec_add(&f->parts), 0, sizeof(struct part));
		else
			f->n_images++;
	}
	fclose(in);
	f->parts.n--; /* none comes behind the last */
	return f->parts.n < 2 ? err_set(err, -ENODATA, "%s: no stream", f->o.path) : 0;
}

struct feed *feed_open(const struct feed_opts *o, struct err *err)
{
	struct feed *f = xcalloc(1, sizeof(*f));
	const uint32_t n = o->n_copies * o->n_cpus;

	f->o = *o;
	f->rng = 1;
	if (load(f, err) < 0)
		return NULL;
	f->slots = log_map_fd(o->log.slots, sizeof(*f->slots), (size_t)n * o->n_slots,
			      PROT_READ | PROT_WRITE);
	f->slot_chains =
		log_map_fd(o->log.slot_chains, 8, (size_t)n * o->n_slots, PROT_READ | PROT_WRITE);
	f->cpus = log_map_fd(o->log.cpus, sizeof(*f->cpus), n, PROT_READ | PROT_WRITE);
	f->words =
		log_map_fd(o->log.chain_words, 8, (size_t)n * o->n_words, PROT_READ | PROT_WRITE);
	f->chain_cpus =
		log_map_fd(o->log.chain_cpus, sizeof(*f->chain_cpus), n, PROT_READ | PROT_WRITE);
	f->lost = xcalloc(n, 8);
	f->sent = xcalloc(n, sizeof(*f->sent));
	for (uint32_t i = 0; i < n; i++)
		f->sent[i] = xcalloc(f->n_chains / 8, 1);
	if (!f->slots || !f->slot_chains || !f->cpus || !f->words || !f->chain_cpus) {
		err_errno(err, -errno, "cannot map the log");
		return NULL;
	}
	return f;
}

/* --- sideband --- */

static bool put_record(struct feed *f, uint32_t cpu, const uint8_t *p, size_t n)
{
	struct perf_event_mmap_page *c = (void *)f->o.rings[cpu].base;
	uint8_t *data = f->o.rings[cpu].base + sysconf(_SC_PAGESIZE);
	const size_t size = f->o.rings[cpu].n_bytes;
	uint64_t head = c->data_head, tail = __atomic_load_n(&c->data_tail, __ATOMIC_ACQUIRE);
	const size_t at = head & (size - 1), first = n < size - at ? n : size - at;

	if (size - (size_t)(head - tail) < n)
		return false;
	memcpy(data + at, p, first);
	memcpy(data, p + first, n - first);
	__atomic_store_n(&c->data_head, head + n, __ATOMIC_RELEASE);
	f->n.n_sideband_bytes += n;
	return true;
}

/* perf_event.h, PERF_RECORD_LOST: comes before the first record that has room again. */
static bool tell_lost(struct feed *f, uint32_t cpu)
{
	struct {
		struct perf_event_header h;
		uint64_t id, lost, sample_id[3];
	} r = {{PERF_RECORD_LOST, 0, sizeof(r)}, 0, f->lost[cpu], {0}};

	if (f->lost[cpu] && !put_record(f, cpu, (const uint8_t *)&r, sizeof(r)))
		return false;
	f->lost[cpu] = 0;
	return true;
}

static void move_pid(uint8_t *p, uint32_t copy)
{
	uint32_t pid;

	memcpy(&pid, p, 4);
	pid = feed_pid(pid, copy);
	memcpy(p, &pid, 4);
}

/* Writes one record as COPY has it.  The layouts: machine/perf_record.c. */
static void feed_record(struct feed *f, uint32_t cpu, uint32_t copy, const uint8_t *p, size_t n)
{
	uint8_t r[8192];
	uint32_t type;

	if (n > sizeof(r) || n < 48)
		return;
	memcpy(r, p, n);
	memcpy(&type, r, 4);
	move_pid(r + 8, copy);
	move_pid(r + 12, copy);
	if (type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT) {
		move_pid(r + 16, copy);
		move_pid(r + 20, copy);
	}
	if (type == PERF_RECORD_MMAP2)
		feed_path((char *)r + 72, copy % f->o.n_variants);
	move_pid(r + n - 24, copy);
	move_pid(r + n - 20, copy);
	f->n.n_records++;
	if (!tell_lost(f, cpu) || !put_record(f, cpu, r, n)) {
		f->lost[cpu]++;
		f->n.n_lost++;
	}
}

static void feed_sideband(struct feed *f, const struct block *b, uint32_t cpu, uint32_t copy)
{
	for (size_t at = 0; at + 8 <= b->n;) {
		uint16_t n;

		memcpy(&n, b->bytes + at + 6, 2);
		if (n < 8 || n > b->n - at)
			break;
		feed_record(f, cpu, copy, b->bytes + at, n);
		at += n;
	}
}

/* --- samples --- */

static double next_random(struct feed *f)
{
	f->rng = f->rng * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(f->rng >> 33) / (double)(1u << 31);
}

static uint64_t hash_in_copy(const struct feed *f, const struct sent_chain *c, uint32_t copy)
{
	return hash_pair(c->hash, c->is_raw ? copy + 4096 : copy % f->o.n_variants) | 1;
}

static uint64_t frame_in_copy(const struct feed *f, uint64_t frame, uint32_t copy)
{
	const uint64_t number = frame >> FRAME_IMAGE_SHIFT & FRAME_MAX_IMAGES;

	if (frame & FRAME_KERNEL || number < 2)
		return frame;
	return (frame & ~((uint64_t)FRAME_MAX_IMAGES << FRAME_IMAGE_SHIFT)) |
	       (uint64_t)feed_number((uint32_t)number, copy % f->o.n_variants, f->n_images)
		       << FRAME_IMAGE_SHIFT;
}

static uint64_t task_in_copy(uint64_t task, uint32_t copy)
{
	return LOG_TASK(feed_pid(LOG_TGID(task), copy), feed_pid(LOG_TID(task), copy),
			LOG_GENERATION(task));
}

static bool send_chain(struct feed *f, const struct sent_chain *c, uint32_t cpu, uint32_t copy)
{
	struct chain_cpu *to = &f->chain_cpus[cpu];
	uint64_t *ring = f->words + (size_t)cpu * f->o.n_words, at = to->head;
	const uint64_t mask = f->o.n_words - 1;
	const uint32_t n = n_frames_of(c->words);
	const uint64_t tail = __atomic_load_n(&to->tail, __ATOMIC_ACQUIRE);

	if (at + CHAIN_HEAD_WORDS + n - tail > f->o.n_words) {
		to->lost++;
		f->n.n_chains_lost++;
		return false;
	}
	ring[at++ & mask] = hash_in_copy(f, c, copy);
	ring[at++ & mask] = task_in_copy(c->words[CHAIN_TASK], copy);
	ring[at++ & mask] = c->words[CHAIN_INFO];
	for (uint32_t i = 0; i < n; i++)
		ring[at++ & mask] = frame_in_copy(f, c->words[CHAIN_HEAD_WORDS + i], copy);
	__atomic_store_n(&to->head, at, __ATOMIC_RELEASE);
	f->n.n_chains++;
	return true;
}

/* The hash beside a sample's slot. */
static uint64_t chain_of(struct feed *f, uint64_t hash, uint32_t cpu, uint32_t copy)
{
	const struct sent_chain *c = hash && hash != CHAIN_LOST ? chain_slot(f, hash) : NULL;
	uint32_t i;

	if (!c || !c->hash)
		return hash;
	i = (uint32_t)(c - f->chains);
	if (!(f->sent[cpu][i / 8] & 1u << i % 8)) {
		if (!send_chain(f, c, cpu, copy))
			return CHAIN_LOST;
		f->sent[cpu][i / 8] |= (uint8_t)(1u << i % 8);
	}
	return hash_in_copy(f, c, copy);
}

static void feed_sample(struct feed *f, const struct stream_sample *s, uint32_t cpu, uint32_t copy)
{
	struct log_cpu *to = &f->cpus[cpu];
	const uint64_t tail = __atomic_load_n(&to->tail, __ATOMIC_ACQUIRE);
	const size_t i = (size_t)cpu * f->o.n_slots + (to->head & (f->o.n_slots - 1));

	to->reached[0]++;
	f->n.n_samples++;
	if (to->head - tail >= f->o.n_slots) { /* the program would count it in the spill table */
		to->dropped[0]++;
		f->n.n_dropped++;
		return;
	}
	f->slot_chains[i] = chain_of(f, s->chain, cpu, copy);
	f->slots[i].ip_event = s->slot.ip_event;
	f->slots[i].task = task_in_copy(s->slot.task, copy);
	__atomic_store_n(&to->head, to->head + 1, __ATOMIC_RELEASE);
}

void feed_first(struct feed *f, uint32_t copy)
{
	const uint32_t first_cpu = copy * f->o.n_cpus;
	uint32_t i = 0;

	vec_each (b, &f->parts.v[0].sideband) /* each is one process */
		feed_sideband(f, b, first_cpu + i++ % f->o.n_cpus, copy);
	f->n = (struct feed_counts){0};
}

void feed_part(struct feed *f, uint32_t i)
{
	const uint32_t n_parts = (uint32_t)f->parts.n - 1;
	const struct part *p = &f->parts.v[1 + i % n_parts];

	for (uint32_t cpu = 0; cpu < f->o.n_copies * f->o.n_cpus && i && i % n_parts == 0; cpu++)
		memset(f->sent[cpu], 0, f->n_chains / 8);
	for (uint32_t copy = 0; copy < f->o.n_copies; copy++) {
		vec_each (b, &p->sideband)
			feed_sideband(f, b, copy * f->o.n_cpus + b->cpu, copy);
		vec_each (b, &p->samples) {
			const struct stream_sample *s = (const void *)b->bytes;

			for (size_t k = 0; k < b->n / sizeof(*s); k++)
				if (next_random(f) < f->o.kept)
					feed_sample(f, &s[k], copy * f->o.n_cpus + b->cpu, copy);
		}
	}
}

struct feed_counts feed_counts(const struct feed *f)
{
	return f->n;
}
