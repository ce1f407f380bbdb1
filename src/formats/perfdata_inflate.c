/* SPDX-License-Identifier: BSD-2-Clause */
/* See perfdata.h: COMPRESSED records.  perf flushes its compressor after each, but goes on with the
 * same stream (Linux, tools/perf/util/zstd.c), and a record may be cut in two at their borders. */
#include "formats/perfdata.h"

#include <errno.h>
#include <zstd.h>

struct perfdata_inflate {
	ZSTD_DStream *stream;
};

/* perf's levels, 1 to 22, need windows of up to 2^27 bytes. */
#define WINDOW_LOG_MAX 27

struct perfdata_inflate *perfdata_inflate_new(void)
{
	struct perfdata_inflate *z = xmalloc(sizeof(*z));

	z->stream = ZSTD_createDStream();
	if (!z->stream)
		abort();
	ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	return z;
}

void perfdata_inflate_free(struct perfdata_inflate *z)
{
	if (!z)
		return;
	ZSTD_freeDStream(z->stream);
	free(z);
}

int perfdata_inflate(struct perfdata_inflate *z, struct perfdata_bytes *in, uint8_t *out, size_t n,
		     size_t *ret_n)
{
	ZSTD_inBuffer from = {in->p, in->n, 0};
	ZSTD_outBuffer to = {out, n, 0};
	size_t rc = 0;

	while (to.pos < to.size) {
		size_t pos = to.pos, used = from.pos;

		rc = ZSTD_decompressStream(z->stream, &to, &from);
		if (ZSTD_isError(rc))
			return -EBADMSG;
		if (to.pos == pos && from.pos == used)
			break;
	}
	in->p += from.pos;
	in->n -= from.pos;
	*ret_n = to.pos;
	return 0;
}
