/* SPDX-License-Identifier: BSD-2-Clause */
/* See resolver.h.  One entry per image identity, found through an index; entries are separate
 * allocations, so that pointers handed out stay.  Where symbols come from is image_symbols.c's. */
#include "resolve/resolver.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "resolve/demangle.h"
#include "resolve/elf_probe.h"
#include "resolve/resolver_impl.h"

static const struct symtab no_symbols;

static char **copy_texts(const char *const *texts, size_t n)
{
	char **copies = xcalloc(n + 1, sizeof(*copies));

	for (size_t i = 0; i < n; i++)
		copies[i] = xstrdup(texts[i]);
	return copies;
}

/* Frees COPIES, which end with NULL. */
static void free_texts(char **copies)
{
	for (char **s = copies; *s; s++)
		free(*s);
	free(copies);
}

struct resolver *resolver_new(const struct resolver_opts *opts)
{
	struct resolver *r = xcalloc(1, sizeof(*r));

	r->no_rest = opts->no_rest;
	r->is_late = opts->is_late;
	r->late_ctx = opts->late_ctx;
	r->n_looks = 1;
	r->cache_dir = opts->cache_dir ? xstrdup(opts->cache_dir) : NULL;
	r->proc_dir = xstrdup(opts->proc_dir ? opts->proc_dir : "/proc");
	r->sys_dir = xstrdup(opts->sys_dir ? opts->sys_dir : "/sys");
	r->debug_root = xstrdup(opts->debug_root ? opts->debug_root : SYMBOLS_DEBUG_ROOT);
	r->paths = copy_texts(opts->paths, opts->n_paths);
	r->more_caches = copy_texts(opts->more_caches, opts->n_more_caches);
	r->sources = (struct symbol_sources){
		.where = {.extra = (const char *const *)r->paths,
			  .n_extra = opts->n_paths,
			  .debug_root = r->debug_root,
			  .debuginfod = opts->use_debuginfod ? debuginfod_new() : NULL},
		.cache_dir = r->cache_dir,
		.more_caches = (const char *const *)r->more_caches,
		.n_more_caches = opts->n_more_caches,
		.proc_dir = r->proc_dir,
		.sys_dir = r->sys_dir,
		.no_save = opts->no_save,
		.kept_only = opts->kept_only,
	};
	return r;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	vec_each (e, &r->entries) {
		image_symbols_release(&(*e)->symbols);
		data_symbols_release(&(*e)->data);
		lines_close((*e)->lines);
		lines_close((*e)->kept_scopes);
		resolver_entry_close_code(*e);
		kept_code_release(&(*e)->kept);
		free((*e)->names[0]);
		free((*e)->names[1]);
		free((*e)->path);
		vec_release(&(*e)->scripts);
		symtab_builder_release(&(*e)->script_names);
		free((*e)->note);
		free(*e);
	}
	vec_release(&r->entries);
	index_release(&r->by_identity);
	arena_release(&r->arena);
	frames_release(&r->frames);
	loop_cache_release(&r->loops);
	free_texts(r->paths);
	free_texts(r->more_caches);
	debuginfod_free(r->sources.where.debuginfod);
	kallsyms_release(&r->sources.kallsyms);
	free(r->cache_dir);
	free(r->proc_dir);
	free(r->sys_dir);
	free(r->debug_root);
	free(r);
}

static uint64_t identity_hash(enum image_kind kind, const struct build_id *id, const char *path)
{
	return id->n_bytes ? hash_pair(hash_bytes(id->bytes, id->n_bytes), kind)
			   : hash_pair(hash_str(path), kind);
}

static bool entry_same(const void *owner, uint32_t i, const void *key)
{
	const struct resolver_entry *e = ((const struct resolver *)owner)->entries.v[i];
	const struct image *im = key;

	return e->kind == im->kind && e->by_offset == !!(im->flags & IMAGE_OFFSETS) &&
	       build_id_same(&e->build_id, &im->build_id) &&
	       image_digest_same(e->digest, im->digest) &&
	       (im->build_id.n_bytes || strcmp(e->path, im->path ? im->path : "") == 0);
}

