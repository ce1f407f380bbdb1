/* SPDX-License-Identifier: BSD-2-Clause */
/* See out.h. */
#include "inproc/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void out_flush(struct out *o)
{
	for (size_t at = 0; at < o->n && o->error >= 0;) {
		ssize_t n = write(o->fd, o->bytes + at, o->n - at);

		if (n < 0 && errno != EINTR)
			o->error = -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	o->n = 0;
}

void out_put(struct out *o, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (o->n == sizeof(o->bytes))
			out_flush(o);
		o->bytes[o->n++] = ((const uint8_t *)bytes)[i];
	}
	o->n_all += n;
}

static void put_le(struct out *o, uint64_t x, unsigned n_bytes)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < n_bytes; i++)
		bytes[i] = (uint8_t)(x >> 8 * i);
	out_put(o, bytes, n_bytes);
}

void out_u16(struct out *o, uint64_t x)
{
	put_le(o, x, 2);
}

void out_u32(struct out *o, uint64_t x)
{
	put_le(o, x, 4);
}

void out_u64(struct out *o, uint64_t x)
{
	put_le(o, x, 8);
}

void out_line(struct out *o, const char *fmt, ...)
{
	char line[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	out_put(o, line, n < 0 ? 0 : (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

int out_open(struct profile_out *f, int dirfd, const char *name)
{
	if (strlen(name) >= sizeof(f->name))
		return -ENAMETOOLONG;
	f->out.n = f->out.n_all = 0;
	f->out.error = 0;
	f->dirfd = dirfd;
	memcpy(f->name, name, strlen(name) + 1);
	snprintf(f->temporary, sizeof(f->temporary), ".%s.new", name);
	unlinkat(dirfd, f->temporary, 0);
	f->out.fd = openat(dirfd, f->temporary,
			   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return f->out.fd < 0 ? -errno : 0;
}

int out_close(struct profile_out *f)
{
	int e;

	out_flush(&f->out);
	e = f->out.error;
	close(f->out.fd);
	if (e >= 0 && renameat(f->dirfd, f->temporary, f->dirfd, f->name) < 0)
		e = -errno;
	if (e < 0)
		unlinkat(f->dirfd, f->temporary, 0);
	return e;
}
