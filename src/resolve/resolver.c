/* SPDX-License-Identifier: BSD-2-Clause */
/* See resolver.h.  One entry per image identity, found through an index; entries are separate
 * allocations, so that pointers handed out stay. */
#include "resolve/resolver.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "resolve/debug_file.h"
#include "resolve/demangle.h"
#include "resolve/elf_file.h"
#include "resolve/symtab_elf.h"

struct entry {
	struct resolved result;
	struct symtab symtab;
	enum image_kind kind;
	struct build_id build_id;
	char *path, *source, *note;
	const char **names[2]; /* by args: readable names asked for so far; NULL before the first */
};

struct resolver {
	char *cache_dir, *proc_dir, *sys_dir, *debug_root;
	char **paths;
	struct debug_paths where;
	bool no_save;
	VEC(struct entry *) entries;
	struct index by_identity;
	struct arena arena; /* readable names */
};

struct resolver *resolver_new(const struct resolver_opts *opts)
{
	struct resolver *r = xcalloc(1, sizeof(*r));

	r->cache_dir = opts->cache_dir ? xstrdup(opts->cache_dir) : NULL;
	r->proc_dir = xstrdup(opts->proc_dir ? opts->proc_dir : "/proc");
	r->sys_dir = xstrdup(opts->sys_dir ? opts->sys_dir : "/sys");
	r->debug_root = xstrdup(opts->debug_root ? opts->debug_root : "/usr/lib/debug");
	r->paths = xcalloc(opts->n_paths + 1, sizeof(*r->paths));
	for (size_t i = 0; i < opts->n_paths; i++)
		r->paths[i] = xstrdup(opts->paths[i]);
	r->where = (struct debug_paths){
		.extra = (const char *const *)r->paths,
		.n_extra = opts->n_paths,
		.debug_root = r->debug_root,
		.debuginfod = opts->use_debuginfod ? debuginfod_new() : NULL,
	};
	r->no_save = opts->no_save;
	return r;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	vec_each (e, &r->entries) {
		symtab_release(&(*e)->symtab);
		free((*e)->names[0]);
		free((*e)->names[1]);
		free((*e)->path);
		free((*e)->source);
		free((*e)->note);
		free(*e);
	}
	vec_release(&r->entries);
	index_release(&r->by_identity);
	arena_release(&r->arena);
	for (size_t i = 0; i < r->where.n_extra; i++)
		free(r->paths[i]);
	free(r->paths);
	debuginfod_free(r->where.debuginfod);
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

static uint64_t entry_hash(const void *owner, uint32_t i)
{
	const struct entry *e = ((const struct resolver *)owner)->entries.v[i];

	return identity_hash(e->kind, &e->build_id, e->path);
}

static bool entry_same(const void *owner, uint32_t i, const void *key)
{
	const struct entry *e = ((const struct resolver *)owner)->entries.v[i];
	const struct image *im = key;

	return e->kind == im->kind && build_id_same(&e->build_id, &im->build_id) &&
	       (im->build_id.n_bytes || strcmp(e->path, im->path ? im->path : "") == 0);
}

/* Reads the symbols of an image's file and of its debug file, if that has more. */
static void read_files(struct resolver *r, struct entry *e)
{
	struct symtab_builder b = {0};
	struct elf_file f;
	enum symtab_source have = SYMTAB_NONE;
	struct err err = {0};
	_mem_ char *path = NULL;
	_mem_ char *debug_path = NULL;
	_fd_ int fd = debug_file_open_code(&r->where, e->path, &e->build_id, &path, &err);
	_fd_ int debug_fd = -1;

	if (fd >= 0 && elf_file_open(&f, fd, NULL) == 0) {
		have = symtab_elf_read(&f, &b);
		symtab_elf_read_plt(&f, &b);
		elf_file_close(&f);
	}
	if (have != SYMTAB_FULL)
		debug_fd = debug_file_open_debug(&r->where, e->path, &e->build_id, fd, &debug_path,
						 NULL);
	if (debug_fd >= 0 && elf_file_open(&f, debug_fd, NULL) == 0) {
		enum symtab_source more = symtab_elf_read(&f, &b);

		if (more > have) {
			have = more;
			free(path);
			path = take_ptr(&debug_path);
		}
		elf_file_close(&f);
	}
	symtab_builder_finish(&b, &e->symtab);
	e->source = take_ptr(&path);
	e->result.status = have >= SYMTAB_MINIDEBUG ? RESOLVE_OK
			   : have == SYMTAB_DYNSYM  ? RESOLVE_PARTIAL
			   : fd >= 0		    ? RESOLVE_BARE
			   : fd == -ESTALE	    ? RESOLVE_STALE
						    : RESOLVE_MISSING;
}

static struct entry *find_entry(struct resolver *r, const struct image *im)
{
	uint64_t hash = identity_hash(im->kind, &im->build_id, im->path ? im->path : "");
	uint32_t i = index_find(&r->by_identity, hash, entry_same, r, im);
	struct entry *e;