static struct resolver_entry *entry_add(struct resolver *r, const struct image *im, uint64_t hash)
{
	struct resolver_entry *e = xcalloc(1, sizeof(*e));

	e->kind = im->kind;
	e->by_offset = im->flags & IMAGE_OFFSETS;
	e->build_id = im->build_id;
	memcpy(e->digest, im->digest, sizeof(e->digest));
	e->path = xstrdup(im->path ? im->path : "");
	vec_push(&r->entries, e);
	index_add(&r->by_identity, hash, (uint32_t)r->entries.n - 1);
	return e;
}

static uint64_t image_hash(const struct image *im)
{
	return identity_hash(im->kind, &im->build_id, im->path ? im->path : "");
}

void resolver_take_symtab(struct resolver *r, const struct image *im, const struct symtab *st)
{
	struct resolver_entry *e = entry_add(r, im, image_hash(im));

	e->symbols.own = *st;
	e->symbols.symtab = &e->symbols.own;
	e->lines_tried = e->code_tried = true; /* there is no file */
	e->result = (struct resolved){RESOLVE_OK, e->symbols.symtab, ""};
}

/* Gives E, which is IM's, its symbols, unless they are late. */
static void load_symbols(struct resolver *r, struct resolver_entry *e, const struct image *im,
			 bool kept_will_do)
{
	if (r->is_late && im->kind == IMAGE_FILE && r->is_late(r->late_ctx, im)) {
		e->late_since = r->n_looks;
		e->symbols =
			(struct image_symbols){.status = RESOLVE_MISSING, .symtab = &no_symbols};
	} else {
		e->late_since = 0;
		image_symbols_load(&r->sources, im, kept_will_do, &e->symbols);
	}
	e->is_kept_only = kept_will_do && e->symbols.status != RESOLVE_OK;
	e->result = (struct resolved){
		.status = e->symbols.status,
		.symtab = e->symbols.symtab,
		.source = e->symbols.source ? e->symbols.source : "",
	};
}

void resolver_look_again(struct resolver *r)
{
	r->n_looks++;
}

/* The entry of IM; with symbols that were kept alone, when KEPT_WILL_DO and it is new. */
static struct resolver_entry *find_entry(struct resolver *r, const struct image *im,
					 bool kept_will_do)
{
	const uint64_t hash = image_hash(im);
	const uint32_t i = index_find(&r->by_identity, hash, entry_same, r, im);
	struct resolver_entry *e = i == INDEX_NONE ? entry_add(r, im, hash) : r->entries.v[i];

	if (e->is_kept_only && !kept_will_do)
		image_symbols_release(&e->symbols);
	else if (i != INDEX_NONE && (!e->late_since || e->late_since == r->n_looks))
		return e;
	load_symbols(r, e, im, kept_will_do);
	return e;
}

struct resolver_entry *resolver_entry_get(struct resolver *r, const struct image *im)
{
	return find_entry(r, im, false);
}

const struct symtab *resolver_kept_symbols(struct resolver *r, const struct image *im)
{
	return find_entry(r, im, true)->result.symtab;
}

struct resolver_entry *resolver_entry_find(struct resolver *r, const struct image *im)
{
	struct resolver_entry *e = resolver_entry_get(r, im);

	if (e->scripts_changed)
		resolver_settle_scripts(e);
	return e;
}

const struct resolved *resolver_image(struct resolver *r, const struct image *im)
{
	return &resolver_entry_find(r, im)->result;
}

static void close_lines(struct resolver_entry *e)
{
	if (e->lines)
		e->lines_tried = false;
	lines_close(e->lines);
	e->lines = NULL;
	lines_close(e->kept_scopes);
	e->kept_scopes = NULL;
}

void resolver_rest(struct resolver *r, const struct image *im)
{
	struct resolver_entry *e = resolver_entry_find(r, im);

	if (!r->no_rest)
		symcache_rest(&e->symbols.cache);
	if (!e->n_lines_held)
		close_lines(e);
	resolver_entry_close_code(e);
}

