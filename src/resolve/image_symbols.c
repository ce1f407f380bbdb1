/* SPDX-License-Identifier: BSD-2-Clause */
/* See image_symbols.h.
 *
 * Each kind of image has its own places: files their file and debug file, the kernel and its
 * modules kallsyms, the vdso the copy in this very process, JIT code only the cache.  Whatever the
 * kind, an identity that differs is never accepted. */
#include "resolve/image_symbols.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "resolve/elf_file.h"
#include "resolve/elf_probe.h"
#include "resolve/file_symbols.h"
#include "resolve/kernel_cache.h"
#include "resolve/perfmap.h"

static enum resolve_status status_of(enum symtab_source s)
{
	return s >= SYMTAB_MINIDEBUG ? RESOLVE_OK
	       : s == SYMTAB_DYNSYM  ? RESOLVE_PARTIAL
				     : RESOLVE_BARE;
}

static bool open_cache(struct symbol_sources *src, const struct image *im, struct image_symbols *s)
{
	bool found = src->cache_dir && symcache_open(&s->cache, src->cache_dir, im, NULL) >= 0;

	for (size_t i = 0; i < src->n_more_caches && !found; i++)
		found = symcache_open(&s->cache, src->more_caches[i], im, NULL) >= 0;
	if (!found)
		return false;
	s->symtab = &s->cache.symtab;
	s->layout = s->cache.info.layout;
	s->status = status_of(s->cache.info.source);
	free(s->source);
	s->source = xstrdup("cache");
	return true;
}

static bool saves(const struct symbol_sources *src)
{
	return src->cache_dir && !src->no_save;
}

/* Failure to cache is no failure to resolve: a reader may have no right to write.  Tells whether ST
 * is in the cache now. */
static bool save_info(struct symbol_sources *src, const struct image *im,
		      const struct symcache_info *info, const struct symtab *st)
{
	return saves(src) && im->build_id.n_bytes &&
	       build_id_same(&info->layout.build_id, &im->build_id) &&
	       symcache_save(src->cache_dir, info, st, NULL) >= 0;
}

/* What is not made from a file that people can write. */
static void resolve_image_symbols_save(struct symbol_sources *src, const struct image *im,
				       const struct image_layout *layout, enum symtab_source source,
				       const struct symtab *st)
{
	save_info(src, im,
		  &(struct symcache_info){
			  .kind = im->kind, .source = source, .layout = *layout, .path = im->path},
		  st);
}

/* Begins with the symbols of IM's code file, which is opened, or with the cache's copy of them. */
static int begin_file(struct symbol_sources *src, const struct image *im, struct image_symbols *s,
		      struct file_symbols *ret, bool *ret_claimed, char **ret_path)
{
	const struct symcache_info *cached = &s->cache.info;
	_fd_ int fd = -1;

	if (open_cache(src, im, s)) {
		ret->layout = cached->layout;
		ret->source = cached->source;
		ret->is_hashed = true;
		memcpy(ret->content, cached->content, sizeof(ret->content));
		*ret_claimed = cached->is_claimed;
		return -1;
	}
	fd = debug_file_open_code(&src->where, im, ret_path, NULL);
	if (fd >= 0 && file_symbols_read(fd, im->digest, saves(src), ret, NULL) >= 0) {
		s->layout = ret->layout;
		*ret_claimed = !file_symbols_believed(fd);
	}
	return fd < 0 ? fd : take_fd(&fd);
}

/* Adds the symbols of a separate debug file to FS when they are more. */
static bool add_debug(struct symbol_sources *src, const struct image *im, int code_fd,
		      struct file_symbols *fs, bool *claimed, char **ret_path)
{
	_mem_ char *path = NULL;
	_fd_ int fd = debug_file_open_debug(&src->where, im, &fs->layout, code_fd, &path, NULL);

	if (fd < 0 || !file_symbols_add_debug(fd, fs))
		return false;
	*claimed |= !file_symbols_believed(fd);
	*ret_path = take_ptr(&path);
	return true;
}

