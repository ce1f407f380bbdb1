/* SPDX-License-Identifier: BSD-2-Clause */
/* See sampling.h.  Sampling starts before anything slow is done: where modules and BPF programs are
 * is learnt when a sample fell outside of what was known. */
#include "daemon/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "collect/kernel_types.h"
#include "collect/log.h"
#include "confine/forker.h"
#include "daemon/layouts.h"
#include "daemon/readers.h"
#include "daemon/table_cache.h"
#include "machine/cpu_id.h"
#include "resolve/elf_probe.h"
#include "resolve/elf_unwind.h"
#include "resolve/file_symbols.h"
#include "resolve/image_symbols.h"
#include "resolve/kallsyms.h"

/* A descriptor with the vdso's image, for reading its symbols; -1. */
static int vdso_fd(void)
{
	size_t n;
	const uint8_t *bytes = image_vdso(&n);
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
	p->meta.cpu = profile_intern_str(p, cpu_id_own());
	if (uname(&u) < 0)
		return;
	p->meta.host = profile_intern_str(p, u.nodename);
	p->meta.kernel = profile_intern_str(p, u.release);
	p->meta.platform = profile_intern_str(p, u.machine);
}

/* The kernel's own code lies within this of its start: text of distribution kernels is 20 MiB. */
#define KERNEL_TEXT_BYTES (64ull << 20)

static void add_kernel_text(struct sampling *s, uint64_t start, uint64_t end, uint64_t svma)
{
	struct kernel_range range = {
		.start = start,
		.end = end,
		.svma = svma,
		.image = {.kind = IMAGE_KERNEL, .path = "[kernel]", .text_start = svma}};

	kallsyms_build_id("/sys", &range.image.build_id);
	s->kernel = range.image;
	collector_add_kernel(s->collector, &range);
}

/* Tells the collector where all kernel code is, modules and BPF programs too.  Takes tens of
 * milliseconds. */
static void add_all_kernel(struct sampling *s)
{
	struct kallsyms k = {0};

	if (kallsyms_load_layout(&k, "/proc", "/sys", NULL) < 0 || k.hidden) {
		kallsyms_release(&k);
		return;
	}
	add_kernel_text(s, k.text_start, k.text_end, k.text_start - k.slide);
	vec_each (part, &k.parts)
		collector_add_kernel(
			s->collector,
			&(struct kernel_range){.start = part->start,
					       .end = part->end,
					       .image = {.kind = part->kind,
							 .build_id = part->build_id,
							 .path = part->name,
							 .text_bytes = part->end - part->start}});
	kallsyms_release(&k);
}

static void add_module(void *ctx, const char *name, uint64_t start, uint64_t end)
{
	struct sampling *s = ctx;

	vec_push(&s->modules, (struct module_span){start, end});
}

static bool in_module(const struct sampling *s, uint64_t ip)
{
	vec_each (m, &s->modules)
		if (ip - m->start < m->end - m->start)
			return true;
	return false;
}

/* So many samples in code of no module and no program are worth reading /proc/kallsyms.  That file
 * has names for trampolines of BPF and of ftrace.  It has none for thunks that mitigations put
 * beside modules (arch/x86/kernel/alternative.c, its_allocate_thunk), nor for classic filters of
 * packets and system calls (kernel/bpf/core.c, bpf_prog_kallsyms_candidate). */
#define NAMELESS_MOST 1000

/* A sample was at IP, outside of what is known of the kernel.  Where programs are is told in a
 * millisecond, so that is asked for first. */
static bool learn_kernel(void *ctx, uint64_t ip)
{
	struct sampling *s = ctx;

	if (s->has_all_kernel)
		return false;
	if (!s->has_programs) {
		s->has_programs = true;
		kallsyms_each_module("/proc", add_module, s);
		if (collector_add_programs(s->collector))
			return true;
	} else if (!in_module(s, ip) && ++s->n_nameless < NAMELESS_MOST) {
		return false;
	}
	s->has_all_kernel = true;
	add_all_kernel(s);
	return true;
}

/* Tells it where the kernel itself is, which is nearly all. */
static void add_kernel(struct sampling *s)
{
	uint64_t start;

	if (kallsyms_find_text("/proc", &start) >= 0)
		add_kernel_text(s, start, start + KERNEL_TEXT_BYTES, kallsyms_link_start(start));
	collector_on_unknown_kernel(s->collector, learn_kernel, s);
}

