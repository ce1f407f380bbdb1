/* SPDX-License-Identifier: BSD-2-Clause */
/* The symbols of one image, from wherever they can still be found. */
#ifndef RESOLVE_IMAGE_SYMBOLS_H
#define RESOLVE_IMAGE_SYMBOLS_H

#include "resolve/debug_file.h"
#include "resolve/kallsyms.h"
#include "resolve/resolver.h"
#include "resolve/symcache.h"

/* Where distributions put separate files of debug information. */
#define SYMBOLS_DEBUG_ROOT "/usr/lib/debug"

/* Where to look.  The strings are borrowed. */
struct symbol_sources {
	struct debug_paths where;
	const char *cache_dir;		/* NULL: no cache */
	const char *const *more_caches; /* looked at behind it, never written */
	size_t n_more_caches;
	const char *proc_dir, *sys_dir;
	bool no_save, kept_only;  /* resolver_opts */
	struct kallsyms kallsyms; /* read when first needed */
	bool kallsyms_read;
};

struct image_symbols {
	enum resolve_status status;
	const struct symtab *symtab; /* &cache.symtab or &own; never NULL */
	char *source;		     /* path, "cache" or "/proc/kallsyms"; NULL: none */
	struct image_layout layout;  /* n_loads == 0: not known */
	struct symcache cache;
	struct symtab own;
};

/* Sources of this machine for who only keeps symbols, in CACHE_DIR (borrowed): all a recorder
 * needs, without the readers of lines and instructions that a resolver has. */
void symbol_sources_init(struct symbol_sources *src, const char *cache_dir);
void symbol_sources_release(struct symbol_sources *src);

/* Finds IM's symbols, by the addresses IM's samples have, and, unless told not to, caches what it
 * had to read.  Always leaves a valid RET (image_symbols_release it), which must not be moved.
 * KEPT_WILL_DO: symbols that are cached are taken though a debug file may have more. */
void image_symbols_load(struct symbol_sources *src, const struct image *im, bool kept_will_do,
			struct image_symbols *ret);
void image_symbols_release(struct image_symbols *s);

/* Caches IM's symbols; see resolver_save, resolver_save_symtab and resolver_save_jit. */
int image_symbols_save(struct symbol_sources *src, const struct image *im, int fd, struct err *err);
int image_symbols_save_symtab(struct symbol_sources *src, const struct image *im,
			      const struct symtab *st, struct err *err);
int image_symbols_save_jit(struct symbol_sources *src, const struct image *im, pid_t pid, int fd,
			   struct err *err);

/* Whether a debug file is installed under the name that IM's build-id gives it. */
bool image_symbols_has_debug(const struct symbol_sources *src, const struct image *im);

/* Are IM's symbols to be cached?  They are when the cache has none, or those that a file says which
 * other users can write, or fewer than a debug file has that is installed now. */
bool image_symbols_wanted(const struct symbol_sources *src, const struct image *im);

/* Reads the symbols of the file FD (borrowed), which may be the image of digest WANTED, for
 * somebody else to keep: the bytes of a symbols file without the image's path.  DEBUG (borrowed;
 * -1: none) is its separate debug file, read when FD has no full symbol table and it is of the same
 * image.  They depend on the files' bytes alone.  For children; needs no rights. */
int image_symbols_read(int fd, int debug, const uint8_t wanted[IMAGE_DIGEST_BYTES], struct wr *ret,
		       struct err *err);

/* Caches the N bytes that image_symbols_read made of IM's file, when all in them is sound and of
 * IM.  BELIEVED: file_symbols_believed of that file. */
int image_symbols_keep(struct symbol_sources *src, const struct image *im, bool believed,
		       const uint8_t *bytes, size_t n, struct err *err);

/* Reads a perf map (in a child) and keeps it as the symbols of the generated code IM. */
int image_symbols_read_map(int fd, struct wr *ret, struct err *err);
int image_symbols_keep_map(struct symbol_sources *src, const struct image *im, const uint8_t *bytes,
			   size_t n, struct err *err);

/* Where this process has its vdso mapped, which all 64-bit processes share, and its size.  NULL
 * when it has none.  It never moves, and is looked for once. */
const uint8_t *image_vdso(size_t *ret_n);

#endif