static void load_file(struct symbol_sources *src, const struct image *im, bool kept_will_do,
		      struct image_symbols *s)
{
	struct file_symbols fs = {.source = SYMTAB_NONE};
	bool claimed = false, cached, more;
	_mem_ char *code_path = NULL;
	_mem_ char *debug_path = NULL;
	int found = begin_file(src, im, s, &fs, &claimed, &code_path);
	_fd_ int fd = found >= 0 ? found : -1;
	struct symcache_info info;

	cached = s->source != NULL;
	if (cached && (s->status == RESOLVE_OK || kept_will_do))
		return;
	more = fs.source < SYMTAB_FULL && add_debug(src, im, fd, &fs, &claimed, &debug_path);
	if (cached && !more) {
		symtab_builder_release(&fs.found);
		return;
	}
	if (cached) /* for the stubs of the PLT, which a debug file does not have */
		symtab_builder_add_symtab(&fs.found, &s->cache.symtab);
	symtab_builder_finish(&fs.found, &s->own);
	s->symtab = &s->own;
	s->status = fd >= 0 || fs.source > SYMTAB_NONE ? status_of(fs.source)
		    : found == -ESTALE		       ? RESOLVE_STALE
						       : RESOLVE_MISSING;
	if (s->status == RESOLVE_STALE || s->status == RESOLVE_MISSING)
		return;
	free(s->source);
	s->source = debug_path ? take_ptr(&debug_path) : take_ptr(&code_path);
	info = (struct symcache_info){.kind = im->kind,
				      .source = fs.source,
				      .layout = s->layout,
				      .path = im->path,
				      .is_claimed = claimed};
	memcpy(info.content, fs.content, sizeof(info.content));
	/* From the cache it needs no memory of its own. */
	if (save_info(src, im, &info, s->symtab) && !cached &&
	    symcache_open(&s->cache, src->cache_dir, im, NULL) >= 0) {
		symtab_release(&s->own);
		s->symtab = &s->cache.symtab;
	}
}

static const struct kallsyms *running_kernel(struct symbol_sources *src)
{
	if (!src->kallsyms_read)
		kallsyms_load(&src->kallsyms, src->proc_dir, src->sys_dir, NULL);
	src->kallsyms_read = true;
	return &src->kallsyms;
}

/* The identity of images that kallsyms names; an image recorded without one is taken on trust. */
static bool may_be(const struct image *im, const struct build_id *id)
{
	return im->build_id.n_bytes == 0 || build_id_same(&im->build_id, id);
}

/* Whether IM may be the kernel that runs.  It is asked before kallsyms is read, which takes the
 * kernel 20 ms and more. */
static bool is_running_kernel(struct symbol_sources *src, const struct image *im)
{
	struct build_id running;

	if (src->kallsyms_read)
		return may_be(im, &src->kallsyms.build_id);
	return im->build_id.n_bytes == 0 ||
	       (kallsyms_build_id(src->sys_dir, &running) >= 0 && may_be(im, &running));
}

/* Kernel images are kept for a layout of one range, beginning at START. */
static struct image_layout plain_layout(const struct image *im, uint64_t start, uint64_t n_bytes)
{
	return (struct image_layout){
		.build_id = im->build_id, .text_start = start, .text_bytes = n_bytes};
}

static void load_vmlinux(struct symbol_sources *src, const struct image *im,
			 struct image_symbols *s)
{
	_mem_ char *path = NULL;
	_fd_ int fd = debug_file_open_vmlinux(&src->where, &im->build_id, &path, NULL);
	struct file_symbols fs;

	if (fd < 0)
		return;
	if (file_symbols_read(fd, im->digest, false, &fs, NULL) < 0)
		return;
	/* Whoever samples a kernel knows its build-id alone. */
	memset(fs.layout.digest, 0, sizeof(fs.layout.digest));
	s->layout = fs.layout;
	symtab_builder_finish(&fs.found, &s->own);
	s->symtab = &s->own;
	s->status = status_of(fs.source);
	s->source = take_ptr(&path);
	resolve_image_symbols_save(src, im, &s->layout, fs.source, s->symtab);
}