/* The kernel's types as far as the programs use them: kept, or made to be kept; false: libbpf reads
 * them all. */
static bool open_types(struct kernel_types *ret)
{
	const uint64_t key = log_types_key();
	const uint8_t *bytes;
	struct file_map map;
	struct wr made = {0};
	bool is_open;
	size_t n;

	if (!key)
		return false;
	if (table_cache_load_machine(key, &map, &bytes, &n)) {
		is_open = kernel_types_open(ret, bytes, n, NULL) >= 0;
		file_map_close(&map);
		return is_open;
	}
	is_open = log_types_make(&made, NULL) >= 0 &&
		  kernel_types_open(ret, made.v, made.n, NULL) >= 0;
	if (is_open)
		table_cache_save_machine(key, made.v, made.n);
	wr_release(&made);
	return is_open;
}

int sampling_open(struct sampling *s, const struct collector_opts *opts, struct fact_defs *facts,
		  const char *command, struct err *err)
{
	struct collector_opts co = *opts;
	size_t n_vdso;
	const uint8_t *vdso = image_vdso(&n_vdso);
	struct unwind_table vdso_table = {0};
	struct kernel_types types = {.fd = -1};
	int rc;

	*s = (struct sampling){0};
	profile_init(&s->profile);
	add_meta(&s->profile, command);
	s->clock_offset_ns = (int64_t)(clock_wall_ns() - clock_mono_ns());
	co.clock_offset_ns = s->clock_offset_ns;
	co.probe = layouts_probe;
	if (n_vdso && elf_probe_bytes(vdso, n_vdso, &s->vdso, NULL) >= 0)
		co.vdso = &s->vdso;
	if (!co.tables.load)
		co.tables.load = readers_load_table;
	if (readers_live()) {
		co.wait_answers = readers_wait;
		co.tables.load = readers_load_table;
		co.tables.load_now = readers_load_table_now;
		co.tables.answer_fd = readers_fd;
		co.tables.take_answers = readers_step;
	}
	/* docs/design/unwind.md */
	co.tables.check_walks = getenv("DWELL_CHECK_WALKS") != NULL;
	co.tables.no_copies = getenv("DWELL_NO_COPIES") != NULL;
	s->has_calls = co.calls != CALLS_NONE;
	if (s->has_calls && n_vdso && elf_unwind_load_bytes(vdso, n_vdso, &vdso_table, NULL) >= 0)
		co.tables.vdso = &vdso_table;
	co.facts = sample_facts_init(&s->facts, "/proc");
	s->facts.defs = facts;
	rc = facts ? fact_defs_name(facts, &s->profile, err) : 0;
	if (rc >= 0 && geteuid() == 0 && co.engine != ENGINE_RING && open_types(&types))
		co.types = &types;
	if (rc >= 0)
		rc = collector_open(&co, &s->profile, &s->collector, err);
	if (rc >= 0)
		readers_without_scripts(co.engine == ENGINE_RING ||
					*collector_why_not_bpf(s->collector));
	unwind_table_release(&vdso_table);
	kernel_types_close(&types);
	if (rc >= 0)
		collector_add_source(s->collector, generated_init(&s->generated));
	return rc;
}

int sampling_prepare(struct sampling *s, struct err *err)
{
	int rc = collector_prepare(s->collector, err);

	if (rc >= 0)
		add_kernel(s);
	return rc;
}

void sampling_go(struct sampling *s)
{
	collector_go(s->collector);
}

int sampling_start(struct sampling *s, struct err *err)
{
	int rc = sampling_prepare(s, err);

	if (rc >= 0)
		sampling_go(s);
	return rc;
}

void sampling_cycle(struct sampling *s)
{
	collector_cycle(s->collector);
	containers_look(&s->containers, &s->profile, 0);
}

/* Answers about containers are waited for so long. */
#define CONTAINERS_WAIT_NS (uint64_t)1000000000

void sampling_settle(struct sampling *s, const char *images_dir)
{
	struct symbol_sources symbols;

	symbol_sources_init(&symbols, images_dir);
	generated_settle(&s->generated, collector_procs(s->collector), &symbols);
	symbol_sources_release(&symbols);
	collector_flush(s->collector);
	containers_look(&s->containers, &s->profile, CONTAINERS_WAIT_NS);
}

/* Whether number I was saved, or cannot be: it may be set. */
static bool *is_saved(bool_list *saved, size_t i)
{
	return vec_at(saved, i);
}