void resolver_drop(struct resolver *r, const struct image *im)
{
	struct resolver_entry *e = resolver_entry_find(r, im);

	resolver_rest(r, im);
	if (e->symbols.symtab != &e->symbols.own || e->kind == IMAGE_SCRIPT)
		return;
	image_symbols_release(&e->symbols);
	e->symbols = (struct image_symbols){.status = RESOLVE_MISSING, .symtab = &no_symbols};
	e->result = (struct resolved){RESOLVE_MISSING, &no_symbols, ""};
	free(e->names[0]);
	free(e->names[1]);
	e->names[0] = e->names[1] = NULL;
	e->late_since = r->n_looks + 1; /* the next question loads them */
}

static const char *entry_name(struct resolver *r, struct resolver_entry *e, uint32_t i, bool args)
{
	const char **slot, *linked;
	struct procedure p;
	char *plain;

	if (!e->names[args])
		e->names[args] = xcalloc(e->result.symtab->n, sizeof(*e->names[args]));
	slot = &e->names[args][i];
	if (*slot)
		return *slot;
	p = symtab_get(e->result.symtab, i);
	linked = p.name;
	if (e->kind == IMAGE_SCRIPT) /* not linked, nor mangled */
		plain = xstrdup(linked);
	else if (p.flags & PROC_UNNAMED)
		plain = xasprintf(SYMTAB_UNNAMED "%" PRIx64, p.start);
	else
		plain = demangle_name(linked, args);
	*slot = plain ? arena_strdup(&r->arena, plain) : linked;
	free(plain);
	return *slot;
}

const char *resolver_name(struct resolver *r, const struct image *im, uint32_t i, bool args)
{
	return entry_name(r, resolver_entry_find(r, im), i, args);
}

bool resolver_find(struct resolver *r, const struct image *im, uint64_t svma, struct procedure *ret)
{
	struct resolver_entry *e = resolver_entry_find(r, im);
	uint32_t i = symtab_find(e->result.symtab, svma);

	if (i == PROC_NONE)
		return false;
	*ret = symtab_get(e->result.symtab, i);
	ret->name = entry_name(r, e, i, true);
	return true;
}

/* Reads the variables of E, which is IM: from its debug file or file, else those that were kept. */
static void load_data(struct resolver *r, struct resolver_entry *e, const struct image *im)
{
	const struct symbol_sources *src = &r->sources;
	_fd_ int code = -1, debug = -1;

	e->data_tried = true;
	if (im->kind != IMAGE_FILE || im->flags & IMAGE_OFFSETS)
		return;
	code = resolver_open_code(r, im, NULL, NULL);
	debug = code < 0 ? -1 : resolver_open_debug(r, im, NULL, NULL);
	if (debug >= 0 && data_symbols_read(&e->data, debug) >= SYMTAB_FULL)
		return;
	if (code >= 0 && data_symbols_read(&e->data, code) > SYMTAB_NONE)
		return;
	if (src->cache_dir && data_symbols_open(&e->data, src->cache_dir, im) >= 0)
		return;
	for (size_t i = 0; i < src->n_more_caches; i++)
		if (data_symbols_open(&e->data, src->more_caches[i], im) >= 0)
			return;
}

bool resolver_find_data(struct resolver *r, const struct image *im, uint64_t svma, uint64_t n_bytes,
			struct procedure *ret)
{
	struct resolver_entry *e = resolver_entry_find(r, im);
	struct symtab *st = &e->data.symtab;
	char *plain;
	uint32_t i;

	if (!e->data_tried)
		load_data(r, e, im);
	i = symtab_find_first(st, svma, n_bytes);
	if (i == PROC_NONE)
		return false;
	*ret = symtab_get(st, i);
	if (!e->data.names)
		e->data.names = xcalloc(st->n, sizeof(*e->data.names));
	if (!e->data.names[i]) {
		plain = demangle_name(ret->name, true);
		e->data.names[i] = arena_strdup(&r->arena, plain ? plain : ret->name);
		free(plain);
	}
	ret->name = e->data.names[i];
	return true;
}

