/* SPDX-License-Identifier: BSD-2-Clause */
/* What runtimes say of the containers that owners ran in: a dictionary of profiles, by the id that
 * is in the path of the owner's cgroup.  Names may come later than the samples: an owner stays what
 * it is.
 *
 *     owner's cgroup   /kubepods.slice/kubepods-pod7d1f.slice/cri-containerd-0123456789ab....scope
 *     container        0123456789ab...: web, nginx:1.27, pod front-5d9f7, namespace shop */
#ifndef MODEL_CONTAINER_H
#define MODEL_CONTAINER_H

#include "model/profile.h"

/* The container with id ID in P; NULL: nothing is known of it.  Lives until P grows. */
const struct container *profile_find_container(const struct profile *p, string_id id);

/* The container that CGROUP, a path of P's, lies in. */
const struct container *profile_container_of(const struct profile *p, string_id cgroup);

/* Adds C, whose strings are P's.  It may have an id alone, when nobody knows more.  When two texts
 * of one container differ, the greater one stays: so profiles may be merged in any order. */
void profile_add_container(struct profile *p, const struct container *c);

/* What an owner is a part of, to be freed: its label, else its container's name, else the unit that
 * its cgroup names, else its command.  NAME may be NULL. */
char *container_service(const char *label, const char *name, const char *cgroup, const char *comm);

/* Whether C says more than its id. */
bool container_has_texts(const struct container *c);

#endif
