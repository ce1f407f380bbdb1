/* SPDX-License-Identifier: BSD-2-Clause */
/* trace.db written, by many threads at once.
 *
 *     00  header
 *     20  Trace Headers section (at 30 in the page layout): header, then {TH} of profiles 1, 2, ...
 *         lines, each at a multiple of 8
 *         footer, at a multiple of 8
 *
 * Lines and {TH}s come in one order.  The header, which has the times of the whole, is written at
 * the end, and the footer last.  Readers demand the footer and the times (docs/formats/
 * hpctoolkit.md), which FORMATS.md does not have. */
#include "hpc/write/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpc/frame.h"
#include "hpc/write/out.h"

enum { SZ_HEADERS_HDR = 0x20, SZ_TH = 0x18, SZ_ELEM = 12 };

struct hpc_trace_writer {
	struct hpc_out out;
	uint32_t n_traces;
	unsigned at_headers;
	uint64_t min, max; /* of all timestamps; min > max when there are none */
	struct hpc_out_run headers;
};

int hpc_trace_create(struct hpc_trace_writer **ret, int dirfd, const char *name,
		     enum hpc_layout layout, uint32_t n_traces, struct err *err)
{
	unsigned at_headers = layout == HPC_PAGE ? 0x30 : 0x20;
	uint64_t end = at_headers + SZ_HEADERS_HDR + (uint64_t)n_traces * SZ_TH;
	struct hpc_trace_writer *w;
	int rc;

	if (end > INT32_MAX)
		return err_set(err, -E2BIG, "%s: %u lines do not fit a section of 2 GB", name,
			       n_traces);
	w = xcalloc(1, sizeof(*w));
	w->n_traces = n_traces;
	w->at_headers = at_headers;
	w->min = UINT64_MAX;
	rc = hpc_out_open(&w->out, dirfd, name, end, NULL, 0, err);
	if (rc < 0) {
		free(w);
		return rc;
	}
	*ret = w;
	return 0;
}

/* Writes N elements at AT, a buffer at a time. */
static int write_elems(struct hpc_trace_writer *w, uint64_t at, const struct hpc_trace_elem *elems,
		       size_t n, struct err *err)
{
	uint8_t buf[4096 * SZ_ELEM];
	int rc = 0;

	while (n && rc >= 0) {
		size_t k = n < 4096 ? n : 4096;

		for (size_t i = 0; i < k; i++) {
			hpc_put64(buf + SZ_ELEM * i, elems[i].timestamp);
			hpc_put32(buf + SZ_ELEM * i + 8, elems[i].ctxId);
		}
		rc = hpc_out_write(&w->out, at, buf, SZ_ELEM * k, err);
		at += SZ_ELEM * k;
		elems += k;
		n -= k;
	}
	return rc;
}

int hpc_trace_put(struct hpc_trace_writer *w, uint32_t profIndex,
		  const struct hpc_trace_elem *elems, size_t n, struct err *err)
{
	uint8_t th[SZ_TH] = {0};
	uint64_t at;
	int rc;

	if (profIndex == HPC_SUMMARY_PROFILE || profIndex > w->n_traces)
		return hpc_out_fail(&w->out, -EINVAL, err,
				    "%s: no place for the line of profile %u", w->out.name,
				    profIndex);
	rc = hpc_out_begin_turn(&w->out, profIndex - 1, err);
	if (rc < 0)
		return rc;
	at = hpc_out_take(&w->out, (uint64_t)n * SZ_ELEM, 8);
	hpc_put32(th, profIndex);
	hpc_put64(th + 0x08, at);
	hpc_put64(th + 0x10, at + (uint64_t)n * SZ_ELEM);
	rc = hpc_out_gather(&w->out, &w->headers,
			    w->at_headers + SZ_HEADERS_HDR + (uint64_t)(profIndex - 1) * SZ_TH, th,
			    sizeof(th), err);
	if (n && elems[0].timestamp < w->min)
		w->min = elems[0].timestamp;
	if (n && elems[n - 1].timestamp > w->max)
		w->max = elems[n - 1].timestamp;
	hpc_out_end_turn(&w->out);
	return rc < 0 ? rc : write_elems(w, at, elems, n, err);
}

void hpc_trace_cancel(struct hpc_trace_writer *w)
{
	hpc_out_fail(&w->out, -ECANCELED, NULL, "%s: given up", w->out.name);
}

int hpc_trace_finish(struct hpc_trace_writer *w, struct err *err)
{
	uint8_t head[0x30 + SZ_HEADERS_HDR] = {0}, *h = head + w->at_headers;
	int rc = hpc_out_failed(&w->out, err);

	if (rc >= 0 && w->out.turn != w->n_traces)
		rc = err_set(err, -EINVAL, "%s: %" PRIu64 " of %u lines were put", w->out.name,
			     w->out.turn, w->n_traces);
	if (rc >= 0)
		rc = hpc_out_flush(&w->out, &w->headers, err);
	memcpy(head, hpc_trace_frame.magic, 14);
	head[0x0e] = HPC_MAJOR;
	head[0x0f] = HPC_MINOR;
	hpc_put64(head + 0x10, SZ_HEADERS_HDR + (uint64_t)w->n_traces * SZ_TH);
	hpc_put64(head + 0x18, w->at_headers);
	hpc_put64(h, w->at_headers + SZ_HEADERS_HDR);
	hpc_put32(h + 0x08, w->n_traces);
	h[0x0c] = SZ_TH;
	hpc_put64(h + 0x10, w->min > w->max ? 0 : w->min);
	hpc_put64(h + 0x18, w->max);
	if (rc >= 0)
		rc = hpc_out_write(&w->out, 0, head, w->at_headers + SZ_HEADERS_HDR, err);
	hpc_out_take(&w->out, 0, 8);
	if (rc >= 0)
		rc = hpc_out_finish(&w->out, hpc_trace_frame.footer, err);
	hpc_trace_abandon(w);
	return rc;
}

void hpc_trace_abandon(struct hpc_trace_writer *w)
{
	if (!w)
		return;
	hpc_out_close(&w->out);
	free(w);
}