size_t resolver_code_at(struct resolver *r, const struct image *im, uint64_t svma, uint8_t *ret,
			size_t max, uint16_t *ret_machine)
{
	struct code_file *c = resolver_entry_code(r, resolver_entry_find(r, im), im);
	const uint64_t end = c ? code_file_end(c, svma) : svma;
	const size_t n = end - svma < max ? (size_t)(end - svma) : max;

	if (!n || !code_file_read(c, svma, ret, n))
		return 0;
	*ret_machine = c->elf.machine;
	return n;
}

int resolver_save_data(struct resolver *r, const struct image *im, int fd, struct err *err)
{
	return r->cache_dir ? data_symbols_save(r->cache_dir, im, fd, err) : 0;
}

const char *resolver_note(struct resolver *r, const struct image *im)
{
	struct resolver_entry *e = resolver_entry_find(r, im);

	if (e->note || e->late_since || im->kind == IMAGE_ANON || im->kind == IMAGE_UNKNOWN ||
	    im->kind == IMAGE_MARK || im->kind == IMAGE_SCRIPT)
		return e->note;
	switch (e->result.status) {
	case RESOLVE_STALE:
		e->note = xasprintf("%s: the file is not the one that was profiled; its symbols "
				    "are not used",
				    e->path);
		break;
	case RESOLVE_MISSING:
		e->note = xasprintf("%s: neither the file nor cached symbols were found", e->path);
		break;
	case RESOLVE_BARE:
		e->note = xasprintf("%s: the file has no symbols", e->path);
		break;
	case RESOLVE_HIDDEN: /* Linux, kernel/ksyms_common.c: kallsyms_show_value */
		e->note = xasprintf("%s: the kernel hides its addresses from this user "
				    "(kernel.kptr_restrict, or kernel.perf_event_paranoid above 1)",
				    e->path);
		break;
	case RESOLVE_OK:
	case RESOLVE_PARTIAL:
		if (e->symbols.cache.is_disputed)
			e->note = xasprintf("%s: files of different users claim to be it, with "
					    "different symbols; names may be wrong",
					    e->path);
		break;
	}
	return e->note;
}

/* The vdso has no file: its bytes are put into one without a name. */
static int open_vdso(const struct image *im, char **ret_path, struct err *err)
{
	struct image_layout l;
	size_t n = 0;
	const uint8_t *bytes = image_vdso(&n);
	_fd_ int fd = -1;

	if (!bytes || elf_probe_bytes(bytes, n, &l, NULL) < 0 ||
	    !build_id_same(&l.build_id, &im->build_id) || !image_digest_fits(l.digest, im->digest))
		return err_set(err, -ENOENT, "%s: of another kernel", im->path);
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0 || file_write_all(fd, bytes, n) < 0)
		return err_errno(err, -errno, "%s", im->path);
	if (ret_path)
		*ret_path = xstrdup(im->path);
	return take_fd(&fd);
}

int resolver_open_code(struct resolver *r, const struct image *im, char **ret_path, struct err *err)
{
	switch (im->kind) {
	case IMAGE_KERNEL:
		return debug_file_open_vmlinux(&r->sources.where, &im->build_id, ret_path, err);
	case IMAGE_VDSO:
		return open_vdso(im, ret_path, err);
	case IMAGE_FILE:
	case IMAGE_MODULE:
		return debug_file_open_code(&r->sources.where, im, ret_path, err);
	case IMAGE_SCRIPT:
		return err_set(err, -ENOENT, "%s: is a script, which has lines and no instructions",
			       im->path);
	default:
		return err_set(err, -ENOENT, "%s: has no file", im->path);
	}
}

int resolver_open_debug(struct resolver *r, const struct image *im, char **ret_path,
			struct err *err)
{
	_mem_ char *code_path = NULL;
	_fd_ int code = resolver_open_code(r, im, &code_path, err);
	int fd = -ENOENT;

	if (im->kind == IMAGE_FILE || im->kind == IMAGE_MODULE)
		fd = debug_file_open_debug(&r->sources.where, im,
					   &resolver_entry_find(r, im)->symbols.layout, code,
					   ret_path, NULL);
	if (fd >= 0 || code < 0)
		return fd >= 0 ? fd : code;
	if (ret_path)
		*ret_path = take_ptr(&code_path);
	return take_fd(&code);
}