/* Whether SRC is about the machine that this runs on, and no test's. */
static bool is_machine(const struct symbol_sources *src)
{
	return strcmp(src->proc_dir, "/proc") == 0 && strcmp(src->sys_dir, "/sys") == 0;
}

/* Takes the symbols of the running kernel IM that were kept outside of databases, and keeps them in
 * this one. */
static bool open_kernel_cache(struct symbol_sources *src, const struct image *im,
			      struct image_symbols *s)
{
	if (src->kallsyms_read || !is_machine(src) || !im->build_id.n_bytes ||
	    !kernel_cache_open(&s->cache, im))
		return false;
	s->symtab = &s->cache.symtab;
	s->layout = s->cache.info.layout;
	s->status = RESOLVE_OK;
	s->source = xasprintf("%s/kallsyms", src->proc_dir);
	resolve_image_symbols_save(src, im, &s->layout, SYMTAB_FULL, s->symtab);
	return true;
}

static void load_kernel(struct symbol_sources *src, const struct image *im, struct image_symbols *s)
{
	const struct kallsyms *k = NULL;

	if (open_cache(src, im, s))
		return;
	if (is_running_kernel(src, im)) {
		if (open_kernel_cache(src, im, s))
			return;
		k = running_kernel(src);
	}
	if (k && k->symtab.n && may_be(im, &k->build_id)) {
		s->symtab = &k->symtab;
		s->status = RESOLVE_OK;
		s->source = xasprintf("%s/kallsyms", src->proc_dir);
		s->layout = plain_layout(im, k->text_start - k->slide, k->text_end - k->text_start);
		resolve_image_symbols_save(src, im, &s->layout, SYMTAB_FULL, s->symtab);
		if (is_machine(src) && im->build_id.n_bytes && src->cache_dir && !src->no_save)
			kernel_cache_save(&(struct symcache_info){.kind = IMAGE_KERNEL,
								  .source = SYMTAB_FULL,
								  .layout = s->layout,
								  .path = "[kernel]"},
					  s->symtab);
		return;
	}
	load_vmlinux(src, im, s);
	if (s->status == RESOLVE_MISSING && k && k->hidden && may_be(im, &k->build_id))
		s->status = RESOLVE_HIDDEN;
}

/* "[ext4]" or "/lib/modules/.../ext4.ko.xz" as kallsyms calls it: no directory, no suffix, and '_'
 * for
 * '-', as modpost names modules. */
static char *module_name(const char *path)
{
	char *name = xstrdup(str_basename(path)), *at;

	if (name[0] == '[') {
		memmove(name, name + 1, strlen(name));
		name[strcspn(name, "]")] = '\0';
	}
	at = strstr(name, ".ko");
	if (at)
		*at = '\0';
	for (at = name; *at; at++)
		if (*at == '-')
			*at = '_';
	return name;
}

static void load_module(struct symbol_sources *src, const struct image *im, struct image_symbols *s)
{
	_mem_ char *name = module_name(im->path ? im->path : "");
	const struct kernel_part *p;
	const struct kallsyms *k;

	if (open_cache(src, im, s))
		return;
	k = running_kernel(src);
	p = kallsyms_find_part(k, name);
	if (!p || !may_be(im, &p->build_id)) {
		if (k->hidden)
			s->status = RESOLVE_HIDDEN;
		return;
	}
	s->symtab = &p->symtab;
	s->status = RESOLVE_OK;
	s->source = xasprintf("%s/kallsyms", src->proc_dir);
	s->layout = plain_layout(im, 0, p->end - p->start);
	resolve_image_symbols_save(src, im, &s->layout, SYMTAB_FULL, s->symtab);
}

/* A BPF program is one procedure, called as the image: the last word of its
 * path, without brackets. */
