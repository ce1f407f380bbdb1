/* SPDX-License-Identifier: BSD-2-Clause */
/* Records what a collector is given: see replay_stream.h.
 *
 * A real collector records with call paths.  Beside it, rings of our own get the same sideband, and
 * its log and its chains are read once more from their shared memory, before it gives their room
 * back. */
#include "replay_stream.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "collect/calls/log_chains.h"
#include "collect/collector_impl.h"
#include "daemon/layouts.h"
#include "daemon/readers.h"
#include "daemon/record_options.h"
#include "daemon/sampling.h"

struct tee {
	FILE *out;
	struct sampling sampling;
	struct collector *c;
	cpu_list cpus;
	opened_list sideband;
	VEC(struct ring) rings;
	const struct log_slot *slots; /* of the collector's log, as the next ones */
	const uint64_t *chains, *words;
	const struct chain_cpu *chain_cpus;
	uint64_t *slot_at, *word_at; /* by CPU: what was written so far */
	uint32_t n_cpus, n_slots, n_words;
};

static void put(struct tee *t, enum stream_kind kind, uint32_t cpu, const void *p, size_t n)
{
	struct stream_head h = {.kind = kind, .cpu = cpu, .n_bytes = n};

	fwrite(&h, sizeof(h), 1, t->out);
	if (n)
		fwrite(p, 1, n, t->out);
}

static int open_own_sideband(struct tee *t, struct err *err)
{
	struct event_spec dummy = {.name = (char *)"events", .attr = collector_sideband_attr()};
	struct target all = {.kind = TARGET_ALL};
	int rc;

	cpus_online(&t->cpus);
	rc = target_open(&all, &dummy, 0, SPREAD_CPUS, &t->cpus, &t->sideband, err);
	for (size_t i = 0; i < t->sideband.n && rc >= 0; i++) {
		vec_add(&t->rings);
		rc = ring_open(&t->rings.v[i], t->sideband.v[i].fd, 1024, err);
	}
	if (rc >= 0)
		opened_enable(&t->sideband);
	return rc;
}

static int open_collector(struct tee *t, uint64_t hz, struct record_plan *plan, struct err *err)
{
	struct record_options o = {.freq_hz = hz};
	struct collector_opts co = {
		.target = {.kind = TARGET_ALL}, .engine = ENGINE_BPF, .label = ""};
	const char *why;
	int rc;

	vec_push(&o.events, (char *)"cpu-clock");
	rc = record_plan_init(plan, &o, 0, &why, err);
	if (rc < 0)
		return rc;
	record_plan_apply(plan, &o, &co);
	co.engine = ENGINE_BPF;
	co.calls = CALLS_AUTO;
	co.label = "";
	co.tables.no_copies = true; /* a chain is what the kernel side sent */
	setenv("DWELL_NO_COPIES", "1", 1);
	rc = sampling_open(&t->sampling, &co, NULL, "bench_replay", err);
	readers_without_scripts(true); /* their functions come beside chains */
	t->c = t->sampling.collector;
	return rc;
}

static void map_log(struct tee *t)
{
	const struct log_fds f = log_fds(t->c->log);
	size_t n;

	t->n_cpus = t->c->n_log_cpus;
	t->n_slots = log_n_slots(t->c->log);
	t->n_words = log_chains_opts(log_chains_of(t->c->log))->n_chain_words;
	n = (size_t)t->n_cpus * t->n_slots;
	t->slots = log_map_fd(f.slots, sizeof(*t->slots), n, PROT_READ);
	t->chains = log_map_fd(f.slot_chains, 8, n, PROT_READ);
	t->words = log_map_fd(f.chain_words, 8, (size_t)t->n_cpus * t->n_words, PROT_READ);
	t->chain_cpus = log_map_fd(f.chain_cpus, sizeof(*t->chain_cpus), t->n_cpus, PROT_READ);
	t->slot_at = xcalloc(t->n_cpus, 8);
	t->word_at = xcalloc(t->n_cpus, 8);
}

static uint16_t padded(size_t n)
{
	return (uint16_t)((n + 8) & ~7u);
}

/* A record as the kernel writes one for a mapping (perf_event.h, PERF_RECORD_MMAP2). */
static void put_mapping(struct wr *w, uint32_t pid, const struct mapping *m, const char *path,
			const struct mapped_code *c)
{
	const uint16_t n_name = padded(strlen(path));
	const uint16_t n = (uint16_t)(8 + 64 + n_name + 24);

	wr_le32(w, PERF_RECORD_MMAP2);
	wr_le16(w, PERF_RECORD_MISC_USER);
	wr_le16(w, n);
	wr_le32(w, pid);
	wr_le32(w, pid);
	wr_le64(w, m->start);
	wr_le64(w, m->end - m->start);
	wr_le64(w, m->off);
	wr_le32(w, (uint32_t)(c->dev >> 32));
	wr_le32(w, (uint32_t)c->dev);
	wr_le64(w, c->ino);
	wr_le64(w, c->ino_generation);
	wr_le32(w, PROT_EXEC | PROT_READ);
	wr_le32(w, MAP_PRIVATE);
	vec_reserve(w, n_name);
	memset(w->v + w->n, 0, n_name);
	memcpy(w->v + w->n, path, strlen(path));
	w->n += n_name;
	wr_le32(w, pid);
	wr_le32(w, pid);
	wr_le64(w, clock_mono_ns());
	wr_le64(w, 0);
}

