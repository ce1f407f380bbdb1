/* SPDX-License-Identifier: BSD-2-Clause */
/* See out_stream.h. */
#include "base/out_stream.h"

#include "base/file.h"

#define PART_BYTES ((size_t)1 << 20)

static void write_part(struct out_stream *o)
{
	int rc = o->rc ? o->rc : file_write_all(o->fd, str_get(&o->text), o->text.n);

	if (rc < 0)
		o->rc = rc;
	o->n_bytes += o->text.n;
	str_reset(&o->text);
}

void out_stream_settle(struct out_stream *o)
{
	if (o->fd >= 0 && o->text.n >= PART_BYTES)
		write_part(o);
}

int out_stream_finish(struct out_stream *o, struct err *err)
{
	if (o->fd >= 0 && o->text.n)
		write_part(o);
	return o->rc < 0 ? err_errno(err, o->rc, "writing") : 0;
}

uint64_t out_stream_size(const struct out_stream *o)
{
	return o->n_bytes + o->text.n;
}

void out_stream_release(struct out_stream *o)
{
	str_release(&o->text);
}