static void load_bpf(const struct image *im, struct image_symbols *s)
{
	const char *name = im->path ? im->path : "", *at = strrchr(name, ' ');
	struct symtab_builder b = {0};
	size_t n;

	if (at)
		name = at + 1;
	while (*name == '[')
		name++;
	n = strcspn(name, "]");
	if (n == 0)
		return;
	symtab_builder_add(&b, 0, im->text_bytes ? im->text_bytes : UINT32_MAX, name, n, 0);
	symtab_builder_finish(&b, &s->own);
	s->symtab = &s->own;
	s->status = RESOLVE_OK;
}

static struct {
	const uint8_t *at;
	size_t n;
} own_vdso;

/* No header tells its size, so its mapping is looked for. */
static void find_own_vdso(void)
{
	_file_ FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512];

	own_vdso.at = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* vdso(7) */
	while (f && own_vdso.at && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start == (uintptr_t)own_vdso.at)
			own_vdso.n = end - start;
}

const uint8_t *image_vdso(size_t *ret_n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_own_vdso);
	*ret_n = own_vdso.n;
	return own_vdso.n ? own_vdso.at : NULL;
}

/* Reads the vdso of this process when it is the one meant. */
static enum symtab_source read_vdso(const struct image *im, struct image_layout *ret_layout,
				    struct symtab_builder *b)
{
	enum symtab_source have = SYMTAB_NONE;
	struct elf_file f;
	size_t n = 0;
	const uint8_t *bytes = image_vdso(&n);

	if (!bytes || elf_probe_bytes(bytes, n, ret_layout, NULL) < 0 ||
	    !may_be(im, &ret_layout->build_id) ||
	    !image_digest_fits(im->digest, ret_layout->digest) ||
	    elf_file_open_bytes(&f, bytes, n, NULL) < 0)
		return SYMTAB_NONE;
	have = symtab_elf_read(&f, b);
	elf_file_close(&f);
	return have;
}

static void load_vdso(struct symbol_sources *src, const struct image *im, struct image_symbols *s)
{
	struct symtab_builder b = {0};
	enum symtab_source have;

	if (open_cache(src, im, s))
		return;
	have = read_vdso(im, &s->layout, &b);
	if (have > SYMTAB_NONE) {
		symtab_builder_finish(&b, &s->own);
		s->symtab = &s->own;
		s->status = RESOLVE_OK; /* it exports all it has */
		s->source = xstrdup("[vdso]");
		resolve_image_symbols_save(src, im, &s->layout, SYMTAB_FULL, s->symtab);
	} else {
		s->layout = (struct image_layout){0};
		symtab_builder_release(&b);
	}
}

/* Samples of a file that could not be read while it ran are kept by file offset (IMAGE_OFFSETS):
 * now that it was found, gives its procedures in the same terms. */
static void turn_into_offsets(struct image_symbols *s)
{
	struct symtab_builder b = {0};
	struct symtab by_offset;
	uint32_t names = 0, n = s->symtab->n;

	if (n && !symtab_builder_add_names(&b, s->symtab, &names))
		n = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct procedure p = symtab_get(s->symtab, i);

		for (uint32_t l = 0; l < s->layout.n_loads; l++) {
			const struct image_load *load = &s->layout.loads[l];

			if (p.start < load->svma || p.start - load->svma >= load->n_bytes)
				continue;
			p.start += load->off - load->svma;
			p.end += load->off - load->svma;
			symtab_builder_add_range(&b, p.start, p.end);
			symtab_builder_add_entry(&b, s->symtab, names, &p, p.start);
			break;
		}
	}
	symtab_builder_finish(&b, &by_offset);
	symtab_release(&s->own);
	s->own = by_offset;
	s->symtab = &s->own;
}

