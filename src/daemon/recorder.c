/* SPDX-License-Identifier: BSD-2-Clause */
/* See recorder.h.
 *
 * Sampling starts before anything slow is done: the epoch is made and the processes are listed
 * while samples already collect in the log.  The profile keeps everything; a flush stores it whole
 * in place of the last one, after FIRST_FLUSH_NS and then at twice the time before, at least every
 * MOST_FLUSH_NS.  So all flushes together cost about as much as the last, and a crash no more than
 * half of the recording, or a minute. */
#include "daemon/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "daemon/generated.h"
#include "resolve/elf_probe.h"
#include "resolve/elf_unwind.h"
#include "resolve/kallsyms.h"
#include "resolve/resolver.h"
#include "store/store.h"

#define FIRST_FLUSH_NS (2ull * 1000000000)
#define MOST_FLUSH_NS  (60ull * 1000000000)

struct recorder {
	struct collector *collector;
	struct profile profile; /* all of the recording */
	struct generated generated;
	struct store *store;
	char *db, *epoch, *images_dir;
	struct image_layout vdso;
	int64_t clock_offset_ns; /* wall clock minus CLOCK_MONOTONIC at the start */
	uint64_t flush_ns;	 /* when the next flush is due, CLOCK_MONOTONIC */
	uint64_t interval_ns;	 /* between the last one and that */
	bool has_calls;
	struct recorder_summary summary;
};

/* The vdso mapped into this process, which all 64-bit processes share: its size is told by no
 * header, so its mapping is looked for. */
static size_t vdso_bytes(const uint8_t **ret)
{
	unsigned long long start, end;
	char *text;
	size_t n = 0;

	*ret = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* vdso(7) */
	if (!*ret || file_load("/proc/self/maps", 1 << 24, &text, NULL, NULL) < 0)
		return 0;
	for (char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "%llx-%llx", &start, &end) == 2 && start == (uintptr_t)*ret)
			n = (size_t)(end - start);
	}
	free(text);
	return n;
}

