/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes DCPI profile files (docs/formats/dcpi.md) without allocating, for use inside of any
 * program; `dwell` uses it for what such a program left behind. */
#ifndef INPROC_DCPI_WRITE_H
#define INPROC_DCPI_WRITE_H

#include <stddef.h>

#include "inproc/mapped.h"

struct dcpi_facts {
	const char *host, *event, *command;
	uint64_t period;
	bool is_clock; /* the event's unit is ns */
	uint64_t epoch_s;
	uint64_t start_ns, end_ns; /* since 1970 */
	uint64_t who;		   /* keeps the files of two processes apart */
};

struct dcpi_place {
	uint64_t svma, n;
};

/* The loss of ticks whose place nobody knows: the thread was in the kernel, which its user may not
 * see or does not want to, or the tick was lost. */
#define DCPI_LOSS_UNPLACED "kernel_or_late"

/* Ticks that are in no file. */
struct dcpi_loss {
	const char *name;
	uint64_t n;
};

/* Opens (and makes) directory DIR/EPOCH/HOST; a descriptor or -errno. */
int dcpi_open_dir(const char *dir, const struct dcpi_facts *f);

/* Writes the N PLACES, in rising order, of the image CODE at PATH into directory DIRFD.  The names
 * of the files depend on these arguments alone; each is replaced as a whole.  LOSSES (N_LOSSES)
 * are stated in the first.  0 or -errno. */
int dcpi_write_image(int dirfd, const struct dcpi_facts *f, const struct loaded_code *code,
		     const char *path, const struct dcpi_place *places, size_t n,
		     const struct dcpi_loss *losses, size_t n_losses);

/* Writes the profile of a process without a single tick in an image. */
int dcpi_write_nothing(int dirfd, const struct dcpi_facts *f, const struct dcpi_loss *losses,
		       size_t n_losses);

/* Sorts PLACES by svma, without allocating. */
void dcpi_sort(struct dcpi_place *places, size_t n);

#endif
