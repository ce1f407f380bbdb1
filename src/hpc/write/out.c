/* SPDX-License-Identifier: BSD-2-Clause */
/* See out.h. */
#include "hpc/write/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

int hpc_out_open(struct hpc_out *o, int dirfd, const char *name, uint64_t end,
		 const struct hpc_share *share, uint64_t n_turns, struct err *err)
{
	bool first = !share || share->rank == 0;
	int flags = first ? O_CREAT | O_TRUNC : 0, fd = -1, rc = 0;
	uint64_t none = 0;

	/* The others open what the first one made. */
	if (!first)
		rc = share->sum(share->user, &none, 1);
	if (rc >= 0)
		fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0644);
	if (rc < 0 || fd < 0)
		return err_errno(err, rc < 0 ? rc : -errno, "%s: create", name);
	*o = (struct hpc_out){.fd = fd,
			      .name = xstrdup(name),
			      .end = end,
			      .share = share,
			      .n_turns = n_turns,
			      .deal = 1};
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->changed, NULL);
	return first ? hpc_out_meet(o, err) : 0;
}

int hpc_out_meet(struct hpc_out *o, struct err *err)
{
	uint64_t none = 0;
	int rc = o->share ? o->share->sum(o->share->user, &none, 1) : 0;

	return rc < 0 ? hpc_out_fail(o, rc, err, "%s: another process failed", o->name) : 0;
}

/* With the lock held. */
static int failure(const struct hpc_out *o, struct err *err)
{
	if (o->failed < 0 && err)
		*err = o->err;
	return o->failed;
}

/* With the lock held. */
static int out_fail(struct hpc_out *o, int rc, struct err *err, const char *msg)
{
	if (o->failed >= 0) {
		o->failed = err_set(&o->err, rc, "%s", msg);
		pthread_cond_broadcast(&o->changed);
	}
	return failure(o, err);
}

bool hpc_out_is_mine(const struct hpc_out *o, uint64_t turn)
{
	return !o->share || hpc_share_owner(o->share, turn, o->n_turns, o->deal) == o->share->rank;
}

/* Whether all turns before TURN that are still to come are other processes'. */
static bool is_next(const struct hpc_out *o, uint64_t turn)
{
	uint64_t before = o->turn;

	/* One deal in as many as there are processes is ours. */
	if (!o->share || o->receiving || turn - before > (uint64_t)o->share->size * o->deal)
		return false;
	while (before < turn && !hpc_out_is_mine(o, before))
		before++;
	return before == turn;
}

/* Waits for TURN to be handed on, with the lock held but not while waiting. */
static void out_receive(struct hpc_out *o, uint64_t turn)
{
	const struct hpc_share *s = o->share;
	uint64_t place[2];
	int rc;

	o->receiving = true;
	pthread_mutex_unlock(&o->lock);
	rc = s->receive(s->user, hpc_share_owner(s, turn - 1, o->n_turns, o->deal), turn, place);
	pthread_mutex_lock(&o->lock);
	o->receiving = false;
	if (rc < 0) {
		out_fail(o, rc, NULL, "another process failed");
	} else {
		o->turn = turn;
		o->end = place[0];
		o->also = place[1];
	}
	pthread_cond_broadcast(&o->changed);
}

int hpc_out_begin_turn(struct hpc_out *o, uint64_t turn, struct err *err)
{
	int rc;

	pthread_mutex_lock(&o->lock);
	while (o->turn < turn && o->failed >= 0)
		if (is_next(o, turn))
			out_receive(o, turn);
		else
			pthread_cond_wait(&o->changed, &o->lock);
	rc = failure(o, err);
	if (rc < 0)
		pthread_mutex_unlock(&o->lock);
	return rc;
}

uint64_t hpc_out_take(struct hpc_out *o, uint64_t n, unsigned align)
{
	uint64_t at = (o->end + align - 1) & ~(uint64_t)(align - 1);

	o->end = at + n;
	return at;
}

void hpc_out_end_turn(struct hpc_out *o)
{
	const struct hpc_share *s = o->share;
	const uint64_t place[2] = {o->end, o->also};

	o->turn++;
	if (!hpc_out_is_mine(o, o->turn)) {
		int rc = s->send(s->user, hpc_share_owner(s, o->turn, o->n_turns, o->deal), o->turn,
				 place);

		if (rc < 0)
			out_fail(o, rc, NULL, "another process failed");
	}
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
}

int hpc_out_fail(struct hpc_out *o, int rc, struct err *err, const char *fmt, ...)
{
	char msg[sizeof(o->err.msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&o->lock);
	rc = out_fail(o, rc, err, msg);
	pthread_mutex_unlock(&o->lock);
	return rc;
}

int hpc_out_failed(struct hpc_out *o, struct err *err)
{
	int rc;

	pthread_mutex_lock(&o->lock);
	rc = failure(o, err);
	pthread_mutex_unlock(&o->lock);
	return rc;
}

int hpc_out_write(struct hpc_out *o, uint64_t off, const void *bytes, size_t n, struct err *err)
{
	int rc = n ? file_pwrite_all(o->fd, bytes, n, off) : 0;

	if (rc < 0)
		return hpc_out_fail(o, rc, err, "%s: write: %s", o->name, strerror(-rc));
	return 0;
}

int hpc_out_flush(struct hpc_out *o, struct hpc_out_run *run, struct err *err)
{
	struct err why;
	int rc = run->n ? file_pwrite_all(o->fd, run->bytes, run->n, run->at) : 0;

	if (rc < 0) {
		err_errno(&why, rc, "%s: write", o->name);
		return out_fail(o, rc, err, why.msg);
	}
	run->at += run->n;
	run->n = 0;
	return 0;
}

int hpc_out_gather(struct hpc_out *o, struct hpc_out_run *run, uint64_t at, const void *bytes,
		   size_t n, struct err *err)
{
	if (run->n + n > sizeof(run->bytes) || at != run->at + run->n) {
		int rc = hpc_out_flush(o, run, err);

		if (rc < 0)
			return rc;
		run->at = at;
	}
	memcpy(run->bytes + run->n, bytes, n);
	run->n += n;
	return 0;
}

int hpc_out_finish(struct hpc_out *o, const char *footer, struct err *err)
{
	int rc = hpc_out_failed(o, err);
	int fd = o->fd;

	if (rc >= 0)
		rc = hpc_out_write(o, o->end, footer, 8, err);
	o->fd = -1;
	if (close(fd) < 0 && rc >= 0)
		rc = err_errno(err, -errno, "%s: close", o->name);
	hpc_out_close(o);
	return rc;
}

void hpc_out_close(struct hpc_out *o)
{
	if (!o->name)
		return;
	if (o->fd >= 0)
		close(o->fd);
	pthread_mutex_destroy(&o->lock);
	pthread_cond_destroy(&o->changed);
	free(o->name);
	*o = (struct hpc_out){.fd = -1};
}
