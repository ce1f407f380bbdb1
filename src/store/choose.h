/* SPDX-License-Identifier: BSD-2-Clause */
/* Which recordings a reader means, found by names as far as names tell: see choose.c. */
#ifndef STORE_CHOOSE_H
#define STORE_CHOOSE_H

#include "store/db.h"
#include "store/store.h"

struct recording_name {
	char *epoch, *host;
};

typedef VEC(struct recording_name) recording_list;

/* Adds the recordings that SEL means to RET, oldest epoch first, then by host. */
int choose_recordings(int db_fd, int epochs_fd, const struct store_selection *sel,
		      recording_list *ret, struct err *err);
void recording_list_release(recording_list *l);

#endif
