/* SPDX-License-Identifier: BSD-2-Clause */
/* What files are, read once each.
 *
 * An image is known by its build-id and by the digest of its headers and frame information
 * (resolve/elf_digest.h).  A file that agrees with another in these may have other code.  So when a
 * second file of one identity comes, the code of both is read.  Where it differs, the second has
 * the digest with its code, and is another image.
 *
 * For example, /usr/bin/prog runs, then a user's copy of it with one instruction changed:
 *
 *     /usr/bin/prog     build-id aa, digest 11                        aa, 11
 *     /home/u/prog      build-id aa, digest 11, digest with code 22   aa, 22
 *     /home/v/prog      an unchanged copy: the code is as the first   aa, 11 */
#ifndef DAEMON_LAYOUTS_H
#define DAEMON_LAYOUTS_H

#include "base/err.h"
#include "model/image.h"

/* An image_probe_fn.  With readers (daemon/readers.h) FD may be O_PATH, and -EAGAIN says that a
 * child is at it.  A file that was probed before is not read again until it changes, whatever its
 * name. */
int layouts_probe(int fd, struct image_layout *ret, struct err *err);

/* Forgets all files. */
void layouts_end(void);

#endif
