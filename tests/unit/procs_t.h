/* SPDX-License-Identifier: BSD-2-Clause */
/* An empty machine for tests of processes: no file of it can be opened. */
#ifndef TESTS_UNIT_PROCS_T_H
#define TESTS_UNIT_PROCS_T_H

#include <errno.h>

#include "machine/procs.h"

static struct {
	struct profile profile;
	struct images images;
	struct procs procs;
} w;

static int no_file(int fd, struct image_layout *ret, struct err *err)
{
	return -EBADMSG;
}

static void begin(void)
{
	profile_init(&w.profile);
	images_init(&w.images, &w.profile, no_file, NULL);
	procs_init(&w.procs, &w.profile, &w.images, 1);
}

static void end(void)
{
	procs_release(&w.procs);
	images_release(&w.images);
	profile_check(&w.profile);
	profile_release(&w.profile);
}

#endif
