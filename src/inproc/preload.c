/* SPDX-License-Identifier: BSD-2-Clause */
/* libdwell-preload.so: a histogram of everything an unmodified program executes.
 *
 * It begins before main(), counts places of images in a histogram file (shared.h), and turns that
 * into DCPI profile files when the program exits.  A program that ends otherwise leaves the file to
 * `dwell`.  A new process has a file of its own.  The file is made when there is something to
 * count: most processes end before their first tick, and files cost them more than all else.
 *
 * A pc in no mapping known so far makes it read the process's maps again, at most once for all
 * rings of a round: so libraries that are loaded later are noticed.  Before dlclose(3) what was
 * counted is taken in, since another library may come to the same addresses. */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/lower_bound.h"
#include "inproc/drain.h"
#include "inproc/finish.h"
#include "inproc/mapped.h"
#include "inproc/preload.h"
#include "inproc/settings.h"
#include "inproc/shared.h"

enum { DEFAULT_HZ = 1000, MAX_BUCKET_BYTES = 65536, N_SLOTS = 1 << 20, MAX_RANGES = 1 << 16 };

/* Mapped code. */
struct range {
	uint64_t start, end, svma, off, ino, dev;
	uint32_t image;
};

static struct {
	struct sink sink;
	struct shared file;
	struct shared_header facts;
	char dir[PATH_MAX];
	pid_t pid;		       /* of the process that is profiled; 0: none */
	struct range *ranges, *before; /* MAX_RANGES each; only what is used takes memory */
	uint32_t n_ranges, n_before, last;
	bool refreshed;	     /* in this round */
	bool has_no_file;    /* it could not be made, which was said */
	_Atomic(bool) stale; /* something was unloaded */
} preload;

static uint64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What is mapped. */

/* A mapping that is as it was before is still that image. */
static bool same_as_before(const struct loaded_mapping *m, struct range *ret)
{
	uint32_t n = lower_bound(i, 0, preload.n_before, preload.before[i].start < m->start);

	if (n == preload.n_before || preload.before[n].start != m->start)
		return false;
	*ret = preload.before[n];
	ret->end = m->end;
	return ret->off == m->off && ret->ino == m->ino && ret->dev == m->dev;
}

static void take_mapping(void *ctx, const struct loaded_mapping *m)
{
	struct range r = {m->start, m->end, 0, m->off, m->ino, m->dev, 0};
	struct loaded_code code;

	(void)ctx;
	if (!m->is_code || preload.n_ranges == MAX_RANGES || strcmp(m->path, "[vsyscall]") == 0)
		return;
	if (!same_as_before(m, &r)) {
		int image;

		mapped_describe(m, &code);
		r.svma = code.svma;
		image = shared_add_image(&preload.file, &code,
					 code.kind == CODE_ANON ? "[anon]" : m->path);
		if (image < 0)
			return;
		r.image = (uint32_t)image;
	}
	preload.ranges[preload.n_ranges++] = r;
}

static void refresh(void)
{
	struct range *r = preload.before;

	preload.before = preload.ranges;
	preload.n_before = preload.n_ranges;
	preload.ranges = r;
	preload.n_ranges = preload.last = 0;
	preload.refreshed = true;
	atomic_store(&preload.stale, false);
	mapped_each(take_mapping, NULL);
}

static const struct range *find_range(uint64_t pc)
{
	uint32_t n;

	if (preload.last < preload.n_ranges && preload.ranges[preload.last].start <= pc &&
	    pc < preload.ranges[preload.last].end)
		return &preload.ranges[preload.last];
	/* the first range that ends behind pc */
	n = lower_bound(i, 0, preload.n_ranges, preload.ranges[i].end <= pc);
	if (n == preload.n_ranges || pc < preload.ranges[n].start)
		return NULL;
	preload.last = n;
	return &preload.ranges[n];
}

/* As the dynamic linker does of what it cannot preload. */
static void preload_complain(int e)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "dwell-preload: %s is not profiled: %s%s\n",
			 program_invocation_short_name, strerror(-e),
			 e == -EINVAL || e == -ENOENT ? " (see dwell-preload(1), ENVIRONMENT)"
						      : "");

	if (n > 0 && write(2, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1) < 0)
		return; /* there is nobody to tell */
}

/* Counting. */

/* The file's header; makes the file if there is none yet.  NULL: it cannot be made. */
static struct shared_header *header(void)
{
	int e;

	if (preload.file.header || preload.has_no_file)
		return preload.file.header;
	e = shared_create(&preload.file, preload.dir, &preload.facts, N_SLOTS);
	if (e < 0) {
		preload.has_no_file = true;
		preload_complain(e);
	}
	return preload.file.header;
}

static void count_tick(void *ctx, uint64_t pc, uint64_t n_ticks)
{
	struct shared_header *h = header();
	const struct range *r;

	(void)ctx;
	if (!h)
		return;
	if (atomic_load_explicit(&preload.stale, memory_order_relaxed))
		refresh();
	r = find_range(pc);
	if (!r && !preload.refreshed) {
		refresh();
		r = find_range(pc);
	}
	if (r)
		shared_count(&preload.file, r->image,
			     (pc - r->start + r->svma) & ~(uint64_t)(h->bucket_bytes - 1), n_ticks);
	else
		h->n_outside += n_ticks;
}

/* Where the file would be, and what is mapped, may be out of reach from now on. */
static void make_file_now(struct sink *s)
{
	(void)s;
	if (!preload.file.header && header())
		refresh();
}