void image_symbols_load(struct symbol_sources *src, const struct image *im, bool kept_will_do,
			struct image_symbols *ret)
{
	*ret = (struct image_symbols){.status = RESOLVE_MISSING};
	ret->symtab = &ret->own;
	switch (im->kind) {
	case IMAGE_FILE:
		if (src->kept_only)
			open_cache(src, im, ret);
		else
			load_file(src, im, kept_will_do, ret);
		break;
	case IMAGE_KERNEL:
		load_kernel(src, im, ret);
		break;
	case IMAGE_MODULE:
		load_module(src, im, ret);
		break;
	case IMAGE_BPF:
		load_bpf(im, ret);
		break;
	case IMAGE_VDSO:
		load_vdso(src, im, ret);
		break;
	case IMAGE_SCRIPT: /* the recording has its names: resolver_add_script */
		break;
	case IMAGE_JIT:
	case IMAGE_ANON:
	case IMAGE_UNKNOWN:
	case IMAGE_MARK:
	case N_IMAGE_KINDS:
		open_cache(src, im, ret);
		break;
	}
	if (im->flags & IMAGE_OFFSETS)
		turn_into_offsets(ret);
}

void image_symbols_release(struct image_symbols *s)
{
	symtab_release(&s->own);
	symcache_close(&s->cache);
	free(s->source);
	*s = (struct image_symbols){0};
}

/* Keeps the symbols of the file FD and of its separate debug file, read into BYTES. */
static int save_file(struct symbol_sources *src, const struct image *im, int fd, struct wr *bytes,
		     struct err *err)
{
	_fd_ int debug = debug_file_open_debug(&src->where, im, NULL, fd, NULL, NULL);
	const bool believed =
		file_symbols_believed(fd) && (debug < 0 || file_symbols_believed(debug));
	const int rc = image_symbols_read(fd, debug, im->digest, bytes, err);

	if (rc < 0)
		return err_prefix(err, rc, "%s", im->path);
	return image_symbols_keep(src, im, believed, bytes->v, bytes->n, err);
}

int image_symbols_save(struct symbol_sources *src, const struct image *im, int fd, struct err *err)
{
	struct image_symbols s;
	struct wr bytes = {0};
	int rc;

	if (!src->cache_dir || im->build_id.n_bytes == 0)
		return 0;
	if (im->kind != IMAGE_FILE) {
		if (im->kind == IMAGE_BPF || im->kind == IMAGE_JIT || im->kind == IMAGE_SCRIPT ||
		    symcache_has(src->cache_dir, im))
			return 0;
		image_symbols_load(src, im, false, &s); /* saves what it finds */
		image_symbols_release(&s);
		return 0;
	}
	if (!image_symbols_wanted(src, im))
		return 0;
	rc = save_file(src, im, fd, &bytes, err);
	wr_release(&bytes);
	return rc;
}

bool image_symbols_has_debug(const struct symbol_sources *src, const struct image *im)
{
	_mem_ char *name = debug_file_name(im, false, ".debug");
	_mem_ char *path = name ? xasprintf("%s/%s", src->where.debug_root, name) : NULL;

	return path && access(path, R_OK) == 0;
}

/* Whether a debug file of IM is installed that may have more names than the cache has. */
static bool has_more_names(const struct symbol_sources *src, const struct image *im)
{
	struct symcache c;
	bool has;

	if (!image_symbols_has_debug(src, im) || symcache_open(&c, src->cache_dir, im, NULL) < 0)
		return false;
	has = c.info.source < SYMTAB_FULL;
	symcache_close(&c);
	return has;
}

bool image_symbols_wanted(const struct symbol_sources *src, const struct image *im)
{
	return src->cache_dir && im->build_id.n_bytes &&
	       (!symcache_has_believed(src->cache_dir, im) || has_more_names(src, im));
}

/* Adds the symbols of DEBUG to FS, when it is a debug file of the same image and they are more. */
static void add_if_same(int debug, struct file_symbols *fs)
{
	struct image im = {.kind = IMAGE_FILE, .build_id = fs->layout.build_id};

	memcpy(im.digest, fs->layout.digest, sizeof(im.digest));
	if (debug_file_is(debug, &im, &fs->layout))
		file_symbols_add_debug(debug, fs);
}