/* The processes there are when it begins. */
static void put_tasks(struct tee *t)
{
	const struct procs *ps = &t->c->procs;
	struct wr w = {0};

	vec_each (p, &ps->v) {
		struct stream_task k = {.now_ns = clock_mono_ns(),
					.tgid = p->tgid,
					.generation = p->generation,
					.n_threads = p->n_threads,
					.is_kernel = (p->owner_flags & OWNER_KERNEL) != 0};

		if (p->ended || !p->tgid || procs_current(ps, p->tgid) != (uint32_t)(p - ps->v.v))
			continue;
		snprintf(k.comm, sizeof(k.comm), "%s", profile_str(t->c->profile, p->comm));
		put(t, STREAM_TASK, 0, &k, sizeof(k));
		w.n = 0;
		for (size_t i = 0; p->maps && i < p->maps->v.n; i++) {
			const struct mapping *m = &p->maps->v.v[i];
			const struct mapped_code *c = &ps->images->codes.v[m->code];

			put_mapping(&w, p->tgid, m, profile_str(t->c->profile, c->path), c);
		}
		put(t, STREAM_SIDEBAND, 0, w.v, w.n);
	}
	wr_release(&w);
	put(t, STREAM_PART, 0, NULL, 0);
}

static void put_samples(struct tee *t, uint32_t cpu)
{
	const uint64_t head = log_head(t->c->log, cpu);
	VEC(struct stream_sample) all = {0};

	for (; t->slot_at[cpu] != head; t->slot_at[cpu]++) {
		size_t i = (size_t)cpu * t->n_slots + (t->slot_at[cpu] & (t->n_slots - 1));

		vec_push(&all, (struct stream_sample){t->slots[i], t->chains[i]});
	}
	put(t, STREAM_SAMPLES, cpu, all.v, all.n * sizeof(all.v[0]));
	vec_release(&all);
}

static void put_chains(struct tee *t, uint32_t cpu)
{
	const uint64_t head = __atomic_load_n(&t->chain_cpus[cpu].head, __ATOMIC_ACQUIRE);
	VEC(uint64_t) all = {0};

	for (; t->word_at[cpu] != head; t->word_at[cpu]++)
		vec_push(&all,
			 t->words[(size_t)cpu * t->n_words + (t->word_at[cpu] & (t->n_words - 1))]);
	put(t, STREAM_CHAINS, cpu, all.v, all.n * 8);
	vec_release(&all);
}

/* In the collector's own order (call_paths.h): heads, chains, sideband. */
static void put_part(struct tee *t)
{
	struct wr w = {0};

	for (uint32_t cpu = 0; cpu < t->n_cpus; cpu++)
		put_samples(t, cpu);
	for (uint32_t cpu = 0; cpu < t->n_cpus; cpu++)
		put_chains(t, cpu);
	vec_each (r, &t->rings) {
		w.n = 0;
		ring_drain(r, &w);
		put(t, STREAM_SIDEBAND, (uint32_t)(r - t->rings.v), w.v, w.n);
	}
	wr_release(&w);
	put(t, STREAM_PART, 0, NULL, 0);
}

static void put_images(struct tee *t)
{
	struct images *im = &t->c->images;

	for (uint32_t n = IMAGE_NUMBER_VDSO + 1; n < im->numbered.n; n++) {
		const struct mapped_code *c = &im->codes.v[images_numbered(im, n)];
		struct stream_image i = {.number = n,
					 .dev = c->dev,
					 .ino = c->ino,
					 .ino_generation = c->ino_generation};

		snprintf(i.path, sizeof(i.path), "%s", profile_str(t->c->profile, c->path));
		put(t, STREAM_IMAGE, 0, &i, sizeof(i));
	}
}

static void take_parts(struct tee *t, uint32_t n_parts)
{
	for (uint32_t i = 0; i < n_parts; i++) {
		uint64_t end_ns = clock_mono_ns() + STREAM_PART_MS * 1000000ull;

		for (uint64_t now = 0; now < end_ns; now = clock_mono_ns())
			collector_wait(t->c, STREAM_PART_MS);
		put_part(t);
		sampling_cycle(&t->sampling);
	}
}

int stream_record(const char *path, uint32_t n_parts, uint64_t hz, struct err *err)
{
	static struct tee t;
	struct record_plan plan;
	int rc;

	t.out = fopen(path, "w");
	if (!t.out)
		return err_errno(err, -errno, "%s", path);
	rc = readers_start(true, err);
	if (rc >= 0)
		rc = open_collector(&t, hz, &plan, err);
	if (rc >= 0)
		rc = open_own_sideband(&t, err);
	if (rc >= 0)
		rc = sampling_start(&t.sampling, err);
	if (rc < 0)
		return rc;
	map_log(&t);
	put_tasks(&t);
	take_parts(&t, n_parts);
	put_images(&t);
	collector_stop(t.c);
	sampling_release(&t.sampling);
	readers_end();
	layouts_end();
	return fclose(t.out) == 0 ? 0 : err_set(err, -EIO, "%s: cannot be written", path);
}
