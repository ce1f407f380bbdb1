/* SPDX-License-Identifier: BSD-2-Clause */
/* The program's own memory, which may not be there: copied by the kernel's hand, so that this is an
 * error and not a crash.  Where the kernel does not offer that (seccomp filters forbid it in some
 * containers) memory is copied as it is. */
#ifndef INPROC_OWN_MEMORY_H
#define INPROC_OWN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* Copies the N pieces at PIECES, of N_BYTES each (at most IOV_MAX of them), to LOCAL, one behind
 * the other, or (PUT) back from there; how many could be, in order. */
size_t own_memory_move(bool put, void *local, const struct iovec *pieces, size_t n, size_t n_bytes);

#endif
