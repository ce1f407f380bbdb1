/* SPDX-License-Identifier: BSD-2-Clause */
/* See frame.h.  The footer is looked at first: it is written last, so a file without it is one
 * whose writing did not end. */
#include "formats/hpc/frame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/hpc/hpc.h"
#include "formats/hpc/le.h"

/* FORMATS.md 4.0, "meta.db version 4.0" and so on; trace.db's footer is not in it, but in all
 * files (docs/formats/hpctoolkit.md). */
const struct hpc_frame hpc_meta_frame = {"HPCTOOLKITmeta", "_meta.db", 0x90};
const struct hpc_frame hpc_profile_frame = {"HPCTOOLKITprof",
					    "_prof.db",
					    0x30,
					    {"Profile Info", "szProfileInfos", "pProfileInfos",
					     0x10, 0x0d, "pProfiles", "szProfile", 0x28}};
const struct hpc_frame hpc_cct_frame = {
	"HPCTOOLKITctxt",
	"__ctx.db",
	0x20,
	{"Context Info", "szCtxInfo", "pCtxInfo", 0x10, 0x0d, "pCtxs", "szCtx", 0x20}};
const struct hpc_frame hpc_trace_frame = {
	"HPCTOOLKITtrce",
	"trace.db",
	0x20,
	{"Trace Headers", "szHeaders", "pHeaders", 0x10, 0x0d, "pTraces", "szTrace", 0x18}};

int hpc_frame_check(const struct hpc_frame *f, const uint8_t *bytes, size_t n, const char *name,
		    uint8_t *ret_major, uint8_t *ret_minor, struct err *err)
{
	if (n < 16)
		return err_set(err, -ENODATA, "%s: %zu bytes are no HPCToolkit database file", name,
			       n);
	if (memcmp(bytes, f->magic, 14) != 0)
		return hpc_bad(err, name, 0, "header", "magic", "does not read %s", f->magic);
	if (bytes[14] > HPC_MAJOR)
		return err_set(err, -EPROTONOSUPPORT,
			       "%s+0xe: header majorVersion: %u is newer than %u", name, bytes[14],
			       HPC_MAJOR);
	if (bytes[14] < HPC_MAJOR)
		return hpc_bad(err, name, 14, "header", "majorVersion", "%u, must be %u", bytes[14],
			       HPC_MAJOR);
	if (n < f->sz_header + 8)
		return err_set(err, -ENODATA, "%s+%#zx: header: the file ends within it", name, n);
	if (memcmp(bytes + n - 8, f->footer, 8) != 0)
		return err_set(err, -ENODATA,
			       "%s+%#zx: footer: does not read %s: the file is not complete", name,
			       n - 8, f->footer);
	*ret_major = bytes[14];
	*ret_minor = bytes[15];
	return 0;
}

bool hpc_lies_within(uint64_t n_bytes, uint64_t p, uint64_t n, uint64_t stride)
{
	return p <= n_bytes && n <= (n_bytes - p) / stride;
}

int hpc_bad(struct err *err, const char *name, uint64_t offset, const char *structure,
	    const char *field, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(err, -EBADMSG, "%s+%#" PRIx64 ": %s%s%s: %s", name, offset, structure,
		       *field ? " " : "", field, text);
}

int hpc_list_open(const struct hpc_frame *f, const uint8_t *bytes, size_t n, const char *name,
		  struct hpc_list *ret, struct err *err)
{
	const struct hpc_list_kind *k = &f->list;
	struct hpc_list s = {0};
	const uint8_t *h;
	int rc = hpc_frame_check(f, bytes, n, name, &s.major, &s.minor, err);

	if (rc < 0)
		return rc;
	s.sz = hpc_le64(bytes + k->at);
	s.p = hpc_le64(bytes + k->at + 8);
	if (!hpc_lies_within(n, s.p, s.sz, 1))
		return hpc_bad(err, name, k->at + 8, "header", k->p,
			       "%#" PRIx64 " and %" PRIu64 " bytes do not lie in the file", s.p,
			       s.sz);
	if (s.sz < k->sz_header)
		return hpc_bad(err, name, k->at, "header", k->sz,
			       "%" PRIu64 " bytes have no room for the section's header", s.sz);
	h = bytes + s.p;
	s.array = hpc_le64(h);
	s.n = hpc_le32(h + 0x08);
	s.elem = h[0x0c];
	if (s.n && s.elem < k->least_elem)
		return hpc_bad(err, name, s.p + 0x0c, k->name, k->elem, "%u, must be %u at least",
			       s.elem, k->least_elem);
	if (s.n && !hpc_lies_within(n, s.array, s.n, s.elem))
		return hpc_bad(err, name, s.p, k->name, k->array,
			       "%#" PRIx64 ": %u times %u bytes do not lie in the file", s.array,
			       s.n, s.elem);
	*ret = s;
	return 0;
}