/* Is this the first time number I is to be saved? */
static bool take_turn(bool_list *saved, size_t i)
{
	bool *is = is_saved(saved, i);
	bool first = !*is;

	*is = true;
	return first;
}

static void save_vdso(struct sampling *s, struct symbol_sources *symbols,
		      const struct mapped_code *c)
{
	_fd_ int fd = *is_saved(&s->saved, c->image) ? -1 : vdso_fd();

	if (fd >= 0 && take_turn(&s->saved, c->image))
		image_symbols_save(symbols, &s->profile.images.v[c->image], fd, NULL);
}

/* Asks a child for the symbols of C, which is IM, and of its debug file; where these are too much
 * for it, for its own. */
static int ask_symbols(const struct symbol_sources *symbols, const struct mapped_code *c,
		       const struct image *im, struct file_map *ret)
{
	const kept_ranges none = {0};
	struct wr question = {0};
	struct file_note note;
	int rc;

	if (!readers_was_asked(READ_SYMBOLS, c->fd))
		keep_question(im, table_cache_knows(c->fd, im, &note), NULL, &none, true,
			      CONFINE_MAX_ARG, &question);
	rc = readers_ask(READ_SYMBOLS, c->fd, question.v, question.n, 0, ret, NULL);
	if (rc == -EPROTO && image_symbols_has_debug(symbols, im))
		rc = readers_ask(READ_SYMBOLS_BARE, c->fd, question.v, question.n, 0, ret, NULL);
	wr_release(&question);
	return rc;
}

/* Asks a child for the symbols of C and keeps its answer; -EAGAIN while there is none. */
static int save_by_reader(struct sampling *s, struct symbol_sources *symbols,
			  const struct mapped_code *c)
{
	const struct image *im = &s->profile.images.v[c->image];
	struct file_map m = {0};
	const uint8_t *bytes;
	size_t n;
	int rc;

	if (!image_symbols_wanted(symbols, im))
		return 0;
	rc = ask_symbols(symbols, c, im, &m);
	if (rc < 0)
		return rc;
	bytes = readers_answer(&m, &n);
	rc = image_symbols_keep(symbols, im, file_symbols_believed_on(c->fd, readers_nosuid()),
				bytes, n, NULL);
	file_map_close(&m);
	return rc;
}

/* Whether the symbols of code NUMBER are not saved yet and can be. */
static bool waits_for_symbols(const struct sampling *s, size_t number)
{
	const struct mapped_code *c = &collector_images(s->collector)->codes.v[number];

	return c->sampled && c->kind == CODE_FILE && c->fd >= 0 && !c->asked &&
	       !(number < s->saved_files.n && s->saved_files.v[number]);
}

/* Names are kept while this part of the file system is free, and this many bytes: the last ones are
 * for samples, and for what else the machine does.  Users make programs with as many names as they
 * like, and new ones each second: no file that they write may fill a disk of root's. */
#define NAMES_ROOM_PART	 20
#define NAMES_ROOM_LEAST ((uint64_t)32 << 20)
#define NAMES_ROOM_MOST	 ((uint64_t)1 << 30) /* enough for others on the largest disk */

static uint64_t names_room(int dir)
{
	struct statvfs fs;
	const uint64_t part =
		fstatvfs(dir, &fs) < 0 ? 0 : (uint64_t)fs.f_blocks * fs.f_frsize / NAMES_ROOM_PART;

	return part < NAMES_ROOM_LEAST	? NAMES_ROOM_LEAST
	       : part > NAMES_ROOM_MOST ? NAMES_ROOM_MOST
					: part;
}

