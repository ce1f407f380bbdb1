/* SPDX-License-Identifier: BSD-2-Clause */
/* See bpf_iter.h.  What a program writes for one element may be cut by the end of the buffer. */
#include "collect/bpf_iter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdalign.h>
#include <string.h>

#include "base/cleanup.h"

int bpf_iter_run(struct bpf_program *prog, size_t n_bytes, void (*fn)(void *ctx, const void *piece),
		 void *ctx, struct err *err)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	alignas(16) char buf[16384];
	size_t have = 0;
	ssize_t n;
	int rc = 0;

	_fd_ int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	if (fd < 0)
		rc = err_errno(err, -errno, "cannot start the task iterator");
	while (rc >= 0 && (n = read(fd, buf + have, sizeof(buf) - have)) != 0) {
		size_t whole;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0) {
			rc = err_errno(err, -errno, "cannot read the task iterator");
			break;
		}
		have += (size_t)n;
		whole = have / n_bytes * n_bytes;
		for (size_t at = 0; at < whole; at += n_bytes)
			fn(ctx, buf + at);
		have -= whole;
		memmove(buf, buf + whole, have);
	}
	bpf_link__destroy(link);
	return rc;
}