const struct kept_code *resolver_entry_kept(struct resolver *r, struct resolver_entry *e,
					    const struct image *im)
{
	const struct symbol_sources *src = &r->sources;
	bool found = false;

	if (e->kept_tried || im->kind != IMAGE_FILE || im->flags & IMAGE_OFFSETS)
		return e->kept.procs.n ? &e->kept : NULL;
	e->kept_tried = true;
	if (src->cache_dir)
		found = kept_open(&e->kept, src->cache_dir, im, NULL) >= 0;
	for (size_t i = 0; i < src->n_more_caches && !found; i++)
		found = kept_open(&e->kept, src->more_caches[i], im, NULL) >= 0;
	return found ? &e->kept : NULL;
}

int resolver_open_code_file(struct resolver *r, const struct image *im, struct code_file *ret,
			    struct err *err)
{
	int fd = resolver_open_code(r, im, NULL, err);
	const struct kept_code *kept;

	if (fd >= 0)
		return code_file_open(ret, fd, err);
	kept = resolver_entry_kept(r, resolver_entry_find(r, im), im);
	if (!kept)
		return fd;
	code_file_keep(ret, kept);
	return 0;
}

struct lines *resolver_open_lines(struct resolver *r, const struct image *im, struct err *err)
{
	_mem_ char *path = NULL;
	_fd_ int fd = resolver_open_debug(r, im, &path, err);
	const struct kept_code *kept;
	struct lines *l = NULL;
	int rc;

	if (fd >= 0)
		l = lines_open(fd, path ? path : im->path, &rc, err);
	kept = l ? NULL : resolver_entry_kept(r, resolver_entry_find(r, im), im);
	return kept ? kept_lines(kept, false) : l;
}

/* The DWARF of E; SCOPES_ONLY when no lines will be asked for.  ERR says why there is none. */
static struct lines *open_lines(struct resolver *r, struct resolver_entry *e,
				const struct image *im, bool scopes_only, struct err *err)
{
	const struct kept_code *kept;
	_mem_ char *path = NULL;
	_fd_ int fd = -1;
	int rc;

	if (e->scopes_only && !scopes_only) {
		close_lines(e);
		e->lines_tried = false;
	}
	if (e->lines_tried && (e->lines || !err))
		return e->lines;
	e->lines_tried = true;
	e->scopes_only = scopes_only;
	if (im->flags & IMAGE_OFFSETS) { /* not svmas */
		err_set(err, -ENOTSUP, "%s could not be read while it ran", im->path);
		return NULL;
	}
	if (err || (im->kind != IMAGE_FILE && im->kind != IMAGE_MODULE) ||
	    debug_file_may_have_lines(&r->sources.where, im))
		fd = resolver_open_debug(r, im, &path, err);
	if (!path)
		path = xstrdup(im->path);
	if (fd >= 0)
		e->lines = scopes_only ? lines_open_scopes(fd, path, &rc, err)
				       : lines_open(fd, path, &rc, err);
	kept = e->lines ? NULL : resolver_entry_kept(r, e, im);
	if (kept)
		e->lines = kept_lines(kept, scopes_only);
	return e->lines;
}

struct lines *resolver_entry_lines(struct resolver *r, struct resolver_entry *e,
				   const struct image *im)
{
	return open_lines(r, e, im, false, NULL);
}

struct lines *resolver_lines_hold(struct resolver *r, const struct image *im, struct err *err)
{
	struct resolver_entry *e = resolver_entry_find(r, im);
	struct lines *l = open_lines(r, e, im, false, err);

	e->n_lines_held += l != NULL;
	return l;
}

void resolver_lines_drop(struct resolver *r, const struct image *im)
{
	resolver_entry_find(r, im)->n_lines_held--;
}

void resolver_name_procedure(struct resolver *r, struct resolver_entry *e, uint64_t svma, bool args,
			     const struct frame *frame, struct resolved_frame *ret)
{
	uint32_t i = symtab_find(e->result.symtab, svma);
	bool unnamed = i == PROC_NONE || symtab_get(e->result.symtab, i).flags & PROC_UNNAMED;

	ret->proc = i;
	if (unnamed && frame->name != FRAME_NO_TEXT)
		ret->name = frames_name(&r->frames, frame, args);
	else if (i != PROC_NONE)
		ret->name = entry_name(r, e, i, args);
}