static void end_round(struct sink *s)
{
	const struct drain_totals t = drain_totals(s);
	struct shared_header *h =
		t.n_ticks || t.n_unplaced || s->n_missed ? header() : preload.file.header;

	if (!h)
		return;
	h->end_ns = wall_ns();
	h->n_missed = s->n_missed;
	h->n_moved = t.n_moved;
	h->n_unplaced = t.n_unplaced;
	preload.refreshed = false;
}

/* Beginning and end. */

static int preload_begin(void)
{
	int e;

	preload.facts.pid = (uint32_t)getpid();
	preload.facts.start_ns = preload.facts.end_ns = wall_ns();
	if (!preload.facts.epoch_s)
		preload.facts.epoch_s = preload.facts.start_ns / 1000000000;
	preload.n_ranges = preload.n_before = 0;
	preload.refreshed = preload.has_no_file = false;
	e = drain_add(&preload.sink);
	if (e < 0)
		return e;
	preload.pid = getpid();
	return 0;
}

static void begin_in_child(struct sink *s)
{
	(void)s;
	shared_forget(&preload.file);
	preload.pid = 0;
	preload_begin();
}

static void *memory(size_t n_bytes)
{
	void *p = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* DIR, made if need be, as an absolute path; programs started from here get it too. */
static int settle_dir(void)
{
	const char *dir = getenv("DWELL_PRELOAD_DIR");
	char digits[24];

	if (!dir || !*dir)
		dir = "dwell-profiles";
	if (mkdir(dir, 0777) < 0 && errno != EEXIST)
		return -errno;
	if (!realpath(dir, preload.dir) || access(preload.dir, W_OK | X_OK) < 0)
		return -errno;
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)preload.facts.epoch_s);
	setenv("DWELL_PRELOAD_DIR", preload.dir, 1);
	setenv("DWELL_PRELOAD_EPOCH", digits, 1);
	return 0;
}

/* Names, cut where they are too long. */
static void settle_texts(const struct settings *s)
{
	struct shared_header *f = &preload.facts;

	snprintf(f->event, sizeof(f->event), "%s", s->event);
	if (gethostname(f->host, sizeof(f->host) - 1) < 0)
		memcpy(f->host, "localhost", sizeof("localhost"));
	snprintf(f->command, sizeof(f->command), "%s", program_invocation_name);
}

static int preload_settle(struct settings *s)
{
	uint64_t bucket_bytes;
	int e = settings_from_environment(DEFAULT_HZ, s);

	if (e >= 0)
		e = settings_number("DWELL_PRELOAD_BUCKET", &bucket_bytes);
	if (e >= 0)
		e = settings_number("DWELL_PRELOAD_EPOCH", &preload.facts.epoch_s);
	if (e < 0)
		return e;
	if (bucket_bytes > MAX_BUCKET_BYTES || bucket_bytes & (bucket_bytes - 1))
		return -EINVAL;
	preload.facts.bucket_bytes = bucket_bytes ? (uint32_t)bucket_bytes : 1;
	preload.facts.period = s->spec.period;
	preload.facts.is_clock = s->spec.is_clock;
	settle_texts(s);
	if (!preload.facts.epoch_s)
		preload.facts.epoch_s = wall_ns() / 1000000000;
	e = settle_dir();
	if (e < 0)
		return e;
	preload.ranges = memory(MAX_RANGES * sizeof(struct range));
	preload.before = memory(MAX_RANGES * sizeof(struct range));
	return preload.ranges && preload.before ? 0 : -ENOMEM;
}

static void end(void);

__attribute__((constructor)) static void start(void)
{
	struct settings s;
	int saved = errno, e;

	drain_lock();
	e = preload_settle(&s);
	if (e >= 0) {
		preload.sink = (struct sink){.spec = s.spec,
					     .all_threads = true,
					     .tick = count_tick,
					     .after = end_round,
					     .reborn = begin_in_child,
					     .leaving = make_file_now};
		e = preload_begin();
	}
	drain_unlock();
	if (e < 0)
		preload_complain(e);
	else
		at_quick_exit(end); /* quick_exit(3) runs no destructors */
	errno = saved;
}

static void preload_finish(void)
{
	struct shared_view v;
	const char *why;

	drain_remove(&preload.sink);
	if (preload.file.header &&
	    shared_view_open(&v, preload.file.header, preload.file.n_bytes, &why) >= 0 &&
	    finish_write(&v, preload.dir) >= 0)
		unlink(preload.file.path);
	shared_close(&preload.file);
	preload.pid = 0;
}

__attribute__((destructor)) static void end(void)
{
	drain_lock();
	if (preload.pid && preload.pid == getpid())
		preload_finish();
	drain_unlock();
}

void preload_take_in(void)
{
	if (!drain_lock_soon())
		return;
	if (preload.pid && preload.pid == getpid()) /* not a child of vfork(2) */
		drain_now(&preload.sink);
	drain_unlock();
}

void preload_unloaded(void)
{
	atomic_store(&preload.stale, true);
}

void preload_change_root(void)
{
	if (!drain_lock_soon())
		return;
	if (preload.pid && preload.pid == getpid())
		make_file_now(&preload.sink);
	drain_unlock();
}

bool preload_pause(void)
{
	bool was_on = false;

	if (!drain_lock_soon())
		return false;
	if (preload.pid && preload.pid == getpid()) {
		preload_finish();
		was_on = true;
	}
	drain_unlock();
	return was_on;
}

void preload_go_on(void)
{
	drain_lock();
	preload_begin();
	drain_unlock();
}