	if (i != INDEX_NONE)
		return r->entries.v[i];
	e = xcalloc(1, sizeof(*e));
	e->kind = im->kind;
	e->build_id = im->build_id;
	e->path = xstrdup(im->path ? im->path : "");
	vec_push(&r->entries, e);
	index_add(&r->by_identity, hash, (uint32_t)r->entries.n - 1, entry_hash, r);
	if (im->kind == IMAGE_FILE)
		read_files(r, e);
	else
		e->result.status = RESOLVE_MISSING;
	e->result.symtab = &e->symtab;
	e->result.source = e->source ? e->source : "";
	return e;
}

const struct resolved *resolver_image(struct resolver *r, const struct image *im)
{
	return &find_entry(r, im)->result;
}

static const char *entry_name(struct resolver *r, struct entry *e, uint32_t i, bool args)
{
	const char **slot, *linked;
	char *plain;

	if (!e->names[args])
		e->names[args] = xcalloc(e->symtab.n, sizeof(*e->names[args]));
	slot = &e->names[args][i];
	if (*slot)
		return *slot;
	linked = symtab_get(&e->symtab, i).name;
	plain = demangle_name(linked, args);
	*slot = plain ? arena_strdup(&r->arena, plain) : linked;
	free(plain);
	return *slot;
}

const char *resolver_name(struct resolver *r, const struct image *im, uint32_t i, bool args)
{
	return entry_name(r, find_entry(r, im), i, args);
}

bool resolver_find(struct resolver *r, const struct image *im, uint64_t svma, struct procedure *ret)
{
	struct entry *e = find_entry(r, im);
	uint32_t i = symtab_find(&e->symtab, svma);

	if (i == PROC_NONE)
		return false;
	*ret = symtab_get(&e->symtab, i);
	ret->name = entry_name(r, e, i, true);
	return true;
}

const char *resolver_note(struct resolver *r, const struct image *im)
{
	struct entry *e = find_entry(r, im);

	if (e->note)
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
	case RESOLVE_HIDDEN:
		e->note = xasprintf("%s: addresses are hidden from this user "
				    "(kernel.kptr_restrict)",
				    e->path);
		break;
	case RESOLVE_OK:
	case RESOLVE_PARTIAL:
		break;
	}
	return e->note;
}

int resolver_open_code(struct resolver *r, const struct image *im, char **ret_path, struct err *err)
{
	return debug_file_open_code(&r->where, im->path, &im->build_id, ret_path, err);
}

int resolver_open_debug(struct resolver *r, const struct image *im, char **ret_path,
			struct err *err)
{
	_fd_ int code = debug_file_open_code(&r->where, im->path, &im->build_id, NULL, NULL);
	int fd = debug_file_open_debug(&r->where, im->path, &im->build_id, code, ret_path, NULL);

	if (fd >= 0)
		return fd;
	return debug_file_open_code(&r->where, im->path, &im->build_id, ret_path, err);
}

int resolver_save(struct resolver *r, const struct image *im, int fd, struct err *err)
{
	return 0;
}