/* A descriptor with the vdso's image, for reading its symbols; -1. */
static int vdso_fd(void)
{
	const uint8_t *bytes;
	size_t n = vdso_bytes(&bytes);
	int fd = n ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	if (fd >= 0 && file_write_all(fd, bytes, n) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void add_meta(struct profile *p, const char *command)
{
	struct utsname u;

	p->meta.command = profile_intern_str(p, command);
	if (uname(&u) < 0)
		return;
	p->meta.host = profile_intern_str(p, u.nodename);
	p->meta.kernel = profile_intern_str(p, u.release);
	p->meta.platform = profile_intern_str(p, u.machine);
}

/* The kernel's own code lies within this of its start: text of distribution kernels is 20 MiB. */
#define KERNEL_TEXT_BYTES (64ull << 20)

static void add_kernel_text(struct recorder *r, uint64_t start, uint64_t end, uint64_t svma)
{
	struct kernel_range range = {
		.start = start,
		.end = end,
		.svma = svma,
		.image = {.kind = IMAGE_KERNEL, .path = "[kernel]", .text_start = svma}};

	kallsyms_build_id("/sys", &range.image.build_id);
	collector_add_kernel(r->collector, &range);
}

/* Tells the collector where all kernel code is, modules and BPF programs too.  Takes tens of
 * milliseconds: done when a sample fell outside of what was known. */
static void learn_kernel(void *ctx)
{
	struct recorder *r = ctx;
	struct kallsyms k = {0};

	if (kallsyms_load_layout(&k, "/proc", "/sys", NULL) < 0 || k.hidden) {
		kallsyms_release(&k);
		return;
	}
	add_kernel_text(r, k.text_start, k.text_end, k.text_start - k.slide);
	vec_each (part, &k.parts)
		collector_add_kernel(
			r->collector,
			&(struct kernel_range){.start = part->start,
					       .end = part->end,
					       .image = {.kind = part->kind,
							 .build_id = part->build_id,
							 .path = part->name,
							 .text_bytes = part->end - part->start}});
	kallsyms_release(&k);
}

/* Tells it where the kernel itself is, which is nearly all. */
static void add_kernel(struct recorder *r)
{
	uint64_t start;

	if (kallsyms_find_text("/proc", &start) == 0)
		add_kernel_text(r, start, start + KERNEL_TEXT_BYTES, kallsyms_link_start(start));
	collector_on_unknown_kernel(r->collector, learn_kernel, r);
}

static int make_store(struct recorder *r, const struct recorder_opts *opts, struct err *err)
{
	struct store_opts o = {
		.host = profile_str(&r->profile, r->profile.meta.host),
		.label = opts->collect.label,
		.clock_offset_ns = r->clock_offset_ns,
	};
	int rc = store_create(opts->db, &o, &r->store, err);

	if (rc < 0)
		return rc;
	r->db = xstrdup(opts->db);
	r->epoch = xstrdup(store_epoch(r->store));
	r->images_dir = store_images_dir(opts->db, true, err);
	return r->images_dir ? 0 : -EIO;
}

int recorder_start(const struct recorder_opts *opts, struct recorder **ret, struct err *err)
{
	struct recorder *r = xcalloc(1, sizeof(*r));
	struct collector_opts co = opts->collect;
	const uint8_t *vdso;
	size_t n_vdso = vdso_bytes(&vdso);
	struct unwind_table vdso_table = {0};
	int rc;

	profile_init(&r->profile);
	add_meta(&r->profile, opts->command);
	r->clock_offset_ns = (int64_t)(clock_wall_ns() - clock_mono_ns());
	co.clock_offset_ns = r->clock_offset_ns;
	co.probe = elf_probe;
	if (n_vdso && elf_probe_bytes(vdso, n_vdso, &r->vdso, NULL) == 0)
		co.vdso = &r->vdso;
	co.tables.load = elf_unwind_load;
	co.tables.check_walks = getenv("DWELL_CHECK_WALKS") != NULL; /* docs/design/unwind.md */
	r->has_calls = co.calls != CALLS_NONE;
	if (r->has_calls && n_vdso && elf_unwind_load_bytes(vdso, n_vdso, &vdso_table, NULL) == 0)
		co.tables.vdso = &vdso_table;
	rc = collector_open(&co, &r->profile, &r->collector, err);
	unwind_table_release(&vdso_table);
	if (rc >= 0)
		collector_add_source(r->collector, generated_init(&r->generated));
	if (rc >= 0)
		rc = collector_start(r->collector, err);
	if (rc >= 0)
		rc = make_store(r, opts, err);
	if (rc < 0) {
		recorder_free(r);
		return rc;
	}
	add_kernel(r);
	r->interval_ns = FIRST_FLUSH_NS;
	r->flush_ns = clock_mono_ns() + r->interval_ns;
	*ret = r;
	return 0;
}

static int flush(struct recorder *r, struct err *err)
{
	struct resolver_opts o = {.cache_dir = r->images_dir};
	struct resolver *resolver = resolver_new(&o);

	generated_settle(&r->generated, collector_procs(r->collector), resolver);
	resolver_free(resolver);
	r->interval_ns = r->interval_ns * 2 < MOST_FLUSH_NS ? r->interval_ns * 2 : MOST_FLUSH_NS;
	r->flush_ns = clock_mono_ns() + r->interval_ns;
	collector_flush(r->collector);
	return store_replace(r->store, &r->profile, err);
}

int recorder_step(struct recorder *r, int timeout_ms, struct err *err)
{
	bool due;

	collector_wait(r->collector, timeout_ms);
	due = clock_mono_ns() >= r->flush_ns;
	if (due)
		collector_take_sums(r->collector);
	collector_cycle(r->collector);
	return due ? flush(r, err) : 0;
}

/* Symbols of all that was sampled, while the files are still open or there. */
static void save_symbols(struct recorder *r)
{
	const struct images *images = collector_images(r->collector);
	struct resolver_opts o = {.cache_dir = r->images_dir};
	struct resolver *resolver = resolver_new(&o);

	vec_each (c, &images->codes) {
		_fd_ int vdso = -1;
		int fd = c->fd;

		if (!c->sampled || c->kind == CODE_ANON)
			continue;
		if (c->kind == CODE_VDSO)
			fd = vdso = vdso_fd();
		if (fd >= 0)
			resolver_save(resolver, &r->profile.images.v[c->image], fd, NULL);
	}
	vec_each (i, &r->profile.images)
		if (i->kind == IMAGE_KERNEL || i->kind == IMAGE_MODULE || i->kind == IMAGE_BPF)
			resolver_save(resolver, i, -1, NULL);
	generated_save(&r->generated, collector_procs(r->collector), resolver);
	resolver_free(resolver);
}

static void summarise(struct recorder *r)
{
	const struct profile *p = &r->profile;

	for (event_id i = 0; i < p->events.n; i++)
		vec_push(&r->summary.events,
			 (struct recorder_event){.event = p->events.v[i],
						 .name = profile_str(p, p->events.v[i].name),
						 .is_time = event_is_time(p, &p->events.v[i]),
						 .n_lost = profile_n_lost(p, i),
						 .calls = collector_chain_counts(r->collector, i)});
	vec_each (v, &p->values) {
		struct recorder_event *e = &r->summary.events.v[v->event];

		e->n_stored += v->count;
		e->n_ns += e->is_time ? v->sum : 0;
		if (p->owners.v[v->owner].flags & OWNER_IDLE)
			e->n_idle += v->count;
		if (p->images.v[profile_leaf(p, v->ctx)->image].kind == IMAGE_UNKNOWN)
			e->n_unknown += v->count;
	}
	vec_each (e, &r->summary.events)
		e->n_not_delivered = event_not_delivered(&e->event, e->n_idle);
	r->summary.profile = p;
	r->summary.has_calls = r->has_calls;
}

static int take_bytes(void *ctx, const struct store_recording *rec)
{
	*(uint64_t *)ctx += rec->n_bytes;
	return 0;
}

/* Closes the store and asks it what the recording takes on disk. */
static int close_store(struct recorder *r, struct err *err)
{
	struct store_selection sel = {.epochs = r->epoch,
				      .host = profile_str(&r->profile, r->profile.meta.host)};
	int rc = store_close(r->store, err);

	r->store = NULL;
	if (rc < 0)
		return rc;
	store_list(r->db, &sel, take_bytes, &r->summary.n_bytes, NULL);
	r->summary.epoch = r->epoch;
	return 0;
}

int recorder_stop(struct recorder *r, struct err *err)
{
	int rc;

	collector_stop(r->collector);
	rc = flush(r, err);
	if (rc < 0)
		return rc;
	save_symbols(r);
	summarise(r);
	return close_store(r, err);
}

const struct recorder_summary *recorder_summary(const struct recorder *r)
{
	return &r->summary;
}

const struct collector *recorder_collector(const struct recorder *r)
{
	return r->collector;
}

void recorder_free(struct recorder *r)
{
	if (!r)
		return;
	store_discard(r->store); /* still open: the recording did not get far */
	collector_close(r->collector);
	generated_release(&r->generated);
	vec_release(&r->summary.events);
	profile_release(&r->profile);
	free(r->images_dir);
	free(r->db);
	free(r->epoch);
	free(r);
}