/* Whether there is room for names below IMAGES_DIR; says when there is none. */
static bool has_room(struct sampling *s, const char *images_dir)
{
	_fd_ int dir = open(images_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const uint64_t room = dir < 0 ? 0 : names_room(dir);
	const bool has = dir < 0 || file_has_room(dir, room);

	if (!has && !s->said_room)
		readers_say("%s: less than %u MiB are free: names of programs are not kept until "
			    "there is more",
			    images_dir, (unsigned)(room >> 20));
	s->said_room = !has;
	return has;
}

/* Saves the symbols of files as far as they are read; returns of how many they are not yet. */
static size_t save_files(struct sampling *s, struct symbol_sources *symbols)
{
	const struct images *images = collector_images(s->collector);
	size_t n_late = 0;

	vec_each (c, &images->codes) {
		const size_t number = (size_t)(c - images->codes.v);

		if (!waits_for_symbols(s, number))
			continue;
		if (!has_room(s, symbols->cache_dir))
			break;
		if (!readers_live())
			image_symbols_save(symbols, &s->profile.images.v[c->image], c->fd, NULL);
		else if (save_by_reader(s, symbols, c) == -EAGAIN) {
			n_late++;
			continue;
		}
		*is_saved(&s->saved_files, number) = true;
	}
	return n_late;
}

/* Symbols come first, for they tell where procedures are.  PLACES: those with samples. */
static size_t save_all(struct sampling *s, struct symbol_sources *symbols,
		       const sampled_places *places)
{
	const struct images *images = collector_images(s->collector);
	size_t n_late = save_files(s, symbols);

	if (!images->codes.n || s->names_only)
		return n_late;
	is_saved(&s->saved_files, images->codes.n - 1);
	return n_late + keep_code(&s->kept, &s->profile, places, images, s->saved_files.v,
				  symbols->cache_dir);
}

void sampling_save_kernel(struct sampling *s, const char *images_dir)
{
	struct symbol_sources symbols;

	if (!s->kernel.build_id.n_bytes || !has_room(s, images_dir))
		return;
	symbol_sources_init(&symbols, images_dir);
	image_symbols_save(&symbols, &s->kernel, -1, NULL);
	symbol_sources_release(&symbols);
}

/* What cannot be asked yet is asked again after so long: its file system is slow, or its child
 * lacked CPU time. */
#define ASK_AGAIN_NS (uint64_t)500000000

/* An answer may come while save_all asks about other files, after its own file's turn.  N_CAME
 * tells; nothing else would end the wait for it. */
size_t sampling_save_symbols(struct sampling *s, const char *images_dir, uint64_t wait_ns)
{
	const struct images *images = collector_images(s->collector);
	struct symbol_sources symbols;
	sampled_places places = {0};
	uint64_t end_ns, n_came;
	size_t n_late;

	if (!has_room(s, images_dir))
		return 0;
	if (s->kept.has_notes)
		keep_code_open(&s->kept, &s->profile, images, &places);
	else if (!s->names_only)
		sampled_places_of(&s->profile, &places);
	symbol_sources_init(&symbols, images_dir);
	n_came = readers_step();
	n_late = save_all(s, &symbols, &places); /* asks for all */
	vec_each (c, &images->codes)
		if (c->sampled && c->kind == CODE_VDSO)
			save_vdso(s, &symbols, c);
	vec_each (i, &s->profile.images)
		if ((i->kind == IMAGE_KERNEL || i->kind == IMAGE_MODULE || i->kind == IMAGE_BPF) &&
		    !*is_saved(&s->saved, (size_t)(i - s->profile.images.v)) &&
		    has_room(s, images_dir) &&
		    take_turn(&s->saved, (size_t)(i - s->profile.images.v)))
			image_symbols_save(&symbols, i, -1, NULL);
	generated_save(&s->generated, collector_procs(s->collector), &symbols);
	end_ns = clock_mono_ns() + wait_ns;
	while (n_late && clock_mono_ns() < end_ns) {
		if (readers_step() == n_came)
			readers_wait(clock_mono_ns() + ASK_AGAIN_NS);
		n_came = readers_step();
		n_late = save_all(s, &symbols, &places);
	}
	symbol_sources_release(&symbols);
	vec_release(&places);
	return s->n_late = n_late;
}

bool sampling_is_late(const struct sampling *s, const struct image *im)
{
	const struct images *images = collector_images(s->collector);

	for (size_t i = 0; s->n_late && i < images->codes.n; i++) {
		const struct mapped_code *c = &images->codes.v[i];
		const struct image *of = &s->profile.images.v[c->image];

		if (waits_for_symbols(s, i) && build_id_same(&of->build_id, &im->build_id) &&
		    image_digest_same(of->digest, im->digest))
			return true;
	}
	return false;
}

size_t sampling_bytes(const struct sampling *s)
{
	return profile_bytes(&s->profile) + collector_stats(s->collector).n_bytes;
}

void sampling_release(struct sampling *s)
{
	collector_close(s->collector);
	s->collector = NULL;
	generated_release(&s->generated);
	containers_release(&s->containers);
	vec_release(&s->modules);
	vec_release(&s->saved);
	vec_release(&s->saved_files);
	keep_code_release(&s->kept);
	profile_release(&s->profile);
}
