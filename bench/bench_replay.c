/* SPDX-License-Identifier: BSD-2-Clause */
/* One collector on a machine that is not there: what one recorded is multiplied to hundreds of CPUs
 * and fed to the collector's own code, from the shared memory on.
 *
 *     bench_replay record FILE SECONDS HZ        records what a collector on this machine is given
 *     bench_replay run FILE COPIES HZ SECONDS [free]
 *                                 replays it as COPIES such machines in one, HZ samples a CPU
 *
 * The collector has a log of that many CPUs (the BPF program is loaded, nothing is attached), perf
 * rings of its usual size in ordinary shared memory, processes and mappings.  Another process
 * writes as the kernel would (replay_feed.h), 100 ms of the recording at a time.  Without `free`
 * the two take turns as fast as they can, and what is printed is this process's CPU time a second
 * of the recording.  With `free` the feeder goes by the clock, and what the log or the rings have
 * no room for is lost, as it would be.
 *
 * Cycles come as collector_wait has them: once in cycle_ms, or when a ring is half full.  Not in
 * it: reading files (once for each), /proc of processes (they are not there, which is told at
 * once), walking in the kernel, and the disk. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "collect/calls/log_chains.h"
#include "collect/collector_impl.h"
#include "formats/segment.h"
#include "replay_feed.h"

#define HZ_LEAST     1
#define RING_BYTES   (1u << 20) /* as collector_open.c has them for root */
#define N_VARIANTS   16
#define FIRST_COPIES 8 /* whose mappings are told before the collector has a turn */

struct replay {
	const char *path;
	uint32_t n_copies, n_cpus; /* of each copy */
	uint32_t hz, hz_recorded, n_parts;
	bool free;
	struct collector *c;
	struct profile profile;
	struct ring *rings;
	uint32_t n_images, n_tasks, n_numbered;
	int to_feeder[2], from_feeder[2];
	struct feed_counts n;
	double cpu_s, longest_s; /* of cycles */
	uint32_t n_cycles;
	uint64_t cycle_ns; /* when the next cycle is due, of the recording's time */
};

static int no_file(int fd, struct image_layout *ret, struct err *err)
{
	return -EBADMSG;
}

static double cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* A line of /proc/self/status in KiB, as MB (proc(5)). */
static double status_mb(const char *name)
{
	char *text, *line;
	double mb = 0;

	if (file_load("/proc/self/status", 1 << 20, &text, NULL, NULL) < 0)
		return 0;
	line = strstr(text, name);
	if (line)
		mb = strtod(line + strlen(name), NULL) / 1024;
	free(text);
	return mb;
}

/* --- what the recording says of itself --- */

static void see_samples(void *ctx, const struct stream_head *h, const void *bytes)
{
	struct replay *r = ctx;

	r->n_cpus = h->cpu + 1 > r->n_cpus ? h->cpu + 1 : r->n_cpus;
	r->hz_recorded += (uint32_t)(h->n_bytes / sizeof(struct stream_sample));
}

static void see_image(void *ctx, const struct stream_head *h, const void *bytes)
{
	((struct replay *)ctx)->n_images++;
}

static int look(struct replay *r, struct err *err)
{
	int n = stream_each(r->path, STREAM_SAMPLES, see_samples, r, err);

	if (n < 2 || !r->n_cpus)
		return n < 0 ? n : err_set(err, -ENODATA, "%s: no stream", r->path);
	r->n_parts = (uint32_t)n - 1;
	r->hz_recorded =
		(uint32_t)(r->hz_recorded * (1000.0 / STREAM_PART_MS) / r->n_parts / r->n_cpus);
	return stream_each(r->path, STREAM_IMAGE, see_image, r, err);
}

/* --- the collector --- */