size_t resolver_entry_frames(struct resolver *r, struct resolver_entry *e, const struct image *im,
			     uint64_t svma, const struct frame **ret)
{
	size_t n = frames_find(&r->frames, e, svma, ret);

	if (n)
		return n;
	if (e->kind == IMAGE_SCRIPT)
		return frames_add_line(&r->frames, e, svma, e->path, resolver_script_line(e, svma),
				       ret);
	return frames_add(&r->frames, e, svma, resolver_entry_lines(r, e, im), ret);
}

size_t resolver_frames(struct resolver *r, const struct image *im, uint64_t svma, bool args,
		       struct resolved_frame *ret, size_t max)
{
	struct resolver_entry *e = resolver_entry_find(r, im);
	const struct frame *frames;
	size_t n = resolver_entry_frames(r, e, im, svma, &frames);

	for (size_t i = 0; i < n && i < max; i++) {
		const struct frame *f = &frames[i];

		ret[i] = (struct resolved_frame){
			.file = f->file == FRAME_NO_TEXT ? NULL : r->frames.files.v[f->file],
			.line = f->line,
			.column = f->column,
			.is_inlined = i > 0,
			.proc = PROC_NONE,
		};
		if (i == 0)
			resolver_name_procedure(r, e, svma, args, f, &ret[i]);
		else
			ret[i].name = frames_name(&r->frames, f, args);
	}
	return n;
}

/* Whether nothing is known of the code at SVMA of E, which is IM: the linker made the procedure, or
 * there is none though all symbols are known.  A library's debug file takes long to open for that,
 * and call paths that went astray lead there.  Who strips symbols by name leaves the DWARF in the
 * file itself. */
static bool has_no_source(const struct resolver *r, const struct resolver_entry *e,
			  const struct image *im, uint64_t svma)
{
	const uint32_t i = symtab_find(e->result.symtab, svma);

	if (i != PROC_NONE)
		return symtab_get(e->result.symtab, i).flags & PROC_PLT;
	return e->result.status == RESOLVE_OK && image_symbols_has_debug(&r->sources, im);
}

/* What knows the inlined calls at SVMA of E.  Code kept with the recording is asked where it has
 * the procedure's lines, because it is much smaller than DWARF: also when that had to be opened for
 * other procedures.  Where others may have made it up, it is not asked. */
static struct lines *lines_for_scopes(struct resolver *r, struct resolver_entry *e,
				      const struct image *im, uint64_t svma)
{
	const bool has_lines = e->lines && !e->scopes_only;
	const struct kept_code *kept = has_lines ? NULL : resolver_entry_kept(r, e, im);
	const struct kept_proc *p = kept ? kept_code_find(kept, svma) : NULL;

	if (!p || !p->rows.n || kept->info.is_claimed)
		return has_no_source(r, e, im, svma) ? NULL : open_lines(r, e, im, true, NULL);
	if (!e->kept_scopes)
		e->kept_scopes = kept_lines(kept, true);
	return e->kept_scopes;
}

size_t resolver_inlined(struct resolver *r, const struct image *im, uint64_t svma, bool args,
			const char **ret, size_t max)
{
	struct lines *l = lines_for_scopes(r, resolver_entry_find(r, im), im, svma);

	return l ? frames_inlined(&r->frames, svma, l, args, ret, max) : 0;
}

int resolver_save(struct resolver *r, const struct image *im, int fd, struct err *err)
{
	return image_symbols_save(&r->sources, im, fd, err);
}

int resolver_save_symtab(struct resolver *r, const struct image *im, const struct symtab *st,
			 struct err *err)
{
	return image_symbols_save_symtab(&r->sources, im, st, err);
}

int resolver_save_jit(struct resolver *r, const struct image *im, pid_t pid, int fd,
		      struct err *err)
{
	return image_symbols_save_jit(&r->sources, im, pid, fd, err);
}