int image_symbols_read(int fd, int debug, const uint8_t wanted[IMAGE_DIGEST_BYTES], struct wr *ret,
		       struct err *err)
{
	struct symcache_info info = {.kind = IMAGE_FILE, .path = ""};
	struct file_symbols fs;
	struct symtab st;
	int rc = file_symbols_read(fd, wanted, true, &fs, err);

	if (rc < 0)
		return rc;
	if (debug >= 0 && fs.source < SYMTAB_FULL)
		add_if_same(debug, &fs);
	info.layout = fs.layout;
	info.source = fs.source;
	memcpy(info.content, fs.content, sizeof(info.content));
	symtab_builder_finish(&fs.found, &st);
	symcache_format(&info, &st, ret);
	symtab_release(&st);
	return 0;
}

int image_symbols_read_map(int fd, struct wr *ret, struct err *err)
{
	struct symcache_info info = {.kind = IMAGE_JIT, .source = SYMTAB_FULL, .path = ""};
	struct symtab st;
	int rc = perfmap_read(fd, &st, err);

	if (rc < 0)
		return rc;
	symcache_format(&info, &st, ret);
	symtab_release(&st);
	return 0;
}

int image_symbols_keep_map(struct symbol_sources *src, const struct image *im, const uint8_t *bytes,
			   size_t n, struct err *err)
{
	struct symcache c;
	int rc = symcache_parse(&c, bytes, n, err);

	if (rc < 0)
		return rc;
	rc = symcache_check(&c, err);
	if (rc >= 0)
		rc = image_symbols_save_symtab(src, im, &c.symtab, err);
	symcache_close(&c);
	return rc;
}

int image_symbols_keep(struct symbol_sources *src, const struct image *im, bool believed,
		       const uint8_t *bytes, size_t n, struct err *err)
{
	struct symcache c;
	int rc = symcache_parse(&c, bytes, n, err);

	if (rc < 0)
		return rc;
	rc = symcache_check(&c, err);
	if (rc >= 0 &&
	    (c.info.kind != IMAGE_FILE || !build_id_same(&c.info.layout.build_id, &im->build_id) ||
	     !image_digest_fits(c.info.layout.digest, im->digest)))
		rc = err_set(err, -ESTALE, "%s: the file is not the one that was profiled",
			     im->path);
	c.info.path = im->path;
	c.info.is_claimed = !believed;
	if (rc >= 0)
		rc = symcache_save(src->cache_dir, &c.info, &c.symtab, err);
	symcache_close(&c);
	return rc;
}

void symbol_sources_init(struct symbol_sources *src, const char *cache_dir)
{
	*src = (struct symbol_sources){
		.where = {.debug_root = SYMBOLS_DEBUG_ROOT},
		.cache_dir = cache_dir,
		.proc_dir = "/proc",
		.sys_dir = "/sys",
	};
}

void symbol_sources_release(struct symbol_sources *src)
{
	kallsyms_release(&src->kallsyms);
}

int image_symbols_save_symtab(struct symbol_sources *src, const struct image *im,
			      const struct symtab *st, struct err *err)
{
	struct symcache_info info = {.kind = im->kind, .source = SYMTAB_FULL, .path = im->path};

	if (!src->cache_dir || im->build_id.n_bytes == 0)
		return 0;
	info.layout.build_id = im->build_id;
	return symcache_save(src->cache_dir, &info, st, err);
}

int image_symbols_save_jit(struct symbol_sources *src, const struct image *im, pid_t pid, int fd,
			   struct err *err)
{
	struct symtab st;
	int rc;

	if (!src->cache_dir || im->build_id.n_bytes == 0)
		return 0;
	rc = perfmap_load(src->proc_dir, pid, &st, err);
	if (rc < 0 && fd >= 0)
		rc = perfmap_read(fd, &st, err);
	if (rc < 0)
		return rc;
	rc = image_symbols_save_symtab(src, im, &st, err);
	symtab_release(&st);
	return rc;
}