static void make_rings(struct replay *r, uint32_t n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	r->rings = xcalloc(n, sizeof(*r->rings));
	for (uint32_t i = 0; i < n; i++) {
		void *p = mmap(NULL, page + RING_BYTES, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			alloc_fail();
		r->rings[i] = (struct ring){p, RING_BYTES};
		vec_push(&r->c->rings, r->rings[i]);
	}
}

static int make_collector(struct replay *r, struct err *err)
{
	static struct event_spec event = {
		.name = (char *)"cpu-clock", .unit = (char *)"ns", .is_clock = true};
	const uint32_t n = r->n_copies * r->n_cpus;
	struct collector_opts o = {.target = {.kind = TARGET_ALL},
				   .events = &event,
				   .n_events = 1,
				   .engine = ENGINE_BPF,
				   .label = "",
				   .probe = no_file,
				   .calls = CALLS_AUTO,
				   .tables = {.no_copies = true}};
	struct kernel_range kernel = {.start = 0xffffffff80000000ull,
				      .end = UINT64_MAX,
				      .svma = 0xffffffff80000000ull,
				      .image = {.kind = IMAGE_KERNEL, .path = "[kernel]"}};
	struct collector *c;
	int rc;

	event.attr.sample_period = 1000000000 / r->hz;
	profile_init(&r->profile);
	r->c = c = collector_new(&o, &r->profile);
	c->engine = ENGINE_BPF;
	c->in_log[0] = true;
	c->specs[0] = event;
	for (uint32_t i = 0; i < n; i++)
		vec_push(&c->cpus, (int)i);
	rc = collector_open_log(c, n, err);
	if (rc < 0)
		return rc;
	collector_add_kernel(c, &kernel);
	make_rings(r, n);
	collector_set_cycle(c);
	return 0;
}

/* --- the feeder's process --- */

struct order {
	uint32_t what; /* a part, or FIRST + copy */
};

#define FIRST (1u << 31)

static void feed_free(struct feed *f, uint32_t n_parts, int out)
{
	const uint64_t start = clock_mono_ns();
	struct feed_counts n;
	uint64_t late = 0;

	for (uint32_t i = 0; i < n_parts; i++) {
		const uint64_t due = start + (i + 1ull) * STREAM_PART_MS * 1000000;
		uint64_t now;

		feed_part(f, i);
		now = clock_mono_ns();
		if (now < due)
			usleep((useconds_t)((due - now) / 1000));
		else if (now - due > late)
			late = now - due;
	}
	n = feed_counts(f);
	n.n_late_ns = late;
	if (write(out, &n, sizeof(n)) != sizeof(n))
		_exit(2);
}

static void feeder(struct replay *r)
{
	const struct feed_opts o = {
		.path = r->path,
		.n_copies = r->n_copies,
		.n_variants = N_VARIANTS,
		.n_cpus = r->n_cpus,
		.kept = (double)r->hz / r->hz_recorded,
		.rings = r->rings,
		.log = log_fds(r->c->log),
		.n_slots = log_n_slots(r->c->log),
		.n_words = log_chains_opts(log_chains_of(r->c->log))->n_chain_words,
	};
	struct err err = {0};
	struct feed *f;
	struct order order;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	f = feed_open(&o, &err);
	if (!f) {
		fprintf(stderr, "bench_replay: %s\n", err.msg);
		_exit(2);
	}
	while (read(r->to_feeder[0], &order, sizeof(order)) == sizeof(order)) {
		struct feed_counts n;

		if (r->free && !(order.what & FIRST)) {
			feed_free(f, order.what, r->from_feeder[1]);
			continue;
		}
		if (order.what & FIRST)
			feed_first(f, order.what & ~FIRST);
		else
			feed_part(f, order.what);
		n = feed_counts(f);
		if (write(r->from_feeder[1], &n, sizeof(n)) != sizeof(n))
			_exit(2);
	}
	_exit(0);
}

static void start_feeder(struct replay *r)
{
	if (pipe(r->to_feeder) < 0 || pipe(r->from_feeder) < 0)
		exit(2);
	if (fork() == 0) {
		close(r->to_feeder[1]);
		feeder(r);
	}
	close(r->from_feeder[1]);
}

static void say(struct replay *r, uint32_t what)
{
	struct order o = {what};

	if (write(r->to_feeder[1], &o, sizeof(o)) != sizeof(o))
		exit(2);
}

static void await(struct replay *r)
{
	if (read(r->from_feeder[0], &r->n, sizeof(r->n)) != sizeof(r->n))
		exit(2);
}

/* --- what is measured --- */

static void one_cycle(struct replay *r)
{
	const double before = cpu_s();
	double took;

	collector_cycle(r->c);
	took = cpu_s() - before;
	r->cpu_s += took;
	r->longest_s = took > r->longest_s ? took : r->longest_s;
	r->n_cycles++;
}

static bool ring_is_half_full(const struct replay *r)
{
	for (uint32_t i = 0; i < r->n_copies * r->n_cpus; i++)
		if (ring_fill_pct(&r->rings[i]) >= 50)
			return true;
	return false;
}

static void add_image(void *ctx, const struct stream_head *h, const void *bytes)
{
	struct replay *r = ctx;
	struct stream_image i;
	static uint32_t v;

	memcpy(&i, bytes, sizeof(i));
	v = r->n_numbered++ / r->n_images;
	feed_path(i.path, v);
	if (images_add_number(&r->c->images,
			      images_intern(&r->c->images,
					    &(struct image_ref){.dev = i.dev,
								.ino = i.ino,
								.ino_generation = i.ino_generation,
								.path = i.path})) !=
	    feed_number(i.number, v, r->n_images)) {
		fprintf(stderr, "bench_replay: a file's number is not what it was\n");
		exit(2);
	}
}

static void add_task(void *ctx, const struct stream_head *h, const void *bytes)
{
	struct replay *r = ctx;
	struct stream_task k;

	memcpy(&k, bytes, sizeof(k));
	r->n_tasks++;
	for (uint32_t copy = 0; copy < r->n_copies; copy++) {
		struct task_record t = {.tgid = feed_pid(k.tgid, copy),
					.start_ns = (uint64_t)(k.generation & 0xfff) << 20,
					.exec_id = k.generation >> 12,
					.now_ns = k.now_ns,
					.n_threads = k.n_threads,
					.is_kernel = k.is_kernel};

		memcpy(t.comm, k.comm, sizeof(t.comm));
		procs_add_task(&r->c->procs, &t);
	}
}

static int begin(struct replay *r, struct err *err)
{
	int rc = 0;

	for (uint32_t v = 0; v < N_VARIANTS && rc >= 0; v++)
		rc = stream_each(r->path, STREAM_IMAGE, add_image, r, err);
	procs_add_task(&r->c->procs, &(struct task_record){.comm = "swapper", .is_kernel = 1});
	r->c->procs.v.v[procs_current(&r->c->procs, 0)].exact = false;
	r->c->procs.v.v[procs_current(&r->c->procs, 0)].any_exec = true;
	if (rc >= 0)
		rc = stream_each(r->path, STREAM_TASK, add_task, r, err);
	for (uint32_t copy = 0; copy < r->n_copies && rc >= 0; copy++) {
		say(r, FIRST | copy);
		await(r);
		if (copy % FIRST_COPIES == FIRST_COPIES - 1)
			collector_cycle(r->c);
	}
	collector_cycle(r->c);
	account_begin(r->c);
	return rc;
}

static void run_in_turns(struct replay *r, uint32_t seconds)
{
	const uint32_t n = seconds * 1000 / STREAM_PART_MS;

	for (uint32_t i = 0; i < n; i++) {
		say(r, i);
		await(r);
		r->cycle_ns += STREAM_PART_MS * 1000000ull;
		if (r->cycle_ns < (uint64_t)r->c->cycle_ms * 1000000 && !ring_is_half_full(r))
			continue;
		r->cycle_ns = 0;
		one_cycle(r);
	}
	one_cycle(r);
}

static void run_free(struct replay *r, uint32_t seconds)
{
	const uint64_t start = clock_mono_ns(), end = start + seconds * 1000000000ull;
	uint64_t last = start;

	say(r, seconds * 1000 / STREAM_PART_MS);
	for (uint64_t now = start; now < end; now = clock_mono_ns()) {
		if (now - last < (uint64_t)r->c->cycle_ms * 1000000 && !ring_is_half_full(r)) {
			usleep(5000);
			continue;
		}
		last = now;
		one_cycle(r);
	}
	await(r);
	one_cycle(r);
}

static size_t n_mappings(const struct procs *ps, bool distinct, size_t *ret_procs)
{
	double n = 0;

	*ret_procs = 0;
	vec_each (p, &ps->v) {
		*ret_procs += !p->ended && p->tgid &&
			      procs_current(ps, p->tgid) == (uint32_t)(p - ps->v.v);
		if (p->maps)
			n += (double)p->maps->v.n / (distinct ? p->maps->n_refs : 1);
	}
	return (size_t)n;
}

static void report(struct replay *r, uint32_t seconds, struct err *err)
{
	const struct collector *c = r->c;
	const double before = cpu_s(), anon = status_mb("RssAnon:");
	const struct collector_stats s = collector_stats(c);
	double flush;
	struct wr out = {0};
	size_t n_procs, n_maps = n_mappings(&c->procs, false, &n_procs);
	const size_t n_distinct = n_mappings(&c->procs, true, &n_procs);

	collector_flush(r->c);
	flush = cpu_s() - before;
	segment_encode(&out, &r->profile, err);
	printf("{\"cpus\": %u, \"hz\": %u, \"seconds\": %u, \"processes\": %zu, \"mappings\": %zu, "
	       "\"mappings_own\": %zu, \"left_out\": %llu, \"samples\": %llu, \"dropped\": %llu, "
	       "\"chains\": %llu, \"chains_lost\": %llu, \"records\": %llu, \"records_lost\": "
	       "%llu, \"sideband_mb\": %.1f, \"unknown\": %llu, \"contexts\": %u, \"cycles\": %u, "
	       "\"cpu_s\": %.3f, \"longest_s\": %.3f, \"flush_s\": %.3f, \"encode_s\": %.3f, "
	       "\"segment_mb\": %.1f, \"anon_mb\": %.1f, \"peak_mb\": %.1f, \"feeder_late_s\": "
	       "%.3f}\n",
	       r->n_copies * r->n_cpus, r->hz, seconds, n_procs, n_maps, n_distinct,
	       (unsigned long long)s.n_left_out, (unsigned long long)r->n.n_samples,
	       (unsigned long long)r->n.n_dropped, (unsigned long long)r->n.n_chains,
	       (unsigned long long)r->n.n_chains_lost, (unsigned long long)r->n.n_records,
	       (unsigned long long)r->n.n_lost, (double)r->n.n_sideband_bytes / 1e6,
	       (unsigned long long)s.n_unknown, (unsigned)s.n_contexts, r->n_cycles, r->cpu_s,
	       r->longest_s, flush, cpu_s() - before - flush, (double)out.n / 1e6, anon,
	       status_mb("VmHWM:"), (double)r->n.n_late_ns / 1e9);
}

static int run(int argc, char **argv, struct err *err)
{
	static struct replay r;
	const uint32_t seconds = (uint32_t)atoi(argv[5]);
	int rc;

	r.path = argv[2];
	r.n_copies = (uint32_t)atoi(argv[3]);
	r.hz = (uint32_t)atoi(argv[4]);
	r.free = argc > 6;
	if (!r.n_copies || r.hz < HZ_LEAST || !seconds)
		return err_set(err, -EINVAL, "COPIES, HZ and SECONDS are at least 1");
	file_raise_limit();
	rc = look(&r, err);
	if (rc >= 0)
		rc = make_collector(&r, err);
	if (rc < 0)
		return rc;
	start_feeder(&r);
	rc = begin(&r, err);
	if (rc < 0)
		return rc;
	if (r.free)
		run_free(&r, seconds);
	else
		run_in_turns(&r, seconds);
	report(&r, seconds, err);
	close(r.to_feeder[1]);
	wait(NULL);
	return 0;
}

int main(int argc, char **argv)
{
	struct err err = {0};
	int rc = -EINVAL;

	if (argc == 5 && strcmp(argv[1], "record") == 0)
		rc = stream_record(argv[2], (uint32_t)atoi(argv[3]) * 1000 / STREAM_PART_MS,
				   (uint64_t)atoi(argv[4]), &err);
	else if ((argc == 6 || argc == 7) && strcmp(argv[1], "run") == 0)
		rc = run(argc, argv, &err);
	else
		err_set(&err, rc,
			"usage: bench_replay record FILE SECONDS HZ, or "
			"bench_replay run FILE COPIES HZ SECONDS [free]");
	if (rc < 0)
		fprintf(stderr, "bench_replay: %s\n", err.msg);
	return rc < 0 ? 2 : 0;
}
