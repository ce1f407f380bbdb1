/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel, its modules and the vdso of a perf.data file: where they are, and what they are.
 *
 * A kernel is known by its build-id.  Where a file tells none, the kernel may be any: it is only
 * taken for the running one when the file says it was recorded on this host with this release.
 * Else it gets an identity of its own, made of what is known of its machine, which no file and no
 * running kernel has.  So nothing of another machine is ever named by this one's symbols, and
 * kernels of different machines stay apart. */
#ifndef PORT_PERF_KERNEL_H
#define PORT_PERF_KERNEL_H

#include "port/perf_world.h"

/* Whether PD says that it was recorded by the kernel that runs here. */
bool perf_kernel_is_running(const struct perfdata *pd);

/* The identity of WHAT ("[kernel]", "[vdso]", a module's name) of PD's machine. */
struct build_id perf_kernel_own_id(const struct perfdata *pd, const char *what);

/* The WHAT of a kernel whose place is not told: its addresses are no places of any vmlinux. */
#define PERF_KERNEL_SOMEWHERE "[kernel] somewhere"

/* Maps the kernel or the module that M, a record of the kernel's mode, tells of. */
void perf_kernel_map(struct perf_world *w, const struct perfdata_mmap *m);

/* The build-id that PD tells for its kernel: NULL when it tells none.  Perf writes the entry under
 * the name of the file that it found the symbols in, so any name will do. */
const struct build_id *perf_kernel_build_id(const struct perfdata *pd);

#endif
