/* SPDX-License-Identifier: BSD-2-Clause */
/* Which Debian packages of this machine files belong to, as `dpkg -S` says: to tell somebody which
 * package has the debug symbols.  Reads DIR/PACKAGE.list, a path on each line (Debian policy
 * manual, appendix C.1; dpkg-query(1)). */
#ifndef RESOLVE_DEBIAN_PACKAGE_H
#define RESOLVE_DEBIAN_PACKAGE_H

#include <stddef.h>

#define DEBIAN_PACKAGE_LISTS "/var/lib/dpkg/info"

/* Sets RET[i] to the name of the package that has PATHS[i], without its architecture, in fresh
 * memory; to NULL when none has it or there are no lists below DIR. */
void debian_packages_find(const char *dir, const char *const *paths, size_t n, char **ret);

#endif
