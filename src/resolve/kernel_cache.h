/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbols of the kernels that this user's recorders and imports met, beside all databases: the
 * kernel takes 20 ms and more to write /proc/kallsyms, and who reads it as long again.  They are in
 * $XDG_CACHE_HOME/dwell/kernels, or ~/.cache/dwell/kernels, in the form and by the names that
 * symcache.h has.  The directory is this user's alone; another is not used.  Of KERNEL_CACHE_MOST
 * kernels at most. */
#ifndef RESOLVE_KERNEL_CACHE_H
#define RESOLVE_KERNEL_CACHE_H

#include "resolve/symcache.h"

#define KERNEL_CACHE_MOST 4

/* Opens the symbols of kernel IM; false: none are kept.  symcache_close C. */
bool kernel_cache_open(struct symcache *c, const struct image *im);

/* Keeps ST as the symbols of the kernel that INFO describes. */
void kernel_cache_save(const struct symcache_info *info, const struct symtab *st);

#endif
