/* SPDX-License-Identifier: BSD-2-Clause */
/* See out.h. */
#include "formats/hpc/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

int hpc_out_open(struct hpc_out *o, int dirfd, const char *name, uint64_t end, struct err *err)
{
	int fd = openat(dirfd, name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_errno(err, -errno, "%s: create", name);
	*o = (struct hpc_out){.fd = fd, .name = xstrdup(name), .end = end};
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->changed, NULL);
	return 0;
}

/* With the lock held. */
static int failure(const struct hpc_out *o, struct err *err)
{
	if (o->failed && err)
		*err = o->err;
	return o->failed;
}

int hpc_out_begin_turn(struct hpc_out *o, uint64_t turn, struct err *err)
{
	int rc;

	pthread_mutex_lock(&o->lock);
	while (o->turn < turn && !o->failed)
		pthread_cond_wait(&o->changed, &o->lock);
	rc = failure(o, err);
	if (rc)
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
	o->turn++;
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
}

/* With the lock held. */
static int fail(struct hpc_out *o, int rc, struct err *err, const char *msg)
{
	if (!o->failed) {
		o->failed = err_set(&o->err, rc, "%s", msg);
		pthread_cond_broadcast(&o->changed);
	}
	return failure(o, err);
}

int hpc_out_fail(struct hpc_out *o, int rc, struct err *err, const char *fmt, ...)
{
	char msg[sizeof(o->err.msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&o->lock);
	rc = fail(o, rc, err, msg);
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

	if (rc)
		return hpc_out_fail(o, rc, err, "%s: write: %s", o->name, strerror(-rc));
	return 0;
}

int hpc_out_flush(struct hpc_out *o, struct hpc_out_run *run, struct err *err)
{
	struct err why;
	int rc = file_pwrite_all(o->fd, run->bytes, run->n, run->at);

	if (rc) {
		err_errno(&why, rc, "%s: write", o->name);
		return fail(o, rc, err, why.msg);
	}
	run->at += run->n;
	run->n = 0;
	return 0;
}

int hpc_out_append(struct hpc_out *o, struct hpc_out_run *run, const void *bytes, size_t n,
		   struct err *err)
{
	if (run->n + n > sizeof(run->bytes)) {
		int rc = hpc_out_flush(o, run, err);

		if (rc)
			return rc;
	}
	memcpy(run->bytes + run->n, bytes, n);
	run->n += n;
	return 0;
}

int hpc_out_finish(struct hpc_out *o, const char *footer, struct err *err)
{
	int rc = hpc_out_failed(o, err);
	int fd = o->fd;

	if (!rc)
		rc = hpc_out_write(o, o->end, footer, 8, err);
	o->fd = -1;
	if (close(fd) < 0 && !rc)
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
