/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of containers: what their runtimes keep in files on this host while they live, read once by
 * a child without rights (daemon/readers.h) and kept in the profile (model/container.h).
 *
 * Example: a sample's owner is in cgroup .../cri-containerd-0123....scope.  The id is new, so
 * containerd's file of it is opened.  A second later the child has said "web, nginx:1.27, pod
 * front-5d9f7, namespace shop", and every owner of that container has these names, whenever its
 * samples came. */
#ifndef DAEMON_CONTAINERS_H
#define DAEMON_CONTAINERS_H

#include <stdbool.h>

#include "base/vec.h"
#include "model/profile.h"

/* A container whose files are being read, one after the other until one has its name. */
struct container_question {
	string_id id;
	size_t place;		/* of the file that is open, in containers.c */
	int fd;			/* O_PATH, or -1 */
	bool is_sent;		/* a child is at it */
	struct container known; /* what was read so far */
};

/* Zeroed: nothing was asked yet. */
struct containers {
	size_t n_seen; /* owners of the profile that were looked at */
	VEC(struct container_question) asked;
};

/* Where version and tenant of containers stand, for all of this process: as in struct
 * container_wish, copied; NULL: nowhere. */
void containers_wish(const char *version, const char *tenant);

/* Looks at P's new owners, asks about containers that are new in P and adds those that were
 * answered; waits up to WAIT_NS for answers.  Does nothing where this process has no readers. */
void containers_look(struct containers *c, struct profile *p, uint64_t wait_ns);
void containers_release(struct containers *c);

#endif
