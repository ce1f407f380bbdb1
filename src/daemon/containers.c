/* SPDX-License-Identifier: BSD-2-Clause */
/* See containers.h.  Directories of runtimes are root's.  A container is added to the profile
 * without names when it has no file, so that it is looked for once. */
#include "daemon/containers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "daemon/readers.h"
#include "formats/container.h"
#include "model/cgroup_parts.h"
#include "model/container.h"

/* Files that are open for that at a time; containers beyond them wait. */
#define MOST_ASKED 256

/* Where runtimes keep a container's file, its id between BEFORE and AFTER.  CRI-O and podman share
 * directories: CRI-O names a container in its bundle, podman only in a list of all. */
static const struct {
	enum container_file file;
	const char *before, *after;
} container_places[] = {
	{CONTAINER_FILE_OCI, "/run/containerd/io.containerd.runtime.v2.task/k8s.io/",
	 "/config.json"},
	{CONTAINER_FILE_OCI, "/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/",
	 "/config.json"},
	{CONTAINER_FILE_DOCKER, "/var/lib/docker/containers/", "/config.v2.json"},
	{CONTAINER_FILE_OCI, "/run/containers/storage/overlay-containers/",
	 "/userdata/config.json"},
	{CONTAINER_FILE_OCI, "/var/lib/containers/storage/overlay-containers/",
	 "/userdata/config.json"},
	{CONTAINER_FILE_PODMAN, "/var/lib/containers/storage/overlay-containers/containers.json",
	 NULL},
	{CONTAINER_FILE_PODMAN,
	 "/var/lib/containers/storage/overlay-containers/volatile-containers.json", NULL},
	{CONTAINER_FILE_PODMAN,
	 "/run/containers/storage/overlay-containers/volatile-containers.json", NULL},
};

static struct {
	char *version, *tenant;
} wished;

void containers_wish(const char *version, const char *tenant)
{
	free(wished.version);
	free(wished.tenant);
	wished.version = xstrdup(version ? version : "");
	wished.tenant = xstrdup(tenant ? tenant : "");
}

/* Opens place AT of container ID, below the root of process 1 where it is not below our own: a
 * recorder that is in a container itself has the node's processes, but not its files. */
static int open_place(const char *id, size_t at)
{
	static const char *const roots[] = {"", "/proc/1/root"};
	const char *after = container_places[at].after;
	int fd = -1;

	for (size_t i = 0; i < n_elems(roots) && fd < 0; i++) {
		_mem_ char *path = xasprintf("%s%s%s%s", roots[i], container_places[at].before,
					     after ? id : "", after ? after : "");

		fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	}
	return fd;
}

/* Opens the first file about Q from place AT on.  False: there is none. */
static bool open_file(const struct profile *p, struct container_question *q, size_t at)
{
	q->is_sent = false;
	for (q->fd = -1; q->fd < 0 && at < n_elems(container_places); q->place = at++)
		q->fd = open_place(profile_str(p, q->id), at);
	return q->fd >= 0;
}

/* Takes what T says and was not known; false when the name is still missing. */
static bool take_texts(struct profile *p, struct container_question *q,
		       const struct container_texts *t)
{
	for (size_t i = CONTAINER_ID + 1; i < CONTAINER_N_TEXTS; i++)
		if (!q->known.text[i])
			q->known.text[i] = profile_intern_str(p, t->v[i]);
	return q->known.text[CONTAINER_NAME] != 0;
}

/* Whether a child reads Q's file for another container: files are told apart, not what is asked. */
static bool is_busy(const struct containers *c, const struct container_question *q)
{
	vec_each (other, &c->asked)
		if (other != q && other->is_sent && other->place == q->place &&
		    !container_places[q->place].after)
			return true;
	return false;
}

/* Asks for Q's file.  -EAGAIN: no answer yet; 1: the container's name is known; else what is
 * wrong. */
static int ask_file(struct containers *c, struct profile *p, struct container_question *q,
		    uint64_t end_ns)
{
	const struct container_wish w = {container_places[q->place].file, profile_str(p, q->id),
					 wished.version ? wished.version : "",
					 wished.tenant ? wished.tenant : ""};
	struct container_texts t;
	struct file_map m = {0};
	struct wr question = {0};
	const uint8_t *bytes;
	size_t n;
	int rc;

	if (is_busy(c, q))
		return -EAGAIN;
	container_put_wish(&w, &question);
	q->is_sent = true;
	rc = readers_ask(READ_CONTAINER, q->fd, question.v, question.n, end_ns, &m, NULL);
	wr_release(&question);
	if (rc < 0)
		return rc;
	bytes = readers_answer(&m, &n);
	rc = container_get_texts(bytes, n, &t);
	if (rc >= 0 && strcmp(t.v[CONTAINER_ID], w.id) == 0)
		rc = take_texts(p, q, &t);
	file_map_close(&m);
	return rc;
}

/* Asks about Q until END_NS; false when there is nothing more to be learnt. */
static bool go_on(struct containers *c, struct profile *p, struct container_question *q,
		  uint64_t end_ns)
{
	for (;;) {
		const int rc = ask_file(c, p, q, end_ns);

		if (rc == -EAGAIN)
			return true;
		close(q->fd);
		if (rc == 1 || !open_file(p, q, q->place + 1))
			return false;
	}
}

/* Asks about the container of owner O, unless it is known or asked about. */
static void look_at(struct containers *c, struct profile *p, const struct owner *o)
{
	struct container_question q = {0};
	size_t n;
	const char *id = cgroup_container_id(profile_str(p, o->cgroup), &n);

	if (!id || profile_container_of(p, o->cgroup))
		return;
	q.id = q.known.text[CONTAINER_ID] = profile_intern_strn(p, id, n);
	vec_each (other, &c->asked)
		if (other->id == q.id)
			return;
	if (open_file(p, &q, 0))
		vec_push(&c->asked, q);
	else
		profile_add_container(p, &q.known);
}

void containers_look(struct containers *c, struct profile *p, uint64_t wait_ns)
{
	const uint64_t end_ns = wait_ns ? clock_mono_ns() + wait_ns : 0;

	if (!readers_live())
		return;
	for (; c->n_seen < p->owners.n && c->asked.n < MOST_ASKED; c->n_seen++)
		look_at(c, p, &p->owners.v[c->n_seen]);
	for (size_t i = c->asked.n; i--;) {
		if (go_on(c, p, &c->asked.v[i], end_ns))
			continue;
		profile_add_container(p, &c->asked.v[i].known);
		c->asked.v[i] = c->asked.v[--c->asked.n];
	}
}

void containers_release(struct containers *c)
{
	vec_each (q, &c->asked)
		close(q->fd);
	vec_release(&c->asked);
}
